//! XCP-r (Lopez Pacheco: Propositions pour un controle de congestion efficace sur reseaux heterogenes a haut debit,
//! thesis, ENS Lyon, 2008, section 5.3): the receiver does XCP's sums. Feedback that each acknowledgement carries on its
//! own is lost with it; a window is not. Routers are XCP's.
//!
//! ```text
//! Out :  XCP's header; congestion flag set while the receiver does not know of a window that was set otherwise
//! Data:  cwnd' <- H_cwnd if the flag is set,   cwnd' <- max(cwnd' + feedback, one packet)      at the receiver
//! Ack :  cwnd <- cwnd'
//! Loss:  cwnd <- cwnd / 2
//! ```
//!
//! The thesis's first formula, `variant = "first"`, needs no copy, and fails where the sender's round trip is not the
//! router's interval:
//!
//! ```text
//! Data:  cwnd' <- H_cwnd + feedback H_cwnd / s
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | window at first | 1 | packet | section 5.3: created so by the request for a connection | the flag on the first packets makes it the initial window |
//! | flag | on every packet until its answer | | chosen here | the text says when it is set; on one packet it would be lost with it |
//! | wish of a sender that its window does not hold | 0 | bytes | chosen here: XCP's header has it | such a sender ignores growth, which the receiver cannot know |

use super::registry::{Algorithm, Recovery};
use super::xcp::Xcp;
use super::{
    Ack, Cause, Congestion, CongestionControl, Controller, LEAST_SSTHRESH, Parameter, Parameters, Window,
};
use crate::Mirror;
use longfat_units::Interval;
use longfat_wire::{Explicit, Xcp as Header};

/// The registry row.
pub const ROW: Algorithm = Algorithm {
    name: "xcp-r",
    aliases: &[],
    citation: "Lopez Pacheco: thesis on congestion control in heterogeneous networks of large bandwidth-delay product, \
               ENS Lyon, 2008, section 5.3",
    parameters: &[Parameter::choice(
        "variant",
        &["mirror", "first"],
        "how the receiver finds the window: by the sums, or from one packet",
    )],
    linux_module: None,
    recovery: Recovery::Sack,
    build: XcpR::build,
};

/// Whether two windows are one, but for rounding.
fn same(a_bytes: f64, b_bytes: f64) -> bool {
    (a_bytes - b_bytes).abs() < 0.5
}

/// An XCP-r sender.
#[derive(Clone, Debug)]
pub struct XcpR {
    plain: Xcp,
    first: bool,
    /// The window that the last answer left; another one was set by somebody else.
    agreed_bytes: f64,
    /// Where a reduction under way will end.
    reducing_to_bytes: f64,
    packet_bytes: f64,
    limited: bool,
}

impl XcpR {
    fn build(p: &Parameters) -> Controller {
        Controller::XcpR(XcpR {
            plain: Xcp::default(),
            first: p.word("variant") == "first",
            agreed_bytes: 0.0,
            reducing_to_bytes: f64::INFINITY,
            packet_bytes: 1.0,
            limited: true,
        })
    }
}

impl CongestionControl for XcpR {
    fn explicit_bytes(&self) -> u32 {
        self.plain.explicit_bytes()
    }

    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        let cwnd_bytes = cwnd_bytes.min(self.reducing_to_bytes);
        let Some(Explicit::Xcp(mut header)) = self.plain.explicit(cwnd_bytes, srtt) else { return None };
        header.reset = !same(cwnd_bytes, self.agreed_bytes);
        if !self.limited {
            header.feedback_bytes = 0.0;
        }
        Some(Explicit::Xcp(header))
    }

    fn mirror(&self, packet_bytes: f64) -> Option<Box<dyn Mirror>> {
        Some(if self.first {
            Box::new(OnePacket { packet_bytes })
        } else {
            Box::new(Copied { packet_bytes, cwnd_bytes: packet_bytes, from_bytes: None })
        })
    }

    fn on_explicit(&mut self, echo: &Explicit, packet_bytes: f64, limited: bool, w: &mut Window) {
        let Explicit::Xcp(Header { cwnd_bytes, feedback_bytes: told_bytes, reset, .. }) = echo;
        self.packet_bytes = packet_bytes;
        self.limited = limited;
        self.plain.guided = told_bytes.is_finite();
        let own_bytes = w.cwnd * packet_bytes;
        // what was sent before a window was set otherwise tells of the old one
        let known = same(own_bytes, self.agreed_bytes) || (*reset && same(own_bytes, *cwnd_bytes));
        if self.plain.guided && known && (limited || *told_bytes < own_bytes) {
            w.cwnd = (told_bytes / packet_bytes).max(1.0);
            self.agreed_bytes = w.cwnd * packet_bytes;
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.plain.on_ack(ack, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.plain.on_congestion(event, w);
        if event.cause != Cause::Timeout {
            self.reducing_to_bytes = w.ssthresh.max(LEAST_SSTHRESH) * self.packet_bytes;
        }
    }

    fn on_recovered(&mut self, _now: longfat_units::Time, _w: &mut Window) {
        self.reducing_to_bytes = f64::INFINITY;
    }

    fn internals(&self, out: &mut Vec<(&'static str, f64)>) {
        self.plain.internals(out);
    }
}

/// cwnd', the sums that an XCP sender would do.
#[derive(Clone, Debug)]
struct Copied {
    packet_bytes: f64,
    cwnd_bytes: f64,
    /// The window that the flag of the last packet told of. It stands on all packets of a round trip, and counts once.
    from_bytes: Option<f64>,
}

impl Mirror for Copied {
    fn answer(&mut self, header: &Explicit) -> Explicit {
        let Explicit::Xcp(mut header) = *header;
        let from_bytes = header.reset.then_some(header.cwnd_bytes);
        if from_bytes != self.from_bytes {
            self.from_bytes = from_bytes;
            self.cwnd_bytes = from_bytes.unwrap_or(self.cwnd_bytes);
        }
        // without a router on the path the wish comes through as it was
        if header.feedback_bytes.is_finite() {
            self.cwnd_bytes = (self.cwnd_bytes + header.feedback_bytes).max(self.packet_bytes);
            header.feedback_bytes = self.cwnd_bytes;
        }
        Explicit::Xcp(header)
    }
}

/// The first formula: as if every packet of a window had been given what this one was.
#[derive(Clone, Debug)]
struct OnePacket {
    packet_bytes: f64,
}

impl Mirror for OnePacket {
    fn answer(&mut self, header: &Explicit) -> Explicit {
        let Explicit::Xcp(mut header) = *header;
        if header.feedback_bytes.is_finite() {
            let packets = header.cwnd_bytes / self.packet_bytes;
            header.feedback_bytes =
                (header.cwnd_bytes + header.feedback_bytes * packets).max(self.packet_bytes);
        }
        Explicit::Xcp(header)
    }
}
