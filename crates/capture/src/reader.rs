//! Reads captures: pcapng and pcap, of Ethernet (with VLAN tags), Linux's cooked links, loopback and raw IP.

use crate::recorder::{DROPPED, LOST};
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::SectionHeaderOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError};
use std::io::{Cursor, Read};
use std::net::IpAddr;
use thiserror::Error;

const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const NO_CAPTURE: &str = "it is neither pcapng nor pcap, or damaged";
const NANOS: u128 = 1_000_000_000;
/// if_tsresol if an interface does not say: 10^-6 s.
const USUAL_RESOLUTION: u8 = 6;
/// The length of a cooked header, and where the type of what follows stands in it.
const COOKED: (usize, usize) = (16, 14);
const COOKED_2: (usize, usize) = (20, 0);
const LOOPBACK_BYTES: usize = 4;

/// Why a capture cannot be read any further.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct Damage(String);

/// A TCP packet of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// When it was captured, ns since 1970-01-01.
    pub at_ns: u64,
    /// The interface, counted from 0 over the whole file.
    pub interface: u32,
    /// Source and destination.
    pub ends: [(IpAddr, u16); 2],
    /// Identification of IPv4; 0 in IPv6.
    pub ip_id: u16,
    /// IP length, bytes.
    pub ip_bytes: u32,
    /// Payload, bytes.
    pub payload: u32,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number, if it has one.
    pub ack: Option<u32>,
    /// SYN.
    pub opens: bool,
    /// FIN.
    pub closes: bool,
    /// The capture says that it went no further.
    pub dropped: bool,
    /// TSval and TSecr (RFC 7323).
    pub stamps: Option<(u32, u32)>,
}

/// What a file holds beside TCP.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    /// Packets read.
    pub packets: u64,
    /// Those that are not TCP over IP, or are cut before the end of TCP's header.
    pub others: u64,
    /// The comment of the file, if it has one.
    pub comment: String,
    /// Why the rest could not be read, if so.
    pub damage: Option<String>,
}

/// Hands each TCP packet of a capture to `take`, in the order of the file. Damage ends the reading.
///
/// # Errors
/// Returns what is wrong if nothing can be read at all.
pub fn read(input: impl Read, take: &mut dyn FnMut(&Segment)) -> Result<Contents, Damage> {
    let mut input = input;
    let mut magic = Vec::with_capacity(PCAPNG.len());
    let begin = input.by_ref().take(PCAPNG.len() as u64).read_to_end(&mut magic);
    begin.map_err(|error| Damage(crate::stream::said(&error)))?;
    if magic.is_empty() {
        return Err(Damage("it is empty".to_owned()));
    }
    let whole = Cursor::new(magic.clone()).chain(input);
    let mut contents = Contents::default();
    if magic == PCAPNG {
        read_pcapng(whole, &mut contents, take)
    } else {
        read_pcap(whole, &mut contents, take)
    }?;
    Ok(contents)
}

fn read_pcap(
    input: impl Read,
    contents: &mut Contents,
    take: &mut dyn FnMut(&Segment),
) -> Result<(), Damage> {
    let mut reader = PcapReader::new(input).map_err(|error| match error {
        PcapError::InvalidField(_) => Damage(NO_CAPTURE.to_owned()),
        other => described(&other),
    })?;
    let link = reader.header().datalink;
    while let Some(packet) = reader.next_packet() {
        match packet {
            Ok(packet) => {
                let at_ns = u64::try_from(packet.timestamp.as_nanos()).unwrap_or(u64::MAX);
                note(contents, at_ns, 0, link, &packet.data, packet.orig_len, take);
            }
            Err(error) => return broken(contents, &error),
        }
    }
    Ok(())
}

fn read_pcapng(
    input: impl Read,
    contents: &mut Contents,
    take: &mut dyn FnMut(&Segment),
) -> Result<(), Damage> {
    let mut reader = PcapNgReader::new(input).map_err(|error| described(&error))?;
    contents.comment = comment(&reader.section().options);
    // link type and resolution; those of earlier sections stay, so that the numbers stay apart
    let mut interfaces: Vec<(DataLink, u8)> = Vec::new();
    let mut first = 0;
    while let Some(block) = reader.next_block() {
        match block {
            Ok(Block::SectionHeader(_)) => first = interfaces.len(),
            Ok(Block::InterfaceDescription(block)) => interfaces.push((block.linktype, resolution(&block))),
            Ok(Block::EnhancedPacket(block)) => {
                let index = first.saturating_add(block.interface_id as usize);
                if let Some(&(link, resolution)) = interfaces.get(index) {
                    let at_ns = nanoseconds(block.timestamp.as_nanos(), resolution);
                    let mut told =
                        |segment: &Segment| take(&Segment { dropped: is_dropped(&block), ..*segment });
                    note(contents, at_ns, index as u32, link, &block.data, block.original_len, &mut told);
                }
            }
            Ok(Block::SimplePacket(_) | Block::Packet(_)) => {
                contents.packets += 1; // without a time, or of before 2004
                contents.others += 1;
            }
            Ok(_) => {}
            Err(error) => return broken(contents, &error),
        }
    }
    Ok(())
}

/// Reading has to end: with what was read, if there is anything.
fn broken(contents: &mut Contents, error: &PcapError) -> Result<(), Damage> {
    let damage = described(error);
    if contents.packets == 0 {
        return Err(damage);
    }
    contents.damage = Some(damage.0);
    Ok(())
}

fn described(error: &PcapError) -> Damage {
    Damage(match error {
        PcapError::IncompleteBuffer => "it ends in the middle of a packet".to_owned(),
        PcapError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "it ends in the middle of a packet".to_owned()
        }
        PcapError::IoError(error) => crate::stream::said(error),
        PcapError::InvalidField(field) => format!("damaged: {field}"),
        _ => NO_CAPTURE.to_owned(),
    })
}

fn comment(options: &[SectionHeaderOption<'_>]) -> String {
    let comments = options.iter().filter_map(|option| match option {
        SectionHeaderOption::Comment(text) => Some(text.as_ref()),
        _ => None,
    });
    comments.collect::<Vec<_>>().join("\n")
}

/// Whether a comment of Longfat's says that the packet was dropped.
fn is_dropped(block: &EnhancedPacketBlock<'_>) -> bool {
    block.options.iter().any(|option| match option {
        EnhancedPacketOption::Comment(text) => text.starts_with(DROPPED) || text.starts_with(LOST),
        _ => false,
    })
}

fn resolution(block: &InterfaceDescriptionBlock<'_>) -> u8 {
    let told = block.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(value) => Some(*value),
        _ => None,
    });
    told.unwrap_or(USUAL_RESOLUTION)
}

/// A timestamp in ns: its unit is a power of ten, or of two if the highest bit of `resolution` is set.
fn nanoseconds(units: u128, resolution: u8) -> u64 {
    let power = u32::from(resolution & 0x7f);
    let found = if resolution & 0x80 == 0 {
        10u128.checked_pow(power).map_or(0, |second| units * NANOS / second)
    } else {
        1u128.checked_shl(power).map_or(0, |second| units * NANOS / second)
    };
    u64::try_from(found).unwrap_or(u64::MAX)
}

fn note(
    contents: &mut Contents,
    at_ns: u64,
    interface: u32,
    link: DataLink,
    bytes: &[u8],
    original: u32,
    take: &mut dyn FnMut(&Segment),
) {
    contents.packets += 1;
    match sliced(link, bytes).as_ref().and_then(|packet| segment(packet, bytes.len(), original)) {
        Some(segment) => take(&Segment { at_ns, interface, ..segment }),
        None => contents.others += 1,
    }
}

/// The headers of a packet on this kind of link.
fn sliced(link: DataLink, bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    let cooked = |(header, protocol): (usize, usize)| {
        let kind = u16::from_be_bytes(bytes.get(protocol..protocol + 2)?.try_into().ok()?);
        Some(LaxSlicedPacket::from_ether_type(EtherType(kind), bytes.get(header..)?))
    };
    match link {
        DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(bytes).ok(),
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => LaxSlicedPacket::from_ip(bytes).ok(),
        DataLink::NULL | DataLink::LOOP => LaxSlicedPacket::from_ip(bytes.get(LOOPBACK_BYTES..)?).ok(),
        DataLink::LINUX_SLL => cooked(COOKED),
        DataLink::LINUX_SLL2 => cooked(COOKED_2),
        _ => None,
    }
}

/// The TCP packet in these headers. `captured` and `original` are the lengths of the frame.
fn segment(packet: &LaxSlicedPacket<'_>, captured: usize, original: u32) -> Option<Segment> {
    let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { return None };
    let (from, to, ip_id, told, before) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let before = header.slice().len() + ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            let addresses = (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()));
            (addresses.0, addresses.1, header.identification(), u32::from(header.total_len()), before)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let fixed = header.slice().len();
            let before = fixed + ip.extensions().slice().len();
            let told = match header.payload_length() {
                0 => 0,
                bytes => u32::from(bytes) + fixed as u32,
            };
            let addresses = (IpAddr::V6(header.source_addr()), IpAddr::V6(header.destination_addr()));
            (addresses.0, addresses.1, 0, told, before)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let headers = (before + tcp.header_slice().len()) as u32;
    // a length of 0: a packet that the network card would have cut, captured before
    let ip_bytes = if told == 0 {
        let shown = (before + tcp.slice().len()) as u32;
        shown.saturating_add(original.saturating_sub(captured as u32))
    } else {
        told
    };
    Some(Segment {
        at_ns: 0,
        interface: 0,
        ends: [(from, tcp.source_port()), (to, tcp.destination_port())],
        ip_id,
        ip_bytes,
        payload: ip_bytes.saturating_sub(headers),
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        opens: tcp.syn(),
        closes: tcp.fin(),
        dropped: false,
        stamps: stamps(tcp.options()),
    })
}

/// The timestamps option, wherever it stands.
fn stamps(options: &[u8]) -> Option<(u32, u32)> {
    each_option(options).find_map(|(kind, body)| match (kind, body) {
        (8, &[a, b, c, d, e, f, g, h]) => {
            Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])))
        }
        _ => None,
    })
}

/// TCP's options: kind, and what follows the length.
fn each_option(options: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = options;
    core::iter::from_fn(move || {
        loop {
            match *rest {
                [1, ref after @ ..] => rest = after,
                [kind, length, ..] if kind != 0 && length >= 2 => {
                    let option = rest.get(..usize::from(length))?;
                    rest = rest.get(usize::from(length)..)?;
                    return Some((kind, option.get(2..)?));
                }
                _ => return None,
            }
        }
    })
}
