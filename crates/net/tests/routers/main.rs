//! The explicit-rate routers against worked numbers and what has to hold of any traffic.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod driver;
mod quickstart;
mod rows;
mod vcp;
mod xcp;
