//! Explicit-rate routers, one file each, one row each in [`ROWS`]. A router is an element around the queue of a link:
//! it sees packets before they join the queue and as they leave it, and writes into the headers of those that carry
//! one.

mod behind;
pub mod dqw;
pub mod friendly;
pub mod jetmax;
mod law;
pub mod quickstart;
pub mod vcp;
pub mod xcp;
mod xcp_i;

pub use dqw::Dqw;
pub use friendly::Friendly;
pub use jetmax::JetMax;
pub use law::{Controlled, DynLaw, Law, Stretch};
pub use quickstart::QuickStart;
pub use vcp::Vcp;
pub use xcp::Xcp;
pub use xcp_i::XcpI;

use crate::queue::Limit;
use crate::queue::registry::Boxed;
use crate::{Address, Capacity};
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
    /// What the queue holds.
    pub limit: Limit,
    /// The router's own random stream.
    pub stream: Stream,
    /// Its address, to which others send messages.
    pub address: Address,
}

/// All rows, in the order of their introduction.
pub static ROWS: &[Router] =
    &[xcp::ROW, vcp::ROW, quickstart::ROW, friendly::ROW, dqw::ROW, jetmax::ROW, xcp_i::ROW];

/// Protocols whose laws other routers drive, by their rows' names.
const PROTOCOLS: &[&str] = &["xcp", "vcp", "jetmax"];

/// Makes as many instances of a law as there are stretches to control.
type Laws<P> = Box<dyn Fn() -> DynLaw<P> + Send>;

/// Of one of [`PROTOCOLS`], with its defaults.
fn laws<P: Packet>(protocol: &str) -> Result<Laws<P>, ParameterError> {
    match protocol {
        "xcp" => {
            let p = xcp::ROW.checked(&[])?;
            Ok(Box::new(move || Box::new(Xcp::build(&p))))
        }
        "vcp" => {
            let p = vcp::ROW.checked(&[])?;
            Ok(Box::new(move || Box::new(Vcp::build(&p))))
        }
        "jetmax" => {
            let p = jetmax::ROW.checked(&[])?;
            Ok(Box::new(move || Box::new(JetMax::build(&p))))
        }
        other => unreachable!("{other} is no protocol"),
    }
}

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
        match self.name {
            "xcp" => Ok(Box::new(Controlled::new(setup.queue, setup.capacity, Xcp::build(&p)))),
            "vcp" => Ok(Box::new(Controlled::new(setup.queue, setup.capacity, Vcp::build(&p)))),
            "quickstart" => Ok(Box::new(Controlled::new(
                setup.queue,
                setup.capacity,
                QuickStart::build(&p, setup.stream),
            ))),
            "friendly" => Ok(Box::new(Friendly::build(setup, &p)?)),
            "dqw" => Ok(Box::new(Dqw::build(setup, &p)?)),
            "xcp-i" => Ok(Box::new(XcpI::build(setup, &p)?)),
            "jetmax" => Ok(Box::new(Controlled::new(setup.queue, setup.capacity, JetMax::build(&p)))),
            other => unreachable!("{other} has a row but no type"),
        }
    }
}
