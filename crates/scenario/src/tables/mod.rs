//! The tables of a scenario. Each key is defined here and nowhere else.

mod background;
mod flow;
mod link;
mod program;
mod scenario;
mod transport;

pub use background::{
    BACKGROUND, Background, Bulk, Connections, FILES, GREATEST_SHARE, Load, Onoff, Rates, Short, Surge, Web,
};
pub use flow::{Flow, Sample};
pub use link::{Bottleneck, Disturbed, Link, Node, Remark, access_bps};
pub use program::{Command, Program, Side};
pub use scenario::Scenario;
pub use transport::{
    Direction, FirstReduction, HEADER_BYTES, Placed, Recovery, RttSamples, SlowStart, TIMESTAMP_BYTES,
    TimeoutReductions, Transport, decided_by_kernel, ignored_keys, marked, unlike,
};
