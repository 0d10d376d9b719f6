//! The order of connections.

/// Where a connection stands among those to which something happens at the same time. It depends on names and
/// numbers of the plan only: the flows by their names come first, then the connections of background traffic
/// by the names of the backgrounds, their sessions, and the order in which each session opens them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Order(u64);

/// Below the bit that sets background traffic apart: there are far fewer sessions.
const SESSIONS: u64 = (1 << 31) - 1;

impl Order {
    /// The flow whose name has this rank among those of the plan's flows.
    pub const fn of_flow(rank: u32) -> Self {
        Order(rank as u64)
    }

    /// The connection with this number of a session, by the session's number.
    pub const fn of_connection(session: u32, number: u64) -> Self {
        Order(1 << 63 | (session as u64 & SESSIONS) << 32 | number & u32::MAX as u64)
    }
}
