//! A run gives the same bytes in every Longfat that has the same `results_version` of its plan: results that are stored
//! stay valid. `tests/results.txt` has for each case the version and a digest of what it gives; after a change that is
//! meant, say in `src/version.rs` what it concerns, and write the digests anew:
//! `UPDATE_RESULTS=1 cargo test -p longfat-sim --test results`.

mod common;

use common::{dumbbell, flow, run, with};
use longfat_net::{queue, router};
use longfat_sim::{Outcome, RESULTS_VERSION, results_version};
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

/// The version of a case's results, and their digest.
type Recorded = (u32, u64);

/// Two flows with random losses, the second later; `change` says what is special.
fn two(algorithm: &str, change: impl Fn(&mut Value)) -> Recorded {
    let flows = [("1", 0.0), ("2", 3.3)]
        .map(|(name, start_s)| with(flow(name, algorithm), json!({"rtt_s": 0.04, "start_s": start_s})));
    let mut plan = dumbbell(20e6, 33, 20.0, flows.to_vec());
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-4});
    plan["links"][0]["router"] = router::find(algorithm).map_or(Value::Null, |r| json!({"kind": r.name}));
    change(&mut plan);
    (results_version(&plan), digest(&run(&plan)))
}

fn cases() -> BTreeMap<String, Recorded> {
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

/// A line of the record: a case, its version, its digest.
fn read(line: &str) -> Option<(&str, Recorded)> {
    let mut parts = line.rsplitn(3, ' ');
    let (digest, version, key) = (parts.next()?, parts.next()?, parts.next()?);
    Some((key, (version.parse().ok()?, u64::from_str_radix(digest, 16).ok()?)))
}

#[test]
fn results_change_only_with_their_version() {
    let (now, path) = (cases(), record());
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let had: BTreeMap<&str, Recorded> = text.lines().filter_map(read).collect();
    let silent = |(key, (version, digest)): &(&&str, &Recorded)| {
        now.get(**key).is_some_and(|&(today, other)| today <= *version && other != *digest)
    };
    let changed: Vec<_> = had.iter().filter(silent).map(|(key, _)| key).collect();
    assert!(
        changed.is_empty(),
        "{changed:?} give other bytes than before: add a change that concerns them to src/version.rs, so that nobody \
         takes stored results for today's"
    );
    if std::env::var_os("UPDATE_RESULTS").is_some() {
        let mut written = String::new();
        for (key, (version, digest)) in &now {
            writeln!(written, "{key} {version} {digest:016x}").expect("a text");
        }
        std::fs::write(&path, written).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    let stale: Vec<_> = now.iter().filter(|(key, case)| had.get(key.as_str()) != Some(case)).collect();
    assert!(stale.is_empty(), "{stale:?} are not in {} as they are: UPDATE_RESULTS=1", path.display());
}

#[test]
fn a_change_concerns_the_plans_that_name_what_it_changed_wherever_they_do() {
    let alone = dumbbell(20e6, 33, 20.0, vec![flow("1", "sack")]);
    let beside = dumbbell(20e6, 33, 20.0, vec![flow("1", "sack"), flow("2", "westwood+")]);
    assert_eq!((results_version(&alone), results_version(&beside)), (1, 2));
    let mut called = alone;
    called["flows"][0]["name"] = json!("westwood+"); // a flow's name is no algorithm
    assert_eq!(results_version(&called), 1);
    assert!(RESULTS_VERSION >= 2);
}
