//! Queue disciplines that decide at arrival: what they admit leaves first in, first out, and
//! nothing that arrives later changes that.

use crate::DropReason;
use crate::queue::{Limit, RedLaw};
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

/// The law of a discipline that decides at arrival; its registry row builds it.
#[derive(Clone, Debug)]
pub enum Law {
    /// Drop-tail's.
    DropTail(Limit),
    /// RED's.
    Red(RedLaw),
}

impl Admission for Law {
    #[inline(always)]
    fn admit(&mut self, now: Time, waiting: (u64, u64), bytes: u32, markable: bool) -> Admitted {
        match self {
            Law::DropTail(limit) => limit.admit(now, waiting, bytes, markable),
            Law::Red(law) => law.admit(now, waiting, bytes, markable),
        }
    }

    #[inline(always)]
    fn starts(&mut self, now: Time, bytes: u32) {
        match self {
            Law::DropTail(limit) => limit.starts(now, bytes),
            Law::Red(law) => law.starts(now, bytes),
        }
    }
}
