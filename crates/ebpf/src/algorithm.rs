//! A congestion control of an object, which makes connections.

use crate::connection::Connection;
use crate::image::Image;
use crate::maps::Maps;
use crate::struct_ops::{Callback, Ops};
use std::sync::{Arc, Mutex};

/// A congestion control of an object, and the maps that its connections share.
#[derive(Clone, Debug)]
pub struct Algorithm {
    image: Arc<Image>,
    index: usize,
    maps: Arc<Mutex<Maps>>,
}

impl Algorithm {
    pub(crate) fn new(image: Arc<Image>, index: usize) -> Self {
        let maps = Arc::new(Mutex::new(Maps::new(&image.maps)));
        Algorithm { image, index, maps }
    }

    fn ops(&self) -> &Ops {
        &self.image.algorithms[self.index].ops
    }

    /// Its name in the kernel.
    pub fn name(&self) -> &str {
        &self.ops().name
    }

    /// Whether its connections negotiate ECN (TCP_CONG_NEEDS_ECN).
    pub fn needs_ecn(&self) -> bool {
        self.ops().needs_ecn
    }

    /// Whether it controls the window in every phase (cong_control).
    pub fn is_model_based(&self) -> bool {
        self.ops().is_model_based()
    }

    /// The names of the callbacks that it has, in the order of the kernel's structure.
    pub fn callbacks(&self) -> impl Iterator<Item = &'static str> {
        Callback::ALL
            .into_iter()
            .filter(|&callback| self.ops().program(callback).is_some())
            .map(Callback::name)
    }

    /// The same with maps of its own, as at the beginning: for another run.
    pub fn fresh(&self) -> Self {
        Algorithm::new(self.image.clone(), self.index)
    }

    /// A new connection.
    pub fn connection(&self) -> Connection {
        Connection::new(self.image.clone(), self.index, self.maps.clone())
    }
}
