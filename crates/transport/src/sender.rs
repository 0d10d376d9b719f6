//! The sending end of a TCP connection: what to send and when, and what acknowledgements and timeouts mean.
//! The same machine serves every algorithm; the algorithm only moves the window.

mod config;
mod explicit;
mod failure;
mod free;
mod happenings;
mod marks;
mod model;
mod quick_start;
mod rack;
mod recovery;
mod request;
mod scripted;
mod slow_start;
mod spurious;
mod steady;
mod steered;
mod steering;
mod timing;
mod transmission;
mod undo;
mod unfilled;
mod usage;
mod view;

use crate::Carrier;
use crate::ages::Ages;
use crate::cc::{CongestionControl, Controller, LossDetection, Properties, SendingTimes, Window};
use crate::delivery::Deliveries;
use crate::feedback::Marks;
use crate::packet_sizes::syn_bytes;
use crate::rack::RackTlp;
use crate::reduction::Episode;
use crate::slow_start::Watch;
use crate::{RttEstimator, RttSamples, Scoreboard};
pub use config::{FirstReduction, SenderConfig, TimeoutReductions, WIDEST_WINDOW};
pub use happenings::{Happened, SenderCounters};
use longfat_units::Time;
use longfat_wire::{Division, Ecn, Extra, Kind, SimPacket};
use request::QuickStart;
pub use request::QuickStartRequest;
pub use scripted::Segments;
use steering::Steering;
pub use steering::{Steer, Watched};
pub use transmission::Outbox;
use undo::{Resent, Undo};
use usage::{Limit, Usage};
pub use view::{SenderView, Stage};

/// The most segments that leave in one event. The rest of a longer burst leaves in further events at the same
/// time, so that a driver gets to act in between.
const MOST_AT_ONCE: u64 = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    SynSent,
    Open,
    /// The window shrinks after a mark; nothing was lost (Linux: CWR).
    Reducing,
    Recovery,
    /// After a timeout, until what was outstanding then is acknowledged.
    Loss,
    Done,
}

/// A sender.
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Sender {
    phase: Phase,
    wants_samples: bool,
    /// Neither its algorithm nor its options ask for more than a sample for an acknowledgement in steady
    /// flow. Never with a user's own algorithm, as that may pace.
    plain: bool,
    /// Data carry an explicit congestion header.
    explicit: bool,
    /// `ages`, `rack`, `deliveries`, `marks` or, at the beginning, `watch` is kept.
    keeps_times: bool,
    /// Each acknowledgement of new data gives a sample, which ends the backoff.
    samples_each: bool,
    /// The last episode was a timeout.
    after_timeout: bool,
    /// The next retransmission leaves regardless of the window (RFC 6675, step 4.3).
    must_send: bool,
    /// What limits it: see `usage.rs`.
    limit: Limit,
    /// Announce to the receiver that the window was reduced, for any reason (RFC 3168, CWR).
    announce_reduction: bool,
    times: SendingTimes,
    window: Window,
    /// The receiver's window, whole segments.
    receiver_window: u64,
    /// The most segments that leave at once, whole segments; at most [`MOST_AT_ONCE`].
    max_burst: u64,
    /// The next new segment.
    next: u64,
    /// One past the last segment; never reached by endless flows.
    end: u64,
    rto_at: Time,
    /// When a timer of RACK-TLP expires.
    early_at: Time,
    send_at: Time,
    timer_at: Time,
    /// Integral of cwnd over time, segment ns.
    cwnd_area: f64,
    cwnd_since: Time,
    /// Without SACK: duplicate acknowledgements. Each says that a segment has left the path.
    duplicates: u64,
    /// Without timestamps: the segment that gives the next round-trip time, unless it is sent twice. With
    /// them: the one that may end the backoff.
    timed: u64,
    counters: SenderCounters,
    failure: Option<String>,
    rtt: RttEstimator,
    config: SenderConfig,
    board: Scoreboard,
    controller: Controller,
    episode: Episode,
    /// Set from the request for a rate until its window no longer matters.
    quick_start: Option<QuickStart>,
    /// Kept for algorithms that ask for sending times, and without timestamps.
    ages: Option<Box<Ages>>,
    /// Kept for RACK-TLP.
    rack: Option<Box<RackTlp>>,
    /// Kept for model-based algorithms.
    deliveries: Option<Box<Deliveries>>,
    /// Kept where the receiver tells more of marks than RFC 3168's echo.
    marks: Option<Box<Marks>>,
    /// Kept while the first slow-start may end early.
    watch: Option<Box<Watch>>,
    /// Kept where somebody steers or watches the sender from outside.
    steering: Option<Box<Steering>>,
    recovery_point: u64,
    /// How many transmissions (with RACK) or retransmissions there were when the phase of repairs began.
    repairs_from: u64,
    /// Without SACK: when the timer that the first partial acknowledgement of an episode started expires.
    patience: Time,
    /// What the last reduction is undone to if it turns out to be spurious.
    undo: Option<Undo>,
    /// What was sent again since an episode that began with nothing such outstanding.
    resent: Option<Resent>,
    /// The first segment not acknowledged when the timer expired last.
    timed_out: Option<u64>,
    /// The last acknowledgement has shown that segments were reordered: nothing is sent again until the next
    /// one.
    repairs_wait: bool,
    /// Segments that the receiver has reported to have arrived a second time.
    reported_twice: u64,
    pace_at: Time,
    usage: Usage,
    log: Option<Vec<(Time, Happened, f64)>>,
    /// Room for what data packets carry besides the usual.
    #[expect(clippy::vec_box, reason = "the boxes go from packet to packet")]
    spare: Vec<Box<Extra>>,
}

impl Sender {
    /// A sender at rest; [`Sender::start`] opens the connection.
    pub fn new(config: SenderConfig, mut controller: Controller) -> Self {
        controller.on_start(config.mss_bytes, config.seed);
        let end = config.bytes.map_or(u64::MAX, |b| b.div_ceil(u64::from(config.mss_bytes)).max(1));
        let window = Window {
            cwnd: config.initial_window.max(1.0),
            ssthresh: config.initial_ssthresh,
            max_ssthresh: config.max_ssthresh,
        };
        let Properties { sending_times: times, model_based: models, .. } = controller.properties;
        let keeps_ages =
            times != SendingTimes::Unused || config.rtt_samples != RttSamples::Echoed || !config.timestamps;
        let by_time = config.loss_detection == LossDetection::Rack;
        let samples_each = config.timestamps;
        let marks = Marks::new(config.feedback).map(Box::new);
        let watch = Watch::new(config.slow_start_exit).map(Box::new);
        let keeps_times = keeps_ages || by_time || models || marks.is_some() || watch.is_some();
        let wants_samples = controller.properties.samples || models;
        let explicit = controller.properties.protocol.is_some();
        let mut board = Scoreboard::default();
        if models {
            board.keep_losses();
        }
        Sender {
            wants_samples,
            plain: !models && !keeps_times && !explicit && !controller.properties.paces,
            explicit,
            quick_start: None,
            spare: Vec::new(),
            receiver_window: config.max_window as u64,
            max_burst: (config.max_burst as u64).min(MOST_AT_ONCE),
            rtt: RttEstimator::new(&config.rto),
            config,
            controller,
            window,
            phase: Phase::Idle,
            next: 0,
            end,
            board,
            ages: keeps_ages.then(Box::default),
            times,
            timed: 0,
            samples_each,
            rack: by_time.then(Box::default),
            deliveries: models.then(Box::default),
            steering: None,
            keeps_times,
            marks,
            watch,
            duplicates: 0,
            recovery_point: 0,
            repairs_from: 0,
            patience: Time::NEVER,
            after_timeout: false,
            episode: Episode::default(),
            must_send: false,
            limit: Limit::Source,
            announce_reduction: false,
            undo: None,
            resent: None,
            timed_out: None,
            repairs_wait: false,
            reported_twice: 0,
            rto_at: Time::NEVER,
            early_at: Time::NEVER,
            send_at: Time::NEVER,
            timer_at: Time::NEVER,
            pace_at: Time::ZERO,
            usage: Usage::default(),
            cwnd_area: 0.0,
            cwnd_since: Time::ZERO,
            counters: SenderCounters::default(),
            log: None,
            failure: None,
        }
    }

    /// Keeps a log of events. [`Sender::take_log`] returns it.
    pub fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// The events since [`Sender::keep_log`]: the time, the event, and the window then.
    pub fn take_log(&mut self) -> Vec<(Time, Happened, f64)> {
        self.log.take().unwrap_or_default()
    }

    /// Opens the connection.
    pub fn start(&mut self, now: Time, out: &mut impl Outbox) {
        if self.phase == Phase::Done {
            return; // stopped before it began
        }
        self.phase = Phase::SynSent;
        self.cwnd_since = now;
        self.send_syn(now, out);
    }

    /// Sends nothing new from now on; still repairs what is outstanding.
    pub fn stop(&mut self) {
        self.end = self.next;
        if self.board.base() == self.end {
            (self.rto_at, self.early_at) = (Time::NEVER, Time::NEVER);
            self.phase = Phase::Done;
        }
    }

    fn send_syn(&mut self, now: Time, out: &mut impl Outbox) {
        self.rto_at = self.rtt.deadline(now);
        let bytes = syn_bytes(self.config.timestamps)
            + self.controller.properties.protocol.map_or(0, |p| p.header_bytes);
        let mut syn = SimPacket::new(Kind::Syn, self.config.flow, 0, bytes, now);
        if self.config.ecn {
            syn.ecn = self.config.codepoints.of(Carrier::Syn);
        }
        if self.explicit {
            self.write_explicit(&mut syn); // routers find out about the path before data come
        } else if let Some(request) = self.config.quick_start.take() {
            self.ask(&mut syn, request);
        }
        out.send(syn);
    }

    /// When the sender next wants [`Sender::on_timer`].
    #[inline]
    pub fn wake(&self) -> Time {
        self.rto_at.min(self.send_at).min(self.timer_at).min(self.early_at)
    }

    /// Whether it may send packets with ECT(1).
    pub fn sends_ect1(&self) -> bool {
        self.config.ecn && self.config.codepoints.ect == Ecn::Ect1
    }

    /// The window.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// The round-trip time estimator.
    pub const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Counters so far.
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Payload bytes acknowledged in order.
    pub fn acked_bytes(&self) -> u64 {
        self.payload(self.board.base())
    }

    /// Whether the connection is open, or was.
    pub fn is_connected(&self) -> bool {
        match self.phase {
            Phase::Idle | Phase::SynSent => false,
            // it may have been stopped before it began, or before an answer came
            Phase::Done => self.board.base() > 0 || self.rtt.measured().is_some(),
            _ => true,
        }
    }

    /// Whether the receiver has acknowledged everything that there was to send.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// Whether there is more to do even if this packet acknowledges all that it can.
    #[inline]
    pub fn goes_on_after(&self, packet: &SimPacket) -> bool {
        packet.seq < self.end && !self.is_done()
    }

    /// Segments in flight (RFC 6675 "pipe").
    #[inline]
    pub fn in_flight(&self) -> u64 {
        let out = self.next - self.board.base();
        out.saturating_sub(self.board.sacked() + self.board.lost() + self.duplicates)
    }

    /// The integral of cwnd over time from the start on, segment seconds; `now` is not after the end.
    pub fn cwnd_integral(&self, now: Time) -> f64 {
        if self.phase == Phase::Idle {
            return 0.0;
        }
        (self.cwnd_area + self.window.cwnd * now.since(self.cwnd_since).as_ns() as f64) / 1e9
    }

    /// The algorithm.
    pub const fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Whether the algorithm failed.
    #[inline]
    pub const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Returns once why the algorithm failed: it raised an exception, or left a window below one segment.
    /// `None` if it has not.
    pub fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Payload bytes of the first `segments` segments.
    pub fn payload(&self, segments: u64) -> u64 {
        let bytes = segments * u64::from(self.config.mss_bytes);
        self.config.bytes.map_or(bytes, |most| bytes.min(most))
    }

    /// Payload bytes of so many segments that were delivered, while those concealed, whole ones all, were
    /// not.
    pub fn payload_delivered(&self, delivered: u64, concealed: u64) -> u64 {
        self.payload(delivered + concealed) - concealed * u64::from(self.config.mss_bytes)
    }

    /// A packet from the receiver.
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket, out: &mut impl Outbox) {
        self.take::<true>(now, packet, out);
    }

    /// [`Sender::on_packet`] for a sender without explicit headers and without Quick-Start. That code is left
    /// out here, so it costs such a sender nothing.
    #[inline(never)]
    pub fn on_packet_without_headers(&mut self, now: Time, packet: &SimPacket, out: &mut impl Outbox) {
        debug_assert!(!self.explicit && self.quick_start.is_none(), "headers would be missing");
        if self.is_steady(packet) {
            self.take_steady(now, packet, out);
        } else {
            self.take_unsteady(now, packet, out);
        }
    }

    /// Apart from the usual case, which needs fewer registers.
    #[inline(never)]
    fn take_unsteady(&mut self, now: Time, packet: &SimPacket, out: &mut impl Outbox) {
        self.take::<false>(now, packet, out);
    }

    #[inline(always)]
    fn take<const EXPLICIT: bool>(&mut self, now: Time, packet: &SimPacket, out: &mut impl Outbox) {
        self.account(now);
        match (packet.kind, self.phase) {
            (Kind::SynAck, Phase::SynSent) => self.connected(now, packet, out),
            // RFC 9293, section 3.10.7.4: an acknowledgement of what was never sent is ignored
            (Kind::Ack, _) if packet.seq > self.next => return,
            (Kind::Ack, Phase::Open | Phase::Reducing | Phase::Recovery | Phase::Loss) => {
                self.on_ack::<EXPLICIT>(now, packet)
            }
            _ => return,
        }
        self.transmit::<EXPLICIT>(now, out);
    }

    /// A time that [`Sender::wake`] asked for has come.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Outbox) {
        self.account(now);
        if now >= self.early_at {
            self.on_early_timer(now, out);
            self.tell_late_losses(now);
        }
        if now >= self.rto_at {
            if self.phase == Phase::SynSent {
                self.rtt.back_off();
                self.hold_backoff();
                self.window.cwnd = 1.0; // RFC 5681, section 3.1: a lost request leaves an initial window of one
                self.quick_start = None;
                return self.send_syn(now, out);
            }
            self.on_timeout(now);
        }
        if now >= self.timer_at {
            if matches!(self.phase, Phase::Open | Phase::Loss) {
                let before = self.window.cwnd;
                self.controller.on_timer(now, &mut self.window);
                self.withhold_growth(before);
                self.check("on_timer", now);
            }
            let period = self.controller.properties.timer_period.filter(|_| self.phase != Phase::Done);
            self.timer_at = period.map_or(Time::NEVER, |p| now + p);
        }
        if self.quick_start.is_some() {
            self.pace_quick_start(now, out);
        }
        self.transmit::<true>(now, out);
    }

    #[inline]
    fn account(&mut self, now: Time) {
        if self.phase != Phase::Done {
            self.integrate(now); // the integral of cwnd ends with the flow
        }
    }

    #[inline(always)]
    fn integrate(&mut self, now: Time) {
        let span = now.since(self.cwnd_since).as_ns() as i64; // signed: one instruction on most machines
        self.cwnd_area += self.window.cwnd * span as f64;
        self.cwnd_since = now;
    }

    fn connected(&mut self, now: Time, packet: &SimPacket, out: &mut impl Outbox) {
        self.phase = Phase::Open;
        self.rto_at = Time::NEVER;
        // without timestamps nobody knows which request was answered (Karn)
        if self.config.timestamps || !self.rtt.is_backed_off() {
            if self.config.timestamps && !self.samples_each {
                self.rtt.sample_backed_off(packet.stamp, now);
            } else {
                self.rtt.sample(packet.stamp, now);
            }
            self.allow_probe();
        }
        self.timer_at = self.controller.properties.timer_period.map_or(Time::NEVER, |p| now + p);
        self.note(now, Happened::Connected);
        self.open_model(now);
        if self.explicit {
            self.take_answer(now, packet);
        }
        if self.quick_start.is_some() {
            self.take_quick_start(now, packet, out);
        }
    }

    #[inline(always)]
    fn on_ack<const EXPLICIT: bool>(&mut self, now: Time, packet: &SimPacket) {
        let base = self.board.base();
        let cumulative = packet.seq.saturating_sub(base);
        let part = packet.extra.as_ref().and_then(|extra| extra.division);
        let mut newly = 0;
        let mut sample = None;
        let mut reported = None;
        let by_number = self.config.rtt_samples != RttSamples::Echoed;
        if by_number && self.reports_in_order(packet) {
            sample = self.time_in_order(now, packet);
        } else if by_number {
            reported = self.note_covered(now, packet);
        }
        if cumulative > 0 {
            newly = self.board.advance(packet.seq);
            if !by_number && self.samples_each {
                sample = Some(self.rtt.sample(packet.stamp, now));
            } else if !by_number {
                sample = self.time_one(now, packet);
            }
        }
        let steady = packet.extra.as_ref().is_none_or(|e| e.sack.is_empty()) && self.board.is_clear();
        if self.config.loss_detection.has_sack() {
            let records_arrivals = reported.is_some() || self.rack.is_some() || self.deliveries.is_some();
            for (start, end) in packet.sack().iter() {
                let block = (start, end.min(self.next));
                if records_arrivals {
                    self.hear_of(now, packet, block, reported.as_mut());
                }
                newly += self.board.sack(block.0, block.1);
            }
        } else if (!steady || self.duplicates > 0 || cumulative == 0) && (part.is_none() || cumulative > 0) {
            newly = self.count_duplicates(packet.seq == base, cumulative);
        }
        if let Some(reported) = &reported {
            sample = self.time_reported(now, packet, cumulative, reported);
        }
        if cumulative > 0 {
            self.restart_timer(now);
        }
        let mut advances =
            (cumulative > 0 || part.is_some()) && matches!(self.phase, Phase::Open | Phase::Loss);
        // Linux and RFC 9002, whose slow-start has no limit, count what an acknowledgement is the first to
        // report
        let counted = if self.config.slow_start_limit.is_finite() { cumulative } else { newly };
        let mut acked = part.map_or_else(|| self.growth(counted), |part| self.growth_of_part(part));
        let looks = !steady || self.duplicates > 0 || packet.ecn_flag || self.keeps_times;
        let mut dubious = false;
        if looks || self.phase != Phase::Open {
            if self.marks.is_some() {
                self.hear_marks(now, packet, newly);
            }
            if let Some(deliveries) = &mut self.deliveries {
                deliveries.acknowledged(packet.seq);
            }
            if let Some(ages) = &mut self.ages {
                let covered = ages.acknowledged(now, packet.seq);
                if !by_number && self.times != SendingTimes::Unused {
                    // older than the segment that triggered this: it arrived long ago, above a hole
                    sample =
                        covered.map(|span| span.last).filter(|&rtt| sample.is_none_or(|first| rtt <= first));
                }
            }
            dubious = self.config.cwnd_moderation
                && !self.is_model_based()
                && (!steady || self.duplicates > 0 || packet.ecn_flag || self.phase != Phase::Open);
            if self.recover(now, packet, base, newly) && cumulative > 0 {
                // nothing was lost: the window grows as usual (Linux, tcp_ack)
                advances = true;
                acked = part.map_or_else(|| self.growth(counted), |part| self.growth_of_part(part));
            }
            if self.watch.is_some() {
                self.watch_slow_start(now, sample);
            }
        }
        let ack = self.describe(now, packet, acked, newly, sample);
        if let Some(steering) = &mut self.steering {
            steering.watch(&ack);
        }
        if self.wants_samples {
            self.controller.on_sample(&ack);
            self.deliver(now, newly);
        }
        if EXPLICIT && self.explicit {
            self.take_explicit(now, packet, cumulative > 0);
        }
        if advances && matches!(self.phase, Phase::Open | Phase::Loss) {
            if self.may_grow() {
                self.controller.on_ack(&ack, &mut self.window);
                self.check("on_ack", now);
            } else {
                self.hear_without_growth(now, &ack);
            }
        }
        if dubious {
            self.moderate();
        }
        if self.board.base() == self.end {
            self.phase = Phase::Done;
            self.note(now, Happened::Done);
        }
    }

    /// Something was acknowledged: the retransmission timer starts again, unless nothing is outstanding.
    #[inline(always)]
    fn restart_timer(&mut self, now: Time) {
        self.rto_at = if self.board.base() < self.next { self.rtt.deadline(now) } else { Time::NEVER };
    }

    /// The number of segments that a part of a divided acknowledgement counts: bytes add up to the same in
    /// any number of parts, acknowledgements do not.
    #[cold]
    fn growth_of_part(&self, division: Division) -> f64 {
        if !self.config.byte_counting {
            return 1.0;
        }
        let part = f64::from(division.segments) / f64::from(division.parts);
        part.min(if self.window.in_slow_start() { self.config.slow_start_limit } else { self.window.cwnd })
    }

    /// A full packet of IP.
    fn packet_bytes(&self) -> f64 {
        f64::from(self.config.mss_bytes + self.config.header_bytes)
    }

    /// The number of segments that an acknowledgement counts, which covers `segments`, or, where slow-start
    /// has no limit, is the first to report them.
    #[inline]
    fn growth(&self, segments: u64) -> f64 {
        if !self.config.byte_counting {
            return 1.0;
        }
        let most = match self.phase {
            Phase::Loss => return self.growth_after_timeout(segments),
            _ if self.window.in_slow_start() => {
                let counted = lesser(segments as i64 as f64, self.config.slow_start_limit);
                return self.watch.as_ref().map_or(counted, |watch| counted * watch.growth());
            }
            // RFC 3465, section 2.1: each acknowledged window adds one segment, however few acknowledgements
            // carry it
            _ => self.window.cwnd,
        };
        lesser(segments as i64 as f64, most)
    }

    /// The same until a timeout is repaired: acknowledgements then cover many segments that had arrived
    /// before.
    #[cold]
    fn growth_after_timeout(&self, segments: u64) -> f64 {
        if self.config.slow_start_limit.is_finite() {
            return segments.min(1) as f64; // RFC 3465, section 2.3
        }
        let most = if self.window.in_slow_start() { f64::INFINITY } else { self.window.cwnd };
        (segments as f64).min(most)
    }

    fn note(&mut self, now: Time, what: Happened) {
        if let Some(log) = &mut self.log {
            log.push((now, what, self.window.cwnd));
        }
    }
}

/// The lesser of two numbers, the first one if they cannot be compared.
#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}
