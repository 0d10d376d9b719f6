//! User equivalents of SURGE (Barford, Crovella: Generating Representative Web Workloads for Network and Server
//! Performance Evaluation, SIGMETRICS 1998). A user fetches an object, the files of which come one after the other, each
//! over a connection of its own, with a short (active) OFF time between them; then the user rests for a long (inactive)
//! OFF time. As a user waits for each file, slow files slow the user down.
//!
//! ```text
//! file        lognormal (mu, sigma) below the tail's least, with probability 1 - tail share; else Pareto, bounded
//! files       of an object: Pareto of least 1, rounded down, bounded
//! active OFF  Weibull
//! inactive    Pareto
//! ```
//!
//! The constants are the scenario's business (`longfat.surge`), with their sources.

use super::{Opened, Source, Workload};
use crate::plan::{ConnectionPlan, LONGEST_S, PlanError, bad, within};
use longfat_units::{Interval, Stream, Time};
use serde::Deserialize;

/// Users as planned.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurgePlan {
    /// Its name in results.
    pub name: String,
    /// User equivalents.
    pub users: u64,
    /// What they fetch, and when.
    pub habits: Habits,
    /// The connections.
    pub flow: ConnectionPlan,
}

/// The distributions that a user draws from.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Habits {
    /// Mean of the logarithm of a file's bytes, in the body.
    pub body_mu: f64,
    /// Standard deviation of the same.
    pub body_sigma: f64,
    /// Share of files that lie in the tail.
    pub tail_share: f64,
    /// Where the tail begins, and the body ends, bytes.
    pub tail_least_bytes: f64,
    /// Tail index.
    pub tail_shape: f64,
    /// Where the tail ends, bytes.
    pub largest_bytes: f64,
    /// Tail index of the number of files of an object; the least number is 1.
    pub files_shape: f64,
    /// Most files of an object.
    pub files_most: u64,
    /// Weibull shape of the OFF time between files.
    pub active_off_shape: f64,
    /// Weibull scale of the same, seconds.
    pub active_off_scale_s: f64,
    /// Least OFF time between objects, seconds.
    pub inactive_off_least_s: f64,
    /// Tail index of the same.
    pub inactive_off_shape: f64,
}

impl Habits {
    /// Bytes of a file.
    fn file(&self, stream: &mut Stream) -> f64 {
        if stream.unit() < self.tail_share {
            return stream.bounded_pareto(self.tail_shape, self.tail_least_bytes, self.largest_bytes);
        }
        loop {
            let bytes = stream.lognormal(self.body_mu, self.body_sigma);
            if bytes < self.tail_least_bytes {
                return bytes;
            }
        }
    }

    /// Files of an object.
    fn files(&self, stream: &mut Stream) -> u64 {
        (stream.pareto_from(self.files_shape, 1.0) as u64).clamp(1, self.files_most)
    }

    /// Seconds between two files of an object.
    fn active_off_s(&self, stream: &mut Stream) -> f64 {
        stream.weibull(self.active_off_shape, self.active_off_scale_s)
    }

    /// Seconds between two objects.
    fn inactive_off_s(&self, stream: &mut Stream) -> f64 {
        stream.pareto_from(self.inactive_off_shape, self.inactive_off_least_s)
    }
}

impl Workload for SurgePlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn connection(&self) -> &ConnectionPlan {
        &self.flow
    }

    fn members(&self) -> u64 {
        self.users
    }

    fn check(&self, at: &str) -> Result<(), PlanError> {
        let h = &self.habits;
        within(&format!("{at}.users"), self.users as f64, 0.0, 1e6)?;
        let key = |name: &str| format!("{at}.habits.{name}");
        within(&key("body_mu"), h.body_mu, 0.0, 30.0)?;
        within(&key("body_sigma"), h.body_sigma, 0.0, 10.0)?;
        within(&key("tail_share"), h.tail_share, 0.0, 1.0)?;
        within(&key("tail_least_bytes"), h.tail_least_bytes, 1.0, 1e12)?;
        // the body is drawn until it lies below the tail: its middle has to
        if h.body_mu > longfat_units::math::ln(h.tail_least_bytes) {
            return bad(key("body_mu"), "the middle of the body lies above tail_least_bytes");
        }
        within(&key("largest_bytes"), h.largest_bytes, h.tail_least_bytes, 1e15)?;
        within(&key("files_most"), h.files_most as f64, 1.0, 1e6)?;
        for (name, shape) in [
            ("tail_shape", h.tail_shape),
            ("files_shape", h.files_shape),
            ("active_off_shape", h.active_off_shape),
            ("inactive_off_shape", h.inactive_off_shape),
        ] {
            within(&key(name), shape, 0.05, 100.0)?;
        }
        within(&key("active_off_scale_s"), h.active_off_scale_s, 0.0, LONGEST_S)?;
        within(&key("inactive_off_least_s"), h.inactive_off_least_s, 1e-6, LONGEST_S).map(|_| ())
    }

    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source> {
        Box::new(User {
            habits: self.habits,
            sizes: stream("sizes"),
            counts: stream("files"),
            offs: stream("offs"),
            files_left: 0,
        })
    }
}

struct User {
    habits: Habits,
    sizes: Stream,
    counts: Stream,
    offs: Stream,
    /// Files of the object that are still to be fetched.
    files_left: u64,
}

impl Source for User {
    /// After a rest: users do not begin together.
    fn first(&mut self) -> Time {
        Time::from_secs_f64(self.habits.inactive_off_s(&mut self.offs))
    }

    fn open(&mut self, _now: Time) -> Opened {
        if self.files_left == 0 {
            self.files_left = self.habits.files(&mut self.counts);
        }
        self.files_left -= 1;
        let bytes = (self.habits.file(&mut self.sizes) + 0.5).max(1.0) as u64;
        Opened { bytes, next_at: Time::NEVER }
    }

    fn completed(&mut self, now: Time) -> Option<Time> {
        let off_s = if self.files_left > 0 {
            self.habits.active_off_s(&mut self.offs)
        } else {
            self.habits.inactive_off_s(&mut self.offs)
        };
        Some(now + Interval::from_secs_f64(off_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::math;

    /// As the paper prints them.
    const PRINTED: Habits = Habits {
        body_mu: 9.357,
        body_sigma: 1.318,
        tail_share: 0.07,
        tail_least_bytes: 133_000.0,
        tail_shape: 1.1,
        largest_bytes: 1e12,
        files_shape: 2.43,
        files_most: 150,
        active_off_shape: 1.46,
        active_off_scale_s: 0.382,
        inactive_off_least_s: 1.0,
        inactive_off_shape: 1.5,
    };
    const DRAWS: usize = 20_000;
    /// Kolmogorov-Smirnov: exceeded once in a hundred times by samples of the right distribution.
    const ONE_PERCENT: f64 = 1.628;

    fn sorted(draw: impl FnMut() -> f64) -> Vec<f64> {
        let mut xs: Vec<f64> = core::iter::repeat_with(draw).take(DRAWS).collect();
        xs.sort_by(f64::total_cmp);
        xs
    }

    /// Asserts that the samples' distribution is nowhere further from `cdf` than chance allows.
    fn assert_fits(sorted: &[f64], cdf: impl Fn(f64) -> f64) {
        let n = sorted.len() as f64;
        let distance = sorted.iter().enumerate().fold(0.0_f64, |far, (i, &x)| {
            let p = cdf(x);
            far.max((p - i as f64 / n).abs()).max(((i + 1) as f64 / n - p).abs())
        });
        assert!(distance * n.sqrt() < ONE_PERCENT, "{distance}");
    }

    /// The normal distribution's, by integrating its density with Simpson's rule.
    fn normal_cdf(z: f64) -> f64 {
        let (from, steps) = (-8.0, 400);
        let h = (z - from) / f64::from(steps);
        let density = |i: i32| math::exp(-0.5 * (from + f64::from(i) * h) * (from + f64::from(i) * h));
        let weight = |i: i32| {
            if i == 0 || i == steps {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        let sum: f64 = (0..=steps).map(|i| weight(i) * density(i)).sum();
        sum * h / 3.0 / math::sqrt(2.0 * core::f64::consts::PI)
    }

    #[test]
    fn the_body_of_the_files_is_the_printed_lognormal() {
        let mut stream = Stream::new(3, "body");
        let body = Habits { tail_share: 0.0, ..PRINTED };
        let whole = normal_cdf((math::ln(133_000.0) - 9.357) / 1.318);
        assert!((whole - 0.968).abs() < 0.001, "{whole}"); // a table of the normal distribution at 1.852
        let xs = sorted(|| body.file(&mut stream));
        assert_fits(&xs, |x| normal_cdf((math::ln(x) - 9.357) / 1.318) / whole);
    }

    #[test]
    fn seven_files_in_a_hundred_lie_in_the_printed_pareto_tail() {
        let mut stream = Stream::new(3, "tail");
        let xs = sorted(|| PRINTED.file(&mut stream));
        let tail: Vec<f64> = xs.iter().copied().filter(|&x| x >= 133_000.0).collect();
        let share = tail.len() as f64 / DRAWS as f64;
        assert!((share - 0.07).abs() < 0.005, "{share}"); // 2.8 standard deviations
        assert_fits(&tail, |x| 1.0 - math::pow(133_000.0 / x, 1.1));
    }

    #[test]
    fn no_file_is_larger_than_the_bound_and_the_rest_keep_their_shape() {
        let mut stream = Stream::new(3, "bound");
        let bounded = Habits { tail_share: 1.0, largest_bytes: 1_330_000.0, ..PRINTED };
        let xs = sorted(|| bounded.file(&mut stream));
        assert!(xs.iter().all(|&x| (133_000.0..=1_330_000.0).contains(&x)));
        let within = 1.0 - math::pow(0.1, 1.1);
        assert_fits(&xs, |x| (1.0 - math::pow(133_000.0 / x, 1.1)) / within);
    }

    #[test]
    fn objects_have_one_file_or_more_with_the_printed_tail() {
        let mut stream = Stream::new(3, "files");
        let counts: Vec<u64> = (0..200_000).map(|_| PRINTED.files(&mut stream)).collect();
        let share = |least: u64| counts.iter().filter(|&&n| n >= least).count() as f64 / 200_000.0;
        assert_eq!(share(1), 1.0);
        assert!((share(2) - 0.1856).abs() < 0.003, "{}", share(2)); // 2^-2.43
        assert!((share(10) - 0.003_715).abs() < 0.0005, "{}", share(10)); // 10^-2.43
        assert!(counts.iter().all(|&n| n <= 150));
    }

    #[test]
    fn off_times_are_the_printed_weibull_and_pareto() {
        let mut stream = Stream::new(3, "offs");
        let active = sorted(|| PRINTED.active_off_s(&mut stream));
        assert_fits(&active, |x| 1.0 - math::exp(-math::pow(x / 0.382, 1.46)));
        // the paper divides active from inactive times at a second: nearly all of them are below
        let below = active.iter().filter(|&&x| x < 1.0).count() as f64 / DRAWS as f64;
        assert!(below > 0.97, "{below}");
        let inactive = sorted(|| PRINTED.inactive_off_s(&mut stream));
        assert_fits(&inactive, |x| 1.0 - math::pow(x, -1.5));
    }

    #[test]
    fn a_user_waits_for_each_file_and_rests_after_the_last() {
        let plan = |files_shape: f64| Habits { files_shape, files_most: 2, ..PRINTED };
        let user = |habits: Habits| User {
            habits,
            sizes: Stream::new(1, "sizes"),
            counts: Stream::new(1, "files"),
            offs: Stream::new(1, "offs"),
            files_left: 0,
        };
        // the tail is so heavy that nearly every object has the most files, two
        let mut pairs = user(plan(0.05));
        // an object every other connection: rests of a second or more come after every second one
        let rests: Vec<bool> = (0..10)
            .map(|_| {
                assert_eq!(pairs.open(Time::ZERO).next_at, Time::NEVER);
                pairs.completed(Time::ZERO).is_some_and(|at| at >= Time::from_secs_f64(1.0))
            })
            .collect();
        assert_eq!(rests.iter().filter(|&&rest| rest).count(), 5, "{rests:?}");
        assert!(user(plan(100.0)).first() >= Time::from_secs_f64(1.0));
    }
}
