//! A real packet, IPv4 with TCP or UDP or any other of IP: its bytes, and the view of them that network elements have.
//!
//! etherparse reads the headers. A packet with the timestamp option costs 165 instructions (callgrind,
//! release build), 145 when the code was written by hand: against the 16 us that a live router spends on a
//! data packet, less than 0.1 %. etherparse writes only whole headers, so the changes that a router makes on
//! the way, to single bytes and their checksum, are made here.

use crate::explicit::{Explicit, Trail};
use crate::message::Message;
use crate::packet::{Ecn, FlowId, Kind, Packet};
use crate::tcp_option;
use core::net::IpAddr;
use etherparse::{
    IpNumber, IpSlice, Ipv4Header, Ipv4Slice, TcpHeaderSlice, TcpOptionElement, UdpHeader, UdpHeaderSlice,
};

const TOS: usize = 1;
const TTL: usize = 8;
/// The traffic class of IPv6 begins in the middle of the first byte, so ECN is in the middle of the second.
const IPV6_ECN_SHIFT: u8 = 4;
const IPV6_HOP_LIMIT: usize = 7;
const IP_CHECKSUM: usize = 10;
const TCP_FLAGS: usize = 13;
const TCP_CHECKSUM: usize = 16;
const TCP_OPTIONS: usize = 20;
const LONGEST_TCP_HEADER: usize = 60;

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// What carries a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Carrier {
    /// IP protocol 6.
    #[default]
    Tcp,
    /// IP protocol 17.
    Udp,
}

/// What the headers of a packet say about the conversation that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// TCP or UDP.
    pub carrier: Carrier,
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
}

/// Who exchanges a packet with whom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Conversation {
    /// IP's number of the protocol.
    pub protocol: u8,
    /// Source address and port; port 0 for protocols without ports and for fragments.
    pub source: (IpAddr, u16),
    /// Destination address and port.
    pub destination: (IpAddr, u16),
}

/// Where the headers of a packet end, in bytes from its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Headers {
    /// Whether it is IPv6.
    six: bool,
    /// UDP stands for every protocol without flags.
    carrier: Carrier,
    ip_end: usize,
    end: usize,
}

/// An explicit header that a packet carries as a TCP option.
#[derive(Clone, PartialEq, Debug)]
struct Carried {
    /// Where the option's word begins in the packet.
    at: usize,
    explicit: Explicit,
}

/// A real packet. Whoever reads it off the wire says which flow it belongs to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RealPacket {
    bytes: Vec<u8>,
    headers: Headers,
    flow: FlowId,
    kind: Kind,
    /// Whether it was marked when it was assigned.
    came_marked: bool,
    /// Only once somebody has asked for it.
    carried: Option<Box<Carried>>,
}

impl RealPacket {
    /// Returns the packet in these bytes, and its ports.
    ///
    /// # Errors
    /// Returns the bytes if they are not one whole, unfragmented IPv4 packet that carries TCP or UDP.
    pub fn parse(bytes: Vec<u8>) -> Result<(Self, Ports), Vec<u8>> {
        match read(&bytes) {
            Some((headers, ports)) => Ok((RealPacket { bytes, headers, ..RealPacket::default() }, ports)),
            None => Err(bytes),
        }
    }

    /// Returns the packet of any protocol over IPv4 or IPv6 in these bytes, and who exchanges it.
    ///
    /// # Errors
    /// Returns the bytes if they are not one whole packet.
    pub fn parse_any(bytes: Vec<u8>) -> Result<(Self, Conversation), Vec<u8>> {
        match read_any(&bytes) {
            Some((headers, exchanged)) => {
                Ok((RealPacket { bytes, headers, ..RealPacket::default() }, exchanged))
            }
            None => Err(bytes),
        }
    }

    /// Assigns the packet to a flow whose ends both send data. Its kind follows from its own headers.
    pub fn assign_by_headers(&mut self, flow: FlowId) {
        let has_payload = self.payload_bytes() > 0;
        self.flow = flow;
        self.came_marked = self.ecn() == Ecn::Marked;
        self.kind = match (self.headers.carrier, self.flags() & SYN != 0, self.flags() & ACK != 0) {
            (Carrier::Tcp, true, false) => Kind::Syn,
            (Carrier::Tcp, true, true) => Kind::SynAck,
            (Carrier::Tcp, false, _) if !has_payload => Kind::Ack,
            _ => Kind::Data,
        };
    }

    /// Whether it was marked since [`RealPacket::assign_by_headers`].
    pub fn got_marked(&self) -> bool {
        !self.came_marked && self.ecn() == Ecn::Marked
    }

    /// Assigns the packet to a flow. Its kind follows from whether the side that opened the connection has
    /// sent it.
    pub fn assign(&mut self, flow: FlowId, from_opener: bool) {
        let has_payload = self.payload_bytes() > 0;
        self.flow = flow;
        self.kind = match (from_opener, self.flags() & SYN != 0) {
            (true, true) => Kind::Syn,
            (false, true) => Kind::SynAck,
            (true, false) if has_payload => Kind::Data,
            (true, false) => Kind::AckAck,
            (false, false) => Kind::Ack,
        };
    }

    /// Returns the packet as it travels.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns its buffer for reuse.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns how many bytes it carries for the application.
    pub fn payload_bytes(&self) -> usize {
        self.bytes.len() - self.headers.end
    }

    /// Returns the sender's clock at the time when its TCP made the packet, if the packet says so: TSval of
    /// RFC 7323, in the sender's own unit and from its own origin.
    pub fn stamp(&self) -> Option<u32> {
        if self.headers.carrier != Carrier::Tcp {
            return None;
        }
        let tcp = TcpHeaderSlice::from_slice(self.bytes.get(self.headers.ip_end..)?).ok()?;
        tcp.options_iterator().find_map(|option| match option {
            Ok(TcpOptionElement::Timestamp(value, _)) => Some(value),
            _ => None,
        })
    }

    /// Looks for an explicit header in TCP's options. Elements see it afterwards, and what they write into it is
    /// in the packet's bytes after [`RealPacket::write_explicit`].
    pub fn read_explicit(&mut self) {
        self.carried = None;
        let tcp = self.headers.ip_end + TCP_OPTIONS;
        if self.headers.carrier != Carrier::Tcp {
            return;
        }
        let Some(at) = self.bytes.get(tcp..self.headers.end).and_then(tcp_option::find) else { return };
        self.carried = tcp_option::decode(self.long_word(tcp + at))
            .map(|explicit| Box::new(Carried { at: tcp + at, explicit }));
    }

    /// Whether TCP's options leave room for that of explicit headers.
    pub fn has_room_for_option(&self) -> bool {
        self.headers.carrier == Carrier::Tcp
            && self.headers.end - self.headers.ip_end + tcp_option::OPTION_BYTES <= LONGEST_TCP_HEADER
    }

    /// Writes the explicit header into the packet's bytes and updates the checksum over what has changed.
    pub fn write_explicit(&mut self) {
        let Some(carried) = self.carried.take() else { return };
        let checksum = self.headers.ip_end + TCP_CHECKSUM;
        let word = tcp_option::encode(&carried.explicit, self.long_word(carried.at));
        for (i, byte) in word.to_be_bytes().into_iter().enumerate() {
            self.replace(carried.at + i, 0, byte, checksum);
        }
        self.carried = Some(carried);
    }

    /// The eight bytes from `at` on.
    fn long_word(&self, at: usize) -> u64 {
        self.bytes[at..at + 8].iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// Returns TCP's flags; none for a UDP datagram.
    fn flags(&self) -> u8 {
        match self.headers.carrier {
            Carrier::Tcp => self.bytes[self.headers.ip_end + TCP_FLAGS],
            Carrier::Udp => 0,
        }
    }

    /// Removes the offer to use ECN from a SYN (RFC 3168, section 6.1.1), so that its connection does
    /// without.
    pub fn decline_ecn(&mut self) {
        if self.flags() & SYN == 0 {
            return;
        }
        let tcp = self.headers.ip_end;
        self.replace(tcp + TCP_FLAGS, !(ECE | CWR), 0, tcp + TCP_CHECKSUM);
    }

    /// Keeps the bits `keep` of a byte, sets the bits `set`, and updates the checksum over it.
    fn replace(&mut self, at: usize, keep: u8, set: u8, checksum: usize) {
        let word = at & !1;
        let before = self.word(word);
        self.bytes[at] = (self.bytes[at] & keep) | set;
        let after = updated(self.word(checksum), before, self.word(word));
        self.bytes[checksum..checksum + 2].copy_from_slice(&after.to_be_bytes());
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }
}

/// Updates a checksum after one of its words has changed: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3).
fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

fn read(bytes: &[u8]) -> Option<(Headers, Ports)> {
    let ip = Ipv4Slice::from_slice(bytes).ok()?;
    let datagram = ip.payload();
    if usize::from(ip.header().total_len()) != bytes.len() || datagram.fragmented {
        return None;
    }
    let (ports, header_bytes) = match datagram.ip_number {
        IpNumber::TCP => {
            let tcp = TcpHeaderSlice::from_slice(datagram.payload).ok()?;
            let (source, destination) = (tcp.source_port(), tcp.destination_port());
            (Ports { carrier: Carrier::Tcp, source, destination }, tcp.slice().len())
        }
        IpNumber::UDP => {
            let udp = UdpHeaderSlice::from_slice(datagram.payload).ok()?;
            let (source, destination) = (udp.source_port(), udp.destination_port());
            (Ports { carrier: Carrier::Udp, source, destination }, udp.slice().len())
        }
        _ => return None,
    };
    let ip_end = bytes.len() - datagram.payload.len();
    Some((Headers { six: false, carrier: ports.carrier, ip_end, end: ip_end + header_bytes }, ports))
}

fn read_any(bytes: &[u8]) -> Option<(Headers, Conversation)> {
    let ip = IpSlice::from_slice(bytes).ok()?;
    let (six, length) = match &ip {
        IpSlice::Ipv4(four) => (false, usize::from(four.header().total_len())),
        IpSlice::Ipv6(six) => (true, 40 + usize::from(six.header().payload_length())),
    };
    if length != bytes.len() {
        return None;
    }
    let inner = ip.payload();
    let ip_end = bytes.len() - inner.payload.len();
    let whole = !inner.fragmented;
    let (carrier, ports, header_bytes) = match inner.ip_number {
        IpNumber::TCP if whole => {
            let tcp = TcpHeaderSlice::from_slice(inner.payload).ok()?;
            (Carrier::Tcp, (tcp.source_port(), tcp.destination_port()), tcp.slice().len())
        }
        IpNumber::UDP if whole => {
            let udp = UdpHeaderSlice::from_slice(inner.payload).ok()?;
            (Carrier::Udp, (udp.source_port(), udp.destination_port()), udp.slice().len())
        }
        _ => (Carrier::Udp, (0, 0), 0),
    };
    let headers = Headers { six, carrier, ip_end, end: ip_end + header_bytes };
    let exchanged = Conversation {
        protocol: inner.ip_number.0,
        source: (ip.source_addr(), ports.0),
        destination: (ip.destination_addr(), ports.1),
    };
    Some((headers, exchanged))
}

impl Packet for RealPacket {
    #[inline]
    fn bytes(&self) -> u32 {
        self.bytes.len() as u32
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
        let class = self.bytes[TOS] >> if self.headers.six { IPV6_ECN_SHIFT } else { 0 };
        match class & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Capable,
            _ => Ecn::Marked,
        }
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        let bits = match ecn {
            Ecn::NotCapable => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Capable => 0b10,
            Ecn::Marked => 0b11,
        };
        if self.headers.six {
            // IPv6 has no checksum of its own, and those of TCP and UDP leave out the traffic class
            self.bytes[TOS] = self.bytes[TOS] & !(0b11 << IPV6_ECN_SHIFT) | bits << IPV6_ECN_SHIFT;
            return;
        }
        self.replace(TOS, !0b11, bits, IP_CHECKSUM);
    }
    fn ttl(&self) -> u8 {
        self.bytes[if self.headers.six { IPV6_HOP_LIMIT } else { TTL }]
    }
    fn set_ttl(&mut self, ttl: u8) {
        if self.headers.six {
            self.bytes[IPV6_HOP_LIMIT] = ttl;
            return;
        }
        self.replace(TTL, 0, ttl, IP_CHECKSUM);
    }
    fn explicit(&self) -> Option<&Explicit> {
        self.carried.as_ref().map(|carried| &carried.explicit)
    }
    fn explicit_mut(&mut self) -> Option<&mut Explicit> {
        self.carried.as_mut().map(|carried| &mut carried.explicit)
    }
    /// None: the option has no room for it.
    fn trail(&self) -> Option<&Trail> {
        None
    }
    fn trail_mut(&mut self) -> Option<&mut Trail> {
        None
    }
    /// Makes an empty datagram: no format is defined for messages between routers, so a real packet carries
    /// none.
    fn control(_message: Message, bytes: u32) -> Self {
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
        let headers =
            Headers { six: false, carrier: Carrier::Udp, ip_end: Ipv4Header::MIN_LEN, end: headers };
        RealPacket { bytes: packet, headers, kind: Kind::Control, ..RealPacket::default() }
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
    use crate::message::{Address, Content};
    use etherparse::{IpHeaders, PacketBuilder, TcpHeader};

    const PSH: u8 = 0x08;

    /// A packet as etherparse makes it, from port 40000 to 5001.
    fn tcp_with(flags: u8, tos: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let ip = Ipv4Header {
            dscp: (tos >> 2).try_into().unwrap(),
            ecn: (tos & 0b11).try_into().unwrap(),
            dont_fragment: true,
            time_to_live: 64,
            source: [10, 0, 0, 1],
            destination: [10, 0, 0, 2],
            ..Ipv4Header::default()
        };
        let mut tcp = TcpHeader::new(40_000, 5001, 0, 1000);
        tcp.set_options_raw(options).unwrap();
        (tcp.syn, tcp.ack, tcp.psh) = (flags & SYN != 0, flags & ACK != 0, flags & PSH != 0);
        (tcp.ece, tcp.cwr) = (flags & ECE != 0, flags & CWR != 0);
        let builder = PacketBuilder::ip(IpHeaders::Ipv4(ip, Default::default())).tcp_header(tcp);
        let mut bytes = Vec::new();
        builder.write(&mut bytes, &vec![0; payload]).unwrap();
        bytes
    }

    fn tcp(flags: u8, tos: u8, payload: usize) -> Vec<u8> {
        tcp_with(flags, tos, &[], payload)
    }

    fn parsed(bytes: Vec<u8>) -> RealPacket {
        RealPacket::parse(bytes).unwrap().0
    }

    fn has_right_ip_checksum(packet: &RealPacket) -> bool {
        let (ip, _) = Ipv4Header::from_slice(&packet.bytes).unwrap();
        ip.header_checksum == ip.calc_header_checksum()
    }

    #[test]
    fn the_checksum_after_a_change_is_that_of_rfc_1624s_example() {
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000); // section 4
    }

    #[test]
    fn a_mark_and_a_hop_leave_the_ip_checksum_right() {
        for tos in [0b10, 0b01, 0xb8 | 0b10, 0xfc] {
            let mut packet = parsed(tcp(ACK, tos, 8));
            packet.set_ecn(Ecn::Marked);
            packet.set_ttl(packet.ttl() - 1);
            assert_eq!((packet.ecn(), packet.ttl(), packet.bytes[1] >> 2), (Ecn::Marked, 63, tos >> 2));
            assert!(has_right_ip_checksum(&packet));
        }
    }

    #[test]
    fn each_codepoint_of_the_ecn_field_is_read_and_written_as_rfc_3168_numbers_it() {
        for (bits, ecn) in [(0, Ecn::NotCapable), (1, Ecn::Ect1), (2, Ecn::Capable), (3, Ecn::Marked)] {
            let mut packet = parsed(tcp(ACK, 0xb8 | bits, 8));
            assert_eq!(packet.ecn(), ecn);
            packet.set_ecn(Ecn::NotCapable);
            packet.set_ecn(ecn);
            assert_eq!(packet.bytes[1], 0xb8 | bits);
            assert!(has_right_ip_checksum(&packet));
        }
    }

    #[test]
    fn the_kind_follows_from_direction_flags_and_payload() {
        for (flags, payload, from_opener, kind) in [
            (SYN, 0, true, Kind::Syn),
            (SYN | ACK, 0, false, Kind::SynAck),
            (ACK, 0, true, Kind::AckAck),
            (ACK | PSH, 1448, true, Kind::Data),
            (ACK, 0, false, Kind::Ack),
        ] {
            let (mut packet, ports) = RealPacket::parse(tcp(flags, 0, payload)).unwrap();
            packet.assign(FlowId(7), from_opener);
            assert_eq!((packet.kind(), packet.flow(), packet.payload_bytes()), (kind, FlowId(7), payload));
            assert_eq!((ports.source, ports.destination, ports.carrier), (40000, 5001, Carrier::Tcp));
            assert_eq!(packet.bytes(), 40 + payload as u32);
        }
    }

    #[test]
    fn a_datagram_has_ports_and_payload_but_no_stamp() {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(40_000, 5001);
        builder.write(&mut bytes, &[8; 100]).unwrap();
        let (mut packet, ports) = RealPacket::parse(bytes).unwrap();
        packet.assign(FlowId(1), true);
        assert_eq!((ports.carrier, ports.source, ports.destination), (Carrier::Udp, 40_000, 5001));
        assert_eq!((packet.kind(), packet.payload_bytes(), packet.stamp()), (Kind::Data, 100, None));
    }

    #[test]
    fn a_syn_whose_offer_is_declined_equals_one_without_the_offer() {
        let mut packet = parsed(tcp(SYN | ECE | CWR, 0, 0));
        packet.decline_ecn();
        assert_eq!(packet.as_bytes(), tcp(SYN, 0, 0), "its checksum included");
        let mut later = parsed(tcp(ACK | ECE, 0, 0));
        later.decline_ecn();
        assert_eq!(later.flags(), ACK | ECE, "an echo is not an offer");
    }

    #[test]
    fn the_senders_stamp_is_found_among_options_and_nothing_else_is_taken_for_it() {
        let with = |options: &[u8]| parsed(tcp_with(ACK, 0, options, 4)).stamp();
        let stamp = [8, 10, 0x01, 0x02, 0x03, 0x04, 9, 9, 9, 9];
        let after = |before: &[u8]| [before, &stamp[..]].concat();
        assert_eq!(with(&after(&[1, 1])), Some(0x0102_0304));
        assert_eq!(with(&after(&[2, 4, 5, 180, 4, 2])), Some(0x0102_0304), "behind MSS and SACK-permitted");
        for without in
            [&[][..], &[0, 0, 8, 10], &[1, 1, 1, 1], &[8, 10, 1, 2], &[4, 0, 4, 0], &[5, 200, 0, 0]]
        {
            assert_eq!(with(without), None);
        }
    }

    #[test]
    fn bytes_that_are_not_one_whole_packet_come_back() {
        let whole = tcp(ACK, 0, 10);
        let (short, long) = (whole[..45].to_vec(), [&whole[..], &[0]].concat());
        let (mut six, mut fragment, mut other, mut cut) =
            (whole.clone(), whole.clone(), whole.clone(), tcp(ACK, 0, 0));
        six[0] = 0x60;
        fragment[6] = 0x20;
        other[9] = 1; // ICMP
        cut[32] = 0xf0; // a TCP header of 60 bytes in a packet of 40
        for bytes in [vec![], short, long, six, fragment, other, cut] {
            assert_eq!(RealPacket::parse(bytes.clone()), Err(bytes));
        }
        assert!(RealPacket::parse(whole).is_ok());
    }

    #[test]
    fn packets_of_any_protocol_tell_who_exchanges_them_and_what_they_carry() {
        let both = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let six = |last: u8| {
            let mut address = [0; 16];
            (address[0], address[15]) = (0xfd, last);
            address
        };
        let mut ping = Vec::new();
        PacketBuilder::ipv4(both.0, both.1, 64).icmpv4_echo_request(7, 1).write(&mut ping, &[0; 56]).unwrap();
        let mut quic = Vec::new();
        PacketBuilder::ipv6(six(1), six(2), 64).udp(50_000, 443).write(&mut quic, &[0; 1200]).unwrap();
        let mut syn = Vec::new();
        PacketBuilder::ipv6(six(1), six(2), 64).tcp(50_000, 80, 0, 1000).syn().write(&mut syn, &[]).unwrap();
        for (bytes, protocol, ports, kind) in [
            (ping, 1, (0, 0), Kind::Data),
            (quic, 17, (50_000, 443), Kind::Data),
            (syn, 6, (50_000, 80), Kind::Syn),
            (tcp(SYN | ACK, 0, 0), 6, (40_000, 5001), Kind::SynAck),
            (tcp(ACK, 0, 0), 6, (40_000, 5001), Kind::Ack),
            (tcp(ACK, 0, 9), 6, (40_000, 5001), Kind::Data),
        ] {
            let (mut packet, exchanged) = RealPacket::parse_any(bytes).unwrap();
            packet.assign_by_headers(FlowId(3));
            assert_eq!((exchanged.protocol, packet.kind()), (protocol, kind));
            assert_eq!((exchanged.source.1, exchanged.destination.1), ports);
        }
        for bytes in [vec![], vec![0x45; 19], vec![0x60; 39], tcp(ACK, 0, 9)[..45].to_vec()] {
            assert_eq!(RealPacket::parse_any(bytes.clone()), Err(bytes));
        }
    }

    #[test]
    fn a_mark_of_an_ipv6_packet_changes_its_traffic_class_only() {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(50_000, 443);
        builder.write(&mut bytes, &[8; 100]).unwrap();
        bytes[0] |= 0x0b; // the upper half of the class, 0xb9: DSCP 46 and ECT(1)
        bytes[1] = 0x9a; // its lower half, and the first bits of the flow label
        let (mut packet, _) = RealPacket::parse_any(bytes.clone()).unwrap();
        packet.assign_by_headers(FlowId(0));
        assert_eq!((packet.ecn(), packet.ttl(), packet.got_marked()), (Ecn::Ect1, 64, false));
        packet.set_ecn(Ecn::Marked);
        packet.set_ttl(63);
        bytes[1] = 0xba;
        bytes[7] = 63;
        assert_eq!((packet.as_bytes(), packet.got_marked()), (&bytes[..], true));
        packet.assign_by_headers(FlowId(0));
        assert!(!packet.got_marked(), "another router has marked it");
    }

    /// XCP's word of a packet with a window of 15 000 bytes, a round-trip time of 80 ms, and no feedback yet.
    const WORD: [u8; 8] = [0x21, 0x1f, 0x53, 0x34, 0xe2, 0x7f, 0xff, 0xff];

    fn with_word(before: &[u8], word: [u8; 8], payload: usize) -> Vec<u8> {
        tcp_with(ACK, 0, &[before, &[254, 12, 0x4c, 0x46], &word].concat(), payload)
    }

    #[test]
    fn feedback_that_a_router_writes_leaves_the_packet_as_if_its_host_had_written_it() {
        // 100 bytes = 25 600 parts = 0x06400; behind one NOP, words of the checksum and of the option differ
        for before in [&[][..], &[1], &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], &[1, 1, 1]] {
            for payload in [0, 7, 1436] {
                let mut packet = parsed(with_word(before, WORD, payload));
                assert_eq!(packet.explicit(), None, "nobody has looked yet");
                packet.read_explicit();
                let Some(Explicit::Xcp(header)) = packet.explicit_mut() else { panic!("no header") };
                assert_eq!((header.cwnd_bytes, header.rtt_s), (15_000.0, 0.08));
                assert!(header.feedback_bytes.is_infinite());
                header.feedback_bytes = 100.0;
                packet.write_explicit();
                let expected = [0x21, 0x1f, 0x53, 0x34, 0xe2, 0x00, 0x64, 0x00];
                assert_eq!(packet.as_bytes(), with_word(before, expected, payload), "{before:?}");
            }
        }
    }

    #[test]
    fn packets_without_the_option_have_no_header_and_stay_as_they_are() {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(40_000, 5001);
        builder.write(&mut bytes, &[254, 12, 0x4c, 0x46, 0x21, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let payload = [&[254, 12, 0x4c, 0x46][..], &WORD].concat();
        let mut in_payload = tcp(ACK, 0, 12);
        in_payload[40..].copy_from_slice(&payload);
        for bytes in [bytes, in_payload, tcp(ACK, 0, 8), tcp_with(ACK, 0, &[1, 1, 1, 1], 8)] {
            let mut packet = parsed(bytes.clone());
            packet.read_explicit();
            packet.write_explicit();
            assert_eq!((packet.explicit(), packet.as_bytes()), (None, &bytes[..]));
        }
    }

    #[test]
    fn a_control_packet_is_a_whole_datagram_of_the_length_asked_for() {
        let message = Message { from: Address(0), to: Address(1), content: Content::Request };
        for (asked, length) in [(0, 28), (40, 40), (1500, 1500)] {
            let packet = RealPacket::control(message.clone(), asked);
            assert_eq!((packet.bytes(), packet.kind()), (length, Kind::Control));
            assert!(has_right_ip_checksum(&packet));
            let (again, ports) = RealPacket::parse(packet.into_bytes()).unwrap();
            assert_eq!((ports.carrier, again.payload_bytes()), (Carrier::Udp, length as usize - 28));
        }
    }
}
