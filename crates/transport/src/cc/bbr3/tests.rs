//! The example test cases of draft-ietf-ccwg-bbr, in the order of its appendix, and the equations.

use super::super::testing::{instance, loss, window};
use super::path::{Bucket, Path, RTT, at_ms, mbps};
use super::*;

/// 50 Mbit/s, 40 ms, and a buffer of two BDP of 166.7 segments each.
fn path() -> Path {
    Path::new("draft", 50.0, RTT, 2.0)
}

fn within(value: f64, expected: f64, tolerance: f64) -> bool {
    (value / expected - 1.0).abs() <= tolerance
}

/// A path in this state, some seconds old.
fn path_in(state: State) -> Path {
    let mut path = path();
    path.run_to(State::Cruise, at_ms(3_000));
    if state != State::Cruise {
        path.run_to(state, at_ms(5_000));
    }
    path.bbr.probe_rtt_min_at = path.now; // no ProbeRTT for the next five seconds
    path
}

#[test]
fn startup_ends_on_a_bandwidth_plateau() {
    let mut path = path();
    let mut counts = Vec::new();
    let ended = path.run(at_ms(3_000), |p| {
        if p.bbr.round_start && p.bbr.state == State::Startup {
            counts.push(p.bbr.full_bw_count);
        }
        p.bbr.state == State::Drain
    });
    assert!(ended && path.bbr.full_bw_reached && path.bbr.full_bw_now);
    assert_eq!(path.bbr.full_bw_count, 3);
    assert_eq!(counts[counts.len() - 2..], [1, 2], "one for each round trip without a quarter more");
    assert!(within(path.bbr.max_bw(), path.rate, 0.02), "{} of {}", path.bbr.max_bw(), path.rate);
}

#[test]
fn startup_ends_on_loss_when_application_limited() {
    let mut path = path();
    path.limit_application(mbps(25.0));
    assert!(!path.run(at_ms(2_000), |p| p.bbr.state != State::Startup), "without losses it goes on");
    path.loses_each = Some(10);
    assert!(path.run(at_ms(3_000), |p| p.bbr.state != State::Startup));
    // little is in flight, so Drain, which it has begun, may end with the same acknowledgement
    assert_eq!(path.bbr.drain_start_round, path.bbr.rounds);
    assert!(path.bbr.full_bw_now && path.bbr.full_bw_reached);
    assert!(path.bbr.inflight_longterm < f64::INFINITY);
    // fewer than six ranges, or no more than 2 %, do not
    let mut path = self::path();
    path.limit_application(mbps(25.0));
    path.loses_each = Some(60);
    assert!(!path.run(at_ms(3_000), |p| p.bbr.state != State::Startup));
}

#[test]
fn drain_ends_when_little_is_in_flight() {
    let mut path = path();
    path.run_to(State::Drain, at_ms(3_000));
    assert_eq!(path.bbr.pacing_gain, 0.5);
    let mut before = path.in_flight() as f64;
    let ended = path.run(at_ms(4_000), |p| {
        if p.bbr.state == State::Drain {
            assert!(p.in_flight() as f64 > p.bbr.inflight(p.bbr.bw, 1.0));
            before = p.in_flight() as f64;
        }
        p.bbr.state.probes_bw()
    });
    assert!(ended && path.in_flight() as f64 <= path.bbr.inflight(path.bbr.bw, 1.0), "{before}");
    assert!(path.bbr.rounds <= path.bbr.drain_start_round + 3, "{} rounds", path.bbr.rounds);
}

#[test]
fn drain_ends_after_three_round_trips() {
    // the draft lowers the bandwidth by 10 %, so that more than the BDP stays in flight; with a gain of 0.5
    // that takes a path whose bandwidth was overestimated twice over
    let mut path = Path::new("draft", 50.0, RTT, 8.0);
    path.run_to(State::Drain, at_ms(3_000));
    path.scale_rate(0.45);
    let started = path.bbr.drain_start_round;
    assert!(path.run(at_ms(6_000), |p| p.bbr.state != State::Drain));
    assert_eq!(path.bbr.state, State::Down, "{} in flight of {}", path.in_flight(), path.bdp());
    assert_eq!(path.bbr.rounds, started + 4, "round_count > drain_start_round + 3");
    assert!(path.in_flight() as f64 > path.bbr.inflight(path.bbr.bw, 1.0));
}

#[test]
fn probe_up_ends_on_a_bandwidth_plateau() {
    let mut path = path_in(State::Up);
    assert_eq!(path.lost, 0);
    let began = path.bbr.rounds;
    path.run_to(State::Down, at_ms(15_000));
    assert!(path.bbr.full_bw_now && path.bbr.full_bw_count == 3);
    assert!((3..=4).contains(&(path.bbr.rounds - began)), "{} rounds", path.bbr.rounds - began);
}

#[test]
fn probe_up_ends_on_loss_when_application_limited() {
    let mut path = path_in(State::Up);
    path.limit_application(mbps(40.0));
    path.run(path.now + RTT, |_| false);
    path.loses_each = Some(10);
    // Down may end with the same acknowledgement, since little is in flight
    assert!(path.run(path.now + RTT + RTT + RTT, |p| p.bbr.state != State::Up));
    assert!(path.bbr.state == State::Down || path.bbr.state == State::Cruise);
    assert!(path.bbr.prev_probe_too_high && !path.bbr.is_bw_probe_sample);
    assert_eq!(
        path.bbr.inflight_longterm,
        f64::INFINITY,
        "an application-limited loss says nothing of the path"
    );
}

#[test]
fn neither_probe_up_nor_startup_ends_when_application_limited_without_loss() {
    let mut up = path_in(State::Up);
    up.limit_application(mbps(10.0));
    // until all samples are limited a plateau may count; then only ProbeRTT interrupts it
    let began = up.bbr.rounds;
    let left = up.run(up.now + Interval::from_millis(2_000), |p| p.bbr.state != State::Up);
    assert!(!left && up.bbr.rounds > began + 40, "{:?}", up.bbr.state);
    let mut startup = path();
    startup.limit_application(mbps(10.0));
    assert!(!startup.run(at_ms(4_900), |p| p.bbr.state != State::Startup));
}

#[test]
fn probe_down_ends_when_little_is_in_flight() {
    let mut path = path_in(State::Up);
    path.run_to(State::Down, at_ms(15_000));
    path.run(path.now + Interval::from_millis(1), |_| true);
    assert_eq!(path.bbr.pacing_gain, 0.9);
    path.bbr.inflight_longterm = 180.0; // 15 % of headroom leave 153
    assert_eq!(path.bbr.inflight_with_headroom(), 153.0);
    let ended = path.run(at_ms(20_000), |p| {
        let few =
            p.in_flight() as f64 <= p.bbr.inflight_with_headroom().min(p.bbr.inflight(p.bbr.max_bw(), 1.0));
        assert_eq!(p.bbr.state == State::Down, !few, "{} in flight", p.in_flight());
        p.bbr.state != State::Down
    });
    assert!(ended && path.bbr.state == State::Cruise);
}

#[test]
fn probe_down_ends_after_its_longest_time() {
    let mut path = path_in(State::Up);
    path.run_to(State::Down, at_ms(15_000));
    path.bbr.probe_rtt_min_at = path.now;
    path.scale_rate(0.85); // sending 0.89 of the old rate does not drain the queue
    let (began, wait) = (path.bbr.cycle_at, path.bbr.bw_probe_wait);
    assert!((2.0..3.0).contains(&wait.as_secs_f64()));
    assert!(path.run(at_ms(30_000), |p| p.bbr.state != State::Down));
    assert_eq!(path.bbr.state, State::Refill, "not Cruise");
    let took = path.now.since(began);
    assert!(took > wait && took < wait + RTT + RTT + RTT, "{took:?} instead of {wait:?}");
}

#[test]
fn probe_rtt_begins_after_five_seconds_and_ends_after_200_ms_and_a_round_trip() {
    let mut path = path_in(State::Cruise);
    path.rtt = Interval::from_millis(41); // no sample is below the least
    let refreshed = path.bbr.probe_rtt_min_at;
    path.run_to(State::ProbeRtt, at_ms(12_000));
    let late = path.now.since(refreshed).as_secs_f64();
    assert!(late > 5.0 && late < 5.1, "{late}");
    assert_eq!((path.bbr.cwnd_gain, path.bbr.pacing_gain), (0.5, 1.0));
    let half = path.bbr.bdp_multiple(path.bbr.bw, 0.5);
    let (began, rounds) = (path.now, path.bbr.rounds);
    path.run(path.now + RTT + RTT, |_| false);
    assert!(path.in_flight() as f64 <= half, "{} in flight, {half} is half of the BDP", path.in_flight());
    assert!(path.run(began + Interval::from_millis(1_000), |p| p.bbr.state != State::ProbeRtt));
    assert_eq!(path.bbr.state, State::Cruise);
    assert!(path.now.since(began) > Interval::from_millis(200) && path.bbr.rounds > rounds);
    path.run(path.now + RTT + RTT + RTT, |_| false);
    assert!(path.in_flight() as f64 > 0.85 * path.bdp(), "it sends as before");
}

#[test]
fn probe_rtt_is_skipped_after_idle_time() {
    let mut path = path_in(State::Cruise);
    path.limit_application(0.0);
    path.run(path.now + Interval::from_millis(6_000), |_| false);
    assert_eq!(path.in_flight(), 0);
    path.app = None;
    path.transmit();
    assert!(path.bbr.idle_restart && path.in_flight() > 0);
    assert!(!path.run(path.now + Interval::from_millis(2_000), |p| p.bbr.state == State::ProbeRtt));
}

#[test]
fn startup_finds_the_bandwidth_of_a_link_with_aggregation() {
    let mut path = path();
    path.burst = Interval::from_millis(20);
    let mut greatest = 0.0_f64;
    path.run(at_ms(3_000), |p| {
        greatest = greatest.max(p.w.cwnd);
        p.bbr.full_bw_reached
    });
    assert!(path.bbr.full_bw_reached);
    // half of a BDP arrives at once
    assert!(path.bbr.extra_acked.get() > 0.3 * path.bdp(), "{}", path.bbr.extra_acked.get());
    assert!(greatest > 2.0 * path.bdp(), "{greatest}");
    assert!(within(path.bbr.max_bw(), path.rate, 0.1), "{} of {}", path.bbr.max_bw(), path.rate);
}

#[test]
fn cruise_keeps_a_link_with_aggregation_full() {
    let mut path = path_in(State::Cruise);
    path.burst = Interval::from_millis(30);
    path.run(path.now + Interval::from_millis(1_000), |_| false);
    let (extra, bdp) = (path.bbr.extra_acked.get(), path.bbr.bdp_multiple(path.bbr.bw, 2.0));
    assert!(extra > 0.3 * path.bdp(), "{extra}");
    assert!(path.w.cwnd > bdp && path.w.cwnd <= bdp + extra + 2.0 + bdp * 0.125, "{}", path.w.cwnd);
    let before = path.delivered;
    path.run(path.now + Interval::from_millis(1_000), |_| false);
    let share = (path.delivered - before) as f64 / path.rate;
    assert!(share > 0.9, "{share}");
}

#[test]
fn four_segments_are_the_floor_on_paths_of_less_than_one() {
    // 64 kbit/s and 40 ms: 0.2 segments
    let mut path = Path::new("draft", 0.064, RTT, 100.0);
    assert!(path.bdp() < 1.0);
    path.run(at_ms(60_000), |p| p.bbr.state == State::Cruise);
    assert_eq!(path.bbr.state, State::Cruise);
    let began = (path.now, path.delivered);
    let rate = path.rate;
    path.run(path.now + Interval::from_millis(20_000), |p| {
        assert!(p.w.cwnd >= 4.0, "{}", p.w.cwnd);
        assert!(p.bbr.pacing_rate <= 1.25 * 1.05 * rate, "{} of {rate}", p.bbr.pacing_rate);
        false
    });
    let share = (path.delivered - began.1) as f64 / rate / path.now.since(began.0).as_secs_f64();
    assert!(share > 0.9, "{share}");
}

#[test]
fn ten_times_the_bandwidth_is_found_in_logarithmic_time() {
    let mut path = Path::new("draft", 10.0, RTT, 4.0);
    path.run_to(State::Up, at_ms(5_000));
    path.bbr.probe_rtt_min_at = path.now;
    path.bbr.inflight_longterm = path.in_flight() as f64; // the additions to it are what doubles
    path.scale_rate(10.0);
    path.buffer *= 10.0;
    let mut per_inc = vec![path.bbr.probe_up_acked_per_inc / path.w.cwnd];
    let began = path.now;
    let found = path.run(at_ms(20_000), |p| {
        if p.bbr.state == State::Up && p.bbr.round_start {
            per_inc.push(p.bbr.probe_up_acked_per_inc / p.w.cwnd);
        }
        p.bbr.max_bw() >= 0.95 * p.rate
    });
    assert!(found, "{} of {} in {:?}", path.bbr.max_bw(), path.rate, path.bbr.state);
    // the steps of a round trip: 1, 2, 4, 8, 16 segments
    let steps: Vec<f64> = per_inc.iter().take(5).map(|share| (1.0 / share).round()).collect();
    assert_eq!(steps, [1.0, 2.0, 4.0, 8.0, 16.0]);
    assert!(path.now.since(began) < Interval::from_millis(6_000), "{:?}", path.now.since(began));
}

#[test]
fn a_tenth_of_the_bandwidth_is_adopted() {
    let mut path = Path::new("draft", 100.0, RTT, 1.0);
    path.run_to(State::Cruise, at_ms(3_000));
    path.scale_rate(0.1);
    path.buffer *= 0.1;
    assert!(path.run(path.now + Interval::from_millis(1_000), |p| p.bbr.bw_shortterm < f64::INFINITY));
    let mut cycles = 0;
    let mut state = path.bbr.state;
    let adapted = path.run(path.now + Interval::from_millis(15_000), |p| {
        cycles += u32::from(p.bbr.state == State::Down && state != State::Down);
        state = p.bbr.state;
        p.bbr.max_bw() < 1.1 * p.rate
    });
    assert!(adapted && (1..=3).contains(&cycles), "{} after {cycles} cycles", path.bbr.max_bw() / path.rate);
}

#[test]
fn a_policer_leads_to_its_rate_without_losses_all_the_time() {
    let mut path = path_in(State::Cruise);
    path.policer = Some(Bucket { pps: mbps(10.0), burst: 200.0, tokens: 200.0, at: path.now });
    assert!(path.run(path.now + Interval::from_millis(3_000), |p| p.bbr.inflight_shortterm < f64::INFINITY));
    assert!(path.bbr.bw_shortterm < f64::INFINITY);
    path.run(path.now + Interval::from_millis(10_000), |_| false);
    let before = (path.delivered, path.lost);
    path.run(path.now + Interval::from_millis(10_000), |_| false);
    let (delivered, lost) = (path.delivered - before.0, path.lost - before.1);
    let share = delivered as f64 / (10.0 * mbps(10.0));
    assert!((0.7..1.05).contains(&share), "{share}");
    assert!((lost as f64) < 0.06 * delivered as f64, "{lost} lost, {delivered} delivered");
}

/// A flow in UP loses more than 2 %, which turns out spurious.
fn spurious(timeout: bool) {
    let mut path = path_in(State::Up);
    path.bbr.inflight_longterm = 400.0;
    let before = (path.bbr.bw_shortterm, path.bbr.inflight_shortterm, path.w.cwnd);
    let cause = if timeout { Cause::Timeout } else { Cause::Loss };
    path.bbr.on_congestion(&Congestion { cause, ..loss() }, &mut path.w);
    let undo = path.bbr.undo;
    assert_eq!(
        (undo.bw_shortterm, undo.inflight_shortterm, undo.inflight_longterm),
        (before.0, before.1, 400.0)
    );
    let delivered = path.bbr.delivered;
    for i in 0..10 {
        let lost = LostSegment {
            now: path.now,
            segment: 10_000 + i,
            left: path.now - RTT,
            tx_in_flight: 200,
            lost: i + 1,
            app_limited: false,
            total_delivered: delivered,
        };
        path.bbr.on_lost(&lost, &mut path.w);
    }
    assert_eq!((path.bbr.state, path.bbr.undo.state), (State::Down, Some(State::Up)));
    assert!(path.bbr.inflight_longterm < 400.0);
    if timeout {
        path.w.cwnd = 1.0;
        path.bbr.on_timeout(path.now, &mut path.w);
    }
    path.bbr.on_undo(&mut path.w);
    assert_eq!((path.bbr.bw_shortterm, path.bbr.inflight_shortterm, path.w.cwnd), before);
    assert_eq!(path.bbr.inflight_longterm, 400.0);
    assert_eq!(path.bbr.state, State::Refill, "which leads back to UP");
    path.run_to(State::Up, path.now + RTT + RTT + RTT);
}

#[test]
fn a_spurious_fast_recovery_is_undone() {
    spurious(false);
}

#[test]
fn a_spurious_timeout_is_undone() {
    spurious(true);
}

#[test]
fn probe_rtt_during_startup_leads_back_to_it() {
    let mut path = path();
    path.limit_application(mbps(5.0));
    path.rtt = Interval::from_millis(41);
    path.run_to(State::ProbeRtt, at_ms(6_000));
    assert!(!path.bbr.full_bw_reached);
    assert!(path.run(path.now + Interval::from_millis(1_000), |p| p.bbr.state != State::ProbeRtt));
    assert_eq!(path.bbr.state, State::Startup);
    assert!(!path.bbr.full_bw_reached);
}

#[test]
fn losses_in_probe_up_lower_inflight_longterm_and_end_it() {
    let mut path = path_in(State::Up);
    path.bbr.inflight_longterm = 1_000.0;
    path.loses_each = Some(10);
    path.run_to(State::Down, path.now + RTT + RTT + RTT);
    assert!(path.bbr.prev_probe_too_high);
    // what was in flight then, which is more than 0.7 of the BDP
    let longterm = path.bbr.inflight_longterm;
    let least = 0.7 * path.bbr.bdp_multiple(path.bbr.bw, 1.0).min(path.w.cwnd);
    assert!(longterm >= least && longterm < 1.5 * path.bdp(), "{longterm}, least {least}");
}

#[test]
fn an_application_limited_refill_lowers_no_bandwidth_and_leads_to_up() {
    let mut path = path_in(State::Refill);
    let before = path.bbr.max_bw();
    path.limit_application(mbps(5.0));
    path.run_to(State::Up, path.now + RTT + RTT + RTT);
    assert_eq!(path.bbr.max_bw(), before);
    path.app = None;
    path.run_to(State::Down, path.now + Interval::from_millis(5_000));
    assert!(within(path.bbr.max_bw(), path.rate, 0.02), "{}", path.bbr.max_bw());
}

#[test]
fn the_losses_cross_the_threshold_at_a_prefix_of_what_was_in_flight() {
    let bbr = instance(&ROW, &[]);
    // 2 of 100 are not too many, 3 are
    assert!(!bbr.is_inflight_too_high(2, 100) && bbr.is_inflight_too_high(3, 100));
    // the third of them: (0.02 x 99 - 2) / 0.98 = -0.0204 after 99
    assert!((bbr.inflight_at_loss(3, 100) - 98.979_591_836_7).abs() < 1e-9);
    // google: ceil(99 x 5/256) = 2 were lost before
    let google = instance(&ROW, &[("variant", "google")]);
    assert!(
        !google.is_inflight_too_high(1, 100) && google.is_inflight_too_high(2, 100),
        "floor(100 x 5/256) = 1"
    );
    assert_eq!(google.inflight_at_loss(3, 100), 99.0);
}

#[test]
fn without_sack_any_loss_is_too_much() {
    let (mut bbr, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
    bbr.on_start(1448, 1);
    bbr.on_open(&Opening { now: at_ms(40), rtt: Some(RTT), selective: false }, &mut w);
    assert!(bbr.is_inflight_too_high(1, 1_000) && !bbr.is_inflight_too_high(0, 1_000));
}

#[test]
fn the_first_rate_sends_the_initial_window_in_a_round_trip_with_the_gain_of_startup() {
    for (variant, expected) in [("draft", 2.77 * 10.0 / 0.04), ("google", 710.0 / 256.0 * 0.99 * 10.0 / 0.04)]
    {
        let path = Path::new(variant, 50.0, RTT, 1.0);
        assert!(within(path.bbr.pacing_rate, expected, 1e-12), "{variant}: {}", path.bbr.pacing_rate);
    }
}

#[test]
fn a_quantum_is_a_millisecond_of_data() {
    let mut bbr = instance(&ROW, &[]);
    let mut at = |mbps: f64| {
        bbr.pacing_rate = mbps * 1e6 / 8.0 / 1448.0;
        bbr.quantum()
    };
    // 12 500 bytes = 8.6 segments; 65 536 = 45.3
    assert_eq!([1.0, 10.0, 100.0, 1000.0].map(&mut at), [2.0, 2.0, 8.0, 45.0]);
    let mut google = instance(&ROW, &[("variant", "google")]);
    google.pacing_rate = 1e6 / 8.0 / 1448.0;
    google.min_rtt = Interval::from_ns(1_100_000);
    assert_eq!(google.quantum(), 11.0, "64 KiB / 2^2 = 16 384 bytes, and 122");
}

#[test]
fn the_google_variant_goes_through_all_states_too() {
    let mut path = Path::new("google", 50.0, RTT, 2.0);
    path.run_to(State::Drain, at_ms(3_000));
    assert_eq!(path.bbr.pacing_gain, 88.0 / 256.0);
    for state in [State::Cruise, State::Refill, State::Up, State::Down] {
        path.run_to(state, path.now + Interval::from_millis(4_000));
    }
    path.run(path.now + Interval::from_millis(1), |_| true);
    assert!(within(path.bbr.max_bw(), path.rate, 0.02), "{}", path.bbr.max_bw());
    path.rtt = Interval::from_millis(41);
    path.run_to(State::ProbeRtt, path.now + Interval::from_millis(6_000));
    path.run_to(State::Cruise, path.now + Interval::from_millis(1_000));
}
