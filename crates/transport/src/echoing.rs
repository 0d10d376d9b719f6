//! The receiving end of a connection whose acknowledgements tell more of the network than RFC 3168's echo:
//! what routers wrote into explicit headers, and how much was marked ([`Feedback`]). It wraps the common
//! receiver, which knows nothing of either.
//!
//! In the thesis's "r" architecture (Lopez Pacheco 2008, chapter 5) the receiver keeps a copy of what the
//! sender would compute from the headers, and each acknowledgement carries that copy, so one that arrives
//! makes up for all that were lost before it. Section 7.4 applies this to any explicit protocol: a protocol
//! only needs a [`Mirror`] of its own, which its sender's algorithm makes.

use crate::Receiver;
use crate::codepoints::{Carrier, Codepoints};
use crate::feedback::{Feedback, Tally};
use crate::misbehaving::{Habits, Misbehaving};
use longfat_units::Time;
use longfat_wire::{Explicit, Extra, Kind, Packet, SimPacket};
use std::fmt::Debug;

/// A receiver's copy of what its sender controls.
pub trait Mirror: Debug + Send {
    /// A data packet arrived with this header, which routers have filled in. Returns the header of an
    /// acknowledgement that leaves now. An acknowledgement of several packets carries the header for the last
    /// of them.
    fn answer(&mut self, header: &Explicit) -> Explicit;
}

/// A receiver that echoes explicit headers, or counts marks.
#[derive(Debug)]
pub struct Echoing {
    receiver: Receiver,
    mirror: Option<Box<dyn Mirror>>,
    /// What the next acknowledgement carries: the headers not yet echoed, joined.
    waiting: Option<Box<Extra>>,
    tally: Option<Tally>,
    /// Those of answers to connection requests, and of acknowledgements.
    codepoints: Codepoints,
    /// Headers of a data packet, bytes.
    header_bytes: u32,
    misbehaving: Option<Box<Misbehaving>>,
}

impl Echoing {
    /// Wraps a receiver that waits for a connection request. Without a mirror, headers are echoed as they
    /// come; those of one acknowledgement are joined.
    pub const fn new(receiver: Receiver, mirror: Option<Box<dyn Mirror>>) -> Self {
        let codepoints = Codepoints::NONE;
        Echoing {
            receiver,
            mirror,
            waiting: None,
            tally: None,
            codepoints,
            header_bytes: 0,
            misbehaving: None,
        }
    }

    /// The same receiver with this feedback about marks. Data packets have `header_bytes` bytes of headers.
    pub fn telling(self, feedback: Feedback, header_bytes: u32) -> Self {
        Echoing { tally: Tally::new(feedback), header_bytes, ..self }
    }

    /// The same receiver with these codepoints of what it sends.
    pub fn carrying(self, codepoints: Codepoints) -> Self {
        Echoing { codepoints, ..self }
    }

    /// The same receiver with these habits; it obeys the rules with none.
    pub fn misbehaving(self, habits: Option<Habits>) -> Self {
        Echoing { misbehaving: habits.map(|habits| Box::new(Misbehaving::new(habits))), ..self }
    }

    /// A packet of the sender arrived. Returns the response, if one is due now.
    #[inline(always)]
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        if self.misbehaving.is_none() && self.tally.is_none() && self.receiver.is_next(packet) {
            self.hear(packet);
            let answer = self.receiver.take_next(now, packet)?;
            return Some(self.carry(answer));
        }
        self.take_other(now, packet)
    }

    /// [`Echoing::on_packet`] for packets that are not the usual ones.
    #[inline(never)]
    fn take_other(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        let Some(misbehaving) = &mut self.misbehaving else { return self.take(now, packet) };
        let changed = misbehaving.look(packet, &mut self.receiver);
        let answer = self.take(now, changed.as_ref().unwrap_or(packet));
        answer.map(|answer| self.tell(now, answer))
    }

    fn take(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        if packet.kind == Kind::Syn {
            let mut answer = self.receiver.on_packet(now, packet)?;
            answer.ecn = self.codepoints.of(Carrier::SynAck);
            let header = packet.extra.as_ref().and_then(|e| e.explicit);
            if let Some(request) = header.filter(Explicit::is_answered) {
                answer.bytes += request.header_bytes() as u16;
                answer.extra.get_or_insert_default().explicit = Some(request);
            }
            return Some(answer);
        }
        self.hear(packet);
        let answer = match self.tally.as_mut().filter(|_| packet.kind == Kind::Data) {
            Some(tally) => {
                let payload = packet.bytes().saturating_sub(self.header_bytes);
                let urgent = tally.take(packet.ecn, payload);
                self.receiver.on_data(now, packet, urgent)
            }
            None => self.receiver.on_packet(now, packet),
        };
        answer.map(|answer| self.echo(answer))
    }

    /// Notes what routers wrote into the header of a data packet.
    #[inline(always)]
    fn hear(&mut self, packet: &SimPacket) {
        let header = packet.extra.as_ref().and_then(|e| e.explicit.as_ref());
        let Some(header) = header.filter(|h| packet.kind == Kind::Data && h.is_echoed()) else { return };
        let waiting = &mut self.waiting.get_or_insert_with(|| self.receiver.room()).explicit;
        match (&mut self.mirror, &mut *waiting) {
            (Some(mirror), _) => *waiting = Some(mirror.answer(header)),
            (None, Some(before)) => before.join(header),
            (None, None) => *waiting = Some(*header),
        }
    }

    /// A time that [`Echoing::wake`] asked for has come.
    pub fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        if let Some(part) = self.misbehaving.as_mut().and_then(|misbehaving| misbehaving.part(now)) {
            return Some(part);
        }
        let answer = self.receiver.on_timer(now).map(|answer| self.echo(answer));
        answer.map(|answer| self.tell(now, answer))
    }

    fn tell(&mut self, now: Time, answer: SimPacket) -> SimPacket {
        match &mut self.misbehaving {
            Some(misbehaving) => misbehaving.tell(now, answer),
            None => answer,
        }
    }

    /// When [`Echoing::on_timer`] wants to be called.
    pub fn wake(&self) -> Time {
        let wake = self.receiver.wake();
        self.misbehaving.as_ref().map_or(wake, |misbehaving| wake.min(misbehaving.wake()))
    }

    /// The wrapped receiver.
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    fn echo(&mut self, mut answer: SimPacket) -> SimPacket {
        if answer.kind != Kind::Ack {
            return answer;
        }
        answer.ecn = self.codepoints.of(Carrier::Ack);
        if let Some(tally) = &mut self.tally {
            tally.tell(&mut answer, || self.receiver.room());
        }
        self.carry(answer)
    }

    /// The acknowledgement with the headers that wait for one. Header and acknowledgement are moved, not
    /// copied: to copy what was only just written in parts makes the processor wait.
    #[inline(always)]
    fn carry(&mut self, mut ack: SimPacket) -> SimPacket {
        let Some(waiting) = self.waiting.take() else { return ack };
        ack.bytes += waiting.explicit.as_ref().map_or(0, Explicit::header_bytes) as u16;
        match &mut ack.extra {
            none @ None => *none = Some(waiting),
            Some(extra) => {
                extra.explicit = waiting.explicit;
                self.receiver.recycle(waiting);
            }
        }
        ack
    }

    /// Takes back what an acknowledgement carried besides the usual, so that a later one need not allocate
    /// it.
    pub fn recycle(&mut self, extra: Box<Extra>) {
        self.receiver.recycle(extra);
    }

    /// As [`Receiver::free`].
    pub fn free(&mut self) {
        self.receiver.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReceiverConfig;
    use longfat_units::Interval;
    use longfat_wire::{FlowId, Rcp, Xcp};

    fn echoing() -> Echoing {
        let receiver = Receiver::new(ReceiverConfig {
            flow: FlowId(0),
            delayed_ack: None,
            quick_acks: 16,
            sack: true,
            sack_compression: Interval::ZERO,
            timestamps: true,
            uncounted_hops: 1,
        });
        Echoing::new(receiver, None)
    }

    #[test]
    fn only_a_protocol_that_asks_for_a_rate_has_its_request_answered() {
        let answer = |header| {
            let mut request = SimPacket::new(Kind::Syn, FlowId(0), 0, 72, Time::ZERO);
            request.extra.get_or_insert_default().explicit = Some(header);
            echoing().on_packet(Time::ZERO, &request).expect("an answer")
        };
        let rcp = Explicit::Rcp(Rcp { rate_bps: 5e6, rtt_s: 0.0 });
        let (asked, plain) = (answer(rcp), answer(Explicit::Xcp(Xcp::default())));
        assert_eq!(asked.extra.and_then(|e| e.explicit), Some(rcp));
        assert_eq!(asked.bytes, plain.bytes + 12);
        assert!(plain.kind == Kind::SynAck && plain.extra.is_none());
    }

    #[test]
    fn room_that_is_used_again_tells_nothing_of_what_it_held() {
        let header = Explicit::Xcp(Xcp::default());
        let mut receiver = echoing();
        let mut acknowledge = |old: Option<Extra>| {
            if let Some(old) = old {
                receiver.recycle(Box::new(old));
            }
            let seq = receiver.receiver().delivered();
            let mut data = SimPacket::new(Kind::Data, FlowId(0), seq, 1500, Time::ZERO);
            data.extra.get_or_insert_default().explicit = Some(header);
            receiver.on_packet(Time::ZERO, &data).and_then(|ack| ack.extra).expect("an echo")
        };
        let mut old = Extra::default();
        old.sack.push(7, 9);
        old.trail.ttl = 3;
        assert_eq!(acknowledge(None), acknowledge(Some(old)));
    }
}
