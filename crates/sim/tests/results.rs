//! A run gives the same bytes in every version of Longfat that has the same `RESULTS_VERSION`: results that are stored
//! stay valid. `tests/results.txt` has a digest of what each case gives; after a change that is meant, raise the version
//! and write the digests anew: `UPDATE_RESULTS=1 cargo test -p longfat-sim --test results`.

mod common;

use common::{dumbbell, flow, run, with};
use longfat_net::{queue, router};
use longfat_sim::{Outcome, RESULTS_VERSION};
use longfat_transport::{cc, udp};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

fn record() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/results.txt")
}

/// What is digested: columns that say all of what happened; one more beside them changes no result.
const COLUMNS: [&str; 6] = ["cwnd", "srtt_s", "received_bytes", "packets_sent", "queue_bytes", "bytes_out"];

/// FNV-1a over the samples.
fn digest(outcome: &Outcome) -> u64 {
    let series = || outcome.flows.iter().chain(&outcome.links).map(|(_, series)| series);
    let columns = COLUMNS.iter().flat_map(|name| series().filter_map(|series| series.column(name)));
    columns
        .flatten()
        .flat_map(|x| x.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Two flows with random losses, the second later; `change` says what is special.
fn two(algorithm: &str, change: impl Fn(&mut Value)) -> u64 {
    let flows = [("1", 0.0), ("2", 3.3)]
        .map(|(name, start_s)| with(flow(name, algorithm), json!({"rtt_s": 0.04, "start_s": start_s})));
    let mut plan = dumbbell(20e6, 33, 20.0, flows.to_vec());
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-4});
    plan["links"][0]["router"] = router::find(algorithm).map_or(Value::Null, |r| json!({"kind": r.name}));
    change(&mut plan);
    digest(&run(&plan))
}

fn cases() -> BTreeMap<String, u64> {
    let tcp = cc::algorithms().map(|row| row.name);
    let names = tcp.chain(udp::protocols().map(|row| row.name));
    let mut found: BTreeMap<_, _> = names.map(|name| (name.to_owned(), two(name, |_| ()))).collect();
    for row in queue::disciplines().filter(|row| row.name != "droptail") {
        let queue = json!({"kind": row.name, "limit_packets": 33});
        found.insert(
            format!("queue {}", row.name),
            two("sack", |plan| plan["links"][0]["queue"] = queue.clone()),
        );
    }
    let as_linux = |plan: &mut Value| {
        for flow in plan["flows"].as_array_mut().into_iter().flatten() {
            flow["rtt_samples"] = json!("last");
        }
    };
    found.insert("htcp, last".to_owned(), two("htcp", as_linux));
    found
}

#[test]
fn results_change_only_with_their_version() {
    let now = cases();
    let path = record();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let lines: Vec<_> = text.lines().filter_map(|line| line.rsplit_once(' ')).collect();
    let version = lines.iter().find(|(key, _)| *key == "version").map(|(_, n)| n.to_string());
    let changed: Vec<_> = lines
        .iter()
        .filter(|(key, hash)| now.get(*key).is_some_and(|digest| format!("{digest:016x}") != **hash))
        .map(|(key, _)| *key)
        .collect();
    let raised = version.as_deref() != Some(&RESULTS_VERSION.to_string());
    assert!(
        changed.is_empty() || raised,
        "{changed:?} give other bytes than before: raise RESULTS_VERSION, so that nobody takes stored results for today's"
    );
    if std::env::var_os("UPDATE_RESULTS").is_some() {
        let mut written = format!("version {RESULTS_VERSION}\n");
        for (key, digest) in &now {
            writeln!(written, "{key} {digest:016x}").expect("a text");
        }
        std::fs::write(&path, written).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    assert!(
        !raised,
        "RESULTS_VERSION is {RESULTS_VERSION}, {} is of {version:?}: UPDATE_RESULTS=1",
        path.display()
    );
    let missing: Vec<_> = now.keys().filter(|key| !lines.iter().any(|(had, _)| had == key)).collect();
    assert!(missing.is_empty(), "{missing:?} are not in {}: UPDATE_RESULTS=1", path.display());
}
