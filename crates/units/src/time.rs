//! Points in time and spans of it, in integer nanoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

const NS_PER_S: f64 = 1e9;

/// A point in (virtual or wall) time: nanoseconds since the run began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A span of time in nanoseconds; never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Interval(u64);

impl Time {
    /// The beginning of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens: "no event planned".
    pub const NEVER: Time = Time(u64::MAX);

    /// The point `ns` nanoseconds after the beginning.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Time(ns)
    }

    /// The point `s` seconds after the beginning, to the nearest nanosecond; negative or NaN gives
    /// [`Time::ZERO`].
    pub fn from_secs_f64(s: f64) -> Self {
        Time(Interval::from_secs_f64(s).0)
    }

    /// Nanoseconds since the beginning.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the beginning.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }

    /// `self + span` without saturation, for hot code where both lie within a run.
    #[inline(always)]
    pub const fn later_by(self, span: Interval) -> Time {
        Time(self.0.wrapping_add(span.0))
    }

    /// Time passed since `earlier`; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Time) -> Interval {
        Interval(self.0.saturating_sub(earlier.0))
    }

    /// The first multiple of `step` after the origin `phase` that is not before `self`.
    pub fn round_up(self, step: Interval, phase: Interval) -> Time {
        if step.0 == 0 || self == Time::NEVER {
            return self;
        }
        let past = self.0.saturating_sub(phase.0);
        Time(phase.0 + past.div_ceil(step.0) * step.0)
    }
}

impl Interval {
    /// No time at all.
    pub const ZERO: Interval = Interval(0);
    /// Longer than any run.
    pub const MAX: Interval = Interval(u64::MAX);

    /// A span of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Interval(ns)
    }

    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Interval(ms * 1_000_000)
    }

    /// A span of `s` seconds to the nearest nanosecond; negative or NaN gives zero, too large gives
    /// [`Interval::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        // `as` saturates, and maps NaN to zero
        Interval((s * NS_PER_S + 0.5) as u64)
    }

    /// Nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }

    /// `self * factor`, to the nearest nanosecond; saturates.
    pub fn scale(self, factor: f64) -> Interval {
        Interval((self.0 as f64 * factor + 0.5) as u64)
    }

    /// `self + other`, at most [`Interval::MAX`].
    #[inline]
    pub const fn saturating_add(self, other: Interval) -> Interval {
        Interval(self.0.saturating_add(other.0))
    }

    /// `self - other`, at least zero.
    #[inline]
    pub const fn saturating_sub(self, other: Interval) -> Interval {
        Interval(self.0.saturating_sub(other.0))
    }
}

impl Add<Interval> for Time {
    type Output = Time;
    /// Saturates at [`Time::NEVER`].
    #[inline]
    fn add(self, span: Interval) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Interval> for Time {
    #[inline]
    fn add_assign(&mut self, span: Interval) {
        *self = *self + span;
    }
}

impl Sub<Interval> for Time {
    type Output = Time;
    /// At least [`Time::ZERO`].
    #[inline]
    fn sub(self, span: Interval) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Interval {
    type Output = Interval;
    #[inline]
    fn add(self, other: Interval) -> Interval {
        self.saturating_add(other)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { f.write_str("never") } else { write!(f, "{:.9}s", self.as_secs_f64()) }
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_the_nearest_nanosecond() {
        assert_eq!(Time::from_secs_f64(0.042).as_ns(), 42_000_000);
        assert_eq!(Time::from_secs_f64(600.0).as_ns(), 600_000_000_000);
        assert_eq!(Time::from_secs_f64(-1.0), Time::ZERO);
        assert_eq!(Time::from_secs_f64(f64::NAN), Time::ZERO);
    }

    #[test]
    fn rounding_up_keeps_a_point_on_the_grid_where_it_is() {
        let step = Interval::from_millis(1);
        let phase = Interval::from_ns(250_000);
        assert_eq!(Time::from_ns(1_250_000).round_up(step, phase).as_ns(), 1_250_000);
        assert_eq!(Time::from_ns(1_250_001).round_up(step, phase).as_ns(), 2_250_000);
        assert_eq!(Time::from_ns(7).round_up(step, phase).as_ns(), 250_000);
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Time::NEVER + Interval::from_millis(1), Time::NEVER);
    }
}
