//! The queue disciplines against numbers in their papers and RFCs, with open-loop arrivals.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod blue;
mod books;
mod choke;
mod codel;
#[path = "../common/mod.rs"]
mod driver;
mod dualpi2;
mod fq_codel;
mod fq_pie;
mod pie;
mod red;
#[path = "../../../units/tests/registry/mod.rs"]
mod registry;
mod rows;
mod sfq;
mod source;
mod sred;
