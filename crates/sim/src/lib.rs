//! Runs a [`Plan`] in virtual time.

mod agenda;
mod figures;
mod flow;
mod link;
mod plain;
mod plan;
mod series;
mod simulation;
mod windows;
mod workload;

pub use figures::{BackgroundFigures, FlowFigures, LinkFigures, Summary};
pub use plan::*;
pub use series::{EventRow, Series};
pub use simulation::{Outcome, RunError, Simulation};
