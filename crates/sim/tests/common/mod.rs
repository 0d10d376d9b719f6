//! Plans as JSON: a dumbbell with the defaults of scenario files; tests change single keys.
#![allow(clippy::expect_used, reason = "a test may panic")]

pub mod clouds;
pub mod disturbance;
pub mod explicit;

use crate::plan_of::plan_of;
use longfat_net::DropReason;
use longfat_sim::{
    CheckedConnection, CheckedPlan, Outcome, Plan, PlanError, Rates, Sample, Series, Simulation, Stepped, Tap,
};
use longfat_transport::cc::{self, Kind, Parameter, algorithms};
use longfat_transport::udp::protocols;
use longfat_units::math::pow;
use longfat_units::{Interval, Stream, Time};
use longfat_wire::SimPacket;
use serde_json::{Value, json};
use std::time::Duration;

/// Far longer than any run in these tests.
const LONGEST_RUN: Duration = Duration::from_secs(60);

/// Changes these keys and adds those that are not there.
pub fn and(mut value: Value, changes: Value) -> Value {
    if let (Some(keys), Value::Object(changes)) = (value.as_object_mut(), changes) {
        keys.extend(changes);
    }
    value
}

/// An endless flow across the bottleneck: 1500-byte packets, 42 ms, hosts on 1 Gbit/s.
pub fn flow(name: &str, algorithm: &str) -> Value {
    json!({"name": name, "algorithm": algorithm, "parameters": {}, "forward": [0], "reverse": [1],
        "rtt_s": 0.042, "start_s": 0.0, "stop_s": null, "bytes": null, "access_rate_bps": 1e9, "mss": 1448,
        "header_bytes": 52, "initial_ssthresh": null, "initial_window": 3.0, "max_window": null,
        "slow_start": "standard", "max_ssthresh": 100.0, "delayed_ack": true, "delayed_ack_timeout": 0.04,
        "byte_counting": true, "loss_detection": null, "recovery": "rate-halving",
        "host_tick": 0.0, "rto_min": 0.2, "ecn": false})
}

/// A drop-tail link without propagation delay or losses.
pub fn link(name: &str, rate_bps: f64, packets: u64) -> Value {
    json!({"name": name, "rate_bps": rate_bps, "delay_s": 0.0,
        "queue": {"kind": "droptail", "limit_packets": packets},
        "loss": {"kind": "none"}, "ack_loss": {"kind": "none"}})
}

/// Both directions at the same rate with the same buffer.
pub fn dumbbell(rate_bps: f64, packets: u64, duration_s: f64, flows: Vec<Value>) -> Value {
    json!({"seed": 1, "duration_s": duration_s, "window_s": [0.0, duration_s],
        "links": [link("bottleneck", rate_bps, packets), link("reverse", rate_bps, packets)],
        "flows": flows, "background": [], "sample": {"flows_s": 0.1, "links_s": 0.1},
        "events": false, "fast": true})
}

/// The connections of background traffic across the bottleneck.
fn connection() -> Value {
    let mut connection = flow("", "reno");
    if let Some(keys) = connection.as_object_mut() {
        ["name", "start_s", "bytes"].iter().for_each(|k| drop(keys.remove(*k)));
    }
    connection
}

/// Web sessions whose pages cross the bottleneck.
pub fn web(name: &str, sessions: u64) -> Value {
    json!({"name": name, "kind": "web", "sessions": sessions, "gap_s": 1.0, "page_bytes": 9400.0,
        "shape": 1.2, "flow": connection()})
}

/// SURGE users whose files cross the bottleneck.
pub fn surge(name: &str, users: u64) -> Value {
    let habits = json!({"body_mu": 9.357, "body_sigma": 1.318, "tail_share": 0.07, "tail_least_bytes": 133e3,
        "tail_shape": 1.1, "largest_bytes": 1e7, "files_shape": 2.43, "files_most": 150,
        "active_off_shape": 1.46, "active_off_scale_s": 0.382, "inactive_off_least_s": 1.0,
        "inactive_off_shape": 1.5});
    json!({"name": name, "kind": "surge", "users": users, "habits": habits, "flow": connection()})
}

/// Short flows across the bottleneck, a hundred a second.
pub fn short(name: &str) -> Value {
    let files = json!({"body_mu": 9.357, "body_sigma": 1.318, "tail_share": 0.07, "tail_least_bytes": 133e3,
        "tail_shape": 1.1, "largest_bytes": 1e7});
    json!({"name": name, "kind": "short", "gap_s": 0.01, "sizes": {"files": files}, "flow": connection()})
}

/// Long-lived background flows across the bottleneck, all from the beginning.
pub fn bulk(name: &str, flows: u64) -> Value {
    json!({"name": name, "kind": "bulk", "flows": flows, "start_s": 0.0, "flow": connection()})
}

/// On-off sources of 100 kbit/s each, on for half of the time.
pub fn onoff(name: &str, sources: u64) -> Value {
    let mut connection = connection();
    connection["algorithm"] = json!("onoff");
    connection["parameters"] = json!({"rate": 0.1, "on": 0.5, "off": 0.5, "periods": "exponential"});
    json!({"name": name, "kind": "onoff", "sources": sources, "start_s": 0.0, "flow": connection})
}

/// Each word of the parameters' choices that is not a default, with its parameter.
pub fn choices(parameters: &[Parameter]) -> impl Iterator<Item = (&'static str, &'static str)> {
    parameters.iter().flat_map(|parameter| match parameter.kind {
        Kind::Choice(words) => words[1..].iter().map(|word| (parameter.name, *word)).collect(),
        _ => Vec::new(),
    })
}

/// Every algorithm with its defaults, and again with each word of its choices that is not a default.
pub fn variants() -> Vec<(String, &'static str, Value)> {
    let tcp = algorithms().map(|row| (row.name, row.parameters));
    let rows = tcp.chain(protocols().map(|row| (row.name, row.parameters)));
    let each = |(name, parameters): (&'static str, &'static [Parameter])| {
        let others = choices(parameters).map(move |(parameter, word)| {
            (format!("{name}-{parameter}-{word}"), name, json!({parameter: word}))
        });
        [(name.to_owned(), name, json!({}))].into_iter().chain(others)
    };
    rows.flat_map(each).collect()
}

/// The router that this algorithm's flows need on a link; null if they need none.
pub fn router_of(algorithm: &str) -> Value {
    let reports = (algorithm == "cadpc").then_some("ptp");
    let protocol =
        cc::find(algorithm).and_then(|row| row.properties.protocol).map(|protocol| protocol.name).or(reports);
    protocol.map_or(Value::Null, |router| json!({"kind": router}))
}

/// Changes these keys, which have to exist.
pub fn with(mut value: Value, changes: Value) -> Value {
    let (Some(keys), Value::Object(changes)) = (value.as_object_mut(), changes) else {
        panic!("both are objects");
    };
    for (key, new) in changes {
        *keys.get_mut(&key).unwrap_or_else(|| panic!("there is no key {key}")) = new;
    }
    value
}

/// Runs a plan. A run that does not end makes the test fail instead of hang.
pub fn run(plan: &Value) -> Outcome {
    let checked = sound(plan);
    let (done, outcome) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let run = Simulation::new(checked, &mut |_| None).expect("a sound plan");
        done.send(run.run(&mut || true).expect("a run")).expect("the caller waits");
    });
    outcome.recv_timeout(LONGEST_RUN).unwrap_or_else(|e| panic!("the run has no end ({e}): {plan}"))
}

/// The error for a plan that is refused.
pub fn refusal_of(plan: &Value) -> Option<PlanError> {
    Plan::from_json(&plan_of(plan)).and_then(Plan::check).err()
}

/// A column of the flow or link with this name.
pub fn column<'a, S: Sample>(series: &'a [(String, Series<S>)], name: &str, column: &str) -> &'a [f64] {
    let found = series.iter().find(|(n, _)| n == name).and_then(|(_, s)| s.column(column));
    found.unwrap_or_else(|| panic!("no column {column} of {name}"))
}

/// All samples of a series, bit for bit.
pub fn bits<S: Sample>(series: &Series<S>) -> Vec<(&'static str, Vec<u64>)> {
    series.columns().iter().map(|(n, c)| (*n, c.iter().map(|x| x.to_bits()).collect())).collect()
}

/// Asserts that two runs gave the same bytes; only the number of events may differ.
pub fn assert_same(a: &Outcome, b: &Outcome) {
    assert_eq!(difference(a, b), None);
}

/// In what two runs differ, the number of events aside.
pub fn difference(a: &Outcome, b: &Outcome) -> Option<String> {
    let text = |o: &Outcome| serde_json::to_string_pretty(&o.summary).expect("a summary is JSON");
    let flows = || of_series(&a.flows, &b.flows).or_else(|| of_series(&a.links, &b.links));
    let internals = || {
        let names = |o: &Outcome| o.internals.iter().map(|(flow, _)| flow.clone()).collect::<Vec<_>>();
        let mut both = a.internals.iter().zip(&b.internals);
        (names(a) != names(b)).then(|| "the names of internals".to_owned()).or_else(|| {
            both.find_map(|((flow, x), (_, y))| Some(format!("internals of {flow}: {}", of_series(x, y)?)))
        })
    };
    let transfers = || of_columns(&a.transfers, &b.transfers).map(|where_| format!("transfers: {where_}"));
    let events = || {
        let first = a.events.iter().zip(&b.events).position(|(x, y)| x != y);
        (a.events != b.events)
            .then(|| format!("events: at {first:?} of {} and {}", a.events.len(), b.events.len()))
    };
    let summaries = || {
        let (a, b) = (text(a), text(b));
        let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        (a != b).then(|| format!("summary: {line:?}"))
    };
    flows().or_else(internals).or_else(transfers).or_else(events).or_else(summaries)
}

/// Asserts that samples are the same, bit for bit.
pub fn assert_same_series<S: Sample>(a: &[(String, Series<S>)], b: &[(String, Series<S>)]) {
    assert_eq!(of_series(a, b), None);
}

fn of_series<S: Sample>(a: &[(String, Series<S>)], b: &[(String, Series<S>)]) -> Option<String> {
    let names =
        |series: &[(String, Series<S>)]| series.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if names(a) != names(b) {
        return Some(format!("the names: {:?} and {:?}", names(a), names(b)));
    }
    a.iter().zip(b).find_map(|((name, x), (_, y))| Some(format!("{name}: {}", of_columns(x, y)?)))
}

fn of_columns<S: Sample>(a: &Series<S>, b: &Series<S>) -> Option<String> {
    bits(a).into_iter().zip(bits(b)).find_map(|((column, x), (_, y))| {
        let first = x.iter().zip(&y).position(|(x, y)| x != y);
        (x != y).then(|| format!("{column} at sample {first:?} of {} and {}", x.len(), y.len()))
    })
}

/// Checks a plan that leaves out what it is not about.
pub fn sound(plan: &Value) -> CheckedPlan {
    Plan::from_json(&plan_of(plan)).and_then(Plan::check).expect("a sound plan")
}

/// Watches a run and does nothing.
struct Watcher;

impl Tap for Watcher {
    fn opens(&mut self, _: Time, _: usize, _: &str, _: &CheckedConnection) {}
    fn enters(&mut self, _: Time, _: usize, _: &SimPacket) {}
    fn leaves(&mut self, _: Time, _: usize, _: &SimPacket, _: Time, _: bool) {}
    fn drops(&mut self, _: Time, _: usize, _: &SimPacket, _: DropReason) {}
}

/// Runs a plan with both drivers, at once, watched and in steps; all have to give the same bytes, which
/// this returns.
pub fn run_by_both(plan: &Value) -> Outcome {
    let [fast, oracle] = [true, false].map(|fast| run(&with(plan.clone(), json!({"fast": fast}))));
    let same = std::panic::catch_unwind(|| assert_same(&fast, &oracle));
    assert!(same.is_ok(), "the drivers differ: {plan}");
    let watched = Simulation::new(sound(plan), &mut |_| None)
        .and_then(|run| run.run_tapped(&mut Watcher, &mut || true));
    let same = std::panic::catch_unwind(|| assert_same(&fast, &watched.expect("a sound plan")));
    assert!(same.is_ok(), "watching makes a difference: {plan}");
    for (by_batches, rates) in [(true, Rates::Planned), (true, Rates::Settable), (false, Rates::Planned)] {
        let stepped = run_in_steps(&with(plan.clone(), json!({"fast": by_batches})), rates);
        let same = std::panic::catch_unwind(|| assert_same(&fast, &stepped));
        assert!(same.is_ok(), "steps make a difference (fast: {by_batches}, {rates:?}): {plan}");
    }
    fast
}

/// Runs a plan in steps of random lengths, from a nanosecond to much of the run, and looks at everything
/// between them. The steps depend on the plan alone.
pub fn run_in_steps(plan: &Value, rates: Rates) -> Outcome {
    let text = plan.to_string();
    let letters = text.bytes().map(u64::from);
    let mut stream =
        Stream::new(letters.fold(0, |sum: u64, letter| sum.wrapping_mul(31).wrapping_add(letter)), "steps");
    let plan = sound(plan);
    let (flows, links) = (plan.flows.len(), plan.links.len());
    let mut run =
        Stepped::new(Simulation::new_while(plan, rates, &mut |_| None, &mut || true).expect("a sound plan"));
    let longest_s = 0.3 * run.end().as_secs_f64();
    while !run.is_done() {
        let step_s = longest_s * pow(1e-9, stream.unit() * stream.unit());
        let to = run.now() + Interval::from_secs_f64(step_s).max(Interval::from_ns(1));
        run.advance(to, &mut || true).expect("a run");
        assert_eq!(run.now(), to.min(run.end()));
        assert!((0..flows).all(|i| run.flow(i).time_s == run.now().as_secs_f64()));
        assert!((0..links).all(|i| run.link(i).time_s == run.now().as_secs_f64()));
    }
    run.finish().expect("it has ended")
}
