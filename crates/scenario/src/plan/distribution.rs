//! The distributions of numbers that may be drawn at random.

use super::error::{PlanError, bad, within};
use crate::forms::Drawn;
use longfat_units::{Distribution, Empirical};

/// The distribution of a number between 0 and `greatest`; an exponential one may exceed that.
pub fn distribution(at: &str, drawn: &Drawn, greatest: f64) -> Result<Distribution, PlanError> {
    let ascending = |first: f64, second: f64| {
        within(at, first, 0.0, greatest)?;
        within(at, second, first, greatest)
    };
    Ok(match drawn {
        Drawn::Fixed(x) => {
            within(at, *x, 0.0, greatest)?;
            Distribution::Fixed(*x)
        }
        Drawn::Uniform(least, most) => {
            ascending(*least, *most)?;
            Distribution::Uniform(*least, *most)
        }
        Drawn::Exponential(least, mean) => {
            ascending(*least, *mean)?;
            Distribution::Exponential(*least, *mean)
        }
        Drawn::Empirical(rows) => Distribution::Empirical(empirical(at, rows, 0.0, greatest)?),
    })
}

/// The distribution of weighted values between two bounds.
pub fn empirical(at: &str, rows: &[(f64, f64)], least: f64, greatest: f64) -> Result<Empirical, PlanError> {
    let values = Empirical::new(rows).or_else(|what| bad(at, what))?;
    values.values().iter().try_for_each(|&x| within(at, x, least, greatest))?;
    Ok(values)
}
