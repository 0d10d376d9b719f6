//! A connection's options, which flows and background traffic have in common.

use super::distribution::DistributionPlan;
use super::error::{LONGEST_S, PlanError, bad, rate, within};
use longfat_transport::SlowStartExit;
use longfat_transport::cc::{self, Algorithm, LossDetection, Parameters, Value};
use longfat_transport::udp;
use longfat_transport::{
    BackoffUntil, Feedback, FirstReduction, Habits, Recovery, RtoConfig, RtoMinOf, RttSamples,
    TimeoutReductions,
};
use longfat_units::{Distribution, Interval, Rate, Time};
use longfat_wire::{Ecn, RateCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Deref;

/// How slow-start grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// One segment for each segment acknowledged.
    Standard,
    /// Slower above `max_ssthresh` (RFC 3742).
    Limited,
    /// As standard, until the first one ends by HyStart++ (RFC 9406).
    #[serde(rename = "hystart++")]
    HystartPlus,
    /// As standard, until the first one ends by SEARCH (draft-chung-ccwg-search).
    Search,
}

impl SlowStart {
    /// What ends the first slow-start early.
    pub const fn exit(self) -> SlowStartExit {
        match self {
            SlowStart::Standard | SlowStart::Limited => SlowStartExit::None,
            SlowStart::HystartPlus => SlowStartExit::HystartPlus,
            SlowStart::Search => SlowStartExit::Search,
        }
    }
}

/// How a connection uses marks. In JSON: `false`, `true`, `accurate` or `l4s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EcnPlan {
    /// Whether it negotiates ECN, with the feedback that its algorithm needs.
    Negotiated(bool),
    /// It does, with more.
    With(EcnWord),
}

/// What [`EcnPlan::With`] adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnWord {
    /// Accurate feedback (RFC 9768).
    Accurate,
    /// The same, and ECT(1) on data (RFC 9331).
    L4s,
}

impl EcnPlan {
    /// Whether the plan itself says that the connection negotiates ECN; algorithms may do it of their own
    /// accord.
    pub const fn is_on(self) -> bool {
        !matches!(self, EcnPlan::Negotiated(false))
    }

    /// Whether data carry ECT(1).
    pub const fn is_l4s(self) -> bool {
        matches!(self, EcnPlan::With(EcnWord::L4s))
    }

    /// The least feedback that the receiver gives.
    pub const fn feedback(self) -> Feedback {
        match self {
            EcnPlan::Negotiated(_) => Feedback::Classic,
            EcnPlan::With(_) => Feedback::Accurate,
        }
    }
}

/// What the receiver does against the rules, as read from JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiverPlan {
    /// Acknowledges what is missing.
    pub conceal_losses: bool,
    /// The most segments that an acknowledgement covers before they come.
    pub ack_ahead: u64,
    /// Acknowledgements in place of one.
    pub divide_acks: u32,
    /// Takes marked packets for unmarked ones.
    pub hide_marks: bool,
}

impl ReceiverPlan {
    /// The habits of a receiver whose sender puts this codepoint on its data.
    pub fn habits(&self, codepoint: Ecn) -> Habits {
        Habits {
            conceals_losses: self.conceal_losses,
            ahead: self.ack_ahead,
            parts: self.divide_acks,
            hides_marks_as: self.hide_marks.then_some(codepoint),
        }
    }
}

/// A connection's options as read from JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionPlan {
    /// Name in the registry of algorithms, or `custom`.
    pub algorithm: String,
    /// Parameters that differ from the registry's defaults.
    pub parameters: BTreeMap<String, Value>,
    /// Links that data cross, in order, by their index.
    pub forward: Vec<usize>,
    /// Links that acknowledgements cross, in order, by their index.
    pub reverse: Vec<usize>,
    /// Two-way propagation delay, seconds.
    pub rtt_s: DistributionPlan,
    /// Rate of the hosts' own links, bit/s.
    pub access_rate_bps: f64,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// IP and TCP headers of a data packet, bytes.
    pub header_bytes: u32,
    /// Initial slow-start threshold, segments; unlimited if null.
    pub initial_ssthresh: Option<f64>,
    /// Begin with the slow-start threshold that earlier connections between the same two hosts have left, if
    /// there is one.
    pub ssthresh_cache: bool,
    /// Initial cwnd, segments.
    pub initial_window: f64,
    /// Largest cwnd, segments; unlimited if null.
    pub max_window: Option<f64>,
    /// Most segments that one acknowledgement or timeout releases; unlimited if null.
    pub max_burst: Option<f64>,
    /// How slow-start grows, and what ends the first one.
    pub slow_start: SlowStart,
    /// Threshold of limited slow-start, segments.
    pub max_ssthresh: f64,
    /// Acknowledge every second segment.
    pub delayed_ack: bool,
    /// A single segment is acknowledged after this long, seconds.
    pub delayed_ack_timeout_s: f64,
    /// The first this many acknowledgements are not delayed.
    pub quick_acks: u32,
    /// The longest time that acknowledgements of segments above a gap wait for each other, seconds; 0 for
    /// none.
    pub sack_compression_s: f64,
    /// Appropriate byte counting (RFC 3465).
    pub byte_counting: bool,
    /// The most segments that one acknowledgement counts in slow-start; unlimited if null.
    pub slow_start_limit: Option<f64>,
    /// How losses are found; as the algorithm does if null.
    pub loss_detection: Option<LossDetection>,
    /// How the window shrinks during SACK recovery.
    pub recovery: Recovery,
    /// Which timeouts reduce ssthresh.
    pub timeout_reductions: TimeoutReductions,
    /// How far early reductions and those by a timeout go.
    pub first_reduction: FirstReduction,
    /// What ends the backoff of the retransmission timeout.
    pub backoff_until: BackoffUntil,
    /// Bound the window to the segments in flight + 3 at dubious acknowledgements.
    pub cwnd_moderation: bool,
    /// Which round-trip times the algorithm gets.
    pub rtt_samples: RttSamples,
    /// Granularity of the host's timer, seconds; 0 for none.
    pub host_tick_s: f64,
    /// Least time between two interrupts of a host's network card, seconds; 0 for no limit.
    pub interrupt_moderation_s: f64,
    /// Longest random delay of what the sender's host sends, seconds; 0 for none.
    pub send_jitter_s: f64,
    /// Floor of the retransmission timeout's margin, seconds.
    pub rto_min_s: f64,
    /// What the floor bounds.
    pub rto_min_of: RtoMinOf,
    /// The clock of the retransmission timer, seconds; 0 for an exact one.
    pub rto_tick_s: f64,
    /// The retransmission timeout before the first sample, seconds.
    pub initial_rto_s: f64,
    /// Packets carry timestamps (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: EcnPlan,
    /// Alternative backoff with ECN (RFC 8511).
    pub abe: bool,
    /// The user's own algorithm needs feedback about each mark, as DCTCP does (RFC 8257).
    pub needs_marks: bool,
    /// When it stops sending new data, seconds; never if null. Background traffic opens no connection from
    /// then on, and connections that it opened with a size still send all of it.
    pub stop_s: Option<f64>,
    /// Quick-Start (RFC 4782): the rate that the connection request asks for, bit/s; it asks for none if
    /// null.
    pub quick_start_bps: Option<f64>,
    /// What the receiver does against the rules; nothing if null.
    pub receiver: Option<ReceiverPlan>,
}

/// What carries a connection.
#[derive(Clone)]
pub enum Transport {
    /// TCP with an algorithm of the registry.
    Tcp(&'static Algorithm, Parameters),
    /// TCP with a user's own algorithm.
    Custom,
    /// A protocol over UDP.
    Udp(&'static udp::Protocol, Parameters),
}

/// A connection's options after their check.
#[derive(Clone)]
pub struct CheckedConnection {
    plan: ConnectionPlan,
    rtt: Distribution,
    access_rate: Rate,
    transport: Transport,
}

impl Deref for CheckedConnection {
    type Target = ConnectionPlan;

    fn deref(&self) -> &ConnectionPlan {
        &self.plan
    }
}

impl CheckedConnection {
    /// Two-way propagation delay, seconds.
    pub const fn rtt(&self) -> &Distribution {
        &self.rtt
    }

    /// Rate of the hosts' own links.
    pub const fn access_rate(&self) -> Rate {
        self.access_rate
    }

    /// What carries it.
    pub const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Which feedback about marks its algorithm needs.
    pub fn feedback(&self) -> Feedback {
        match &self.transport {
            Transport::Tcp(row, _) => row.properties.feedback,
            Transport::Custom if self.plan.needs_marks => Feedback::Dctcp,
            Transport::Custom | Transport::Udp(..) => Feedback::Classic,
        }
    }

    /// Whether it negotiates ECN: because the plan says so, or because its algorithm needs marks.
    pub fn negotiates_ecn(&self) -> bool {
        self.plan.ecn.is_on() || self.feedback() != Feedback::Classic
    }

    /// How a TCP sender finds and repairs losses: as this algorithm does, unless the plan chooses.
    pub fn loss_detection(&self, own: LossDetection) -> LossDetection {
        self.plan.loss_detection.unwrap_or(own)
    }
}

impl ConnectionPlan {
    /// When it stops; [`Time::NEVER`] without [`ConnectionPlan::stop_s`].
    pub fn stop(&self) -> Time {
        self.stop_s.map_or(Time::NEVER, Time::from_secs_f64)
    }

    /// The retransmission timeout.
    pub fn rto(&self) -> RtoConfig {
        RtoConfig {
            initial: Interval::from_secs_f64(self.initial_rto_s),
            min: Interval::from_secs_f64(self.rto_min_s),
            min_of: self.rto_min_of,
            tick: Interval::from_secs_f64(self.rto_tick_s),
            backoff_until: self.backoff_until,
        }
    }

    /// IP bytes of the packets that carry `payload` bytes once.
    pub fn ip_bytes(&self, payload: u64) -> u64 {
        payload + payload.div_ceil(u64::from(self.mss_bytes)) * u64::from(self.header_bytes)
    }

    /// Checks everything in it; `at` is its own key, `links` the number of links.
    pub(super) fn check(self, at: &str, links: usize) -> Result<CheckedConnection, PlanError> {
        let key = |name: &str| format!("{at}.{name}");
        let access_rate = rate(&key("access_rate_bps"), self.access_rate_bps)?;
        let transport = self.check_transport(at, access_rate)?;
        for (name, path) in [("forward", &self.forward), ("reverse", &self.reverse)] {
            if path.is_empty() || path.len() > 64 || path.iter().any(|&l| l >= links) {
                return bad(key(name), format!("{path:?} must name 1 to 64 of the {links} links"));
            }
        }
        let rtt = self.rtt_s.check(&key("rtt_s"), 1000.0)?;
        within(&key("stop_s"), self.stop_s.unwrap_or(0.0), 0.0, LONGEST_S)?;
        within(&key("header_bytes"), f64::from(self.header_bytes), 0.0, 500.0)?;
        let room = u32::from(u16::MAX) - self.header_bytes; // of an IP packet
        within(&key("mss_bytes"), f64::from(self.mss_bytes), 1.0, f64::from(room))?;
        within(&key("initial_window"), self.initial_window, 1.0, 1e9)?;
        within(&key("initial_ssthresh"), self.initial_ssthresh.unwrap_or(2.0), 1.0, 1e12)?;
        within(&key("max_burst"), self.max_burst.unwrap_or(1.0), 1.0, 1e9)?;
        within(&key("slow_start_limit"), self.slow_start_limit.unwrap_or(1.0), 1.0, 1e9)?;
        within(&key("max_window"), self.max_window.unwrap_or(1.0), 1.0, 1e12)?;
        within(&key("max_ssthresh"), self.max_ssthresh, 1.0, 1e12)?;
        if let Some(bps) = self.quick_start_bps {
            let key = key("quick_start_bps");
            within(&key, bps, RateCode::LEAST.bps(), RateCode::GREATEST.bps())?;
            if let Transport::Tcp(row, _) = &transport
                && row.properties.protocol.is_some()
            {
                return bad(key, format!("{} already gets its rate from its own routers", self.algorithm));
            }
        }
        if self.abe
            && let Transport::Tcp(row, _) = &transport
            && row.properties.beta_ecn.is_none()
        {
            return bad(key("abe"), format!("RFC 8511 has no factor for {}", self.algorithm));
        }
        if let Some(receiver) = &self.receiver {
            within(&key("receiver.ack_ahead"), receiver.ack_ahead as f64, 0.0, 1e9)?;
            within(&key("receiver.divide_acks"), f64::from(receiver.divide_acks), 1.0, 100.0)?;
        }
        within(&key("delayed_ack_timeout_s"), self.delayed_ack_timeout_s, 1e-6, 10.0)?;
        within(&key("sack_compression_s"), self.sack_compression_s, 0.0, 10.0)?;
        within(&key("host_tick_s"), self.host_tick_s, 0.0, 10.0)?;
        within(&key("interrupt_moderation_s"), self.interrupt_moderation_s, 0.0, 10.0)?;
        within(&key("send_jitter_s"), self.send_jitter_s, 0.0, 10.0)?;
        within(&key("rto_min_s"), self.rto_min_s, 0.0, 60.0)?;
        within(&key("rto_tick_s"), self.rto_tick_s, 0.0, 10.0)?;
        within(&key("initial_rto_s"), self.initial_rto_s, 1e-3, 60.0)?;
        Ok(CheckedConnection { rtt, access_rate, transport, plan: self })
    }

    fn check_transport(&self, at: &str, access_rate: Rate) -> Result<Transport, PlanError> {
        if self.algorithm == "custom" {
            return Ok(Transport::Custom);
        }
        let given = values(&self.parameters);
        let checked = match (cc::find(&self.algorithm), udp::find(&self.algorithm)) {
            (Some(row), _) => {
                Parameters::new(row.name, row.parameters, &given).map(|p| Transport::Tcp(row, p))
            }
            (None, Some(protocol)) => {
                protocol.check(&given, access_rate).map(|p| Transport::Udp(protocol, p))
            }
            (None, None) => {
                return bad(format!("{at}.algorithm"), format!("there is no algorithm {:?}", self.algorithm));
            }
        };
        checked.or_else(|e| bad(format!("{at}.parameters"), e.to_string()))
    }
}

/// Parameters as the registries take them.
pub fn values(parameters: &BTreeMap<String, Value>) -> Vec<(String, Value)> {
    parameters.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}
