//! PCC Vivace (Dong, Meng, Zarchy, Arslan, Gilad, Godfrey, Schapira: PCC Vivace: Online-Learning Congestion
//! Control, NSDI 2018): the sender tries rates, computes the utility of each from what came back, and climbs
//! its gradient.
//!
//! ```text
//! u(x)   = x^0.9 - 900 x dRTT/dT - 11.35 x L            x in Mbit/s, L the share of lost segments
//! start  : the rate doubles until the utility falls
//! probe  : r (1 + 0.05) and r (1 - 0.05), twice, in random order; gradient = du / dx if both pairs agree
//! step   : dr = theta m(tau) gradient,  |dr| <= omega r,  omega = 0.05 + 0.06 k
//! move   : steps while the gradient from one rate to the next keeps its sign, then probe again
//! ```
//!
//! A segment, a repetition too, belongs to the interval in which it left; L is what was lost of what left
//! then. dRTT/dT is the slope of the round-trip times over the times at which their segments left, and counts
//! as 0 below 0.01. m grows with each step in the same direction. k counts steps that omega has cut; a
//! smaller step takes the least k that allows it, a turn 0. `variant = "loss"` leaves out dRTT/dT.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | exponent | 0.9 | | pcc_utility_manager.cpp, kSendingRateExponent | none |
//! | factor of dRTT/dT | 900 | | pcc_utility_manager.cpp, kLatencyCoefficient | falling round-trip times count, as in equation 1 |
//! | factor of L | 11.35 | | pcc_utility_manager.cpp, kVivaceLossCoefficient | branch NSDI-2018: 1 up to a loss of 3 % |
//! | least dRTT/dT | 0.01 | | paper, section 4.3 | branch NSDI-2018: 0.02 |
//! | probing step | 0.05 | of the rate | pcc_vivace_sender.cpp, kProbingStepSize | none |
//! | pairs of probes | 2 | | branch NSDI-2018, number_of_probes_ | 1 pair there after two equal steps |
//! | theta | 1 | Mbit/s per du/dx | branch NSDI-2018, factor | none |
//! | m, with a steps before | a + 1, 2 a - 2 from 3, 4 a - 14 from 6, 8 a - 50 from 9 | | branch NSDI-2018, decide | none |
//! | steps that a counts | 1, 1/2 above 3 | | branch NSDI-2018, decide | none |
//! | swing buffer | at most 2 | steps that a does not count after turns | branch NSDI-2018, decide | none |
//! | least omega, growth | 0.05, 0.06 | of the rate | branch NSDI-2018, initial_boundary, boundary_increment | none |
//! | monitor interval | 1 | srtt, at least 10 segments | paper, section 5; pcc_sender.cpp, kMinimumPacketsPerInterval | from memory of the paper, not verified |
//! | what a timeout leaves | 1/2 | of the rate | paper, section 4.3 | the sender's timeout, not one of an interval |
//! | first rate | initial window / RTT, 100 ms without | | pcc_sender.cpp, kInitialRtt | as the sender's own beginning |
//! | least rate | 2 | segments / srtt | chosen here | 0.5 Mbit/s in pcc_vivace_sender.cpp |
//! | greatest rate | 1 | Tbit/s | chosen here | 1024 Mbit/s in branch NSDI-2018 |
//! | window | 2 | rate srtt | chosen here | none in the published code |
//! | late segments that end an interval | 4 | segments | chosen here: losses are found by then | |
//!
//! The paper's rules were read as quoted in public notes on its text; files are those of the authors'
//! PCC-Uspace, on its main branch if the table names no other one. Megabits are 10^6 bits, of full packets;
//! 2^20 in that code.

use super::congestion_control::{
    Ack, Congestion, CongestionControl, Delivery, Internals, LostSegment, MOST_CWND, Opening, Window,
};
use super::row::{Properties, Row};
use crate::packet_sizes::{HEADER_BYTES, USUAL_MSS_BYTES};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Stream, Style, Time, math};
use std::collections::VecDeque;

const EXPONENT: f64 = 0.9;
const LOSS_FACTOR: f64 = 11.35;
const LATENCY_FACTOR: f64 = 900.0;
const LEAST_SLOPE: f64 = 0.01;
const PROBING_STEP: f64 = 0.05;
const PAIRS: usize = 2;
/// Mbit/s per unit of gradient.
const THETA: f64 = 1.0;
const SWING_BUFFER: u32 = 2;
const LEAST_BOUND: f64 = 0.05;
const BOUND_GROWTH: f64 = 0.06;
const INTERVAL_SEGMENTS: f64 = 10.0;
const LATE_SEGMENTS: u64 = 4;
const TIMEOUT_LEAVES: f64 = 0.5;
const USUAL_RTT: Interval = Interval::from_millis(100);
const LEAST_PER_RTT: f64 = 2.0;
/// Mbit/s.
const MOST_RATE: f64 = 1e6;
const WINDOW_GAIN: f64 = 2.0;
const LEAST_CWND: f64 = 10.0;

/// A flow, boxed: it remembers its monitor intervals.
pub type Boxed = Box<Vivace>;

/// The registry row.
pub const ROW: Row<Boxed> = Row {
    entry: Entry {
        name: "vivace",
        title: "PCC Vivace",
        aliases: &["pcc-vivace"],
        citation: "Dong, Meng, Zarchy, Arslan, Gilad, Godfrey, Schapira: PCC Vivace: Online-Learning Congestion \
                   Control, NSDI 2018",
        page: "vivace",
        parameters: &[Parameter::choice(
            "variant",
            &["latency", "loss"],
            "whether rising round-trip times lower the utility",
        )],
        style: Some(Style::new("#0e7490", "p")),
    },
    linux_module: None,
    properties: Properties { model_based: true, draws: true, paces: true, ..Properties::DEFAULT },
    build: Vivace::new,
};

/// u(x), with the rate in Mbit/s.
fn utility(rate: f64, slope: f64, loss: f64, latency_factor: f64) -> f64 {
    let slope = if slope.abs() < LEAST_SLOPE { 0.0 } else { slope };
    math::pow(rate, EXPONENT) - latency_factor * rate * slope - LOSS_FACTOR * rate * loss
}

/// m, after so many steps in the same direction.
fn amplifier(steps: f64) -> f64 {
    match steps {
        a if a < 3.0 => a + 1.0,
        a if a < 6.0 => 2.0 * a - 2.0,
        a if a < 9.0 => 4.0 * a - 14.0,
        a => 8.0 * a - 50.0,
    }
}

/// A straight line through points, by least squares.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Line {
    fn include(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    /// 0 with fewer than two points.
    fn slope(&self) -> f64 {
        let spread = self.n * self.xx - self.x * self.x;
        if self.n < 2.0 || spread <= 0.0 { 0.0 } else { (self.n * self.xy - self.x * self.y) / spread }
    }
}

/// Steps along the gradient.
#[derive(Clone, Copy, Debug, Default)]
struct Climb {
    up: Option<bool>,
    steps: f64,
    swing: u32,
    k: f64,
}

impl Climb {
    /// The change of the rate, Mbit/s.
    fn change(&mut self, gradient: f64, rate: f64) -> f64 {
        let up = gradient > 0.0;
        let turned = self.up.is_some_and(|before| before != up);
        let same = self.up == Some(up);
        self.up = Some(up);
        if turned {
            (self.steps, self.k) = (0.0, 0.0);
            self.swing = (self.swing + 1).min(SWING_BUFFER);
        }
        let wanted = THETA * amplifier(self.steps) * gradient;
        if same && self.swing > 0 {
            self.swing -= 1;
        } else if same {
            self.steps += if self.steps > 3.0 { 0.5 } else { 1.0 };
        }
        self.bound(wanted, rate)
    }

    fn bound(&mut self, wanted: f64, rate: f64) -> f64 {
        let most = (LEAST_BOUND + BOUND_GROWTH * self.k) * rate;
        if wanted.abs() > most {
            self.k += 1.0;
            return most.copysign(wanted);
        }
        self.k = ((wanted.abs() / rate - LEAST_BOUND) / BOUND_GROWTH).ceil().max(0.0);
        wanted
    }
}

/// Why a rate is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Purpose {
    Start,
    Probe {
        up: bool,
    },
    Move,
    /// Results are awaited.
    Wait,
}

/// A time in which segments leave at one rate, and what came of them.
#[derive(Clone, Copy, Debug)]
struct Monitor {
    /// Mbit/s.
    rate: f64,
    purpose: Purpose,
    start: Time,
    end: Option<Time>,
    /// The segments that had left when it began, and those that left in it, repetitions included.
    before: u64,
    sent: u64,
    lost: u64,
    /// Round-trip times over sending times, s.
    rtts: Line,
    /// The application or the receiver was limiting.
    limited: bool,
    /// Segments that left later and have arrived.
    late: u64,
}

impl Monitor {
    fn begin(rate: f64, purpose: Purpose, start: Time, before: u64) -> Self {
        Monitor {
            rate,
            purpose,
            start,
            end: None,
            before,
            sent: 0,
            lost: 0,
            rtts: Line::default(),
            limited: false,
            late: 0,
        }
    }

    /// Whether a segment that left at this time belongs to it.
    fn contains(&self, left: Time) -> bool {
        left >= self.start && self.end.is_none_or(|end| left < end)
    }

    fn include(&mut self, left: Time, d: &Delivery, least_rtt: Interval) {
        if self.contains(left) {
            let rtt = d.now.since(left);
            // a shorter one is of an earlier transmission (RFC 8985, section 6.2, step 2)
            if rtt >= least_rtt {
                self.rtts.include(left.since(self.start).as_secs_f64(), rtt.as_secs_f64());
            }
            self.limited |= d.app_limited || d.source_limited;
        } else if left >= self.start {
            self.late += d.newly_delivered;
        }
    }

    fn finish(&mut self, now: Time, sent: u64) {
        self.end = Some(now);
        self.sent = sent.saturating_sub(self.before);
    }

    fn is_complete(&self) -> bool {
        self.end.is_some() && self.late >= LATE_SEGMENTS
    }

    fn loss(&self) -> f64 {
        (self.lost as f64 / self.sent.max(1) as f64).min(1.0)
    }
}

/// What an interval says.
#[derive(Clone, Copy, Debug)]
struct Trial {
    rate: f64,
    utility: f64,
    loss: f64,
    up: bool,
}

impl Trial {
    fn gradient_from(&self, other: &Trial) -> f64 {
        (self.utility - other.utility) / (self.rate - other.rate)
    }
}

/// A PCC Vivace flow.
#[derive(Clone, Debug)]
pub struct Vivace {
    latency_factor: f64,
    random: Option<Stream>,
    /// A full packet, Mbit.
    packet: f64,
    /// Mbit/s.
    base: f64,
    monitors: VecDeque<Monitor>,
    planned: VecDeque<(f64, Purpose)>,
    /// The last trial of the start or of moving.
    last: Option<Trial>,
    probes: Vec<Trial>,
    /// A result that says less loss at a higher rate is being checked.
    rechecks: bool,
    climb: Climb,
    /// The segments that have left, repetitions included.
    sent: u64,
    srtt: Interval,
    /// The least round-trip time of segments that were sent once.
    least_rtt: Interval,
}

impl Vivace {
    fn new(p: &Parameters) -> Boxed {
        Box::new(Vivace {
            latency_factor: if p.word("variant") == "loss" { 0.0 } else { LATENCY_FACTOR },
            random: None,
            packet: 8e-6 * (USUAL_MSS_BYTES + HEADER_BYTES),
            base: 0.0,
            monitors: VecDeque::new(),
            planned: VecDeque::new(),
            last: None,
            probes: Vec::new(),
            rechecks: false,
            climb: Climb::default(),
            sent: 0,
            srtt: USUAL_RTT,
            least_rtt: Interval::MAX,
        })
    }

    /// The rate at which segments leave now, Mbit/s.
    fn rate(&self) -> f64 {
        self.monitors.back().map_or(self.base, |monitor| monitor.rate)
    }

    fn least_rate(&self) -> f64 {
        LEAST_PER_RTT * self.packet / self.srtt.as_secs_f64().max(1e-6)
    }

    fn set_base(&mut self, rate: f64) {
        self.base = rate.min(MOST_RATE).max(self.least_rate());
    }

    fn plan(&mut self, rate: f64, purpose: Purpose) {
        self.planned.push_back((rate, purpose));
    }

    fn probe(&mut self) {
        self.planned.clear();
        self.probes.clear();
        self.last = None;
        // what is still under way belongs to an earlier question
        self.monitors.iter_mut().for_each(|monitor| monitor.purpose = Purpose::Wait);
        for _ in 0..PAIRS {
            let first = self.random.as_mut().is_none_or(|random| random.below(2) == 0);
            for up in [first, !first] {
                let step = if up { PROBING_STEP } else { -PROBING_STEP };
                self.plan((1.0 + step) * self.base, Purpose::Probe { up });
            }
        }
    }

    /// Moves by a step from a trial.
    fn step(&mut self, gradient: f64, from: Trial) {
        let change = self.climb.change(gradient, from.rate);
        self.set_base(from.rate + change);
        self.last = Some(from);
        self.planned.clear();
        self.plan(self.base, Purpose::Move);
    }

    fn decide_probes(&mut self) {
        let probes = core::mem::take(&mut self.probes);
        let (up, down): (Vec<&Trial>, Vec<&Trial>) = probes.iter().partition(|trial| trial.up);
        let mean = |trials: &[&Trial], value: fn(&Trial) -> f64| {
            trials.iter().map(|trial| value(trial)).sum::<f64>() / trials.len() as f64
        };
        let better = up.iter().zip(&down).filter(|(up, down)| up.utility > down.utility).count();
        let abnormal = mean(&up, |t| t.loss) < mean(&down, |t| t.loss);
        let recheck = abnormal && !core::mem::replace(&mut self.rechecks, abnormal);
        if (better != 0 && better != PAIRS) || recheck {
            return self.probe();
        }
        self.rechecks = false;
        let (winners, losers) = if better == PAIRS { (&up, &down) } else { (&down, &up) };
        let [to, from] = [winners, losers].map(|trials| Trial {
            utility: mean(trials, |t| t.utility),
            loss: mean(trials, |t| t.loss),
            ..*trials[0]
        });
        self.step(to.gradient_from(&from), to);
    }

    fn learn(&mut self, monitor: &Monitor) {
        let up = monitor.purpose == Purpose::Probe { up: true };
        let (rate, loss) = (monitor.rate, monitor.loss());
        let trial =
            Trial { rate, utility: utility(rate, monitor.rtts.slope(), loss, self.latency_factor), loss, up };
        match (monitor.purpose, self.last) {
            (Purpose::Wait, _) => {}
            // what the application or the receiver limits says nothing of the path
            _ if monitor.limited => self.probe(),
            (Purpose::Start, last) if last.is_none_or(|last| trial.utility > last.utility) => {
                self.last = Some(trial);
                self.set_base(2.0 * rate);
                self.plan(self.base, Purpose::Start);
            }
            (Purpose::Start, _) => {
                self.set_base(0.5 * rate);
                self.probe();
            }
            (Purpose::Probe { .. }, _) => {
                self.probes.push(trial);
                if self.probes.len() == 2 * PAIRS {
                    self.decide_probes();
                }
            }
            (Purpose::Move, Some(last)) if (trial.rate - last.rate).abs() > 0.0 => {
                let gradient = trial.gradient_from(&last);
                let turns = self.climb.up != Some(gradient > 0.0);
                self.step(gradient, trial);
                if turns {
                    self.probe();
                }
            }
            (Purpose::Move, _) => self.probe(),
        }
    }

    /// Begins the next interval if the current one is over.
    fn advance(&mut self, now: Time) {
        let Some(current) = self.monitors.back() else { return };
        let lasts = Interval::from_secs_f64(INTERVAL_SEGMENTS * self.packet / current.rate).max(self.srtt);
        if current.purpose == Purpose::Wait {
            if self.planned.is_empty() {
                return;
            }
        } else if now.since(current.start) < lasts {
            return;
        }
        let (rate, purpose) = self.planned.pop_front().unwrap_or((self.base, Purpose::Wait));
        if let Some(current) = self.monitors.back_mut() {
            current.finish(now, self.sent);
        }
        self.monitors.push_back(Monitor::begin(rate, purpose, now, self.sent));
    }

    fn set_cwnd(&self, w: &mut Window) {
        w.cwnd =
            (WINDOW_GAIN * self.rate() / self.packet * self.srtt.as_secs_f64()).clamp(LEAST_CWND, MOST_CWND);
    }
}

impl CongestionControl for Vivace {
    fn on_start(&mut self, mss_bytes: u32, seed: u64) {
        self.packet = 8e-6 * (f64::from(mss_bytes) + HEADER_BYTES);
        self.random = Some(Stream::new(seed, "probes"));
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}

    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        self.srtt = opening.rtt.filter(|&rtt| rtt > Interval::ZERO).unwrap_or(USUAL_RTT);
        self.set_base(w.cwnd * self.packet / self.srtt.as_secs_f64());
        self.monitors.push_back(Monitor::begin(self.base, Purpose::Start, opening.now, 0));
    }

    fn on_delivery(&mut self, d: &Delivery, w: &mut Window) {
        if d.srtt > Interval::ZERO {
            self.srtt = d.srtt;
        }
        // what has left has arrived, is lost or is under way
        self.sent = d.total_delivered + d.total_lost + d.in_flight;
        self.least_rtt = self.least_rtt.min(d.rtt.unwrap_or(Interval::MAX));
        let least = self.least_rtt;
        if let Some(left) = d.left {
            self.monitors.iter_mut().for_each(|monitor| monitor.include(left, d, least));
        }
        while self.monitors.front().is_some_and(Monitor::is_complete) {
            if let Some(monitor) = self.monitors.pop_front() {
                self.learn(&monitor);
            }
        }
        self.advance(d.now);
        self.set_cwnd(w);
    }

    fn on_lost(&mut self, lost: &LostSegment, _: &mut Window) {
        if let Some(monitor) = self.monitors.iter_mut().find(|monitor| monitor.contains(lost.left)) {
            monitor.lost += 1;
        }
    }

    fn on_timeout(&mut self, now: Time, w: &mut Window) {
        self.set_base(TIMEOUT_LEAVES * self.base);
        self.climb = Climb::default();
        self.rechecks = false;
        self.monitors.clear();
        self.monitors.push_back(Monitor::begin(self.base, Purpose::Wait, now, self.sent));
        self.probe();
        self.set_cwnd(w);
    }

    fn pacing_rate(&self, _: &Window, _: Interval) -> Option<f64> {
        let rate = self.rate() / self.packet;
        (rate > 0.0).then_some(rate)
    }

    fn internals(&self, out: &mut Internals) {
        out.extend([("rate_bps", 1e6 * self.rate()), ("base_rate_bps", 1e6 * self.base)]);
    }
}

#[cfg(test)]
mod tests;
