//! Estimates of the bandwidth available from one router to another, one after the other, by any method.

use super::dispersion::{Dispersion, Formula, Train};
use super::estimator::{Estimator, MESSAGE_BYTES, Post, Progress};
use longfat_units::{Interval, Time};
use longfat_wire::{Content, Packet};

/// The kind of estimator.
#[derive(Clone, Copy, Debug)]
pub enum Method {
    Oracle,
    Dispersion(Train, Formula),
}

/// Asks the links themselves, with a probe that they fill in; the probe is also the response.
struct Oracle;

impl<P: Packet> Estimator<P> for Oracle {
    fn begin(&mut self, _: Time, post: &mut Post<P>) -> Progress {
        post.send(Content::Probe(Vec::new()), MESSAGE_BYTES);
        Progress::Done
    }
    fn gaps(&mut self, _: Time, _: u32, _: &[Interval], _: &mut Post<P>) -> Progress {
        Progress::Done
    }
    fn wake(&self) -> Time {
        Time::NEVER
    }
    fn timer(&mut self, _: Time, _: &mut Post<P>) -> Progress {
        Progress::Done
    }
}

impl Method {
    fn estimator<P: Packet>(self) -> Box<dyn Estimator<P>> {
        match self {
            Method::Oracle => Box::new(Oracle),
            Method::Dispersion(train, formula) => Box::new(Dispersion::new(train, formula)),
        }
    }
}

/// Estimates for one other router, one after the other.
pub struct Job<P> {
    estimator: Box<dyn Estimator<P>>,
    period: Interval,
    next: Time,
}

impl<P: Packet> Job<P> {
    /// The first estimate begins at the first call of [`Job::timer`].
    pub fn new(method: Method, period: Interval, now: Time) -> Self {
        Job { estimator: method.estimator(), period, next: now }
    }

    /// A train has arrived there.
    pub fn gaps(&mut self, now: Time, train: u32, gaps: &[Interval], post: &mut Post<P>) {
        let progress = self.estimator.gaps(now, train, gaps, post);
        self.went(now, progress, post);
    }

    /// When [`Job::timer`] wants to be called.
    pub fn wake(&self) -> Time {
        self.next.min(self.estimator.wake())
    }

    pub fn timer(&mut self, now: Time, post: &mut Post<P>) {
        if now >= self.next {
            self.next = Time::NEVER;
            let progress = self.estimator.begin(now, post);
            self.went(now, progress, post);
        } else if now >= self.estimator.wake() {
            let progress = self.estimator.timer(now, post);
            self.went(now, progress, post);
        }
    }

    fn went(&mut self, now: Time, progress: Progress, post: &mut Post<P>) {
        if let Progress::Known(spare_bps) = progress {
            post.send(Content::Available(spare_bps), MESSAGE_BYTES);
        }
        if progress != Progress::Going && self.next == Time::NEVER {
            self.next = now + self.period;
        }
    }
}
