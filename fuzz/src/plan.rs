//! Plans: whatever JSON says, the core refuses it with an error or runs it, and both drivers give the same
//! bytes.

use longfat_sim::{Outcome, Plan, RunError, Sample, Series, Simulation, TrafficPlan, results_version};

/// Plans with more connections than this are checked and not run.
const MOST_CONNECTIONS: u64 = 200;
/// So are those with a larger window, which is sent at once, in segments.
const MOST_WINDOW: f64 = 2000.0;
/// Samples that a run may take.
const MOST_SAMPLES: f64 = 200.0;
/// Simulated seconds: most of what can go wrong goes wrong early.
const LONGEST_S: f64 = 3.0;

/// Reads, checks and runs a plan by both drivers.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(value) = serde_json::from_str(text) {
        results_version(&value);
    }
    let Ok(plan) = Plan::from_json(text) else { return };
    if plan.clone().check().is_err() {
        return;
    }
    let Some(plan) = bounded(plan) else { return };
    let [fast, oracle] = [true, false].map(|fast| run(Plan { fast, ..plan.clone() }));
    if let (Some(fast), Some(oracle)) = (fast, oracle) {
        same(&fast, &oracle);
        balanced(&fast);
    }
}

/// Returns the plan with less work in it, or none if it asks for too much.
fn bounded(mut plan: Plan) -> Option<Plan> {
    let background = plan.background.iter().map(|background| match &background.traffic {
        TrafficPlan::Web(web) => web.sessions,
        TrafficPlan::Surge(surge) => surge.users,
        TrafficPlan::Short(_) => 0,
        TrafficPlan::Bulk(bulk) => bulk.flows,
        TrafficPlan::Onoff(onoff) => onoff.sources,
    });
    let connections = background.fold(plan.flows.len() as u64, u64::saturating_add);
    let options = plan.flows.iter().map(|flow| &flow.connection);
    let options = options.chain(plan.background.iter().map(|background| &background.flow));
    let windows = options.map(|connection| connection.initial_window).fold(0.0, f64::max);
    if connections > MOST_CONNECTIONS || windows > MOST_WINDOW {
        return None;
    }
    plan.duration_s = plan.duration_s.min(LONGEST_S);
    plan.window_s.1 = plan.window_s.1.min(plan.duration_s);
    plan.window_s.0 = plan.window_s.0.min(plan.window_s.1);
    let least = plan.duration_s / MOST_SAMPLES;
    (plan.sample.flows_s, plan.sample.links_s) =
        (plan.sample.flows_s.max(least), plan.sample.links_s.max(least));
    Some(plan)
}

/// Runs a plan; none if it is refused, or is not over when the core first asks whether it is still wanted,
/// after 65 thousand events.
fn run(plan: Plan) -> Option<Outcome> {
    let plan = plan.check().ok()?;
    match Simulation::new(plan, &mut |_| None).ok()?.run(&mut || false) {
        Ok(outcome) => Some(outcome),
        Err(RunError::Interrupted | RunError::Plan(_)) => None,
        Err(error) => panic!("a plan without an algorithm of a user's ends with: {error}"),
    }
}

fn same(fast: &Outcome, oracle: &Outcome) {
    let text = |outcome: &Outcome| serde_json::to_string_pretty(&outcome.summary).expect("a summary is JSON");
    assert_eq!(text(fast), text(oracle), "the drivers' summaries differ");
    same_series(&fast.flows, &oracle.flows);
    same_series(&fast.links, &oracle.links);
    assert_eq!(bits(&fast.transfers), bits(&oracle.transfers), "the drivers' transfers differ");
    assert_eq!(fast.events, oracle.events, "the drivers' events differ");
}

fn same_series<S: Sample>(fast: &[(String, Series<S>)], oracle: &[(String, Series<S>)]) {
    assert_eq!(fast.len(), oracle.len());
    for ((name, x), (_, y)) in fast.iter().zip(oracle) {
        assert!(bits(x) == bits(y), "the drivers' samples of {name} differ");
    }
}

fn bits<S: Sample>(series: &Series<S>) -> Vec<(&'static str, Vec<u64>)> {
    series
        .columns()
        .iter()
        .map(|(name, column)| (*name, column.iter().map(|x| x.to_bits()).collect()))
        .collect()
}

/// Shares are shares, and no flow receives what nobody sent.
fn balanced(outcome: &Outcome) {
    for link in &outcome.summary.links {
        assert!((0.0..=1.0).contains(&link.utilization), "{} is busy for {}", link.name, link.utilization);
    }
}
