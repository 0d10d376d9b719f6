//! A connection whose congestion control is an object's: the simulator's calls become those of the kernel, in
//! the kernel's order.
//!
//! | the sender's call | callbacks |
//! |---|---|
//! | `on_start` (`on_open` if there is a `cong_control`) | init |
//! | `on_sample` | pkts_acked, in_ack_event |
//! | `on_ack` | cong_avoid, which the kernel always calls |
//! | `on_congestion` | ssthresh, for a timeout cwnd_event(CA_EVENT_LOSS), then set_state |
//! | `on_recovered` | set_state(TCP_CA_Open) and cwnd_event(CA_EVENT_COMPLETE_CWR); after CWR the other way round |
//! | `on_undo` | undo_cwnd, then set_state(TCP_CA_Open) |
//! | `on_delivery` | pkts_acked and in_ack_event in `on_sample` before it, cong_control |
//! | `on_timeout` | set_state(TCP_CA_Loss), if `on_congestion` did not just do so |
//! | `on_restart` | cwnd_event_tx_start (Linux 7.1); without it cwnd_event(CA_EVENT_TX_START) |
//! | the end | release |
//!
//! The order is that of tcp_ack, tcp_fastretrans_alert, tcp_enter_loss and tcp_undo_cwnd_reduction
//! (net/ipv4/tcp_input.c of Linux 6.12.117, read), with one exception: the kernel tells of an acknowledgement
//! (pkts_acked, in_ack_event) before it looks for losses (ssthresh, set_state), the sender looks for losses
//! first. Older kernels call in_ack_event before pkts_acked. A repaired timeout gives no
//! CA_EVENT_COMPLETE_CWR.
//!
//! Buffers are not modelled, so sndbuf_expand is never called. min_tso_segs is asked after each
//! acknowledgement, and is the least burst of a paced connection.

use crate::address::{address, region};
use crate::host::{Host, UPTIME_NS};
use crate::image::Image;
use crate::interpreter::Machine;
use crate::kernel_model::model;
use crate::kernel_types::PRIVATE_WORDS;
use crate::maps::Maps;
use crate::memory::{FRAME_BYTES, MOST_ARGUMENTS, Memory};
use crate::samples::{Sample, Samples};
use crate::sock::{INFINITE_SSTHRESH, Sock, state};
use crate::struct_ops::{Callback, Ops};
use longfat_transport::Feedback;
use longfat_transport::cc::{
    Ack, Cause, Congestion, CongestionControl, Delivery, MarkSample, Opening, Properties, Repair, Window,
};
use longfat_units::{Interval, Time};
use std::sync::{Arc, Mutex, PoisonError};

/// The most instructions of one callback: as many as the verifier follows (BPF_COMPLEXITY_LIMIT_INSNS).
pub const BUDGET: u64 = 1_000_000;

/// Events (enum tcp_ca_event).
const TX_START: u64 = 0;
const COMPLETE_CWR: u64 = 2;
const LOST: u64 = 3;
/// Flags of an acknowledgement (enum tcp_ca_ack_event_flags).
const SLOW_PATH: u64 = 1;
const WINDOW_UPDATE: u64 = 2;
const ECE: u64 = 4;

/// What cong_control is told of an acknowledgement (net/ipv4/tcp_input.c, FLAG_*): it advances snd_una, it
/// selects segments, it carries ECE.
const DATA_ACKED: u64 = 0x04 | 0x400;
const DATA_SACKED: u64 = 0x20;
const CARRIES_ECE: u64 = 0x40;

/// One callback that has ended, for whoever watches.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// The name of the callback.
    pub callback: &'static str,
    /// When it was called.
    pub now: Time,
    /// Its arguments after the connection; a sample is 0.
    pub arguments: Vec<u64>,
    /// The fields of the sample that it was handed, by their names; empty if there was none.
    pub sample: Sample,
    /// What it returned; meaningless for callbacks that return nothing.
    pub result: u64,
    /// snd_cwnd and snd_ssthresh before, segments.
    pub before: (u32, u32),
    /// The same after.
    pub after: (u32, u32),
}

type Observer = Box<dyn FnMut(&Called) + Send>;

/// A connection, for the sender.
pub struct Connection {
    image: Arc<Image>,
    index: usize,
    maps: Arc<Mutex<Maps>>,
    /// Where no program needs maps, those are not locked.
    unshared: Maps,
    uses_maps: bool,
    sock: Sock,
    stack: Vec<u8>,
    sample: Samples,
    host: Host,
    budget: u64,
    /// The window as the sender and the programs have last agreed on it.
    agreed: (u32, u32),
    /// The last acknowledgement was told to the programs by `on_sample`.
    told: bool,
    /// Flags of the acknowledgement that is being handled.
    flags: u64,
    /// snd_una at the last call of cong_control.
    una: u32,
    /// snd_una at the last call of in_ack_event.
    heard_una: u32,
    /// The acknowledgement that is being handled carries ECE.
    carries_ece: bool,
    /// Segments found marked since the last rate sample.
    marked: u32,
    /// Segments of growth that were not whole.
    fraction: f64,
    /// `on_congestion` has just told of a timeout.
    told_timeout: bool,
    /// Segments in flight after the last acknowledgement.
    left_in_flight: u64,
    /// A reduction began with the acknowledgement that is being handled: what was sent before it does not
    /// count for it.
    just_reduced: bool,
    burst: f64,
    failure: Option<String>,
    has_failed: bool,
    observer: Option<Observer>,
}

impl Connection {
    /// A new one, of the congestion control with this number.
    pub(crate) fn new(image: Arc<Image>, index: usize, maps: Arc<Mutex<Maps>>) -> Self {
        let ops = &image.algorithms[index].ops;
        let frames = ops.programs.iter().flatten().map(|p| p.frames).max().unwrap_or(1);
        let connection = maps.lock().unwrap_or_else(PoisonError::into_inner).connect();
        Connection {
            uses_maps: ops.uses_maps(),
            image,
            index,
            maps,
            unshared: Maps::default(),
            sock: Sock::new(),
            // the further one holds keys that helpers pass
            stack: vec![0; (frames + 1) * FRAME_BYTES],
            sample: Samples::new(),
            host: Host::new(connection),
            budget: BUDGET,
            agreed: (0, 0),
            told: false,
            flags: WINDOW_UPDATE,
            una: 1,
            heard_una: 1,
            carries_ece: false,
            marked: 0,
            fraction: 0.0,
            told_timeout: false,
            left_in_flight: 0,
            just_reduced: false,
            burst: 1.0,
            failure: None,
            has_failed: false,
            observer: None,
        }
    }

    /// Ends a callback after this many instructions; the default is [`BUDGET`].
    pub fn set_budget(&mut self, instructions: u64) {
        self.budget = instructions;
    }

    /// Lets the kernel's own pacing send at this share of cwnd / srtt outside of slow-start, percent
    /// (net.ipv4.tcp_pacing_ca_ratio); the default is the kernel's, 120.
    pub fn set_pacing_ratio(&mut self, percent: u64) {
        self.sock.avoidance_ratio = percent;
    }

    /// Calls `observer` after each callback.
    pub fn observe(&mut self, observer: impl FnMut(&Called) + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// The connection's private memory (icsk_ca_priv).
    pub fn private_memory(&self) -> &[u8] {
        let at = self.sock.fields().icsk_ca_priv;
        &self.sock.bytes[at..at + 8 * PRIVATE_WORDS as usize]
    }

    /// The last lines that the programs printed (bpf_printk).
    pub fn printed(&self) -> impl Iterator<Item = &str> {
        self.host.printed.iter().map(String::as_str)
    }

    fn ops(&self) -> &Ops {
        &self.image.algorithms[self.index].ops
    }

    fn has(&self, callback: Callback) -> bool {
        self.ops().program(callback).is_some()
    }

    /// Calls a callback with these arguments after the connection. Returns r0, if there is such a program and
    /// nothing has failed.
    #[inline]
    fn call(&mut self, callback: Callback, arguments: &[u64], sample_bytes: usize) -> Option<u64> {
        let program = *self.image.algorithms[self.index].ops.program(callback)?;
        if self.has_failed {
            return None;
        }
        let mut all = [0; MOST_ARGUMENTS];
        all[0] = address(region::SOCK, 0);
        all[1..=arguments.len()].copy_from_slice(arguments);
        let before = self.observer.as_ref().map(|_| (self.sock.cwnd(), self.sock.ssthresh()));
        let mut shared = self.uses_maps.then(|| self.maps.lock().unwrap_or_else(PoisonError::into_inner));
        let maps = shared.as_deref_mut().unwrap_or(&mut self.unshared);
        let memory = Memory {
            model: model(),
            arguments: all,
            argument_count: program.arguments,
            stack: &mut self.stack,
            sock: &mut self.sock.bytes,
            sample: self.sample.first(sample_bytes),
            maps,
            constants: &self.image.constants,
        };
        let mut machine =
            Machine { code: &self.image.code, memory, host: &mut self.host, budget: self.budget };
        let outcome = machine.run(program.function);
        drop(shared);
        match outcome {
            Ok(result) => {
                if let Some(before) = before {
                    self.observed(callback, arguments, result, before);
                }
                Some(result)
            }
            Err(fault) => {
                self.failure = Some(format!("{}: {fault}", callback.name()));
                self.has_failed = true;
                None
            }
        }
    }

    #[cold]
    fn observed(&mut self, callback: Callback, arguments: &[u64], result: u64, before: (u32, u32)) {
        let sample = address(region::SAMPLE, 0);
        let called = Called {
            callback: callback.name(),
            now: Time::from_ns(self.host.now_ns - UPTIME_NS),
            arguments: arguments.iter().map(|&a| if a == sample { 0 } else { a }).collect(),
            sample: if arguments.contains(&sample) { self.sample.described(callback) } else { Sample::new() },
            result,
            before,
            after: (self.sock.cwnd(), self.sock.ssthresh()),
        };
        if let Some(observer) = &mut self.observer {
            observer(&called);
        }
    }

    #[inline]
    fn set_now(&mut self, now: Time) {
        self.host.now_ns = now.as_ns() + UPTIME_NS;
    }

    /// Gives the sender's window to the programs. What they changed where the sender could not see it goes to
    /// the sender first.
    #[inline]
    fn take_in(&mut self, w: &mut Window) {
        let f = self.sock.fields();
        let (cwnd, ssthresh) = (self.sock.cwnd(), self.sock.ssthresh());
        if cwnd != self.agreed.0 {
            w.cwnd = self.window_of(cwnd);
        } else {
            let whole = (w.cwnd as u32).max(u32::from(!self.ops().is_model_based()));
            self.sock.set(f.snd_cwnd, whole);
        }
        if ssthresh != self.agreed.1 {
            w.ssthresh = threshold(ssthresh);
        } else {
            self.sock.set(f.snd_ssthresh, whole_threshold(w.ssthresh));
        }
        self.agree();
    }

    #[inline]
    fn agree(&mut self) {
        self.agreed = (self.sock.cwnd(), self.sock.ssthresh());
    }

    /// The sender's window for this snd_cwnd. A kernel that meets snd_cwnd 0 sends nothing; the sender has
    /// such a window for a `cong_control` only.
    #[inline]
    fn window_of(&self, cwnd: u32) -> f64 {
        f64::from(if self.ops().is_model_based() { cwnd } else { cwnd.max(1) })
    }

    /// Gives what the programs made of the window to the sender.
    #[inline]
    fn give_out(&mut self, w: &mut Window) {
        let (cwnd, ssthresh) = (self.sock.cwnd(), self.sock.ssthresh());
        if cwnd != self.agreed.0 {
            w.cwnd = self.window_of(cwnd);
        }
        if ssthresh != self.agreed.1 {
            w.ssthresh = threshold(ssthresh);
        }
        self.agree();
    }

    fn init(&mut self) {
        self.agree();
        self.call(Callback::Init, &[], 0);
        // what it changed is not agreed on yet, so it goes to the sender with the next call
    }

    /// Enters a state of the connection. The program sees the old one.
    fn enter(&mut self, state: u8) {
        self.call(Callback::SetState, &[u64::from(state)], 0);
        self.sock.set_state(state);
    }

    /// Tells of an acknowledgement, if nobody has done so.
    #[inline]
    fn hear(&mut self, ack: &Ack) {
        self.set_now(ack.now);
        self.sock.hear(self.host.now_ns, ack);
        if self.host.native.is_used() {
            self.host.native.ack = Some(*ack);
        }
    }

    /// After an acknowledgement: the kernel's own pacing rate, and how much leaves at once.
    #[inline]
    fn pace(&mut self) {
        if !self.ops().is_model_based() {
            self.sock.update_pacing_rate();
        }
        if self.has(Callback::MinTsoSegs) {
            let least = self.call(Callback::MinTsoSegs, &[], 0).unwrap_or(1);
            self.burst = self.sock.burst(least as u32);
        } else if self.sock.is_paced() {
            self.burst = self.sock.burst(2); // net.ipv4.tcp_min_tso_segs
        }
    }
}

#[inline]
fn threshold(ssthresh: u32) -> f64 {
    if ssthresh >= INFINITE_SSTHRESH { f64::INFINITY } else { f64::from(ssthresh) }
}

#[inline]
fn whole_threshold(ssthresh: f64) -> u32 {
    (ssthresh as u32).min(INFINITE_SSTHRESH)
}

impl Connection {
    /// The facts about its algorithm.
    pub fn properties(&self) -> Properties {
        let model_based = self.ops().is_model_based();
        Properties {
            model_based,
            draws: true,
            samples: self.has(Callback::InAckEvent) || self.has(Callback::PktsAcked),
            feedback: if self.ops().needs_ecn { Feedback::Dctcp } else { Feedback::Classic },
            may_close: model_based,
            shrinks: true,
            ..Properties::CUSTOM
        }
    }
}

impl CongestionControl for Connection {
    fn on_start(&mut self, mss_bytes: u32, seed: u64) {
        self.host.seed(seed);
        let needs_ecn = self.ops().needs_ecn;
        self.sock.start(mss_bytes, needs_ecn);
        self.sock.set_time(self.host.now_ns);
        self.agree();
        if !self.ops().is_model_based() {
            self.init();
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if !std::mem::take(&mut self.told) {
            self.hear(ack);
        }
        self.take_in(w);
        self.sock.set_limited(ack.may_grow);
        let counted = ack.acked + self.fraction;
        let acked = counted as u32;
        self.fraction = counted - f64::from(acked);
        let una = u64::from(self.sock.sequence(ack.unacknowledged));
        self.call(Callback::CongAvoid, &[una, u64::from(acked)], 0);
        self.give_out(w);
        self.pace();
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.set_now(event.now);
        let f = self.sock.fields();
        self.take_in(w);
        self.sock.set_time(self.host.now_ns);
        self.sock.set_round_trips(self.host.now_ns, None, event.srtt, event.base_rtt);
        self.host.native.event = Some(*event);
        let (cwnd, ssthresh) = (self.sock.cwnd(), self.sock.ssthresh());
        // tcp_current_ssthresh
        let in_reduction = matches!(self.sock.state(), state::CWR | state::RECOVERY);
        let current = if in_reduction { ssthresh } else { ssthresh.max(cwnd / 2 + cwnd / 4) };
        self.sock.set(f.prior_ssthresh, if event.cause == Cause::Mark { 0 } else { current });
        self.sock.set(f.prior_cwnd, cwnd);
        self.sock.set(f.snd_cwnd_cnt, 0);
        // tcp_init_cwnd_reduction
        self.sock.set(f.prr_out, 0);
        self.just_reduced = true;
        let next = self.sock.get(f.snd_nxt);
        self.sock.set(f.high_seq, next);
        if let Some(reduced) = self.call(Callback::Ssthresh, &[], 0) {
            self.sock.set(f.snd_ssthresh, reduced as u32);
        }
        self.host.native.event = None;
        match event.cause {
            Cause::Loss => self.enter(state::RECOVERY),
            Cause::Mark => self.enter(state::CWR),
            Cause::Timeout => {
                self.call(Callback::CwndEvent, &[LOST], 0);
                // the sender sets its window to this, or to one segment, when this call has returned
                self.sock.set(f.snd_cwnd, (event.in_flight as u32).saturating_add(1));
                self.enter(state::LOSS);
                self.sock.set(f.snd_cwnd, cwnd);
                self.told_timeout = true;
            }
        }
        self.give_out(w);
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        self.hear(ack);
        self.told = true;
        if self.has(Callback::PktsAcked) {
            let bytes = self.sample.fill_acknowledged(ack, self.sock.mss);
            self.call(Callback::PktsAcked, &[address(region::SAMPLE, 0)], bytes);
        }
        if self.has(Callback::InAckEvent) {
            let una = self.sock.get(self.sock.fields().snd_una);
            // a duplicate one takes the slow path and updates no window
            let flags =
                if std::mem::replace(&mut self.heard_una, una) == una { SLOW_PATH } else { self.flags };
            self.call(Callback::InAckEvent, &[flags], 0);
        }
        self.flags = WINDOW_UPDATE;
    }

    fn on_marks(&mut self, sample: &MarkSample, _: &mut Window) {
        let f = self.sock.fields();
        let marked = self.sock.get(f.delivered_ce).wrapping_add(sample.marked as u32);
        self.sock.set(f.delivered_ce, marked);
        self.marked = self.marked.saturating_add(sample.marked as u32);
        self.carries_ece = sample.marked > 0;
        self.flags = WINDOW_UPDATE | SLOW_PATH | if sample.marked > 0 { ECE } else { 0 };
    }

    fn on_recovered(&mut self, now: Time, w: &mut Window) {
        self.set_now(now);
        self.take_in(w);
        self.sock.set_time(self.host.now_ns);
        // tcp_fastretrans_alert: after a recovery the state changes first (tcp_try_undo_recovery), after CWR
        // last
        let was = self.sock.state();
        if was != state::CWR {
            self.enter(state::OPEN);
        }
        if matches!(was, state::CWR | state::RECOVERY) && !self.ops().is_model_based() {
            self.call(Callback::CwndEvent, &[COMPLETE_CWR], 0);
        }
        if was == state::CWR {
            self.enter(state::OPEN);
        }
        self.told_timeout = false;
        self.give_out(w);
    }

    fn on_undo(&mut self, w: &mut Window) {
        // the programs still have the reduced window, and know the one before
        let f = self.sock.fields();
        if let Some(cwnd) = self.call(Callback::UndoCwnd, &[], 0) {
            w.cwnd = f64::from((cwnd as u32).max(1));
            self.sock.set(f.snd_cwnd, cwnd as u32);
        }
        let ssthresh = self.sock.get(f.prior_ssthresh).max(whole_threshold(w.ssthresh));
        self.sock.set(f.snd_ssthresh, ssthresh);
        w.ssthresh = threshold(ssthresh);
        self.agree();
        if self.sock.state() != state::OPEN {
            self.enter(state::OPEN);
        }
        self.give_out(w);
    }

    #[inline]
    fn pacing_rate(&self, _: &Window, srtt: Interval) -> Option<f64> {
        if self.ops().is_model_based() { self.sock.paced_at() } else { self.sock.paced_by_kernel(srtt) }
    }

    fn send_quantum(&self) -> f64 {
        self.burst
    }

    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        self.set_now(opening.now);
        self.take_in(w);
        self.sock.set_time(self.host.now_ns);
        if let Some(rtt) = opening.rtt {
            self.sock.set_round_trips(self.host.now_ns, Some(rtt), rtt, Some(rtt));
        }
        let f = self.sock.fields();
        let now_us = self.host.now_ns / 1000;
        self.sock.set_wide(f.delivered_mstamp, now_us);
        self.sock.set_wide(f.first_tx_mstamp, now_us);
        self.call(Callback::Init, &[], 0);
        self.give_out(w);
        self.pace();
    }

    fn on_delivery(&mut self, d: &Delivery, w: &mut Window) {
        self.told = false;
        self.take_in(w);
        let f = self.sock.fields();
        // tcp_write_xmit and tcp_xmit_retransmit_queue count what leaves during a reduction
        let sent = d.prior_in_flight.saturating_sub(self.left_in_flight) as u32;
        self.left_in_flight = d.in_flight;
        if !std::mem::take(&mut self.just_reduced)
            && matches!(self.sock.state(), state::CWR | state::RECOVERY)
        {
            let before = self.sock.get(f.prr_out);
            self.sock.set(f.prr_out, before.wrapping_add(sent));
        }
        if d.repair == Repair::None && self.sock.state() != state::OPEN {
            self.enter(state::OPEN);
        }
        self.told_timeout = false;
        self.sock.set(f.lost, d.total_lost as u32);
        self.sock.set(f.delivered, d.total_delivered as u32);
        self.sock.set_wide(f.tcp_wstamp_ns, d.next_departure.as_ns() + UPTIME_NS);
        self.sock.set_limited(d.window_limited);
        let marked = std::mem::take(&mut self.marked);
        let bytes = self.sample.fill_rate(d, marked, self.host.now_ns, &self.sock);
        let sample = address(region::SAMPLE, 0);
        let short = self.ops().program(Callback::CongControl).is_some_and(|p| p.arguments == 2);
        let una = self.sock.get(f.snd_una);
        let advances = std::mem::replace(&mut self.una, una) != una;
        let mut flag = if advances { DATA_ACKED } else { 0 };
        flag |= if d.newly_delivered > 0 && !advances { DATA_SACKED } else { 0 };
        flag |= if std::mem::take(&mut self.carries_ece) { CARRIES_ECE } else { 0 };
        let arguments = if short { &[sample][..] } else { &[u64::from(una), flag, sample] };
        self.call(Callback::CongControl, arguments, bytes);
        self.give_out(w);
        self.pace();
    }

    fn on_timeout(&mut self, now: Time, w: &mut Window) {
        self.set_now(now);
        self.take_in(w);
        // a timeout in recovery: no further reduction, and no CA_EVENT_LOSS (tcp_enter_loss)
        if !std::mem::take(&mut self.told_timeout) {
            self.enter(state::LOSS);
        }
        self.give_out(w);
    }

    fn on_restart(&mut self, now: Time, last_sent: Option<Time>, w: &mut Window) {
        self.set_now(now);
        self.take_in(w);
        self.sock.resume(self.host.now_ns, last_sent.map(|at| at.as_ns() + UPTIME_NS));
        let f = self.sock.fields();
        let delivered = self.sock.get(f.delivered).max(1);
        self.sock.set(f.app_limited, delivered);
        if self.has(Callback::CwndEventTxStart) {
            self.call(Callback::CwndEventTxStart, &[], 0);
        } else {
            self.call(Callback::CwndEvent, &[TX_START], 0);
        }
        self.sock.set_time(self.host.now_ns);
        self.give_out(w);
    }

    fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.call(Callback::Release, &[], 0);
        let number = self.host.connection;
        self.maps.lock().unwrap_or_else(PoisonError::into_inner).disconnect(number);
    }
}
