//! A row of the registry of transports over UDP, and what the ends of a connection are built from.

use core::ops::Deref;
use longfat_units::parameters::{Parameter, ParameterError, Parameters, Value};
use longfat_units::{Entry, Interval, Rate, Stream};
use longfat_wire::FlowId;

pub(super) const BPS_PER_MBPS: f64 = 1e6;

/// The rate of sources that react to nothing. It may not exceed the rate of the host's own link.
pub(super) const RATE: Parameter =
    Parameter::number("rate", 50.0, (0.001, 1e7), "Mbit/s", "IP packets put out while it sends");

/// How a sender behaves, for any protocol.
#[derive(Clone, Debug)]
pub struct Config {
    /// The flow it sends.
    pub flow: FlowId,
    /// Payload of a full packet, bytes.
    pub mss_bytes: u32,
    /// All headers of a data packet, bytes.
    pub header_bytes: u32,
    /// Payload to send, bytes; `None` never ends.
    pub bytes: Option<u64>,
    /// The host's own link: no sender is faster than its interface.
    pub line: Rate,
    /// Packets leave only at multiples of this (host timer granularity); zero means at any time.
    pub host_tick: Interval,
    /// The offset of this host's ticks.
    pub tick_phase: Interval,
    /// Floor of the retransmission timeout's margin, where a protocol has one (RFC 6298).
    pub rto_min: Interval,
}

impl Config {
    /// A full packet of IP, bytes.
    pub(super) fn packet_bytes(&self) -> u32 {
        self.mss_bytes + self.header_bytes
    }

    /// How long the host's own link takes for a full packet, seconds.
    pub(super) fn line_s(&self) -> f64 {
        f64::from(8 * self.packet_bytes()) / self.line.as_bps() as f64
    }
}

/// One row: a protocol over UDP. `S` and `R` are the ends it makes: a protocol's own types in that protocol's
/// file, any sender and receiver in the list.
#[derive(Debug)]
pub struct Row<S, R> {
    /// Names, source, parameters, page and look.
    pub entry: Entry,
    /// Whether the receiver acknowledges everything and the sender repairs every loss.
    pub reliable: bool,
    /// Whether the receiver answers at all, with acknowledgements or reports. No kernel has such a protocol.
    pub answered: bool,
    /// Whether it draws random numbers.
    pub random: bool,
    /// Makes the two ends from checked parameters.
    pub build: fn(&Parameters, &Config, Stream) -> (S, R),
}

impl<S, R> Deref for Row<S, R> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl<S, R> Row<S, R> {
    /// The same row, made by another function.
    pub(super) const fn made_by<T, U>(&self, build: fn(&Parameters, &Config, Stream) -> (T, U)) -> Row<T, U> {
        Row {
            entry: self.entry,
            reliable: self.reliable,
            answered: self.answered,
            random: self.random,
            build,
        }
    }

    /// Both ends of a connection with these parameters; random draws come from `stream`.
    ///
    /// # Errors
    ///
    /// As [`Row::check`].
    pub fn ends(
        &self,
        given: &[(String, Value)],
        config: &Config,
        stream: Stream,
    ) -> Result<(S, R), ParameterError> {
        self.check(given, config.line).map(|p| (self.build)(&p, config, stream))
    }

    /// The checked parameters for a host whose own link has the rate `line`.
    ///
    /// # Errors
    ///
    /// A parameter that the row does not declare, a value outside what it accepts, or a rate above `line`.
    pub fn check(&self, given: &[(String, Value)], line: Rate) -> Result<Parameters, ParameterError> {
        let p = Parameters::new(self.name, self.parameters, given)?;
        let line_mbps = line.as_bps() as f64 / BPS_PER_MBPS;
        if self.parameters.iter().any(|one| one.name == RATE.name) && p.number(RATE.name) > line_mbps {
            return Err(ParameterError::Refused {
                owner: self.name,
                name: RATE.name,
                value: format!("{} Mbit/s", p.number(RATE.name)),
                accepted: format!("at most the {line_mbps} Mbit/s of the host's own link"),
            });
        }
        Ok(p)
    }
}
