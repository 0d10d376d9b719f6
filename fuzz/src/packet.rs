//! Real packets: whatever bytes arrive on the wire are a packet or come back.

use etherparse::{IpSlice, Ipv4Header, TcpHeaderSlice};
use longfat_wire::{Carrier, Conversation, Ecn, Explicit, FlowId, Joined, Offload, Packet, RealPacket};

/// Payloads of the packets of a train, bytes.
const STEPS: [u16; 2] = [100, 1448];

/// Reads a packet, does to it everything that a router does, and reads it again.
pub fn check(data: &[u8]) {
    let (packet, exchanged) = match RealPacket::parse(data.to_vec()) {
        Ok(parsed) => parsed,
        Err(bytes) => return assert_eq!(bytes, data, "bytes that are no packet come back"),
    };
    check_any(&packet, &exchanged);
    for step in STEPS {
        check_train(data, step);
    }
    for (opener, ecn) in [(true, Ecn::Marked), (false, Ecn::Capable), (true, Ecn::NotCapable)] {
        let mut changed = packet.clone();
        changed.assign(FlowId(7), opener);
        assert_eq!(changed.flow(), FlowId(7));
        assert!(changed.payload_bytes() <= data.len());
        let (stamp, payload) = (changed.stamp(), changed.payload_bytes());
        assert_eq!(changed.first_bytes(60), changed.to_bytes()[..data.len().min(60)]);
        changed.set_ecn(ecn);
        assert_eq!(changed.ecn(), ecn);
        changed.set_ttl(changed.ttl().wrapping_sub(1));
        changed.decline_ecn();
        guide(&mut changed);
        assert_eq!((changed.stamp(), changed.payload_bytes()), (stamp, payload));
        assert_eq!(changed.bytes() as usize, data.len());
        assert_eq!(is_right(&changed.to_bytes()), is_right(data), "the IP checksum");
        if exchanged.carrier == Some(Carrier::Tcp) {
            assert_eq!(tcp_residue(&changed.to_bytes()), tcp_residue(data), "the TCP checksum");
        }
        let (again, exchanged_again) = RealPacket::parse(changed.to_bytes()).expect("still a packet");
        assert_eq!((exchanged_again, again.payload_bytes()), (exchanged, payload));
    }
}

/// Takes the packet for a train whose packets have so much payload, cuts it, and joins what can be joined.
fn check_train(data: &[u8], step: u16) {
    let Ok((packet, exchanged)) = RealPacket::parse(data.to_vec()) else { return };
    let Some(carrier) = exchanged.carrier else { return };
    let six = data[0] >> 4 == 6;
    let transport =
        (data.len() - IpSlice::from_slice(data).expect("a packet").payload().payload.len()) as u16;
    let (kind, checksum) = match (carrier, six) {
        (Carrier::Tcp, false) => (Joined::TcpInIpv4, 16),
        (Carrier::Tcp, true) => (Joined::TcpInIpv6, 16),
        (Carrier::Udp, _) => (Joined::Udp, 6),
    };
    let head_bytes = (data.len() - packet.payload_bytes()) as u16;
    let offload = Offload { partial: Some((transport, checksum)), joined: Some((kind, step)), head_bytes };
    let parsed = RealPacket::parse_offloaded(data.to_vec(), data.len(), offload);
    let (mut train, _) = parsed.expect("a packet of this kind");
    train.assign(FlowId(7), true);
    let payload = train.payload_bytes();
    let packets: Vec<_> = train.cut().collect();
    assert_eq!(packets.iter().map(RealPacket::payload_bytes).sum::<usize>(), payload);
    for packet in &packets {
        let bytes = packet.to_bytes();
        assert_eq!(bytes.len(), packet.bytes() as usize);
        let (again, exchanged_again) = RealPacket::parse(bytes).expect("still a packet");
        assert_eq!((again.payload_bytes(), exchanged_again), (packet.payload_bytes(), exchanged));
    }
    for group in packets.chunk_by(|a, b| a.leads_to(b, packets[0].payload_bytes())) {
        let mut bytes = Vec::new();
        let told = RealPacket::write_joined(group, &mut bytes);
        assert_eq!(told.joined.is_some(), group.len() > 1);
        bytes.extend(RealPacket::payloads(group).flatten());
        let length = bytes.len();
        let (joined, _) = RealPacket::parse_offloaded(bytes, length, told).expect("a train");
        let again: Vec<_> = joined.cut().map(|packet| packet.to_bytes()).collect();
        assert_eq!(again, group.iter().map(RealPacket::to_bytes).collect::<Vec<_>>());
    }
}

/// Does to a packet what a router does to one of a program, of which it knows no more than the headers.
fn check_any(packet: &RealPacket, exchanged: &Conversation) {
    for ecn in [Ecn::Marked, Ecn::Ect1, Ecn::NotCapable] {
        let mut changed = packet.clone();
        changed.assign_by_headers(FlowId(7));
        let (kind, payload, was) = (changed.kind(), changed.payload_bytes(), changed.ecn());
        changed.set_ecn(ecn);
        changed.set_ttl(changed.ttl().wrapping_sub(1));
        assert_eq!(changed.ecn(), ecn);
        assert_eq!(changed.got_marked(), ecn == Ecn::Marked && was != Ecn::Marked);
        let (mut again, exchanged_again) = RealPacket::parse(changed.to_bytes()).expect("still a packet");
        again.assign_by_headers(FlowId(7));
        assert_eq!((&exchanged_again, again.kind(), again.payload_bytes()), (exchanged, kind, payload));
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

/// Whether the checksum of the IP header is right, if it has one.
fn is_right(bytes: &[u8]) -> bool {
    if bytes[0] >> 4 == 6 {
        return true;
    }
    sum(&bytes[..Ipv4Header::from_slice(bytes).expect("a header").0.header_len()]) == 0xffff
}

/// What the checksum of the TCP header is off by, which no change of the header may alter.
fn tcp_residue(bytes: &[u8]) -> u16 {
    // an authentication header may come before TCP's
    let ip = IpSlice::from_slice(bytes).expect("a packet");
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
