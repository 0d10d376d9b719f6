//! Captures as other programs write them: each form gives the numbers of the plain one.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod captures;

use captures::*;
use longfat_capture::{Captured, CapturedFlow, Reason, flows};

fn read(file: &[u8]) -> Captured {
    flows(file).expect("a capture")
}

fn only(captured: &Captured) -> &CapturedFlow {
    assert_eq!(captured.flows.len(), 1, "{captured:?}");
    &captured.flows[0]
}

/// What every form of the transfer has to give.
fn check(file: &[u8]) -> Captured {
    let captured = read(file);
    let flow = only(&captured);
    assert_eq!((flow.packets, flow.retransmits), (u64::from(SEGMENTS) + 1, 1));
    let bytes = f64::from(SEGMENTS * SEGMENT);
    assert!((flow.goodput_bps * flow.duration_s / 8.0 - bytes).abs() < 1e-3, "{}", flow.goodput_bps);
    assert!((flow.duration_s - 0.159).abs() < 1e-5, "{}", flow.duration_s);
    assert!((flow.rtt_min_s - 0.04).abs() < 1e-5 && (flow.rtt_mean_s - 0.04).abs() < 1e-5, "{flow:?}");
    assert_eq!(captured.contents.damage, None);
    captured
}

fn plain() -> Vec<Packet> {
    transfer(Form::default())
}

#[test]
fn the_plain_capture_has_the_numbers_of_the_transfer() {
    let captured = check(&pcap(1, &plain(), ethernet));
    let flow = only(&captured);
    assert_eq!((captured.contents.others(), captured.copies, captured.mirrored), (0, 0, 0));
    // 39 segments that were sent once, and the SYN; the one that was sent twice by its timestamp
    assert_eq!(flow.rtt_samples, 41);
    assert!(flow.opened && flow.heard && !flow.closed);
    assert_eq!((flow.payload_bytes, flow.long_packets), (SEGMENT, 0));
    // up to 20 for 40 ms, 20 for 38 ms, and down for 40 ms; and the hole for 40 ms
    assert!((flow.flight_bytes / f64::from(SEGMENT) - 13.6).abs() < 0.5, "{}", flow.flight_bytes);
    assert!((flow.throughput_bps / flow.goodput_bps - 1500.0 / 1448.0).abs() < 1e-9);
}

#[test]
fn a_snap_length_cuts_records_and_no_numbers() {
    for kept in [54, 66, 74, 96, 128] {
        let file = pcap_cut(1, &plain(), ethernet, kept as u32, kept);
        let captured = check(&file);
        assert_eq!(captured.contents.cut_options > 0, kept < 78, "{kept}");
    }
}

#[test]
fn headers_of_tcp_that_are_cut_before_the_window_are_left_out() {
    let captured = read(&pcap_cut(1, &plain(), ethernet, 49, 49));
    assert_eq!(captured.contents.left_out.get(&Reason::Cut), Some(&captured.contents.packets));
    assert_eq!(captured.contents.packets, plain().len() as u64);
}

#[test]
fn a_file_header_without_a_snap_length_and_records_longer_than_their_packets_are_read() {
    check(&pcap_cut(1, &plain(), ethernet, 0, 65_535));
    let mut file = pcap_header(0xa1b2_c3d4, 65_535, 1);
    for packet in plain() {
        let bytes = ethernet(packet.ip());
        let lengths = [bytes.len() as u64, bytes.len() as u64 - 4];
        for number in [packet.at_us / 1_000_000, packet.at_us % 1_000_000, lengths[0], lengths[1]] {
            file.extend((number as u32).to_le_bytes());
        }
        file.extend(bytes);
    }
    check(&file);
}

#[test]
fn kuznetzovs_form_has_longer_headers_of_records() {
    let mut file = pcap_header(0xa1b2_cd34, 65_535, 1);
    for packet in plain() {
        let bytes = ethernet(packet.ip());
        let length = bytes.len() as u64;
        for number in [packet.at_us / 1_000_000, packet.at_us % 1_000_000, length, length] {
            file.extend((number as u32).to_le_bytes());
        }
        file.extend([3, 0, 0, 0, 0, 8, 0, 0]);
        file.extend(bytes);
    }
    check(&file);
}

#[test]
fn a_record_whose_time_is_not_valid_is_left_out() {
    let mut file = pcap(1, &plain(), ethernet);
    // of the first acknowledgement's record, the microseconds: behind SYN, SYN/ACK and all data before it
    let packets = plain();
    let index = packets.iter().position(|packet| packet.back && packet.flags == ACK).expect("one");
    let at = pcap(1, &packets[..index], ethernet).len() + 4;
    file[at..at + 4].copy_from_slice(&1_000_000u32.to_le_bytes());
    let captured = read(&file);
    assert_eq!(captured.contents.left_out.get(&Reason::BadTime), Some(&1));
    assert_eq!(only(&captured).packets, u64::from(SEGMENTS) + 1);
}

#[test]
fn a_cut_file_gives_what_is_there_and_why_not_the_rest() {
    let file = pcap(1, &plain(), ethernet);
    let captured = read(&file[..file.len() - 7]);
    let last = pcap(1, &plain()[..plain().len() - 1], ethernet).len();
    let said = format!(
        "it was cut short, or something else follows its packets: no whole packet begins at byte {last}"
    );
    assert_eq!(captured.contents.damage, Some(said));
    assert_eq!(captured.contents.packets, plain().len() as u64 - 1);
    assert!(flows(&file[..20]).is_err(), "no packet is left");
}

/// A pcapng file of the transfer: a section and an interface with these options, and these packets.
fn pcapng(options: [&[u8]; 2], packet: impl Fn(&Packet, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut file = section(options[0]);
    file.extend(interface(options[1]));
    plain().iter().for_each(|each| file.extend(packet(each, &ethernet(each.ip()))));
    file
}

const NANOSECONDS: u8 = 9;

#[test]
fn options_of_pcapng_may_lack_their_end_and_hold_any_bytes() {
    let latin_1 = option(1, b"caf\xe9");
    let resolution = [option(2, b"eth0"), option(9, &[NANOSECONDS])].concat();
    let file = pcapng([&latin_1, &resolution], |packet, frame| {
        enhanced(0, packet.at_us * 1000, frame, &option(2, &[1, 0, 0, 0]))
    });
    assert_eq!(check(&file).contents.comment, "caf\u{fffd}");
}

#[test]
fn the_resolution_and_offset_of_each_interface_count() {
    let second = BEGIN_US / 1_000_000;
    let offset = [option(9, &[0x80 | 20]), option(14, &second.to_le_bytes())].concat();
    let mut file = pcapng([&[], &[]], |_, _| Vec::new());
    file.extend(interface(&offset));
    for packet in plain() {
        let frame = ethernet(packet.ip());
        if packet.back {
            // in units of 2^-20 s, rounded up, since the offset
            let units = ((packet.at_us - BEGIN_US) << 20).div_ceil(1_000_000);
            file.extend(enhanced(1, units, &frame, &[]));
        } else {
            file.extend(enhanced(0, packet.at_us, &frame, &[]));
        }
    }
    check(&file);
}

#[test]
fn packets_in_blocks_of_before_2004_are_read() {
    check(&pcapng([&[], &[]], |packet, frame| {
        let mut body = vec![0, 0, 0, 0];
        let [units, length] = [packet.at_us, frame.len() as u64];
        for number in [units >> 32, units & 0xffff_ffff, length, length] {
            body.extend((number as u32).to_le_bytes());
        }
        body.extend(frame);
        block(2, &body)
    }));
}

#[test]
fn packets_without_a_time_count_but_have_no_rate() {
    let captured = read(&pcapng([&[], &[]], |_, frame| {
        let body = [&(frame.len() as u32).to_le_bytes(), frame].concat();
        block(3, &body)
    }));
    let flow = only(&captured);
    assert_eq!((flow.packets, flow.retransmits, flow.rtt_samples), (u64::from(SEGMENTS) + 1, 1, 0));
    assert!(flow.throughput_bps.is_nan() && flow.goodput_bps.is_nan() && flow.rtt_mean_s.is_nan());
    assert_eq!(captured.contents.untimed, captured.contents.packets);
}

#[test]
fn packets_of_an_interface_that_is_not_described_are_read() {
    for unit in [1, 1000] {
        let mut file = section(&[]);
        plain().iter().for_each(|packet| {
            file.extend(enhanced(0, packet.at_us * unit, &ethernet(packet.ip()), &[]));
        });
        let captured = check(&file);
        assert_eq!(captured.contents.undescribed, captured.contents.packets);
    }
}

#[test]
fn what_the_capturing_program_missed_is_counted() {
    let mut file = pcapng([&[], &[]], |packet, frame| enhanced(0, packet.at_us, frame, &[]));
    let counts = [option(5, &7u64.to_le_bytes()), option(7, &3u64.to_le_bytes())].concat();
    file.extend(block(5, &[&[0; 12], &counts[..]].concat()));
    assert_eq!(check(&file).contents.missed, 10);
}

/// A frame around an IP packet.
type Frame = fn(Vec<u8>) -> Vec<u8>;

/// IPv4 around something, of this protocol.
fn outer(protocol: u8, content: Vec<u8>) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((20 + content.len() as u16).to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    bytes.extend(content);
    bytes
}

fn udp(port: u16, content: Vec<u8>) -> Vec<u8> {
    let mut bytes = vec![0x12, 0x34];
    bytes.extend(port.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(content);
    outer(17, bytes)
}

const LLC: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];

#[test]
fn link_types_tags_labels_and_tunnels_change_nothing() {
    let forms: [(&str, u32, Frame); 27] = [
        ("raw, 12", 12, |ip| ip),
        ("raw, 14", 14, |ip| ip),
        ("raw, 101", 101, |ip| ip),
        ("null", 0, |ip| framed(&[], &[2, 0, 0, 0], ip)),
        ("loop", 108, |ip| framed(&[], &[0, 0, 0, 2], ip)),
        ("PPP", 9, |ip| framed(&[0xff, 3], &[0, 0x21], ip)),
        ("PPP, short", 9, |ip| framed(&[], &[0x21], ip)),
        ("Cisco's HDLC", 104, |ip| framed(&[0x0f, 0], &[8, 0], ip)),
        ("cooked", 113, |ip| framed(&[0; 14], &[8, 0], ip)),
        ("cooked 2", 276, |ip| framed(&[8, 0], &[0; 18], ip)),
        ("802.11", 105, |ip| framed(&[&[0x88, 1][..], &[0; 24]].concat(), &LLC, ip)),
        ("802.11 with four addresses", 105, |ip| framed(&[&[8, 3][..], &[0; 28]].concat(), &LLC, ip)),
        ("802.11, filled up", 105, |ip| framed(&[&[0x88, 1][..], &[0; 26]].concat(), &LLC, ip)),
        ("radiotap", 127, |ip| {
            let radiotap = [0, 0, 12, 0, 4, 0, 0, 0, 2, 0, 0, 0];
            framed(&[&radiotap[..], &[8, 1], &[0; 22]].concat(), &LLC, ip)
        }),
        ("Ethernet with a check sequence", 1 | 0x2400_0000, |ip| [&ethernet(ip)[..], &[0xab; 4]].concat()),
        ("VLANs", 1, |ip| framed(&[0; 12], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0], ip)),
        ("SNAP in Ethernet", 1, |ip| framed(&[&[0; 12][..], &[5, 0]].concat(), &LLC, ip)),
        ("PPPoE", 1, |ip| framed(&[0; 12], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 0, 0, 0x21], ip)),
        ("MPLS", 1, |ip| framed(&[0; 12], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64], ip)),
        ("Ethernet over MPLS", 1, |ip| {
            framed(
                &[0; 12],
                &[&[0x88, 0x47, 0, 2, 1, 64, 0, 0, 0, 0][..], &ethernet(Vec::new())].concat(),
                ip,
            )
        }),
        ("GRE with a key", 1, |ip| ethernet(outer(47, framed(&[0x20, 0], &[8, 0, 0, 0, 0, 9], ip)))),
        ("Ethernet over GRE", 1, |ip| ethernet(outer(47, framed(&[0, 0], &[0x65, 0x58], ethernet(ip))))),
        ("VXLAN", 1, |ip| ethernet(udp(4789, framed(&[8, 0, 0, 0], &[0, 0, 7, 0], ethernet(ip))))),
        ("GENEVE", 1, |ip| {
            let header = [1, 0, 0x65, 0x58, 0, 0, 7, 0, 0, 0, 0, 0];
            ethernet(udp(6081, framed(&header, &[], ethernet(ip))))
        }),
        ("IP in IP", 1, |ip| ethernet(outer(4, ip))),
        ("GTP", 1, |ip| ethernet(udp(2152, framed(&[0x30, 0xff, 0, 0], &[0, 0, 0, 1], ip)))),
        ("IPv4 in IPv6", 1, |ip| {
            let mut six = vec![0x60, 0, 0, 0];
            six.extend((ip.len() as u16).to_be_bytes());
            six.extend([4, 64]);
            six.extend([0x20; 32]);
            framed(&[0; 12], &[0x86, 0xdd], [six, ip].concat())
        }),
    ];
    for (name, link, frame) in forms {
        println!("{name}");
        check(&pcap(link, &plain(), frame));
    }
}

#[test]
fn what_is_left_out_has_a_reason() {
    let cases: [(u32, Frame, Reason); 6] = [
        (147, |ip| ip, Reason::LinkType(147)),
        (1, |ip| framed(&[0; 12], &[8, 6], ip), Reason::NotIp),
        (1, |ip| ethernet(udp(53, ip)), Reason::Protocol(17)),
        (1, |ip| ethernet(outer(50, ip)), Reason::Protocol(50)),
        (105, |ip| framed(&[&[8, 0x41][..], &[0; 22]].concat(), &LLC, ip), Reason::Encrypted),
        (
            1,
            |mut ip| {
                ip[7] = 1;
                ethernet(ip)
            },
            Reason::Fragment,
        ),
    ];
    for (link, frame, reason) in cases {
        let captured = read(&pcap(link, &plain(), frame));
        assert_eq!(captured.flows, []);
        let found: Vec<_> = captured.contents.left_out.into_iter().collect();
        assert_eq!(found, [(reason, plain().len() as u64)]);
    }
}
