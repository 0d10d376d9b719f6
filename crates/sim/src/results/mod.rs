//! What a run returns: series of samples, the summary, and the version of results.

pub mod outcome;
pub mod samples;
pub mod series;
pub mod summary;
pub mod version;
