//! HSTCP-LP (Kuzmanovic, Knightly, Cottrell, PFLDnet 2004): HighSpeed TCP's growth and decrease (RFC 3649),
//! with the early congestion indication of TCP-LP (see `low_priority`), so that it uses only the capacity
//! that others leave. The constants of both are in their files.

use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, Window};
use super::hstcp::Hstcp;
use super::low_priority::{LowPriority, PARAMETERS};
use super::row::{Properties, Row};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Style};

/// The registry row.
pub const ROW: Row<HstcpLp> = Row {
    entry: Entry {
        name: "hstcp-lp",
        title: "HSTCP-LP",
        aliases: &["hs-tcp-lp"],
        citation: "Kuzmanovic, Knightly, Cottrell: HSTCP-LP: A Protocol for Low-Priority Bulk Data Transfer in High-Speed \
                   High-RTT Networks, PFLDnet 2004",
        page: "hstcp_lp",
        parameters: &PARAMETERS,
        style: Some(Style::new("#6f9bd1", "1")),
    },
    linux_module: None,
    properties: Properties { shrinks: true, samples: true, ..Properties::DEFAULT },
    build: HstcpLp::new,
};

/// An HSTCP-LP flow.
#[derive(Clone, Debug)]
pub struct HstcpLp {
    priority: LowPriority,
    high_speed: Hstcp,
}

impl HstcpLp {
    fn new(p: &Parameters) -> Self {
        HstcpLp { priority: LowPriority::new(p), high_speed: Hstcp::rfc() }
    }
}

impl CongestionControl for HstcpLp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.priority.lets_grow(ack, w) {
            self.high_speed.on_ack(ack, w);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.priority.lose();
        self.high_speed.on_congestion(event, w);
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        self.priority.sample(ack);
    }

    fn internals(&self, out: &mut Internals) {
        self.priority.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::low_priority::flow::Flow;
    use super::super::testing::{instance, loss};
    use super::*;

    fn flow(cwnd: f64, lost: bool) -> Flow<HstcpLp> {
        Flow::new(instance(&ROW, &[]), cwnd, lost)
    }

    #[test]
    fn without_queueing_it_grows_as_rfc_3649_prints() {
        // appendix B: a = 10 at 1529 segments, rounded down there
        let mut f = flow(1529.0, true);
        f.acknowledge(50, 1);
        let a = (f.w.cwnd - 1529.0) * 1529.0;
        assert!((a / 10.0 - 1.0).abs() < 0.05, "{a}");
    }

    #[test]
    fn fifteen_hundredths_of_the_delays_range_indicate_congestion() {
        // 50 .. 150 ms: the threshold is at 65 ms
        for (one_way_ms, halved) in [(64, false), (66, true)] {
            let mut f = flow(1000.0, true);
            f.acknowledge(one_way_ms, 60);
            assert_eq!(f.w.cwnd < 600.0, halved, "{one_way_ms} ms: {}", f.w.cwnd);
        }
    }

    #[test]
    fn before_the_first_loss_delays_say_nothing() {
        let mut f = flow(1000.0, false);
        f.acknowledge(120, 60);
        assert!(f.w.cwnd > 1000.0);
    }

    #[test]
    fn one_indication_halves_and_growth_waits_for_three_round_trips() {
        let mut f = flow(1000.0, true);
        while f.w.cwnd > 900.0 {
            f.acknowledge(100, 1);
        }
        let halved = f.w.cwnd;
        assert!((500.0..502.0).contains(&halved), "{halved}");
        // the queue is empty again within the first round trip; 299 ms later the phase still lasts
        f.acknowledge(50, 299);
        assert_eq!(f.w.cwnd, halved);
        f.acknowledge(50, 2);
        assert!(f.w.cwnd > halved && !f.w.in_slow_start());
    }

    #[test]
    fn a_second_indication_within_the_inference_phase_leaves_one_segment() {
        let mut f = flow(1000.0, true);
        while f.w.cwnd > 900.0 {
            f.acknowledge(100, 1);
        }
        let halved = f.w.cwnd;
        // round trips of 150 ms: what was sent before the reaction is not judged
        f.acknowledge(100, 151);
        assert_eq!(f.w.cwnd, halved);
        f.acknowledge(100, 1);
        assert_eq!(f.w.cwnd, 1.0);
        // and stays there while others fill the queue
        f.acknowledge(100, 5000);
        assert_eq!(f.w.cwnd, 1.0);
    }

    #[test]
    fn delays_from_before_the_reaction_do_not_count_as_a_second_indication() {
        let mut f = flow(1000.0, true);
        while f.w.cwnd > 900.0 {
            f.acknowledge(100, 1);
        }
        let halved = f.w.cwnd;
        // segments under way then still find the queue, later ones do not
        f.acknowledge(100, 150);
        f.acknowledge(50, 140);
        assert_eq!(f.w.cwnd, halved);
    }

    #[test]
    fn a_loss_takes_what_highspeed_tcps_does() {
        let mut f = flow(8726.0, true);
        f.c.on_congestion(&loss(), &mut f.w);
        // RFC 3649, appendix B
        assert!((f.w.ssthresh / 8726.0 - 0.78).abs() < 0.0075);
    }
}
