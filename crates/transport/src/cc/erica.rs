//! ERICA's sender (Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: The ERICA Switch Algorithm for ABR Traffic
//! Management in ATM Networks, IEEE/ACM Transactions on Networking 8(1), 2000), on IP packets: it sends at
//! the least rate that routers (`crates/net/src/router/erica.rs`) allow.
//!
//! ```text
//! Out :  CCR <- x, ER <- infinite in the header; packets leave exactly 1/x apart
//! Ack :  x <- ER
//! Loss:  x stays        only routers change it, also in recovery
//! ```
//!
//! In ATM the rules of the source belong to the service (ABR), not to ERICA. There a source raises its rate
//! by a part of its peak rate for each resource management cell that returns, up to ER. With the whole of the
//! peak rate, which this sender takes, the rate is ER at once.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | rate increase factor | 1 | of the peak rate | from memory of the paper's experiments, not verified | no peak rate |
//! | window | 2, and above what is in flight | of x RTT | chosen here: it must not hold a sender that paces | a rate without a window |
//! | first rate | initial window | per RTT | chosen here | ABR: a rate agreed with the network |
//! | after a loss | the same rate | | ABR's sources do not see losses; ER is followed in recovery too | SACK repairs them |
//! | least | 1 | segment per RTT | chosen here | a rate agreed with the network |
//! | after a timeout | least, until the next ER | | chosen here: no feedback has come for that long | ABR's sources then reduce their rate step by step |
//! | growth without a router | 1 | segment per RTT | chosen here: standard TCP | none in ATM |

use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Echo, Internals, Window};
use super::guided::Guided;
use super::row::{Properties, Protocol, Row};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Erica as Header, Explicit};

/// The registry row.
pub const ROW: Row<Erica> = Row {
    entry: Entry {
        name: "erica",
        title: "ERICA",
        aliases: &[],
        citation: "Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: The ERICA Switch Algorithm for ABR Traffic Management in \
                   ATM Networks, IEEE/ACM Transactions on Networking 8(1), 2000",
        page: "erica",
        parameters: &[],
        style: None,
    },
    linux_module: None,
    properties: Properties {
        shrinks: true,
        samples: true,
        paces: true,
        protocol: Some(Protocol { name: "erica", header_bytes: Header::HEADER_BYTES, mirror: None }),
        ..Properties::DEFAULT
    },
    build: Erica::build,
};

/// An ERICA sender.
#[derive(Clone, Debug, Default)]
pub struct Erica {
    x: Guided,
    /// A full packet of IP, bits; 0 before the first echo.
    packet_bits: f64,
}

impl Erica {
    fn build(_: &Parameters) -> Self {
        Erica::default()
    }
}

impl CongestionControl for Erica {
    fn on_sample(&mut self, ack: &Ack) {
        self.x.sample(ack);
    }

    fn explicit(&self, cwnd_bytes: f64, srtt: Interval) -> Option<Explicit> {
        let current_bps = if self.x.has_router() {
            self.x.rate() * self.packet_bits
        } else if srtt > Interval::ZERO {
            8.0 * cwnd_bytes / srtt.as_secs_f64()
        } else {
            0.0
        };
        Some(Explicit::Erica(Header { current_bps, explicit_bps: f64::INFINITY }))
    }

    fn on_explicit(&mut self, header: &Explicit, packet_bytes: f64, echo: Echo, w: &mut Window) {
        let Explicit::Erica(Header { explicit_bps, .. }) = *header else { return };
        let next = explicit_bps / (8.0 * packet_bytes);
        match echo {
            Echo::Data { .. } if explicit_bps == f64::INFINITY => self.x.hear_nobody(w),
            Echo::Data { limited } => {
                self.packet_bits = 8.0 * packet_bytes;
                self.x.hear_router(w);
                // a rate that is not used does not grow
                if self.x.has_router() && (limited || next < self.x.rate()) {
                    self.x.set(next, w);
                }
            }
            Echo::Recovery if explicit_bps.is_finite() && self.x.has_router() => self.x.pace(next),
            _ => {}
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.x.ack(ack, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = self.x.congestion(event, w);
        if event.cause == Cause::Timeout {
            self.x.restart();
        }
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
    }
}

#[cfg(test)]
mod tests {
    use super::super::congestion_control::Cause;
    use super::super::testing::{ack, congestion, instance, loss, window};
    use super::*;

    const RTT: Interval = Interval::from_millis(100);

    fn out(c: &Erica) -> Header {
        let Some(Explicit::Erica(header)) = c.explicit(15_000.0, RTT) else { panic!("a header") };
        header
    }

    fn hear(c: &mut Erica, w: &mut Window, explicit_bps: f64, limited: bool) {
        let echo = Header { explicit_bps, ..out(c) };
        c.on_sample(&ack(1.0));
        c.on_explicit(&Explicit::Erica(echo), 1500.0, Echo::Data { limited }, w);
        c.on_ack(&ack(1.0), w);
    }

    #[test]
    fn the_rate_is_what_routers_allow_and_the_next_header_says_so() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
        // 15 000 bytes in 0.1 s
        assert!((out(&c).current_bps - 1.2e6).abs() < 1e-6 && out(&c).explicit_bps == f64::INFINITY);
        for (allowed_bps, segments_per_s) in [(12e6, 1000.0), (3e6, 250.0), (24e6, 2000.0)] {
            hear(&mut c, &mut w, allowed_bps, true);
            assert!((c.pacing_rate(&w, RTT).unwrap_or(0.0) - segments_per_s).abs() < 1e-9, "{allowed_bps}");
            assert!((out(&c).current_bps - allowed_bps).abs() < 1e-6);
            // the window holds twice what is in flight at the rate
            assert!((w.cwnd - 0.2 * segments_per_s).abs() < 1e-9, "{}", w.cwnd);
        }
    }

    #[test]
    fn a_rate_that_is_not_used_does_not_grow_and_one_segment_a_round_trip_is_left() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
        hear(&mut c, &mut w, 12e6, true);
        for (allowed_bps, limited, expected) in
            [(24e6, false, 1000.0), (6e6, false, 500.0), (0.0, true, 10.0)]
        {
            hear(&mut c, &mut w, allowed_bps, limited);
            assert!((c.pacing_rate(&w, RTT).unwrap_or(0.0) - expected).abs() < 1e-9, "{allowed_bps}");
        }
    }

    #[test]
    fn a_loss_leaves_the_rate_to_the_routers_and_a_timeout_one_segment_a_round_trip_until_the_next_echo() {
        for (cause, left) in [(Cause::Loss, 1000.0), (Cause::Mark, 1000.0), (Cause::Timeout, 10.0)] {
            let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
            hear(&mut c, &mut w, 12e6, true);
            c.on_congestion(&congestion(cause), &mut w);
            assert!((c.pacing_rate(&w, RTT).unwrap_or(0.0) - left).abs() < 1e-9, "{cause:?}");
            assert_eq!(w.ssthresh, w.cwnd, "{cause:?}");
            hear(&mut c, &mut w, 6e6, true);
            assert!((c.pacing_rate(&w, RTT).unwrap_or(0.0) - 500.0).abs() < 1e-9, "{cause:?}");
        }
    }

    #[test]
    fn in_recovery_a_new_rate_counts_at_once_and_the_window_follows_at_the_end() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
        hear(&mut c, &mut w, 12e6, true);
        c.on_congestion(&loss(), &mut w);
        let before = w;
        let echo = Header { explicit_bps: 3e6, ..out(&c) };
        c.on_explicit(&Explicit::Erica(echo), 1500.0, Echo::Recovery, &mut w);
        assert_eq!((c.pacing_rate(&w, RTT), w), (Some(250.0), before));
        c.on_recovered(Time::ZERO, &mut w);
        assert!((w.cwnd - 50.0).abs() < 1e-9, "{}", w.cwnd);
    }

    #[test]
    fn a_spurious_timeout_gives_the_rate_back_unless_routers_have_set_another() {
        for (heard, rate) in [(false, 1000.0), (true, 500.0)] {
            let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
            hear(&mut c, &mut w, 12e6, true);
            let before = w;
            c.on_congestion(&congestion(Cause::Timeout), &mut w);
            if heard {
                hear(&mut c, &mut w, 6e6, true);
            }
            w = before;
            c.on_undo(&mut w);
            assert!((c.pacing_rate(&w, RTT).unwrap_or(0.0) - rate).abs() < 1e-9, "{heard}");
            assert!((w.cwnd - 0.2 * rate).abs() < 1e-9, "{heard}: {}", w.cwnd);
        }
    }

    #[test]
    fn a_path_that_loses_its_routers_goes_on_as_tcp_from_the_data_in_flight_at_the_rate() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
        hear(&mut c, &mut w, 12e6, true);
        hear(&mut c, &mut w, f64::INFINITY, true);
        assert_eq!(c.pacing_rate(&w, RTT), None);
        // 1000 segments/s for 0.1 s, and one acknowledgement of congestion avoidance
        assert!((w.cwnd - 100.01).abs() < 1e-9 && w.ssthresh == 100.0, "{w:?}");
    }

    #[test]
    fn without_a_router_on_the_path_it_is_standard_tcp_and_does_not_pace() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, 20.0));
        hear(&mut c, &mut w, f64::INFINITY, true);
        assert_eq!((w.cwnd, c.pacing_rate(&w, RTT)), (11.0, None));
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 5.5);
    }
}
