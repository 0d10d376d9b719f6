//! Which round-trip time an acknowledgement gives, and which one ends the backoff.
//!
//! Where segments are known by number, two count: that for algorithms and the least one, and that for SRTT.
//!
//! | stack | algorithms | SRTT | source |
//! |---|---|---|---|
//! | Linux | the last segment reported, selectively before cumulatively | the first one, cumulatively before selectively | tcp_clean_rtx_queue, tcp_ack_update_rtt |
//! | QUIC | the one that was sent last | the same | RFC 9002, section 5.1; without the delay that the receiver states |
//!
//! In Linux no segment counts that was sent twice, and none that is covered if one of these was; the
//! timestamp counts where no segment does.

use super::Sender;
use crate::ages::{Ages, Span};
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

    /// A sample that an acknowledgement up to `acknowledged` gives. While the backoff is held, that of
    /// segment
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

    /// The round-trip times by number of an acknowledgement that covers segments in order, before the
    /// scoreboard knows it: smooths one of them, and returns the one for algorithms.
    #[inline]
    pub(super) fn time_in_order(&mut self, now: Time, packet: &SimPacket) -> Option<Interval> {
        let Span { first, last } = self.ages.as_mut()?.acknowledged(now, packet.seq)?;
        let smoothed = if self.config.rtt_samples == RttSamples::Numbered { last } else { first };
        self.take_sample(now - smoothed, now, packet.seq);
        self.rtt.tell(last);
        Some(last)
    }

    /// What an acknowledgement covers of that which is not known to have arrived, before the scoreboard knows
    /// it.
    #[cold]
    pub(super) fn note_covered(&self, now: Time, packet: &SimPacket) -> Option<Reported> {
        let ages = self.ages.as_ref().filter(|_| packet.seq >= self.board.base())?;
        let mut reported = Reported { head: ages.of_first(now), ..Reported::default() };
        let unknown = self.board.unknown(self.board.base(), packet.seq);
        if self.config.rtt_samples == RttSamples::Numbered {
            reported.latest = ages.of_latest(now, unknown, self.rtt.known_base());
        } else if !ages.any_sent_again(packet.seq) {
            reported.covered = ages.of(now, unknown);
        }
        Some(reported)
    }

    /// The round-trip times by number of an acknowledgement that has reported this: smooths one of them, and
    /// returns the one for algorithms.
    #[cold]
    pub(super) fn time_reported(
        &mut self,
        now: Time,
        packet: &SimPacket,
        cumulative: u64,
        reported: &Reported,
    ) -> Option<Interval> {
        let stamped = (cumulative > 0 && self.config.timestamps).then_some(packet.stamp);
        let (told, smoothed) = if self.config.rtt_samples == RttSamples::Numbered {
            let rtt = reported.latest.or_else(|| stamped.map(|stamp| now.since(stamp)));
            (rtt, rtt)
        } else {
            let Reported { covered, lowest, highest, .. } = reported;
            let by_clock = stamped.map(|stamp| in_ticks(stamp, now));
            let told = highest.map(|(_, rtt)| rtt).or(covered.map(|span| span.last));
            let smoothed = covered.map(|span| span.first).or(lowest.map(|(_, rtt)| rtt));
            (told.or(by_clock), smoothed.or(by_clock))
        };
        let rtt = smoothed?;
        self.take_sample(now - rtt, now, packet.seq);
        // what was sent before the first outstanding segment was sent last says that this one may still be on
        // its way (Linux, tcp_clean_rtx_queue)
        let restarts = self.rack.is_some() && reported.head.is_some_and(|head| rtt > head);
        if cumulative > 0 || restarts {
            self.restart_timer(now);
        }
        told.inspect(|&rtt| self.rtt.tell(rtt))
    }
}

/// The ages of what an acknowledgement reports, and was sent once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    /// Of what it covers.
    covered: Option<Span>,
    /// Of the first and the last segment in its SACK blocks, with the beginnings of these.
    lowest: Option<(u64, Interval)>,
    highest: Option<(u64, Interval)>,
    /// Of the segment of all these that was sent last, maybe again.
    latest: Option<Interval>,
    /// Since the first outstanding segment was sent last.
    head: Option<Interval>,
}

impl Reported {
    /// Includes a part of a SACK block. The blocks come in any order.
    pub(super) fn include(&mut self, ages: &Ages, now: Time, part: (u64, u64), numbered: Option<Interval>) {
        let parts = core::iter::once(part);
        if let Some(least) = numbered {
            let latest = ages.of_latest(now, parts, least);
            self.latest = self.latest.into_iter().chain(latest).min();
        } else if let Some(span) = ages.of(now, parts) {
            let begin = part.0;
            self.lowest = self.lowest.filter(|&(lowest, _)| lowest < begin).or(Some((begin, span.first)));
            self.highest = self.highest.filter(|&(highest, _)| highest > begin).or(Some((begin, span.last)));
        }
    }
}
