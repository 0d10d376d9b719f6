//! What a link has counted.

use longfat_net::{Departures, DropReason, Offered};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Packet};

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

impl LinkCounters {
    /// Offers a packet to a queue that computes departures, which may mark it, and counts what becomes of it.
    /// Returns when it departs.
    ///
    /// # Errors
    /// Why it is dropped.
    #[inline(always)]
    pub fn offer(
        &mut self,
        queue: &mut impl Departures,
        now: Time,
        packet: &mut impl Packet,
    ) -> Result<Time, DropReason> {
        match queue.offer(now, packet.bytes(), packet.ecn() != Ecn::NotCapable) {
            Offered::Departs(at) => Ok(at),
            Offered::Marked(at, reason) => {
                self.marks[reason as usize] += 1;
                packet.set_ecn(Ecn::Marked);
                Ok(at)
            }
            Offered::Dropped(reason) => {
                self.count_drop(reason);
                Err(reason)
            }
        }
    }

    /// Counts a packet that the queue drops.
    #[inline]
    pub fn count_drop(&mut self, reason: DropReason) {
        self.packets_dropped += 1;
        self.drops[reason as usize] += u64::from(reason != DropReason::Full);
    }
}
