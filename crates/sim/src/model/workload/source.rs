//! What each kind of traffic does.

use longfat_scenario::plan::CheckedConnection;
use longfat_units::{Stream, Time};

/// A kind of traffic with its numbers: members that act independently of each other.
pub trait Workload {
    /// How many members there are.
    fn members(&self) -> u64;
    /// Makes one member; `stream` makes its random streams by their names.
    fn member(&self, stream: &dyn Fn(&str) -> Stream) -> Box<dyn Source>;
    /// IP bytes offered to the network, delivered or not; `None` for as much as possible. By default
    /// these are the bytes of the transfers that were opened.
    fn offered_bytes(
        &self,
        of_transfers: u64,
        _packets_sent: u64,
        _connection: &CheckedConnection,
    ) -> Option<u64> {
        Some(of_transfers)
    }
}

/// A member of a workload.
pub trait Source: Send {
    /// When it opens its first connection.
    fn first(&mut self) -> Time;
    /// Opens a connection now.
    fn open(&mut self, now: Time) -> Opened;
    /// The connection that it opened last is complete. Returns when it opens the next one, if it has waited
    /// for that.
    fn completed(&mut self, _now: Time) -> Option<Time> {
        None
    }
}

/// A connection that a source opens.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// Payload, bytes; endless if `None`.
    pub bytes: Option<u64>,
    /// When the source opens the next one; [`Time::NEVER`] while it waits for this one to complete.
    pub next_at: Time,
}

/// Rounds a drawn number of bytes to a whole number, at least 1.
pub fn whole_bytes(drawn: f64) -> u64 {
    (drawn + 0.5).max(1.0) as u64
}
