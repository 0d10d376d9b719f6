//! A connection in the simulator: its two ends, the hosts' own links, and the stretches of path that only it
//! uses.

mod connection;
mod ends;
mod host;
mod losses;
mod machines;
mod metrics;
mod receiving;
mod sending;
mod snapshots;

pub use connection::{Flow, Opening, Route, Transfer};
pub use ends::{Carrier, sender};
pub use losses::PathLosses;
pub use metrics::RouteMetrics;
pub use receiving::ReceiverSnapshot;
pub use sending::SenderSnapshot;
pub use snapshots::{SampleTimes, next_on_grid};
