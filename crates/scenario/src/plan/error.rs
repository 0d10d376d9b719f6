//! Why a plan is refused, and the checks of single numbers.

use longfat_units::Rate;
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
