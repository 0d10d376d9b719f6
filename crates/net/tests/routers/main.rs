//! The explicit-rate routers against numbers worked by hand and properties that hold for any traffic.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod dqw;
#[path = "../common/mod.rs"]
mod driver;
mod erica;
mod flows;
mod friendly;
mod jetmax;
mod maxnet;
mod quickstart;
mod rcp;
#[path = "../../../units/tests/registry/mod.rs"]
mod registry;
mod rows;
mod setup;
#[path = "../queues/source.rs"]
mod source;
mod vcp;
mod xcp;
mod xcp_i;
mod xcp_i_probing;
