//! The simulator's CUBIC behind the kernel's functions.

use longfat_transport::cc::cubic::Cubic;
use longfat_transport::cc::{Ack, Congestion, Window};

/// It, and what it has to be told.
#[derive(Default)]
pub(crate) struct Native {
    pub cubic: Option<Box<Cubic>>,
    /// Its window, with the fraction of a segment.
    pub window: Option<Window>,
    /// The acknowledgement that is being handled.
    pub ack: Option<Ack>,
    /// The congestion event that is being handled.
    pub event: Option<Congestion>,
}

impl Native {
    /// Whether it wants to be told of acknowledgements and events.
    pub const fn is_used(&self) -> bool {
        self.cubic.is_some()
    }
}
