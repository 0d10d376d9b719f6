//! How long packets waited: a histogram whose bucket widths grow with the values.

use longfat_units::Interval;

/// Buckets for each doubling: a bucket is at most 1 / 128 as wide as its values are large.
const PER_DOUBLING: u64 = 128;
/// The first 2 x 128 buckets hold one nanosecond each; the 56 doublings after them cover 64 bits.
const BUCKETS: usize = 58 * PER_DOUBLING as usize;

/// A histogram of waiting times. A percentile is off by at most half a bucket, 0.4 %.
#[derive(Clone, Debug)]
pub struct Sojourn {
    counts: Box<[u64]>,
    total: u64,
}

impl Default for Sojourn {
    fn default() -> Self {
        Sojourn { counts: vec![0; BUCKETS].into_boxed_slice(), total: 0 }
    }
}

impl Sojourn {
    /// A packet left after this wait.
    #[inline]
    pub fn record(&mut self, span: Interval) {
        self.counts[bucket(span.as_ns())] += 1;
        self.total += 1;
    }

    /// Clears the histogram.
    pub fn restart(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// The mean wait, in s; `None` without packets.
    pub fn mean_s(&self) -> Option<f64> {
        let middles = self.counts.iter().zip(0..).filter(|(count, _)| **count > 0);
        let sum_ns: f64 = middles.map(|(&count, index)| count as f64 * middle_ns(index)).sum();
        (self.total > 0).then(|| sum_ns / self.total as f64 * 1e-9)
    }

    /// The least wait that this share of the packets (in [0, 1]) did not exceed, in s; `None` without
    /// packets.
    pub fn percentile_s(&self, share: f64) -> Option<f64> {
        let rank = ((share * self.total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.counts.iter().position(|&count| {
            seen += count;
            seen >= rank
        });
        found.map(|index| middle_ns(index as u64) * 1e-9)
    }
}

fn bucket(ns: u64) -> usize {
    let shift = u64::from((ns / PER_DOUBLING).checked_ilog2().unwrap_or(0));
    (shift * PER_DOUBLING + (ns >> shift)) as usize
}

fn middle_ns(index: u64) -> f64 {
    let shift = (index / PER_DOUBLING).saturating_sub(1);
    let least = (index - shift * PER_DOUBLING) << shift;
    least as f64 + 0.5 * ((1u64 << shift) - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_one_to_a_thousand_microseconds_are_their_ranks() {
        let mut s = Sojourn::default();
        assert_eq!(s.percentile_s(0.5), None);
        (1..=1000).for_each(|us| s.record(Interval::from_ns(1000 * us)));
        for (share, expected_s) in [(0.5, 500e-6), (0.95, 950e-6), (0.99, 990e-6), (1.0, 1e-3), (0.0, 1e-6)] {
            let got = s.percentile_s(share).unwrap();
            assert!((got / expected_s - 1.0).abs() < 0.005, "{share}: {got}");
        }
        let mean = s.mean_s().unwrap();
        assert!((mean / 500.5e-6 - 1.0).abs() < 0.005, "{mean}");
        s.restart();
        assert_eq!((s.percentile_s(0.5), s.mean_s()), (None, None));
    }

    #[test]
    fn waits_of_every_size_find_a_bucket_near_them() {
        for power in 0..64 {
            for ns in [1u64 << power, (1 << power) | (1 << power >> 1), (1 << power) - 1] {
                let mut s = Sojourn::default();
                s.record(Interval::from_ns(ns));
                let off = s.percentile_s(0.5).unwrap() * 1e9 - ns as f64;
                assert!(off.abs() <= ns as f64 / 255.0, "{ns}: off by {off}");
            }
        }
    }

    #[test]
    fn no_wait_and_short_ones_are_exact() {
        for ns in [0, 1, 17, 255] {
            let mut s = Sojourn::default();
            s.record(Interval::from_ns(ns));
            assert_eq!(s.percentile_s(0.99), Some(ns as f64 * 1e-9));
        }
    }
}
