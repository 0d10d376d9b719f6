//! What a link has counted.

use longfat_net::{DropReason, Offered};
use longfat_units::{Interval, Time};

/// How many packets were dropped or marked, by reason.
pub type Reasons = [u64; DropReason::COUNT];

/// Counters of one link, since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Packets that came to the link.
    pub packets_in: u64,
    /// Dropped by the queue.
    pub packets_dropped: u64,
    /// Packets dropped for another reason than a full queue, by reason.
    pub drops: Reasons,
    /// Marked by the queue, by reason.
    pub marks: Reasons,
    /// Lost by the loss process before the queue, or in an outage behind it.
    pub packets_lost: u64,
    /// Packets that were doubled behind the queue.
    pub packets_doubled: u64,
    /// Packets whose transmission has begun.
    pub packets_out: u64,
    /// Their IP bytes.
    pub bytes_out: u64,
    /// Time for which it has transmitted.
    pub busy: Interval,
    /// Bits that it has transmitted, where its capacity varies.
    pub bits_out: f64,
}

/// What becomes of a packet at a link whose departures are arithmetic, or whose queue holds tickets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crossed {
    /// A loss process took it.
    Lost,
    /// The queue dropped it.
    Dropped(DropReason),
    /// Its last bit will have left then.
    Departs(Time),
    /// The same, with a mark.
    Marked(Time, DropReason),
}

/// For queues that only drop what they have no room for.
impl From<Option<Time>> for Crossed {
    #[inline(always)]
    fn from(departs_at: Option<Time>) -> Self {
        departs_at.map_or(Crossed::Dropped(DropReason::Full), Crossed::Departs)
    }
}

impl From<Offered> for Crossed {
    #[inline(always)]
    fn from(offered: Offered) -> Self {
        match offered {
            Offered::Departs(at) => Crossed::Departs(at),
            Offered::Marked(at, reason) => Crossed::Marked(at, reason),
            Offered::Dropped(reason) => Crossed::Dropped(reason),
        }
    }
}

impl LinkCounters {
    /// Counts a packet that does not depart, or departs with a mark.
    #[inline]
    pub fn count(&mut self, outcome: Crossed) {
        match outcome {
            Crossed::Lost => self.packets_lost += 1,
            Crossed::Dropped(reason) => {
                self.packets_dropped += 1;
                self.drops[reason as usize] += u64::from(reason != DropReason::Full);
            }
            Crossed::Marked(_, reason) => self.marks[reason as usize] += 1,
            Crossed::Departs(_) => {}
        }
    }
}
