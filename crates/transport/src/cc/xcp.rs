//! XCP's sender (Katabi, Handley, Rohrs: Congestion Control for High Bandwidth-Delay Product Networks,
//! SIGCOMM 2002): every data packet carries the window, the round-trip time and the feedback that the sender
//! wishes for. Routers (`crates/net/src/router/xcp.rs`) reduce the feedback to what they can give, and the
//! window follows it.
//!
//! ```text
//! Out :  cwnd, rtt in the header, feedback <- all there is
//! Ack :  cwnd <- max(cwnd + feedback, one packet)
//! Loss:  cwnd <- cwnd / 2
//! ```
//!
//! Windows in headers count bytes of IP. A header that returns unchanged has met no XCP router; the sender
//! then grows as standard TCP does.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | decrease on loss | 0.5 | of cwnd | SIGCOMM 2002, section 3.3: "in a similar manner to TCP" | none |
//! | growth without a router | 1 | segment per RTT | chosen here: standard TCP | the paper assumes that every bottleneck is a router of XCP's |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, Echo, Internals, Window};
use super::row::{Properties, Protocol, Row};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Interval};
use longfat_wire::{Explicit, Xcp as Header};

/// The registry row.
pub const ROW: Row<Xcp> = Row {
    entry: Entry {
        name: "xcp",
        title: "XCP",
        aliases: &[],
        citation: "Katabi, Handley, Rohrs: Congestion Control for High Bandwidth-Delay Product Networks, SIGCOMM 2002",
        page: "xcp",
        parameters: &[],
        style: None,
    },
    linux_module: None,
    properties: Properties {
        protocol: Some(Protocol { name: "xcp", header_bytes: Header::HEADER_BYTES, mirror: None }),
        ..Properties::DEFAULT
    },
    build: Xcp::build,
};

/// More than any path holds, so that routers decide how much.
const WISH_BYTES: f64 = f64::INFINITY;

/// An XCP sender.
#[derive(Clone, Debug, Default)]
pub struct Xcp {
    /// A router has changed the last header that returned.
    pub(super) guided: bool,
}

impl Xcp {
    fn build(_: &Parameters) -> Self {
        Xcp::default()
    }
}

impl CongestionControl for Xcp {
    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        let rtt_s = srtt.as_secs_f64();
        Some(Explicit::Xcp(Header { cwnd_bytes, rtt_s, feedback_bytes: WISH_BYTES, reset: false }))
    }

    fn on_explicit(&mut self, header: &Explicit, packet_bytes: f64, echo: Echo, w: &mut Window) {
        let (Explicit::Xcp(Header { feedback_bytes, .. }), Echo::Data { limited }) = (header, echo) else {
            return;
        };
        self.guided = feedback_bytes.is_finite();
        // a window that is not used does not grow
        if self.guided && (limited || *feedback_bytes < 0.0) {
            w.cwnd = (w.cwnd + feedback_bytes / packet_bytes).max(1.0);
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.guided {
            return;
        }
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        w.cwnd += standard_increase(w.cwnd, ack.acked);
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        w.ssthresh = standard_decrease(w.cwnd);
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("guided", f64::from(u8::from(self.guided))));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, instance, loss, window};
    use super::*;

    fn echo(feedback_bytes: f64) -> Explicit {
        Explicit::Xcp(Header { cwnd_bytes: 15_000.0, rtt_s: 0.1, feedback_bytes, reset: false })
    }

    #[test]
    fn the_window_takes_the_feedback_in_bytes_and_keeps_one_packet() {
        let mut c = instance(&ROW, &[]);
        let mut w = window(10.0, f64::INFINITY);
        for (feedback, cwnd) in [(3000.0, 12.0), (-1500.0, 11.0), (-750.0, 10.5), (-1e6, 1.0)] {
            c.on_explicit(&echo(feedback), 1500.0, Echo::Data { limited: true }, &mut w);
            c.on_ack(&ack(1.0), &mut w);
            assert_eq!(w.cwnd, cwnd);
        }
    }

    #[test]
    fn a_sender_that_the_window_does_not_hold_only_shrinks() {
        let mut c = instance(&ROW, &[]);
        let mut w = window(10.0, f64::INFINITY);
        c.on_explicit(&echo(3000.0), 1500.0, Echo::Data { limited: false }, &mut w);
        assert_eq!(w.cwnd, 10.0);
        c.on_explicit(&echo(-3000.0), 1500.0, Echo::Data { limited: false }, &mut w);
        assert_eq!(w.cwnd, 8.0);
    }

    #[test]
    fn without_a_router_on_the_path_it_grows_as_standard_tcp_and_a_loss_halves_it_anyway() {
        let mut c = instance(&ROW, &[]);
        let mut w = window(10.0, 20.0);
        let untouched = c.explicit(15_000.0, Interval::from_millis(100)).expect("a header");
        c.on_explicit(&untouched, 1500.0, Echo::Data { limited: true }, &mut w);
        c.on_ack(&ack(2.0), &mut w);
        assert_eq!(w.cwnd, 12.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 6.0);
    }

    #[test]
    fn the_header_asks_for_more_than_any_router_has() {
        let Some(Explicit::Xcp(header)) = Xcp::default().explicit(15_000.0, Interval::from_millis(100))
        else {
            panic!("a header");
        };
        assert_eq!((header.cwnd_bytes, header.rtt_s), (15_000.0, 0.1));
        assert!(header.feedback_bytes > 1e15 && header.is_measured());
    }
}
