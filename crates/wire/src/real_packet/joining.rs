//! Packets of one conversation that follow each other leave as a train again: which can be joined, and its
//! headers.

use super::*;

impl RealPacket {
    /// Whether `next` can be joined to this packet, behind which it has left: the same conversation, the next
    /// bytes of it, and headers that say the same. `step` is the payload of the packets before.
    pub fn leads_to(&self, next: &RealPacket, step: usize) -> bool {
        let (one, other) = (self.train(), next.train());
        let payload = next.payload_bytes();
        self.flow == next.flow
            && self.kind == next.kind
            && (self.ecn, self.ttl) == (next.ecn, next.ttl)
            && one.headers == other.headers
            && one.headers.carrier == Some(Carrier::Tcp)
            && self.payload_bytes() == step
            && (1..=step).contains(&payload)
            && self.carried.is_none()
            && next.carried.is_none()
            && self.flags() & !CWR == ACK
            && next.flags() & !(FIN | PSH) == ACK
            && self.sequence().wrapping_add(step as u32) == next.sequence()
            && self
                .train
                .as_ref()
                .zip(next.train.as_ref())
                .is_some_and(|(a, b)| Arc::ptr_eq(a, b) || says_the_same(a, b))
    }

    /// Writes the headers of these packets, each of which [`leads_to`](RealPacket::leads_to) the next, and
    /// returns what a device has to be told of them. Their payloads follow ([`RealPacket::payloads`]).
    pub fn write_joined(packets: &[RealPacket], head: &mut Vec<u8>) -> Offload {
        let [first, .., last] = packets else {
            return packets
                .first()
                .map_or(Offload::NONE, |only| only.write_head(only, 1, only.payload_bytes(), head));
        };
        let payload = packets.iter().map(RealPacket::payload_bytes).sum();
        first.write_head(last, packets.len(), payload, head)
    }

    /// Returns the payloads of packets, in order; neighbours of a train are one slice.
    pub fn payloads(packets: &[RealPacket]) -> impl Iterator<Item = &[u8]> {
        let follows = |a: &RealPacket, b: &RealPacket| {
            let same = a.train.as_ref().zip(b.train.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
            same && a.number + 1 == b.number
        };
        packets.chunk_by(follows).map(|run| {
            let (first, last) = (&run[0], &run[run.len() - 1]);
            let train = first.train();
            let begin = train.headers.end + usize::from(first.number) * train.step;
            let end = train.headers.end + usize::from(last.number) * train.step + last.payload_bytes();
            train.bytes().get(begin..end).unwrap_or_default()
        })
    }

    /// Writes the headers of a packet that `count` packets are joined to, with a payload of this length in
    /// all. The checksum of the transport covers the pseudo-header only if the packet is not as it was read.
    pub(super) fn write_head(
        &self,
        last: &RealPacket,
        count: usize,
        payload: usize,
        head: &mut Vec<u8>,
    ) -> Offload {
        let (train, begin) = (self.train(), head.len());
        let headers = train.headers;
        head.extend_from_slice(train.head());
        let head = &mut head[begin..];
        if head.is_empty() {
            return Offload::NONE;
        }
        let six = train.is_version_6();
        self.write_ip(head, six, headers.end + payload);
        let (Some(carrier), true) = (headers.carrier, train.partial) else { return Offload::NONE };
        let transport_bytes = headers.end - headers.ip_end + payload;
        let protocol = match carrier {
            Carrier::Tcp => {
                let at = headers.ip_end + TCP_SEQUENCE;
                head[at..at + 4].copy_from_slice(&self.sequence().to_be_bytes());
                head[headers.ip_end + TCP_FLAGS] = self.flags() & !(FIN | PSH) | last.flags() & (FIN | PSH);
                IpNumber::TCP.0
            }
            Carrier::Udp => {
                let at = headers.ip_end + UDP_LENGTH;
                head[at..at + 2].copy_from_slice(&(transport_bytes as u16).to_be_bytes());
                IpNumber::UDP.0
            }
        };
        let sum = checksum::fold(checksum::pseudo_header(head, six, protocol, transport_bytes));
        let at = headers.ip_end + carrier.checksum();
        head[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        let kind = if six { Joined::TcpInIpv6 } else { Joined::TcpInIpv4 };
        Offload {
            partial: Some((headers.ip_end as u16, carrier.checksum() as u16)),
            joined: (count > 1).then_some((kind, self.payload_bytes() as u16)),
            head_bytes: headers.end as u16,
        }
    }

    /// Writes what the IP header says of this packet, whose length is `bytes`.
    fn write_ip(&self, head: &mut [u8], six: bool, bytes: usize) {
        if six {
            head[TOS] = head[TOS] & !(0b11 << 4) | self.ecn << 4;
            head[LENGTH_6..LENGTH_6 + 2]
                .copy_from_slice(&((bytes - etherparse::Ipv6Header::LEN) as u16).to_be_bytes());
            head[TTL_6] = self.ttl;
            return;
        }
        let identification = checksum::word(head, IDENTIFICATION_4).wrapping_add(self.number);
        let [version, tos] = checksum::word(head, 0).to_be_bytes();
        let [_, protocol] = checksum::word(head, TTL_4).to_be_bytes();
        for (at, value) in [
            (0, u16::from_be_bytes([version, tos & !0b11 | self.ecn])),
            (LENGTH_4, bytes as u16),
            (IDENTIFICATION_4, identification),
            (TTL_4, u16::from_be_bytes([self.ttl, protocol])),
        ] {
            checksum::replace(head, at, value, IP_CHECKSUM);
        }
    }
}

/// Whether the headers of two trains differ at most in what each packet has for itself.
fn says_the_same(one: &Train, other: &Train) -> bool {
    let (a, b, tcp) = (one.head(), other.head(), one.headers.ip_end);
    let same = |range: std::ops::Range<usize>| a.get(range.clone()) == b.get(range);
    let ip = if one.is_version_6() {
        // version, class and label, next header, addresses
        same(0..LENGTH_6) && same(LENGTH_6 + 2..TTL_6) && same(TTL_6 + 1..tcp)
    } else {
        // version and class, flags and offset, protocol, addresses and options
        a[0] == b[0]
            && a[TOS] >> 2 == b[TOS] >> 2
            && same(IDENTIFICATION_4 + 2..TTL_4)
            && same(TTL_4 + 1..IP_CHECKSUM)
            && same(IP_CHECKSUM + 2..tcp)
    };
    ip && one.partial
        && other.partial
        && same(tcp..tcp + TCP_SEQUENCE)
        && same(tcp + TCP_ACKNOWLEDGEMENT..tcp + TCP_FLAGS)
        && same(tcp + TCP_WINDOW..tcp + TCP_CHECKSUM)
        && same(tcp + TCP_OPTIONS..one.headers.end)
}
