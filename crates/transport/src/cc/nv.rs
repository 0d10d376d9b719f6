//! TCP-NV (Brakmo 2010; Linux tcp_nv): a successor of Vegas for data centres. It compares the window with the
//! one that the greatest rate of the round trip needs on the empty path, and allows for noise in both.
//!
//! ```text
//! each ACK, outside of recovery:
//!   rtt  <- 1/2 rtt + 1/2 sample
//!   rate =  segments delivered since the acknowledged one left / rtt,     its greatest since the last decision
//! once per round trip:
//!   max_win = greatest rate * min_rtt + pad
//!   cwnd > max_win:                  ssthresh <- max_win, cwnd <- cwnd - max(2, 30 % of the excess), no growth
//!                                    (cwnd <- max_win if the excess is at most 2)
//!   cwnd <= max_win - pad_buffer:    growth
//!   otherwise:                       as before
//! Ack :  cwnd <- cwnd + 1 / (2^n cwnd)     n timeouts since it last grew faster
//! Loss:  cwnd <- 0.8 cwnd, no growth until the next decision
//! ```
//!
//! min_rtt is the least rtt of a period of 3.75 to 6.25 s, random so that flows do not measure at the same
//! time.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `pad`, `pad_buffer` | 10, 2 | segments | Linux tcp_nv | none |
//! | `left` | 0.8 (819/1024) | of cwnd | Linux tcp_nv | none |
//! | taken from the excess | 38/128 | | Linux tcp_nv: 30 % | none |
//! | smoothing | 1/2 | | Linux tcp_nv | none |
//! | `period` | 5, times 3/4 to 5/4 | s | Linux tcp_nv; the first is 2 s | none |
//! | least samples to grow, to shrink, to end slow-start | 20, 60, 30 | | Linux tcp_nv | none |
//! | least round trips before it shrinks, most without a decision | 2, 10 | | Linux tcp_nv | none |
//! | decisions to double the growth after a timeout | 8 | | Linux tcp_nv | none |
//! | least window | 2 | segments | Linux tcp_nv | none |
//! | window that one sample is too few for | 4, growing by 2 to 81 | segments | Linux tcp_nv | none |

use super::aimd::standard_increase;
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::row::{Properties, Row, SendingTimes};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Stream, Style, Time};
use std::collections::VecDeque;

const LEFT: f64 = 819.0 / 1024.0;
/// What a decision takes from the excess over the window wanted.
const EXCESS: f64 = 38.0 / 128.0;
const FIRST_PERIOD: Interval = Interval::from_millis(2_000);
const SAMPLES_TO_GROW: u32 = 20;
const SAMPLES_TO_SHRINK: u32 = 60;
const SAMPLES_TO_END_SLOW_START: u32 = 30;
const ROUNDS_TO_SHRINK: u32 = 2;
const ROUNDS_TO_STOP: u32 = 10;
const DECISIONS_TO_DOUBLE: u32 = 8;
const LEAST_CWND: f64 = 2.0;
/// Growth is at most a segment for this many.
const LEAST_COUNT: f64 = 4.0;
/// The slowest growth: 2^-8 of standard TCP's.
const SLOWEST: u32 = 8;
/// The window below which decisions wait, its step, and its greatest value.
const SMALL: f64 = 4.0;
const SMALL_STEP: f64 = 2.0;
const SMALL_MOST: f64 = 81.0;

/// The registry row.
pub const ROW: Row<Nv> = Row {
    entry: Entry {
        name: "nv",
        title: "TCP-NV",
        aliases: &["tcp-nv"],
        citation: "Brakmo: TCP-NV: Congestion Avoidance for Data Centers, Linux Plumbers Conference, 2010",
        page: "nv",
        parameters: &[
            Parameter::number("pad", 10.0, (1.0, 1e6), "segments", "queued at most"),
            Parameter::number("pad_buffer", 2.0, (0.0, 1e6), "segments", "below pad, where growth ends"),
            Parameter::number("left", LEFT, (0.1, 0.99), "of the window", "what a loss leaves"),
            Parameter::number(
                "period",
                5.0,
                (0.1, 1e6),
                "s",
                "mean time after which min_rtt is measured anew",
            ),
        ],
        style: Some(Style::new("#6d597a", "*")),
    },
    linux_module: Some("nv"),
    properties: Properties {
        shrinks: true,
        draws: true,
        sending_times: SendingTimes::RoundTrips,
        ..Properties::DEFAULT
    },
    build: Nv::new,
};

/// What had been delivered when segments left.
#[derive(Clone, Debug)]
struct Departures {
    /// The first segment that left after an acknowledgement, and all delivered at that time.
    log: VecDeque<(u64, u64)>,
}

impl Default for Departures {
    fn default() -> Self {
        Departures { log: VecDeque::from([(0, 0)]) }
    }
}

impl Departures {
    /// Segments delivered since the last segment that this acknowledgement covers left.
    fn delivered_since(&mut self, ack: &Ack) -> u64 {
        while self.log.len() > 1 && self.log[1].0 < ack.unacknowledged {
            self.log.pop_front();
        }
        let before = self.log.front().map_or(0, |(_, delivered)| *delivered);
        match self.log.back_mut() {
            // nothing has left since the last acknowledgement
            Some((first, delivered)) if *first == ack.next_segment => *delivered = ack.delivered,
            _ => self.log.push_back((ack.next_segment, ack.delivered)),
        }
        ack.delivered.saturating_sub(before)
    }
}

/// An NV flow.
#[derive(Clone, Debug)]
pub struct Nv {
    pad: f64,
    pad_buffer: f64,
    left: f64,
    period_s: f64,
    random: Stream,
    departures: Departures,
    allows_growth: bool,
    /// A congestion event is being repaired.
    suspended: bool,
    /// How often its growth has been halved.
    halvings: u32,
    /// Decisions to grow in a row, for the next change of `halvings`.
    decisions: u32,
    /// Samples and round trips since the last decision.
    samples: u32,
    rounds: u32,
    /// s; 0 before the first sample.
    rtt_s: f64,
    /// s.
    min_rtt_s: f64,
    next_min_rtt_s: f64,
    reset_at: Option<Time>,
    /// Segments per second.
    max_rate: f64,
    /// The segment whose acknowledgement ends the round trip.
    end: u64,
    /// All acknowledged at the last acknowledgement.
    last: u64,
    /// Segments.
    small: f64,
}

impl Nv {
    fn new(p: &Parameters) -> Self {
        Nv {
            pad: p.number("pad").floor(),
            pad_buffer: p.number("pad_buffer").floor(),
            left: p.number("left"),
            period_s: p.number("period"),
            random: Stream::new(0, "nv"),
            departures: Departures::default(),
            allows_growth: true,
            suspended: false,
            halvings: 0,
            decisions: 0,
            samples: 0,
            rounds: 0,
            rtt_s: 0.0,
            min_rtt_s: f64::INFINITY,
            next_min_rtt_s: f64::INFINITY,
            reset_at: None,
            max_rate: 0.0,
            end: 0,
            last: 0,
            small: SMALL,
        }
    }

    /// Recovery is over: measures anew.
    fn begin(&mut self) {
        self.suspended = false;
        (self.decisions, self.rounds, self.samples) = (0, 0, 0);
        (self.rtt_s, self.max_rate) = (0.0, 0.0);
        self.end = self.last;
    }

    /// Takes the round-trip time and the rate of an acknowledgement.
    fn measure(&mut self, now: Time, sample_s: f64, delivered: u64) {
        if self.rtt_s > 0.0 {
            self.rtt_s = 0.5 * (self.rtt_s + sample_s);
        } else {
            self.rtt_s = sample_s;
            self.min_rtt_s = 2.0 * sample_s;
        }
        self.max_rate = self.max_rate.max(delivered as f64 / self.rtt_s);
        self.samples = self.samples.saturating_add(1);
        self.min_rtt_s = self.min_rtt_s.min(self.rtt_s);
        self.next_min_rtt_s = self.next_min_rtt_s.min(self.rtt_s);
        let reset_at = *self.reset_at.get_or_insert(now + FIRST_PERIOD);
        if now >= reset_at {
            self.min_rtt_s = self.next_min_rtt_s;
            self.next_min_rtt_s = f64::INFINITY;
            let period_s = self.period_s * self.random.uniform(0.75, 1.25);
            self.reset_at = Some(now + Interval::from_secs_f64(period_s));
            self.small = (0.5 * self.small).floor().max(SMALL);
        }
    }

    /// The end of a round trip, in which this acknowledgement is of `acked` segments.
    fn decide(&mut self, ack: &Ack, acked: u64, w: &mut Window) {
        self.end = ack.next_segment;
        self.rounds = self.rounds.saturating_add(1);
        if self.samples == 1 && acked as f64 >= self.small - 1.0 && self.small < SMALL_MOST {
            self.small = (self.small + SMALL_STEP).min(SMALL_MOST);
            self.end = ack.next_segment + self.small as u64;
            self.samples = 0;
            self.allows_growth = true;
            return;
        }
        let cwnd = w.cwnd.floor();
        let most = (self.max_rate * self.min_rtt_s).floor() + self.pad;
        if cwnd > most {
            if self.rounds < ROUNDS_TO_SHRINK {
                return;
            }
            if w.ssthresh.is_infinite() {
                if self.samples < SAMPLES_TO_END_SLOW_START {
                    return;
                }
            } else if self.samples < SAMPLES_TO_SHRINK {
                if self.rounds > ROUNDS_TO_STOP {
                    self.allows_growth = false;
                }
                return;
            }
            self.allows_growth = false;
            w.ssthresh = most;
            let excess = cwnd - most;
            w.cwnd = if excess > 2.0 { cwnd - (EXCESS * excess).floor().max(2.0) } else { most };
            self.decisions = 0;
        } else if cwnd <= most - self.pad_buffer {
            if self.samples < SAMPLES_TO_GROW {
                return;
            }
            self.allows_growth = true;
            self.decisions += 1;
            if self.halvings > 0 && self.decisions > DECISIONS_TO_DOUBLE {
                self.halvings -= 1;
                self.decisions = 0;
            }
        } else {
            return;
        }
        (self.samples, self.rounds, self.max_rate) = (0, 0, 0.0);
        w.cwnd = w.cwnd.max(LEAST_CWND);
    }
}

impl CongestionControl for Nv {
    fn on_start(&mut self, _mss_bytes: u32, seed: u64) {
        self.random = Stream::new(seed, "nv");
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let delivered = self.departures.delivered_since(ack);
        let acked = ack.unacknowledged.saturating_sub(self.last);
        self.last = ack.unacknowledged;
        if let (Some(rtt), false) = (ack.rtt, self.suspended) {
            self.measure(ack.now, rtt.as_secs_f64(), delivered);
            if ack.unacknowledged > self.end {
                self.decide(ack, acked, w);
            }
        }
        if !self.allows_growth {
            return;
        }
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        let slower = f64::from(1_u32 << self.halvings);
        w.cwnd += standard_increase(w.cwnd.max(LEAST_COUNT), ack.acked) / slower;
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.suspended = true;
        self.allows_growth = false;
        if event.cause == Cause::Timeout {
            self.halvings = (self.halvings + 1).min(SLOWEST);
        }
        w.ssthresh = (self.left * w.cwnd).floor().max(1.0);
    }

    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {
        self.begin();
    }

    fn on_undo(&mut self, _w: &mut Window) {
        self.begin();
    }

    fn internals(&self, out: &mut Internals) {
        if self.min_rtt_s.is_finite() {
            out.push(("min_rtt_s", self.min_rtt_s));
            out.push(("wanted_window", self.max_rate * self.min_rtt_s + self.pad));
        }
        out.push(("grows", f64::from(u8::from(self.allows_growth))));
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::Path;
    use super::super::testing::{congestion, instance, loss, window, with_numbers};
    use super::*;

    fn nv() -> Nv {
        instance(&ROW, &[])
    }

    /// A flow that knows the path of 100 ms and 1000 segments a second, and has settled after a window of
    /// `cwnd`.
    fn settled(period_s: f64, cwnd: f64) -> (Nv, Path, Window) {
        let mut c = with_numbers(&ROW, &[("period", period_s)]);
        let (mut path, mut w) = (Path::new(0.1, 1000.0), window(50.0, 2.0));
        path.run(1.9, &mut c, &mut w);
        w.cwnd = cwnd;
        path.run(60.0, &mut c, &mut w);
        (c, path, w)
    }

    #[test]
    fn alone_it_keeps_eight_to_ten_segments_queued_without_a_loss() {
        // the path holds 100, and its own segment counts; growth ends 2 below the 10 that it may queue
        for cwnd in [60.0, 150.0] {
            let (_, _, w) = settled(1e4, cwnd);
            assert!((107.0..=112.0).contains(&w.cwnd), "from {cwnd}: {}", w.cwnd);
        }
    }

    #[test]
    fn each_new_min_rtt_counts_the_queue_that_stands_to_the_path() {
        // so does the kernel's: nothing drains the queue
        let (c, _, w) = settled(5.0, 100.0);
        assert!(w.cwnd > 130.0 && c.min_rtt_s > 0.12, "{} {}", w.cwnd, c.min_rtt_s);
    }

    #[test]
    fn a_decision_takes_38_of_128_of_the_excess() {
        // 1000 segments a second need 100 at 100 ms, 110 with the pad: 200 are 90 too many, of which it takes
        // 26
        let (mut c, mut w) = (nv(), window(200.0, 2.0));
        (c.max_rate, c.min_rtt_s, c.samples, c.rounds) = (1000.5, 0.1, 60, 1);
        let ack = Path::new(0.1, 1000.0).ack(0.2, 200.0);
        c.decide(&ack, 1, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (174.0, 110.0));
        assert!(!c.allows_growth);
        // an excess of 2 goes at once
        let (mut c, mut w) = (nv(), window(112.0, 2.0));
        (c.max_rate, c.min_rtt_s, c.samples, c.rounds) = (1000.5, 0.1, 60, 1);
        c.decide(&ack, 1, &mut w);
        assert_eq!(w.cwnd, 110.0);
    }

    #[test]
    fn sixty_samples_and_two_round_trips_are_wanted_before_it_shrinks_and_thirty_in_slow_start() {
        let ack = Path::new(0.1, 1000.0).ack(0.2, 200.0);
        for (ssthresh, samples, rounds, shrinks) in [
            (2.0, 59, 1, false),
            (2.0, 60, 0, false),
            (2.0, 60, 1, true),
            (f64::INFINITY, 29, 1, false),
            (f64::INFINITY, 30, 1, true),
        ] {
            let (mut c, mut w) = (nv(), window(200.0, ssthresh));
            (c.max_rate, c.min_rtt_s, c.samples, c.rounds) = (1000.5, 0.1, samples, rounds);
            c.decide(&ack, 1, &mut w);
            assert_eq!(w.cwnd < 200.0, shrinks, "{ssthresh} {samples} {rounds}");
        }
    }

    #[test]
    fn the_rate_is_of_what_arrived_since_the_acknowledged_segment_left() {
        // 100 others in flight: each acknowledgement finds them and its own segment delivered since that left
        let (mut departures, mut path) = (Departures::default(), Path::new(0.1, 1000.0));
        let seen: Vec<_> = (0..300).map(|_| departures.delivered_since(&path.ack(0.1, 100.0))).collect();
        assert_eq!(seen[..3], [1, 2, 3]);
        assert!(seen[101..].iter().all(|&n| n == 101), "{:?}", &seen[98..112]);
        assert!(departures.log.len() <= 102, "{}", departures.log.len());
    }

    #[test]
    fn a_loss_takes_a_fifth_and_growth_waits_for_a_decision() {
        let (mut c, mut path, mut w) = settled(1e4, 100.0);
        let cwnd = w.cwnd;
        path.lose(Cause::Loss, &mut c, &mut w);
        assert_eq!(w.cwnd, (cwnd * 819.0 / 1024.0).floor());
        let after = w.cwnd;
        path.run(0.05, &mut c, &mut w);
        assert_eq!(w.cwnd, after);
        path.run(1.0, &mut c, &mut w);
        assert!(w.cwnd > after, "{}", w.cwnd);
        let mut w = window(100.0, 2.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 79.0);
    }

    #[test]
    fn each_timeout_halves_growth_until_nine_decisions_double_it_again() {
        let mut c = nv();
        for _ in 0..2 {
            c.on_congestion(&congestion(Cause::Timeout), &mut window(50.0, 2.0));
        }
        c.on_recovered(Time::ZERO, &mut window(40.0, 2.0));
        assert_eq!(c.halvings, 2);
        let ack = Path::new(0.1, 1000.0).ack(0.1, 50.0);
        let grow = |c: &mut Nv| {
            (c.max_rate, c.min_rtt_s, c.samples) = (1000.5, 0.1, 20);
            c.decide(&ack, 1, &mut window(50.0, 2.0));
        };
        (0..8).for_each(|_| grow(&mut c));
        assert_eq!(c.halvings, 2);
        grow(&mut c);
        assert_eq!(c.halvings, 1);
    }

    #[test]
    fn a_longer_path_is_known_after_two_periods_at_most() {
        let (mut c, mut path, mut w) = settled(5.0, 100.0);
        path.base_s = 0.15;
        path.run(13.0, &mut c, &mut w);
        assert!(c.min_rtt_s > 0.14, "{}", c.min_rtt_s);
    }
}
