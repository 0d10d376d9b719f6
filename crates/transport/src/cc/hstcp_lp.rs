//! HSTCP-LP (Kuzmanovic, Knightly, Cottrell, PFLDnet 2004): HighSpeed TCP's growth and decrease (RFC 3649),
//! with the early congestion indication of TCP-LP (Kuzmanovic, Knightly, INFOCOM 2003), so that it uses only
//! the capacity that others leave.
//!
//! ```text
//! d     <- (1 - gamma) d + gamma * one-way delay        each acknowledgement
//! early:   d > d_min + delta (d_max - d_min)
//! early, first:                     cwnd <- cwnd / 2,   the inference phase begins: no growth for 3 round trips
//! early, in the inference phase:    cwnd <- 1,          it starts again
//! otherwise:                        HighSpeed TCP
//! ```
//!
//! After a reaction, delays do not count until a segment sent after it is acknowledged; d starts again with
//! that one.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `smoothing` (gamma) | 1/8 | | Linux tcp_lp, after TCP-LP | none known |
//! | `threshold` (delta) | 0.15 | of d_max - d_min | Linux tcp_lp, after TCP-LP | none known |
//! | `inference` | 3 | round trips | Linux tcp_lp, after TCP-LP | none known |
//! | d_min, d_max | | s | least and greatest of the connection | Linux resets both after each indication |
//! | pause after a reaction | one round trip | | TCP-LP, from memory: at most one reaction a round trip | the restart of d is chosen here |
//! | active | after the first loss | | TCP-LP, from memory: d_max is not known before | Linux: from the start |

use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, LEAST_SSTHRESH, Window};
use super::hstcp::Hstcp;
use super::row::{LossDetection, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Style, Time};

/// The registry row.
pub const ROW: Row<HstcpLp> = Row {
    entry: Entry {
        name: "hstcp-lp",
        title: "HSTCP-LP",
        aliases: &["hs-tcp-lp"],
        citation: "Kuzmanovic, Knightly, Cottrell: HSTCP-LP: A Protocol for Low-Priority Bulk Data Transfer in High-Speed \
                   High-RTT Networks, PFLDnet 2004",
        page: "hstcp_lp",
        parameters: &[
            Parameter::number(
                "threshold",
                0.15,
                (0.01, 1.0),
                "of the range",
                "queueing delay, between least and greatest, that indicates congestion",
            ),
            Parameter::number(
                "smoothing",
                0.125,
                (0.001, 1.0),
                "",
                "weight of a sample of the one-way delay",
            ),
            Parameter::number(
                "inference",
                3.0,
                (1.0, 1e3),
                "round trips",
                "how long an indication forbids growth, and the next one leaves a single segment",
            ),
        ],
        style: Some(Style::new("#6f9bd1", "1")),
    },
    linux_module: None,
    protocol: None,
    loss_detection: LossDetection::Sack,
    build: HstcpLp::new,
};

/// One-way delays, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Delay {
    smoothed: f64,
    least: f64,
    greatest: f64,
}

/// An early congestion indication and the reaction to it.
#[derive(Clone, Copy, Debug)]
struct Indication {
    at: Time,
    /// The first segment sent after the reaction; none once it has been acknowledged.
    awaited: Option<u64>,
}

/// An HSTCP-LP flow.
#[derive(Clone, Debug)]
pub struct HstcpLp {
    threshold: f64,
    smoothing: f64,
    inference: f64,
    high_speed: Hstcp,
    delay: Option<Delay>,
    /// A loss has shown how long the queue can be.
    active: bool,
    /// The last indication, while the inference phase lasts.
    indicated: Option<Indication>,
}

impl HstcpLp {
    fn new(p: &Parameters) -> Self {
        HstcpLp {
            threshold: p.number("threshold"),
            smoothing: p.number("smoothing"),
            inference: p.number("inference"),
            high_speed: Hstcp::rfc(),
            delay: None,
            active: false,
            indicated: None,
        }
    }

    #[inline]
    fn is_early(&self) -> bool {
        self.active
            && self.delay.is_some_and(|d| d.smoothed > d.least + self.threshold * (d.greatest - d.least))
    }

    /// Halves the window, or leaves a single segment if `within` the inference phase, which starts again.
    fn give_way(&mut self, ack: &Ack, within: bool, w: &mut Window) {
        self.indicated = Some(Indication { at: ack.now, awaited: Some(ack.next_segment) });
        w.cwnd = if within { 1.0 } else { (0.5 * w.cwnd).max(1.0) };
        w.ssthresh = w.cwnd.max(LEAST_SSTHRESH);
    }

    /// An acknowledgement in the inference phase.
    fn infer(&mut self, ack: &Ack, indicated: Indication, w: &mut Window) {
        match indicated.awaited {
            // segments sent before the reaction do not show its effect
            Some(segment) if ack.unacknowledged <= segment => {}
            Some(_) => {
                self.indicated = Some(Indication { awaited: None, ..indicated });
                if let (Some(d), Some(sample)) = (&mut self.delay, ack.one_way_delay) {
                    d.smoothed = sample.as_ns() as f64;
                }
            }
            None if self.is_early() => self.give_way(ack, true, w),
            None => {}
        }
    }
}

impl CongestionControl for HstcpLp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if let Some(indicated) = self.indicated {
            if ack.now.since(indicated.at) < ack.srtt.scale(self.inference) {
                return self.infer(ack, indicated, w);
            }
            self.indicated = None;
        }
        if self.is_early() {
            return self.give_way(ack, false, w);
        }
        self.high_speed.on_ack(ack, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.active = true;
        self.high_speed.on_congestion(event, w);
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        let Some(sample) = ack.one_way_delay.map(|d| d.as_ns() as f64) else { return };
        match &mut self.delay {
            Some(d) => {
                d.smoothed += self.smoothing * (sample - d.smoothed);
                d.least = d.least.min(sample);
                d.greatest = d.greatest.max(sample);
            }
            None => self.delay = Some(Delay { smoothed: sample, least: sample, greatest: sample }),
        }
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn internals(&self, out: &mut Internals) {
        if let Some(d) = self.delay {
            out.push(("smoothed_delay_s", d.smoothed * 1e-9));
            out.push(("threshold_delay_s", (d.least + self.threshold * (d.greatest - d.least)) * 1e-9));
        }
        out.push(("inferring", f64::from(u8::from(self.indicated.is_some()))));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, instance, loss, window};
    use super::*;
    use longfat_units::Interval;

    /// A flow on a path of 100 ms there and back whose one-way delays lay between 50 and 150 ms.
    struct Flow {
        c: HstcpLp,
        w: Window,
        now_ms: u64,
        acknowledged: u64,
    }

    impl Flow {
        fn new(cwnd: f64, lost: bool) -> Self {
            let mut f = Flow { c: instance(&ROW, &[]), w: window(cwnd, 2.0), now_ms: 0, acknowledged: 0 };
            if lost {
                f.c.on_congestion(&loss(), &mut f.w);
                f.w.ssthresh = 2.0;
            }
            f.sample(150, 1);
            // the smoothed delay forgets the 150 ms
            f.sample(50, 200);
            f
        }

        /// One segment a millisecond leaves and arrives.
        fn ack(&self, one_way_ms: u64) -> Ack {
            let (now, rtt_ms) = (Time::ZERO + Interval::from_millis(self.now_ms), 50 + one_way_ms);
            Ack {
                one_way_delay: Some(Interval::from_millis(one_way_ms)),
                unacknowledged: self.acknowledged,
                next_segment: self.acknowledged + rtt_ms,
                ..ack_at(now, 1.0, Interval::from_millis(rtt_ms))
            }
        }

        fn sample(&mut self, one_way_ms: u64, times: u32) {
            for _ in 0..times {
                let ack = self.ack(one_way_ms);
                self.c.on_sample(&ack);
            }
        }

        /// This many acknowledgements, one per millisecond.
        fn acknowledge(&mut self, one_way_ms: u64, times: u32) {
            for _ in 0..times {
                self.now_ms += 1;
                self.acknowledged += 1;
                self.sample(one_way_ms, 1);
                let ack = self.ack(one_way_ms);
                self.c.on_ack(&ack, &mut self.w);
            }
        }
    }

    #[test]
    fn without_queueing_it_grows_as_rfc_3649_prints() {
        // appendix B: a = 10 at 1529 segments, rounded down there
        let mut f = Flow::new(1529.0, true);
        f.acknowledge(50, 1);
        let a = (f.w.cwnd - 1529.0) * 1529.0;
        assert!((a / 10.0 - 1.0).abs() < 0.05, "{a}");
    }

    #[test]
    fn fifteen_hundredths_of_the_delays_range_indicate_congestion() {
        // 50 .. 150 ms: the threshold is at 65 ms
        for (one_way_ms, halved) in [(64, false), (66, true)] {
            let mut f = Flow::new(1000.0, true);
            f.acknowledge(one_way_ms, 60);
            assert_eq!(f.w.cwnd < 600.0, halved, "{one_way_ms} ms: {}", f.w.cwnd);
        }
    }

    #[test]
    fn before_the_first_loss_delays_say_nothing() {
        let mut f = Flow::new(1000.0, false);
        f.acknowledge(120, 60);
        assert!(f.w.cwnd > 1000.0);
    }

    #[test]
    fn one_indication_halves_and_growth_waits_for_three_round_trips() {
        let mut f = Flow::new(1000.0, true);
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
        let mut f = Flow::new(1000.0, true);
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
        let mut f = Flow::new(1000.0, true);
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
        let mut f = Flow::new(8726.0, true);
        f.c.on_congestion(&loss(), &mut f.w);
        // RFC 3649, appendix B
        assert!((f.w.ssthresh / 8726.0 - 0.78).abs() < 0.0075);
    }
}
