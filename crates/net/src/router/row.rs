//! A row of the registry of routers: what the rest of Longfat knows about one.

use crate::queue::{Boxed, Limit};
use crate::{Address, Capacity};
use core::ops::Deref;
use longfat_units::parameters::{ParameterError, Parameters, Value};
use longfat_units::{Entry, Stream};

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Router {
    /// Names, source, parameters, page and look.
    pub entry: Entry,
    /// Refuses values that do not go together.
    pub check: fn(&Parameters) -> Result<(), ParameterError>,
    /// Whether it sends messages to other routers.
    pub sends_messages: bool,
    /// Whether packets of one connection may overtake each other in it.
    pub reorders: bool,
}

impl Deref for Router {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl Router {
    /// Every declared parameter with its value.
    ///
    /// # Errors
    ///
    /// A parameter that the row does not declare, a value outside what it accepts, or values that do not go
    /// together.
    pub fn checked(&self, given: &[(String, Value)]) -> Result<Parameters, ParameterError> {
        let p = Parameters::new(self.name, self.parameters, given)?;
        (self.check)(&p).map(|()| p)
    }
}

/// The inputs from which a router is built, besides its parameters.
pub struct Setup<P> {
    /// The queue that the router surrounds.
    pub queue: Boxed<P>,
    /// The capacity of the link behind it, which the router knows at any moment.
    pub capacity: Capacity,
    /// How much the queue holds.
    pub limit: Limit,
    /// The router's own random stream.
    pub stream: Stream,
    /// Its address, to which others send messages.
    pub address: Address,
}
