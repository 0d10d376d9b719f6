//! The interface of an estimator of available bandwidth.

use crate::{Address, Sink};
use longfat_units::{Interval, Time};
use longfat_wire::{Content, Message, Packet};

/// Size of a message, bytes.
pub const MESSAGE_BYTES: u32 = 40;

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

/// The progress of an estimate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Progress {
    /// It is not finished.
    Going,
    /// It found nothing, or the result is on its way already.
    Done,
    /// This much is available, bit/s.
    Known(f64),
}

/// An estimator: a state machine that gets `now`, its own timer, and reports of how its packets arrived.
pub trait Estimator<P>: Send {
    /// Begins an estimate.
    fn begin(&mut self, now: Time, post: &mut Post<P>) -> Progress;
    /// A train of packets has arrived with these gaps.
    fn gaps(&mut self, now: Time, train: u32, gaps: &[Interval], post: &mut Post<P>) -> Progress;
    /// When [`Estimator::timer`] has to be called next.
    fn wake(&self) -> Time;
    /// The time that [`Estimator::wake`] returned has come.
    fn timer(&mut self, now: Time, post: &mut Post<P>) -> Progress;
}
