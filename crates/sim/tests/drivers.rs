//! The two drivers give the same bytes: in batches with computed departures, and event by event with queues
//! that the link asks for packets. Odd plans still give finite numbers.

use crate::common::disturbance::{disturbance, with_tick};
use crate::common::{bulk, column, dumbbell, flow, link, onoff, run, run_by_both, short, surge, web, with};
use longfat_net::queue::disciplines;
use longfat_sim::Outcome;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Requests of 60 bytes from hosts whose own links take no time. Each request occupies the bottleneck for
/// 480 ms.
fn requests(kind: &str, starts_s: &[f64], duration_s: f64) -> Outcome {
    let flows = starts_s.iter().enumerate().map(|(i, start_s)| {
        with(flow(&i.to_string(), "reno"), json!({"access_rate_bps": 1e14, "start_s": start_s, "rtt_s": 1.0}))
    });
    let mut plan = dumbbell(1e3, 50, duration_s, flows.collect());
    let queue = &mut plan["links"][0]["queue"];
    queue["kind"] = json!(kind);
    if kind != "droptail" {
        (queue["target"], queue["interval"]) = (json!(5000), json!(10_000)); // no packet waits so long
    }
    run_by_both(&plan)
}

/// A discipline for each way of a batch over a link.
const WAYS: [&str; 3] = ["droptail", "codel", "fq_codel"];

#[test]
fn a_sample_at_the_very_time_of_a_departure_comes_before_it() {
    for kind in WAYS {
        // a sample is taken when the sixth transmission begins, after 5 x 480 ms, within a batch of the
        // seventh request
        let outcome = requests(kind, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.35], 5.0);
        let begun = column(&outcome.links, "bottleneck", "packets_out");
        assert_eq!((begun[24], begun[25]), (5.0, 6.0), "{kind}");
    }
}

#[test]
fn a_transmission_that_begins_at_the_very_end_counts_for_both() {
    for kind in WAYS {
        assert_eq!(requests(kind, &[0.0; 6], 2.4).summary.packets, 6, "{kind}");
    }
}

#[test]
fn a_packet_that_comes_when_the_link_becomes_free_does_not_wait() {
    for kind in WAYS {
        let summary = requests(kind, &[0.0, 0.48, 0.96], 0.99).summary;
        assert_eq!((summary.packets, summary.links[0].queue_max_packets), (3, 0), "{kind}");
        // and the one that waited has left
        let summary = requests(kind, &[0.0, 0.0, 0.48], 0.99).summary;
        assert_eq!((summary.packets, summary.links[0].queue_max_packets), (3, 1), "{kind}");
    }
}

#[test]
fn links_without_any_delay_give_the_same_bytes_whatever_their_queue() {
    for row in disciplines() {
        let flows = ["a", "b"].map(|name| with(flow(name, "reno"), json!({"rtt_s": 0.0})));
        let mut plan = dumbbell(5e6, 20, 2.0, flows.to_vec());
        plan["links"][0]["queue"]["kind"] = json!(row.name);
        assert!(
            run_by_both(&plan).summary.flows.iter().all(|flow| flow.throughput_bps > 1e6),
            "{}",
            row.name
        );
    }
}

#[test]
fn links_of_different_ways_beside_each_other_give_the_same_bytes() {
    // one link meets a flow of a longer path, one a lossy one
    let paths: [(&[usize], &[usize]); 5] =
        [(&[0], &[1]), (&[1], &[0]), (&[0], &[0]), (&[2, 3], &[4]), (&[5], &[4])];
    for row in disciplines() {
        let flows = paths.iter().enumerate().map(|(i, (forward, reverse))| {
            let changes = json!({"forward": forward, "reverse": reverse, "rtt_s": 0.02 + 0.01 * i as f64,
                "access_rate_bps": 3e7});
            with(flow(&i.to_string(), "reno"), changes)
        });
        let mut plan = dumbbell(8e6, 20, 4.0, flows.collect());
        let more = (2..6).map(|i| link(&format!("link {i}"), 5e6 + 1e6 * f64::from(i), 20));
        plan["links"].as_array_mut().unwrap().extend(more);
        for link in plan["links"].as_array_mut().unwrap().iter_mut() {
            link["queue"]["kind"] = json!(row.name);
            link["delay_s"] = json!(0.002);
        }
        plan["links"][5]["loss"] = json!({"kind": "random", "probability": 0.01});
        let links = run_by_both(&plan).summary.links;
        assert!(links.iter().all(|link| link.packets_in > 100), "{}: {links:?}", row.name);
    }
}

#[test]
fn a_packet_larger_than_a_queue_in_bytes_is_dropped_by_both() {
    let mut plan = dumbbell(1e6, 10, 5.0, vec![flow("a", "reno")]);
    plan["links"][0]["queue"] = json!({"kind": "droptail", "limit_bytes": 1000});
    let outcome = run_by_both(&plan);
    assert!(outcome.summary.links[0].packets_dropped > 0);
}

#[test]
fn losses_of_either_direction_strike_alike_at_a_link_with_few_flows_and_with_many() {
    for (flows, (link, key)) in
        [2, 9].into_iter().flat_map(|n| [(0, "loss"), (1, "ack_loss")].map(|k| (n, k)))
    {
        let many = (0..flows).map(|i| flow(&i.to_string(), "reno")).collect();
        let mut plan = with(dumbbell(2e7, 60, 4.0, many), json!({"window_s": [1.0, 3.0]}));
        plan["links"][link][key] = json!({"kind": "random", "probability": 0.02});
        plan["background"] = json!([web("web", 3)]);
        let links = run_by_both(&plan).summary.links;
        assert!(links[link].packets_lost > 10 && links[1 - link].packets_lost == 0, "{flows} {key}");
    }
}

#[test]
fn long_transfers_are_counted_at_bounds_that_they_cross_as_by_the_oracle() {
    let mut files = with(short("files"), json!({"gap_s": 0.05}));
    files["flow"]["rtt_s"] = json!(0.2);
    let mut plan = with(dumbbell(4e6, 40, 8.0, vec![]), json!({"window_s": [2.0, 5.0]}));
    plan["background"] = json!([files]);
    let counted = run_by_both(&plan).summary.background.remove(0);
    assert!(counted.throughput_bps > 3e6, "some are always under way: {counted:?}");
}

#[test]
fn background_over_two_links_without_delay_ends_though_no_flow_does_so() {
    let mut plan = dumbbell(1e7, 50, 3.0, vec![flow("a", "reno")]);
    let mut pages = web("web", 3);
    pages["flow"]["forward"] = json!([0, 1]);
    plan["background"] = json!([pages]);
    assert!(run_by_both(&plan).summary.background[0].transfers_completed > 0);
}

#[test]
fn a_link_is_never_busy_for_longer_than_the_window() {
    for (rate_bps, duration_s) in [(1.0, 1.0), (1e3, 1.0), (7.77e6, 2.0), (622.08e6, 0.5), (9e12, 0.01)] {
        let outcome = run_by_both(&dumbbell(rate_bps, 100, duration_s, vec![flow("a", "reno")]));
        assert!(outcome.summary.links.iter().all(|l| (0.0..=1.0).contains(&l.utilization)), "{rate_bps}");
    }
    // the connection request is still in transmission when the run ends
    assert!(run(&dumbbell(1.0, 100, 1.0, vec![flow("a", "reno")])).summary.links[0].utilization > 0.999);
}

#[test]
fn the_mean_window_is_of_the_flow_s_lifetime_only() {
    let still = |changes: Value| {
        let fixed = with(flow("a", "reno"), json!({"initial_window": 8.0, "initial_ssthresh": 1.0}));
        let plan = dumbbell(1e9, 100, 10.0, vec![with(fixed, changes)]);
        run(&with(plan, json!({"window_s": [4.0, 10.0]}))).summary.flows.remove(0).cwnd_mean
    };
    // begins after the measured span does, and is over before cwnd could grow
    let late = still(json!({"start_s": 5.0, "bytes": 1448}));
    assert!((late - 8.0).abs() < 1e-6, "{late}");
    // complete after a round trip and a handshake of 1 ms each; FAST's timer runs until 20 ms
    let brief = still(json!({"start_s": 5.0, "bytes": 1448, "rtt_s": 0.001, "algorithm": "fast",
        "parameters": {"variant": "infocom"}}));
    assert!((brief - 8.0).abs() < 1e-6, "{brief}");
}

/// Every discipline, with its defaults or with marks, with a limit in packets or in bytes.
fn any_queue() -> impl Strategy<Value = Value> {
    let rows: Vec<_> = disciplines().collect();
    (proptest::sample::select(rows), any::<bool>(), any::<bool>(), 1u64..60).prop_map(
        |(row, switched, counts_bytes, packets)| {
            let limit =
                if counts_bytes { ("limit_bytes", 1500 * packets) } else { ("limit_packets", packets) };
            let mut queue = json!({"kind": row.name, limit.0: limit.1});
            if switched && row.parameters.iter().any(|p| p.name == "ecn") {
                queue["ecn"] = json!("true");
            }
            queue
        },
    )
}

#[test]
fn batches_that_grow_when_near_connections_have_left_give_the_same_bytes() {
    let mut near = short("near");
    near["flow"]["rtt_s"] = json!({"exponential": [0.0, 0.02]});
    let mut plan = dumbbell(20e6, 60, 20.0, vec![with(flow("far", "reno"), json!({"rtt_s": 0.08}))]);
    plan["background"] = json!([near]);
    let summary = run_by_both(&plan).summary.background.remove(0);
    assert!(summary.transfers_completed > 1000, "{}", summary.transfers_completed);
}

#[test]
fn connections_hand_their_threshold_on_alike_by_both_drivers() {
    let mut users = surge("users", 20);
    let mut brief = short("brief");
    let mut pages = web("pages", 20);
    let named = |i: u32| {
        let flow = with(
            flow(&i.to_string(), "reno"),
            json!({"bytes": 400_000, "start_s": 0.7 * f64::from((7 * i) % 12)}),
        );
        let mut flow = with(flow, json!({"rtt_s": 0.02}));
        flow["hosts"] = json!(i % 2);
        flow
    };
    let run = |cached: bool, mut parts: Vec<Value>, mut flows: Vec<Value>| {
        parts.iter_mut().for_each(|part| part["flow"]["ssthresh_cache"] = json!(cached));
        flows.iter_mut().for_each(|flow| flow["ssthresh_cache"] = json!(cached));
        let mut plan = dumbbell(20e6, 30, 12.0, flows);
        plan["background"] = json!(parts);
        run_by_both(&plan)
    };
    for part in [&mut users, &mut brief, &mut pages] {
        part["flow"]["rtt_s"] = json!(0.02);
    }
    let flows: Vec<Value> = (0..12).map(named).collect();
    let (plain, cached) = (
        run(false, vec![users.clone(), brief.clone(), pages.clone()], flows.clone()),
        run(true, vec![users, brief, pages], flows),
    );
    let last = |outcome: &longfat_sim::Outcome, name: &str| column(&outcome.flows, name, "ssthresh")[119];
    let inherits = |i: &u32| last(&plain, &i.to_string()) != last(&cached, &i.to_string());
    assert!((0..12).any(|i| inherits(&i)), "no flow has inherited");
    let lost = |outcome: &longfat_sim::Outcome| outcome.summary.links[0].packets_dropped;
    assert!(lost(&cached) < lost(&plain), "{} of {}", lost(&cached), lost(&plain));
}

#[test]
fn a_flow_begins_with_the_threshold_that_the_flow_before_it_left_between_the_same_hosts() {
    // the first one ends in congestion avoidance; the second follows, the third lies between other hosts
    let sized = |name: &str, start_s: f64, hosts: u64| {
        let mut sized =
            with(flow(name, "reno"), json!({"bytes": 3_000_000, "start_s": start_s, "rtt_s": 0.02}));
        (sized["hosts"], sized["ssthresh_cache"]) = (json!(hosts), json!(true));
        sized
    };
    let flows = vec![sized("second", 10.0, 1), sized("first", 0.0, 1), sized("third", 10.0, 2)];
    let outcome = run_by_both(&dumbbell(20e6, 30, 12.0, flows));
    let at =
        |name: &str, column_of: &str, s: f64| column(&outcome.flows, name, column_of)[(10.0 * s) as usize];
    let (cwnd, ssthresh) = (at("first", "cwnd", 9.9), at("first", "ssthresh", 9.9));
    assert!(cwnd > ssthresh, "{cwnd} {ssthresh}");
    assert_eq!(at("second", "ssthresh", 10.1), ssthresh.max(0.5 * cwnd));
    assert_eq!(at("third", "ssthresh", 10.1), f64::INFINITY);
}

#[test]
fn every_discipline_gives_the_same_bytes_by_both_drivers_under_load() {
    for row in disciplines() {
        let flows = (0..6).map(|i| {
            let changes = json!({"rtt_s": 0.01 + 0.01 * f64::from(i), "ecn": i % 2 == 0});
            with(flow(&i.to_string(), "reno"), changes)
        });
        let mut plan = dumbbell(10e6, 60, 10.0, flows.collect());
        plan["links"][0]["queue"] = json!({"kind": row.name, "limit_packets": 60});
        if row.ecn {
            plan["links"][0]["queue"]["ecn"] = json!("true");
        }
        plan["window_s"] = json!([2.0, 9.0]);
        let summary = run_by_both(&plan).summary.links.remove(0);
        assert!(summary.packets_dropped + summary.packets_marked > 10, "{}", row.name);
    }
}

#[test]
fn flows_that_are_too_many_for_a_cache_give_the_same_bytes_by_both_drivers() {
    let kinds = ["droptail", "red", "codel", "fq_codel", "fq_pie", "sfq"];
    // a batch has up to a packet of each flow, but at the lower rate only some leave
    for (kind, rate_bps) in kinds.into_iter().flat_map(|kind| [(kind, 1e6), (kind, 2e8)]) {
        for (two_links, losses) in [(false, false), (false, true), (true, false)] {
            let flows = (0..700).map(|i| {
                let (forward, reverse) =
                    if two_links && i % 9 == 0 { (vec![0, 2], vec![3, 1]) } else { (vec![0], vec![1]) };
                let rtt_s = 0.02 + 1e-5 * f64::from(i);
                let changes =
                    json!({"rtt_s": rtt_s, "forward": forward, "reverse": reverse, "access_rate_bps": 1e14});
                with(flow(&i.to_string(), "reno"), changes)
            });
            let mut plan = dumbbell(rate_bps, 400, 0.8, flows.collect());
            plan["background"] = json!([with(web("web", 40), json!({"gap_s": 0.01}))]);
            if two_links {
                plan["links"]
                    .as_array_mut()
                    .unwrap()
                    .extend([link("next", 1e8, 100), link("back", 1e8, 100)]);
            }
            for link in plan["links"].as_array_mut().unwrap().iter_mut() {
                link["delay_s"] = json!(0.004);
            }
            for index in [0, 1] {
                let link = &mut plan["links"][index];
                link["queue"] = json!({"kind": kind, "limit_packets": 400});
                if losses {
                    let random = json!({"kind": "random", "probability": 0.02});
                    (link["loss"], link["ack_loss"]) = (random.clone(), random);
                }
            }
            let links = run_by_both(&plan).summary.links;
            let gone = links[0].packets_dropped + links[0].packets_lost;
            assert!(gone > 10, "{kind} at {rate_bps} bit/s: {gone}");
            assert_eq!(links[1].packets_lost > 10, losses && rate_bps > 1e7);
        }
    }
}

#[test]
fn handles_of_more_flows_than_a_cache_holds_give_the_same_bytes_by_both_drivers() {
    let cases = [(1e6, 400, 2.0), (2e8, 400, 2.0), (2e8, 30, 90.0)];
    let kinds = ["codel", "fq_codel", "sfq", "choke", "pie", "fq_pie", "dualpi2"];
    for (kind, (rate_bps, packets, bursts)) in
        kinds.into_iter().flat_map(|kind| cases.map(|case| (kind, case)))
    {
        let flows = (0..700).map(|i| {
            let changes = json!({"rtt_s": 0.02 + 1e-5 * f64::from(i), "access_rate_bps": 1e14,
                "initial_window": bursts});
            with(flow(&i.to_string(), "reno"), changes)
        });
        let mut plan = dumbbell(rate_bps, packets, 0.5, flows.collect());
        for link in plan["links"].as_array_mut().unwrap().iter_mut() {
            link["delay_s"] = json!(0.004);
            link["queue"] = json!({"kind": kind, "limit_packets": packets});
        }
        let links = run_by_both(&plan).summary.links;
        assert!(links[0].packets_dropped > 10, "{kind}: {links:?}");
    }
}

#[test]
fn a_flow_that_sends_many_times_the_rate_beside_another_gives_the_same_bytes() {
    for row in disciplines() {
        let flood = with(flow("flood", "cbr"), json!({"parameters": {"rate": 9.0}, "access_rate_bps": 1e9}));
        let mut plan = dumbbell(4e6, 60, 3.0, vec![flood, flow("a", "reno")]);
        plan["links"][0]["queue"]["kind"] = json!(row.name);
        let link = run_by_both(&plan).summary.links.remove(0);
        assert!(link.packets_dropped > 5 * link.packets_in / 10, "{}: {link:?}", row.name);
    }
}

/// FQ-CoDel with options that make its rarer ways common.
fn any_fair_queue() -> impl Strategy<Value = Value> {
    let one_of = proptest::sample::select::<u64>;
    let (flows, quantum, batch) =
        (one_of(vec![1, 2, 3, 1024]), one_of(vec![60, 1000, 1514, 9000]), one_of(vec![1, 3, 64]));
    let delays = proptest::sample::select(vec![(5.0, 100.0), (1.0, 8.0), (20.0, 40.0)]);
    (flows, quantum, batch, delays, any::<bool>(), any::<bool>(), 1u64..200).prop_map(
        |(flows, quantum, batch, (target, interval), ecn, counts_bytes, packets)| {
            let limit =
                if counts_bytes { ("limit_bytes", 1500 * packets) } else { ("limit_packets", packets) };
            json!({"kind": "fq_codel", limit.0: limit.1, "flows": flows, "quantum": quantum, "batch": batch,
                "target": target, "interval": interval, "ecn": ecn.to_string()})
        },
    )
}

fn any_flow() -> impl Strategy<Value = Value> {
    let default = |name: &'static str| Just((name, json!({})));
    let algorithm = prop_oneof![
        default("reno"),
        default("newreno"),
        default("tahoe"),
        default("fast"),
        default("bbr"),
        default("bbr3"),
        Just(("bbr3", json!({"variant": "google"}))),
        default("stcp"),
        default("udt"),
        Just(("udt", json!({"variant": "draft"}))),
        default("runat"),
        default("cadpc"),
        default("sabul"),
        Just(("rbudp", json!({"rate": 0.8, "payload": 0.05}))),
        default("tsunami"),
        Just(("cbr", json!({"rate": 0.7}))),
        Just(("onoff", json!({"rate": 0.9, "on": 0.2, "off": 0.3, "periods": "exponential"}))),
    ];
    let tick = prop_oneof![3 => Just(0.0), 1 => Just(0.001)];
    let host = (tick.clone(), tick.clone(), tick);
    let losses = (
        proptest::sample::select(vec![None, None, Some("rack"), Some("reno-classic")]),
        proptest::sample::select(vec!["rate-halving", "prr-9937"]),
    );
    (algorithm, 0.0..0.1, host, 1e6..1e8, any::<bool>(), any::<bool>(), 0.0..2.0, losses).prop_map(
        |(
            (algorithm, parameters),
            rtt_s,
            (tick, moderation, jitter),
            access,
            back,
            delayed,
            start_s,
            (found, recovery),
        )| {
            let (forward, reverse) = if back { (1, 0) } else { (0, 1) };
            let mut flow = flow("", algorithm);
            flow["interrupt_moderation"] = json!(0.7 * moderation);
            flow["send_jitter"] = json!(0.3 * jitter);
            flow["sack_compression"] = json!(0.2 * jitter);
            (flow["loss_detection"], flow["recovery"]) = (json!(found), json!(recovery));
            with(
                flow,
                json!({"parameters": parameters, "rtt_s": rtt_s, "host_tick": tick,
                    "access_rate_bps": access, "forward": [forward], "reverse": [reverse],
                    "delayed_ack": delayed, "start_s": start_s}),
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn both_drivers_give_the_same_bytes(
        seed in 0u64..1000,
        flows in proptest::collection::vec(any_flow(), 1..4),
        rate_bps in 1e5..5e6,
        probability in prop_oneof![Just(0.0), Just(0.02), Just(0.3)],
        sessions in 0u64..12,
        queues in [any_queue(), any_queue()],
        ecn in any::<bool>(),
        users in 0u64..12,
        tick_s in prop_oneof![2 => Just(0.0), 1 => 1e-5..0.02],
        rest_s in prop_oneof![Just(1e-6), Just(0.01), Just(1.0)],
        disturbances in [disturbance(true), disturbance(true)],
    ) {
        let named = flows.into_iter().enumerate();
        let flows = named.map(|(i, f)| with(f, json!({"name": i.to_string(), "ecn": ecn}))).collect();
        let changes = json!({"seed": seed, "events": true, "window_s": [1.5, 4.7]});
        let mut plan = with(dumbbell(rate_bps, 1, 6.0, flows), changes);
        plan["links"][1]["ack_loss"] = json!({"kind": "random", "probability": probability});
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": 0.1 * probability});
        for (i, (queue, disturbance)) in queues.into_iter().zip(disturbances).enumerate() {
            plan["links"][i]["disturbance"] = with_tick(disturbance, tick_s);
            plan["links"][i]["queue"] = queue;
            plan["links"][i]["service_tick_s"] = json!(tick_s);
        }
        let mut pages = with(web("web", sessions), json!({"gap_s": 0.1}));
        pages["flow"]["rtt_s"] = json!({"uniform": [0.001, 0.2]});
        pages["flow"]["interrupt_moderation"] = json!(0.1 * tick_s);
        pages["flow"]["send_jitter"] = json!(0.1 * tick_s);
        pages["flow"]["sack_compression"] = json!(0.1 * tick_s);
        // users that rest for less than a batch open their next connection in the batch in which the last one
        // ends
        let mut files = surge("surge", users);
        let rests = json!({"active_off_scale_s": rest_s, "inactive_off_least_s": rest_s, "tail_share": 0.0});
        files["habits"] = with(files["habits"].clone(), rests);
        files["flow"]["rtt_s"] = json!({"uniform": [0.001, 0.2]});
        let mut arrivals = with(short("short"), json!({"gap_s": rest_s + 0.05}));
        arrivals["flow"]["rtt_s"] = json!({"empirical": [[0.001, 1.0], [0.03, 2.5], [0.2, 1.0]]});
        arrivals["flow"]["loss_detection"] = json!("rack");
        arrivals["flow"]["stop_s"] = json!(4.0);
        let mut lasting = with(bulk("bulk", users / 4), json!({"start_s": {"uniform": [0.0, 5.0]}}));
        lasting["flow"]["stop_s"] = json!(3.0);
        plan["background"] = json!([pages, files, arrivals, lasting, onoff("onoff", users / 3)]);
        run_by_both(&plan);
    }

    #[test]
    fn queues_that_hold_handles_give_the_same_bytes_as_those_that_hold_packets(
        seed in 0u64..1000,
        flows in proptest::collection::vec(
            (any_flow(), proptest::sample::select(vec![2.0, 10.0, 300.0]), any::<bool>()),
            1..7,
        ),
        rate_bps in prop_oneof![1e5..5e6, 5e6..1e8],
        queues in [prop_oneof![any_fair_queue(), any_queue()], prop_oneof![any_fair_queue(), any_queue()]],
        ecn in proptest::sample::select(vec![json!(false), json!(true), json!("accurate"), json!("l4s")]),
        capacity in proptest::sample::select(vec![
            None,
            Some(json!({"sine": {"least_bps": 5e4, "period_s": 0.7}})),
            Some(json!({"steps": [[0.0, 1e5], [1.3, 4e4], [2.9, 9e4]]})),
        ]),
    ) {
        let named = flows.into_iter().enumerate();
        let flows = named.map(|(i, (f, burst, at_once))| {
            let f = with(f, json!({"name": i.to_string(), "ecn": ecn.clone(), "initial_window": burst}));
            if at_once { with(f, json!({"access_rate_bps": 1e14})) } else { f }
        });
        let changes = json!({"seed": seed, "events": true, "window_s": [0.7, 2.3]});
        let mut plan = with(dumbbell(rate_bps, 1, 3.0, flows.collect()), changes);
        for (i, queue) in queues.into_iter().enumerate() {
            plan["links"][i]["queue"] = queue;
        }
        if let Some(capacity) = capacity {
            plan["links"][0]["capacity"] = capacity;
        }
        run_by_both(&plan);
    }
}

#[test]
fn data_and_acknowledgements_of_a_flow_at_one_link_have_the_same_order_in_both_drivers() {
    // hosts' own links take no time, and all transmissions and delays are whole microseconds:
    // acknowledgements often come to the link in the moment in which the sender answers another one
    for rtt_us in [154, 160, 168] {
        let one = |name: &str, start_s: f64, window: f64| {
            let changes = json!({"forward": [0], "reverse": [0], "rtt_s": 1e-6 * f64::from(rtt_us),
                "mss": 1440, "header_bytes": 60, "access_rate_bps": 1e14, "start_s": start_s,
                "initial_window": window, "delayed_ack_timeout": 0.5e-6 * f64::from(rtt_us)});
            with(flow(name, "reno"), changes)
        };
        run_by_both(&dumbbell(480e6, 3, 0.05, vec![one("a", 0.0, 3.0), one("b", 1e-5, 4.0)]));
    }
}
