//! Short flows: they start at exponential gaps, whatever becomes of the others, and carry files with a lognormal body and
//! a Pareto tail (Ha, Kim, Le, Rhee, Xu: A Step toward Realistic Performance Evaluation of High-Speed TCP Variants,
//! PFLDnet 2006), or with sizes that were measured.
//!
//! Sizes are drawn evenly ([`Strata`]): a thousand flows in a row meet each thousandth of the distribution once. With a
//! tail index near 1 the load of independent draws would take hours to come near to its mean.

use super::{FileSizes, Opened, Source, Workload, whole_bytes};
use crate::plan::{ConnectionPlan, EmpiricalPlan, LONGEST_S, PlanError, within};
use longfat_units::{Empirical, Interval, Strata, Stream, Time};
use serde::Deserialize;

/// Short flows as planned.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortPlan {
    /// Its name in results.
    pub name: String,
    /// Mean gap between two starts, seconds.
    pub gap_s: f64,
    /// Payload.
    pub sizes: SizesPlan,
    /// The connections.
    pub flow: ConnectionPlan,
}

/// How sizes are drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizesPlan {
    /// A lognormal body and a Pareto tail.
    Files(FileSizes),
    /// One of these, bytes.
    Empirical(EmpiricalPlan),
}

impl Workload for ShortPlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn connection(&self) -> &ConnectionPlan {
        &self.flow
    }

    fn members(&self) -> u64 {
        1
    }

    fn check(&self, at: &str) -> Result<(), PlanError> {
        within(&format!("{at}.gap_s"), self.gap_s, 1e-6, LONGEST_S)?;
        let place = format!("{at}.sizes");
        match &self.sizes {
            SizesPlan::Files(files) => files.check(&place),
            SizesPlan::Empirical(plan) => plan.check(&place, 1.0, 1e15),
        }
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        let sizes = match &self.sizes {
            SizesPlan::Files(files) => Sizes::Files(*files, stream("bodies")),
            SizesPlan::Empirical(plan) => {
                plan.values("sizes").map_or(Sizes::None, |values| Sizes::Measured(values.clone()))
            }
        };
        let units = Strata::new(stream("sizes"));
        Box::new(Arrivals { gap_s: self.gap_s, gaps: stream("gaps"), units, sizes })
    }
}

enum Sizes {
    Files(FileSizes, Stream),
    Measured(Empirical),
    /// Of a plan that was not checked.
    None,
}

struct Arrivals {
    gap_s: f64,
    gaps: Stream,
    units: Strata,
    sizes: Sizes,
}

impl Arrivals {
    fn gap(&mut self) -> Interval {
        Interval::from_secs_f64(self.gaps.exponential(self.gap_s))
    }

    fn bytes(&mut self) -> u64 {
        let unit = self.units.unit();
        whole_bytes(match &mut self.sizes {
            Sizes::Files(files, bodies) => files.at(unit, bodies),
            Sizes::Measured(values) => values.at(unit),
            Sizes::None => 0.0,
        })
    }
}

impl Source for Arrivals {
    fn first(&mut self) -> Time {
        Time::ZERO + self.gap()
    }

    fn open(&mut self, now: Time) -> Opened {
        Opened { bytes: Some(self.bytes()), next_at: now + self.gap() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::{assert_fits, sorted};
    use longfat_units::math;

    fn arrivals(sizes: Sizes) -> Arrivals {
        let units = Strata::new(Stream::new(5, "sizes"));
        Arrivals { gap_s: 0.02, gaps: Stream::new(5, "gaps"), units, sizes }
    }

    #[test]
    fn gaps_between_starts_are_exponential() {
        let mut source = arrivals(Sizes::Measured(Empirical::new(&[(1.0, 1.0)]).unwrap()));
        let mut last = source.first();
        let gaps = sorted(|| {
            let next = source.open(last).next_at;
            let gap = next.since(last).as_secs_f64();
            last = next;
            gap
        });
        assert_fits(&gaps, |x| 1.0 - math::exp(-x / 0.02));
    }

    #[test]
    fn a_thousand_flows_carry_measured_sizes_by_their_weights() {
        let mut source =
            arrivals(Sizes::Measured(Empirical::new(&[(100.0, 1.0), (5000.0, 6.0), (1e6, 3.0)]).unwrap()));
        let bytes: Vec<u64> = (0..1000).filter_map(|_| source.open(Time::ZERO).bytes).collect();
        let count = |size: u64| bytes.iter().filter(|&&b| b == size).count();
        assert_eq!((count(100), count(5000), count(1_000_000)), (100, 600, 300));
    }
}
