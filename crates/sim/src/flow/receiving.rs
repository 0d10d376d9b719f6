//! The receiving end of a connection.

use super::checks::{Checks, Passed};
use super::host::Access;
use super::machines::AnyReceiver;
use longfat_net::Pipe;
use longfat_units::Time;
use longfat_wire::{Packet, SimPacket};

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

impl ReceiverMark {
    fn of(receiver: &AnyReceiver) -> Self {
        ReceiverMark {
            received_bytes: receiver.received_bytes(),
            delivered: receiver.delivered(),
            duplicates: receiver.duplicates(),
        }
    }
}

/// A receiver and its host.
pub struct ReceivingEnd {
    /// The machine.
    pub receiver: AnyReceiver,
    /// From the last link to the receiver.
    pub incoming: Pipe<SimPacket>,
    /// From the receiver to the first link back.
    pub outgoing: Pipe<SimPacket>,
    access: Access,
    passed: Passed<ReceiverMark>,
    /// Packets it put on its way, less those it took.
    pub balance: i64,
}

impl ReceivingEnd {
    /// A receiver behind its own link, of a connection that starts at `start_at`.
    pub fn new(receiver: AnyReceiver, access: Access, start_at: Time, checks: Checks) -> Self {
        ReceivingEnd {
            receiver,
            incoming: Pipe::default(),
            outgoing: Pipe::default(),
            access,
            passed: Passed::new(checks, start_at),
            balance: 0,
        }
    }

    /// When its next event is.
    #[inline]
    pub fn wake(&self) -> Time {
        self.incoming.head().min(self.receiver.wake())
    }

    /// Its next event: takes a packet, or its timer.
    #[inline]
    pub fn event(&mut self, now: Time) {
        if self.incoming.head() <= now {
            if let Some(packet) = self.incoming.pop() {
                self.receive(now, &packet);
            }
        } else {
            self.on_timer(now);
        }
    }

    /// A packet that will arrive at `at` is dealt with now. Allowed when all that come before it have been: nothing but
    /// its own packets and timer moves a receiver, so it may run ahead of everything else.
    #[inline(always)]
    pub fn take_ahead(&mut self, at: Time, packet: &SimPacket) {
        if let AnyReceiver::Tcp(receiver) = &mut self.receiver
            && receiver.wake() >= at
            && !self.passed.is_due(at)
        {
            self.balance -= 1;
            if let Some(ack) = receiver.on_packet(at, packet) {
                self.answer(at, ack);
            }
        } else {
            self.serve_and_take(at, packet);
        }
    }

    /// As [`ReceivingEnd::take_ahead`], when timers or checks come before, or it is not plain TCP: out of the way of
    /// what is usual.
    #[cold]
    #[inline(never)]
    fn serve_and_take(&mut self, at: Time, packet: &SimPacket) {
        while self.receiver.wake() < at {
            let timer = self.receiver.wake();
            self.go_on(timer);
            self.on_timer(timer);
        }
        self.go_on(at);
        self.receive(at, packet);
    }

    #[inline(always)]
    fn go_on(&mut self, now: Time) {
        let receiver = &self.receiver;
        self.passed.go_on(now, |_| ReceiverMark::of(receiver));
    }

    fn on_timer(&mut self, now: Time) {
        if let Some(ack) = self.receiver.on_timer(now) {
            self.answer(now, ack);
        }
    }

    #[inline(always)]
    fn receive(&mut self, now: Time, packet: &SimPacket) {
        self.balance -= 1;
        if let Some(ack) = self.receiver.on_packet(now, packet) {
            self.answer(now, ack);
        }
    }

    #[inline(always)]
    fn answer(&mut self, now: Time, ack: SimPacket) {
        self.balance += 1;
        self.outgoing.push(self.access.depart(now, ack.bytes()), ack);
    }

    /// What has arrived before `now`, a time of the checks.
    pub fn at(&mut self, now: Time) -> ReceiverMark {
        self.passed.at(now).unwrap_or_else(|| ReceiverMark::of(&self.receiver))
    }
}
