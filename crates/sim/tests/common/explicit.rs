//! Flows that get explicit feedback from a router.

use super::clouds::{Hop, net};
use super::{column, dumbbell, flow, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// Flows of this algorithm, each with its round-trip time and start, over one bottleneck with an XCP router:
/// 1500-byte packets of IP, a buffer of `packets`, acknowledgements of every second segment.
pub fn plan(algorithm: &str, rate_bps: f64, packets: u64, duration_s: f64, flows: &[(f64, f64)]) -> Value {
    let flows = flows.iter().enumerate().map(|(i, &(rtt_s, start_s))| {
        let changes = json!({"rtt_s": rtt_s, "start_s": start_s, "mss": 1428, "header_bytes": 72,
            "access_rate_bps": 10.0 * rate_bps});
        with(flow(&i.to_string(), algorithm), changes)
    });
    let mut plan = dumbbell(rate_bps, packets, duration_s, flows.collect());
    plan["links"][0]["router"] = json!({"kind": "xcp"});
    plan
}

/// Gives each flow that is not standard TCP this protocol, in packets of 1500 bytes of IP with its header,
/// and each link that has a router the protocol's.
pub fn speaking(mut plan: Value, protocol: &str) -> Value {
    let header_bytes = match protocol {
        "maxnet" => 4,
        "erica" => 8,
        _ => 20,
    };
    for flow in plan["flows"].as_array_mut().into_iter().flatten().filter(|f| f["algorithm"] == "xcp") {
        flow["algorithm"] = json!(protocol);
        flow["header_bytes"] = json!(52 + header_bytes);
        flow["mss"] = json!(1448 - header_bytes);
    }
    for link in plan["links"].as_array_mut().into_iter().flatten() {
        if link["router"]["kind"] == "xcp" {
            link["router"]["kind"] = json!(protocol);
        }
    }
    plan
}

/// Links of 60, 40 and 80 Mbit/s in a row, with routers of the protocol. Flow 0 crosses all, flow 1 the
/// first, flows 2 and 3 the second, flow 4 the third.
pub fn parking_lot(protocol: &str, duration_s: f64) -> Value {
    let hops: [Hop; 3] =
        [((0, 1), 60.0, Some("xcp")), ((1, 2), 40.0, Some("xcp")), ((2, 3), 80.0, Some("xcp"))];
    let flows: [(&[usize], f64); 5] = [(&[0, 1, 2], 0.0), (&[0], 1.0), (&[1], 2.0), (&[1], 3.0), (&[2], 4.0)];
    speaking(net(&hops, duration_s, &flows), protocol)
}

/// The mean rates from one time to another, bit/s.
pub fn rates(plan: &Value, from_s: f64, to_s: f64) -> Vec<f64> {
    let outcome = run(&with(plan.clone(), json!({"window_s": [from_s, to_s]})));
    outcome.summary.flows.iter().map(|f| f.throughput_bps).collect()
}

/// Asserts that each rate is within `tolerance` of the expected one.
pub fn assert_near(rates: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let near = rates.iter().zip(expected).all(|(r, e)| (r / e - 1.0).abs() < tolerance);
    assert!(near && rates.len() == expected.len(), "{what}: {rates:.0?} instead of {expected:.0?}");
}

/// Runs the plan and measures from this time on.
pub fn measured_from(mut plan: Value, from_s: f64) -> Outcome {
    plan["window_s"][0] = json!(from_s);
    run(&plan)
}

/// Jain's index of the rates of the first `flows` flows.
pub fn jain_of(outcome: &Outcome, flows: usize) -> f64 {
    let rates = || outcome.summary.flows.iter().take(flows).map(|f| f.throughput_bps);
    let (sum, squares) = rates().fold((0.0, 0.0), |(s, q), r| (s + r, q + r * r));
    sum * sum / (rates().count() as f64 * squares)
}

/// Jain's index of all rates.
pub fn jain(outcome: &Outcome) -> f64 {
    jain_of(outcome, usize::MAX)
}

/// Packets dropped by the bottleneck in the whole run.
pub fn dropped(outcome: &Outcome) -> f64 {
    column(&outcome.links, "bottleneck", "packets_dropped").last().copied().unwrap_or(f64::NAN)
}
