//! What connections learn about the path between two hosts and hand on to later ones, as Linux keeps it with
//! its routes (tcp_update_metrics, tcp_init_metrics): the slow-start threshold.

use crate::model::order::Order;
use longfat_transport::cc::Window;
use longfat_units::Time;

/// What the connections between two hosts have learnt.
#[derive(Default)]
pub struct RouteMetrics {
    ssthresh: Option<f64>,
    /// Connections that have ended but do not count yet: when, in which order, and their last window.
    ended: Vec<(Time, Order, Window)>,
}

impl RouteMetrics {
    /// A connection ended at `at` with this window.
    pub fn end(&mut self, at: Time, order: Order, window: Window) {
        self.ended.push((at, order, window));
    }

    /// The threshold of a connection that opens at `now`, if there is one: only connections that ended before
    /// count, in the order of time. A driver may have run others further.
    pub fn ssthresh(&mut self, now: Time) -> Option<f64> {
        self.ended.sort_unstable_by_key(|&(at, order, _)| (at, order));
        let past = self.ended.partition_point(|&(at, ..)| at < now);
        self.ssthresh = self.ended.drain(..past).fold(self.ssthresh, |kept, (.., w)| learnt(kept, &w));
        self.ssthresh
    }
}

/// What is kept after a connection has ended with this window.
fn learnt(kept: Option<f64>, w: &Window) -> Option<f64> {
    if w.ssthresh.is_infinite() {
        // slow-start has never ended: half of the window shows only that what is kept is too low
        kept.map(|least| least.max(0.5 * w.cwnd))
    } else if w.cwnd > w.ssthresh {
        Some(w.ssthresh.max(0.5 * w.cwnd))
    } else {
        kept.map(|least| least.max(w.ssthresh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, max_ssthresh: f64::INFINITY }
    }

    #[test]
    fn each_way_to_end_keeps_what_linux_keeps() {
        let never = window(90.0, f64::INFINITY);
        assert_eq!((learnt(None, &never), learnt(Some(30.0), &never)), (None, Some(45.0)));
        assert_eq!(learnt(Some(50.0), &never), Some(50.0));
        // in congestion avoidance: the greater of half the window and the threshold, whatever was kept
        assert_eq!(learnt(None, &window(70.0, 40.0)), Some(40.0));
        assert_eq!(learnt(Some(500.0), &window(100.0, 40.0)), Some(50.0));
        // in slow-start again: the threshold may be too low
        assert_eq!(learnt(None, &window(10.0, 40.0)), None);
        assert_eq!(
            (learnt(Some(30.0), &window(10.0, 40.0)), learnt(Some(60.0), &window(10.0, 40.0))),
            (Some(40.0), Some(60.0))
        );
    }

    #[test]
    fn only_connections_that_ended_before_count_in_the_order_of_time() {
        let at = Time::from_ns;
        let mut metrics = RouteMetrics::default();
        metrics.end(at(30), Order::of_flow(0), window(20.0, 5.0));
        metrics.end(at(10), Order::of_flow(1), window(200.0, 100.0));
        metrics.end(at(20), Order::of_flow(2), window(60.0, 30.0));
        assert_eq!(metrics.ssthresh(at(10)), None);
        assert_eq!(metrics.ssthresh(at(20)), Some(100.0));
        assert_eq!(metrics.ssthresh(at(25)), Some(30.0));
        assert_eq!(metrics.ssthresh(at(31)), Some(10.0));
    }
}
