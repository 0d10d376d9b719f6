//! Runs that pause: what can be set meanwhile, and what a watched sender tells. That steps alone change
//! nothing is part of every comparison of the drivers (`run_by_both`).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{and, assert_same, column, dumbbell, flow, run, sound, with};
use longfat_sim::{RateError, Rates, Simulation, Stepped};
use longfat_transport::Steer;
use longfat_units::{Rate, Time};
use serde_json::{Value, json};

fn stepped(plan: &Value, rates: Rates) -> Stepped {
    let plan = sound(plan);
    Stepped::new(Simulation::new_while(plan, rates, &mut |_| None, &mut || true).unwrap())
}

fn go_on(run: &mut Stepped, to_s: f64) {
    run.advance(Time::from_secs_f64(to_s), &mut || true).unwrap();
}

fn hold(cwnd: f64) -> Option<Steer> {
    Some(Steer { cwnd: Some(cwnd), holds: true, rate: None })
}

fn pace(rate: f64) -> Option<Steer> {
    Some(Steer { cwnd: Some(1e6), holds: true, rate: Some(rate) })
}

#[test]
fn a_rate_that_is_set_is_that_of_a_plan_with_steps() {
    // nothing is on the wire at 1 s, so no packet keeps the rate from before
    for tick_s in [0.0, 0.01] {
        let late = with(flow("a", "reno"), json!({"start_s": 2.0}));
        let mut planned = dumbbell(5e6, 30, 8.0, vec![late]);
        planned["window_s"] = json!([0.5, 8.0]);
        planned["links"][0] = and(planned["links"][0].clone(), json!({"service_tick_s": tick_s}));
        let mut varying = planned.clone();
        varying["links"][0] =
            and(varying["links"][0].clone(), json!({"capacity": {"steps": [[0.0, 5e6], [1.0, 2e6]]}}));
        let mut run_by_hand = stepped(&planned, Rates::Settable);
        go_on(&mut run_by_hand, 1.0);
        run_by_hand.set_rate(0, Rate::from_bps(2e6).unwrap()).unwrap();
        go_on(&mut run_by_hand, 8.0);
        assert_same(&run(&varying), &run_by_hand.finish().unwrap());
    }
}

#[test]
fn rates_that_are_set_have_the_same_effect_in_both_drivers() {
    for tick_s in [0.0, 0.01] {
        let mut plan = dumbbell(5e6, 30, 8.0, vec![flow("a", "reno"), flow("b", "cubic")]);
        plan["links"][0] = and(plan["links"][0].clone(), json!({"service_tick_s": tick_s}));
        let outcomes = [true, false].map(|fast| {
            plan["fast"] = json!(fast);
            let mut run = stepped(&plan, Rates::Settable);
            for (step, rate) in [2e6, 8e6, 1e5, 5e6, 3e6].into_iter().enumerate() {
                go_on(&mut run, 0.997 + 1.1 * step as f64);
                run.set_rate(0, Rate::from_bps(rate).unwrap()).unwrap();
            }
            go_on(&mut run, 8.0);
            run.finish().unwrap()
        });
        assert_same(&outcomes[0], &outcomes[1]);
    }
}

#[test]
fn a_rate_cannot_be_set_where_the_plan_or_a_router_has_its_say() {
    let rate = Rate::from_bps(2e6).unwrap();
    let plain = dumbbell(5e6, 30, 1.0, vec![flow("a", "reno")]);
    for queue in ["droptail", "red", "codel"] {
        let mut plan = plain.clone();
        plan["links"][0]["queue"]["kind"] = json!(queue);
        assert_eq!(stepped(&plan, Rates::Planned).set_rate(0, rate), Err(RateError::Fixed), "{queue}");
        assert_eq!(stepped(&plan, Rates::Settable).set_rate(0, rate), Ok(()), "{queue}");
    }
    let mut sine = plain.clone();
    sine["links"][0] =
        and(sine["links"][0].clone(), json!({"capacity": {"sine": {"least_bps": 1e6, "period_s": 1.0}}}));
    assert_eq!(stepped(&sine, Rates::Settable).set_rate(0, rate), Err(RateError::Varies));
    let mut routed = dumbbell(5e6, 30, 1.0, vec![flow("a", "xcp")]);
    routed["links"][0] = and(routed["links"][0].clone(), json!({"router": {"kind": "xcp"}}));
    assert_eq!(stepped(&routed, Rates::Settable).set_rate(0, rate), Err(RateError::Router));
}

#[test]
fn the_end_of_a_run_shows_the_same_wherever_departures_are_computed() {
    // packets of 12 s wait, and one begins its transmission at the very end
    let queues = [
        json!({"kind": "droptail", "limit_packets": 50}),
        json!({"kind": "red", "limit_packets": 50, "min": 20.0, "max": 40.0}),
    ];
    for queue in queues {
        let flows =
            (0..6).map(|i| with(flow(&i.to_string(), "reno"), json!({"access_rate_bps": 1e14}))).collect();
        let mut plan = dumbbell(1e3, 50, 2.4, flows);
        plan["links"][0]["queue"] = queue.clone();
        let [planned, settable] = [Rates::Planned, Rates::Settable].map(|rates| {
            let mut run = stepped(&plan, rates);
            go_on(&mut run, 2.4);
            let link = run.link(0);
            (link.packets_out, link.queue_packets, run.packets())
        });
        assert_eq!(planned, settable, "{queue}");
    }
}

#[test]
fn a_held_window_stays_through_losses_until_it_is_released() {
    let mut run = stepped(&dumbbell(2e6, 5, 30.0, vec![flow("a", "reno")]), Rates::Planned);
    go_on(&mut run, 1.0);
    assert!(run.steer(0, hold(40.0)));
    let lost = run.flow(0).packets_lost;
    for tenth in 11..100 {
        go_on(&mut run, f64::from(tenth) / 10.0);
        assert_eq!(run.flow(0).cwnd, 40.0);
    }
    // 2 Mbit/s and 42 ms hold 7 packets, and the queue 5 more
    assert!(run.flow(0).packets_lost > lost + 20.0);
    assert!(run.steer(0, None));
    go_on(&mut run, 20.0);
    assert!(run.flow(0).cwnd < 20.0, "{}", run.flow(0).cwnd);
}

#[test]
fn a_window_that_is_not_held_is_where_the_algorithm_goes_on_from() {
    let fixed = with(flow("a", "reno"), json!({"initial_ssthresh": 2.0}));
    let mut run = stepped(&dumbbell(1e9, 1000, 10.0, vec![fixed]), Rates::Planned);
    go_on(&mut run, 1.0);
    run.steer(0, Some(Steer { cwnd: Some(100.0), holds: false, rate: None }));
    assert_eq!(run.flow(0).cwnd, 100.0);
    // one segment more in each round trip of 42 ms, besides the wait of delayed acknowledgements
    go_on(&mut run, 1.0 + 10.0 * 0.0421);
    assert!((108.0..=111.0).contains(&run.flow(0).cwnd), "{}", run.flow(0).cwnd);
}

#[test]
fn a_window_or_a_rate_that_is_not_finite_changes_nothing() {
    let mut run = stepped(&dumbbell(1e7, 20, 10.0, vec![flow("a", "reno")]), Rates::Planned);
    go_on(&mut run, 1.0);
    let before = run.flow(0).cwnd;
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(!run.steer(0, hold(wrong)) && !run.steer(0, pace(wrong)));
    }
    assert!(!run.steer(0, pace(0.0)));
    assert_eq!(run.flow(0).cwnd, before);
}

#[test]
fn a_pacing_rate_is_the_rate_at_which_segments_leave() {
    let mut run = stepped(&dumbbell(1e8, 1000, 30.0, vec![flow("a", "reno")]), Rates::Planned);
    go_on(&mut run, 1.0);
    run.steer(0, pace(100.0));
    go_on(&mut run, 2.0);
    let before = run.flow(0).packets_sent;
    go_on(&mut run, 12.0);
    assert!((run.flow(0).packets_sent - before - 1000.0).abs() <= 1.0);
    // a segment every 100 s, but the next one does not wait for the new rate that long
    run.steer(0, pace(0.01));
    go_on(&mut run, 13.0);
    let before = run.flow(0).packets_sent;
    run.steer(0, pace(1000.0));
    go_on(&mut run, 14.0);
    assert!((run.flow(0).packets_sent - before - 1000.0).abs() <= 2.0);
}

#[test]
fn a_sample_sees_what_was_before_a_change_at_its_time() {
    let mut run = stepped(&dumbbell(1e7, 20, 3.0, vec![flow("a", "reno")]), Rates::Planned);
    go_on(&mut run, 1.0);
    let before = run.flow(0).cwnd;
    run.steer(0, hold(3.5));
    go_on(&mut run, 3.0);
    let outcome = run.finish().unwrap();
    let cwnd = column(&outcome.flows, "a", "cwnd");
    assert_eq!((cwnd[10], cwnd[11]), (before, 3.5));
}

#[test]
fn watching_a_flow_changes_nothing() {
    for algorithm in ["reno", "cubic", "htcp", "vegas", "illinois", "bbr", "fast", "xcp"] {
        let mut plan = dumbbell(5e6, 20, 10.0, vec![flow("a", algorithm), flow("b", "reno")]);
        if algorithm == "xcp" {
            plan["links"][0] = and(plan["links"][0].clone(), json!({"router": {"kind": "xcp"}}));
        }
        let mut watched = stepped(&plan, Rates::Planned);
        assert!(watched.watch(0));
        while !watched.is_done() {
            let to_s = 0.013 + watched.now().as_secs_f64();
            go_on(&mut watched, to_s);
            assert!(watched.look(0).is_some());
        }
        assert_same(&run(&plan), &watched.finish().unwrap());
    }
}

#[test]
fn a_watched_sender_tells_its_round_trip_times_and_what_it_sent() {
    let eager = with(flow("a", "reno"), json!({"delayed_ack": false}));
    let mut run = stepped(&dumbbell(12e6, 1000, 10.0, vec![eager]), Rates::Planned);
    run.watch(0);
    run.steer(0, hold(1.0));
    go_on(&mut run, 1.0);
    run.look(0);
    go_on(&mut run, 5.0);
    let seen = run.look(0).unwrap();
    // 12 Mbit/s take 1 ms for a packet of 1500 bytes and 35 us for an acknowledgement of 52; the hosts' own
    // links of 1 Gbit/s take 12.4 us for both
    assert!((seen.rtt_mean_s - 0.043047).abs() < 5e-6, "{seen:?}");
    assert!(seen.rtt_increase_s.abs() < 1e-6 && (92..=93).contains(&seen.rtts), "{seen:?}");
    assert_eq!((seen.in_flight, seen.retransmits, seen.window.cwnd), (1, 0, 1.0));
    // with 60 segments in flight, 17 ms wait in the queue
    run.steer(0, hold(60.0));
    go_on(&mut run, 6.0);
    run.look(0);
    go_on(&mut run, 7.0);
    let seen = run.look(0).unwrap();
    assert!((seen.rtt_mean_s - 0.060).abs() < 1e-4, "{seen:?}");
    assert_eq!(seen.sent - seen.delivered, 60);
}

#[test]
fn nothing_steers_a_transport_over_udp_or_a_run_that_has_ended() {
    let mut run = stepped(&dumbbell(5e6, 20, 1.0, vec![flow("a", "udt"), flow("b", "reno")]), Rates::Planned);
    assert!(!run.steer(0, hold(5.0)) && !run.watch(0) && run.look(0).is_none());
    go_on(&mut run, 2.0);
    assert!(run.is_done() && !run.steer(1, hold(5.0)));
    assert_eq!(run.now(), run.end());
}
