//! Captures of a small transfer, byte by byte, in any form.
#![allow(dead_code, reason = "each test file uses a part")]

/// Payload of a full segment, bytes.
pub const SEGMENT: u32 = 1448;
/// Round-trip time of the transfer, us.
pub const RTT_US: u64 = 40_000;
/// Segments of the transfer, and the index of the one that is lost and sent again.
pub const SEGMENTS: u32 = 40;
pub const LOST: u32 = 10;
pub const SYN: u8 = 2;
pub const ACK: u8 = 16;
pub const FIN: u8 = 1;
const NOP: u8 = 1;
/// A time of the file's first packet, us since 1970.
pub const BEGIN_US: u64 = 1_700_000_000_000_000;

/// A TCP packet between 10.0.0.1:1000 and 10.0.0.2:2000.
#[derive(Clone, Debug)]
pub struct Packet {
    pub at_us: u64,
    /// From the second end.
    pub back: bool,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub payload: u32,
    pub stamps: Option<(u32, u32)>,
    pub sack: Vec<(u32, u32)>,
    pub mss: Option<u16>,
    pub id: u16,
    /// The length in IP; the true one if `None`.
    pub total: Option<u16>,
    /// Bytes behind the IP packet.
    pub trailer: usize,
}

impl Packet {
    /// A segment of the transfer's first end, without a payload.
    pub fn new(at_us: u64, seq: u32, ack: u32) -> Packet {
        Packet {
            at_us,
            back: false,
            seq,
            ack,
            flags: ACK,
            window: 1000,
            payload: 0,
            stamps: None,
            sack: Vec::new(),
            mss: None,
            id: 0,
            total: None,
            trailer: 0,
        }
    }

    pub fn reply(at_us: u64, seq: u32, ack: u32) -> Packet {
        Packet { back: true, ..Packet::new(at_us, seq, ack) }
    }

    pub fn data(at_us: u64, seq: u32, ack: u32, payload: u32) -> Packet {
        Packet { payload, ..Packet::new(at_us, seq, ack) }
    }

    /// From IP's first byte on.
    pub fn ip(&self) -> Vec<u8> {
        let mut options = Vec::new();
        if let Some(mss) = self.mss {
            options.extend([2, 4]);
            options.extend(mss.to_be_bytes());
        }
        if let Some((value, echo)) = self.stamps {
            options.extend([NOP, NOP, 8, 10]);
            options.extend(value.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        if !self.sack.is_empty() {
            options.extend([NOP, NOP, 5, 2 + 8 * self.sack.len() as u8]);
            self.sack.iter().for_each(|(start, end)| {
                options.extend(start.to_be_bytes());
                options.extend(end.to_be_bytes());
            });
        }
        let header = 20 + options.len();
        let mut ends = [([10u8, 0, 0, 1], 1000u16), ([10, 0, 0, 2], 2000)];
        if self.back {
            ends.reverse();
        }
        let total = self.total.unwrap_or((20 + header + self.payload as usize) as u16);
        let mut bytes = vec![0x45, 0];
        bytes.extend(total.to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        ends.iter().for_each(|(address, _)| bytes.extend(address));
        ends.iter().for_each(|(_, port)| bytes.extend(port.to_be_bytes()));
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.extend([(header as u8 / 4) << 4, self.flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.extend(std::iter::repeat_n(0, self.payload as usize + self.trailer));
        bytes
    }
}

/// When a transfer is recorded, and how.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub stamps: bool,
    pub isn: u32,
    pub begin_us: u64,
}

impl Default for Form {
    fn default() -> Self {
        // numbers that wrap on the way
        Form { stamps: true, isn: u32::MAX - 20_000, begin_us: BEGIN_US }
    }
}

/// A transfer that is captured at its sender: a segment each 2 ms, acknowledged one by one after 40 ms, one
/// lost.
pub fn transfer(form: Form) -> Vec<Packet> {
    let Form { stamps, isn, begin_us } = form;
    let (first, theirs) = (isn.wrapping_add(1), 900);
    let place = |i: u32| first.wrapping_add(i * SEGMENT);
    let tick = |at_us: u64| (at_us / 1000) as u32;
    // what comes back was sent half a round trip before it is captured
    let stamped = |packet: Packet, echo_us: u64| Packet {
        stamps: stamps.then(|| (tick(packet.at_us - u64::from(packet.back) * RTT_US / 2), tick(echo_us))),
        id: if packet.back { 0 } else { tick(packet.at_us) as u16 },
        ..packet
    };
    let mss = Some(1460);
    let mut packets = vec![
        stamped(Packet { flags: SYN, mss, ..Packet::new(begin_us, isn, 0) }, 0),
        stamped(
            Packet { flags: SYN | ACK, mss, ..Packet::reply(begin_us + RTT_US, theirs - 1, first) },
            begin_us,
        ),
        stamped(Packet::new(begin_us + RTT_US, first, theirs), begin_us + RTT_US / 2),
    ];
    let start_us = begin_us + RTT_US + 1000;
    let again_us = start_us + 2000 * u64::from(LOST) + RTT_US + 7000;
    for i in 0..SEGMENTS {
        let at_us = start_us + 2000 * u64::from(i);
        packets.push(stamped(Packet::data(at_us, place(i), theirs, SEGMENT), at_us - RTT_US / 2));
        if i == LOST {
            continue;
        }
        let arrives_us = at_us + RTT_US;
        let hole = i > LOST && arrives_us < again_us + RTT_US;
        let ack = if hole { place(LOST) } else { place(i + 1) };
        let sack = if hole { vec![(place(LOST + 1), place(i + 1))] } else { Vec::new() };
        packets.push(stamped(Packet { sack, ..Packet::reply(arrives_us, theirs, ack) }, at_us));
    }
    packets.push(stamped(Packet::data(again_us, place(LOST), theirs, SEGMENT), again_us));
    let whole = (again_us - start_us) / 2000; // what was sent before the hole is filled
    packets.push(stamped(Packet::reply(again_us + RTT_US, theirs, place(whole as u32 + 1)), again_us));
    packets.sort_by_key(|packet| packet.at_us);
    packets
}

pub fn ethernet(ip: Vec<u8>) -> Vec<u8> {
    framed(&[0; 12], &[8, 0], ip)
}

pub fn framed(before: &[u8], kind: &[u8], ip: Vec<u8>) -> Vec<u8> {
    [before, kind, &ip].concat()
}

/// A pcap file of this link type.
pub fn pcap(link: u32, packets: &[Packet], frame: fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    pcap_cut(link, packets, frame, 65_535, 65_535)
}

pub fn pcap_header(magic: u32, snap: u32, link: u32) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(magic.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(snap.to_le_bytes());
    file.extend(link.to_le_bytes());
    file
}

/// The same, of which the header says `snap`, and records are cut after `kept` bytes.
pub fn pcap_cut(
    link: u32,
    packets: &[Packet],
    frame: fn(Vec<u8>) -> Vec<u8>,
    snap: u32,
    kept: usize,
) -> Vec<u8> {
    let mut file = pcap_header(0xa1b2_c3d4, snap, link);
    for packet in packets {
        let bytes = frame(packet.ip());
        let length = bytes.len().min(kept);
        for number in [packet.at_us / 1_000_000, packet.at_us % 1_000_000, length as u64, bytes.len() as u64]
        {
            file.extend((number as u32).to_le_bytes());
        }
        file.extend(&bytes[..length]);
    }
    file
}

/// A block of pcapng.
pub fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    let padded = body.len().next_multiple_of(4);
    let length = (padded + 12) as u32;
    bytes.extend(length.to_le_bytes());
    bytes.extend(body);
    bytes.extend(std::iter::repeat_n(0, padded - body.len()));
    bytes.extend(length.to_le_bytes());
    bytes
}

pub fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = code.to_le_bytes().to_vec();
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub fn section(options: &[u8]) -> Vec<u8> {
    let mut body = vec![0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
    body.extend([0xff; 8]);
    body.extend(options);
    block(0x0a0d_0d0a, &body)
}

/// A description of an interface of Ethernet.
pub fn interface(options: &[u8]) -> Vec<u8> {
    let mut body = vec![1, 0, 0, 0, 0, 0, 4, 0];
    body.extend(options);
    block(1, &body)
}

/// An enhanced packet block, with the interface's units of time.
pub fn enhanced(interface: u32, units: u64, frame: &[u8], options: &[u8]) -> Vec<u8> {
    let mut body = interface.to_le_bytes().to_vec();
    for number in [(units >> 32) as u32, units as u32, frame.len() as u32, frame.len() as u32] {
        body.extend(number.to_le_bytes());
    }
    body.extend(frame);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(options);
    block(6, &body)
}
