//! What travels: the [`Packet`] trait that network elements see, the simulator's packet, real packets, and
//! explicit headers.

mod checksum;
mod explicit;
mod message;
mod offload;
mod packet;
mod quick_start;
mod real_packet;
mod report;
mod sim_packet;
mod tcp_option;
mod train;

pub use explicit::{Erica, Explicit, JetMax, Load, MaxNet, Ptp, PtpStamp, Rcp, Trail, Xcp};
pub use message::{Address, Content, Crossing, Message};
pub use offload::{Joined, Offload};
pub use packet::{Ecn, FlowId, Kind, Packet};
pub use quick_start::{Function, QuickStart, RateCode};
pub use real_packet::RealPacket;
pub use report::{PtpReport, Report, UdtReport};
pub use sim_packet::{AccurateEcn, Division, EcnBytes, Extra, SackBlocks, SimPacket};
pub use tcp_option::{OPTION_BYTES, option as explicit_option};
pub use train::{Carrier, Conversation, Ports};
