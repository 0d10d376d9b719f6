//! Links that disturb packets behind their transmitter.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::disturbance::disturbance;
use crate::common::{dumbbell, flow, refusal_of, run_by_both, sound, variants, web, with};
use longfat_net::queue::disciplines;
use longfat_sim::{Link, Summary};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, SimPacket};
use proptest::prelude::*;
use serde_json::{Value, json};

fn disturbed(mut plan: Value, disturbance: Value) -> Value {
    plan["links"][0]["disturbance"] = disturbance;
    plan
}

fn ms(n: u64) -> Time {
    Time::ZERO + Interval::from_millis(n)
}

/// The first link of a plan; a packet of 1500 bytes takes a millisecond.
fn link(disturbance: Value, packets: u64) -> Link {
    let plan = disturbed(dumbbell(12e6, packets, 1.0, vec![]), disturbance);
    let mut plan = sound(&plan);
    Link::new(plan.links.remove(0), true)
}

/// Packets arrive at these times. Returns the number of each that left, and when, up to `until`.
fn departures(link: &mut Link, arrivals: &[Time], until: Time) -> Vec<(u64, Time)> {
    let mut arrivals = arrivals.iter().copied().zip(0..).peekable();
    loop {
        let arrival = arrivals.peek().map_or(Time::NEVER, |(at, _)| *at);
        let now = link.wake().min(arrival);
        if now > until {
            break;
        }
        if link.wake() <= now {
            link.on_timer(now);
        } else if let Some((_, seq)) = arrivals.next() {
            link.arrive(now, SimPacket { bytes: 1500, seq, flow: FlowId(0), ..SimPacket::default() });
        }
    }
    link.released.departed.drain(..).map(|(packet, at)| (packet.seq, at)).collect()
}

#[test]
fn an_outage_in_which_the_queue_waits_fills_it_and_loses_only_what_does_not_fit() {
    let outages = json!([{"begin_s": 0.0105, "length_s": 0.01, "drains": false}]);
    let mut link = link(json!({"outages": outages}), 5);
    let arrivals: Vec<_> = (0..40).map(ms).collect();
    let left = departures(&mut link, &arrivals, ms(1000));
    // packet 10 is on the wire when it begins; 11 to 15 wait, 16 to 20 find the queue full
    assert_eq!(left[10], (10, ms(11)));
    assert_eq!(left[11], (11, ms(21) + Interval::from_ns(500_000)));
    assert_eq!(left.iter().map(|(seq, _)| *seq).collect::<Vec<_>>()[11..17], [11, 12, 13, 14, 15, 21]);
    assert_eq!((link.counters.packets_dropped, link.counters.packets_lost), (5, 0));
    assert_eq!(left.len(), 35);
}

#[test]
fn an_outage_in_which_the_queue_drains_loses_what_leaves_and_keeps_the_rate() {
    let outages = json!([{"begin_s": 0.0105, "length_s": 0.01, "drains": true}]);
    let mut link = link(json!({"outages": outages}), 5);
    let arrivals: Vec<_> = (0..40).map(ms).collect();
    let left = departures(&mut link, &arrivals, ms(1000));
    // packets leave a millisecond after they came: those of 10 ms to 19 ms leave in the outage
    assert_eq!(
        left.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(),
        (0..10).chain(20..40).collect::<Vec<_>>()
    );
    assert!(left.iter().all(|(seq, at)| *at == ms(seq + 1)));
    assert_eq!((link.counters.packets_dropped, link.counters.packets_lost), (0, 10));
    assert_eq!(link.released.dropped.len(), 10);
}

#[test]
fn both_directions_of_a_medium_have_the_same_delay_and_other_media_others() {
    let delays = |medium: &str, name: &str| {
        let added = json!({"handovers": {"period_s": 0.1, "range_s": 0.05}});
        let disturbance = json!({"added_delay": added, "medium": medium});
        let mut plan = disturbed(dumbbell(12e6, 9, 1.0, vec![]), disturbance);
        plan["links"][0]["name"] = json!(name);
        let mut plan = sound(&plan);
        let arrivals: Vec<_> = (0..20).map(|i| ms(100 * i + 50)).collect();
        let mut link = Link::new(plan.links.remove(0), true);
        departures(&mut link, &arrivals, ms(10_000)).iter().map(|(_, at)| *at).collect::<Vec<_>>()
    };
    assert_eq!(delays("m", "a"), delays("m", "b"));
    assert_ne!(delays("m", "a"), delays("n", "a"));
}

#[test]
fn values_out_of_range_are_refused_with_their_key() {
    let refusal = |disturbance: Value, tick_s: f64| {
        let mut plan = disturbed(dumbbell(1e6, 9, 1.0, vec![]), disturbance);
        plan["links"][0]["service_tick_s"] = json!(tick_s);
        refusal_of(&plan).expect("a refusal").at
    };
    let outage = |begin_s: f64| json!({"begin_s": begin_s, "length_s": 1.0, "drains": false});
    for (disturbance, key) in [
        (json!({"jitter": -1.0}), "jitter"),
        (json!({"duplicate": 1.5}), "duplicate"),
        (json!({"reorder": {"probability": 2.0, "delay_s": 0.1}}), "reorder.probability"),
        (json!({"reorder": {"probability": 0.1, "delay_s": 1e9}}), "reorder.delay"),
        (json!({"added_delay": {"steps": []}}), "added_delay.steps"),
        (json!({"added_delay": {"steps": [[1.0, 0.1], [1.0, 0.2]]}}), "added_delay.steps"),
        (
            json!({"added_delay": {"handovers": {"period_s": 0.0, "range_s": 0.1}}}),
            "added_delay.handovers.period",
        ),
        (json!({"outages": [outage(1.0), outage(1.5)]}), "outages"),
    ] {
        assert_eq!(refusal(disturbance, 0.0), format!("links[0].disturbance.disturbed.{key}"));
    }
    assert_eq!(refusal(json!({"outages": [outage(1.0)]}), 0.001), "links[0].disturbance.outages");
}

/// A flow on 20 Mbit/s with a round trip of 60 ms, in a buffer of one BDP.
fn reordered(detection: &str, share: f64) -> Summary {
    let one = with(flow("1", "cubic"), json!({"rtt_s": 0.06, "loss_detection": detection}));
    let plan = with(dumbbell(20e6, 100, 60.0, vec![one]), json!({"window_s": [5.0, 60.0]}));
    run_by_both(&disturbed(plan, json!({"reorder": {"probability": share, "delay_s": 0.01}}))).summary
}

#[test]
fn rack_bears_a_hundredth_of_packets_10_ms_late_and_rfc_6675_does_not() {
    let goodput = |detection: &str, share: f64| reordered(detection, share).flows[0].goodput_bps;
    let (rack, sack) =
        (goodput("rack", 0.01) / goodput("rack", 0.0), goodput("sack", 0.01) / goodput("sack", 0.0));
    assert!(rack > 0.95, "{rack}");
    assert!(sack < 0.8, "{sack}");
}

#[test]
fn every_algorithm_gives_the_same_bytes_by_both_drivers_on_a_link_with_all_disturbances() {
    let all = json!({
        "reorder": {"probability": 0.02, "delay_s": 0.01}, "jitter": 0.002, "duplicate": 0.02,
        "overtaking": true,
        "added_delay": {"handovers": {"period_s": 0.5, "range_s": 0.02}},
        "outages": [{"begin_s": 1.0, "length_s": 0.3, "drains": false},
            {"begin_s": 2.0, "length_s": 0.2, "drains": true}],
    });
    for (_, name, parameters) in variants() {
        let one = with(flow("1", name), json!({"parameters": parameters, "access_rate_bps": 1e8}));
        let mut plan = disturbed(dumbbell(5e6, 30, 4.0, vec![one]), all.clone());
        plan["links"][1]["disturbance"] = all.clone();
        plan["links"][0]["router"] = crate::common::router_of(name);
        run_by_both(&plan);
    }
}

/// Disturbances that keep the order of packets.
fn orderly() -> Vec<Value> {
    let handovers = json!({"handovers": {"period_s": 0.3, "range_s": 0.02}});
    let outage = |begin_s: f64, drains: bool| json!({"begin_s": begin_s, "length_s": 0.2, "drains": drains});
    let outages = json!([outage(0.5, false), outage(1.0, true), outage(1.3, false)]);
    vec![
        json!({"jitter": 0.01}),
        json!({"outages": outages}),
        json!({"outages": outages, "overtaking": true}),
        json!({"jitter": 0.003, "added_delay": handovers, "outages": outages, "remark": "mark"}),
        json!({"added_delay": {"steps": [[0.5, 0.02], [1.0, 0.0]]}, "remark": "bleach"}),
    ]
}

#[test]
fn a_link_reorders_packets_unless_its_disturbances_keep_the_order() {
    for law in orderly() {
        assert!(!link(law.clone(), 50).reorders, "{law}");
    }
    for law in [
        json!({"jitter": 0.01, "overtaking": true}),
        json!({"added_delay": {"steps": [[0.5, 0.02]]}, "overtaking": true}),
        json!({"reorder": {"probability": 0.1, "delay_s": 0.1}}),
        json!({"duplicate": 0.1}),
    ] {
        assert!(link(law.clone(), 50).reorders, "{law}");
    }
}

#[test]
fn disturbances_that_keep_the_order_give_the_same_bytes_by_both_drivers_behind_every_discipline() {
    for (discipline, law) in disciplines().flat_map(|row| orderly().into_iter().map(move |law| (row, law))) {
        for flows in [2, 12] {
            let flows =
                (0..flows).map(|i| with(flow(&i.to_string(), "reno"), json!({"rtt_s": 0.03, "ecn": true})));
            let mut plan = disturbed(dumbbell(5e6, 30, 2.0, flows.collect()), law.clone());
            plan["links"][0]["queue"]["kind"] = json!(discipline.name);
            plan["links"][1]["disturbance"] = law.clone();
            run_by_both(&plan);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn what_enters_leaves_once_or_twice_or_is_lost_and_never_faster_than_the_rate(
        planned in disturbance(true),
        limit in 1u64..100,
        gaps_us in proptest::collection::vec(prop_oneof![3 => 0u64..2000, 1 => 0u64..100_000], 1..400),
    ) {
        let mut link = link(planned.clone(), limit);
        let mut now = Time::ZERO;
        let arrivals: Vec<_> = gaps_us.iter().map(|&gap| { now += Interval::from_ns(1000 * gap); now }).collect();
        let left = departures(&mut link, &arrivals, Time::from_secs_f64(10_000.0));
        let counters = link.counters;
        let arrived = arrivals.len() as u64;
        let gone = left.len() as u64 + counters.packets_dropped + counters.packets_lost;
        prop_assert_eq!(gone, arrived + counters.packets_doubled);
        prop_assert!(left.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        prop_assert!(left.iter().all(|(seq, at)| *at >= arrivals[*seq as usize] + Interval::from_millis(1)));
        let late = planned["reorder"]["probability"].as_f64().unwrap_or(0.0) > 0.0;
        if !late && planned["overtaking"] != json!(true) {
            prop_assert!(left.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        }
        // the transmitter: a packet a millisecond at most, however late they are behind it
        prop_assert!(counters.busy.as_ns() == 0 || counters.packets_out == arrived - counters.packets_dropped);
    }
}

#[test]
fn background_connections_leave_only_when_their_last_copy_has_arrived() {
    let mut plan = dumbbell(5e6, 30, 20.0, vec![]);
    plan["background"] = json!([web("web", 20)]);
    let late = json!({"duplicate": 0.3, "reorder": {"probability": 0.3, "delay_s": 1.0}});
    plan["links"][1]["disturbance"] = late.clone();
    let summary = run_by_both(&disturbed(plan, late)).summary;
    let web = &summary.background[0];
    assert!(web.transfers_completed > 100, "{}", web.transfers_completed);
    assert!(web.bytes_delivered > 0 && web.packets_lost <= web.packets_sent);
}
