//! Time, rates, sizes, seeded random streams, parameters, and maths that gives the same bits on every
//! machine. All it knows about networks is how long a number of bytes takes at a rate.

pub mod cache;
pub mod math;
pub mod parameters;
mod random;
mod rate;
pub mod registry;
mod time;

pub use random::{Distribution, Empirical, Name, Strata, Stream, bounded_pareto_at};
pub use rate::{Bytes, Rate};
pub use registry::{Entry, Style};
pub use time::{Interval, Time};
