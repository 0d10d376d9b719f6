//! TCP segments of captured packets: what their headers say, as far as they were captured (RFC 9293, 2018,
//! 7323).

use super::container::records;
use super::link::{Inner, find};
use super::reason::Reason;
use super::record::{Contents, Damage, Order, Record};
use std::io::Read;
use std::net::IpAddr;

/// The bytes of TCP's header up to its flags and window: what has to be captured.
const NEEDED: usize = 16;
const FEWEST: u32 = 20;
/// A frame of Ethernet is filled up to this length, without its check sequence: bytes behind IP may be no
/// payload.
const PADDED: u32 = 60;
/// The most blocks in an option of 40 bytes.
const MOST_BLOCKS: usize = 4;

/// One end of a connection.
pub type End = (IpAddr, u16);

/// A TCP packet of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// When it was captured, ns since 1970-01-01.
    pub at_ns: u64,
    /// The file has no time for it, and `at_ns` is 0.
    pub untimed: bool,
    /// The interface, counted from 0 over the whole file.
    pub interface: u32,
    /// Other interfaces may show the same packet.
    pub several: bool,
    /// Source and destination.
    pub ends: [End; 2],
    /// Identification of IPv4; 0 in IPv6.
    pub ip_id: u16,
    /// Its IP and TCP headers, bytes.
    pub header: u32,
    /// Payload, bytes.
    pub payload: u32,
    /// The length of the payload is that of the frame, because IP's own is not true: 0 in packets of
    /// large-send offload.
    pub inferred: bool,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number, if it has one.
    pub ack: Option<u32>,
    /// The window, not scaled.
    pub window: u16,
    /// SYN.
    pub opens: bool,
    /// FIN.
    pub closes: bool,
    /// RST.
    pub resets: bool,
    /// The capture says that it went no further.
    pub dropped: bool,
    /// TSval and TSecr.
    pub stamps: Option<(u32, u32)>,
    /// The maximum segment size that a SYN announces.
    pub mss: Option<u16>,
    /// SACK blocks; empty ones at the end.
    pub sack: [(u32, u32); MOST_BLOCKS],
    /// It was captured up to somewhere within its options.
    pub cut: bool,
}

/// Hands each TCP segment of a capture to `take`, in the order of the file.
///
/// # Errors
/// Returns what is wrong if nothing can be read at all.
pub fn segments(input: impl Read, take: &mut dyn FnMut(&Segment)) -> Result<Contents, Damage> {
    records(input, &mut |contents, record| match segment(record) {
        Ok(segment) => {
            contents.cut_options += u64::from(segment.cut);
            take(&segment);
        }
        Err(reason) => contents.leave_out(reason),
    })
}

fn segment(record: &Record<'_>) -> Result<Segment, Reason> {
    let Inner { ip, whole, tcp, interface } = find(record.link, record.bytes)?;
    let fixed: [u8; NEEDED] = *tcp.first_chunk().ok_or(Reason::Cut)?;
    let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let number = |at: usize| u32::from(word(at)) << 16 | u32::from(word(at + 2));
    let (own, flags) = (u32::from(fixed[12] >> 4) * 4, fixed[13]);
    if own < FEWEST {
        return Err(Reason::Malformed);
    }
    let header = ip.header + own;
    // what was on the wire from IP's first byte on
    let wire = record.original.saturating_sub((record.bytes.len() - whole.len()) as u32);
    let inferred = ip.bytes < header;
    let payload = match (inferred, record.original <= PADDED) {
        (false, _) => ip.bytes - header,
        (true, true) => 0,
        (true, false) => wire.saturating_sub(header),
    };
    let shown = tcp.get(FEWEST as usize..).unwrap_or_default();
    let options = Options::read(shown.get(..(own - FEWEST) as usize).unwrap_or(shown));
    Ok(Segment {
        at_ns: record.at_ns.unwrap_or(0),
        untimed: record.at_ns.is_none(),
        interface: interface.unwrap_or(record.interface),
        several: record.several || interface.is_some(),
        ends: [(ip.from, word(0)), (ip.to, word(2))],
        ip_id: ip.id,
        header,
        payload,
        inferred,
        seq: number(4),
        ack: (flags & 0x10 != 0).then(|| number(8)),
        window: word(14),
        opens: flags & 2 != 0,
        closes: flags & 1 != 0,
        resets: flags & 4 != 0,
        dropped: record.dropped,
        stamps: options.stamps,
        mss: options.mss,
        sack: options.sack,
        cut: tcp.len() < own as usize,
    })
}

/// The options of a header that are used here.
#[derive(Default)]
struct Options {
    stamps: Option<(u32, u32)>,
    mss: Option<u16>,
    sack: [(u32, u32); MOST_BLOCKS],
}

impl Options {
    /// As far as they were captured. An option that is cut counts as far as it is whole blocks.
    fn read(mut rest: &[u8]) -> Self {
        let mut options = Options::default();
        loop {
            match *rest {
                [1, ref after @ ..] => rest = after,
                [kind, length, ..] if kind != 0 && length >= 2 => {
                    let body = rest.get(2..usize::from(length)).unwrap_or(&rest[2..]);
                    options.take(kind, length, body);
                    rest = rest.get(usize::from(length)..).unwrap_or_default();
                }
                _ => return options,
            }
        }
    }

    fn take(&mut self, kind: u8, length: u8, body: &[u8]) {
        let number = |at: usize| Order::Big.u32_at(body, at);
        match (kind, length) {
            (2, 4) => self.mss = Order::Big.u16_at(body, 0).or(self.mss),
            (8, 10) => self.stamps = number(0).zip(number(4)).or(self.stamps),
            (5, _) => {
                for (block, bytes) in self.sack.iter_mut().zip(body.chunks_exact(8)) {
                    let edges = [0, 4].map(|at| Order::Big.u32_at(bytes, at).unwrap_or(0));
                    *block = (edges[0], edges[1]);
                }
            }
            _ => {}
        }
    }
}
