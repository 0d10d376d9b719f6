//! What the watches of slow-start learn, and what they answer.

use longfat_units::{Interval, Time};

/// What one acknowledgement tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// When it arrived.
    pub now: Time,
    /// The round-trip time that it measured, if it did.
    pub rtt: Option<Interval>,
    /// Segments known to have reached the receiver so far.
    pub delivered: u64,
    /// The first segment not yet acknowledged.
    pub unacknowledged: u64,
    /// The next new segment to be sent.
    pub next_segment: u64,
}

/// The end of slow-start: the window shrinks by so many segments, and the threshold is what is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exit {
    /// Segments above the congestion point.
    pub overshoot: f64,
}
