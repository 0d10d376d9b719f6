//! Queue disciplines that decide at arrival: what they admit leaves first in, first out, and
//! nothing that arrives later changes that.

use crate::DropReason;
use crate::queue::Limit;
use longfat_units::Time;

/// What becomes of a packet that arrives at a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admitted {
    /// It waits its turn.
    Unmarked,
    /// The same, with a mark (RFC 3168).
    Marked(DropReason),
    /// It is dropped.
    Dropped(DropReason),
}

/// A discipline that decides at arrival. Its queue can compute departures then
/// ([`ListedFifo`](crate::ListedFifo)).
pub trait Admission {
    /// A packet of `bytes` arrives at a queue that holds this many packets and bytes. Returns what becomes of
    /// it; it is not marked unless `markable`.
    fn admit(&mut self, now: Time, waiting: (u64, u64), bytes: u32, markable: bool) -> Admitted;
    /// The transmission of a packet starts.
    #[inline(always)]
    fn starts(&mut self, _now: Time, _bytes: u32) {}
}

/// Drop-tail.
impl Admission for Limit {
    #[inline(always)]
    fn admit(&mut self, _now: Time, (packets, queued): (u64, u64), bytes: u32, _markable: bool) -> Admitted {
        if self.admits(packets, queued, bytes) {
            Admitted::Unmarked
        } else {
            Admitted::Dropped(DropReason::Full)
        }
    }
}
