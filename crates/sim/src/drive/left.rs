//! What has left a link in a batch.

use longfat_units::Time;
use longfat_wire::SimPacket;

/// What has left a link in a batch, besides what its flows' ends have taken.
#[derive(Default)]
pub struct Left {
    /// The flows of the packets that are on the way to one of their ends.
    pub(super) flows: Vec<usize>,
    /// Whether each flow is among them.
    pub(super) noted: Vec<bool>,
    /// Packets that have further links to cross, with the time of their last bit.
    pub(super) onward: Vec<(SimPacket, Time)>,
}

impl Left {
    #[inline]
    pub(super) fn note(&mut self, flow: usize) {
        if let Some(noted) = self.noted.get_mut(flow)
            && !*noted
        {
            *noted = true;
            self.flows.push(flow);
        }
    }
}
