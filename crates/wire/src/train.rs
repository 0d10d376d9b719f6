//! What one read off a device has brought: a packet, or several of one conversation that the host's kernel has left
//! joined. Packets share it and have no bytes of their own.

use crate::offload::{Joined, Offload};
use etherparse::{IpNumber, Ipv4Slice, Ipv6Slice, TcpHeaderSlice, UdpHeaderSlice};

pub(crate) const TCP_SEQUENCE: usize = 4;
pub(crate) const TCP_FLAGS: usize = 13;
pub(crate) const TCP_CHECKSUM: usize = 16;
pub(crate) const UDP_LENGTH: usize = 4;
pub(crate) const UDP_CHECKSUM: usize = 6;

const VERSION_6: u8 = 6;

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

/// Where the headers of a packet end, in bytes from its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Headers {
    pub carrier: Carrier,
    pub ip_end: usize,
    pub end: usize,
}

impl Headers {
    /// Where the checksum of the transport is, from the beginning of the packet.
    pub const fn checksum(&self) -> usize {
        match self.carrier {
            Carrier::Tcp => self.ip_end + TCP_CHECKSUM,
            Carrier::Udp => self.ip_end + UDP_CHECKSUM,
        }
    }
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
        headers: Headers { carrier: Carrier::Tcp, ip_end: 0, end: 0 },
        step: 0,
        partial: false,
    };

    /// Returns what the first `length` bytes of the buffer are. The error is the buffer.
    pub fn parse(buffer: Vec<u8>, length: usize, offload: Offload) -> Result<(Self, Ports), Vec<u8>> {
        let found = buffer.get(..length).and_then(read);
        let Some((headers, ports)) = found.filter(|(headers, _)| fits(&buffer, headers, &offload)) else {
            return Err(buffer);
        };
        let step = offload.joined.map_or(0, |(_, step)| usize::from(step));
        Ok((Train { buffer, length, headers, step, partial: offload.partial.is_some() }, ports))
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

    /// TCP's flags; none for UDP.
    pub fn flags(&self) -> u8 {
        match self.headers.carrier {
            Carrier::Tcp => self.bytes().get(self.headers.ip_end + TCP_FLAGS).copied().unwrap_or_default(),
            Carrier::Udp => 0,
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
        Joined::TcpInIpv4 => headers.carrier == Carrier::Tcp && !six,
        Joined::TcpInIpv6 => headers.carrier == Carrier::Tcp && six,
        Joined::Udp => headers.carrier == Carrier::Udp,
    });
    let checksum = offload.partial.is_none_or(|(start, offset)| {
        usize::from(start) == headers.ip_end && usize::from(start + offset) == headers.checksum()
    });
    kind && checksum
}

/// Reads the headers of a whole, unfragmented packet.
fn read(bytes: &[u8]) -> Option<(Headers, Ports)> {
    let (transport, payload) = if bytes.first()? >> 4 == VERSION_6 {
        let ip = Ipv6Slice::from_slice(bytes).ok()?;
        let stated = usize::from(ip.header().payload_length());
        let payload = ip.payload();
        let is_whole = stated + etherparse::Ipv6Header::LEN == bytes.len() && !payload.fragmented;
        (is_whole.then_some(payload.ip_number)?, payload.payload)
    } else {
        let ip = Ipv4Slice::from_slice(bytes).ok()?;
        let payload = ip.payload();
        let is_whole = usize::from(ip.header().total_len()) == bytes.len() && !payload.fragmented;
        (is_whole.then_some(payload.ip_number)?, payload.payload)
    };
    let (ports, header_bytes) = match transport {
        IpNumber::TCP => {
            let tcp = TcpHeaderSlice::from_slice(payload).ok()?;
            let (source, destination) = (tcp.source_port(), tcp.destination_port());
            (Ports { carrier: Carrier::Tcp, source, destination }, tcp.slice().len())
        }
        IpNumber::UDP => {
            let udp = UdpHeaderSlice::from_slice(payload).ok()?;
            let (source, destination) = (udp.source_port(), udp.destination_port());
            (Ports { carrier: Carrier::Udp, source, destination }, udp.slice().len())
        }
        _ => return None,
    };
    let ip_end = bytes.len() - payload.len();
    Some((Headers { carrier: ports.carrier, ip_end, end: ip_end + header_bytes }, ports))
}
