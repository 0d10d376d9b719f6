//! The greatest of the recent values in constant space: Kathleen Nichols' windowed filter, as in Linux
//! lib/win_minmax.c, which draft-ietf-ccwg-bbr recommends.
//!
//! The filter keeps the best value, the best since that one, and the best since the second. When the best has
//! left the window, the second takes its place. The second and third choices are renewed once they are a
//! quarter and half of the window behind, so that they do not all leave together.

/// A value and when it was measured, in whatever unit the window has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Measured {
    at: u64,
    value: f64,
}

/// The greatest value within a window of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    best: [Measured; 3],
}

impl WindowedMax {
    /// The greatest value now.
    pub const fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Includes a value measured `at`, not before the last one, and returns the greatest of the last
    /// `window`.
    pub fn include(&mut self, window: u64, at: u64, value: f64) -> f64 {
        let new = Measured { at, value };
        if value >= self.best[0].value || at - self.best[2].at > window {
            self.best = [new; 3];
            return value;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        let age = at - self.best[0].at;
        if age > window {
            // the second choice cannot have left too, unless nothing was measured for long
            for _ in 0..2 {
                if at - self.best[0].at > window {
                    self.best = [self.best[1], self.best[2], new];
                }
            }
        } else if self.best[1].at == self.best[0].at && age > window / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].at == self.best[1].at && age > window / 2 {
            self.best[2] = new;
        }
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_value_lasts_for_the_window_and_then_gives_way_to_a_later_one() {
        let mut filter = WindowedMax::default();
        assert_eq!(filter.include(10, 0, 5.0), 5.0);
        let seen: Vec<f64> =
            (1..=12).map(|at| filter.include(10, at, if at == 4 { 3.0 } else { 1.0 })).collect();
        assert_eq!(seen[..10], [5.0; 10], "until it is more than ten behind");
        assert_eq!(seen[10..], [3.0; 2]);
        assert_eq!(filter.include(10, 15, 1.0), 1.0, "the one measured at 4 has left too");
    }

    #[test]
    fn a_greater_value_counts_at_once_and_silence_forgets_all() {
        let mut filter = WindowedMax::default();
        filter.include(10, 0, 5.0);
        assert_eq!(filter.include(10, 1, 7.0), 7.0);
        assert_eq!(filter.include(10, 40, 2.0), 2.0);
    }

    #[test]
    fn it_never_reports_less_than_the_greatest_of_the_last_quarter_of_the_window() {
        // a falling sequence is the worst case: each choice is renewed in time
        let mut filter = WindowedMax::default();
        for at in 0..100_u64 {
            let value = 1000.0 - at as f64;
            let greatest = filter.include(8, at, value);
            assert!((value..=value + 8.0).contains(&greatest), "{greatest} at {at}");
        }
    }
}
