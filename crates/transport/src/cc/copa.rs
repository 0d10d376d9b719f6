//! Copa (Arun, Balakrishnan: Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018): the
//! window moves towards a target rate that is inversely proportional to the queueing delay, and the queue
//! empties every few round trips, so that flows see the path's own delay.
//!
//! ```text
//! d_q      = RTTstanding - RTTmin
//! lambda_t = 1 / (delta d_q),   lambda = cwnd / RTTstanding
//! Ack      : cwnd <- cwnd + v / (delta cwnd)   if lambda <= lambda_t, else  cwnd - v / (delta cwnd)
//! window   : v <- 2 v  if the window moved as before, and had for three round trips;  1  if it turned
//! Slow-start: the window doubles each round trip until lambda > lambda_t
//! leaves   : paced at 2 cwnd / RTTstanding
//! default mode    : delta = 0.5
//! competitive mode: 1/delta + 1 a round trip without loss, 1/delta halved by a loss; delta is at most 0.5
//!                   (while no d_q of the last 5 round trips was below a tenth of RTTmax - RTTmin)
//! ```
//!
//! RTTstanding is the least round-trip time of the last srtt / 2, RTTmin of the last 10 s, and RTTmax the
//! greatest of the last four round trips. Losses matter only in competitive mode.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `delta` | 0.5 | 1 / segments | paper, section 2.2 | none |
//! | window of RTTstanding | 1/2 | srtt | paper, section 2.1 | none |
//! | window of RTTmin | 10 | s | paper, section 2.1 | genericCC: at least 20 RTTmin |
//! | equal directions before v doubles | 3 | round trips | paper, section 2.1; mvfst, Copa.cpp | none |
//! | pacing | 2 | cwnd / RTTstanding | paper, section 2.1 | none |
//! | nearly empty | 0.1 | of RTTmax - RTTmin | paper, section 2.2 | no queue at all counts too |
//! | memory of a nearly empty queue | 5 | round trips | paper, section 2.2 | genericCC: 4 |
//! | window of RTTmax | 4 | round trips | paper, section 2.2 | none |
//! | growth of 1/delta | 1 | segments a round trip | genericCC, update_delta | none |
//! | what a loss leaves of 1/delta | 1/2 | | genericCC, update_delta | none |
//! | v / delta | at most cwnd | segments | genericCC, update_intersend_time | the paper has no bound |
//! | turn while v > 1 | v <- 1 at once | | mvfst, Copa.cpp, changeDirection | the paper waits for the window's end |
//! | severe loss | 0.3 of at least 20 segments in 2 round trips | | genericCC, ReduceOnLoss | none |
//! | what severe loss leaves | 0.7 | of cwnd | genericCC, onACK | none |
//! | least window | 2 | segments | genericCC, update_intersend_time | none |
//! | timeout | slow-start, v = 1 | | chosen here | genericCC ignores it |
//!
//! The paper's rules were read as quoted, section by section, in public notes on its text; the rest is from
//! the authors' genericCC (markoviancc.cc, rtt-window.cc, estimators.cc) and Meta's mvfst (Copa.cpp). A round
//! trip is counted by deliveries for v, and is an srtt elsewhere. The round-trip time of the handshake does
//! not count, because its packets are small.

use super::congestion_control::{
    Ack, Congestion, CongestionControl, Delivery, Internals, LostSegment, Opening, Window,
};
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};
use std::collections::VecDeque;

const STANDING_SRTTS: f64 = 0.5;
const LEAST_RTT_WINDOW: Interval = Interval::from_millis(10_000);
const EQUAL_DIRECTIONS: u32 = 3;
const PACING_GAIN: f64 = 2.0;
const NEARLY_EMPTY: f64 = 0.1;
const EMPTY_SRTTS: f64 = 5.0;
const GREATEST_SRTTS: f64 = 4.0;
/// The share of lost segments above which the window shrinks, in a period of at least so many segments and
/// srtts.
const SEVERE_LOSS: f64 = 0.3;
const SEVERE_SEGMENTS: u64 = 20;
const SEVERE_SRTTS: f64 = 2.0;
const SEVERE_LEFT: f64 = 0.7;
const LEAST_CWND: f64 = 2.0;

/// A flow, boxed: it remembers round-trip times.
pub type Boxed = Box<Copa>;

/// The registry row.
pub const ROW: Row<Boxed> = Row {
    entry: Entry {
        name: "copa",
        title: "Copa",
        aliases: &[],
        citation: "Arun, Balakrishnan: Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018",
        page: "copa",
        parameters: &[
            Parameter::number(
                "delta",
                0.5,
                (1e-4, 10.0),
                "1/segments",
                "aversion to delay in the default mode",
            ),
            Parameter::flag("competes", true, "competitive mode beside flows that keep a queue"),
        ],
        style: Some(Style::new("#b5651d", "P")),
    },
    linux_module: None,
    properties: Properties { model_based: true, paces: true, ..Properties::DEFAULT },
    build: Copa::new,
};

/// The least or the greatest of recent round-trip times. It keeps those that no later one replaces.
#[derive(Clone, Debug)]
struct Recent {
    kept: VecDeque<(Time, Interval)>,
    replaces: fn(&Interval, &Interval) -> bool,
}

impl Recent {
    fn least() -> Self {
        Recent { kept: VecDeque::new(), replaces: |new, old| new <= old }
    }

    fn greatest() -> Self {
        Recent { kept: VecDeque::new(), replaces: |new, old| new >= old }
    }

    fn include(&mut self, now: Time, rtt: Interval) {
        while self.kept.back().is_some_and(|(_, old)| (self.replaces)(&rtt, old)) {
            self.kept.pop_back();
        }
        self.kept.push_back((now, rtt));
    }

    /// The extreme of the last `window`; of the last sample if that is older, and none without samples.
    fn get(&mut self, now: Time, window: Interval) -> Option<Interval> {
        while self.kept.len() > 1 && self.kept.front().is_some_and(|&(at, _)| now.since(at) > window) {
            self.kept.pop_front();
        }
        self.kept.front().map(|&(_, rtt)| rtt)
    }
}

/// What the round-trip times say now.
#[derive(Clone, Copy, Debug)]
struct Delays {
    standing: Interval,
    least: Interval,
    greatest: Interval,
}

impl Delays {
    /// d_q.
    fn queueing(&self) -> Interval {
        self.standing.saturating_sub(self.least)
    }

    fn is_nearly_empty(&self) -> bool {
        self.queueing() <= self.greatest.saturating_sub(self.least).scale(NEARLY_EMPTY)
    }

    /// Whether a window of so many segments sends at most at the target rate.
    fn lets_grow(&self, cwnd: f64, delta: f64) -> bool {
        cwnd * delta * self.queueing().as_secs_f64() <= self.standing.as_secs_f64()
    }
}

/// The velocity and the direction that it follows.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    v: f64,
    /// Unknown before the first round trip has ended.
    up: Option<bool>,
    /// How often the direction has been the same as before.
    equal: u32,
    /// The window when the round trip began.
    cwnd: f64,
    /// The round trip ends with a segment that left when this much had been delivered.
    round_end: u64,
}

impl Velocity {
    fn begin(cwnd: f64, round_end: u64) -> Self {
        Velocity { v: 1.0, up: None, equal: 0, cwnd, round_end }
    }

    fn turn(&mut self, up: bool) {
        (self.v, self.up, self.equal) = (1.0, Some(up), 0);
    }

    /// A round trip has ended with this window.
    fn end_round(&mut self, cwnd: f64, delivered: u64) {
        let up = cwnd > self.cwnd;
        if self.up == Some(up) {
            self.equal += 1;
            if self.equal >= EQUAL_DIRECTIONS {
                self.v *= 2.0;
            }
        } else {
            self.turn(up);
        }
        (self.cwnd, self.round_end) = (cwnd, delivered);
    }
}

/// Competitive mode: 1/delta follows additive increase and multiplicative decrease.
#[derive(Clone, Copy, Debug)]
struct Competition {
    inverse_delta: f64,
    grown_at: Time,
    halved_at: Option<Time>,
}

impl Competition {
    fn follow(&mut self, now: Time, lost: bool, srtt: Interval, least: f64) {
        if lost {
            if self.halved_at.is_none_or(|at| now.since(at) > srtt) {
                self.inverse_delta = (0.5 * self.inverse_delta).max(least);
                (self.halved_at, self.grown_at) = (Some(now), now);
            }
        } else if now.since(self.grown_at) > srtt {
            self.inverse_delta += 1.0;
            self.grown_at = now;
        }
    }
}

/// Losses of the last few round trips.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    since: Time,
    lost: u64,
    segments: u64,
}

impl Losses {
    /// Counts; returns whether a period with severe loss has ended.
    fn count(&mut self, d: &Delivery) -> bool {
        self.lost += d.newly_lost;
        self.segments += d.newly_delivered + d.newly_lost;
        if self.segments <= SEVERE_SEGMENTS || d.now.since(self.since) <= d.srtt.scale(SEVERE_SRTTS) {
            return false;
        }
        let severe = self.lost as f64 > SEVERE_LOSS * self.segments as f64;
        *self = Losses { since: d.now, ..Losses::default() };
        severe
    }
}

/// A Copa flow.
#[derive(Clone, Debug)]
pub struct Copa {
    delta: f64,
    competes: bool,
    standing: Recent,
    least: Recent,
    greatest: Recent,
    delays: Option<Delays>,
    slow_start: bool,
    velocity: Velocity,
    /// When the queue was nearly empty the last time.
    empty_at: Time,
    competition: Option<Competition>,
    losses: Losses,
    /// A segment was found lost since the last acknowledgement.
    lost: bool,
}

impl Copa {
    fn new(p: &Parameters) -> Boxed {
        Box::new(Copa {
            delta: p.number("delta"),
            competes: p.flag("competes"),
            standing: Recent::least(),
            least: Recent::least(),
            greatest: Recent::greatest(),
            delays: None,
            slow_start: true,
            velocity: Velocity::begin(0.0, 0),
            empty_at: Time::ZERO,
            competition: None,
            losses: Losses::default(),
            lost: false,
        })
    }

    /// Aversion to delay in the mode that it is in.
    fn delta(&self) -> f64 {
        self.competition.map_or(self.delta, |c| 1.0 / c.inverse_delta)
    }

    fn measure(&mut self, d: &Delivery) -> Option<Delays> {
        if let Some(rtt) = d.rtt {
            for recent in [&mut self.standing, &mut self.least, &mut self.greatest] {
                recent.include(d.now, rtt);
            }
        }
        self.delays = Some(Delays {
            standing: self.standing.get(d.now, d.srtt.scale(STANDING_SRTTS))?,
            least: self.least.get(d.now, LEAST_RTT_WINDOW)?,
            greatest: self.greatest.get(d.now, d.srtt.scale(GREATEST_SRTTS))?,
        });
        self.delays
    }

    fn choose_mode(&mut self, d: &Delivery, delays: &Delays, lost: bool) {
        if delays.is_nearly_empty() || !self.competes {
            self.empty_at = d.now;
        }
        if d.now.since(self.empty_at) <= d.srtt.scale(EMPTY_SRTTS) {
            self.competition = None;
            return;
        }
        let least = 1.0 / self.delta;
        self.competition
            .get_or_insert(Competition { inverse_delta: least, grown_at: d.now, halved_at: None })
            .follow(d.now, lost, d.srtt, least);
    }

    fn move_window(&mut self, d: &Delivery, delays: &Delays, w: &mut Window) {
        let (delta, acked) = (self.delta(), d.newly_delivered as f64);
        let up = delays.lets_grow(w.cwnd, delta);
        if up && (d.app_limited || !d.may_grow) {
            return;
        }
        if self.slow_start {
            if up {
                w.cwnd += acked;
                return;
            }
            self.slow_start = false;
            w.ssthresh = w.cwnd;
            self.velocity = Velocity::begin(w.cwnd, d.total_delivered);
        } else if d.prior_delivered.is_some_and(|prior| prior >= self.velocity.round_end) {
            self.velocity.end_round(w.cwnd, d.total_delivered);
        }
        if self.velocity.up != Some(up) && self.velocity.v > 1.0 {
            self.velocity.turn(up);
        }
        self.velocity.v = self.velocity.v.min(delta * w.cwnd).max(1.0);
        let step = self.velocity.v * acked / (delta * w.cwnd);
        w.cwnd = if up { w.cwnd + step } else { (w.cwnd - step).max(LEAST_CWND) };
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}

    fn on_open(&mut self, opening: &Opening, _: &mut Window) {
        self.empty_at = opening.now;
        self.losses.since = opening.now;
    }

    fn on_delivery(&mut self, d: &Delivery, w: &mut Window) {
        let lost = core::mem::take(&mut self.lost);
        if let Some(delays) = self.measure(d) {
            self.choose_mode(d, &delays, lost);
            if d.newly_delivered > 0 {
                self.move_window(d, &delays, w);
            }
        }
        if self.losses.count(d) {
            w.cwnd *= SEVERE_LEFT;
        }
        w.cwnd = w.cwnd.max(LEAST_CWND);
    }

    fn on_lost(&mut self, _: &LostSegment, _: &mut Window) {
        self.lost = true;
    }

    fn on_timeout(&mut self, _: Time, w: &mut Window) {
        self.slow_start = true;
        w.ssthresh = f64::INFINITY;
    }

    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        let rtt = self.delays.map_or(srtt, |delays| delays.standing);
        let rate = PACING_GAIN * w.cwnd / rtt.as_secs_f64();
        rate.is_finite().then_some(rate)
    }

    fn internals(&self, out: &mut Internals) {
        out.extend([("delta", self.delta()), ("velocity", self.velocity.v)]);
        if let Some(delays) = self.delays {
            out.push(("queueing_delay_s", delays.queueing().as_secs_f64()));
        }
        out.push(("competing", f64::from(u8::from(self.competition.is_some()))));
    }
}

#[cfg(test)]
mod tests;
