//! A connection's options, which flows and background traffic have in common.

use super::distribution::distribution;
use super::error::{LONGEST_S, PlanError, bad, rate, within};
use crate::forms::Drawn;
use crate::tables::Transport;
use longfat_transport::Feedback;
use longfat_transport::cc::{self, Algorithm, LossDetection, Parameters, Value};
use longfat_transport::udp;
use longfat_units::{Distribution, Rate, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// A connection's options.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionPlan {
    /// How its two ends behave: the scenario's own keys. The flows of one table share them.
    pub transport: Arc<Transport>,
    /// IP and TCP headers of a data packet, bytes.
    pub header_bytes: u32,
    /// The user's own algorithm needs feedback about each mark, as DCTCP does (RFC 8257).
    pub needs_marks: bool,
    /// Links that data cross, in order, by their index.
    pub forward: Vec<usize>,
    /// Links that acknowledgements cross, in order, by their index.
    pub reverse: Vec<usize>,
    /// Two-way propagation delay, seconds.
    pub rtt_s: Drawn,
    /// Rate of the hosts' own links, bit/s.
    pub access_rate_bps: f64,
    /// When it stops sending new data, seconds; never if null. Background traffic opens no connection from
    /// then on, and connections that it opened with a size still send all of it.
    pub stop_s: Option<f64>,
}

impl Deref for ConnectionPlan {
    type Target = Transport;

    fn deref(&self) -> &Transport {
        &self.transport
    }
}

/// What controls when a connection sends.
#[derive(Clone)]
pub enum Control {
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
    control: Control,
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

    /// What controls when it sends.
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// Which feedback about marks its algorithm needs.
    pub fn feedback(&self) -> Feedback {
        match &self.control {
            Control::Tcp(row, _) => row.properties.feedback,
            Control::Custom if self.plan.needs_marks => Feedback::Dctcp,
            Control::Custom | Control::Udp(..) => Feedback::Classic,
        }
    }

    /// Whether it negotiates ECN: because the plan says so, or because its algorithm needs marks.
    pub fn negotiates_ecn(&self) -> bool {
        self.ecn.is_on() || self.feedback() != Feedback::Classic
    }

    /// How a TCP sender finds and repairs losses: as this algorithm does, unless the plan chooses.
    pub fn loss_detection_used(&self, own: LossDetection) -> LossDetection {
        self.loss_detection.unwrap_or(own)
    }
}

impl ConnectionPlan {
    /// When it stops; [`Time::NEVER`] without [`ConnectionPlan::stop_s`].
    pub fn stop(&self) -> Time {
        self.stop_s.map_or(Time::NEVER, Time::from_secs_f64)
    }

    /// IP bytes of the packets that carry `payload` bytes once.
    pub fn ip_bytes(&self, payload: u64) -> u64 {
        payload + payload.div_ceil(self.mss_bytes().into()) * u64::from(self.header_bytes)
    }

    /// Checks everything in it; `at` is its own key, `links` the number of links.
    pub(super) fn check(self, at: &str, links: usize) -> Result<CheckedConnection, PlanError> {
        let key = |name: &str| format!("{at}.{name}");
        let access_rate = rate(&key("access_rate_bps"), self.access_rate_bps)?;
        let control = self.check_control(at, access_rate)?;
        for (name, path) in [("forward", &self.forward), ("reverse", &self.reverse)] {
            let comes_again = |(place, link): (usize, &usize)| path[..place].contains(link);
            if path.is_empty() || path.len() > 64 || path.iter().any(|&l| l >= links) {
                return bad(key(name), format!("{path:?} must name 1 to 64 of the {links} links"));
            }
            if path.iter().enumerate().any(comes_again) {
                return bad(key(name), format!("{path:?} must name each link once"));
            }
        }
        let rtt = distribution(&key("rtt_s"), &self.rtt_s, 1000.0)?;
        within(&key("stop_s"), self.stop_s.unwrap_or(0.0), 0.0, LONGEST_S)?;
        within(&key("header_bytes"), f64::from(self.header_bytes), 0.0, 500.0)?;
        let room = u32::from(u16::MAX) - self.header_bytes; // of an IP packet
        within(&key("transport.mss"), self.mss, 1.0, room.into())?;
        Ok(CheckedConnection { rtt, access_rate, control, plan: self })
    }

    fn check_control(&self, at: &str, access_rate: Rate) -> Result<Control, PlanError> {
        let (name, given) = (self.algorithm.name(), self.algorithm.settings());
        let given: Vec<_> = given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let checked = match (cc::find(name), udp::find(name)) {
            _ if !self.algorithm.is_listed() => return Ok(Control::Custom),
            (Some(row), _) => Parameters::new(row.name, row.parameters, &given).map(|p| Control::Tcp(row, p)),
            (None, Some(protocol)) => protocol.check(&given, access_rate).map(|p| Control::Udp(protocol, p)),
            (None, None) => return bad(format!("{at}.algorithm"), format!("there is no algorithm {name:?}")),
        };
        checked.or_else(|e| bad(format!("{at}.algorithm"), e.to_string()))
    }
}

/// Parameters as the registries take them.
pub fn values(parameters: &BTreeMap<String, Value>) -> Vec<(String, Value)> {
    parameters.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}
