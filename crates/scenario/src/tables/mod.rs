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
pub use link::{Bottleneck, Disturbed, Link, Node, access_bps};
pub use program::{Command, Program, Side};
pub use scenario::Scenario;
pub use transport::{
    Direction, HEADER_BYTES, Placed, SlowStart, TIMESTAMP_BYTES, Transport, decided_by_kernel, ignored_keys,
    marked, unlike,
};
