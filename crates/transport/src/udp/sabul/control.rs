//! SABUL's rate control: how SYNs and loss reports change the time between packets.

use super::super::row::Config;
use longfat_units::parameters::Parameters;
use longfat_units::{Interval, math};

const SYN_S: f64 = 0.01;
const LIMIT: f64 = 0.001;
const WEIGHT: f64 = 0.1;
const DECREASE: f64 = 1.125;
const FIRST_COUNT: u32 = 4;
const GREATEST_RAISED_S: f64 = 1e-3;
const GREATEST_S: f64 = 1.0;
const LEAST_INCREASE: f64 = 1.0 / 1500.0;

/// P after a SYN without too many losses.
fn raised(period_s: f64) -> f64 {
    let increase = math::pow(10.0, math::log10(SYN_S / period_s).ceil()) / 1000.0;
    period_s * SYN_S / (period_s * increase.max(LEAST_INCREASE) + SYN_S)
}

/// P after a SYN by the earlier rule; `losses` is h.
fn multiplied(period_s: f64, losses: f64) -> f64 {
    let excess = losses - LIMIT;
    if excess > 0.0 {
        period_s * (1.0 + 0.1 * excess) + 0.5e-6
    } else if excess < 0.0 {
        period_s * (1.0 + 10.0 * excess)
    } else {
        period_s + 0.1e-6
    }
}

/// The time between packets.
#[derive(Clone, Debug)]
pub(super) struct Control {
    multiplies: bool,
    least_s: f64,
    /// P, seconds.
    pub(super) period_s: f64,
    /// The share of losses, smoothed.
    history: f64,
    /// The last packet sent before the last decrease at a new loss.
    last_seq: Option<u64>,
    /// Reports since.
    reports: u64,
    /// The next decrease comes at two to the power of this.
    count: u32,
    /// The next packet is followed by a pause.
    frozen: bool,
}

impl Control {
    pub(super) fn new(p: &Parameters, config: &Config) -> Self {
        let least_s = p.number("least_period").max(config.line_s());
        Control {
            multiplies: p.word("variant") == "mimd",
            least_s,
            period_s: least_s,
            history: 0.0,
            last_seq: None,
            reports: 0,
            count: 1,
            frozen: false,
        }
    }

    /// A SYN: so many packets were sent since the last one, and so many losses reported.
    pub(super) fn on_syn(&mut self, sent: u64, lost: u64) {
        let sent = sent.max(lost);
        if sent == 0 {
            return;
        }
        self.history = WEIGHT * self.history + (1.0 - WEIGHT) * lost as f64 / sent as f64;
        if self.multiplies {
            self.period_s = multiplied(self.period_s, self.history);
        } else if self.history > LIMIT {
            return;
        } else {
            self.period_s = raised(self.period_s);
        }
        self.period_s = self.period_s.min(GREATEST_RAISED_S).max(self.least_s);
    }

    /// An ERR whose first loss is `first`; `next` is the next new packet. Returns whether P grows.
    pub(super) fn on_err(&mut self, first: u64, next: u64) -> bool {
        if self.multiplies {
            return false;
        }
        if self.last_seq.is_none_or(|last| first > last) {
            self.last_seq = Some(next);
            self.frozen = true;
            (self.reports, self.count) = (1, FIRST_COUNT);
        } else {
            self.reports += 1;
            if self.reports < 1_u64.checked_shl(self.count).unwrap_or(u64::MAX) {
                return false;
            }
            self.count += 1;
        }
        self.period_s = (DECREASE * self.period_s).min(GREATEST_S);
        true
    }

    /// How long after a packet the next one may leave.
    pub(super) fn gap(&mut self) -> Interval {
        let pause_s = if core::mem::take(&mut self.frozen) { SYN_S } else { 0.0 };
        Interval::from_secs_f64(self.period_s + pause_s)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ROW;
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::config;

    fn control(variant: &str, period_s: f64) -> Control {
        let given = [("variant".to_owned(), Value::Word(variant.to_owned()))];
        let mut c = Control::new(&ROW.check(&given, config().line).unwrap(), &config());
        c.period_s = period_s;
        c
    }

    #[test]
    fn the_increase_goes_in_steps_of_ten_with_the_rate() {
        // packets a SYN before and after: 1000 (P = 10 us) and less add 1, 100 and less .1, 10 and less .01
        for (packets, more) in
            [(1000.0, 1.0), (101.0, 1.0), (99.9, 0.1), (50.0, 0.1), (9.99, 0.01), (0.5, 0.001)]
        {
            let after = SYN_S / raised(SYN_S / packets) - packets;
            assert!((after / more - 1.0).abs() < 1e-6, "{packets}: {after}");
        }
        // and at least 1/1500
        let after = SYN_S / raised(SYN_S / 0.05) - 0.05;
        assert!((after * 1500.0 - 1.0).abs() < 1e-6, "{after}");
    }

    #[test]
    fn a_syn_with_more_than_a_thousandth_lost_adds_nothing() {
        let mut c = control("library", 1e-4);
        c.on_syn(100, 1);
        assert_eq!(c.period_s, 1e-4);
        assert!((c.history - 0.009).abs() < 1e-12);
        // .0009 of the past is below the limit again; 100 packets a SYN and .1 more
        c.on_syn(100, 0);
        assert!((SYN_S / c.period_s - 100.1).abs() < 1e-9);
        // nothing sent changes nothing
        let before = c.clone();
        c.on_syn(0, 0);
        assert_eq!((c.period_s, c.history), (before.period_s, before.history));
    }

    #[test]
    fn a_new_loss_takes_a_ninth_of_the_rate_and_older_ones_at_powers_of_two() {
        let mut c = control("library", 9e-5);
        assert!(c.on_err(5, 1000));
        assert!((c.period_s - 1.0125e-4).abs() < 1e-12);
        // the pause follows the next packet, once
        assert_eq!(c.gap(), Interval::from_secs_f64(0.01 + 1.0125e-4));
        assert_eq!(c.gap(), Interval::from_secs_f64(1.0125e-4));
        // what was sent before counts: decreases at the 16th, 32nd, 64th and 128th report
        let at: Vec<u64> = (2..=200).filter(|_| c.on_err(900, 2000)).collect();
        assert_eq!(at, [16, 32, 64, 128]);
        // what was sent after it does not wait
        assert!(!c.on_err(1000, 2000));
        assert!(c.on_err(1001, 2000));
    }

    #[test]
    fn the_earlier_rule_falls_by_a_hundredth_and_grows_by_half_a_microsecond() {
        assert!((multiplied(1e-4, 0.0) - 0.99e-4).abs() < 1e-15);
        // 10 % lost: .1 (.1 - .001), and .5 us
        assert!((multiplied(1e-4, 0.1) - (1.0099e-4 + 0.5e-6)).abs() < 1e-15);
        assert!((multiplied(1e-4, 0.001) - 1.001e-4).abs() < 1e-15);
        let mut c = control("mimd", 1e-4);
        assert!(!c.on_err(5, 1000));
        assert_eq!(c.period_s, 1e-4);
    }

    #[test]
    fn an_increase_ends_at_a_millisecond_at_most() {
        let mut c = control("library", 0.1);
        c.on_syn(100, 0);
        assert_eq!(c.period_s, 1e-3);
    }
}
