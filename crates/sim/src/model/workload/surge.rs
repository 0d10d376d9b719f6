//! User equivalents of SURGE (Barford, Crovella: Generating Representative Web Workloads for Network and
//! Server Performance Evaluation, SIGMETRICS 1998). A user fetches an object, whose files come one after the
//! other, each over a connection of its own, with a short (active) OFF time between them; then the user rests
//! for a long (inactive) OFF time. A user waits for each file, so slow files slow the user down.
//!
//! ```text
//! file        lognormal (mu, sigma) below the tail's least, with probability 1 - tail share; else bounded Pareto
//! files       of an object: Pareto of least 1, rounded down, bounded
//! active OFF  Weibull
//! inactive    Pareto
//! ```
//!
//! The constants come from the scenario, where their sources are.

use super::source::{Opened, Source, Workload, whole_bytes};
use longfat_scenario::plan::{Habits, SurgePlan};
use longfat_units::{Interval, Stream, Time};

impl Workload for SurgePlan {
    fn members(&self) -> u64 {
        self.users
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
    /// Files of the object that it has not fetched yet.
    files_left: u64,
}

impl Source for User {
    /// After a rest, so that users do not begin together.
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
    use crate::model::workload::testing::{DRAWS, assert_fits, sorted};
    use longfat_scenario::plan::FileSizes;
    use longfat_units::math;

    /// The values that the paper prints.
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
