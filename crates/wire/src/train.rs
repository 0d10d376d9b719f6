//! What one read off a device has brought: a packet, or several of one conversation that the host's kernel
//! has left joined. Packets share it and have no bytes of their own.

use crate::offload::{Joined, Offload};
use core::net::IpAddr;
use etherparse::{IpNumber, IpSlice, Ipv6Header, TcpHeaderSlice, UdpHeaderSlice};

pub(crate) const TCP_SEQUENCE: usize = 4;
pub(crate) const TCP_FLAGS: usize = 13;
pub(crate) const TCP_CHECKSUM: usize = 16;
pub(crate) const UDP_LENGTH: usize = 4;
pub(crate) const UDP_CHECKSUM: usize = 6;

const VERSION_6: u8 = 6;

/// What carries a payload.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Carrier {
    /// IP protocol 6.
    #[default]
    Tcp,
    /// IP protocol 17.
    Udp,
}

impl Carrier {
    /// Where in its header the checksum is.
    pub(crate) const fn checksum(self) -> usize {
        match self {
            Carrier::Tcp => TCP_CHECKSUM,
            Carrier::Udp => UDP_CHECKSUM,
        }
    }
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
    /// TCP or UDP; `None` for other protocols and for fragments.
    pub carrier: Option<Carrier>,
}

impl Conversation {
    /// Returns the ports of TCP or UDP.
    pub fn ports(&self) -> Option<Ports> {
        let (source, destination) = (self.source.1, self.destination.1);
        self.carrier.map(|carrier| Ports { carrier, source, destination })
    }
}

/// What the headers of TCP or UDP say about the conversation that a packet belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// TCP or UDP.
    pub carrier: Carrier,
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
}

/// Where the headers of a packet end, in bytes from its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Headers {
    /// `None` if it is neither TCP nor UDP, or a fragment; then the header of IP is the last one.
    pub carrier: Option<Carrier>,
    pub ip_end: usize,
    pub end: usize,
}

/// The bytes of one packet or of several joined ones, which then have one header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Train {
    /// The packet, and perhaps unused room behind it.
    buffer: Vec<u8>,
    length: usize,
    pub headers: Headers,
    /// Payload of each joined packet but the last, bytes; 0 if it is one packet.
    pub step: usize,
    /// Whether the checksum of the transport covers only the pseudo-header yet.
    pub partial: bool,
}

impl Train {
    pub const NONE: Train = Train {
        buffer: Vec::new(),
        length: 0,
        headers: Headers { carrier: None, ip_end: 0, end: 0 },
        step: 0,
        partial: false,
    };

    /// Returns what the first `length` bytes of the buffer are. The error is the buffer.
    pub fn parse(buffer: Vec<u8>, length: usize, offload: Offload) -> Result<(Self, Conversation), Vec<u8>> {
        let found = buffer.get(..length).and_then(read);
        let Some((headers, exchanged)) = found.filter(|(headers, _)| fits(&buffer, headers, &offload)) else {
            return Err(buffer);
        };
        let step = offload.joined.map_or(0, |(_, step)| usize::from(step));
        Ok((Train { buffer, length, headers, step, partial: offload.partial.is_some() }, exchanged))
    }

    /// All of its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    /// The same for changes in place.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(..self.length).unwrap_or_default()
    }

    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Its headers.
    pub fn head(&self) -> &[u8] {
        self.bytes().get(..self.headers.end).unwrap_or_default()
    }

    /// How many packets it stands for.
    pub fn packets(&self) -> usize {
        match (self.length - self.headers.end).checked_div(self.step) {
            Some(whole) if whole * self.step < self.length - self.headers.end => whole + 1,
            Some(whole) => whole.max(1),
            None => 1,
        }
    }

    /// The payload of one of these packets.
    pub fn payload(&self, number: usize) -> &[u8] {
        let all = self.bytes().get(self.headers.end..).unwrap_or_default();
        if self.step == 0 {
            return all;
        }
        let begin = (number * self.step).min(all.len());
        &all[begin..(begin + self.step).min(all.len())]
    }

    /// The number in TCP's header of the first byte of the payload.
    pub fn sequence(&self) -> u32 {
        let at = self.headers.ip_end + TCP_SEQUENCE;
        let bytes = self.bytes().get(at..at + 4).unwrap_or_default();
        bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
    }

    /// TCP's flags; none for other protocols.
    pub fn flags(&self) -> u8 {
        match self.headers.carrier {
            Some(Carrier::Tcp) => {
                self.bytes().get(self.headers.ip_end + TCP_FLAGS).copied().unwrap_or_default()
            }
            _ => 0,
        }
    }

    /// Whether this is a packet of IPv6.
    pub fn is_version_6(&self) -> bool {
        self.bytes().first().is_some_and(|byte| byte >> 4 == VERSION_6)
    }
}

/// Whether the packet is of the kind that a device says, with its checksum where a device says.
fn fits(bytes: &[u8], headers: &Headers, offload: &Offload) -> bool {
    let six = bytes[0] >> 4 == VERSION_6;
    let kind = offload.joined.is_none_or(|(kind, _)| match kind {
        Joined::TcpInIpv4 => headers.carrier == Some(Carrier::Tcp) && !six,
        Joined::TcpInIpv6 => headers.carrier == Some(Carrier::Tcp) && six,
        Joined::Udp => headers.carrier == Some(Carrier::Udp),
    });
    let checksum = offload.partial.is_none_or(|(start, offset)| {
        usize::from(start) == headers.ip_end
            && headers.carrier.is_some_and(|carrier| usize::from(offset) == carrier.checksum())
    });
    kind && checksum
}

/// Reads the headers of a whole packet.
fn read(bytes: &[u8]) -> Option<(Headers, Conversation)> {
    let ip = IpSlice::from_slice(bytes).ok()?;
    let stated = match &ip {
        IpSlice::Ipv4(four) => usize::from(four.header().total_len()),
        IpSlice::Ipv6(six) => Ipv6Header::LEN + usize::from(six.header().payload_length()),
    };
    if stated != bytes.len() {
        return None;
    }
    let inner = ip.payload();
    let (carrier, ports, header_bytes) = match inner.ip_number {
        IpNumber::TCP if !inner.fragmented => {
            let tcp = TcpHeaderSlice::from_slice(inner.payload).ok()?;
            (Some(Carrier::Tcp), (tcp.source_port(), tcp.destination_port()), tcp.slice().len())
        }
        IpNumber::UDP if !inner.fragmented => {
            let udp = UdpHeaderSlice::from_slice(inner.payload).ok()?;
            (Some(Carrier::Udp), (udp.source_port(), udp.destination_port()), udp.slice().len())
        }
        _ => (None, (0, 0), 0),
    };
    let ip_end = bytes.len() - inner.payload.len();
    let exchanged = Conversation {
        protocol: inner.ip_number.0,
        source: (ip.source_addr(), ports.0),
        destination: (ip.destination_addr(), ports.1),
        carrier,
    };
    Some((Headers { carrier, ip_end, end: ip_end + header_bytes }, exchanged))
}
