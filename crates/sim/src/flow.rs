//! A connection in the simulator: its two ends, the hosts' own links, and the stretches of path that only it uses.

use crate::link::LinkCounters;
use crate::plan::{ConnectionPlan, PlanError, ReductionPlan, SlowStart, rate};
use longfat_net::{ConstantFifo, Loss, Pipe};
use longfat_transport::cc::registry::Recovery;
use longfat_transport::cc::{self, Controller};
use longfat_transport::{Receiver, ReceiverConfig, Reduction, Sender, SenderConfig};
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{FlowId, Kind, Packet, SimPacket};
use std::cell::Cell;
use std::collections::VecDeque;

/// How far a host's clock may be off, either way: 50 ppm, the usual tolerance of the quartz in a PC (chosen here). Two
/// hosts whose ticks kept the same distance for ever would meet the queue in the same order at every overflow, and one
/// of them would take all the losses; no two real clocks do that.
const CLOCK_TOLERANCE: f64 = 50e-6;

/// When a host looks at what has arrived: at once, or at the ticks of its clock only (Li, Leith, Shorten 2007, section
/// V-D), so that a tick's acknowledgements are answered by one burst.
#[derive(Clone, Debug)]
struct HostClock {
    tick: Interval,
    phase: Interval,
    /// The last tick asked for: most questions are about the same one.
    last: Cell<Time>,
}

impl HostClock {
    /// A clock that is off by a part of [`CLOCK_TOLERANCE`], its first tick anywhere within one.
    fn new(tick: Interval, mut stream: Stream) -> Self {
        let phase = Interval::from_ns(stream.below(tick.as_ns()));
        let tick = tick.scale(1.0 + stream.uniform(-CLOCK_TOLERANCE, CLOCK_TOLERANCE));
        HostClock { tick, phase, last: Cell::new(Time::ZERO) }
    }

    /// When the host looks at what arrives at `at`.
    #[inline]
    fn looks(&self, at: Time) -> Time {
        if self.tick == Interval::ZERO || at == Time::NEVER {
            return at;
        }
        let last = self.last.get();
        if at > last || last.since(at) >= self.tick {
            self.last.set(at.round_up(self.tick, self.phase));
        }
        self.last.get()
    }
}

/// A host's own link: finite rate, room for everything. Data wait here when the host sends faster than its interface.
#[derive(Clone, Debug)]
pub struct Access {
    rate: Rate,
    free_at: Time,
    last_size: (u32, Interval),
}

impl Access {
    fn new(rate: Rate) -> Self {
        Access { rate, free_at: Time::ZERO, last_size: (0, Interval::ZERO) }
    }

    /// When the last bit of a packet handed over now is on the wire.
    #[inline]
    pub fn depart(&mut self, now: Time, bytes: u32) -> Time {
        if self.last_size.0 != bytes {
            self.last_size = (bytes, self.rate.transmission(bytes));
        }
        self.free_at = self.free_at.max(now) + self.last_size.1;
        self.free_at
    }
}

/// Where a connection's packets go.
#[derive(Clone, Debug)]
pub struct Route {
    /// Links that data cross.
    pub forward: Vec<usize>,
    /// Links that acknowledgements cross.
    pub reverse: Vec<usize>,
    /// From the last link to the receiver.
    pub forward_delay: Interval,
    /// From the last link to the sender.
    pub reverse_delay: Interval,
}

impl Route {
    /// The links this kind of packet crosses.
    #[inline]
    pub fn path(&self, kind: Kind) -> &[usize] {
        if kind.is_forward() { &self.forward } else { &self.reverse }
    }
}

/// Times at which samples look at receivers: a grid, and the ends of the window of figures.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Period of the grid, seconds.
    pub period_s: f64,
    /// The window of figures.
    pub window: (Time, Time),
    /// The run's end: none is later.
    pub end: Time,
}

impl Checks {
    /// The time of sample number `row`.
    pub fn grid(&self, row: u64) -> Time {
        Time::from_secs_f64(row as f64 * self.period_s)
    }

    /// The first of them after `now`; [`Time::NEVER`] after the last one.
    fn after(&self, now: Time) -> Time {
        let mut row = (now.as_secs_f64() / self.period_s) as u64;
        while self.grid(row) <= now {
            row += 1;
        }
        let marks = [self.window.0, self.window.1].into_iter().filter(|&mark| mark > now);
        let first = marks.fold(self.grid(row), Time::min);
        // a packet may well be due long after the run
        if first > self.end { Time::NEVER } else { first }
    }
}

/// What has reached a receiver at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverMark {
    /// IP bytes, duplicates included.
    pub received_bytes: u64,
    /// Segments handed to the application.
    pub delivered: u64,
    /// Segments that arrived a second time.
    pub duplicates: u64,
}

/// A connection in the simulator.
pub struct Flow {
    /// Sending end.
    pub sender: Sender,
    /// Receiving end.
    pub receiver: Receiver,
    /// Where packets go.
    pub route: Route,
    /// Loss processes on its way: link, whether for data, process. Mostly none.
    pub losses: Vec<(usize, Kind, Loss)>,
    /// The sender's host.
    clock: HostClock,
    /// The sender's own link, and what is on it.
    pub access: Access,
    /// From the sender to the first link.
    pub to_link: Pipe<SimPacket>,
    /// From the last link to the receiver.
    pub to_receiver: Pipe<SimPacket>,
    /// The receiver's own link.
    pub ack_access: Access,
    /// From the receiver to the first link back.
    pub ack_to_link: Pipe<SimPacket>,
    /// From the last link back to the sender.
    pub to_sender: Pipe<SimPacket>,
    /// When the connection is to be opened; never again once it is.
    pub start_at: Time,
    /// When the sender is to stop; never again once it has.
    pub stop_at: Time,
    /// When it was to start, for figures.
    pub began: Time,
    /// When everything was acknowledged.
    pub completed: Option<Time>,
    /// Two-way propagation delay.
    pub rtt: Interval,
    /// Its data packets that the network dropped.
    pub packets_lost: u64,
    /// Its data packets that reached the receiver.
    pub packets_arrived: u64,
    /// When samples will look at the receiver.
    checks: Checks,
    /// The next such time, for a receiver that runs ahead.
    next_check: Time,
    /// What a receiver that runs ahead looked like when its clock passed those times.
    passed: VecDeque<(Time, ReceiverMark)>,
    /// Its packets of all kinds that are neither at an end nor dropped.
    pub under_way: u64,
    /// What it transfers for a background source, until it has left its place.
    pub transfer: Option<Transfer>,
}

/// One connection's work for a background source.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Index of the source.
    pub group: usize,
    /// Index of the session that opened it.
    pub session: usize,
    /// Payload, bytes.
    pub bytes: u64,
    /// Everything was acknowledged.
    pub complete: bool,
}

/// What a new connection needs beside its plan.
pub struct NewFlow<'a> {
    /// Its index.
    pub id: FlowId,
    /// Names its random streams, e.g. `flow/1`.
    pub stream_name: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Payload to send; endless if `None`.
    pub bytes: Option<u64>,
    /// When it starts.
    pub start: Time,
    /// Loss models it meets: link, kind of packet, model.
    pub losses: Vec<(usize, Kind, longfat_net::LossModel)>,
    /// Propagation delay of the shared links on its way there, and back.
    pub shared_delay: (Interval, Interval),
    /// When samples will look at the receiver.
    pub checks: Checks,
}

impl Flow {
    /// A connection as planned, with this algorithm instance.
    pub fn new(
        plan: &ConnectionPlan,
        controller: Controller,
        recovery: Recovery,
        new: NewFlow<'_>,
    ) -> Result<Self, PlanError> {
        let stream = |what: &str| Stream::new(new.seed, &format!("{}/{what}", new.stream_name));
        let rtt = Interval::from_secs_f64(plan.rtt_s.distribution().draw(&mut stream("rtt")));
        let one_way = Interval::from_ns(rtt.as_ns() / 2);
        let remaining =
            |all: Interval, shared: Interval| all.saturating_sub(shared).max(Interval::from_ns(1));
        let clock = HostClock::new(Interval::from_secs_f64(plan.host_tick_s), stream("tick"));
        let access = Access::new(rate("access_rate_bps", plan.access_rate_bps)?);
        let sender = SenderConfig {
            flow: new.id,
            mss_bytes: plan.mss_bytes,
            header_bytes: plan.header_bytes,
            bytes: new.bytes,
            initial_window: plan.initial_window,
            initial_ssthresh: plan.initial_ssthresh.unwrap_or(f64::INFINITY),
            max_window: plan.max_window.unwrap_or(f64::INFINITY),
            max_ssthresh: if plan.slow_start == SlowStart::Limited {
                plan.max_ssthresh
            } else {
                f64::INFINITY
            },
            byte_counting: plan.byte_counting,
            recovery,
            reduction: match plan.recovery {
                ReductionPlan::RateHalving => Reduction::RateHalving,
                ReductionPlan::Prr => Reduction::Prr,
            },
            host_tick: clock.tick,
            tick_phase: clock.phase,
            rto_min: Interval::from_secs_f64(plan.rto_min_s),
            ecn: plan.ecn,
        };
        let receiver = ReceiverConfig {
            flow: new.id,
            delayed_ack: plan.delayed_ack.then(|| Interval::from_secs_f64(plan.delayed_ack_timeout_s)),
            sack: recovery == Recovery::Sack,
        };
        let losses = new
            .losses
            .into_iter()
            .map(|(link, kind, model)| {
                (link, kind, Loss::new(model, stream(&format!("loss/{link}/{kind:?}"))))
            })
            .collect();
        Ok(Flow {
            sender: Sender::new(sender, controller),
            receiver: Receiver::new(receiver),
            route: Route {
                forward: plan.forward.clone(),
                reverse: plan.reverse.clone(),
                forward_delay: remaining(one_way, new.shared_delay.0),
                reverse_delay: remaining(rtt.saturating_sub(one_way), new.shared_delay.1),
            },
            losses,
            clock,
            ack_access: access.clone(),
            access,
            to_link: Pipe::default(),
            to_receiver: Pipe::default(),
            ack_to_link: Pipe::default(),
            to_sender: Pipe::default(),
            start_at: new.start,
            stop_at: Time::NEVER,
            began: new.start,
            completed: None,
            rtt,
            packets_lost: 0,
            packets_arrived: 0,
            checks: new.checks,
            next_check: Time::ZERO,
            passed: VecDeque::new(),
            under_way: 0,
            transfer: None,
        })
    }

    /// The instance and the recovery that this plan asks for; `custom` makes a user's own algorithm.
    pub fn controller(
        plan: &ConnectionPlan,
        custom: &mut dyn FnMut() -> Option<Controller>,
    ) -> Result<(Controller, Recovery), PlanError> {
        let missing = |what: String| PlanError { at: "algorithm".to_owned(), what };
        let (controller, own) = if plan.algorithm == "custom" {
            let made =
                custom().ok_or_else(|| missing("no algorithm was handed over for this flow".to_owned()))?;
            (made, Recovery::Sack)
        } else {
            let row = cc::find(&plan.algorithm)
                .ok_or_else(|| missing(format!("there is no algorithm {:?}", plan.algorithm)))?;
            (row.instance(&plan.values()).map_err(|e| missing(e.to_string()))?, row.recovery)
        };
        let recovery = match (plan.sack, own) {
            (Some(true), _) => Recovery::Sack,
            (Some(false), Recovery::Sack) => Recovery::NewReno,
            _ => own,
        };
        Ok((controller, recovery))
    }

    /// When the receiver's next event is.
    #[inline]
    pub fn receiver_wake(&self) -> Time {
        self.to_receiver.head().min(self.receiver.wake())
    }

    /// When the sender's next event is.
    #[inline]
    pub fn sender_wake(&self) -> Time {
        self.clock.looks(self.to_sender.head()).min(self.sender.wake()).min(self.start_at.min(self.stop_at))
    }

    /// The sender's next event: starts, stops, takes an acknowledgement, or its timer.
    #[inline]
    pub fn sender_event(&mut self, now: Time) {
        let due = self.clock.looks(self.to_sender.head()) <= now;
        let arrived = if due { self.to_sender.pop() } else { None };
        let Flow { sender, access, to_link, under_way, .. } = self;
        *under_way -= u64::from(due);
        let mut out = |packet: SimPacket| {
            *under_way += 1;
            to_link.push(access.depart(now, packet.bytes()), packet);
        };
        if let Some(packet) = arrived {
            sender.on_packet(now, &packet, &mut out);
        } else if self.start_at <= now {
            self.start_at = Time::NEVER;
            sender.start(now, &mut out);
        } else if self.stop_at <= now {
            self.stop_at = Time::NEVER;
            sender.stop();
        } else {
            sender.on_timer(now, &mut out);
        }
        if sender.is_done() && self.completed.is_none() {
            self.completed = Some(now);
        }
    }

    /// The receiver's next event: takes a packet, or its timer.
    #[inline]
    pub fn receiver_event(&mut self, now: Time) {
        if self.to_receiver.head() <= now {
            if let Some(packet) = self.to_receiver.pop() {
                self.receive(now, &packet);
            }
        } else if let Some(ack) = self.receiver.on_timer(now) {
            self.answer(now, ack);
        }
    }

    /// A packet whose last bit leaves its last link, and the propagation of that, at `at`: puts it on its way to its end.
    #[inline(always)]
    pub fn pass_on(&mut self, packet: SimPacket, at: Time, ahead: bool) {
        if !packet.kind.is_forward() {
            self.to_sender.push(at + self.route.reverse_delay, packet);
        } else if ahead && self.transfer.is_none() {
            self.receive_ahead(at + self.route.forward_delay, &packet);
        } else {
            self.to_receiver.push(at + self.route.forward_delay, packet);
        }
    }

    /// A packet that will reach the receiver at `at` is dealt with now. Allowed when all that come before it have been:
    /// nothing but its own packets and timer moves a receiver, so it may run ahead of everything else.
    #[inline]
    pub fn receive_ahead(&mut self, at: Time, packet: &SimPacket) {
        let timer = self.receiver.wake();
        if timer < at {
            self.note_passed(timer);
            self.receiver_event(timer);
        }
        if at >= self.next_check {
            self.note_passed(at);
        }
        self.receive(at, packet);
    }

    #[inline]
    fn receive(&mut self, now: Time, packet: &SimPacket) {
        self.under_way -= 1;
        self.packets_arrived += u64::from(packet.kind == Kind::Data);
        if let Some(ack) = self.receiver.on_packet(now, packet) {
            self.answer(now, ack);
        }
    }

    #[inline]
    fn answer(&mut self, now: Time, ack: SimPacket) {
        self.under_way += 1;
        self.ack_to_link.push(self.ack_access.depart(now, ack.bytes()), ack);
    }

    /// The receiver's clock passes on to `at`: notes how it looks at all checks on the way.
    fn note_passed(&mut self, at: Time) {
        while self.next_check <= at {
            self.passed.push_back((self.next_check, self.receiver_now()));
            self.next_check = self.checks.after(self.next_check);
        }
    }

    fn receiver_now(&self) -> ReceiverMark {
        ReceiverMark {
            received_bytes: self.receiver.received_bytes,
            delivered: self.receiver.delivered(),
            duplicates: self.receiver.duplicates,
        }
    }

    /// What has reached the receiver before `now`, a time of the checks.
    pub fn receiver_at(&mut self, now: Time) -> ReceiverMark {
        while self.passed.front().is_some_and(|&(at, _)| at < now) {
            self.passed.pop_front();
        }
        match self.passed.front() {
            Some(&(at, mark)) if at == now => mark,
            _ => self.receiver_now(),
        }
    }

    /// The first of its data packets, or else acknowledgements, on the way to a link crosses that link, the only one on
    /// its way, or is dropped there. Answers when the next one comes to the link.
    #[inline(always)]
    pub fn cross(
        &mut self,
        now: Time,
        data: bool,
        fifo: &mut ConstantFifo,
        counters: &mut LinkCounters,
        delay: Interval,
    ) -> Time {
        let pipe = if data { &mut self.to_link } else { &mut self.ack_to_link };
        let Some(packet) = pipe.pop() else { return Time::NEVER };
        let next = pipe.head();
        counters.packets_in += 1;
        if let Some(departure) = fifo.offer(now, packet.bytes()) {
            self.pass_on(packet, departure + delay, true);
        } else {
            counters.packets_dropped += 1;
            self.drop(packet.kind);
        }
        next
    }

    /// Whether its data, or else its acknowledgements, cross a single link and meet no loss process.
    #[inline]
    pub fn is_plain(&self, data: bool) -> bool {
        let path = if data { &self.route.forward } else { &self.route.reverse };
        path.len() == 1 && self.losses.is_empty()
    }

    /// A packet of this flow was dropped.
    #[inline]
    pub fn drop(&mut self, kind: Kind) {
        self.packets_lost += u64::from(kind == Kind::Data);
        self.under_way -= 1;
    }

    /// Whether a loss process on this link takes this packet.
    #[inline]
    pub fn is_lost(&mut self, link: usize, kind: Kind) -> bool {
        !self.losses.is_empty()
            && self.losses.iter_mut().any(|(l, k, loss)| *l == link && *k == kind && loss.strikes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_end_with_the_run_however_late_a_packet_is_due() {
        let s = Time::from_secs_f64;
        let checks = Checks { period_s: 0.25, window: (s(0.6), s(1.0)), end: s(1.0) };
        let mut at = Time::ZERO;
        let mut all = Vec::new();
        while at != Time::NEVER {
            all.push(at);
            at = checks.after(at);
        }
        assert_eq!(all, [s(0.0), s(0.25), s(0.5), s(0.6), s(0.75), s(1.0)]);
    }
}
