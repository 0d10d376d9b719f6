//! How the first slow-start of a connection may end before a loss, for any algorithm: [`hystart_plus`] (RFC 9406) or
//! [`search`] (draft-chung-ccwg-search). CUBIC's own HyStart is in `cc/cubic/hystart.rs`.

mod hystart_plus;
mod search;

use hystart_plus::HystartPlus;
use longfat_units::{Interval, Time};
use search::Search;

/// What ends the first slow-start, besides a loss, a mark and the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SlowStartExit {
    /// Nothing.
    #[default]
    None,
    /// A rise of the delay, after some rounds of slower growth (HyStart++).
    HystartPlus,
    /// Deliveries that no longer double each round trip (SEARCH).
    Search,
}

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

/// Watches the first slow-start.
#[derive(Clone, Debug)]
pub(crate) enum Watch {
    HystartPlus(HystartPlus),
    Search(Search),
}

impl Watch {
    /// `None` if nothing has to be watched.
    pub fn new(how: SlowStartExit) -> Option<Self> {
        match how {
            SlowStartExit::None => None,
            SlowStartExit::HystartPlus => Some(Watch::HystartPlus(HystartPlus::default())),
            SlowStartExit::Search => Some(Watch::Search(Search::default())),
        }
    }

    /// The share of standard slow-start's growth that the window has now.
    pub fn growth(&self) -> f64 {
        match self {
            Watch::HystartPlus(h) => h.growth(),
            Watch::Search(_) => 1.0,
        }
    }

    /// Looks at an acknowledgement in slow-start. Returns whether slow-start has to end.
    pub fn look(&mut self, progress: &Progress) -> Option<Exit> {
        match self {
            Watch::HystartPlus(h) => h.look(progress).then_some(Exit { overshoot: 0.0 }),
            Watch::Search(s) => s.look(progress),
        }
    }
}
