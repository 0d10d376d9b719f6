//! When each segment was last sent, in the order of sending, and the losses that follow from it (RACK, RFC
//! 8985, section 6), and what a sender keeps for RACK-TLP.
//!
//! The segments under way form a list in the order of their last transmission. A segment that is delivered or
//! found lost leaves the list. So an acknowledgement costs a constant time for each segment that it delivers
//! or that it finds lost, whatever the window. Where a segment arrives after all that was found lost, its
//! place in the order is found by the numbers of transmissions.
//!
//! | quantity | value | source |
//! |---|---|---|
//! | reordering window | min RTT / 4 times a multiplier, at most SRTT | RFC 8985, section 6.2, step 4 |
//! | multiplier | 1, and 1 more for a round trip with a DSACK | RFC 8985, section 6.2, step 4 |
//! | recoveries without a DSACK that end it | 16 | RFC 8985, section 6.2, step 4 |
//!
//! A DSACK counts only once reordering was seen, and not if it reports a probe of the tail (Linux,
//! tcp_dsack_seen): neither that of a spurious timeout nor that of a probe follows from too short a
//! reordering window.

mod transmissions;

use longfat_units::{Interval, Time};
use std::collections::VecDeque;
use transmissions::Transmissions;

const NONE: u64 = u64::MAX;
/// The recoveries for which a longer reordering window lasts.
const LASTING_RECOVERIES: u32 = 16;
/// The greatest multiplier of the reordering window (Linux, tcp_rack_update_reo_wnd): by far beyond SRTT.
const MOST_STEPS: u32 = 255;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// In the list.
    UnderWay,
    /// Found lost, and not sent again since.
    Lost,
    Delivered,
}

/// The last transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Sending {
    at: Time,
    /// The number of this transmission. It orders transmissions at the same time, where RFC 8985 compares
    /// sequence numbers: a host may retransmit after new data of the same instant.
    number: u64,
    /// Neighbours in the list.
    before: u64,
    after: u64,
    state: State,
    /// It was sent before this.
    again: bool,
}

/// The order of sending, and the most recently sent segment that was delivered.
#[derive(Clone, Debug)]
pub struct Rack {
    /// The first segment not acknowledged cumulatively.
    base: u64,
    segments: VecDeque<Sending>,
    /// The ends of the list.
    first: u64,
    last: u64,
    transmissions: u64,
    /// The latest one of a segment that had been sent before, by its number, that was found lost; 0 for none.
    lost_again: u64,
    /// Those under way, by their numbers.
    under_way: Transmissions,
    /// The number of the most recent transmission that was delivered (RACK.segment); 0 for none.
    latest: u64,
    /// The round-trip time of the last segment that the last acknowledgement delivered (RACK.rtt), which may
    /// have been sent before `latest`.
    rtt: Interval,
    /// The last segment under way that was sent before `latest`.
    waiting: u64,
    /// One past the highest segment that has arrived (RACK.fack).
    forward: u64,
    reordered: bool,
    /// The reordering window in quarters of the least round-trip time (RACK.reo_wnd_mult).
    steps: u32,
    /// The recoveries for which it stays so (RACK.reo_wnd_persist).
    lasts: u32,
    /// Until this segment is acknowledged, further DSACKs change nothing (RACK.dsack_round).
    round: u64,
    news: News,
    lost: Vec<(u64, u64)>,
}

/// What the acknowledgement at hand delivers.
#[derive(Clone, Copy, Debug)]
struct News {
    /// The most recent transmission: its number, and the last segment under way that was sent before it.
    number: u64,
    waiting: u64,
    /// One past the highest segment with a round-trip time, and that time. What was acknowledged selectively
    /// comes first, and segments in their order (Linux, tcp_sacktag_write_queue and tcp_clean_rtx_queue).
    timed: u64,
    rtt: Interval,
    /// The lowest segment delivered that was sent only once.
    lowest: u64,
    /// One past the highest segment.
    end: u64,
}

const NO_NEWS: News = News { number: 0, waiting: NONE, timed: 0, rtt: Interval::ZERO, lowest: NONE, end: 0 };

impl Default for Rack {
    fn default() -> Self {
        Rack {
            base: 0,
            segments: VecDeque::new(),
            first: NONE,
            last: NONE,
            transmissions: 0,
            lost_again: 0,
            under_way: Transmissions::default(),
            latest: 0,
            rtt: Interval::ZERO,
            waiting: NONE,
            forward: 0,
            reordered: false,
            steps: 1,
            lasts: 0,
            round: 0,
            news: NO_NEWS,
            lost: Vec::new(),
        }
    }
}

impl Rack {
    /// Segment `seq` left, for the first time or again (section 6.1).
    pub fn sent(&mut self, seq: u64, now: Time) {
        self.transmissions += 1;
        let number = self.transmissions;
        if let Some(state) = self.segments.get(self.index(seq)).map(|s| s.state) {
            if state == State::UnderWay {
                self.unlink(seq);
            }
            let sending = self.of(seq);
            (sending.at, sending.number) = (now, number);
            (sending.state, sending.again) = (State::UnderWay, true);
        } else {
            let state = State::UnderWay;
            self.segments.push_back(Sending {
                at: now,
                number,
                before: NONE,
                after: NONE,
                state,
                again: false,
            });
        }
        self.under_way.push(number, seq);
        self.link(seq);
    }

    /// The receiver has [start, end), by an acknowledgement that echoes `stamp` (section 6.2, step 2); `now`
    /// if it echoes nothing. Segments that were known to have arrived change nothing.
    pub fn delivered(&mut self, start: u64, end: u64, now: Time, stamp: Time, min_rtt: Interval) {
        let known = self.base + self.segments.len() as u64;
        for seq in start.max(self.base)..end.min(known) {
            let Sending { at, number, before, state, again, .. } = *self.of(seq);
            match state {
                State::Delivered => continue,
                State::UnderWay => self.unlink(seq),
                State::Lost => {}
            }
            self.of(seq).state = State::Delivered;
            self.news.end = self.news.end.max(seq + 1);
            if !again {
                self.news.lowest = self.news.lowest.min(seq);
            }
            // a segment sent twice may have arrived by its first transmission
            let doubtful = again && (stamp < at || now.since(at) < min_rtt);
            if doubtful {
                continue;
            }
            if seq >= self.news.timed {
                (self.news.timed, self.news.rtt) = (seq + 1, now.since(at));
            }
            if number > self.news.number {
                let waiting = if state == State::Lost { self.last_before(number) } else { before };
                self.news = News { number, waiting, ..self.news };
            }
        }
    }

    /// Everything below `base` is acknowledged, which ends the news of this acknowledgement (section 6.2,
    /// steps 2 and 3).
    pub fn acknowledged(&mut self, base: u64, now: Time, stamp: Time, min_rtt: Interval) {
        if base > self.base {
            let selective = core::mem::replace(&mut self.news.timed, 0);
            self.delivered(self.base, base, now, stamp, min_rtt);
            self.news.timed = self.news.timed.max(selective);
            let count = ((base - self.base) as usize).min(self.segments.len());
            self.segments.drain(..count);
            self.base = base;
        }
        let news = core::mem::replace(&mut self.news, NO_NEWS);
        self.reordered |= news.lowest < NONE && news.lowest + 1 < self.forward;
        self.forward = self.forward.max(news.end);
        if news.timed > 0 {
            self.rtt = news.rtt;
        }
        if news.number > self.latest {
            (self.latest, self.waiting) = (news.number, news.waiting);
        }
    }

    /// Other evidence than the order of arrival shows that segments were reordered.
    pub const fn note_reordering(&mut self) {
        self.reordered = true;
    }

    /// Whether some segment is known to have arrived after one that was sent later.
    pub const fn has_seen_reordering(&self) -> bool {
        self.reordered
    }

    /// An acknowledgement of everything below `base` reports that a retransmission was not needed. The
    /// reordering window grows by a step, once in a round trip; `next` is the next new segment.
    pub fn note_needless(&mut self, base: u64, next: u64) {
        if self.reordered && base >= self.round {
            self.round = next;
            self.steps = (self.steps + 1).min(MOST_STEPS);
            self.lasts = LASTING_RECOVERIES;
        }
    }

    /// A recovery has ended.
    pub const fn note_recovery(&mut self) {
        self.lasts = self.lasts.saturating_sub(1);
        if self.lasts == 0 {
            self.steps = 1;
        }
    }

    /// The reordering window in quarters of the least round-trip time.
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// The number of transmissions so far.
    pub const fn transmissions(&self) -> u64 {
        self.transmissions
    }

    /// The number of the latest retransmission that was found lost; 0 for none.
    pub const fn lost_again(&self) -> u64 {
        self.lost_again
    }

    /// Finds the segments lost that were sent before one that was delivered, and a round trip and the
    /// reordering window ago (section 6.2, step 5). Returns them as ranges.
    pub fn find_lost(&mut self, now: Time, reordering_window: Interval) -> &[(u64, u64)] {
        self.lost.clear();
        while self.first != NONE
            && self.of(self.first).number < self.latest
            && self.is_late(now, reordering_window)
        {
            self.lose(self.first);
        }
        &self.lost
    }

    /// The retransmission timer expired: the first segment is lost, and so are those sent a round trip and
    /// the reordering window ago (section 6.3). Returns them as ranges.
    pub fn find_lost_on_timeout(&mut self, now: Time, reordering_window: Interval) -> &[(u64, u64)] {
        self.lost.clear();
        if self.segments.front().is_some_and(|s| s.state == State::UnderWay) {
            self.lose(self.base);
        }
        while self.first != NONE && self.is_late(now, reordering_window) {
            self.lose(self.first);
        }
        &self.lost
    }

    /// When the last of the segments sent before one that was delivered counts as lost; never if there is
    /// none.
    pub fn deadline(&self, reordering_window: Interval) -> Time {
        let waiting = self.segments.get(self.index(self.waiting));
        waiting.map_or(Time::NEVER, |s| s.at + self.rtt + reordering_window)
    }

    /// Nothing was lost after all: every segment that has not arrived is under way.
    pub fn forget_losses(&mut self) {
        let missing = self.segments.iter().zip(self.base..).filter(|(s, _)| s.state != State::Delivered);
        let mut missing: Vec<(u64, u64)> = missing.map(|(s, seq)| (s.number, seq)).collect();
        missing.sort_unstable();
        self.under_way.restart(missing.iter().copied(), self.transmissions);
        (self.first, self.last) = (NONE, NONE);
        for (_, seq) in missing {
            self.of(seq).state = State::UnderWay;
            self.link(seq);
        }
        self.waiting = self.last_before(self.latest);
    }

    fn is_late(&mut self, now: Time, reordering_window: Interval) -> bool {
        let (at, rtt) = (self.of(self.first).at, self.rtt);
        at + rtt + reordering_window <= now
    }

    fn lose(&mut self, seq: u64) {
        self.unlink(seq);
        let sending = self.of(seq);
        sending.state = State::Lost;
        if sending.again {
            let number = sending.number;
            self.lost_again = self.lost_again.max(number);
        }
        match self.lost.last_mut() {
            Some((_, end)) if *end == seq => *end += 1,
            _ => self.lost.push((seq, seq + 1)),
        }
    }

    /// The last segment under way whose transmission has a lower number.
    fn last_before(&mut self, number: u64) -> u64 {
        self.under_way.last_below(number).unwrap_or(NONE)
    }

    fn index(&self, seq: u64) -> usize {
        (seq - self.base) as usize
    }

    fn of(&mut self, seq: u64) -> &mut Sending {
        let index = self.index(seq);
        &mut self.segments[index]
    }

    /// Puts a segment at the end of the list.
    fn link(&mut self, seq: u64) {
        let before = core::mem::replace(&mut self.last, seq);
        (self.of(seq).before, self.of(seq).after) = (before, NONE);
        if before == NONE {
            self.first = seq;
        } else {
            self.of(before).after = seq;
        }
    }

    fn unlink(&mut self, seq: u64) {
        let Sending { before, after, number, .. } = *self.of(seq);
        self.under_way.remove(number);
        if before == NONE {
            self.first = after;
        } else {
            self.of(before).after = after;
        }
        if after == NONE {
            self.last = before;
        } else {
            self.of(after).before = before;
        }
        for waiting in [&mut self.waiting, &mut self.news.waiting] {
            if *waiting == seq {
                *waiting = before;
            }
        }
    }
}

/// What a sender with RACK-TLP keeps.
#[derive(Clone, Debug, Default)]
pub struct RackTlp {
    pub order: Rack,
    pub probe: Probe,
    pub timer: Timer,
}

/// The timer that stands in for the retransmission timer (section 8).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timer {
    #[default]
    None,
    /// Waits for segments that may only be reordered.
    Reordering,
    /// Waits to send a probe.
    Probe,
}

/// The state of tail loss probes (section 7).
#[derive(Clone, Copy, Debug, Default)]
pub struct Probe {
    /// One past the last segment sent when a probe was, until it is acknowledged (TLP.end_seq).
    pub end: Option<u64>,
    /// It was a retransmission.
    pub again: bool,
    /// There is a round-trip time sample since the last probe, or since the start if there was none.
    pub sampled: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIN_RTT: Interval = Interval::from_millis(100);
    const WINDOW: Interval = Interval::from_millis(25);

    fn at_ms(x: u64) -> Time {
        Time::ZERO + Interval::from_millis(x)
    }

    /// Segments 0 to 9, sent 10 ms apart.
    fn ten() -> Rack {
        let mut rack = Rack::default();
        (0..10).for_each(|seq| rack.sent(seq, at_ms(10 * seq)));
        rack
    }

    /// A selective acknowledgement that a segment of its own causes; it was sent at `stamp` milliseconds.
    fn heard(rack: &mut Rack, seq: u64, now: u64, stamp: u64) {
        rack.delivered(seq, seq + 1, at_ms(now), at_ms(stamp), MIN_RTT);
        rack.acknowledged(rack.base, at_ms(now), at_ms(stamp), MIN_RTT);
    }

    #[test]
    fn segments_sent_long_enough_before_a_delivered_one_are_lost_and_the_others_have_a_deadline() {
        let mut rack = ten();
        heard(&mut rack, 4, 140, 40);
        // 0 and 1 left 40 and 30 ms before 4, which is at least 25; 2 and 3 have until 25 ms later
        assert_eq!(rack.find_lost(at_ms(140), WINDOW), [(0, 2)]);
        assert_eq!(rack.deadline(WINDOW), at_ms(30 + 100 + 25));
        assert_eq!(rack.find_lost(at_ms(155), WINDOW), [(2, 4)]);
        assert_eq!((rack.deadline(WINDOW), rack.has_seen_reordering()), (Time::NEVER, false));
        assert!(rack.find_lost(at_ms(1000), Interval::ZERO).is_empty(), "5 was sent later");
    }

    #[test]
    fn the_round_trip_time_is_that_of_the_last_segment_delivered_not_of_the_last_one_sent() {
        // section 6.2, step 2: one acknowledgement delivers 0, sent again at 150 ms, and 3, sent at 30 ms
        let mut rack = ten();
        heard(&mut rack, 2, 120, 20);
        assert_eq!(rack.find_lost(at_ms(120), Interval::ZERO), [(0, 2)]);
        rack.sent(0, at_ms(150));
        rack.delivered(2, 3, at_ms(260), at_ms(150), MIN_RTT);
        rack.acknowledged(1, at_ms(260), at_ms(150), MIN_RTT);
        assert_eq!(rack.rtt, Interval::from_millis(110));
        rack.sent(1, at_ms(260));
        rack.acknowledged(4, at_ms(370), at_ms(260), MIN_RTT);
        assert_eq!(rack.rtt, Interval::from_millis(340));
        // 4 left at 40 ms, before 1 was sent again, and waits for as long
        assert!(rack.find_lost(at_ms(379), Interval::ZERO).is_empty());
        assert_eq!(rack.find_lost(at_ms(380), Interval::ZERO), [(4, 5)]);
    }

    #[test]
    fn a_retransmission_is_lost_when_a_later_one_has_arrived() {
        let mut rack = ten();
        heard(&mut rack, 9, 190, 90);
        assert_eq!(rack.find_lost(at_ms(190), Interval::ZERO), [(0, 9)]);
        (0..3).for_each(|seq| rack.sent(seq, at_ms(190)));
        heard(&mut rack, 1, 290, 190);
        assert_eq!(rack.find_lost(at_ms(290), Interval::ZERO), [(0, 1)]);
        assert_eq!(rack.deadline(Interval::ZERO), Time::NEVER, "2 left after 1");
    }

    #[test]
    fn a_retransmission_that_the_acknowledgement_cannot_come_from_says_nothing() {
        for (now, stamp) in [(290, 100), (289, 190)] {
            let mut rack = ten();
            heard(&mut rack, 9, 190, 90);
            rack.find_lost(at_ms(190), Interval::ZERO);
            (0..3).for_each(|seq| rack.sent(seq, at_ms(190)));
            // by an earlier echo, or sooner than the least round trip
            heard(&mut rack, 2, now, stamp);
            assert!(rack.find_lost(at_ms(290), Interval::ZERO).is_empty());
        }
    }

    #[test]
    fn an_original_that_arrives_after_a_later_segment_shows_reordering_and_a_retransmission_does_not() {
        let mut rack = ten();
        heard(&mut rack, 2, 120, 20);
        rack.sent(0, at_ms(150));
        heard(&mut rack, 0, 260, 150);
        assert!(!rack.has_seen_reordering());
        heard(&mut rack, 1, 260, 10);
        assert!(rack.has_seen_reordering());
        // several segments of one acknowledgement are in order
        let mut rack = ten();
        rack.delivered(5, 7, at_ms(160), at_ms(60), MIN_RTT);
        rack.delivered(2, 4, at_ms(160), at_ms(60), MIN_RTT);
        rack.acknowledged(1, at_ms(160), at_ms(60), MIN_RTT);
        assert!(!rack.has_seen_reordering());
    }

    #[test]
    fn a_million_segments_that_arrive_after_they_were_found_lost_cost_no_search_each() {
        let mut rack = Rack::default();
        let count = 1_000_000;
        (0..2 * count).for_each(|seq| rack.sent(seq, at_ms(seq / count)));
        heard(&mut rack, count, 200, 1);
        assert_eq!(rack.find_lost(at_ms(200), Interval::ZERO), [(0, count)]);
        (0..count).for_each(|seq| heard(&mut rack, seq, 300, 0)); // a walk over those under way each time has no end
        assert!(rack.has_seen_reordering());
        rack.forget_losses();
        assert_eq!(rack.last_before(2 * count + 1), 2 * count - 1);
    }

    #[test]
    fn a_timeout_loses_the_first_segment_and_those_sent_a_round_trip_ago() {
        let mut rack = ten();
        rack.acknowledged(1, at_ms(100), Time::ZERO, MIN_RTT);
        rack.sent(1, at_ms(95));
        assert_eq!(rack.find_lost_on_timeout(at_ms(145), Interval::ZERO), [(1, 5)]);
        rack.forget_losses();
        assert_eq!(rack.find_lost_on_timeout(at_ms(195), Interval::ZERO), [(1, 10)]);
    }

    /// The pseudo-code of RFC 8985, section 6.2, over all segments.
    #[derive(Default)]
    struct Plain {
        /// Number and time of the last transmission, sent again, lost, delivered.
        segments: Vec<(u64, Time, bool, bool, bool)>,
        transmissions: u64,
        latest: u64,
        rtt: Interval,
        forward: u64,
        reordered: bool,
    }

    impl Plain {
        fn sent(&mut self, seq: u64, now: Time) {
            self.transmissions += 1;
            let again = (seq as usize) < self.segments.len();
            let sending = (self.transmissions, now, again, false, false);
            if again {
                self.segments[seq as usize] = sending;
            } else {
                self.segments.push(sending);
            }
        }

        fn delivered(&mut self, mut newly: Vec<usize>, now: Time, stamp: Time) {
            let before = self.forward;
            newly.retain(|&seq| !self.segments[seq].4);
            newly.sort_unstable();
            for seq in newly {
                let (number, at, again, ..) = self.segments[seq];
                self.segments[seq].4 = true;
                self.forward = self.forward.max(seq as u64 + 1);
                self.reordered |= (seq as u64) + 1 < before && !again;
                if again && (stamp < at || now.since(at) < MIN_RTT) {
                    continue;
                }
                self.rtt = now.since(at);
                self.latest = self.latest.max(number);
            }
        }

        fn find_lost(&mut self, now: Time, window: Interval) -> (Vec<u64>, Time) {
            let (mut lost, mut deadline) = (Vec::new(), Time::NEVER);
            for (segment, seq) in self.segments.iter_mut().zip(0..) {
                if segment.4 || segment.3 || segment.0 >= self.latest {
                    continue;
                }
                let due = segment.1 + self.rtt + window;
                if due <= now {
                    segment.3 = true;
                    lost.push(seq);
                } else {
                    deadline = if deadline == Time::NEVER { due } else { deadline.max(due) };
                }
            }
            (lost, deadline)
        }
    }

    proptest! {
        #[test]
        fn the_list_finds_what_a_look_at_every_segment_finds(
            steps in proptest::collection::vec((0u8..8, 0u64..30, 1u64..8, 0u64..60), 1..150)
        ) {
            let (mut rack, mut plain) = (Rack::default(), Plain::default());
            let mut now = Time::ZERO;
            for (what, at, length, passed) in steps {
                now += Interval::from_millis(passed);
                let known = plain.segments.len() as u64;
                let (start, end) = (rack.base + at, (rack.base + at + length).min(known));
                match what {
                    0 | 1 => (known..known + length).for_each(|seq| {
                        rack.sent(seq, now);
                        plain.sent(seq, now);
                    }),
                    2 | 3 => (start..end).for_each(|seq| {
                        if !plain.segments[seq as usize].4 {
                            rack.sent(seq, now);
                            plain.sent(seq, now);
                        }
                    }),
                    4 => {
                        let base = (rack.base + length).min(known);
                        plain.delivered((0..base as usize).collect(), now, now - Interval::from_millis(passed));
                        rack.acknowledged(base, now, now - Interval::from_millis(passed), MIN_RTT);
                    }
                    _ => {
                        plain.delivered((start as usize..end.max(start) as usize).collect(), now, now);
                        rack.delivered(start, end, now, now, MIN_RTT);
                        rack.acknowledged(rack.base, now, now, MIN_RTT);
                    }
                }
                let window = if passed % 2 == 0 { WINDOW } else { Interval::ZERO };
                let (lost, deadline) = plain.find_lost(now, window);
                let mut found: Vec<u64> = rack.find_lost(now, window).iter().flat_map(|&(a, b)| a..b).collect();
                found.sort_unstable();
                prop_assert_eq!(found, lost);
                prop_assert_eq!(rack.deadline(window), deadline);
                prop_assert_eq!(rack.has_seen_reordering(), plain.reordered);
            }
        }
    }
}
