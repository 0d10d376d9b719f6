//! Scenarios and plans.

pub mod plan;
mod routes;

pub use routes::{Hop, Routes};
