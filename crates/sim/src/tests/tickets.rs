//! Which queues hold tickets in place of packets.
#![allow(clippy::expect_used, reason = "a test may panic")]

use super::flow;
use super::plan_of::plan_of;
use crate::drive::Drive;
use crate::run::state::{Rates, Simulation};
use longfat_net::queue::disciplines;
use longfat_scenario::plan::Plan;
use serde_json::{Value, json};

/// Two flows over these paths, with FQ-CoDel at each of three links.
fn plan(paths: [(&[usize], &[usize]); 2]) -> Value {
    let link = |name: &str| {
        json!({"name": name, "rate_bps": 1e7, "delay_s": 0.001, "loss": {"kind": "none"},
            "ack_loss": {"kind": "none"}, "queue": {"kind": "fq_codel", "limit_packets": 100}})
    };
    let links = ["a", "b", "c"].map(link);
    let flows = paths.map(|(forward, reverse)| flow("cubic", forward, reverse));
    json!({"seed": 1, "duration_s": 1.0, "window_s": [0.0, 1.0], "links": links, "flows": flows,
        "background": [], "sample": {"flows_s": 0.1, "links_s": 0.1}, "events": false, "fast": true})
}

/// Which links' queues hold tickets in a run of this plan.
fn tickets(plan: &Value, rates: Rates) -> Vec<bool> {
    let plan = Plan::from_json(&plan_of(plan)).and_then(Plan::check).expect("a sound plan");
    let mut run = Simulation::new_while(plan, rates, &mut |_| None, &mut || true).expect("a sound plan");
    Drive::of(&mut run);
    run.links.iter_mut().map(|link| link.tickets().is_some()).collect()
}

/// The same with another value at this place of the plan.
fn changed(plan: &Value, pointer: &str, value: Value) -> Vec<bool> {
    let mut plan = plan.clone();
    let (at, key) = pointer.rsplit_once('/').expect("a key");
    plan.pointer_mut(at).expect("it is there")[key] = value;
    tickets(&plan, Rates::Planned)
}

#[test]
fn a_queue_holds_tickets_where_its_link_is_the_whole_path_of_lasting_flows() {
    let plain = plan([(&[0], &[1]), (&[1], &[2])]);
    assert_eq!(tickets(&plain, Rates::Planned), [true; 3]);
    assert_eq!(tickets(&plain, Rates::Settable), [false; 3]);
    assert_eq!(changed(&plain, "/fast", json!(false)), [false; 3]);
    let longer = plan([(&[0], &[1]), (&[1, 2], &[0])]);
    assert_eq!(tickets(&longer, Rates::Planned), [true, false, false]);
    let other = [false, true, true];
    assert_eq!(changed(&plain, "/links/0/service_tick_s", json!(0.001)), other);
    assert_eq!(changed(&plain, "/links/0/router", json!({"kind": "xcp"})), other);
    let jitter = json!({"reorder": null, "jitter": 0.001, "duplicate": 0.0, "added_delay": null,
        "overtaking": false, "outages": []});
    assert_eq!(changed(&plain, "/links/0/disturbance", jitter), other);
    // loss processes take packets on either way of the first flow
    let random = json!({"kind": "random", "probability": 0.1});
    assert_eq!(changed(&plain, "/links/0/loss", random), [false, false, true]);
    let mut pages = flow("cubic", &[0], &[1]);
    if let Some(keys) = pages.as_object_mut() {
        ["name", "start_s", "bytes"].iter().for_each(|key| drop(keys.remove(*key)));
    }
    let web = json!([{"name": "web", "kind": "web", "sessions": 1, "gap_s": 1.0, "page_bytes": 9400.0,
        "shape": 1.2, "flow": pages}]);
    assert_eq!(changed(&plain, "/background", web), [false; 3]);
}

#[test]
fn all_queues_without_arithmetic_departures_hold_tickets_unless_they_may_reorder_a_flow() {
    let plain = plan([(&[0], &[1]), (&[1], &[2])]);
    let l4s = with_first_flow(&plain, "ecn", json!("l4s"));
    let prague = with_first_flow(&plain, "algorithm", json!("prague"));
    for row in disciplines() {
        let arithmetic = ["droptail", "red"].contains(&row.name);
        let kind = |plan| changed(plan, "/links/0/queue/kind", json!(row.name))[0];
        assert_eq!(kind(&plain), !arithmetic, "{}", row.name);
        assert_eq!(kind(&l4s), !arithmetic && !row.l4s, "{} with L4S", row.name);
        assert_eq!(kind(&prague), kind(&l4s), "{} with Prague", row.name);
    }
}

fn with_first_flow(plan: &Value, key: &str, value: Value) -> Value {
    let mut plan = plan.clone();
    plan["flows"][0][key] = value;
    plan
}
