//! The window of every algorithm on one path, in whole segments once a second, so that any change shows. For
//! transports over UDP, which control a rate, the trace has the packets sent in each second. After an
//! intended change, `UPDATE_GOLDEN=1 cargo test -p longfat-sim --test runs golden::` writes the traces again.

use crate::common::{column, dumbbell, flow, router_of, run, variants, with};
use longfat_transport::udp;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// 20 Mbit/s, 40 ms, a buffer of half the BDP. Full queues cause most losses; every 5000th packet is lost as
/// well, so that algorithms that never fill the queue have losses too. The link has
/// the router that the algorithm's flows need, if they need one.
fn trace(algorithm: &str, parameters: &Value) -> String {
    let one = with(flow("1", algorithm), json!({"rtt_s": 0.04, "parameters": parameters}));
    let mut plan = dumbbell(20e6, 33, 60.0, vec![one]);
    plan["links"][0]["loss"] = json!({"kind": "every", "packets": 5000});
    plan["links"][0]["router"] = router_of(algorithm);
    plan["sample"] = json!({"flows_s": 1.0, "links_s": 1.0});
    let outcome = run(&plan);
    let times = column(&outcome.flows, "1", "time_s").iter();
    if udp::find(algorithm).is_some() {
        let sent = column(&outcome.flows, "1", "packets_sent").windows(2).map(|w| w[1] - w[0]);
        return times.skip(1).zip(sent).map(|(t, n)| format!("{t:.0} {n:.0}\n")).collect();
    }
    let windows = column(&outcome.flows, "1", "cwnd").iter();
    times.zip(windows).map(|(t, w)| format!("{t:.0} {w:.0}\n")).collect()
}

#[test]
fn every_algorithm_follows_its_golden_trace() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for (name, algorithm, parameters) in variants() {
        let now = trace(algorithm, &parameters);
        let path = folder().join(&name).with_extension("txt");
        if update {
            std::fs::write(&path, &now).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
        match std::fs::read_to_string(&path) {
            Err(_) => wrong.push(format!(
                "algorithm {name} has no golden trace tests/golden/{name}.txt: write it with UPDATE_GOLDEN=1 \
                 cargo test -p longfat-sim --test runs golden::"
            )),
            Ok(golden) => {
                if let Some((was, is)) = golden.lines().zip(now.lines()).find(|(a, b)| a != b) {
                    wrong.push(format!(
                        "{name} first differs where it was {was:?} and is {is:?} (second, cwnd or packets)"
                    ));
                } else if golden != now {
                    wrong.push(format!("{name}: the trace has another length"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_golden_trace_belongs_to_an_algorithm() {
    let known: BTreeSet<_> = variants().into_iter().map(|(name, ..)| format!("{name}.txt")).collect();
    let stored: BTreeSet<_> = std::fs::read_dir(folder())
        .unwrap_or_else(|e| panic!("{}: {e}", folder().display()))
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    assert_eq!(known, stored);
}
