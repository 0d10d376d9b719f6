//! Explicit-rate routers, one file each, one row each in [`ROWS`]. A router is an element around the queue of a link:
//! it sees packets before they join the queue and as they leave it, and writes into the headers of those that carry
//! one.

mod behind;
mod law;
pub mod quickstart;
pub mod vcp;
pub mod xcp;

pub use law::{Controlled, Law, Stretch};
pub use quickstart::QuickStart;
pub use vcp::Vcp;
pub use xcp::Xcp;

use crate::Capacity;
use crate::queue::registry::Boxed;
use longfat_units::Stream;
use longfat_units::parameters::{Parameter, ParameterError, Parameters, Value};
use longfat_wire::Packet;

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Router {
    /// As written in scenario files.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Author, title, place, year.
    pub citation: &'static str,
    /// What users may set.
    pub parameters: &'static [Parameter],
}

/// What a router is built with beside its parameters.
pub struct Setup<P> {
    /// The queue that it stands around.
    pub queue: Boxed<P>,
    /// What the link behind it can carry; the router knows it at any moment.
    pub capacity: Capacity,
    /// The router's own random stream.
    pub stream: Stream,
}

/// All rows, in the order of their introduction.
pub static ROWS: &[Router] = &[xcp::ROW, vcp::ROW, quickstart::ROW];

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Router> {
    ROWS.iter().find(|row| row.name == name || row.aliases.contains(&name))
}

impl Router {
    /// Every declared parameter with its value.
    pub fn checked(&self, given: &[(String, Value)]) -> Result<Parameters, ParameterError> {
        Parameters::new(self.name, self.parameters, given)
    }

    /// An instance with these parameters.
    pub fn instance<P: Packet + Send + 'static>(
        &self,
        setup: Setup<P>,
        given: &[(String, Value)],
    ) -> Result<Boxed<P>, ParameterError> {
        let p = self.checked(given)?;
        let Setup { queue, capacity, stream } = setup;
        match self.name {
            "xcp" => Ok(Box::new(Controlled::new(queue, capacity, Xcp::build(&p)))),
            "vcp" => Ok(Box::new(Controlled::new(queue, capacity, Vcp::build(&p)))),
            "quickstart" => Ok(Box::new(Controlled::new(queue, capacity, QuickStart::build(&p, stream)))),
            other => unreachable!("{other} has a row but no type"),
        }
    }
}
