//! What the sending host adds: finite data, the receiver's window, timer granularity, pacing, stopping.

use crate::path::{Constant, HEADER, MSS, Path, at_ms, config, ms, standard, steady};
use longfat_transport::cc::{Controller, Properties};
use longfat_transport::{Sender, SenderConfig};
use longfat_units::Time;
use longfat_wire::{FlowId, Kind, SimPacket};

fn paced(rate_pps: f64) -> Controller {
    Controller::custom(Properties::CUSTOM, Constant { pacing_rate_pps: Some(rate_pps) })
}

#[test]
fn a_finite_transfer_delivers_its_bytes_and_ends_with_what_is_left() {
    for (bytes, segments, last) in
        [(1, 1, 1), (999, 1, 999), (1000, 1, 1000), (1001, 2, 1), (25_300, 26, 300)]
    {
        let mut path = Path::new(SenderConfig { bytes: Some(bytes), ..config() }, standard()).start();
        path.run_to_end();
        let sizes: Vec<_> =
            path.data_between(Time::ZERO, Time::NEVER).map(|s| u32::from(s.packet.bytes)).collect();
        assert_eq!(sizes.len(), segments, "{bytes} bytes");
        assert_eq!(sizes.last(), Some(&(last + HEADER)), "{bytes} bytes");
        assert!(sizes[..segments - 1].iter().all(|&s| s == MSS + HEADER), "{bytes} bytes");
        assert_eq!(path.sender.acked_bytes(), bytes);
        assert_eq!(path.sender.payload(path.receiver().delivered()), bytes);
        assert_eq!(path.sender.wake(), Time::NEVER, "nothing is left to do");
    }
}

#[test]
fn no_more_than_the_receivers_window_is_outstanding() {
    let narrow = SenderConfig { max_window: 7.0, ..steady(20.0) };
    let mut path = Path::new(narrow, standard()).losing_once(&[33, 34, 60]).start();
    for t in 0..300 {
        path.run_to(at_ms(10 * t));
        let beyond = path.sent.iter().map(|s| s.packet.seq + 1).max().unwrap_or(0);
        let acked = path.sender.acked_bytes() / u64::from(MSS);
        assert!(beyond <= acked + 7, "{beyond} sent, {acked} acknowledged");
    }
    assert_eq!(path.flights(2), [7, 7]);
}

#[test]
fn a_pacing_rate_spaces_the_segments_evenly() {
    let mut path = Path::new(steady(20.0), paced(100.0)).start();
    path.run_to(at_ms(2000));
    let times: Vec<_> = path.data_between(Time::ZERO, Time::NEVER).map(|s| s.at).collect();
    // ten segments are in flight at this rate: the window of 20 never stops it
    assert_eq!(times.len(), 191);
    assert!(times.windows(2).all(|t| t[1].since(t[0]) == ms(10)));
}

#[test]
fn the_greatest_burst_does_not_slow_a_paced_sender() {
    let sent = |max_burst| {
        let mut path = Path::new(SenderConfig { max_burst, ..steady(20.0) }, paced(100.0)).start();
        path.run_to(at_ms(2000));
        path.counters().packets_sent
    };
    assert_eq!(sent(1.0), sent(f64::INFINITY));
}

#[test]
fn the_window_still_bounds_a_paced_sender() {
    let mut path = Path::new(steady(5.0), paced(100.0)).start();
    path.run_to(at_ms(2000));
    assert_eq!(path.flights(10), [5; 10]);
}

#[test]
fn a_paced_retransmission_leaves_at_once() {
    let mut path = Path::new(steady(20.0), paced(100.0)).losing_once(&[30]).start();
    path.run_to(at_ms(2000));
    // 31, 32 and 33 left 10, 20 and 30 ms after segment 30 (at 400 ms); the third is answered after a round
    // trip
    assert_eq!(path.again(), [(at_ms(530), 30)]);
}

#[test]
fn a_pacing_rate_beyond_the_tick_catches_up_once_a_tick() {
    let coarse = SenderConfig { host_tick: ms(50), ..steady(100.0) };
    let mut path = Path::new(coarse, paced(100.0)).start();
    path.run_to(at_ms(5000));
    let sent = path.data_between(at_ms(1000), at_ms(5000)).count();
    assert!((390..=410).contains(&sent), "{sent} in four seconds at 100 a second");
}

#[test]
fn a_stopped_sender_repairs_what_is_outstanding_and_sends_nothing_new() {
    let mut path = Path::new(steady(20.0), standard()).losing_once(&[95]).start();
    path.run_to(at_ms(550)); // the flight of 500 ms, which lost segment 95, is out
    path.sender.stop();
    let highest = path.sent.iter().map(|s| s.packet.seq).max();
    assert!(highest >= Some(99), "{highest:?}");
    path.run_to_end();
    assert_eq!(path.sent.iter().map(|s| s.packet.seq).max(), highest);
    assert_eq!(path.counters().retransmits, 1);
    assert_eq!(Some(path.receiver().delivered() - 1), highest);
}

#[test]
fn a_sender_that_waits_for_writes_sends_what_they_bring_also_after_everything_was_acknowledged() {
    let mut sender = Sender::new(config(), standard());
    sender.wait_for_writes();
    let mut sent = Vec::new();
    sender.start(Time::ZERO, &mut |p: SimPacket| sent.push(p.kind));
    let answer = SimPacket::new(Kind::SynAck, FlowId(0), 0, 0, Time::ZERO);
    sender.on_packet(at_ms(100), &answer, &mut |p: SimPacket| sent.push(p.kind));
    assert_eq!(sent, [Kind::Syn]);
    let mut seqs = Vec::new();
    sender.write(at_ms(200), 3, &mut |p: SimPacket| seqs.push(p.seq));
    assert_eq!(seqs, [0, 1, 2]);
    let ack = SimPacket::new(Kind::Ack, FlowId(0), 3, 0, at_ms(200));
    sender.on_packet(at_ms(300), &ack, &mut |p: SimPacket| seqs.push(p.seq));
    assert!(sender.is_done());
    assert_eq!(sender.wake(), Time::NEVER);
    sender.set_receiver_window(2);
    sender.write(at_ms(900), 4, &mut |p: SimPacket| seqs.push(p.seq));
    assert_eq!(seqs, [0, 1, 2, 3, 4], "the receiver has room for two");
    assert!(!sender.is_done());
    assert!(sender.wake() < Time::NEVER);
    let segments = sender.segments();
    assert_eq!((segments.base, segments.next, segments.lost, segments.again), (3, 5, 0, 0));
}

#[test]
fn a_sender_stopped_before_its_connection_opens_stays_silent() {
    let mut early = Path::new(config(), standard());
    early.sender.stop();
    early = early.start();
    early.run_to(at_ms(1000));
    assert!(early.sent.is_empty(), "{:?}", early.sent);
    let mut opening = Path::new(config(), standard()).start();
    opening.sender.stop();
    opening.run_to(at_ms(5000));
    assert!(opening.sent.iter().all(|s| s.packet.kind == Kind::Syn) && opening.sent.len() == 1);
    assert!(opening.sender.is_done());
}

#[test]
fn a_complete_transfer_asks_for_no_more_timers() {
    // FAST has a periodic timer of its own
    let fast = longfat_transport::cc::find("fast").expect("registered").instance(&[]).expect("defaults");
    let mut path = Path::new(SenderConfig { bytes: Some(50_000), ..config() }, fast).start();
    path.run_to_end();
    path.run_to(path.now + ms(1000));
    assert_eq!(path.sender.wake(), Time::NEVER);
}
