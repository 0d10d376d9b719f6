//! Time, rates, sizes, seeded random streams and maths that gives the same bits on every machine.
//! Nothing here knows about networks beyond "a number of bytes takes so long at a rate".

pub mod math;
mod random;
mod rate;
mod time;

pub use random::{Distribution, Empirical, Strata, Stream, bounded_pareto_at};
pub use rate::{Bytes, Rate};
pub use time::{Interval, Time};
