//! The two drivers, which move a run through time and give the same results.

mod agenda;
mod arrivals;
pub mod batches;
pub mod events;
mod lanes;
mod left;
