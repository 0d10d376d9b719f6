//! The rate of recent arrivals.

use longfat_units::{Interval, Time};

/// The mean is taken over the running interval and this many before it,
const BINS: usize = 10;
/// each so long: 100 ms in all, a common round-trip time (chosen here).
const BIN: Interval = Interval::from_millis(10);

/// Bytes that arrived in the last tenth of a second.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Bytes of each interval, by its number modulo their count.
    bytes: [u64; BINS + 1],
    /// Number of the running interval.
    bin: u64,
}

impl Meter {
    fn go_on(&mut self, now: Time) {
        let (bin, count) = (now.as_ns() / BIN.as_ns(), self.bytes.len() as u64);
        for ago in 0..(bin - self.bin).min(count) {
            self.bytes[((bin - ago) % count) as usize] = 0;
        }
        self.bin = bin;
    }

    /// This many bytes arrive.
    pub fn add(&mut self, now: Time, bytes: u64) {
        self.go_on(now);
        self.bytes[(self.bin % self.bytes.len() as u64) as usize] += bytes;
    }

    /// Their mean rate, bit/s; in the first tenth of a second, over the time so far.
    pub fn bps(&mut self, now: Time) -> f64 {
        self.go_on(now);
        let bytes: u64 = self.bytes.iter().sum();
        let span_ns = BIN.as_ns() * self.bin.min(BINS as u64) + now.as_ns() % BIN.as_ns();
        if span_ns == 0 { 0.0 } else { 8e9 * bytes as f64 / span_ns as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Interval::from_millis(ms)
    }

    #[test]
    fn a_packet_each_millisecond_is_its_rate_from_the_beginning_and_is_forgotten_after_a_tenth_of_a_second() {
        let mut meter = Meter::default();
        for i in 0..1000 {
            meter.add(ms(i), 1000);
            if i > 20 {
                let off = meter.bps(ms(i + 1)) / 8e6 - 1.0;
                assert!(off.abs() < 1e-9, "{i} ms: {off}");
            }
        }
        let left = meter.bps(ms(1050)) / 8e6;
        assert!((left - 0.5).abs() < 1e-9, "{left}");
        assert_eq!(meter.bps(ms(1110)), 0.0);
        assert_eq!(meter.bps(ms(90_000)), 0.0);
    }
}
