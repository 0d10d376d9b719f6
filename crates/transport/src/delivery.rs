//! Samples of the delivery rate (draft-ietf-ccwg-bbr, section "Delivery Rate Samples"; before that
//! draft-cheng-iccrg-delivery-rate-estimation-02), for algorithms that model the path.
//!
//! Each outstanding segment remembers what the connection had delivered when it left. When it arrives, the
//! segments delivered since then, over the time that this took, are a sample:
//! ```text
//! OnPacketSent(P):  if C.inflight == 0:  C.first_send_time = C.delivered_time = P.send_time
//!                   P.first_send_time, P.delivered_time, P.delivered, P.lost = those of C
//!                   P.is_app_limited = C.app_limited != 0,  P.tx_in_flight = C.inflight with P
//! ACK, by its newest segment P:
//!   interval      = max(P.send_time - P.first_send_time, C.delivered_time - P.delivered_time)
//!   delivery_rate = (C.delivered - P.delivered) / interval,  if the interval is not below C.min_rtt
//!   C.first_send_time = P.send_time
//! ```
//! Data count in segments, and P.send_time is the time when a segment leaves.
//!
//! | rule | source | deviation |
//! |---|---|---|
//! | C.app_limited = max(C.delivered + C.inflight, 1); cleared once C.delivered exceeds it | the draft, same section | none |
//! | the first flight is limited by the application, whose first write finds nothing in flight | the draft, CheckIfApplicationLimited; Linux tcp_rate_check_app_limited | none |
//! | RS.rtt is that of the newest segment delivered, if it was sent once | the draft, section "RTT Samples" | one sent twice gives none, although timestamps could tell |
//! | without SACK, duplicate acknowledgements count as deliveries, but give no sample | the draft, section "TCP Connections without SACK" | none |

use longfat_units::{Interval, Time};
use std::collections::VecDeque;

/// One outstanding segment, as it last left.
#[derive(Clone, Copy, Debug)]
struct Sending {
    at: Time,
    first_sent: Time,
    delivered_at: Time,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
    again: bool,
    arrived: bool,
}

/// What the newest segment that an acknowledgement delivered had seen when it left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newest {
    /// C.delivered when it left.
    pub prior_delivered: u64,
    /// Segments in flight when it had left.
    pub in_flight: u64,
    /// Segments found lost since it left.
    pub lost: u64,
    /// The application did not fill the window when it left.
    pub app_limited: bool,
    /// Segments delivered since it left.
    pub delivered: u64,
    /// The time that this took.
    pub interval: Interval,
    /// Its round-trip time, if it was sent once.
    pub rtt: Option<Interval>,
    /// When it left, the last time if it was sent again.
    pub left: Time,
}

impl Newest {
    /// The delivery rate, segments per second; none if the sample took less than `min_rtt`, the least
    /// round-trip time.
    pub fn rate(&self, min_rtt: Interval) -> Option<f64> {
        let good = self.interval >= min_rtt && self.interval > Interval::ZERO;
        good.then(|| self.delivered as f64 / self.interval.as_secs_f64())
    }
}

/// What a lost segment had seen when it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it left, the last time if it was sent again.
    pub left: Time,
    /// Segments in flight when it had left.
    pub in_flight: u64,
    /// Segments found lost since it left, itself included.
    pub lost: u64,
    /// The application did not fill the window when it left.
    pub app_limited: bool,
}

/// What one connection has delivered, and what each outstanding segment knew of it.
#[derive(Clone, Debug)]
pub struct Deliveries {
    base: u64,
    sent: VecDeque<Sending>,
    delivered: u64,
    lost: u64,
    delivered_at: Time,
    first_sent: Time,
    /// The application limits the flow until more than this has been delivered; 0 if it does not.
    app_limited: u64,
    newest: Option<(u64, Sending)>,
    min_rtt: Interval,
    /// Segments in flight after the last event of this connection.
    in_flight: u64,
    last_sent: Option<Time>,
}

impl Default for Deliveries {
    fn default() -> Self {
        Deliveries {
            base: 0,
            sent: VecDeque::new(),
            delivered: 0,
            lost: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: 1, // the first write finds nothing in flight
            newest: None,
            min_rtt: Interval::MAX,
            in_flight: 0,
            last_sent: None,
        }
    }
}

impl Deliveries {
    /// Segments delivered so far (C.delivered).
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Segments found lost so far, each time that they were (C.lost).
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The least round-trip time of a segment sent once (C.min_rtt).
    pub const fn min_rtt(&self) -> Interval {
        self.min_rtt
    }

    /// Segments in flight after the last event of this connection.
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// When the last segment left.
    pub const fn last_sent(&self) -> Option<Time> {
        self.last_sent
    }

    /// Whether the application limits the flow.
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Includes a round-trip time: of a segment, or of the handshake.
    pub fn include(&mut self, rtt: Interval) {
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// An event is over and left this much in flight.
    pub const fn settle(&mut self, in_flight: u64) {
        self.in_flight = in_flight;
    }

    /// The application, or the algorithm, leaves room in the window: samples are limited until all that is in
    /// flight has been delivered.
    pub fn limit(&mut self) {
        self.app_limited = (self.delivered + self.in_flight).max(1);
    }

    /// Segment `seq` left, for the first time or again; `in_flight` counts it.
    pub fn sent(&mut self, seq: u64, now: Time, in_flight: u64) {
        if in_flight <= 1 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        self.in_flight = in_flight;
        self.last_sent = Some(now);
        let sending = Sending {
            at: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            in_flight,
            app_limited: self.is_app_limited(),
            again: false,
            arrived: false,
        };
        match self.sent.get_mut(seq.saturating_sub(self.base) as usize) {
            Some(earlier) => *earlier = Sending { again: true, arrived: earlier.arrived, ..sending },
            None => self.sent.push_back(sending),
        }
    }

    /// The segments of [start, end), which are outstanding and were not known to have arrived, have.
    pub fn arrived(&mut self, start: u64, end: u64) {
        for seq in start.max(self.base)..end {
            let Some(sending) = self.sent.get_mut((seq - self.base) as usize) else { return };
            if !core::mem::replace(&mut sending.arrived, true) {
                let sending = *sending;
                self.consider(seq, sending);
            }
        }
    }

    /// Everything below `base` is acknowledged now.
    pub fn acknowledged(&mut self, base: u64) {
        while self.base < base {
            let Some(sending) = self.sent.pop_front() else {
                self.base = base;
                return;
            };
            if !sending.arrived {
                self.consider(self.base, sending);
            }
            self.base += 1;
        }
    }

    /// IsNewestPacket: keeps the segment sent last.
    fn consider(&mut self, seq: u64, sending: Sending) {
        let newer = |&(than, newest): &(u64, Sending)| (sending.at, seq) > (newest.at, than);
        if self.newest.as_ref().is_none_or(newer) {
            self.newest = Some((seq, sending));
            self.first_sent = sending.at;
        }
    }

    /// Segment `seq`, which is outstanding, is lost.
    pub fn lose(&mut self, seq: u64) -> Option<Departure> {
        self.lost += 1;
        let sending = self.sent.get(seq.checked_sub(self.base)? as usize)?;
        Some(Departure {
            left: sending.at,
            in_flight: sending.in_flight,
            lost: self.lost - sending.lost,
            app_limited: sending.app_limited,
        })
    }

    /// An acknowledgement that delivered `newly` segments has been read. Returns what its newest segment
    /// says, if it delivered one.
    pub fn conclude(&mut self, now: Time, newly: u64) -> Option<Newest> {
        if newly > 0 {
            self.delivered += newly;
            self.delivered_at = now;
        }
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let (_, sending) = self.newest.take()?;
        let rtt = (!sending.again).then(|| now.since(sending.at));
        if let Some(rtt) = rtt {
            self.include(rtt);
        }
        let sending_took = sending.at.since(sending.first_sent);
        let arriving_took = now.since(sending.delivered_at);
        Some(Newest {
            prior_delivered: sending.delivered,
            in_flight: sending.in_flight,
            lost: self.lost - sending.lost,
            app_limited: sending.app_limited,
            delivered: self.delivered - sending.delivered,
            interval: sending_took.max(arriving_took),
            rtt,
            left: sending.at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(x: u64) -> Time {
        Time::ZERO + Interval::from_millis(x)
    }

    const fn ms(x: u64) -> Interval {
        Interval::from_millis(x)
    }

    /// Ten segments, one every 10 ms, on a path of 100 ms.
    fn a_flight() -> Deliveries {
        let mut all = Deliveries::default();
        (0..10).for_each(|seq| all.sent(seq, at_ms(10 * seq), seq + 1));
        all
    }

    #[test]
    fn the_rate_is_what_was_delivered_since_a_segment_left_over_the_longer_of_sending_and_arriving() {
        let mut all = a_flight();
        // 0 arrives alone: one segment in the 100 ms since it left
        all.acknowledged(1);
        let first = all.conclude(at_ms(100), 1).unwrap();
        assert_eq!((first.delivered, first.interval, first.rtt), (1, ms(100), Some(ms(100))));
        all.settle(9);
        // 10 leaves now and remembers this acknowledgement; ten segments arrive until it does
        all.sent(10, at_ms(100), 10);
        for seq in 1..10 {
            all.acknowledged(seq + 1);
            all.conclude(at_ms(100 + 10 * seq), 1);
        }
        all.acknowledged(11);
        let last = all.conclude(at_ms(200), 1).unwrap();
        assert_eq!((last.prior_delivered, last.delivered, last.interval), (1, 10, ms(100)));
    }

    #[test]
    fn acknowledgements_that_were_compressed_do_not_raise_the_rate_above_that_of_sending() {
        let mut all = a_flight();
        // all ten in one acknowledgement, 10 ms after the last left: sending them took 90 ms
        all.acknowledged(10);
        let sample = all.conclude(at_ms(100), 10).unwrap();
        assert_eq!((sample.delivered, sample.interval), (10, ms(100)));
        all.sent(10, at_ms(110), 1); // nothing was in flight: the interval begins here
        all.sent(11, at_ms(150), 2);
        all.acknowledged(11);
        all.conclude(at_ms(210), 1);
        all.acknowledged(12);
        let sample = all.conclude(at_ms(211), 1).unwrap();
        assert_eq!(
            (sample.delivered, sample.interval),
            (2, ms(101)),
            "arrival took longer than the 40 ms of sending"
        );
    }

    #[test]
    fn the_newest_segment_is_the_one_sent_last_not_the_highest() {
        let mut all = a_flight();
        all.arrived(1, 9);
        all.conclude(at_ms(190), 8);
        assert_eq!(all.lose(0), Some(Departure { left: at_ms(0), in_flight: 1, lost: 1, app_limited: true }));
        all.settle(1);
        all.sent(0, at_ms(195), 2);
        all.arrived(9, 10);
        all.acknowledged(10);
        let sample = all.conclude(at_ms(295), 2).unwrap();
        assert_eq!((sample.prior_delivered, sample.delivered, sample.rtt), (8, 2, None), "0 was sent twice");
        assert_eq!((all.delivered(), all.lost(), sample.lost), (10, 1, 0));
    }

    #[test]
    fn a_segment_that_is_lost_again_left_when_it_was_sent_again() {
        let mut all = a_flight();
        assert_eq!(all.lose(3).map(|lost| lost.left), Some(at_ms(30)));
        all.sent(3, at_ms(195), 2);
        assert_eq!(all.lose(3).map(|lost| lost.left), Some(at_ms(195)));
    }

    #[test]
    fn samples_are_limited_by_the_application_until_what_was_in_flight_is_delivered() {
        let mut all = a_flight();
        all.acknowledged(2);
        assert!(all.conclude(at_ms(110), 2).unwrap().app_limited, "the first flight");
        assert!(!all.is_app_limited());
        all.settle(8);
        all.limit(); // 2 delivered, 8 in flight
        all.sent(10, at_ms(120), 9);
        all.acknowledged(10);
        all.conclude(at_ms(190), 8);
        assert!(all.is_app_limited());
        all.acknowledged(11);
        assert!(all.conclude(at_ms(220), 1).unwrap().app_limited);
        assert!(!all.is_app_limited());
    }

    #[test]
    fn a_segment_counts_once_however_often_blocks_repeat_it() {
        let mut all = a_flight();
        all.arrived(3, 5);
        all.conclude(at_ms(150), 2);
        all.arrived(3, 5);
        assert_eq!(all.conclude(at_ms(151), 0), None);
        all.acknowledged(5);
        let sample = all.conclude(at_ms(160), 3).unwrap();
        assert_eq!((sample.rtt, all.delivered()), (Some(ms(140)), 5), "2 is the newest of 0, 1 and 2");
    }
}
