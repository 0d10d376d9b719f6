//! JetMax's sender (Zhang, Leonard, Loguinov: JetMax: Scalable Max-Min Congestion Control for High-Speed Heterogeneous
//! Networks, INFOCOM 2006; Computer Networks 2008): its rate x follows the one that its bottleneck
//! (`crates/net/src/router/jetmax.rs`) has for each flow, and packets leave exactly 1/x apart. As Lopez Pacheco's thesis
//! (2008, section 2.5.3.2) has it:
//!
//! ```text
//! Out :  R_T, R_S <- the bottleneck, p, g <- its last word, delta <- 1/x in the header
//! Ack :  bottleneck <- R_S,   x <- x - tau (x - g)                        once for each rate    (2.37)
//! Loss:  x <- x / 2
//! ```
//!
//! x counts from the echo of the first packet that was sent at it, so that it moves once a round trip. It grows only where
//! the router has counted the flow among its own and is not overloaded.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | tau | 0.6 | | chosen here: 0.4^6 is the first power below 1 % that six round trips (abstract of 2008) allow; stable for 0 < tau < 2 | the thesis gives no value |
//! | window | 2 | of x RTT | chosen here: it must not hold a sender that paces | a rate without a window |
//! | first rate | initial window | per RTT | chosen here | not printed |
//! | decrease on loss | 0.5 | of x | chosen here: as XCP's sender | not printed |
//! | after a timeout, and least | 1 | segment per RTT | chosen here | not printed |
//! | growth without a router | 1 | segment per RTT | chosen here: standard TCP | not printed |

use super::aimd::{standard_decrease, standard_increase};
use super::registry::{Algorithm, Recovery};
use super::{Ack, Cause, Congestion, CongestionControl, Controller, Parameter, Parameters, Window};
use longfat_units::Interval;
use longfat_wire::{Explicit, JetMax as Header};

/// The registry row.
pub const ROW: Algorithm = Algorithm {
    name: "jetmax",
    aliases: &[],
    citation: "Zhang, Leonard, Loguinov: JetMax: Scalable Max-Min Congestion Control for High-Speed Heterogeneous \
               Networks, INFOCOM 2006",
    parameters: &[Parameter::number(
        "tau",
        0.6,
        (0.01, 1.99),
        "of the way",
        "how far a round trip leads from the present rate to the router's",
    )],
    linux_module: None,
    recovery: Recovery::Sack,
    build: JetMax::build,
};

/// Room in the window for what is in flight at the rate, and for a queue.
const WINDOW_PER_RATE: f64 = 2.0;

/// Who says how fast.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Guide {
    /// No echo has come back yet.
    Unknown,
    /// There is no JetMax router on the path.
    Nobody,
    /// Routers.
    Routers,
}

/// A JetMax sender.
#[derive(Clone, Debug)]
pub struct JetMax {
    tau: f64,
    guide: Guide,
    /// R_T, p and g as last heard.
    bottleneck: u8,
    loss: f64,
    fair_bps: f64,
    /// x, segments/s; that of the window until a router guides.
    rate: f64,
    srtt_s: f64,
    mss_bytes: f64,
}

impl JetMax {
    fn build(p: &Parameters) -> Controller {
        Controller::JetMax(JetMax {
            tau: p.number("tau"),
            guide: Guide::Unknown,
            bottleneck: 0,
            loss: 0.0,
            fair_bps: f64::INFINITY,
            rate: 0.0,
            srtt_s: 0.0,
            mss_bytes: 1.0,
        })
    }

    fn set(&mut self, rate: f64, w: &mut Window) {
        self.rate = rate.max(1.0 / self.srtt_s);
        w.cwnd = WINDOW_PER_RATE * self.rate * self.srtt_s;
    }
}

impl CongestionControl for JetMax {
    fn on_start(&mut self, mss_bytes: u32) {
        self.mss_bytes = f64::from(mss_bytes);
    }

    fn on_sample(&mut self, ack: &Ack) {
        self.srtt_s = ack.srtt.as_secs_f64();
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn explicit_bytes(&self) -> u32 {
        Header::HEADER_BYTES
    }

    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        let gap_s = match self.guide {
            Guide::Routers => 1.0 / self.rate,
            // headers are not in the window's count yet: a few percent for one round trip
            _ => srtt.as_secs_f64() * (self.mss_bytes / cwnd_bytes).min(1.0),
        };
        Some(Explicit::JetMax(Header {
            bottleneck: self.bottleneck,
            hops: 0,
            suggested: self.bottleneck,
            loss: self.loss,
            fair_bps: self.fair_bps,
            gap_s,
        }))
    }

    fn on_explicit(&mut self, echo: &Explicit, packet_bytes: f64, limited: bool, w: &mut Window) {
        let Explicit::JetMax(echo) = echo else { return };
        if echo.hops == 0 {
            self.guide = Guide::Nobody;
            return;
        }
        if self.guide != Guide::Routers && self.srtt_s > 0.0 {
            self.guide = Guide::Routers;
            self.set(w.cwnd / self.srtt_s, w);
        }
        (self.bottleneck, self.loss, self.fair_bps) = (echo.suggested, echo.loss, echo.fair_bps);
        // a bottleneck is known, and this packet was sent at the present rate
        if self.guide != Guide::Routers || echo.suggested == 0 || echo.gap_s != 1.0 / self.rate {
            return;
        }
        let next = self.rate - self.tau * (self.rate - echo.fair_bps / (8.0 * packet_bytes));
        let may_grow = limited && echo.bottleneck == echo.suggested && echo.loss == 0.0;
        if may_grow || next < self.rate {
            self.set(next, w);
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        match self.guide {
            // the round-trip time moves on while the rate stays
            Guide::Routers => self.set(self.rate, w),
            _ if w.in_slow_start() => w.slow_start(ack.acked),
            _ => w.cwnd += standard_increase(w.cwnd, ack.acked),
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = standard_decrease(w.cwnd);
        if self.guide == Guide::Routers {
            self.rate = if event.cause == Cause::Timeout { 0.0 } else { 0.5 * self.rate };
            self.rate = self.rate.max(1.0 / self.srtt_s);
        }
    }

    fn on_recovered(&mut self, _now: longfat_units::Time, w: &mut Window) {
        if self.guide == Guide::Routers {
            self.set(self.rate, w);
        }
    }

    fn on_undo(&mut self, w: &mut Window) {
        if self.guide == Guide::Routers {
            self.set(w.cwnd / (WINDOW_PER_RATE * self.srtt_s), w);
        }
    }

    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        match self.guide {
            Guide::Routers => Some(self.rate),
            Guide::Unknown if srtt > Interval::ZERO => Some(w.cwnd / srtt.as_secs_f64()),
            _ => None,
        }
    }

    fn internals(&self, out: &mut Vec<(&'static str, f64)>) {
        out.push(("rate", self.rate));
        out.push(("bottleneck", f64::from(self.bottleneck)));
    }
}
