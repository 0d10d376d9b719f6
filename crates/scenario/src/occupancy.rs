//! How many connections that carry files are open at once.
//!
//! The numbers are those of fluid models, with shares and means in place of random draws: a path without
//! losses, where a connection doubles what it sends with each round trip and then has an equal share of the
//! path.
//!
//! Reference: Jean-Marie, Robert, On the transient behavior of the processor sharing queue, Queueing Systems
//! 17, 1994: an overloaded path has a number of connections that grows linearly ([`growth`]).

use crate::sums::sum;
use longfat_units::math;

/// The share of files with more than this many bytes.
pub type Larger<'a> = &'a dyn Fn(f64) -> f64;

const STEPS: usize = 200;
/// No file takes more doublings.
const ROUNDS: u32 = 60;
/// Halvings of the interval in which [`growth`] lies: then it is 1e-12 of the first one.
const HALVINGS: usize = 40;
/// Once only this share of users has not begun, fewer begin than before (chosen here).
const MOST_BEGUN: f64 = 0.1;

/// What connections share.
pub struct Path {
    pub bytes_per_s: f64,
    pub rtt_s: f64,
    /// The initial window.
    pub first_bytes: f64,
}

impl Path {
    /// What a connection has sent after some round trips of doubling.
    fn doubled(&self, trips: f64) -> f64 {
        self.first_bytes * (math::pow(2.0, trips.min(f64::from(ROUNDS))) - 1.0)
    }

    /// The round trips that a file takes on average while the window doubles, after the handshake.
    pub fn rounds(&self, larger: Larger<'_>) -> f64 {
        let longer: Vec<f64> = (1..ROUNDS).map(|trips| larger(self.doubled(f64::from(trips)))).collect();
        1.0 + sum(&longer)
    }

    /// The share of files that take longer than this if each connection gets `each` bytes a second at most.
    fn still(&self, larger: Larger<'_>, each: f64, age_s: f64) -> f64 {
        let trips = age_s / self.rtt_s - 1.0;
        if trips < 1.0 { 1.0 } else { larger(self.doubled(trips).min(each * (age_s - self.rtt_s))) }
    }
}

/// By how many a second the connections become more that share an overloaded path equally, of `per_s` that
/// open with files of at most `largest` bytes.
///
/// With g more a second, C bytes a second give one that opens at u the first C ln(t/u) / g bytes by t, and
/// those with longer files are open: 1 = (`per_s` / C) * integral of exp(-g x / C) * larger(x) dx.
pub fn growth(per_s: f64, bytes_per_s: f64, larger: Larger<'_>, largest: f64) -> f64 {
    let edge = |k: usize| if k == 0 { 0.0 } else { math::pow(largest, (k - 1) as f64 / STEPS as f64) };
    let piece = |k: usize| {
        let (from, to) = (edge(k), edge(k + 1));
        let middle = 0.5 * (from + to);
        (middle, (to - from) * larger(middle))
    };
    let pieces: Vec<(f64, f64)> = (0..=STEPS).map(piece).collect();
    let is_overload = |more_per_s: f64| {
        let open = pieces.iter().map(|&(x, weight)| weight * math::exp(-more_per_s * x / bytes_per_s));
        per_s * sum(&open.collect::<Vec<_>>()) / bytes_per_s > 1.0
    };
    let (mut low, mut high) = (0.0, per_s);
    if !is_overload(low) {
        return 0.0;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *(if is_overload(middle) { &mut low } else { &mut high }) = middle;
    }
    high
}

/// Which share of `users` has its first file open at once at most, in a run of `span_s`. `waiting` is the
/// share that has not begun yet at a time, since they begin after a rest.
pub fn beginners(path: &Path, larger: Larger<'_>, waiting: Larger<'_>, span_s: f64, users: f64) -> f64 {
    let mut end_s = span_s;
    while waiting(end_s / 2.0) < MOST_BEGUN {
        end_s /= 2.0;
    }
    let at_s = |step: usize| step as f64 * end_s / STEPS as f64;
    let begin: Vec<f64> = (0..STEPS).map(|k| waiting(at_s(k)) - waiting(at_s(k + 1))).collect();
    let mut share = 1.0;
    for _ in 0..STEPS {
        // the fewer share the path, the sooner they are done
        let each = path.bytes_per_s / f64::max(1.0, share * users);
        let still: Vec<f64> = (0..STEPS).map(|k| path.still(larger, each, at_s(k))).collect();
        let open = (1..=STEPS).map(|k| {
            let shares = begin[..k].iter().zip(still[..k].iter().rev());
            sum(&shares.map(|(began, still)| began * still).collect::<Vec<_>>())
        });
        let earlier = std::mem::replace(&mut share, open.fold(0.0, f64::max));
        if share >= 0.99 * earlier {
            break;
        }
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::FileSizes;

    const MEAN: f64 = 50e3;
    const LONGEST: f64 = 5e6;
    const FILES: FileSizes = FileSizes {
        body_mu: 9.357,
        body_sigma: 1.318,
        tail_share: 0.07,
        tail_least_bytes: 133_000.0,
        tail_shape: 1.1,
        largest_bytes: 10e6,
    };

    fn exponential(bytes: f64) -> f64 {
        math::exp(-bytes / MEAN)
    }

    fn below(segments: f64) -> impl Fn(f64) -> f64 {
        move |bytes| f64::from(u8::from(bytes < 1000.0 * segments))
    }

    const fn path(bytes_per_s: f64, rtt_s: f64) -> Path {
        Path { bytes_per_s, rtt_s, first_bytes: 3000.0 }
    }

    fn waiting(at_s: f64) -> f64 {
        if at_s > 0.0 { math::pow(at_s, -1.5).min(1.0) } else { 1.0 }
    }

    #[test]
    fn connections_do_not_grow_in_number_on_a_path_with_room() {
        for load in [0.1, 0.5, 0.95] {
            assert_eq!(growth(load * 1e6 / MEAN, 1e6, &exponential, LONGEST), 0.0, "{load}");
        }
    }

    #[test]
    fn exponential_files_stay_at_the_rate_at_which_the_path_cannot_carry_them() {
        for load in [1.1, 1.5, 4.0] {
            // without memory, any order of service completes C / mean files a second
            let expected = (load - 1.0) * 1e6 / MEAN;
            let grown = growth(load * 1e6 / MEAN, 1e6, &exponential, LONGEST);
            assert!((grown / expected - 1.0).abs() < 0.02, "{load}: {grown} {expected}");
        }
    }

    #[test]
    fn fewer_files_stay_if_a_few_of_them_are_most_of_the_load() {
        let carried = 1e6 / FILES.mean_bytes();
        let grown = growth(1.2 * carried, 1e6, &|bytes| FILES.larger(bytes), FILES.largest_bytes);
        assert!(0.0 < grown && grown < 0.25 * 0.2 * carried, "{grown}");
    }

    #[test]
    fn a_file_takes_a_round_trip_for_each_doubling() {
        // windows of 3, 6, 12 segments
        for (segments, trips) in [(3.0, 1.0), (4.0, 2.0), (9.0, 2.0), (10.0, 3.0), (21.0, 3.0), (22.0, 4.0)] {
            assert_eq!(path(1e6, 0.1).rounds(&below(segments)), trips, "{segments}");
        }
    }

    #[test]
    fn users_with_small_files_are_those_that_began_two_round_trips_ago() {
        for rtt_s in [0.05, 0.2] {
            // most of them just after the first ones began
            let most = beginners(&path(1e9, rtt_s), &below(1.0), &waiting, 20.0, 1000.0);
            assert!((most - (1.0 - waiting(1.0 + 2.0 * rtt_s))).abs() < 0.05, "{rtt_s}: {most}");
        }
    }

    #[test]
    fn no_user_is_done_on_a_path_that_carries_nothing() {
        assert!(beginners(&path(1.0, 0.1), &exponential, &waiting, 20.0, 1000.0) > 0.9);
    }

    #[test]
    fn more_users_hold_each_other_up() {
        let larger = |bytes| FILES.larger(bytes);
        let [few, more, many] =
            [10.0, 1e3, 1e5].map(|users| beginners(&path(1e7, 0.1), &larger, &waiting, 20.0, users));
        assert!(few <= more && more <= many && many > 2.0 * few, "{few} {more} {many}");
    }
}
