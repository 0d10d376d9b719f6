//! Round trips, counted by sequence numbers: one has passed when the first segment sent after its beginning
//! is acknowledged. No clock granularity, no dependence on delayed acknowledgements.

use super::congestion_control::Ack;
use longfat_units::Time;

/// The measurements of one round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundTrip {
    /// Its duration in seconds; above zero.
    pub duration_s: f64,
    /// Segments that reached the receiver during it.
    pub delivered: u64,
    /// New segments sent during it.
    pub sent: u64,
}

impl RoundTrip {
    /// The achieved throughput in segments per second.
    pub fn throughput_pps(&self) -> f64 {
        self.delivered as f64 / self.duration_s
    }
}

/// The beginning of the round trip that is under way.
#[derive(Clone, Copy, Debug)]
struct Mark {
    segment: u64,
    time: Time,
    delivered: u64,
}

/// Detects the end of a round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    mark: Option<Mark>,
}

impl Round {
    /// The round trip that this acknowledgement ends, if it does; the next begins with it.
    #[inline]
    pub fn passed(&mut self, ack: &Ack) -> Option<RoundTrip> {
        match self.mark {
            Some(mark) if ack.unacknowledged <= mark.segment || ack.now <= mark.time => None,
            begun => {
                self.mark = Some(Mark { segment: ack.next_segment, time: ack.now, delivered: ack.delivered });
                begun.map(|mark| RoundTrip {
                    duration_s: ack.now.since(mark.time).as_secs_f64(),
                    delivered: ack.delivered.saturating_sub(mark.delivered),
                    sent: ack.next_segment.saturating_sub(mark.segment),
                })
            }
        }
    }

    /// Forget the round trip under way; the next acknowledgement begins one.
    pub fn restart(&mut self) {
        self.mark = None;
    }
}

/// A path for tests: one flow on a bottleneck without loss, one acknowledgement a segment, evenly spaced.
#[cfg(test)]
pub(super) mod path {
    use super::super::{Ack, Cause, Congestion, CongestionControl, Window};
    use longfat_units::{Interval, Time};

    pub struct Path {
        pub base_s: f64,
        pub rate_pps: f64,
        pub now_s: f64,
        pub unacknowledged: u64,
        /// How often the timer of an algorithm fires, if it has one.
        pub timer_period_s: Option<f64>,
        base: Interval,
        next_timer_s: f64,
    }

    pub fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, max_ssthresh: f64::INFINITY }
    }

    impl Path {
        pub fn new(base_s: f64, rate_pps: f64) -> Self {
            Path {
                base_s,
                rate_pps,
                now_s: 0.0,
                unacknowledged: 0,
                timer_period_s: None,
                base: Interval::from_secs_f64(base_s),
                next_timer_s: 0.0,
            }
        }

        /// Packets that a window leaves in the bottleneck's queue.
        pub fn queue_packets(&self, cwnd: f64) -> f64 {
            (cwnd - self.base_s * self.rate_pps).max(0.0)
        }

        pub fn rtt_s(&self, cwnd: f64) -> f64 {
            self.base_s + self.queue_packets(cwnd) / self.rate_pps
        }

        /// One acknowledgement of one segment whose round-trip time was `rtt_s`.
        pub fn ack(&mut self, rtt_s: f64, cwnd: f64) -> Ack {
            self.unacknowledged += 1;
            Ack {
                now: Time::from_secs_f64(self.now_s),
                acked: 1.0,
                newly_delivered: 1,
                rtt: Some(Interval::from_secs_f64(rtt_s)),
                srtt: Interval::from_secs_f64(rtt_s),
                base_rtt: Some(self.base),
                one_way_delay: None,
                in_flight: cwnd,
                delivered: self.unacknowledged,
                next_segment: self.unacknowledged + cwnd as u64,
                unacknowledged: self.unacknowledged,
                may_grow: true,
            }
        }

        /// Sends windows for `seconds`, each segment acknowledged after the round-trip time its window makes.
        pub fn run(&mut self, seconds: f64, cc: &mut impl CongestionControl, w: &mut Window) {
            let end_s = self.now_s + seconds;
            while self.now_s < end_s {
                let rtt_s = self.rtt_s(w.cwnd);
                let segments = w.cwnd as u64;
                for _ in 0..segments.max(1) {
                    self.now_s += rtt_s / segments.max(1) as f64;
                    let ack = self.ack(rtt_s, w.cwnd);
                    cc.on_sample(&ack);
                    cc.on_ack(&ack, w);
                    assert!(w.cwnd.is_finite() && w.cwnd >= 1.0, "cwnd {}", w.cwnd);
                    if let Some(period_s) = self.timer_period_s
                        && self.now_s >= self.next_timer_s
                    {
                        cc.on_timer(Time::from_secs_f64(self.now_s), w);
                        self.next_timer_s = self.now_s + period_s;
                    }
                }
            }
        }

        /// A congestion event and, one round-trip time later, the end of its recovery.
        pub fn lose(&mut self, cause: Cause, cc: &mut impl CongestionControl, w: &mut Window) {
            let event = Congestion {
                cause,
                now: Time::from_secs_f64(self.now_s),
                in_flight: w.cwnd,
                srtt: Interval::from_secs_f64(self.rtt_s(w.cwnd)),
                base_rtt: Some(self.base),
            };
            cc.on_congestion(&event, w);
            assert!(w.ssthresh > 0.0 && w.ssthresh < w.cwnd, "{} -> {}", w.cwnd, w.ssthresh);
            self.now_s += self.rtt_s(w.cwnd);
            w.cwnd = w.ssthresh.max(2.0);
            cc.on_recovered(Time::from_secs_f64(self.now_s), w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::path::Path;
    use super::*;

    #[test]
    fn a_round_trip_passes_once_a_window_and_measures_the_throughput() {
        // 100 segments in flight, one acknowledged every millisecond: 100 ms a round, 1000 segments a second
        let mut path = Path::new(0.1, 1000.0);
        let mut round = Round::default();
        let mut seen = Vec::new();
        for _ in 0..1000 {
            path.now_s += 0.001;
            seen.extend(round.passed(&path.ack(0.1, 100.0)));
        }
        assert!((9..=10).contains(&seen.len()), "{}", seen.len());
        for trip in seen {
            assert!((trip.throughput_pps() - 1000.0).abs() < 1.0, "{trip:?}");
            assert!((trip.duration_s - 0.1).abs() < 0.002, "{trip:?}");
        }
    }

    #[test]
    fn a_restarted_round_begins_with_the_next_acknowledgement() {
        let mut path = Path::new(0.1, 1000.0);
        let mut round = Round::default();
        path.now_s = 0.001;
        assert_eq!(round.passed(&path.ack(0.1, 4.0)), None);
        round.restart();
        path.now_s = 5.0;
        path.unacknowledged += 100;
        assert_eq!(round.passed(&path.ack(0.1, 4.0)), None);
    }
}
