//! Which round-trip time an acknowledgement gives, and which one ends the backoff.

use super::Sender;
use crate::ages::Span;
use crate::rtt::in_ticks;
use crate::{BackoffUntil, RttSamples};
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

    /// A sample that an acknowledgement up to `acknowledged` gives. While the backoff is held, that of segment
    /// `timed` ends it.
    fn take_sample(&mut self, from: Time, to: Time, acknowledged: u64) -> Interval {
        let holds = self.config.timestamps && !self.samples_each;
        self.samples_each |= holds && acknowledged > self.timed;
        if holds && !self.samples_each {
            self.rtt.sample_backed_off(from, to)
        } else {
            self.rtt.sample(from, to)
        }
    }

    /// Without timestamps one segment is timed at once, as in RFC 6298, section 3: its acknowledgement gives
    /// a sample if it was sent once. The next segment to be sent is timed then. With timestamps each
    /// acknowledgement gives a sample.
    #[cold]
    pub(super) fn time_one(&mut self, now: Time, packet: &SimPacket) -> Option<Interval> {
        if self.config.timestamps {
            return Some(self.take_sample(packet.stamp, now, packet.seq));
        }
        if packet.seq <= self.timed {
            return None;
        }
        let sent = self.ages.as_ref().and_then(|ages| ages.sent_once(self.timed));
        self.timed = self.next;
        sent.map(|at| self.rtt.sample(at, now))
    }

    /// The round-trip times of an acknowledgement by the times at which its segments were sent, before the
    /// scoreboard knows it; smooths one of them. Returns the one for algorithms.
    ///
    /// Linux (tcp_ack_update_rtt) smooths that of the first segment covered, and the least one is that of the last,
    /// if no segment covered was sent twice. Otherwise those of the segments acknowledged selectively count, and
    /// otherwise the timestamp. QUIC smooths that of the last (RFC 9002, section 5.1).
    #[cold]
    pub(super) fn time_by_number(&mut self, now: Time, packet: &SimPacket) -> Option<Interval> {
        let (base, seq) = (self.board.base(), packet.seq);
        if seq < base {
            return None; // overtaken
        }
        let ages = self.ages.as_ref()?;
        let covered =
            (!ages.any_sent_again(seq)).then(|| ages.of(now, self.board.unknown(base, seq))).flatten();
        let mut selective: Option<Span> = None;
        if self.config.loss_detection.has_sack() {
            let mut blocks: Vec<_> = packet.sack().iter().collect();
            blocks.sort_unstable();
            for (start, end) in blocks {
                let unknown = self.board.unknown(start.max(seq), end.min(self.next));
                if let Some(Span { first, last }) = ages.of(now, unknown) {
                    selective = Some(Span { first: selective.map_or(first, |earlier| earlier.first), last });
                }
            }
        }
        let stamped = (seq > base && self.config.timestamps).then_some(packet.stamp);
        let last = selective.or(covered).map(|span| span.last);
        let (told, smoothed) = match self.config.rtt_samples {
            RttSamples::Echoed => return None,
            RttSamples::Last => {
                let by_clock = stamped.map(|stamp| in_ticks(stamp, now));
                (last.or(by_clock), covered.or(selective).map(|span| span.first).or(by_clock))
            }
            RttSamples::Numbered => {
                let rtt = last.or_else(|| stamped.map(|stamp| now.since(stamp)));
                (rtt, rtt)
            }
        };
        let head = ages.of_first(now);
        if let Some(rtt) = smoothed {
            self.take_sample(now - rtt, now, seq);
        }
        // what was sent before the first outstanding segment was sent last says that this one may still be on its
        // way (Linux, tcp_clean_rtx_queue)
        if seq == base && self.rack.is_some() && selective.is_some_and(|span| Some(span.first) > head) {
            self.rto_at = self.rtt.deadline(now);
        }
        told.inspect(|&rtt| self.rtt.tell(rtt))
    }
}
