//! Which round-trip time an acknowledgement gives, and which one ends the backoff.
//!
//! Where segments are known by number, two count: that for algorithms and the least one, and that for SRTT.
//!
//! | stack | algorithms | SRTT | source |
//! |---|---|---|---|
//! | Linux | the last reported, SACK first | the first covered, SACK last | tcp_ack_update_rtt |
//! | QUIC | the newest transmission | the same | RFC 9002, section 5.1, without the stated ACK delay |
//!
//! In Linux (tcp_clean_rtx_queue) no segment counts that was sent twice, and none that is covered if one of
//! these was; the timestamp counts where no segment does. In QUIC nothing counts if a newer transmission is
//! known to have arrived.

use super::Sender;
use crate::ages::{Ages, Sent, Span};
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
    /// segment `timed` ends it.
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

    /// Whether an acknowledgement reports segments in order, each of which was sent once.
    #[inline]
    pub(super) fn reports_in_order(&self, packet: &SimPacket) -> bool {
        self.board.is_clear()
            && packet.extra.as_ref().is_none_or(|extra| extra.sack.is_empty())
            && self.ages.as_ref().is_some_and(|ages| !ages.any_sent_again(packet.seq))
    }

    /// The round-trip times by number of an acknowledgement that [reports in
    /// order](Sender::reports_in_order), before the scoreboard knows it: smooths one of them, and returns the
    /// one for algorithms.
    #[inline]
    pub(super) fn time_in_order(&mut self, now: Time, packet: &SimPacket) -> Option<Interval> {
        let ages = self.ages.as_mut()?;
        let Span { first, last } = ages.acknowledged(now, packet.seq)?;
        let smoothed = if self.config.rtt_samples == RttSamples::Numbered {
            if !ages.is_newest(Sent { at: now - last, again: false, seq: packet.seq - 1 }) {
                return None;
            }
            last
        } else {
            first
        };
        self.take_sample(now - smoothed, now, packet.seq);
        self.rtt.tell(last);
        Some(last)
    }

    /// What an acknowledgement covers of that which is not known to have arrived, before the scoreboard knows
    /// it.
    #[inline(never)]
    pub(super) fn note_covered(&self, now: Time, packet: &SimPacket) -> Option<Reported> {
        let ages = self.ages.as_ref().filter(|_| packet.seq >= self.board.base())?;
        let mut reported = Reported { head: ages.of_first(now), ..Reported::default() };
        if packet.seq == self.board.base() {
            return Some(reported);
        }
        let unknown = self.board.unknown(self.board.base(), packet.seq);
        if self.config.rtt_samples == RttSamples::Numbered {
            let least = self.rtt.known_base();
            let echo = self.config.timestamps.then_some(packet.stamp);
            reported.newest = ages
                .newest_of(unknown, |again| echo.map_or(now.since(again) >= least, |stamp| stamp >= again));
        } else if !ages.any_sent_again(packet.seq) {
            for part in unknown {
                let span = ages.first_and_last(now, part);
                reported.covered = match (reported.covered, span) {
                    (Some(Span { first, .. }), Some(Span { last, .. })) => Some(Span { first, last }),
                    (covered, span) => covered.or(span),
                };
            }
        }
        Some(reported)
    }

    /// The round-trip times by number of an acknowledgement that has reported this: smooths one of them, and
    /// returns the one for algorithms.
    #[inline(never)]
    pub(super) fn time_reported(
        &mut self,
        now: Time,
        packet: &SimPacket,
        cumulative: u64,
        reported: &Reported,
    ) -> Option<Interval> {
        let stamped = (cumulative > 0 && self.config.timestamps).then_some(packet.stamp);
        let is_numbered = self.config.rtt_samples == RttSamples::Numbered;
        let (for_algorithm, smoothed) = if is_numbered {
            // the timestamp is that of the first segment covered
            let first = packet.seq - cumulative;
            let newest = reported.newest.or(stamped.map(|at| Sent { at, again: false, seq: first }))?;
            if !self.ages.as_mut().is_some_and(|ages| ages.is_newest(newest)) {
                return None; // RFC 9002, section 5.1: only the largest number gives a sample
            }
            (Some(now.since(newest.at)), Some(now.since(newest.at)))
        } else {
            let Reported { covered, lowest, highest, .. } = reported;
            let by_clock = stamped.map(|stamp| in_ticks(stamp, now));
            let last = highest.map(|(_, rtt)| rtt).or(covered.map(|span| span.last));
            let first = covered.map(|span| span.first).or(lowest.map(|(_, rtt)| rtt));
            (last.or(by_clock), first.or(by_clock))
        };
        let rtt = smoothed?;
        self.take_sample(now - rtt, now, packet.seq);
        // What was sent before the first outstanding segment was sent last says that this one may still be on
        // its way (Linux, tcp_clean_rtx_queue). In QUIC the timer starts again with each packet that is
        // acknowledged.
        if self.rack.is_some() && (is_numbered || reported.head.is_some_and(|head| rtt > head)) {
            self.restart_timer(now);
        }
        for_algorithm.inspect(|&rtt| self.rtt.tell(rtt))
    }
}

/// The times of what an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    /// The ages of what it covers, if none of that was sent twice.
    covered: Option<Span>,
    /// The ages of the first and the last segment in its SACK blocks that was sent once, with where their
    /// blocks begin.
    lowest: Option<(u64, Interval)>,
    highest: Option<(u64, Interval)>,
    /// The one that was sent last of all these, maybe again.
    newest: Option<Sent>,
    /// Since the first outstanding segment was sent last.
    head: Option<Interval>,
}

impl Reported {
    /// Includes a part of a SACK block; blocks come in any order. With `least`, the least round-trip time,
    /// segments that were sent again as long ago count too: the timestamp echoed is that of an earlier
    /// segment.
    #[inline]
    pub(super) fn include(&mut self, ages: &Ages, now: Time, part: (u64, u64), least: Option<Interval>) {
        if let Some(least) = least {
            let newest = ages.newest_of(core::iter::once(part), |again| now.since(again) >= least);
            self.newest = self.newest.max(newest);
        } else if let Some(span) = ages.first_and_last(now, part) {
            let begin = part.0;
            self.lowest = self.lowest.filter(|&(lowest, _)| lowest < begin).or(Some((begin, span.first)));
            self.highest = self.highest.filter(|&(highest, _)| highest > begin).or(Some((begin, span.last)));
        }
    }
}
