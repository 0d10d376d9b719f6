//! The run's clock, and the processor time of a thread.

use super::waiting::sleep;
use longfat_units::{Interval, Time};
use rustix::time::{ClockId, clock_gettime};

/// Wall-clock time since the run began (CLOCK_MONOTONIC).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// Returns a clock that reads zero `later` from now.
    pub fn starting_in(later: Interval) -> Self {
        Clock { epoch_ns: read_ns(ClockId::Monotonic) + later.as_ns() }
    }

    /// Returns the time; zero before the run begins.
    #[inline]
    pub fn now(&self) -> Time {
        Time::from_ns(read_ns(ClockId::Monotonic).saturating_sub(self.epoch_ns))
    }

    /// Returns when the run begins, or has begun, since 1970-01-01.
    pub fn began(&self) -> Interval {
        let (now, wall) = (read_ns(ClockId::Monotonic), read_ns(ClockId::Realtime));
        Interval::from_ns((wall + self.epoch_ns).saturating_sub(now))
    }

    /// Waits until the run begins.
    pub fn wait_for_start(&self) {
        sleep(Interval::from_ns(self.epoch_ns.saturating_sub(read_ns(ClockId::Monotonic))));
    }
}

/// Returns how much processor time the calling thread has used.
pub fn thread_cpu() -> Interval {
    Interval::from_ns(read_ns(ClockId::ThreadCPUTime))
}

fn read_ns(clock: ClockId) -> u64 {
    let at = clock_gettime(clock);
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}
