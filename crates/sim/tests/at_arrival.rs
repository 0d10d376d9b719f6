//! Queues that compute departures at arrival: over any links, both drivers give the same bytes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{and, bulk, dumbbell, flow, link, onoff, run_by_both, short, web, with};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A capacity whose rates are shares of the link's; [`scaled`] makes them rates.
fn capacity() -> impl Strategy<Value = Value> {
    let periods_s = prop::sample::select(vec![1e-6, 1e-3, 0.05, 1.0, 7.0, 1e6]);
    prop_oneof![
        Just(Value::Null),
        (0.01..=1.0f64, periods_s)
            .prop_map(|(share, period_s)| { json!({"sine": {"least_bps": share, "period_s": period_s}}) }),
        prop::collection::vec(0.05..1.0f64, 1..6).prop_map(|shares| {
            let steps: Vec<_> = shares.iter().enumerate().map(|(i, share)| (0.7 * i as f64, share)).collect();
            json!({"steps": steps})
        }),
        prop::collection::vec(0u64..60, 1..30).prop_map(|mut times_ms| {
            times_ms.push(60);
            times_ms.sort_unstable();
            json!({"trace_ms": times_ms})
        }),
    ]
}

/// Drop-tail or RED, with any parameters.
fn queue() -> impl Strategy<Value = Value> {
    let limit = (any::<bool>(), 1u64..60);
    let flags = prop::collection::vec(prop::sample::select(vec!["true", "false"]), 6);
    (limit, any::<bool>(), flags, 1.0..10.0f64, 0.002..1.0f64).prop_map(
        |((by_bytes, most), is_red, flags, min, weight)| {
            let limit =
                if by_bytes { json!({"limit_bytes": 1500 * most}) } else { json!({"limit_packets": most}) };
            if is_red {
                let mode = if flags[5] == "true" { "bytes" } else { "packets" };
                let red = json!({"kind": "red", "ecn": flags[0], "harddrop": flags[1], "gentle": flags[2],
                    "adaptive": flags[3], "wait": flags[4], "mode": mode, "min": min, "max": 2.5 * min,
                    "weight": weight, "interval": 0.05});
                and(red, limit)
            } else {
                and(json!({"kind": "droptail"}), limit)
            }
        },
    )
}

fn any_flow() -> impl Strategy<Value = Value> {
    let algorithms = prop::sample::select(vec!["reno", "newreno", "cubic", "bbr", "dctcp", "htcp"]);
    let paths = prop::sample::select(vec![
        (vec![0], vec![1]),
        (vec![0], vec![1]),
        (vec![1], vec![0]),
        (vec![0, 2], vec![3, 1]),
        (vec![2, 0], vec![1]),
    ]);
    let access = prop::sample::select(vec![1e14, 1e9, 2e6]);
    (algorithms, 0.0..0.1f64, any::<bool>(), 0.0..2.0f64, paths, access).prop_map(
        |(algorithm, rtt_s, ecn, start_s, (forward, reverse), access_rate_bps)| {
            let change = json!({"rtt_s": rtt_s, "ecn": ecn, "start_s": start_s, "forward": forward,
                "reverse": reverse, "access_rate_bps": access_rate_bps});
            with(flow("", algorithm), change)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn departures_that_are_computed_at_arrival_give_the_same_bytes(
        seed in 0u64..1000,
        flows in prop::collection::vec(any_flow(), 1..12),
        rate_bps in 1e5..5e6f64,
        shapes in prop::collection::vec((capacity(), queue(), 0.0..0.01f64), 4),
        probability in prop_oneof![3 => Just(0.0), 1 => Just(0.02)],
        sessions in 0u64..8,
    ) {
        let flows = flows.into_iter().enumerate().map(|(i, f)| with(f, json!({"name": i.to_string()}))).collect();
        let mut plan = with(dumbbell(rate_bps, 1, 6.0, flows), json!({"seed": seed, "window_s": [1.5, 4.7]}));
        let losses = json!({"kind": "random", "probability": probability});
        let links = ["a", "b", "c", "d"].iter().zip(shapes).map(|(name, (capacity, queue, delay_s))| {
            let capacity = scaled(capacity, rate_bps);
            let change = json!({"queue": queue, "capacity": capacity, "delay_s": delay_s, "loss": losses, "ack_loss": losses});
            and(link(name, rate_bps, 9), change)
        });
        plan["links"] = links.collect();
        if sessions > 0 {
            let mut pages = with(web("web", sessions), json!({"gap_s": 0.1}));
            pages["flow"]["ecn"] = json!(true);
            plan["background"] = json!([pages, short("short"), bulk("bulk", 2), onoff("onoff", 2)]);
        }
        run_by_both(&plan);
    }
}

/// The same capacity for a link of this rate instead of 1 bit/s.
fn scaled(mut capacity: Value, rate_bps: f64) -> Value {
    let scale = |rate: &mut Value| *rate = json!((rate.as_f64().unwrap() * rate_bps).max(1.0));
    if let Some(least) = capacity.pointer_mut("/sine/least_bps") {
        scale(least);
    }
    for step in capacity.pointer_mut("/steps").and_then(Value::as_array_mut).into_iter().flatten() {
        scale(&mut step[1]);
    }
    capacity
}
