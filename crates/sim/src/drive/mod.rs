//! The two drivers, which move a run through time and give the same results.

mod agenda;
pub mod batches;
pub mod events;
