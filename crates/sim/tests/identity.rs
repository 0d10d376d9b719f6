//! A connection's identity depends on names only: neither on what is observed, nor on where something stands
//! in the plan, nor on what else stands there. The queues and routers here hash flows or compare them; and
//! flows that start together on equal paths meet at the link within the same nanosecond, again and again.

use crate::common::{bits, bulk, dumbbell, flow, link, run, run_by_both, short, surge, web, with};
use longfat_sim::Outcome;
use serde_json::{Map, Value, json};

/// Queues that hash or compare flows, and one that does neither.
const QUEUES: [&str; 6] = ["fq_codel", "fq_pie", "sfq", "sred", "choke", "droptail"];

/// Routers that count flows or remember them, and the algorithm of the flows that they guide.
const ROUTERS: [(&str, &str); 4] = [
    (r#"{"kind": "friendly", "counter": "bloom"}"#, "xcp"),
    (r#"{"kind": "friendly", "counter": "exact"}"#, "xcp"),
    (r#"{"kind": "friendly", "counter": "zombie"}"#, "xcp"),
    (r#"{"kind": "erica"}"#, "erica"),
];

/// Twelve flows that start together, and connections that come and go, over a link of 8 Mbit/s that loses
/// packets too.
fn plan(queue: &str) -> Value {
    let named = |i: u64| {
        let path = json!({"rtt_s": 0.04, "start_s": 0.0, "access_rate_bps": 1e8});
        with(flow(&format!("flow-{i}"), if i.is_multiple_of(2) { "reno" } else { "cubic" }), path)
    };
    let mut plan = dumbbell(8e6, 60, 6.0, (1..=12).map(named).collect());
    plan["links"][0]["queue"]["kind"] = json!(queue);
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-3});
    plan["links"][1]["ack_loss"] = json!({"kind": "random", "probability": 1e-2});
    plan["background"] = json!([web("w", 30), surge("s", 10), short("a"), bulk("b", 3)]);
    plan
}

/// The same with a router around the queue.
fn with_router((router, guided): (&str, &str)) -> Value {
    let mut plan = plan("fq_codel");
    plan["links"][0]["router"] = serde_json::from_str(router).unwrap_or_else(|e| panic!("{router}: {e}"));
    for i in 0..6 {
        plan["flows"][i]["algorithm"] = json!(guided);
    }
    plan
}

fn plans() -> impl Iterator<Item = Value> {
    QUEUES.into_iter().map(plan).chain(ROUTERS.into_iter().map(with_router))
}

/// All that happened, by names. The mean of a sampled series is not among it, as it depends on the samples.
fn happened(outcome: &Outcome) -> Value {
    let summary = serde_json::to_value(&outcome.summary).unwrap_or_default();
    let by_name = |part: &str| -> Map<String, Value> {
        let rows = summary[part].as_array().into_iter().flatten().cloned();
        let named = rows.map(|mut row| {
            row.as_object_mut().and_then(|row| row.remove("srtt_mean_s"));
            (row["name"].as_str().unwrap_or_default().to_owned(), row)
        });
        named.collect()
    };
    let mut transfers = bits(&outcome.transfers);
    transfers.retain(|(column, _)| *column != "group"); // the position of the background in the plan
    json!({"flows": by_name("flows"), "links": by_name("links"), "background": by_name("background"),
        "transfers": transfers})
}

/// Asserts that a change of the plan changes nothing that happens to what both have.
fn assert_equal(plan: &Value, changed: &Value, what: &str) {
    let [before, mut after] = [plan, changed].map(|plan| happened(&run(plan)));
    for part in ["flows", "links", "background"] {
        if let (Value::Object(before), Value::Object(after)) = (&before[part], &mut after[part]) {
            after.retain(|name, _| before.contains_key(name));
        }
    }
    assert!(before == after, "{what} changes what happens: {plan}");
}

#[test]
fn drivers_agree_though_each_keeps_connections_where_it_wants() {
    for plan in plans() {
        run_by_both(&plan);
    }
}

#[test]
fn observing_changes_nothing() {
    for plan in plans() {
        for (flows_s, links_s) in [(0.01, 0.1), (0.037, 1.0), (2.0, 0.013), (1e3, 1e3)] {
            let mut observed = plan.clone();
            observed["sample"] = json!({"flows_s": flows_s, "links_s": links_s, "internals": flows_s < 1.0});
            observed["events"] = json!(links_s < 0.5);
            assert_equal(&plan, &observed, "another sample");
        }
        let measured = with(plan.clone(), json!({"window_s": [0.0, 3.0]}));
        let [a, b] = [&plan, &measured].map(|plan| happened(&run(plan))["transfers"].clone());
        assert_eq!(a, b, "another measured span");
    }
}

#[test]
fn an_idle_flow_changes_nothing() {
    for plan in plans() {
        let mut idle = plan.clone();
        let flow = with(flow("flow-5-idle", "reno"), json!({"start_s": 1e3, "rtt_s": 0.001}));
        idle["flows"].as_array_mut().unwrap_or(&mut Vec::new()).insert(0, flow);
        assert_equal(&plan, &idle, "an idle flow");
    }
}

#[test]
fn an_unused_link_and_what_happens_on_others_change_nothing() {
    for plan in plans() {
        let mut more = plan.clone();
        let mut unused = link("another", 1e6, 10);
        unused["loss"] = json!({"kind": "random", "probability": 0.1});
        more["links"].as_array_mut().unwrap_or(&mut Vec::new()).insert(1, unused);
        let moved = |connection: &mut Value| connection["reverse"] = json!([2]);
        more["flows"].as_array_mut().into_iter().flatten().for_each(moved);
        for background in more["background"].as_array_mut().into_iter().flatten() {
            moved(&mut background["flow"]);
        }
        assert_equal(&plan, &more, "an unused link");
        let mut apart = web("q", 20);
        (apart["flow"]["forward"], apart["flow"]["reverse"]) = (json!([1]), json!([1]));
        let others = more["background"].as_array_mut();
        others.unwrap_or(&mut Vec::new()).insert(0, apart);
        let [before, after] = [&plan, &more].map(|plan| happened(&run(plan)));
        assert_eq!(before["flows"], after["flows"], "traffic on another link: {plan}");
        assert_eq!(before["links"]["bottleneck"], after["links"]["bottleneck"]);
    }
}

#[test]
fn the_order_in_which_flows_and_backgrounds_are_written_changes_nothing() {
    for plan in plans() {
        let mut turned = plan.clone();
        for part in ["flows", "background"] {
            turned[part].as_array_mut().into_iter().for_each(|rows| rows.reverse());
        }
        assert_equal(&plan, &turned, "another order");
        turned["flows"].as_array_mut().into_iter().for_each(|rows| rows.rotate_left(5));
        assert_equal(&plan, &turned, "another order");
    }
}
