//! Explicit-rate flows across clouds of other routers.

use super::{flow, link, with};
use serde_json::{Value, json};

/// Delay of each link in each direction, seconds.
pub const DELAY_S: f64 = 0.01;

/// A duplex link between two nodes, in Mbit/s, and the router before it.
pub type Hop<'a> = ((u32, u32), f64, Option<&'a str>);

/// Flows: the path of each over the links, and when it starts.
pub type Flows<'a> = &'a [(&'a [usize], f64)];

/// Links of 10 ms with buffers of 100 ms; the links back are drop-tail and follow all links there in the
/// plan.
pub fn net(hops: &[Hop], duration_s: f64, flows: Flows) -> Value {
    let count = hops.len();
    let make = |i: usize, back: bool| {
        let ((from, to), mbps, router) = hops[i];
        let mut link = link(
            &format!("{}{i}", if back { "back " } else { "" }),
            mbps * 1e6,
            (mbps * 1e6 * 0.1 / 12_000.0) as u64,
        );
        link["delay_s"] = json!(DELAY_S);
        link["nodes"] = if back { json!([to, from]) } else { json!([from, to]) };
        if let Some(kind) = router.filter(|_| !back) {
            link["router"] = json!({"kind": kind});
        }
        link
    };
    let links: Vec<Value> =
        (0..count).map(|i| make(i, false)).chain((0..count).map(|i| make(i, true))).collect();
    let flows = flows.iter().enumerate().map(|(i, (path, start_s))| {
        let reverse: Vec<usize> = path.iter().rev().map(|&l| count + l).collect();
        let rtt_s = 2.0 * DELAY_S * path.len() as f64 + 0.004;
        let changes = json!({"forward": path, "reverse": reverse, "rtt_s": rtt_s, "start_s": start_s,
            "mss": 1428, "header_bytes": 72});
        with(flow(&i.to_string(), "xcp"), changes)
    });
    json!({"seed": 1, "duration_s": duration_s, "window_s": [0.0, duration_s], "links": links,
        "flows": flows.collect::<Vec<_>>(), "background": [], "sample": {"flows_s": 0.1, "links_s": 0.1},
        "events": false, "fast": true})
}

/// Figure 4.1: 80 Mbit/s, and 30 in the middle, with routers of these kinds.
pub fn figure_4_1(outer: Option<&str>, middle: Option<&str>) -> Value {
    let hops = [((0, 1), 80.0, outer), ((1, 2), 30.0, middle), ((2, 3), 80.0, outer)];
    net(&hops, 30.0, &[(&[0, 1, 2], 0.0)])
}
