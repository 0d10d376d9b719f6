//! The algorithms in this machine's kernel: they load, carry flows whose cwnd moves like that of the Rust
//! algorithms, and disappear with their owner. Each test is skipped, with the reason, where it cannot run.
#![cfg(feature = "loader")]
#![allow(clippy::expect_used, reason = "a test may panic")]

mod flows;
mod machine;
mod registration;
#[path = "../skip/mod.rs"]
mod skip;
