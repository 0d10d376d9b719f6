//! Real runs of a second or two in which iperf3 makes the traffic. Where they cannot run, they say why.

#[path = "../../scenario/tests/plan_of/mod.rs"]
mod plan_of;
#[path = "../../bpf-loader/tests/skip/mod.rs"]
mod skip;

use longfat_live::{Congestion, LiveError, Traffic, run};
use longfat_sim::{CheckedPlan, Plan};
use plan_of::plan_of;
use serde_json::{Value, json};
use std::path::PathBuf;

fn flow(name: &str) -> Value {
    json!({"name": name, "algorithm": "cubic", "parameters": {}, "forward": [0], "reverse": [1],
        "rtt_s": 0.04, "access_rate_bps": 1e9, "mss": 1000, "header_bytes": 52, "initial_ssthresh": null,
        "initial_window": 10.0, "max_window": null, "slow_start": "standard", "max_ssthresh": 100.0,
        "delayed_ack": true, "delayed_ack_timeout": 0.04, "byte_counting": true,
        "recovery": "prr", "host_tick": 0.0, "rto_min": 0.2, "ecn": false, "quick_start": null,
        "start_s": 0.0, "stop_s": null, "bytes": null})
}

fn plan(duration_s: f64, flows: &[Value]) -> CheckedPlan {
    let link = |name: &str, packets: u64| {
        json!({"name": name, "rate_bps": 10e6, "delay_s": 0.0, "queue": {"kind": "droptail", "limit_packets": packets},
            "loss": {"kind": "none"}, "ack_loss": {"kind": "none"}})
    };
    let plan = json!({"seed": 1, "duration_s": duration_s, "window_s": [0.0, duration_s],
        "links": [link("bottleneck", 50), link("reverse", 1000)], "flows": flows, "background": [],
        "sample": {"flows_s": 0.02, "links_s": 0.02}, "events": true, "fast": true});
    match Plan::from_json(&plan_of(&plan)).and_then(Plan::check) {
        Ok(plan) => plan,
        Err(error) => panic!("{error}"),
    }
}

fn congestion(plan: &CheckedPlan) -> Congestion {
    let names = plan.flows.iter().map(|flow| (flow.name.clone(), "reno".to_owned())).collect();
    Congestion { names, forms: "bpf/out".into(), ..Congestion::default() }
}

fn installed() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("iperf3")).find(|file| file.is_file())
}

#[test]
fn iperf3_carries_flows_with_their_algorithm_segment_size_start_and_stop() {
    let Some(program) = installed() else {
        return skip::skipped("iperf3 is not installed: apt-get install -y iperf3");
    };
    let (whole, mut part) = (flow("whole"), flow("part"));
    (part["start_s"], part["stop_s"]) = (json!(1.0), json!(2.0));
    (part["forward"], part["reverse"]) = (json!([1]), json!([0]));
    let plan = plan(3.0, &[whole, part]);
    let congestion = congestion(&plan);
    let live = match run(plan, &congestion, &Traffic::Iperf3(program), None, None) {
        Ok(live) => live,
        Err(LiveError::Machine(why)) => return skip::skipped(&why),
        Err(error) => panic!("{error}"),
    };
    println!("{:#?}\n{:#?}", live.validity, live.outcome.summary);
    let flows = &live.outcome.summary.flows;
    // the receiver has read about as much as the network has carried, and the kernel's numbers are those of
    // iperf3
    let report = &live.validity.iperf3["whole"];
    let goodput_bps = 8.0 * report.received_bytes.unwrap() as f64 / 3.0;
    assert!((flows[0].goodput_bps / goodput_bps - 1.0).abs() < 0.05, "{goodput_bps} {flows:?}");
    assert_eq!(report.retransmits, Some(flows[0].retransmits));
    // 52 bytes of headers a segment; segments that came twice count for the throughput only
    let payload = flows[0].goodput_bps / flows[0].throughput_bps / (1000.0 / 1052.0);
    assert!((0.9..1.01).contains(&payload), "{flows:?}");
    // a busy machine starts it late, and the check says so
    let seconds = live.validity.iperf3["part"].seconds.unwrap();
    let began = live.validity.checks.iter().find(|check| check.name.contains("start of flow part")).unwrap();
    assert!((began.value + seconds - 1.0).abs() < 0.02 && began.ok == (began.value <= 0.22), "{began:?}");
    let series = &live.outcome.flows.iter().find(|(name, _)| name == "part").unwrap().1;
    let (times, sent) = (series.column("time_s").unwrap(), series.column("packets_sent").unwrap());
    let at = |t: f64| sent[times.iter().position(|&x| x >= t).unwrap()];
    assert!(at(0.98) == 0.0 && at(2.3) > 10.0);
    // a round trip after the stop nothing more comes
    assert_eq!(at(2.3), *sent.last().unwrap());
    let largest = live.validity.checks.iter().find(|check| check.name.starts_with("largest")).unwrap();
    assert_eq!(largest.value, 1052.0);
}

#[test]
fn what_iperf3_cannot_do_and_an_iperf3_that_does_nothing_are_one_clear_line() {
    let refused = |flow: Value, program: &str| {
        let plan = plan(1.0, &[flow]);
        let traffic = Traffic::Iperf3(program.into());
        let congestion = congestion(&plan);
        run(plan, &congestion, &traffic, None, None).err().unwrap().to_string()
    };
    let (mut sized, mut large) = (flow("1"), flow("1"));
    sized["bytes"] = json!(1000);
    large["mss"] = json!(20_000);
    for (line, says) in
        [(refused(sized, "iperf3"), "flows[0].bytes"), (refused(large, "iperf3"), "flows[0].mss")]
    {
        assert!(line.contains(says) && line.contains("accepted") && !line.contains('\n'), "{line}");
    }
    // if this machine can run live at all, the error is about the program
    let line = refused(flow("1"), "/bin/false");
    assert!(line.contains("iperf3") || line.contains("live runs need"), "{line}");
    assert!(!line.contains('\n'), "{line}");
}
