//! When each outstanding segment was sent, for algorithms that ask for it (Brakmo, Peterson 1995). The record
//! gives the round-trip time of the last segment that an acknowledgement covers, without the wait that a
//! delayed acknowledgement adds to the first. It also allows a segment older than a fine-grained timeout to
//! be sent again at the first duplicate acknowledgement; the first and the second acknowledgement after any
//! retransmission check this age too.

use longfat_units::{Interval, Time};
use std::collections::VecDeque;

/// How many acknowledgements of new data check the age after a retransmission.
const LOOKS: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Sending {
    at: Time,
    again: bool,
}

/// The ages of two segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Of the first in the order of sequence numbers.
    pub first: Interval,
    /// Of the last.
    pub last: Interval,
}

/// When each outstanding segment was last sent.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    base: u64,
    sent: VecDeque<Sending>,
    looks: u32,
}

impl Ages {
    /// Segment `seq` left, for the first time or again.
    pub fn sent(&mut self, seq: u64, now: Time) {
        let index = seq.saturating_sub(self.base) as usize;
        match self.sent.get_mut(index) {
            Some(sending) => {
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
        let mut covered = self.sent.drain(..count.min(self.sent.len()));
        let first = covered.next()?;
        let last = covered.next_back().unwrap_or(first);
        let again = first.again || last.again || covered.any(|sending| sending.again);
        (!again).then(|| Span { first: now.since(first.at), last: now.since(last.at) })
    }

    /// The ages of the first and of the last segment of these ranges that was sent once. The ranges ascend,
    /// and lie within what is outstanding.
    pub fn of(&self, now: Time, ranges: impl Iterator<Item = (u64, u64)>) -> Option<Span> {
        let mut found: Option<Span> = None;
        for (start, end) in ranges {
            let index = |seq: u64| (seq.saturating_sub(self.base) as usize).min(self.sent.len());
            let mut once = self.sent.range(index(start)..index(end)).filter(|sending| !sending.again);
            let Some(first) = once.next().map(|sending| now.since(sending.at)) else { continue };
            let last = once.next_back().map_or(first, |sending| now.since(sending.at));
            found = Some(Span { first: found.map_or(first, |earlier| earlier.first), last });
        }
        found
    }

    /// The age of the segment of these ranges that was sent last. One that was sent twice counts if `least`,
    /// the least round-trip time, has passed since: before that, an earlier transmission has arrived.
    pub fn of_latest(
        &self,
        now: Time,
        ranges: impl Iterator<Item = (u64, u64)>,
        least: Interval,
    ) -> Option<Interval> {
        let index = |seq: u64| (seq.saturating_sub(self.base) as usize).min(self.sent.len());
        ranges
            .flat_map(|(start, end)| self.sent.range(index(start)..index(end)))
            .filter(|sending| !sending.again || now.since(sending.at) >= least)
            .map(|sending| now.since(sending.at))
            .min()
    }

    /// Whether a segment below `end` was sent twice.
    pub fn any_sent_again(&self, end: u64) -> bool {
        let count = (end.saturating_sub(self.base) as usize).min(self.sent.len());
        self.sent.range(..count).any(|sending| sending.again)
    }

    /// The time since the first segment that is outstanding was sent last.
    pub fn of_first(&self, now: Time) -> Option<Interval> {
        self.sent.front().map(|sending| now.since(sending.at))
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
    fn ranges_have_the_ages_of_their_first_and_last_segment_that_was_sent_once() {
        let mut ages = Ages::default();
        (0..10).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        [2, 5, 6, 9].into_iter().for_each(|seq| ages.sent(seq, at_ms(105)));
        ages.acknowledged(at_ms(110), 2);
        let of = |ranges: &[(u64, u64)]| ages.of(at_ms(110), ranges.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(2, 3), (5, 7)]), None, "sent twice");
        assert_eq!(of(&[(3, 4)]), span(80, 80));
        assert_eq!(of(&[(2, 6)]), span(80, 70));
        assert_eq!(of(&[(2, 4), (5, 10)]), span(80, 30));
        assert_eq!(of(&[(8, 99)]), span(30, 30), "nothing is outstanding from 10 on");
        let latest = |ranges: &[(u64, u64)], least| {
            ages.of_latest(at_ms(110), ranges.iter().copied(), Interval::from_millis(least))
        };
        assert_eq!(latest(&[(2, 6)], 20), Some(Interval::from_millis(70)), "2 and 5 left 5 ms ago");
        assert_eq!(latest(&[(7, 8), (2, 6)], 5), Some(Interval::from_millis(5)));
        assert_eq!(latest(&[(5, 7)], 20), None);
        assert_eq!([3, 2, 0].map(|end| ages.any_sent_again(end)), [true, false, false]);
        assert_eq!(ages.of_first(at_ms(110)), Some(Interval::from_millis(5)));
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
