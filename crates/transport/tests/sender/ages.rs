//! Losses found by the age of segments, if the algorithm asks for it (Brakmo and Peterson, TCP Vegas, 1995).

use crate::path::{MSS, Path, RTT_MS, Sent, at_ms, constant, ms, standard, steady};
use longfat_transport::cc::LossDetection;
use longfat_transport::cc::{
    Ack, Congestion, CongestionControl, Controller, Properties, SendingTimes, Window, find,
};
use longfat_transport::{RttSamples, SenderConfig};
use longfat_units::Interval;
use longfat_wire::Kind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const ALL: [LossDetection; 3] = [LossDetection::Sack, LossDetection::NewReno, LossDetection::RenoClassic];

/// The window is constant, except that losses halve it.
struct Watchful;

impl CongestionControl for Watchful {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = 0.5 * w.cwnd;
    }
}

fn watchful() -> Controller {
    Controller::custom(
        Properties { sending_times: SendingTimes::RoundTripsAndLosses, ..Properties::CUSTOM },
        Watchful,
    )
}

fn with(detection: LossDetection) -> SenderConfig {
    SenderConfig { loss_detection: detection, ..steady(20.0) }
}

/// Segments a millisecond apart: 20 + k leaves k ms after 20, and so do all later flights.
fn spread(config: SenderConfig, controller: Controller) -> Path {
    Path::new(config, controller).delaying(|s| ms(if s.packet.seq < 20 { s.packet.seq } else { 0 }))
}

#[test]
fn the_first_duplicate_is_enough_for_a_segment_older_than_a_round_trip() {
    for detection in ALL {
        // segment 250 leaves at 1310 ms; those after it are acknowledged at 1411, 1412 and 1413 ms
        for (controller, found_ms) in [(watchful(), 1411), (constant(), 1413)] {
            let mut path = spread(with(detection), controller).losing_once(&[250]).start();
            path.run_to(at_ms(RTT_MS * 30));
            assert_eq!(path.again(), [(at_ms(found_ms), 250)], "{detection:?}");
            let c = path.counters();
            assert_eq!((c.congestion_events, c.timeouts, path.cwnd()), (1, 0, 10.0), "{detection:?}");
        }
    }
}

#[test]
fn a_loss_before_the_last_segment_needs_no_timeout() {
    for detection in ALL {
        for (controller, timeouts) in [(watchful(), 0), (constant(), 1)] {
            let finite = SenderConfig { bytes: Some(u64::from(MSS) * 252), ..with(detection) };
            let mut path = spread(finite, controller).losing_once(&[250]).start();
            path.run_to_end();
            assert_eq!(path.counters().timeouts, timeouts, "{detection:?}");
        }
    }
}

#[test]
fn the_acknowledgement_of_a_retransmission_finds_the_next_loss_without_another_reduction() {
    // Reno counts an event for each of two losses in one flight
    for (controller, events) in [(watchful(), 1), (constant(), 2)] {
        let mut path = spread(with(LossDetection::RenoClassic), controller).losing_once(&[250, 255]).start();
        path.run_to(at_ms(RTT_MS * 40));
        let c = path.counters();
        assert_eq!((c.congestion_events, c.retransmits), (events, 2));
    }
}

#[test]
fn the_second_loss_is_sent_again_as_the_first_retransmission_is_acknowledged() {
    let mut path = spread(with(LossDetection::RenoClassic), watchful()).losing_once(&[250, 255]).start();
    path.run_to(at_ms(RTT_MS * 40));
    assert_eq!(path.again(), [(at_ms(1411), 250), (at_ms(1511), 255)]);
}

#[test]
fn a_lost_retransmission_is_found_by_its_age() {
    for detection in ALL {
        let mut path = spread(with(detection), watchful())
            .losing(|s| s.packet.kind == Kind::Data && s.packet.seq == 250 && s.earlier < 2)
            .start();
        path.run_to(at_ms(RTT_MS * 40));
        let c = path.counters();
        assert_eq!((c.congestion_events, c.retransmits, c.timeouts), (1, 2, 0), "{detection:?}");
    }
}

/// Reports the greatest round-trip time that it got.
struct Greatest(Arc<AtomicU64>);

impl CongestionControl for Greatest {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = 0.5 * w.cwnd;
    }
    fn on_sample(&mut self, ack: &Ack) {
        self.0.fetch_max(ack.rtt.map_or(0, |rtt| rtt.as_ns()), Ordering::Relaxed);
    }
}

/// The greatest round-trip time from 1.1 s on, when the first flight no longer matters.
fn greatest_rtt(times: SendingTimes, path: impl FnOnce(Controller) -> Path) -> Interval {
    let greatest = Arc::new(AtomicU64::new(0));
    let properties = Properties { samples: true, sending_times: times, ..Properties::CUSTOM };
    let mut path = path(Controller::custom(properties, Greatest(greatest.clone()))).start();
    path.run_to(at_ms(RTT_MS * 11));
    greatest.store(0, Ordering::Relaxed);
    path.run_to(at_ms(RTT_MS * 40));
    Interval::from_ns(greatest.load(Ordering::Relaxed))
}

#[test]
fn sending_times_leave_out_the_wait_of_the_first_segment_of_a_pair_for_the_second() {
    // one segment a millisecond fills the path; an odd window makes pairs of segments that did not leave
    // together
    let greatest = |times| {
        let first_flight = |seq| ms(if seq < 101 { seq } else { 0 });
        greatest_rtt(times, |c| {
            Path::new(steady(101.0), c).delaying(move |s| first_flight(s.packet.seq)).delayed_acks(ms(40))
        })
    };
    assert!(greatest(SendingTimes::Unused) > ms(100));
    assert_eq!(greatest(SendingTimes::RoundTrips), ms(100));
}

#[test]
fn sending_times_of_segments_that_arrived_above_a_hole_give_no_round_trip() {
    for detection in ALL {
        for times in [SendingTimes::Unused, SendingTimes::RoundTrips] {
            let path = |c| spread(with(detection), c).losing_once(&[255, 257]);
            assert_eq!(greatest_rtt(times, path), ms(100), "{detection:?} {times:?}");
        }
    }
}

/// A round-trip time that an algorithm gets, the least so far, both in ms, and the first unacknowledged
/// segment.
type Telling = (f64, f64, u64);

struct Told(Arc<Mutex<Vec<Telling>>>);

impl CongestionControl for Told {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, w: &mut Window) {
        w.ssthresh = 0.5 * w.cwnd;
    }
    fn on_sample(&mut self, ack: &Ack) {
        let ms = |interval: Interval| interval.as_ns() as f64 / 1e6;
        if let (Some(rtt), Some(base_rtt), Ok(mut told)) = (ack.rtt, ack.base_rtt, self.0.lock()) {
            told.push((ms(rtt), ms(base_rtt), ack.unacknowledged));
        }
    }
}

/// What an algorithm gets on a path where data take 10.3 ms longer than the request and segment 250 is lost.
/// Every second segment is acknowledged; the segments of a flight are a millisecond apart.
fn told(rtt_samples: RttSamples) -> Vec<Telling> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let config = SenderConfig { rtt_samples, ..with(LossDetection::Sack) };
    let longer = |s: &Sent| {
        Interval::from_ns(10_300_000 + 1_000_000 * if s.packet.seq < 20 { s.packet.seq } else { 0 })
    };
    let mut path = Path::new(
        config,
        Controller::custom(Properties { samples: true, ..Properties::CUSTOM }, Told(kept.clone())),
    )
    .delaying(move |s| if s.packet.kind == Kind::Data { longer(s) } else { Interval::ZERO })
    .losing_once(&[250])
    .delayed_acks(ms(40))
    .start();
    path.run_to(at_ms(RTT_MS * 40));
    kept.lock().expect("nobody panicked").clone()
}

/// How often while segment 250 is missing, not counting the acknowledgement of the one before it.
fn above_the_hole(told: &[Telling]) -> usize {
    told.iter().filter(|told| told.2 == 250).count().saturating_sub(1)
}

/// From the time when the first flight, whose segments take longer and longer, no longer matters.
fn later(told: &[Telling]) -> &[Telling] {
    &told[20..]
}

#[test]
fn as_linux_an_algorithm_is_told_of_the_last_segment_and_of_selective_acknowledgements_and_not_of_the_request()
 {
    let all = told(RttSamples::Last);
    let clean: Vec<_> = later(&all).iter().filter(|told| told.0.fract() != 0.0).collect();
    // with an odd window the last segment of a flight waits alone
    assert!(clean.len() > 150 && clean.iter().all(|told| [110.3, 150.3].contains(&told.0)), "{clean:?}");
    // the segments above the hole, one by one, before the retransmission by the clock of timestamps
    let repaired = all.iter().rposition(|told| told.0.fract() == 0.0).expect("a retransmission");
    assert!([110.0, 111.0].contains(&all[repaired].0), "{:?}", all[repaired]);
    assert!(all[..repaired].iter().all(|told| told.1 >= 110.3), "the request took 100 ms");
    assert!(above_the_hole(&all) > 5, "selective acknowledgements tell nothing");
}

#[test]
fn as_quic_an_algorithm_is_told_of_the_exact_time_of_a_segment_that_was_sent_twice() {
    let (all, linux) = (told(RttSamples::Numbered), told(RttSamples::Last));
    assert_eq!(all.len(), linux.len());
    let repaired = linux.iter().rposition(|told| told.0.fract() == 0.0).expect("a retransmission");
    assert!((all[repaired].0 - 110.3).abs() < 1e-9, "{:?}", all[repaired]);
    assert!(all.iter().all(|told| told.1 >= 110.3), "no time is shorter than the path");
    assert!(above_the_hole(&all) > 5, "selective acknowledgements tell nothing");
}

#[test]
fn by_timestamps_the_request_gives_the_least_and_a_delayed_acknowledgement_a_longer_one() {
    let all = told(RttSamples::Echoed);
    assert!(later(&all).len() > 150 && all.iter().all(|told| told.1 == 100.0), "{:?}", &all[..40]);
    assert!(later(&all).iter().any(|told| told.0 > 110.5), "{:?}", later(&all));
    assert_eq!(above_the_hole(&all), 0);
}

#[test]
fn nothing_is_sent_again_on_a_path_without_loss_whose_delay_varies() {
    for detection in ALL {
        let mut path = Path::new(with(detection), watchful()).delaying(|s| ms(s.packet.seq * 7 % 40)).start();
        path.run_to(at_ms(RTT_MS * 100));
        assert_eq!(path.again(), [], "{detection:?}");
    }
}

#[test]
fn every_pattern_of_losses_in_a_flight_is_repaired() {
    for detection in ALL {
        for pattern in 0u32..256 {
            let finite = SenderConfig {
                bytes: Some(40_000),
                ..SenderConfig { loss_detection: detection, ..steady(8.0) }
            };
            let mut path = Path::new(finite, watchful())
                .delaying(|s| ms(s.packet.seq % 8))
                .losing(move |s| {
                    let (seq, first) = (s.packet.seq, s.earlier == 0);
                    s.packet.kind == Kind::Data
                        && first
                        && (16..24).contains(&seq)
                        && pattern >> (seq - 16) & 1 == 1
                })
                .start();
            path.run_to_end();
            assert!(path.now < at_ms(20_000), "{detection:?} {pattern:08b}: {:?}", path.now);
        }
    }
}

#[test]
fn vegas_asks_for_it_and_standard_tcp_does_not() {
    let vegas = || find("vegas").and_then(|row| row.instance(&[]).ok());
    for (controller, found_ms) in [(vegas(), 1), (Some(standard()), 3)] {
        let Some(controller) = controller else { panic!("not registered") };
        let mut path = spread(with(LossDetection::Sack), controller).losing_once(&[250]).start();
        path.run_until_counted(|c| c.retransmits == 1);
        let lost = path.sent.iter().find(|s| s.packet.seq == 250 && s.packet.kind == Kind::Data);
        let (again, lost) = (path.again()[0].0, lost.map(|s| s.at));
        assert_eq!(lost.map(|at| again.since(at)), Some(ms(RTT_MS + found_ms)));
    }
}
