//! Network elements: queues, routers, losses, delays. They are state machines on any
//! [`Packet`](longfat_wire::Packet): the caller passes `now`, they act through a [`Sink`], and they own no
//! clock, socket or thread.

mod admission;
mod capacity;
pub mod counter;
mod departures;
pub mod disturbance;
mod element;
mod fifo;
mod hash;
mod identity;
mod last_size;
mod listed_fifo;
pub mod loss;
mod meter;
mod occupancy;
mod pipe;
pub mod queue;
pub mod router;
mod sine;
mod sojourn;
mod ticking_fifo;
mod ticks;
mod visit;
// The integration tests' drivers, for tests that stand beside a queue or a router; they name the crate.
#[cfg(test)]
extern crate self as longfat_net;
#[cfg(test)]
mod testing;

pub use admission::{Admission, Admitted};
pub use capacity::{Capacity, OPPORTUNITY_BYTES, Trace, Transmitter};
pub use departures::{Departures, Offered};
pub use element::{DropReason, Element, Sink, Visitor, into_type};
pub use fifo::ConstantFifo;
pub use identity::Identities;
pub use listed_fifo::ListedFifo;
pub use longfat_wire::Address;
pub use loss::{Loss, LossModel};
pub use meter::Meter;
pub use occupancy::Occupancy;
pub use pipe::{COPY, GONE, Pipe, WAITS};
pub use sine::Sine;
pub use sojourn::{Foreseen, Sojourn};
pub use ticking_fifo::TickingFifo;
pub use ticks::{Credit, Ticks};
pub use visit::visit;
