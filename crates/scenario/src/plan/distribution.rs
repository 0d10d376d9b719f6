//! Numbers that may be drawn at random.

use super::error::{PlanError, bad, within};
use longfat_units::{Distribution, Empirical};
use serde::{Deserialize, Serialize};

/// A number, or how to draw it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DistributionPlan {
    /// Always this number.
    Fixed(f64),
    /// Drawn once for each flow, or for each connection of background traffic.
    Drawn(Drawn),
}

/// How a number is drawn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Uniform between two values.
    Uniform(f64, f64),
    /// Exponential: the least value, and the mean.
    Exponential(f64, f64),
    /// One of these values, each with its weight.
    Empirical(Vec<(f64, f64)>),
}

impl DistributionPlan {
    /// The distribution, whose values lie between 0 and `greatest`; an exponential one may exceed that.
    pub(super) fn check(&self, at: &str, greatest: f64) -> Result<Distribution, PlanError> {
        Ok(match self {
            DistributionPlan::Fixed(x) => {
                within(at, *x, 0.0, greatest)?;
                Distribution::Fixed(*x)
            }
            DistributionPlan::Drawn(Drawn::Uniform(least, most)) => {
                ascending(at, *least, *most, greatest)?;
                Distribution::Uniform(*least, *most)
            }
            DistributionPlan::Drawn(Drawn::Exponential(least, mean)) => {
                ascending(at, *least, *mean, greatest)?;
                Distribution::Exponential(*least, *mean)
            }
            DistributionPlan::Drawn(Drawn::Empirical(rows)) => {
                Distribution::Empirical(empirical(at, rows, 0.0, greatest)?)
            }
        })
    }
}

fn ascending(at: &str, first: f64, second: f64, greatest: f64) -> Result<(), PlanError> {
    within(at, first, 0.0, greatest)?;
    within(at, second, first, greatest)
}

/// The distribution of weighted values between two bounds.
pub fn empirical(at: &str, rows: &[(f64, f64)], least: f64, greatest: f64) -> Result<Empirical, PlanError> {
    let values = Empirical::new(rows).or_else(|what| bad(at, what))?;
    values.values().iter().try_for_each(|&x| within(at, x, least, greatest))?;
    Ok(values)
}
