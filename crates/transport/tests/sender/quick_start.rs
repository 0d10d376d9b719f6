//! Quick-Start (RFC 4782) at both ends. The path represents routers: it decrements the QS TTL or does not,
//! and lowers rates.

use crate::path::{Path, RECEIVER, RTT_MS, at_ms, config, ms, standard};
use longfat_transport::cc::LossDetection;
use longfat_transport::{
    Happened, QuickStartRequest, Receiver, ReceiverConfig, Recovery, Sender, SenderConfig,
};
use longfat_units::{Interval, Time};
use longfat_wire::{Explicit, Function, Kind, Packet, QuickStart, RateCode, SimPacket};

const NONCE: u32 = 0x0fed_cba9;

/// 10.24 Mbit/s: over 100 ms in packets of 1052 bytes 121.67 segments.
fn asking() -> SenderConfig {
    let rate = RateCode::at_most(10.24e6);
    SenderConfig { quick_start: Some(QuickStartRequest { rate, ttl: 200, nonce: NONCE }), ..config() }
}

fn option(packet: &SimPacket) -> Option<QuickStart> {
    match packet.explicit() {
        Some(Explicit::QuickStart(option)) => Some(*option),
        _ => None,
    }
}

/// The path of the tests has no router, so both TTLs stay as they are and the request is approved.
fn approved(config: SenderConfig) -> Path {
    Path::new(config, standard())
}

/// Opens a connection through `router`. Returns the sender after the answer, and what it has sent by then.
fn open_through(
    router: impl Fn(&mut QuickStart),
    uncounted_hops: u8,
    forge: impl Fn(&mut QuickStart),
) -> (Sender, Vec<SimPacket>) {
    let mut sender = Sender::new(asking(), standard());
    sender.keep_log();
    let receiver = ReceiverConfig { uncounted_hops, ..RECEIVER };
    let mut sent = Vec::new();
    sender.start(Time::ZERO, &mut |p| sent.push(p));
    let mut syn = sent.pop().expect("a connection request");
    if let Some(Explicit::QuickStart(option)) = syn.explicit_mut() {
        router(option);
    }
    let mut answer = Receiver::new(receiver).on_packet(at_ms(50), &syn).expect("an answer");
    if let Some(Explicit::QuickStart(option)) = answer.explicit_mut() {
        forge(option);
    }
    sender.on_packet(at_ms(100), &answer, &mut |p| sent.push(p));
    (sender, sent)
}

fn was_approved(sender: &mut Sender) -> bool {
    sender.take_log().iter().any(|&(_, what, _)| what == Happened::QuickStart)
}

/// A router that takes part and approves this rate.
fn leaves(bps: f64) -> impl Fn(&mut QuickStart) {
    move |option| {
        let rate = RateCode::at_most(bps);
        if rate < option.rate {
            option.lower(rate, 0x3fff_ffff ^ NONCE);
        }
        option.ttl -= 1;
    }
}

#[test]
fn the_request_and_its_answer_take_eight_bytes_each_and_the_report_eight_of_the_first_data() {
    let mut path = approved(asking()).start();
    path.run_to(at_ms(RTT_MS + 20));
    let request = option(&path.sent[0].packet).expect("a request");
    assert_eq!((request.function, request.rate.bps()), (Function::Request, 10.24e6));
    assert_eq!((request.ttl, request.nonce, path.sent[0].packet.bytes), (200, NONCE, 68));
    let answer = option(&path.acks[0].1).expect("an answer");
    // 64 - 200 modulo 256
    assert_eq!((answer.function, answer.ttl, path.acks[0].1.bytes), (Function::Response, 120, 68));
    let data: Vec<_> = path.data_between(at_ms(0), at_ms(1000)).collect();
    let report = option(&data[0].packet).expect("a report");
    assert_eq!((report.function, report.rate, data[0].packet.bytes), (Function::Report, request.rate, 1060));
    assert!(data.len() > 10 && data[1..].iter().all(|s| s.packet.extra.is_none() && s.packet.bytes == 1052));
    assert!(path.acks[1..].iter().all(|(_, ack)| ack.extra.is_none()), "a report is not echoed");
}

#[test]
fn an_approved_window_leaves_at_the_rate_in_one_round_trip_and_slow_start_goes_on_from_it() {
    let mut path = approved(asking()).start();
    path.run_to(at_ms(RTT_MS * 2 - 1));
    let first: Vec<Time> = path.data_between(at_ms(0), at_ms(2000)).map(|s| s.at).collect();
    assert_eq!((first.len(), path.cwnd()), (121, 121.0));
    // 8416 bits at 10.24 Mbit/s
    let gap = Interval::from_ns(821_875);
    let spread = |pair: &[Time]| pair[1].since(pair[0]).as_ns().abs_diff(gap.as_ns());
    assert!(first[0] == at_ms(RTT_MS) && first.windows(2).all(|pair| spread(pair) <= 1));
    path.run_to(at_ms(RTT_MS * 3 - 1));
    assert_eq!(path.cwnd(), 242.0);
    assert_eq!(path.counters().retransmits, 0);
    let approvals: Vec<_> = path.log().into_iter().filter(|e| e.1 == Happened::QuickStart).collect();
    assert_eq!(approvals, [(at_ms(RTT_MS), Happened::QuickStart, 121.0)]);
}

#[test]
fn a_router_lowers_the_rate_and_the_window_with_it() {
    let (mut sender, sent) = open_through(leaves(2.56e6), 1, |_| ());
    assert_eq!((sender.window().cwnd, sent.len()), (30.0, 1), "2.56 Mbit/s x 100 ms / 1052 bytes");
    assert_eq!(option(&sent[0]).map(|o| o.rate.bps()), Some(2.56e6));
    assert!(was_approved(&mut sender));
}

#[test]
fn a_router_that_does_not_take_part_is_seen_by_the_times_to_live() {
    // it decrements the IP header's TTL, which the receiver does for it, but not the option's
    let (mut sender, sent) = open_through(|_| (), 1, |_| ());
    assert_eq!((sender.window().cwnd, sent.len()), (10.0, 10), "the initial window, at once");
    assert!(!was_approved(&mut sender));
    let report = option(&sent[0]).expect("a report");
    assert_eq!((report.function, report.rate), (Function::Report, RateCode::NONE));
    assert!(sent[1..].iter().all(|p| p.extra.is_none()));
}

#[test]
fn a_request_that_was_denied_gets_no_answer_and_the_initial_window_is_used() {
    let (mut sender, sent) = open_through(|option| *option = QuickStart::default(), 1, |_| ());
    assert_eq!((sender.window().cwnd, sent.len()), (10.0, 10));
    assert!(!was_approved(&mut sender));
}

#[test]
fn a_receiver_that_claims_more_than_it_was_left_is_not_believed() {
    let claims = |option: &mut QuickStart| option.rate = RateCode::at_most(10.24e6);
    let (mut sender, _) = open_through(leaves(2.56e6), 1, claims);
    assert!(!was_approved(&mut sender), "the nonce");
    let claims = |option: &mut QuickStart| option.rate = RateCode::GREATEST;
    let (mut sender, _) = open_through(leaves(10.24e6), 1, claims);
    assert!(!was_approved(&mut sender), "more than was asked for");
}

#[test]
fn a_rate_that_gives_less_than_the_initial_window_is_not_used() {
    // 640 kbit/s x 100 ms / 1052 bytes = 7.6 segments
    let (mut sender, sent) = open_through(leaves(640e3), 1, |_| ());
    assert_eq!((sender.window().cwnd, sent.len()), (10.0, 10));
    assert!(!was_approved(&mut sender));
}

#[test]
fn a_request_that_is_lost_is_repeated_without_the_option() {
    // RFC 4782, section 4.7.2: some routers on the path may drop such packets
    let mut path = approved(asking()).losing(|s| s.packet.kind == Kind::Syn && s.earlier == 0).start();
    path.run_to(at_ms(2000));
    let requests: Vec<_> = path.sent.iter().filter(|s| s.packet.kind == Kind::Syn).collect();
    assert_eq!(requests.len(), 2);
    assert_eq!((option(&requests[1].packet), requests[1].packet.bytes), (None, 60));
    assert!(path.data_between(at_ms(0), at_ms(2000)).all(|s| s.packet.extra.is_none()));
    assert_eq!(path.flights(12)[10..], [1, 2], "an initial window of one");
}

#[test]
fn a_transfer_smaller_than_the_window_completes_within_it() {
    let mut path = approved(SenderConfig { bytes: Some(50_000), ..asking() }).start();
    path.run_to_end();
    assert_eq!(path.counters().packets_sent, 50);
    // one round trip to open, 49 gaps of 822 us, one round trip for the last
    assert!(path.now > at_ms(239) && path.now < at_ms(241), "{:?}", path.now);
}

#[test]
fn the_receiver_s_window_holds_an_approved_one() {
    let mut path = approved(SenderConfig { max_window: 40.0, ..asking() }).start();
    path.run_to(at_ms(RTT_MS * 2 - 1));
    assert_eq!((path.flights(1), path.cwnd()), (vec![40], 40.0));
}

#[test]
fn a_host_that_looks_once_in_10_ms_sends_what_was_due() {
    let mut path = approved(SenderConfig { host_tick: ms(10), ..asking() }).start();
    path.run_to(at_ms(RTT_MS * 2 - 1));
    assert!(path.data_between(at_ms(0), at_ms(1000)).all(|s| s.at.as_ns() % 10_000_000 == 0));
    let sent = path.flights(1)[0];
    assert!((110..=121).contains(&sent), "{sent}");
}

#[test]
fn a_loss_in_the_window_reverts_to_the_initial_window_and_slow_start_below_half_of_what_arrived() {
    for detection in [LossDetection::Sack, LossDetection::NewReno, LossDetection::RenoClassic] {
        for recovery in
            [Recovery::RateHalving, Recovery::RateHalvingToHalf, Recovery::Prr, Recovery::Immediate]
        {
            let config =
                SenderConfig { loss_detection: detection, recovery, initial_window: 4.0, ..asking() };
            let mut path = approved(config).losing_once(&[60, 80, 81]).start();
            // found by the third duplicate, 63 segments having arrived
            path.run_until_counted(|c| c.congestion_events == 1);
            let context = format!("{detection:?} {recovery:?}");
            assert_eq!(path.cwnd(), 4.0, "{context}");
            let arrived = if detection == LossDetection::Sack { 63.0 } else { 60.0 };
            assert_eq!(path.ssthresh(), 0.5 * arrived, "{context}");
            path.run_to(at_ms(3000));
            assert_eq!(path.counters().congestion_events, 1, "{context}");
            assert!(path.cwnd() > 0.5 * arrived && path.cwnd() < 90.0, "{context}: {}", path.cwnd());
            assert!(path.receiver().delivered() > 300, "{context}");
            if detection == LossDetection::Sack {
                assert_eq!(path.again().iter().map(|a| a.1).collect::<Vec<_>>(), [60, 80, 81], "{context}");
            }
        }
    }
}

#[test]
fn a_mark_in_the_window_reverts_to_the_initial_window_too() {
    let config = SenderConfig { ecn: true, initial_window: 4.0, ..asking() };
    let mut path = approved(config).marking(|s| s.packet.seq == 60).start();
    path.run_until_counted(|c| c.congestion_events == 1);
    // the acknowledgement that brings the mark is the first of slow-start; 61 segments had arrived
    assert_eq!((path.cwnd(), path.ssthresh()), (5.0, 30.5));
    path.run_to(at_ms(3000));
    assert_eq!((path.counters().congestion_events, path.counters().retransmits), (1, 0));
    assert!(path.cwnd() > 30.0);
}

#[test]
fn a_loss_after_the_window_is_an_ordinary_one() {
    let mut path = approved(asking()).losing_once(&[200]).start();
    path.run_until_counted(|c| c.congestion_events == 1);
    assert!(path.ssthresh() > 100.0, "half of a window above 200: {}", path.ssthresh());
    path.run_to(at_ms(1500));
    assert!(path.cwnd() > 100.0);
}

#[test]
fn a_window_of_which_nothing_arrives_is_repaired_from_one_segment() {
    let lost = |s: &crate::path::Sent| s.packet.kind == Kind::Data && s.earlier == 0 && s.packet.seq < 121;
    let mut path = approved(asking()).losing(lost).start();
    path.run_until_counted(|c| c.timeouts == 1);
    assert_eq!((path.cwnd(), path.ssthresh()), (1.0, 2.0));
    path.run_to(at_ms(5000));
    assert!(path.receiver().delivered() > 121, "{}", path.receiver().delivered());
}

#[test]
fn an_algorithm_that_paces_itself_takes_over_after_the_window() {
    let paced = crate::path::Constant { pacing_rate_pps: Some(5000.0) };
    let controller =
        longfat_transport::cc::Controller::custom(longfat_transport::cc::Properties::CUSTOM, paced);
    let mut path = Path::new(asking(), controller).start();
    path.run_to(at_ms(1000));
    assert_eq!(path.flights(1), [121]);
    assert!(path.receiver().delivered() > 800, "121 a round trip: {}", path.receiver().delivered());
}
