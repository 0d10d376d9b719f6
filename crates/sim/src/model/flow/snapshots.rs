//! Snapshots of ends that run ahead.
//!
//! The ends of flows run ahead of the rest of a run. Each keeps a snapshot of itself for every sample
//! time that its clock passes, so that a sample sees the state at its own time.

use longfat_units::{Interval, Time};
use std::collections::VecDeque;

/// The times of samples: a grid, and both ends of the measured span.
#[derive(Clone, Copy, Debug)]
pub struct SampleTimes {
    /// Period of the grid, seconds.
    pub period_s: f64,
    /// The span that the summary covers.
    pub measured: (Time, Time),
    /// The run's end: no sample is later.
    pub end: Time,
}

impl SampleTimes {
    /// The time of sample number `row`.
    fn grid(&self, row: u64) -> Time {
        grid(row, self.period_s)
    }

    /// The first sample time after `now`; [`Time::NEVER`] after the last one.
    fn after(&self, now: Time) -> Time {
        let mut row = (now.as_secs_f64() / self.period_s) as u64;
        while self.grid(row) <= now {
            row += 1;
        }
        let bounds = [self.measured.0, self.measured.1].into_iter().filter(|&at| at > now);
        let first = bounds.fold(self.grid(row), Time::min);
        // a packet may well be due long after the run
        if first > self.end { Time::NEVER } else { first }
    }
}

/// The time of row number `row` of a grid.
fn grid(row: u64, period_s: f64) -> Time {
    Time::from_secs_f64(row as f64 * period_s)
}

/// The time of row number `row` of a grid, in any case later than `now`.
pub fn next_on_grid(row: u64, period_s: f64, now: Time) -> Time {
    grid(row, period_s).max(now + Interval::from_ns(1))
}

/// The snapshots of one end, at the sample times that its clock has passed.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Snapshots<S> {
    times: SampleTimes,
    taken: VecDeque<(Time, S)>,
    next: Time,
    /// The last moment to which the end may run ahead.
    limit: Time,
}

impl<S: Clone> Snapshots<S> {
    /// None yet; nothing happens to the end before `start`.
    pub fn new(times: SampleTimes, start: Time) -> Self {
        Snapshots { times, next: times.after(start), limit: times.end, taken: VecDeque::new() }
    }

    /// Whether a sample is due at `now` or before.
    #[inline(always)]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// The end's clock advances to `now`, where something is about to happen to it; `snapshot` returns its
    /// state before that.
    #[inline(always)]
    pub fn advance(&mut self, now: Time, snapshot: impl Fn(Time) -> S) {
        if self.is_due(now) {
            self.take(now, snapshot);
        }
    }

    #[cold]
    #[inline(never)]
    fn take(&mut self, now: Time, snapshot: impl Fn(Time) -> S) {
        while self.next <= now {
            self.taken.push_back((self.next, snapshot(self.next)));
            self.next = self.times.after(self.next);
        }
    }

    /// The snapshot just before `now`, a sample time. `None` means that nothing has happened to the end
    /// since.
    pub fn at(&mut self, now: Time) -> Option<S> {
        while self.taken.front().is_some_and(|&(at, _)| at < now) {
            self.taken.pop_front();
        }
        self.taken.front().filter(|&&(at, _)| at == now).map(|(_, snapshot)| snapshot.clone())
    }

    /// When the next sample is due.
    #[inline]
    pub const fn next(&self) -> Time {
        self.next
    }

    /// The last moment to which the end may run ahead: the run's end, since nothing that happens later is
    /// needed, or the moment before the one at which the run pauses.
    #[inline(always)]
    pub const fn limit(&self) -> Time {
        self.limit
    }

    /// The run pauses at `until`, or ends before.
    pub fn pause_at(&mut self, until: Time) {
        self.limit = self.times.end.min(until - Interval::from_ns(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_times_end_with_the_run_however_late_a_packet_is_due() {
        let s = Time::from_secs_f64;
        let times = SampleTimes { period_s: 0.25, measured: (s(0.6), s(1.0)), end: s(1.0) };
        let mut at = Time::ZERO;
        let mut all = Vec::new();
        while at != Time::NEVER {
            all.push(at);
            at = times.after(at);
        }
        assert_eq!(all, [s(0.0), s(0.25), s(0.5), s(0.6), s(0.75), s(1.0)]);
    }
}
