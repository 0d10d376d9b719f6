//! What a sender counts, and what it notes for the event log.

/// Counters of one sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Congestion events reported to the algorithm.
    pub congestion_events: u64,
    /// Timeouts found spurious and undone (RFC 3522, RFC 4015).
    pub undone: u64,
}

/// An event for the event log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The connection is open.
    Connected,
    /// The path has approved a rate, which sets the window (RFC 4782).
    QuickStart,
    /// The path refused the requested rate, or approved one that is too low to help.
    QuickStartRefused,
    /// Loss found, recovery begins.
    Loss,
    /// A mark was echoed.
    Mark,
    /// The retransmission timer expired.
    Timeout,
    /// Recovery ended.
    Recovered,
    /// A timeout was spurious.
    Undone,
    /// Everything was acknowledged.
    Done,
}
