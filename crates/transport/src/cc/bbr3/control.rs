//! The pacing rate, the send quantum and the window (draft-ietf-ccwg-bbr, section "Updating Control
//! Parameters").

use super::{Bbr3, Delivery, Interval, MIN_PIPE_CWND, PACING_MARGIN, State, Window};

pub(super) const DEFAULT_CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const UP_GAIN: f64 = 1.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
const NOMINAL_RTT: Interval = Interval::from_millis(1);
const QUANTUM_S: f64 = 0.001;
const MOST_QUANTUM_BYTES: f64 = 65_536.0;
const LEAST_QUANTUM: f64 = 2.0;
/// google: a second divided by 2 to this power (sk_pacing_shift); the allowance for short paths halves each
/// 512 us.
const GOOGLE_QUANTUM_S: f64 = 1.0 / 1024.0;
const GOOGLE_RTT_STEP_NS: u64 = 512_000;
const GOOGLE_MOST_HALVINGS: u64 = 31;
const GOOGLE_MOST_EXTRA_S: f64 = 0.1;

impl Bbr3 {
    /// InitPacingRate.
    pub(super) fn init_pacing_rate(&mut self, rtt: Option<Interval>) {
        self.has_seen_rtt = rtt.is_some();
        let rtt = rtt.unwrap_or(NOMINAL_RTT).max(Interval::from_ns(1000));
        let margin = if self.google { PACING_MARGIN } else { 1.0 };
        self.pacing_rate = margin * self.constants.startup_gain * self.initial_cwnd / rtt.as_secs_f64();
    }

    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * PACING_MARGIN * self.bw();
        if rate > 0.0 && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    pub(super) fn set_pacing_rate(&mut self, d: &Delivery, w: &Window) {
        if !self.has_seen_rtt && d.srtt > Interval::ZERO {
            if self.google {
                self.initial_cwnd = w.cwnd;
            }
            self.init_pacing_rate(Some(d.srtt));
        }
        self.set_pacing_rate_with_gain(self.pacing_gain);
    }

    pub(super) const fn update_gains(&mut self) {
        let c = &self.constants;
        (self.pacing_gain, self.cwnd_gain) = match self.state {
            State::Startup => (c.startup_gain, DEFAULT_CWND_GAIN),
            State::Drain => (c.drain_gain, DEFAULT_CWND_GAIN),
            State::Down => (c.down_gain, DEFAULT_CWND_GAIN),
            State::Cruise | State::Refill => (1.0, DEFAULT_CWND_GAIN),
            State::Up => (UP_GAIN, UP_CWND_GAIN),
            // google bounds the window by half of the BDP only afterwards
            State::ProbeRtt if self.google => (1.0, 1.0),
            State::ProbeRtt => (1.0, PROBE_RTT_CWND_GAIN),
        };
    }

    /// Segments that leave together.
    pub(super) fn quantum(&self) -> f64 {
        let bytes_per_s = self.pacing_rate * self.mss_bytes;
        let bytes = if self.google {
            let halvings = self.min_rtt.as_ns() / GOOGLE_RTT_STEP_NS;
            let allowance =
                if halvings > GOOGLE_MOST_HALVINGS { 0 } else { MOST_QUANTUM_BYTES as u64 >> halvings };
            bytes_per_s * GOOGLE_QUANTUM_S + allowance as f64
        } else {
            bytes_per_s * QUANTUM_S
        };
        (bytes.min(MOST_QUANTUM_BYTES) / self.mss_bytes).floor().max(LEAST_QUANTUM)
    }

    /// BDPMultiple.
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == Interval::MAX {
            return self.initial_cwnd;
        }
        let segments = gain * bw * self.min_rtt.as_secs_f64();
        if self.google { segments.ceil() } else { segments }
    }

    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let cap = inflight_cap.max(3.0 * self.quantum()).max(MIN_PIPE_CWND);
        if self.state == State::Up { cap + 2.0 } else { cap }
    }

    /// Inflight.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// What is wanted in flight, unless losses have cut the window.
    pub(super) fn target_inflight(&self, w: &Window) -> f64 {
        let bdp = if self.google { self.inflight(self.bw(), 1.0) } else { self.bdp_multiple(self.bw, 1.0) };
        bdp.min(w.cwnd)
    }

    /// google: what will be in the network when the next quantum leaves (bbr_packets_in_net_at_edt).
    pub(super) fn in_network(&self, d: &Delivery, in_flight: u64) -> f64 {
        let delivered = (self.bw() * d.next_departure.since(d.now).as_secs_f64()).floor();
        let departs = if self.pacing_gain > 1.0 { self.quantum() } else { 0.0 };
        (in_flight as f64 + departs - delivered).max(0.0)
    }

    fn max_inflight(&self) -> f64 {
        let extra = if self.google {
            self.aggregation.extra().floor().min((self.bw() * GOOGLE_MOST_EXTRA_S).floor())
        } else {
            self.extra_acked.get()
        };
        self.quantization_budget(self.bdp_multiple(self.bw(), self.cwnd_gain) + extra)
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw(), PROBE_RTT_CWND_GAIN).max(MIN_PIPE_CWND)
    }

    pub(super) fn set_cwnd(&self, d: &Delivery, w: &mut Window) {
        let acked = d.newly_delivered as f64;
        if acked > 0.0 || !self.google {
            let max_inflight = self.max_inflight();
            let early = if self.google {
                w.cwnd < 2.0 * self.initial_cwnd
            } else {
                (d.total_delivered as f64) < self.initial_cwnd
            };
            if self.full_bw_reached {
                w.cwnd = (w.cwnd + acked).min(max_inflight);
            } else if w.cwnd < max_inflight || early {
                w.cwnd += acked;
            }
            w.cwnd = w.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == State::ProbeRtt {
            w.cwnd = w.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model(w);
    }

    fn bound_cwnd_for_model(&self, w: &mut Window) {
        let cap = match self.state {
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Startup | State::Drain => f64::INFINITY,
        };
        w.cwnd = w.cwnd.min(cap.min(self.inflight_shortterm).max(MIN_PIPE_CWND));
    }
}
