//! What a run returns: series of samples, the summary, metrics of series, and the version of results.

pub mod metrics;
pub mod outcome;
pub mod samples;
pub mod series;
pub mod summary;
pub mod version;
