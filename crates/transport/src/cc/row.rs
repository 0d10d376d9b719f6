//! A row of the registry of congestion controls: what the rest of Longfat knows about an algorithm.

use crate::echoing::Mirror;
use crate::feedback::Feedback;
use core::ops::Deref;
use longfat_units::parameters::{ParameterError, Parameters, Value};
use longfat_units::{Entry, Interval};
use serde::{Deserialize, Serialize};

/// How a sender finds losses, and what it sends again. In JSON: `sack`, `rack`, `newreno`,
/// `reno-classic` or `tahoe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossDetection {
    /// Selective acknowledgements and the RFC 6675 pipe.
    Sack,
    /// Selective acknowledgements and sending times, with probes of tails (RACK-TLP, RFC 8985).
    Rack,
    /// NewReno without SACK (RFC 6582).
    NewReno,
    /// Reno without SACK: fast recovery ends at the first new acknowledgement.
    #[serde(rename = "reno-classic")]
    RenoClassic,
    /// Fast retransmit, then slow-start from one segment.
    Tahoe,
}

impl LossDetection {
    /// Whether the receiver sends selective acknowledgements.
    pub const fn has_sack(self) -> bool {
        matches!(self, LossDetection::Sack | LossDetection::Rack)
    }
}

/// The purpose for which the sender keeps a record of sending times (Brakmo, Peterson 1995).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendingTimes {
    /// No record: round-trip times come from the timestamp that is echoed.
    Unused,
    /// [`Ack::rtt`](super::Ack::rtt) is the time of the last segment acknowledged, without the wait of
    /// delayed acknowledgements; `None` if that segment was sent twice.
    RoundTrips,
    /// The same. Also, the sender repeats the first unacknowledged segment once it is older than the timeout
    /// without its floor, at the first duplicate acknowledgement or soon after a retransmission.
    RoundTripsAndLosses,
}

/// The explicit protocol that an algorithm and the routers on its path speak.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// The name of the router that fills in the header of the data packets.
    pub name: &'static str,
    /// The bytes that this header takes in every data packet; one in spare bits of other headers takes none.
    pub header_bytes: u32,
    /// Makes what the receiver keeps for the algorithm, if it does more than echo headers.
    pub mirror: Option<MakeMirror>,
}

/// Makes what a receiver keeps, from the algorithm's parameters and the bytes of a full packet of IP.
pub type MakeMirror = fn(&Parameters, f64) -> Box<dyn Mirror>;

/// The facts about an algorithm that stay as they are while a connection lasts.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// Loss detection used unless the flow sets its own.
    pub loss_detection: LossDetection,
    /// Whether the algorithm models the path from delivery rates and controls the window in every phase, as
    /// with Linux's `cong_control`. The sender then calls the hooks of model-based algorithms. Its own growth
    /// and reductions are left out: only a timeout sets the window, to what is in flight and one segment
    /// more. `on_congestion` still reports each episode, before the acknowledgement's `on_delivery`, and may
    /// set ssthresh.
    pub model_based: bool,
    /// Whether it draws random numbers.
    pub draws: bool,
    /// Whether `on_ack` may shrink the window, or do more than grow it. The sender then calls it also while
    /// something else is limiting: the application, the receiver, or pacing.
    pub shrinks: bool,
    /// Whether the sender calls `on_sample`.
    pub samples: bool,
    /// The purpose for which it needs sending times.
    pub sending_times: SendingTimes,
    /// The period of `on_timer`; `None` for no timer.
    pub timer_period: Option<Interval>,
    /// Whether `pacing_rate` may ever return a rate.
    pub paces: bool,
    /// Which feedback about marks it needs. With any but the classic one, its flows negotiate ECN whether the
    /// scenario says so or not.
    pub feedback: Feedback,
    /// Whether its data carry ECT(1), because its response to marks is the scalable one of L4S (RFC 9331,
    /// section 4.3).
    pub sends_ect1: bool,
    /// The part of the window that a mark leaves with `abe = true` (RFC 8511); `None` if RFC 8511 has no
    /// factor for it.
    pub beta_ecn: Option<f64>,
    /// The explicit protocol whose header its data packets carry.
    pub protocol: Option<Protocol>,
    /// Whether it may leave a window of 0, so that nothing leaves until the retransmission timer expires.
    /// Only a user's own can that is model-based.
    pub may_close: bool,
    /// Sets those that depend on its parameters: `shrinks`, `samples`, `sending_times` and `timer_period`
    /// may.
    pub varies: fn(Properties, &Parameters) -> Properties,
}

impl Properties {
    /// Those of an algorithm that only needs acknowledgements and congestion events.
    pub const DEFAULT: Properties = Properties {
        loss_detection: LossDetection::Sack,
        model_based: false,
        draws: false,
        shrinks: false,
        samples: false,
        sending_times: SendingTimes::Unused,
        timer_period: None,
        paces: false,
        feedback: Feedback::Classic,
        sends_ect1: false,
        beta_ecn: None,
        protocol: None,
        may_close: false,
        varies: |own, _| own,
    };

    /// Those of a user's own algorithm, which may set a pacing rate at any time.
    pub const CUSTOM: Properties = Properties { paces: true, ..Properties::DEFAULT };

    /// Those with these parameters.
    pub fn with(self, p: &Parameters) -> Properties {
        (self.varies)(self, p)
    }
}

/// One row. `C` is what it makes: an algorithm's own type in that algorithm's file, any algorithm in the
/// list.
#[derive(Debug)]
pub struct Row<C> {
    /// Names, source, parameters, page and look.
    pub entry: Entry,
    /// The Linux kernel's module, if there is one.
    pub linux_module: Option<&'static str>,
    /// The facts that stay as they are while a connection lasts.
    pub properties: Properties,
    /// Makes an instance from checked parameters.
    pub build: fn(&Parameters) -> C,
}

impl<C> Deref for Row<C> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl<C> Row<C> {
    /// The same row, made by another function.
    pub(super) const fn made_by<D>(&self, build: fn(&Parameters) -> D) -> Row<D> {
        Row { entry: self.entry, linux_module: self.linux_module, properties: self.properties, build }
    }

    /// What the receiver keeps for an algorithm with these parameters, if it does more than echo headers;
    /// `packet_bytes` is a full packet of IP.
    pub fn mirror(&self, p: &Parameters, packet_bytes: f64) -> Option<Box<dyn Mirror>> {
        self.properties.protocol?.mirror.map(|mirror| mirror(p, packet_bytes))
    }

    /// An instance with these parameters.
    ///
    /// # Errors
    ///
    /// A parameter that the row does not declare, or a value outside what it accepts.
    pub fn instance(&self, given: &[(String, Value)]) -> Result<C, ParameterError> {
        Parameters::new(self.name, self.parameters, given).map(|p| (self.build)(&p))
    }
}
