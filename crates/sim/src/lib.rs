//! Runs a [`Plan`] in virtual time.

mod agenda;
mod engine;
mod figures;
mod flow;
mod link;
mod plan;
mod series;
mod workload;

pub use engine::{Outcome, RunError, Simulation};
pub use figures::{BackgroundFigures, FlowFigures, LinkFigures, Summary};
pub use plan::*;
pub use series::{EventRow, Series};
