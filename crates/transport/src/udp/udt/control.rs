//! UDT's rate control and window: how acknowledgements and loss reports change the time between packets.

use super::super::row::Config;
use longfat_units::parameters::Parameters;
use longfat_units::{Interval, Stream, Time, math};
use longfat_wire::UdtReport;

/// The interval of rate control and of acknowledgements.
pub(super) const SYN: Interval = Interval::from_millis(10);
pub(super) const SYN_S: f64 = 0.01;
/// Packets whose number is 0 or 1 modulo this leave together.
pub(super) const PAIR_EVERY: u64 = 16;

const DECREASE: f64 = 1.125;
const SHARE: f64 = 1.0 / 9.0;
const INITIAL_WINDOW: f64 = 16.0;
const LEAST_WINDOW: f64 = 2.0;
/// The packets that the draft adds to the window.
const SPARE_WINDOW: f64 = 16.0;
const MOST_DECREASES: u32 = 5;
/// The packet size for which (2.10) is written, bytes.
const REFERENCE_BYTES: f64 = 1500.0;

/// The increase per SYN in packets when this many bit/s are available (2.10).
pub(super) fn increase(available_bps: f64, packet_bytes: f64) -> f64 {
    let least = 1.0 / REFERENCE_BYTES;
    let step =
        if available_bps > 0.0 { math::pow(10.0, math::log10(available_bps).ceil() - 9.0) } else { 0.0 };
    step.max(least) * REFERENCE_BYTES / packet_bytes
}

/// The draft's congestion epoch: from one decrease to a loss among what was sent after it.
struct Epoch {
    /// The last packet sent before the last decrease.
    last_seq: Option<u64>,
    naks: u64,
    decreases: u32,
    /// A further decrease comes after this many reports.
    spacing: u64,
    /// Mean number of reports in an epoch.
    mean_naks: f64,
}

/// The rate control of one sender.
pub(super) struct Control {
    draft: bool,
    packet_bytes: f64,
    /// The host's own link: the least time between packets, seconds.
    line_s: f64,
    most_window: f64,
    slow_start: bool,
    /// Time between packets, seconds; zero in slow start.
    interval_s: f64,
    window: f64,
    arrival_pps: f64,
    capacity_pps: f64,
    /// Losses were reported since the last increase.
    lost: bool,
    /// When (2.8) was last applied.
    decreased_at: Option<Time>,
    epoch: Epoch,
    stream: Stream,
}

impl Control {
    pub(super) fn new(p: &Parameters, config: &Config, stream: Stream) -> Self {
        Control {
            draft: p.word("variant") == "draft",
            packet_bytes: f64::from(config.packet_bytes()),
            line_s: config.line_s(),
            most_window: p.number("flow_window"),
            slow_start: true,
            interval_s: 0.0,
            window: INITIAL_WINDOW.min(p.number("flow_window")),
            arrival_pps: 0.0,
            capacity_pps: 0.0,
            lost: false,
            decreased_at: None,
            epoch: Epoch { last_seq: None, naks: 1, decreases: 1, spacing: 1, mean_naks: 1.0 },
            stream,
        }
    }

    /// The most packets that may be outstanding.
    pub(super) const fn window(&self) -> f64 {
        self.window
    }

    /// How long after a packet the next one may leave.
    pub(super) fn interval(&self) -> Interval {
        if self.slow_start { Interval::ZERO } else { Interval::from_secs_f64(self.interval_s) }
    }

    /// An acknowledgement of `acked` packets more.
    pub(super) fn on_ack(&mut self, acked: u64, rtt_s: f64, report: &UdtReport) {
        smooth(&mut self.arrival_pps, report.arrival_pps);
        smooth(&mut self.capacity_pps, report.capacity_pps);
        if acked == 0 {
            return;
        }
        if self.slow_start {
            self.window += acked as f64;
            if self.window > self.most_window {
                self.window = self.most_window;
                self.leave_slow_start(rtt_s);
            }
            return;
        }
        if self.arrival_pps > 0.0 {
            let spare = if self.draft { SPARE_WINDOW } else { 0.0 };
            let window = self.arrival_pps * (rtt_s + SYN_S) + spare;
            self.window = window.clamp(LEAST_WINDOW, self.most_window);
        }
        if !core::mem::take(&mut self.lost) {
            let inc = increase(self.available_bps(), self.packet_bytes);
            self.set_interval(SYN_S / (SYN_S / self.interval_s + inc), rtt_s);
        }
    }

    /// Losses are reported, the first of them packet `first`; `last` was the last packet sent. Returns
    /// whether the rate falls.
    pub(super) fn on_nak(&mut self, now: Time, first: u64, last: u64, rtt_s: f64) -> bool {
        self.lost = true;
        let measured = self.arrival_pps > 0.0;
        if self.slow_start {
            self.leave_slow_start(rtt_s);
            if measured {
                self.decreased_at = Some(now);
                return true;
            }
        }
        let decrease = if self.draft {
            self.is_due(first, last)
        } else {
            self.decreased_at.is_none_or(|at| now.since(at) >= SYN)
        };
        if decrease {
            self.decreased_at = Some(now);
            self.set_interval(DECREASE * self.interval_s, rtt_s);
        }
        decrease
    }

    /// The sender has heard nothing for a long time.
    pub(super) fn on_timeout(&mut self, rtt_s: f64) {
        if self.slow_start {
            self.leave_slow_start(rtt_s);
        }
    }

    /// Whether a report lowers the rate in the draft.
    fn is_due(&mut self, first: u64, last: u64) -> bool {
        let epoch = &mut self.epoch;
        if epoch.last_seq.is_none_or(|seq| first > seq) {
            epoch.mean_naks = 0.875 * epoch.mean_naks + 0.125 * epoch.naks as f64;
            epoch.spacing = 1 + self.stream.below(epoch.mean_naks.ceil() as u64);
            (epoch.naks, epoch.decreases) = (1, 1);
            epoch.last_seq = Some(last);
            return true;
        }
        epoch.naks += 1;
        let due = epoch.decreases < MOST_DECREASES && epoch.naks.is_multiple_of(epoch.spacing);
        if due {
            epoch.decreases += 1;
            epoch.last_seq = Some(last);
        }
        due
    }

    fn leave_slow_start(&mut self, rtt_s: f64) {
        self.slow_start = false;
        let pps = if self.arrival_pps > 0.0 { self.arrival_pps } else { self.window / (rtt_s + SYN_S) };
        self.set_interval(1.0 / pps, rtt_s);
    }

    /// The available bandwidth B (2.9), bit/s.
    fn available_bps(&self) -> f64 {
        let spare = self.capacity_pps - 1.0 / self.interval_s;
        let pps = if self.draft { spare } else { spare.min(SHARE * self.capacity_pps) };
        8.0 * self.packet_bytes * pps
    }

    fn set_interval(&mut self, interval_s: f64, rtt_s: f64) {
        self.interval_s = interval_s.min(rtt_s + SYN_S).max(self.line_s);
    }
}

/// The draft's moving averages (6.2, steps 7 and 8 of an acknowledgement); 0 means no value.
fn smooth(mean: &mut f64, value: f64) {
    if value > 0.0 {
        *mean = if *mean > 0.0 { (7.0 * *mean + value) / 8.0 } else { value };
    }
}

#[cfg(test)]
mod tests {
    use super::super::ROW;
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::config;

    const RTT_S: f64 = 0.1;

    /// Past slow start at `rate_bps`, on a path of `capacity_bps`.
    fn control(variant: &str, capacity_bps: f64, rate_bps: f64) -> Control {
        let given = [("variant".to_owned(), Value::Word(variant.to_owned()))];
        let mut c =
            Control::new(&ROW.check(&given, config().line).unwrap(), &config(), Stream::new(1, "flow/1/udp"));
        c.capacity_pps = capacity_bps / 12_000.0;
        c.arrival_pps = rate_bps / 12_000.0;
        c.slow_start = false;
        c.interval_s = 12_000.0 / rate_bps;
        c
    }

    fn rate_bps(c: &Control) -> f64 {
        12_000.0 / c.interval_s
    }

    fn ack(c: &mut Control) {
        let (arrival_pps, capacity_pps) = (c.arrival_pps, c.capacity_pps);
        c.on_ack(100, RTT_S, &UdtReport { number: 0, rtt: None, arrival_pps, capacity_pps });
    }

    #[test]
    fn the_increase_goes_in_steps_of_ten_with_what_is_available() {
        // (2.10) worked by hand for packets of 1500 bytes
        let table = [
            (-1e6, 1.0 / 1500.0),
            (5e4, 1.0 / 1500.0),
            (5e5, 0.001),
            (5e6, 0.01),
            (5e7, 0.1),
            (1e8, 0.1),
            (5e8, 1.0),
            (5e9, 10.0),
        ];
        for (available_bps, packets) in table {
            let inc = increase(available_bps, 1500.0);
            assert!((inc / packets - 1.0).abs() < 1e-12, "{available_bps}: {inc}");
        }
        // as many bytes with packets of another size
        assert!((increase(5e8, 750.0) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn an_empty_path_of_10_gigabit_is_nine_tenths_full_after_seven_and_a_half_seconds() {
        // as long as 1 Gbit/s and more are available each SYN adds 10 packets: 12 Mbit/s every 10 ms
        let mut c = control("draft", 10e9, 1e6);
        c.line_s = 0.0;
        let mut syns = 0;
        while rate_bps(&c) < 9e9 {
            ack(&mut c);
            syns += 1;
        }
        assert!((749..=751).contains(&syns), "{syns}");
    }

    #[test]
    fn the_thesis_takes_a_ninth_of_the_capacity_for_available_at_most() {
        // of 1 Gbit/s at 100 Mbit/s: 111 Mbit/s by the thesis, 900 Mbit/s by the draft; the same step of ten
        for (capacity_bps, rate, thesis, draft) in [(1e9, 1e8, 1.0, 1.0), (5e8, 1e8, 0.1, 1.0)] {
            for (variant, inc) in [("thesis", thesis), ("draft", draft)] {
                let mut c = control(variant, capacity_bps, rate);
                ack(&mut c);
                let more = (rate_bps(&c) - rate) / 12_000.0 * SYN_S;
                assert!((more / inc - 1.0).abs() < 1e-6, "{variant}: {more}");
            }
        }
    }

    #[test]
    fn a_loss_takes_a_ninth_of_the_rate_and_the_next_acknowledgement_adds_nothing() {
        for variant in ["thesis", "draft"] {
            let mut c = control(variant, 1e9, 9e8);
            assert!(c.on_nak(Time::from_ns(1), 5, 10, RTT_S));
            assert!((rate_bps(&c) - 8e8).abs() < 1.0, "{variant}");
            ack(&mut c);
            assert!((rate_bps(&c) - 8e8).abs() < 1.0, "{variant}");
            ack(&mut c);
            assert!(rate_bps(&c) > 8e8, "{variant}");
        }
    }

    #[test]
    fn the_thesis_decreases_at_most_once_a_syn() {
        let mut c = control("thesis", 1e9, 9e8);
        let falls: Vec<_> =
            (0..40).map(|ms| c.on_nak(Time::ZERO + Interval::from_millis(ms), 5, 10, RTT_S)).collect();
        let at: Vec<_> = (0..40).filter(|&ms| falls[ms]).collect();
        assert_eq!(at, [0, 10, 20, 30]);
    }

    #[test]
    fn the_draft_decreases_at_most_five_times_an_epoch() {
        let mut c = control("draft", 1e9, 9e8);
        // many reports of what was sent before the first decrease
        let falls = (0..1000).filter(|&i| c.on_nak(Time::from_ns(i), 5, 100, RTT_S)).count();
        assert_eq!(falls, 5);
        // a loss among what was sent after it begins another epoch
        assert!(c.on_nak(Time::from_ns(1000), 101, 200, RTT_S));
    }

    #[test]
    fn further_decreases_of_the_draft_come_at_random_moments() {
        let spacings: std::collections::BTreeSet<u64> = (0..50)
            .scan(control("draft", 1e9, 9e8), |c, i: u64| {
                for k in 5..35 {
                    c.on_nak(Time::from_ns(i), 100 * i + k, 100 * i + 99, RTT_S);
                }
                Some(c.epoch.spacing)
            })
            .collect();
        assert!(spacings.len() > 5, "{spacings:?}");
    }

    #[test]
    fn the_window_is_what_arrives_in_a_round_trip_and_a_syn() {
        // 1 Gbit/s, 83333.3 packets a second, in 110 ms
        for (variant, window) in [("thesis", 9166.7), ("draft", 9182.7)] {
            let mut c = control(variant, 2e9, 1e9);
            ack(&mut c);
            assert!((c.window() - window).abs() < 0.1, "{variant}: {}", c.window());
        }
    }

    #[test]
    fn slow_start_ends_at_the_first_loss_with_the_speed_of_arrival() {
        let given: [(String, Value); 0] = [];
        let mut c =
            Control::new(&ROW.check(&given, config().line).unwrap(), &config(), Stream::new(1, "flow/1/udp"));
        let report = UdtReport { number: 0, rtt: None, arrival_pps: 4000.0, capacity_pps: 9000.0 };
        c.on_ack(16, RTT_S, &report);
        c.on_ack(32, RTT_S, &report);
        assert_eq!((c.window(), c.interval()), (64.0, Interval::ZERO));
        c.on_nak(Time::from_ns(1), 40, 60, RTT_S);
        assert_eq!(c.interval(), Interval::from_secs_f64(1.0 / 4000.0));
    }
}
