//! Flows that get explicit feedback from a router.

use super::{column, dumbbell, flow, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// Flows of this algorithm, each with its round-trip time and start, over one bottleneck with an XCP router:
/// 1500-byte packets of IP, a buffer of `packets`, acknowledgements of every second segment.
pub fn plan(algorithm: &str, rate_bps: f64, packets: u64, duration_s: f64, flows: &[(f64, f64)]) -> Value {
    let flows = flows.iter().enumerate().map(|(i, &(rtt_s, start_s))| {
        let changes = json!({"rtt_s": rtt_s, "start_s": start_s, "mss_bytes": 1428, "header_bytes": 72,
            "access_rate_bps": 10.0 * rate_bps});
        with(flow(&i.to_string(), algorithm), changes)
    });
    let mut plan = dumbbell(rate_bps, packets, duration_s, flows.collect());
    plan["links"][0]["router"] = json!({"kind": "xcp"});
    plan
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
