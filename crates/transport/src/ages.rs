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

/// When each outstanding segment was last sent.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    base: u64,
    sent: VecDeque<Sending>,
    /// One past the highest segment that was acknowledged selectively.
    heard: u64,
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

    /// Everything below `base` is acknowledged now. Returns the age of the last of those, unless one of them
    /// was sent twice (Karn): segments above a filled hole had arrived before.
    pub fn acknowledged(&mut self, now: Time, base: u64) -> Option<Interval> {
        // one that a later one has overtaken says nothing new
        let count = base.saturating_sub(self.base) as usize;
        self.base = self.base.max(base);
        let mut covered = self.sent.drain(..count.min(self.sent.len()));
        let last = covered.next_back()?;
        (!last.again && !covered.any(|sending| sending.again)).then(|| now.since(last.at))
    }

    /// Segments below `end` have arrived, perhaps not all of them. Returns the age of the last, unless it was
    /// acknowledged before or was sent twice.
    pub fn heard_of(&mut self, now: Time, end: u64) -> Option<Interval> {
        let last = end.checked_sub(1).filter(|last| *last >= self.heard.max(self.base))?;
        let sending = self.sent.get((last - self.base) as usize)?;
        self.heard = end;
        (!sending.again).then(|| now.since(sending.at))
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

    #[test]
    fn the_round_trip_time_is_that_of_the_last_segment_covered_unless_it_was_sent_twice() {
        let mut ages = Ages::default();
        (0..6).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        assert_eq!(ages.acknowledged(at_ms(100), 0), None);
        assert_eq!(ages.acknowledged(at_ms(100), 2), Some(Interval::from_millis(90)));
        ages.sent(3, at_ms(105));
        assert_eq!(ages.acknowledged(at_ms(110), 4), None);
        assert_eq!(ages.acknowledged(at_ms(150), 6), Some(Interval::from_millis(100)));
    }

    #[test]
    fn an_acknowledgement_that_was_overtaken_changes_no_age() {
        let mut ages = Ages::default();
        (0..6).for_each(|seq| ages.sent(seq, at_ms(seq)));
        assert_eq!(ages.acknowledged(at_ms(100), 3), Some(Interval::from_millis(98)));
        assert_eq!(ages.acknowledged(at_ms(101), 2), None);
        assert_eq!(ages.sent_once(4), Some(at_ms(4)));
        assert_eq!(ages.acknowledged(at_ms(102), 5), Some(Interval::from_millis(98)));
    }

    #[test]
    fn a_segment_heard_of_for_the_first_time_has_an_age_unless_it_was_sent_twice() {
        let mut ages = Ages::default();
        (0..8).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        ages.sent(5, at_ms(105));
        ages.acknowledged(at_ms(110), 2);
        let mut heard_of = |end| ages.heard_of(at_ms(110), end);
        let of = |ms: u64| Some(Interval::from_millis(ms));
        assert_eq!(
            [2, 4, 4, 3, 5, 6, 8, 9].map(&mut heard_of),
            [None, of(80), None, None, of(70), None, of(40), None]
        );
    }

    #[test]
    fn segments_above_a_hole_that_was_filled_give_no_round_trip_time() {
        // 1 to 4 arrived at 100 ms, and were acknowledged when 0 had been sent again
        let mut ages = Ages::default();
        (0..6).for_each(|seq| ages.sent(seq, at_ms(seq)));
        ages.sent(0, at_ms(200));
        assert_eq!(ages.acknowledged(at_ms(300), 5), None);
        assert_eq!(ages.acknowledged(at_ms(305), 6), Some(Interval::from_millis(300)));
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
