//! Random disturbances of a link, as planned.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Any disturbance of a link, or null; with `doubles`, packets may arrive twice.
pub fn disturbance(doubles: bool) -> impl Strategy<Value = Value> {
    let reorder = prop_oneof![
        Just(Value::Null),
        (0.0..0.5_f64, 0.0..0.05_f64).prop_map(|(p, s)| json!({"probability": p, "delay_s": s})),
    ];
    let added = prop_oneof![
        2 => Just(Value::Null),
        1 => prop::collection::vec((0.01..2.0_f64, 0.0..0.05_f64), 1..5).prop_map(|gaps| {
            let mut at_s = 0.0;
            let steps: Vec<_> = gaps.into_iter().map(|(gap_s, delay_s)| { at_s += gap_s; (at_s, delay_s) }).collect();
            json!({"steps": steps})
        }),
        1 => (0.1..2.0_f64, 0.0..0.05_f64)
            .prop_map(|(p, r)| json!({"handovers": {"period_s": p, "range_s": r}})),
    ];
    let outage = (0.1..3.0_f64, 0.001..0.8_f64, any::<bool>());
    let outages = prop::collection::vec(outage, 0..3).prop_map(|outages| {
        let mut end_s = 0.0;
        let planned = outages.into_iter().map(|(gap_s, length_s, drains)| {
            let begin_s = end_s + gap_s;
            end_s = begin_s + length_s;
            json!({"begin_s": begin_s, "length_s": length_s, "drains": drains})
        });
        planned.collect::<Vec<_>>()
    });
    let jitter = prop_oneof![Just(0.0), 1e-6..0.02_f64];
    let duplicate = prop_oneof![Just(0.0), 0.0..0.3_f64].prop_map(move |p| if doubles { p } else { 0.0 });
    let all = (reorder, jitter, duplicate, added, any::<bool>(), outages).prop_map(
        |(reorder, jitter_s, duplicate, added_delay, overtaking, outages)| {
            json!({"reorder": reorder, "jitter": jitter_s, "duplicate": duplicate, "added_delay": added_delay,
                "overtaking": overtaking, "outages": outages})
        },
    );
    prop_oneof![1 => Just(Value::Null), 1 => all]
}

/// The same on a link with this tick: there the queue drains in each outage.
pub fn with_tick(mut disturbance: Value, tick_s: f64) -> Value {
    if tick_s > 0.0
        && let Some(outages) = disturbance.get_mut("outages").and_then(Value::as_array_mut)
    {
        outages.iter_mut().for_each(|outage| outage["drains"] = json!(true));
    }
    disturbance
}
