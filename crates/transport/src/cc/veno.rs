//! TCP Veno (Fu, Liew 2003): standard TCP that estimates, as Vegas does, how many segments are queued. A loss
//! with a short queue is taken for a random one, as on a wireless link, and removes less of the window.
//!
//! ```text
//! N = cwnd (RTT - BaseRTT) / RTT                     segments queued
//! Ack :  cwnd <- cwnd + 1 / cwnd          N <  beta  (per segment that counts)
//!        cwnd <- cwnd + 1 / (2 cwnd)      N >= beta  (1 / cwnd every other time)
//! Loss:  cwnd <- 4/5 cwnd                 N <  beta
//!        cwnd <- 1/2 cwnd                 N >= beta
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `beta` | 3 | segments | Linux tcp_veno, which cites the paper; ns-3 tcp-veno | none |
//! | left by a random loss | 4/5 | of cwnd | Linux tcp_veno; ns-3 tcp-veno | none |
//! | left by another loss | 1/2 | of cwnd | the same | none |
//! | growth with a queue | 1/2 | segment per RTT | the same: one segment every other round trip | none |
//! | RTT | smoothed, 1/8 | s | from memory of the paper, not verified; the gain is RFC 6298's | Linux: the last sample |
//! | BaseRTT | least since the last loss | s | from memory of the paper, not verified | Linux: of the connection |
//! | a timeout or a mark leaves | 1/2 | of cwnd | standard TCP | Linux: as a loss |
//! | least samples (`linux`) | 3 | | Linux tcp_veno | not in `paper` |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::row::{Properties, Row, SendingTimes};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

/// What a loss with a short queue leaves of the window.
const RANDOM_LOSS_LEAVES: f64 = 0.8;
/// Growth with a long queue, of the standard one.
const GROWTH_WITH_QUEUE: f64 = 0.5;
/// The weight of a round-trip time.
const SMOOTHING: f64 = 0.125;
const LINUX_LEAST_SAMPLES: u32 = 3;
/// Linux counts half segments.
const LINUX_SCALE: f64 = 2.0;
/// Linux adds this to each round-trip time.
const LINUX_MICROSECOND: Interval = Interval::from_ns(1_000);

/// The registry row.
pub const ROW: Row<Veno> = Row {
    entry: Entry {
        name: "veno",
        title: "TCP Veno",
        aliases: &["tcp-veno"],
        citation: "Fu, Liew: TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks, IEEE Journal on \
                   Selected Areas in Communications 21(2), 2003",
        page: "veno",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux"],
                "linux: the kernel's tcp_veno, which looks at the last round-trip time and counts whole segments",
            ),
            Parameter::number(
                "beta",
                3.0,
                (0.0, 1e6),
                "segments",
                "a loss with fewer queued is a random one; with more, growth is slower",
            ),
        ],
        style: Some(Style::new("#2a9d8f", "^")),
    },
    linux_module: Some("veno"),
    properties: Properties { samples: true, sending_times: SendingTimes::RoundTrips, ..Properties::DEFAULT },
    build: Veno::new,
};

/// A Veno flow.
#[derive(Clone, Debug)]
pub struct Veno {
    beta: f64,
    base_rtt: Interval,
    /// The paper's smoothed round-trip time, s; 0 before the first sample.
    rtt_s: f64,
    /// Whether fewer than `beta` segments were queued at the last acknowledgement.
    short: bool,
    linux: Option<Linux>,
}

/// What Linux's module keeps besides.
#[derive(Clone, Copy, Debug)]
struct Linux {
    /// The least round-trip time since the last acknowledgement that was judged.
    rtt: Interval,
    samples: u32,
    /// Segments counted towards the next one of the window.
    counted: f64,
    /// Whether the next full count with a queue adds a segment.
    adds: bool,
    /// Between a congestion event and the end of its recovery it is standard TCP.
    suspended: bool,
}

impl Linux {
    const BEGUN: Linux = Linux { rtt: Interval::MAX, samples: 0, counted: 0.0, adds: true, suspended: false };

    /// Segments queued, in halves.
    fn queued(self, base_rtt: Interval, cwnd: f64) -> f64 {
        let scaled = LINUX_SCALE * cwnd;
        scaled - (scaled * base_rtt.as_secs_f64() / self.rtt.as_secs_f64()).floor()
    }

    /// The growth of the window, in whole segments.
    fn growth(&mut self, acked: f64, cwnd: f64, short: bool) -> f64 {
        let full = self.counted >= cwnd;
        if short {
            if full {
                self.counted = 0.0;
            }
            self.counted += acked;
            let grown = (self.counted / cwnd).floor();
            self.counted -= grown * cwnd;
            grown + f64::from(u8::from(full))
        } else if full {
            self.counted = 0.0;
            let grown = f64::from(u8::from(self.adds));
            self.adds = !self.adds;
            grown
        } else {
            self.counted += acked;
            0.0
        }
    }
}

impl Veno {
    fn new(p: &Parameters) -> Self {
        let linux = p.word("variant") == "linux";
        Veno {
            beta: p.number("beta"),
            base_rtt: Interval::MAX,
            rtt_s: 0.0,
            short: true,
            linux: linux.then_some(Linux::BEGUN),
        }
    }

    /// N.
    fn queued(&self, cwnd: f64) -> f64 {
        if self.rtt_s > 0.0 { cwnd * (1.0 - self.base_rtt.as_secs_f64() / self.rtt_s) } else { 0.0 }
    }

    fn on_ack_as_linux(&mut self, mut l: Linux, ack: &Ack, w: &mut Window) {
        let judges = !l.suspended && l.samples >= LINUX_LEAST_SAMPLES;
        if judges {
            self.short = l.queued(self.base_rtt, w.cwnd) < LINUX_SCALE * self.beta;
        }
        if w.in_slow_start() {
            w.slow_start(ack.acked);
        } else if judges {
            w.cwnd += l.growth(ack.acked, w.cwnd, self.short);
        } else {
            w.cwnd += standard_increase(w.cwnd, ack.acked);
        }
        if !l.suspended {
            l.rtt = Interval::MAX;
        }
        self.linux = Some(l);
    }

    /// Recovery is over.
    fn resume(&mut self) {
        if let Some(l) = &mut self.linux {
            l.suspended = false;
            l.rtt = Interval::MAX;
        }
    }
}

impl CongestionControl for Veno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if let Some(l) = self.linux {
            return self.on_ack_as_linux(l, ack, w);
        }
        self.short = self.queued(w.cwnd) < self.beta;
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        let step = standard_increase(w.cwnd, ack.acked);
        w.cwnd += if self.short { step } else { GROWTH_WITH_QUEUE * step };
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        if let Some(l) = &mut self.linux {
            l.suspended = true;
            let left = if self.short { RANDOM_LOSS_LEAVES * w.cwnd } else { standard_decrease(w.cwnd) };
            w.ssthresh = left.floor().max(1.0);
            return;
        }
        w.ssthresh = if self.short && event.cause == Cause::Loss {
            RANDOM_LOSS_LEAVES * w.cwnd
        } else {
            standard_decrease(w.cwnd)
        };
        self.base_rtt = Interval::MAX;
        self.rtt_s = 0.0;
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        let Some(mut rtt) = ack.rtt else { return };
        if let Some(l) = &mut self.linux {
            rtt = rtt + LINUX_MICROSECOND;
            l.rtt = l.rtt.min(rtt);
            l.samples = l.samples.saturating_add(1);
        } else {
            let sample_s = rtt.as_secs_f64();
            self.rtt_s =
                if self.rtt_s > 0.0 { self.rtt_s + SMOOTHING * (sample_s - self.rtt_s) } else { sample_s };
        }
        self.base_rtt = self.base_rtt.min(rtt);
    }

    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {
        self.resume();
    }

    fn on_undo(&mut self, _w: &mut Window) {
        self.resume();
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("short_queue", f64::from(u8::from(self.short))));
        if self.base_rtt < Interval::MAX {
            out.push(("base_rtt_s", self.base_rtt.as_secs_f64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, congestion, instance, loss, sawtooth, window};
    use super::*;

    const VARIANTS: [&str; 2] = ["paper", "linux"];

    fn veno(variant: &str) -> Veno {
        instance(&ROW, &[("variant", variant)])
    }

    /// Acknowledgements with this round-trip time, at a window of 100 segments that does not move.
    fn acknowledge(c: &mut Veno, rtt_us: u64, times: u32) {
        for _ in 0..times {
            let ack = ack_at(Time::ZERO, 1.0, Interval::from_ns(1_000 * rtt_us));
            c.on_sample(&ack);
            c.on_ack(&ack, &mut window(100.0, 2.0));
        }
    }

    /// A flow on a path of 100 ms, after round trips of `rtt_us`.
    fn after(variant: &str, rtt_us: u64) -> Veno {
        let mut c = veno(variant);
        acknowledge(&mut c, 100_000, 5);
        acknowledge(&mut c, rtt_us, 200);
        c
    }

    #[test]
    fn three_segments_queued_tell_congestion_from_random_losses() {
        // 100 segments: N is 100 * 3 / 103 = 2.91 at 103 ms and 100 * 3.2 / 103.2 = 3.10 at 103.2 ms
        for variant in VARIANTS {
            for (rtt_us, left) in [(100_000, 80.0), (102_000, 80.0), (103_200, 50.0), (200_000, 50.0)] {
                let mut w = window(100.0, 2.0);
                after(variant, rtt_us).on_congestion(&loss(), &mut w);
                assert_eq!(w.ssthresh, left, "{variant}, {rtt_us} us");
            }
        }
    }

    #[test]
    fn linux_counts_half_segments_downwards() {
        // 200 - floor(200 * 100.001 / 102.9) = 200 - 194 = 6: no longer below 2 * 3, though N is 2.8
        let mut w = window(100.0, 2.0);
        after("linux", 102_900).on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 50.0);
        let mut w = window(100.0, 2.0);
        after("paper", 102_900).on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 80.0);
    }

    #[test]
    fn a_timeout_or_a_mark_halves_the_window_but_not_in_linux() {
        for (variant, left) in [("paper", 50.0), ("linux", 80.0)] {
            for cause in [Cause::Timeout, Cause::Mark] {
                let mut w = window(100.0, 2.0);
                after(variant, 100_000).on_congestion(&congestion(cause), &mut w);
                assert_eq!(w.ssthresh, left, "{variant}");
            }
        }
    }

    #[test]
    fn the_window_grows_by_a_segment_a_round_trip_and_with_a_queue_every_other_one() {
        for variant in VARIANTS {
            for (rtt_us, grown) in [(100_000, 10.0), (150_000, 5.0)] {
                let (mut c, mut w) = (after(variant, rtt_us), window(100.0, 2.0));
                let mut acks = 0.0;
                // ten round trips
                for _ in 0..10 {
                    for _ in 0..w.cwnd as u64 {
                        let ack = ack_at(Time::ZERO, 1.0, Interval::from_ns(1_000 * rtt_us));
                        c.on_sample(&ack);
                        c.on_ack(&ack, &mut w);
                        acks += 1.0;
                    }
                }
                let seen = w.cwnd - 100.0;
                assert!((seen - grown).abs() <= 1.0, "{variant}, {rtt_us} us: {seen} in {acks}");
            }
        }
    }

    #[test]
    fn random_losses_leave_it_the_square_root_of_three_of_standard_tcps_window() {
        // a sawtooth from b W to W with growth 1 delivers (1 - b^2) W^2 / 2 = 1/p, of mean (1 + b) W / 2:
        // sqrt((1 + b) / (2 (1 - b) p)), 2.12 / sqrt(p) for 4/5 and 1.22 / sqrt(p) for 1/2
        let seen = sawtooth(&mut veno("paper"), 10_000).mean;
        assert!((seen / 212.1 - 1.0).abs() < 0.02, "{seen}");
    }

    #[test]
    fn the_paper_forgets_the_least_round_trip_time_at_a_loss_and_linux_does_not() {
        for (variant, short) in [("paper", true), ("linux", false)] {
            let mut c = after(variant, 100_000);
            c.on_congestion(&loss(), &mut window(100.0, 2.0));
            c.on_recovered(Time::ZERO, &mut window(80.0, 80.0));
            // the path is longer now
            acknowledge(&mut c, 150_000, 50);
            assert_eq!(c.short, short, "{variant}");
        }
    }

    #[test]
    fn linux_wants_three_samples_and_an_end_of_recovery() {
        let mut c = veno("linux");
        acknowledge(&mut c, 100_000, 1);
        acknowledge(&mut c, 200_000, 1);
        assert!(c.short);
        acknowledge(&mut c, 200_000, 1);
        assert!(!c.short);
        c.on_congestion(&loss(), &mut window(100.0, 2.0));
        acknowledge(&mut c, 100_000, 10);
        assert!(!c.short);
        c.on_recovered(Time::ZERO, &mut window(50.0, 50.0));
        acknowledge(&mut c, 100_000, 1);
        assert!(c.short);
    }

    #[test]
    fn slow_start_is_that_of_standard_tcp() {
        for variant in VARIANTS {
            let (mut c, mut w) = (after(variant, 200_000), window(10.0, 100.0));
            c.on_ack(&ack_at(Time::ZERO, 2.0, Interval::from_millis(200)), &mut w);
            assert_eq!(w.cwnd, 12.0, "{variant}");
        }
    }
}
