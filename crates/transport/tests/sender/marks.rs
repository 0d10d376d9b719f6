//! Explicit congestion notification (RFC 3168), and feedback beyond it.

use crate::path::{Path, RTT_MS, Sent, at_ms, constant, ms, standard, steady};
use longfat_transport::cc::{
    Ack, Cause, Congestion, CongestionControl, Controller, LossDetection, MarkSample, Properties, Window,
    find,
};
use longfat_transport::{Capable, Codepoints, Feedback, Recovery, SenderConfig};
use longfat_wire::{Ecn, Kind};
use std::sync::{Arc, Mutex};

fn capable(detection: LossDetection, window: f64) -> SenderConfig {
    SenderConfig { ecn: true, loss_detection: detection, ..steady(window) }
}

fn reductions_announced(path: &Path) -> Vec<&Sent> {
    path.sent.iter().filter(|s| s.packet.kind == Kind::Data && s.packet.ecn_flag).collect()
}

#[test]
fn one_mark_is_one_reduction_announced_once() {
    for detection in
        [LossDetection::Sack, LossDetection::NewReno, LossDetection::RenoClassic, LossDetection::Tahoe]
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

/// A sender with the feedback of DCTCP or with counters.
fn told(feedback: Feedback, window: f64) -> SenderConfig {
    SenderConfig { feedback, ..capable(LossDetection::Sack, window) }
}

/// Keeps what its sender tells of marks, and halves on congestion.
#[derive(Default)]
struct Listener {
    samples: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl CongestionControl for Listener {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = if event.cause == Cause::Mark { 0.9 } else { 0.5 } * w.cwnd;
    }
    fn on_marks(&mut self, sample: &MarkSample, _: &mut Window) {
        self.samples.lock().expect("one thread").push((sample.delivered, sample.marked));
    }
}

/// Delivered and marked segments in all.
fn sums(samples: &Mutex<Vec<(u64, u64)>>) -> (u64, u64) {
    samples.lock().expect("one thread").iter().fold((0, 0), |(a, b), (d, m)| (a + d, b + m))
}

#[test]
fn each_feedback_counts_every_mark_whether_acknowledgements_are_delayed_or_lost() {
    for (feedback, delayed, loses_acks) in [
        (Feedback::Dctcp, false, false),
        (Feedback::Accurate, false, false),
        (Feedback::Accurate, true, false),
        (Feedback::Accurate, true, true),
    ] {
        let listener = Listener::default();
        let samples = listener.samples.clone();
        let config = SenderConfig { bytes: Some(900_000), ..told(feedback, 20.0) };
        let mut n = 0;
        let mut path = Path::new(config, Controller::custom(Properties::CUSTOM, listener))
            .marking(|s| s.packet.kind == Kind::Data && s.packet.seq % 5 < 2)
            .losing_acks(move |_, p| {
                n += 1;
                loses_acks && p.kind == Kind::Ack && n % 3 == 0
            });
        if delayed {
            path = path.delayed_acks(ms(40));
        }
        path.start().run_to_end();
        let found = sums(&samples);
        let context = format!("{feedback:?} {delayed} {loses_acks}: {found:?}");
        assert_eq!(found.0, 900, "{context}");
        assert!((358..=360).contains(&found.1), "{context}: the last acknowledgements may be lost");
    }
}

#[test]
fn dctcps_echo_with_delayed_acknowledgements_is_right_on_average() {
    // the acknowledgement of a change may cover one segment of the other state, at the beginning of a run of
    // marks and at its end alike
    let listener = Listener::default();
    let samples = listener.samples.clone();
    let config = SenderConfig { bytes: Some(900_000), ..told(Feedback::Dctcp, 20.0) };
    Path::new(config, Controller::custom(Properties::CUSTOM, listener))
        .marking(|s| s.packet.kind == Kind::Data && s.packet.seq % 9 < 4)
        .delayed_acks(ms(40))
        .start()
        .run_to_end();
    let (delivered, marked) = sums(&samples);
    assert_eq!(delivered, 900);
    assert!((350..=450).contains(&marked), "{marked} of 400");
}

#[test]
fn marks_reduce_once_a_round_trip_with_each_feedback() {
    for feedback in [Feedback::Dctcp, Feedback::Accurate] {
        let mut path = Path::new(told(feedback, 256.0), constant()).marking(|_| true).start();
        path.run_to(at_ms(RTT_MS * 10));
        let events = path.counters().congestion_events;
        assert!((4..=9).contains(&events), "{feedback:?}: {events} in nine round trips");
        assert!(path.sent.iter().all(|s| s.packet.ecn != Ecn::NotCapable || s.packet.kind != Kind::Data));
    }
}

#[test]
fn a_loss_after_a_mark_in_the_same_flight_is_a_reduction_of_its_own() {
    // RFC 8257, section 3.5: losses are answered as by standard TCP, also where the mark took only a tenth
    for feedback in [Feedback::Dctcp, Feedback::Accurate] {
        let mut path =
            Path::new(told(feedback, 40.0), Controller::custom(Properties::CUSTOM, Listener::default()))
                .marking(|s| s.packet.kind == Kind::Data && s.packet.seq == 85)
                .losing(|s| s.packet.kind == Kind::Data && s.packet.seq == 95 && s.earlier == 0)
                .start();
        path.run_to(at_ms(RTT_MS * 20));
        assert_eq!(path.counters().congestion_events, 2, "{feedback:?}");
        assert!(path.cwnd() <= 20.0, "{feedback:?}: {}", path.cwnd());
    }
}

#[test]
fn each_packet_of_a_connection_carries_the_codepoint_of_its_kind() {
    let (no, one) = (Ecn::NotCapable, Ecn::Ect1);
    for (capable, [handshake, again, ack]) in [
        (Capable::NewData, [no, no, no]),
        (Capable::Established, [no, one, one]),
        (Capable::All, [one, one, one]),
    ] {
        let codepoints = Codepoints { ect: one, capable };
        let config = SenderConfig { codepoints, ..told(Feedback::Accurate, 20.0) };
        let mut path = Path::new(config, constant()).losing_once(&[45]).start();
        path.run_to(at_ms(RTT_MS * 6));
        for s in &path.sent {
            let expected = match (s.packet.kind, s.earlier) {
                (Kind::Syn, _) => handshake,
                (_, 0) => one,
                _ => again,
            };
            assert_eq!(s.packet.ecn, expected, "{capable:?} {:?} {}", s.packet.kind, s.packet.seq);
        }
        for (_, answer) in &path.acks {
            let expected = if answer.kind == Kind::SynAck { handshake } else { ack };
            assert_eq!(answer.ecn, expected, "{capable:?} {:?} {}", answer.kind, answer.seq);
        }
        assert_eq!(path.counters().retransmits, 1);
    }
}

#[test]
fn a_reduction_by_marks_leaves_two_segments_in_flight_so_that_no_delayed_acknowledgement_is_waited_for() {
    for recovery in [Recovery::RateHalving, Recovery::RateHalvingToHalf, Recovery::Prr, Recovery::Prr9937] {
        for feedback in [Feedback::Classic, Feedback::Dctcp] {
            let config = SenderConfig { recovery, ..told(feedback, 4.0) };
            let mut path = Path::new(config, constant()).marking(|_| true).delayed_acks(ms(40)).start();
            path.run_to(at_ms(RTT_MS * 10));
            for t in 0..4000 {
                let cwnd = path.run_to(at_ms(RTT_MS * 10 + t)).cwnd();
                assert!(cwnd >= 2.0, "{recovery:?} {feedback:?}: {cwnd} at {t} ms");
            }
        }
    }
}

#[test]
fn abe_leaves_more_after_a_mark_than_after_a_loss_where_rfc_8511_has_a_factor() {
    // section 3: 0.8 of the window with standard TCP; section 3.1: 0.85 with CUBIC; losses keep 0.5 and 0.7
    for (name, after_mark, after_loss) in [("reno", 32.0, 20.0), ("cubic", 34.0, 28.0), ("hstcp", 20.0, 20.0)]
    {
        let reduced = |abe, mark| {
            let controller = find(name).expect("registered").instance(&[]).expect("no parameters");
            let config = SenderConfig { abe, ..capable(LossDetection::Sack, 40.0) };
            let hit = move |s: &Sent| s.packet.kind == Kind::Data && s.packet.seq == 45 && s.earlier == 0;
            let mut path = Path::new(config, controller);
            path = if mark { path.marking(hit) } else { path.losing(hit) };
            path = path.start();
            path.run_until_counted(|c| c.congestion_events == 1);
            path.ssthresh()
        };
        let most = 42.0; // the window grows by one segment or two until then
        for (abe, mark, left) in
            [(true, true, after_mark), (true, false, after_loss), (false, true, after_loss)]
        {
            let found = reduced(abe, mark);
            let context = format!("{name}, abe {abe}, mark {mark}: {found}");
            assert!((left..=left / 40.0 * most).contains(&found), "{context}");
        }
    }
}
