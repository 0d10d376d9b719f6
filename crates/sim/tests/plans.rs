//! Which keys a plan has to have.

use crate::common::{dumbbell, flow, refusal_of, web};
use serde_json::{Value, json};

/// Keys that plans without them are older than; a missing one has the value that such plans always had.
const YOUNGER_THAN_STORED_PLANS: [&str; 2] = ["layer2", "rtt_samples"];

/// A plan that has every key, with null where that is accepted.
fn complete() -> Value {
    let mut one = flow("a", "reno");
    (one["rtt_samples"], one["quick_start_bps"]) = (json!("echoed"), json!(null));
    let mut plan = dumbbell(1e7, 50, 1.0, vec![one]);
    for (i, link) in plan["links"].as_array_mut().into_iter().flatten().enumerate() {
        (link["capacity"], link["router"], link["layer2"]) = (json!(null), json!(null), json!(false));
        (link["nodes"], link["queue"]["limit_bytes"]) = (json!([i, 1 - i]), json!(null));
    }
    plan["background"] = json!([web("w", 1)]);
    plan
}

#[test]
fn a_key_is_missing_only_where_null_is_meant_or_the_key_is_younger_than_stored_plans() {
    assert_eq!(refusal_of(&complete()), None);
    for object in
        ["", "/sample", "/links/0", "/links/0/queue", "/links/0/loss", "/flows/0", "/background/0/flow"]
    {
        let keys = complete().pointer(object).and_then(Value::as_object).cloned().unwrap_or_default();
        assert!(!keys.is_empty(), "{object}");
        for (key, value) in keys {
            let mut plan = complete();
            if let Some(keys) = plan.pointer_mut(object).and_then(Value::as_object_mut) {
                keys.shift_remove(&key);
            }
            // the nodes of all links are given, or of none
            let may_be_missing = value.is_null() || YOUNGER_THAN_STORED_PLANS.contains(&key.as_str());
            assert_eq!(refusal_of(&plan).is_none(), may_be_missing, "{object}/{key}");
        }
    }
}
