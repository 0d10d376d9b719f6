//! Networks of several hops: their links, and the ways across them.

use super::{Case, plain};
use serde_json::{Value, json};

/// Ports of a switch have room for 4 MB in packets of 1500 bytes, as in ns-3's example.
const PORT_PACKETS: u64 = 2666;
/// Delay of each link of figure 17, as in ns-3's example.
const FIGURE_17_DELAY_S: f64 = 10e-6;
const HOST_BPS: f64 = 1e9;
const TRUNK_BPS: f64 = 1e10;
/// Groups of senders of figure 17: name, flows, how many flows to the same receivers come before.
const GROUPS: [(&str, u32, u32); 3] = [("S1", 10, 0), ("S2", 20, 0), ("S3", 10, 10)];

/// Delay of each link of the parking lot; chosen here.
const PARKING_LOT_DELAY_S: f64 = 2e-3;
/// Links of the parking lot in one direction.
pub const PARKING_LOT_LINKS: u32 = 5;

/// A flow's way across the links, and when it starts.
pub struct Crossing {
    pub name: String,
    pub forward: Vec<usize>,
    pub reverse: Vec<usize>,
    pub rtt_s: f64,
    pub start_s: f64,
}

/// RED on a port of `rate_bps`. The queue itself is its average (weight 1), so each packet is judged by what
/// it finds. `step`: marks above 65 packets at 10 Gbit/s and 20 at 1 Gbit/s (the paper).
/// `ramp`: as in ns-3's example, from 50 to 150 packets and from 20 to 60, with ns-3's defaults: 1/50 at the
/// upper threshold, gentle above it, marks apart from each other.
fn marking(form: &str, rate_bps: f64) -> Value {
    let (min, max, max_p, wait) = match (form, rate_bps > HOST_BPS) {
        ("ramp", true) => (50.0, 150.0, 0.02, "true"),
        ("ramp", false) => (20.0, 60.0, 0.02, "true"),
        (_, true) => (65.0, 66.0, 1.0, "false"),
        (_, false) => (20.0, 21.0, 1.0, "false"),
    };
    json!({"kind": "red", "limit_packets": PORT_PACKETS, "min": min, "max": max, "max_p": max_p,
        "weight": 1.0, "wait": wait, "ecn": "true", "harddrop": "false"})
}

/// Figure 17 of the DCTCP paper (Alizadeh et al., SIGCOMM 2010) as ns-3's dctcp-example has it:
///
/// ```text
/// S1 (10), S2 (20) ── T1 ══ 10 Gbit/s ══ T2 ── R1 (from S1 and S3), R2 (20, each from one of S2)
///                              S3 (10) ──┘           everything else 1 Gbit/s; 62 links, each 10 us
/// ```
///
/// The flows of a group start one after the other within ten times the case's `stagger_s`; each one starts
/// later by a 20th of `stagger_s` for each flow to the same receivers before it.
pub fn figure_17(case: &Case) -> (Vec<Value>, Vec<Crossing>) {
    let mut links = Vec::new();
    let mut add = |from: &str, to: &str, rate_bps: f64, queue: Value| {
        links.push(plain(&format!("{from}-{to}"), rate_bps, FIGURE_17_DELAY_S, queue));
        links.len() - 1
    };
    let red = |rate_bps| marking(&case.bottleneck, rate_bps);
    let host = || json!({"kind": "droptail", "limit_packets": PORT_PACKETS});
    let trunk = (add("T1", "T2", TRUNK_BPS, red(TRUNK_BPS)), add("T2", "T1", TRUNK_BPS, red(TRUNK_BPS)));
    let r1 = (add("T2", "R1", HOST_BPS, red(HOST_BPS)), add("R1", "T2", HOST_BPS, host()));
    let mut crossings = Vec::new();
    for (group, flows, before) in GROUPS {
        for i in 0..flows {
            let (sender, switch) = (format!("{group}.{i}"), if group == "S3" { "T2" } else { "T1" });
            let first =
                (add(&sender, switch, HOST_BPS, host()), add(switch, &sender, HOST_BPS, red(HOST_BPS)));
            let last = if group == "S2" {
                let receiver = format!("R2.{i}");
                (add("T2", &receiver, HOST_BPS, red(HOST_BPS)), add(&receiver, "T2", HOST_BPS, host()))
            } else {
                r1
            };
            let hops = if group == "S3" { vec![first, last] } else { vec![first, trunk, last] };
            crossings.push(Crossing {
                name: sender,
                forward: hops.iter().map(|hop| hop.0).collect(),
                reverse: hops.iter().rev().map(|hop| hop.1).collect(),
                rtt_s: 2.0 * FIGURE_17_DELAY_S * hops.len() as f64,
                start_s: case.stagger_s
                    * (10.0 * f64::from(i) / f64::from(flows) + 0.05 * f64::from(before + i)),
            });
        }
    }
    (links, crossings)
}

/// Links in a row. Flows cross one to all of them, as many flows each number; those of one number begin at
/// each link in turn. What a flow's links do not take of its round-trip time lies outside of them.
pub fn parking_lot(case: &Case) -> (Vec<Value>, Vec<Crossing>) {
    let queue = |kind: &str| json!({"kind": kind, "limit_packets": case.buffer_packets});
    let link = |name: String, kind| plain(&name, case.rate_bps, PARKING_LOT_DELAY_S, queue(kind));
    let there = (0..PARKING_LOT_LINKS).map(|i| link(format!("{i}-{}", i + 1), case.bottleneck.as_str()));
    let back = (0..PARKING_LOT_LINKS).map(|i| link(format!("{}-{i}", i + 1), "droptail"));
    let crossings = (0..case.flows).map(|i| {
        let (hops, turn) = (1 + i % PARKING_LOT_LINKS, i / PARKING_LOT_LINKS);
        let first = turn % (PARKING_LOT_LINKS - hops + 1);
        let crossed = (first..first + hops).map(|link| link as usize);
        Crossing {
            name: (i + 1).to_string(),
            forward: crossed.clone().collect(),
            reverse: crossed.rev().map(|link| link + PARKING_LOT_LINKS as usize).collect(),
            rtt_s: case.rtt_of(i) + 2.0 * PARKING_LOT_DELAY_S * f64::from(hops),
            start_s: case.stagger_s * f64::from(i),
        }
    });
    (there.chain(back).collect(), crossings.collect())
}
