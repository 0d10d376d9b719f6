//! The sender and the receiver on a small path, checked against the RFCs: numbers in assertions come from the
//! RFCs or follow from them by counting.

#![allow(clippy::expect_used, reason = "a test may panic")]

mod ages;
mod explicit;
mod growth;
mod host;
mod marks;
mod model;
mod path;
mod quick_start;
mod rack;
mod recovery;
mod timeouts;
mod timestamps;
mod usage;
