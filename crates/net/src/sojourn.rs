//! How long packets waited: a histogram whose bucket widths grow with the values.

use longfat_units::{Interval, Time};

/// The index of a bucket has these bits of the wait in ns as a binary64 (IEEE 754): the low ones of its
/// exponent, which tell waits below 2^63 ns apart, and the high ones of its fraction.
const EXPONENT_BITS: u32 = 6;
const FRACTION_BITS: u32 = 7;
const DROPPED_BITS: u32 = 52 - FRACTION_BITS;
const PER_DOUBLING: usize = 1 << FRACTION_BITS;
const BUCKETS: usize = PER_DOUBLING << EXPONENT_BITS;
/// The bucket of 1 ns. Those of longer waits follow it, round the end.
const FIRST: usize = bucket(1);

/// A histogram of waiting times. A percentile is off by at most half a bucket, 0.4 %.
#[derive(Clone, Debug)]
pub struct Sojourn {
    /// Packets that did not wait.
    none: u64,
    counts: Box<[u64; BUCKETS]>,
}

impl Default for Sojourn {
    fn default() -> Self {
        let counts = vec![0; BUCKETS].try_into().unwrap_or_else(|_| unreachable!("as many as asked for"));
        Sojourn { none: 0, counts }
    }
}

impl Sojourn {
    /// A packet left after this wait.
    #[inline]
    pub fn record(&mut self, span: Interval) {
        if span == Interval::ZERO {
            self.none += 1;
        } else {
            self.record_wait(span);
        }
    }

    /// The same; it did wait.
    #[inline(always)]
    fn record_wait(&mut self, span: Interval) {
        self.counts[bucket(span.as_ns())] += 1;
    }

    /// Clears the histogram.
    pub fn restart(&mut self) {
        self.none = 0;
        self.counts.fill(0);
    }

    /// The mean wait, in s; `None` without packets.
    pub fn mean_s(&self) -> Option<f64> {
        let counts = self.doublings().flatten().zip(0..).filter(|(count, _)| **count > 0);
        let sum_ns: f64 = counts.map(|(&count, rank)| count as f64 * middle_ns(rank)).sum();
        let packets = self.packets();
        (packets > 0).then(|| sum_ns / packets as f64 * 1e-9)
    }

    /// The least wait that this share of the packets (in [0, 1]) did not exceed, in s; `None` without
    /// packets.
    pub fn percentile_s(&self, share: f64) -> Option<f64> {
        let packets = self.packets();
        let mut left = ((share * packets as f64).ceil() as u64).max(1);
        if left <= self.none {
            return Some(0.0);
        }
        left -= self.none;
        for (counts, doubling) in self.doublings().zip(0..) {
            let sum = counts.iter().sum::<u64>();
            if left > sum {
                left -= sum;
                continue;
            }
            let short = counts
                .iter()
                .scan(0, |seen, count| {
                    *seen += count;
                    Some(*seen)
                })
                .take_while(|seen| *seen < left);
            return Some(middle_ns(doubling << FRACTION_BITS | short.count() as u64) * 1e-9);
        }
        None
    }

    fn packets(&self) -> u64 {
        self.none + self.counts.iter().sum::<u64>()
    }

    /// The counts of waits of 1 ns, of 2 to 3 ns, and so on.
    fn doublings(&self) -> impl Iterator<Item = &[u64]> {
        let (longer, shorter) = self.counts.split_at(FIRST);
        shorter.chunks(PER_DOUBLING).chain(longer.chunks(PER_DOUBLING))
    }
}

/// The waits of packets whose transmission begins in the measured span, where each is known when the packet
/// arrives.
#[derive(Clone, Debug)]
pub struct Foreseen {
    /// The waits before the next bound, since the last one.
    present: Sojourn,
    /// The begin of the measured span, then its end.
    next: Time,
    end: Time,
    /// The waits before the measured span, and in it, once the bound after them is past.
    past: Vec<Sojourn>,
    /// Packets sent before the measured span.
    sent_before: u64,
}

impl Foreseen {
    /// None yet, before a span measured from its begin until its end.
    pub fn new((begin, end): (Time, Time)) -> Self {
        Foreseen { present: Sojourn::default(), next: begin, end, past: Vec::new(), sent_before: 0 }
    }

    /// A packet arrives that has to wait: its transmission begins at `start`, after that of all before it.
    #[inline(always)]
    pub fn record(&mut self, now: Time, start: Time) {
        if start >= self.next {
            self.pass(start);
        }
        self.present.record_wait(Interval::from_ns(start.as_ns() - now.as_ns()));
    }

    #[cold]
    fn pass(&mut self, start: Time) {
        while start >= self.next && self.past.len() < 2 {
            self.past.push(core::mem::take(&mut self.present));
            self.next = if self.past.len() < 2 { self.end } else { Time::NEVER };
        }
    }

    /// The measured span begins, before which this many packets were sent.
    pub fn begin(&mut self, sent: u64) {
        self.sent_before = sent;
        if self.past.is_empty() {
            self.pass(self.next);
        }
    }

    /// The waits in the measured span, when that ends and this many packets have been sent: those that were
    /// not recorded did not wait.
    pub fn measured(&mut self, sent: u64) -> &Sojourn {
        let measured = self.past.get_mut(1).unwrap_or(&mut self.present);
        measured.none = 0;
        measured.none = (sent - self.sent_before).saturating_sub(measured.packets());
        measured
    }
}

#[inline(always)]
const fn bucket(ns: u64) -> usize {
    // as an i64, which one instruction converts
    (((ns as i64 as f64).to_bits() >> DROPPED_BITS) as usize) % BUCKETS
}

/// The middle of the bucket of this rank: the mean of the whole numbers of ns in it.
fn middle_ns(rank: u64) -> f64 {
    let bits = (rank << DROPPED_BITS) + 1f64.to_bits();
    let finer_bits = (rank >> FRACTION_BITS).saturating_sub(u64::from(FRACTION_BITS));
    f64::from_bits(bits) + 0.5 * ((1u64 << finer_bits) - 1) as f64
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
        for power in 0..63 {
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

    #[test]
    fn foreseen_waits_are_those_of_the_packets_sent_in_the_measured_span() {
        let at = Time::from_ns;
        for arrivals_at_the_end in 0..3 {
            let mut waits = Foreseen::new((at(100), at(200)));
            for (now, start) in [(60, 98), (70, 99), (95, 100), (97, 101)] {
                waits.record(at(now), at(start));
            }
            waits.begin(4);
            let late = [(150, 199), (160, 200), (161, 201)];
            late[..=arrivals_at_the_end].iter().for_each(|&(now, start)| waits.record(at(now), at(start)));
            // six were sent in the span: three of them waited
            let sojourn = waits.measured(10);
            let ns = |share: f64| sojourn.percentile_s(share).map(|s| (1e9 * s).round());
            let expected = [0.0, 0.0, 4.0, 5.0, 49.0, 49.0].map(Some);
            assert_eq!([0.0, 0.5, 0.51, 0.67, 0.84, 1.0].map(ns), expected);
        }
    }

    #[test]
    fn where_no_packet_waits_in_the_measured_span_all_waits_are_zero() {
        let mut waits = Foreseen::new((Time::from_ns(100), Time::from_ns(200)));
        waits.record(Time::ZERO, Time::from_ns(50));
        waits.begin(2);
        assert_eq!(waits.measured(2).percentile_s(0.5), None);
        assert_eq!(waits.measured(3).percentile_s(1.0), Some(0.0));
    }
}
