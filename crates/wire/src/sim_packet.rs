//! The simulator's packet, kept small: what only some packets carry (SACK blocks, an explicit header) is
//! behind one pointer, so the others do not pay for it.

use crate::explicit::{Explicit, Trail};
use crate::message::Message;
use crate::packet::{Ecn, FlowId, Kind, Packet};
use crate::report::Report;
use longfat_units::Time;

/// Up to three ranges [start, end) of segments that arrived above the cumulative acknowledgement, the range
/// with the latest arrival first (RFC 2018). Beside timestamps, the TCP header has room for three. The first
/// one may report segments that arrived a second time (RFC 2883).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(u64, u64); 3],
    len: u8,
}

impl SackBlocks {
    /// The most blocks that one acknowledgement carries.
    pub const MOST: usize = 3;

    /// Adds a block; blocks beyond [`SackBlocks::MOST`] are left out.
    pub fn push(&mut self, start: u64, end: u64) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (start, end);
            self.len += 1;
        }
    }

    /// Returns the blocks, latest arrival first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.blocks.iter().take(usize::from(self.len)).copied()
    }

    /// Whether there are no blocks.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many bytes they take in the TCP header: 4, and 8 for each block.
    pub const fn header_bytes(&self) -> u32 {
        if self.len == 0 { 0 } else { 4 + 8 * self.len as u32 }
    }
}

/// Payload bytes that have arrived with each value of the ECN field, modulo 2^24 (RFC 9768, section 3.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnBytes {
    /// ECT(0).
    pub ect0: u32,
    /// ECT(1).
    pub ect1: u32,
    /// Congestion experienced.
    pub ce: u32,
}

/// Accurate ECN feedback on an acknowledgement (RFC 9768).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccurateEcn {
    /// The ACE field of the TCP header: the lowest three bits of the receiver's count of marked packets.
    pub ace: u8,
    /// The option, if the header has room for it.
    pub option: Option<EcnBytes>,
}

/// An acknowledgement is one of several in place of one: a receiver divides its acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Division {
    /// How many, 1 or more.
    pub parts: u32,
    /// The segments that all of them acknowledge together.
    pub segments: u32,
}

/// What only some packets carry.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Extra {
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// An explicit congestion header.
    pub explicit: Option<Explicit>,
    /// What accompanies that header.
    pub trail: Trail,
    /// What an end of a rate-based transport over UDP tells the other.
    pub report: Option<Box<Report>>,
    /// A message from one network element to another.
    pub message: Option<Box<Message>>,
    /// Accurate ECN feedback.
    pub accurate_ecn: Option<AccurateEcn>,
    /// The acknowledgement is a part of one.
    pub division: Option<Division>,
}

impl Extra {
    /// Makes it equal to the default. A packet mostly carries one thing, and to write all of them anew costs
    /// more than to look what there is.
    #[inline]
    pub fn clear(&mut self) {
        let Extra { sack, explicit, trail, report, message, accurate_ecn, division } = self;
        if !sack.is_empty() {
            *sack = SackBlocks::default();
        }
        (*explicit, *trail, *accurate_ecn, *division) = (None, Trail::default(), None, None);
        if report.is_some() || message.is_some() {
            (*report, *message) = (None, None);
        }
    }
}

/// A simulated TCP packet. Sequence numbers count segments, not bytes.
#[derive(Clone, PartialEq, Debug, Default)]
#[repr(C)] // size, kind and ECN field lie together, since links ask for these
pub struct SimPacket {
    /// Data: the segment's number. Acknowledgement: the next segment expected.
    pub seq: u64,
    /// When it was sent; an acknowledgement echoes the stamp of the earliest segment that it acknowledges
    /// (RFC 7323).
    pub stamp: Time,
    /// What only some packets carry.
    pub extra: Option<Box<Extra>>,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Acknowledgement: one-way delay in ns of the segment that triggered it, at most 4.29 s.
    pub one_way_delay_ns: u32,
    /// IP length.
    pub bytes: u16,
    /// Its purpose.
    pub kind: Kind,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// TCP's ECN-Echo (acknowledgements) or Congestion Window Reduced (data), RFC 3168.
    pub ecn_flag: bool,
    /// How many links of its path it has crossed.
    pub hop: u8,
    /// IP time-to-live.
    pub ttl: u8,
}

impl SimPacket {
    /// Makes a packet that carries nothing optional.
    #[inline]
    pub fn new(kind: Kind, flow: FlowId, seq: u64, bytes: u32, stamp: Time) -> Self {
        SimPacket {
            seq,
            stamp,
            extra: None,
            flow,
            one_way_delay_ns: 0,
            bytes: bytes.min(u32::from(u16::MAX)) as u16,
            kind,
            ecn: Ecn::NotCapable,
            ecn_flag: false,
            hop: 0,
            ttl: Trail::TTL,
        }
    }

    /// Returns its SACK blocks, which may be none.
    #[inline]
    pub fn sack(&self) -> SackBlocks {
        self.extra.as_ref().map_or_else(SackBlocks::default, |e| e.sack)
    }

    /// The segments [start, end) that this acknowledgement reports to have arrived a second time: its first
    /// SACK block, if that lies below the cumulative acknowledgement or within the second block (RFC 2883,
    /// section 4).
    pub fn duplicate(&self) -> Option<(u64, u64)> {
        let sack = self.sack();
        let mut blocks = sack.iter();
        let first = blocks.next()?;
        let within = |second: (u64, u64)| second.0 <= first.0 && first.1 <= second.1;
        (first.0 < self.seq || blocks.next().is_some_and(within)).then_some(first)
    }
}

impl Packet for SimPacket {
    #[inline]
    fn bytes(&self) -> u32 {
        u32::from(self.bytes)
    }
    #[inline]
    fn flow(&self) -> FlowId {
        self.flow
    }
    #[inline]
    fn kind(&self) -> Kind {
        self.kind
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn ttl(&self) -> u8 {
        self.ttl
    }
    fn set_ttl(&mut self, ttl: u8) {
        self.ttl = ttl;
    }
    fn explicit(&self) -> Option<&Explicit> {
        self.extra.as_ref().and_then(|e| e.explicit.as_ref())
    }
    fn explicit_mut(&mut self) -> Option<&mut Explicit> {
        self.extra.as_mut().and_then(|e| e.explicit.as_mut())
    }
    fn trail(&self) -> Option<&Trail> {
        self.extra.as_ref().filter(|e| e.explicit.is_some()).map(|e| &e.trail)
    }
    fn trail_mut(&mut self) -> Option<&mut Trail> {
        self.extra.as_mut().filter(|e| e.explicit.is_some()).map(|e| &mut e.trail)
    }
    fn control(message: Message, bytes: u32) -> Self {
        let extra = Extra { message: Some(Box::new(message)), ..Extra::default() };
        let packet = SimPacket::new(Kind::Control, FlowId::NONE, 0, bytes, Time::ZERO);
        SimPacket { extra: Some(Box::new(extra)), ..packet }
    }
    fn message(&self) -> Option<&Message> {
        self.extra.as_ref().and_then(|e| e.message.as_deref())
    }
    fn message_mut(&mut self) -> Option<&mut Message> {
        self.extra.as_mut().and_then(|e| e.message.as_deref_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::Load;
    use crate::message::{Address, Content};

    #[test]
    fn a_packet_without_options_stays_small() {
        assert!(size_of::<SimPacket>() <= 40, "{}", size_of::<SimPacket>());
    }

    #[test]
    fn what_a_packet_carried_is_gone_once_it_is_cleared() {
        let mut extra = Extra {
            sack: SackBlocks { blocks: [(1, 2); 3], len: 3 },
            explicit: Some(Explicit::Vcp(Load::High)),
            trail: Trail { ttl: 3, last_router: Some(Address(1)) },
            report: Some(Box::new(Report::Arrived(2))),
            message: Some(Box::new(Message { from: Address(1), to: Address(2), content: Content::Stop })),
            accurate_ecn: Some(AccurateEcn::default()),
            division: Some(Division::default()),
        };
        extra.clear();
        assert_eq!(extra, Extra::default());
    }

    #[test]
    fn the_first_block_reports_a_duplicate_if_it_is_below_the_acknowledgement_or_within_the_second() {
        // RFC 2883, sections 4.1 to 4.3, in segments
        let duplicate = |seq, blocks: &[(u64, u64)]| {
            let mut extra = Extra::default();
            blocks.iter().for_each(|&(start, end)| extra.sack.push(start, end));
            let ack = SimPacket::new(Kind::Ack, FlowId(0), seq, 64, Time::ZERO);
            SimPacket { extra: Some(Box::new(extra)), ..ack }.duplicate()
        };
        assert_eq!(duplicate(8, &[(6, 7)]), Some((6, 7)));
        assert_eq!(duplicate(6, &[(5, 6), (9, 11)]), Some((5, 6)));
        assert_eq!(duplicate(6, &[(9, 10), (8, 12)]), Some((9, 10)));
        assert_eq!(duplicate(6, &[(8, 12), (14, 15)]), None);
        assert_eq!(duplicate(6, &[]), None);
    }

    #[test]
    fn a_fourth_block_is_left_out() {
        let mut sack = SackBlocks::default();
        (0..4).for_each(|i| sack.push(10 * i, 10 * i + 1));
        assert_eq!(sack.iter().collect::<Vec<_>>(), [(0, 1), (10, 11), (20, 21)]);
        assert_eq!(sack.header_bytes(), 28);
    }
}
