//! The tables of a scenario. Each key is defined here and nowhere else.

mod background;
mod flow;
mod link;
mod program;
mod scenario;
mod transport;

pub use background::{
    BACKGROUND, Background, Bulk, Connections, Direction, FILES, GREATEST_SHARE, Kind, Load, Onoff, Rates,
    Short, Surge, Web,
};
pub use flow::{Flow, Placed, Sample};
pub use link::{Bottleneck, Disturbed, Link, Node, Remark, access_bps};
pub use program::{Command, Program, Side};
pub use scenario::{Scenario, twice};
pub use transport::{
    FirstReduction, HEADER_BYTES, Recovery, RttSamples, SlowStart, TIMESTAMP_BYTES, TimeoutReductions,
    Transport, decided_by_kernel, ignored_keys, marked, unlike,
};
