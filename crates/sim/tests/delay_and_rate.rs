//! Algorithms that react to the delay or to the rate of acknowledgements, on a path of 20 Mbit/s and 40 ms.
//! It holds 66.7 packets of 1500 bytes.

use crate::common::{column, dumbbell, flow, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

const PATH_PACKETS: f64 = 20e6 * 0.04 / 12_000.0;

/// One flow for 60 s with a buffer of the path's size, measured from 20 s on. Each packet is lost with this
/// probability.
fn alone(algorithm: &str, parameters: Value, loss: f64) -> Outcome {
    let one = with(flow("1", algorithm), json!({"rtt_s": 0.04, "parameters": parameters}));
    let mut plan = dumbbell(20e6, 66, 60.0, vec![one]);
    plan["window_s"] = json!([20.0, 60.0]);
    if loss > 0.0 {
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": loss});
    }
    run(&plan)
}

/// The least and the greatest window in the last 40 s, in segments.
fn window_range(outcome: &Outcome) -> (f64, f64) {
    let cwnd = column(&outcome.flows, "1", "cwnd");
    let last = &cwnd[cwnd.len() / 3..];
    last.iter().fold((f64::INFINITY, 0.0), |(least, greatest), &w| (w.min(least), w.max(greatest)))
}

fn utilization(outcome: &Outcome) -> f64 {
    outcome.summary.links[0].utilization
}

#[test]
fn vegas_fills_the_path_without_a_loss_and_with_a_handful_of_packets_queued() {
    for variant in ["paper", "linux"] {
        let outcome = alone("vegas", json!({"variant": variant}), 0.0);
        assert!(utilization(&outcome) > 0.99, "{variant}: {}", utilization(&outcome));
        assert_eq!(outcome.summary.flows[0].packets_lost, 0, "{variant}");
        let (least, greatest) = window_range(&outcome);
        assert!(least > PATH_PACKETS && greatest < PATH_PACKETS + 8.0, "{variant}: {least} to {greatest}");
    }
}

#[test]
fn vegas_is_as_helpless_as_standard_tcp_when_losses_are_random() {
    let (vegas, standard) = (alone("vegas", json!({}), 1e-3), alone("reno", json!({}), 1e-3));
    assert!((utilization(&vegas) / utilization(&standard) - 1.0).abs() < 0.1, "{}", utilization(&vegas));
}

#[test]
fn tri_s_fills_the_path_without_a_loss_and_with_a_handful_of_packets_queued() {
    let outcome = alone("tri_s", json!({}), 0.0);
    assert!(utilization(&outcome) > 0.99, "{}", utilization(&outcome));
    assert_eq!(outcome.summary.flows[0].packets_lost, 0);
    let (least, greatest) = window_range(&outcome);
    assert!(least > PATH_PACKETS - 2.0 && greatest < PATH_PACKETS + 8.0, "{least} to {greatest}");
}

#[test]
fn tri_s_takes_most_of_the_link_from_vegas_whoever_comes_first() {
    // a segment that Vegas takes back makes room for one of Tri-S, whose step then seems to have paid
    for late in [0, 1] {
        let mut flows =
            [flow("tri_s", "tri_s"), flow("vegas", "vegas")].map(|f| with(f, json!({"rtt_s": 0.04})));
        flows[late]["start_s"] = json!(10.0);
        let plan = with(dumbbell(20e6, 66, 90.0, flows.to_vec()), json!({"window_s": [45.0, 90.0]}));
        let rates: Vec<f64> = run(&plan).summary.flows.iter().map(|f| f.throughput_bps).collect();
        assert!(rates[0] > 2.0 * rates[1], "{rates:?}");
    }
}

#[test]
fn westwood_keeps_a_path_full_whose_losses_are_random() {
    // Mascolo et al. 2001: losses without congestion leave the estimate unchanged, and so the window
    for (algorithm, variant) in
        [("westwood", None), ("westwood+", Some("paper")), ("westwood+", Some("linux"))]
    {
        let parameters = variant.map_or(json!({}), |word| json!({"variant": word}));
        let outcome = alone(algorithm, parameters, 1e-3);
        assert!(utilization(&outcome) > 0.95, "{algorithm} {variant:?}: {}", utilization(&outcome));
    }
    let standard = alone("reno", json!({}), 1e-3);
    assert!(utilization(&standard) < 0.7, "{}", utilization(&standard));
}

#[test]
fn westwood_plus_backs_off_to_the_path_itself() {
    for variant in ["paper", "linux"] {
        let (least, _) = window_range(&alone("westwood+", json!({"variant": variant}), 0.0));
        // Linux counts a round-trip time slightly above 40.0 ms as eleven ticks of 4 ms
        let most = if variant == "linux" { 1.15 } else { 1.05 };
        assert!((0.95..most).contains(&(least / PATH_PACKETS)), "{variant}: {least}");
    }
}

#[test]
fn illinois_halves_at_a_full_queue_and_loses_little_to_random_losses() {
    for variant in ["paper", "linux"] {
        let parameters = json!({"variant": variant});
        let (least, greatest) = window_range(&alone("illinois", parameters.clone(), 0.0));
        assert!((0.48..0.52).contains(&(least / greatest)), "{variant}: {least} to {greatest}");
        let outcome = alone("illinois", parameters, 1e-3);
        assert!(utilization(&outcome) > 0.95, "{variant}: {}", utilization(&outcome));
    }
}
