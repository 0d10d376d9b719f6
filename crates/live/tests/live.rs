//! Real runs on this machine, of a second or two each. Where they cannot run, they say why.

#[path = "../../scenario/tests/plan_of/mod.rs"]
mod plan_of;
#[path = "../../bpf-loader/tests/skip/mod.rs"]
mod skip;

use longfat_live::{Congestion, Live, LiveError, Traffic, run};
use longfat_sim::{Plan, Sample, Series};
use plan_of::plan_of;
use serde_json::{Value, json};

fn flow(name: &str, algorithm: &str) -> Value {
    json!({"name": name, "algorithm": algorithm, "parameters": {}, "forward": [0], "reverse": [1],
        "rtt_s": 0.04, "access_rate_bps": 1e9, "mss": 1448, "header_bytes": 52, "initial_ssthresh": null,
        "initial_window": 10.0, "max_window": null, "slow_start": "standard", "max_ssthresh": 100.0,
        "delayed_ack": true, "delayed_ack_timeout": 0.04, "byte_counting": true,
        "recovery": "prr", "host_tick": 0.0, "rto_min": 0.2, "ecn": false, "quick_start": null,
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

/// The kernel's names of flows' algorithms, and the folder of Longfat's own.
fn named(names: &[(&str, &str)], forms: &str) -> Congestion {
    let names = names.iter().map(|&(name, algorithm)| (name.to_owned(), algorithm.to_owned())).collect();
    Congestion { names, forms: forms.into(), ..Congestion::default() }
}

/// Runs the plan; returns `None`, after a line that says why, if this machine cannot.
fn live(plan: &Value, congestion: &[(&str, &str)]) -> Option<Live> {
    let plan = match Plan::from_json(&plan_of(plan)).and_then(Plan::check) {
        Ok(plan) => plan,
        Err(error) => panic!("{error}"),
    };
    let congestion = named(congestion, "bpf/out");
    match run(plan, &congestion, &Traffic::Longfat, None, None) {
        Ok(live) => Some(live),
        Err(LiveError::Machine(why)) => {
            skip::skipped(&why);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn column<'a, S: Sample>(series: &'a [(String, Series<S>)], name: &str, column: &str) -> &'a [f64] {
    let found = series.iter().find(|(n, _)| n == name).and_then(|(_, series)| series.column(column));
    found.unwrap_or_else(|| panic!("no column {column} of {name}"))
}

#[test]
fn one_cubic_flow_fills_the_link_and_no_more() {
    let Some(live) = live(&plan(3.0, &[flow("1", "cubic")]), &[("1", "cubic")]) else { return };
    println!("{:#?}\n{:#?}", live.validity, live.outcome.summary);
    let (flow, link) = (&live.outcome.summary.flows[0], &live.outcome.summary.links[0]);
    assert!((0.9..=1.0).contains(&link.utilization), "{}", link.utilization);
    assert!((9e6..=10e6).contains(&flow.throughput_bps), "{}", flow.throughput_bps);
    assert!((flow.goodput_bps / flow.throughput_bps - 1448.0 / 1500.0).abs() < 0.02);
    // no packet is faster than the propagation delay
    let srtt = column(&live.outcome.flows, "1", "srtt_s");
    assert!(srtt.iter().all(|&s| s.is_nan() || s >= 0.04), "faster than light");
    assert_eq!(link.queue_max_packets, 33);
}

#[test]
fn flows_keep_their_own_round_trip_times_and_the_later_one_its_start_and_stop() {
    let mut near = flow("near", "reno");
    let mut far = flow("far", "reno");
    (near["rtt_s"], far["rtt_s"]) = (json!(0.02), json!(0.12));
    (far["start_s"], far["stop_s"]) = (json!(0.5), json!(1.5));
    let Some(live) = live(&plan(3.0, &[near, far]), &[("near", "reno"), ("far", "reno")]) else { return };
    let least = |name| {
        let srtt = column(&live.outcome.flows, name, "srtt_s").iter();
        srtt.copied().filter(|&s| s > 0.0).fold(f64::INFINITY, f64::min)
    };
    assert!((0.02..0.08).contains(&least("near")) && (0.12..0.18).contains(&least("far")));
    let (times, sent) =
        (column(&live.outcome.flows, "far", "time_s"), column(&live.outcome.flows, "far", "packets_sent"));
    let at = |t: f64| sent[times.iter().position(|&x| x >= t).unwrap()];
    assert!(at(0.48) == 0.0 && at(0.8) > 0.0);
    assert!(live.outcome.summary.flows[1].completed_s.is_some_and(|s| (1.5..2.9).contains(&s)));
    assert!(live.outcome.summary.flows[0].completed_s.is_none());
}

#[test]
fn a_transfer_carries_its_bytes_and_ends() {
    let mut short = flow("1", "cubic");
    short["bytes"] = json!(100_000);
    let Some(live) = live(&plan(1.0, &[short]), &[("1", "cubic")]) else { return };
    let flow = &live.outcome.summary.flows[0];
    assert_eq!(column(&live.outcome.flows, "1", "delivered_bytes").last(), Some(&100_000.0));
    // opening takes one round trip, 70 packets at 10 Mbit/s take 84 ms, and the last acknowledgement half a
    // round trip
    assert!(flow.completed_s.is_some_and(|s| (0.12..0.5).contains(&s)), "{:?}", flow.completed_s);
    assert!((70..=75).contains(&flow.packets_sent), "{}", flow.packets_sent);
}

#[test]
fn what_leaves_the_hosts_is_sent_dropped_lost_or_delivered_and_each_is_counted_once() {
    let mut plan = plan(2.0, &[flow("1", "cubic"), flow("2", "cubic")]);
    plan["links"][0]["loss"] = json!({"kind": "every", "packets": 100});
    let Some(live) = live(&plan, &[("1", "cubic"), ("2", "cubic")]) else { return };
    let (link, flows) = (&live.outcome.summary.links[0], &live.outcome.summary.flows);
    assert!(link.packets_lost >= 10, "{}", link.packets_lost);
    let lost: u64 = flows.iter().map(|flow| flow.packets_lost).sum();
    assert_eq!(lost, link.packets_lost + link.packets_dropped);
    let sent: u64 = flows.iter().map(|flow| flow.packets_sent).sum();
    // besides data only connection requests cross the link; what is in the queue at the end has come to the
    // link
    assert!((sent..=sent + 10).contains(&(link.packets_in + link.packets_lost)), "{sent}: {link:?}");
    for flow in flows {
        assert!(flow.retransmits <= flow.packets_lost + flow.spurious_retransmits + 1, "{flow:?}");
        assert!(flow.congestion_events > 0);
    }
    let checks = &live.validity.checks;
    let missing = checks.iter().find(|check| check.name.contains("never came to the router")).unwrap();
    assert_eq!(missing.value, 0.0);
}

#[test]
fn codel_marks_the_flow_that_uses_ecn_and_drops_from_the_other() {
    let mut able = flow("able", "reno");
    able["ecn"] = json!(true);
    let mut plan = plan(3.0, &[able, flow("unable", "reno")]);
    plan["links"][0]["queue"] = json!({"kind": "codel", "limit_packets": 300, "ecn": "true"});
    let Some(live) = live(&plan, &[("able", "reno"), ("unable", "reno")]) else { return };
    let (link, flows) = (&live.outcome.summary.links[0], &live.outcome.summary.flows);
    assert!(link.marked_delay > 0 && link.dropped_delay > 0, "{link:?}");
    assert_eq!(flows[0].packets_lost, 0, "{flows:?}");
    assert!(flows[0].congestion_events > 0, "its sender did not learn of a mark");
    assert!(flows[1].packets_lost > 0 && flows[1].retransmits >= flows[1].packets_lost - 2);
}

#[test]
fn reverse_flows_datagrams_and_web_pages_cross_the_router_too() {
    let mut back = flow("back", "cubic");
    (back["forward"], back["reverse"]) = (json!([1]), json!([0]));
    let mut steady = flow("steady", "cbr");
    steady["parameters"] = json!({"rate": 2.0});
    let mut plan = plan(2.0, &[back, steady]);
    let page = flow("", "cubic");
    let mut connection = page.as_object().unwrap().clone();
    for key in ["name", "start_s", "stop_s", "bytes"] {
        connection.remove(key);
    }
    plan["background"] = json!([{"kind": "web", "name": "web", "sessions": 3, "gap_s": 0.2, "page_bytes": 10e3,
        "shape": 1.5, "flow": connection}]);
    let Some(live) = live(&plan, &[("back", "cubic"), ("web", "cubic")]) else { return };
    let summary = &live.outcome.summary;
    assert!(summary.links[1].utilization > 0.8, "{:?}", summary.links[1]);
    assert!((summary.flows[1].throughput_bps / 2e6 - 1.0).abs() < 0.05, "{:?}", summary.flows[1]);
    let web = &summary.background[0];
    // 3 sessions at 5 pages a second each for 2 s: 30 on average
    assert!((10..=60).contains(&web.transfers_started), "{web:?}");
    assert!(web.transfers_completed > web.transfers_started / 2 && web.bytes_delivered > 0);
}

#[test]
fn what_no_kernel_can_do_is_one_clear_line() {
    let refused = |plan: &Value, congestion: &[(&str, &str)]| {
        let plan = Plan::from_json(&plan_of(plan)).and_then(Plan::check).unwrap();
        let congestion = named(congestion, "nowhere");
        run(plan, &congestion, &Traffic::Longfat, None, None).err().unwrap().to_string()
    };
    let mut two = plan(1.0, &[flow("1", "cubic"), flow("2", "cubic")]);
    two["flows"][1]["initial_window"] = json!(3.0);
    for (plan, congestion, says) in [
        (&plan(1.0, &[flow("1", "udt")]), ("1", "udt"), "flows[0].algorithm"),
        (&two, ("1", "cubic"), "flows[1].initial_window"),
        (&plan(1.0, &[flow("1", "hstcp")]), ("1", "nothing"), "\"nothing\""),
    ] {
        let line = refused(plan, &[congestion]);
        assert!(line.contains(says) && !line.contains('\n'), "{line}");
    }
}
