//! TCP-Africa (King, Baraniuk, Riedi, INFOCOM 2005): HighSpeed TCP's growth while its own queue is short,
//! standard TCP's beyond.
//!
//! ```text
//! fast:  W (aRTT - minRTT) / aRTT <= alpha       W <- W + a(W) / W       a(W) of RFC 3649
//! slow:  otherwise                               W <- W + 1 / W
//! Loss:  W <- W / 2
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `alpha` | 1.641 | packets | King and others 2005, from memory: neither paper nor code was at hand | none known |
//! | weight of a sample in aRTT | 1/8 | | tcp_china, a derivative of the Linux module: as the kernel's smoothed RTT | aRTT is the sender's smoothed RTT (RFC 6298) |
//! | decrease | 1/2 | of W | Baiocchi and others 2007, section V-B: Africa halves | `decrease = "hstcp"`: b(W) in fast mode; tcp_china has b(W) |
//! | a(W), b(W) | | | RFC 3649, exact equations | none |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, Window};
use super::hstcp::Hstcp;
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style};

/// The registry row.
pub const ROW: Row<Africa> = Row {
    entry: Entry {
        name: "africa",
        title: "TCP-Africa",
        aliases: &["tcp-africa"],
        citation: "King, Baraniuk, Riedi: TCP-Africa: An Adaptive and Fair Rapid Increase Rule for Scalable TCP, \
                   INFOCOM 2005",
        page: "africa",
        parameters: &[
            Parameter::choice(
                "decrease",
                &["half", "hstcp"],
                "what a loss takes: half of the window, or in fast mode b(w) of HighSpeed TCP",
            ),
            Parameter::number("alpha", 1.641, (0.01, 1e4), "packets", "own queue from which growth is slow"),
        ],
        style: Some(Style::new("#92400e", "<")),
    },
    linux_module: None,
    properties: Properties { samples: true, ..Properties::DEFAULT },
    build: Africa::new,
};

/// A TCP-Africa flow.
#[derive(Clone, Debug)]
pub struct Africa {
    alpha: f64,
    halves: bool,
    /// Least round-trip time of a data segment: a SYN's, being shorter, would look like a queue.
    base_rtt: Interval,
    high_speed: Hstcp,
}

impl Africa {
    fn new(p: &Parameters) -> Self {
        Africa {
            alpha: p.number("alpha"),
            halves: p.word("decrease") == "half",
            base_rtt: Interval::MAX,
            high_speed: Hstcp::rfc(),
        }
    }

    /// Whether the flow has more than alpha packets in the queue.
    #[inline]
    fn is_slow(&self, cwnd: f64, srtt: Interval) -> bool {
        cwnd * srtt.saturating_sub(self.base_rtt).as_ns() as f64 > self.alpha * srtt.as_ns() as f64
    }
}

impl CongestionControl for Africa {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        if self.is_slow(w.cwnd, ack.srtt) {
            w.cwnd += standard_increase(w.cwnd, ack.acked);
        } else {
            self.high_speed.on_ack(ack, w);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        if self.halves || self.is_slow(w.cwnd, event.srtt) {
            w.ssthresh = standard_decrease(w.cwnd);
        } else {
            self.high_speed.on_congestion(event, w);
        }
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::{Path, window};
    use super::super::testing::{ack_at, instance, loss};
    use super::*;
    use longfat_units::Time;

    /// A flow that has seen 100 ms without a queue.
    fn africa(decrease: &str) -> Africa {
        let mut c = instance(&ROW, &[("decrease", decrease)]);
        c.on_sample(&after(100_000));
        c
    }

    /// An acknowledgement with a smoothed round-trip time of this many microseconds.
    fn after(rtt_us: u64) -> Ack {
        ack_at(Time::ZERO, 1.0, Interval::from_ns(1000 * rtt_us))
    }

    fn growth_in_a_round_trip(cwnd: f64, rtt_us: u64) -> f64 {
        let mut w = window(cwnd, 2.0);
        africa("half").on_ack(&after(rtt_us), &mut w);
        (w.cwnd - cwnd) * cwnd
    }

    #[test]
    fn without_a_queue_it_grows_as_rfc_3649_prints_and_with_one_as_standard_tcp() {
        // appendix B: a = 3 from 221 segments on, 10 at 1529, 71 at 84035; rounded down there
        for (cwnd, a) in [(221.0, 3.0), (1529.0, 10.0), (84_035.0, 71.0)] {
            let fast = growth_in_a_round_trip(cwnd, 100_000);
            assert!((fast / a - 1.0).abs() < 0.05, "{cwnd}: {fast}");
            assert!((growth_in_a_round_trip(cwnd, 110_000) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_mode_changes_between_one_and_two_packets_of_queue() {
        // of 1000 segments 1.641 are in the queue when it makes up 1.641 thousandths of aRTT: 164.37 us on
        // 100 ms
        assert!(growth_in_a_round_trip(1000.0, 100_164) > 7.0);
        assert!((growth_in_a_round_trip(1000.0, 100_165) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_loss_halves_the_window_unless_highspeed_tcps_decrease_is_asked_for() {
        let after_loss = |decrease: &str, srtt_ms: u64| {
            let mut w = window(8726.0, 2.0);
            let event = Congestion { srtt: Interval::from_millis(srtt_ms), ..loss() };
            africa(decrease).on_congestion(&event, &mut w);
            w.ssthresh / 8726.0
        };
        assert_eq!(after_loss("half", 100), 0.5);
        // RFC 3649, appendix B: b = .22 there
        assert!((after_loss("hstcp", 100) - 0.78).abs() < 0.0075);
        assert_eq!(after_loss("hstcp", 110), 0.5);
    }

    #[test]
    fn alone_it_finds_the_link_fast_and_then_probes_one_segment_a_round_trip() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(3000.0, 2.0));
        let mut path = Path::new(0.1, 1e5);
        path.run(0.05, &mut c, &mut w);
        // 10000 packets of bandwidth-delay product: 7000 round trips at one segment each, 320 with the rows
        // of RFC 3649's appendix B in between
        let mut rounds = 0;
        while w.cwnd < 10_000.0 {
            path.run(0.05, &mut c, &mut w);
            rounds += 1;
        }
        assert!((300..340).contains(&rounds), "{rounds}");
        let full = w.cwnd;
        path.run(10.0, &mut c, &mut w);
        let growth = w.cwnd - full;
        assert!((95.0..125.0).contains(&growth), "{growth} segments in a hundred round trips");
    }
}
