//! Transmission rates and sizes.

use crate::time::Interval;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// A rate in bit/s; at least 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `bps` bit/s to the nearest whole bit/s; `None` unless that is finite and at least one.
    pub fn from_bps(bps: f64) -> Option<Rate> {
        let whole = (bps + 0.5) as u64;
        (bps.is_finite() && whole >= 1).then_some(Rate(whole))
    }

    /// bit/s.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// How long `bytes` take to put on a wire of this rate, to the nearest nanosecond.
    #[inline]
    pub const fn transmission(self, bytes: u32) -> Interval {
        let bit_ns = bytes as u64 * 8_000_000_000;
        Interval::from_ns((bit_ns + self.0 / 2) / self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_packet_takes_48_microseconds_at_250_megabit() {
        let rate = Rate::from_bps(250e6).unwrap();
        assert_eq!(rate.transmission(1500).as_ns(), 48_000);
    }

    #[test]
    fn rates_below_one_bit_a_second_are_refused() {
        assert_eq!(Rate::from_bps(0.0), None);
        assert_eq!(Rate::from_bps(-5.0), None);
        assert_eq!(Rate::from_bps(f64::NAN), None);
        assert_eq!(Rate::from_bps(f64::INFINITY), None);
    }
}
