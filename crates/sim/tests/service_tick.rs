//! Links that serve their queues at the ticks of a clock.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::{dumbbell, flow, link, refusal_of, run, run_by_both, sound, with};
use longfat_net::queue::disciplines;
use longfat_net::router;
use longfat_sim::Link;
use longfat_units::{Interval, Time};
use longfat_wire::SimPacket;
use proptest::prelude::*;
use serde_json::{Value, json};

const BITS: f64 = 12_000.0;

fn us(n: u64) -> Time {
    Time::from_ns(1000 * n)
}

/// A link with a tick, as planned.
fn ticking(rate_bps: f64, packets: u64, tick_s: f64, seed: u64) -> Value {
    let mut plan = with(dumbbell(rate_bps, packets, 1.0, vec![]), json!({"seed": seed}));
    for i in 0..2 {
        plan["links"][i]["service_tick_s"] = json!(tick_s);
    }
    plan
}

/// A link of a plan; with `fast`, its departures are computed where they can be.
fn nth(plan: &Value, index: usize, fast: bool) -> Link {
    let mut plan = sound(plan);
    Link::new(plan.links.remove(index), fast)
}

/// The first link of a plan, driven by events.
fn first(plan: &Value) -> Link {
    nth(plan, 0, false)
}

/// Packets of 1500 bytes arrive at these times. Returns when each left, and how many were dropped by then.
fn departures(link: &mut Link, arrivals: impl IntoIterator<Item = Time>, until: Time) -> Vec<Time> {
    let mut arrivals = arrivals.into_iter().peekable();
    loop {
        let arrival = arrivals.peek().copied().unwrap_or(Time::NEVER);
        let now = link.wake().min(arrival);
        if now > until {
            break;
        }
        if link.wake() <= now {
            link.on_timer(now);
        } else {
            arrivals.next();
            link.arrive(now, SimPacket { bytes: 1500, ..SimPacket::default() });
        }
    }
    link.released.dropped.clear();
    link.released.departed.drain(..).map(|(_, at)| at).collect()
}

/// How many left at each tick at which any did.
fn bursts(departures: &[Time]) -> Vec<usize> {
    departures.chunk_by(|a, b| a == b).map(<[Time]>::len).collect()
}

#[test]
fn a_tick_hands_out_what_the_rate_has_earned_and_carries_the_rest_over() {
    // 1 ms at 250 Mbit/s are 20.83 packets, the sums 20.83, 41.67, 62.5, 83.33, 104.17 and 125
    let mut link = first(&ticking(250e6, 1000, 1e-3, 1));
    let left = departures(&mut link, vec![us(5000); 125], us(1_000_000));
    assert_eq!(bursts(&left), [20, 21, 21, 21, 21, 21]);
    assert!(left.windows(2).all(|pair| [0, 1_000_000].contains(&pair[1].since(pair[0]).as_ns())));
}

#[test]
fn a_packet_that_takes_several_ticks_leaves_at_the_one_that_pays_its_last_bit() {
    // 12 ms each at 1 Mbit/s
    let mut link = first(&ticking(1e6, 1000, 5e-3, 1));
    let left = departures(&mut link, vec![us(7000); 5], us(1_000_000));
    let ticks: Vec<_> = left.iter().map(|at| at.since(left[0]).as_ns() / 5_000_000).collect();
    assert_eq!(ticks, [0, 2, 5, 7, 9]); // ticks 3, 5, 8, 10 and 12: the first ones after 12, 24, 36, 48 and 60 ms
}

#[test]
fn packets_wait_in_the_queue_until_the_tick_at_which_they_leave() {
    // one packet a millisecond; 15 come at once to an idle link: 11 fit where one begins transmission at once
    let burst = || vec![us(12_345); 15];
    let mut plain = nth(&dumbbell(12e6, 10, 1.0, vec![]), 0, true);
    for at in burst() {
        plain.arrive(at, SimPacket { bytes: 1500, ..SimPacket::default() });
    }
    assert_eq!(plain.counters.packets_dropped, 4);
    let mut link = first(&ticking(12e6, 10, 5e-3, 1));
    let left = departures(&mut link, burst(), us(1_000_000));
    assert_eq!((bursts(&left), link.counters.packets_dropped), (vec![5, 5], 5));
}

#[test]
fn an_idle_link_spends_what_it_has_left_before_the_next_tick() {
    // five packets a tick; two come first, so that credit for three is left
    let mut link = first(&ticking(12e6, 2, 5e-3, 1));
    let tick = departures(&mut link, vec![us(7000); 2], us(50_000))[0];
    // two more than the queue holds, and the credit lets three of the five pass it at once
    let later = tick + Interval::from_millis(21);
    let left = departures(&mut link, vec![later; 5], us(1_000_000));
    assert_eq!(link.counters.packets_dropped, 0);
    assert!(left.iter().all(|&at| at == tick + Interval::from_millis(25)), "{left:?}");
}

#[test]
fn the_long_run_rate_is_the_link_s_to_a_millionth() {
    for (rate_bps, tick_ns) in [(250e6, 1_000_000), (123_456_789.0, 700_001), (99_999_999.0, 4_000_000)] {
        let mut link = first(&ticking(rate_bps, 1_000_000, 1e-9 * tick_ns as f64, 3));
        // always more than enough in the queue
        let arrivals = (0..).map(|i| us(if i < 10_000 { 0 } else { (i - 10_000) * 45 }));
        let left = departures(&mut link, arrivals, Time::from_secs_f64(130.0));
        let (from, to) = (left[0], left[left.len() - 1]);
        let whole: Vec<_> = left.iter().filter(|&&at| at > from && at < to).collect();
        let span_s = whole[whole.len() - 1].since(from).as_secs_f64();
        let measured = whole.len() as f64 * BITS / span_s;
        assert!((measured / rate_bps - 1.0).abs() < 1e-6, "{rate_bps}: {measured}");
    }
}

#[test]
fn ticks_begin_elsewhere_in_each_repeat_and_links_of_one_clock_tick_together() {
    let at =
        |plan: &Value, index: usize| departures(&mut nth(plan, index, false), [us(3000)], us(100_000))[0];
    let repeats: Vec<_> = (0..20).map(|seed| at(&ticking(1e9, 10, 1e-3, seed), 0)).collect();
    assert!(repeats.windows(2).all(|pair| pair[0] != pair[1]));
    let apart = ticking(1e9, 10, 1e-3, 1);
    assert_ne!(at(&apart, 0), at(&apart, 1));
    let mut together = apart;
    for i in 0..2 {
        together["links"][i]["clock"] = json!("router");
    }
    assert_eq!(at(&together, 0), at(&together, 1));
}

#[test]
fn a_flow_that_fills_the_link_has_bursts_in_its_queue_and_the_same_rate() {
    let outcome = |tick_s: f64| {
        let limited = with(flow("1", "reno"), json!({"rtt_s": 0.04, "max_window": 1000.0}));
        let mut plan = with(dumbbell(100e6, 1000, 20.0, vec![limited]), json!({"window_s": [5.0, 20.0]}));
        for i in 0..2 {
            plan["links"][i]["service_tick_s"] = json!(tick_s);
        }
        run_by_both(&plan).summary
    };
    let (plain, ticked) = (outcome(0.0), outcome(0.01));
    for summary in [&plain, &ticked] {
        assert!((summary.links[0].utilization - 1.0).abs() < 1e-3, "{}", summary.links[0].utilization);
        // Little's law: 1000 packets take 120 ms at this rate, wherever they wait
        assert!((summary.flows[0].srtt_mean_s - 0.12).abs() < 2e-3, "{}", summary.flows[0].srtt_mean_s);
    }
    // 83 packets leave at once, and the window's next 83 come together
    assert!(plain.links[0].queue_std_packets < 2.0, "{}", plain.links[0].queue_std_packets);
    assert!(ticked.links[0].queue_std_packets > 10.0, "{}", ticked.links[0].queue_std_packets);
}

#[test]
fn every_discipline_and_capacity_ticks_the_same_by_both_drivers() {
    let loads =
        || (0..5).map(|i| with(flow(&i.to_string(), "reno"), json!({"rtt_s": 0.01 * f64::from(i + 1)})));
    for row in disciplines() {
        let mut plan = dumbbell(10e6, 60, 8.0, loads().collect());
        plan["links"][0]["queue"] = json!({"kind": row.name, "limit_packets": 60});
        for (i, tick_s) in [0.004, 0.001].into_iter().enumerate() {
            plan["links"][i]["service_tick_s"] = json!(tick_s);
        }
        let capacities = [
            Value::Null,
            json!({"sine": {"least_bps": 2e6, "period_s": 1.5}}),
            json!({"steps": [[0.0, 10e6], [2.0, 3e6]]}),
            json!({"trace_ms": [2, 3, 3, 7, 12]}),
        ];
        for capacity in capacities {
            plan["links"][0]["capacity"] = capacity;
            let link = run_by_both(&plan).summary.links.remove(0);
            assert!(link.utilization > 0.4, "{}: {}", row.name, link.utilization);
        }
    }
}

#[test]
fn every_router_ticks_the_same_by_both_drivers() {
    for row in router::routers() {
        let speaks = ["xcp", "vcp", "jetmax", "rcp", "maxnet", "erica"]
            .into_iter()
            .find(|&name| row.name.starts_with(name));
        let flows = (0..3).map(|i| flow(&i.to_string(), speaks.unwrap_or("reno"))).collect();
        let mut plan = dumbbell(10e6, 100, 20.0, flows);
        plan["links"][0]["router"] = json!({"kind": row.name});
        plan["links"][0]["service_tick_s"] = json!(0.002);
        assert!(run_by_both(&plan).summary.links[0].utilization > 0.5, "{}", row.name);
    }
}

#[test]
fn a_tick_shorter_than_a_microsecond_or_longer_than_ten_seconds_is_refused() {
    for tick_s in [1e-9, 11.0, -1e-3] {
        let refusal = refusal_of(&ticking(1e6, 10, tick_s, 1)).expect("a refusal");
        assert_eq!(refusal.at, "links[0].service_tick_s");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_enters_leaves_or_is_dropped_in_order_and_no_faster_than_the_rate(
        rate_bps in 1e5..1e9f64,
        tick_us in 1u64..20_000,
        limit in 1u64..200,
        gaps_us in proptest::collection::vec(prop_oneof![3 => 0u64..20, 1 => 0u64..20_000], 1..400),
        seed in 0u64..100,
    ) {
        let tick = Interval::from_ns(1000 * tick_us);
        let mut link = first(&ticking(rate_bps, limit, tick.as_secs_f64(), seed));
        let mut now = Time::ZERO;
        let arrivals: Vec<_> = gaps_us.iter().map(|&gap| { now += Interval::from_ns(1000 * gap); now }).collect();
        let left = departures(&mut link, arrivals.iter().copied(), Time::from_secs_f64(10_000.0));
        let counters = link.counters;
        prop_assert_eq!(left.len() as u64 + counters.packets_dropped, arrivals.len() as u64);
        prop_assert_eq!(counters.packets_in, arrivals.len() as u64);
        prop_assert!(left.is_sorted());
        // ticks are a whole number of periods apart
        prop_assert!(left.iter().all(|at| at.since(left[0]).as_ns() % tick.as_ns() == 0));
        // any span: the rate, two ticks of credit at its ends, and the packet at its beginning
        for (i, from) in left.iter().enumerate() {
            let to = left[left.len() - 1];
            let bits = (left.len() - i) as f64 * BITS;
            let most = rate_bps * (to.since(*from).as_secs_f64() + 2.0 * tick.as_secs_f64()) + BITS;
            prop_assert!(bits <= most * 1.000_001, "{} bits, {} at most", bits, most);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn computed_departures_and_events_give_the_same_departures_drops_and_lengths(
        rate_bps in prop_oneof![1e5..1e9f64, Just(12e6)],
        tick_us in prop_oneof![1u64..20_000, Just(1000)],
        limit in 1u64..100,
        packets in proptest::collection::vec(
            (prop_oneof![3 => 0u64..20, 2 => 0u64..20_000, 1 => Just(1000)], prop_oneof![Just(1500u16), 40..1500u16]),
            1..300,
        ),
        seed in 0u64..100,
    ) {
        let plan = ticking(rate_bps, limit, 1e-6 * tick_us as f64, seed);
        let (mut fast, mut slow) = (nth(&plan, 0, true), nth(&plan, 0, false));
        let mut now = us(1);
        for &(gap_us, bytes) in &packets {
            now += Interval::from_ns(1000 * gap_us);
            while slow.wake() <= now {
                let at = slow.wake();
                slow.on_timer(at);
            }
            slow.arrive(now, SimPacket { bytes, ..SimPacket::default() });
            fast.arrive(now, SimPacket { bytes, ..SimPacket::default() });
        }
        while slow.wake() < Time::NEVER {
            let at = slow.wake();
            slow.on_timer(at);
        }
        let end = now + Interval::from_millis(1_000_000);
        let left = |link: &Link| link.released.departed.iter().map(|&(_, at)| at).collect::<Vec<_>>();
        prop_assert_eq!(left(&slow), left(&fast));
        prop_assert_eq!(slow.counters.packets_dropped, fast.counters.packets_dropped);
        let lengths = |link: &mut Link| link.settle(end).0.statistics(Time::ZERO, end);
        prop_assert_eq!(lengths(&mut slow), lengths(&mut fast));
    }
}

#[test]
fn ticks_at_which_nothing_can_leave_take_no_time() {
    // 12 000 bits at 10 kbit/s are 1.2 million ticks of a microsecond
    for kind in ["droptail", "choke"] {
        let mut plan = dumbbell(10e3, 3, 30.0, vec![flow("1", "reno")]);
        for i in 0..2 {
            plan["links"][i]["service_tick_s"] = json!(1e-6);
            plan["links"][i]["queue"]["kind"] = json!(kind);
        }
        let outcome = run_by_both(&plan);
        assert!(outcome.summary.packets > 10, "{kind}");
        assert!(outcome.events_handled < 5000, "{kind}: {}", outcome.events_handled);
        plan["links"][0]["capacity"] = json!({"steps": [[0.0, 5e3], [10.0, 10e3]]});
        let varying = run_by_both(&plan).events_handled;
        assert!(varying < 5000, "{kind}, with a rate that varies: {varying}");
    }
}

#[test]
fn without_a_tick_nothing_changes() {
    let plan = dumbbell(10e6, 30, 5.0, vec![flow("1", "reno")]);
    let mut written = plan.clone();
    for i in 0..2 {
        written["links"][i]["service_tick_s"] = json!(0.0);
    }
    crate::common::assert_same(&run(&plan), &run(&written));
    assert_eq!(nth(&written, 0, true).server_name(), "computed");
    assert!(link("x", 1e6, 1).get("service_tick_s").is_none());
}
