//! What a sender tells model-based algorithms, and that it leaves the window to them.

use super::path::{Path, RTT_MS, at_ms, config, ms};
use longfat_transport::SenderConfig;
use longfat_transport::cc::{
    Ack, Congestion, CongestionControl, Controller, Delivery, LossDetection, LostSegment, Opening,
    Properties, Repair, Window,
};
use longfat_units::{Interval, Time};
use longfat_wire::Kind;
use std::sync::{Arc, Mutex, MutexGuard};

/// Segments per second: one each millisecond, a hundred in a round trip.
const RATE_PPS: f64 = 1000.0;
const WINDOW: f64 = 200.0;

/// What the algorithm was told, with the window then.
#[derive(Default)]
struct Told {
    openings: Vec<Opening>,
    deliveries: Vec<(Delivery, f64)>,
    lost: Vec<LostSegment>,
    restarts: Vec<Time>,
    timeouts: Vec<f64>,
    recovered: Vec<f64>,
}

/// A constant window and a constant rate.
struct Listener {
    told: Arc<Mutex<Told>>,
    quantum: f64,
}

impl Listener {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().expect("no test panics while it holds this")
    }
}

impl CongestionControl for Listener {
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}
    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        w.cwnd = WINDOW;
        self.told().openings.push(*opening);
    }
    fn on_delivery(&mut self, delivery: &Delivery, w: &mut Window) {
        self.told().deliveries.push((*delivery, w.cwnd));
        w.cwnd = w.cwnd.max(4.0);
    }
    fn on_lost(&mut self, lost: &LostSegment, _: &mut Window) {
        self.told().lost.push(*lost);
    }
    fn on_restart(&mut self, now: Time, _: Option<Time>, _: &mut Window) {
        self.told().restarts.push(now);
    }
    fn on_timeout(&mut self, _: Time, w: &mut Window) {
        self.told().timeouts.push(w.cwnd);
    }
    fn on_recovered(&mut self, _: Time, w: &mut Window) {
        self.told().recovered.push(w.cwnd);
    }
    fn pacing_rate(&self, _: &Window, _: Interval) -> Option<f64> {
        Some(RATE_PPS)
    }
    fn send_quantum(&self) -> f64 {
        self.quantum
    }
}

fn listening(config: SenderConfig, quantum: f64) -> (Path, Arc<Mutex<Told>>) {
    let told = Arc::new(Mutex::new(Told::default()));
    let listener = Listener { told: told.clone(), quantum };
    (
        Path::new(
            config,
            Controller::custom(Properties { model_based: true, ..Properties::CUSTOM }, listener),
        ),
        told,
    )
}

#[test]
fn each_acknowledgement_brings_the_rate_and_the_round_trip_time_of_the_newest_segment() {
    let (path, told) = listening(config(), 1.0);
    path.start().run_to(at_ms(1_000));
    let told = told.lock().expect("nobody panicked");
    assert_eq!((told.openings[0].rtt, told.openings[0].selective), (Some(ms(RTT_MS)), true));
    assert_eq!(told.restarts, [at_ms(100)], "the first segment finds an idle path");
    // the first segment was alone in the round trip before its acknowledgement
    let (first, _) = told.deliveries[0];
    assert_eq!((first.rate, first.app_limited, first.newly_delivered), (Some(10.0), true, 1));
    for (d, _) in told.deliveries.iter().filter(|(d, _)| d.now > at_ms(310)) {
        assert!((d.rate.expect("a rate") - RATE_PPS).abs() < 1e-6, "{d:?}");
        assert_eq!((d.delivered, d.rtt, d.app_limited), (100, Some(ms(RTT_MS)), false));
        assert_eq!(d.prior_delivered, Some(d.total_delivered - 100));
        assert_eq!((d.prior_in_flight, d.in_flight, d.tx_in_flight), (100, 99, 100));
    }
}

#[test]
fn a_segment_that_was_sent_again_has_the_time_of_its_last_departure() {
    let rack = SenderConfig { loss_detection: LossDetection::Rack, ..config() };
    let (path, told) = listening(rack, 1.0);
    let mut path =
        path.losing(|s| s.packet.kind == Kind::Data && s.earlier < 2 && s.packet.seq == 150).start();
    path.run_to(at_ms(1_000));
    let departures: Vec<Time> = path
        .sent
        .iter()
        .filter(|s| s.packet.kind == Kind::Data && s.packet.seq == 150)
        .map(|s| s.at)
        .collect();
    assert_eq!(departures.len(), 3);
    let told = told.lock().expect("nobody panicked");
    assert_eq!(told.lost.iter().map(|l| l.left).collect::<Vec<_>>(), departures[..2]);
    assert!(told.deliveries.iter().any(|(d, _)| d.left == Some(departures[2]) && d.rtt.is_none()));
    assert!(told.deliveries.iter().all(|(d, _)| d.rtt.is_none_or(|rtt| d.left == Some(d.now - rtt))));
}

#[test]
fn each_lost_segment_is_told_and_the_window_is_the_algorithm_s_in_recovery_too() {
    let (path, told) = listening(config(), 1.0);
    let mut path = path.losing_once(&[150, 151, 160]).start();
    path.run_to(at_ms(1_000));
    let told = told.lock().expect("nobody panicked");
    let lost: Vec<_> = told.lost.iter().map(|l| (l.segment, l.lost, l.tx_in_flight)).collect();
    assert_eq!(lost, [(150, 1, 100), (151, 2, 100), (160, 3, 100)]);
    assert!(told.deliveries.iter().all(|(_, cwnd)| *cwnd == WINDOW));
    assert_eq!(told.recovered, [WINDOW]);
    let recovering = |d: &Delivery| d.repair == Repair::Recovery;
    assert!(told.deliveries.iter().any(|(d, _)| recovering(d)));
    assert!(!recovering(&told.deliveries.last().expect("some").0));
    assert_eq!(told.deliveries.iter().map(|(d, _)| d.newly_lost).sum::<u64>(), 3);
    // retransmissions take their turn in the pacing
    let all: Vec<Time> = path.data_between(at_ms(300), at_ms(500)).map(|s| s.at).collect();
    assert!(all.windows(2).all(|w| w[1].since(w[0]) == ms(1)), "{all:?}");
    assert_eq!(path.again().len(), 3);
}

#[test]
fn a_quantum_leaves_together_and_the_rate_stays() {
    let (path, _) = listening(config(), 5.0);
    let mut path = path.start();
    path.run_to(at_ms(1_000));
    let times: Vec<Time> = path.data_between(at_ms(500), at_ms(700)).map(|s| s.at).collect();
    assert_eq!(times.len(), 200);
    for five in times.chunks(5) {
        assert!(five.iter().all(|at| at == &five[0]), "{five:?}");
    }
    assert!(times.chunks(5).collect::<Vec<_>>().windows(2).all(|w| w[1][0].since(w[0][0]) == ms(5)));
}

#[test]
fn a_timeout_leaves_one_segment_and_the_end_of_the_data_limits_the_samples() {
    let (path, told) = listening(SenderConfig { bytes: Some(400_000), ..config() }, 1.0);
    let tail = |s: &super::path::Sent| {
        s.packet.kind == Kind::Data && s.earlier == 0 && (390..400).contains(&s.packet.seq)
    };
    let mut path = path.losing(tail).start();
    path.run_to_end();
    let told = told.lock().expect("nobody panicked");
    assert_eq!(told.timeouts, [1.0]);
    assert_eq!(told.lost.iter().map(|l| l.segment).collect::<Vec<_>>(), (390..400).collect::<Vec<_>>());
    assert!(told.deliveries.last().is_some_and(|(d, _)| d.app_limited), "there was nothing more to send");
    let limited = |d: &Delivery| d.app_limited && d.total_delivered > 10;
    let early = told.deliveries.iter().filter(|(d, _)| limited(d) && d.now < at_ms(450)).count();
    // C.app_limited is 1 from the first write until two segments are delivered, at 201 ms: 101 have left by
    // then
    assert_eq!(early, 91);
}
