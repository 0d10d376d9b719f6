//! Explicit congestion notification (RFC 3168).

use crate::path::{Path, RTT_MS, Sent, at_ms, constant, ms, standard, steady};
use longfat_transport::SenderConfig;
use longfat_transport::cc::LossDetection;
use longfat_wire::{Ecn, Kind};

fn capable(detection: LossDetection, window: f64) -> SenderConfig {
    SenderConfig { ecn: true, loss_detection: detection, ..steady(window) }
}

fn reductions_announced(path: &Path) -> Vec<&Sent> {
    path.sent.iter().filter(|s| s.packet.kind == Kind::Data && s.packet.ecn_flag).collect()
}

#[test]
fn one_mark_is_one_reduction_announced_once() {
    for detection in [LossDetection::Sack, LossDetection::NewReno, LossDetection::Reno, LossDetection::Tahoe]
    {
        let mut path = Path::new(capable(detection, 40.0), constant())
            .marking(|s| s.packet.kind == Kind::Data && s.packet.seq == 90)
            .start();
        path.run_to(at_ms(RTT_MS * 20));
        let c = path.counters();
        assert_eq!((c.congestion_events, c.retransmits, c.timeouts), (1, 0, 0), "{detection:?}");
        assert_eq!((path.cwnd(), path.ssthresh()), (20.0, 20.0), "{detection:?}");
        assert_eq!(reductions_announced(&path).len(), 1, "{detection:?}");
        // and the receiver stops echoing it
        assert!(!path.acks.last().expect("acknowledgements").1.ecn_flag, "{detection:?}");
    }
}

#[test]
fn marks_on_every_packet_reduce_once_each_round_trip() {
    // section 6.1.2: no more than once for a window of data
    let mut path = Path::new(capable(LossDetection::Sack, 256.0), constant()).marking(|_| true).start();
    let mut windows = Vec::new();
    for n in 2..10 {
        windows.push(path.run_to(at_ms(RTT_MS * n + 99)).ssthresh());
    }
    for w in windows.windows(2) {
        assert!(w[1] >= 0.5 * w[0], "{windows:?}");
    }
    let events = path.counters().congestion_events;
    assert!((4..=8).contains(&events), "{events} in eight round trips: {windows:?}");
}

#[test]
fn a_mark_and_a_loss_of_the_same_flight_are_one_reduction() {
    // section 6.1.2: the window is reduced once for all signs of congestion in a window of data, and the
    // reduction is announced regardless of its cause
    for (marked, lost) in [(85, 95), (95, 85)] {
        let mut path = Path::new(capable(LossDetection::Sack, 40.0), constant())
            .marking(move |s| s.packet.kind == Kind::Data && s.packet.seq == marked)
            .losing(move |s| s.packet.kind == Kind::Data && s.packet.seq == lost && s.earlier == 0)
            .start();
        path.run_to(at_ms(RTT_MS * 20));
        let c = path.counters();
        assert_eq!((c.congestion_events, c.retransmits), (1, 1), "mark {marked}, loss {lost}");
        assert_eq!(path.cwnd(), 20.0, "mark {marked}, loss {lost}");
        let announced = reductions_announced(&path);
        assert_eq!(announced.len(), 1, "mark {marked}, loss {lost}");
        assert_eq!(announced[0].earlier, 0, "on new data");
    }
}

#[test]
fn retransmissions_are_not_ecn_capable_and_new_data_are() {
    // section 6.1.5
    let mut path = Path::new(capable(LossDetection::Sack, 40.0), standard()).losing_once(&[85, 90]).start();
    path.run_to(at_ms(RTT_MS * 10));
    for s in path.sent.iter().filter(|s| s.packet.kind == Kind::Data) {
        let expected = if s.earlier == 0 { Ecn::Capable } else { Ecn::NotCapable };
        assert_eq!(s.packet.ecn, expected, "segment {}", s.packet.seq);
    }
    assert_eq!(path.counters().retransmits, 2);
}

#[test]
fn without_negotiation_no_packet_is_capable_and_no_echo_heeded() {
    let mut path = Path::new(steady(40.0), constant()).marking(|_| true).start();
    path.run_to(at_ms(RTT_MS * 5));
    assert!(path.sent.iter().all(|s| s.packet.ecn == Ecn::NotCapable));
    assert_eq!(path.counters().congestion_events, 0);
}

#[test]
fn a_marked_window_grows_again_after_its_reduction() {
    let mut path = Path::new(capable(LossDetection::Sack, 40.0), standard())
        .marking(|s| s.packet.kind == Kind::Data && s.packet.seq == 90)
        .start();
    path.run_until_counted(|c| c.congestion_events == 1);
    path.run_to(path.now + ms(RTT_MS * 12));
    let grown = path.cwnd() - path.ssthresh();
    assert!(
        (9.0..=11.5).contains(&grown),
        "{grown} in the ten to eleven round trips after the one of the reduction"
    );
}
