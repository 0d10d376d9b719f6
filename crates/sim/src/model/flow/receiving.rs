//! The receiving end of a connection.

use super::host::{Access, HostClock};
use super::machines::AnyReceiver;
use super::snapshots::{SampleTimes, Snapshots};
use longfat_net::Pipe;
use longfat_units::Time;
use longfat_wire::{Packet, SimPacket};

/// What has reached a receiver by one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverSnapshot {
    /// IP bytes, duplicates included.
    pub received_bytes: u64,
    /// Segments handed to the application.
    pub delivered: u64,
    /// Segments that count as received although they never came.
    pub concealed: u64,
    /// Segments that arrived a second time.
    pub duplicates: u64,
}

impl ReceiverSnapshot {
    fn of(receiver: &AnyReceiver) -> Self {
        ReceiverSnapshot {
            received_bytes: receiver.received_bytes(),
            delivered: receiver.delivered(),
            concealed: receiver.concealed(),
            duplicates: receiver.duplicates(),
        }
    }
}

/// A receiver and its host.
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct ReceivingEnd {
    /// From the last link to the receiver.
    pub incoming: Pipe<SimPacket>,
    clock: HostClock,
    /// From the receiver to the first link back, and further in the fast driver, until they leave their last
    /// link.
    pub outgoing: Pipe<SimPacket>,
    access: Access,
    /// What arrives before this may be taken ahead without a further look: no sample and no pause is due,
    /// nothing waits, and the host takes packets as they arrive.
    clear_until: Time,
    last_arrival: Time,
    /// When it last handed a packet to the application.
    last_delivery: Time,
    /// Packets it sent minus packets it took.
    pub balance: i64,
    /// Packets wait for the run to go on after a pause; later ones have to queue behind them.
    waits: bool,
    /// The receiver itself.
    pub receiver: AnyReceiver,
    snapshots: Snapshots<ReceiverSnapshot>,
    /// The run pauses here: the receiver does not run ahead to this moment. [`Time::NEVER`] without a pause.
    until: Time,
}

impl ReceivingEnd {
    /// A receiver behind its own link, of a connection that starts at `start_at`.
    #[inline(always)]
    pub fn new(
        receiver: AnyReceiver,
        clock: HostClock,
        access: Access,
        start_at: Time,
        times: SampleTimes,
    ) -> Self {
        let snapshots = Snapshots::new(times, start_at);
        let clear_until = if clock.is_at_once() { snapshots.next() } else { Time::ZERO };
        ReceivingEnd {
            receiver,
            incoming: Pipe::default(),
            outgoing: Pipe::default(),
            clock,
            access,
            until: Time::NEVER,
            waits: false,
            clear_until,
            snapshots,
            balance: 0,
            last_arrival: Time::ZERO,
            last_delivery: Time::ZERO,
        }
    }

    /// The receiver of a transfer is about to take a packet ahead that arrives at `at`.
    #[inline]
    pub fn note_arrival(&mut self, at: Time) {
        self.last_arrival = self.last_arrival.max(self.clock.looks(at));
    }

    /// When its host takes the last packet for which [`ReceivingEnd::note_arrival`] was called.
    pub const fn last_arrival(&self) -> Time {
        self.last_arrival
    }

    /// When it last handed a packet to the application. It may have run ahead of the rest of the run.
    pub const fn last_delivery(&self) -> Time {
        self.last_delivery
    }

    /// When its next event is.
    #[inline]
    pub fn wake(&self) -> Time {
        self.clock.looks(self.incoming.head()).min(self.receiver.wake())
    }

    /// Handles its next event: a packet or its timer.
    #[inline]
    pub fn event(&mut self, now: Time) {
        if self.clock.looks(self.incoming.head()) <= now {
            if let Some(packet) = self.incoming.pop() {
                self.receive(now, &packet);
            }
        } else {
            self.on_timer(now);
        }
        if self.waits && self.incoming.is_empty() {
            self.waits = false;
            self.look_ahead();
        }
    }

    /// The run will pause at `until`: the receiver runs no further ahead than that. It takes at once what has
    /// waited for the run to go on, as far as that arrives before.
    pub fn pause_at(&mut self, until: Time) {
        self.until = until;
        loop {
            let at = self.clock.looks(self.incoming.head());
            if at >= until {
                break;
            }
            let Some(packet) = self.incoming.pop() else { break };
            self.serve(at);
            self.receive(at, &packet);
        }
        self.waits = !self.incoming.is_empty();
        self.look_ahead();
    }

    /// Finds out up to when it may run ahead without a further look.
    fn look_ahead(&mut self) {
        let is_clear = self.clock.is_at_once() && !self.waits;
        self.clear_until = if is_clear { self.until.min(self.snapshots.next()) } else { Time::ZERO };
    }

    /// Handles a packet now that will arrive at `at`. That is correct once all earlier packets have been
    /// handled: only its own packets and timer change a receiver, so it may run ahead of everything else.
    #[inline(always)]
    pub fn take_ahead(&mut self, at: Time, packet: &SimPacket) {
        if let AnyReceiver::Tcp(receiver) = &mut self.receiver
            && receiver.is_next(packet)
            && receiver.wake() >= at
            && at < self.clear_until
        {
            self.balance -= 1;
            self.last_delivery = at;
            if let Some(ack) = receiver.take_next(at, packet) {
                self.answer(at, ack);
            }
        } else {
            self.serve_and_take(at, packet);
        }
    }

    /// The part of [`ReceivingEnd::take_ahead`] for when timers or samples come first, or the packet, the
    /// receiver or the host is another than the usual one; apart from that case, to keep it fast. A packet
    /// that arrives after the run's next pause waits.
    #[inline(never)]
    fn serve_and_take(&mut self, at: Time, packet: &SimPacket) {
        if self.waits {
            self.incoming.push(at, packet.clone());
            return; // nor may the clock be asked before it is for those that wait
        }
        let arrival = at;
        let at = self.clock.looks(arrival);
        if at >= self.until {
            self.waits = true;
            self.look_ahead();
            self.incoming.push(arrival, packet.clone());
            return;
        }
        if self.receiver.wake() < at || self.snapshots.is_due(at) {
            self.serve(at);
        }
        self.receive(at, packet);
    }

    /// Serves timers and takes snapshots before a packet that is taken at `at`.
    fn serve(&mut self, at: Time) {
        while self.receiver.wake() < at {
            let timer = self.receiver.wake();
            self.advance(timer);
            self.on_timer(timer);
        }
        self.advance(at);
    }

    #[inline(always)]
    fn advance(&mut self, now: Time) {
        let receiver = &self.receiver;
        self.snapshots.advance(now, |_| ReceiverSnapshot::of(receiver));
        self.look_ahead();
    }

    fn on_timer(&mut self, now: Time) {
        if let Some(ack) = self.receiver.on_timer(now) {
            self.answer(now, ack);
        }
    }

    #[inline(always)]
    fn receive(&mut self, now: Time, packet: &SimPacket) {
        self.balance -= 1;
        let before = self.receiver.delivered();
        let ack = self.receiver.on_packet(now, packet);
        if self.receiver.delivered() != before {
            self.last_delivery = now;
        }
        if let Some(ack) = ack {
            self.answer(now, ack);
        }
    }

    #[inline(always)]
    fn answer(&mut self, now: Time, ack: SimPacket) {
        self.balance += 1;
        let left = self.outgoing.push(self.access.depart(now, ack.bytes()), ack);
        if let Some(extra) = left.extra {
            self.receiver.recycle(extra);
        }
    }

    /// What has arrived, if it has not run ahead.
    pub fn present(&self) -> ReceiverSnapshot {
        ReceiverSnapshot::of(&self.receiver)
    }

    /// What has arrived before `now`, a sample time.
    pub fn at(&mut self, now: Time) -> ReceiverSnapshot {
        self.snapshots.at(now).unwrap_or_else(|| ReceiverSnapshot::of(&self.receiver))
    }
}
