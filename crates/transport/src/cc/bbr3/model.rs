//! The model of the path: bandwidths, bursts of acknowledgements, and what losses say of it
//! (draft-ietf-ccwg-bbr, section "Updating Network Path Model Parameters").

use super::super::aggregation::WINDOW_ROUNDS;
use super::{Bbr3, Delivery, LostSegment, Repair, State, Time, Undo, Window};

/// ExtraAckedFilterLen, round trips; in Startup one.
const EXTRA_ACKED_ROUNDS: u64 = 10;

impl Bbr3 {
    /// What other steps need of an acknowledgement.
    pub(super) fn take(&mut self, d: &Delivery) {
        self.rate = d.rate.unwrap_or(0.0);
        if d.newly_delivered > 0 {
            (self.delivered, self.delivered_at) = (d.total_delivered, d.now);
        }
        self.update_round(d);
        if self.round_start {
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
        self.cwnd_limited[0] |= d.window_limited;
    }

    /// C.is_cwnd_limited: at any point of the last round trip.
    pub(super) const fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }

    pub(super) const fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    fn update_round(&mut self, d: &Delivery) {
        let valid = d.rate.is_some() || !self.google;
        self.round_start = valid && d.prior_delivered.is_some_and(|prior| prior >= self.next_round_delivered);
        if self.round_start {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe_up += 1;
        }
    }

    /// The greatest rate of this cycle and the last (max_bw).
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// What the path is used with: bounded at the end of each acknowledgement, by google whenever it is asked
    /// for.
    pub(super) fn bw(&self) -> f64 {
        if self.google { self.max_bw().min(self.bw_shortterm) } else { self.bw }
    }

    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    /// AdvanceMaxBwFilter; a cycle without samples leaves the rates of the one before.
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }

    pub(super) fn update_latest_delivery_signals(&mut self, d: &Delivery) {
        self.loss_round_start = false;
        let Some(prior) = d.prior_delivered.filter(|_| d.rate.is_some() || !self.google) else { return };
        self.bw_latest = self.bw_latest.max(self.rate);
        self.inflight_latest = self.inflight_latest.max(d.delivered as f64);
        if prior >= self.loss_round_delivered {
            self.loss_round_delivered = d.total_delivered;
            self.loss_round_start = true;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self, d: &Delivery) {
        if self.loss_round_start {
            self.bw_latest = self.rate;
            self.inflight_latest = d.delivered as f64;
            self.losses_in_round = 0;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// UpdateCongestionSignals, with UpdateMaxBw.
    pub(super) fn update_congestion_signals(&mut self, d: &Delivery, w: &Window) {
        // what the application limits says little of the path, unless it is more than was known
        if self.rate > 0.0 && (self.rate >= self.max_bw() || !d.app_limited) {
            self.max_bw[1] = self.max_bw[1].max(self.rate);
        }
        if self.google && d.newly_lost > 0 {
            self.is_loss_in_round = true;
            self.losses_in_round = self.losses_in_round.saturating_add(1);
        }
        if self.loss_round_start {
            self.adapt_lower_bounds(w);
            self.is_loss_in_round = false;
        }
    }

    /// AdaptLowerBoundsFromCongestion: once per round trip.
    fn adapt_lower_bounds(&mut self, w: &Window) {
        if self.is_probing_bw() || !self.is_loss_in_round {
            return;
        }
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = w.cwnd;
        }
        let beta = self.constants.beta;
        self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
    }

    pub(super) const fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    pub(super) fn update_ack_aggregation(&mut self, d: &Delivery, w: &Window) {
        let acked = d.newly_delivered as f64;
        if self.google {
            if acked > 0.0 && d.rate.is_some() {
                if self.round_start {
                    self.aggregation.end_round(if self.full_bw_reached { WINDOW_ROUNDS } else { 1 });
                }
                self.aggregation.update(self.delivered_at, acked, self.bw(), w.cwnd);
            }
            return;
        }
        let mut expected = self.bw * d.now.since(self.extra_acked_since).as_secs_f64();
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_since = d.now;
            expected = 0.0;
        }
        self.extra_acked_delivered += acked;
        let extra = (self.extra_acked_delivered - expected).min(w.cwnd);
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.include(rounds, self.rounds, extra);
    }

    /// NoteLoss; and the ranges that were lost, for the end of Startup. The state to undo was saved when the
    /// episode began.
    pub(super) const fn note_loss(&mut self, lost: &LostSegment) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = lost.total_delivered;
        }
        self.is_loss_in_round = true;
        if !self.google && lost.segment != self.last_lost.wrapping_add(1) {
            self.losses_in_round = self.losses_in_round.saturating_add(1);
        }
        self.last_lost = lost.segment;
    }

    /// Whether so many losses among so many segments in flight say that these were too many.
    pub(super) fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        let most = self.constants.loss_thresh * tx_in_flight as f64;
        if self.google {
            return lost > 0 && tx_in_flight > 0 && lost as f64 > most.floor();
        }
        lost as f64 > most || (lost > 0 && !self.selective)
    }

    /// InflightAtLoss: what was in flight when the losses crossed the threshold, of which this segment is the
    /// last.
    pub(super) fn inflight_at_loss(&self, lost: u64, tx_in_flight: u64) -> f64 {
        let thresh = self.constants.loss_thresh;
        let inflight_prev = tx_in_flight as f64 - 1.0;
        let lost_prev = lost as f64 - 1.0;
        if self.google {
            let budget = (thresh * inflight_prev).ceil();
            let prefix = ((budget - lost_prev).max(0.0) / (1.0 - thresh)).floor();
            return inflight_prev + prefix;
        }
        inflight_prev + (thresh * inflight_prev - lost_prev) / (1.0 - thresh)
    }

    pub(super) fn handle_inflight_too_high(
        &mut self,
        tx_in_flight: f64,
        app_limited: bool,
        now: Time,
        w: &Window,
    ) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false; // it reacts once per probe
        if !app_limited {
            let least = (self.constants.beta * self.target_inflight(w)).max(1.0);
            self.inflight_longterm = tx_in_flight.max(if self.google { least.floor() } else { least });
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }

    pub(super) fn save_state_upon_loss(&mut self, w: &Window) {
        self.save_cwnd(w);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    pub(super) fn save_cwnd(&mut self, w: &Window) {
        let cut = self.repair != Repair::None || self.state == State::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(w.cwnd) } else { w.cwnd };
    }

    pub(super) const fn restore_cwnd(&self, w: &mut Window) {
        w.cwnd = w.cwnd.max(self.prior_cwnd);
    }
}
