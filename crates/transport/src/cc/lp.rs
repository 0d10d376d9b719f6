//! TCP-LP (Kuzmanovic, Knightly: TCP-LP: A Distributed Algorithm for Low Priority Data Transfer, INFOCOM
//! 2003): standard TCP that gives way as soon as one-way delays show other traffic. `low_priority` has the
//! mechanism, its constants and their sources.
//!
//! ```text
//! early indication, first:                     cwnd <- cwnd / 2, then no growth for 3 round trips
//! early indication, in these round trips:      cwnd <- 1
//! Ack :  cwnd <- cwnd + 1 / cwnd               otherwise
//! Loss:  cwnd <- cwnd / 2
//! ```
//!
//! Linux's tcp_lp is no variant here: it takes 15 % of absolute differences of two clocks in milliseconds, so
//! what it does depends on the random offset of the receiver's timestamps.

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, Window};
use super::low_priority::{LowPriority, PARAMETERS};
use super::row::{Properties, Row};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Style};

/// The registry row.
pub const ROW: Row<Lp> = Row {
    entry: Entry {
        name: "lp",
        title: "TCP-LP",
        aliases: &["tcp-lp"],
        citation: "Kuzmanovic, Knightly: TCP-LP: A Distributed Algorithm for Low Priority Data Transfer, IEEE INFOCOM \
                   2003",
        page: "lp",
        parameters: &PARAMETERS,
        style: Some(Style::new("#8ab17d", "2")),
    },
    linux_module: Some("lp"),
    properties: Properties { shrinks: true, samples: true, ..Properties::DEFAULT },
    build: Lp::new,
};

/// A TCP-LP flow.
#[derive(Clone, Debug)]
pub struct Lp {
    priority: LowPriority,
}

impl Lp {
    fn new(p: &Parameters) -> Self {
        Lp { priority: LowPriority::new(p) }
    }
}

impl CongestionControl for Lp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if !self.priority.lets_grow(ack, w) {
            return;
        }
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        w.cwnd += standard_increase(w.cwnd, ack.acked);
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        self.priority.lose();
        w.ssthresh = standard_decrease(w.cwnd);
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
    use super::super::testing::{instance, loss, window};
    use super::*;

    fn flow(cwnd: f64, lost: bool) -> Flow<Lp> {
        Flow::new(instance(&ROW, &[]), cwnd, lost)
    }

    #[test]
    fn without_queueing_it_is_standard_tcp() {
        let mut f = flow(1000.0, true);
        f.acknowledge(50, 1);
        assert!((f.w.cwnd - 1000.001).abs() < 1e-9, "{}", f.w.cwnd);
        let mut w = window(1000.0, 2.0);
        f.c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 500.0);
        let mut slow = flow(10.0, true);
        slow.w.ssthresh = 100.0;
        slow.acknowledge(50, 1);
        assert_eq!(slow.w.cwnd, 11.0);
    }

    #[test]
    fn an_indication_halves_the_window_and_the_next_one_within_three_round_trips_leaves_one_segment() {
        // delays of 50 to 150 ms: the threshold is at 65 ms
        let mut f = flow(1000.0, true);
        f.acknowledge(64, 60);
        assert!(f.w.cwnd > 1000.0);
        while f.w.cwnd > 900.0 {
            f.acknowledge(100, 1);
        }
        let halved = f.w.cwnd;
        assert!((500.0..502.0).contains(&halved), "{halved}");
        // round trips of 150 ms: what was sent before the reaction is not judged
        f.acknowledge(100, 151);
        assert_eq!(f.w.cwnd, halved);
        f.acknowledge(100, 1);
        assert_eq!(f.w.cwnd, 1.0);
    }

    #[test]
    fn before_the_first_loss_delays_say_nothing() {
        let mut f = flow(1000.0, false);
        f.acknowledge(120, 60);
        assert!(f.w.cwnd > 1000.0);
    }
}
