//! Plans of tests, which leave out what they are not about.

use serde_json::{Map, Value, json};

/// The keys of a connection that are not its ends'.
const OF_THE_PATH: [&str; 7] =
    ["header_bytes", "forward", "reverse", "rtt_s", "access_rate_bps", "stop_s", "needs_marks"];
/// The keys of a flow beside those of its connection.
const OF_THE_FLOW: [&str; 4] = ["name", "start_s", "bytes", "hosts"];

/// Returns the text of a plan in which each key that `partial` leaves out has a value that does nothing or
/// is usual. Keys of a connection's two ends stand beside the others in `partial`, the algorithm's name and
/// its parameters too.
pub fn plan_of(partial: &Value) -> String {
    let mut plan = partial.clone();
    fill(plan.get_mut("sample"), &json!({"internals": false}));
    for link in rows(&mut plan, "links") {
        fill(Some(&mut *link), &json!({"layer2": false, "service_tick_s": 0.0}));
        let calm =
            json!({"jitter": 0.0, "duplicate": 0.0, "overtaking": false, "outages": [], "medium": "m"});
        fill(link.get_mut("disturbance"), &calm);
    }
    rows(&mut plan, "flows").for_each(fill_connection);
    rows(&mut plan, "background").filter_map(|source| source.get_mut("flow")).for_each(fill_connection);
    plan.to_string()
}

fn fill_connection(connection: &mut Value) {
    let Some(given) = connection.as_object_mut() else { return };
    let mut ends = Map::new();
    given.retain(|key, value| {
        let stays = OF_THE_PATH.iter().chain(&OF_THE_FLOW).any(|own| own == key);
        if !stays {
            ends.insert(key.clone(), value.take());
        }
        stays
    });
    let parameters = ends.shift_remove("parameters").unwrap_or_else(|| json!({}));
    if let Some(name) = ends.get_mut("algorithm") {
        *name = json!({"name": name.take(), "parameters": parameters});
    }
    if let Some(Value::Bool(ecn)) = ends.get("ecn") {
        let word = if *ecn { "on" } else { "off" };
        ends.insert("ecn".to_owned(), json!(word));
    }
    let mut transport = Value::Object(ends);
    let usual = json!({"ssthresh_cache": false, "max_burst": null, "quick_acks": 16, "sack_compression": 0.0,
        "slow_start_limit": 2.0, "timeout_reductions": "once", "first_reduction": "own",
        "backoff_until": "sample", "cwnd_moderation": false, "rtt_samples": "echoed",
        "interrupt_moderation": 0.0, "send_jitter": 0.0, "rto_min_of": "margin", "rto_tick": 0.0,
        "initial_rto": 1.0, "timestamps": true, "abe": false, "quick_start": null, "receiver": {}});
    fill(Some(&mut transport), &usual);
    let honest = json!({"conceal_losses": false, "ack_ahead": 0, "divide_acks": 1, "hide_marks": false});
    if transport["receiver"].is_null() {
        transport["receiver"] = honest.clone();
    }
    fill(transport.get_mut("receiver"), &honest);
    given.insert("transport".to_owned(), transport);
    fill(Some(connection), &json!({"needs_marks": false}));
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
