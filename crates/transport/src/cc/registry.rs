//! The registry: one row an algorithm, and the enum through which the hot loop calls them without a virtual call.

use super::{
    Ack, Congestion, CongestionControl, Parameter, ParameterError, Parameters, SendingTimes, Value, Window,
};
use crate::Mirror;
use longfat_units::{Interval, Time};
use longfat_wire::Explicit;

/// How a sender finds and repairs losses when the scenario does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Selective acknowledgements and the RFC 6675 pipe.
    Sack,
    /// NewReno without SACK (RFC 6582).
    NewReno,
    /// Plain Reno without SACK: fast recovery ends at the first new acknowledgement.
    Reno,
    /// Fast retransmit, then slow-start from one segment.
    Tahoe,
}

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// As written in scenario files.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Author, title, place, year.
    pub citation: &'static str,
    /// What users may set.
    pub parameters: &'static [Parameter],
    /// The Linux kernel's module, if there is one.
    pub linux_module: Option<&'static str>,
    /// Recovery used unless the flow sets `sack`.
    pub recovery: Recovery,
    /// Makes an instance from checked parameters.
    pub build: fn(&Parameters) -> Controller,
}

impl Algorithm {
    /// An instance with these parameters.
    pub fn instance(&self, given: &[(String, Value)]) -> Result<Controller, ParameterError> {
        Parameters::new(self.name, self.parameters, given).map(|p| (self.build)(&p))
    }
}

/// All rows, in the order of their introduction.
pub fn algorithms() -> impl Iterator<Item = &'static Algorithm> {
    super::aimd::ROWS.iter().chain(ROWS).chain([&super::westwood::PLUS, &super::jetmax_r::ROW])
}

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    algorithms().find(|a| a.name == name || a.aliases.contains(&name))
}

macro_rules! controllers {
    ($($variant:ident($module:ident::$type:ident)),* $(,)?) => {
        /// Any algorithm; calls are dispatched statically.
        pub enum Controller {
            /// Standard TCP.
            Aimd(super::aimd::Aimd),
            $(#[doc = concat!("See [`super::", stringify!($module), "`].")] $variant(super::$module::$type),)*
            /// A user's own.
            Custom(Box<dyn CongestionControl + Send>),
        }

        static ROWS: &[Algorithm] = &[$(super::$module::ROW),*];

        macro_rules! each {
            ($self:expr, $c:ident => $call:expr) => {
                match $self {
                    Controller::Aimd($c) => $call,
                    $(Controller::$variant($c) => $call,)*
                    Controller::Custom($c) => $call,
                }
            };
        }
    };
}

// One line a module with a single row; the standard family has four, Westwood and JetMax two.
controllers! {
    Hstcp(hstcp::Hstcp),
    Stcp(stcp::Stcp),
    Bic(bic::Bic),
    Fast(fast::Fast),
    Htcp(htcp::Htcp),
    Yeah(yeah::Yeah),
    Africa(africa::Africa),
    Ltcp(ltcp::Ltcp),
    HstcpLp(hstcp_lp::HstcpLp),
    Cubic(cubic::Cubic),
    Ctcp(ctcp::Ctcp),
    Ptcp(ptcp::Ptcp),
    Vegas(vegas::Vegas),
    Westwood(westwood::Westwood),
    Illinois(illinois::Illinois),
    Xcp(xcp::Xcp),
    XcpR(xcp_r::XcpR),
    Vcp(vcp::Vcp),
    JetMax(jetmax::JetMax),
}

impl CongestionControl for Controller {
    fn on_start(&mut self, mss_bytes: u32) {
        each!(self, c => c.on_start(mss_bytes))
    }
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        each!(self, c => c.on_ack(ack, w))
    }
    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        each!(self, c => c.on_congestion(event, w))
    }
    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        each!(self, c => c.on_sample(ack))
    }
    #[inline]
    fn wants_samples(&self) -> bool {
        each!(self, c => c.wants_samples())
    }
    fn sending_times(&self) -> SendingTimes {
        each!(self, c => c.sending_times())
    }
    fn on_recovered(&mut self, now: Time, w: &mut Window) {
        each!(self, c => c.on_recovered(now, w))
    }
    fn on_undo(&mut self, w: &mut Window) {
        each!(self, c => c.on_undo(w))
    }
    fn timer_period(&self) -> Option<Interval> {
        each!(self, c => c.timer_period())
    }
    fn on_timer(&mut self, now: Time, w: &mut Window) {
        each!(self, c => c.on_timer(now, w))
    }
    #[inline]
    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        each!(self, c => c.pacing_rate(w, srtt))
    }
    fn explicit_bytes(&self) -> u32 {
        each!(self, c => c.explicit_bytes())
    }
    fn has_explicit(&self) -> bool {
        each!(self, c => c.has_explicit())
    }
    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        each!(self, c => c.explicit(cwnd_bytes, srtt))
    }
    fn on_explicit(&mut self, echo: &Explicit, packet_bytes: f64, limited: bool, w: &mut Window) {
        each!(self, c => c.on_explicit(echo, packet_bytes, limited, w))
    }
    fn mirror(&self, packet_bytes: f64) -> Option<Box<dyn Mirror>> {
        each!(self, c => c.mirror(packet_bytes))
    }
    fn internals(&self, out: &mut Vec<(&'static str, f64)>) {
        each!(self, c => c.internals(out))
    }
    fn take_failure(&mut self) -> Option<String> {
        match self {
            Controller::Custom(c) => c.take_failure(),
            _ => None,
        }
    }
}
