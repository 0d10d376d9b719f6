//! Tests that need the inside of a run.

mod messages;
#[path = "../../../scenario/tests/plan_of/mod.rs"]
mod plan_of;
mod servers;

use serde_json::{Value, json};

/// An endless flow over these links: 1500-byte packets, 42 ms, hosts on 1 Gbit/s.
fn flow(algorithm: &str, forward: &[usize], reverse: &[usize]) -> Value {
    json!({"name": format!("{forward:?}{reverse:?}"), "algorithm": algorithm, "parameters": {}, "forward": forward,
        "reverse": reverse, "rtt_s": 0.042, "start_s": 0.0, "stop_s": null, "bytes": null,
        "access_rate_bps": 1e9, "mss": 1448, "header_bytes": 52, "initial_ssthresh": null,
        "initial_window": 3.0, "max_window": null, "slow_start": "standard", "max_ssthresh": 100.0,
        "delayed_ack": true, "delayed_ack_timeout": 0.04, "byte_counting": true,
        "recovery": "rate-halving", "host_tick": 0.0, "rto_min": 0.2, "ecn": false})
}
