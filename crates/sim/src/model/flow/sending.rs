//! The sending end of a connection.

use super::host::{Access, HostClock};
use super::machines::AnySender;
use super::snapshots::{SampleTimes, Snapshots};
use longfat_net::Pipe;
use longfat_transport::cc::{Internals, Window};
use longfat_transport::{Outbox, SenderCounters, Steer};
use longfat_units::{Interval, Time};
use longfat_wire::{Packet, SimPacket};

/// A sender's state and counters at one moment.
#[derive(Clone, Copy, Debug)]
pub struct SenderSnapshot {
    /// The window.
    pub window: Window,
    /// Smoothed round-trip time, once one is measured.
    pub srtt: Option<Interval>,
    /// Whether the connection is open, or was; `None` where there is none to open.
    pub connected: Option<bool>,
    /// Payload acknowledged in order.
    pub acked_bytes: u64,
    /// Counters.
    pub counters: SenderCounters,
    /// Integral of cwnd since the start, segment seconds.
    pub cwnd_integral: f64,
}

impl SenderSnapshot {
    /// The sender's state at `now`, if nothing has happened to it since its last event.
    fn of(sender: &AnySender, completed: Option<Time>, now: Time) -> Self {
        SenderSnapshot {
            window: sender.window(),
            srtt: sender.srtt(),
            connected: sender.connected(),
            acked_bytes: sender.acked_bytes(),
            counters: *sender.counters(),
            cwnd_integral: sender.cwnd_integral(completed.unwrap_or(now).min(now)),
        }
    }
}

/// Where the packets go that a sender hands over at one time: over its host's own link.
struct Departures<'a> {
    now: Time,
    access: &'a mut Access,
    outgoing: &'a mut Pipe<SimPacket>,
    balance: &'a mut i64,
}

impl Outbox for Departures<'_> {
    #[inline(always)]
    fn send(&mut self, packet: SimPacket) {
        *self.balance += 1;
        let left = self.outgoing.push(self.access.depart(self.now, packet.bytes()), packet);
        if let Some(extra) = left.extra {
            drop(extra); // asked here, since data seldom have any
        }
    }
}

/// A sender and its host.
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct SendingEnd {
    completed: Option<Time>,
    /// Kept where the run has series of what algorithms know of themselves.
    internals: Option<Box<Snapshots<Internals>>>,
    pub(super) snapshots: Snapshots<SenderSnapshot>,
    /// From the last link back to the sender.
    pub incoming: Pipe<SimPacket>,
    clock: HostClock,
    /// From the sender to the first link, and further in the fast driver, until they leave their last link.
    pub outgoing: Pipe<SimPacket>,
    access: Access,
    /// When to open the connection; [`Time::NEVER`] once it is open.
    start_at: Time,
    /// When to stop the sender; [`Time::NEVER`] once it has stopped.
    pub stop_at: Time,
    /// Packets it sent minus packets it took.
    pub balance: i64,
    /// Acknowledgements wait for the rest of a burst, or for the run to go on after a pause; later ones have
    /// to queue behind them.
    waits: bool,
    /// The sender itself.
    pub sender: AnySender,
}

impl SendingEnd {
    /// A sender behind its own link; it starts at `start_at`.
    #[inline(always)]
    pub fn new(
        sender: AnySender,
        clock: HostClock,
        access: Access,
        start_at: Time,
        times: SampleTimes,
    ) -> Self {
        SendingEnd {
            sender,
            incoming: Pipe::default(),
            outgoing: Pipe::default(),
            clock,
            access,
            snapshots: Snapshots::new(times, start_at),
            internals: None,
            waits: false,
            start_at,
            stop_at: Time::NEVER,
            completed: None,
            balance: 0,
        }
    }

    /// When it next does something by itself: starts, stops, or serves a timer.
    #[inline(always)]
    fn alarm(&self) -> Time {
        self.sender.wake().min(self.start_at.min(self.stop_at))
    }

    /// When its next event is.
    #[inline]
    pub fn wake(&self) -> Time {
        self.clock.looks(self.incoming.head()).min(self.alarm())
    }

    /// Handles its next event: an acknowledgement, or something that it does by itself.
    #[inline]
    pub fn event(&mut self, now: Time) {
        if self.clock.looks(self.incoming.head()) > now {
            self.act(now);
        } else if let Some(packet) = self.incoming.pop() {
            self.take(now, &packet);
        }
        if self.waits && self.incoming.is_empty() {
            self.waits = false;
        }
    }

    /// Handles an acknowledgement now that will arrive at `at`. That is correct once all earlier ones have
    /// been handled: only its own packets and alarms change a sender, so it may run ahead of everything else.
    /// Returns false if it does not: the acknowledgement arrives after the run's end or its next pause, or
    /// after a burst that has not left as a whole, or it may complete a transfer.
    #[inline(always)]
    pub fn take_ahead(&mut self, at: Time, packet: &SimPacket, in_transfer: bool) -> bool {
        match self.sender {
            _ if in_transfer => self.take_ahead_in_transfer(at, packet),
            AnySender::Tcp(_) => self.run_ahead(at, packet),
            AnySender::Other(_) => self.run_ahead_seldom(at, packet),
        }
    }

    /// The sender of a transfer takes nothing ahead that may complete it, since its session hears of that.
    /// Later acknowledgements then wait too.
    #[inline(never)]
    fn take_ahead_in_transfer(&mut self, at: Time, packet: &SimPacket) -> bool {
        match &self.sender {
            AnySender::Tcp(sender) if self.stop_at == Time::NEVER && sender.goes_on_after(packet) => {
                self.run_ahead(at, packet)
            }
            _ => {
                self.waits = true;
                false
            }
        }
    }

    /// Apart from the hot loop of TCP without explicit headers, to keep that one fast.
    #[cold]
    #[inline(never)]
    fn run_ahead_seldom(&mut self, at: Time, packet: &SimPacket) -> bool {
        self.run_ahead(at, packet)
    }

    #[inline(always)]
    fn run_ahead(&mut self, at: Time, packet: &SimPacket) -> bool {
        if self.waits {
            return false; // nor may the clock be asked before it is for those that wait
        }
        let now = self.clock.looks(at);
        if now > self.snapshots.limit() {
            self.waits = true;
            return false;
        }
        if !self.serve_until(now) {
            self.waits = true;
            return false;
        }
        self.advance(now);
        self.take(now, packet);
        true
    }

    /// Does what is due by itself before `now`. Returns false at a burst, which may be of any length: the
    /// driver goes on with it.
    #[inline(always)]
    fn serve_until(&mut self, now: Time) -> bool {
        while self.alarm() < now {
            let alarm = self.alarm();
            self.advance(alarm);
            self.act(alarm);
            if self.alarm() == alarm {
                return false;
            }
        }
        true
    }

    #[inline(always)]
    fn advance(&mut self, now: Time) {
        if self.snapshots.is_due(now) {
            self.take_snapshots(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_snapshots(&mut self, now: Time) {
        let (sender, completed) = (&self.sender, self.completed);
        self.snapshots.advance(now, |at| SenderSnapshot::of(sender, completed, at));
        if let Some(internals) = &mut self.internals {
            internals.advance(now, |_| sender.internals());
        }
    }

    /// The run will pause at `until`: the sender runs no further ahead than that. It takes at once what has
    /// waited for the run to go on, as far as that arrives before.
    pub fn pause_at(&mut self, until: Time) {
        self.snapshots.pause_at(until);
        loop {
            let now = self.clock.looks(self.incoming.head());
            if now > self.snapshots.limit() || !self.serve_until(now) {
                break;
            }
            let Some(packet) = self.incoming.pop() else { break };
            self.advance(now);
            self.take(now, &packet);
        }
        self.waits = !self.incoming.is_empty();
    }

    /// Steers the sender, or leaves it to its algorithm again if `steer` is `None`. Returns false over UDP,
    /// where there is nothing to steer, and if a value is not finite.
    pub fn steer(&mut self, now: Time, steer: Option<Steer>) -> bool {
        self.advance(now); // a sample at this time sees what was before
        let SendingEnd { sender, access, outgoing, balance, .. } = self;
        let Some(sender) = sender.tcp() else { return false };
        let mut out = Departures { now, access, outgoing, balance };
        let Some(steer) = steer else {
            sender.release(now, &mut out);
            return true;
        };
        sender.steer(now, steer, &mut out)
    }

    /// From now on, what the algorithm knows of itself is there at each sample time; before the sender
    /// starts.
    pub fn keep_internals(&mut self, times: SampleTimes) {
        self.internals.get_or_insert_with(|| Box::new(Snapshots::new(times, self.start_at)));
    }

    /// What the algorithm knew of itself just before `now`, a sample time, if that is kept.
    pub fn internals_at(&mut self, now: Time) -> Option<Internals> {
        let internals = self.internals.as_mut()?;
        Some(internals.at(now).unwrap_or_else(|| self.sender.internals()))
    }

    #[inline(always)]
    fn take(&mut self, now: Time, packet: &SimPacket) {
        let SendingEnd { sender, access, outgoing, balance, .. } = self;
        *balance -= 1;
        if sender.on_packet(now, packet, Departures { now, access, outgoing, balance }) {
            self.complete(now);
        }
    }

    /// Starts, stops, or serves a timer of the sender.
    fn act(&mut self, now: Time) {
        let SendingEnd { sender, access, outgoing, balance, .. } = self;
        let mut out = Departures { now, access, outgoing, balance };
        if self.start_at <= now {
            self.start_at = Time::NEVER;
            sender.start(now, &mut out);
        } else if self.stop_at <= now {
            self.stop_at = Time::NEVER;
            sender.stop(now);
        } else {
            sender.on_timer(now, &mut out);
        }
        if sender.is_done() {
            self.complete(now);
        }
    }

    #[cold]
    fn complete(&mut self, now: Time) {
        self.completed.get_or_insert(now);
    }

    /// When the last byte was acknowledged, if that was before `now`.
    pub fn completed(&self, now: Time) -> Option<Time> {
        self.completed.filter(|&at| at < now)
    }

    /// Whether everything is acknowledged.
    #[inline]
    pub const fn is_complete(&self) -> bool {
        self.completed.is_some()
    }

    /// Its state now, if it has not run ahead of that.
    pub fn present(&self, now: Time) -> SenderSnapshot {
        SenderSnapshot::of(&self.sender, self.completed, now)
    }

    /// Its state just before `now`, a sample time.
    pub fn at(&mut self, now: Time) -> SenderSnapshot {
        let (sender, completed) = (&self.sender, self.completed);
        self.snapshots.at(now).unwrap_or_else(|| SenderSnapshot::of(sender, completed, now))
    }
}
