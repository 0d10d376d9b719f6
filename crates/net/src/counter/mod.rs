//! Counters of active flows, one file each.

mod bloom;
mod exact;
mod zombies;

pub use bloom::Bloom;
pub use exact::Exact;
pub use zombies::Zombies;

use longfat_units::Stream;

/// Estimates how many flows the packets that it sees belong to.
pub trait Counter {
    /// A packet of the flow with this identity.
    fn see(&mut self, flow: u64, draws: &mut Stream);
    /// A measurement interval ends and the next one begins. A counter without intervals ignores this.
    fn end_interval(&mut self) {}
    /// The estimated number of flows; `None` before the first estimate.
    fn flows(&self) -> Option<f64>;
}
