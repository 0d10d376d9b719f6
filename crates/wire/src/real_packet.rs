//! A real packet of IPv4 or IPv6, which carries TCP, UDP or any other protocol: its bytes, which it may share
//! with its neighbours, and the view of them that network elements have.
//!
//! A host's kernel hands out trains, many packets with one header. [`RealPacket::cut`] makes packets of a
//! train that share its bytes: what elements change (the ECN field, the time-to-live) each packet keeps for
//! itself, and the headers are made when the packets leave ([`RealPacket::write_joined`]), where packets that
//! still follow each other are joined again.
//!
//! etherparse reads the headers. It writes only whole ones, so the changes that a router makes on the way, to
//! single fields and their checksum, are made here.

mod joining;

use crate::checksum;
use crate::explicit::{Explicit, Trail};
use crate::message::Message;
use crate::offload::{Joined, Offload};
use crate::packet::{Ecn, FlowId, Kind, Packet};
use crate::tcp_option;
use crate::train::{Carrier, Conversation, TCP_CHECKSUM, TCP_FLAGS, TCP_SEQUENCE, Train, UDP_LENGTH};
use etherparse::{IpNumber, Ipv4Header, TcpHeaderSlice, TcpOptionElement, UdpHeader};
use std::sync::Arc;

const TOS: usize = 1;
const LENGTH_4: usize = 2;
const IDENTIFICATION_4: usize = 4;
const TTL_4: usize = 8;
const IP_CHECKSUM: usize = 10;
const LENGTH_6: usize = 4;
const TTL_6: usize = 7;
const TCP_ACKNOWLEDGEMENT: usize = 8;
const TCP_WINDOW: usize = 14;
const TCP_OPTIONS: usize = 20;
const LONGEST_TCP_HEADER: usize = 60;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// An explicit header that a packet carries as a TCP option.
#[derive(Clone, PartialEq, Debug)]
struct Carried {
    /// Where the option's word begins in the packet.
    at: usize,
    explicit: Explicit,
    /// The option has no room for it: it goes with the packet from router to router of one process only.
    trail: Trail,
}

/// A real packet. Whoever reads it off the wire says which flow it belongs to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RealPacket {
    train: Option<Arc<Train>>,
    /// Which packet of the train it is.
    number: u16,
    /// IP length.
    bytes: u32,
    flow: FlowId,
    kind: Kind,
    /// The ECN field, 2 bits.
    ecn: u8,
    ttl: u8,
    /// Whether it was marked when it was assigned.
    came_marked: bool,
    /// How many links of its path it has crossed.
    pub hop: u8,
    /// Only once somebody has asked for it.
    carried: Option<Box<Carried>>,
    /// What a packet between two routers says. No format is defined for it, so it is not in the packet's
    /// bytes.
    message: Option<Box<Message>>,
}

impl RealPacket {
    /// The most bytes that packets may have together to be joined: the length of an IP packet has 16 bits.
    pub const MOST_JOINED_BYTES: usize = u16::MAX as usize;

    /// Returns the packet of any protocol over IPv4 or IPv6 in these bytes, and who exchanges it.
    ///
    /// # Errors
    /// Returns the bytes if they are not one whole packet.
    pub fn parse(bytes: Vec<u8>) -> Result<(Self, Conversation), Vec<u8>> {
        let length = bytes.len();
        Self::parse_offloaded(bytes, length, Offload::NONE)
    }

    /// The same for the first `length` bytes of a buffer, of which a device says that this was left to do.
    /// Joined packets count as one until they are [`cut`](RealPacket::cut).
    pub fn parse_offloaded(
        buffer: Vec<u8>,
        length: usize,
        offload: Offload,
    ) -> Result<(Self, Conversation), Vec<u8>> {
        let (train, exchanged) = Train::parse(buffer, length, offload)?;
        let bytes = train.bytes();
        let (ecn, ttl) = if train.is_version_6() {
            (bytes[TOS] >> 4 & 0b11, bytes[TTL_6])
        } else {
            (bytes[TOS] & 0b11, bytes[TTL_4])
        };
        let train = Some(Arc::new(train));
        Ok((RealPacket { train, bytes: length as u32, ecn, ttl, ..RealPacket::default() }, exchanged))
    }

    fn train(&self) -> &Train {
        const NONE: &Train = &Train::NONE;
        self.train.as_deref().unwrap_or(NONE)
    }

    /// The packet's bytes, for changes in place. They become its own if it shares them.
    fn bytes_mut(&mut self) -> Option<&mut Train> {
        self.train.as_mut().map(Arc::make_mut)
    }

    /// Assigns the packet to a flow. Its kind follows from whether the side that opened the connection has
    /// sent it.
    pub fn assign(&mut self, flow: FlowId, from_opener: bool) {
        let has_payload = self.payload_bytes() > 0;
        self.flow = flow;
        self.kind = match (from_opener, self.train().flags() & SYN != 0) {
            (true, true) => Kind::Syn,
            (false, true) => Kind::SynAck,
            (true, false) if has_payload => Kind::Data,
            (true, false) => Kind::AckAck,
            (false, false) => Kind::Ack,
        };
    }

    /// Assigns the packet to a flow whose ends both send data. Its kind follows from its own headers.
    pub fn assign_by_headers(&mut self, flow: FlowId) {
        let (carrier, flags) = (self.carrier(), self.train().flags());
        self.kind = match (carrier, flags & SYN != 0, flags & ACK != 0) {
            (Some(Carrier::Tcp), true, false) => Kind::Syn,
            (Some(Carrier::Tcp), true, true) => Kind::SynAck,
            (Some(Carrier::Tcp), false, _) if self.payload_bytes() == 0 => Kind::Ack,
            _ => Kind::Data,
        };
        self.flow = flow;
        self.came_marked = self.ecn() == Ecn::Marked;
    }

    /// Whether it was marked since [`RealPacket::assign_by_headers`].
    pub fn got_marked(&self) -> bool {
        !self.came_marked && self.ecn() == Ecn::Marked
    }

    /// How many packets it stands for until it is cut.
    pub fn joined(&self) -> usize {
        self.train().packets()
    }

    /// Returns the packets that it stands for, in order.
    pub fn cut(self) -> impl Iterator<Item = RealPacket> {
        let packets = self.joined();
        (0..packets).map(move |number| {
            let bytes = if packets == 1 {
                self.bytes
            } else {
                (self.train().headers.end + self.train().payload(number).len()) as u32
            };
            RealPacket { number: number as u16, bytes, ..self.clone() }
        })
    }

    /// Returns the buffer for reuse, unless other packets share it.
    pub fn into_buffer(self) -> Option<Vec<u8>> {
        self.train.and_then(Arc::into_inner).map(Train::into_buffer)
    }

    /// Returns how many bytes it carries for the application.
    pub fn payload_bytes(&self) -> usize {
        (self.bytes as usize).saturating_sub(self.train().headers.end)
    }

    /// Returns what carries its payload; `None` for other protocols and for fragments.
    pub fn carrier(&self) -> Option<Carrier> {
        self.train().headers.carrier
    }

    /// Returns the sender's clock at the time when its TCP made the packet, if the packet says so: TSval of
    /// RFC 7323, in the sender's own unit and from its own origin.
    pub fn stamp(&self) -> Option<u32> {
        let train = self.train();
        if train.headers.carrier != Some(Carrier::Tcp) {
            return None;
        }
        let tcp = TcpHeaderSlice::from_slice(train.bytes().get(train.headers.ip_end..)?).ok()?;
        tcp.options_iterator().find_map(|option| match option {
            Ok(TcpOptionElement::Timestamp(value, _)) => Some(value),
            _ => None,
        })
    }

    /// Looks for an explicit header in TCP's options. Elements see it afterwards, and what they write into it
    /// is in the packet's bytes after [`RealPacket::write_explicit`]. The trail beside it begins at the
    /// sender.
    pub fn read_explicit(&mut self) {
        self.carried = None;
        let train = self.train();
        let tcp = train.headers.ip_end + TCP_OPTIONS;
        if train.headers.carrier != Some(Carrier::Tcp) {
            return;
        }
        let Some(at) = train.bytes().get(tcp..train.headers.end).and_then(tcp_option::find) else { return };
        let at = tcp + at;
        let trail = Trail { ttl: self.ttl, last_router: None };
        self.carried = tcp_option::decode(long_word(train.bytes(), at))
            .map(|explicit| Box::new(Carried { at, explicit, trail }));
    }

    /// Whether TCP's options leave room for that of explicit headers.
    pub fn has_room_for_option(&self) -> bool {
        let headers = self.train().headers;
        headers.carrier == Some(Carrier::Tcp)
            && headers.end - headers.ip_end + tcp_option::OPTION_BYTES <= LONGEST_TCP_HEADER
    }

    /// Writes the explicit header into the packet's bytes and updates the checksum over what has changed.
    pub fn write_explicit(&mut self) {
        let Some(carried) = self.carried.take() else { return };
        if let Some(train) = self.bytes_mut() {
            let word = tcp_option::encode(&carried.explicit, long_word(train.bytes(), carried.at));
            for (i, byte) in word.to_be_bytes().into_iter().enumerate() {
                replace_tcp(train, carried.at + i, 0, byte);
            }
        }
        self.carried = Some(carried);
    }

    /// Removes the offer to use ECN from a SYN (RFC 3168, section 6.1.1), so that its connection does
    /// without.
    pub fn decline_ecn(&mut self) {
        if self.train().flags() & SYN == 0 {
            return;
        }
        if let Some(train) = self.bytes_mut() {
            let at = train.headers.ip_end + TCP_FLAGS;
            replace_tcp(train, at, !(ECE | CWR), 0);
        }
    }

    /// TCP's flags; none for other protocols. Of a train, the first packet has reduced the window, and the
    /// last one ends what its sender has pushed.
    fn flags(&self) -> u8 {
        let train = self.train();
        let is_last = usize::from(self.number) + 1 == train.packets();
        let not_first = if self.number == 0 { 0 } else { CWR };
        let not_last = if is_last { 0 } else { FIN | PSH };
        train.flags() & !(not_first | not_last)
    }

    /// The number of its first byte.
    fn sequence(&self) -> u32 {
        let train = self.train();
        train.sequence().wrapping_add((usize::from(self.number) * train.step) as u32)
    }

    /// Returns the packet as it travels, with its checksums.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.first_bytes(self.bytes as usize)
    }

    /// Returns at most so many bytes of the packet as it travels, with the checksums of the whole one.
    pub fn first_bytes(&self, most: usize) -> Vec<u8> {
        let payload = self.train().payload(usize::from(self.number));
        let length = most.min(self.train().headers.end + payload.len());
        let mut bytes = Vec::with_capacity(length.max(self.train().headers.end));
        let offload = self.write_head(self, 1, payload.len(), &mut bytes);
        if let Some((start, offset)) = offload.partial {
            let (start, at) = (usize::from(start), usize::from(start + offset));
            // headers have an even length
            let sum = !checksum::fold(checksum::sum(&bytes[start..]) + checksum::sum(payload));
            // 0 would say that a datagram has no checksum
            let sum = if self.carrier() == Some(Carrier::Udp) && sum == 0 { !0 } else { sum };
            bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        }
        bytes.truncate(length);
        bytes.extend_from_slice(&payload[..length - bytes.len()]);
        bytes
    }
}

/// The eight bytes from `at` on.
fn long_word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Keeps the bits `keep` of a byte of TCP's header, sets the bits `set`, and updates the checksum over it.
fn replace_tcp(train: &mut Train, at: usize, keep: u8, set: u8) {
    let (partial, checksum) = (train.partial, train.headers.ip_end + TCP_CHECKSUM);
    let bytes = train.bytes_mut();
    let value = bytes[at] & keep | set;
    if partial {
        bytes[at] = value; // its checksum does not cover this byte yet
        return;
    }
    let [mut high, mut low] = checksum::word(bytes, at & !1).to_be_bytes();
    *(if at.is_multiple_of(2) { &mut high } else { &mut low }) = value;
    checksum::replace(bytes, at & !1, u16::from_be_bytes([high, low]), checksum);
}

impl Packet for RealPacket {
    #[inline]
    fn bytes(&self) -> u32 {
        self.bytes
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
        match self.ecn {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Capable,
            _ => Ecn::Marked,
        }
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = match ecn {
            Ecn::NotCapable => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Capable => 0b10,
            Ecn::Marked => 0b11,
        };
    }
    fn ttl(&self) -> u8 {
        self.ttl
    }
    fn set_ttl(&mut self, ttl: u8) {
        self.ttl = ttl;
    }
    fn explicit(&self) -> Option<&Explicit> {
        self.carried.as_ref().map(|carried| &carried.explicit)
    }
    fn explicit_mut(&mut self) -> Option<&mut Explicit> {
        self.carried.as_mut().map(|carried| &mut carried.explicit)
    }
    fn trail(&self) -> Option<&Trail> {
        self.carried.as_ref().map(|carried| &carried.trail)
    }
    fn trail_mut(&mut self) -> Option<&mut Trail> {
        self.carried.as_mut().map(|carried| &mut carried.trail)
    }
    /// Makes an empty datagram, with the message beside it: no format is defined for messages between
    /// routers, so only routers of one process can exchange them.
    fn control(message: Message, bytes: u32) -> Self {
        let headers = Ipv4Header::MIN_LEN + UdpHeader::LEN;
        let length = (bytes as usize).clamp(headers, usize::from(u16::MAX));
        let mut ip = Ipv4Header {
            total_len: length as u16,
            time_to_live: Trail::TTL,
            protocol: IpNumber::UDP,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let udp = UdpHeader { length: (length - Ipv4Header::MIN_LEN) as u16, ..UdpHeader::default() };
        let mut packet = ip.to_bytes().to_vec();
        packet.extend(udp.to_bytes());
        packet.resize(length, 0);
        let made = RealPacket::parse(packet).map(|(packet, _)| packet).unwrap_or_default();
        RealPacket { kind: Kind::Control, flow: FlowId::NONE, message: Some(Box::new(message)), ..made }
    }
    fn message(&self) -> Option<&Message> {
        self.message.as_deref()
    }
    fn message_mut(&mut self) -> Option<&mut Message> {
        self.message.as_deref_mut()
    }
}

#[cfg(test)]
mod tests;
