//! A row of the registry of congestion controls: what the rest of Longfat knows about an algorithm.

use core::ops::Deref;
use longfat_units::Entry;
use longfat_units::parameters::{ParameterError, Parameters, Value};
use serde::{Deserialize, Serialize};

/// How a sender finds losses, and what it sends again. In JSON: `sack`, `rack`, `newreno`, `reno`
/// or `tahoe`.
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
    Reno,
    /// Fast retransmit, then slow-start from one segment.
    Tahoe,
}

impl LossDetection {
    /// Whether the receiver sends selective acknowledgements.
    pub const fn has_sack(self) -> bool {
        matches!(self, LossDetection::Sack | LossDetection::Rack)
    }
}

/// One row. `C` is what it makes: an algorithm's own type in that algorithm's file, any algorithm in the list.
#[derive(Debug)]
pub struct Row<C> {
    /// Names, source, parameters, page and look.
    pub entry: Entry,
    /// The Linux kernel's module, if there is one.
    pub linux_module: Option<&'static str>,
    /// The explicit protocol whose header its data packets carry: the name of the router that fills it in.
    pub protocol: Option<&'static str>,
    /// Loss detection used unless the flow sets its own.
    pub loss_detection: LossDetection,
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
        Row {
            entry: self.entry,
            linux_module: self.linux_module,
            protocol: self.protocol,
            loss_detection: self.loss_detection,
            build,
        }
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
