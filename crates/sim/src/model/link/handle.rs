//! What stands for a packet at a link of the fast driver. The packet itself stays in the ring of the end that
//! sent it.

use core::num::NonZeroU64;
use longfat_units::Time;
use longfat_wire::{Ecn, Explicit, Extra, FlowId, Kind, Message, Packet, SimPacket};

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
}

/// What links need to know of a packet, in two words: the compiler would move fields one by one.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    /// The end that has sent it, above its number in the ring of that end.
    origin: u64,
    /// A bit that is always set, what it has before it ([`Handle::links`], [`Handle::may_overtake`]), the ECN
    /// field, the kind, and the size.
    rest: NonZeroU64,
}

/// Each kind, by its code.
const KINDS: [Kind; 8] =
    [Kind::Data, Kind::Ack, Kind::Syn, Kind::SynAck, Kind::AckAck, Kind::Control, Kind::Query, Kind::Query];
const KIND_SHIFT: u32 = 16;
const ECN_SHIFT: u32 = 24;
const PATH_SHIFT: u32 = 32;
const ALWAYS: NonZeroU64 = match NonZeroU64::new(1 << 63) {
    Some(bit) => bit,
    None => NonZeroU64::MIN,
};
/// The bit that says that packets may overtake each other; the lower ones are the number of links.
const OVERTAKES: u16 = 1 << 15;

/// Fills room that no packet has used yet.
impl Default for Handle {
    fn default() -> Self {
        Handle { origin: 0, rest: ALWAYS }
    }
}

impl Handle {
    /// What the handles of an end's packets have in common: they will cross this many links behind the first
    /// one, and may overtake each other or not.
    pub fn of_end(end: End, links: usize, may_overtake: bool) -> Self {
        let links = links.min(usize::from(OVERTAKES - 1)) as u16;
        let path = u64::from(links | if may_overtake { OVERTAKES } else { 0 });
        Handle { origin: u64::from(end.0) << 32, rest: ALWAYS | path << PATH_SHIFT }
    }

    /// The handle of this packet of the end whose handles have this in common; the packet has this number in
    /// its ring.
    #[inline(always)]
    pub fn of(self, packet: &SimPacket, number: u32) -> Self {
        debug_assert_eq!(self.end(), End::of(packet.flow.0, packet.kind.is_forward()));
        let known =
            u32::from(packet.bytes) | (packet.kind as u32) << KIND_SHIFT | (packet.ecn as u32) << ECN_SHIFT;
        Handle { origin: self.origin | u64::from(number), rest: self.rest | u64::from(known) }
    }

    /// Its end need only know when it leaves its only link: this takes the place of the end and the number.
    #[inline(always)]
    pub const fn leave(&mut self, departure: Time) {
        self.origin = departure.as_ns();
    }

    /// When it does so.
    #[inline(always)]
    pub const fn departure(self) -> Time {
        Time::from_ns(self.origin)
    }

    /// The end that has sent it.
    #[inline(always)]
    pub const fn end(self) -> End {
        End((self.origin >> 32) as u32)
    }

    /// Its number in the ring of that end.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.origin as u32
    }

    #[inline(always)]
    const fn path(self) -> u16 {
        (self.rest.get() >> PATH_SHIFT) as u16
    }

    /// Whether this is its last link, and it overtakes no other of its end.
    #[inline(always)]
    pub const fn is_straight(self) -> bool {
        self.path() == 0
    }

    /// How many links it will cross behind this one.
    #[inline(always)]
    pub const fn links(self) -> usize {
        (self.path() & !OVERTAKES) as usize
    }

    /// The same packet at its next link.
    #[inline(always)]
    pub const fn at_next_link(self) -> Self {
        debug_assert!(self.links() > 0, "a packet at its last link");
        let Some(rest) = NonZeroU64::new(self.rest.get() - (1 << PATH_SHIFT)) else { return self };
        Handle { rest, ..self }
    }

    /// Whether it may overtake others of its end.
    #[inline(always)]
    pub const fn may_overtake(self) -> bool {
        self.path() & OVERTAKES != 0
    }
}

impl Packet for Handle {
    #[inline(always)]
    fn bytes(&self) -> u32 {
        u32::from(self.rest.get() as u16)
    }
    #[inline(always)]
    fn flow(&self) -> FlowId {
        FlowId((self.origin >> 33) as u32)
    }
    #[inline(always)]
    fn kind(&self) -> Kind {
        KINDS[(self.rest.get() >> KIND_SHIFT & 7) as usize]
    }
    #[inline(always)]
    fn ecn(&self) -> Ecn {
        match self.rest.get() >> ECN_SHIFT & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable,
            2 => Ecn::Ect1,
            _ => Ecn::Marked,
        }
    }
    #[inline(always)]
    fn set_ecn(&mut self, ecn: Ecn) {
        let rest = self.rest.get() & !(3 << ECN_SHIFT) | (ecn as u64) << ECN_SHIFT;
        self.rest = NonZeroU64::new(rest).unwrap_or(self.rest);
    }
    fn control(_: Message, _: u32) -> Self {
        Handle::default()
    }
}

/// The handle of a packet at a link with a router, which gets what the packet carries besides the usual. Its
/// time-to-live and its trail are missing: only routers that send messages read them, and the oracle runs
/// plans with those.
#[derive(Clone, Debug)]
pub struct Loan {
    pub handle: Handle,
    pub extra: Option<Box<Extra>>,
}

impl Packet for Loan {
    #[inline(always)]
    fn bytes(&self) -> u32 {
        self.handle.bytes()
    }
    #[inline(always)]
    fn flow(&self) -> FlowId {
        self.handle.flow()
    }
    #[inline(always)]
    fn kind(&self) -> Kind {
        self.handle.kind()
    }
    #[inline(always)]
    fn ecn(&self) -> Ecn {
        self.handle.ecn()
    }
    #[inline(always)]
    fn set_ecn(&mut self, ecn: Ecn) {
        self.handle.set_ecn(ecn);
    }
    fn explicit(&self) -> Option<&Explicit> {
        self.extra.as_ref().and_then(|extra| extra.explicit.as_ref())
    }
    fn explicit_mut(&mut self) -> Option<&mut Explicit> {
        self.extra.as_mut().and_then(|extra| extra.explicit.as_mut())
    }
    fn control(_: Message, _: u32) -> Self {
        Loan { handle: Handle::default(), extra: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Ecn; 4] = [Ecn::NotCapable, Ecn::Capable, Ecn::Ect1, Ecn::Marked];

    #[test]
    fn a_handle_has_what_links_ask_for() {
        for (kind, flow) in
            KINDS[..7].iter().flat_map(|kind| [0, 7, u32::MAX >> 1].map(|flow| (*kind, FlowId(flow))))
        {
            let packet = SimPacket { ecn: Ecn::Ect1, ..SimPacket::new(kind, flow, 3, 1234, Time::ZERO) };
            let end = End::of(flow.0, kind.is_forward());
            for (links, may_overtake) in [(0, true), (1, false), (300, true)] {
                let mut handle = Handle::of_end(end, links, may_overtake).of(&packet, u32::MAX);
                assert_eq!((handle.bytes(), handle.flow(), handle.number()), (1234, flow, u32::MAX));
                assert_eq!((handle.kind(), handle.may_overtake()), (kind, may_overtake));
                assert_eq!(handle.end().host(), (flow.0 as usize, kind.is_forward()));
                assert_eq!((handle.ecn(), size_of_val(&handle)), (Ecn::Ect1, 16));
                for ecn in FIELDS {
                    handle.set_ecn(ecn);
                    assert_eq!((handle.ecn(), handle.kind(), handle.bytes()), (ecn, kind, 1234));
                }
                for left in (0..links).rev() {
                    handle = handle.at_next_link();
                    assert_eq!(
                        (handle.links(), handle.may_overtake(), handle.bytes()),
                        (left, may_overtake, 1234)
                    );
                }
            }
        }
    }
}
