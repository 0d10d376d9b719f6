//! The same plan gives the same bytes, and adding a component leaves the draws of all others unchanged.

use crate::common::{bits, dumbbell, flow, run, web, with};
use longfat_sim::{FlowSummary, Outcome, Sample, Series};
use serde_json::{Value, json};

/// A path so fast that flows never meet: a packet takes less than a nanosecond.
fn open_road(flows: Vec<Value>) -> Value {
    let mut plan = dumbbell(1e15, 1_000_000, 20.0, flows);
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 0.01});
    plan["links"][1]["ack_loss"] = json!({"kind": "gilbert_elliott", "good_to_bad": 0.01, "bad_to_good": 0.3,
        "loss_good": 0.0, "loss_bad": 0.5});
    plan
}

fn drawn(name: &str, algorithm: &str) -> Value {
    with(
        flow(name, algorithm),
        json!({"rtt_s": {"uniform": [0.02, 0.08]}, "start_s": {"exponential": [0.0, 2.0]}, "host_tick": 0.001,
            "access_rate_bps": 1e8}),
    )
}

fn summary_of<'a>(outcome: &'a Outcome, name: &str) -> &'a FlowSummary {
    let found = outcome.summary.flows.iter().find(|f| f.name == name);
    found.unwrap_or_else(|| panic!("no flow {name}"))
}

fn assert_same_flow(a: &Outcome, b: &Outcome, name: &str) {
    let series = |o: &Outcome| {
        let found = o.flows.iter().find(|(n, _)| n == name);
        found.map(|(_, s)| bits(s)).unwrap_or_else(|| panic!("no flow {name}"))
    };
    for (x, y) in series(a).into_iter().zip(series(b)) {
        assert_eq!(x, y, "flow {name}");
    }
    let text = |o: &Outcome| serde_json::to_value(summary_of(o, name)).unwrap_or_default();
    assert_eq!(text(a), text(b));
}

#[test]
fn adding_a_flow_leaves_the_draws_of_the_others_alone() {
    let alone = run(&open_road(vec![drawn("first", "reno")]));
    let with_another = run(&open_road(vec![drawn("first", "reno"), drawn("second", "hstcp")]));
    let before_it = run(&open_road(vec![drawn("second", "hstcp"), drawn("first", "reno")]));
    assert!(summary_of(&alone, "first").packets_lost > 20);
    assert_same_flow(&alone, &with_another, "first");
    assert_same_flow(&alone, &before_it, "first");
    assert_same_flow(&with_another, &before_it, "second");
    // the two flows have draws of their own
    let (first, second) = (summary_of(&with_another, "first"), summary_of(&with_another, "second"));
    assert!(first.rtt_s != second.rtt_s && first.start_s != second.start_s);
}

#[test]
fn adding_background_leaves_the_draws_of_flows_and_of_other_background_alone() {
    let one = vec![drawn("first", "reno")];
    let alone = run(&open_road(one.clone()));
    let web_only = run(&with(open_road(one.clone()), json!({"background": [web("a", 5)]})));
    let both = run(&with(open_road(one), json!({"background": [web("a", 5), web("b", 7)]})));
    assert_same_flow(&alone, &web_only, "first");
    assert_same_flow(&alone, &both, "first");
    let text = |o: &Outcome| serde_json::to_string(&o.summary.background[0]).unwrap();
    assert_eq!(text(&web_only), text(&both));
    assert!(both.summary.background[0].transfers_started > 50, "{}", text(&both));
    assert_ne!(both.summary.background[0].transfers_started, both.summary.background[1].transfers_started);
}

#[test]
fn another_seed_gives_another_run() {
    let plan = open_road(vec![drawn("first", "reno")]);
    let runs: Vec<_> = (1..=5).map(|seed| run(&with(plan.clone(), json!({"seed": seed})))).collect();
    for (i, a) in runs.iter().enumerate() {
        for b in &runs[..i] {
            let (a, b) = (summary_of(a, "first"), summary_of(b, "first"));
            assert!(a.start_s != b.start_s && a.rtt_s != b.rtt_s && a.packets_sent != b.packets_sent);
        }
    }
}

#[test]
fn the_seed_is_no_matter_where_nothing_is_drawn() {
    let plan = dumbbell(20e6, 30, 20.0, vec![flow("a", "hstcp"), flow("b", "reno")]);
    let (one, two) = (run(&plan), run(&with(plan.clone(), json!({"seed": 2}))));
    assert_same_flow(&one, &two, "a");
    assert_same_flow(&one, &two, "b");
}

#[test]
fn a_longer_run_begins_like_a_shorter_one() {
    let plan = |duration_s: f64| {
        let flows = vec![drawn("a", "hstcp"), drawn("b", "newreno")];
        let mut plan = dumbbell(10e6, 20, duration_s, flows);
        plan["background"] = json!([web("web", 3)]);
        plan
    };
    let (short, long) = (run(&plan(10.0)), run(&plan(15.0)));
    assert_begins_like(&short.flows, &long.flows);
    assert_begins_like(&short.links, &long.links);
}

fn assert_begins_like<S: Sample>(short: &[(String, Series<S>)], long: &[(String, Series<S>)]) {
    for ((name, a), (_, b)) in short.iter().zip(long) {
        for ((column, a), (_, b)) in bits(a).into_iter().zip(bits(b)) {
            assert!(!a.is_empty() && a[..] == b[..a.len()], "{column} of {name}");
        }
    }
}
