//! TCP, written once for all algorithms: handshake, sender, receiver, scoreboard, timers and pacing.
//! Transports over UDP have senders and receivers of their own. All of it is sans-I/O: the caller passes
//! `now` to every call, sends the packets that the call produces, and calls again at the time that `wake`
//! returns.

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
pub use reduction::Recovery;
pub use rtt::{RttEstimator, RttSamples};
pub use scoreboard::{DUP_THRESH, Scoreboard};
pub use sender::{Happened, QuickStartRequest, Sender, SenderConfig, SenderCounters};
