//! Plans for the theory tests: a dumbbell of two links, and connections across it.

#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::sound;
use longfat_sim::{Outcome, Simulation};
use serde_json::{Value, json};

/// IP bytes of a full packet.
pub const PACKET_BYTES: f64 = 1500.0;
/// A buffer that is never full.
pub const ENDLESS: u64 = 1 << 40;

/// A connection across the dumbbell with SACK, byte counting and delayed acknowledgements; `with` overrides
/// keys.
pub fn connection(algorithm: &str, rtt_s: f64, with: Value) -> Value {
    let mut plan = json!({
        "algorithm": algorithm, "parameters": {}, "forward": [0], "reverse": [1], "rtt_s": rtt_s,
        "access_rate_bps": 1e10, "mss": 1448, "header_bytes": 52, "initial_ssthresh": null,
        "initial_window": 3.0, "max_window": null, "slow_start": "standard", "max_ssthresh": 100.0,
        "delayed_ack": true, "delayed_ack_timeout": 0.04, "byte_counting": true,
        "recovery": "rate-halving", "host_tick": 0.0, "rto_min": 0.2, "ecn": false});
    override_with(&mut plan, with);
    plan
}

/// An endless flow.
pub fn flow(name: &str, algorithm: &str, rtt_s: f64, with: Value) -> Value {
    let mut plan = connection(algorithm, rtt_s, json!({}));
    override_with(&mut plan, json!({"name": name, "start_s": 0.0, "stop_s": null, "bytes": null}));
    override_with(&mut plan, with);
    plan
}

/// The bottleneck: rate, packets that may wait, losses among data packets.
pub fn link(rate_bps: f64, limit_packets: u64, loss: Value) -> Value {
    json!({"name": "bottleneck", "rate_bps": rate_bps, "delay_s": 0.0, "loss": loss, "ack_loss": {"kind": "none"},
        "queue": {"kind": "droptail", "limit_packets": limit_packets}})
}

pub fn lossless() -> Value {
    json!({"kind": "none"})
}

/// The plan: the measured span is from `from_s` to the end. Acknowledgements return over a link that hardly
/// delays them.
pub fn plan(
    bottleneck: Value,
    flows: Vec<Value>,
    background: Vec<Value>,
    (from_s, until_s): (f64, f64),
) -> Value {
    let mut reverse = link(1e12, ENDLESS, lossless());
    reverse["name"] = json!("reverse");
    json!({"seed": 1, "duration_s": until_s, "window_s": [from_s, until_s], "links": [bottleneck, reverse],
        "flows": flows, "background": background, "sample": {"flows_s": 0.1, "links_s": 0.1}, "events": true,
        "fast": true})
}

pub fn run(plan: &Value) -> Outcome {
    let plan = sound(plan);
    Simulation::new(plan, &mut |_| None).expect("a sound plan").run(&mut || true).expect("a run")
}

/// Bandwidth-delay product in full packets.
pub fn bdp_packets(rate_bps: f64, rtt_s: f64) -> f64 {
    rate_bps * rtt_s / (8.0 * PACKET_BYTES)
}

/// How far `measured` is from `expected`, relative to that.
pub fn off(measured: f64, expected: f64) -> f64 {
    (measured / expected - 1.0).abs()
}

/// Replaces keys of a plan.
pub fn override_with(plan: &mut Value, with: Value) {
    let (Value::Object(plan), Value::Object(with)) = (plan, with) else { panic!("plans are JSON objects") };
    for (key, value) in with {
        plan.insert(key, value);
    }
}
