//! A simulated packet as IPv4 with TCP or UDP.
//!
//! | field | value | source |
//! |---|---|---|
//! | addresses | 10.0.0.1 and on for senders, 10.128.0.1 and on for receivers | chosen here: one pair a connection |
//! | ports | 49152 and 50000 | chosen here: dynamic ports (RFC 6335), for which no program has a decoder |
//! | options of TCP | as their lengths in the model say | RFC 9293, 2018, 7323, 9768 (kinds 172 and 174) |
//! | unit of timestamps | 1 us | chosen here: as Linux with `tcp_usec_ts`; RFC 7323 has 1 ms to 1 s |
//! | scale of windows | 14 | RFC 7323, the largest |
//! | explicit headers | option 254 | `tcp_option.rs` of longfat-wire, which live runs use; those that have no form there are padding |
//!
//! A header of TCP has room for 40 bytes of options. An acknowledgement of the model that has more than that
//! (an explicit header beside three SACK blocks) loses blocks, and is as much shorter in the capture.

use etherparse::{IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use longfat_sim::{CheckedConnection, Control};
use longfat_transport::Feedback;
use longfat_units::{Interval, Time};
use longfat_wire::{
    AccurateEcn, Ecn, EcnBytes, Explicit, Kind, OPTION_BYTES, SackBlocks, SimPacket, explicit_option,
};
use std::collections::VecDeque;

const SENDERS: u32 = 0x0a00_0000;
const RECEIVERS: u32 = 0x0a80_0000;
const PAIRS: u32 = 1 << 23;
const SENDER_PORT: u16 = 49_152;
const RECEIVER_PORT: u16 = 50_000;
const WINDOW_SCALE: u8 = 14;
/// The greatest window that TCP can announce, bytes (RFC 7323, section 2.3).
const WINDOW_BYTES: f64 = (1 << 30) as f64;
const IP_BYTES: u32 = Ipv4Header::MIN_LEN as u32;
const TCP_BYTES: u32 = TcpHeader::MIN_LEN as u32;
const MOST_OPTIONS: usize = 40;
const NOP: u8 = 1;
const DONT_FRAGMENT: bool = true;
/// A packet is on its way no longer than this.
const LONGEST_PATH: Interval = Interval::from_millis(60_000);
const NANOSECONDS_PER_TICK: u64 = 1000;
/// What a data sender's ACE field says that has seen no mark (RFC 9768, section 3.2.1).
const FIRST_ACE: u8 = 5;
/// An AccECN option that begins with the counter of ECT(0), and one that begins with that of ECT(1).
const ACCECN: [u8; 2] = [172, 174];

/// The payload of every packet.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The two ends of one connection.
pub struct Conversation {
    udp: bool,
    addresses: [u32; 2],
    ports: [u16; 2],
    /// Initial sequence numbers of the sender and the receiver.
    isn: [u32; 2],
    mss: u64,
    header_bytes: u32,
    timestamps: bool,
    sack: bool,
    /// What the ends tell of marks, if they negotiate ECN.
    marks: Option<Feedback>,
    /// The receiver's window as its packets write it.
    window: u16,
    /// Payload bytes of the whole connection, once its last segment has been seen.
    end: u64,
    /// When packets of the receiver reached the sender, and the time in them: what the sender echoes from
    /// then on.
    heard: VecDeque<(Time, u32)>,
}

/// What is written of a packet.
pub struct Headers<'a> {
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Its whole length.
    pub original: u32,
}

impl Conversation {
    /// The `number`th connection of a run, counted from 0.
    pub fn new(number: u32, connection: &CheckedConnection) -> Self {
        let own = match connection.control() {
            Control::Tcp(row, _) => Some(row.properties.loss_detection),
            Control::Custom => Some(longfat_transport::cc::LossDetection::Sack),
            Control::Udp(..) => None,
        };
        let pair = (number + 1) % PAIRS;
        let window = connection.max_window.map_or(WINDOW_BYTES, |segments| {
            (segments.floor() * f64::from(connection.mss_bytes())).min(WINDOW_BYTES)
        });
        let first = (number + 1).wrapping_mul(0x9e37_79b1); // spread over all numbers
        Conversation {
            udp: own.is_none(),
            addresses: [SENDERS | pair, RECEIVERS | pair],
            ports: [SENDER_PORT + (number / PAIRS) as u16, RECEIVER_PORT],
            isn: [first, first ^ 0x5555_5555],
            mss: u64::from(connection.mss_bytes()),
            header_bytes: connection.header_bytes,
            timestamps: connection.timestamps,
            sack: own.is_some_and(|own| connection.loss_detection_used(own).has_sack()),
            marks: connection.negotiates_ecn().then(|| connection.feedback().max(connection.ecn.feedback())),
            window: ((window as u64) >> WINDOW_SCALE).clamp(1, u64::from(u16::MAX)) as u16,
            end: u64::MAX,
            heard: VecDeque::new(),
        }
    }

    /// The addresses and ports of sender and receiver.
    pub fn ends(&self) -> [(std::net::Ipv4Addr, u16); 2] {
        core::array::from_fn(|side| (self.addresses[side].into(), self.ports[side]))
    }

    /// At `now`, the sender has got a packet that left the receiver at `left`.
    pub fn hear(&mut self, now: Time, left: Time) {
        while self.heard.get(1).is_some_and(|&(at, _)| now.since(at) > LONGEST_PATH) {
            self.heard.pop_front();
        }
        self.heard.push_back((now, ticks(left)));
    }

    /// What the sender echoed in a packet that it sent at this time.
    fn echo(&self, sent: Time) -> u32 {
        let before = self.heard.partition_point(|&(at, _)| at <= sent);
        before.checked_sub(1).and_then(|last| self.heard.get(last)).map_or(0, |&(_, value)| value)
    }

    /// Writes the packet into `buffer`: its headers, and of its payload what is within the first `snap`
    /// bytes. `left` is when its sender sent it.
    pub fn write<'a>(
        &mut self,
        packet: &SimPacket,
        left: Time,
        snap: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Headers<'a> {
        buffer.clear();
        let side = usize::from(!packet.kind.is_forward());
        let length = u32::from(packet.bytes);
        if self.udp {
            let payload = length.saturating_sub(IP_BYTES + UdpHeader::LEN as u32);
            let ip = self.ip(side, packet, UdpHeader::LEN as u32 + payload, IpNumber::UDP);
            self.write_udp(&ip, side, payload as usize, buffer);
        } else {
            let header = self.tcp(side, packet, left);
            let data = if packet.kind == Kind::Data { length } else { 0 };
            let payload = data.saturating_sub(IP_BYTES + header.header_len() as u32);
            let ip = self.ip(side, packet, header.header_len() as u32 + payload, IpNumber::TCP);
            write_tcp(&ip, header, payload as usize, buffer);
        }
        let original = buffer.len() as u32;
        buffer.truncate(snap);
        Headers { bytes: buffer, original }
    }

    fn ip(&self, side: usize, packet: &SimPacket, payload: u32, protocol: IpNumber) -> Ipv4Header {
        let code = match packet.extra.as_ref().and_then(|extra| extra.explicit) {
            Some(Explicit::Vcp(load)) if packet.kind == Kind::Data => load as u8 + 1, // its routers' two bits
            _ => code(packet.ecn),
        };
        let mut ip = Ipv4Header {
            total_len: IP_BYTES as u16 + payload as u16,
            identification: identification(packet),
            dont_fragment: DONT_FRAGMENT,
            time_to_live: packet.ttl,
            protocol,
            source: self.addresses[side].to_be_bytes(),
            destination: self.addresses[1 - side].to_be_bytes(),
            ..Ipv4Header::default()
        };
        ip.ecn = etherparse::IpEcn::try_new(code).unwrap_or_default();
        ip.header_checksum = ip.calc_header_checksum();
        ip
    }

    fn write_udp(&self, ip: &Ipv4Header, side: usize, payload: usize, buffer: &mut Vec<u8>) {
        let mut header = UdpHeader {
            source_port: self.ports[side],
            destination_port: self.ports[1 - side],
            length: (UdpHeader::LEN + payload) as u16,
            checksum: 0,
        };
        let payload = &ZEROS[..payload];
        header.checksum = header.calc_checksum_ipv4(ip, payload).unwrap_or(0);
        buffer.extend_from_slice(&ip.to_bytes());
        buffer.extend_from_slice(&header.to_bytes());
        buffer.extend_from_slice(payload);
    }

    /// The sequence number of the first byte of this segment.
    fn position(&self, segment: u64) -> u32 {
        let bytes = segment.saturating_mul(self.mss).min(self.end);
        self.isn[0].wrapping_add(1).wrapping_add(bytes as u32)
    }

    fn tcp(&mut self, side: usize, packet: &SimPacket, left: Time) -> TcpHeader {
        let ports = (self.ports[side], self.ports[1 - side]);
        let mut header = TcpHeader::new(ports.0, ports.1, self.isn[side].wrapping_add(1), self.window);
        header.ack = packet.kind != Kind::Syn;
        let answer = self.isn[1].wrapping_add(1);
        // the length that the model gives all headers; only Quick-Start's is not on every packet
        let own = match packet.extra.as_ref().and_then(|extra| extra.explicit) {
            Some(header @ Explicit::QuickStart(_)) => header.header_bytes(),
            _ => 0,
        };
        let room = if packet.kind == Kind::Data { self.header_bytes + own } else { u32::from(packet.bytes) };
        let mut options = Options::new(room.saturating_sub(IP_BYTES + TCP_BYTES));
        match packet.kind {
            Kind::Syn | Kind::SynAck => {
                header.syn = true;
                header.sequence_number = self.isn[side];
                header.acknowledgment_number = if header.ack { self.isn[0].wrapping_add(1) } else { 0 };
                header.window_size = u16::MAX; // never scaled
                self.open(&mut header, &mut options, packet, left);
            }
            Kind::Data => {
                let payload = u64::from(u32::from(packet.bytes).saturating_sub(room));
                if payload < self.mss {
                    self.end = packet.seq.saturating_mul(self.mss).saturating_add(payload);
                }
                header.sequence_number = self.position(packet.seq);
                header.acknowledgment_number = answer;
                header.psh = payload < self.mss;
                if self.marks == Some(Feedback::Accurate) {
                    set_ace(&mut header, FIRST_ACE);
                } else {
                    header.cwr = packet.ecn_flag;
                }
                self.stamp(&mut options, ticks(left), self.echo(left));
            }
            _ => {
                header.sequence_number = answer;
                header.acknowledgment_number = self.position(packet.seq);
                header.ece = packet.ecn_flag;
                self.stamp(&mut options, ticks(left), ticks(packet.stamp));
            }
        }
        if let Some(extra) = &packet.extra {
            if let Some(explicit) = &extra.explicit {
                options.extend(
                    explicit_option(explicit, side == 1)
                        .filter(|_| explicit.header_bytes() >= OPTION_BYTES as u32),
                );
            }
            if let Some(told) = extra.accurate_ecn {
                set_ace(&mut header, told.ace);
                options.count(&told);
            }
            self.report(&mut options, &extra.sack);
        }
        // options that are too long were left out, so they fit
        drop(header.set_options_raw(options.padded()));
        header
    }

    /// A connection request or its answer.
    fn open(&self, header: &mut TcpHeader, options: &mut Options, packet: &SimPacket, left: Time) {
        let asks = packet.kind == Kind::Syn;
        match self.marks {
            // RFC 9768, section 3.1.1: a request asks with all three bits; the answer to one that was not
            // capable
            Some(Feedback::Accurate) => set_ace(header, if asks { 0b111 } else { 0b010 }),
            Some(_) => (header.ece, header.cwr) = (true, asks), // RFC 3168, section 6.1.1
            None => {}
        }
        // what a segment may have with its options, which are not counted (RFC 6691)
        let mss = (self.mss + u64::from(self.header_bytes.saturating_sub(IP_BYTES + TCP_BYTES))) as u16;
        let mss = mss.to_be_bytes();
        options.extend([2, 4, mss[0], mss[1]]);
        options.extend(if self.sack { [4, 2] } else { [NOP, NOP] });
        if self.timestamps {
            options.stamp(ticks(left), if asks { 0 } else { ticks(packet.stamp) });
        } else {
            options.extend([NOP, NOP]);
        }
        options.extend([NOP, 3, 3, WINDOW_SCALE]);
    }

    fn stamp(&self, options: &mut Options, value: u32, echo: u32) {
        if self.timestamps {
            options.extend([NOP, NOP]);
            options.stamp(value, echo);
        }
    }

    fn report(&self, options: &mut Options, sack: &SackBlocks) {
        let blocks = sack.iter().take(options.left().saturating_sub(4) / 8);
        let edges: Vec<u8> = blocks
            .flat_map(|(start, end)| [self.position(start), self.position(end)])
            .flat_map(u32::to_be_bytes)
            .collect();
        if !edges.is_empty() {
            options.extend([NOP, NOP, 5, 2 + edges.len() as u8]);
            options.extend(edges);
        }
    }
}

/// Options of a TCP header.
struct Options {
    bytes: Vec<u8>,
    /// The length that they are padded to.
    length: usize,
}

impl Options {
    fn new(length: u32) -> Self {
        let length = (length as usize).min(MOST_OPTIONS) / 4 * 4;
        Options { bytes: Vec::with_capacity(MOST_OPTIONS), length }
    }

    fn left(&self) -> usize {
        MOST_OPTIONS - self.bytes.len()
    }

    /// Adds an option, if there is room for it.
    fn extend(&mut self, option: impl IntoOption) {
        let option = option.bytes();
        if option.len() <= self.left() {
            self.bytes.extend(option);
        }
    }

    fn stamp(&mut self, value: u32, echo: u32) {
        let mut option = vec![8, 10];
        option.extend(value.to_be_bytes());
        option.extend(echo.to_be_bytes());
        self.extend(option);
    }

    /// The AccECN option (RFC 9768, section 3.2.3): a counter of ECT packets, that of marks once there were
    /// some, and the other counter if it is used too.
    fn count(&mut self, told: &AccurateEcn) {
        let Some(EcnBytes { ect0, ect1, ce }) = told.option else { return };
        let both = ect0 != 1 && ect1 != 1;
        let by_ect1 = usize::from(ect1 != 1 && !both);
        let (first, last) = if by_ect1 == 1 { (ect1, ect0) } else { (ect0, ect1) };
        let fields = [Some(first), (ce > 0 || both).then_some(ce), both.then_some(last)];
        let counters =
            fields.into_iter().flatten().flat_map(|counter| counter.to_be_bytes().into_iter().skip(1));
        let mut option = vec![ACCECN[by_ect1], 0];
        option.extend(counters);
        option[1] = option.len() as u8;
        while option.len() % 4 != 0 {
            option.insert(0, NOP);
        }
        self.extend(option);
    }

    fn padded(&mut self) -> &[u8] {
        let length = self.length.max(self.bytes.len().next_multiple_of(4));
        self.bytes.resize(length, NOP);
        &self.bytes
    }
}

/// What [`Options::extend`] takes.
trait IntoOption {
    fn bytes(self) -> Vec<u8>;
}

impl<const N: usize> IntoOption for [u8; N] {
    fn bytes(self) -> Vec<u8> {
        self.to_vec()
    }
}

impl IntoOption for Vec<u8> {
    fn bytes(self) -> Vec<u8> {
        self
    }
}

impl<const N: usize> IntoOption for Option<[u8; N]> {
    fn bytes(self) -> Vec<u8> {
        self.map_or_else(Vec::new, Vec::from)
    }
}

/// The same for a packet on each of its links, and hardly for two packets: what stays as it was sent, mixed.
const fn identification(packet: &SimPacket) -> u16 {
    let sent = packet.stamp.as_ns() ^ (packet.one_way_delay_ns as u64) << 32;
    let mixed = (sent ^ packet.seq.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd1b5_4a32_d192_ed03);
    (mixed >> 48) as u16
}

fn write_tcp(ip: &Ipv4Header, mut header: TcpHeader, payload: usize, buffer: &mut Vec<u8>) {
    let payload = &ZEROS[..payload];
    header.checksum = header.calc_checksum_ipv4(ip, payload).unwrap_or(0);
    buffer.extend_from_slice(&ip.to_bytes());
    buffer.extend_from_slice(&header.to_bytes());
    buffer.extend_from_slice(payload);
}

/// The ACE field of RFC 9768: the bits AE, CWR and ECE.
const fn set_ace(header: &mut TcpHeader, ace: u8) {
    (header.ns, header.cwr, header.ece) = (ace & 4 != 0, ace & 2 != 0, ace & 1 != 0);
}

const fn code(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::Ect1 => 1,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    }
}

/// A time as timestamps have it; they wrap.
const fn ticks(at: Time) -> u32 {
    (at.as_ns() / NANOSECONDS_PER_TICK) as u32
}
