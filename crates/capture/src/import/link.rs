//! From a captured frame to the innermost IP packet in it: link types, tags, labels and tunnels.
//!
//! | layer | source |
//! |---|---|
//! | link types | <https://www.tcpdump.org/linktypes.html> |
//! | types of Ethernet | IEEE 802 Numbers (IANA); below 1536 a length with LLC and SNAP (IEEE 802.2) |
//! | VLANs, PPPoE, MPLS | IEEE 802.1Q, RFC 2516, RFC 3032 |
//! | PPP, HDLC | RFC 1661 and 1662, Cisco's HDLC |
//! | GRE, ERSPAN | RFC 2784 and 2890, RFC 2637, draft-foschiano-erspan |
//! | VXLAN, GENEVE, GTP-U | RFC 7348, RFC 8926, 3GPP TS 29.281 |
//! | 802.11, radiotap | IEEE 802.11, <https://www.radiotap.org> |

use super::ip::{Ip, read_ip, skip};
use super::reason::Reason;
use super::record::Order;

/// The most layers around TCP.
const MOST_LAYERS: u32 = 24;
/// Types of Ethernet below this are lengths.
const FIRST_TYPE: u16 = 1536;
const TYPE_IPV4: u16 = 0x0800;
const TYPE_BRIDGED: u16 = 0x6558;
const TYPE_PPP: u16 = 0x880b;
const TYPE_ERSPAN: u16 = 0x88be;
const TYPE_ERSPAN_3: u16 = 0x22eb;
/// LLC's addresses and control of SNAP, and of IP without it.
const SNAP: [u8; 3] = [0xaa, 0xaa, 3];
const LLC_IP: [u8; 3] = [6, 6, 3];
/// The address and control of PPP in HDLC's frames.
const PPP_ADDRESS: [u8; 2] = [0xff, 3];

/// A header that stands next in a frame.
#[derive(Clone, Copy)]
enum Layer {
    Ethernet,
    /// What a type of Ethernet names.
    Type(u16),
    Llc,
    Ip,
    Ppp,
    /// PPP, or Cisco's HDLC, by the first byte.
    Hdlc,
    PppoE,
    Mpls,
    Wireless,
    Radiotap,
    Gre,
    Udp,
    Gtp,
}

/// The innermost IP header of a TCP packet, and what stands behind it.
pub struct Inner<'a> {
    pub ip: Ip,
    /// From its first byte.
    pub whole: &'a [u8],
    /// From TCP's first byte.
    pub tcp: &'a [u8],
    /// The interface, if the frame itself names it.
    pub interface: Option<u32>,
}

/// Finds the TCP packet in a frame of this link type; `None` is one that the file does not describe.
pub fn find(link: Option<u32>, frame: &[u8]) -> Result<Inner<'_>, Reason> {
    let cooked_2 = link == Some(276);
    let interface = if cooked_2 { Order::Big.u32_at(frame, 4) } else { None };
    let (mut layer, mut rest) = begin(link, frame)?;
    for _ in 0..MOST_LAYERS {
        if matches!(layer, Layer::Ip) {
            let (ip, protocol, after) = read_ip(rest)?;
            match protocol {
                6 => return Ok(Inner { ip, whole: rest, tcp: after, interface }),
                4 | 41 => {}
                17 => layer = Layer::Udp,
                47 => layer = Layer::Gre,
                137 => layer = Layer::Mpls,
                other => return Err(Reason::Protocol(other)),
            }
            rest = after;
        } else {
            (layer, rest) = step(layer, rest)?;
        }
    }
    Err(Reason::Nested)
}

/// The first header of a frame.
fn begin(link: Option<u32>, frame: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    let Some(link) = link else { return Ok((guess(frame), frame)) };
    Ok(match link {
        1 => (Layer::Ethernet, frame),
        12 | 14 | 101 | 228 | 229 => (Layer::Ip, frame),
        0 | 108 => (Layer::Ip, skip(frame, 4)?),
        9 => (Layer::Ppp, frame),
        50 | 104 => (Layer::Hdlc, frame),
        51 => (Layer::PppoE, frame),
        105 => (Layer::Wireless, frame),
        127 => (Layer::Radiotap, frame),
        109 => (Layer::Ip, skip(frame, 12)?), // OpenBSD's enc
        113 => (Layer::Type(type_at(frame, 14)?), skip(frame, 16)?),
        117 => {
            let header = *frame.first().ok_or(Reason::Cut)?; // OpenBSD's pflog, filled up to four bytes
            (Layer::Ip, skip(frame, usize::from(header).next_multiple_of(4))?)
        }
        219 => (Layer::Mpls, frame),
        276 => (Layer::Type(type_at(frame, 0)?), skip(frame, 20)?),
        other => return Err(Reason::LinkType(other)),
    })
}

/// The likely first header of a frame whose link is not known.
fn guess(frame: &[u8]) -> Layer {
    let typed = type_at(frame, 12).unwrap_or(0);
    let ip = read_ip(frame).is_ok() && !matches!(typed, TYPE_IPV4 | 0x86dd | 0x8100);
    if ip { Layer::Ip } else { Layer::Ethernet }
}

/// Past one header.
fn step(layer: Layer, bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    Ok(match layer {
        Layer::Ethernet => (Layer::Type(type_at(bytes, 12)?), skip(bytes, 14)?),
        Layer::Type(kind) => typed(kind, bytes)?,
        Layer::Llc => llc(bytes)?,
        Layer::Ip => (Layer::Ip, bytes),
        Layer::Ppp => ppp(bytes)?,
        Layer::Hdlc if bytes.starts_with(&PPP_ADDRESS) => (Layer::Ppp, bytes),
        Layer::Hdlc => (Layer::Type(type_at(bytes, 2)?), skip(bytes, 4)?),
        Layer::PppoE => (Layer::Ppp, skip(bytes, 6)?),
        Layer::Mpls => mpls(bytes)?,
        Layer::Wireless => wireless(bytes)?,
        Layer::Radiotap => {
            let length = Order::Little.u16_at(bytes, 2).ok_or(Reason::Cut)?;
            (Layer::Wireless, skip(bytes, usize::from(length))?)
        }
        Layer::Gre => gre(bytes)?,
        Layer::Udp => udp(bytes)?,
        Layer::Gtp => gtp(bytes)?,
    })
}

fn typed(kind: u16, bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    Ok(match kind {
        TYPE_IPV4 | 0x86dd => (Layer::Ip, bytes),
        0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => (Layer::Type(type_at(bytes, 2)?), skip(bytes, 4)?),
        0x8847 | 0x8848 => (Layer::Mpls, bytes),
        0x8864 => (Layer::PppoE, bytes),
        0x8926 | 0x8909 => (Layer::Type(type_at(bytes, 4)?), skip(bytes, 6)?), // VN-Tag, Cisco's MetaData
        TYPE_BRIDGED => (Layer::Ethernet, bytes),
        TYPE_PPP => (Layer::Ppp, bytes),
        length if length < FIRST_TYPE => (Layer::Llc, bytes),
        _ => return Err(Reason::NotIp),
    })
}

fn llc(bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    if bytes.starts_with(&SNAP) {
        match bytes.get(3..6).ok_or(Reason::Cut)? {
            [0, 0, 0 | 0xf8] => Ok((Layer::Type(type_at(bytes, 6)?), skip(bytes, 8)?)),
            _ => Err(Reason::NotIp),
        }
    } else if bytes.starts_with(&LLC_IP) {
        Ok((Layer::Ip, skip(bytes, 3)?))
    } else {
        Err(Reason::NotIp)
    }
}

fn ppp(bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    let bytes = bytes.strip_prefix(&PPP_ADDRESS).unwrap_or(bytes);
    // a protocol of one byte is odd (RFC 1661, section 6.5)
    let (protocol, rest) = match *bytes {
        [short, ref rest @ ..] if short & 1 == 1 => (u16::from(short), rest),
        [high, low, ref rest @ ..] => (u16::from_be_bytes([high, low]), rest),
        _ => return Err(Reason::Cut),
    };
    match protocol {
        0x21 | 0x57 => Ok((Layer::Ip, rest)),
        0x281 | 0x283 => Ok((Layer::Mpls, rest)),
        _ => Err(Reason::NotIp),
    }
}

fn mpls(mut bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    loop {
        let bottom = bytes.get(2).ok_or(Reason::Cut)? & 1 == 1;
        bytes = skip(bytes, 4)?;
        if bottom {
            break;
        }
    }
    match bytes.first().ok_or(Reason::Cut)? >> 4 {
        4 | 6 => Ok((Layer::Ip, bytes)),
        0 => Ok((Layer::Ethernet, skip(bytes, 4)?)), // a pseudowire with a control word (RFC 4385)
        _ => Ok((Layer::Ethernet, bytes)),
    }
}

fn wireless(bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    let control = Order::Little.u16_at(bytes, 0).ok_or(Reason::Cut)?;
    let (kind, subtype) = (control >> 2 & 3, control >> 4 & 0xf);
    if kind != 2 || subtype & 4 != 0 {
        return Err(Reason::NotIp); // management, control, and data frames without data
    }
    if control & 0x4000 != 0 {
        return Err(Reason::Encrypted);
    }
    let mut header = 24;
    if control & 0x300 == 0x300 {
        header += 6; // a fourth address
    }
    let mut aggregated = false;
    if subtype & 8 != 0 {
        aggregated = bytes.get(header).ok_or(Reason::Cut)? & 0x80 != 0;
        // quality of service, and high throughput's control
        header += if control & 0x8000 == 0 { 2 } else { 6 };
    }
    let mut rest = skip(bytes, header)?;
    if aggregated {
        rest = skip(rest, 14)?; // of several packets, the first
    }
    // some drivers fill the header up to four bytes
    let padded = rest.get(2..).filter(|after| after.starts_with(&SNAP) && !rest.starts_with(&SNAP));
    Ok((Layer::Llc, padded.unwrap_or(rest)))
}

fn gre(bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    let (flags, kind) = (type_at(bytes, 0)?, type_at(bytes, 2)?);
    let has = |bits: u16| usize::from(flags & bits != 0) * 4;
    let acknowledged = if flags & 7 == 1 { has(0x80) } else { 0 };
    let rest = skip(bytes, 4 + has(0xc000) + has(0x2000) + has(0x1000) + acknowledged)?;
    Ok(match kind {
        TYPE_ERSPAN if flags & 0x1000 == 0 => (Layer::Ethernet, rest),
        TYPE_ERSPAN => (Layer::Ethernet, skip(rest, 8)?),
        TYPE_ERSPAN_3 => {
            let more = usize::from(rest.get(11).ok_or(Reason::Cut)? & 1) * 8;
            (Layer::Ethernet, skip(rest, 12 + more)?)
        }
        other => (Layer::Type(other), rest),
    })
}

/// Tunnels over UDP, by the port that they are sent to.
fn udp(bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    let (port, rest) = (type_at(bytes, 2)?, bytes.get(8..).ok_or(Reason::Protocol(17))?);
    let byte = |at: usize| rest.get(at).copied().ok_or(Reason::Protocol(17));
    match port {
        4789 | 8472 if byte(0)? & 8 != 0 => Ok((Layer::Ethernet, skip(rest, 8)?)), // VXLAN
        4790 => match byte(3)? {
            1 | 2 => Ok((Layer::Ip, skip(rest, 8)?)), // VXLAN-GPE
            3 => Ok((Layer::Ethernet, skip(rest, 8)?)),
            _ => Err(Reason::Protocol(17)),
        },
        6081 if byte(0)? >> 6 == 0 => {
            let options = usize::from(byte(0)? & 0x3f) * 4;
            Ok((Layer::Type(type_at(rest, 2)?), skip(rest, 8 + options)?))
        }
        2152 if byte(0)? >> 4 == 3 && byte(1)? == 0xff => Ok((Layer::Gtp, rest)),
        4754 => Ok((Layer::Gre, rest)),
        6635 => Ok((Layer::Mpls, rest)),
        _ => Err(Reason::Protocol(17)),
    }
}

fn gtp(bytes: &[u8]) -> Result<(Layer, &[u8]), Reason> {
    let flags = *bytes.first().ok_or(Reason::Cut)?;
    let mut at = 8;
    if flags & 7 != 0 {
        let mut next = *bytes.get(11).ok_or(Reason::Cut)?;
        at = 12;
        while next != 0 {
            let length = usize::from(*bytes.get(at).ok_or(Reason::Cut)?) * 4;
            if length == 0 {
                return Err(Reason::Malformed);
            }
            at += length;
            next = *bytes.get(at - 1).ok_or(Reason::Cut)?;
        }
    }
    Ok((Layer::Ip, skip(bytes, at)?))
}

fn type_at(bytes: &[u8], at: usize) -> Result<u16, Reason> {
    Order::Big.u16_at(bytes, at).ok_or(Reason::Cut)
}
