//! Web sessions of Li, Leith, Shorten 2007 (section IV-F). Each session requests pages at exponential gaps,
//! whether or not the last page has arrived; page sizes are Pareto. Each page is a connection of its own,
//! opened by the side that sends it; the request itself is not modelled.

use super::source::{Opened, Source, Workload, whole_bytes};
use longfat_scenario::plan::WebPlan;
use longfat_units::{Interval, Stream, Time};

impl Workload for WebPlan {
    fn members(&self) -> u64 {
        self.sessions
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        Box::new(WebSession {
            gaps: stream("gaps"),
            sizes: stream("sizes"),
            gap_s: self.gap_s,
            page_bytes: self.page_bytes,
            shape: self.shape,
        })
    }
}

struct WebSession {
    gaps: Stream,
    sizes: Stream,
    gap_s: f64,
    page_bytes: f64,
    shape: f64,
}

impl WebSession {
    fn gap(&mut self) -> Interval {
        Interval::from_secs_f64(self.gaps.exponential(self.gap_s))
    }
}

impl Source for WebSession {
    fn first(&mut self) -> Time {
        Time::ZERO + self.gap()
    }

    fn open(&mut self, now: Time) -> Opened {
        let bytes = whole_bytes(self.sizes.pareto(self.shape, self.page_bytes));
        Opened { bytes: Some(bytes), next_at: now + self.gap() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::workload::testing::{assert_fits, sorted};
    use longfat_units::math;

    /// The values of Li, Leith and Shorten: a mean of 1 s between pages, of 9400 bytes on average, tail index
    /// 1.2.
    fn session() -> WebSession {
        let stream = |what| Stream::new(3, what);
        WebSession {
            gaps: stream("gaps"),
            sizes: stream("sizes"),
            gap_s: 1.0,
            page_bytes: 9400.0,
            shape: 1.2,
        }
    }

    #[test]
    fn gaps_between_pages_are_exponential_whatever_the_pages_are() {
        let mut source = session();
        let mut last = source.first();
        let gaps = sorted(|| {
            let next = source.open(last).next_at;
            let gap = next.since(last).as_secs_f64();
            last = next;
            gap
        });
        assert_fits(&gaps, |x| 1.0 - math::exp(-x));
    }

    #[test]
    fn pages_are_pareto_with_their_mean_and_the_tail_index_is_estimated_back() {
        let mut source = session();
        let pages = sorted(|| source.open(Time::ZERO).bytes.map_or(0.0, |bytes| bytes as f64));
        // a mean of 9400 at index 1.2 begins at 9400 x 0.2 / 1.2 = 1566.7 bytes
        assert_fits(&pages, |x| 1.0 - math::pow(1566.7 / x.max(1566.7), 1.2));
        // Hill's estimator from the 4000 largest
        let (least, largest) = (pages[pages.len() - 4001], &pages[pages.len() - 4000..]);
        let index = 4000.0 / largest.iter().map(|x| math::ln(x / least)).sum::<f64>();
        assert!((index - 1.2).abs() < 0.1, "{index}");
    }
}
