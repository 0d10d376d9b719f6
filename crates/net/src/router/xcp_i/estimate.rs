//! How a router finds out what is available from it to another one.

use super::MESSAGE_BYTES;
use super::dispersion::{Dispersion, Formula, Train};
use crate::{Address, Sink};
use longfat_units::{Interval, Time};
use longfat_wire::{Content, Message, Packet};

/// Messages from one router to another.
pub struct Post<'a, P> {
    pub from: Address,
    pub to: Address,
    pub out: &'a mut dyn Sink<P>,
}

impl<P: Packet> Post<'_, P> {
    pub fn send(&mut self, content: Content, bytes: u32) {
        let message = Message { from: self.from, to: self.to, content };
        self.out.originate(P::control(message, bytes), self.to);
    }
}

/// What became of an estimate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Progress {
    /// It is not finished.
    Going,
    /// It found no answer, or the answer is on its way already.
    Done,
    /// So much is available, bit/s.
    Known(f64),
}

/// An estimator: a machine that is handed `now`, its own timer, and reports of how its packets arrived.
pub trait Estimator<P>: Send {
    fn begin(&mut self, now: Time, post: &mut Post<P>) -> Progress;
    /// A train of packets has arrived with these gaps.
    fn gaps(&mut self, now: Time, train: u32, gaps: &[Interval], post: &mut Post<P>) -> Progress;
    /// When [`Estimator::timer`] wants to be called.
    fn wake(&self) -> Time;
    fn timer(&mut self, now: Time, post: &mut Post<P>) -> Progress;
}

/// The kind of estimator.
#[derive(Clone, Copy, Debug)]
pub enum Method {
    Oracle,
    Dispersion(Train, Formula),
}

/// Asks the links themselves, by a probe that they write into; it is the answer as well.
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
