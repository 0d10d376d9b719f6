//! A row of the registry of queues: what the rest of Longfat knows about a discipline.

use super::limit::Limit;
use crate::Element;
use core::ops::Deref;
use longfat_units::parameters::{ParameterError, Parameters};
use longfat_units::{Entry, Rate, Stream};

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Discipline {
    /// Names, source, parameters, page and look.
    pub entry: Entry,
    /// The Linux kernel's qdisc, if there is one.
    pub linux_module: Option<&'static str>,
    /// Whether it can mark packets instead of dropping them (RFC 3168).
    pub ecn: bool,
    /// Whether it treats packets with ECT(1) as RFC 9331 says.
    pub l4s: bool,
    /// Whether it draws random numbers.
    pub random: bool,
    /// Its law, if it only decides at arrival: a link can compute departures then.
    pub law: Option<LawKind>,
    /// Refuses values that do not go together before a link of this rate.
    pub check: fn(Rate, &Parameters) -> Result<(), ParameterError>,
}

/// The laws of disciplines that only decide at arrival; [`Law`](super::Law) builds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LawKind {
    /// Drop-tail's.
    DropTail,
    /// RED's.
    Red,
}

impl Deref for Discipline {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl Discipline {
    /// The error for a parameter whose value does not go with the others.
    pub(super) fn refuse(&self, name: &'static str, value: String, accepted: String) -> ParameterError {
        ParameterError::Refused { owner: self.name, name, value, accepted }
    }
}

/// The inputs from which a queue is built, besides its parameters.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How much it holds.
    pub limit: Limit,
    /// Rate of the link behind it.
    pub rate: Rate,
    /// Its own random stream.
    pub stream: Stream,
}

/// A queue of some discipline.
pub type Boxed<P> = Box<dyn Element<P> + Send>;
