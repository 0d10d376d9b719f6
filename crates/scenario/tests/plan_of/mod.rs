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
        fill_disturbance(link.get_mut("disturbance"));
    }
    rows(&mut plan, "flows").for_each(fill_connection);
    rows(&mut plan, "background").filter_map(|source| source.get_mut("flow")).for_each(fill_connection);
    plan.to_string()
}

fn fill_disturbance(disturbance: Option<&mut Value>) {
    let Some(given) = disturbance.and_then(Value::as_object_mut) else { return };
    let disturbed = split(given, |key| key == "medium");
    given.insert("disturbed".to_owned(), disturbed.into());
    given.entry("medium").or_insert_with(|| json!("m"));
}

/// Takes the other keys out of an object.
fn split(object: &mut Map<String, Value>, stays: impl Fn(&str) -> bool) -> Map<String, Value> {
    let (own, others) = std::mem::take(object).into_iter().partition(|(key, _)| stays(key));
    *object = own;
    others
}

fn fill_connection(connection: &mut Value) {
    let Some(given) = connection.as_object_mut() else { return };
    let mut ends = split(given, |key| OF_THE_PATH.contains(&key) || OF_THE_FLOW.contains(&key));
    let parameters = ends.shift_remove("parameters").unwrap_or_else(|| json!({}));
    if let Some(name) = ends.get_mut("algorithm") {
        *name = json!({"kind": name.take(), "parameters": parameters});
    }
    if let Some(Value::Bool(ecn)) = ends.get("ecn") {
        let word = if *ecn { "on" } else { "off" };
        ends.insert("ecn".to_owned(), json!(word));
    }
    if ends.get("receiver").is_some_and(Value::is_null) {
        ends.shift_remove("receiver");
    }
    let honest = json!({"conceal_losses": false, "ack_ahead": 0, "divide_acks": 1, "hide_marks": false});
    fill(ends.get_mut("receiver"), &honest);
    given.insert("transport".to_owned(), ends.into());
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
