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
mod version;
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
pub use version::{RESULTS_VERSION, results_version};
pub use workload::{Session, Workload, sessions};
