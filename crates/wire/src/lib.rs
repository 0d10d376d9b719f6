//! What travels: the [`Packet`] trait that network elements see, the simulator's packet, real packets, and
//! explicit headers.

mod explicit;
mod message;
mod packet;
mod quick_start;
mod real_packet;
mod report;
mod sim_packet;
mod tcp_option;

pub use explicit::{Erica, Explicit, JetMax, Load, MaxNet, Ptp, PtpStamp, Rcp, Trail, Xcp};
pub use message::{Address, Content, Crossing, Message};
pub use packet::{Ecn, FlowId, Kind, Packet};
pub use quick_start::{Function, QuickStart, RateCode};
pub use real_packet::{Carrier, Conversation, Ports, RealPacket};
pub use report::{PtpReport, Report, UdtReport};
pub use sim_packet::{AccurateEcn, Division, EcnBytes, Extra, SackBlocks, SimPacket};
pub use tcp_option::{OPTION_BYTES, option as explicit_option};
