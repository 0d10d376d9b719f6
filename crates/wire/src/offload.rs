//! What a device leaves to its host, and a host to its device: checksums, and packets that travel joined. A
//! device tells it in a header before each packet, struct virtio_net_hdr of linux/virtio_net.h, in the
//! machine's own byte order.

const NEEDS_CHECKSUM: u8 = 1;
const TCP_IN_IPV4: u8 = 1;
const TCP_IN_IPV6: u8 = 4;
const UDP: u8 = 5;

/// The packets that a joined one stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joined {
    /// Segments of TCP over IPv4 (TSO).
    TcpInIpv4,
    /// Segments of TCP over IPv6 (TSO).
    TcpInIpv6,
    /// Datagrams of UDP (USO, Linux 6.2).
    Udp,
}

/// What is left to whoever reads a packet off a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offload {
    /// Where the header of the transport begins and where in it the checksum is, bytes, if the checksum
    /// covers only the pseudo-header yet.
    pub partial: Option<(u16, u16)>,
    /// What the packet stands for, and the payload of each of these packets but the last, bytes.
    pub joined: Option<(Joined, u16)>,
    /// How many bytes headers take, if the packet is joined.
    pub head_bytes: u16,
}

impl Offload {
    /// Length of the header.
    pub const BYTES: usize = 10;
    /// The header of a packet that is complete.
    pub const NONE: Offload = Offload { partial: None, joined: None, head_bytes: 0 };

    /// Reads the header; `None` if it asks for something unknown.
    pub fn read(header: [u8; Self::BYTES]) -> Option<Self> {
        let [flags, kind, a, b, c, d, e, f, g, h] = header;
        let word = |low, high| u16::from_ne_bytes([low, high]);
        let kind = match kind {
            0 => None,
            TCP_IN_IPV4 => Some(Joined::TcpInIpv4),
            TCP_IN_IPV6 => Some(Joined::TcpInIpv6),
            UDP => Some(Joined::Udp),
            _ => return None,
        };
        let joined = kind.map(|kind| (kind, word(c, d)));
        let partial = (flags & NEEDS_CHECKSUM != 0).then(|| (word(e, f), word(g, h)));
        let is_sound = joined.is_none_or(|(_, step)| step > 0 && partial.is_some());
        is_sound.then_some(Offload { partial, joined, head_bytes: word(a, b) })
    }

    /// Returns the header as a device reads it.
    pub fn header(&self) -> [u8; Self::BYTES] {
        let kind = match self.joined {
            None => 0,
            Some((Joined::TcpInIpv4, _)) => TCP_IN_IPV4,
            Some((Joined::TcpInIpv6, _)) => TCP_IN_IPV6,
            Some((Joined::Udp, _)) => UDP,
        };
        let flags = if self.partial.is_some() { NEEDS_CHECKSUM } else { 0 };
        let (start, offset) = self.partial.unwrap_or_default();
        let [a, b] = self.head_bytes.to_ne_bytes();
        let [c, d] = self.joined.map_or(0, |(_, step)| step).to_ne_bytes();
        let ([e, f], [g, h]) = (start.to_ne_bytes(), offset.to_ne_bytes());
        [flags, kind, a, b, c, d, e, f, g, h]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for joined in
            [None, Some((Joined::TcpInIpv4, 1448)), Some((Joined::TcpInIpv6, 1428)), Some((Joined::Udp, 9))]
        {
            let offload = Offload { partial: Some((20, 16)), joined, head_bytes: 52 };
            assert_eq!(Offload::read(offload.header()), Some(offload));
        }
        assert_eq!(Offload::read([0; Offload::BYTES]), Some(Offload::NONE));
    }

    #[test]
    fn joined_packets_of_unknown_kind_or_without_a_length_are_not_read() {
        let sound =
            Offload { partial: Some((20, 16)), joined: Some((Joined::TcpInIpv4, 1448)), head_bytes: 52 };
        for (at, value) in [(1, 3), (1, 0x81), (0, 0)] {
            let mut header = sound.header();
            header[at] = value;
            assert_eq!(Offload::read(header), None, "{at}");
        }
        let mut header = sound.header();
        header[4..6].fill(0);
        assert_eq!(Offload::read(header), None);
    }
}
