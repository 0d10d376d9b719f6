use super::super::testing::{congestion, instance, loss, window};
use super::*;

fn at_ms(x: u64) -> Time {
    Time::ZERO + Interval::from_millis(x)
}

const RTT: Interval = Interval::from_millis(100);

/// A flow whose handshake took 100 ms.
fn opened() -> (Boxed, Window) {
    let (mut bbr, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
    bbr.on_start(1448, 1);
    bbr.on_open(&Opening { now: at_ms(100), rtt: Some(RTT), selective: true }, &mut w);
    (bbr, w)
}

/// A path that delivers what was sent a round trip ago, at `rate_pps`, in one acknowledgement.
struct Rounds {
    bbr: Boxed,
    w: Window,
    now: Time,
    delivered: u64,
    prior: u64,
}

impl Rounds {
    fn new() -> Self {
        let (bbr, w) = opened();
        Rounds { bbr, w, now: at_ms(100), delivered: 0, prior: 0 }
    }

    /// What the acknowledgement at the end of a round trip of `rtt` says, which delivers `newly` segments.
    fn delivery(&mut self, rate_pps: f64, newly: u64, rtt: Interval, in_flight: u64) -> Delivery {
        self.now += rtt;
        let prior = core::mem::replace(&mut self.prior, self.delivered);
        self.delivered += newly;
        Delivery {
            now: self.now,
            rate: Some(rate_pps),
            delivered: self.delivered - prior,
            prior_delivered: Some(self.prior),
            app_limited: false,
            tx_in_flight: in_flight,
            lost: 0,
            rtt: Some(rtt),
            left: Some(self.now - rtt),
            newly_delivered: newly,
            newly_lost: 0,
            total_delivered: self.delivered,
            total_lost: 0,
            prior_in_flight: in_flight + newly,
            in_flight,
            srtt: rtt,
            next_departure: self.now,
            window_limited: true,
            may_grow: true,
            source_limited: false,
            repair: Repair::None,
        }
    }

    fn round(&mut self, rate_pps: f64, newly: u64, in_flight: u64) {
        let delivery = self.delivery(rate_pps, newly, RTT, in_flight);
        self.bbr.on_delivery(&delivery, &mut self.w);
    }

    /// Fills a path of 1000 segments a second and drains its queue.
    fn filled() -> Self {
        let mut path = Rounds::new();
        (0..5).for_each(|_| path.round(1000.0, 100, 200));
        path
    }
}

#[test]
fn the_first_rate_sends_the_window_in_a_round_trip_with_the_gain_of_startup() {
    let (bbr, w) = opened();
    let expected = 739.0 / 256.0 * 0.99 * 10.0 / 0.1;
    assert!((bbr.pacing_rate(&w, RTT).unwrap() - expected).abs() < 1e-9);
    assert_eq!(HIGH_GAIN, 2.88671875, "2/ln 2 is 2.8854");
}

#[test]
fn a_quantum_is_a_millisecond_of_data_but_two_segments_and_one_at_slow_rates() {
    let at_mbps = |mbps: f64| quantum(mbps * 1e6 / 8.0 / 1448.0, 1448.0);
    // 12.5 MB/s / 1024 = 12207 bytes = 8.4 segments; 64 KiB are 45
    assert_eq!([1.0, 1.2, 10.0, 100.0, 1000.0].map(at_mbps), [1.0, 2.0, 2.0, 8.0, 45.0]);
}

#[test]
fn three_round_trips_without_a_quarter_more_bandwidth_end_startup() {
    let mut path = Rounds::new();
    for rate in [100.0, 200.0, 400.0, 800.0] {
        path.round(rate, (rate / 10.0) as u64, 500);
        assert_eq!(path.bbr.mode, Mode::Startup);
    }
    path.round(900.0, 90, 500);
    path.round(999.0, 90, 500);
    assert!(!path.bbr.full_bw_reached);
    path.round(999.0, 90, 500);
    assert_eq!(path.bbr.mode, Mode::Drain);
    assert_eq!(path.bbr.pacing_rate, 999.0 * 0.99 * 88.0 / 256.0);
    // BDP 99.9, rounded up, and three quanta of two segments
    assert_eq!(path.w.ssthresh, 106.0);
    path.round(999.0, 90, 107);
    assert_eq!(path.bbr.mode, Mode::Drain);
    path.round(999.0, 90, 106);
    assert_eq!(path.bbr.mode, Mode::ProbeBw);
}

#[test]
fn what_the_application_limits_ends_no_startup_and_lowers_no_bandwidth() {
    let mut path = Rounds::new();
    path.round(1000.0, 100, 50);
    for _ in 0..8 {
        let limited = Delivery { app_limited: true, ..path.delivery(100.0, 10, RTT, 5) };
        path.bbr.on_delivery(&limited, &mut path.w);
    }
    assert_eq!((path.bbr.mode, path.bbr.bw()), (Mode::Startup, 1000.0));
}

#[test]
fn the_cycle_probes_drains_and_cruises_for_six_round_trips() {
    let mut path = Rounds::filled();
    path.round(1000.0, 100, 100);
    assert_eq!(path.bbr.mode, Mode::ProbeBw);
    assert_ne!(path.bbr.cycle_index, 1, "it may begin with any phase but the one that drains");
    while path.bbr.cycle_index != 0 {
        path.now += Interval::from_millis(1); // a phase lasts more than a min_rtt
        path.round(1000.0, 100, 100);
    }
    let mut gains = Vec::new();
    for _ in 0..9 {
        gains.push(path.bbr.pacing_gain);
        path.now += Interval::from_millis(1);
        path.round(1000.0, 100, 140);
    }
    assert_eq!(gains, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
}

#[test]
fn the_target_is_twice_the_bdp_and_three_quanta() {
    let mut path = Rounds::filled();
    (0..20).for_each(|_| path.round(1000.0, 100, 100));
    // 2 x 100 + 3 x 2, and 2 where it probes; one acknowledgement of 100 segments a round trip is no more
    // than expected, but begins an epoch with 100 segments that came at once
    let probing = if path.bbr.cycle_index == 0 { 2.0 } else { 0.0 };
    assert_eq!(path.bbr.aggregation.extra(), 100.0);
    assert_eq!(path.w.cwnd, 200.0 + 100.0 + 6.0 + probing);
}

#[test]
fn min_rtt_expires_after_ten_seconds_and_the_window_is_four_segments_for_200_ms_and_a_round_trip() {
    let mut path = Rounds::filled();
    path.round(1000.0, 100, 100);
    let before = path.w.cwnd;
    let later = Interval::from_millis(105);
    while path.bbr.mode != Mode::ProbeRtt {
        let delivery = path.delivery(1000.0, 100, later, 100);
        path.bbr.on_delivery(&delivery, &mut path.w);
    }
    // the last sample of 100 ms came at 700 ms
    assert!(path.now > at_ms(10_700) && path.now <= at_ms(10_805), "{:?}", path.now);
    assert_eq!(path.w.cwnd, 4.0);
    assert!(path.bbr.holds_back());
    let began = path.now;
    while path.bbr.mode == Mode::ProbeRtt {
        path.round(1000.0, 4, 4);
        assert!(path.w.cwnd == 4.0 || path.bbr.mode != Mode::ProbeRtt);
    }
    // it waits for four in flight, then for more than 200 ms
    assert_eq!(path.now.since(began), Interval::from_millis(400));
    assert!(path.w.cwnd >= before - 2.0, "{} after {before}, perhaps of another phase", path.w.cwnd);
    assert_eq!(path.bbr.min_rtt, RTT);
}

#[test]
fn recovery_conserves_packets_for_a_round_trip_and_restores_the_window() {
    let mut path = Rounds::filled();
    (0..3).for_each(|_| path.round(1000.0, 100, 100));
    let before = path.w.cwnd;
    path.bbr.on_congestion(&loss(), &mut path.w);
    // the acknowledgement that begins recovery leaves 90 in flight and delivered 2
    let prior = path.prior;
    let first = path.delivery(1000.0, 2, Interval::from_millis(1), 90);
    let first = Delivery { prior_delivered: Some(prior), repair: Repair::Recovery, newly_lost: 5, ..first };
    path.bbr.on_delivery(&first, &mut path.w);
    assert_eq!(path.w.cwnd, 92.0);
    // a round trip later the window grows again; the end of recovery restores it
    let second = Delivery { repair: Repair::Recovery, ..path.delivery(1000.0, 3, RTT, 90) };
    path.bbr.on_delivery(&second, &mut path.w);
    assert_eq!(path.w.cwnd, 95.0);
    let last = path.delivery(1000.0, 1, Interval::from_millis(1), 90);
    path.bbr.on_delivery(&last, &mut path.w);
    assert!(path.w.cwnd >= before.min(path.bbr.inflight(2.0)), "{} after {before}", path.w.cwnd);
}

#[test]
fn a_timeout_takes_the_window_but_no_bandwidth_and_its_end_restores_it() {
    let mut path = Rounds::filled();
    (0..3).for_each(|_| path.round(1000.0, 100, 100));
    path.bbr.on_congestion(&congestion(Cause::Timeout), &mut path.w);
    let before = path.w.cwnd;
    path.w.cwnd = 1.0; // the sender
    path.bbr.on_timeout(path.now, &mut path.w);
    let repairing = Delivery { repair: Repair::Timeout, ..path.delivery(10.0, 1, RTT, 0) };
    path.bbr.on_delivery(&repairing, &mut path.w);
    assert_eq!((path.w.cwnd, path.bbr.bw()), (4.0, 1000.0));
    let repaired = path.delivery(10.0, 1, RTT, 0);
    path.bbr.on_delivery(&repaired, &mut path.w);
    assert_eq!(path.w.cwnd, before);
}

#[test]
fn a_mark_changes_nothing() {
    let mut path = Rounds::filled();
    let before = path.w;
    path.bbr.on_congestion(&congestion(Cause::Mark), &mut path.w);
    assert_eq!(path.w, before);
}
