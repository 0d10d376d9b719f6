//! How old the first unacknowledged segment is, for algorithms that ask for it (Brakmo, Peterson 1995): a segment older
//! than a fine-grained timeout is sent again at the first duplicate acknowledgement, and looked at again by the first
//! and the second acknowledgement after any retransmission.

use longfat_units::{Interval, Time};
use std::collections::VecDeque;

/// Acknowledgements of new data that look at the age after a retransmission.
const LOOKS: u32 = 2;

/// When each outstanding segment was last sent.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    base: u64,
    sent: VecDeque<Time>,
    looks: u32,
}

impl Ages {
    /// Segment `seq` left, for the first time or again.
    pub fn sent(&mut self, seq: u64, now: Time) {
        let index = seq.saturating_sub(self.base) as usize;
        match self.sent.get_mut(index) {
            Some(at) => {
                *at = now;
                self.looks = LOOKS;
            }
            None => self.sent.push_back(now),
        }
    }

    /// Whether an acknowledgement up to `base` finds the segment there older than `timeout`. It looks if it is a
    /// duplicate, or soon after a retransmission.
    pub fn overdue(&mut self, now: Time, base: u64, duplicate: bool, timeout: Interval) -> bool {
        let acknowledged = base.saturating_sub(self.base) as usize;
        self.sent.drain(..acknowledged.min(self.sent.len()));
        self.base = base;
        let looks = duplicate || self.looks > 0;
        if !duplicate {
            self.looks = self.looks.saturating_sub(1);
        }
        looks && self.sent.front().is_some_and(|&at| now.since(at) > timeout)
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
    fn a_duplicate_finds_the_first_unacknowledged_segment_overdue_once_it_is_older_than_the_timeout() {
        let mut ages = Ages::default();
        (0..5).for_each(|seq| ages.sent(seq, at_ms(10 * seq)));
        assert!(!ages.overdue(at_ms(120), 2, true, TIMEOUT), "sent at 20 ms");
        assert!(ages.overdue(at_ms(121), 2, true, TIMEOUT));
        assert!(!ages.overdue(at_ms(121), 3, true, TIMEOUT));
        assert!(!ages.overdue(at_ms(900), 5, true, TIMEOUT), "nothing is outstanding");
    }

    #[test]
    fn two_acknowledgements_of_new_data_look_after_a_retransmission_and_no_other() {
        let mut ages = Ages::default();
        (0..9).for_each(|seq| ages.sent(seq, at_ms(0)));
        assert!(!ages.overdue(at_ms(200), 1, false, TIMEOUT));
        ages.sent(1, at_ms(200));
        assert!(!ages.overdue(at_ms(250), 1, true, TIMEOUT), "sent again at 200 ms");
        assert!(ages.overdue(at_ms(250), 2, false, TIMEOUT));
        assert!(ages.overdue(at_ms(250), 3, false, TIMEOUT));
        assert!(!ages.overdue(at_ms(250), 4, false, TIMEOUT));
    }
}
