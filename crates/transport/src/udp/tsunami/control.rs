//! Tsunami's rate control: how reports of the error rate change the distance of blocks.

use super::super::row::{BPS_PER_MBPS, Config};
use super::{TARGET, WHOLE};
use longfat_units::parameters::Parameters;

/// The first distance in units of the least.
const FIRST: f64 = 3.0;
const GREATEST_S: f64 = 0.01;

/// The distance of blocks.
#[derive(Clone, Debug)]
pub(super) struct Control {
    /// Error rate above which it grows, thousandths of a per cent.
    threshold: f64,
    slower: f64,
    faster: f64,
    least_s: f64,
    /// D, seconds.
    pub(super) distance_s: f64,
    /// The greatest D so far.
    pub(super) greatest_s: f64,
}

impl Control {
    pub(super) fn new(p: &Parameters, config: &Config) -> Self {
        let least_s = f64::from(8 * config.mss_bytes) / (BPS_PER_MBPS * p.number(TARGET.name));
        let least_s = least_s.max(config.line_s());
        Control {
            threshold: WHOLE * p.number("error_rate"),
            slower: p.number("slower"),
            faster: p.number("faster"),
            least_s,
            distance_s: FIRST * least_s,
            greatest_s: FIRST * least_s,
        }
    }

    /// The client sees this error rate. Returns whether it is too high.
    pub(super) fn adapt(&mut self, error: f64) -> bool {
        let slows = error > self.threshold;
        self.distance_s *= if slows {
            1.0 + (self.slower - 1.0) * (1.0 + error - self.threshold) / (WHOLE - self.threshold)
        } else {
            self.faster
        };
        self.distance_s = self.distance_s.min(GREATEST_S).max(self.least_s);
        self.greatest_s = self.greatest_s.max(self.distance_s);
        slows
    }
}

#[cfg(test)]
mod tests {
    use super::super::ROW;
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::config;

    /// 11.584 Mbit/s: a block a millisecond at the least.
    fn control() -> Control {
        let given = [("target_rate".to_owned(), Value::Number(11.584))];
        Control::new(&ROW.check(&given, config().line).unwrap(), &config())
    }

    #[test]
    fn the_distance_of_blocks_starts_at_three_times_the_least_and_reaches_it_after_seven_good_reports() {
        let mut c = control();
        assert!((c.distance_s - 0.003).abs() < 1e-12);
        // 3 (5/6)^6 = 1.005, and the seventh ends at the least
        (0..6).for_each(|_| assert!(!c.adapt(7500.0)));
        assert!((c.distance_s - 1.00469e-3).abs() < 1e-8, "{}", c.distance_s);
        c.adapt(0.0);
        assert!((c.distance_s - 0.001).abs() < 1e-12);
        c.adapt(0.0);
        assert!((c.distance_s - 0.001).abs() < 1e-12);
    }

    #[test]
    fn a_bad_report_slows_down_by_a_25th_part_at_most_and_to_10_ms_at_most() {
        let mut c = control();
        // an error rate of 53750: half the way from 7500 to 100000, so half of 1/24
        assert!(c.adapt(53_750.0));
        assert!((c.distance_s / 0.003 - (1.0 + 0.5 / 24.0)).abs() < 1e-6, "{}", c.distance_s);
        c.distance_s = 0.003;
        c.adapt(100_000.0);
        assert!((c.distance_s / 0.003 - 25.0 / 24.0).abs() < 1e-6);
        (0..100).for_each(|_| assert!(c.adapt(100_000.0)));
        assert_eq!(c.distance_s, 0.01);
    }
}
