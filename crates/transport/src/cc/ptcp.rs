//! Parallel TCP: one connection that takes what `flows` standard ones would take together, as MulTCP does
//! (Crowcroft, Oechslin: Differentiated End-to-End Internet Services using a Weighted Proportional Fair
//! Sharing TCP, ACM Computer Communication Review 28(3), 1998).
//!
//! ```text
//! Ack :  cwnd <- cwnd + n / cwnd        (per segment that counts)
//! Loss:  cwnd <- cwnd - cwnd / (2 n)    (one of the n flows halves)
//!        cwnd <- cwnd / 2               in slow-start (all of them overshoot) and on a timeout (it stops all)
//! ```
//!
//! Slow-start: n flows would have n 2^k segments after k round trips. Windows triple (two segments more per
//! acknowledged one) until they are as wide as that, 3^k = n 2^k, and double from there.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `flows` (n) | 16 | | related work of Li, Leith, Shorten 2007: P-TCP, 16 flows | none |
//! | increase, decrease | n, 1/(2n) | segments per RTT, of cwnd | n flows of RFC 5681, one has a loss | none |
//! | decrease in slow-start and on a timeout | 1/2 | of cwnd | chosen here | see docs/models/ptcp.md |
//! | growth in slow-start | 3, then 2 | per RTT | MulTCP; its text was not at hand | none known |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Window};
use super::row::{Properties, Row};
use longfat_units::math::{ln, pow};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Style};

/// The registry row.
pub const ROW: Row<Ptcp> = Row {
    entry: Entry {
        name: "ptcp",
        title: "Parallel TCP",
        aliases: &["multcp"],
        citation: "Crowcroft, Oechslin: Differentiated End-to-End Internet Services using a Weighted Proportional \
                   Fair Sharing TCP, ACM SIGCOMM Computer Communication Review 28(3), 1998",
        page: "ptcp",
        parameters: &[Parameter::number(
            "flows",
            16.0,
            (1.0, 1000.0),
            "",
            "how many standard flows it stands for; need not be whole",
        )],
        style: Some(Style::new("#f472b6", "2")),
    },
    linux_module: None,
    properties: Properties::DEFAULT,
    build: Ptcp::build,
};

/// n standard flows in one.
#[derive(Clone, Debug)]
pub struct Ptcp {
    flows: f64,
    /// How much wider than at its beginning the window is once slow-start has caught up with n flows.
    lead: f64,
    /// Below this window slow-start triples; unset before a slow-start has begun.
    caught_up: Option<f64>,
}

impl Ptcp {
    fn build(p: &Parameters) -> Self {
        let flows = p.number("flows");
        // 3^k where 3^k = n 2^k
        let lead = pow(flows, ln(3.0) / ln(1.5));
        Ptcp { flows, lead, caught_up: None }
    }
}

impl CongestionControl for Ptcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            let caught_up = *self.caught_up.get_or_insert(self.lead * w.cwnd);
            return w.slow_start(if w.cwnd < caught_up { 2.0 * ack.acked } else { ack.acked });
        }
        w.cwnd += self.flows * standard_increase(w.cwnd, ack.acked);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        let timeout = event.cause == Cause::Timeout;
        let among = if timeout || w.in_slow_start() { 1.0 } else { self.flows };
        w.ssthresh = w.cwnd - standard_decrease(w.cwnd) / among;
        // after a recovery the window is that of n flows already
        self.caught_up = if timeout { None } else { Some(0.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        ack, congestion, instance, loss, periodic, round_trip, window, with_numbers,
    };
    use super::*;

    #[test]
    fn sixteen_flows_grow_by_sixteen_segments_a_round_trip_and_lose_a_thirty_second() {
        let mut c = instance(&ROW, &[]);
        let mut w = window(3200.0, 2.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 3100.0);
        w.ssthresh = 2.0;
        round_trip(&mut c, &mut w);
        assert!((w.cwnd - 3216.0).abs() < 0.1, "{}", w.cwnd);
    }

    #[test]
    fn one_flow_is_standard_tcp_to_the_bit() {
        let mut one = with_numbers(&ROW, &[("flows", 1.0)]);
        let mut standard = instance(&super::super::aimd::RENO, &[]);
        let (mut a, mut b) = (window(3.0, 40.0), window(3.0, 40.0));
        for i in 0..20_000 {
            one.on_ack(&ack(1.0), &mut a);
            standard.on_ack(&ack(1.0), &mut b);
            if i % 5000 == 4999 {
                let both: [(&mut dyn CongestionControl, _); 2] =
                    [(&mut one, &mut a), (&mut standard, &mut b)];
                for (c, w) in both {
                    c.on_congestion(&loss(), w);
                    w.cwnd = w.ssthresh;
                }
            }
            assert_eq!(a, b);
        }
    }

    #[test]
    fn slow_start_is_as_wide_as_sixteen_flows_after_seven_round_trips() {
        // 16 flows that begin with one segment have 16 * 2^7 = 2048 after seven round trips, tripling
        // gives 3^7 = 2187
        let mut c = instance(&ROW, &[]);
        let mut w = window(1.0, f64::INFINITY);
        let mut widths = Vec::new();
        for _ in 0..9 {
            round_trip(&mut c, &mut w);
            widths.push(w.cwnd);
        }
        assert_eq!(widths[..6], [3.0, 9.0, 27.0, 81.0, 243.0, 729.0]);
        assert!((1831.0..2188.0).contains(&widths[6]), "{widths:?}");
        assert!((widths[8] / widths[7] - 2.0).abs() < 0.01, "{widths:?}");
        for (k, width) in widths.iter().enumerate().skip(6) {
            let sixteen = 16.0 * f64::from(1 << (k + 1));
            assert!((0.88..1.12).contains(&(width / sixteen)), "{k}: {width} is not {sixteen}");
        }
    }

    #[test]
    fn after_a_timeout_slow_start_triples_again_up_to_ssthresh() {
        let mut c = instance(&ROW, &[]);
        let mut w = window(1000.0, 500.0);
        c.on_congestion(&congestion(Cause::Timeout), &mut w);
        assert_eq!(w.ssthresh, 500.0);
        w.cwnd = 1.0;
        round_trip(&mut c, &mut w);
        round_trip(&mut c, &mut w);
        assert_eq!(w.cwnd, 9.0);
    }

    #[test]
    fn a_loss_in_slow_start_halves_and_what_is_left_of_it_doubles() {
        let mut c = instance(&ROW, &[]);
        let mut w = window(200.0, f64::INFINITY);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 100.0);
        w.cwnd = 30.0;
        round_trip(&mut c, &mut w);
        assert_eq!(w.cwnd, 60.0);
    }

    #[test]
    fn many_flows_in_one_take_more_than_as_many_alone_by_the_known_seventh() {
        // a loss costs one of n flows a half; alone each has its own losses. AIMD(n, 1/2n) under one loss
        // in 1/p packets has sqrt((4n - 1) / 3n) times n windows of AIMD(1, 1/2): 1.145 for n = 16, 2 /
        // sqrt(3) for many
        let alone = periodic(&mut instance(&super::super::aimd::RENO, &[]), 0.1, 100_000, 516.0, 10).mean;
        let together = periodic(&mut instance(&ROW, &[]), 0.1, 100_000, 7200.0, 60).mean;
        let gain = together / (16.0 * alone);
        assert!((gain / 1.145 - 1.0).abs() < 0.01, "{gain}");
    }
}
