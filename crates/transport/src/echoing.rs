//! The receiving end of a connection whose data carry explicit headers: what routers wrote goes back with the
//! acknowledgements. It stands around the common receiver, which knows nothing of them.
//!
//! In the thesis's "r" architecture (Lopez Pacheco 2008, chapter 5) the receiver keeps a copy of what the sender would make
//! of the headers, and each acknowledgement carries that copy: one that arrives makes up for all that were lost before it.
//! Section 7.4 has it for any explicit protocol, so that all a protocol brings is its own [`Mirror`], made by its
//! sender's algorithm.

use crate::Receiver;
use longfat_units::Time;
use longfat_wire::{Explicit, Kind, SimPacket};
use std::fmt::Debug;

/// A receiver's copy of what its sender controls.
pub trait Mirror: Debug + Send {
    /// A data packet arrived with this header, which the routers have written into: what an acknowledgement says that
    /// leaves now. One that answers for several packets says it once, as of the last one.
    fn answer(&mut self, header: &Explicit) -> Explicit;
}

/// A receiver that echoes explicit headers.
#[derive(Debug)]
pub struct Echoing {
    receiver: Receiver,
    mirror: Option<Box<dyn Mirror>>,
    /// What the headers say together that are not yet echoed.
    waiting: Option<Explicit>,
}

impl Echoing {
    /// Around a receiver that waits for a connection request. Without a mirror headers are echoed as they come, those of
    /// one acknowledgement joined.
    pub const fn new(receiver: Receiver, mirror: Option<Box<dyn Mirror>>) -> Self {
        Echoing { receiver, mirror, waiting: None }
    }

    /// A packet of the sender arrived; the answer, if one is due now.
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        let header = packet.extra.as_ref().and_then(|e| e.explicit);
        if let Some(header) = header.filter(|h| packet.kind == Kind::Data && h.is_echoed()) {
            self.waiting = Some(match (&mut self.mirror, self.waiting.take()) {
                (Some(mirror), _) => mirror.answer(&header),
                (None, Some(before)) => before.join(header),
                (None, None) => header,
            });
        }
        self.receiver.on_packet(now, packet).map(|answer| self.echo(answer))
    }

    /// A time that [`Echoing::wake`] asked for has come.
    pub fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        self.receiver.on_timer(now).map(|answer| self.echo(answer))
    }

    /// When [`Echoing::on_timer`] wants to be called.
    pub const fn wake(&self) -> Time {
        self.receiver.wake()
    }

    /// The receiver within.
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    fn echo(&mut self, mut answer: SimPacket) -> SimPacket {
        if answer.kind == Kind::Ack
            && let Some(explicit) = self.waiting.take()
        {
            answer.bytes += explicit.header_bytes() as u16;
            answer.extra.get_or_insert_default().explicit = Some(explicit);
        }
        answer
    }
}
