//! SABUL's receiver: a SYN, an ACK and a loss report at their own intervals, and each gap at once.

use super::super::arrivals::{Arrivals, ranges};
use super::super::channel::Outbox;
use super::super::connection::accept;
use super::super::end::{Counts, ReceivingEnd};
use super::super::row::Config;
use super::{EXP, SYN};
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, Report, SimPacket};

const ACK_INTERVAL: Interval = Interval::from_millis(100);
const ERR_INTERVAL: Interval = Interval::from_millis(20);
const PATIENCE: f64 = 1.5;
const WORD_BYTES: u32 = 4;
const MESSAGE_BYTES: u32 = 2 * WORD_BYTES;

/// When the packets of a range that are still missing were last reported.
#[derive(Clone, Copy, Debug)]
struct Told {
    start: u64,
    end: u64,
    at: Time,
}

/// The receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    outbox: Outbox,
    /// Losses in one report.
    most: usize,
    /// All that is missing, in order.
    told: Vec<Told>,
    /// What the last ACK acknowledged.
    acked: u64,
    /// When the receiver last accepted the connection.
    accepted_at: Time,
    last_arrival: Time,
    syn_at: Time,
    ack_at: Time,
    err_at: Time,
}

impl Receiver {
    pub(super) fn new(config: &Config) -> Self {
        Receiver {
            arrivals: Arrivals::default(),
            outbox: Outbox::new(config),
            most: (config.mss_bytes / WORD_BYTES).saturating_sub(2).max(1) as usize,
            told: Vec::new(),
            acked: 0,
            accepted_at: Time::NEVER,
            last_arrival: Time::NEVER,
            syn_at: Time::NEVER,
            ack_at: Time::NEVER,
            err_at: Time::NEVER,
        }
    }

    fn on_data(&mut self, now: Time, packet: &SimPacket) {
        if self.last_arrival == Time::NEVER && self.accepted_at != Time::NEVER {
            self.outbox.sample(self.accepted_at, now);
        }
        self.last_arrival = now;
        if self.syn_at == Time::NEVER {
            (self.syn_at, self.ack_at, self.err_at) = (now + SYN, now + ACK_INTERVAL, now + ERR_INTERVAL);
        }
        let gap = self.arrivals.take(packet).unwrap_or_default();
        if !gap.is_empty() {
            self.remember(Told { start: gap.start, end: gap.end, at: now });
            let losses: Vec<u64> = gap.take(self.most).collect();
            self.report(now, &losses);
        }
    }

    /// Keeps a range unless all of it has arrived. Nothing is missing between two ranges that follow each
    /// other, so those with the same time become one.
    fn remember(&mut self, told: Told) {
        if self.arrivals.missing(told.start..told.end).next().is_none() {
            return;
        }
        match self.told.last_mut() {
            Some(last) if last.at == told.at => last.end = told.end,
            _ => self.told.push(told),
        }
    }

    fn report(&mut self, now: Time, losses: &[u64]) {
        let bytes = MESSAGE_BYTES + WORD_BYTES * losses.len() as u32;
        self.outbox.push(now, Report::Missing(ranges(losses.iter().copied())), bytes);
    }

    /// Reports what was reported too long ago.
    fn report_again(&mut self, now: Time) {
        let patience = self.outbox.srtt().scale(PATIENCE).max(ERR_INTERVAL);
        let mut losses: Vec<u64> = Vec::new();
        for told in core::mem::take(&mut self.told) {
            // what comes before this one is reported now
            let mut split = told.start;
            if now.since(told.at) > patience {
                let missing = self.arrivals.missing(told.start..told.end).flat_map(|(start, end)| start..end);
                losses.extend(missing.take(self.most - losses.len()));
                split = losses.get(self.most - 1).map_or(told.end, |last| told.start.max(last + 1));
            }
            self.remember(Told { end: split, at: now, ..told });
            self.remember(Told { start: split, ..told });
        }
        if !losses.is_empty() {
            self.report(now, &losses);
        }
    }

    fn acknowledge(&mut self, now: Time) {
        let up_to = self.delivered();
        if up_to > self.acked {
            self.acked = up_to;
            self.outbox.push(now, Report::Arrived(up_to), MESSAGE_BYTES);
        }
    }

    /// Nothing has arrived for long, and there is nothing to say.
    fn is_idle(&self, now: Time) -> bool {
        now.since(self.last_arrival) >= EXP && self.arrivals.is_complete() && self.acked == self.delivered()
    }

    fn tick(&mut self, now: Time) {
        if now >= self.ack_at {
            self.acknowledge(now);
            self.ack_at = now + ACK_INTERVAL;
        }
        if now >= self.err_at {
            self.report_again(now);
            self.err_at = now + ERR_INTERVAL;
        }
        if now >= self.syn_at {
            if self.is_idle(now) {
                (self.syn_at, self.ack_at, self.err_at) = (Time::NEVER, Time::NEVER, Time::NEVER);
                return;
            }
            self.outbox.push(now, Report::Tick, MESSAGE_BYTES);
            self.syn_at = now + SYN;
        }
    }
}

impl ReceivingEnd for Receiver {
    fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match packet.kind {
            Kind::Syn => {
                self.accepted_at = now;
                return Some(accept(packet));
            }
            Kind::Data => self.on_data(now, packet),
            Kind::AckAck => self.outbox.on_ack(now, packet),
            _ => {}
        }
        self.outbox.poll(now)
    }

    fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        self.tick(now);
        self.outbox.poll(now)
    }

    fn wake(&self) -> Time {
        self.syn_at.min(self.ack_at).min(self.err_at).min(self.outbox.wake())
    }

    fn delivered(&self) -> u64 {
        self.arrivals.in_order()
    }

    fn counts(&self) -> &Counts {
        &self.arrivals.counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::channel::carried;
    use super::*;
    use crate::udp::testing::{config, data, ms};

    /// The losses in the reports that a receiver sends at its timers until `end`; all are acknowledged at
    /// once.
    fn reports_until(r: &mut Receiver, end: Time) -> Vec<(Time, Vec<(u64, u64)>)> {
        let mut said = Vec::new();
        while r.wake() <= end {
            let now = r.wake();
            let mut segment = r.on_timer(now);
            while let Some(packet) = segment {
                if let Some(Report::Missing(ranges)) = carried(&packet) {
                    said.push((now, ranges.clone()));
                }
                // as if it had left 40 ms ago
                let stamp = now - Interval::from_millis(40);
                segment =
                    r.on_packet(now, &SimPacket::new(Kind::AckAck, packet.flow, packet.seq + 1, 52, stamp));
            }
        }
        said
    }

    #[test]
    fn the_receiver_reports_a_gap_at_once_and_again_after_a_round_trip_and_a_half() {
        let mut r = Receiver::new(&config());
        let mut said = Vec::new();
        r.on_packet(ms(1000), &data(0));
        for now in 1000..=1160 {
            let mut segment = if now == 1001 { r.on_packet(ms(now), &data(3)) } else { None };
            while r.wake() <= ms(now) || segment.is_some() {
                if let Some(packet) = segment.take().or_else(|| r.on_timer(ms(now))) {
                    said.push((now - 1000, packet.clone()));
                    // acknowledged at once, as if it had left 40 ms ago
                    let stamp = ms(now) - Interval::from_millis(40);
                    let ack = SimPacket::new(Kind::AckAck, packet.flow, packet.seq + 1, 52, stamp);
                    segment = r.on_packet(ms(now), &ack);
                }
            }
        }
        let errors: Vec<u64> = said
            .iter()
            .filter(|(_, p)| matches!(carried(p), Some(Report::Missing(_))))
            .map(|&(at, _)| at)
            .collect();
        // looked at each 20 ms, and again when more than 60 ms old
        assert_eq!(errors, [1, 80, 160]);
        let ack = said.iter().find(|(_, p)| matches!(carried(p), Some(Report::Arrived(1))));
        assert_eq!(ack.map(|&(at, _)| at), Some(100));
        // an ERR with two losses: TCP and IP, two words, two losses
        assert_eq!(said[0].1.bytes, 52 + 8 + 8);
    }

    #[test]
    fn a_gap_of_many_packets_is_reported_again_in_parts_and_only_what_is_still_missing() {
        let mut r = Receiver::new(&config());
        r.on_packet(ms(1000), &data(0));
        let first = r.on_packet(ms(1000), &data(1001)).unwrap();
        assert_eq!(carried(&first), Some(&Report::Missing(vec![(1, 361)])));
        // a report has room for 360 losses; it comes again, each 20 ms, when more than 60 ms have passed
        (400..500).for_each(|seq| assert!(r.on_packet(ms(1001), &data(seq)).is_none()));
        let said = reports_until(&mut r, ms(1165));
        let parts = [
            (ms(1080), vec![(1, 361)]),
            (ms(1100), vec![(361, 400), (500, 821)]),
            (ms(1120), vec![(821, 1001)]),
            (ms(1160), vec![(1, 361)]),
        ];
        assert_eq!(said, parts);
        assert_eq!(r.told.len(), 3);
    }
}
