//! Which packets have arrived.

use longfat_wire::SimPacket;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a receiver has, with its counters.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// One past the largest number that arrived or is known to have been sent.
    next: u64,
    /// Those before it that have not arrived.
    missing: BTreeSet<u64>,
    /// IP bytes that arrived, duplicates included.
    pub(super) received_bytes: u64,
    /// Packets that arrived a second time.
    pub(super) duplicates: u64,
}

impl Arrivals {
    /// Counts a data packet. Returns those that it shows to be missing, or `None` if it had arrived before.
    pub(super) fn take(&mut self, packet: &SimPacket) -> Option<Range<u64>> {
        self.received_bytes += u64::from(packet.bytes);
        if packet.seq < self.next {
            let news = self.missing.remove(&packet.seq);
            self.duplicates += u64::from(!news);
            return news.then_some(0..0);
        }
        let gap = self.next..packet.seq;
        self.missing.extend(gap.clone());
        self.next = packet.seq + 1;
        Some(gap)
    }

    /// All before `end` have been sent.
    pub(super) fn expect(&mut self, end: u64) {
        self.missing.extend(self.next..end);
        self.next = self.next.max(end);
    }

    /// The first that has not arrived.
    pub(super) fn in_order(&self) -> u64 {
        self.missing.first().copied().unwrap_or(self.next)
    }

    /// How many have arrived. The one that ends the payload may be short, so it counts after all others.
    pub(super) fn count(&self, end: u64) -> u64 {
        let early = self.in_order() < end && end.checked_sub(1).is_some_and(|last| !self.lacks(last));
        self.next - self.missing.len() as u64 - u64::from(early)
    }

    /// Whether this one is missing.
    pub(super) fn lacks(&self, seq: u64) -> bool {
        seq >= self.next || self.missing.contains(&seq)
    }

    /// The missing ones of a range, in order.
    pub(super) fn missing(&self, range: Range<u64>) -> impl Iterator<Item = u64> {
        // an inverted range would panic
        self.missing.range(range.start..range.end.max(range.start)).copied()
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
        assert_eq!((a.duplicates, a.received_bytes), (1, 6000));
        a.expect(7);
        assert_eq!(ranges(a.missing(0..7)), [(1, 2), (3, 4), (5, 7)]);
        let (start, end) = (5, 2);
        assert_eq!(a.missing(start..end).count(), 0);
    }
}
