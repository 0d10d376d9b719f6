//! Which plans a change of results concerned, so that stored runs of the others stay valid.

use serde_json::Value;

/// What gave other bytes than before, change by change: names of algorithms, queues, routers, traffic or losses as plans
/// write them; none for a change that concerns every plan. `tests/results.rs` notices what is missing here.
const CHANGES: &[&[&str]] = &[
    // 2: its sample of the bandwidth ends after a round trip, not only after more than one
    &["westwood+"],
];

/// Of the bytes that plans give, whichever: counts up with every change that alters any.
pub const RESULTS_VERSION: u32 = 1 + CHANGES.len() as u32;

/// The last version that altered what this plan gives: of the changes that concern an `algorithm` or a `kind` it names.
pub fn results_version(plan: &Value) -> u32 {
    let concerns = |names: &&[&str]| names.is_empty() || mentions(plan, names);
    CHANGES.iter().rposition(concerns).map_or(1, |place| place as u32 + 2)
}

fn mentions(plan: &Value, names: &[&str]) -> bool {
    match plan {
        Value::Object(map) => map.iter().any(|(key, value)| match value {
            Value::String(name) => matches!(key.as_str(), "algorithm" | "kind") && names.contains(&&**name),
            _ => mentions(value, names),
        }),
        Value::Array(list) => list.iter().any(|value| mentions(value, names)),
        _ => false,
    }
}
