//! Messages between network elements. A message travels in a packet of kind `Control`, over the links between
//! the two elements, like any other packet.

use longfat_units::Interval;

/// An addressable element: the router or queue of the link with this index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u32);

/// A message from one element to another.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// The element that sends it.
    pub from: Address,
    /// The element that it is for. Only that one acts on the message; others let it pass.
    pub to: Address,
    /// What it says.
    pub content: Content,
}

/// What a message says. An element lets a message pass that it does not know.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Content {
    /// Every link that the message crosses adds what it knows about itself, in order. No real network does
    /// that: it serves as an estimator without errors.
    Probe(Vec<Crossing>),
    /// Asks the receiver to estimate the bandwidth available from it to the sender, repeatedly (XCP-i: Lopez
    /// Pacheco 2008, section 4.4.3).
    Request,
    /// Confirms that a request has arrived.
    Accepted,
    /// Ends a request.
    Stop,
    /// The bandwidth available from the sender to the receiver, bit/s.
    Available(f64),
    /// One packet of a train, which shows what the path does to the gaps between packets.
    Train {
        /// The train's number.
        train: u32,
        /// The packet's number in it, from 0.
        index: u16,
        /// How many packets the train has.
        packets: u16,
    },
    /// How a train arrived.
    Gaps {
        /// The train's number.
        train: u32,
        /// Times between consecutive packets, where both arrived.
        gaps: Vec<Interval>,
    },
}

/// A link that a probe has reached.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Crossing {
    /// The link.
    pub link: Address,
    /// What the link can carry at this moment, bit/s.
    pub capacity_bps: f64,
    /// What has recently arrived at it, dropped or not, bit/s of IP.
    pub input_bps: f64,
}

impl Crossing {
    /// Returns the unused capacity, bit/s; negative if more arrives than the link can carry.
    pub fn spare_bps(&self) -> f64 {
        self.capacity_bps - self.input_bps
    }
}
