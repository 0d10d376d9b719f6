//! Plans of tests, which leave out what they are not about.

use serde_json::{Value, json};

/// Returns the text of a plan in which each key that `partial` leaves out has a value that does nothing or
/// is usual.
pub fn plan_of(partial: &Value) -> String {
    let mut plan = partial.clone();
    fill(plan.get_mut("sample"), &json!({"internals": false}));
    for link in rows(&mut plan, "links") {
        fill(Some(&mut *link), &json!({"layer2": false, "service_tick_s": 0.0}));
        let calm = json!({"jitter_s": 0.0, "duplicate": 0.0, "overtaking": false, "outages": []});
        fill(link.get_mut("disturbance"), &calm);
    }
    rows(&mut plan, "flows").for_each(fill_connection);
    rows(&mut plan, "background").filter_map(|source| source.get_mut("flow")).for_each(fill_connection);
    plan.to_string()
}

fn fill_connection(connection: &mut Value) {
    let usual = json!({"ssthresh_cache": false, "quick_acks": 16, "sack_compression_s": 0.0,
        "slow_start_limit": 2.0, "timeout_reductions": "once", "first_reduction": "own",
        "backoff_until": "sample", "cwnd_moderation": false, "rtt_samples": "echoed",
        "interrupt_moderation_s": 0.0, "send_jitter_s": 0.0, "rto_min_of": "margin", "rto_tick_s": 0.0,
        "initial_rto_s": 1.0, "timestamps": true, "abe": false, "needs_marks": false});
    fill(Some(&mut *connection), &usual);
    let honest = json!({"conceal_losses": false, "ack_ahead": 0, "divide_acks": 1, "hide_marks": false});
    fill(connection.get_mut("receiver"), &honest);
}

/// Adds the keys that an object does not have. Anything else stays as it is, for the core to refuse.
fn fill(object: Option<&mut Value>, usual: &Value) {
    let (Some(object), Some(usual)) = (object.and_then(Value::as_object_mut), usual.as_object()) else {
        return;
    };
    for (key, value) in usual {
        object.entry(key.as_str()).or_insert_with(|| value.clone());
    }
}

fn rows<'a>(plan: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    plan.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}
