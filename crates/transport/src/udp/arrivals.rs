//! Which packets have arrived. Losses come in runs, so what is missing is kept as ranges.

use super::end::Counts;
use longfat_wire::SimPacket;
use std::collections::BTreeMap;
use std::ops::Range;

/// What a receiver has, with its counters.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// One past the largest number that arrived or is known to have been sent.
    next: u64,
    /// The ranges before it that have not arrived: the start of each and its end. No two of them touch.
    missing: BTreeMap<u64, u64>,
    /// How many packets they have.
    lacking: u64,
    pub(super) counts: Counts,
}

impl Arrivals {
    /// Counts a data packet. Returns those that it shows to be missing, or `None` if it had arrived before.
    pub(super) fn take(&mut self, packet: &SimPacket) -> Option<Range<u64>> {
        self.counts.received_bytes += u64::from(packet.bytes);
        if packet.seq < self.next {
            let news = self.fill(packet.seq);
            self.counts.duplicates += u64::from(!news);
            return news.then_some(0..0);
        }
        let gap = self.next..packet.seq;
        self.expect(packet.seq);
        self.next = packet.seq + 1;
        Some(gap)
    }

    /// All before `end` have been sent.
    pub(super) fn expect(&mut self, end: u64) {
        if end <= self.next {
            return;
        }
        self.lacking += end - self.next;
        match self.missing.last_entry() {
            Some(mut last) if *last.get() == self.next => *last.get_mut() = end,
            _ => {
                self.missing.insert(self.next, end);
            }
        }
        self.next = end;
    }

    /// A packet is no longer missing. Returns whether it was.
    fn fill(&mut self, seq: u64) -> bool {
        let Some((&start, &end)) = self.missing.range(..=seq).next_back().filter(|(_, end)| seq < **end)
        else {
            return false;
        };
        if start < seq {
            self.missing.insert(start, seq);
        } else {
            self.missing.remove(&start);
        }
        if seq + 1 < end {
            self.missing.insert(seq + 1, end);
        }
        self.lacking -= 1;
        true
    }

    /// The first that has not arrived.
    pub(super) fn in_order(&self) -> u64 {
        self.missing.first_key_value().map_or(self.next, |(&first, _)| first)
    }

    /// Whether nothing before the largest number is missing.
    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// How many have arrived. The one that ends the payload may be short, so it counts after all others.
    pub(super) fn count(&self, end: u64) -> u64 {
        let early = self.in_order() < end && end.checked_sub(1).is_some_and(|last| !self.lacks(last));
        self.next - self.lacking - u64::from(early)
    }

    /// Whether this one is missing.
    pub(super) fn lacks(&self, seq: u64) -> bool {
        seq >= self.next || self.missing.range(..=seq).next_back().is_some_and(|(_, &end)| seq < end)
    }

    /// What is missing of a range, as ranges [start, end) in order.
    pub(super) fn missing(&self, within: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
        let before = self.missing.range(..within.start).next_back();
        // an inverted range would panic
        let rest = self.missing.range(within.start..within.end.max(within.start));
        let clipped = move |(&start, &end): (&u64, &u64)| (start.max(within.start), end.min(within.end));
        before.into_iter().chain(rest).map(clipped).filter(|(start, end)| start < end)
    }
}

/// Single numbers in ascending order as ranges [start, end).
pub(super) fn ranges(numbers: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for seq in numbers {
        match ranges.last_mut() {
            Some((_, end)) if *end == seq => *end += 1,
            _ => ranges.push((seq, seq + 1)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::testing::data;

    #[test]
    fn gaps_are_missing_until_they_are_filled() {
        let mut a = Arrivals::default();
        assert_eq!(a.take(&data(0)), Some(0..0));
        assert_eq!(a.take(&data(4)), Some(1..4));
        assert_eq!(
            (a.in_order(), a.count(u64::MAX), a.lacks(2), a.lacks(4), a.lacks(5)),
            (1, 2, true, false, true)
        );
        assert_eq!((a.count(5), a.count(6)), (1, 2));
        assert_eq!(a.take(&data(2)), Some(0..0));
        assert_eq!(a.take(&data(2)), None);
        assert_eq!((a.counts.duplicates, a.counts.received_bytes), (1, 6000));
        a.expect(7);
        assert_eq!(missing(&a, 0..7), [(1, 2), (3, 4), (5, 7)]);
        let (start, end) = (5, 2);
        assert_eq!(a.missing(start..end).count(), 0);
    }

    fn missing(a: &Arrivals, within: Range<u64>) -> Vec<(u64, u64)> {
        a.missing(within).collect()
    }

    #[test]
    fn a_run_of_losses_is_one_range_which_arrivals_shorten_and_split() {
        let mut a = Arrivals::default();
        a.expect(500);
        a.expect(400);
        a.take(&data(1000));
        assert_eq!((missing(&a, 0..1001), a.missing.len(), a.in_order()), (vec![(0, 1000)], 1, 0));
        // from its start, its end and its middle
        for seq in [0, 999, 500] {
            assert_eq!(a.take(&data(seq)), Some(0..0));
            assert!(!a.lacks(seq));
        }
        assert_eq!(missing(&a, 0..u64::MAX), [(1, 500), (501, 999)]);
        assert_eq!((a.count(u64::MAX), a.in_order(), a.lacks(499), a.lacks(998)), (4, 1, true, true));
        // a part of a range from its middle on, and a part of the next
        assert_eq!(missing(&a, 300..510), [(300, 500), (501, 510)]);
        (1..999).for_each(|seq| assert_eq!(a.take(&data(seq)).is_some(), seq != 500));
        assert_eq!(missing(&a, 0..u64::MAX), []);
        assert_eq!((a.in_order(), a.count(u64::MAX), a.counts.duplicates), (1001, 1001, 1));
    }
}
