//! What travels: the [`Packet`] trait that network elements see, the simulator's packet, and explicit headers.

mod explicit;
mod message;
mod quick_start;
mod real_packet;
mod report;
mod sim_packet;

pub use explicit::{Explicit, JetMax, Load, Trail, Xcp};
pub use message::{Address, Content, Crossing, Message};
pub use quick_start::{Function, QuickStart, RateCode};
pub use real_packet::{Carrier, Ports, RealPacket};
pub use report::{Report, UdtReport};
pub use sim_packet::{Extra, SackBlocks, SimPacket};

/// Which flow a packet belongs to: an index that is stable for the life of the flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

impl FlowId {
    /// The flow of packets that belong to no flow: messages between elements.
    pub const NONE: FlowId = FlowId(u32::MAX);
}

/// The purpose of a packet. Data, connection requests and what acknowledges acknowledgements travel from sender to
/// receiver, the others back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Payload.
    #[default]
    Data,
    /// A pure acknowledgement.
    Ack,
    /// Connection request.
    Syn,
    /// Answer to a connection request.
    SynAck,
    /// Tells the receiver that its acknowledgement has arrived (UDT's ACK2).
    AckAck,
    /// Sent by a network element to another one (XCP-i requests, probes).
    Control,
}

impl Kind {
    /// Whether it travels from the flow's sender to its receiver.
    #[inline]
    pub const fn is_forward(self) -> bool {
        matches!(self, Kind::Data | Kind::Syn | Kind::AckAck | Kind::Control)
    }
}

/// The ECN field of the IP header (RFC 3168; ECT(1) is not distinguished).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// The transport does not understand marks: congestion must drop.
    #[default]
    NotCapable,
    /// The transport understands marks.
    Capable,
    /// Congestion was experienced.
    Marked,
}

/// The properties of a packet, simulated or real, that a network element may use.
pub trait Packet {
    /// IP length in bytes.
    fn bytes(&self) -> u32;
    /// The flow it belongs to.
    fn flow(&self) -> FlowId;
    /// Its purpose.
    fn kind(&self) -> Kind;
    /// Its ECN field.
    fn ecn(&self) -> Ecn;
    /// Sets its ECN field.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Its IP time-to-live.
    fn ttl(&self) -> u8;
    /// Sets its IP time-to-live.
    fn set_ttl(&mut self, ttl: u8);
    /// Its explicit congestion header, if it carries one.
    fn explicit(&self) -> Option<&Explicit>;
    /// The same, to be changed on the way.
    fn explicit_mut(&mut self) -> Option<&mut Explicit>;
    /// What stands beside that header for routers that count their own kind.
    fn trail(&self) -> Option<&Trail>;
    /// The same, to be changed on the way.
    fn trail_mut(&mut self) -> Option<&mut Trail>;
    /// A packet of kind [`Kind::Control`] and so many bytes of IP that carries this message.
    fn control(message: Message, bytes: u32) -> Self
    where
        Self: Sized;
    /// The message that it carries, if it is one.
    fn message(&self) -> Option<&Message>;
    /// The same, to be written into on the way.
    fn message_mut(&mut self) -> Option<&mut Message>;
}
