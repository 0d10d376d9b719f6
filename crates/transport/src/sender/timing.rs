//! Which acknowledgements give a round-trip time where not each of them does, and which one ends the backoff.

use super::Sender;
use crate::BackoffUntil;
use longfat_units::{Interval, Time};
use longfat_wire::SimPacket;

impl Sender {
    /// After a timeout samples leave the backoff alone, if it lasts until a new segment is acknowledged.
    pub(super) fn hold_backoff(&mut self) {
        if self.config.timestamps && self.config.rto.backoff_until == BackoffUntil::NewSegment {
            self.samples_each = false;
            self.timed = self.next;
        }
    }

    /// Without timestamps one segment is timed at once, as in RFC 6298, section 3: its acknowledgement gives
    /// a sample if it was sent once. The next segment to be sent is timed then. With timestamps, while the
    /// backoff is held, each acknowledgement gives a sample, and that of this segment ends the backoff.
    #[cold]
    pub(super) fn time_one(&mut self, now: Time, packet: &SimPacket) -> Option<Interval> {
        if self.config.timestamps {
            self.samples_each = packet.seq > self.timed;
            return Some(if self.samples_each {
                self.rtt.sample(packet.stamp, now)
            } else {
                self.rtt.sample_backed_off(packet.stamp, now)
            });
        }
        if packet.seq <= self.timed {
            return None;
        }
        let sent = self.ages.as_ref().and_then(|ages| ages.sent_once(self.timed));
        self.timed = self.next;
        sent.map(|at| self.rtt.sample(at, now))
    }
}
