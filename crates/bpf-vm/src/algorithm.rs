//! A congestion control of an object, which makes connections.

use crate::connection::Connection;
use crate::image::Image;
use crate::maps::Maps;
use crate::sock::AVOIDANCE_RATIO;
use crate::struct_ops::{Callback, Ops};
use std::sync::{Arc, Mutex};

/// A congestion control of an object, and the maps that its connections share.
#[derive(Clone, Debug)]
pub struct Algorithm {
    image: Arc<Image>,
    index: usize,
    maps: Arc<Mutex<Maps>>,
    pacing_ratio: u64,
}

impl Algorithm {
    pub(crate) fn new(image: Arc<Image>, index: usize) -> Self {
        let maps = Arc::new(Mutex::new(Maps::new(&image.maps)));
        Algorithm { image, index, maps, pacing_ratio: AVOIDANCE_RATIO }
    }

    fn ops(&self) -> &Ops {
        &self.image.algorithms[self.index].ops
    }

    /// Its name in the kernel.
    pub fn name(&self) -> &str {
        &self.ops().name
    }

    /// The variable of its structure, which tells an object's congestion controls apart.
    pub fn variable(&self) -> &str {
        &self.ops().variable
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
        Algorithm { pacing_ratio: self.pacing_ratio, ..Algorithm::new(self.image.clone(), self.index) }
    }

    /// The same, and the kernel's own pacing sends at this share of cwnd / srtt outside of slow-start,
    /// percent (net.ipv4.tcp_pacing_ca_ratio); the default is the kernel's, 120.
    #[must_use]
    pub fn with_pacing_ratio(mut self, percent: u64) -> Self {
        self.pacing_ratio = percent;
        self
    }

    /// That share.
    pub const fn pacing_ratio(&self) -> u64 {
        self.pacing_ratio
    }

    /// Whether this is the same congestion control of the same object: its connections share maps in a run.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.image, &other.image) && self.index == other.index
    }

    /// A new connection.
    pub fn connection(&self) -> Connection {
        let mut connection = Connection::new(self.image.clone(), self.index, self.maps.clone());
        connection.set_pacing_ratio(self.pacing_ratio);
        connection
    }
}
