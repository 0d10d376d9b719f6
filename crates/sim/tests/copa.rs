//! Copa in the simulator: the queue that its flows keep alone, and its share beside CUBIC.

use crate::common::{column, dumbbell, flow, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

fn one(name: &str, algorithm: &str, rtt_s: f64, changes: Value) -> Value {
    with(with(flow(name, algorithm), json!({"rtt_s": rtt_s, "access_rate_bps": 1e10})), changes)
}

/// Runs flows from `from_s` to `to_s` behind a buffer of `packets`, with samples every millisecond.
fn measured(rate_bps: f64, packets: u64, (from_s, to_s): (f64, f64), flows: Vec<Value>) -> Outcome {
    let sample = json!({"flows_s": 0.1, "links_s": 0.001});
    run(&with(
        dumbbell(rate_bps, packets, to_s, flows),
        json!({"window_s": [from_s, to_s], "sample": sample}),
    ))
}

#[test]
fn flows_alone_keep_a_queue_between_nothing_and_two_and_a_half_packets_per_delta_each() {
    // section 3 of the paper: from 0 to 2.5 / delta for each flow, so 1.25 / delta in the mean. With a few
    // packets of queue a tenth of its range is less than a packet, so flows may compete by mistake; see
    // docs/models/copa.md.
    let paths = [
        (100e6, 1, 0.5, true),
        (100e6, 1, 0.1, true),
        (100e6, 3, 0.1, true),
        (20e6, 1, 0.5, false),
        (100e6, 3, 0.5, false),
    ];
    for (rate_bps, flows, delta, competes) in paths {
        for delayed_ack in [false, true] {
            let parameters = json!({"delta": delta, "competes": competes.to_string()});
            let changes = json!({"parameters": parameters, "delayed_ack": delayed_ack});
            let copas = (0..flows).map(|i: u32| one(&i.to_string(), "copa", 0.05, changes.clone()));
            let outcome = measured(rate_bps, 5000, (20.0, 60.0), copas.collect());
            let queue = column(&outcome.links, "bottleneck", "queue_packets");
            let most = queue[queue.len() / 3..].iter().fold(0.0_f64, |a, &b| a.max(b));
            let link = &outcome.summary.links[0];
            let unit = f64::from(flows) / delta;
            let [most, mean] = [most / (2.5 * unit), link.queue_mean_packets / (1.25 * unit)];
            let context =
                format!("{rate_bps} {flows} {delta} {delayed_ack}: {most} {mean} {}", link.utilization);
            assert!((0.9..1.25).contains(&most) && (0.9..1.2).contains(&mean), "{context}");
            assert!(link.utilization > 0.99, "{context}");
        }
    }
}

#[test]
fn beside_cubic_it_competes_and_without_that_mode_it_starves() {
    for (competes, shares) in [("true", 0.3..0.7), ("false", 0.0..0.15)] {
        let copa = one("copa", "copa", 0.04, json!({"parameters": {"competes": competes}}));
        let outcome = measured(
            20e6,
            67,
            (30.0, 120.0),
            vec![copa, one("cubic", "cubic", 0.04, json!({"start_s": 10.0}))],
        );
        let [copa, cubic] = [0, 1].map(|i| outcome.summary.flows[i].throughput_bps);
        let share = copa / (copa + cubic);
        assert!(shares.contains(&share), "{competes}: {copa} {cubic}");
    }
}

#[test]
fn a_flow_that_comes_later_gets_an_equal_share() {
    let flows = vec![one("1", "copa", 0.05, json!({})), one("2", "copa", 0.05, json!({"start_s": 10.0}))];
    let outcome = measured(50e6, 1000, (30.0, 60.0), flows);
    let [first, second] = [0, 1].map(|i| outcome.summary.flows[i].throughput_bps);
    let share = second / (first + second);
    assert!((0.4..0.6).contains(&share), "{share}");
}
