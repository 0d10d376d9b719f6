//! The reference work: each case has a sound plan, and W4 gives the shares of the paper that it is from.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "../examples/reference/cases/mod.rs"]
#[allow(dead_code, reason = "the example uses the rest")]
mod cases;

use crate::common::{run, run_by_both, with};
use crate::plan_of::plan_of;
use cases::{Case, Network};
use longfat_sim::{FlowSummary, Plan};
use serde_json::{Value, json};

fn case(name: &str) -> Case {
    cases::all().into_iter().find(|case| case.name == name).expect("a case has this name")
}

fn hops(plan: &Value) -> Vec<usize> {
    let flows = plan["flows"].as_array().expect("a plan has flows");
    flows.iter().map(|flow| flow["forward"].as_array().map_or(0, Vec::len)).collect()
}

#[test]
fn each_case_has_a_plan_that_its_check_accepts() {
    for case in cases::all() {
        let case = Case { flows: case.flows.min(1000), ..case };
        let checked = Plan::from_json(&case.plan(true)).and_then(Plan::check);
        assert!(checked.is_ok(), "{}: {:?}", case.name, checked.err());
    }
}

#[test]
fn a_plan_is_its_outline_with_usual_values() {
    for name in ["w1", "w4", "w5", "web"] {
        let case = case(name);
        let values = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(values(&case.plan(true)), values(&plan_of(&case.outline(true))), "{name}");
    }
}

#[test]
fn figure_17_has_62_links_of_two_directions_and_40_flows_that_cross_three_or_two() {
    let plan = case("w4").outline(true);
    let links = plan["links"].as_array().expect("a plan has links");
    assert_eq!(links.len(), 2 * 62);
    assert_eq!(links.iter().filter(|link| link["rate_bps"] == json!(1e10)).count(), 2);
    assert_eq!(hops(&plan), [[3; 30].as_slice(), [2; 10].as_slice()].concat());
    // each acknowledgement goes back over the links that its data came by
    for flow in plan["flows"].as_array().expect("a plan has flows") {
        let ends = |index: &Value| {
            let name = links[index.as_u64().expect("an index") as usize]["name"].as_str().unwrap_or("");
            name.split_once('-').map(|(from, to)| (from.to_owned(), to.to_owned())).expect("two ends")
        };
        let way = |key: &str| flow[key].as_array().expect("links").iter().map(ends).collect::<Vec<_>>();
        let back: Vec<_> = way("reverse").into_iter().rev().map(|(from, to)| (to, from)).collect();
        assert_eq!(way("forward"), back, "{}", flow["name"]);
        assert!(way("forward").windows(2).all(|hops| hops[0].1 == hops[1].0), "{}", flow["name"]);
    }
}

#[test]
fn the_parking_lot_has_as_many_flows_of_each_number_of_links() {
    let case = case("w5");
    assert_eq!(case.network, Network::ParkingLot);
    let hops = hops(&case.outline(true));
    for links in 1..=5 {
        assert_eq!(hops.iter().filter(|&&hops| hops == links).count(), 6, "{links}");
    }
}

/// Mean throughput in Mbit/s and Jain's index of the flows of a group.
fn share(flows: &[FlowSummary], group: &str) -> (f64, f64) {
    let rates: Vec<_> =
        flows.iter().filter(|f| f.name.starts_with(group)).map(|f| f.throughput_bps).collect();
    let (count, sum) = (rates.len() as f64, rates.iter().sum::<f64>());
    (1e-6 * sum / count, sum * sum / (count * rates.iter().map(|rate| rate * rate).sum::<f64>()))
}

/// W4 with ten times as little of everything: flows start within 0.1 s, and the summary is of 0.3 to 0.5 s.
fn brief(bottleneck: &str) -> Value {
    let case = Case { duration_s: 0.5, stagger_s: 0.01, bottleneck: bottleneck.to_owned(), ..case("w4") };
    with(case.outline(true), json!({"window_s": [0.3, 0.5]}))
}

#[test]
fn dctcp_with_step_marking_shares_the_network_of_figure_17_as_the_paper_says() {
    // Alizadeh et al., SIGCOMM 2010, figure 17: Mbit/s of a flow, each within 10 % of its fair share
    let flows = run(&brief("step")).summary.flows;
    for (group, paper) in [("S1", 46.0), ("S2", 475.0), ("S3", 54.0)] {
        let (mean, jain) = share(&flows, group);
        let context = format!("{group}: {mean:.1} Mbit/s, Jain's index {jain:.3}");
        assert!((mean / paper - 1.0).abs() < 0.1 && jain > 0.98, "{context}");
    }
}

#[test]
fn with_the_ramp_of_ns_3_the_queue_before_r1_is_near_a_millisecond() {
    // ns-3's dctcp-example: "about 1ms" there and "about 200us" before the 10 Gbit/s, 471 Mbit/s for S2. What
    // S1 and S3 get differs: docs/models/dctcp.md
    let summary = run(&brief("ramp")).summary;
    let (s2, jain) = share(&summary.flows, "S2");
    assert!((s2 / 471.0 - 1.0).abs() < 0.1 && jain > 0.98, "S2: {s2:.1} Mbit/s, Jain's index {jain:.3}");
    for (link, expected_s) in [(0, 200e-6), (2, 1e-3)] {
        let link = &summary.links[link];
        let wait_s = link.queue_mean_packets * 12_000.0 / link.rate_bps;
        assert!((wait_s / expected_s - 1.0).abs() < 0.2, "{}: {wait_s}", link.name);
    }
}

#[test]
fn both_drivers_agree_on_the_cases_of_several_hops_and_on_the_mixed_one() {
    for (name, duration_s) in [("w4", 0.02), ("w5", 0.2), ("w6", 0.1)] {
        let short = Case { duration_s, sample_s: 0.01, stagger_s: 1e-3, ..case(name) };
        run_by_both(&short.outline(true));
    }
}
