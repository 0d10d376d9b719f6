//! Runs a [`Plan`] in virtual time.

mod agenda;
mod figures;
mod flow;
mod link;
mod messages;
mod plain;
mod plan;
mod routes;
mod series;
mod simulation;
mod windows;
mod workload;

pub use figures::{
    BackgroundFigures, BackgroundMark, FlowFigures, LinkFigures, SampleMean, Summary, background_figures,
    link_figures, per_second, ratio,
};
pub use link::{LINK_COLUMNS, Link, LinkCounters, link_sample};
pub use messages::{MOST_NODES, MessageCounters};
pub use plan::*;
pub use routes::{Hop, Routes};
pub use series::{EventRow, Series};
pub use simulation::{FLOW_COLUMNS, Outcome, RunError, Simulation, TRANSFER_COLUMNS};
pub use workload::{Session, Workload, sessions};

/// Of the bytes that a plan gives. Counts up with every change that alters them, so that stored results of another
/// version are not taken for today's; `tests/results.rs` notices.
pub const RESULTS_VERSION: u32 = 2;
