//! When each outstanding segment was sent, for algorithms that ask for it (Brakmo, Peterson 1995), for
//! round-trip times by number (`sender/timing.rs`), and without timestamps. The record gives the round-trip
//! time of the last segment that an acknowledgement covers, without the wait that a delayed acknowledgement
//! adds to the first. It also allows a segment older than a fine-grained timeout to be sent again at the
//! first duplicate acknowledgement; the first and the second acknowledgement after any retransmission check
//! this age too.

use longfat_units::{Interval, Time};
use std::collections::VecDeque;
use std::collections::vec_deque::Iter;

/// How many acknowledgements of new data check the age after a retransmission.
const LOOKS: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Sending {
    at: Time,
    again: bool,
}

/// A transmission, in the order in which they leave. At one time repetitions count as the last ones, and
/// others leave in the order of their segments.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Sent {
    /// When it left.
    pub at: Time,
    /// It was not the first one of its segment.
    pub again: bool,
    /// Its segment.
    pub seq: u64,
}

/// The ages of two segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The age of the first in the order of sequence numbers.
    pub first: Interval,
    /// The age of the last.
    pub last: Interval,
}

/// When each outstanding segment was last sent.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    base: u64,
    sent: VecDeque<Sending>,
    /// How many of them were sent twice.
    repeated: usize,
    /// The last of all that are known to have arrived.
    newest: Sent,
    looks: u32,
}

impl Ages {
    /// Segment `seq` left, for the first time or again.
    pub fn sent(&mut self, seq: u64, now: Time) {
        let index = seq.saturating_sub(self.base) as usize;
        match self.sent.get_mut(index) {
            Some(sending) => {
                self.repeated += usize::from(!sending.again);
                *sending = Sending { at: now, again: true };
                self.looks = LOOKS;
            }
            None => self.sent.push_back(Sending { at: now, again: false }),
        }
    }

    /// When segment `seq`, which is outstanding, was sent, unless it was sent twice (Karn).
    pub fn sent_once(&self, seq: u64) -> Option<Time> {
        let sending = self.sent.get(seq.checked_sub(self.base)? as usize)?;
        (!sending.again).then_some(sending.at)
    }

    /// Everything below `base` is acknowledged now. Returns the ages of the first and the last of those,
    /// unless one of them was sent twice (Karn): segments above a filled hole had arrived before.
    #[inline]
    pub fn acknowledged(&mut self, now: Time, base: u64) -> Option<Span> {
        // one that a later one has overtaken says nothing new
        let count = base.saturating_sub(self.base) as usize;
        self.base = self.base.max(base);
        let count = count.min(self.sent.len());
        if self.repeated > 0 {
            let again = self.sent.range(..count).filter(|sending| sending.again).count();
            self.repeated -= again;
            if again > 0 {
                self.sent.drain(..count);
                return None;
            }
        }
        let mut covered = self.sent.drain(..count);
        let first = covered.next()?;
        let last = covered.next_back().unwrap_or(first);
        Some(Span { first: now.since(first.at), last: now.since(last.at) })
    }

    /// The ages of the first and of the last segment of a range that was sent once.
    #[inline]
    pub fn first_and_last(&self, now: Time, range: (u64, u64)) -> Option<Span> {
        let mut once = self.range(range).filter(|sending| !sending.again);
        let first = now.since(once.next()?.at);
        Some(Span { first, last: once.next_back().map_or(first, |sending| now.since(sending.at)) })
    }

    /// The segment of these ranges that was sent last. One that was sent twice counts if this is `proven` of
    /// the time at which it was sent again.
    pub fn newest_of(
        &self,
        ranges: impl Iterator<Item = (u64, u64)>,
        proven: impl Fn(Time) -> bool,
    ) -> Option<Sent> {
        let sent = ranges.flat_map(|range| (range.0.max(self.base)..).zip(self.range(range)));
        let counts = sent.filter(|(_, sending)| !sending.again || proven(sending.at));
        counts.map(|(seq, &Sending { at, again })| Sent { at, again, seq }).max()
    }

    /// A transmission has arrived. Returns whether none that left later was reported before.
    pub fn is_newest(&mut self, sent: Sent) -> bool {
        let is_newest = sent >= self.newest;
        self.newest = self.newest.max(sent);
        is_newest
    }

    /// Whether a segment below `end` was sent twice.
    #[inline]
    pub fn any_sent_again(&self, end: u64) -> bool {
        self.repeated > 0 && self.range((self.base, end)).any(|sending| sending.again)
    }

    /// The time since the first segment that is outstanding was sent last.
    pub fn of_first(&self, now: Time) -> Option<Interval> {
        self.sent.front().map(|sending| now.since(sending.at))
    }

    #[inline]
    fn range(&self, (start, end): (u64, u64)) -> Iter<'_, Sending> {
        let count = self.sent.len();
        let end = (end.saturating_sub(self.base) as usize).min(count);
        self.sent.range((start.saturating_sub(self.base) as usize).min(end)..end)
    }

    /// Whether this acknowledgement finds the first unacknowledged segment older than `timeout`. Only
    /// duplicates, and acknowledgements soon after a retransmission, check.
    pub fn overdue(&mut self, now: Time, duplicate: bool, timeout: Interval) -> bool {
        let looks = duplicate || self.looks > 0;
        if !duplicate {
            self.looks = self.looks.saturating_sub(1);
        }
        looks && self.sent.front().is_some_and(|first| now.since(first.at) > timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Interval = Interval::from_millis(100);

    fn at_ms(x: u64) -> Time {
        Time::ZERO + Interval::from_millis(x)
    }

    fn span(first: u64, last: u64) -> Option<Span> {
        let [first, last] = [first, last].map(Interval::from_millis);
        Some(Span { first, last })
    }

    #[test]
    fn the_round_trip_times_are_those_of_the_first_and_last_segment_covered_unless_one_was_sent_twice() {
        let mut ages = Ages::default();
        (0..6).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        assert_eq!(ages.acknowledged(at_ms(100), 0), None);
        assert_eq!(ages.acknowledged(at_ms(100), 2), span(100, 90));
        ages.sent(3, at_ms(105));
        assert_eq!(ages.acknowledged(at_ms(110), 4), None);
        assert_eq!(ages.acknowledged(at_ms(150), 6), span(110, 100));
    }

    #[test]
    fn an_acknowledgement_that_was_overtaken_changes_no_age() {
        let mut ages = Ages::default();
        (0..6).for_each(|seq| ages.sent(seq, at_ms(seq)));
        assert_eq!(ages.acknowledged(at_ms(100), 3), span(100, 98));
        assert_eq!(ages.acknowledged(at_ms(101), 2), None);
        assert_eq!(ages.sent_once(4), Some(at_ms(4)));
        assert_eq!(ages.acknowledged(at_ms(102), 5), span(99, 98));
    }

    #[test]
    fn a_range_has_the_ages_of_its_first_and_last_segment_that_was_sent_once() {
        let mut ages = Ages::default();
        (0..10).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        [2, 5, 6, 9].into_iter().for_each(|seq| ages.sent(seq, at_ms(105)));
        ages.acknowledged(at_ms(110), 2);
        let ends = |start, end| ages.first_and_last(at_ms(110), (start, end));
        assert_eq!(ends(4, 4), None);
        assert_eq!(ends(5, 7), None, "sent twice");
        assert_eq!(ends(3, 4), span(80, 80));
        assert_eq!(ends(2, 6), span(80, 70));
        assert_eq!(ends(8, 99), span(30, 30), "nothing is outstanding from 10 on");
        assert_eq!([3, 2, 0].map(|end| ages.any_sent_again(end)), [true, false, false]);
        assert_eq!(ages.of_first(at_ms(110)), Some(Interval::from_millis(5)));
    }

    #[test]
    fn the_newest_of_ranges_was_sent_last_and_a_second_transmission_needs_a_proof() {
        let mut ages = Ages::default();
        (0..10).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        [2, 5].into_iter().for_each(|seq| ages.sent(seq, at_ms(105)));
        let newest = |ranges: &[(u64, u64)], proven| {
            ages.newest_of(ranges.iter().copied(), |_| proven).map(|sent| (sent.at, sent.seq))
        };
        assert_eq!(newest(&[(2, 5)], false), Some((at_ms(40), 4)));
        assert_eq!(newest(&[(2, 5)], true), Some((at_ms(105), 2)));
        assert_eq!(newest(&[(2, 6)], true), Some((at_ms(105), 5)));
        assert_eq!(newest(&[(7, 8), (4, 6)], false), Some((at_ms(70), 7)));
        assert_eq!(newest(&[(5, 6)], false), None);
        let order = [(40, 4), (70, 7), (60, 6), (70, 6), (70, 7)];
        let are_newest = order.map(|(ms, seq)| ages.is_newest(Sent { at: at_ms(ms), again: false, seq }));
        assert_eq!(are_newest, [true, true, false, false, true]);
        assert!(ages.is_newest(Sent { at: at_ms(70), again: true, seq: 2 }));
    }

    #[test]
    fn segments_above_a_hole_that_was_filled_give_no_round_trip_time() {
        // 1 to 4 arrived at 100 ms, and were acknowledged when 0 had been sent again
        let mut ages = Ages::default();
        (0..6).for_each(|seq| ages.sent(seq, at_ms(seq)));
        ages.sent(0, at_ms(200));
        assert_eq!(ages.acknowledged(at_ms(300), 5), None);
        assert_eq!(ages.acknowledged(at_ms(305), 6), span(300, 300));
    }

    #[test]
    fn a_duplicate_finds_the_first_unacknowledged_segment_overdue_once_it_is_older_than_the_timeout() {
        let mut ages = Ages::default();
        (0..5).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        ages.acknowledged(at_ms(120), 2);
        assert!(!ages.overdue(at_ms(120), true, TIMEOUT), "sent at 20 ms");
        assert!(ages.overdue(at_ms(121), true, TIMEOUT));
        ages.acknowledged(at_ms(121), 3);
        assert!(!ages.overdue(at_ms(121), true, TIMEOUT));
        ages.acknowledged(at_ms(900), 5);
        assert!(!ages.overdue(at_ms(900), true, TIMEOUT), "nothing is outstanding");
    }

    #[test]
    fn two_acknowledgements_of_new_data_look_after_a_retransmission_and_no_other() {
        let mut ages = Ages::default();
        (0..9).for_each(|seq| ages.sent(seq, at_ms(0)));
        let mut overdue = |base, duplicate| {
            ages.acknowledged(at_ms(250), base);
            ages.overdue(at_ms(250), duplicate, TIMEOUT)
        };
        assert!(!overdue(1, false));
        assert!(overdue(1, true));
        ages.sent(1, at_ms(200));
        let mut overdue = |base, duplicate| {
            ages.acknowledged(at_ms(250), base);
            ages.overdue(at_ms(250), duplicate, TIMEOUT)
        };
        assert!(!overdue(1, true), "sent again at 200 ms");
        assert!(overdue(2, false));
        assert!(overdue(3, false));
        assert!(!overdue(4, false));
    }
}
