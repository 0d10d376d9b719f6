//! XCP-r from end to end: XCP while nothing is lost, and hardly less while acknowledgements are (Lopez Pacheco 2008,
//! chapter 5).

mod common;

use common::explicit::{dropped, figures_from, jain_of, plan};
use common::{column, flow, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// XCP, or XCP-r in this form.
fn speaking(mut plan: Value, algorithm: &str, parameters: Value) -> Value {
    for flow in plan["flows"].as_array_mut().expect("a list") {
        if flow["algorithm"] == "xcp" {
            flow["algorithm"] = json!(algorithm);
            flow["parameters"] = parameters.clone();
        }
    }
    plan
}

/// Each of the acknowledgements is lost with this probability, and each is for one segment.
fn losing(mut plan: Value, probability: f64) -> Value {
    plan["links"][1]["ack_loss"] = json!({"kind": "random", "probability": probability});
    for flow in plan["flows"].as_array_mut().expect("a list") {
        flow["delayed_ack"] = json!(false);
    }
    plan
}

#[test]
fn without_losses_it_is_xcp() {
    for delayed in [true, false] {
        let mut plan = plan("xcp", 50e6, 700, 20.0, &[(0.04, 0.0), (0.16, 1.0)]);
        for i in 0..2 {
            plan["flows"][i]["delayed_ack"] = json!(delayed);
        }
        let [xcp, robust] =
            ["xcp", "xcp-r"].map(|name| figures_from(speaking(plan.clone(), name, json!({})), 10.0));
        for (a, b) in xcp.summary.flows.iter().zip(&robust.summary.flows) {
            assert!((b.throughput_bps / a.throughput_bps - 1.0).abs() < 0.01, "{a:?} {b:?}");
        }
        assert_eq!((dropped(&xcp), dropped(&robust)), (0.0, 0.0));
    }
}

/// Share of the link used in the round trip that begins at `from_s`.
fn used(outcome: &Outcome, from_s: f64, rtt_s: f64, rate_bps: f64) -> f64 {
    let bytes = column(&outcome.links, "bottleneck", "bytes_out");
    let times = column(&outcome.links, "bottleneck", "time_s");
    let at = |t: f64| times.iter().position(|x| *x >= t - 1e-9).map_or(f64::NAN, |i| bytes[i]);
    8.0 * (at(from_s + rtt_s) - at(from_s)) / (rtt_s * rate_bps)
}

#[test]
fn xcp_alone_fills_a_constant_link_though_three_of_ten_acknowledgements_are_lost() {
    // claim LOP-5e in small: the thesis reckons with a router that gives out all there is in one round trip; XCP's gives
    // .4 of it (alpha), so that the comparison is with the same flow without losses
    for name in ["xcp", "xcp-r"] {
        let mut base = plan(name, 100e6, 830, 5.0, &[(0.1, 0.0)]);
        base["sample"]["links_s"] = json!(0.1);
        let whole = run(&losing(base.clone(), 0.0));
        let partial = run(&losing(base, 0.3));
        let history =
            |o: &Outcome| (2..20).map(|i| used(o, 0.1 * f64::from(i), 0.1, 100e6)).collect::<Vec<_>>();
        println!("{name}: {:.2?}\n{:.2?}", history(&whole), history(&partial));
        assert!(history(&partial).iter().skip(8).all(|u| *u >= 0.95), "{name}: {:.2?}", history(&partial));
        assert_eq!(dropped(&partial), 0.0, "{name}");
    }
}

#[test]
fn the_first_formula_finds_a_wrong_window_where_round_trips_are_unlike_the_router_s_mean() {
    // claim LOP-5f
    let base = plan("xcp", 50e6, 400, 40.0, &[(0.04, 0.0), (0.2, 0.0)]);
    let apart = |variant: &str| {
        let outcome = figures_from(speaking(base.clone(), "xcp-r", json!({"variant": variant})), 20.0);
        println!(
            "{variant}: jain {} dropped {} util {}",
            jain_of(&outcome, 2),
            dropped(&outcome),
            outcome.summary.links[0].utilization
        );
        (jain_of(&outcome, 2), dropped(&outcome))
    };
    let (mirror, first) = (apart("mirror"), apart("first"));
    assert!(mirror.0 > 0.99 && mirror.1 == 0.0, "{mirror:?}");
    assert!(first.0 < 0.9 || first.1 > 0.0, "{first:?}");
}

/// Claims LOP-5a to 5c at a tenth of the rate: ten flows of 150 ms, and flows of constant rate that come together and
/// take a quarter of the link.
fn steps(name: &str, ack_loss: f64, seed: u64) -> Outcome {
    let mut plan = plan(name, 100e6, 1250, 40.0, &[(0.15, 0.0); 10]);
    plan["seed"] = json!(seed);
    let cbr = |i: usize| {
        let changes = json!({"parameters": {"rate": 5.0}, "start_s": 5.0, "stop_s": 20.0, "rtt_s": 0.15});
        with(flow(&format!("cbr{i}"), "cbr"), changes)
    };
    plan["flows"].as_array_mut().expect("a list").extend((0..5).map(cbr));
    run(&losing(plan, ack_loss))
}

/// The longest time, in samples of 100 ms, for which one of the ten flows delivers nothing.
fn idle(outcome: &Outcome) -> usize {
    let longest = |i: usize| {
        let bytes = column(&outcome.flows, &i.to_string(), "delivered_bytes");
        let (mut most, mut now) = (0, 0);
        for pair in bytes[20..].windows(2) {
            now = if pair[1] > pair[0] { 0 } else { now + 1 };
            most = most.max(now);
        }
        most
    };
    (0..10).map(longest).max().unwrap_or(0)
}

#[test]
fn flows_that_lose_a_tenth_of_their_acknowledgements_share_evenly_and_none_of_them_idles() {
    for name in ["xcp", "xcp-r"] {
        for (loss, seed) in [(0.0, 1), (0.1, 1), (0.1, 2)] {
            let outcome = steps(name, loss, seed);
            let timeouts: u64 = outcome.summary.flows.iter().take(10).map(|f| f.timeouts).sum();
            println!(
                "{name} {loss}: jain {:.4} dropped {} idle {} timeouts {timeouts} util {:.3}",
                jain_of(&outcome, 10),
                dropped(&outcome),
                idle(&outcome),
                outcome.summary.links[0].utilization
            );
        }
    }
}
