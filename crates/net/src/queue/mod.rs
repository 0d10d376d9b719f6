//! Queue disciplines: one file each, one line each in [`list`].
//!
//! `row` says what a discipline is; the disciplines use it and never the list.

mod average;
mod fifo;
mod law;
mod limit;
mod list;
mod row;
mod turns;

mod blue;
mod choke;
mod codel;
mod droptail;
mod dualpi2;
mod fq_codel;
mod fq_pie;
mod pie;
mod red;
mod sfq;
mod sred;

pub use law::Law;
pub use limit::Limit;
pub use list::*;
pub use red::Law as RedLaw;
pub use row::{Boxed, Discipline, LawKind, Setup};
