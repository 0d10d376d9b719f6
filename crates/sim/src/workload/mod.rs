//! Traffic that comes and goes: sources of connections. A kind is one file here: what a plan says of it, its checks,
//! and how it behaves.

mod bulk;
mod onoff;
mod short;
mod sizes;
mod surge;
mod web;

pub use bulk::BulkPlan;
pub use onoff::OnoffPlan;
pub use short::ShortPlan;
pub use sizes::FileSizes;
pub use surge::SurgePlan;
pub use web::WebPlan;

use crate::plan::{BackgroundPlan, ConnectionPlan, PlanError};
use longfat_units::{Interval, Stream, Time};

/// What a kind's plan is to the rest: a name, connections, checked numbers, and members that act on their own.
pub trait Workload {
    /// Its name in results.
    fn name(&self) -> &str;
    /// What its connections are like.
    fn connection(&self) -> &ConnectionPlan;
    /// How many members open connections independently of each other.
    fn members(&self) -> u64;
    /// IP bytes that it offers, whatever becomes of them: those of the transfers it opened, unless a kind knows better.
    fn offered_bytes(&self, of_transfers: u64, _packets_sent: u64) -> Option<u64> {
        Some(of_transfers)
    }
    /// Whether its numbers can be run; `at` is the place of the problem. The connections are checked elsewhere.
    fn check(&self, at: &str) -> Result<(), PlanError>;
    /// One member; `stream` makes its random streams by their names.
    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source>;
}

/// A member of a workload.
pub trait Source: Send {
    /// When it opens its first connection.
    fn first(&mut self) -> Time;
    /// It opens a connection now.
    fn open(&mut self, now: Time) -> Opened;
    /// The connection that it opened last is complete: when it opens the next, if it has waited for that.
    fn completed(&mut self, _now: Time) -> Option<Time> {
        None
    }
}

/// A connection that a source opens.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// Payload; endless if `None`.
    pub bytes: Option<u64>,
    /// When the source opens the one after it; [`Time::NEVER`] while it waits for this one to be complete.
    pub next_at: Time,
}

/// A source in a run.
pub struct Session {
    /// Index of the background source it belongs to.
    pub group: usize,
    /// Names its streams and those of its connections.
    pub name: String,
    /// When it opens its next connection.
    pub next_at: Time,
    /// Connections opened.
    pub opened: u64,
    /// It opens none from then on.
    stop: Time,
    source: Box<dyn Source>,
}

impl Session {
    /// Opens a connection; answers how many bytes it is to carry, endless if `None`.
    pub fn open(&mut self, now: Time) -> Option<u64> {
        let opened = self.source.open(now);
        self.next_at = self.unless_stopped(opened.next_at);
        self.opened += 1;
        opened.bytes
    }

    /// The connection opened last is complete. Answers whether the session has waited for that.
    pub fn completed(&mut self, now: Time) -> bool {
        let Some(at) = self.source.completed(now) else { return false };
        // later than now, so that the order of connections is one of times alone
        self.next_at = self.unless_stopped(at.max(now + Interval::from_ns(1)));
        true
    }

    fn unless_stopped(&self, at: Time) -> Time {
        if at < self.stop { at } else { Time::NEVER }
    }
}

/// The sessions of all background sources.
pub fn sessions(seed: u64, plans: &[BackgroundPlan]) -> Vec<Session> {
    let mut all = Vec::new();
    for (group, plan) in plans.iter().enumerate() {
        let workload = plan.workload();
        for i in 0..workload.members() {
            let name = format!("background/{}/{i}", workload.name());
            let mut source = workload.member(&|what| Stream::new(seed, &format!("{name}/{what}")));
            let (first, stop) = (source.first(), workload.connection().stop());
            let mut session = Session { group, next_at: first, opened: 0, stop, source, name };
            session.next_at = session.unless_stopped(first);
            all.push(session);
        }
    }
    all
}

/// A number of bytes that was drawn as a real one.
fn whole_bytes(drawn: f64) -> u64 {
    (drawn + 0.5).max(1.0) as u64
}

#[cfg(test)]
mod testing;
