//! Everything that a run returns.

use super::samples::{EventRow, FlowSample, Internals, LinkSample, TransferSample};
use super::series::Series;
use super::summary::Summary;
use longfat_scenario::plan::PlanError;
use thiserror::Error;

/// Everything that a run returns.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Summary of the measured span.
    pub summary: Summary,
    /// Samples of each flow, by name.
    pub flows: Vec<(String, Series<FlowSample>)>,
    /// Samples of each link, by name.
    pub links: Vec<(String, Series<LinkSample>)>,
    /// What the flows' algorithms knew of themselves, by name; empty if the plan does not ask for it. Those
    /// of users are asked in any case.
    pub internals: Vec<(String, Internals)>,
    /// Background connections that are complete.
    pub transfers: Series<TransferSample>,
    /// The event log in order of time; empty if the plan does not ask for it.
    pub events: Vec<EventRow>,
    /// How many events the driver handled, which says something about speed and nothing about results.
    pub events_handled: u64,
    /// The driver: `batches`; `events`, the oracle; or `live`.
    pub driver: &'static str,
    /// How each link, in the order of the plan, gets its packets to the wire; none of a live run.
    pub servers: Vec<&'static str>,
}

/// Why a run ended early.
#[derive(Debug, Error)]
pub enum RunError {
    /// The plan cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A user's own algorithm failed.
    #[error("the algorithm of flow {flow:?} failed: {reason}")]
    Algorithm {
        /// The flow's name.
        flow: String,
        /// The exception that it raised, or the invalid window that it left.
        reason: String,
    },
    /// The caller stopped the run.
    #[error("interrupted")]
    Interrupted,
}
