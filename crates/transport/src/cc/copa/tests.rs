use super::super::congestion_control::Repair;
use super::super::testing::{window, with_numbers};
use super::*;

fn ms(x: u64) -> Interval {
    Interval::from_millis(x)
}

fn at_ms(x: u64) -> Time {
    Time::ZERO + ms(x)
}

fn delays(standing: u64, least: u64, greatest: u64) -> Delays {
    Delays { standing: ms(standing), least: ms(least), greatest: ms(greatest) }
}

/// An acknowledgement of one segment.
fn delivery(now: Time, rtt: Interval, srtt: Interval, total_delivered: u64, prior: u64) -> Delivery {
    Delivery {
        now,
        rate: None,
        delivered: total_delivered - prior,
        prior_delivered: Some(prior),
        app_limited: false,
        tx_in_flight: 1,
        lost: 0,
        rtt: Some(rtt),
        left: Some(now - rtt),
        newly_delivered: 1,
        newly_lost: 0,
        total_delivered,
        total_lost: 0,
        prior_in_flight: 1,
        in_flight: 1,
        srtt,
        next_departure: now,
        window_limited: true,
        may_grow: true,
        source_limited: false,
        repair: Repair::None,
    }
}

/// A packet in flight: when it left, when its acknowledgement arrives, and what had been delivered when it
/// left.
struct Packet {
    left: Time,
    acknowledged: Time,
    prior: u64,
}

/// Flows with the same propagation delay on one queue without a limit.
struct Path {
    flows: Vec<(Boxed, Window, VecDeque<Packet>, u64, Interval)>,
    service: Interval,
    propagation: Interval,
    free_at: Time,
}

impl Path {
    fn new(deltas: &[f64], packets_per_s: f64, propagation: Interval) -> Self {
        let mut path = Path {
            flows: Vec::new(),
            service: Interval::from_secs_f64(1.0 / packets_per_s),
            propagation,
            free_at: Time::ZERO,
        };
        for &delta in deltas {
            let mut w = window(10.0, f64::INFINITY);
            let mut copa = with_numbers(&ROW, &[("delta", delta)]);
            copa.on_open(&Opening { now: Time::ZERO, rtt: Some(propagation), selective: true }, &mut w);
            path.flows.push((copa, w, VecDeque::new(), 0, propagation));
        }
        (0..deltas.len()).for_each(|i| path.send(i, Time::ZERO));
        path
    }

    fn send(&mut self, i: usize, now: Time) {
        let (_, w, packets, delivered, _) = &mut self.flows[i];
        while packets.len() < w.cwnd as usize {
            self.free_at = self.free_at.max(now) + self.service;
            let acknowledged = self.free_at + self.propagation;
            packets.push_back(Packet { left: now, acknowledged, prior: *delivered });
        }
    }

    /// Handles the next acknowledgement. Returns the time and the packets in the queue.
    fn step(&mut self) -> (Time, f64) {
        let next = |i: usize| self.flows[i].2.front().expect("in flight").acknowledged;
        let i = (0..self.flows.len()).min_by_key(|&i| next(i)).expect("a flow");
        let (copa, w, packets, delivered, srtt) = &mut self.flows[i];
        let packet = packets.pop_front().expect("in flight");
        let (now, rtt) = (packet.acknowledged, packet.acknowledged.since(packet.left));
        *srtt = srtt.scale(7.0 / 8.0) + rtt.scale(1.0 / 8.0);
        *delivered += 1;
        copa.on_delivery(&delivery(now, rtt, *srtt, *delivered, packet.prior), w);
        self.send(i, now);
        (now, self.free_at.since(now).as_secs_f64() / self.service.as_secs_f64())
    }

    /// The time and the queue after each acknowledgement from `from_ms` to `to_ms`.
    fn queue(&mut self, from_ms: u64, to_ms: u64) -> Vec<(f64, f64)> {
        let mut seen = Vec::new();
        loop {
            let (now, queue) = self.step();
            if now >= at_ms(to_ms) {
                return seen;
            }
            if now >= at_ms(from_ms) {
                seen.push((now.as_secs_f64(), queue));
            }
        }
    }
}

/// Rises of the queue through `level`, from below a half of it.
fn rises(queue: &[(f64, f64)], level: f64) -> Vec<f64> {
    let (mut low, mut found) = (false, Vec::new());
    for &(at, packets) in queue {
        if packets < 0.5 * level {
            low = true;
        } else if packets >= level && low {
            low = false;
            found.push(at);
        }
    }
    found
}

#[test]
fn the_window_moves_towards_one_segment_per_delta_and_queueing_delay() {
    // 1 / (0.5 * 20 ms) is 100 segments a second, 12 segments in 120 ms
    let d = delays(120, 100, 140);
    assert_eq!(d.queueing(), ms(20));
    assert!(d.lets_grow(11.9, 0.5) && !d.lets_grow(12.1, 0.5));
    assert!(delays(100, 100, 140).lets_grow(1e9, 0.5), "no queue, no limit");
    // an acknowledgement moves a window of 10 by v / (delta cwnd)
    for (rtt, cwnd) in [(120, 10.2), (140, 9.8)] {
        let (mut copa, mut w) = (with_numbers(&ROW, &[]), window(10.0, f64::INFINITY));
        copa.slow_start = false;
        copa.least.include(at_ms(0), ms(100));
        copa.on_delivery(&delivery(at_ms(200), ms(rtt), ms(rtt), 10, 0), &mut w);
        assert!((w.cwnd - cwnd).abs() < 1e-9, "{rtt}: {}", w.cwnd);
        let rate = copa.pacing_rate(&w, ms(1)).unwrap();
        assert!((rate - 2.0 * cwnd / (1e-3 * rtt as f64)).abs() < 1e-6, "{rate}");
    }
}

#[test]
fn the_velocity_doubles_after_three_equal_directions_and_a_turn_ends_it() {
    let mut velocity = Velocity::begin(10.0, 0);
    let seen: Vec<f64> =
        (1..=6).map(|i| (velocity.end_round(10.0 + f64::from(i), 0), velocity.v).1).collect();
    assert_eq!(seen, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
    velocity.end_round(15.0, 0);
    assert_eq!((velocity.v, velocity.up), (1.0, Some(false)));
    velocity.end_round(14.0, 0);
    velocity.end_round(13.0, 0);
    assert_eq!(velocity.v, 1.0, "two equal directions");
}

#[test]
fn round_trip_times_count_for_their_window_and_the_last_one_for_ever() {
    let (mut least, mut greatest) = (Recent::least(), Recent::greatest());
    for (at, rtt) in [(0, 100), (10, 140), (20, 120), (30, 130)] {
        least.include(at_ms(at), ms(rtt));
        greatest.include(at_ms(at), ms(rtt));
    }
    assert_eq!([30, 20, 9].map(|span| least.get(at_ms(30), ms(span)).unwrap()), [100, 120, 130].map(ms));
    assert_eq!([30, 19, 9].map(|span| greatest.get(at_ms(30), ms(span)).unwrap()), [140, 130, 130].map(ms));
    assert_eq!(least.get(at_ms(9_999), ms(1)), Some(ms(130)));
}

#[test]
fn a_queue_that_never_empties_in_five_round_trips_means_competition() {
    assert!(delays(104, 100, 140).is_nearly_empty() && !delays(105, 100, 140).is_nearly_empty());
    let (mut copa, mut w) = (with_numbers(&ROW, &[]), window(100.0, f64::INFINITY));
    copa.on_open(&Opening { now: at_ms(0), rtt: None, selective: true }, &mut w);
    copa.slow_start = false;
    copa.least.include(at_ms(0), ms(100));
    let mut modes = Vec::new();
    for round in 1..=12 {
        copa.on_delivery(&delivery(at_ms(200 * round), ms(199), ms(199), round, round - 1), &mut w);
        modes.push(copa.competition.map(|c| c.inverse_delta));
    }
    // 1000 ms are five round trips of 200 ms
    assert!(modes[..4].iter().all(Option::is_none), "{modes:?}");
    let grown: Vec<f64> = modes[5..].iter().map(|mode| mode.expect("competes")).collect();
    assert!(grown.windows(2).all(|pair| pair[1] == pair[0] + 1.0), "a segment a round trip: {modes:?}");
    let before = copa.competition.expect("competes").inverse_delta;
    for _ in 0..2 {
        copa.lost = true;
        copa.on_delivery(&delivery(at_ms(2410), ms(199), ms(199), 13, 12), &mut w);
        let halved = copa.competition.expect("competes").inverse_delta;
        assert_eq!(halved, (0.5 * before).max(2.0), "once a round trip");
    }
    copa.on_delivery(&delivery(at_ms(2420), ms(100), ms(190), 14, 13), &mut w);
    assert_eq!((copa.competition.is_none(), copa.delta()), (true, 0.5));
}

#[test]
fn alone_the_queue_goes_from_nothing_to_two_and_a_half_segments_per_delta_every_five_round_trips() {
    // section 3 of the paper; a path of 1000 segments
    for delta in [0.1, 0.05] {
        let queue = Path::new(&[delta], 10_000.0, ms(100)).queue(20_000, 40_000);
        let packets = queue.iter().map(|&(_, packets)| packets);
        let (most, least) = (packets.clone().fold(0.0, f64::max), packets.fold(f64::INFINITY, f64::min));
        let at = rises(&queue, 1.0 / delta);
        let period_s = (at[at.len() - 1] - at[0]) / (at.len() - 1) as f64;
        let context = format!("delta {delta}: queue {least} to {most}, period {period_s} s");
        assert!(least <= 1.0 && (0.8..1.2).contains(&(most * delta / 2.5)), "{context}");
        assert!((4.5..5.5).contains(&(period_s / 0.1)), "{context}");
    }
}

#[test]
fn flows_share_by_the_inverse_of_delta() {
    // section 2: the rate is 1 / (delta d_q), and all see the same d_q
    let mut path = Path::new(&[0.1, 0.05], 10_000.0, ms(100));
    path.queue(0, 30_000);
    let before = [0, 1].map(|i| path.flows[i].3);
    path.queue(0, 60_000);
    let [first, second] = [0, 1].map(|i| (path.flows[i].3 - before[i]) as f64);
    assert!((1.6..2.4).contains(&(second / first)), "{first} {second}");
}

#[test]
fn half_of_the_segments_lost_shrinks_the_window_and_a_timeout_begins_slow_start() {
    let (mut copa, mut w) = (with_numbers(&ROW, &[]), window(100.0, f64::INFINITY));
    copa.slow_start = false;
    for i in 1..=30 {
        let lossy = Delivery { newly_lost: 1, ..delivery(at_ms(10 * i), ms(100), ms(100), i, 0) };
        copa.on_delivery(&lossy, &mut w);
    }
    assert!(w.cwnd < 80.0, "{}", w.cwnd);
    w.cwnd = 4.0;
    copa.on_timeout(at_ms(400), &mut w);
    copa.on_delivery(&delivery(at_ms(500), ms(100), ms(100), 31, 31), &mut w);
    assert_eq!(w.cwnd, 5.0);
}
