//! BBR, version 3 (Cardwell, Swett, Beshay: BBR Congestion Control, draft-ietf-ccwg-bbr, working copy of
//! August 2026, after version 06), and the differences of Google's own module (github.com/google/bbr,
//! net/ipv4/tcp_bbr.c, version 3).
//!
//! ```text
//! bw  = min(max_bw, bw_shortterm)        max_bw: greatest delivery rate of this ProbeBW cycle and the last
//! bdp = bw min_rtt                       min_rtt: least round-trip time of the last 10 s
//! pacing rate  = pacing_gain bw 0.99
//! max_inflight = cwnd_gain bdp + extra_acked, at least 3 send quanta and 4 segments
//! each ACK:  cwnd <- min(cwnd + newly_acked, max_inflight, inflight_longterm, inflight_shortterm)
//!
//! Startup   2.77, cwnd gain 2   until the rate plateaus for 3 round trips, or losses exceed 2 %
//! Drain     0.5                 until in flight <= bdp, 3 round trips at most
//! ProbeBW   DOWN 0.9 -> CRUISE 1 -> REFILL 1 -> UP 1.25 (cwnd gain 2.25)
//! ProbeRTT  1, cwnd gain 0.5    every 5 s, for 200 ms and a round trip
//!
//! A round trip with losses, when not probing:
//!   bw_shortterm       <- max(bw_latest,       0.7 bw_shortterm)
//!   inflight_shortterm <- max(inflight_latest, 0.7 inflight_shortterm)
//! More than 2 % lost of what was in flight with a segment that probed:
//!   inflight_longterm  <- max(what was in flight then, 0.7 bdp), and DOWN
//! ```
//! Data count in segments, and rates in segments per second.
//!
//! | constant | `draft` | `google` | unit | source | deviation |
//! |---|---|---|---|---|---|
//! | pacing gain, Startup | 2.77 | 710/256 | | StartupPacingGain; bbr_startup_pacing_gain | none |
//! | pacing gain, Drain | 0.5 | 88/256 | | DrainPacingGain; bbr_drain_gain | none |
//! | pacing gain, DOWN | 0.9 | 232/256 | | section ProbeBW_DOWN; bbr_pacing_gain | none |
//! | pacing gain, UP | 1.25 | 1.25 | | section ProbeBW_UP; bbr_pacing_gain | none |
//! | cwnd gain; of UP | 2; 2.25 | 2; 2.25 | | DefaultCwndGain; bbr_cwnd_gain, bbr_bw_probe_cwnd_gain | none |
//! | cwnd gain, ProbeRTT | 0.5 | 0.5 | | ProbeRTTCwndGain; bbr_probe_rtt_cwnd_gain | none |
//! | LossThresh | 0.02 | 5/256 | of tx_in_flight | LossThresh; bbr_loss_thresh | none |
//! | Beta | 0.7 | 180/256 | | Beta; bbr_beta | none |
//! | Headroom | 0.15 | 38/256 | of inflight_longterm | Headroom; bbr_inflight_headroom | none |
//! | losses that end Startup | 6 | 6 | ranges; events | BBRStartupFullLossCnt; bbr_full_loss_cnt | none |
//! | full pipe | 1.25, 3 | 1.25, 3 | , round trips | CheckFullBWReached; bbr_full_bw_thresh, _cnt | none |
//! | longest Drain | 3 | | round trips | CheckDrainDone | none |
//! | MinRTTFilterLen | 10 | 10 | s | the same; bbr_min_rtt_win_sec | exact times |
//! | ProbeRTTInterval | 5 | 5 | s | the same; bbr_probe_rtt_win_ms | exact times |
//! | ProbeRTTDuration | 200 | 200 | ms | the same; bbr_probe_rtt_mode_ms | exact times |
//! | wait before REFILL | 2 to 3; 62 or 63, at most the BDP | 2 to 3; 61 to 63 | s; round trips | PickProbeWait, IsRenoCoexistenceProbeTime; bbr_bw_probe_* | the flow's own random stream |
//! | MinPipeCwnd | 4 | 4 | segments | the same; bbr_cwnd_min_target | none |
//! | ExtraAckedFilterLen | 10, in Startup 1 | 5 to 10, 1 to 2 | round trips | the same; bbr_extra_acked_win_rtts | none |
//! | most extra_acked | | 100 | ms of bw | bbr_extra_acked_max_us | none |
//! | pacing margin | 1 | 1 | % | PacingMarginPercent; bbr_pacing_margin_percent | none |
//! | send quantum | 1 ms, 2 to 45 segments | 1/1024 s + 64 KiB / 2^(min_rtt / 512 us), 2 to 45 segments | of the pacing rate | SetSendQuantum; bbr_tso_segs_generic | segments of 1448 bytes |
//!
//! State to undo is saved when a recovery begins, as the text of "Saving State Upon Loss Recovery" says. The
//! draft's NoteLoss also saves it at the first loss of each round trip: the end of UP resets that round trip,
//! so the next lost segment of the same episode would overwrite what the first one saved.
//!
//! `google` responds to marks only where the route says that its queues mark early (ecn_low); no path here
//! says so, and this model leaves that response out, as the draft does (section "ECN"). A tail loss probe
//! that repaired a loss counts as a recovery, not as one segment lost (bbr_run_loss_probe_recovery).

mod control;
mod model;
mod states;

use super::aggregation::Aggregation;
use super::congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Delivery, Internals, LostSegment, Opening, Repair, Window,
};
use super::row::{Properties, Row};
use super::windowed::WindowedMax;
use crate::packet_sizes::USUAL_MSS_BYTES;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Stream, Style, Time};

const MIN_PIPE_CWND: f64 = 4.0;
const PACING_MARGIN: f64 = 0.99;
/// The window before any measurement, until the sender says otherwise, segments (RFC 6928).
const USUAL_INITIAL_CWND: f64 = 10.0;

/// A flow, boxed: it is much larger than those of other algorithms.
pub type Boxed = Box<Bbr3>;

/// The registry row.
pub const ROW: Row<Boxed> = Row {
    entry: Entry {
        name: "bbr3",
        title: "BBR v3",
        aliases: &["bbrv3"],
        citation: "Cardwell, Swett, Beshay: BBR Congestion Control, draft-ietf-ccwg-bbr, 2026",
        page: "bbr3",
        parameters: &[Parameter::choice(
            "variant",
            &["draft", "google"],
            "draft: draft-ietf-ccwg-bbr; google: the Linux module of github.com/google/bbr",
        )],
        style: Some(Style::new("#174ea6", "D")),
    },
    linux_module: None,
    properties: Properties { model_based: true, draws: true, paces: true, ..Properties::DEFAULT },
    build: Bbr3::new,
};

/// What the two variants set differently.
#[derive(Clone, Copy, Debug)]
struct Constants {
    startup_gain: f64,
    drain_gain: f64,
    down_gain: f64,
    loss_thresh: f64,
    beta: f64,
    headroom: f64,
}

const DRAFT: Constants = Constants {
    startup_gain: 2.77,
    drain_gain: 0.5,
    down_gain: 0.9,
    loss_thresh: 0.02,
    beta: 0.7,
    headroom: 0.15,
};

const GOOGLE: Constants = Constants {
    startup_gain: 710.0 / 256.0,
    drain_gain: 88.0 / 256.0,
    down_gain: 232.0 / 256.0,
    loss_thresh: 5.0 / 256.0,
    beta: 180.0 / 256.0,
    headroom: 38.0 / 256.0,
};

/// BBR.state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    const fn probes_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
}

/// BBR.ack_phase: what acknowledgements say of the last probe for bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// What the loss of a segment may have changed, for when it turns out spurious.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// The state that the loss ended.
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

/// A BBR v3 flow.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    google: bool,
    constants: Constants,
    mss_bytes: f64,
    random: Option<Stream>,
    selective: bool,
    initial_cwnd: f64,
    has_seen_rtt: bool,
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing_rate: f64,

    delivered: u64,
    delivered_at: Time,
    /// RS.delivery_rate; 0 if the acknowledgement gave none.
    rate: f64,
    repair: Repair,
    prior_cwnd: f64,
    /// C.is_cwnd_limited: in this round trip, and in the last.
    cwnd_limited: [bool; 2],
    idle_restart: bool,
    holds_back: bool,

    rounds: u64,
    next_round_delivered: u64,
    round_start: bool,

    /// The greatest rate of the last cycle and of this one.
    max_bw: [f64; 2],
    bw: f64,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    min_rtt: Interval,
    min_rtt_at: Time,
    probe_rtt_min_delay: Interval,
    probe_rtt_min_at: Time,
    probe_rtt_expired: bool,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,

    /// The draft's extra_acked and its interval; `aggregation` is google's.
    extra_acked: WindowedMax,
    extra_acked_since: Time,
    extra_acked_delivered: f64,
    aggregation: Aggregation,

    bw_latest: f64,
    inflight_latest: f64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    /// Lost ranges (google: acknowledgements that found losses) in this round trip, and the last segment
    /// lost.
    losses_in_round: u32,
    last_lost: u64,
    undo: Undo,

    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u64,

    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    bw_probe_up_rounds: u32,
    rounds_since_probe_up: u64,
    bw_probe_wait: Interval,
    cycle_at: Time,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
}

impl Bbr3 {
    fn new(p: &Parameters) -> Boxed {
        let google = p.word("variant") == "google";
        let constants = if google { GOOGLE } else { DRAFT };
        let mut new = Box::new(Bbr3 {
            google,
            constants,
            mss_bytes: USUAL_MSS_BYTES,
            random: None,
            selective: true,
            initial_cwnd: USUAL_INITIAL_CWND,
            has_seen_rtt: false,
            state: State::Startup,
            pacing_gain: constants.startup_gain,
            cwnd_gain: control::DEFAULT_CWND_GAIN,
            pacing_rate: 0.0,
            delivered: 0,
            delivered_at: Time::ZERO,
            rate: 0.0,
            repair: Repair::None,
            prior_cwnd: 0.0,
            cwnd_limited: [false; 2],
            idle_restart: false,
            holds_back: false,
            rounds: 0,
            next_round_delivered: 0,
            round_start: false,
            max_bw: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            min_rtt: Interval::MAX,
            min_rtt_at: Time::ZERO,
            probe_rtt_min_delay: Interval::MAX,
            probe_rtt_min_at: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            extra_acked: WindowedMax::default(),
            extra_acked_since: Time::ZERO,
            extra_acked_delivered: 0.0,
            aggregation: Aggregation::default(),
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            losses_in_round: 0,
            last_lost: u64::MAX,
            undo: Undo::default(),
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Interval::ZERO,
            cycle_at: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
        });
        new.init_pacing_rate(None);
        new
    }
}

impl CongestionControl for Bbr3 {
    fn on_start(&mut self, mss_bytes: u32, seed: u64) {
        self.mss_bytes = f64::from(mss_bytes);
        self.random = Some(Stream::new(seed, "probes"));
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}

    /// OnInit.
    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        let now = opening.now;
        self.selective = opening.selective;
        self.initial_cwnd = w.cwnd;
        let rtt = opening.rtt.unwrap_or(Interval::MAX);
        (self.min_rtt, self.min_rtt_at) = (rtt, now);
        (self.probe_rtt_min_delay, self.probe_rtt_min_at) = (rtt, now);
        self.delivered_at = now;
        self.extra_acked_since = now;
        self.aggregation.restart(now);
        self.init_pacing_rate(opening.rtt);
    }

    /// UpdateOnACK.
    fn on_delivery(&mut self, d: &Delivery, w: &mut Window) {
        self.take(d);
        // UpdateModelAndState
        self.update_latest_delivery_signals(d);
        self.update_congestion_signals(d, w);
        self.update_ack_aggregation(d, w);
        self.check_full_bw_reached(d);
        self.check_startup_done(d, w);
        self.check_drain_done(d);
        self.update_probe_bw_cycle_phase(d, w);
        self.update_min_rtt(d);
        self.check_probe_rtt(d, w);
        self.advance_latest_delivery_signals(d);
        self.bound_bw_for_model();
        // UpdateControlParameters
        self.update_gains();
        self.set_pacing_rate(d, w);
        self.set_cwnd(d, w);
        self.repair = d.repair;
    }

    /// HandleLostPacket.
    fn on_lost(&mut self, lost: &LostSegment, w: &mut Window) {
        self.delivered = lost.total_delivered;
        self.note_loss(lost);
        if self.is_bw_probe_sample && self.is_inflight_too_high(lost.lost, lost.tx_in_flight) {
            let tx_in_flight = self.inflight_at_loss(lost.lost, lost.tx_in_flight);
            self.handle_inflight_too_high(tx_in_flight, lost.app_limited, lost.now, w);
        }
    }

    /// OnEnterFastRecovery and OnEnterRTO, but for the window after a timeout, which the sender sets.
    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        if event.cause != Cause::Mark {
            self.save_state_upon_loss(w);
        }
    }

    fn on_timeout(&mut self, _: Time, w: &mut Window) {
        self.repair = Repair::Timeout;
        if self.google {
            self.reset_full_bw();
            if !self.is_probing_bw() && self.inflight_shortterm == f64::INFINITY {
                self.inflight_shortterm = self.prior_cwnd.max(w.cwnd);
            }
        }
    }

    /// The end of a loss recovery restores the window; google only after a timeout, since nothing else cuts
    /// it.
    fn on_recovered(&mut self, _: Time, w: &mut Window) {
        if self.repair == Repair::Timeout || (!self.google && self.repair == Repair::Recovery) {
            self.restore_cwnd(w);
        }
    }

    /// HandleSpuriousLossDetection.
    fn on_undo(&mut self, w: &mut Window) {
        self.restore_cwnd(w);
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            _ if self.google => {}
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }

    /// HandleRestartFromIdle.
    fn on_restart(&mut self, now: Time, _: Option<Time>, w: &mut Window) {
        self.idle_restart = true;
        self.extra_acked_since = now;
        self.aggregation.restart(now);
        if self.state.probes_bw() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, w);
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
        self.quantum()
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("bw_pps", self.bw()));
        if self.min_rtt != Interval::MAX {
            out.push(("min_rtt_s", self.min_rtt.as_secs_f64()));
        }
        out.push(("pacing_gain", self.pacing_gain));
        out.push(("cwnd_gain", self.cwnd_gain));
        out.push(("bw_shortterm_pps", self.bw_shortterm));
        out.push(("inflight_shortterm", self.inflight_shortterm));
        out.push(("inflight_longterm", self.inflight_longterm));
    }
}

#[cfg(test)]
mod path;
#[cfg(test)]
mod tests;
