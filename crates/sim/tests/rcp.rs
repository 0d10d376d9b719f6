//! RCP from end to end: flows have their share from their first round trip on, whatever their round-trip
//! times; a loss on the path does not move them; short transfers are done sooner than with XCP; and the
//! mechanisms of Lopez Pacheco's thesis around it (section 7.4).
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::clouds::net;
use crate::common::explicit::{self, assert_near, dropped};
use crate::common::{assert_same_series, column, dumbbell, flow, link, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

fn guided(mut plan: Value) -> Value {
    plan["links"][0]["router"] = json!({"kind": "rcp"});
    plan
}

/// RCP flows with these round-trip times and starts over one bottleneck with an RCP router; 1500 bytes of IP
/// with the header.
fn plan(rate_bps: f64, packets: u64, duration_s: f64, flows: &[(f64, f64)]) -> Value {
    let mut plan = explicit::plan("rcp", rate_bps, packets, duration_s, flows);
    for i in 0..flows.len() {
        plan["flows"][i]["mss"] = json!(1436);
        plan["flows"][i]["header_bytes"] = json!(64);
    }
    guided(plan)
}

fn push(plan: &mut Value, flow: Value) {
    plan["flows"].as_array_mut().expect("a list").push(flow);
}

fn over(plan: &Value, from_s: f64, to_s: f64) -> Outcome {
    run(&with(plan.clone(), json!({"window_s": [from_s, to_s]})))
}

fn rates(outcome: &Outcome) -> Vec<f64> {
    outcome.summary.flows.iter().map(|f| f.throughput_bps).collect()
}

#[test]
fn a_flow_that_joins_others_has_their_rate_in_its_first_round_trip_of_data() {
    // a flow each 4 s on 100 Mbit/s and 100 ms. A newcomer sends as fast as the others, so each has C / N of
    // the full link at once. The queue that this builds costs all of them some of their rate after five to
    // fifteen round trips
    let flows: Vec<_> = (0..6).map(|i| (0.1, 4.0 * f64::from(i))).collect();
    let plan = plan(100e6, 2000, 26.0, &flows);
    for n in 2..=6 {
        let joins_s = 4.0 * (n - 1) as f64;
        for (round_trip, tolerance) in [(2.0, 0.02), (4.0, 0.02), (20.0, 0.05), (30.0, 0.01)] {
            let from_s = joins_s + 0.1 * round_trip;
            let rates = rates(&over(&plan, from_s, from_s + 0.1));
            let what = format!("{n} flows, round trip {round_trip}");
            assert_near(&rates[..n], &vec![100e6 / n as f64; n], tolerance, &what);
        }
    }
}

#[test]
fn flows_that_start_together_on_a_router_that_was_just_switched_on_are_even_at_once_and_full_in_time() {
    // R begins at a twentieth of the link: ten flows begin at half of it
    let plan = plan(100e6, 1666, 5.0, &[(0.1, 0.0); 10]);
    let second = rates(&over(&plan, 0.1, 0.3));
    let (least, most) = second.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), &r| (l.min(r), m.max(r)));
    assert!(most / least < 1.1 && least > 0.02 * 100e6, "{second:?}");
    let full = over(&plan, 3.0, 5.0);
    assert_near(&rates(&full), &[10e6; 10], 0.01, "rates");
    assert_eq!(dropped(&full), 0.0);
}

#[test]
fn the_request_for_a_connection_brings_the_rate_of_the_first_packets() {
    // A router that was just switched on offers 0.05 of 24 Mbit/s: 100 packets a second, 10 ms apart. It
    // hears of one request and keeps nearly that rate in the 10 ms of an interval; the second of two packets
    // leaves 10 ms after the first, so the transfer is done after two round trips and that. TCP sends both at
    // once
    let done_s = |algorithm: &str| {
        let mut plan = plan(24e6, 200, 2.0, &[(0.1, 0.0)]);
        plan["flows"][0]["algorithm"] = json!(algorithm);
        plan["flows"][0]["bytes"] = json!(2 * 1436);
        plan["events"] = json!(true);
        let outcome = run(&plan);
        outcome.events.iter().find(|e| e.what == "done").map_or(f64::NAN, |e| e.time_s)
    };
    let (rcp, sack) = (done_s("rcp"), done_s("reno"));
    assert!((rcp - sack - 0.01).abs() < 0.0015, "{rcp} {sack}");
}

#[test]
fn a_transfer_beside_a_long_flow_takes_little_more_than_two_round_trips_and_with_xcp_several() {
    // 100 kB are 70 packets: at the rate of the long flow, 100 Mbit/s, 8.4 ms after the two round trips of
    // the connection and the last acknowledgement, and at half of it 16.8 ms
    let took_s = |algorithm: &str| {
        let mut plan = plan(100e6, 1666, 8.0, &[(0.1, 0.0), (0.1, 6.0)]);
        plan["links"][0]["router"] = json!({"kind": algorithm});
        plan["events"] = json!(true);
        for i in 0..2 {
            plan["flows"][i]["algorithm"] = json!(algorithm);
        }
        plan["flows"][1]["bytes"] = json!(100_000);
        let outcome = run(&plan);
        outcome.events.iter().find(|e| e.what == "done").map_or(f64::NAN, |e| e.time_s - 6.0)
    };
    let (rcp, xcp) = (took_s("rcp"), took_s("xcp"));
    assert!((0.2084..0.2168).contains(&rcp), "{rcp}");
    assert!(xcp > 2.0 * rcp, "{xcp} {rcp}");
}

#[test]
fn flows_of_unlike_round_trip_times_share_evenly() {
    for starts_s in [[0.0; 4], [6.0, 4.0, 2.0, 0.0]] {
        let flows: Vec<_> = [0.04, 0.08, 0.16, 0.32].into_iter().zip(starts_s).collect();
        let outcome = over(&plan(50e6, 2000, 30.0, &flows), 20.0, 30.0);
        assert_near(&rates(&outcome), &[12.5e6; 4], 0.01, "rates");
        assert!(outcome.summary.links[0].queue_mean_packets < 5.0);
    }
}

#[test]
fn two_bottlenecks_are_shared_max_min() {
    // 20 and 10 Mbit/s: the second link gives its two flows 5 each, and the first link's other flow has the
    // rest of 20
    for (second_bps, expected) in [(10e6, [5e6, 15e6, 5e6]), (20e6, [10e6; 3])] {
        let one = |name: &str, rtt_s: f64, forward: Value| {
            let changes = json!({"rtt_s": rtt_s, "mss": 1436, "header_bytes": 64, "forward": forward});
            with(flow(name, "rcp"), changes)
        };
        let flows = vec![
            one("long", 0.08, json!([0, 2])),
            one("first", 0.06, json!([0])),
            one("second", 0.04, json!([2])),
        ];
        let mut plan = guided(dumbbell(20e6, 400, 40.0, flows));
        let second = with(link("second", second_bps, 400), json!({"delay_s": 0.0}));
        plan["links"].as_array_mut().expect("a list").push(second);
        plan["links"][0]["delay_s"] = json!(0.01);
        plan["links"][2]["router"] = json!({"kind": "rcp"});
        assert_near(&rates(&over(&plan, 20.0, 40.0)), &expected, 0.01, "long, first, second");
    }
}

#[test]
fn losses_before_the_router_cost_no_rate_because_it_offers_more() {
    for probability in [0.0, 1e-3, 1e-2] {
        let mut plan = plan(50e6, 700, 20.0, &[(0.08, 0.0), (0.04, 0.0)]);
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": probability});
        let outcome = over(&plan, 5.0, 20.0);
        assert_near(&rates(&outcome), &[25e6; 2], 0.01, &format!("{probability}"));
        let flows = &outcome.summary.flows;
        assert!(flows.iter().all(|f| f.timeouts == 0 && (f.loss_ratio - probability).abs() < 2e-3));
    }
}

#[test]
fn lost_acknowledgements_cost_nothing_because_each_carries_the_whole_rate() {
    // the "r" architecture (Lopez Pacheco 2008, chapter 5) has nothing to add to RCP
    for probability in [0.0, 0.3, 0.5] {
        let mut plan = plan(30e6, 400, 12.0, &[(0.08, 0.0), (0.08, 1.0), (0.04, 2.0)]);
        plan["links"][1]["ack_loss"] = json!({"kind": "random", "probability": probability});
        let outcome = over(&plan, 6.0, 12.0);
        assert_near(&rates(&outcome), &[10e6; 3], 0.01, &format!("{probability}"));
        assert_eq!(dropped(&outcome), 0.0, "{probability}");
    }
}

#[test]
fn rates_follow_a_capacity_that_falls_and_rises() {
    let mut plan = plan(50e6, 1500, 30.0, &[(0.04, 0.0), (0.08, 0.0)]);
    plan["links"][0]["capacity"] = json!({"steps": [[0.0, 50e6], [10.0, 20e6], [20.0, 50e6]]});
    for (from_s, to_s, each_bps) in [(5.0, 10.0, 25e6), (15.0, 20.0, 10e6), (25.0, 30.0, 25e6)] {
        assert_near(&rates(&over(&plan, from_s, to_s)), &[each_bps; 2], 0.02, &format!("from {from_s} s"));
    }
}

#[test]
fn flows_share_evenly_what_traffic_that_does_not_listen_leaves() {
    let mut plan = plan(50e6, 660, 30.0, &[(0.08, 0.0), (0.04, 0.0)]);
    let udp =
        with(flow("udp", "cbr"), json!({"parameters": {"rate": 20.0}, "start_s": 10.0, "stop_s": 20.0}));
    push(&mut plan, udp);
    for (from_s, to_s, each_bps) in [(5.0, 10.0, 25e6), (15.0, 20.0, 15e6), (25.0, 30.0, 25e6)] {
        let outcome = over(&plan, from_s, to_s);
        assert_near(&rates(&outcome)[..2], &[each_bps; 2], 0.02, &format!("from {from_s} s"));
    }
}

#[test]
fn behind_a_plain_queue_it_is_standard_tcp() {
    let mut plan = plan(50e6, 333, 180.0, &[(0.08, 0.0), (0.08, 1.0)]);
    plan["links"][0]["router"] = Value::Null;
    push(&mut plan, with(flow("reno", "reno"), json!({"rtt_s": 0.08})));
    let outcome = over(&plan, 20.0, 180.0);
    assert!(outcome.summary.links[0].utilization > 0.98 && dropped(&outcome) > 0.0);
    let rates = rates(&outcome);
    assert!(rates.iter().all(|r| (r / (50e6 / 3.0) - 1.0).abs() < 0.3), "{rates:.0?}");
}

#[test]
fn a_router_leaves_flows_without_headers_as_they_are() {
    let tcp = || {
        dumbbell(20e6, 50, 10.0, vec![flow("a", "reno"), with(flow("b", "htcp"), json!({"start_s": 1.0}))])
    };
    let (without, with) = (run(&tcp()), run(&guided(tcp())));
    assert_same_series(&without.flows, &with.flows);
    assert!(dropped(&with) > 0.0);
}

#[test]
fn xcp_i_carries_it_through_clouds_that_a_plain_rcp_router_does_not_see() {
    // figure 4.7 with RCP (section 7.4): two clouds, 30 Mbit/s in the first
    let through = |outer: Value, cloud: Option<&str>| {
        let hops = [
            ((0, 1), 80.0, Some("rcp")),
            ((1, 2), 30.0, cloud),
            ((2, 3), 80.0, Some("rcp")),
            ((3, 4), 50.0, cloud),
            ((4, 5), 80.0, Some("rcp")),
        ];
        let mut plan = net(&hops, 40.0, &[(&[0, 1, 2, 3, 4], 0.0)]);
        for link in plan["links"].as_array_mut().into_iter().flatten() {
            if link["router"]["kind"] == "rcp" {
                link["router"] = outer.clone();
            }
        }
        plan["flows"][0]["algorithm"] = json!("rcp");
        let outcome = over(&plan, 20.0, 40.0);
        let drops = |(name, _): &(String, _)| {
            column(&outcome.links, name, "packets_dropped").last().copied().unwrap_or(f64::NAN)
        };
        (rates(&outcome)[0], outcome.links.iter().map(drops).sum::<f64>())
    };
    let (all_bps, _) = through(json!({"kind": "rcp"}), Some("rcp"));
    let (clouds_bps, clouds_dropped) = through(json!({"kind": "xcp-i", "protocol": "rcp"}), None);
    let (without_bps, without_dropped) = through(json!({"kind": "rcp"}), None);
    println!("{all_bps:.0} {clouds_bps:.0} {clouds_dropped} {without_bps:.0} {without_dropped}");
    assert!((clouds_bps / all_bps - 1.0).abs() < 0.05, "{clouds_bps} {all_bps}");
    assert_eq!(clouds_dropped, 0.0);
    assert!(without_dropped > 10_000.0, "{without_dropped}");
}

#[test]
fn beside_tcp_it_keeps_a_share_only_behind_the_friendly_router() {
    let share = |router: Value| {
        let mut plan = plan(200e6, 1000, 60.0, &[(0.02, 0.0), (0.02, 0.0)]);
        for i in 0..2 {
            push(&mut plan, with(flow(&format!("sack{i}"), "reno"), json!({"rtt_s": 0.02, "start_s": 5.0})));
        }
        plan["links"][0]["router"] = router;
        rates(&over(&plan, 20.0, 60.0))[..2].iter().sum::<f64>() / 200e6
    };
    let alone = share(json!({"kind": "rcp"}));
    let kept = share(json!({"kind": "friendly", "protocol": "rcp", "update": "packet"}));
    println!("{alone} {kept}");
    assert!(alone < 0.02, "an RCP router alone leaves it {alone:.3}");
    // its fair share is a half; the standard flows take long to return to theirs after each drop, as with XCP
    assert!((0.5..0.8).contains(&kept), "{kept:.3}");
}

#[test]
fn both_drivers_give_the_same_bytes() {
    let mut varying = plan(20e6, 60, 6.0, &[(0.04, 0.0), (0.015, 1.0), (0.07, 1.5)]);
    varying["links"][0]["capacity"] = json!({"steps": [[0.0, 20e6], [2.0, 6e6], [4.5, 12e6]]});
    varying["links"][0]["loss"] = json!({"kind": "every", "packets": 300});
    push(&mut varying, with(flow("reno", "reno"), json!({"start_s": 1.0})));
    for plan in [plan(20e6, 60, 6.0, &[(0.04, 0.0), (0.015, 1.0), (0.07, 1.5)]), varying] {
        run_by_both(&with(plan, json!({"duration_s": 6.0, "window_s": [1.0, 5.5]})));
    }
}
