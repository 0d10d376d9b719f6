//! YeAH-TCP (Baiocchi, Castellani, Vacirca 2007): Scalable TCP's growth while the queue is short, standard
//! TCP's beyond, and a queue that is emptied before it overflows.
//!
//! Once a round trip, from its least round-trip time RTTmin and the connection's, RTTbase:
//!
//! ```text
//! Q = (RTTmin - RTTbase) cwnd / RTTmin            packets this flow has in the queue (equation 1)
//! L = (RTTmin - RTTbase) / RTTbase
//! fast:  Q < Qmax and L < 1 / phi                 cwnd <- cwnd + 1/100 an acknowledged segment
//! slow:  otherwise                                cwnd <- cwnd + 1/cwnd
//!        if Q > Qmax and cwnd > count_reno:       cwnd <- cwnd - Q
//! Loss:  cwnd <- cwnd - min(max(cwnd / 8, Q), cwnd / 2);  cwnd / 2 after rho slow round trips without a fast one
//! ```
//!
//! count_reno estimates the window of competing standard flows; below it this flow leaves the queue to them.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `queue_max` (Qmax) | 80 | packets | Linux, TCP_YEAH_ALPHA; the paper prints none | none |
//! | `phi` | 8 | | Linux, TCP_YEAH_PHY; the paper prints none | none |
//! | `rho` | 16 | round trips | Linux, TCP_YEAH_RHO; footnote 4 prints none | none |
//! | `zeta` | 50 | round trips | Linux, TCP_YEAH_ZETA; the paper prints none | none |
//! | `increase` | 0.01 | segments per segment | Kelly 2003; Linux, TCP_SCALABLE_AI_CNT 100 | never below standard TCP's, as Linux |
//! | least and greatest part a loss takes | 1/8, 1/2 | of cwnd | the paper; Linux, TCP_YEAH_DELTA 3 | none |
//! | part of Q removed (gamma), of cwnd at most (epsilon) | 1, 1/2 | | the paper; Linux, TCP_YEAH_GAMMA 1, TCP_YEAH_EPSILON 1 | the half: `linux` only |
//! | least samples a round trip (`linux`) | 3 | | Linux | `paper`: 1 |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Internals, LEAST_SSTHRESH, Window,
};
use super::round::Round;
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

/// The least part of the window that a loss takes.
const LEAST_DECREASE: f64 = 0.125;
const LINUX_LEAST_SAMPLES: u32 = 3;

/// The registry row.
pub const ROW: Row<Yeah> = Row {
    entry: Entry {
        name: "yeah",
        title: "YeAH-TCP",
        aliases: &["yeah-tcp"],
        citation: "Baiocchi, Castellani, Vacirca: YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007",
        page: "yeah",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux"],
                "paper: PFLDnet 2007, section III; linux: the kernel's tcp_yeah",
            ),
            Parameter::number(
                "queue_max",
                80.0,
                (LEAST_SSTHRESH, 1e6),
                "packets",
                "what the flow may keep in the queue",
            ),
            Parameter::number("phi", 8.0, (0.1, 1e3), "", "slow from a queueing delay of RTTbase / phi on"),
            Parameter::number(
                "rho",
                16.0,
                (1.0, 1e6),
                "round trips",
                "slow ones in a row after which a loss halves the window",
            ),
            Parameter::number(
                "zeta",
                50.0,
                (1.0, 1e6),
                "round trips",
                "fast ones after which count_reno restarts",
            ),
            Parameter::number(
                "increase",
                0.01,
                (1e-4, 1.0),
                "segments",
                "fast growth per acknowledged segment",
            ),
        ],
        style: Some(Style::new("#7c3aed", "*")),
    },
    linux_module: Some("yeah"),
    properties: Properties {
        varies: |own, p| Properties { shrinks: p.word("variant") != "linux", ..own },
        samples: true,
        ..Properties::DEFAULT
    },
    build: Yeah::new,
};

/// Round trips in either mode, and the resulting estimate of competing flows.
#[derive(Clone, Copy, Debug)]
struct Counts {
    /// Slow ones since the last fast one.
    slow: f64,
    /// Fast ones since count_reno was last set.
    fast: f64,
    /// count_reno, in segments; none before the first round trip.
    reno: Option<f64>,
}

/// A YeAH-TCP flow.
#[derive(Clone, Debug)]
pub struct Yeah {
    linux: bool,
    queue_max: f64,
    phi: f64,
    rho: f64,
    zeta: f64,
    increase: f64,
    base_rtt: Interval,
    /// Least round-trip time of the present round trip, and how many samples it had.
    least_rtt: Interval,
    samples: u32,
    round: Round,
    /// Q of the last round trip, in packets.
    queue: f64,
    counts: Counts,
    undo: Option<Counts>,
}

impl Yeah {
    fn new(p: &Parameters) -> Self {
        let linux = p.word("variant") == "linux";
        Yeah {
            linux,
            queue_max: p.number("queue_max"),
            phi: p.number("phi"),
            rho: p.number("rho"),
            zeta: p.number("zeta"),
            increase: p.number("increase"),
            base_rtt: Interval::MAX,
            least_rtt: Interval::MAX,
            samples: 0,
            round: Round::default(),
            queue: 0.0,
            counts: Counts { slow: 0.0, fast: 0.0, reno: linux.then_some(LEAST_SSTHRESH) },
            undo: None,
        }
    }

    fn forget_samples(&mut self) {
        self.least_rtt = Interval::MAX;
        self.samples = 0;
    }

    /// A round trip has passed: the mode of the next one, and decongestion.
    fn judge(&mut self, w: &mut Window) {
        let reno = *self.counts.reno.get_or_insert(0.5 * w.cwnd);
        if self.samples < if self.linux { LINUX_LEAST_SAMPLES } else { 1 } {
            return;
        }
        let queueing_s = self.least_rtt.saturating_sub(self.base_rtt).as_secs_f64();
        let congestion = self.phi * queueing_s / self.base_rtt.as_secs_f64();
        let queue = w.cwnd * queueing_s / self.least_rtt.as_secs_f64();
        self.queue = if self.linux { queue.floor() } else { queue };
        let fast = if self.linux {
            self.queue <= self.queue_max && congestion <= 1.0
        } else {
            self.queue < self.queue_max && congestion < 1.0
        };
        if fast {
            return self.count_fast(w.cwnd);
        }
        if self.queue > self.queue_max && w.cwnd > reno {
            let removed = if self.linux { self.queue.min(0.5 * w.cwnd) } else { self.queue };
            w.cwnd = (w.cwnd - removed).max(reno).max(LEAST_SSTHRESH);
            let threshold = if self.linux { w.cwnd } else { 0.5 * w.cwnd };
            w.ssthresh = threshold.max(LEAST_SSTHRESH);
        }
        self.counts.slow += 1.0;
        self.counts.reno = Some(if self.linux && reno <= LEAST_SSTHRESH {
            (0.5 * w.cwnd).max(LEAST_SSTHRESH)
        } else {
            reno + 1.0
        });
    }

    fn count_fast(&mut self, cwnd: f64) {
        self.counts.slow = 0.0;
        self.counts.fast += 1.0;
        if self.counts.fast > self.zeta {
            self.counts.fast = 0.0;
            // Linux takes half of the window only when the next slow round trip has passed
            self.counts.reno = Some(if self.linux { LEAST_SSTHRESH } else { 0.5 * cwnd });
        }
    }
}

impl CongestionControl for Yeah {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            w.slow_start(ack.acked);
        } else {
            let standard = standard_increase(w.cwnd, ack.acked);
            w.cwnd += if self.counts.slow > 0.0 { standard } else { standard.max(self.increase * ack.acked) };
        }
        if self.round.passed(ack).is_some() {
            self.judge(w);
            self.forget_samples();
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.undo = (!self.linux).then_some(self.counts);
        // the paper speaks of duplicate acknowledgements; its authors' module treats a timeout alike
        let halves = self.counts.slow >= self.rho || (!self.linux && event.cause == Cause::Timeout);
        let half = standard_decrease(w.cwnd);
        w.ssthresh =
            if halves { half } else { w.cwnd - self.queue.max(LEAST_DECREASE * w.cwnd).min(w.cwnd - half) };
        self.counts.reno = self.counts.reno.map(|reno| 0.5 * reno);
        if self.linux {
            self.counts.reno = self.counts.reno.map(|reno| reno.max(LEAST_SSTHRESH));
            self.counts.fast = 0.0;
        }
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.least_rtt = self.least_rtt.min(rtt);
            self.samples += 1;
        }
    }

    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {
        self.round.restart();
        self.forget_samples();
    }

    fn on_undo(&mut self, _w: &mut Window) {
        if let Some(counts) = self.undo.take() {
            self.counts = counts;
        }
        self.round.restart();
        self.forget_samples();
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("queue_packets", self.queue));
        out.push(("slow_round_trips", self.counts.slow));
        out.extend(self.counts.reno.map(|reno| ("count_reno", reno)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::{Path, window};
    use super::super::testing::{congestion, instance, loss, with_numbers};
    use super::*;

    const VARIANTS: [&str; 2] = ["paper", "linux"];

    fn yeah(variant: &str) -> Yeah {
        instance(&ROW, &[("variant", variant)])
    }

    /// Round trips of `rtt_s` each on a path of 100 ms, for any window.
    struct Wire {
        path: Path,
        w: Window,
    }

    impl Wire {
        fn new(cwnd: f64, ssthresh: f64) -> Self {
            Wire { path: Path::new(0.1, 1e4), w: window(cwnd, ssthresh) }
        }

        fn acknowledge(&mut self, y: &mut Yeah, rtt_s: f64, segments: u64) {
            for _ in 0..segments {
                self.path.now_s += rtt_s / segments as f64;
                let ack = self.path.ack(rtt_s, self.w.cwnd);
                y.on_sample(&ack);
                y.on_ack(&ack, &mut self.w);
            }
        }

        /// This many round trips, including the decision after the last one.
        fn rounds(&mut self, y: &mut Yeah, rtt_s: f64, times: u32) {
            for _ in 0..times {
                let slow_before = (y.counts.slow, y.counts.fast);
                let mut acks = 0;
                while (y.counts.slow, y.counts.fast) == slow_before {
                    self.acknowledge(y, rtt_s, 1);
                    acks += 1;
                    assert!(acks < 1_000_000, "no round trip passes");
                }
            }
        }
    }

    #[test]
    fn a_short_queue_lets_the_window_grow_by_a_hundredth_a_round_trip() {
        for variant in VARIANTS {
            let (mut y, mut wire) = (yeah(variant), Wire::new(1000.0, 2.0));
            wire.acknowledge(&mut y, 0.1, 1000);
            assert!((wire.w.cwnd - 1010.0).abs() < 0.02, "{variant}: {}", wire.w.cwnd);
        }
    }

    #[test]
    fn small_windows_grow_as_fast_as_standard_tcps() {
        for variant in VARIANTS {
            let (mut y, mut wire) = (yeah(variant), Wire::new(20.0, 2.0));
            wire.acknowledge(&mut y, 0.1, 20);
            assert!((20.97..21.0).contains(&wire.w.cwnd), "{variant}: {}", wire.w.cwnd);
        }
    }

    #[test]
    fn an_eighth_of_queueing_delay_slows_growth_to_one_segment_a_round_trip() {
        // 13 ms on 100: L = .13 > 1/8, but Q = 200 * 13 / 113 = 23 packets, too few to remove
        for variant in VARIANTS {
            let (mut y, mut wire) = (yeah(variant), Wire::new(200.0, 2.0));
            wire.rounds(&mut y, 0.1, 1);
            wire.rounds(&mut y, 0.113, 2);
            assert!((23.0..24.0).contains(&y.queue), "{variant}: {}", y.queue);
            let before = wire.w.cwnd;
            wire.acknowledge(&mut y, 0.113, before as u64);
            assert!((wire.w.cwnd - before - 1.0).abs() < 0.02, "{variant}: {before} -> {}", wire.w.cwnd);
            // and 12 ms are less than an eighth
            wire.rounds(&mut y, 0.112, 2);
            assert_eq!(y.counts.slow, 0.0, "{variant}");
        }
    }

    /// A window of 1000 that stands still but for decongestion, first without a queue, then with Q = 1000 -
    /// 1000 / 1.1.
    fn decongested(variant: &str) -> (Yeah, Wire) {
        let mut y = yeah(variant);
        y.increase = 0.0;
        let mut wire = Wire::new(1000.0, 2.0);
        wire.rounds(&mut y, 0.1, 3);
        y.counts.reno = Some(400.0);
        wire.w.cwnd = 1000.0;
        wire.rounds(&mut y, 0.11, 1);
        wire.w.cwnd = 1000.0;
        wire.rounds(&mut y, 0.11, 1);
        (y, wire)
    }

    #[test]
    fn a_queue_beyond_the_greatest_is_removed_within_one_round_trip() {
        // equation 1 by hand: 10 ms of 110 ms, 1000 segments and one more grown: 91 packets
        for (variant, threshold) in [("paper", 455.0), ("linux", 910.0)] {
            let (y, wire) = decongested(variant);
            assert!((90.0..=91.2).contains(&y.queue), "{variant}: {}", y.queue);
            assert!((wire.w.cwnd - 910.0).abs() < 1.0, "{variant}: {}", wire.w.cwnd);
            // the paper sets ssthresh to cwnd/2, its authors' module to cwnd: neither lets slow-start begin
            assert!((wire.w.ssthresh - threshold).abs() < 1.0, "{variant}: {}", wire.w.ssthresh);
            assert!(!wire.w.in_slow_start());
        }
    }

    #[test]
    fn decongestion_stops_at_the_window_of_the_standard_flows() {
        for variant in VARIANTS {
            let (mut y, mut wire) = (yeah(variant), Wire::new(1000.0, 2.0));
            wire.rounds(&mut y, 0.1, 2);
            y.counts.reno = Some(800.0);
            // a queue of others: Q stays at a third of the window, however much is removed
            wire.rounds(&mut y, 0.15, 3);
            let stopped = wire.w.cwnd;
            assert!((799.0..=806.0).contains(&stopped), "{variant}: {stopped}");
            wire.rounds(&mut y, 0.15, 40);
            // count_reno and the window both grow by a segment a round trip from there
            let growth = wire.w.cwnd - stopped;
            assert!((35.0..=41.0).contains(&growth), "{variant}: {growth}");
        }
    }

    #[test]
    fn linux_removes_at_most_half_of_the_window_at_once() {
        // 300 ms on 100: two thirds of the window are queue
        for (variant, left) in [("paper", 334.0), ("linux", 501.0)] {
            let (mut y, mut wire) = (yeah(variant), Wire::new(1000.0, 2.0));
            wire.rounds(&mut y, 0.1, 1);
            y.counts = Counts { slow: 1.0, fast: 0.0, reno: Some(10.0) };
            wire.w.cwnd = 1000.0;
            wire.rounds(&mut y, 0.3, 1);
            // the first of these round trips still has samples of 100 ms
            wire.w.cwnd = 1000.0;
            wire.rounds(&mut y, 0.3, 1);
            assert!((wire.w.cwnd - left).abs() < 1.5, "{variant}: {}", wire.w.cwnd);
        }
    }

    #[test]
    fn a_loss_takes_the_queue_but_at_least_an_eighth_and_at_most_half() {
        for variant in VARIANTS {
            for (queue, left) in [(0.0, 875.0), (100.0, 875.0), (300.0, 700.0), (900.0, 500.0)] {
                let mut y = yeah(variant);
                y.queue = queue;
                let mut w = window(1000.0, 2.0);
                y.on_congestion(&loss(), &mut w);
                assert_eq!(w.ssthresh, left, "{variant}, {queue} packets");
            }
        }
    }

    #[test]
    fn beside_standard_flows_a_loss_halves_the_window() {
        for variant in VARIANTS {
            for (slow, left) in [(15, 875.0), (16, 500.0)] {
                let (mut y, mut wire) = (yeah(variant), Wire::new(100.0, 2.0));
                wire.rounds(&mut y, 0.1, 2);
                while y.counts.slow < f64::from(slow) {
                    wire.rounds(&mut y, 0.113, 1);
                }
                let mut w = window(1000.0, 2.0);
                y.on_congestion(&loss(), &mut w);
                assert_eq!(w.ssthresh, left, "{variant}, {slow} slow round trips");
            }
        }
    }

    #[test]
    fn a_timeout_halves_the_window_but_not_in_linux() {
        for (variant, left) in [("paper", 500.0), ("linux", 875.0)] {
            let mut w = window(1000.0, 2.0);
            yeah(variant).on_congestion(&congestion(Cause::Timeout), &mut w);
            assert_eq!(w.ssthresh, left, "{variant}");
        }
    }

    #[test]
    fn a_loss_halves_count_reno_and_an_undo_gives_it_back() {
        let mut y = yeah("paper");
        y.counts.reno = Some(300.0);
        let mut w = window(1000.0, 2.0);
        y.on_congestion(&loss(), &mut w);
        assert_eq!(y.counts.reno, Some(150.0));
        y.on_undo(&mut w);
        assert_eq!(y.counts.reno, Some(300.0));
    }

    #[test]
    fn fifty_one_fast_round_trips_forget_the_standard_flows() {
        for variant in VARIANTS {
            let (mut y, mut wire) = (yeah(variant), Wire::new(40.0, 2.0));
            wire.rounds(&mut y, 0.1, 1);
            y.counts = Counts { slow: 0.0, fast: 0.0, reno: Some(1e4) };
            wire.rounds(&mut y, 0.1, 50);
            assert_eq!(y.counts.reno, Some(1e4), "{variant}");
            wire.rounds(&mut y, 0.1, 1);
            let expected = if variant == "linux" { 2.0 } else { 0.5 * wire.w.cwnd };
            assert_eq!(y.counts.reno, Some(expected), "{variant}");
        }
    }

    #[test]
    fn linux_wants_three_samples_a_round_trip() {
        // one segment in flight: two acknowledgements until one of them is of a segment sent after the first
        for (variant, judged) in [("paper", true), ("linux", false)] {
            let (mut y, mut wire) = (yeah(variant), Wire::new(1.0, 1.0));
            wire.acknowledge(&mut y, 0.1, 1);
            for _ in 0..20 {
                wire.w.cwnd = 1.0;
                wire.acknowledge(&mut y, 0.2, 1);
            }
            assert_eq!(y.counts.slow > 0.0, judged, "{variant}: {:?}", y.counts);
        }
    }

    #[test]
    fn alone_it_fills_the_link_and_keeps_no_more_than_a_round_trips_growth_above_the_greatest_queue() {
        // 1000 packets of bandwidth-delay product: Qmax and one hundredth of 1080 that came before it was
        // seen, twice
        for variant in VARIANTS {
            let (mut y, mut w) = (yeah(variant), window(500.0, 2.0));
            let mut path = Path::new(0.1, 1e4);
            path.run(20.0, &mut y, &mut w);
            let (mut longest, mut least) = (0.0_f64, f64::INFINITY);
            for _ in 0..400 {
                path.run(0.05, &mut y, &mut w);
                longest = longest.max(path.queue_packets(w.cwnd));
                least = least.min(w.cwnd);
            }
            assert!((75.0..105.0).contains(&longest), "{variant}: {longest}");
            assert!(least > 980.0, "{variant}: {least}");
        }
    }

    #[test]
    fn two_flows_of_unlike_round_trip_times_may_keep_the_same_queue() {
        // section III: every flow tries to keep the same number of packets queued, for any round-trip time
        for (base_s, rate_pps) in [(0.02, 5e4), (0.2, 1e4)] {
            let mut y = with_numbers(&ROW, &[("phi", 1.0)]);
            let (mut path, mut w) = (Path::new(base_s, rate_pps), window(0.9 * base_s * rate_pps, 2.0));
            let mut longest = 0.0_f64;
            for _ in 0..600 {
                path.run(0.5 * base_s, &mut y, &mut w);
                longest = longest.max(path.queue_packets(w.cwnd));
            }
            assert!((75.0..125.0).contains(&longest), "{base_s} s: {longest}");
        }
    }
}
