//! What network elements say to each other. A message travels in a packet of kind [`crate::Kind::Control`], over the
//! links between the two elements, as any other packet does.

use longfat_units::Interval;

/// An addressable element: the router or queue of the link with this index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u32);

/// A message from one element to another.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// The element that sends it.
    pub from: Address,
    /// The element to which it is addressed. Only this element acts on it; others pass it on.
    pub to: Address,
    /// Its content.
    pub content: Content,
}

/// The content of a message. An element passes on content that it does not know.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Content {
    /// Whatever it crosses writes down what it knows of itself, in order. No real network does that: it is how an
    /// estimator that makes no errors looks at a path.
    Probe(Vec<Crossing>),
    /// Estimate what is available from you to me, again and again (XCP-i: Lopez Pacheco 2008, section 4.4.3).
    Request,
    /// Your request has arrived.
    Accepted,
    /// Do it no longer.
    Stop,
    /// So much is available from me to you, bit/s.
    Available(f64),
    /// One packet of a train: a look at what the path does to the gaps between them.
    Train {
        /// The train's number.
        train: u32,
        /// The packet's number in it, from 0.
        index: u16,
        /// How many the train has.
        packets: u16,
    },
    /// How a train arrived.
    Gaps {
        /// The train's number.
        train: u32,
        /// Times between packets that follow each other, where both arrived.
        gaps: Vec<Interval>,
    },
}

/// A link that a probe has come to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Crossing {
    /// The link.
    pub link: Address,
    /// Its capacity at this moment, bit/s.
    pub capacity_bps: f64,
    /// What has lately come to it, dropped or not, bit/s of IP.
    pub input_bps: f64,
}

impl Crossing {
    /// Its spare capacity, bit/s; negative if its input exceeds its capacity.
    pub fn spare_bps(&self) -> f64 {
        self.capacity_bps - self.input_bps
    }
}
