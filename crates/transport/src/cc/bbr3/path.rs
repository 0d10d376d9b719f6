//! A path for tests: a BBR v3 flow whose application can pause, on a link whose rate can change, with a
//! buffer, scripted losses, a policer, and acknowledgements that arrive one by one or in bursts. Every
//! segment is acknowledged selectively; three segments sent later and acknowledged make one lost.

use super::super::testing::{instance, loss, window};
use super::*;
use crate::delivery::Deliveries;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub const RTT: Interval = Interval::from_millis(40);
/// Bit/s of packets of 1500 bytes, in segments per second.
pub fn mbps(x: f64) -> f64 {
    x * 1e6 / 12_000.0
}

pub fn at_ms(x: u64) -> Time {
    Time::ZERO + Interval::from_millis(x)
}

/// A token bucket without a buffer.
pub struct Bucket {
    pub pps: f64,
    pub burst: f64,
    pub tokens: f64,
    pub at: Time,
}

pub struct Path {
    pub bbr: Boxed,
    pub w: Window,
    pub now: Time,
    /// The link's rate, segments per second, and what its buffer holds.
    pub rate: f64,
    pub buffer: f64,
    pub rtt: Interval,
    /// What the application writes, segments per second; all at once unless set.
    pub app: Option<f64>,
    /// Acknowledgements leave the path only at multiples of this.
    pub burst: Interval,
    /// One new segment in so many is lost.
    pub loses_each: Option<u64>,
    pub policer: Option<Bucket>,
    pub delivered: u64,
    pub lost: u64,
    written: f64,
    next: u64,
    base: u64,
    acked: BTreeSet<u64>,
    repairs: VecDeque<u64>,
    /// Transmissions under way: their segments.
    outstanding: BTreeMap<u64, u64>,
    sendings: u64,
    recovery_point: Option<u64>,
    /// Arrivals of acknowledgements: of which transmission.
    arrivals: BTreeMap<(Time, u64), u64>,
    link_free: Time,
    pace_at: Time,
    limited: bool,
    deliveries: Deliveries,
}

impl Path {
    pub fn new(variant: &str, rate_mbps: f64, rtt: Interval, buffer_bdp: f64) -> Self {
        let mut bbr = instance(&ROW, &[("variant", variant)]);
        let mut w = window(10.0, f64::INFINITY);
        bbr.on_start(1448, 7);
        let now = Time::ZERO + rtt;
        bbr.on_open(&Opening { now, rtt: Some(rtt), selective: true }, &mut w);
        let mut deliveries = Deliveries::default();
        deliveries.include(rtt);
        let rate = mbps(rate_mbps);
        Path {
            bbr,
            w,
            now,
            rate,
            buffer: (buffer_bdp * rate * rtt.as_secs_f64()).max(2.0),
            rtt,
            app: None,
            burst: Interval::ZERO,
            loses_each: None,
            policer: None,
            delivered: 0,
            lost: 0,
            written: 0.0,
            next: 0,
            base: 0,
            acked: BTreeSet::new(),
            repairs: VecDeque::new(),
            outstanding: BTreeMap::new(),
            sendings: 0,
            recovery_point: None,
            arrivals: BTreeMap::new(),
            link_free: now,
            pace_at: now,
            limited: false,
            deliveries,
        }
    }

    pub fn bdp(&self) -> f64 {
        self.rate * self.rtt.as_secs_f64()
    }

    /// The link's rate changes to this factor of it, also for what waits there.
    pub fn scale_rate(&mut self, factor: f64) {
        let (now, rtt) = (self.now, self.rtt);
        let later = |departure: Time| now + departure.since(now).scale(1.0 / factor);
        let waiting = |departure: Time| if departure > now { later(departure) } else { departure };
        let arrivals = core::mem::take(&mut self.arrivals);
        let moved = |((at, id), seq): ((Time, u64), u64)| ((waiting(at - rtt) + rtt, id), seq);
        self.arrivals = arrivals.into_iter().map(moved).collect();
        self.link_free = waiting(self.link_free);
        self.rate *= factor;
    }

    pub fn in_flight(&self) -> u64 {
        self.outstanding.len() as u64
    }

    /// Runs until `done` says so after an acknowledgement, or until `limit`. Returns whether it did.
    pub fn run(&mut self, limit: Time, mut done: impl FnMut(&Path) -> bool) -> bool {
        loop {
            self.transmit();
            let acknowledgement = self.arrivals.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
            let next = acknowledgement.min(self.next_send());
            if next == Time::NEVER && self.in_flight() > 0 {
                self.time_out();
                continue;
            }
            if next > limit {
                self.write(limit);
                self.now = limit;
                return false;
            }
            self.write(next);
            self.now = next;
            if acknowledgement <= next && self.acknowledge() && done(self) {
                return true;
            }
        }
    }

    pub fn run_to(&mut self, state: State, limit: Time) {
        assert!(
            self.run(limit, |p| p.bbr.state == state),
            "no {state:?} until {:?}: {:?}",
            self.now,
            self.bbr.state
        );
    }

    fn write(&mut self, now: Time) {
        if let Some(pps) = self.app {
            self.written += pps * now.since(self.now).as_secs_f64();
        }
    }

    fn may_send(&self) -> bool {
        let new = self.app.is_none() || (self.next + 1) as f64 <= self.written + 1e-6;
        (new || !self.repairs.is_empty()) && self.in_flight() < self.w.cwnd as u64
    }

    fn next_send(&self) -> Time {
        if self.may_send() {
            return self.pace_at.max(self.now);
        }
        match self.app.filter(|&pps| pps > 0.0 && self.in_flight() < self.w.cwnd as u64) {
            Some(pps) => {
                let wait = ((self.next + 1) as f64 - self.written).max(0.0) / pps;
                (self.now + Interval::from_secs_f64(wait) + Interval::from_ns(1)).max(self.pace_at)
            }
            None => Time::NEVER,
        }
    }

    /// From now on, the application writes this much.
    pub fn limit_application(&mut self, pps: f64) {
        self.app = Some(pps);
        self.written = self.next as f64;
    }

    pub fn transmit(&mut self) {
        let mut quantum = 0;
        loop {
            if !self.may_send() {
                let room = self.in_flight() < self.w.cwnd as u64;
                self.limited = !room;
                if room && self.repairs.is_empty() {
                    self.deliveries.settle(self.in_flight());
                    self.deliveries.limit();
                }
                return;
            }
            if quantum == 0 {
                if self.pace_at > self.now {
                    self.limited = false;
                    return;
                }
                quantum = self.bbr.send_quantum() as u64;
            }
            quantum -= 1;
            let gap = Interval::from_secs_f64(1.0 / self.bbr.pacing_rate);
            self.pace_at = self.pace_at.max(self.now) + gap;
            self.send();
        }
    }

    fn send(&mut self) {
        let repaired = self.repairs.pop_front();
        let seq = repaired.unwrap_or(self.next);
        self.next += u64::from(repaired.is_none());
        let id = self.sendings;
        self.sendings += 1;
        if self.outstanding.is_empty() && self.deliveries.is_app_limited() {
            self.bbr.on_restart(self.now, self.deliveries.last_sent(), &mut self.w);
        }
        self.outstanding.insert(id, seq);
        self.deliveries.sent(seq, self.now, self.in_flight());
        let dropped = repaired.is_none() && self.loses_each.is_some_and(|n| seq % n == n - 1);
        if dropped || !self.passes_policer() {
            return;
        }
        let queue = self.link_free.since(self.now).as_secs_f64() * self.rate;
        if queue >= self.buffer {
            return;
        }
        self.link_free = self.link_free.max(self.now) + Interval::from_secs_f64(1.0 / self.rate);
        let mut at = self.link_free + self.rtt;
        if self.burst > Interval::ZERO {
            at = at.round_up(self.burst, Interval::ZERO);
        }
        self.arrivals.insert((at, id), seq);
    }

    fn passes_policer(&mut self) -> bool {
        let Some(bucket) = &mut self.policer else { return true };
        let filled = bucket.tokens + bucket.pps * self.now.since(bucket.at).as_secs_f64();
        (bucket.tokens, bucket.at) = (filled.min(bucket.burst), self.now);
        let passes = bucket.tokens >= 1.0;
        bucket.tokens -= f64::from(u8::from(passes));
        passes
    }

    /// All acknowledgements that arrive now count as one. Returns whether there was one.
    fn acknowledge(&mut self) -> bool {
        let prior_in_flight = self.in_flight();
        let (mut newly, mut last) = (0, 0);
        while let Some((&(at, id), &seq)) = self.arrivals.first_key_value() {
            if at > self.now {
                break;
            }
            self.arrivals.pop_first();
            self.outstanding.remove(&id);
            last = last.max(id);
            if seq >= self.base && self.acked.insert(seq) {
                newly += 1;
                self.deliveries.arrived(seq, seq + 1);
            }
        }
        while self.acked.remove(&self.base) {
            self.base += 1;
        }
        self.deliveries.acknowledged(self.base);
        self.delivered += newly;
        let late: Vec<u64> = self.outstanding.range(..last.saturating_sub(2)).map(|(&id, _)| id).collect();
        self.finish_or_begin_recovery(!late.is_empty());
        let newest = self.deliveries.conclude(self.now, newly);
        let newly_lost = late.len() as u64;
        self.lose(&late);
        let delivery = Delivery {
            now: self.now,
            rate: newest.and_then(|n| n.rate(self.deliveries.min_rtt())),
            delivered: newest.map_or(0, |n| n.delivered),
            prior_delivered: newest.map(|n| n.prior_delivered),
            app_limited: newest.is_some_and(|n| n.app_limited),
            tx_in_flight: newest.map_or(0, |n| n.in_flight),
            lost: newest.map_or(0, |n| n.lost + newly_lost),
            rtt: newest.and_then(|n| n.rtt),
            left: newest.map(|n| n.left),
            newly_delivered: newly,
            newly_lost,
            total_delivered: self.deliveries.delivered(),
            total_lost: self.deliveries.lost(),
            prior_in_flight,
            in_flight: self.in_flight(),
            srtt: self.rtt,
            next_departure: self.pace_at,
            window_limited: self.limited,
            may_grow: true,
            source_limited: false,
            repair: if self.recovery_point.is_some() { Repair::Recovery } else { Repair::None },
        };
        self.deliveries.settle(self.in_flight());
        self.bbr.on_delivery(&delivery, &mut self.w);
        if self.bbr.holds_back() {
            self.deliveries.limit();
        }
        true
    }

    fn finish_or_begin_recovery(&mut self, found: bool) {
        if self.recovery_point.is_some_and(|point| self.base >= point) {
            self.recovery_point = None;
            self.bbr.on_recovered(self.now, &mut self.w);
        }
        if found && self.recovery_point.is_none() {
            self.bbr.on_congestion(&loss(), &mut self.w);
            self.recovery_point = Some(self.next);
        }
    }

    fn lose(&mut self, late: &[u64]) {
        for id in late {
            let Some(seq) = self.outstanding.remove(id) else { continue };
            self.lost += 1;
            if let Some(departure) = self.deliveries.lose(seq) {
                let lost = LostSegment {
                    now: self.now,
                    segment: seq,
                    left: departure.left,
                    tx_in_flight: departure.in_flight,
                    lost: departure.lost,
                    app_limited: departure.app_limited,
                    total_delivered: self.deliveries.delivered(),
                };
                self.bbr.on_lost(&lost, &mut self.w);
            }
            self.repairs.push_back(seq);
        }
    }

    /// Nothing will arrive: a second later all that is outstanding counts as lost.
    fn time_out(&mut self) {
        self.write(self.now + Interval::from_millis(1000));
        self.now += Interval::from_millis(1000);
        let timeout = Congestion { cause: Cause::Timeout, ..loss() };
        self.bbr.on_congestion(&timeout, &mut self.w);
        let late: Vec<u64> = self.outstanding.keys().copied().collect();
        self.lose(&late);
        self.w.cwnd = 1.0;
        self.bbr.on_timeout(self.now, &mut self.w);
    }
}
