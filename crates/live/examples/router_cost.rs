//! Prints what one packet costs a live run: `router_cost [RATE_MBPS [SECONDS]]` sends one CUBIC flow over a
//! bottleneck of this rate (default: 500 Mbit/s for 5 s) and divides the processor time of each thread by the
//! packets of the data link.
//!
//! Needs the rights of a live run. Processor time includes the kernel's work inside the calls: writing a
//! packet to a TUN device runs the receiving TCP.

#[path = "../../scenario/tests/plan_of/mod.rs"]
mod plan_of;

use longfat_live::{Congestion, Traffic, run};
use longfat_sim::Plan;
use plan_of::plan_of;
use serde_json::json;
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<f64>());
    let rate_bps = 1e6 * arguments.next().unwrap_or(Ok(500.0))?;
    let duration_s = arguments.next().unwrap_or(Ok(5.0))?;
    let link = |name: &str, packets: u64| {
        json!({"name": name, "rate_bps": rate_bps, "delay_s": 0.0,
            "queue": {"kind": "droptail", "limit_packets": packets},
            "loss": {"kind": "none"}, "ack_loss": {"kind": "none"}})
    };
    let plan = json!({"seed": 1, "duration_s": duration_s, "window_s": [0.0, duration_s],
        "links": [link("bottleneck", 500), link("reverse", 10_000)],
        "flows": [{"name": "1", "algorithm": "cubic", "parameters": {}, "forward": [0], "reverse": [1],
            "rtt_s": 0.01, "access_rate_bps": 10.0 * rate_bps, "mss": 1448, "header_bytes": 52,
            "initial_ssthresh": null, "initial_window": 10.0, "max_window": null, "slow_start": "standard",
            "max_ssthresh": 100.0, "delayed_ack": true, "delayed_ack_timeout": 0.04, "byte_counting": true,
            "recovery": "prr", "host_tick": 0.0, "rto_min": 0.2, "ecn": false,
            "quick_start": null, "start_s": 0.0, "stop_s": null, "bytes": null}],
        "background": [], "sample": {"flows_s": 0.1, "links_s": 0.1}, "events": false, "fast": true});
    let plan = Plan::from_json(&plan_of(&plan)).and_then(Plan::check)?;
    let names = BTreeMap::from([("1".to_owned(), "cubic".to_owned())]);
    let congestion = Congestion { names, ..Congestion::default() };
    let live = run(plan, &congestion, &Traffic::Longfat, None, None)?;
    let packets = live.outcome.summary.packets as f64;
    println!("{packets} packets, utilization {:.3}", live.outcome.summary.links[0].utilization);
    for (thread, share) in ["data router", "ACK router", "hosts"].iter().zip(&live.validity.processor) {
        println!("{thread}: {:.0} ns of processor a packet", 1e9 * share * duration_s / packets);
    }
    let [median_s, p99_s, most_s] = live.validity.lateness_s.map(|s| 1e6 * s);
    println!("lateness: median {median_s:.0}, 99th percentile {p99_s:.0}, greatest {most_s:.0} us");
    Ok(())
}
