//! How the first slow-start of a connection may end before a loss, for any algorithm: [`hystart_plus`] (RFC
//! 9406) or [`search`] (draft-chung-ccwg-search). CUBIC's own HyStart is in `cc/cubic/hystart.rs`.

mod hystart_plus;
mod progress;
mod search;

use hystart_plus::HystartPlus;
pub(crate) use progress::{Exit, Progress};
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
