//! UDT's receiver: an acknowledgement every SYN, a loss report at once and again until the packets arrive,
//! and estimates of the path from arrivals.
//!
//! | constant | value | source |
//! |---|---|---|
//! | arrivals, pairs looked at | 16 each | draft-gg-udt-03, 6.2 |
//! | intervals counted | within a factor 8 of the median, more than 8 of them | the same |
//! | loss report repeated | every 4 RTT + RTTVar + SYN, those that are k RTT old, k = 2, 3... | the same, and section 4 |
//! | acknowledgement | 68 bytes | headers and six fields of 32 bits: section 2 |
//! | round trip while none is measured | 100 ms | reference implementation: 10 SYN |

use super::super::channel::carrying;
use super::super::connection::accept;
use super::super::end::{CONTROL_BYTES, Counts, ReceivingEnd};
use super::control::{PAIR_EVERY, SYN, SYN_S};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Kind, Report, SimPacket, UdtReport};
use std::collections::{BTreeMap, VecDeque};

const KEPT: usize = 16;
const ACK_BYTES: u32 = CONTROL_BYTES + 24;
/// Bytes of a single number, and of a range, in a loss report (draft, 6.4).
const LOSS_BYTES: u32 = 4;
const RANGE_BYTES: u32 = 8;
const INITIAL_RTT_S: f64 = 10.0 * SYN_S;
/// The most acknowledgements that wait for their own acknowledgement.
const MOST_ACKS: usize = 1024;

/// The latest intervals, ns.
#[derive(Clone, Debug, Default)]
struct Intervals(VecDeque<u64>);

impl Intervals {
    fn add(&mut self, interval: Interval) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(interval.as_ns());
    }

    /// Their median; `None` until the record is full.
    fn median(&self) -> Option<u64> {
        let mut sorted: Vec<u64> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        (sorted.len() == KEPT).then(|| sorted[KEPT / 2])
    }

    /// Packets per second from the mean of the intervals near the median; 0 if too few are near.
    fn filtered_pps(&self) -> f64 {
        let Some(median) = self.median() else { return 0.0 };
        let near: Vec<u64> =
            self.0.iter().copied().filter(|&x| x <= 8 * median && 8 * x >= median && x > 0).collect();
        if near.len() > KEPT / 2 { 1e9 * near.len() as f64 / near.iter().sum::<u64>() as f64 } else { 0.0 }
    }

    /// Packets per second from the median; 0 while there are too few intervals.
    fn median_pps(&self) -> f64 {
        self.median().map_or(0.0, |median| 1e9 / median.max(1) as f64)
    }
}

/// One packet that is missing.
#[derive(Clone, Copy, Debug)]
struct Missing {
    reported: Time,
    /// The number of round trips before the next report.
    patience: u64,
}

/// The receiving end.
pub struct Receiver {
    flow: FlowId,
    packet_bytes: u32,
    /// One past the largest number that arrived.
    largest: u64,
    /// The receiver's loss list.
    lost: BTreeMap<u64, Missing>,
    last_arrival: Time,
    arrivals: Intervals,
    pairs: Intervals,
    /// Number of the next acknowledgement.
    number: u64,
    /// Acknowledgements not yet acknowledged: number, what they acknowledged, when they left.
    sent: VecDeque<(u64, u64, Time)>,
    last_ack: (u64, Time),
    /// The highest acknowledgement that the sender is known to have.
    known: u64,
    /// Round-trip time and variance, seconds.
    rtt_s: Option<(f64, f64)>,
    ack_at: Time,
    nak_at: Time,
    counts: Counts,
}

impl Receiver {
    pub(super) fn new(flow: FlowId, packet_bytes: u32) -> Self {
        Receiver {
            flow,
            packet_bytes,
            largest: 0,
            lost: BTreeMap::new(),
            last_arrival: Time::NEVER,
            arrivals: Intervals::default(),
            pairs: Intervals::default(),
            number: 0,
            sent: VecDeque::new(),
            last_ack: (0, Time::ZERO),
            known: 0,
            rtt_s: None,
            ack_at: Time::NEVER,
            nak_at: Time::NEVER,
            counts: Counts::default(),
        }
    }

    fn on_data(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        self.counts.received_bytes += u64::from(packet.bytes);
        let seq = packet.seq;
        if self.last_arrival != Time::NEVER {
            let interval = now.since(self.last_arrival);
            self.arrivals.add(interval);
            if seq % PAIR_EVERY == 1 && seq == self.largest {
                self.pairs.add(interval);
            }
        }
        self.last_arrival = now;
        if self.ack_at == Time::NEVER {
            self.ack_at = now + SYN;
        }
        if seq < self.largest {
            self.counts.duplicates += u64::from(self.lost.remove(&seq).is_none());
            if self.lost.is_empty() {
                self.nak_at = Time::NEVER;
            }
            return None;
        }
        let gap = self.largest..seq;
        self.largest = seq + 1;
        if gap.is_empty() {
            return None;
        }
        if self.lost.is_empty() {
            self.nak_at = now + self.nak_period();
        }
        self.lost.extend(gap.clone().map(|missing| (missing, Missing { reported: now, patience: 2 })));
        Some(self.report(now, vec![(gap.start, gap.end)]))
    }

    fn acknowledge(&mut self, now: Time) -> Option<SimPacket> {
        let up_to = self.delivered();
        let again_at = self.last_ack.1 + Interval::from_secs_f64(2.0 * self.rtt_s());
        if up_to == self.known {
            self.ack_at = Time::NEVER; // until something arrives
            return None;
        }
        if up_to == self.last_ack.0 && now < again_at {
            self.ack_at = now + SYN;
            return None;
        }
        self.ack_at = now + SYN;
        self.last_ack = (up_to, now);
        if self.sent.len() == MOST_ACKS {
            self.sent.pop_front();
        }
        self.sent.push_back((self.number, up_to, now));
        let report = UdtReport {
            number: self.number,
            rtt: self.rtt_s.map(|(rtt_s, _)| Interval::from_secs_f64(rtt_s)),
            arrival_pps: self.arrivals.filtered_pps(),
            capacity_pps: self.pairs.median_pps(),
        };
        self.number += 1;
        Some(self.answer(now, up_to, ACK_BYTES, Report::Udt(report)))
    }

    /// The sender has got acknowledgement `number`.
    fn on_ack_ack(&mut self, now: Time, number: u64) {
        while let Some(&(first, up_to, at)) = self.sent.front() {
            if first > number {
                return;
            }
            self.sent.pop_front();
            if first == number {
                self.known = self.known.max(up_to);
                let sample_s = now.since(at).as_secs_f64();
                self.rtt_s = Some(self.rtt_s.map_or((sample_s, sample_s / 2.0), |(rtt_s, var_s)| {
                    let rtt_s = (7.0 * rtt_s + sample_s) / 8.0;
                    (rtt_s, (3.0 * var_s + (rtt_s - sample_s).abs()) / 4.0)
                }));
            }
        }
    }

    fn repeat_reports(&mut self, now: Time) -> Option<SimPacket> {
        let rtt = Interval::from_secs_f64(self.rtt_s());
        let most = ((self.packet_bytes.saturating_sub(CONTROL_BYTES)) / RANGE_BYTES).max(1) as usize;
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut full = false;
        for (&seq, missing) in &mut self.lost {
            if now.since(missing.reported).as_ns() < missing.patience * rtt.as_ns() {
                continue;
            }
            let room = ranges.len() < most;
            match ranges.last_mut() {
                Some((_, end)) if *end == seq => *end += 1,
                _ if room => ranges.push((seq, seq + 1)),
                _ => {
                    full = true;
                    break;
                }
            }
            missing.reported = now;
            missing.patience += 1;
        }
        // the rest follows at once
        if !full {
            self.nak_at = now + self.nak_period();
        }
        (!ranges.is_empty()).then(|| self.report(now, ranges))
    }

    fn report(&self, now: Time, ranges: Vec<(u64, u64)>) -> SimPacket {
        let size = |&(start, end): &(u64, u64)| if end - start > 1 { RANGE_BYTES } else { LOSS_BYTES };
        let bytes = CONTROL_BYTES + ranges.iter().map(size).sum::<u32>();
        self.answer(now, self.delivered(), bytes, Report::Missing(ranges))
    }

    fn answer(&self, now: Time, seq: u64, bytes: u32, report: Report) -> SimPacket {
        carrying(SimPacket::new(Kind::Ack, self.flow, seq, bytes, now), report)
    }

    fn rtt_s(&self) -> f64 {
        self.rtt_s.map_or(INITIAL_RTT_S, |(rtt_s, _)| rtt_s)
    }

    fn nak_period(&self) -> Interval {
        let var_s = self.rtt_s.map_or(INITIAL_RTT_S / 2.0, |(_, var_s)| var_s);
        Interval::from_secs_f64(4.0 * self.rtt_s() + var_s + SYN_S)
    }
}

impl ReceivingEnd for Receiver {
    fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match packet.kind {
            Kind::Syn => Some(accept(packet)),
            Kind::Data => self.on_data(now, packet),
            Kind::AckAck => {
                self.on_ack_ack(now, packet.seq);
                None
            }
            _ => None,
        }
    }

    fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        if now >= self.ack_at { self.acknowledge(now) } else { self.repeat_reports(now) }
    }

    fn wake(&self) -> Time {
        self.ack_at.min(self.nak_at)
    }

    fn delivered(&self) -> u64 {
        self.lost.first_key_value().map_or(self.largest, |(&first, _)| first)
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::testing::{data, ms};

    fn receiver() -> Receiver {
        Receiver::new(FlowId(0), 1500)
    }

    fn report(packet: &SimPacket) -> &Report {
        packet.extra.as_ref().unwrap().report.as_ref().unwrap()
    }

    #[test]
    fn a_gap_is_reported_at_once_and_again_until_it_is_filled() {
        let mut r = receiver();
        assert!(r.on_packet(ms(0), &data(0)).is_none());
        let nak = r.on_packet(ms(1), &data(4)).unwrap();
        assert_eq!(report(&nak), &Report::Missing(vec![(1, 4)]));
        assert_eq!(r.delivered(), 1);
        r.on_packet(ms(2), &data(2));
        // the acknowledgements are not acknowledged, so the receiver repeats them
        let mut repeated = Vec::new();
        while repeated.len() < 2 {
            let now = r.wake();
            assert!(now < ms(10_000));
            if let Some(answer) = r.on_timer(now)
                && let Report::Missing(ranges) = report(&answer)
            {
                repeated.push((now, ranges.clone()));
            }
        }
        // 4 x 100 + 50 + 10 ms, twice
        assert_eq!(repeated[0], (ms(461), vec![(1, 2), (3, 4)]));
        assert_eq!(repeated[1].0, ms(921));
        r.on_packet(ms(922), &data(1));
        r.on_packet(ms(923), &data(3));
        assert_eq!((r.delivered(), r.nak_at, r.counts.duplicates), (5, Time::NEVER, 0));
        r.on_packet(ms(924), &data(3));
        assert_eq!(r.counts.duplicates, 1);
    }

    #[test]
    fn an_acknowledgement_leaves_every_syn_until_the_sender_is_known_to_have_it() {
        let mut r = receiver();
        r.on_packet(ms(0), &data(0));
        let first = r.on_timer(ms(10)).unwrap();
        assert_eq!((first.seq, first.bytes), (1, 68));
        r.on_packet(ms(15), &data(1));
        let second = r.on_timer(ms(20)).unwrap();
        assert_eq!(second.seq, 2);
        // the same number once more only after two round trips
        assert!(r.on_timer(ms(30)).is_none());
        let mut ack_ack = SimPacket::new(Kind::AckAck, FlowId(0), 1, 44, ms(0));
        r.on_packet(ms(60), &ack_ack);
        assert!(r.on_timer(r.wake()).is_none());
        assert_eq!(r.wake(), Time::NEVER);
        // a second report of the same acknowledgement changes nothing
        ack_ack.seq = 0;
        r.on_packet(ms(300), &ack_ack);
        assert_eq!(r.rtt_s, Some((0.04, 0.02)));
    }

    #[test]
    fn speed_is_the_mean_of_usual_intervals_and_capacity_the_median_of_pairs() {
        let mut r = receiver();
        let mut now = ms(0);
        for seq in 0..320 {
            // a packet a millisecond, pairs 100 us apart, and once a pause
            let gap_us = if seq % 16 == 1 { 100 } else { 1000 };
            now += Interval::from_ns(1000 * if seq == 310 { 50_000 } else { gap_us });
            r.on_packet(now, &data(seq));
        }
        let Report::Udt(told) = report(&r.acknowledge(now).unwrap()).clone() else {
            panic!("an acknowledgement")
        };
        assert!((told.capacity_pps - 10_000.0).abs() < 1e-6, "{told:?}");
        // the pair's interval and the pause are beyond a factor 8 of 1 ms
        assert!((told.arrival_pps - 1000.0).abs() < 1e-6, "{told:?}");
    }

    #[test]
    fn a_report_that_does_not_fit_into_a_packet_goes_in_several() {
        let mut r = receiver();
        // every second of 1000 packets is missing; a packet has room for 182 ranges
        let naks = (0..1000).filter(|&i| r.on_packet(ms(i), &data(2 * i)).is_some()).count();
        assert_eq!(naks, 999);
        r.known = u64::MAX;
        r.ack_at = Time::NEVER;
        let now = ms(2000);
        r.nak_at = now;
        let mut sizes = Vec::new();
        while r.wake() <= now {
            let answer = r.on_timer(now).unwrap();
            assert!(answer.bytes <= 1500);
            let Report::Missing(ranges) = report(&answer).clone() else { panic!("a report") };
            sizes.push(ranges.len());
        }
        assert_eq!(sizes, [182, 182, 182, 182, 182, 89]);
    }
}
