//! A capacity that follows a sine, and how long a packet then takes.
//!
//! ```text
//! rate:          B(t) = (max + min)/2 + (max - min)/2 sin(2 pi t / period + pi/2)   (Lopez Pacheco 2008, equation 3.8)
//! transmission:  the integral of B from t to t + tau is the packet's bits
//! its growth:    1 + tau' = g = B(t) / B(t + tau)
//!                tau''  = (B'(t) - g^2 B'(t + tau)) / B(t + tau)
//!                tau''' = (B''(t) - 3 g tau'' B'(t + tau) - g^3 B''(t + tau)) / B(t + tau)
//! ```
//!
//! Solving that equation takes several sines. So time is cut into stretches, within which tau is its Taylor
//! series about the middle; they are so short that the series is exact to a tenth of a nanosecond.

use longfat_units::math::{sin, sqrt};
use longfat_units::{Interval, Time};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// What the first term that the series leaves out may be, ns (chosen here: what is left is to round to a
/// nanosecond).
const ERROR_NS: f64 = 0.1;
/// A stretch takes at least as long as this many packets, or the equation is solved for each (chosen here: a
/// solution costs about as much as ten values of the series).
const WORTH: f64 = 8.0;
/// Half a stretch takes at most so many radians (chosen here: beyond, further terms count).
const LONGEST_HALF: f64 = 1.0 / 16.0;
/// After this many steps of Newton's method or halvings a time is as exact as a float.
const MOST_STEPS: u32 = 128;

/// A rate that swings between two, at its greatest when time begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sine {
    /// Least and greatest rate, bit/s, above 0.
    pub range_bps: (f64, f64),
    /// Seconds from one greatest rate to the next.
    pub period_s: f64,
}

impl Sine {
    fn mean_bps(self) -> f64 {
        0.5 * (self.range_bps.1 + self.range_bps.0)
    }

    fn swing_bps(self) -> f64 {
        0.5 * (self.range_bps.1 - self.range_bps.0)
    }

    /// Radians since the greatest rate, below 2 pi.
    fn phase(self, now_s: f64) -> f64 {
        let periods = now_s / self.period_s;
        TAU * (periods - periods.floor())
    }

    fn bps_at(self, phase: f64) -> f64 {
        self.mean_bps() + self.swing_bps() * sin(phase + FRAC_PI_2)
    }

    /// The rate at this moment, bit/s.
    pub fn bps(self, now: Time) -> f64 {
        self.bps_at(self.phase(now.as_secs_f64()))
    }

    /// Bits that it carries in the span after `phase`.
    fn bits_from(self, phase: f64, span_s: f64) -> f64 {
        // the integral of the cosine as a product: exact for short spans
        let half = PI * span_s / self.period_s;
        let swing = self.swing_bps() * self.period_s / PI;
        self.mean_bps() * span_s + swing * sin(phase + half + FRAC_PI_2) * sin(half)
    }

    /// Bits that it can carry in [from, to).
    pub fn bits(self, from: Time, to: Time) -> f64 {
        self.bits_from(self.phase(from.as_secs_f64()), to.since(from).as_secs_f64())
    }

    /// How long so many bits take from `phase` on, in seconds.
    fn transmission_s(self, phase: f64, bits: f64) -> f64 {
        let (least, greatest) = self.range_bps;
        // the integral grows: it reaches the bits between these two
        let (mut early_s, mut late_s) = (bits / greatest, bits / least);
        let mut span_s = (bits / self.bps_at(phase)).clamp(early_s, late_s);
        for _ in 0..MOST_STEPS {
            let missing = bits - self.bits_from(phase, span_s);
            (early_s, late_s) = if missing > 0.0 { (span_s, late_s) } else { (early_s, span_s) };
            let newton_s = span_s + missing / self.bps_at(phase + TAU * span_s / self.period_s);
            let within = early_s <= newton_s && newton_s <= late_s;
            let next_s = if within { newton_s } else { 0.5 * (early_s + late_s) };
            let step_s = (next_s - span_s).abs();
            span_s = next_s;
            if step_s <= 1e-12 * span_s {
                break;
            }
        }
        span_s
    }

    /// The stretches for packets of so many bits take 2^this ns; `None` where they would hold too few
    /// packets.
    fn stretch_bits(self, bits: f64) -> Option<u32> {
        let least = self.range_bps.0;
        let longest_ns = 1e9 * bits / least;
        // tau follows 1 / B, whose fourth derivative is greatest where the rate is least: 24 tau / width^4
        let width = sqrt(2.0 * least / (self.swing_bps() + least)).min(1.0);
        let half = width * sqrt(sqrt(ERROR_NS / longest_ns)).min(LONGEST_HALF);
        let stretch_ns = 2.0 * half * 1e9 * self.period_s / TAU;
        (stretch_ns >= (WORTH * longest_ns).max(1.0)).then(|| (stretch_ns as u64).ilog2())
    }

    /// The series about the middle of the stretch in which `now` is, for packets of this size; or how long
    /// the packet takes that starts now, where stretches are too short.
    pub fn series(self, now: Time, bytes: u32) -> Result<Series, Interval> {
        let bits = 8.0 * f64::from(bytes);
        let Some(stretch_bits) = self.stretch_bits(bits) else {
            return Err(Interval::from_secs_f64(self.transmission_s(self.phase(now.as_secs_f64()), bits)));
        };
        let stretch = now.as_ns() >> stretch_bits;
        let middle_ns = (stretch << stretch_bits) + (1 << stretch_bits) / 2;
        let phase = self.phase(middle_ns as f64 * 1e-9);
        let tau_s = self.transmission_s(phase, bits);
        let (begin, end) = (self.derivatives(phase), self.derivatives(phase + TAU * tau_s / self.period_s));
        let growth = begin[0] / end[0];
        let second = (begin[1] - growth * growth * end[1]) / end[0];
        let third = (begin[2] - 3.0 * growth * second * end[1] - growth * growth * growth * end[2]) / end[0];
        // half a nanosecond more, since the sum is rounded down
        let terms_ns = [1e9 * tau_s + 0.5, growth - 1.0, 0.5e-9 * second, 1e-18 / 6.0 * third];
        Ok(Series { bytes, stretch_bits, stretch, middle_ns, terms_ns })
    }

    /// The rate and its first two derivatives, in bit/s and seconds.
    fn derivatives(self, phase: f64) -> [f64; 3] {
        let omega = TAU / self.period_s;
        let (swing, cosine) = (self.swing_bps(), sin(phase + FRAC_PI_2));
        [self.mean_bps() + swing * cosine, -swing * omega * sin(phase), -swing * omega * omega * cosine]
    }
}

/// How long packets of one size take that start within one stretch of time.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    bytes: u32,
    stretch_bits: u32,
    stretch: u64,
    middle_ns: u64,
    /// Coefficients of the powers of the time since the middle, in ns.
    terms_ns: [f64; 4],
}

impl Series {
    /// A series that holds for no packet.
    pub const NONE: Series =
        Series { bytes: u32::MAX, stretch_bits: 0, stretch: 0, middle_ns: 0, terms_ns: [0.0; 4] };

    /// How long a packet takes that starts now; `None` if that is beyond the stretch, or it has another size.
    #[inline(always)]
    pub fn transmission(&self, now: Time, bytes: u32) -> Option<Interval> {
        (self.bytes == bytes && now.as_ns() >> self.stretch_bits == self.stretch).then(|| self.at(now))
    }

    /// The value of the series.
    #[inline(always)]
    pub fn at(&self, now: Time) -> Interval {
        let [zeroth, first, second, third] = self.terms_ns;
        let since = now.as_ns().wrapping_sub(self.middle_ns) as i64 as f64;
        let sum = (zeroth + first * since) + since * since * (second + third * since);
        Interval::from_ns(sum as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_takes_until_the_rate_has_carried_its_bits(
            (least, times) in (
                prop_oneof![4 => 1e3..1e9f64, 1 => 1e9..1e14f64],
                prop_oneof![6 => 1.0..300.0f64, 1 => Just(1.0), 1 => Just(1e6)],
            ),
            period_s in prop::sample::select(vec![1e-6, 1e-3, 0.1, 10.0, 300.0, 86_400.0, 1e6]),
            (early, late, rounds) in (0.0..1e5f64, 0.45..0.55f64, 0..100u32),
            trough in any::<bool>(),
            bytes in prop::sample::select(vec![1u32, 40, 1500, 9000]),
        ) {
            let sine = Sine { range_bps: (least, least * times), period_s };
            // anywhere, or where the rate is least
            let at = if trough { (f64::from(rounds) + late) * period_s } else { early };
            let now = Time::from_secs_f64(at);
            let takes = match sine.series(now, bytes) {
                Ok(series) => {
                    prop_assert_eq!(series.transmission(now, bytes), Some(series.at(now)));
                    series.at(now)
                }
                Err(takes) => takes,
            };
            let bits = 8.0 * f64::from(bytes);
            // half a nanosecond of rounding, a tenth of the series, and what floats have left of a late
            // time's phase
            let off_s = (sine.bits(now, now + takes) - bits).abs() / sine.bps(now + takes);
            prop_assert!(off_s < 0.65e-9 + 1e-13 * takes.as_secs_f64() * at / period_s, "{:?}: off by {} s", takes, off_s);
        }
    }

    #[test]
    fn a_series_holds_for_its_own_stretch_and_size() {
        let sine = Sine { range_bps: (1e8, 2e8), period_s: 10.0 };
        let Ok(series) = sine.series(Time::from_secs_f64(3.0), 1500) else { panic!("stretches of 2^26 ns") };
        assert_eq!(series.stretch_bits, 26);
        let begin = Time::from_ns(series.stretch << 26);
        let last = begin + Interval::from_ns((1 << 26) - 1);
        for (at, held) in [(begin - Interval::from_ns(1), false), (begin, true), (last, true)] {
            assert_eq!(series.transmission(at, 1500).is_some(), held, "{at:?}");
        }
        assert_eq!(series.transmission(last + Interval::from_ns(1), 1500), None);
        assert_eq!(series.transmission(begin, 1400), None);
    }
}
