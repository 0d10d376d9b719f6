//! Queue disciplines with TCP across them: delays stay at their targets, marks replace drops, and the
//! counters add up.

use crate::common::{column, dumbbell, flow, refusal_of, run, sound, with};
use longfat_sim::{Link, LinkSummary, Outcome, link_summary};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, SimPacket};
use serde_json::{Value, json};

/// All queues that can mark.
const MARKING: [&str; 9] = ["red", "choke", "blue", "sred", "codel", "fq_codel", "pie", "dualpi2", "fq_pie"];
/// Queues that serve flows in turn, so that a packet may wait longer than the queue takes to drain.
const IN_TURN: [&str; 3] = ["fq_codel", "fq_pie", "sfq"];

/// `flows` standard flows with different round-trip times over 20 Mbit/s and a queue of 500 packets (300 ms)
/// for 60 s, measured from 15 s on.
fn shared(queue: Value, flows: u32, changes: Value) -> Outcome {
    let flows = (0..flows).map(|i| {
        let one = json!({"rtt_s": 0.04 + 0.003 * f64::from(i), "start_s": 0.1 * f64::from(i)});
        with(with(flow(&i.to_string(), "reno"), one), changes.clone())
    });
    let mut plan = dumbbell(20e6, 500, 60.0, flows.collect());
    let limit = json!({"limit_packets": 500});
    let mut all = queue;
    all.as_object_mut()
        .unwrap_or_else(|| panic!("a table"))
        .extend(limit.as_object().cloned().unwrap_or_default());
    plan["links"][0]["queue"] = all;
    plan["window_s"] = json!([15.0, 60.0]);
    run(&plan)
}

fn bottleneck(outcome: &Outcome) -> &LinkSummary {
    &outcome.summary.links[0]
}

fn ms(seconds: Option<f64>) -> f64 {
    1e3 * seconds.unwrap_or(f64::NAN)
}

#[test]
fn codel_fq_codel_and_pie_hold_their_targets_under_tcp_and_drop_tail_does_not() {
    // CoDel's target is the least wait in an interval, so its median is near 5 ms with few flows and above
    // that with many (docs/models/codel.md has the numbers); PIE's target is the mean wait
    for (kind, flows, range_ms) in [
        ("codel", 2, 2.0..7.0),
        ("codel", 5, 4.0..10.0),
        ("codel", 40, 4.0..40.0),
        ("fq_codel", 5, 1.0..7.0),
        ("fq_codel", 40, 1.0..7.0),
        ("pie", 5, 10.0..20.0),
        ("pie", 40, 10.0..20.0),
    ] {
        let outcome = shared(json!({"kind": kind}), flows, json!({}));
        let summary = bottleneck(&outcome);
        let median = ms(summary.sojourn_p50_s);
        assert!(range_ms.contains(&median), "{kind}, {flows} flows: median wait {median:.2} ms");
        assert!(summary.utilization > 0.95, "{kind}, {flows} flows: utilization {:.3}", summary.utilization);
    }
    let outcome = shared(json!({"kind": "droptail"}), 10, json!({}));
    let median = ms(bottleneck(&outcome).sojourn_p50_s);
    assert!(median > 150.0, "drop-tail: median wait {median:.1} ms of 300");
}

#[test]
fn the_mean_wait_of_pie_and_of_dualpi2_is_their_target_under_tcp() {
    for (kind, target_ms) in [("pie", 15.0), ("pie", 30.0), ("dualpi2", 15.0), ("dualpi2", 30.0)] {
        let outcome = shared(json!({"kind": kind, "target": target_ms}), 20, json!({}));
        // packets waiting on average, at 1667 packets/s
        let mean_ms = 1e3 * bottleneck(&outcome).queue_mean_packets / (20e6 / 12e3);
        assert!(
            (mean_ms / target_ms - 1.0).abs() < 0.15,
            "{kind}, target {target_ms} ms: mean wait {mean_ms:.2} ms"
        );
    }
}

#[test]
fn waits_in_a_low_latency_queue_are_told_apart_once_there_is_one() {
    let mut plan = dumbbell(12e6, 100, 1.0, vec![]);
    plan["links"][0]["queue"] = json!({"kind": "dualpi2", "limit_packets": 100});
    let mut links = sound(&plan).links;
    let mut link: Link = Link::new(links.remove(0), true);
    let summary = |link: &mut Link| {
        let now = Time::from_secs_f64(1.0);
        while link.wake() < now {
            let at = link.wake();
            link.on_timer(at);
        }
        let (occupancy, counters) = link.settle(now);
        link_summary(link, (Time::ZERO, Default::default()), (now, counters, occupancy))
    };
    let arrive = |link: &mut Link, ms: u64, ecn: Ecn| {
        let packet = SimPacket { bytes: 1500, ecn, ..SimPacket::default() };
        link.arrive(Time::ZERO + Interval::from_millis(ms), packet);
    };
    (0..3).for_each(|_| arrive(&mut link, 1, Ecn::Capable));
    assert_eq!(summary(&mut link).low_latency_mean_s, None);
    // at a packet a millisecond: waits of 0, 1 and 2 ms
    (0..3).for_each(|_| arrive(&mut link, 2000, Ecn::Ect1));
    let now = Time::from_secs_f64(2.1);
    while link.wake() < now {
        let at = link.wake();
        link.on_timer(at);
    }
    let mean_s = link.waits().1.and_then(|waits| waits.mean_s()).unwrap_or(f64::NAN);
    assert!((mean_s - 0.001).abs() < 1e-5, "{mean_s}");
    assert!(summary(&mut link).low_latency_p99_s.is_some_and(|p99| (p99 - 0.002).abs() < 1e-5));
}

#[test]
fn codel_drops_the_more_the_shorter_its_interval() {
    let dropped = |interval: f64| {
        bottleneck(&shared(json!({"kind": "codel", "interval": interval}), 5, json!({}))).dropped_delay
    };
    let (short, long) = (dropped(30.0), dropped(300.0));
    assert!(2 * short > 3 * long, "{short} drops with 30 ms, {long} with 300 ms");
}

#[test]
fn marks_replace_drops_for_flows_that_negotiated_them() {
    for kind in MARKING {
        let queue = json!({"kind": kind, "ecn": "true"});
        let without = shared(queue.clone(), 10, json!({"ecn": false}));
        let summary = bottleneck(&without);
        assert!(summary.packets_dropped > 0 && summary.packets_marked == 0, "{kind}");
        let capable = shared(queue, 10, json!({"ecn": true}));
        let summary = bottleneck(&capable);
        assert!(summary.packets_marked > 10, "{kind}: {} marks", summary.packets_marked);
        let other = summary.dropped_early + summary.dropped_delay;
        // only retransmissions are never marked (RFC 3168, 6.1.5)
        let again: u64 = capable.summary.flows.iter().map(|f| f.retransmits).sum();
        assert!(other <= again, "{kind}: {other} drops that could be marks, {again} retransmissions");
        assert_eq!(summary.packets_marked, summary.marked_early + summary.marked_delay, "{kind}");
    }
}

#[test]
fn with_marks_and_room_no_packet_of_a_capable_flow_is_lost() {
    // flows that leave slow-start before the queue can fill, behind a buffer far longer than marks let the
    // queue become
    let calm = json!({"ecn": true, "initial_ssthresh": 10.0});
    for (kind, more) in [
        ("red", json!({"adaptive": "true"})),
        ("codel", json!({})),
        ("fq_codel", json!({})),
        ("pie", json!({})),
    ] {
        let mut queue = json!({"kind": kind, "ecn": "true"});
        queue
            .as_object_mut()
            .unwrap_or_else(|| panic!())
            .extend(more.as_object().cloned().unwrap_or_default());
        let outcome = shared(queue, 10, calm.clone());
        let summary = bottleneck(&outcome);
        assert_eq!(summary.packets_dropped, 0, "{kind}");
        assert!(summary.packets_marked > 50, "{kind}: {} marks", summary.packets_marked);
        let again: u64 = outcome.summary.flows.iter().map(|f| f.retransmits).sum();
        assert_eq!(again, 0, "{kind}");
    }
}

#[test]
fn fq_codel_is_fairer_than_codel_to_unlike_round_trip_times() {
    let ratio = |kind: &str| {
        let rtts = [0.01, 0.2];
        let flows =
            rtts.iter().zip(["a", "b"]).map(|(rtt, name)| with(flow(name, "reno"), json!({"rtt_s": rtt})));
        let mut plan = dumbbell(20e6, 500, 60.0, flows.collect());
        plan["links"][0]["queue"] = json!({"kind": kind, "limit_packets": 500});
        plan["window_s"] = json!([15.0, 60.0]);
        let rates: Vec<f64> = run(&plan).summary.flows.iter().map(|f| f.goodput_bps).collect();
        rates[1] / rates[0]
    };
    let (codel, fq_codel) = (ratio("codel"), ratio("fq_codel"));
    assert!(fq_codel > 0.5 && fq_codel > 2.0 * codel, "CoDel {codel:.3}, FQ-CoDel {fq_codel:.3}");
}

#[test]
fn reasons_add_up_and_measured_waits_agree_with_the_mean_queue() {
    for kind in MARKING.into_iter().chain(["droptail", "sfq"]) {
        let outcome = shared(json!({"kind": kind}), 10, json!({}));
        let f = bottleneck(&outcome);
        let sum = f.dropped_full + f.dropped_early + f.dropped_forced + f.dropped_match + f.dropped_delay;
        assert_eq!(f.packets_dropped, sum, "{kind}");
        assert!(f.packets_dropped > 0, "{kind}");
        let [p50, p95, p99] = [f.sojourn_p50_s, f.sojourn_p95_s, f.sojourn_p99_s].map(ms);
        assert!(p50 <= p95 && p95 <= p99, "{kind}: {p50} {p95} {p99}");
        // Little's law: on average as many packets wait as arrive in a mean wait; the median lies within the
        // deviations of that
        let mean_ms = 1e3 * f.queue_mean_packets / (f.utilization * 20e6 / 12e3);
        let deviation_ms = 1e3 * f.queue_std_packets / (20e6 / 12e3);
        assert!((p50 - mean_ms).abs() <= 1.2 * deviation_ms, "{kind}: median {p50:.2}, mean {mean_ms:.2} ms");
        let longest_ms = 1e3 * f.queue_max_packets as f64 / (20e6 / 12e3);
        if !IN_TURN.contains(&kind) {
            assert!(p99 <= longest_ms + 0.6, "{kind}: {p99:.2} of {longest_ms:.2} ms");
        }
    }
}

#[test]
fn a_plan_with_an_unsound_queue_is_refused_with_its_key() {
    let refusal = |queue: Value| {
        let mut plan = dumbbell(1e7, 50, 1.0, vec![flow("a", "reno")]);
        plan["links"][0]["queue"] = queue;
        refusal_of(&plan).unwrap_or_else(|| panic!("accepted")).to_string()
    };
    for (queue, expected) in [
        (json!({"kind": "rde", "limit_packets": 5}), r#"links[0].queue.kind: there is no queue "rde""#),
        (json!({"kind": "red"}), "links[0].queue: give limit_packets or limit_bytes, 1 or more"),
        (
            json!({"kind": "red", "limit_packets": 5, "min": 9.0, "max": 3.0}),
            "links[0].queue: red.max = 3 packets is not accepted; give more than red.min, which is 9 packets",
        ),
        (
            json!({"kind": "pie", "limit_packets": 5, "quantum": 9.0}),
            r#"links[0].queue: pie has no parameter "quantum"; it has: target, update, max_burst, alpha, beta, ecn_threshold, derandomize, ecn"#,
        ),
    ] {
        assert_eq!(refusal(queue), expected);
    }
}

/// The share of a flow of datagrams that ignores feedback, at `load` times the link's 10 Mbit/s, among 64
/// standard flows.
fn share_of_datagrams(kind: &str, load: f64) -> f64 {
    let mut flows: Vec<Value> = (0..64)
        .map(|i| {
            let changes = json!({"rtt_s": 0.08 + 0.000_7 * f64::from(i), "start_s": 0.01 * f64::from(i)});
            with(flow(&i.to_string(), "reno"), changes)
        })
        .collect();
    let parameters = json!({"parameters": {"rate": 10.0 * load}, "start_s": 5.0});
    flows.push(with(flow("datagrams", "cbr"), parameters));
    let mut plan = dumbbell(10e6, 1000, 120.0, flows);
    plan["links"][0]["queue"] =
        json!({"kind": kind, "limit_packets": 1000, "min": 100.0, "max": 300.0, "weight": 0.002});
    plan["window_s"] = json!([20.0, 120.0]);
    let rates: Vec<f64> = run(&plan).summary.flows.iter().map(|f| f.throughput_bps).collect();
    rates[64] / rates.iter().sum::<f64>()
}

#[test]
fn choke_bounds_a_flow_of_datagrams_among_tcp_flows_and_red_does_not() {
    // Tang, Wang, Low (IEEE/ACM Transactions on Networking 2004), for many TCP flows: its share peaks at 1 /
    // (1 + e) = 26.9 % when it sends slightly more than the link carries, and falls to nothing as it sends
    // more
    let shares = [0.5, 1.2, 2.0, 5.0, 10.0].map(|load| share_of_datagrams("choke", load));
    assert!(shares.iter().all(|&share| share < 0.269), "{shares:?}");
    assert!(shares[1] > 0.24 && shares[0] < shares[1], "{shares:?}");
    assert!(shares[1..].windows(2).all(|w| w[1] < w[0]) && shares[4] < 0.04, "{shares:?}");
    let with_red = share_of_datagrams("red", 1.2);
    assert!(with_red > 0.8, "RED leaves it {with_red:.3}");
}

#[test]
fn sred_tells_how_many_flows_it_takes_to_be_there_and_other_queues_do_not() {
    // Ott, Lakshman, Wong 1999: 1 / P; flows with unequal shares count as fewer than they are
    let outcome = shared(json!({"kind": "sred"}), 20, json!({}));
    let estimates = column(&outcome.links, "bottleneck", "flows_estimated");
    let late = &estimates[estimates.len() / 2..];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((14.0..22.0).contains(&mean), "{mean:.1} of 20");
    let red = shared(json!({"kind": "red"}), 20, json!({}));
    assert!(column(&red.links, "bottleneck", "flows_estimated").iter().all(|x| x.is_nan()));
}
