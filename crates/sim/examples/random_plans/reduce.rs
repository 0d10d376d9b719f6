//! Takes away from a plan what a difference does not need.

use super::draw::Drawn;
use crate::plan_of::plan_of;
use longfat_sim::Plan;
use serde_json::{Value, json};

/// The plan with as little as is left when each part was taken away that can be, such that it still
/// `differs`.
pub fn reduce(drawn: &Drawn, differs: impl Fn(&Drawn) -> bool) -> Drawn {
    let mut least = drawn.clone();
    loop {
        let before = least.plan.clone();
        for pointer in parts(&before, String::new()).into_iter().rev() {
            for smaller in changes(&least.plan, &pointer) {
                let smaller = Drawn { plan: smaller, ..least.clone() };
                let checked = Plan::from_json(&plan_of(&smaller.plan)).and_then(Plan::check);
                if checked.is_ok() && differs(&smaller) {
                    least = smaller;
                    break;
                }
            }
        }
        if least.plan == before {
            return least;
        }
    }
}

/// The JSON pointers of all values within one.
fn parts(value: &Value, at: String) -> Vec<String> {
    let within: Vec<(String, &Value)> = match value {
        Value::Object(keys) => keys.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let all = within.into_iter().flat_map(|(key, value)| parts(value, format!("{at}/{key}")));
    [at.clone()].into_iter().filter(|at| !at.is_empty()).chain(all).collect()
}

/// The plan without this part, and with a part that is simpler.
fn changes(plan: &Value, pointer: &str) -> Vec<Value> {
    let (parent, key) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    let Some(part) = plan.pointer(pointer) else { return Vec::new() };
    let simpler: Vec<Value> = match (key, part) {
        ("duration_s", Value::Number(x)) => x.as_f64().map(|s| json!(0.5 * s)).into_iter().collect(),
        ("window_s", _) => vec![json!([0.0, 0.0])],
        ("queue", _) => vec![json!({"kind": "droptail", "limit_packets": 100})],
        ("loss" | "ack_loss", _) => vec![json!({"kind": "none"})],
        ("parameters", _) => vec![json!({})],
        ("algorithm", _) => vec![json!("reno")],
        ("start_s" | "delay_s", _) => vec![json!(0.0)],
        ("access_rate_bps", _) => vec![json!(1e9)],
        _ => Vec::new(),
    };
    let set = |value: Value| {
        let mut changed = plan.clone();
        *changed.pointer_mut(pointer)? = value;
        Some(changed)
    };
    let mut without = plan.clone();
    match without.pointer_mut(parent) {
        Some(Value::Object(keys)) => drop(keys.remove(key)),
        Some(Value::Array(items)) => drop(key.parse().map(|i: usize| items.remove(i))),
        _ => {}
    }
    let simpler = simpler.into_iter().filter(|simpler| simpler != part).filter_map(set);
    [without].into_iter().chain(simpler).collect()
}
