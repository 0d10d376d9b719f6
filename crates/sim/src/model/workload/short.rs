//! Short flows start at exponential gaps, independently of each other. They carry files with a lognormal body
//! and a Pareto tail (Ha, Kim, Le, Rhee, Xu: A Step toward Realistic Performance Evaluation of High-Speed TCP
//! Variants, PFLDnet 2006), or files of measured sizes.
//!
//! Sizes are drawn evenly ([`Strata`]): a thousand flows in a row draw from each thousandth of the
//! distribution once. With a tail index near 1, the load of independent draws would take hours to come close
//! to its mean.

use super::source::{Opened, Source, Workload, whole_bytes};
use longfat_scenario::plan::{FileSizes, Short, Sizes};
use longfat_units::{Empirical, Interval, Strata, Stream, Time};

impl Workload for Short {
    fn members(&self) -> u64 {
        1
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        let sizes = match &self.sizes {
            Sizes::Files(files) => Draws::Files(*files, stream("bodies")),
            Sizes::Empirical(values) => Draws::Measured(values.clone()),
        };
        let units = Strata::new(stream("sizes"));
        Box::new(Arrivals { gap_s: self.gap_s, gaps: stream("gaps"), units, sizes })
    }
}

enum Draws {
    Files(FileSizes, Stream),
    Measured(Empirical),
}

struct Arrivals {
    gap_s: f64,
    gaps: Stream,
    units: Strata,
    sizes: Draws,
}

impl Arrivals {
    fn gap(&mut self) -> Interval {
        Interval::from_secs_f64(self.gaps.exponential(self.gap_s))
    }

    fn bytes(&mut self) -> u64 {
        let unit = self.units.unit();
        whole_bytes(match &mut self.sizes {
            Draws::Files(files, bodies) => files.at(unit, bodies),
            Draws::Measured(values) => values.at(unit),
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
    use crate::model::workload::testing::{assert_fits, sorted};
    use longfat_units::math;

    fn arrivals(sizes: Draws) -> Arrivals {
        let units = Strata::new(Stream::new(5, "sizes"));
        Arrivals { gap_s: 0.02, gaps: Stream::new(5, "gaps"), units, sizes }
    }

    #[test]
    fn gaps_between_starts_are_exponential() {
        let mut source = arrivals(Draws::Measured(Empirical::new(&[(1.0, 1.0)]).unwrap()));
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
            arrivals(Draws::Measured(Empirical::new(&[(100.0, 1.0), (5000.0, 6.0), (1e6, 3.0)]).unwrap()));
        let bytes: Vec<u64> = (0..1000).filter_map(|_| source.open(Time::ZERO).bytes).collect();
        let count = |size: u64| bytes.iter().filter(|&&b| b == size).count();
        assert_eq!((count(100), count(5000), count(1_000_000)), (100, 600, 300));
    }
}
