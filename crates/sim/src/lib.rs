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

pub use figures::{BackgroundFigures, FlowFigures, LinkFigures, Summary};
pub use messages::{MOST_NODES, MessageCounters};
pub use plan::*;
pub use routes::{Hop, Routes};
pub use series::{EventRow, Series};
pub use simulation::{Outcome, RunError, Simulation};

/// Of the bytes that a plan gives. Counts up with every change that alters them, so that stored results of another
/// version are not taken for today's; `tests/results.rs` notices.
pub const RESULTS_VERSION: u32 = 1;
