//! The state machine (draft-ietf-ccwg-bbr, section "State Machine Operation").

use super::{AckPhase, Bbr3, Delivery, Interval, MIN_PIPE_CWND, Repair, State, Stream, Time, Window};

const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
/// BBRStartupFullLossCnt.
const STARTUP_FULL_LOSSES: u32 = 6;
const MOST_DRAIN_ROUNDS: u64 = 3;
const MIN_RTT_FILTER_LEN: Interval = Interval::from_millis(10_000);
const PROBE_RTT_INTERVAL: Interval = Interval::from_millis(5_000);
const PROBE_RTT_DURATION: Interval = Interval::from_millis(200);
/// The wait before the next probe: this, and a random part of a second.
const LEAST_PROBE_WAIT_S: f64 = 2.0;
/// The most round trips between probes, and how many values their random beginning has.
const MOST_PROBE_ROUNDS: f64 = 63.0;
const RANDOM_ROUNDS: u64 = 2;
const MOST_UP_ROUNDS: u32 = 30;

impl Bbr3 {
    pub(super) const fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    pub(super) const fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// Startup or UP: whether the rate has not grown by a quarter in three round trips.
    pub(super) fn check_full_bw_reached(&mut self, d: &Delivery) {
        let waits = !self.round_start && !self.google;
        if self.full_bw_now || waits || d.app_limited || d.rate.is_none() {
            return;
        }
        if self.rate >= FULL_BW_GROWTH * self.full_bw {
            self.reset_full_bw();
            self.full_bw = self.rate;
            return;
        }
        if self.round_start {
            self.full_bw_count += 1;
            self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
            self.full_bw_reached |= self.full_bw_now;
        }
    }

    pub(super) fn check_startup_done(&mut self, d: &Delivery, w: &mut Window) {
        if self.state == State::Startup {
            self.check_startup_high_loss(d);
            if self.full_bw_reached {
                self.state = State::Drain;
                self.drain_start_round = self.rounds;
                w.ssthresh = self.inflight(self.max_bw(), 1.0); // for display
                if self.google {
                    self.reset_congestion_signals();
                }
            }
        }
    }

    /// CheckStartupHighLoss, at the end of a round trip of fast recovery; without SACK any loss suffices.
    fn check_startup_high_loss(&mut self, d: &Delivery) {
        let recovering = d.repair == Repair::Recovery;
        let high = if self.selective {
            self.loss_round_start
                && self.losses_in_round >= STARTUP_FULL_LOSSES
                && self.is_inflight_too_high(d.lost, d.tx_in_flight)
        } else {
            d.newly_lost > 0
        };
        if self.full_bw_reached || !recovering || !high {
            return;
        }
        let bdp =
            if self.google { self.inflight(self.max_bw(), 1.0) } else { self.bdp_multiple(self.bw(), 1.0) };
        self.undo.state = Some(State::Startup);
        self.full_bw_now |= !self.google;
        self.full_bw_reached = true;
        self.inflight_longterm = bdp.max(self.inflight_latest);
    }

    pub(super) fn check_drain_done(&mut self, d: &Delivery) {
        if self.state != State::Drain {
            return;
        }
        let done = if self.google {
            self.in_network(d, d.in_flight) <= self.inflight(self.max_bw(), 1.0)
        } else {
            let late = self.rounds > self.drain_start_round + MOST_DRAIN_ROUNDS;
            d.in_flight as f64 <= self.inflight(self.bw, 1.0) || late
        };
        if done {
            self.start_down(d.now);
        }
    }

    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle_at = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::Down;
    }

    fn pick_probe_wait(&mut self) {
        let draw = |random: &mut Stream| (random.below(RANDOM_ROUNDS), random.unit());
        let (rounds, second) = self.random.as_mut().map_or((0, 0.0), draw);
        self.rounds_since_probe_up = rounds;
        self.bw_probe_wait = Interval::from_secs_f64(LEAST_PROBE_WAIT_S + second);
    }

    fn start_cruise(&mut self) {
        if self.google && self.inflight_shortterm < f64::INFINITY {
            self.inflight_shortterm = self.inflight_shortterm.min(self.inflight_longterm);
        }
        self.state = State::Cruise;
    }

    pub(super) const fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, now: Time, w: &Window) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = self.rate;
        self.state = State::Up;
        if self.google {
            self.cycle_at = now;
        }
        self.raise_inflight_longterm_slope(w);
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, d: &Delivery, w: &Window) {
        if !self.full_bw_reached || self.adapt_long_term_model(d, w) {
            return;
        }
        match self.state {
            State::Down => {
                let probes = self.is_time_to_probe_bw(d.now, w);
                if !probes && self.is_time_to_cruise(d) {
                    self.start_cruise();
                }
            }
            State::Cruise => {
                self.is_time_to_probe_bw(d.now, w);
            }
            State::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(d.now, w);
            }
            State::Up => {
                let ends = self.is_time_to_go_down(d, w);
                if ends {
                    self.prev_probe_too_high = false; // no high loss yet
                    self.start_down(d.now);
                }
            }
            _ => {}
        }
    }

    /// What is in flight; for google, what will be in the network when the next quantum leaves.
    fn current_inflight(&self, d: &Delivery) -> f64 {
        if self.google { self.in_network(d, d.prior_in_flight) } else { d.in_flight as f64 }
    }

    fn is_time_to_cruise(&self, d: &Delivery) -> bool {
        let inflight = self.current_inflight(d);
        inflight <= self.inflight_with_headroom() && inflight <= self.inflight(self.max_bw(), 1.0)
    }

    fn is_time_to_go_down(&mut self, d: &Delivery, w: &Window) -> bool {
        // precautionary probing: deceleration
        if self.prev_probe_too_high && self.current_inflight(d) >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && w.cwnd >= self.inflight_longterm {
            self.reset_full_bw(); // inflight_longterm limits the rate
            self.full_bw = self.rate;
            return false;
        }
        self.full_bw_now
    }

    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    /// Whether to leave DOWN or CRUISE for REFILL, which it then does.
    fn is_time_to_probe_bw(&mut self, now: Time, w: &Window) -> bool {
        let rounds = self.target_inflight(w).min(MOST_PROBE_ROUNDS);
        let due = now > self.cycle_at + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= rounds;
        if due {
            self.start_refill();
        }
        due
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = self.constants.headroom * self.inflight_longterm;
        let headroom = if self.google { headroom.floor() } else { headroom };
        (self.inflight_longterm - headroom.max(1.0)).max(MIN_PIPE_CWND)
    }

    fn raise_inflight_longterm_slope(&mut self, w: &Window) {
        let growth_this_round = f64::from(1_u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MOST_UP_ROUNDS);
        let each = w.cwnd / growth_this_round;
        self.probe_up_acked_per_inc = (if self.google { each.floor() } else { each }).max(1.0);
    }

    fn probe_inflight_longterm_upward(&mut self, d: &Delivery, w: &Window) {
        if !self.is_cwnd_limited() || w.cwnd < self.inflight_longterm {
            return; // it does not use inflight_longterm fully
        }
        self.bw_probe_up_acked += d.newly_delivered as f64;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope(w);
        }
    }

    /// Returns whether it decided on the next state.
    fn adapt_long_term_model(&mut self, d: &Delivery, w: &Window) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.state.probes_bw() && !d.app_limited {
                self.advance_max_bw_filter();
            }
            // precautionary probing: acceleration
            if self.state.probes_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if self.is_inflight_too_high(d.lost, d.tx_in_flight) {
            if self.google && self.is_bw_probe_sample {
                self.handle_inflight_too_high(d.tx_in_flight as f64, d.app_limited, d.now, w);
            }
        } else if self.inflight_longterm < f64::INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(d.tx_in_flight as f64);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(d, w);
            }
        }
        false
    }

    pub(super) fn update_min_rtt(&mut self, d: &Delivery) {
        self.probe_rtt_expired = d.now > self.probe_rtt_min_at + PROBE_RTT_INTERVAL;
        let expired = self.probe_rtt_expired;
        if let Some(rtt) = d.rtt.filter(|&rtt| rtt < self.probe_rtt_min_delay || expired) {
            (self.probe_rtt_min_delay, self.probe_rtt_min_at) = (rtt, d.now);
        }
        let least = self.probe_rtt_min_delay < self.min_rtt
            || (self.google && self.probe_rtt_min_delay == self.min_rtt);
        if least || d.now > self.min_rtt_at + MIN_RTT_FILTER_LEN {
            (self.min_rtt, self.min_rtt_at) = (self.probe_rtt_min_delay, self.probe_rtt_min_at);
        }
    }

    pub(super) fn check_probe_rtt(&mut self, d: &Delivery, w: &mut Window) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd(w);
            self.probe_rtt_until = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        self.holds_back = self.state == State::ProbeRtt;
        if self.holds_back {
            self.handle_probe_rtt(d, w);
        }
        self.idle_restart &= d.delivered == 0;
    }

    fn handle_probe_rtt(&mut self, d: &Delivery, w: &mut Window) {
        if self.probe_rtt_until.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(d.now, w);
            }
        } else if d.in_flight as f64 <= self.probe_rtt_cwnd() {
            self.probe_rtt_until = Some(d.now + PROBE_RTT_DURATION);
            self.probe_rtt_round_done = false;
            self.start_round();
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time, w: &mut Window) {
        if self.probe_rtt_until.is_some_and(|until| now > until) {
            self.probe_rtt_min_at = now; // schedules the next one
            self.restore_cwnd(w);
            self.reset_short_term_model();
            if self.full_bw_reached {
                self.start_down(now);
                self.start_cruise();
            } else {
                self.enter_startup();
            }
        }
    }
}
