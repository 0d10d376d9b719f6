//! How long a run goes on: to its planned end, or until a program or an error ends it before.

use longfat_units::Time;
use std::sync::atomic::{AtomicU64, Ordering};

/// The end of a run, which all of its threads look at.
#[derive(Debug)]
pub struct Until(AtomicU64);

impl Until {
    /// A run that ends at this time.
    pub const fn planned(end: Time) -> Self {
        Until(AtomicU64::new(end.as_ns()))
    }

    /// Returns when the run ends, as far as is known by now.
    #[inline]
    pub fn end(&self) -> Time {
        Time::from_ns(self.0.load(Ordering::Relaxed))
    }

    /// Ends the run at this time, unless it ends before.
    pub fn end_by(&self, time: Time) {
        self.0.fetch_min(time.as_ns(), Ordering::Relaxed);
    }

    /// Ends the run at once, because it has failed.
    pub fn fail(&self) {
        self.end_by(Time::ZERO);
    }
}
