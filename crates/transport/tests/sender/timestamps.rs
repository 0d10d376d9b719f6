//! Connections without timestamps (RFC 7323), and the rules of the retransmission timer that stacks of
//! earlier years had.

use crate::path::{HEADER, MSS, Path, RTT_MS, Sent, at_ms, config, constant, ms, standard, steady};
use longfat_transport::cc::{
    Ack, Congestion, CongestionControl, Controller, LossDetection, Properties, Window, find,
};
use longfat_transport::{BackoffUntil, RtoConfig, RtoMinOf, RttSamples, SenderConfig};
use longfat_units::{Interval, Time};
use longfat_wire::Kind;
use std::sync::{Arc, Mutex};

const ALL: [LossDetection; 4] =
    [LossDetection::Sack, LossDetection::NewReno, LossDetection::RenoClassic, LossDetection::Tahoe];

fn plain(config: SenderConfig) -> SenderConfig {
    SenderConfig { timestamps: false, ..config }
}

/// Leaves the window alone and keeps when it was told which round-trip time.
struct Told(Arc<Mutex<Vec<(Time, Interval)>>>);

impl CongestionControl for Told {
    fn on_ack(&mut self, ack: &Ack, _: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.0.lock().expect("nobody panicked").push((ack.now, rtt));
        }
    }
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = w.cwnd;
    }
}

/// Every round-trip time that an algorithm was told of within `for_ms`.
fn told(config: SenderConfig, for_ms: u64, path: impl FnOnce(Path) -> Path) -> Vec<(Time, Interval)> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let controller = Controller::custom(Properties::CUSTOM, Told(kept.clone()));
    path(Path::new(config, controller)).start().run_to(at_ms(for_ms));
    kept.lock().expect("nobody panicked").clone()
}

/// Data packets take a millisecond longer, one after the other.
fn spread(s: &Sent) -> Interval {
    if s.packet.kind == Kind::Data { ms(s.packet.seq % 20) } else { Interval::ZERO }
}

#[test]
fn without_timestamps_an_algorithm_gets_one_round_trip_time_per_round_trip() {
    let every = told(steady(20.0), RTT_MS * 30, |path| path.delaying(spread));
    let one = told(plain(steady(20.0)), RTT_MS * 30, |path| path.delaying(spread));
    assert!(every.len() > 450, "{}", every.len());
    // a segment is timed, and the next one is the first that its acknowledgement lets go
    assert!((25..=29).contains(&one.len()), "{}", one.len());
    for pair in one.windows(2) {
        assert!(pair[1].0.since(pair[0].0) >= pair[1].1, "timed at once: {pair:?}");
    }
    assert!(one.iter().all(|told| (ms(100)..=ms(119)).contains(&told.1)), "{one:?}");
}

#[test]
fn without_timestamps_segments_that_were_sent_twice_give_no_round_trip_time() {
    // Karn: it is not known which of the two the acknowledgement answers
    for detection in ALL {
        let config = SenderConfig { loss_detection: detection, ..plain(steady(20.0)) };
        // each segment of a flight is lost in turn; the retransmission takes 60 ms less than the original
        for lost in 100..120 {
            let told = told(config.clone(), RTT_MS * 40, |path| {
                path.losing(move |s| s.packet.kind == Kind::Data && s.packet.seq == lost && s.earlier == 0)
            });
            assert!(told.len() > 20, "{detection:?} {lost} {told:?}");
            // without a queue an exact sample is the round trip, but a segment sent while a hole is open
            // waits for the repair
            assert!(told.iter().all(|told| told.1 >= ms(RTT_MS)), "{detection:?} {lost} {told:?}");
        }
    }
}

#[test]
fn without_timestamps_the_backoff_lasts_until_a_segment_that_was_sent_once_is_acknowledged() {
    let silent = |s: &Sent| (at_ms(450)..at_ms(3000)).contains(&s.at);
    let rto = |config: SenderConfig| {
        let mut path = Path::new(config, constant()).losing(silent).start();
        path.run_to(at_ms(3000));
        let backed_off = path.sender.rtt().is_backed_off();
        let acknowledged = path.sender.acked_bytes();
        while path.sender.acked_bytes() == acknowledged {
            path.run_to(path.now + ms(10));
        }
        (backed_off, path.sender.rtt().is_backed_off())
    };
    assert_eq!(rto(steady(40.0)), (true, false));
    assert_eq!(rto(plain(steady(40.0))), (true, true), "only retransmissions were acknowledged");
}

#[test]
fn with_timestamps_the_backoff_may_last_until_a_new_segment_is_acknowledged() {
    let silent = |s: &Sent| (at_ms(450)..at_ms(3000)).contains(&s.at);
    let rto = RtoConfig { backoff_until: BackoffUntil::NewSegment, ..config().rto };
    for detection in ALL {
        let config = SenderConfig { rto, loss_detection: detection, ..steady(40.0) };
        let mut path = Path::new(config, standard()).losing(silent).start();
        path.run_to(at_ms(3000));
        let (sent, srtt) = (path.sent.iter().map(|s| s.packet.seq).max(), path.sender.rtt().srtt());
        let new = 1000 * (sent.expect("it sent") + 1);
        let mut held = 0;
        while path.sender.acked_bytes() <= new {
            assert!(path.sender.rtt().is_backed_off(), "{detection:?} {held}");
            held += usize::from(path.sender.acked_bytes() < new);
            path.run_one_event();
        }
        assert!(held > 40 && !path.sender.rtt().is_backed_off(), "{detection:?} {held}");
        assert!(path.sender.rtt().srtt().as_ns().abs_diff(srtt.as_ns()) < 1_000_000, "samples count");
    }
}

#[test]
fn with_timestamps_a_request_that_was_sent_twice_may_leave_the_backoff_until_data_are_acknowledged() {
    for (backoff_until, after) in [(BackoffUntil::Sample, false), (BackoffUntil::NewSegment, true)] {
        let rto = RtoConfig { backoff_until, ..config().rto };
        let lost = |s: &Sent| s.packet.kind == Kind::Syn && s.earlier == 0;
        let mut path = Path::new(SenderConfig { rto, ..config() }, standard()).losing(lost).start();
        path.run_to(at_ms(1000 + RTT_MS));
        assert_eq!((path.sender.rtt().srtt(), path.sender.rtt().is_backed_off()), (ms(RTT_MS), after));
        path.run_to(at_ms(1000 + 2 * RTT_MS));
        assert!(!path.sender.rtt().is_backed_off());
    }
}

#[test]
fn without_timestamps_a_request_that_was_sent_twice_gives_no_sample() {
    let lost = |s: &Sent| s.packet.kind == Kind::Syn && s.earlier == 0;
    for (config, srtt) in [(config(), ms(RTT_MS)), (plain(config()), Interval::ZERO)] {
        let mut path = Path::new(config, standard()).losing(lost).start();
        path.run_to(at_ms(1000 + RTT_MS));
        assert_eq!(path.sender.rtt().srtt(), srtt);
        path.run_to(at_ms(1000 + 2 * RTT_MS));
        assert_eq!(path.sender.rtt().srtt(), ms(RTT_MS));
    }
}

#[test]
fn without_timestamps_a_spurious_timeout_is_not_undone() {
    for detection in ALL {
        let spike = |s: &Sent| {
            let slow = s.packet.kind == Kind::Data && (at_ms(950)..at_ms(1050)).contains(&s.at);
            if slow { ms(700) } else { Interval::ZERO }
        };
        let config = SenderConfig { loss_detection: detection, ..plain(steady(30.0)) };
        let mut path = Path::new(config, constant()).delaying(spike).start();
        path.run_to(at_ms(3000));
        let c = path.counters();
        assert_eq!((c.timeouts, c.undone), (1, 0), "{detection:?}");
        assert_eq!(path.ssthresh(), 15.0, "{detection:?}");
    }
}

#[test]
fn an_algorithm_that_keeps_sending_times_has_a_round_trip_time_for_every_acknowledgement() {
    for (rtt_samples, name) in [(RttSamples::Echoed, "vegas"), (RttSamples::Last, "reno")] {
        let counts = [true, false].map(|timestamps| {
            let controller = find(name).and_then(|row| row.instance(&[]).ok()).expect("registered");
            let config = SenderConfig { timestamps, rtt_samples, max_window: 20.0, ..steady(10.0) };
            let mut path = Path::new(config, controller).start();
            path.run_to(at_ms(RTT_MS * 50));
            path.counters()
        });
        assert_eq!(counts[0], counts[1], "{name}");
    }
}

#[test]
fn packets_without_timestamps_are_shorter() {
    for (timestamps, syn, ack) in [(true, 60, 52), (false, 52, 40)] {
        let mut path = Path::new(SenderConfig { timestamps, ..steady(10.0) }, constant()).start();
        path.run_to(at_ms(500));
        assert_eq!(u32::from(path.sent[0].packet.bytes), syn, "the request");
        assert_eq!(u32::from(path.acks[0].1.bytes), syn, "its answer");
        assert!(path.acks[1..].iter().all(|(_, a)| u32::from(a.bytes) == ack), "acknowledgements");
        let data = path.data_between(Time::ZERO, Time::NEVER).map(|s| u32::from(s.packet.bytes));
        assert!(
            data.eq(std::iter::repeat_n(MSS + HEADER, path.data_between(Time::ZERO, Time::NEVER).count()))
        );
    }
}

#[test]
fn the_request_is_sent_again_after_the_initial_timeout() {
    let rto = RtoConfig { initial: ms(3000), ..config().rto };
    let lost = |s: &Sent| s.packet.kind == Kind::Syn && s.earlier < 2;
    let mut path = Path::new(SenderConfig { rto, ..config() }, standard()).losing(lost).start();
    path.run_to(at_ms(10_000));
    let requests: Vec<_> = path.sent.iter().filter(|s| s.packet.kind == Kind::Syn).map(|s| s.at).collect();
    assert_eq!(requests, [0, 3000, 9000].map(at_ms));
}

#[test]
fn a_timeout_comes_after_whole_ticks_and_its_floor_bounds_the_whole() {
    // a steady round trip of 100 ms is 2 ticks of 50 ms, and RTTVAR falls to 3/4 of a tick: 2 + 4 3/4
    let coarse = RtoConfig { tick: ms(50), ..RtoConfig::with_min(Interval::ZERO) };
    let least = RtoConfig { min_of: RtoMinOf::Timeout, min: ms(400), ..coarse };
    for (rto, waits) in [(coarse, ms(250)), (least, ms(400))] {
        let config = SenderConfig { rto, ..steady(20.0) };
        let silent = |s: &Sent| s.at >= at_ms(1950);
        let mut path = Path::new(config, constant()).losing(silent).start();
        path.run_until_counted(|c| c.timeouts == 1);
        assert_eq!(path.now.since(at_ms(2000)), waits);
    }
}
