//! What connections are, which packets belong to them, and what their numbers mean.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod captures;

use captures::*;
use longfat_capture::{Captured, CapturedFlow, flows};

fn read(packets: &[Packet]) -> Captured {
    flows(&pcap(1, packets, ethernet)[..]).expect("a capture")
}

fn only(captured: &Captured) -> &CapturedFlow {
    assert_eq!(captured.flows.len(), 1, "{captured:?}");
    &captured.flows[0]
}

fn plain() -> Vec<Packet> {
    transfer(Form::default())
}

fn counts(flow: &CapturedFlow) -> (u64, u64) {
    (flow.packets, flow.retransmits)
}

const WHOLE: (u64, u64) = (SEGMENTS as u64 + 1, 1);

#[test]
fn the_same_ends_with_another_initial_number_are_another_connection() {
    let mut packets = plain();
    packets.extend(transfer(Form { isn: 5, begin_us: BEGIN_US + 5_000_000, ..Form::default() }));
    let captured = read(&packets);
    assert_eq!(captured.flows.iter().map(counts).collect::<Vec<_>>(), [WHOLE, WHOLE]);
    assert!((captured.flows[1].start_s - 5.0).abs() < 1e-6);
    // also when the second opening was not captured
    packets.retain(|packet| packet.flags & SYN == 0);
    packets.iter_mut().skip(plain().len() - 2).for_each(|packet| {
        let shift = 1 << 31;
        let number = if packet.back { &mut packet.ack } else { &mut packet.seq };
        *number = number.wrapping_add(shift);
        packet.sack.iter_mut().for_each(|(a, b)| (*a, *b) = (a.wrapping_add(shift), b.wrapping_add(shift)));
    });
    assert_eq!(read(&packets).flows.iter().map(counts).collect::<Vec<_>>(), [WHOLE, WHOLE]);
}

#[test]
fn a_mirror_shows_each_packet_twice_and_each_counts_once() {
    let packets: Vec<Packet> = plain()
        .into_iter()
        .flat_map(|packet| [packet.clone(), Packet { at_us: packet.at_us + 30, ..packet }])
        .collect();
    let captured = read(&packets);
    assert_eq!(counts(only(&captured)), WHOLE);
    assert_eq!(captured.mirrored, plain().len() as u64);
}

#[test]
fn copies_on_another_interface_are_known_by_time_and_not_by_number() {
    // the second interface is 3 s behind the first, and the path carries 20,000 packets meanwhile
    let mut packets: Vec<Packet> = (0..20_000)
        .map(|i| Packet { id: i as u16, ..Packet::data(BEGIN_US + 100 * u64::from(i), 1 + 100 * i, 1, 100) })
        .collect();
    let count = packets.len() as u64;
    packets.push(Packet::reply(BEGIN_US + 5_900_000, 1, 1 + 100 * 20_000));
    let mut events: Vec<(u64, u32, &Packet)> =
        packets.iter().map(|packet| (packet.at_us, 0, packet)).collect();
    events.extend(packets.iter().map(|packet| (packet.at_us + 3_000_000, 1, packet)));
    events.sort_by_key(|(at_us, interface, _)| (*at_us, *interface));
    let mut file = [section(&[]), interface(&[]), interface(&[])].concat();
    for (at_us, interface, packet) in events {
        file.extend(enhanced(interface, at_us, &ethernet(packet.ip()), &[]));
    }
    let captured = flows(&file[..]).expect("a capture");
    assert_eq!(counts(only(&captured)), (count, 0));
    assert_eq!(captured.copies, count + 1);
}

#[test]
fn round_trips_end_where_acknowledgements_are_seen_last() {
    let mut file = [section(&[]), interface(&[]), interface(&[])].concat();
    let mut events = Vec::new();
    for packet in transfer(Form { stamps: false, ..Form::default() }) {
        // the second interface is 10 ms nearer to the sender for what comes back
        events.push((packet.at_us, 0, packet.clone()));
        if packet.back {
            events.push((packet.at_us + 10_000, 1, packet));
        }
    }
    events.sort_by_key(|(at_us, interface, _)| (*at_us, *interface));
    for (at_us, interface, packet) in events {
        file.extend(enhanced(interface, at_us, &ethernet(packet.ip()), &[]));
    }
    let captured = flows(&file[..]).expect("a capture");
    let flow = only(&captured);
    assert_eq!(counts(flow), WHOLE);
    assert!((flow.rtt_mean_s - 0.05).abs() < 1e-6 && (flow.rtt_min_s - 0.05).abs() < 1e-6, "{flow:?}");
}

/// The transfer as a card with large-send offload shows it: runs of three segments as one packet.
fn offloaded() -> Vec<Packet> {
    let mut packets: Vec<Packet> = Vec::new();
    for packet in plain() {
        let all = packets.len();
        let follows = packets.iter_mut().skip(all.saturating_sub(8)).find(|earlier| {
            earlier.payload > 0
                && earlier.payload < 3 * SEGMENT
                && earlier.seq.wrapping_add(earlier.payload) == packet.seq
        });
        match follows {
            Some(earlier) if packet.payload > 0 && !packet.back => earlier.payload += packet.payload,
            _ => packets.push(packet),
        }
    }
    packets
}

#[test]
fn packets_of_offload_count_as_the_segments_that_they_are() {
    let mut packets = offloaded();
    let captured = read(&packets);
    let flow = only(&captured);
    assert_eq!((counts(flow), flow.payload_bytes), (WHOLE, SEGMENT));
    assert!(flow.long_packets > 5);
    assert!((flow.throughput_bps / flow.goodput_bps - 1500.0 / 1448.0).abs() < 1e-9, "headers of each");
    // without SYNs: the most frequent
    packets.retain(|packet| packet.flags & SYN == 0);
    for i in 0..20 {
        let last = packets.last().expect("one");
        let (at_us, seq) =
            (last.at_us, packets.iter().filter(|p| !p.back).map(|p| p.seq.wrapping_add(p.payload)));
        let seq = seq.max_by_key(|seq| seq.wrapping_sub(u32::MAX - 20_000)).expect("one");
        packets.push(Packet { id: 60_000 + i, ..Packet::data(at_us + 2000, seq, 900, SEGMENT) });
    }
    let captured = read(&packets);
    assert_eq!(counts(only(&captured)), (WHOLE.0 + 20, 1));
}

#[test]
fn lengths_of_ip_that_are_not_true_are_those_of_the_frame() {
    let short = |total| plain().into_iter().map(move |packet| Packet { total: Some(total), ..packet });
    for total in [0, 20] {
        let packets: Vec<Packet> = short(total).collect();
        assert_eq!(counts(only(&read(&packets))), WHOLE, "{total}");
        // a check sequence at the end of each frame is no payload
        let packets: Vec<Packet> = short(total).map(|packet| Packet { trailer: 4, ..packet }).collect();
        let captured = read(&packets);
        assert_eq!((counts(only(&captured)), only(&captured).payload_bytes), (WHOLE, SEGMENT), "{total}");
    }
}

#[test]
fn keepalives_and_probes_of_a_closed_window_are_no_data() {
    let mut packets = plain();
    let end = packets.iter().filter(|packet| packet.back).map(|packet| packet.ack).next_back().expect("one");
    let last_us = packets.last().expect("one").at_us;
    for i in 1..=5 {
        packets.push(Packet::data(last_us + 1_000_000 * i, end.wrapping_sub(1), 900, 1));
        packets.push(Packet::reply(last_us + 1_000_000 * i + RTT_US, 900, end));
    }
    let captured = read(&packets);
    assert_eq!((counts(only(&captured)), captured.probes), (WHOLE, 5));
    for i in 6..=9 {
        packets.push(Packet { window: 0, ..Packet::reply(last_us + 1_000_000 * i, 900, end) });
        packets.push(Packet::data(last_us + 1_000_000 * i + 500_000, end, 900, 1));
    }
    let captured = read(&packets);
    assert_eq!((counts(only(&captured)), captured.probes), (WHOLE, 9));
}

#[test]
fn selectively_acknowledged_segments_are_not_in_flight() {
    let flight = |packets: &[Packet]| {
        let captured = read(packets);
        only(&captured).rows.iter().map(|row| row.flight_bytes / f64::from(SEGMENT)).collect::<Vec<_>>()
    };
    let mut packets = plain();
    packets.iter_mut().filter(|packet| packet.flags & SYN == 0).for_each(|packet| packet.at_us -= 15_000);
    packets.sort_by_key(|packet| packet.at_us);
    // at 0.1 s, 37 were sent, 10 acknowledged, and 6 beyond the one that is sent again at 93 ms
    assert_eq!(flight(&packets), [21.0]);
    packets.iter_mut().for_each(|packet| packet.sack.clear());
    assert_eq!(flight(&packets), [27.0], "without SACK, nothing shows that they have arrived");
}

#[test]
fn round_trips_are_those_of_segments_sent_once_with_any_timestamps() {
    let check = |packets: &[Packet], samples: u64| {
        let captured = read(packets);
        let flow = only(&captured);
        assert!((flow.rtt_mean_s - 0.04).abs() < 1e-6 && (flow.rtt_min_s - 0.04).abs() < 1e-6, "{flow:?}");
        assert_eq!(flow.rtt_samples, samples);
    };
    check(&transfer(Form { stamps: false, ..Form::default() }), 40);
    let constant = plain().into_iter().map(|packet| Packet { stamps: Some((7, 7)), ..packet });
    check(&constant.collect::<Vec<_>>(), 40);
    // ticks of 10 ms, for a segment each 2 ms: too coarse for the one that was sent twice
    let coarse = plain().into_iter().map(|packet| {
        let stamps = packet.stamps.map(|(value, echo)| (value / 10, echo / 10));
        Packet { stamps, ..packet }
    });
    check(&coarse.collect::<Vec<_>>(), 40);
    check(&plain(), 41);
}

#[test]
fn data_in_both_directions_are_a_flow_each() {
    let mut packets = plain();
    let mut next = 900;
    for packet in packets.iter_mut().filter(|packet| packet.back && packet.flags & SYN == 0) {
        (packet.seq, packet.payload) = (next, SEGMENT);
        next += SEGMENT;
    }
    let captured = read(&packets);
    let found: Vec<_> = captured.flows.iter().map(|flow| (flow.ends[0].1, flow.packets)).collect();
    assert_eq!(found, [(1000, WHOLE.0), (2000, WHOLE.0 - 1)]);
    assert_eq!(captured.minor_packets, 0);
    // one request of 100 bytes is none
    let mut packets = plain();
    let request = packets.iter_mut().find(|packet| packet.back && packet.flags & SYN == 0).expect("one");
    request.payload = 100;
    let captured = read(&packets);
    assert_eq!((counts(only(&captured)), captured.minor_packets), (WHOLE, 1));
}

#[test]
fn of_one_direction_the_rate_is_that_of_what_was_sent() {
    let sent: Vec<Packet> = plain().into_iter().filter(|packet| !packet.back).collect();
    let captured = read(&sent);
    let flow = only(&captured);
    assert_eq!((counts(flow), flow.heard, flow.rtt_samples), (WHOLE, false, 0));
    let bytes = flow.goodput_bps * flow.duration_s / 8.0;
    assert!((bytes - f64::from(SEGMENTS * SEGMENT)).abs() < 1e-3, "{bytes}");
    assert!(flow.rtt_mean_s.is_nan() && flow.flight_bytes.is_nan() && flow.busy_s.is_nan());
    let heard: Vec<Packet> = plain().into_iter().filter(|packet| packet.back).collect();
    let captured = read(&heard);
    assert_eq!((captured.flows.len(), captured.without_payload), (0, 1));
}

#[test]
fn steps_of_the_clock_are_taken_out() {
    let whole = read(&plain());
    for step_us in [-10_000_000i64, 3_600_000_000] {
        for stamps in [true, false] {
            let mut packets = transfer(Form { stamps, ..Form::default() });
            packets[40..].iter_mut().for_each(|packet| {
                packet.at_us = packet.at_us.saturating_add_signed(step_us);
            });
            let captured = read(&packets);
            let flow = only(&captured);
            assert_eq!(counts(flow), WHOLE);
            assert!((flow.duration_s - only(&whole).duration_s).abs() < 0.003, "{}", flow.duration_s);
            assert!((flow.rtt_mean_s - 0.04).abs() < 1e-6, "no round trip across the step: {flow:?}");
            assert!(flow.rtt_samples < only(&whole).rtt_samples - 10);
            let steps = [captured.steps.back.0, captured.steps.forward.0];
            assert_eq!(steps, [u64::from(step_us < 0), u64::from(step_us > 0)]);
        }
    }
}

#[test]
fn silence_is_no_step_and_one_wrong_time_neither() {
    let mut packets = plain();
    let end = packets.last().expect("one").ack;
    let at_us = BEGIN_US + 60_000_000;
    let tick = (at_us / 1000) as u32;
    packets.push(Packet { stamps: Some((tick, 0)), ..Packet::data(at_us, end, 900, SEGMENT) });
    packets.push(Packet {
        stamps: Some((tick + 40, tick)),
        ..Packet::reply(at_us + RTT_US, 900, end.wrapping_add(SEGMENT))
    });
    let captured = read(&packets);
    let flow = only(&captured);
    assert_eq!((captured.steps.forward.0, captured.steps.back.0, captured.steps.strays), (0, 0, 0));
    assert!((flow.duration_s - 60.04).abs() < 1e-3);
    assert!((flow.busy_s - 0.158).abs() < 1e-3, "in flight: {}", flow.busy_s);
    assert!(flow.busy_bps > 300.0 * flow.throughput_bps);
    // where nothing is acknowledged, because only one direction was captured
    let mut sent = transfer(Form { stamps: false, ..Form::default() });
    sent.retain(|packet| !packet.back);
    sent[20..].iter_mut().for_each(|packet| packet.at_us += 60_000_000);
    assert_eq!(read(&sent).steps.forward.0, 0);
    let mut packets = plain();
    packets[30].at_us += 100_000_000;
    packets[50].at_us -= 100_000_000;
    let captured = read(&packets);
    assert_eq!((captured.steps.forward.0, captured.steps.back.0, captured.steps.strays), (0, 0, 2));
    assert_eq!(counts(only(&captured)), WHOLE);
}

#[test]
fn rows_are_no_more_than_packets_however_long_a_connection_is_silent() {
    let mut packets = plain();
    let end = packets.last().expect("one").ack;
    let mut at_us = BEGIN_US;
    for i in 0..10 {
        at_us += 20_000_000_000;
        let seq = end.wrapping_add(i * SEGMENT);
        packets.push(Packet::data(at_us, seq, 900, SEGMENT));
        packets.push(Packet::reply(at_us + RTT_US, 900, seq.wrapping_add(SEGMENT)));
    }
    let captured = read(&packets);
    let rows = &only(&captured).rows;
    assert!(rows.len() <= 2 * packets.len(), "{}", rows.len());
    assert!(rows.windows(2).all(|pair| pair[0].time_s < pair[1].time_s));
    // the state stays until the last row before the next packet
    let silent: Vec<f64> =
        rows.iter().filter(|row| row.time_s > 1.0 && row.time_s < 19_999.9).map(|r| r.time_s).collect();
    assert!(silent.is_empty(), "{silent:?}");
    assert!(rows.iter().any(|row| row.time_s == 20_000.0));
}

#[test]
fn rows_are_at_whole_multiples_of_their_distance() {
    let packets: Vec<Packet> = (0..400)
        .map(|i| Packet {
            id: i as u16 + 1,
            ..Packet::data(BEGIN_US + 10_000 * u64::from(i), 1 + 100 * i, 1, 100)
        })
        .collect();
    let captured = read(&packets);
    let times: Vec<f64> = only(&captured).rows.iter().map(|row| row.time_s).collect();
    assert_eq!(times[..4], [0.1, 0.2, 0.3, 0.4], "not 0.30000000000000004");
}

#[test]
fn bytes_that_the_capture_misses_are_counted() {
    let packets = [
        Packet::data(BEGIN_US, 1, 1, 1000),
        Packet::reply(BEGIN_US + 1000, 1, 5001),
        Packet::data(BEGIN_US + 2000, 5001, 1, 1000),
        Packet::reply(BEGIN_US + 3000, 1, 6001),
    ];
    let captured = read(&packets);
    assert_eq!(captured.unseen_bytes, 4000);
    let flow = only(&captured);
    assert!((flow.goodput_bps * flow.duration_s / 8.0 - 6000.0).abs() < 1e-6);
}
