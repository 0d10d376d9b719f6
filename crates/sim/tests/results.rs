//! A run gives the same bytes in every Longfat with the same `results_version` of its plan, so that stored
//! results stay valid. `tests/results.txt` has the version and a digest of the results of each case. After an
//! intended change, add it to `src/results/version.rs` and write the digests again: `UPDATE_RESULTS=1 cargo
//! test -p longfat-sim --test runs results::`.

#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::clouds::figure_4_1;
use crate::common::{bulk, choices, dumbbell, flow, onoff, run, short, surge, variants, web, with};
use crate::plan_of::plan_of;
use longfat_net::{queue, router};
use longfat_sim::{Outcome, Plan, results_version};
use longfat_transport::cc;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

fn record() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/results.txt")
}

/// The columns that go into the digest. They show everything that happened; adding a column to the samples
/// changes no digest.
const COLUMNS: [&str; 6] = ["cwnd", "srtt_s", "received_bytes", "packets_sent", "queue_bytes", "bytes_out"];

/// FNV-1a over the samples.
fn digest(outcome: &Outcome) -> u64 {
    let columns = COLUMNS.iter().flat_map(|name| {
        let flows = outcome.flows.iter().filter_map(|(_, series)| series.column(name));
        flows.chain(outcome.links.iter().filter_map(|(_, series)| series.column(name)))
    });
    columns
        .flatten()
        .flat_map(|x| x.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The version of a case's results, and their digest.
type Recorded = (u32, u64);

fn recorded(partial: &Value) -> Recorded {
    let plan = Plan::from_json(&plan_of(partial)).expect("a plan");
    let version = results_version(&serde_json::to_value(&plan).expect("a plan is JSON"));
    (version, digest(&run(partial)))
}

/// Two flows with random losses, the second later; `change` makes the case.
fn two(algorithm: &str, change: impl Fn(&mut Value)) -> Recorded {
    let flows = [("1", 0.0), ("2", 3.3)]
        .map(|(name, start_s)| with(flow(name, algorithm), json!({"rtt_s": 0.04, "start_s": start_s})));
    let mut plan = dumbbell(20e6, 33, 20.0, flows.to_vec());
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-4});
    plan["links"][0]["router"] = router::find(algorithm).map_or(Value::Null, |r| json!({"kind": r.name}));
    change(&mut plan);
    recorded(&plan)
}

/// A case with an option of both flows.
fn with_option(algorithm: &str, option: &str, value: &Value) -> Recorded {
    two(algorithm, |plan| {
        for flow in plan["flows"].as_array_mut().into_iter().flatten() {
            flow[option] = value.clone();
        }
    })
}

const OPTIONS: [(&str, &str, &str); 10] = [
    ("reno", "recovery", "\"prr\""),
    ("reno", "loss_detection", "\"newreno\""),
    ("reno", "slow_start", "\"limited\""),
    ("reno", "delayed_ack", "false"),
    ("reno", "byte_counting", "false"),
    ("reno", "host_tick", "0.01"),
    ("reno-classic", "rto_min", "1.0"),
    ("reno", "max_window", "30.0"),
    ("reno", "quick_start", "5e6"),
    ("htcp", "rtt_samples", "\"last\""),
];

const LOSSES: [&str; 2] = [
    r#"{"kind": "every", "packets": 1000}"#,
    r#"{"kind": "gilbert_elliott", "good_to_bad": 1e-3, "bad_to_good": 0.3, "loss_good": 0.0, "loss_bad": 0.5}"#,
];

const CAPACITIES: [&str; 3] = [
    r#"{"steps": [[0.0, 20e6], [5.0, 5e6], [10.0, 15e6]]}"#,
    r#"{"sine": {"least_bps": 5e6, "period_s": 7.0}}"#,
    r#"{"trace_ms": [1, 2, 2, 5]}"#,
];

/// Routers without an algorithm of the same name, and the algorithms of the flows that cross them.
const ROUTERS: [([&str; 2], &str); 9] = [
    (["xcp-r", "xcp-r"], r#"{"kind": "xcp"}"#),
    (["jetmax-r", "jetmax-r"], r#"{"kind": "jetmax"}"#),
    (["xcp", "reno"], r#"{"kind": "friendly"}"#),
    (["vcp", "reno"], r#"{"kind": "friendly", "protocol": "vcp"}"#),
    (["xcp", "reno"], r#"{"kind": "dqw"}"#),
    (["xcp", "reno"], r#"{"kind": "dqw", "turn": "packets", "controls": "link"}"#),
    (["jetmax", "reno"], r#"{"kind": "xcp-i", "protocol": "jetmax"}"#),
    (["reno", "reno"], r#"{"kind": "quickstart"}"#),
    (["cadpc", "reno"], r#"{"kind": "ptp"}"#),
];

/// Routers that neither an algorithm of their name nor a case of [`ROUTERS`] crosses.
fn routers_without_a_case() -> impl Iterator<Item = &'static str> {
    let has_a_case = |name: &str| {
        cc::find(name).is_some() || ROUTERS.iter().any(|(_, router)| parsed(router)["kind"] == name)
    };
    router::routers().map(|row| row.name).filter(move |name| !has_a_case(name))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn cases() -> BTreeMap<String, Recorded> {
    let mut found: BTreeMap<String, Recorded> = variants()
        .into_iter()
        .map(|(name, algorithm, parameters)| (name, with_option(algorithm, "parameters", &parameters)))
        .collect();
    let mut add =
        |name: String, case: Recorded| assert!(found.insert(name.clone(), case).is_none(), "{name}");
    for row in queue::disciplines() {
        for choice in choices(row.parameters).map(Some).chain([None]) {
            let mut queue = json!({"kind": row.name, "limit_packets": 33});
            let mut name = format!("queue {}", row.name);
            if let Some((parameter, word)) = choice {
                queue[parameter] = json!(word);
                queue["limit_packets"] = json!(100); // enough for disciplines that act on long queues only
                name += &format!("-{parameter}-{word}");
            }
            let change = |plan: &mut Value| {
                plan["links"][0]["queue"] = queue.clone();
                (0..2).for_each(|i| plan["flows"][i]["ecn"] = json!(name.contains("ecn")));
            };
            let case = two("reno", change);
            add(name, case);
        }
    }
    for (algorithm, option, value) in OPTIONS {
        add(format!("{algorithm}, {option} {value}"), with_option(algorithm, option, &parsed(value)));
    }
    for loss in LOSSES.map(parsed) {
        add(format!("loss {}", loss["kind"]), two("reno", |plan| plan["links"][0]["loss"] = loss.clone()));
    }
    for capacity in CAPACITIES {
        let change = |plan: &mut Value| plan["links"][0]["capacity"] = parsed(capacity);
        add(format!("capacity {capacity}"), two("reno", change));
    }
    let backgrounds = [web("b", 20), surge("b", 20), short("b"), bulk("b", 3), onoff("b", 20)];
    for background in backgrounds {
        let change = |plan: &mut Value| plan["background"] = json!([background.clone()]);
        add(format!("background {}", background["kind"]), two("reno", change));
    }
    for (algorithms, router) in ROUTERS {
        let change = |plan: &mut Value| {
            plan["links"][0]["router"] = parsed(router);
            plan["flows"][1]["algorithm"] = json!(algorithms[1]);
            if router.contains("quickstart") {
                plan["flows"][1]["quick_start"] = json!(5e6);
            }
        };
        add(format!("{}, router {router}", algorithms.join(" and ")), two(algorithms[0], change));
    }
    for router in routers_without_a_case() {
        let change = |plan: &mut Value| plan["links"][0]["router"] = json!({"kind": router});
        add(format!("reno and reno, router {router}"), two("reno", change));
    }
    add("clouds, xcp-i".to_owned(), recorded(&figure_4_1(Some("xcp-i"), None)));
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
        now.get(**key)
            .is_some_and(|&(today, other)| today < *version || (today == *version && other != *digest))
    };
    let changed: Vec<_> = had.iter().filter(silent).map(|(key, _)| key).collect();
    assert!(
        changed.is_empty(),
        "{changed:?} give other bytes than before, or have an older version: add a change that concerns them to \
         src/version.rs, so that nobody takes stored results for today's"
    );
    if std::env::var_os("UPDATE_RESULTS").is_some() {
        let mut written = String::new();
        for (key, (version, digest)) in &now {
            writeln!(written, "{key} {version} {digest:016x}").expect("a text");
        }
        std::fs::write(&path, written).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    let write = "write it with UPDATE_RESULTS=1 cargo test -p longfat-sim --test runs results::";
    let stale: Vec<_> = now
        .iter()
        .filter_map(|(key, case)| match had.get(key.as_str()) {
            None => Some(format!("{key} has no digest in tests/results.txt: {write}")),
            Some(old) if old != case => {
                Some(format!("{key} has an old digest in tests/results.txt: {write}"))
            }
            Some(_) => None,
        })
        .collect();
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}
