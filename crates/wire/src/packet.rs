//! What network elements see of a packet.

use crate::explicit::{Explicit, Trail};
use crate::message::Message;

/// The flow that a packet belongs to: an index that stays the same for the life of the flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The id of packets that belong to no flow: messages between elements.
    pub const NONE: FlowId = FlowId(u32::MAX);
}

/// The purpose of a packet. Data, connection requests, acknowledgements of acknowledgements and queries
/// travel from sender to receiver, the others back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Payload.
    #[default]
    Data,
    /// A pure acknowledgement.
    Ack,
    /// A connection request.
    Syn,
    /// The answer to a connection request.
    SynAck,
    /// Tells the receiver of a transport over UDP that its report has arrived (UDT's ACK2), or carries
    /// another message of its sender.
    AckAck,
    /// Sent by one network element to another (XCP-i requests, probes).
    Control,
    /// Asks the routers on the path about themselves (PTP).
    Query,
}

impl Kind {
    /// Whether it travels from the flow's sender to its receiver.
    #[inline]
    pub const fn is_forward(self) -> bool {
        matches!(self, Kind::Data | Kind::Syn | Kind::AckAck | Kind::Control | Kind::Query)
    }
}

/// The ECN field of the IP header (RFC 3168, RFC 9331).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// The transport does not understand marks, so congestion must drop.
    #[default]
    NotCapable,
    /// ECT(0): the transport understands marks and reacts to one as to a loss.
    Capable,
    /// ECT(1): the transport understands frequent marks; the identifier of L4S (RFC 9331).
    Ect1,
    /// Congestion was experienced.
    Marked,
}

/// What a network element may know of a packet, simulated or real.
pub trait Packet: 'static {
    /// Returns the IP length in bytes.
    fn bytes(&self) -> u32;
    /// Returns the flow that the packet belongs to.
    fn flow(&self) -> FlowId;
    /// Returns its purpose.
    fn kind(&self) -> Kind;
    /// Returns its ECN field.
    fn ecn(&self) -> Ecn;
    /// Sets its ECN field.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Returns its IP time-to-live; 0 where that is not known.
    fn ttl(&self) -> u8 {
        0
    }
    /// Sets its IP time-to-live, where that is known.
    fn set_ttl(&mut self, _ttl: u8) {}
    /// Returns its explicit congestion header, if it carries one.
    fn explicit(&self) -> Option<&Explicit> {
        None
    }
    /// Returns the same for changes on the way.
    fn explicit_mut(&mut self) -> Option<&mut Explicit> {
        None
    }
    /// Returns what accompanies that header for routers that count their own kind.
    fn trail(&self) -> Option<&Trail> {
        None
    }
    /// Returns the same for changes on the way.
    fn trail_mut(&mut self) -> Option<&mut Trail> {
        None
    }
    /// Makes a packet of kind [`Kind::Control`] and this IP length in bytes that carries a message.
    fn control(message: Message, bytes: u32) -> Self
    where
        Self: Sized;
    /// Returns the message that the packet carries, if any.
    fn message(&self) -> Option<&Message> {
        None
    }
    /// Returns the same for changes on the way.
    fn message_mut(&mut self) -> Option<&mut Message> {
        None
    }
}
