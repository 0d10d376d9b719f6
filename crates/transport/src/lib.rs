//! TCP, written once for all algorithms: handshake, sender, receiver, scoreboard, timers and pacing.
//! Transports over UDP have senders and receivers of their own. All of it is sans-I/O: the caller passes
//! `now` to every call, sends the packets that the call produces, and calls again at the time that `wake`
//! returns.
//!
//! The modules depend on each other in one direction only:
//!
//! ```text
//! lib                               names what the crate offers
//! udp::ends                         the list of the transports over UDP
//! udp                               the transports over UDP, one file each
//! udp::end                          what all of their ends share
//! udp::connection                   how their connections open, and their timers
//! sender                            TCP's sender
//! cc::controller                    the list of the algorithms
//! cc                                the algorithms, one file each
//! cc::round, reduction              round trips; how the window shrinks during recovery
//! cc::congestion_control            what an algorithm is
//! echoing                           the receiver of a connection with explicit headers
//! misbehaving                       a receiver that breaks the rules
//! codepoints                        which ECN codepoint each packet carries
//! receiver, scoreboard, rtt, ages,  parts that know no algorithm
//!   delivery, rack, feedback,
//!   slow_start, sender::request,
//!   udp::periods
//! cc::row, udp::row                 what a row of a registry is
//! packet_sizes                      packets without payload
//! ```

mod ages;
pub mod cc;
mod chunks;
mod codepoints;
mod delivery;
mod echoing;
mod feedback;
mod misbehaving;
mod packet_sizes;
mod rack;
mod receiver;
mod reduction;
mod rtt;
mod scoreboard;
mod sender;
mod slow_start;
pub mod udp;

pub use codepoints::{Capable, Carrier, Codepoints};
pub use echoing::{Echoing, Mirror};
pub use feedback::Feedback;
pub use misbehaving::Habits;
pub use receiver::{Receiver, ReceiverConfig};
pub use reduction::Recovery;
pub use rtt::{BackoffUntil, RtoConfig, RtoMinOf, RttEstimator, RttSamples};
pub use scoreboard::{DUP_THRESH, Scoreboard};
pub use sender::{
    FirstReduction, Happened, Outbox, QuickStartRequest, Segments, Sender, SenderConfig, SenderCounters,
    SenderView, Stage, Steer, TimeoutReductions, WIDEST_WINDOW, Watched,
};
pub use slow_start::SlowStartExit;
