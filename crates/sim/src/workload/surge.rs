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

use super::{FileSizes, Opened, Source, Workload, whole_bytes};
use crate::plan::{ConnectionPlan, LONGEST_S, PlanError, within};
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
pub struct Habits {
    /// Bytes of a file.
    #[serde(flatten)]
    pub sizes: FileSizes,
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
        h.sizes.check(&format!("{at}.habits"))?;
        within(&key("files_most"), h.files_most as f64, 1.0, 1e6)?;
        for (name, shape) in [
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
        let bytes = whole_bytes(self.habits.sizes.draw(&mut self.sizes));
        Opened { bytes: Some(bytes), next_at: Time::NEVER }
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
    use crate::workload::testing::{DRAWS, assert_fits, sorted};
    use longfat_units::math;

    /// As the paper prints them.
    const PRINTED: Habits = Habits {
        sizes: FileSizes {
            body_mu: 9.357,
            body_sigma: 1.318,
            tail_share: 0.07,
            tail_least_bytes: 133_000.0,
            tail_shape: 1.1,
            largest_bytes: 1e12,
        },
        files_shape: 2.43,
        files_most: 150,
        active_off_shape: 1.46,
        active_off_scale_s: 0.382,
        inactive_off_least_s: 1.0,
        inactive_off_shape: 1.5,
    };

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
