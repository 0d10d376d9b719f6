//! XCP from end to end: full, fair and without drops, at constant and at varying capacity, beside other
//! traffic, and the same with both drivers.

use crate::common::explicit::{self, dropped, jain, jain_of, measured_from};
use crate::common::{assert_same_series, column, dumbbell, flow, refusal_of, run, run_by_both, with};
use serde_json::{Value, json};

/// XCP flows over one bottleneck, as in [`explicit::plan`].
fn plan(rate_bps: f64, packets: u64, duration_s: f64, flows: &[(f64, f64)]) -> Value {
    explicit::plan("xcp", rate_bps, packets, duration_s, flows)
}

#[test]
fn one_flow_fills_the_link_within_ten_round_trips_without_a_drop_and_leaves_the_queue_empty() {
    for (rate_bps, rtt_s) in [(20e6, 0.04), (100e6, 0.1), (622e6, 0.08)] {
        let packets = (rate_bps * rtt_s / 12_000.0) as u64;
        let outcome = measured_from(plan(rate_bps, packets, 40.0 * rtt_s, &[(rtt_s, 0.0)]), 11.0 * rtt_s);
        let link = &outcome.summary.links[0];
        assert!(link.utilization >= 0.95, "{rate_bps}: utilization {:.4}", link.utilization);
        assert_eq!(dropped(&outcome), 0.0, "{rate_bps}");
        assert!(
            link.queue_mean_packets < 0.1 * packets as f64,
            "{rate_bps}: {:.1} of {packets} packets wait",
            link.queue_mean_packets
        );
    }
}

#[test]
fn ten_like_flows_share_evenly() {
    let flows: Vec<_> = (0..10).map(|i| (0.08, 0.2 * f64::from(i))).collect();
    let outcome = measured_from(plan(100e6, 660, 16.0, &flows), 8.0);
    let link = &outcome.summary.links[0];
    assert!(jain(&outcome) >= 0.99, "Jain's index {:.5}", jain(&outcome));
    assert!(link.utilization >= 0.95, "utilization {:.4}", link.utilization);
    assert_eq!(dropped(&outcome), 0.0);
    assert!(link.queue_mean_packets < 33.0, "{:.1} packets wait", link.queue_mean_packets);
}

#[test]
fn ten_and_a_hundred_like_flows_that_start_together_fill_the_link_within_ten_round_trips() {
    for (flows, rate_bps) in [(10, 100e6), (100, 200e6)] {
        let together = vec![(0.08, 0.0); flows];
        let plan = plan(rate_bps, (rate_bps * 0.08 / 12_000.0) as u64, 4.0, &together);
        let outcome = measured_from(plan, 11.0 * 0.08);
        let link = &outcome.summary.links[0];
        assert!(jain(&outcome) >= 0.99, "{flows}: Jain's index {:.5}", jain(&outcome));
        assert!(link.utilization >= 0.95, "{flows}: utilization {:.4}", link.utilization);
        assert_eq!(dropped(&outcome), 0.0, "{flows}");
        let room = rate_bps * 0.08 / 12_000.0;
        assert!(link.queue_mean_packets < 0.1 * room, "{flows}: {:.1} of {room}", link.queue_mean_packets);
    }
}

#[test]
fn a_hundred_flows_that_start_one_after_the_other_share_evenly() {
    let flows: Vec<_> = (0..100).map(|i| (0.08, 0.05 * f64::from(i))).collect();
    let outcome = measured_from(plan(200e6, 1333, 20.0, &flows), 10.0);
    let link = &outcome.summary.links[0];
    assert!(jain(&outcome) >= 0.99, "Jain's index {:.5}", jain(&outcome));
    assert!(link.utilization >= 0.95, "utilization {:.4}", link.utilization);
    assert_eq!(dropped(&outcome), 0.0);
}

#[test]
fn xcp_shares_evenly_what_a_flow_of_constant_rate_leaves() {
    let mut plan = plan(100e6, 660, 20.0, &[(0.08, 0.0), (0.08, 1.0), (0.08, 2.0)]);
    let cbr = with(flow("cbr", "cbr"), json!({"parameters": {"rate": 40.0}, "start_s": 5.0}));
    plan["flows"].as_array_mut().expect("a list").push(cbr);
    let outcome = measured_from(plan, 10.0);
    assert!(jain_of(&outcome, 3) >= 0.99, "Jain's index {:.5}", jain_of(&outcome, 3));
    let rates: Vec<f64> = outcome.summary.flows.iter().map(|f| f.throughput_bps / 1e6).collect();
    assert!((38.0..42.0).contains(&rates[3]), "{rates:?}");
    assert!(outcome.summary.links[0].utilization >= 0.95, "{rates:?}");
    assert_eq!(dropped(&outcome), 0.0);
}

#[test]
fn flows_of_unlike_round_trip_times_share_evenly() {
    // SIGCOMM 2002, section 5: XCP is fair whatever the round-trip times; TCP's shares would be as 1 to 8
    let flows: Vec<_> = [0.04, 0.08, 0.16, 0.32].map(|rtt_s| (rtt_s, 0.0)).to_vec();
    let outcome = measured_from(plan(50e6, 700, 60.0, &flows), 30.0);
    assert!(jain(&outcome) >= 0.98, "Jain's index {:.5}", jain(&outcome));
    assert!(outcome.summary.links[0].utilization >= 0.95);
    assert_eq!(dropped(&outcome), 0.0);
}

#[test]
fn four_flows_that_come_and_go_as_in_the_thesis_are_fair_fill_the_link_and_lose_nothing() {
    // Lopez Pacheco 2008, figure 2.11 (claim LOP-2e), with the capacity chosen here
    let flows: Vec<_> = (0..4).map(|i| (0.08, 5.0 * f64::from(i))).collect();
    let mut plan = plan(100e6, 660, 40.0, &flows);
    for (i, stop_s) in [35.0, 30.0, 40.0, 40.0].into_iter().enumerate() {
        plan["flows"][i]["stop_s"] = json!(stop_s);
    }
    for (from_s, to_s, active) in [(2.0, 5.0, 1), (8.0, 10.0, 2), (12.0, 15.0, 3), (18.0, 30.0, 4)] {
        let outcome = run(&with(plan.clone(), json!({"window_s": [from_s, to_s]})));
        let rates: Vec<f64> = outcome.summary.flows.iter().take(active).map(|f| f.throughput_bps).collect();
        let even = 100e6 / active as f64;
        assert!(rates.iter().all(|r| (r / even - 1.0).abs() < 0.1), "{from_s} s: {rates:.0?}");
        assert!(outcome.summary.links[0].utilization >= 0.95, "{from_s} s");
        assert_eq!(dropped(&outcome), 0.0);
    }
}

#[test]
fn acknowledgements_that_answer_for_two_segments_give_the_same_shares_as_those_for_one() {
    for delayed in [true, false] {
        let mut plan = plan(50e6, 330, 10.0, &[(0.08, 0.0), (0.08, 1.0)]);
        for i in 0..2 {
            plan["flows"][i]["delayed_ack"] = json!(delayed);
        }
        let outcome = measured_from(plan, 5.0);
        assert!(jain(&outcome) >= 0.99 && outcome.summary.links[0].utilization >= 0.95, "{delayed}");
        assert_eq!(dropped(&outcome), 0.0, "{delayed}");
    }
}

#[test]
fn headers_count_on_the_wire_both_ways() {
    let outcome = run(&plan(20e6, 100, 5.0, &[(0.04, 0.0)]));
    let data = &outcome.summary.flows[0];
    // 1428 of 1500 bytes are payload
    let share = data.goodput_bps / data.throughput_bps;
    assert!((share - 1428.0 / 1500.0).abs() < 0.005, "{share}");
    // an acknowledgement without data is 52 bytes, and 20 of header; one of 60 opens the connection
    let [acks, bytes] =
        ["packets_out", "bytes_out"].map(|c| column(&outcome.links, "reverse", c).last().copied());
    let (acks, bytes) = (acks.unwrap_or(0.0), bytes.unwrap_or(0.0));
    assert!(acks > 1000.0 && bytes == 60.0 + 72.0 * (acks - 1.0), "{acks} packets, {bytes} bytes");
}

#[test]
fn a_router_leaves_flows_without_headers_as_they_are() {
    let tcp = || {
        dumbbell(20e6, 50, 10.0, vec![flow("a", "reno"), with(flow("b", "htcp"), json!({"start_s": 1.0}))])
    };
    let mut routed = tcp();
    routed["links"][0]["router"] = json!({"kind": "xcp"});
    let (without, with) = (run(&tcp()), run(&routed));
    assert_same_series(&without.flows, &with.flows);
    assert!(dropped(&with) > 0.0);
}

#[test]
fn xcp_yields_to_tcp_on_a_plain_xcp_router() {
    // claim LOP-6a in small: the router counts TCP's traffic as input, so XCP gives way until it has one
    // packet left
    let mut plan = plan(50e6, 330, 60.0, &[(0.08, 0.0)]);
    let tcp = with(flow("tcp", "reno"), json!({"rtt_s": 0.08, "start_s": 5.0, "access_rate_bps": 5e8}));
    plan["flows"].as_array_mut().expect("a list").extend([tcp.clone(), with(tcp, json!({"name": "other"}))]);
    let outcome = measured_from(plan, 40.0);
    let rates: Vec<f64> = outcome.summary.flows.iter().map(|f| f.throughput_bps).collect();
    assert!(rates[0] < 0.1 * 50e6 && rates[1] + rates[2] > 0.85 * 50e6, "{rates:.0?}");
}

#[test]
fn a_loss_halves_the_window_and_feedback_brings_it_back() {
    let mut plan = plan(50e6, 330, 30.0, &[(0.04, 0.0)]);
    plan["links"][0]["loss"] = json!({"kind": "every", "packets": 10000});
    let outcome = measured_from(plan, 1.0);
    let flow = &outcome.summary.flows[0];
    assert!(flow.congestion_events >= 5 && flow.timeouts == 0, "{flow:?}");
    assert!(outcome.summary.links[0].utilization > 0.9, "{}", outcome.summary.links[0].utilization);
}

fn capacities() -> [Value; 3] {
    [
        json!({"sine": {"least_bps": 5e6, "period_s": 3.0}}),
        json!({"steps": [[0.0, 20e6], [2.0, 6e6], [4.5, 12e6]]}),
        json!({"trace_ms": (0..200).map(|i| i + i * i / 300).collect::<Vec<u64>>()}),
    ]
}

#[test]
fn both_drivers_give_the_same_bytes_with_routers_and_with_capacities_that_vary() {
    for capacity in [Value::Null].into_iter().chain(capacities()) {
        for (queue, router) in [("droptail", true), ("codel", true), ("pie", true), ("droptail", false)] {
            let mut plan = plan(20e6, 60, 6.0, &[(0.04, 0.0), (0.015, 1.0), (0.07, 1.5)]);
            plan["flows"][2]["algorithm"] = json!("reno");
            plan["links"][0]["capacity"] = capacity.clone();
            plan["links"][0]["queue"] = json!({"kind": queue, "limit_packets": 60});
            if !router {
                plan["links"][0]["router"] = Value::Null;
            }
            plan["window_s"] = json!([1.0, 5.5]);
            let outcome = run_by_both(&plan);
            let link = &outcome.summary.links[0];
            assert!(
                link.utilization > 0.3 && link.utilization <= 1.0,
                "{queue} {capacity}: {}",
                link.utilization
            );
        }
    }
}

#[test]
fn a_queue_that_is_never_empty_uses_all_of_a_capacity_that_varies() {
    for (capacity, mean_bps) in capacities().into_iter().zip([12.5e6, 378.2e6 / 32.1, 200.0 * 12e3 / 0.331]) {
        let mut plan = dumbbell(20e6, 400, 33.1, vec![with(flow("a", "reno"), json!({"max_window": 300.0}))]);
        plan["links"][0]["capacity"] = capacity.clone();
        plan["window_s"] = json!([1.0, 33.1]);
        let outcome = run(&plan);
        let link = &outcome.summary.links[0];
        assert!((0.995..=1.0).contains(&link.utilization), "{capacity}: {}", link.utilization);
        let rate = link.rate_bps / mean_bps;
        assert!((rate - 1.0).abs() < 0.05, "{capacity}: mean rate {}", link.rate_bps);
        let carried = outcome.summary.flows[0].throughput_bps;
        assert!((carried / link.rate_bps - 1.0).abs() < 0.02, "{capacity}: {carried}");
    }
}

#[test]
fn xcp_follows_a_sine_capacity_without_a_drop() {
    // claim LOP-3a at a tenth of its rate: 100..30 Mbit/s, period 32 s, 100 ms, 1250 packets of room
    let mut plan = plan(100e6, 1250, 50.0, &[(0.1, 0.0)]);
    plan["links"][0]["capacity"] = json!({"sine": {"least_bps": 30e6, "period_s": 32.0}});
    let outcome = measured_from(plan, 16.0);
    let link = &outcome.summary.links[0];
    assert!(link.utilization > 0.95, "{}", link.utilization);
    assert_eq!(dropped(&outcome), 0.0);
}

#[test]
fn plans_with_unsound_routers_or_capacities_are_refused_with_their_key() {
    let refusal = |key: &str, value: Value| {
        let mut plan = dumbbell(1e7, 50, 1.0, vec![flow("a", "reno")]);
        plan["links"][0][key] = value;
        refusal_of(&plan).unwrap_or_else(|| panic!("accepted")).to_string()
    };
    for (key, value, expected) in [
        ("router", json!({"kind": "xpc"}), r#"links[0].router.kind: there is no router "xpc""#),
        (
            "router",
            json!({"kind": "xcp", "alpha": 3.0}),
            "links[0].router: xcp.alpha = 3 is not accepted; give a number from 0.001 to 1 of spare capacity",
        ),
        (
            "capacity",
            json!({"sine": {"least_bps": 2e7, "period_s": 1.0}}),
            "links[0].capacity.least_bps: 20000000 is not accepted; give a number from 1 to 10000000",
        ),
        (
            "capacity",
            json!({"steps": [[1.0, 1e6], [0.5, 1e6]]}),
            "links[0].capacity: give one step or more, each later than the one before",
        ),
        (
            "capacity",
            json!({"trace_ms": [3, 2]}),
            "links[0].capacity: give times in ascending order, the last one after 0",
        ),
    ] {
        assert_eq!(refusal(key, value), expected);
    }
}
