//! Which driver moves a run, and which server each of its links has.
#![allow(clippy::expect_used, reason = "a test may panic")]

use super::flow;
use super::plan_of::plan_of;
use crate::drive::Drive;
use crate::model::link::Server;
use crate::run::state::{Rates, Simulation};
use longfat_net::queue::disciplines;
use longfat_scenario::plan::Plan;
use longfat_units::Time;
use longfat_wire::{Kind, SimPacket};
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

/// What the driver of a run of this plan is called, and what the queue of each link holds.
fn machinery(plan: &Value, rates: Rates) -> (&'static str, Vec<&'static str>) {
    let plan = Plan::from_json(&plan_of(plan)).and_then(Plan::check).expect("a sound plan");
    let mut run = Simulation::new_while(plan, rates, &mut |_| None, &mut || true).expect("a sound plan");
    let (driver, _) = Drive::of(&mut run).description();
    let holds = |server: &Server<_>| match server {
        Server::Computed(_) => "sizes",
        Server::Asked(_) => "packets",
        Server::Handles(_) => "handles",
        Server::Loans(_) => "loans",
        Server::Unbuilt(_) => "nothing",
    };
    (driver, run.links.iter_mut().map(|link| holds(link.parts().0)).collect())
}

/// The same with another value at this place of the plan.
fn changed(plan: &Value, pointer: &str, value: Value) -> (&'static str, Vec<&'static str>) {
    let mut plan = plan.clone();
    let (at, key) = pointer.rsplit_once('/').expect("a key");
    plan.pointer_mut(at).expect("it is there")[key] = value;
    machinery(&plan, Rates::Planned)
}

#[test]
fn links_hold_handles_in_the_fast_driver_with_any_plan() {
    let plain = plan([(&[0], &[1]), (&[1], &[2])]);
    let all = ("batches", vec!["handles"; 3]);
    assert_eq!(machinery(&plain, Rates::Planned), all);
    assert_eq!(machinery(&plain, Rates::Settable), all);
    assert_eq!(machinery(&plan([(&[0], &[1]), (&[1, 2], &[0])]), Rates::Planned), all);
    assert_eq!(changed(&plain, "/links/0/service_tick_s", json!(0.001)), all);
    let random = json!({"kind": "random", "probability": 0.1});
    assert_eq!(changed(&plain, "/links/0/loss", random), all);
    let disturbed = |reorder: Value, duplicate: f64| {
        let law = json!({"reorder": reorder, "jitter": 0.001, "duplicate": duplicate, "added_delay": null,
            "overtaking": false, "outages": []});
        changed(&plain, "/links/0/disturbance", law)
    };
    assert_eq!(disturbed(json!({"probability": 0.1, "delay_s": 0.1}), 0.1), all);
    let router = changed(&plain, "/links/0/router", json!({"kind": "xcp"}));
    assert_eq!(router, ("batches", vec!["loans", "handles", "handles"]));
    let tail = changed(&plain, "/links/0/queue/kind", json!("droptail"));
    assert_eq!(tail, ("batches", vec!["sizes", "handles", "handles"]));
    // the oracle
    let oracle = ("events", vec!["packets"; 3]);
    assert_eq!(changed(&plain, "/fast", json!(false)), oracle);
    assert_eq!(changed(&plain, "/links/0/router", json!({"kind": "xcp-i"})), oracle);
}

#[test]
fn all_disciplines_but_those_that_compute_departures_hold_handles() {
    let plain = plan([(&[0], &[1]), (&[1], &[2])]);
    for row in disciplines() {
        let (driver, servers) = changed(&plain, "/links/0/queue/kind", json!(row.name));
        let held = if row.law.is_some() { "sizes" } else { "handles" };
        assert_eq!((driver, servers[0]), ("batches", held), "{}", row.name);
    }
}

#[test]
fn what_data_carry_besides_the_usual_goes_back_to_their_sender() {
    let mut plan = plan([(&[0], &[1]), (&[1], &[2])]);
    plan["links"][0]["router"] = json!({"kind": "xcp"});
    plan["flows"] = json!([flow("xcp", &[0], &[1])]);
    let plan = Plan::from_json(&plan_of(&plan)).and_then(Plan::check).expect("a sound plan");
    let mut run = Simulation::new(plan, &mut |_| None).expect("a sound plan");
    let (mut drive, end) = (Drive::of(&mut run), run.after_end());
    drive.advance(&mut run, end, &mut || true).expect("a run");
    assert_eq!(drive.description().0, "batches");
    // a packet takes the slot of one that has arrived
    let arrived = run.flows[0].sending.outgoing.push(Time::NEVER, SimPacket::default());
    assert!(arrived.kind == Kind::Data && arrived.bytes > 0, "{arrived:?}");
    assert_eq!(arrived.extra, None);
}
