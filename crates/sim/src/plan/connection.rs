//! A connection's options: what flows and background connections have in common.

use super::{DistributionPlan, LONGEST_S, PlanError, ValuePlan, bad, rate, values, within};
use longfat_transport::cc::{self, CongestionControl, Value};
use longfat_transport::udp;
use longfat_units::Time;
use longfat_wire::RateCode;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How slow-start grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum SlowStart {
    Standard,
    Limited,
}

/// How the window shrinks in SACK recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ReductionPlan {
    RateHalving,
    Prr,
}

/// Which round-trip times algorithms are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RttSamplesPlan {
    #[default]
    Echoed,
    Last,
}

/// A connection's options: what flows and background connections have in common.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionPlan {
    /// Name in the registry, or `custom`.
    pub algorithm: String,
    /// Parameters that differ from the registry's defaults.
    pub parameters: BTreeMap<String, ValuePlan>,
    /// Links that data cross, in order.
    pub forward: Vec<usize>,
    /// Links that acknowledgements cross, in order.
    pub reverse: Vec<usize>,
    /// Two-way propagation delay, seconds.
    pub rtt_s: DistributionPlan,
    /// Rate of the hosts' own links, bit/s.
    pub access_rate_bps: f64,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// IP and TCP headers of a data packet.
    pub header_bytes: u32,
    /// Segments; unlimited if null.
    pub initial_ssthresh: Option<f64>,
    /// Segments.
    pub initial_window: f64,
    /// Segments; unlimited if null.
    pub max_window: Option<f64>,
    /// Standard or limited (RFC 3742).
    pub slow_start: SlowStart,
    /// Of limited slow-start, segments.
    pub max_ssthresh: f64,
    /// Acknowledge every second segment.
    pub delayed_ack: bool,
    /// A single segment is acknowledged after this long, seconds.
    pub delayed_ack_timeout_s: f64,
    /// RFC 3465.
    pub byte_counting: bool,
    /// Overrides the algorithm's own recovery; null keeps it.
    pub sack: Option<bool>,
    /// Rate halving or PRR.
    pub recovery: ReductionPlan,
    /// The first segment acknowledged, by its timestamp, or the last, as Linux.
    #[serde(default)]
    pub rtt_samples: RttSamplesPlan,
    /// Host timer granularity, seconds; 0 for none.
    pub host_tick_s: f64,
    /// Floor of the retransmission timeout's margin, seconds.
    pub rto_min_s: f64,
    /// RFC 3168.
    pub ecn: bool,
    /// When it stops sending new data, seconds; background traffic opens nothing from then on, and what it opened with a
    /// size is carried to its end.
    pub stop_s: Option<f64>,
    /// Quick-Start (RFC 4782): the rate that the connection request asks for, bit/s; it asks for none if null.
    #[serde(default)]
    pub quick_start_bps: Option<f64>,
}

impl ConnectionPlan {
    /// When it stops; never without [`ConnectionPlan::stop_s`].
    pub fn stop(&self) -> Time {
        self.stop_s.map_or(Time::NEVER, Time::from_secs_f64)
    }

    /// The parameters as the registry takes them.
    pub fn values(&self) -> Vec<(String, Value)> {
        values(&self.parameters)
    }

    /// IP bytes of the packets that carry so much payload once.
    pub fn ip_bytes(&self, payload: u64) -> u64 {
        payload + payload.div_ceil(u64::from(self.mss_bytes)) * u64::from(self.header_bytes)
    }

    pub(super) fn check(&self, at: &str, links: usize) -> Result<(), PlanError> {
        let key = |name: &str| format!("{at}.{name}");
        let line = rate(&key("access_rate_bps"), self.access_rate_bps)?;
        if self.algorithm != "custom" {
            let refused = match (cc::find(&self.algorithm), udp::find(&self.algorithm)) {
                (Some(row), _) => row.instance(&self.values()).err(),
                (None, Some(row)) => row.check(&self.values(), line).err(),
                (None, None) => {
                    return bad(key("algorithm"), format!("there is no algorithm {:?}", self.algorithm));
                }
            };
            if let Some(e) = refused {
                return bad(key("parameters"), e.to_string());
            }
        }
        for (name, path) in [("forward", &self.forward), ("reverse", &self.reverse)] {
            if path.is_empty() || path.len() > 64 || path.iter().any(|&l| l >= links) {
                return bad(key(name), format!("{path:?} must name 1 to 64 of the {links} links"));
            }
        }
        self.rtt_s.check(&key("rtt_s"), 1000.0)?;
        within(&key("stop_s"), self.stop_s.unwrap_or(0.0), 0.0, LONGEST_S)?;
        within(&key("header_bytes"), f64::from(self.header_bytes), 0.0, 500.0)?;
        let room = u32::from(u16::MAX) - self.header_bytes; // of an IP packet
        within(&key("mss_bytes"), f64::from(self.mss_bytes), 1.0, f64::from(room))?;
        within(&key("initial_window"), self.initial_window, 1.0, 1e9)?;
        within(&key("initial_ssthresh"), self.initial_ssthresh.unwrap_or(2.0), 1.0, 1e12)?;
        within(&key("max_window"), self.max_window.unwrap_or(1.0), 1.0, 1e12)?;
        within(&key("max_ssthresh"), self.max_ssthresh, 1.0, 1e12)?;
        if let Some(bps) = self.quick_start_bps {
            let key = key("quick_start_bps");
            within(&key, bps, RateCode::LEAST.bps(), RateCode::GREATEST.bps())?;
            if cc::find(&self.algorithm)
                .is_some_and(|row| row.instance(&self.values()).is_ok_and(|c| c.has_explicit()))
            {
                return bad(key, format!("{} has routers of its own that guide it", self.algorithm));
            }
        }
        within(&key("delayed_ack_timeout_s"), self.delayed_ack_timeout_s, 1e-6, 10.0)?;
        within(&key("host_tick_s"), self.host_tick_s, 0.0, 10.0)?;
        within(&key("rto_min_s"), self.rto_min_s, 0.0, 60.0).map(|_| ())
    }
}
