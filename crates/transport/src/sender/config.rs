//! How a sender behaves.

use super::request::QuickStartRequest;
use crate::cc::LossDetection;
use crate::codepoints::Codepoints;
use crate::feedback::Feedback;
use crate::reduction::Recovery;
use crate::slow_start::SlowStartExit;
use crate::{RtoConfig, RttSamples};
use longfat_units::Interval;
use longfat_wire::FlowId;
use serde::{Deserialize, Serialize};

/// Which timeouts reduce ssthresh. In JSON: `once` or `each`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutReductions {
    /// One that begins an episode. A timeout within a recovery, and those that follow a timeout before it is
    /// repaired, leave ssthresh alone (RFC 5681, section 3.1; Linux).
    #[default]
    Once,
    /// Each one, also within an episode (ns-2, TcpAgent::timeout).
    Each,
}

/// How far early reductions and those by a timeout go. In JSON: `own` or `half`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstReduction {
    /// As far as the algorithm says, like all others.
    #[default]
    Own,
    /// To half of the window, whatever the algorithm's factor is: the first reduction of a connection, each
    /// one in slow-start, and each one by a timeout (ns-2, TcpAgent::slowdown, first_decrease_).
    Half,
}

/// The receiver's window where none is set, segments (chosen here): 6 GB in full packets, half a second at
/// 100 Gbit/s. TCP's own bound is 1 GiB (RFC 7323, 2.3). Without one, an algorithm that meets no loss would
/// have the sender's own link hold packets until the memory is full.
pub const WIDEST_WINDOW: f64 = 4_194_304.0;

/// How a sender behaves.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct SenderConfig {
    /// The flow it sends.
    pub flow: FlowId,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// IP and TCP headers of a data packet, bytes.
    pub header_bytes: u32,
    /// Count segments acknowledged (RFC 3465) rather than acknowledgements.
    pub byte_counting: bool,
    /// Packets carry timestamps (RFC 7323). Without them one segment per round trip is timed.
    pub timestamps: bool,
    /// Negotiate ECN (RFC 3168).
    pub ecn: bool,
    /// With byte counting: the most segments that one acknowledgement counts in slow-start (RFC 3465, L), at
    /// least 1. If finite, it is 1 until a timeout is repaired; if infinite, acknowledgements count what they
    /// are the first to report, also in congestion avoidance (Linux, tcp_cong_control).
    pub slow_start_limit: f64,
    /// Payload to send, bytes; `None` never ends.
    pub bytes: Option<u64>,
    /// Initial window, segments.
    pub initial_window: f64,
    /// Initial slow-start threshold, segments; infinite unless set.
    pub initial_ssthresh: f64,
    /// The receiver's window, segments; [`WIDEST_WINDOW`] unless set.
    pub max_window: f64,
    /// The most segments that one acknowledgement or timeout releases, at least 1 (ns-2, maxburst_); the rest
    /// waits for the next one. Infinite unless set.
    pub max_burst: f64,
    /// `max_ssthresh` of limited slow-start (RFC 3742), segments; infinite for the standard one.
    pub max_ssthresh: f64,
    /// What else ends the first slow-start.
    pub slow_start_exit: SlowStartExit,
    /// How losses are found.
    pub loss_detection: LossDetection,
    /// How the window shrinks during recovery with SACK.
    pub recovery: Recovery,
    /// Which timeouts reduce ssthresh.
    pub timeout_reductions: TimeoutReductions,
    /// How far early reductions and those by a timeout go.
    pub first_reduction: FirstReduction,
    /// Bound the window to the segments in flight + 3 at each dubious acknowledgement outside of recovery:
    /// one with SACK blocks (without SACK: a duplicate) or a mark, and each until a recovery or a timeout is
    /// over, the last one included (Linux 2.6, tcp_moderate_cwnd).
    pub cwnd_moderation: bool,
    /// Paced segments leave only at multiples of this (host timer granularity); zero means at any time. A
    /// host that also takes acknowledgements only at its ticks needs a driver that calls
    /// [`Sender::on_packet`] then.
    pub host_tick: Interval,
    /// The offset of this host's ticks.
    pub tick_phase: Interval,
    /// Which round-trip times algorithms get.
    pub rtt_samples: RttSamples,
    /// The retransmission timeout.
    pub rto: RtoConfig,
    /// With ECN, the codepoints of its packets.
    pub codepoints: Codepoints,
    /// What the receiver tells of marks.
    pub feedback: Feedback,
    /// Reduce the window less by a mark than by a loss (ABE, RFC 8511), where the algorithm has a factor for
    /// it.
    pub abe: bool,
    /// Ask for a rate with the connection request (Quick-Start, RFC 4782).
    pub quick_start: Option<QuickStartRequest>,
    /// The seed of its algorithm's random draws.
    pub seed: u64,
}
