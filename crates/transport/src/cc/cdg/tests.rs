use super::*;
use crate::cc::testing::{ack_at, congestion, instance, loss, window, with_numbers};

const VARIANTS: [&str; 2] = ["paper", "linux"];

fn cdg(variant: &str) -> Cdg {
    instance(&ROW, &[("variant", variant)])
}

/// A flow of a hundred segments per round trip whose round-trip times are given.
struct Flow {
    c: Cdg,
    w: Window,
    now: Time,
    acknowledged: u64,
}

impl Flow {
    fn new(c: Cdg) -> Self {
        Flow { c, w: window(100.0, 2.0), now: Time::ZERO, acknowledged: 0 }
    }

    /// A round trip with these least and greatest times; the window is 100 segments again.
    fn round(&mut self, least_us: u64, greatest_us: u64) {
        for i in 0..100 {
            let rtt_us = if i == 50 { greatest_us } else { least_us };
            self.now += Interval::from_ns(10 * rtt_us);
            self.acknowledged += 1;
            let ack = Ack {
                unacknowledged: self.acknowledged,
                delivered: self.acknowledged,
                next_segment: self.acknowledged + 100,
                in_flight: 100.0,
                ..ack_at(self.now, 1.0, Interval::from_ns(1_000 * rtt_us))
            };
            self.c.on_sample(&ack);
            self.c.on_ack(&ack, &mut self.w);
        }
    }
}

#[test]
fn a_gradient_of_g_backs_off_with_probability_1_less_1_over_e() {
    // FreeBSD's table: (1 - exp(-x)) 2^15 is 20713 at x = 128/128
    for (variant, us) in [("paper", 3000.0), ("linux", 2976.19)] {
        let mut c = cdg(variant);
        let times = (0..20_000).filter(|_| c.backs_off(us)).count() as f64 / 20_000.0;
        assert!((times - 20_713.0 / 32_768.0).abs() < 0.01, "{variant}: {times}");
    }
    // beyond the table it is certain
    let mut c = cdg("paper");
    assert!((0..5_000).all(|_| c.backs_off(15_001.0)));
}

#[test]
fn a_constant_delay_however_long_lets_the_window_grow_by_a_segment_a_round_trip() {
    for variant in VARIANTS {
        let mut f = Flow::new(cdg(variant));
        for _ in 0..20 {
            f.round(300_000, 300_000);
        }
        let grown = f.w.cwnd - 100.0;
        assert!((17.0..=20.5).contains(&grown), "{variant}: {grown}");
    }
}

#[test]
fn a_rising_delay_makes_it_back_off_to_seven_tenths() {
    for (variant, left) in [("paper", 0.7), ("linux", 0.707)] {
        let mut f = Flow::new(cdg(variant));
        f.round(100_000, 100_000);
        let mut rtt_us = 100_000;
        let mut before = f.w.cwnd;
        while f.w.ssthresh == 2.0 {
            before = f.w.cwnd;
            rtt_us += 30_000;
            f.round(rtt_us, rtt_us);
        }
        // the window grew by less than a segment within that round trip
        assert!((f.w.ssthresh / before - left).abs() < 0.02, "{variant}: {before} {}", f.w.ssthresh);
    }
}

#[test]
fn after_five_backoffs_without_effect_it_stops_for_a_while() {
    let mut c = cdg("paper");
    let ack = ack_at(Time::ZERO, 1.0, Interval::from_millis(100));
    let mut windows = Vec::new();
    for _ in 0..11 {
        let mut w = window(100.0, 2.0);
        c.react(&ack, &mut w);
        windows.push(w.cwnd);
    }
    assert_eq!(windows[..5], [70.0; 5]);
    assert_eq!(windows[5..10], [100.0; 5]);
    assert_eq!(windows[10], 70.0);
}

#[test]
fn a_loss_counts_only_with_a_full_queue() {
    // full: the least still rises, the greatest cannot
    for (queue, left) in [(Queue::Full, 50.0), (Queue::Unknown, 50.0), (Queue::Other, 100.0)] {
        let mut c = cdg("paper");
        c.queue = queue;
        let mut w = window(100.0, 2.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, left, "{queue:?}");
        c.on_congestion(&congestion(Cause::Timeout), &mut w);
        assert_eq!(w.ssthresh, 50.0);
    }
}

#[test]
fn the_least_rising_while_the_greatest_stays_is_a_full_queue() {
    let mut c = with_numbers(&ROW, &[("scale", 1e4)]);
    let at = |least, greatest| Extremes { least, greatest };
    c.judge(at(101.0, 200.0), at(100.0, 200.0), false);
    assert_eq!(c.queue, Queue::Full);
    c.judge(at(110.0, 230.0), at(101.0, 200.0), false);
    assert_eq!(c.queue, Queue::Other);
}

#[test]
fn the_shadow_window_limits_what_a_loss_takes() {
    // backoffs have taken 100 segments to 60; loss-based flows would have 100 and keep 50
    for variant in VARIANTS {
        let mut c = cdg(variant);
        c.shadow = 100.0;
        let mut w = window(60.0, 2.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!((w.ssthresh, c.shadow), (50.0, 50.0), "{variant}");
    }
}

#[test]
fn linux_reduces_the_window_over_a_round_trip_and_then_starts_the_comparison_anew() {
    let mut c = cdg("linux");
    let mut w = window(100.0, 70.0);
    c.linux.reduction = Some(Reduction { from: 100.0, to: 70.0, delivered: 0.0, first: 100 });
    let (mut sent, mut in_flight) = (100, 100.0);
    for acknowledged in 1..=101_u64 {
        in_flight -= 1.0;
        let ack = Ack {
            unacknowledged: acknowledged,
            next_segment: sent,
            in_flight,
            ..ack_at(Time::ZERO, 1.0, Interval::from_millis(100))
        };
        c.on_ack(&ack, &mut w);
        let room = w.cwnd - in_flight;
        sent += room as u64;
        in_flight += room;
        if acknowledged == 50 {
            assert!((84.0..=86.0).contains(&w.cwnd), "{}", w.cwnd);
        }
    }
    assert!(c.linux.reduction.is_none());
    assert!((69.0..=71.0).contains(&w.cwnd), "{}", w.cwnd);
}

#[test]
fn linux_ends_slow_start_when_the_least_delay_has_risen_by_an_eighth() {
    let mut slow_start = SlowStart::default();
    let at = |ms: u64| Time::ZERO + Interval::from_millis(ms);
    // acknowledgements more than 3 ms apart make no train
    assert!((0..9).all(|i| !slow_start.ends(at(10 * i), Some(100_000.0))));
    slow_start.begin_round();
    assert!((0..8).all(|i| !slow_start.ends(at(100 + 10 * i), Some(113_000.0))));
    assert!(slow_start.ends(at(180), Some(113_000.0)));
    assert!(!slow_start.ends(at(190), Some(112_000.0)));
}

#[test]
fn linux_ends_slow_start_when_a_train_lasts_half_of_the_least_delay() {
    let mut slow_start = SlowStart::default();
    let end = (0..200_u64)
        .find(|ms| slow_start.ends(Time::ZERO + Interval::from_millis(*ms), Some(100_000.0)))
        .unwrap();
    assert_eq!(end, 51);
}
