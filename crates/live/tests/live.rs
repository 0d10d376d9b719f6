//! Real runs on this machine, of a second or two each. They say why where they cannot be run.

use longfat_live::{Live, LiveError, run};
use longfat_sim::Plan;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn flow(name: &str, algorithm: &str) -> Value {
    json!({"name": name, "algorithm": algorithm, "parameters": {}, "forward": [0], "reverse": [1],
        "rtt_s": 0.04, "access_rate_bps": 1e9, "mss_bytes": 1448, "header_bytes": 52, "initial_ssthresh": null,
        "initial_window": 10.0, "max_window": null, "slow_start": "standard", "max_ssthresh": 100.0,
        "delayed_ack": true, "delayed_ack_timeout_s": 0.04, "byte_counting": true, "sack": null,
        "recovery": "prr", "host_tick_s": 0.0, "rto_min_s": 0.2, "ecn": false, "quick_start_bps": null,
        "start_s": 0.0, "stop_s": null, "bytes": null})
}

fn link(name: &str, rate_bps: f64, packets: u64) -> Value {
    json!({"name": name, "rate_bps": rate_bps, "delay_s": 0.0,
        "queue": {"kind": "droptail", "limit_packets": packets},
        "loss": {"kind": "none"}, "ack_loss": {"kind": "none"}})
}

fn plan(duration_s: f64, flows: &[Value]) -> Value {
    json!({"seed": 1, "duration_s": duration_s, "window_s": [0.0, duration_s],
        "links": [link("bottleneck", 10e6, 33), link("reverse", 10e6, 1000)],
        "flows": flows, "background": [], "sample": {"flows_s": 0.02, "links_s": 0.02}, "events": true,
        "fast": true})
}

/// Runs it; `None`, with a line that says why, where this machine cannot.
fn live(plan: &Value, congestion: &[(&str, &str)]) -> Option<Live> {
    let plan = Plan::from_json(&plan.to_string()).unwrap();
    let congestion: BTreeMap<_, _> =
        congestion.iter().map(|&(name, algorithm)| (name.to_owned(), algorithm.to_owned())).collect();
    match run(&plan, &congestion) {
        Ok(live) => Some(live),
        Err(LiveError::Machine(why)) => {
            eprintln!("skipped: {why}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn column<'a>(series: &'a [(String, longfat_sim::Series)], name: &str, column: &str) -> &'a [f64] {
    let (_, series) = series.iter().find(|(n, _)| n == name).unwrap();
    series.column(column).unwrap()
}

#[test]
fn one_cubic_flow_fills_the_link_and_no_more() {
    let Some(live) = live(&plan(3.0, &[flow("1", "cubic")]), &[("1", "cubic")]) else { return };
    println!("{:#?}\n{:#?}", live.validity, live.outcome.summary);
    let (flow, link) = (&live.outcome.summary.flows[0], &live.outcome.summary.links[0]);
    assert!((0.9..=1.0).contains(&link.utilization), "{}", link.utilization);
    assert!((9e6..=10e6).contains(&flow.throughput_bps), "{}", flow.throughput_bps);
    assert!((flow.goodput_bps / flow.throughput_bps - 1448.0 / 1500.0).abs() < 0.02);
    // what waits never takes longer than the buffer
    let srtt = column(&live.outcome.flows, "1", "srtt_s");
    assert!(srtt.iter().all(|&s| s == 0.0 || s >= 0.04), "faster than light");
    assert_eq!(link.queue_max_packets, 33);
}
