//! JetMax's sender (Zhang, Leonard, Loguinov: JetMax: Scalable Max-Min Congestion Control for High-Speed
//! Heterogeneous Networks, INFOCOM 2006; Computer Networks 2008): its rate x follows the rate that its
//! bottleneck (`crates/net/src/router/jetmax.rs`) grants each flow, and packets leave exactly 1/x apart. In
//! the form of Lopez Pacheco's thesis (2008, section 2.5.3.2):
//!
//! ```text
//! Out :  R_T, R_S <- the bottleneck, p, g <- its last word, delta <- 1/x in the header
//! Ack :  bottleneck <- R_S,   x <- x - tau (x - g)                        once for each rate    (2.37)
//! Loss:  x <- x / 2
//! ```
//!
//! In JetMax-r the receiver does the sum, as XCP-r's does XCP's (Lopez Pacheco 2008, chapter 5 and section
//! 7.4: the mechanism suits any explicit protocol). Routers are the same:
//!
//! ```text
//! Data:  x' <- 1/delta - tau (1/delta - g)            at the receiver
//! Ack :  x <- x'                                      where it is made of the present rate
//! ```
//!
//! Every packet of JetMax carries its rate, so the receiver needs neither memory nor XCP-r's flag, and one
//! acknowledgement a round trip is all that JetMax itself needs.
//!
//! A new x counts from the echo of the first packet sent at it, so x moves once per round trip. It grows only
//! if the router has counted the flow as one of its own and is not overloaded.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | tau | 0.6 | | chosen here: 0.4^6 is the first power below 1 % that six round trips (abstract of 2008) allow; stable for 0 < tau < 2 | the thesis gives no value |
//! | window | 2 | of x RTT | chosen here: it must not hold a sender that paces | a rate without a window |
//! | first rate | initial window | per RTT | chosen here | not printed |
//! | decrease on loss | 0.5 | of x | chosen here: as XCP's sender | not printed |
//! | after a timeout, and least | 1 | segment per RTT | chosen here | not printed |
//! | growth without a router | 1 | segment per RTT | chosen here: standard TCP | not printed |

use super::congestion_control::{Ack, Congestion, CongestionControl, Echo, Internals, Window};
use super::guided::Guided;
use super::row::{Properties, Protocol, Row};
use crate::echoing::Mirror;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, JetMax as Header};

const PROTOCOL: Protocol = Protocol { name: "jetmax", header_bytes: Header::HEADER_BYTES, mirror: None };

/// The registry row.
pub const ROW: Row<JetMax> = Row {
    entry: Entry {
        name: "jetmax",
        title: "JetMax",
        aliases: &[],
        citation: "Zhang, Leonard, Loguinov: JetMax: Scalable Max-Min Congestion Control for High-Speed Heterogeneous \
                   Networks, INFOCOM 2006",
        page: "jetmax",
        parameters: &[Parameter::number(
            "tau",
            0.6,
            (0.01, 1.99),
            "of the way",
            "how far a round trip moves the rate towards the router's",
        )],
        style: None,
    },
    linux_module: None,
    properties: Properties {
        shrinks: true,
        samples: true,
        paces: true,
        protocol: Some(PROTOCOL),
        ..Properties::DEFAULT
    },
    build: |p| JetMax::build(p, false),
};

/// The registry row of JetMax-r: the receiver does JetMax's sum.
pub const RECEIVER: Row<JetMax> = Row {
    entry: Entry {
        name: "jetmax-r",
        title: "JetMax-r",
        citation: "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous \
                   high speed networks, thesis, ENS Lyon, 2008, chapter 5 and section 7.4; \
                   Zhang, Leonard, Loguinov: JetMax, INFOCOM 2006",
        page: "jetmax_r",
        ..ROW.entry
    },
    properties: Properties {
        protocol: Some(Protocol {
            mirror: Some(|p, packet_bytes| Box::new(Mirrored { tau: p.number("tau"), packet_bytes })),
            ..PROTOCOL
        }),
        ..ROW.properties
    },
    build: |p| JetMax::build(p, true),
    ..ROW
};

/// x after one step from the rate of a packet that came back, or came through, with this header, segments/s.
fn moved(tau: f64, header: &Header, packet_bytes: f64) -> f64 {
    let rate = 1.0 / header.gap_s;
    let counted = header.suggested != 0 && header.bottleneck == header.suggested;
    let next = rate - tau * (rate - header.fair_bps / (8.0 * packet_bytes));
    if next < rate || (counted && header.loss == 0.0) { next } else { rate }
}

/// A JetMax sender.
#[derive(Clone, Debug)]
pub struct JetMax {
    tau: f64,
    /// The receiver does the sum (JetMax-r).
    mirrored: bool,
    /// x; the window's rate until a router sets one.
    x: Guided,
    /// R_T, p and g as last heard.
    bottleneck: u8,
    loss: f64,
    fair_bps: f64,
    mss_bytes: f64,
}

impl JetMax {
    fn build(p: &Parameters, mirrored: bool) -> Self {
        JetMax {
            tau: p.number("tau"),
            mirrored,
            x: Guided::halving(),
            bottleneck: 0,
            loss: 0.0,
            fair_bps: f64::INFINITY,
            mss_bytes: 1.0,
        }
    }

    /// Takes what routers wrote. Returns the next rate, segments/s, if the packet was sent at the present
    /// one.
    fn next_rate(&mut self, echo: &Header, packet_bytes: f64) -> Option<f64> {
        (self.bottleneck, self.loss, self.fair_bps) = (echo.suggested, echo.loss, echo.fair_bps);
        if !self.x.has_router() || echo.gap_s != 1.0 / self.x.rate() {
            return None;
        }
        Some(if self.mirrored { 1.0 / echo.next_gap_s } else { moved(self.tau, echo, packet_bytes) })
    }
}

impl CongestionControl for JetMax {
    fn on_start(&mut self, mss_bytes: u32, _seed: u64) {
        self.mss_bytes = f64::from(mss_bytes);
    }

    fn on_sample(&mut self, ack: &Ack) {
        self.x.sample(ack);
    }

    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        let gap_s = if self.x.has_router() {
            1.0 / self.x.rate()
        } else {
            // the window does not count headers yet: a few percent for one round trip
            srtt.as_secs_f64() * (self.mss_bytes / cwnd_bytes).min(1.0)
        };
        Some(Explicit::JetMax(Header {
            bottleneck: self.bottleneck,
            hops: 0,
            suggested: self.bottleneck,
            loss: self.loss,
            fair_bps: self.fair_bps,
            gap_s,
            next_gap_s: 0.0,
        }))
    }

    fn on_explicit(&mut self, header: &Explicit, packet_bytes: f64, echo: Echo, w: &mut Window) {
        let Explicit::JetMax(header) = header else { return };
        match echo {
            Echo::Data { .. } if header.hops == 0 => self.x.hear_nobody(w),
            Echo::Data { limited } => {
                self.x.hear_router(w);
                if let Some(next) = self.next_rate(header, packet_bytes)
                    && (limited || next < self.x.rate())
                {
                    self.x.set(next, w);
                }
            }
            Echo::Recovery if header.hops > 0 => {
                // growth waits for the end of the recovery
                if let Some(next) = self.next_rate(header, packet_bytes).filter(|next| *next < self.x.rate())
                {
                    self.x.pace(next);
                }
            }
            _ => {}
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.x.ack(ack, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = self.x.congestion(event, w);
    }

    fn on_recovered(&mut self, _now: Time, w: &mut Window) {
        self.x.recovered(w);
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.x.undone(w);
    }

    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        self.x.pacing_rate(w, srtt)
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("rate", self.x.rate()));
        out.push(("bottleneck", f64::from(self.bottleneck)));
    }
}

/// What JetMax-r's receiver does.
#[derive(Clone, Copy, Debug)]
struct Mirrored {
    tau: f64,
    packet_bytes: f64,
}

impl Mirror for Mirrored {
    fn answer(&mut self, header: &Explicit) -> Explicit {
        let Explicit::JetMax(mut header) = *header else { return *header };
        header.next_gap_s = 1.0 / moved(self.tau, &header, self.packet_bytes);
        Explicit::JetMax(header)
    }
}

#[cfg(test)]
mod tests {
    use super::super::congestion_control::Cause;
    use super::super::testing::{ack, congestion, instance, loss, parameters, window, with_numbers};
    use super::*;

    const RTT: Interval = Interval::from_millis(100);
    /// 1000 segments/s of 1500 bytes.
    const FAIR_BPS: f64 = 12e6;

    fn out(c: &JetMax) -> Header {
        let Some(Explicit::JetMax(header)) = c.explicit(15_000.0, RTT) else { panic!("a header") };
        header
    }

    /// The header that leaves now comes back from a router that is second on the path and says this.
    fn echo(c: &JetMax, loss: f64, fair_bps: f64) -> Header {
        Header { hops: 3, suggested: 2, loss, fair_bps, ..out(c) }
    }

    fn hear(c: &mut JetMax, w: &mut Window, header: Header) {
        c.on_sample(&ack(1.0));
        c.on_explicit(&Explicit::JetMax(header), 1500.0, Echo::Data { limited: true }, w);
        c.on_ack(&ack(1.0), w);
    }

    /// A sender of 100 segments/s that follows router 2.
    fn guided(tau: f64) -> (JetMax, Window) {
        let (mut c, mut w) = (with_numbers(&ROW, &[("tau", tau)]), window(10.0, f64::INFINITY));
        c.on_start(1428, 0);
        let first = echo(&c, 0.0, f64::INFINITY);
        hear(&mut c, &mut w, first);
        (c, w)
    }

    fn rate(c: &JetMax, w: &Window) -> f64 {
        c.pacing_rate(w, RTT).expect("it paces")
    }

    fn round_trip(c: &mut JetMax, w: &mut Window, loss: f64, fair_bps: f64) {
        let header = echo(c, loss, fair_bps);
        (0..5).for_each(|_| hear(c, w, header));
    }

    #[test]
    fn six_round_trips_lead_within_a_percent_of_the_router_s_rate() {
        // the abstract of the paper of 2008
        let (mut c, mut w) = guided(0.6);
        assert!((rate(&c, &w) - 100.0).abs() < 1e-9, "the initial window in a round trip");
        let mut rates = Vec::new();
        for _ in 0..6 {
            round_trip(&mut c, &mut w, 0.0, FAIR_BPS);
            rates.push(rate(&c, &w));
        }
        // each takes six tenths of the way: 100 -> 640 -> 856 -> 942.4
        for (is, expected) in rates.iter().zip([640.0, 856.0, 942.4]) {
            assert!((is - expected).abs() < 1e-6, "{rates:?}");
        }
        assert!(rates[5] > 990.0 && rates.is_sorted(), "{rates:?}");
    }

    #[test]
    fn any_gain_between_0_and_2_leads_to_the_router_s_rate() {
        for tau in [0.05, 0.5, 1.0, 1.5, 1.95] {
            let (mut c, mut w) = guided(tau);
            (0..400).for_each(|_| round_trip(&mut c, &mut w, 0.0, FAIR_BPS));
            assert!((rate(&c, &w) - 1000.0).abs() < 1e-3, "{tau}: {}", rate(&c, &w));
        }
        assert!(ROW.instance(&[("tau".to_owned(), super::super::Value::Number(2.0))]).is_err());
    }

    #[test]
    fn a_rate_moves_once_however_many_packets_of_it_are_echoed() {
        let (mut c, mut w) = guided(0.6);
        let old = echo(&c, 0.0, FAIR_BPS);
        for _ in 0..64 {
            hear(&mut c, &mut w, old);
            assert!((rate(&c, &w) - 640.0).abs() < 1e-6);
        }
        // nor do packets from before a loss bring back what it took
        c.on_congestion(&loss(), &mut w);
        c.on_recovered(Time::ZERO, &mut w);
        let halved = rate(&c, &w);
        hear(&mut c, &mut w, old);
        assert!((halved - 320.0).abs() < 1e-6 && rate(&c, &w) == halved);
    }

    #[test]
    fn a_rate_grows_only_on_the_word_of_a_router_that_counts_the_flow_and_has_room_and_always_falls() {
        let (mut c, mut w) = guided(0.6);
        let stranger = Header { suggested: 3, ..echo(&c, 0.0, FAIR_BPS) };
        hear(&mut c, &mut w, stranger);
        assert!((rate(&c, &w) - 100.0).abs() < 1e-9);
        assert_eq!(out(&c).bottleneck, 3, "but it is followed from now on");
        let mut told = Header { suggested: 3, ..echo(&c, 0.1, FAIR_BPS) };
        hear(&mut c, &mut w, told);
        assert!((rate(&c, &w) - 100.0).abs() < 1e-9, "the router is overloaded");
        told.loss = 0.0;
        hear(&mut c, &mut w, told);
        assert!((rate(&c, &w) - 640.0).abs() < 1e-6);
        let low = Header { suggested: 1, ..echo(&c, 0.1, 0.0) };
        hear(&mut c, &mut w, low);
        assert!((rate(&c, &w) - 256.0).abs() < 1e-6);
        (0..20).for_each(|_| round_trip(&mut c, &mut w, 0.0, 0.0));
        assert!((rate(&c, &w) - 10.0).abs() < 1e-9, "a segment a round trip is left");
    }

    #[test]
    fn a_packet_says_when_the_next_one_leaves_and_what_the_bottleneck_said_last() {
        let (mut c, mut w) = guided(0.6);
        round_trip(&mut c, &mut w, 0.0, FAIR_BPS);
        let header = out(&c);
        assert!((header.gap_s * rate(&c, &w) - 1.0).abs() < 1e-12);
        assert_eq!((header.bottleneck, header.suggested, header.hops), (2, 2, 0));
        assert_eq!((header.loss, header.fair_bps), (0.0, FAIR_BPS));
        // what is in flight at the rate is half of the window: 640 segments/s for 0.1 s
        assert!((w.cwnd - 128.0).abs() < 1e-6, "{}", w.cwnd);
    }

    #[test]
    fn a_loss_halves_the_rate_and_a_timeout_leaves_a_segment_a_round_trip() {
        for (cause, left) in [(Cause::Loss, 320.0), (Cause::Timeout, 10.0)] {
            let (mut c, mut w) = guided(0.6);
            round_trip(&mut c, &mut w, 0.0, FAIR_BPS);
            c.on_congestion(&congestion(cause), &mut w);
            assert!((rate(&c, &w) - left).abs() < 1e-6, "{cause:?}");
        }
    }

    fn mirror() -> Box<dyn Mirror> {
        RECEIVER.mirror(&parameters(&RECEIVER, &[]), 1500.0).expect("a mirror")
    }

    #[test]
    fn in_recovery_routers_lower_the_rate_and_do_not_raise_it() {
        for row in [&ROW, &RECEIVER] {
            let (mut c, mut w) = (instance(row, &[]), window(10.0, f64::INFINITY));
            c.on_start(1428, 0);
            let first = echo(&c, 0.0, f64::INFINITY);
            hear(&mut c, &mut w, first);
            c.on_congestion(&loss(), &mut w);
            assert!((rate(&c, &w) - 50.0).abs() < 1e-9);
            let before = w;
            let mut receiver = mirror();
            // room for 1000 segments/s, then for 10: 0.4 of what is above that is left each time
            for (fair_bps, expected) in [(FAIR_BPS, 50.0), (12e4, 26.0), (12e4, 16.4), (FAIR_BPS, 16.4)] {
                let answer = receiver.answer(&Explicit::JetMax(echo(&c, 0.0, fair_bps)));
                (0..3).for_each(|_| c.on_explicit(&answer, 1500.0, Echo::Recovery, &mut w));
                assert!((rate(&c, &w) - expected).abs() < 1e-9, "{fair_bps}: {}", rate(&c, &w));
            }
            assert_eq!((w.cwnd, w.ssthresh), (before.cwnd, before.ssthresh), "it belongs to the recovery");
        }
    }

    #[test]
    fn a_timeout_that_was_spurious_gives_the_rate_back() {
        let (mut c, mut w) = guided(0.6);
        round_trip(&mut c, &mut w, 0.0, FAIR_BPS);
        let before = w;
        c.on_congestion(&congestion(Cause::Timeout), &mut w);
        w = before;
        c.on_undo(&mut w);
        assert!((rate(&c, &w) - 640.0).abs() < 1e-6 && (w.cwnd - before.cwnd).abs() < 1e-6);
    }

    #[test]
    fn a_receiver_that_does_the_sum_leads_to_the_same_rates() {
        let (mut direct, mut w) = guided(0.6);
        let (mut copied, mut v) = (instance(&RECEIVER, &[]), window(10.0, f64::INFINITY));
        copied.on_start(1428, 0);
        let mut receiver = mirror();
        assert!(ROW.mirror(&parameters(&ROW, &[]), 1500.0).is_none());
        let first = echo(&copied, 0.0, f64::INFINITY);
        hear(&mut copied, &mut v, first);
        for (loss, fair_bps) in [(0.0, FAIR_BPS), (0.0, 3e6), (0.2, 9e6), (0.0, 9e6), (0.3, 0.0)] {
            let header = Explicit::JetMax(echo(&copied, loss, fair_bps));
            for _ in 0..3 {
                let Explicit::JetMax(answer) = receiver.answer(&header) else { panic!("another header") };
                hear(&mut copied, &mut v, answer);
            }
            round_trip(&mut direct, &mut w, loss, fair_bps);
            assert!((rate(&copied, &v) / rate(&direct, &w) - 1.0).abs() < 1e-9, "{fair_bps}");
        }
    }

    #[test]
    fn without_a_router_on_the_path_it_is_standard_tcp_and_does_not_pace() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, 20.0));
        c.on_start(1428, 0);
        assert!((rate(&c, &w) - 100.0).abs() < 1e-9, "it paces until it knows");
        let untouched = out(&c);
        hear(&mut c, &mut w, untouched);
        assert_eq!((w.cwnd, c.pacing_rate(&w, RTT)), (11.0, None));
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 5.5);
    }
}
