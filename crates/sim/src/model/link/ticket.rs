//! What stands for a packet in a queue that reads no headers. The packet itself stays where it is.

use core::num::NonZeroU32;
use longfat_wire::{Ecn, Explicit, FlowId, Kind, Message, Packet, SimPacket, Trail};

/// An end of a flow, by a number: two for each flow, the sender first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End(u32);

impl End {
    /// The sender of this flow, or its receiver.
    #[inline(always)]
    pub const fn of(flow: u32, is_sender: bool) -> Self {
        End(flow << 1 | !is_sender as u32)
    }

    /// The flow, and whether it is its sender.
    #[inline(always)]
    pub const fn host(self) -> (usize, bool) {
        ((self.0 >> 1) as usize, self.0 & 1 == 0)
    }

    /// Its number.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a queue needs to know of a packet, in two words: the compiler would move fields one by one.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    /// The end that has sent it, above its number among those of that end.
    place: u64,
    /// The size, above whether it carries data, above the ECN field.
    rest: NonZeroU32,
}

/// Each value of the ECN field, in the order of [`Ticket::rest`], which is never zero.
const ECN: [Ecn; 5] = [Ecn::NotCapable, Ecn::NotCapable, Ecn::Capable, Ecn::Ect1, Ecn::Marked];
const ECN_BITS: u32 = 0xff;
const DATA: u32 = 1 << 8;

impl Ticket {
    /// Fills room that no packet has used yet.
    pub const NONE: Ticket = Ticket { place: 0, rest: NonZeroU32::MIN };

    /// The ticket of this packet, which this end has sent and which has this number among those of the end.
    #[inline(always)]
    pub fn of(packet: &SimPacket, end: End, number: u32) -> Self {
        debug_assert_eq!(end, End::of(packet.flow.0, packet.kind.is_forward()));
        let data = if packet.kind == Kind::Data { DATA } else { 0 };
        let rest = u32::from(packet.bytes) << 16 | data | code(packet.ecn);
        Ticket {
            place: u64::from(end.0) << 32 | u64::from(number),
            rest: NonZeroU32::new(rest).unwrap_or(NonZeroU32::MIN),
        }
    }

    /// The end that has sent it.
    #[inline(always)]
    pub const fn end(self) -> End {
        End((self.place >> 32) as u32)
    }

    /// Its number among those of that end.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.place as u32
    }
}

#[inline(always)]
const fn code(ecn: Ecn) -> u32 {
    match ecn {
        Ecn::NotCapable => 1,
        Ecn::Capable => 2,
        Ecn::Ect1 => 3,
        Ecn::Marked => 4,
    }
}

impl Packet for Ticket {
    #[inline(always)]
    fn bytes(&self) -> u32 {
        self.rest.get() >> 16
    }
    #[inline(always)]
    fn flow(&self) -> FlowId {
        FlowId((self.place >> 33) as u32)
    }
    /// Data; a connection request in place of whatever else a sender sends, an acknowledgement of a receiver.
    #[inline(always)]
    fn kind(&self) -> Kind {
        if self.place >> 32 & 1 != 0 {
            Kind::Ack
        } else if self.rest.get() & DATA != 0 {
            Kind::Data
        } else {
            Kind::Syn
        }
    }
    #[inline(always)]
    fn ecn(&self) -> Ecn {
        ECN.get((self.rest.get() & ECN_BITS) as usize).copied().unwrap_or_default()
    }
    #[inline(always)]
    fn set_ecn(&mut self, ecn: Ecn) {
        let rest = self.rest.get() & !ECN_BITS | code(ecn);
        self.rest = NonZeroU32::new(rest).unwrap_or(self.rest);
    }
    fn ttl(&self) -> u8 {
        0
    }
    fn set_ttl(&mut self, _: u8) {}
    fn explicit(&self) -> Option<&Explicit> {
        None
    }
    fn explicit_mut(&mut self) -> Option<&mut Explicit> {
        None
    }
    fn trail(&self) -> Option<&Trail> {
        None
    }
    fn trail_mut(&mut self) -> Option<&mut Trail> {
        None
    }
    fn control(_: Message, _: u32) -> Self {
        Ticket::NONE
    }
    fn message(&self) -> Option<&Message> {
        None
    }
    fn message_mut(&mut self) -> Option<&mut Message> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::Time;

    #[test]
    fn a_ticket_tells_of_its_packet_what_queues_ask_for() {
        let all = [Kind::Data, Kind::Ack, Kind::Syn, Kind::SynAck, Kind::AckAck, Kind::Control, Kind::Query];
        for (kind, flow) in
            all.into_iter().flat_map(|kind| [0, 7, u32::MAX >> 1].map(|flow| (kind, FlowId(flow))))
        {
            let packet = SimPacket { ecn: Ecn::Ect1, ..SimPacket::new(kind, flow, 3, 1234, Time::ZERO) };
            let end = End::of(flow.0, kind.is_forward());
            let mut ticket = Ticket::of(&packet, end, u32::MAX);
            assert_eq!((ticket.bytes(), ticket.flow(), ticket.number()), (1234, flow, u32::MAX));
            assert_eq!(ticket.kind() == Kind::Data, kind == Kind::Data);
            assert_eq!(ticket.kind().is_forward(), kind.is_forward());
            assert_eq!(ticket.end().host(), (flow.0 as usize, kind.is_forward()));
            assert_eq!((ticket.ecn(), size_of_val(&ticket)), (Ecn::Ect1, 16));
            for ecn in [Ecn::NotCapable, Ecn::Capable, Ecn::Ect1, Ecn::Marked] {
                ticket.set_ecn(ecn);
                assert_eq!((ticket.ecn(), ticket.bytes(), ticket.flow()), (ecn, 1234, flow));
            }
        }
    }
}
