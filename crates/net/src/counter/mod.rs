//! How many flows are active: counters that are shown packets, one file each.

mod bloom;
mod exact;
mod zombies;

pub use bloom::Bloom;
pub use exact::Exact;
pub use zombies::Zombies;

use longfat_units::Stream;
use longfat_wire::FlowId;

/// Estimates how many flows the packets that it is shown belong to.
pub trait Counter {
    /// A packet of this flow.
    fn see(&mut self, flow: FlowId, draws: &mut Stream);
    /// A measurement interval ends and the next one begins; nothing to those that have none.
    fn end_interval(&mut self) {}
    /// How many there are, as far as it knows; none until it knows of any.
    fn flows(&self) -> Option<f64>;
}
