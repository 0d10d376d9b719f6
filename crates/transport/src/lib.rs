//! TCP, written once for all algorithms: handshake, sender, receiver, scoreboard, timers, pacing; and transports over
//! UDP with ends of their own. Sans-I/O: every
//! call is handed `now`, and answers what it wants sent and when it wants to be woken.

mod ages;
pub mod cc;
mod echoing;
mod receiver;
mod reduction;
mod rtt;
mod scoreboard;
mod sender;
pub mod udp;

pub use echoing::{Echoing, Mirror};
pub use receiver::{Receiver, ReceiverConfig};
pub use reduction::Reduction;
pub use rtt::{RttEstimator, RttSamples};
pub use scoreboard::{DUP_THRESH, Scoreboard};
pub use sender::{Happened, QuickStartRequest, Sender, SenderConfig, SenderCounters};
