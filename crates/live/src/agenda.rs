//! What the hosts have to do at which time.

use crate::connection::Owner;
use longfat_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something to do at a time. What is due at the same time is done in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Act {
    /// Take a row of every flow's series.
    Sample,
    /// Begin the measured span.
    Begin,
    /// End the measured span.
    End,
    /// Look at what loss recovery is doing.
    Look,
    /// Start a flow.
    Start(usize),
    /// Stop a flow, or an endless background connection.
    Stop(Owner),
    /// Open a session's next connection.
    Open(usize),
    /// Run the timer of a source of datagrams.
    Datagrams(usize),
    /// Start a program.
    StartProgram(usize),
    /// Ask a program to end.
    StopProgram(usize),
}

/// Everything that is to be done, earliest first.
#[derive(Default)]
pub struct Agenda {
    entries: BinaryHeap<Reverse<(Time, Act)>>,
}

impl Agenda {
    /// Plans an act. One at [`Time::NEVER`] is left out.
    pub fn put(&mut self, at: Time, act: Act) {
        if at != Time::NEVER {
            self.entries.push(Reverse((at, act)));
        }
    }

    /// Returns when something is to be done next.
    pub fn next(&self) -> Time {
        self.entries.peek().map_or(Time::NEVER, |&Reverse((at, _))| at)
    }

    /// Takes the next act off the agenda if it is due at `now` or before.
    pub fn take_due(&mut self, now: Time) -> Option<(Time, Act)> {
        if self.next() > now {
            return None;
        }
        self.entries.pop().map(|Reverse(entry)| entry)
    }
}
