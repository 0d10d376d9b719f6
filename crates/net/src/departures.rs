//! Queues that compute at arrival when each packet leaves the link behind them.

use crate::{DropReason, Occupancy, Sojourn};
use longfat_units::{Interval, Time};

/// What becomes of a packet that is offered to a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offered {
    /// Its last bit will be on the wire then.
    Departs(Time),
    /// The same, with a mark (RFC 3168).
    Marked(Time, DropReason),
    /// It is dropped.
    Dropped(DropReason),
}

/// A queue that computes departures at arrival.
pub trait Departures {
    /// A packet of `bytes` arrives, no earlier than the one before it. Returns what becomes of it; it is not
    /// marked unless `markable`. A transmission that begins at `now` has begun.
    fn offer(&mut self, now: Time, bytes: u32, markable: bool) -> Offered;
    /// Brings queue and counters to their state just before anything happens at `now`. All that follows is
    /// exact then.
    fn settle_before(&mut self, now: Time);
    /// Packets and bytes whose transmission has begun.
    fn sent(&self) -> (u64, u64);
    /// How long the link has transmitted by `now`.
    fn busy(&self, now: Time) -> Interval;
    /// The bits that it has transmitted by `now`, if its capacity can vary.
    fn bits(&self, _now: Time) -> Option<f64> {
        None
    }
    /// The queue's length since the last restart.
    fn occupancy(&self) -> &Occupancy;
    /// How long packets have waited in the measured span, from the restart at its begin until its end.
    fn sojourn(&mut self) -> &Sojourn;
    /// The measured span begins: restarts the statistics.
    fn restart(&mut self, now: Time);
}
