//! Which keys a plan has to have.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::{and, dumbbell, flow, web};
use crate::plan_of::plan_of;
use longfat_sim::{Plan, PlanError};
use serde_json::{Value, json};

/// A plan that has every key, with null where that is accepted.
fn complete() -> Value {
    let nothing = json!({"slow_start_limit": null, "hosts": null});
    let mut plan = dumbbell(1e7, 50, 1.0, vec![and(flow("a", "reno"), nothing)]);
    for (i, link) in plan["links"].as_array_mut().into_iter().flatten().enumerate() {
        (link["capacity"], link["router"], link["clock"]) = (json!(null), json!(null), json!(null));
        (link["nodes"], link["queue"]["limit_bytes"]) = (json!([i, 1 - i]), json!(null));
        link["disturbance"] = json!({});
    }
    plan["background"] = json!([web("w", 1)]);
    plan["background"][0]["flow"]["slow_start_limit"] = json!(null);
    serde_json::from_str(&plan_of(&plan)).expect("JSON")
}

fn refusal_of(plan: &Value) -> Option<PlanError> {
    Plan::from_json(&plan.to_string()).and_then(Plan::check).err()
}

#[test]
fn a_plan_that_is_written_again_has_the_keys_of_the_complete_one() {
    let plan = Plan::from_json(&complete().to_string()).expect("a sound plan");
    let written = serde_json::to_value(plan).expect("JSON");
    for object in ["", "/sample", "/links/0", "/links/0/disturbance", "/flows/0"] {
        let keys = |plan: &Value| {
            let object = plan.pointer(object).and_then(Value::as_object).cloned().unwrap_or_default();
            let mut keys: Vec<String> = object.keys().cloned().collect();
            keys.sort_unstable();
            keys
        };
        assert_eq!(keys(&written), keys(&complete()), "{object}");
    }
}

#[test]
fn a_key_is_missing_only_where_null_is_meant() {
    assert_eq!(refusal_of(&complete()), None);
    for object in [
        "",
        "/sample",
        "/links/0",
        "/links/0/queue",
        "/links/0/loss",
        "/links/0/disturbance",
        "/flows/0",
        "/background/0/flow",
    ] {
        let keys = complete().pointer(object).and_then(Value::as_object).cloned().unwrap_or_default();
        assert!(!keys.is_empty(), "{object}");
        for (key, value) in keys {
            let mut plan = complete();
            if let Some(keys) = plan.pointer_mut(object).and_then(Value::as_object_mut) {
                keys.shift_remove(&key);
            }
            // null also stands for no disturbances
            let may_be_missing = value.is_null() || key == "disturbance";
            assert_eq!(refusal_of(&plan).is_none(), may_be_missing, "{object}/{key}");
        }
    }
}

#[test]
fn a_key_that_no_plan_has_is_refused_at_any_depth() {
    let mut plan = complete();
    plan["flows"][0]["transport"]["receiver"] =
        json!({"conceal_losses": false, "ack_ahead": 0, "divide_acks": 2, "hide_marks": false});
    assert_eq!(refusal_of(&plan), None);
    for object in [
        "",
        "/sample",
        "/links/0",
        "/links/0/disturbance",
        "/links/0/disturbance/disturbed",
        "/flows/0/transport",
        "/flows/0/transport/algorithm",
        "/flows/0/transport/receiver",
        "/background/0/flow",
        "/background/0/flow/transport",
    ] {
        let mut plan = plan.clone();
        if let Some(place) = plan.pointer_mut(object) {
            place["surprise"] = json!(1);
        }
        assert!(refusal_of(&plan).is_some_and(|error| error.to_string().contains("surprise")), "{object}");
    }
}

#[test]
fn numbers_that_no_file_can_give_are_refused_in_a_plan() {
    for (key, value) in [("host_tick", f64::NAN), ("rto_min", f64::INFINITY), ("initial_window", f64::NAN)] {
        let mut plan = Plan::from_json(&complete().to_string()).expect("a sound plan");
        let transport = std::sync::Arc::make_mut(&mut plan.flows[0].connection.transport);
        match key {
            "host_tick" => transport.host_tick = value,
            "rto_min" => transport.rto_min = value,
            _ => transport.initial_window = value,
        }
        assert_eq!(plan.check().err().expect("a refusal").at, format!("flows[0].transport.{key}"));
    }
}

#[test]
fn a_path_names_each_link_once() {
    let mut plan = complete();
    plan["flows"][0]["forward"] = json!([0, 1, 0]);
    let refusal = refusal_of(&plan).expect("the path visits a link twice");
    assert!(refusal.to_string().contains("[0, 1, 0] must name each link once"), "{refusal}");
}
