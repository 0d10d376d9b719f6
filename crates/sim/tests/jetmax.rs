//! JetMax from end to end: fair, full to its target, without loss; max-min over two bottlenecks; beside traffic that does
//! not listen; and what becomes of it where routers are plain.

mod common;

use common::{bits, column, dumbbell, flow, link, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// What the router aims at by default.
const GAMMA: f64 = 0.95;

/// A JetMax flow of 1500-byte packets of IP.
fn jetmax(name: &str, rtt_s: f64, start_s: f64) -> Value {
    let changes = json!({"rtt_s": rtt_s, "start_s": start_s, "mss_bytes": 1428, "header_bytes": 72});
    with(flow(name, "jetmax"), changes)
}

/// JetMax flows with these round-trip times and starts over one bottleneck with a JetMax router.
fn plan(rate_bps: f64, packets: u64, duration_s: f64, flows: &[(f64, f64)]) -> Value {
    let flows = flows.iter().enumerate().map(|(i, &(rtt_s, start_s))| jetmax(&i.to_string(), rtt_s, start_s));
    let mut plan = dumbbell(rate_bps, packets, duration_s, flows.collect());
    plan["links"][0]["router"] = json!({"kind": "jetmax"});
    plan
}

fn over(plan: &Value, from_s: f64, to_s: f64) -> Outcome {
    run(&with(plan.clone(), json!({"window_s": [from_s, to_s]})))
}

fn rates(outcome: &Outcome) -> Vec<f64> {
    outcome.summary.flows.iter().map(|f| f.throughput_bps).collect()
}

/// Packets dropped by a link in the whole run.
fn dropped(outcome: &Outcome, link: &str) -> f64 {
    column(&outcome.links, link, "packets_dropped").last().copied().unwrap_or(f64::NAN)
}

/// Each of these is within `tolerance` of what it should be.
fn assert_near(rates: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let near = rates.iter().zip(expected).all(|(r, e)| (r / e - 1.0).abs() < tolerance);
    assert!(near && rates.len() == expected.len(), "{what}: {rates:.0?} instead of {expected:.0?}");
}

#[test]
fn explore() {
    for (rate, rtt) in [(10e6, 0.1), (100e6, 0.1), (622e6, 0.1), (100e6, 0.02), (100e6, 0.04)] {
        let packets = (rate * rtt / 12_000.0) as u64;
        let p = plan(rate, packets, 30.0 * rtt, &[(rtt, 0.0)]);
        for k in [4.0, 6.0, 8.0, 10.0] {
            let o = over(&p, (k - 1.0) * rtt, k * rtt);
            println!("single {rate} {rtt} rtt {k}: {:.4}", o.summary.links[0].utilization);
        }
        let o = over(&p, 11.0 * rtt, 30.0 * rtt);
        println!(
            "  steady {:.4} queue {:.2} drops {}",
            o.summary.links[0].utilization,
            o.summary.links[0].queue_mean_packets,
            dropped(&o, "bottleneck")
        );
    }
    let flows: Vec<_> = (0..4).map(|i| (0.08, 15.0 * f64::from(i))).collect();
    let mut p = plan(50e6, 333, 120.0, &flows);
    for i in 0..4 {
        p["flows"][i]["stop_s"] = json!(15.0 * i as f64 + 75.0);
    }
    for w in [
        (5.0, 15.0),
        (15.0, 16.0),
        (16.0, 17.0),
        (17.0, 30.0),
        (35.0, 45.0),
        (50.0, 75.0),
        (80.0, 90.0),
        (95.0, 105.0),
        (110.0, 120.0),
    ] {
        let o = over(&p, w.0, w.1);
        let l = &o.summary.links[0];
        println!(
            "2d {w:?} {:.0?} util {:.4} q mean {:.1} max {:?} drops {}",
            rates(&o),
            l.utilization,
            l.queue_mean_packets,
            column(&o.links, "bottleneck", "queue_packets").iter().fold(0.0f64, |a, &b| a.max(b)),
            dropped(&o, "bottleneck")
        );
    }
    for buf in [100, 300, 900] {
        let p = plan(50e6, buf, 60.0, &[0.04, 0.08, 0.16, 0.32].map(|r| (r, 0.0)));
        let o = over(&p, 30.0, 60.0);
        println!(
            "mixed at once {buf} {:.0?} drops {} q {:.1}",
            rates(&o),
            dropped(&o, "bottleneck"),
            o.summary.links[0].queue_mean_packets
        );
        let p = plan(50e6, buf, 60.0, &[(0.32, 0.0), (0.16, 5.0), (0.08, 10.0), (0.04, 15.0)]);
        let o = over(&p, 30.0, 60.0);
        println!(
            "mixed staggered {buf} {:.0?} drops {} q {:.1} max {}",
            rates(&o),
            dropped(&o, "bottleneck"),
            o.summary.links[0].queue_mean_packets,
            column(&o.links, "bottleneck", "queue_packets").iter().fold(0.0f64, |a, &b| a.max(b))
        );
    }
    for n in [10, 50] {
        let p = plan(100e6, 666, 20.0, &vec![(0.08, 0.0); n]);
        let o = over(&p, 5.0, 20.0);
        let r = rates(&o);
        println!(
            "{n} at once: {:.4e} {:.4e} util {:.4} drops {} max {}",
            r.iter().fold(1e12f64, |a, &b| a.min(b)),
            r.iter().fold(0f64, |a, &b| a.max(b)),
            o.summary.links[0].utilization,
            dropped(&o, "bottleneck"),
            column(&o.links, "bottleneck", "queue_packets").iter().fold(0.0f64, |a, &b| a.max(b))
        );
    }
    // UDP
    let mut p = plan(50e6, 333, 40.0, &[(0.08, 0.0), (0.04, 0.0)]);
    let udp =
        with(flow("udp", "cbr"), json!({"parameters": {"rate": 20.0}, "start_s": 10.0, "stop_s": 30.0}));
    p["flows"].as_array_mut().unwrap().push(udp);
    for w in [(5.0, 10.0), (10.0, 12.0), (12.0, 30.0), (32.0, 40.0)] {
        let o = over(&p, w.0, w.1);
        println!(
            "udp {w:?} {:.0?} drops {} util {:.4}",
            rates(&o),
            dropped(&o, "bottleneck"),
            o.summary.links[0].utilization
        );
    }
    // two bottlenecks
    for second in [10e6, 20e6] {
        let long = with(jetmax("long", 0.08, 0.0), json!({"forward": [0, 2]}));
        let b = with(jetmax("b", 0.04, 2.0), json!({"forward": [2]}));
        let mut p = dumbbell(20e6, 200, 40.0, vec![long, jetmax("a", 0.06, 1.0), b]);
        p["links"].as_array_mut().unwrap().push(link("second", second, 200));
        p["links"][0]["delay_s"] = json!(0.01);
        for i in [0, 2] {
            p["links"][i]["router"] = json!({"kind": "jetmax"});
        }
        for w in [(5.0, 10.0), (10.0, 40.0)] {
            let o = over(&p, w.0, w.1);
            println!(
                "two {second} {w:?} {:.0?} drops {} {}",
                rates(&o),
                dropped(&o, "bottleneck"),
                dropped(&o, "second")
            );
        }
    }
    // plain
    let mut p = plan(50e6, 333, 60.0, &[(0.08, 0.0), (0.08, 1.0)]);
    p["links"][0]["router"] = Value::Null;
    let sack = with(flow("sack", "sack"), json!({"rtt_s": 0.08}));
    p["flows"].as_array_mut().unwrap().push(sack);
    let o = over(&p, 20.0, 60.0);
    println!(
        "plain {:.0?} drops {} util {:.4}",
        rates(&o),
        dropped(&o, "bottleneck"),
        o.summary.links[0].utilization
    );
    // router is not the bottleneck
    let one = with(jetmax("a", 0.08, 0.0), json!({"forward": [0, 2]}));
    let mut p = dumbbell(50e6, 333, 60.0, vec![one]);
    p["links"].as_array_mut().unwrap().push(link("second", 20e6, 133));
    p["links"][0]["delay_s"] = json!(0.01);
    p["links"][0]["router"] = json!({"kind": "jetmax"});
    let o = over(&p, 20.0, 60.0);
    println!(
        "cloud {:.0?} sent {:?} util {:.4} drops {} timeouts {}",
        rates(&o),
        o.summary.flows[0],
        o.summary.links[2].utilization,
        dropped(&o, "second"),
        o.summary.flows[0].timeouts
    );
    // losses
    let mut p = plan(50e6, 333, 60.0, &[(0.04, 0.0)]);
    p["links"][0]["loss"] = json!({"kind": "every", "packets": 10000});
    let o = over(&p, 10.0, 60.0);
    println!("loss {:.0?} {:?}", rates(&o), o.summary.flows[0].congestion_events);
    let mut p = plan(50e6, 333, 60.0, &[(0.08, 0.0), (0.08, 1.0)]);
    p["links"][1]["ack_loss"] = json!({"kind": "random", "probability": 0.3});
    let o = over(&p, 10.0, 60.0);
    println!("ack loss {:.0?} util {:.4}", rates(&o), o.summary.links[0].utilization);
    let mut p = plan(100e6, 1250, 60.0, &[(0.1, 0.0)]);
    p["links"][0]["capacity"] = json!({"sine": {"least_bps": 30e6, "period_s": 32.0}});
    let o = over(&p, 16.0, 60.0);
    println!("sine util {:.4} drops {}", o.summary.links[0].utilization, dropped(&o, "bottleneck"));
    let _ = (bits as fn(&longfat_sim::Series) -> _, assert_near as fn(&[f64], &[f64], f64, &str), GAMMA);
}
