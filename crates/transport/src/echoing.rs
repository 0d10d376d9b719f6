//! The receiving end of a connection whose data carry explicit headers: acknowledgements return what routers
//! wrote. It wraps the common receiver, which knows nothing of explicit headers.
//!
//! In the thesis's "r" architecture (Lopez Pacheco 2008, chapter 5) the receiver keeps a copy of what the
//! sender would compute from the headers, and each acknowledgement carries that copy, so one that arrives
//! makes up for all that were lost before it. Section 7.4 applies this to any explicit protocol: a protocol
//! only needs a [`Mirror`] of its own, which its sender's algorithm makes.

use crate::Receiver;
use longfat_units::Time;
use longfat_wire::{Explicit, Kind, SimPacket};
use std::fmt::Debug;

/// A receiver's copy of what its sender controls.
pub trait Mirror: Debug + Send {
    /// A data packet arrived with this header, which routers have filled in. Returns the header of an
    /// acknowledgement that leaves now. An acknowledgement of several packets carries the header for the last
    /// of them.
    fn answer(&mut self, header: &Explicit) -> Explicit;
}

/// A receiver that echoes explicit headers.
#[derive(Debug)]
pub struct Echoing {
    receiver: Receiver,
    mirror: Option<Box<dyn Mirror>>,
    /// The headers not yet echoed, joined.
    waiting: Option<Explicit>,
}

impl Echoing {
    /// Wraps a receiver that waits for a connection request. Without a mirror, headers are echoed as they
    /// come; those of one acknowledgement are joined.
    pub const fn new(receiver: Receiver, mirror: Option<Box<dyn Mirror>>) -> Self {
        Echoing { receiver, mirror, waiting: None }
    }

    /// A packet of the sender arrived. Returns the response, if one is due now.
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

    /// The wrapped receiver.
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
