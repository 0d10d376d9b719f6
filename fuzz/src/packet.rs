//! Real packets: whatever bytes arrive on the wire are a packet or come back.

use etherparse::{Ipv4Header, Ipv4Slice, TcpHeaderSlice};
use longfat_wire::{Carrier, Ecn, Explicit, FlowId, Packet, RealPacket};

/// Reads a packet, does to it everything that a router does, and reads it again.
pub fn check(data: &[u8]) {
    check_any(data);
    let (packet, ports) = match RealPacket::parse(data.to_vec()) {
        Ok(parsed) => parsed,
        Err(bytes) => return assert_eq!(bytes, data, "bytes that are no packet come back"),
    };
    for (opener, ecn) in [(true, Ecn::Marked), (false, Ecn::Capable), (true, Ecn::NotCapable)] {
        let mut changed = packet.clone();
        changed.assign(FlowId(7), opener);
        assert_eq!(changed.flow(), FlowId(7));
        assert!(changed.payload_bytes() <= data.len());
        let (stamp, payload) = (changed.stamp(), changed.payload_bytes());
        changed.set_ecn(ecn);
        assert_eq!(changed.ecn(), ecn);
        changed.set_ttl(changed.ttl().wrapping_sub(1));
        changed.decline_ecn();
        guide(&mut changed);
        assert_eq!((changed.stamp(), changed.payload_bytes()), (stamp, payload));
        assert_eq!(changed.bytes() as usize, data.len());
        assert_eq!(is_right(changed.as_bytes()), is_right(data), "the IP checksum");
        if ports.carrier == Carrier::Tcp {
            assert_eq!(tcp_residue(changed.as_bytes()), tcp_residue(data), "the TCP checksum");
        }
        let (again, ports_again) = RealPacket::parse(changed.into_bytes()).expect("still a packet");
        assert_eq!((ports_again, again.payload_bytes()), (ports, payload));
    }
}

/// The same for packets of any protocol, over IPv4 and IPv6, as programs send them.
fn check_any(data: &[u8]) {
    let (packet, exchanged) = match RealPacket::parse_any(data.to_vec()) {
        Ok(parsed) => parsed,
        Err(bytes) => return assert_eq!(bytes, data, "bytes that are no packet come back"),
    };
    for ecn in [Ecn::Marked, Ecn::Ect1, Ecn::NotCapable] {
        let mut changed = packet.clone();
        changed.assign_by_headers(FlowId(7));
        let (kind, payload, was) = (changed.kind(), changed.payload_bytes(), changed.ecn());
        changed.set_ecn(ecn);
        changed.set_ttl(changed.ttl().wrapping_sub(1));
        assert_eq!(changed.ecn(), ecn);
        assert_eq!(changed.got_marked(), ecn == Ecn::Marked && was != Ecn::Marked);
        let (mut again, exchanged_again) =
            RealPacket::parse_any(changed.into_bytes()).expect("still a packet");
        again.assign_by_headers(FlowId(7));
        assert_eq!((exchanged_again, again.kind(), again.payload_bytes()), (exchanged, kind, payload));
    }
}

/// Lets a router change the explicit header, if there is one, and reads it again.
fn guide(packet: &mut RealPacket) {
    packet.read_explicit();
    if let Some(Explicit::Xcp(header)) = packet.explicit_mut() {
        header.feedback_bytes = header.feedback_bytes.min(4096.5);
    }
    if let Some(Explicit::JetMax(header)) = packet.explicit_mut() {
        header.hops = header.hops.saturating_add(1).min(15);
        header.loss = header.loss.max(0.5);
        header.fair_bps = header.fair_bps.min(2e6);
    }
    let told = packet.explicit().copied();
    packet.write_explicit();
    packet.read_explicit();
    assert_eq!(packet.explicit().copied(), told, "what was written is what is read");
}

/// Whether the checksum of the IP header is right.
fn is_right(bytes: &[u8]) -> bool {
    sum(&bytes[..Ipv4Header::from_slice(bytes).expect("a header").0.header_len()]) == 0xffff
}

/// What the checksum of the TCP header is off by, which no change of the header may alter.
fn tcp_residue(bytes: &[u8]) -> u16 {
    // an authentication header may come before TCP's
    let ip = Ipv4Slice::from_slice(bytes).expect("a packet");
    let tcp = ip.payload().payload;
    TcpHeaderSlice::from_slice(tcp).expect("a header");
    // 0 and 0xffff are the same number in ones' complement
    match sum(tcp) {
        0xffff => 0,
        other => other,
    }
}

/// The ones' complement sum of RFC 1071.
fn sum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|word| u64::from(word[0]) << 8 | word.get(1).map_or(0, |&low| low.into()));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
