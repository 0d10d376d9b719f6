//! A run that pauses.
//!
//! The driver is the one of a whole run. Its batches end at a pause, and the ends of lasting flows run no further
//! ahead than that, so a pause sees the state just before its own time, and the run goes on as if there had been
//! none.

use crate::drive::Drive;
use crate::results::outcome::{Outcome, RunError};
use crate::results::samples::{FlowSample, LinkSample};
use crate::run::state::Simulation;
use longfat_units::Time;

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
    pub fn new(run: Simulation) -> Self {
        Stepped { drive: Drive::of(&run), now: Time::ZERO, done: false, run }
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

    /// Goes on to `to`, or to the end if that comes first. A time that has passed changes nothing. After an error
    /// the run cannot go on.
    pub fn advance(&mut self, to: Time, wanted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        if self.done || to <= self.now {
            return Ok(());
        }
        let last = to >= self.run.end;
        let until = if last { self.run.after_end() } else { to };
        let lasting = self.run.plan.flows().len(); // others do not run ahead
        for flow in &mut self.run.flows[..lasting] {
            flow.sending.pause_at(until);
            flow.receiving.pause_at(if last { Time::NEVER } else { until });
        }
        self.drive.advance(&mut self.run, until, wanted)?;
        self.now = to.min(self.run.end);
        self.done = last;
        Ok(())
    }

    /// The flow of the plan at this index now, as a sample shows it.
    pub fn flow(&mut self, index: usize) -> FlowSample {
        FlowSample::of(&mut self.run.flows[index], self.now)
    }

    /// The link at this index now, as a sample shows it.
    pub fn link(&mut self, index: usize) -> LinkSample {
        LinkSample::of(&mut self.run.links[index], self.now)
    }

    /// Everything that the run returns, if it has ended.
    pub fn finish(self) -> Option<Outcome> {
        let events = self.drive.events();
        self.done.then(|| self.run.finish(events))
    }
}
