//! How the threads of a run wait.
//!
//! Waking costs more than a packet does. Where packets are dense, threads rest between looks at what has
//! come, and handle together what comes meanwhile: a packet may wait for a rest before it is read and again
//! before it is handed over, so a round trip grows by at most four rests, and a packet is late by about one.
//! Where packets are far apart, threads wait for each. Where only little lateness is accepted, routers do not
//! sleep to the end: the processor takes tens of microseconds to wake.

use longfat_units::Interval;

/// The 99th percentiles of the routers' lateness, and of the time before they read a packet, may be at most
/// this share of the time that the bottleneck's buffer needs to drain. For the hosts' lateness it is a share
/// of the time in which sockets send what they hold unsent, where that is longer.
pub const LATENESS: f64 = 0.05;
/// A rest is at most this share of the shortest round-trip time, and of the lateness that is accepted (both
/// chosen here).
const SHARE_OF_RTT: f64 = 2e-3;
const SHARE_OF_LATENESS: f64 = 0.2;
/// The longest rest on a fast path, and on one of a sixteenth of its rate or less, on which packets come so
/// seldom that longer rests would save little (both chosen here). On a path of this rate, bit/s, the first is
/// 33 full packets long.
const LONGEST: (Interval, Interval) = (Interval::from_ns(400_000), Interval::from_ns(25_000));
const FAST_BPS: f64 = 1e9;
/// Where no more lateness than this is accepted, routers watch the clock for so long before a packet is due,
/// but at most for this share of the time between two full packets (all chosen here).
const LITTLE: Interval = Interval::from_ns(500_000);
const WATCH: Interval = Interval::from_ns(100_000);
const SHARE_OF_GAP: f64 = 0.4;
const FULL_BITS: f64 = 12_000.0;

/// How the threads of a run wait.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// How long threads rest where packets are dense.
    pub rest: Interval,
    /// How long before a packet is due a router begins to watch the clock.
    pub watch: Interval,
}

impl Rest {
    /// How to wait on paths whose shortest round-trip time is this, whose fastest link has this rate, and
    /// whose least buffer drains in this time.
    pub fn new(shortest_rtt_s: f64, rate_bps: f64, drain_s: f64) -> Self {
        let longest_s = LONGEST.0.as_secs_f64() * (rate_bps / FAST_BPS).min(1.0);
        let longest_s = longest_s.max(LONGEST.1.as_secs_f64());
        let accepted_s = LATENESS * drain_s;
        let rest_s = (SHARE_OF_RTT * shortest_rtt_s).min(longest_s).min(SHARE_OF_LATENESS * accepted_s);
        let is_little = accepted_s <= LITTLE.as_secs_f64();
        let watch_s = WATCH.as_secs_f64().min(SHARE_OF_GAP * FULL_BITS / rate_bps);
        Rest {
            rest: Interval::from_secs_f64(rest_s),
            watch: if is_little { Interval::from_secs_f64(watch_s) } else { Interval::ZERO },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_is_short_beside_the_round_trip_the_packets_and_the_lateness_accepted() {
        let us = |rtt_s, rate_bps, drain_s| Rest::new(rtt_s, rate_bps, drain_s).rest.as_ns() / 1000;
        assert_eq!(us(0.2, 1e9, 0.2), 400);
        assert_eq!(us(0.02, 5e9, 0.02), 40);
        assert_eq!((us(0.2, 100e6, 0.2), us(0.2, 10e6, 0.2)), (40, 25));
        assert_eq!(us(0.2, 500e6, 0.2), 200);
        assert_eq!(us(0.2, 100e6, 0.001), 10);
    }

    #[test]
    fn routers_watch_the_clock_only_where_little_lateness_is_accepted() {
        let watches = |drain_s| Rest::new(0.1, 100e6, drain_s).watch > Interval::ZERO;
        assert!(watches(0.002) && watches(0.01));
        assert!(!watches(0.011) && !watches(0.1));
        let us = |rate_bps| Rest::new(0.1, rate_bps, 0.002).watch.as_ns() / 1000;
        assert_eq!((us(10e6), us(100e6), us(1e9)), (100, 48, 4));
    }
}
