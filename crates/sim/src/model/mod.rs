//! The parts of a run: links, flows, sources of background traffic, and routes between nodes.

pub mod flow;
pub mod link;
pub mod order;
pub mod workload;
