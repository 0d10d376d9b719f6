//! Runs a [`Plan`] in virtual time.
//!
//! [`Plan::check`] makes a [`CheckedPlan`] of it, [`Simulation::new`] a run of that, and [`Simulation::run`]
//! moves the run to its end. The modules depend on each other in one direction only:
//!
//! ```text
//! lib, steps   run to the end, or step by step, with the driver that suits the plan
//! drive        batches (the fast driver), cross, wakes, events (the oracle), tap, agenda
//! run          the state of a run: forwarding, background connections, messages, lookahead, sampling
//! results      series and samples, summary, metrics of series, outcome, version
//! model        links, flows, workloads, routes
//! plan         all types of plans and all checks; imports nothing else of this crate
//! ```
//!
//! Some words have one meaning throughout the crate:
//!
//! | word | meaning |
//! |---|---|
//! | window | the congestion window of a flow; the plan's `window_s` is the *measured span* |
//! | measured span | the part of a run that the summary covers |
//! | lookahead | the shortest time in which anything that leaves a link can reach a host or another link |
//! | batch | the span that the fast driver handles at a time: of a link in its turn, or of all links in step |
//! | oracle | the driver that handles one event at a time, against which tests compare the fast driver |
//! | server | what decides when packets leave a link, at arrival or by asking its queue for packets |
//! | handle | what stands for a packet at links of the fast driver; the packet stays in its ring |
//! | loan | a handle with what the packet carries besides the usual, for a router |
//! | straight | of a packet: it has no further link before it, and overtakes no other of its end |
//! | summary | the numbers of the measured span; a figure is a drawing, or one in a paper |
//! | index | the position of a flow, link or session in its list |
//! | slot | the position of a source of events in the agenda |
//! | key | the place of a value in a plan, such as `links[0].rate_bps` |
//! | reduction | how the window shrinks after a loss, the plan's key `recovery` |
//! | recovery | how a sender finds and repairs losses |

mod drive;
mod model;

mod results;
mod run;
mod steps;
#[cfg(test)]
mod tests;

pub use drive::tap::Tap;
pub use model::flow::{PathLosses, sender};
pub use model::link::{Link, LinkCounters, RateError};

pub use longfat_scenario::plan::*;
pub use longfat_scenario::{Hop, Routes};
pub use model::workload::{Session, sessions};
pub use results::metrics::{Counter, sum, variation};
pub use results::outcome::{Outcome, RunError};
pub use results::samples::{EventRow, FlowSample, LinkSample, TransferSample};
pub use results::series::{Sample, Series};
pub use results::summary::{
    BackgroundCounters, BackgroundSummary, FlowCounters, FlowFacts, FlowSummary, LinkSummary,
    MessageCounters, SampleMean, Summary, background_summary, flow_summary, link_summary,
};
pub use results::version::{RESULTS_VERSION, results_version};
pub use run::messages::{Messages, PROCESSING};
pub use run::state::{Rates, Simulation};
pub use steps::Stepped;

impl Simulation {
    /// Runs to the end, with the driver that suits the plan. Calls `wanted` now and then and stops with
    /// [`RunError::Interrupted`] if that returns false.
    pub fn run(mut self, wanted: &mut dyn FnMut() -> bool) -> Result<Outcome, RunError> {
        let mut drive = drive::Drive::of(&mut self);
        let end = self.after_end();
        drive.advance(&mut self, end, wanted)?;
        Ok(self.finish(drive.description()))
    }

    /// As [`Simulation::run`], and tells `tap` of every packet. That takes the oracle; the results are the
    /// same.
    pub fn run_tapped(
        mut self,
        tap: &mut dyn Tap,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Outcome, RunError> {
        for (i, flow) in self.plan.flows.iter().enumerate() {
            tap.opens(self.flows[i].began, i, &flow.name, &flow.connection);
        }
        self.build_queues(false);
        let mut oracle = drive::events::DriverState::new(&self);
        let end = self.after_end();
        drive::events::drive(&mut self, &mut oracle, end, wanted, Some(tap))?;
        Ok(self.finish(("events", oracle.events)))
    }
}
