//! Tests of real packets: every case is a packet that etherparse made.

use super::*;
use crate::message::{Address, Content};
use crate::train::Ports;
use etherparse::{IpHeaders, PacketBuilder, TcpHeader};

/// A packet as etherparse makes it, from port 40000 to 5001.
fn tcp_with(flags: u8, tos: u8, options: &[u8], payload: usize) -> Vec<u8> {
    let ip = Ipv4Header {
        dscp: (tos >> 2).try_into().unwrap(),
        ecn: (tos & 0b11).try_into().unwrap(),
        dont_fragment: true,
        time_to_live: 64,
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        ..Ipv4Header::default()
    };
    let mut tcp = TcpHeader::new(40_000, 5001, 0, 1000);
    tcp.set_options_raw(options).unwrap();
    (tcp.syn, tcp.ack, tcp.psh) = (flags & SYN != 0, flags & ACK != 0, flags & PSH != 0);
    (tcp.ece, tcp.cwr) = (flags & ECE != 0, flags & CWR != 0);
    let builder = PacketBuilder::ip(IpHeaders::Ipv4(ip, Default::default())).tcp_header(tcp);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![0; payload]).unwrap();
    bytes
}

fn tcp(flags: u8, tos: u8, payload: usize) -> Vec<u8> {
    tcp_with(flags, tos, &[], payload)
}

fn parsed(bytes: Vec<u8>) -> RealPacket {
    RealPacket::parse(bytes).unwrap().0
}

fn has_right_ip_checksum(packet: &RealPacket) -> bool {
    let (ip, _) = Ipv4Header::from_slice(&packet.to_bytes()).unwrap();
    ip.header_checksum == ip.calc_header_checksum()
}

#[test]
fn a_mark_and_a_hop_leave_the_ip_checksum_right() {
    for tos in [0b10, 0b01, 0xb8 | 0b10, 0xfc] {
        let mut packet = parsed(tcp(ACK, tos, 8));
        packet.set_ecn(Ecn::Marked);
        packet.set_ttl(packet.ttl() - 1);
        assert_eq!((packet.ecn(), packet.ttl(), packet.to_bytes()[1] >> 2), (Ecn::Marked, 63, tos >> 2));
        assert!(has_right_ip_checksum(&packet));
    }
}

#[test]
fn each_codepoint_of_the_ecn_field_is_read_and_written_as_rfc_3168_numbers_it() {
    for (bits, ecn) in [(0, Ecn::NotCapable), (1, Ecn::Ect1), (2, Ecn::Capable), (3, Ecn::Marked)] {
        let mut packet = parsed(tcp(ACK, 0xb8 | bits, 8));
        assert_eq!(packet.ecn(), ecn);
        packet.set_ecn(Ecn::NotCapable);
        packet.set_ecn(ecn);
        assert_eq!(packet.to_bytes()[1], 0xb8 | bits);
        assert!(has_right_ip_checksum(&packet));
    }
}

#[test]
fn the_kind_follows_from_direction_flags_and_payload() {
    for (flags, payload, from_opener, kind) in [
        (SYN, 0, true, Kind::Syn),
        (SYN | ACK, 0, false, Kind::SynAck),
        (ACK, 0, true, Kind::AckAck),
        (ACK | PSH, 1448, true, Kind::Data),
        (ACK, 0, false, Kind::Ack),
    ] {
        let (mut packet, exchanged) = RealPacket::parse(tcp(flags, 0, payload)).unwrap();
        packet.assign(FlowId(7), from_opener);
        assert_eq!((packet.kind(), packet.flow(), packet.payload_bytes()), (kind, FlowId(7), payload));
        let expected = Ports { carrier: Carrier::Tcp, source: 40_000, destination: 5001 };
        assert_eq!(exchanged.ports(), Some(expected));
        assert_eq!(packet.bytes(), 40 + payload as u32);
    }
}

#[test]
fn a_datagram_has_ports_and_payload_but_no_stamp() {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(40_000, 5001);
    builder.write(&mut bytes, &[8; 100]).unwrap();
    let (mut packet, exchanged) = RealPacket::parse(bytes).unwrap();
    packet.assign(FlowId(1), true);
    let expected = Ports { carrier: Carrier::Udp, source: 40_000, destination: 5001 };
    assert_eq!(exchanged.ports(), Some(expected));
    assert_eq!((packet.kind(), packet.payload_bytes(), packet.stamp()), (Kind::Data, 100, None));
}

#[test]
fn a_syn_whose_offer_is_declined_equals_one_without_the_offer() {
    let mut packet = parsed(tcp(SYN | ECE | CWR, 0, 0));
    packet.decline_ecn();
    assert_eq!(packet.to_bytes(), tcp(SYN, 0, 0), "its checksum included");
    let mut later = parsed(tcp(ACK | ECE, 0, 0));
    later.decline_ecn();
    assert_eq!(later.flags(), ACK | ECE, "an echo is not an offer");
}

#[test]
fn the_senders_stamp_is_found_among_options_and_nothing_else_is_taken_for_it() {
    let with = |options: &[u8]| parsed(tcp_with(ACK, 0, options, 4)).stamp();
    let stamp = [8, 10, 0x01, 0x02, 0x03, 0x04, 9, 9, 9, 9];
    let after = |before: &[u8]| [before, &stamp[..]].concat();
    assert_eq!(with(&after(&[1, 1])), Some(0x0102_0304));
    assert_eq!(with(&after(&[2, 4, 5, 180, 4, 2])), Some(0x0102_0304), "behind MSS and SACK-permitted");
    for without in [&[][..], &[0, 0, 8, 10], &[1, 1, 1, 1], &[8, 10, 1, 2], &[4, 0, 4, 0], &[5, 200, 0, 0]] {
        assert_eq!(with(without), None);
    }
}

#[test]
fn bytes_that_are_not_one_whole_packet_come_back() {
    let whole = tcp(ACK, 0, 10);
    let (short, long) = (whole[..45].to_vec(), [&whole[..], &[0]].concat());
    let (mut six, mut cut) = (whole.clone(), tcp(ACK, 0, 0));
    six[0] = 0x60;
    cut[32] = 0xf0; // a TCP header of 60 bytes in a packet of 40
    for bytes in [vec![], vec![0x45; 19], vec![0x60; 39], short, long, six, cut] {
        assert_eq!(RealPacket::parse(bytes.clone()), Err(bytes));
    }
    assert!(RealPacket::parse(whole).is_ok());
}

#[test]
fn packets_of_any_protocol_tell_who_exchanges_them_and_what_they_carry() {
    let both = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let six = |last: u8| {
        let mut address = [0; 16];
        (address[0], address[15]) = (0xfd, last);
        address
    };
    let mut ping = Vec::new();
    PacketBuilder::ipv4(both.0, both.1, 64).icmpv4_echo_request(7, 1).write(&mut ping, &[0; 56]).unwrap();
    let mut quic = Vec::new();
    PacketBuilder::ipv6(six(1), six(2), 64).udp(50_000, 443).write(&mut quic, &[0; 1200]).unwrap();
    let mut syn = Vec::new();
    PacketBuilder::ipv6(six(1), six(2), 64).tcp(50_000, 80, 0, 1000).syn().write(&mut syn, &[]).unwrap();
    for (bytes, protocol, ports, kind) in [
        (ping, 1, (0, 0), Kind::Data),
        (quic, 17, (50_000, 443), Kind::Data),
        (syn, 6, (50_000, 80), Kind::Syn),
        (tcp(SYN | ACK, 0, 0), 6, (40_000, 5001), Kind::SynAck),
        (tcp(ACK, 0, 0), 6, (40_000, 5001), Kind::Ack),
        (tcp(ACK, 0, 9), 6, (40_000, 5001), Kind::Data),
    ] {
        let (mut packet, exchanged) = RealPacket::parse(bytes).unwrap();
        packet.assign_by_headers(FlowId(3));
        assert_eq!((exchanged.protocol, packet.kind()), (protocol, kind));
        assert_eq!((exchanged.source.1, exchanged.destination.1), ports);
    }
    let mut fragment = tcp(ACK, 0, 9);
    fragment[6] = 0x20;
    let (mut packet, exchanged) = RealPacket::parse(fragment.clone()).unwrap();
    packet.assign_by_headers(FlowId(3));
    assert_eq!((exchanged.protocol, exchanged.source.1, exchanged.ports()), (6, 0, None));
    assert_eq!((packet.kind(), packet.payload_bytes(), packet.to_bytes()), (Kind::Data, 29, fragment));
}

#[test]
fn a_mark_of_an_ipv6_packet_changes_its_traffic_class_only() {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(50_000, 443);
    builder.write(&mut bytes, &[8; 100]).unwrap();
    bytes[0] |= 0x0b; // the upper half of the class, 0xb9: DSCP 46 and ECT(1)
    bytes[1] = 0x9a; // its lower half, and the first bits of the flow label
    let (mut packet, _) = RealPacket::parse(bytes.clone()).unwrap();
    packet.assign_by_headers(FlowId(0));
    assert_eq!((packet.ecn(), packet.ttl(), packet.got_marked()), (Ecn::Ect1, 64, false));
    packet.set_ecn(Ecn::Marked);
    packet.set_ttl(63);
    bytes[1] = 0xba;
    bytes[7] = 63;
    assert_eq!((packet.to_bytes(), packet.got_marked()), (bytes.clone(), true));
    packet.assign_by_headers(FlowId(0));
    assert!(!packet.got_marked(), "another router has marked it");
}

/// XCP's word of a packet with a window of 15 000 bytes, a round-trip time of 80 ms, and no feedback yet.
const WORD: [u8; 8] = [0x21, 0x1f, 0x53, 0x34, 0xe2, 0x7f, 0xff, 0xff];

fn with_word(before: &[u8], word: [u8; 8], payload: usize) -> Vec<u8> {
    tcp_with(ACK, 0, &[before, &[254, 12, 0x4c, 0x46], &word].concat(), payload)
}

#[test]
fn feedback_that_a_router_writes_leaves_the_packet_as_if_its_host_had_written_it() {
    // 100 bytes = 25 600 parts = 0x06400; behind one NOP, words of the checksum and of the option differ
    for before in [&[][..], &[1], &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], &[1, 1, 1]] {
        for payload in [0, 7, 1436] {
            let mut packet = parsed(with_word(before, WORD, payload));
            assert_eq!(packet.explicit(), None, "nobody has looked yet");
            packet.read_explicit();
            let Some(Explicit::Xcp(header)) = packet.explicit_mut() else { panic!("no header") };
            assert_eq!((header.cwnd_bytes, header.rtt_s), (15_000.0, 0.08));
            assert!(header.feedback_bytes.is_infinite());
            header.feedback_bytes = 100.0;
            packet.write_explicit();
            let expected = [0x21, 0x1f, 0x53, 0x34, 0xe2, 0x00, 0x64, 0x00];
            assert_eq!(packet.to_bytes(), with_word(before, expected, payload), "{before:?}");
        }
    }
}

#[test]
fn a_trail_begins_with_the_time_to_live_that_the_host_set_and_goes_with_the_header_only() {
    let mut packet = parsed(with_word(&[], WORD, 100));
    assert_eq!(packet.trail(), None, "nobody has looked for a header yet");
    packet.set_ttl(60);
    packet.read_explicit();
    assert_eq!(packet.trail(), Some(&Trail { ttl: 60, last_router: None }));
    let bytes = packet.to_bytes();
    if let Some(trail) = packet.trail_mut() {
        *trail = Trail { ttl: 59, last_router: Some(Address(3)) };
    }
    packet.write_explicit();
    assert_eq!(packet.trail().and_then(|trail| trail.last_router), Some(Address(3)));
    assert_eq!(packet.to_bytes(), bytes, "it is not in the packet's bytes");
    let mut plain = parsed(tcp(ACK, 0, 8));
    plain.read_explicit();
    assert_eq!(plain.trail(), None);
}

#[test]
fn packets_without_the_option_have_no_header_and_stay_as_they_are() {
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(40_000, 5001);
    builder.write(&mut bytes, &[254, 12, 0x4c, 0x46, 0x21, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    let payload = [&[254, 12, 0x4c, 0x46][..], &WORD].concat();
    let mut in_payload = tcp(ACK, 0, 12);
    in_payload[40..].copy_from_slice(&payload);
    for bytes in [bytes, in_payload, tcp(ACK, 0, 8), tcp_with(ACK, 0, &[1, 1, 1, 1], 8)] {
        let mut packet = parsed(bytes.clone());
        packet.read_explicit();
        packet.write_explicit();
        assert_eq!((packet.explicit(), packet.to_bytes()), (None, bytes));
    }
}

#[test]
fn a_control_packet_is_a_whole_datagram_of_the_length_asked_for() {
    let message = Message { from: Address(0), to: Address(1), content: Content::Request };
    for (asked, length) in [(0, 28), (40, 40), (1500, 1500)] {
        let packet = RealPacket::control(message.clone(), asked);
        assert_eq!((packet.bytes(), packet.kind(), packet.flow()), (length, Kind::Control, FlowId::NONE));
        assert_eq!(packet.message(), Some(&message));
        assert!(has_right_ip_checksum(&packet));
        let (again, exchanged) = RealPacket::parse(packet.to_bytes()).unwrap();
        assert_eq!((exchanged.carrier, again.payload_bytes()), (Some(Carrier::Udp), length as usize - 28));
    }
}

/// A packet of a train over IPv4 or IPv6, as a host without offloads would send it.
fn segment(six: bool, flags: u8, number: u16, payload: &[u8]) -> Vec<u8> {
    let mut tcp = TcpHeader::new(40_000, 5001, 1_000_000 + 1000 * u32::from(number), 1000);
    tcp.set_options_raw(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]).unwrap();
    tcp.acknowledgment_number = 77;
    (tcp.ack, tcp.psh, tcp.fin) = (true, flags & PSH != 0, flags & FIN != 0);
    tcp.cwr = flags & CWR != 0;
    let ip = if six {
        let (source, destination) = ([1; 16], [2; 16]);
        let ip = etherparse::Ipv6Header { hop_limit: 64, source, destination, ..Default::default() };
        IpHeaders::Ipv6(ip, Default::default())
    } else {
        let (source, destination) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let ip = Ipv4Header { time_to_live: 64, source, destination, ..Default::default() };
        IpHeaders::Ipv4(
            Ipv4Header { identification: 0xfffe_u16.wrapping_add(number), ..ip },
            Default::default(),
        )
    };
    let mut bytes = Vec::new();
    PacketBuilder::ip(ip).tcp_header(tcp).write(&mut bytes, payload).unwrap();
    bytes
}

/// The train as a kernel hands it out, which leaves the checksum to the device.
fn train(six: bool, flags: u8, payload: &[u8]) -> RealPacket {
    train_from(segment(six, flags, 0, payload), six)
}

fn train_from(mut bytes: Vec<u8>, six: bool) -> RealPacket {
    let (ip_end, kind) = if six { (40, Joined::TcpInIpv6) } else { (20, Joined::TcpInIpv4) };
    bytes[ip_end + TCP_CHECKSUM..][..2].fill(0);
    let length = bytes.len();
    bytes.resize(70_000, 0xee); // room that was not needed
    let offload = Offload {
        partial: Some((ip_end as u16, TCP_CHECKSUM as u16)),
        joined: Some((kind, 1000)),
        head_bytes: ip_end as u16 + 32,
    };
    let (mut packet, _) = RealPacket::parse_offloaded(bytes, length, offload).unwrap();
    packet.assign(FlowId(7), true);
    packet
}

fn payload(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n % 251) as u8).collect()
}

#[test]
fn a_train_that_is_cut_is_the_packets_that_its_host_would_have_sent() {
    for six in [false, true] {
        for bytes in [1000, 1001, 3000, 3700] {
            let payload = payload(bytes);
            let cut: Vec<_> = train(six, PSH | FIN | CWR, &payload).cut().collect();
            let parts: Vec<_> = payload.chunks(1000).collect();
            assert_eq!(cut.len(), parts.len());
            for (number, (packet, part)) in (0..).zip(cut.iter().zip(&parts)) {
                let first = if number == 0 { CWR } else { 0 };
                let last = if usize::from(number) + 1 == parts.len() { PSH | FIN } else { 0 };
                let expected = segment(six, first | last, number, part);
                assert_eq!(packet.to_bytes(), expected, "{six} {bytes} {number}");
                assert_eq!((packet.bytes() as usize, packet.payload_bytes()), (expected.len(), part.len()));
                assert_eq!((packet.kind(), packet.flow()), (Kind::Data, FlowId(7)));
            }
        }
    }
}

/// Joins packets, hands them out as a device would, and returns the train that comes of it.
fn rejoined(packets: &[RealPacket], six: bool) -> (RealPacket, usize) {
    assert!(packets.windows(2).all(|pair| pair[0].leads_to(&pair[1], packets[0].payload_bytes())));
    let mut bytes = Vec::new();
    let offload = RealPacket::write_joined(packets, &mut bytes);
    let slices: Vec<_> = RealPacket::payloads(packets).collect();
    bytes.extend(slices.concat());
    assert_eq!(Offload::read(offload.header()), Some(offload));
    assert_eq!(offload.joined.map(|(_, step)| step), (packets.len() > 1).then_some(1000));
    let length = bytes.len();
    let (mut packet, _) = RealPacket::parse_offloaded(bytes, length, offload).unwrap();
    packet.assign(FlowId(7), true);
    assert_eq!(packet.train().is_version_6(), six);
    (packet, slices.len())
}

#[test]
fn packets_that_are_joined_again_are_a_train_of_the_same_packets_marks_included() {
    for six in [false, true] {
        let mut cut: Vec<_> = train(six, PSH, &payload(4500)).cut().collect();
        for packet in &mut cut {
            packet.set_ecn(Ecn::Marked);
            packet.set_ttl(packet.ttl() - 1);
        }
        for (from, to) in [(0, 5), (1, 4), (2, 5), (3, 4), (4, 5)] {
            let (joined, slices) = rejoined(&cut[from..to], six);
            assert_eq!(slices, 1, "neighbours are one slice");
            let again: Vec<_> = joined.cut().map(|packet| packet.to_bytes()).collect();
            let before: Vec<_> = cut[from..to].iter().map(RealPacket::to_bytes).collect();
            assert_eq!(again, before, "{six} {from} {to}");
        }
    }
}

#[test]
fn packets_of_two_trains_are_joined_where_the_second_goes_on_after_the_first() {
    let payload = payload(5000);
    let first = train(false, 0, &payload[..2000]);
    let second = train_from(segment(false, PSH, 2, &payload[2000..]), false);
    let packets: Vec<_> = first.cut().chain(second.cut()).collect();
    let (joined, slices) = rejoined(&packets, false);
    assert_eq!(slices, 2);
    let again: Vec<_> = joined.cut().map(|packet| packet.to_bytes()).collect();
    assert_eq!(again, packets.iter().map(RealPacket::to_bytes).collect::<Vec<_>>());
}

#[test]
fn packets_that_say_different_things_are_not_joined() {
    let packets = |flags, number, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = segment(false, flags, number, &payload(2000));
        change(&mut bytes);
        train_from(bytes, false).cut().collect::<Vec<_>>()
    };
    let first = packets(0, 0, &|_| {});
    let next = |change: &dyn Fn(&mut Vec<u8>)| packets(0, 2, change).remove(0);
    assert!(first[1].leads_to(&next(&|_| {}), 1000));
    for (at, what) in
        [(1, "class"), (9 + 19, "sequence"), (31, "acknowledgement"), (35, "window"), (47, "stamp")]
    {
        let other = next(&|bytes| bytes[at] ^= 4);
        assert!(!first[1].leads_to(&other, 1000), "{what}");
    }
    let mut marked = first[1].clone();
    marked.set_ecn(Ecn::Marked);
    let mut routed = first[1].clone();
    routed.set_ttl(63);
    for other in [&marked, &routed, &first[0]] {
        assert!(!first[0].leads_to(other, 1000));
    }
    let pushed = packets(PSH, 0, &|_| {});
    assert!(pushed[0].leads_to(&pushed[1], 1000));
    assert!(!pushed[1].leads_to(&next(&|_| {}), 1000), "nothing is joined behind what was pushed");
    let reduced = packets(CWR, 2, &|_| {}).remove(0);
    assert!(!first[1].leads_to(&reduced, 1000), "CWR would be taken for the first packet's");
    let mut flow = first[1].clone();
    flow.assign(FlowId(8), true);
    assert!(!first[0].leads_to(&flow, 1000));
}

#[test]
fn the_first_bytes_of_a_packet_of_a_train_have_the_checksums_of_the_whole_packet() {
    for packet in [false, true].into_iter().flat_map(|six| train(six, ACK, &payload(2503)).cut()) {
        for most in [0, 30, 60, 999, 1040, 5000] {
            let (first, whole) = (packet.first_bytes(most), packet.to_bytes());
            assert_eq!(first, whole[..most.min(whole.len())], "{most}");
        }
    }
}

#[test]
fn a_datagram_of_a_train_has_its_own_length_and_checksum() {
    let datagram = |payload: &[u8]| {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(40_000, 5001);
        builder.write(&mut bytes, payload).unwrap();
        bytes
    };
    let (whole, payload) = (datagram(&payload(2500)), payload(2500));
    let length = whole.len();
    let offload = Offload { partial: Some((20, 6)), joined: Some((Joined::Udp, 1000)), head_bytes: 28 };
    let (packet, _) = RealPacket::parse_offloaded(whole, length, offload).unwrap();
    for (number, (packet, part)) in (0u16..).zip(packet.cut().zip(payload.chunks(1000))) {
        let mut bytes = packet.to_bytes();
        checksum::replace(&mut bytes, IDENTIFICATION_4, 0, IP_CHECKSUM);
        assert_eq!(bytes, datagram(part), "{number}");
    }
}

#[test]
fn what_a_device_says_must_fit_the_packet() {
    let bytes = tcp(ACK, 0, 2000);
    let joined = |kind| Offload { partial: Some((20, 16)), joined: Some((kind, 1000)), head_bytes: 40 };
    let elsewhere = Offload { partial: Some((20, 6)), ..Offload::NONE };
    for offload in [joined(Joined::TcpInIpv6), joined(Joined::Udp), elsewhere] {
        assert_eq!(RealPacket::parse_offloaded(bytes.clone(), bytes.len(), offload), Err(bytes.clone()));
    }
    assert!(RealPacket::parse_offloaded(bytes.clone(), bytes.len(), joined(Joined::TcpInIpv4)).is_ok());
}
