//! A recorded run gives what an unrecorded one does, and its file says what happened.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "../../scenario/tests/plan_of/mod.rs"]
mod plan_of;

use longfat_capture::{Interface, Recorder, Recording, flows};
use longfat_sim::{Outcome, Plan, Simulation};
use plan_of::plan_of;
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};

fn link(name: &str, packets: u64) -> Value {
    json!({"name": name, "rate_bps": 1e7, "delay_s": 0.0, "queue": {"kind": "droptail", "limit_packets": packets},
        "loss": {"kind": "none"}, "ack_loss": {"kind": "none"}})
}

fn flow(name: &str, start_s: f64) -> Value {
    json!({"name": name, "algorithm": "reno", "parameters": {}, "forward": [0], "reverse": [1], "rtt_s": 0.04,
        "start_s": start_s, "stop_s": null, "bytes": 2_000_001, "access_rate_bps": 1e9, "mss": 1448,
        "header_bytes": 52, "initial_ssthresh": null, "initial_window": 3.0, "max_window": null,
        "slow_start": "standard", "max_ssthresh": 100.0, "delayed_ack": true, "delayed_ack_timeout": 0.04,
        "byte_counting": true, "loss_detection": null, "recovery": "rate-halving",
        "host_tick": 0.0, "rto_min": 0.2, "ecn": false})
}

fn run(plan: &Value, capture: Option<&Path>) -> Outcome {
    let plan = Plan::from_json(&plan_of(plan)).and_then(Plan::check).expect("a plan");
    let run = Simulation::new(plan, &mut |_| None).expect("a run");
    let Some(path) = capture else { return run.run(&mut || true).expect("an outcome") };
    let interfaces: Vec<Interface> = run
        .links()
        .iter()
        .map(|link| Interface { name: link.name.clone(), description: String::new(), bps: None })
        .collect();
    let asked = Recording { path, snap_bytes: 96, links: &[], program: "Longfat" };
    let named = run.plan().flows.iter().map(|flow| (flow.name.as_str(), &flow.connection));
    let mut recorder = Recorder::create(&asked, &interfaces, named, run.end()).expect("a file");
    let outcome = run.run_tapped(&mut recorder, &mut || true).expect("an outcome");
    let written = recorder.finish();
    assert_eq!((written.missing, written.failure), (0, None));
    outcome
}

#[test]
fn a_capture_changes_nothing_and_its_connections_are_those_of_the_run() {
    let plan = json!({"seed": 1, "duration_s": 12.0, "window_s": [0.0, 12.0],
        "links": [link("bottleneck", 30), link("reverse", 100)],
        "flows": [flow("a", 0.0), flow("b", 1.0)], "background": [],
        "sample": {"flows_s": 0.1, "links_s": 0.1}, "events": false, "fast": true});
    let path: PathBuf = std::env::temp_dir().join(format!("longfat-recorder-{}.pcapng", std::process::id()));
    let (plain, recorded) = (run(&plan, None), run(&plan, Some(&path)));
    let text = |outcome: &Outcome| serde_json::to_string(&outcome.summary).expect("JSON");
    assert_eq!(text(&plain), text(&recorded));
    let captured = flows(File::open(&path).expect("open")).expect("read");
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(captured.contents.damage, None);
    assert!(captured.contents.comment.contains("flow b (reno): 10.0.0.2:49152 to 10.128.0.2:50000"));
    assert_eq!(captured.flows.len(), 2);
    for (flow, own) in captured.flows.iter().zip(&recorded.summary.flows) {
        assert!(own.retransmits > 0, "the test needs losses");
        assert_eq!((flow.packets, flow.retransmits), (own.packets_sent, own.retransmits));
        // all of it, with a last segment that is not full
        let delivered = flow.rows.last().map_or(0.0, |row| row.delivered_bytes);
        assert!((flow.goodput_bps * flow.duration_s / 8.0 - 2_000_001.0).abs() < 1e-3, "{delivered}");
    }
}
