//! The list of all algorithms, and the enum through which the hot loop calls them without a virtual call.

use super::congestion_control::{
    Ack, Congestion, CongestionControl, Delivery, Internals, LostSegment, MarkSample, Opening, SendingTimes,
    Window,
};
use super::row::Row;
use crate::echoing::Mirror;
use crate::feedback::Feedback;
use longfat_units::{Interval, Time, registry};
use longfat_wire::Explicit;

/// One row of the registry.
pub type Algorithm = Row<Controller>;

/// All rows, in the order of the list.
pub fn algorithms() -> impl Iterator<Item = &'static Algorithm> {
    ROWS.iter()
}

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    registry::find(ROWS, name)
}

macro_rules! controllers {
    ($($variant:ident($module:ident::$type:ident): $($row:ident),+;)*) => {
        /// Any algorithm; calls are dispatched statically.
        pub enum Controller {
            $(#[doc = concat!("See [`super::", stringify!($module), "`].")] $variant(super::$module::$type),)*
            /// A user's own.
            Custom(Box<dyn CongestionControl + Send>),
        }

        static ROWS: &[Algorithm] = &[$($(
            super::$module::$row.made_by(|p| Controller::$variant((super::$module::$row.build)(p))),
        )+)*];

        macro_rules! each {
            ($self:expr, $c:ident => $call:expr) => {
                match $self {
                    $(Controller::$variant($c) => $call,)*
                    Controller::Custom($c) => $call,
                }
            };
        }
    };
}

// One line for each type: its variant, its module, and the rows that its module declares.
controllers! {
    Aimd(aimd::Aimd): SACK, NEWRENO, RENO, TAHOE;
    Hstcp(hstcp::Hstcp): ROW;
    Stcp(stcp::Stcp): ROW;
    Bic(bic::Bic): ROW;
    Fast(fast::Fast): ROW;
    Htcp(htcp::Htcp): ROW;
    Yeah(yeah::Yeah): ROW;
    Africa(africa::Africa): ROW;
    Ltcp(ltcp::Ltcp): ROW;
    HstcpLp(hstcp_lp::HstcpLp): ROW;
    Cubic(cubic::Cubic): ROW;
    Ctcp(ctcp::Ctcp): ROW;
    Ptcp(ptcp::Ptcp): ROW;
    Vegas(vegas::Vegas): ROW;
    Westwood(westwood::Westwood): ROW, PLUS;
    Illinois(illinois::Illinois): ROW;
    Xcp(xcp::Xcp): ROW;
    XcpR(xcp_r::XcpR): ROW;
    Vcp(vcp::Vcp): ROW;
    JetMax(jetmax::JetMax): ROW, RECEIVER;
    Rcp(rcp::Rcp): ROW;
    MaxNet(maxnet::MaxNet): ROW;
    Erica(erica::Erica): ROW;
    TriS(tri_s::TriS): ROW;
    Dctcp(dctcp::Dctcp): ROW;
    Prague(prague::Prague): ROW;
    Hybla(hybla::Hybla): ROW;
    Veno(veno::Veno): ROW;
    Lp(lp::Lp): ROW;
    Cdg(cdg::Cdg): ROW;
    Nv(nv::Nv): ROW;
    Ledbat(ledbat::Ledbat): ROW;
    LedbatPlusPlus(ledbat_plus_plus::LedbatPlusPlus): ROW;
    Bbr(bbr::Boxed): ROW;
    Bbr3(bbr3::Boxed): ROW;
    Copa(copa::Boxed): ROW;
    Vivace(vivace::Boxed): ROW;
}

impl Controller {
    /// Writes [`CongestionControl::explicit`] to its place. Each arm writes by itself: a header that the arms returned
    /// together would be copied byte by byte, as the bytes of one header are gaps in another.
    #[inline]
    pub(crate) fn write_explicit(&self, place: &mut Option<Explicit>, cwnd_bytes: f64, srtt: Interval) {
        each!(self, c => *place = c.explicit(cwnd_bytes, srtt));
    }
}

impl CongestionControl for Controller {
    fn draws(&self) -> bool {
        each!(self, c => c.draws())
    }
    fn on_seed(&mut self, seed: u64) {
        each!(self, c => c.on_seed(seed))
    }
    fn on_start(&mut self, mss_bytes: u32) {
        each!(self, c => c.on_start(mss_bytes))
    }
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        each!(self, c => c.on_ack(ack, w))
    }
    fn on_ack_unfilled(&mut self, ack: &Ack, w: &mut Window) {
        each!(self, c => c.on_ack_unfilled(ack, w))
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
    fn feedback(&self) -> Feedback {
        each!(self, c => c.feedback())
    }
    fn beta_ecn(&self) -> Option<f64> {
        each!(self, c => c.beta_ecn())
    }
    fn sends_ect1(&self) -> bool {
        each!(self, c => c.sends_ect1())
    }
    fn on_marks(&mut self, sample: &MarkSample, w: &mut Window) {
        each!(self, c => c.on_marks(sample, w))
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
    fn paces(&self) -> bool {
        // a user's own may do anything
        matches!(self, Controller::Custom(_)) || each!(self, c => c.paces())
    }
    #[inline]
    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        each!(self, c => c.pacing_rate(w, srtt))
    }
    fn is_model_based(&self) -> bool {
        each!(self, c => c.is_model_based())
    }
    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        each!(self, c => c.on_open(opening, w))
    }
    fn on_delivery(&mut self, delivery: &Delivery, w: &mut Window) {
        each!(self, c => c.on_delivery(delivery, w))
    }
    fn on_lost(&mut self, lost: &LostSegment, w: &mut Window) {
        each!(self, c => c.on_lost(lost, w))
    }
    fn on_timeout(&mut self, now: Time, w: &mut Window) {
        each!(self, c => c.on_timeout(now, w))
    }
    fn on_restart(&mut self, now: Time, last_sent: Option<Time>, w: &mut Window) {
        each!(self, c => c.on_restart(now, last_sent, w))
    }
    fn holds_back(&self) -> bool {
        each!(self, c => c.holds_back())
    }
    #[inline]
    fn send_quantum(&self) -> f64 {
        each!(self, c => c.send_quantum())
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
    fn on_connected(&mut self, answer: &Explicit, packet_bytes: f64, srtt: Interval, w: &mut Window) {
        each!(self, c => c.on_connected(answer, packet_bytes, srtt, w))
    }
    fn on_explicit_in_recovery(&mut self, echo: &Explicit, packet_bytes: f64) {
        each!(self, c => c.on_explicit_in_recovery(echo, packet_bytes))
    }
    fn mirror(&self, packet_bytes: f64) -> Option<Box<dyn Mirror>> {
        each!(self, c => c.mirror(packet_bytes))
    }
    fn internals(&self, out: &mut Internals) {
        each!(self, c => c.internals(out))
    }
    fn has_closed(&self) -> bool {
        match self {
            Controller::Custom(c) => c.has_closed(),
            _ => false,
        }
    }
    fn take_failure(&mut self) -> Option<String> {
        match self {
            Controller::Custom(c) => c.take_failure(),
            _ => None,
        }
    }
}
