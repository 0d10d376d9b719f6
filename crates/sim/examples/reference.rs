//! Runs the reference work W1, W2 or W3 once and prints what a packet cost.
#![expect(clippy::expect_used, reason = "a benchmark may panic")]

use longfat_sim::{Plan, Simulation};
use serde_json::{Value, json};

fn flow(name: &str, algorithm: &str, rtt_s: f64, start_s: f64, access_bps: f64) -> Value {
    json!({"name": name, "algorithm": algorithm, "parameters": {}, "forward": [0], "reverse": [1], "rtt_s": rtt_s,
        "start_s": start_s, "stop_s": null, "bytes": null, "access_rate_bps": access_bps, "mss_bytes": 1448,
        "header_bytes": 52, "initial_ssthresh": null, "initial_window": 3.0, "max_window": null,
        "slow_start": "standard", "max_ssthresh": 100.0, "delayed_ack": true, "delayed_ack_timeout_s": 0.04,
        "byte_counting": true, "sack": true, "recovery": "rate-halving", "host_tick_s": 0.0, "rto_min_s": 0.2,
        "ecn": false})
}

fn link(name: &str, rate_bps: f64, packets: u64) -> Value {
    json!({"name": name, "rate_bps": rate_bps, "delay_s": 0.0,
        "queue": {"kind": "droptail", "limit_packets": packets}, "loss": {"kind": "none"}, "ack_loss": {"kind": "none"}})
}

fn plan(work: &str, shorter: Option<f64>) -> Value {
    let (rate, buffer, duration, flows) = match work {
        "w1" => (
            250e6,
            175,
            600.0,
            vec![flow("1", "hstcp", 0.042, 0.0, 1e9), flow("2", "hstcp", 0.042, 5.0, 1e9)],
        ),
        "w2" => (1e9, 12500, 200.0, vec![flow("1", "hstcp", 0.2, 0.0, 1e10)]),
        _ => {
            let rtt = |i: u32| 0.02 + 0.18 * f64::from(i) / 199.0;
            (1e9, 8333, 60.0, (0..200).map(|i| flow(&i.to_string(), "newreno", rtt(i), 0.0, 1e10)).collect())
        }
    };
    let duration = shorter.unwrap_or(duration);
    json!({"seed": 1, "duration_s": duration, "window_s": [0.0, duration],
        "links": [link("bottleneck", rate, buffer), link("reverse", rate, buffer)],
        "flows": flows, "background": [], "sample": {"flows_s": 0.1, "links_s": 0.1}, "events": false,
        "fast": std::env::var("PLAIN").is_err()})
}

#[expect(clippy::disallowed_types, reason = "a benchmark looks at the clock")]
fn main() {
    for work in std::env::args().skip(1) {
        // W1, or W1:20 for its first 20 seconds
        let (work, shorter) =
            work.split_once(':').map_or((work.as_str(), None), |(w, s)| (w, s.parse().ok()));
        let plan = Plan::from_json(&plan(work, shorter).to_string()).expect("a sound plan");
        let begun = std::time::Instant::now();
        let done =
            Simulation::new(plan, &mut |_| None).expect("a sound plan").run(&mut || true).expect("a run");
        let spent = begun.elapsed();
        println!(
            "{work}: {:.1} ns/packet, {:.2} events/packet, {:.2} s, utilization {:.4}",
            spent.as_nanos() as f64 / done.summary.packets as f64,
            done.events_handled as f64 / done.summary.packets as f64,
            spent.as_secs_f64(),
            done.summary.links[0].utilization
        );
        for f in done.summary.flows.iter().take(3) {
            println!(
                "  {} {:.2} Mbit/s cwnd {:.1} lost {} rexmit {} rto {} events {}",
                f.name,
                f.throughput_bps / 1e6,
                f.cwnd_mean,
                f.packets_lost,
                f.retransmits,
                f.timeouts,
                f.congestion_events
            );
        }
    }
}
