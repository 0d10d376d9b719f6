//! A real IPv4 packet with TCP or UDP in it: its bytes, and the view of them that network elements have.

use crate::{Ecn, Explicit, FlowId, Kind, Message, Packet, Trail};

const IP_HEADER: usize = 20;
const TOS: usize = 1;
const TOTAL_LENGTH: usize = 2;
const FRAGMENT: usize = 6;
const TTL: usize = 8;
const PROTOCOL: usize = 9;
const IP_CHECKSUM: usize = 10;
const TCP_HEADER: usize = 20;
const TCP_OFFSET: usize = 12;
const TCP_FLAGS: usize = 13;
const TCP_CHECKSUM: usize = 16;
const UDP_HEADER: usize = 8;

const OPTIONS_END: u8 = 0;
const OPTION_PADDING: u8 = 1;
const OPTION_TIMESTAMPS: u8 = 8;
const TIMESTAMPS_BYTES: usize = 10;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// What carries a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carrier {
    /// IP protocol 6.
    Tcp,
    /// IP protocol 17.
    Udp,
}

/// The position of a packet in a conversation, from its headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// TCP or UDP.
    pub carrier: Carrier,
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
}

/// A real packet. Whoever reads it off the wire says which flow it is of and what it is for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RealPacket {
    bytes: Vec<u8>,
    flow: FlowId,
    kind: Kind,
}

impl RealPacket {
    /// The packet in these bytes, and its ports; the bytes come back if they are not one whole IPv4 packet, unfragmented,
    /// with TCP or UDP in it.
    pub fn parse(bytes: Vec<u8>) -> Result<(Self, Ports), Vec<u8>> {
        match ports(&bytes) {
            Some(ports) => Ok((RealPacket { bytes, flow: FlowId(0), kind: Kind::Data }, ports)),
            None => Err(bytes),
        }
    }

    /// It is of this flow, and its sender is the side that opened the connection or the other one.
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

    /// The packet as it travels.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, to be used again.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Its application payload.
    pub fn payload_bytes(&self) -> usize {
        self.bytes.len().saturating_sub(ip_header(&self.bytes) + self.header_bytes())
    }

    /// The length of the header behind IP's.
    fn header_bytes(&self) -> usize {
        match self.bytes[PROTOCOL] {
            6 => 4 * usize::from(self.bytes[ip_header(&self.bytes) + TCP_OFFSET] >> 4),
            _ => UDP_HEADER,
        }
    }

    /// The sender's clock when its TCP made the packet, if it says so: TSval of RFC 7323, of whatever unit and beginning.
    pub fn stamp(&self) -> Option<u32> {
        let tcp = ip_header(&self.bytes);
        let end = tcp + self.header_bytes();
        if self.bytes[PROTOCOL] != 6 || end > self.bytes.len() {
            return None;
        }
        let mut rest = self.bytes.get(tcp + TCP_HEADER..end)?;
        loop {
            match *rest {
                [OPTION_PADDING, ..] => rest = &rest[1..],
                [OPTION_TIMESTAMPS, _, a, b, c, d, ..] if rest.len() >= TIMESTAMPS_BYTES => {
                    return Some(u32::from_be_bytes([a, b, c, d]));
                }
                [OPTIONS_END, ..] | [] | [_] => return None,
                [_, length, ..] => rest = rest.get(usize::from(length).max(2)..)?,
            }
        }
    }

    /// Whether it ends its side of a TCP connection.
    pub fn is_fin(&self) -> bool {
        self.flags() & FIN != 0
    }

    /// TCP's flags; none of a UDP datagram.
    fn flags(&self) -> u8 {
        if self.bytes[PROTOCOL] == 6 { self.bytes[ip_header(&self.bytes) + TCP_FLAGS] } else { 0 }
    }

    /// Takes back the offer to use ECN that a SYN makes (RFC 3168, section 6.1.1), so that its connection does without.
    pub fn decline_ecn(&mut self) {
        if self.flags() & SYN == 0 {
            return;
        }
        let tcp = ip_header(&self.bytes);
        self.replace(tcp + TCP_FLAGS, !(ECE | CWR), 0, tcp + TCP_CHECKSUM);
    }

    /// Keeps the bits `keep` of a byte, sets the bits `set`, and brings the checksum over it up to date.
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

/// A checksum over words of which one changes, from the change alone: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3).
fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

fn ip_header(bytes: &[u8]) -> usize {
    4 * usize::from(bytes[0] & 0x0f)
}

fn ports(bytes: &[u8]) -> Option<Ports> {
    if bytes.len() < IP_HEADER || bytes[0] >> 4 != 4 {
        return None;
    }
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let ip = ip_header(bytes);
    let whole = usize::from(word(TOTAL_LENGTH)) == bytes.len();
    let fragment = word(FRAGMENT) & 0x3fff != 0; // more fragments, or not the first one
    let (carrier, header) = match bytes[PROTOCOL] {
        6 => (Carrier::Tcp, TCP_HEADER),
        17 => (Carrier::Udp, UDP_HEADER),
        _ => return None,
    };
    if ip < IP_HEADER || bytes.len() < ip + header || !whole || fragment {
        return None;
    }
    Some(Ports { carrier, source: word(ip), destination: word(ip + 2) })
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
        match self.bytes[TOS] & 0b11 {
            0b00 => Ecn::NotCapable,
            0b11 => Ecn::Marked,
            _ => Ecn::Capable,
        }
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        let bits = match ecn {
            Ecn::NotCapable => 0b00,
            Ecn::Capable => 0b10,
            Ecn::Marked => 0b11,
        };
        self.replace(TOS, !0b11, bits, IP_CHECKSUM);
    }
    fn ttl(&self) -> u8 {
        self.bytes[TTL]
    }
    fn set_ttl(&mut self, ttl: u8) {
        self.replace(TTL, 0, ttl, IP_CHECKSUM);
    }
    /// None: what speaks such headers is no TCP of a kernel.
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
    /// An empty datagram: no format is laid down for messages between routers, so that a real one carries none.
    fn control(_message: Message, bytes: u32) -> Self {
        let mut packet = vec![0; (bytes as usize).max(IP_HEADER + UDP_HEADER)];
        packet[0] = 0x45;
        packet[PROTOCOL] = 17;
        RealPacket { bytes: packet, flow: FlowId(0), kind: Kind::Control }
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

    /// The one's complement sum of all words is 0xffff where a checksum among them is right (RFC 1071).
    fn sum(words: &[u8]) -> u16 {
        let mut sum: u32 = words.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    fn write_checksum(bytes: &mut [u8], at: usize, pseudo: u16) {
        bytes[at..at + 2].fill(0);
        let own = u32::from(sum(bytes)) + u32::from(pseudo);
        let folded = ((own & 0xffff) + (own >> 16)) as u16;
        bytes[at..at + 2].copy_from_slice(&(!folded).to_be_bytes());
    }

    /// Addresses, protocol and length, which TCP's checksum covers too.
    fn pseudo_header(bytes: &[u8]) -> u16 {
        let mut words = bytes[12..20].to_vec();
        words.extend([0, 6]);
        words.extend(((bytes.len() - 20) as u16).to_be_bytes());
        sum(&words)
    }

    fn tcp(flags: u8, tos: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; 40 + payload];
        bytes[0] = 0x45;
        bytes[1] = tos;
        let length = (bytes.len() as u16).to_be_bytes();
        bytes[2..4].copy_from_slice(&length);
        bytes[6] = 0x40; // don't fragment
        bytes[8..10].copy_from_slice(&[64, 6]);
        bytes[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        bytes[20..24].copy_from_slice(&[0x9c, 0x40, 0x13, 0x89]); // 40000 to 5001
        bytes[32..34].copy_from_slice(&[0x50, flags]);
        write_checksum(&mut bytes[..20], 10, 0);
        let pseudo = pseudo_header(&bytes);
        write_checksum(&mut bytes[20..], 16, pseudo);
        bytes
    }

    fn parsed(bytes: Vec<u8>) -> RealPacket {
        RealPacket::parse(bytes).unwrap().0
    }

    #[test]
    fn the_checksum_after_a_change_is_that_of_rfc_1624s_example() {
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000); // section 4
    }

    #[test]
    fn a_mark_and_a_hop_leave_the_ip_checksum_right() {
        for tos in [0b10, 0b01, 0xb8 | 0b10, 0xfc] {
            let mut packet = parsed(tcp(0x10, tos, 8));
            packet.set_ecn(Ecn::Marked);
            packet.set_ttl(packet.ttl() - 1);
            assert_eq!((packet.ecn(), packet.ttl(), packet.bytes[1] >> 2), (Ecn::Marked, 63, tos >> 2));
            assert_eq!(sum(&packet.bytes[..20]), 0xffff);
        }
    }

    #[test]
    fn the_kind_follows_from_direction_flags_and_payload() {
        for (flags, payload, from_opener, kind) in [
            (SYN, 0, true, Kind::Syn),
            (SYN | 0x10, 0, false, Kind::SynAck),
            (0x10, 0, true, Kind::AckAck),
            (0x18, 1448, true, Kind::Data),
            (0x10, 0, false, Kind::Ack),
        ] {
            let (mut packet, ports) = RealPacket::parse(tcp(flags, 0, payload)).unwrap();
            packet.assign(FlowId(7), from_opener);
            assert_eq!((packet.kind(), packet.flow(), packet.payload_bytes()), (kind, FlowId(7), payload));
            assert_eq!((ports.source, ports.destination, ports.carrier), (40000, 5001, Carrier::Tcp));
            assert_eq!(packet.bytes(), 40 + payload as u32);
        }
    }

    #[test]
    fn a_syn_whose_offer_is_declined_is_a_plain_one_with_a_right_checksum() {
        let mut packet = parsed(tcp(SYN | ECE | CWR, 0, 0));
        packet.decline_ecn();
        assert_eq!(packet.as_bytes(), tcp(SYN, 0, 0));
        let mut later = parsed(tcp(0x10 | ECE, 0, 0));
        later.decline_ecn();
        assert_eq!(later.flags(), 0x10 | ECE, "an echo is no offer");
    }

    #[test]
    fn the_senders_stamp_is_found_among_options_and_nothing_else_is_taken_for_it() {
        let with = |options: &[u8]| {
            let mut bytes = tcp(0x10, 0, options.len() + 4);
            bytes[32] = ((20 + options.len() as u8) / 4) << 4;
            bytes[40..40 + options.len()].copy_from_slice(options);
            parsed(bytes).stamp()
        };
        let stamp = [8, 10, 0x01, 0x02, 0x03, 0x04, 9, 9, 9, 9];
        let after = |before: &[u8]| [before, &stamp[..]].concat();
        assert_eq!(with(&after(&[1, 1])), Some(0x0102_0304));
        assert_eq!(with(&after(&[2, 4, 5, 180, 4, 2])), Some(0x0102_0304), "behind MSS and SACK-permitted");
        for without in
            [&[][..], &[0, 0, 8, 10], &[1, 1, 1, 1], &[8, 10, 1, 2], &[4, 0, 4, 0], &[5, 200, 0, 0]]
        {
            assert_eq!(with(without), None);
        }
        let mut cut = tcp(0x10, 0, 0);
        cut[32] = 0xf0; // a header of 60 bytes in a packet of 40
        assert_eq!(parsed(cut).stamp(), None);
    }

    #[test]
    fn what_is_not_one_whole_packet_comes_back() {
        let whole = tcp(0x10, 0, 10);
        let short = whole[..45].to_vec();
        let (mut six, mut fragment, mut other) = (whole.clone(), whole.clone(), whole);
        six[0] = 0x60;
        fragment[6] = 0x20;
        other[9] = 1; // ICMP
        for bytes in [vec![], short, six, fragment, other] {
            assert_eq!(RealPacket::parse(bytes.clone()), Err(bytes));
        }
    }
}
