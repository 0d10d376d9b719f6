//! RCP's sender (Dukkipati, Kobayashi, Zhang-Shen, McKeown: Processor Sharing Flows in the Internet, IWQoS
//! 2005): it sends at the least rate that the routers on its path (`crates/net/src/router/rcp.rs`) offer to
//! each flow, from its first packet of data on, because the connection request has asked for it.
//!
//! ```text
//! Request, and data:  R_p <- infinite,  RTT_p <- the round-trip time, 0 while unknown
//! Answer, and ack  :  rate <- R_p       packets leave 1 / rate apart
//! Loss             :  rate stays        only routers change it
//! ```
//!
//! Each acknowledgement carries the whole state of the sender, so a lost one loses nothing: this is what the
//! "r" architecture (Lopez Pacheco 2008, chapter 5) does for XCP, and RCP has no row of its own for it.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | rate | R_p | | the authors' ns-2 sender | a new rate counts from the next packet on; there at once |
//! | after a loss or a timeout | the same rate | | the authors' ns-2 sender | SACK repairs losses, there packets are repeated at the end |
//! | least rate | 1 | packet per RTT | chosen here | there 40 bytes per RTT ask for the rate while packets are rarer |
//! | window | 2, and above what is in flight | of rate RTT | chosen here: it must not hold a sender that paces | a rate without a window |
//! | growth without a router | 1 | segment per RTT | chosen here: standard TCP | there a sender does not start |

use super::congestion_control::{Ack, Congestion, CongestionControl, Echo, Internals, Window};
use super::guided::Guided;
use super::row::{Properties, Protocol, Row};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, Rcp as Header};

/// The registry row.
pub const ROW: Row<Rcp> = Row {
    entry: Entry {
        name: "rcp",
        title: "RCP",
        aliases: &[],
        citation: "Dukkipati, Kobayashi, Zhang-Shen, McKeown: Processor Sharing Flows in the Internet, IWQoS 2005",
        page: "rcp",
        parameters: &[],
        style: None,
    },
    linux_module: None,
    properties: Properties {
        shrinks: true,
        samples: true,
        paces: true,
        protocol: Some(Protocol { name: "rcp", header_bytes: Header::HEADER_BYTES, mirror: None }),
        ..Properties::DEFAULT
    },
    build: Rcp::build,
};

/// An RCP sender.
#[derive(Clone, Debug, Default)]
pub struct Rcp {
    rate: Guided,
}

impl Rcp {
    fn build(_: &Parameters) -> Self {
        Rcp::default()
    }
}

/// The rate of this header, segments/s; `None` if no router has written one.
fn told(header: &Explicit, packet_bytes: f64) -> Option<f64> {
    match header {
        Explicit::Rcp(Header { rate_bps, .. }) if rate_bps.is_finite() => {
            Some(rate_bps / (8.0 * packet_bytes))
        }
        _ => None,
    }
}

impl CongestionControl for Rcp {
    fn on_sample(&mut self, ack: &Ack) {
        self.rate.sample(ack);
    }

    fn explicit(&self, _cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        Some(Explicit::Rcp(Header { rate_bps: f64::INFINITY, rtt_s: srtt.as_secs_f64() }))
    }

    fn on_explicit(&mut self, header: &Explicit, packet_bytes: f64, echo: Echo, w: &mut Window) {
        if let Echo::Connection(srtt) = echo {
            self.rate.connected(srtt);
        }
        match (told(header, packet_bytes), echo) {
            (Some(rate), Echo::Recovery) => self.rate.follow_in_recovery(rate),
            (None, Echo::Recovery) => {}
            (Some(rate), _) => self.rate.follow(rate, w),
            (None, _) => self.rate.hear_nobody(w),
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.rate.ack(ack, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = self.rate.congestion(event, w);
    }

    fn on_recovered(&mut self, _now: Time, w: &mut Window) {
        self.rate.recovered(w);
    }

    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        self.rate.pacing_rate(w, srtt)
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("rate", self.rate.rate()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::congestion_control::Cause;
    use super::super::testing::{ack, congestion, instance, loss, window};
    use super::*;

    const RTT: Interval = Interval::from_millis(100);

    fn header(rate_bps: f64) -> Explicit {
        Explicit::Rcp(Header { rate_bps, rtt_s: 0.1 })
    }

    /// A sender whose connection request came back with this rate after 100 ms.
    fn connected(rate_bps: f64) -> (Rcp, Window) {
        let (mut c, mut w) = (instance(&ROW, &[]), window(3.0, f64::INFINITY));
        c.on_start(1436, 0);
        c.on_explicit(&header(rate_bps), 1500.0, Echo::Connection(RTT), &mut w);
        (c, w)
    }

    fn hear(c: &mut Rcp, w: &mut Window, rate_bps: f64) {
        c.on_sample(&ack(1.0));
        c.on_explicit(&header(rate_bps), 1500.0, Echo::Data { limited: true }, w);
        c.on_ack(&ack(1.0), w);
    }

    #[test]
    fn data_leave_at_the_rate_of_the_request_from_the_first_packet_on() {
        // 12 Mbit/s are 1000 packets of 1500 bytes a second, and 100 in a round trip
        let (c, w) = connected(12e6);
        assert_eq!(c.pacing_rate(&w, RTT), Some(1000.0));
        assert!(w.cwnd >= 200.0, "the window leaves room for a queue: {}", w.cwnd);
    }

    #[test]
    fn a_rate_counts_although_nobody_knows_the_round_trip_time_of_the_request() {
        // 12 Mbit/s again; a router that offers nothing leaves a packet a second
        for (rate_bps, expected) in [(12e6, 1000.0), (0.0, 1.0)] {
            let (mut c, mut w) = (instance(&ROW, &[]), window(3.0, f64::INFINITY));
            c.on_explicit(&header(rate_bps), 1500.0, Echo::Connection(Interval::ZERO), &mut w);
            assert_eq!((c.pacing_rate(&w, Interval::ZERO), w.cwnd), (Some(expected), 3.0));
        }
    }

    #[test]
    fn packets_ask_for_any_rate_and_tell_the_round_trip_time_once_it_is_known() {
        let c = instance(&ROW, &[]);
        for (srtt, rtt_s) in [(Interval::ZERO, 0.0), (RTT, 0.1)] {
            let expected = Explicit::Rcp(Header { rate_bps: f64::INFINITY, rtt_s });
            assert_eq!(c.explicit(4500.0, srtt), Some(expected));
        }
    }

    #[test]
    fn the_last_acknowledgement_alone_sets_the_rate_however_many_were_lost() {
        let (mut one, mut w) = connected(12e6);
        hear(&mut one, &mut w, 48e6);
        let (mut many, mut v) = connected(12e6);
        [1e6, 96e6, 3e6, 48e6].iter().for_each(|&bps| hear(&mut many, &mut v, bps));
        assert_eq!((one.pacing_rate(&w, RTT), w), (many.pacing_rate(&v, RTT), v));
        assert_eq!(one.pacing_rate(&w, RTT), Some(4000.0));
    }

    #[test]
    fn a_loss_a_mark_or_a_timeout_leaves_the_rate_to_the_routers() {
        for cause in [Cause::Loss, Cause::Mark, Cause::Timeout] {
            let (mut c, mut w) = connected(12e6);
            c.on_congestion(&congestion(cause), &mut w);
            assert_eq!((c.pacing_rate(&w, RTT), w.ssthresh), (Some(1000.0), w.cwnd), "{cause:?}");
        }
    }

    #[test]
    fn in_recovery_a_new_rate_counts_at_once_and_the_window_follows_at_the_end() {
        let (mut c, mut w) = connected(12e6);
        c.on_sample(&ack(1.0));
        c.on_congestion(&loss(), &mut w);
        let before = w;
        c.on_explicit(&header(6e6), 1500.0, Echo::Recovery, &mut w);
        assert_eq!((c.pacing_rate(&w, RTT), w), (Some(500.0), before));
        c.on_recovered(Time::ZERO, &mut w);
        assert_eq!(w.cwnd, 100.0);
    }

    #[test]
    fn a_rate_below_one_packet_in_a_round_trip_becomes_one() {
        let (mut c, mut w) = connected(1e3);
        assert_eq!(c.pacing_rate(&w, RTT), Some(10.0));
        hear(&mut c, &mut w, 0.0);
        assert_eq!(c.pacing_rate(&w, RTT), Some(10.0));
    }

    #[test]
    fn a_window_never_holds_a_sender_whose_rate_falls() {
        // 1000 segments are in flight when the rate falls to 100 in a round trip: it paces, and does not wait
        let (mut c, mut w) = connected(120e6);
        c.on_sample(&Ack { in_flight: 1000.0, ..ack(1.0) });
        c.on_explicit(&header(12e6), 1500.0, Echo::Data { limited: true }, &mut w);
        assert_eq!((c.pacing_rate(&w, RTT), w.cwnd), (Some(1000.0), 1001.0));
    }

    #[test]
    fn without_a_router_on_the_path_it_is_standard_tcp() {
        let (mut c, mut w) = connected(f64::INFINITY);
        assert_eq!((c.pacing_rate(&w, RTT), w.cwnd), (None, 3.0));
        hear(&mut c, &mut w, f64::INFINITY);
        assert_eq!(w.cwnd, 4.0);
        w.cwnd = 40.0;
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 20.0);
    }

    #[test]
    fn a_path_that_loses_its_routers_goes_on_as_tcp_from_the_data_in_flight_at_the_rate() {
        let (mut c, mut w) = connected(12e6);
        hear(&mut c, &mut w, f64::INFINITY);
        assert_eq!(c.pacing_rate(&w, RTT), None);
        // 1000 segments/s for 0.1 s, and one acknowledgement of congestion avoidance
        assert!((w.cwnd - 100.01).abs() < 1e-9 && w.ssthresh == 100.0, "{w:?}");
    }
}
