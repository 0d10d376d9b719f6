//! Ends of lasting flows run ahead of the rest; what samples want to know of them is noted on the way.

use longfat_units::Time;
use std::collections::VecDeque;

/// Times at which samples look at ends: a grid, and the ends of the window of figures.
#[derive(Clone, Copy, Debug)]
pub struct Checks {
    /// Period of the grid, seconds.
    pub period_s: f64,
    /// The window of figures.
    pub window: (Time, Time),
    /// The run's end: none is later.
    pub end: Time,
}

impl Checks {
    /// The time of sample number `row`.
    pub fn grid(&self, row: u64) -> Time {
        Time::from_secs_f64(row as f64 * self.period_s)
    }

    /// The first of them after `now`; [`Time::NEVER`] after the last one.
    fn after(&self, now: Time) -> Time {
        let mut row = (now.as_secs_f64() / self.period_s) as u64;
        while self.grid(row) <= now {
            row += 1;
        }
        let marks = [self.window.0, self.window.1].into_iter().filter(|&mark| mark > now);
        let first = marks.fold(self.grid(row), Time::min);
        // a packet may well be due long after the run
        if first > self.end { Time::NEVER } else { first }
    }
}

/// What an end looked like at the checks that its clock has passed.
#[derive(Clone, Debug)]
pub struct Passed<M> {
    checks: Checks,
    next: Time,
    marks: VecDeque<(Time, M)>,
}

impl<M: Copy> Passed<M> {
    /// Nothing passed yet; nothing happens before `start`.
    pub fn new(checks: Checks, start: Time) -> Self {
        Passed { checks, next: checks.after(start), marks: VecDeque::new() }
    }

    /// Whether a check comes no later than `now`.
    #[inline(always)]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// The end's clock goes on to `now`, where something is about to happen to it; `mark` says how it looks before.
    #[inline(always)]
    pub fn go_on(&mut self, now: Time, mark: impl Fn(Time) -> M) {
        if self.is_due(now) {
            self.note(now, mark);
        }
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, now: Time, mark: impl Fn(Time) -> M) {
        while self.next <= now {
            self.marks.push_back((self.next, mark(self.next)));
            self.next = self.checks.after(self.next);
        }
    }

    /// What it looked like just before `now`, a time of the checks; nothing has happened to it since if there is no note.
    pub fn at(&mut self, now: Time) -> Option<M> {
        while self.marks.front().is_some_and(|&(at, _)| at < now) {
            self.marks.pop_front();
        }
        self.marks.front().filter(|&&(at, _)| at == now).map(|&(_, mark)| mark)
    }

    /// The run's end: nothing that happens later is wanted.
    #[inline(always)]
    pub const fn end(&self) -> Time {
        self.checks.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_end_with_the_run_however_late_a_packet_is_due() {
        let s = Time::from_secs_f64;
        let checks = Checks { period_s: 0.25, window: (s(0.6), s(1.0)), end: s(1.0) };
        let mut at = Time::ZERO;
        let mut all = Vec::new();
        while at != Time::NEVER {
            all.push(at);
            at = checks.after(at);
        }
        assert_eq!(all, [s(0.0), s(0.25), s(0.5), s(0.6), s(0.75), s(1.0)]);
    }
}
