//! Why a plan is refused, and the checks of single numbers.

use crate::at::{At, Context};
use crate::forms::row_named;
use crate::keys::{self, Checked};
use crate::problem::{Problem, Refusal, Refused};
use crate::tree::Item;
use crate::world::Files;
use longfat_units::Rate;
use std::path::Path;
use thiserror::Error;

/// Longest run, seconds (about eleven days).
pub const LONGEST_S: f64 = 1e6;

/// A plan that cannot be run: what is wrong, and where.
#[derive(Debug, Error, PartialEq)]
#[error("{at}: {what}")]
pub struct PlanError {
    /// The key, e.g. `flows[0].rtt_s`.
    pub at: String,
    /// What is wrong with its value.
    pub what: String,
}

/// The error for the key `at`.
pub fn bad<T>(at: impl Into<String>, what: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError { at: at.into(), what: what.into() })
}

/// Refuses a number outside [least, greatest], and NaN.
pub fn within(at: &str, x: f64, least: f64, greatest: f64) -> Result<(), PlanError> {
    if (least..=greatest).contains(&x) {
        Ok(())
    } else {
        bad(at, format!("{x} is not accepted; give a number from {least} to {greatest}"))
    }
}

/// Parses a rate in bit/s.
pub fn rate(at: &str, bps: f64) -> Result<Rate, PlanError> {
    within(at, bps, 1.0, 1e15)?;
    Rate::from_bps(bps).map_or_else(|| bad(at, format!("{bps} is not a rate")), Ok)
}

/// Refuses values of a scenario's keys with which the scenario would have been refused.
pub fn keys_hold<T: Checked>(at: &str, part: &T) -> Result<(), PlanError> {
    let mut given = keys::write(part);
    // of algorithms that the registry does not have, only the machine that made the plan knows
    if given.get("algorithm").is_some_and(|item| row_named(&item.value).is_none()) {
        given.remove("algorithm");
    }
    let context = Context { world: &Files, base: Path::new(""), stack: None };
    match keys::read::<T>(&Item::new(given.into()), &At::top(&context)) {
        Err(Refused::Keys(problems)) => {
            let Some(Problem { key, refusal, .. }) = problems.first() else { return Ok(()) };
            let Refusal { what, accepted, part, .. } = refusal;
            let key = format!("{at}.{key}.{part}");
            bad(key.trim_end_matches('.'), format!("{what}; accepted: {accepted}"))
        }
        _ => Ok(()),
    }
}
