//! Runs a random plan by both drivers.
#![allow(clippy::expect_used, reason = "a run that fails is a finding")]

use super::draw::{Drawn, Pauses};
use crate::common::{difference, sound, with};
use longfat_sim::{Outcome, RateError, Rates, Sample, Simulation, Stepped};
use longfat_transport::Steer;
use longfat_units::math::pow;
use longfat_units::{Interval, Rate, Stream};
use serde_json::json;

/// A run that asks more often whether to go on has no end; none of those drawn comes near.
const MOST_POLLS: u64 = 100_000_000;
/// Pauses of a run are as long as a share of it, about down to this one.
const SHORTEST_PAUSE: f64 = 1e-6;

/// What was seen in pauses: what could be set, and samples of all flows and links, as bits.
#[derive(Default, PartialEq)]
struct Seen {
    set: Vec<Result<(), RateError>>,
    samples: Vec<u64>,
}

fn polls() -> impl FnMut() -> bool {
    let mut left = MOST_POLLS;
    move || {
        left -= 1;
        assert!(left > 0, "the run has no end");
        true
    }
}

fn at_once(drawn: &Drawn, fast: bool) -> Outcome {
    let plan = sound(&with(drawn.plan.clone(), json!({"fast": fast})));
    let run = Simulation::new(plan, &mut |_| None).expect("a sound plan");
    run.run(&mut polls()).expect("no algorithm of a user's can fail")
}

/// The times of pauses, and what is set there, depend on the plan's seed alone.
fn in_steps(drawn: &Drawn, fast: bool) -> (Outcome, Seen) {
    let plan = sound(&with(drawn.plan.clone(), json!({"fast": fast})));
    let mut stream = Stream::new(plan.seed, "pauses");
    let rates: Vec<f64> = plan.links.iter().map(|link| link.plan.rate_bps).collect();
    let (flows, changes) = (plan.flows.len(), drawn.pauses == Pauses::Changes);
    let planned = if changes || stream.unit() < 0.5 { Rates::Settable } else { Rates::Planned };
    let run = Simulation::new_while(plan, planned, &mut |_| None, &mut || true);
    let (mut run, mut seen) = (Stepped::new(run.expect("a sound plan")), Seen::default());
    let (longest_s, wanted) = (0.3 * run.end().as_secs_f64(), &mut polls());
    while !run.is_done() {
        let step_s = longest_s * pow(SHORTEST_PAUSE, stream.unit() * stream.unit());
        let to = run.now() + Interval::from_secs_f64(step_s).max(Interval::from_ns(1));
        run.advance(to, wanted).expect("no algorithm of a user's can fail");
        for flow in 0..flows {
            seen.samples.extend(run.flow(flow).values().map(f64::to_bits));
        }
        for link in 0..rates.len() {
            seen.samples.extend(run.link(link).values().map(f64::to_bits));
        }
        if changes && !run.is_done() {
            let link = stream.below(rates.len() as u64) as usize;
            let rate = Rate::from_bps((rates[link] * pow(0.1, stream.unit())).max(1.0)).expect("a rate");
            seen.set.push(run.set_rate(link, rate));
            if flows > 0 && stream.unit() < 0.3 {
                let (flow, cwnd) = (stream.below(flows as u64) as usize, 1.0 + 50.0 * stream.unit());
                let steer = Steer { cwnd: Some(cwnd), holds: stream.unit() < 0.5, rate: None };
                run.steer(flow, (stream.unit() < 0.7).then_some(steer));
            }
        }
    }
    (run.finish().expect("it has ended"), seen)
}

/// Runs the plan by both drivers, with pauses if it has any. Returns the fast driver's results, and in what
/// the oracle's differ, or those of the run without pauses.
pub fn compare(drawn: &Drawn) -> (Outcome, Option<String>) {
    if drawn.pauses == Pauses::None {
        let (fast, oracle) = (at_once(drawn, true), at_once(drawn, false));
        let differs = difference(&fast, &oracle);
        return (fast, differs);
    }
    let ((fast, seen), (oracle, other)) = (in_steps(drawn, true), in_steps(drawn, false));
    let mut differs = difference(&fast, &oracle);
    if differs.is_none() && seen != other {
        differs = Some("what is seen in pauses".to_owned());
    }
    if differs.is_none() && drawn.pauses == Pauses::Only {
        differs = difference(&fast, &at_once(drawn, true))
            .map(|where_| format!("pauses make a difference: {where_}"));
    }
    (fast, differs)
}
