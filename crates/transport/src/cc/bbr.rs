//! BBR, version 1 (Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson: BBR: Congestion-Based Congestion Control,
//! ACM Queue 14(5), 2016), as in Linux net/ipv4/tcp_bbr.c.
//!
//! ```text
//! bw      = max of the delivery rates of the last 10 round trips
//! min_rtt = min of the round-trip times of the last 10 s
//! pacing rate = pacing_gain bw 0.99
//! target      = cwnd_gain bw min_rtt + extra_acked, + 3 send quanta, up to an even number
//! each ACK:  cwnd <- min(cwnd + acked, target) once the pipe was full; before, cwnd grows while below target
//!
//! STARTUP    gains 2.89          until bw has not grown by 1/4 for 3 round trips
//! DRAIN      pacing gain 1/2.89  until in flight <= bw min_rtt
//! PROBE_BW   pacing gain 1.25, .75, 1 x 6, each for a min_rtt; cwnd gain 2
//! PROBE_RTT  when min_rtt is 10 s old: 4 segments in flight, for 200 ms and a round trip
//! ```
//! Losses move only the window: each takes a segment; the first round trip of a recovery conserves packets,
//! and its end restores the window. `policer` detects policers, `aggregation` bursts of acknowledgements.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | gain of STARTUP | 739/256 | | tcp_bbr.c, bbr_high_gain: 2/ln 2 in 8 bits | none |
//! | gain of DRAIN | 88/256 | | tcp_bbr.c, bbr_drain_gain | none |
//! | cycle of pacing gains | 5/4, 3/4, 1 x 6 | | tcp_bbr.c, bbr_pacing_gain | none |
//! | first phase of the cycle | any but 3/4 | | tcp_bbr.c, bbr_cycle_rand 7 | drawn from the flow's own stream |
//! | cwnd gain of PROBE_BW | 2 | | tcp_bbr.c, bbr_cwnd_gain | none |
//! | pacing margin | 1 | % | tcp_bbr.c, bbr_pacing_margin_percent | none |
//! | window of bw | 10 | round trips | tcp_bbr.c, bbr_bw_rtts | none |
//! | window of min_rtt | 10 | s | tcp_bbr.c, bbr_min_rtt_win_sec | exact times; Linux counts jiffies |
//! | PROBE_RTT | 200 | ms | tcp_bbr.c, bbr_probe_rtt_mode_ms | exact times |
//! | least window | 4 | segments | tcp_bbr.c, bbr_cwnd_min_target | none |
//! | full pipe | 1.25, 3 | , round trips | tcp_bbr.c, bbr_full_bw_thresh, bbr_full_bw_cnt | none |
//! | most extra_acked | 100 | ms of bw | tcp_bbr.c, bbr_extra_acked_max_us | none |
//! | initial pacing rate | 2.89 cwnd / RTT, 1 ms without | | tcp_bbr.c, bbr_init_pacing_rate_from_rtt | the first 10 segments are paced too |
//! | send quantum | pacing rate 1.024^-1 ms, at least 2 segments (1 below 1.2 Mbit/s), at most 64 KiB | | tcp_bbr.c, bbr_tso_segs_goal; sk_pacing_shift 10 | a quantum that the window cuts is sent, not deferred |
//! | window without a round-trip time | 10 | segments | tcp_bbr.c, TCP_INIT_CWND | none |
//!
//! Rates and times are exact (f64, nanoseconds); Linux has 24-bit fractions and microseconds. An expired
//! min_rtt takes any sample; Linux skips those of a delayed acknowledgement of a last short segment.

mod policer;

use super::aggregation::{Aggregation, WINDOW_ROUNDS};
use super::congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Delivery, Internals, LostSegment, Opening, Repair, Window,
};
use super::row::{Properties, Row};
use super::windowed::WindowedMax;
use crate::packet_sizes::USUAL_MSS_BYTES;
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Interval, Stream, Style, Time};
use policer::{News, Policer, Verdict};

const HIGH_GAIN: f64 = 739.0 / 256.0;
const DRAIN_GAIN: f64 = 88.0 / 256.0;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The starting phase of the cycle is one of this many.
const STARTING_PHASES: u64 = 7;
const PROBE_BW_CWND_GAIN: f64 = 2.0;
const PACING_MARGIN: f64 = 0.99;
const BW_ROUNDS: u64 = CYCLE.len() as u64 + 2;
const MIN_RTT_WINDOW: Interval = Interval::from_millis(10_000);
const PROBE_RTT_TIME: Interval = Interval::from_millis(200);
const LEAST_CWND: f64 = 4.0;
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
const MOST_EXTRA_S: f64 = 0.1;
/// TCP_INIT_CWND.
const INITIAL_CWND: f64 = 10.0;
const NOMINAL_RTT: Interval = Interval::from_millis(1);
/// Linux sk_pacing_shift: a quantum takes a second divided by 2 to this power.
const QUANTUM_S: f64 = 1.0 / 1024.0;
const MOST_QUANTUM_BYTES: f64 = 65_536.0;
/// Below this rate a quantum may be a single segment, bytes per second.
const SLOW_BYTES_PER_S: f64 = 1_200_000.0 / 8.0;

/// A flow, boxed: it is much larger than those of other algorithms.
pub type Boxed = Box<Bbr>;

/// The registry row.
pub const ROW: Row<Boxed> = Row {
    entry: Entry {
        name: "bbr",
        title: "BBR v1",
        aliases: &["bbr1", "bbrv1"],
        citation: "Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson: BBR: Congestion-Based Congestion Control, ACM Queue \
                   14(5), 2016",
        page: "bbr",
        parameters: &[],
        style: Some(Style::new("#1a73e8", "o")),
    },
    linux_module: Some("bbr"),
    properties: Properties { model_based: true, draws: true, paces: true, ..Properties::DEFAULT },
    build: Bbr::new,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// A BBR flow.
#[derive(Clone, Debug)]
pub struct Bbr {
    mss_bytes: f64,
    random: Option<Stream>,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// Segments per second; the rate at which segments leave.
    pacing_rate: f64,
    /// The initial rate came from a round-trip time.
    has_seen_rtt: bool,
    /// Segments per second.
    bw: WindowedMax,
    policer: Policer,
    aggregation: Aggregation,
    min_rtt: Interval,
    min_rtt_at: Time,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    /// PROBE_RTT keeps the path empty.
    holds_back: bool,
    rounds: u64,
    /// The round trip ends with a segment that left when this much had been delivered.
    round_end: u64,
    round_start: bool,
    cycle_index: usize,
    cycle_at: Time,
    full_bw: f64,
    full_bw_rounds: u32,
    full_bw_reached: bool,
    idle_restart: bool,
    /// The repair at the last acknowledgement that delivered something.
    repair: Repair,
    conserves: bool,
    /// The window before a recovery or PROBE_RTT cut it.
    prior_cwnd: f64,
    delivered: u64,
    delivered_at: Time,
    lost: u64,
}

/// The segments that fill a path: rounded up, so that rounding does not feed back into the estimate.
fn bdp(bw: f64, min_rtt: Interval, gain: f64) -> f64 {
    if min_rtt == Interval::MAX { INITIAL_CWND } else { (gain * bw * min_rtt.as_secs_f64()).ceil() }
}

/// The segments that leave together at a pacing rate in segments per second.
fn quantum(pacing_rate: f64, mss_bytes: f64) -> f64 {
    let bytes_per_s = pacing_rate * mss_bytes;
    let least = if bytes_per_s < SLOW_BYTES_PER_S { 1.0 } else { 2.0 };
    ((bytes_per_s * QUANTUM_S).min(MOST_QUANTUM_BYTES) / mss_bytes).floor().max(least)
}

impl Bbr {
    fn new(_: &Parameters) -> Boxed {
        Box::new(Bbr {
            mss_bytes: USUAL_MSS_BYTES,
            random: None,
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            pacing_rate: HIGH_GAIN * INITIAL_CWND * PACING_MARGIN / NOMINAL_RTT.as_secs_f64(),
            has_seen_rtt: false,
            bw: WindowedMax::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            min_rtt: Interval::MAX,
            min_rtt_at: Time::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            holds_back: false,
            rounds: 0,
            round_end: 0,
            round_start: false,
            cycle_index: 0,
            cycle_at: Time::ZERO,
            full_bw: 0.0,
            full_bw_rounds: 0,
            full_bw_reached: false,
            idle_restart: false,
            repair: Repair::None,
            conserves: false,
            prior_cwnd: 0.0,
            delivered: 0,
            delivered_at: Time::ZERO,
            lost: 0,
        })
    }

    /// The bandwidth to use: that of the policer, if there is one.
    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bw.get())
    }

    /// bbr_init_pacing_rate_from_rtt.
    fn initial_rate(&mut self, cwnd: f64, rtt: Option<Interval>) {
        self.has_seen_rtt = rtt.is_some();
        let rtt = rtt.unwrap_or(NOMINAL_RTT).max(Interval::from_ns(1000));
        self.pacing_rate = HIGH_GAIN * PACING_MARGIN * cwnd / rtt.as_secs_f64();
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * PACING_MARGIN * self.bw();
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Room for what waits in the hosts' offload engines and for delayed acknowledgements.
    fn quantization_budget(&self, segments: f64) -> f64 {
        let budget = segments + 3.0 * quantum(self.pacing_rate, self.mss_bytes);
        let even = 2.0 * (budget / 2.0).ceil();
        // probing must exceed even a small BDP
        if self.mode == Mode::ProbeBw && self.cycle_index == 0 { even + 2.0 } else { even }
    }

    /// What is in flight if the path is filled this many times.
    fn inflight(&self, gain: f64) -> f64 {
        self.quantization_budget(bdp(self.bw.get(), self.min_rtt, gain))
    }

    /// What will be in the network when pacing lets the next quantum leave, of `in_flight` segments now.
    fn in_network(&self, d: &Delivery, in_flight: u64) -> f64 {
        let delivered = (self.bw() * d.next_departure.since(d.now).as_secs_f64()).floor();
        let departs = if self.pacing_gain > 1.0 { quantum(self.pacing_rate, self.mss_bytes) } else { 0.0 };
        (in_flight as f64 + departs - delivered).max(0.0)
    }

    fn enter_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        let skipped = self.random.as_mut().map_or(0, |random| random.below(STARTING_PHASES));
        self.cycle_index = CYCLE.len() - 1 - skipped as usize;
        self.advance_cycle();
    }

    fn advance_cycle(&mut self) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.cycle_at = self.delivered_at;
    }

    fn save_cwnd(&mut self, cwnd: f64) {
        let cut = self.repair != Repair::None || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }

    fn sample_policer(&mut self, lossy: bool, app_limited: bool) {
        let verdict = self.policer.sample(&News {
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            lossy,
            app_limited,
            round_start: self.round_start,
            probing: self.mode == Mode::ProbeBw,
            bytes_per_segment: PACING_MARGIN * self.mss_bytes,
        });
        match verdict {
            Verdict::Nothing => {}
            Verdict::Policed => self.pacing_gain = 1.0,
            Verdict::Released => self.enter_probe_bw(),
        }
    }

    fn update_bw(&mut self, d: &Delivery) {
        self.round_start = false;
        let (Some(rate), Some(prior)) = (d.rate, d.prior_delivered) else { return };
        if prior >= self.round_end {
            self.round_end = d.total_delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserves = false;
        }
        self.sample_policer(d.newly_lost > 0, d.app_limited);
        // what the application limits says little of the path, unless it is more than was known
        if !d.app_limited || rate >= self.bw.get() {
            self.bw.include(BW_ROUNDS, self.rounds, rate);
        }
    }

    fn update_aggregation(&mut self, d: &Delivery, cwnd: f64) {
        if d.newly_delivered > 0 && d.rate.is_some() {
            if self.round_start {
                self.aggregation.end_round(WINDOW_ROUNDS);
            }
            let (acked, rate) = (d.newly_delivered as f64, self.bw());
            self.aggregation.update(self.delivered_at, acked, rate, cwnd);
        }
    }

    fn is_next_phase(&self, d: &Delivery) -> bool {
        let lasted = self.delivered_at.since(self.cycle_at) > self.min_rtt;
        let in_network = || self.in_network(d, d.prior_in_flight);
        if self.pacing_gain > 1.0 {
            // until the path holds what probing should put there, or loses some of it
            lasted && (d.newly_lost > 0 || in_network() >= self.inflight(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            lasted || in_network() <= self.inflight(1.0)
        } else {
            lasted
        }
    }

    fn check_full_bw(&mut self, d: &Delivery) {
        if self.full_bw_reached || !self.round_start || d.app_limited {
            return;
        }
        if self.bw.get() >= FULL_BW_GROWTH * self.full_bw {
            (self.full_bw, self.full_bw_rounds) = (self.bw.get(), 0);
            return;
        }
        self.full_bw_rounds += 1;
        self.full_bw_reached = self.full_bw_rounds >= FULL_BW_ROUNDS;
    }

    fn check_drain(&mut self, d: &Delivery, w: &mut Window) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            w.ssthresh = self.inflight(1.0);
        }
        if self.mode == Mode::Drain && self.in_network(d, d.in_flight) <= self.inflight(1.0) {
            self.enter_probe_bw();
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time, w: &mut Window) {
        if self.probe_rtt_until.is_some_and(|until| now > until) {
            self.min_rtt_at = now;
            w.cwnd = w.cwnd.max(self.prior_cwnd);
            if self.full_bw_reached {
                self.enter_probe_bw();
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    fn update_min_rtt(&mut self, d: &Delivery, w: &mut Window) {
        let expired = d.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = d.rtt.filter(|&rtt| rtt <= self.min_rtt || expired) {
            (self.min_rtt, self.min_rtt_at) = (rtt, d.now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(w.cwnd);
            self.probe_rtt_until = None;
        }
        self.holds_back = self.mode == Mode::ProbeRtt;
        if self.holds_back {
            if self.probe_rtt_until.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(d.now, w);
                }
            } else if d.in_flight as f64 <= LEAST_CWND {
                self.probe_rtt_until = Some(d.now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.round_end = d.total_delivered;
            }
        }
        self.idle_restart &= d.delivered == 0;
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.rate().is_some() => (1.0, PROBE_BW_CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle_index], PROBE_BW_CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// Moves the window where recovery begins, goes on or ends. Returns whether packets are conserved.
    fn recover_or_restore(&mut self, d: &Delivery, w: &mut Window) -> bool {
        let conserved = (d.in_flight + d.newly_delivered) as f64;
        w.cwnd = (w.cwnd - d.newly_lost as f64).max(1.0);
        let before = core::mem::replace(&mut self.repair, d.repair);
        if d.repair == Repair::Recovery && before != Repair::Recovery {
            self.conserves = true;
            self.round_end = d.total_delivered;
            w.cwnd = conserved;
        } else if d.repair == Repair::None && before != Repair::None {
            w.cwnd = w.cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        if self.conserves {
            w.cwnd = w.cwnd.max(conserved);
        }
        self.conserves
    }

    fn set_cwnd(&mut self, d: &Delivery, w: &mut Window) {
        let acked = d.newly_delivered as f64;
        if acked > 0.0 && !self.recover_or_restore(d, w) {
            let bw = self.bw();
            let mut target = bdp(bw, self.min_rtt, self.cwnd_gain);
            if self.full_bw_reached {
                target += self.aggregation.extra().floor().min((bw * MOST_EXTRA_S).floor());
            }
            target = self.quantization_budget(target);
            if self.full_bw_reached {
                w.cwnd = (w.cwnd + acked).min(target);
            } else if w.cwnd < target || (d.total_delivered as f64) < INITIAL_CWND {
                w.cwnd += acked;
            }
            w.cwnd = w.cwnd.max(LEAST_CWND);
        }
        if self.mode == Mode::ProbeRtt {
            w.cwnd = w.cwnd.min(LEAST_CWND);
        }
    }
}

impl CongestionControl for Bbr {
    fn on_start(&mut self, mss_bytes: u32, seed: u64) {
        self.mss_bytes = f64::from(mss_bytes);
        self.random = Some(Stream::new(seed, "cycle"));
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        self.min_rtt = opening.rtt.unwrap_or(Interval::MAX);
        self.min_rtt_at = opening.now;
        self.delivered_at = opening.now;
        self.aggregation.restart(opening.now);
        self.initial_rate(w.cwnd, opening.rtt);
    }

    fn on_delivery(&mut self, d: &Delivery, w: &mut Window) {
        if d.newly_delivered > 0 {
            (self.delivered, self.delivered_at) = (d.total_delivered, d.now);
        }
        self.update_bw(d);
        self.update_aggregation(d, w.cwnd);
        if self.mode == Mode::ProbeBw && self.is_next_phase(d) {
            self.advance_cycle();
        }
        self.check_full_bw(d);
        self.check_drain(d, w);
        self.update_min_rtt(d, w);
        self.update_gains();
        if !self.has_seen_rtt && d.srtt > Interval::ZERO {
            self.initial_rate(w.cwnd, Some(d.srtt));
        }
        self.set_pacing_rate(self.pacing_gain);
        self.set_cwnd(d, w);
    }

    fn on_lost(&mut self, _: &LostSegment, _: &mut Window) {
        self.lost += 1;
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        if event.cause != Cause::Mark {
            self.save_cwnd(w.cwnd);
        }
    }

    fn on_timeout(&mut self, _: Time, _: &mut Window) {
        self.repair = Repair::Timeout;
        self.full_bw = 0.0;
        self.round_start = true;
        self.sample_policer(true, false);
    }

    fn on_undo(&mut self, _: &mut Window) {
        (self.full_bw, self.full_bw_rounds) = (0.0, 0);
        self.policer.reset();
    }

    fn on_restart(&mut self, now: Time, _: Option<Time>, w: &mut Window) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(now, w),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    #[inline]
    fn pacing_rate(&self, _: &Window, _: Interval) -> Option<f64> {
        Some(self.pacing_rate)
    }

    #[inline]
    fn send_quantum(&self) -> f64 {
        quantum(self.pacing_rate, self.mss_bytes)
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("bw_pps", self.bw()));
        if self.min_rtt != Interval::MAX {
            out.push(("min_rtt_s", self.min_rtt.as_secs_f64()));
        }
        out.push(("pacing_gain", self.pacing_gain));
        out.push(("cwnd_gain", self.cwnd_gain));
    }
}

#[cfg(test)]
mod tests;
