//! A run that pauses.
//!
//! The driver is the one of a whole run. Its batches end at a pause, and the ends of the plan's flows run no
//! further ahead than that, so a pause sees the state just before its own time, and the run goes on as if
//! there had been none.

use crate::drive::Drive;
use crate::model::link::RateError;
use crate::results::outcome::{Outcome, RunError};
use crate::results::samples::{FlowSample, LinkSample};
use crate::run::state::Simulation;
use longfat_transport::{Sender, Steer, Watched};
use longfat_units::{Rate, Time};

/// A run that pauses at times of the caller's choice.
pub struct Stepped {
    run: Simulation,
    drive: Drive,
    now: Time,
    /// Everything has been handled, also what happens at the run's very end.
    done: bool,
}

impl Stepped {
    /// A run that has not begun.
    pub fn new(mut run: Simulation) -> Self {
        Stepped { drive: Drive::of(&mut run), now: Time::ZERO, done: false, run }
    }

    /// The time at which the run pauses; nothing has happened at this time yet, except at the end.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// When the run ends.
    pub const fn end(&self) -> Time {
        self.run.end
    }

    /// Whether the run has ended.
    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// Goes on to `to`, or to the end if that comes first. A time that has passed changes nothing. After an
    /// error the run cannot go on.
    pub fn advance(&mut self, to: Time, wanted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        if self.done || to <= self.now {
            return Ok(());
        }
        let last = to >= self.run.end;
        let until = if last { self.run.after_end() } else { to };
        self.drive.pause_at(&mut self.run, until)?;
        self.drive.advance(&mut self.run, until, wanted)?;
        self.now = to.min(self.run.end);
        self.done = last;
        if last {
            for link in &mut self.run.links {
                link.settle(until); // what begins at the very end counts, wherever departures are computed
            }
        }
        Ok(())
    }

    /// The flow of the plan at this index now, as a sample shows it.
    pub fn flow(&self, index: usize) -> FlowSample {
        FlowSample::present(&self.run.flows[index], self.now)
    }

    /// The link at this index now, as a sample shows it.
    pub fn link(&mut self, index: usize) -> LinkSample {
        LinkSample::of(&mut self.run.links[index], self.now)
    }

    /// Whether the flow at this index is steered and watched like TCP.
    pub fn is_tcp(&mut self, index: usize) -> bool {
        self.run.flows[index].sending.sender.tcp().is_some()
    }

    /// Steers the flow at this index, or leaves it to its algorithm again if `steer` is `None`. It sends at
    /// once what it may send. Returns false over UDP, where there is nothing to steer, and if a value is not
    /// finite.
    pub fn steer(&mut self, index: usize, steer: Option<Steer>) -> bool {
        let steered = !self.done && self.run.flows[index].sending.steer(self.now, steer);
        self.drive.look_at(&self.run, index);
        steered
    }

    /// From now on [`Stepped::look`] tells what happens at the sender of this flow. Returns false over UDP.
    pub fn watch(&mut self, index: usize) -> bool {
        self.run.flows[index].sending.sender.tcp().map(Sender::watch).is_some()
    }

    /// What the sender of this flow has seen since the last look; `None` over UDP.
    pub fn look(&mut self, index: usize) -> Option<Watched> {
        self.run.flows[index].sending.sender.tcp().map(Sender::look)
    }

    /// Sets the rate of the link at this index from now on. A packet whose transmission has begun leaves as
    /// planned before.
    pub fn set_rate(&mut self, index: usize, rate: Rate) -> Result<(), RateError> {
        self.run.links[index].set_rate(self.now, rate)?;
        self.drive.look_at_link(&self.run, index);
        Ok(())
    }

    /// Packets whose transmission has begun on any link so far.
    pub fn packets(&mut self) -> u64 {
        let now = self.now;
        self.run.links.iter_mut().map(|link| link.settle(now).1.packets_out).sum()
    }

    /// Everything that the run returns, if it has ended.
    pub fn finish(self) -> Option<Outcome> {
        let driver = self.drive.description();
        self.done.then(|| self.run.finish(driver))
    }
}
