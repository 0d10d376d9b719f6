//! The sending end of a connection.

use super::checks::{Checks, Passed};
use super::host::{Access, HostClock};
use super::machines::AnySender;
use longfat_net::Pipe;
use longfat_transport::SenderCounters;
use longfat_transport::cc::Window;
use longfat_units::{Interval, Time};
use longfat_wire::{Packet, SimPacket};

/// What a sender has done and how it stands at one moment.
#[derive(Clone, Copy, Debug)]
pub struct SenderMark {
    /// The window.
    pub window: Window,
    /// Smoothed round-trip time.
    pub srtt: Interval,
    /// Payload acknowledged in order.
    pub acked_bytes: u64,
    /// Counters.
    pub counters: SenderCounters,
    /// Integral of cwnd since the start, segment seconds.
    pub cwnd_integral: f64,
}

impl SenderMark {
    /// How the sender looks at `now`, when nothing has happened to it since its last event.
    fn of(sender: &AnySender, completed: Option<Time>, now: Time) -> Self {
        SenderMark {
            window: sender.window(),
            srtt: sender.srtt(),
            acked_bytes: sender.acked_bytes(),
            counters: *sender.counters(),
            cwnd_integral: sender.cwnd_integral(completed.unwrap_or(now).min(now)),
        }
    }
}

/// A sender and its host.
pub struct SendingEnd {
    /// The machine.
    pub sender: AnySender,
    /// From the last link back to the sender.
    pub incoming: Pipe<SimPacket>,
    /// From the sender to the first link.
    pub outgoing: Pipe<SimPacket>,
    clock: HostClock,
    access: Access,
    passed: Passed<SenderMark>,
    /// When the connection is to be opened; never again once it is.
    start_at: Time,
    /// When the sender is to stop; never again once it has.
    pub stop_at: Time,
    completed: Option<Time>,
    /// Packets it put on its way, less those it took.
    pub balance: i64,
}

impl SendingEnd {
    /// A sender behind its own link, to be started at `start_at`.
    pub fn new(sender: AnySender, clock: HostClock, access: Access, start_at: Time, checks: Checks) -> Self {
        SendingEnd {
            sender,
            incoming: Pipe::default(),
            outgoing: Pipe::default(),
            clock,
            access,
            passed: Passed::new(checks, start_at),
            start_at,
            stop_at: Time::NEVER,
            completed: None,
            balance: 0,
        }
    }

    /// When it does something of its own accord.
    #[inline(always)]
    fn alarm(&self) -> Time {
        self.sender.wake().min(self.start_at.min(self.stop_at))
    }

    /// When its next event is.
    #[inline]
    pub fn wake(&self) -> Time {
        self.clock.looks(self.incoming.head()).min(self.alarm())
    }

    /// Its next event: takes an acknowledgement, or does something of its own accord.
    #[inline]
    pub fn event(&mut self, now: Time) {
        if self.clock.looks(self.incoming.head()) > now {
            return self.act(now);
        }
        if let Some(packet) = self.incoming.pop() {
            self.take(now, &packet);
        }
    }

    /// An acknowledgement that will arrive at `at` is dealt with now. Allowed when all that come before it have been:
    /// nothing but its own packets and alarms moves a sender, so it may run ahead of everything else. Answers false,
    /// and does nothing, if that would be after the run.
    #[inline(always)]
    pub fn take_ahead(&mut self, at: Time, packet: &SimPacket) -> bool {
        match self.sender {
            AnySender::Tcp(_) => self.run_ahead(at, packet),
            AnySender::Other(_) => self.run_ahead_seldom(at, packet),
        }
    }

    /// Out of the way of plain TCP's hot loop.
    #[cold]
    #[inline(never)]
    fn run_ahead_seldom(&mut self, at: Time, packet: &SimPacket) -> bool {
        self.run_ahead(at, packet)
    }

    #[inline(always)]
    fn run_ahead(&mut self, at: Time, packet: &SimPacket) -> bool {
        let now = self.clock.looks(at);
        if now > self.passed.end() {
            return false;
        }
        while self.alarm() < now {
            let alarm = self.alarm();
            self.go_on(alarm);
            self.act(alarm);
        }
        self.go_on(now);
        self.take(now, packet);
        true
    }

    #[inline(always)]
    fn go_on(&mut self, now: Time) {
        let (sender, completed) = (&self.sender, self.completed);
        self.passed.go_on(now, |at| SenderMark::of(sender, completed, at));
    }

    #[inline(always)]
    fn take(&mut self, now: Time, packet: &SimPacket) {
        let SendingEnd { sender, access, outgoing, balance, .. } = self;
        *balance -= 1;
        let done = sender.on_packet(now, packet, || {
            |packet: SimPacket| {
                *balance += 1;
                outgoing.push(access.depart(now, packet.bytes()), packet);
            }
        });
        if done {
            self.complete(now);
        }
    }

    /// Starts, stops, or serves a timer of the sender.
    fn act(&mut self, now: Time) {
        let SendingEnd { sender, access, outgoing, balance, .. } = self;
        let mut out = |packet: SimPacket| {
            *balance += 1;
            outgoing.push(access.depart(now, packet.bytes()), packet);
        };
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

    /// When everything was acknowledged, if that was before `now`.
    pub fn completed(&self, now: Time) -> Option<Time> {
        self.completed.filter(|&at| at < now)
    }

    /// Whether everything is acknowledged.
    #[inline]
    pub const fn is_complete(&self) -> bool {
        self.completed.is_some()
    }

    /// How it looked just before `now`, a time of the checks.
    pub fn at(&mut self, now: Time) -> SenderMark {
        let (sender, completed) = (&self.sender, self.completed);
        self.passed.at(now).unwrap_or_else(|| SenderMark::of(sender, completed, now))
    }
}
