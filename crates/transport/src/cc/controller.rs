//! The list of all algorithms, and the enum through which the hot loop calls them without a virtual call.

use super::congestion_control::{
    Ack, Congestion, CongestionControl, Delivery, Echo, Internals, LostSegment, MarkSample, Opening, Window,
};
use super::row::{Properties, Row};
use longfat_units::{Interval, Time, registry};
use longfat_wire::Explicit;

/// An algorithm of one connection, with the facts about it.
pub struct Controller {
    /// The facts that stay as they are while the connection lasts.
    pub properties: Properties,
    algorithm: AnyAlgorithm,
}

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
        enum AnyAlgorithm {
            $(#[doc = concat!("See [`super::", stringify!($module), "`].")] $variant(super::$module::$type),)*
            /// A user's own.
            Custom(Box<dyn CongestionControl + Send>),
        }

        static ROWS: &[Algorithm] = &[$($(
            super::$module::$row.made_by(|p| Controller {
                properties: super::$module::$row.properties.with(p),
                algorithm: AnyAlgorithm::$variant((super::$module::$row.build)(p)),
            }),
        )+)*];

        macro_rules! each {
            ($algorithm:expr, $c:ident => $call:expr) => {
                match $algorithm {
                    $(AnyAlgorithm::$variant($c) => $call,)*
                    AnyAlgorithm::Custom($c) => $call,
                }
            };
        }
    };
}

// One line for each type: its variant, its module, and the rows that its module declares.
controllers! {
    Aimd(aimd::Aimd): RENO, NEWRENO, RENO_CLASSIC, TAHOE;
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
    /// A user's own algorithm, with the facts about it.
    pub fn custom(properties: Properties, algorithm: impl CongestionControl + Send + 'static) -> Self {
        Controller { properties, algorithm: AnyAlgorithm::Custom(Box::new(algorithm)) }
    }

    /// Whether it is a user's own.
    #[inline]
    pub const fn is_custom(&self) -> bool {
        matches!(self.algorithm, AnyAlgorithm::Custom(_))
    }

    /// Forgets what the algorithm knows; for a connection that is over.
    pub(crate) fn free(&mut self) {
        self.algorithm = AnyAlgorithm::Aimd(super::aimd::Aimd); // the smallest one
    }

    /// Writes [`CongestionControl::explicit`] to its place. Each arm writes by itself: a header that the arms
    /// returned together would be copied byte by byte, as the bytes of one header are gaps in another.
    #[inline]
    pub(crate) fn write_explicit(&self, place: &mut Option<Explicit>, cwnd_bytes: f64, srtt: Interval) {
        each!(&self.algorithm, c => *place = c.explicit(cwnd_bytes, srtt));
    }
}

impl CongestionControl for Controller {
    fn on_start(&mut self, mss_bytes: u32, seed: u64) {
        each!(&mut self.algorithm, c => c.on_start(mss_bytes, seed))
    }
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_ack(ack, w))
    }
    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_congestion(event, w))
    }
    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        each!(&mut self.algorithm, c => c.on_sample(ack))
    }
    fn on_marks(&mut self, sample: &MarkSample, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_marks(sample, w))
    }
    fn on_recovered(&mut self, now: Time, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_recovered(now, w))
    }
    fn on_undo(&mut self, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_undo(w))
    }
    fn on_timer(&mut self, now: Time, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_timer(now, w))
    }
    #[inline]
    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        each!(&self.algorithm, c => c.pacing_rate(w, srtt))
    }
    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_open(opening, w))
    }
    fn on_delivery(&mut self, delivery: &Delivery, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_delivery(delivery, w))
    }
    fn on_lost(&mut self, lost: &LostSegment, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_lost(lost, w))
    }
    fn on_timeout(&mut self, now: Time, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_timeout(now, w))
    }
    fn on_restart(&mut self, now: Time, last_sent: Option<Time>, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_restart(now, last_sent, w))
    }
    fn holds_back(&self) -> bool {
        each!(&self.algorithm, c => c.holds_back())
    }
    #[inline]
    fn send_quantum(&self) -> f64 {
        each!(&self.algorithm, c => c.send_quantum())
    }
    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        each!(&self.algorithm, c => c.explicit(cwnd_bytes, srtt))
    }
    fn on_explicit(&mut self, header: &Explicit, packet_bytes: f64, echo: Echo, w: &mut Window) {
        each!(&mut self.algorithm, c => c.on_explicit(header, packet_bytes, echo, w))
    }
    fn internals(&self, out: &mut Internals) {
        each!(&self.algorithm, c => c.internals(out))
    }
    fn take_failure(&mut self) -> Option<String> {
        match &mut self.algorithm {
            AnyAlgorithm::Custom(c) => c.take_failure(),
            _ => None,
        }
    }
}
