use super::super::congestion_control::Repair;
use super::super::testing::{instance, window};
use super::*;

const RTT: Interval = Interval::from_millis(100);

#[test]
fn the_utility_of_100_mbit_a_second_is_63_less_900_for_each_percent_of_growing_delay_and_11_for_each_of_loss()
{
    // 100^0.9 = 63.0957
    for (slope, loss, expected) in [
        (0.0, 0.0, 63.0957),
        (0.009, 0.0, 63.0957),
        (0.01, 0.0, -836.9043),
        (-0.01, 0.0, 963.0957),
        (0.0, 0.01, 51.7457),
    ] {
        let u = utility(100.0, slope, loss, LATENCY_FACTOR);
        assert!((u - expected).abs() < 1e-4, "{slope} {loss}: {u}");
    }
    assert_eq!(utility(100.0, 1.0, 0.0, 0.0), utility(100.0, 0.0, 0.0, LATENCY_FACTOR), "the loss flavour");
}

#[test]
fn the_slope_is_that_of_least_squares() {
    let mut line = Line::default();
    assert_eq!(line.slope(), 0.0);
    line.include(1.0, 5.0);
    assert_eq!(line.slope(), 0.0);
    // mean 2, 6: deviations -1, 0, 1 and -1, -1, 2
    line.include(2.0, 5.0);
    line.include(3.0, 8.0);
    assert!((line.slope() - 1.5).abs() < 1e-12);
}

#[test]
fn the_amplifier_grows_faster_the_longer_the_direction_lasts() {
    assert_eq!(
        [0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 8.0, 9.0, 10.0].map(amplifier),
        [1.0, 2.0, 3.0, 4.0, 8.0, 10.0, 18.0, 22.0, 30.0]
    );
}

#[test]
fn steps_grow_in_one_direction_and_after_a_turn_two_more_wait() {
    let mut climb = Climb::default();
    let up: Vec<f64> = (0..5).map(|_| climb.change(1.0, 1000.0)).collect();
    assert_eq!(up, [1.0, 1.0, 2.0, 3.0, 4.0], "Mbit/s");
    assert_eq!(climb.change(-1.0, 1000.0), -1.0);
    let down: Vec<f64> = (0..3).map(|_| climb.change(-1.0, 1000.0)).collect();
    assert_eq!(down, [-1.0, -1.0, -2.0], "the swing buffer takes a step");
}

#[test]
fn a_step_is_at_most_5_percent_and_6_more_after_each_that_was_cut() {
    let mut climb = Climb::default();
    let cut: Vec<f64> = (0..4).map(|_| climb.bound(-1e6, 100.0)).collect();
    for (step, expected) in cut.iter().zip([-5.0, -11.0, -17.0, -23.0]) {
        assert!((step - expected).abs() < 1e-9, "{cut:?}");
    }
    assert_eq!((climb.bound(12.0, 100.0), climb.k), (12.0, 2.0), "the least k that allows 12 %");
    climb.bound(4.0, 100.0);
    assert_eq!(climb.k, 0.0);
    let turned = [1e6, 1e6, -1e6].map(|gradient| climb.change(gradient, 100.0));
    assert_eq!((turned[0], turned[2]), (5.0, -5.0), "a turn begins again: {turned:?}");
}

/// A path that delivers in a round trip of 100 ms what a flow sends, up to a rate; what is beyond that it
/// drops.
struct Path {
    vivace: Boxed,
    w: Window,
    now: Time,
    sent: u64,
    delivered: u64,
    lost: u64,
    /// All that leaves repeats segments that left before.
    repeats: bool,
    /// Mbit/s.
    capacity: f64,
    credit: f64,
    /// When each segment left, and whether it arrives.
    under_way: VecDeque<(Time, bool)>,
}

impl Path {
    fn new(capacity: f64) -> Self {
        let (mut vivace, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
        vivace.on_start(1448, 1);
        vivace.on_open(&Opening { now: Time::ZERO, rtt: Some(RTT), selective: true }, &mut w);
        let (now, under_way) = (Time::ZERO, VecDeque::new());
        Path {
            vivace,
            w,
            now,
            sent: 0,
            delivered: 0,
            lost: 0,
            repeats: false,
            capacity,
            credit: 0.0,
            under_way,
        }
    }

    /// Sends a segment, after the answers to those that left a round trip ago.
    fn step(&mut self) {
        let gap_s = 1.0 / self.vivace.pacing_rate(&self.w, RTT).unwrap();
        self.now += Interval::from_secs_f64(gap_s);
        while self.under_way.front().is_some_and(|&(left, _)| self.now.since(left) >= RTT) {
            let (left, arrives) = self.under_way.pop_front().unwrap();
            self.answer(left, arrives);
        }
        self.credit = (self.credit + gap_s * self.capacity / self.vivace.packet).min(2.0);
        let arrives = self.credit >= 1.0;
        self.credit -= f64::from(u8::from(arrives));
        self.under_way.push_back((self.now, arrives));
        self.sent += 1;
    }

    fn answer(&mut self, left: Time, arrives: bool) {
        let at = left + RTT;
        if !arrives {
            self.lost += 1;
            let segment = if self.repeats { 0 } else { self.delivered + self.lost };
            let lost = LostSegment {
                now: at,
                segment,
                left,
                tx_in_flight: 1,
                lost: 1,
                app_limited: false,
                total_delivered: self.delivered,
            };
            return self.vivace.on_lost(&lost, &mut self.w);
        }
        self.delivered += 1;
        let in_flight = self.under_way.len() as u64;
        self.vivace.on_delivery(
            &Delivery {
                now: at,
                rate: None,
                delivered: 1,
                prior_delivered: None,
                app_limited: false,
                tx_in_flight: 1,
                lost: 0,
                rtt: (!self.repeats).then_some(RTT),
                left: Some(left),
                newly_delivered: 1,
                newly_lost: 0,
                total_delivered: self.delivered,
                total_lost: self.lost,
                prior_in_flight: in_flight + 1,
                in_flight,
                srtt: RTT,
                next_departure: at,
                window_limited: false,
                may_grow: true,
                source_limited: false,
                repair: Repair::None,
            },
            &mut self.w,
        );
    }
}

#[test]
fn without_a_queue_the_rate_finds_the_capacity() {
    for capacity in [5.0, 20.0] {
        let mut path = Path::new(capacity);
        while path.now < Time::from_secs_f64(20.0) {
            path.step();
        }
        let (mut sum, mut count) = (0.0, 0.0);
        while path.now < Time::from_secs_f64(60.0) {
            path.step();
            (sum, count) = (sum + path.vivace.base, count + 1.0);
        }
        let share = sum / count / capacity;
        assert!((0.9..1.1).contains(&share), "{capacity}: {share}");
    }
}

#[test]
fn while_all_segments_are_sent_again_the_rate_follows_the_capacity_as_before() {
    let mut path = Path::new(20.0);
    while path.now < Time::from_secs_f64(20.0) {
        path.step();
    }
    (path.repeats, path.capacity) = (true, 2.0);
    while path.now < Time::from_secs_f64(60.0) {
        path.step();
    }
    let (sent, lost) = (path.sent, path.lost);
    while path.now < Time::from_secs_f64(90.0) {
        path.step();
    }
    assert!((1.8..2.3).contains(&path.vivace.base), "{}", path.vivace.base);
    let loss = (path.lost - lost) as f64 / (path.sent - sent) as f64;
    assert!(loss < 0.1, "{loss}");
}

#[test]
fn a_timeout_halves_the_rate_and_the_window_is_twice_what_it_sends_in_a_round_trip() {
    let mut path = Path::new(20.0);
    (0..2000).for_each(|_| path.step());
    let before = path.vivace.base;
    path.vivace.on_timeout(path.now, &mut path.w);
    assert_eq!(path.vivace.base, 0.5 * before);
    assert!((path.w.cwnd - 2.0 * path.vivace.rate() * 0.1 / 0.012).abs() < 1e-9, "{}", path.w.cwnd);
}
