//! Reliable Blast UDP (He, Leigh, Yu, DeFanti: Reliable Blast UDP: Predictable High Performance Bulk Data
//! Transfer, IEEE Cluster 2002): the whole payload at a rate that the user sets, a bitmap of what is missing,
//! and blasts of the missing packets until there are none.
//!
//! ```text
//! blast 1:   all packets of the payload, one every 8 (mss + headers) / rate; then DONE
//! answer:    a bitmap of the packets that have not arrived
//! blast i:   the packets missing in the bitmap of blast i - 1; then DONE
//! end:       no packet is missing
//! ```
//!
//! The original exchanges DONE and the bitmap over TCP. Here the bitmap travels as [`super::channel`] says,
//! and the sender repeats DONE after the timeout of RFC 6298 until the bitmap begins to arrive.
//!
//! The paper's text could not be had: this follows its abstract, the authors' description of the tool
//! (Electronic Visualization Laboratory, Reliable Blast UDP) and their source (QUANTA,
//! `QUANTAnet_rbudpSender_c` and `sendstream`, 2003).
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | rate | 50 | Mbit/s of IP packets | chosen here: the user sets it | the source counts the payload only, and rounds the distance of packets down to whole microseconds |
//! | payload of an endless flow | 64 | MiB | QUANTA, `sendstream`: "Transfer in blocks of bufsize, default 64m" | none |
//! | bitmap | a bit a packet, and 2 bytes | | QUANTA: `totalNumberOfPackets / 8 + 2` | none |
//! | DONE | 8 | bytes | chosen here: a 32-bit round and "EEE" with its padding | not verified |

use super::arrivals::Arrivals;
use super::channel::{Inbox, Outbox, carried, message};
use super::connection::accept;
use super::end::{Books, Counts, Out, Pace, ReceivingEnd, Reliable, SendingEnd};
use super::row::{BPS_PER_MBPS, Config, RATE, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};
use longfat_wire::{Kind, Report, SimPacket};
use std::collections::VecDeque;

const BYTES_PER_MIB: f64 = 1_048_576.0;
const DONE_BYTES: u32 = 8;
/// What the bitmap has beside a bit for each packet, bytes.
const BITMAP_BYTES: u64 = 2;

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "rbudp",
        title: "Reliable Blast UDP",
        aliases: &[],
        citation: "He, Leigh, Yu, DeFanti: Reliable Blast UDP: Predictable High Performance Bulk Data Transfer, IEEE \
                   Cluster 2002",
        page: "rbudp",
        parameters: &[
            RATE,
            Parameter::number(
                "payload",
                64.0,
                (0.001, 1e6),
                "MiB",
                "what an endless flow blasts before it asks what is missing; finite flows blast everything",
            ),
        ],
        style: Some(Style::new("#7b2cbf", "P")),
    },
    reliable: true,
    answered: true,
    random: false,
    build: |p, config, _| (Sender::new(p, config), Receiver::new(config)),
};

/// The sending end.
pub struct Sender {
    books: Books,
    inbox: Inbox,
    pace: Pace,
    /// Distance of two packets.
    gap: Interval,
    /// Packets of a payload of an endless flow.
    most: u64,
    /// The payload's packets, [start, end).
    payload: (u64, u64),
    /// Ranges that this blast still has to send.
    blast: VecDeque<(u64, u64)>,
    number: u64,
    /// DONE has been sent, and the bitmap is not complete.
    waits: bool,
    /// No segment of the bitmap has arrived yet.
    unanswered: bool,
    /// The ranges of the bitmap so far.
    missing: Vec<(u64, u64)>,
    /// All before this one have arrived.
    acked: u64,
    /// One past the last packet sent.
    sent: u64,
}

impl Sender {
    fn new(p: &Parameters, config: &Config) -> Self {
        let gap_s = f64::from(8 * config.packet_bytes()) / (BPS_PER_MBPS * p.number(RATE.name));
        let packets = BYTES_PER_MIB * p.number("payload") / f64::from(config.mss_bytes);
        Sender {
            books: Books::new(config),
            inbox: Inbox::default(),
            pace: Pace::new(config),
            gap: Interval::from_secs_f64(gap_s),
            most: packets.ceil() as u64,
            payload: (0, 0),
            blast: VecDeque::new(),
            number: 0,
            waits: false,
            unanswered: false,
            missing: Vec::new(),
            acked: 0,
            sent: 0,
        }
    }

    /// Begins the first blast of the next payload.
    fn begin_payload(&mut self, now: Time) {
        let start = self.payload.1;
        let end = if self.books.config.bytes.is_some() { self.books.end } else { start + self.most };
        self.payload = (start, end.min(self.books.end));
        self.blast = VecDeque::from([self.payload]);
        self.look_for_end(now);
    }

    /// The bitmap is complete.
    fn on_bitmap(&mut self, now: Time) {
        let missing = core::mem::take(&mut self.missing);
        self.number += 1;
        self.waits = false;
        self.acked = missing.first().map_or(self.payload.1, |&(first, _)| first);
        if missing.is_empty() {
            return self.begin_payload(now);
        }
        self.count_congestion(now);
        self.blast = missing.into();
    }

    /// Sends what the rate allows now, and DONE after the last packet of a blast.
    fn transmit(&mut self, now: Time, out: Out) {
        self.books.connection.send_at = Time::NEVER;
        if !self.books.is_active() || self.waits {
            return;
        }
        while let Some((seq, end)) = self.blast.front_mut() {
            let due = self.pace.due(now);
            if due > now {
                self.books.connection.send_at = due;
                return;
            }
            self.books.send(now, *seq, *seq < self.sent, out);
            *seq += 1;
            self.sent = self.sent.max(*seq);
            if seq == end {
                self.blast.pop_front();
            }
            self.pace.sent(now, self.gap);
        }
        (self.waits, self.unanswered) = (true, true);
        self.send_done(now, out);
    }

    fn send_done(&mut self, now: Time, out: Out) {
        let done = Report::Done { blast: self.number, payload: self.payload };
        out(message(now, self.books.config.flow, DONE_BYTES, done));
        self.books.connection.expire_at = self.books.connection.rtt.deadline(now);
    }
}

impl SendingEnd for Sender {
    fn stop(&mut self, now: Time) {
        self.books.end = self.sent;
        self.payload.1 = self.payload.1.min(self.sent);
        self.blast.retain_mut(|(start, end)| {
            *end = self.sent.min(*end);
            start < end
        });
        self.look_for_end(now);
        if self.books.is_active() && !self.waits {
            self.books.connection.send_at = now; // DONE may be due
        }
    }

    fn on_packet(&mut self, now: Time, packet: &SimPacket, out: Out) {
        if self.opens(now, packet) {
            self.begin_payload(now);
        } else if packet.kind == Kind::Ack && self.books.connection.is_open() {
            for report in self.inbox.take(packet, out) {
                let Report::Bitmap { missing, last, asked_at } = report else { continue };
                if core::mem::take(&mut self.unanswered) {
                    self.books.connection.rtt.sample(asked_at, now);
                }
                self.books.connection.expire_at = Time::NEVER;
                self.missing.extend(missing);
                if last {
                    self.on_bitmap(now);
                }
            }
        } else {
            return;
        }
        self.transmit(now, out);
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if self.books.connection.repeats(now, out) {
            return;
        }
        if now >= self.books.connection.expire_at {
            self.books.connection.rtt.back_off();
            self.count_timeout(now);
            self.send_done(now, out);
        }
        self.transmit(now, out);
    }

    fn cwnd(&self) -> f64 {
        (self.books.connection.rtt.srtt().as_ns() as f64 / self.gap.as_ns().max(1) as f64).max(1.0)
    }

    fn acked(&self) -> u64 {
        self.acked
    }

    fn books(&self) -> &Books {
        &self.books
    }

    fn books_mut(&mut self) -> &mut Books {
        &mut self.books
    }
}

/// The receiving end: packets go straight into the user's memory.
#[derive(Clone, Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    /// One past the last packet; never reached by endless flows.
    end: u64,
    outbox: Outbox,
    /// Bytes of a segment of the bitmap.
    segment_bytes: u64,
    /// The next blast whose bitmap the sender has not been sent.
    blast: u64,
}

impl Receiver {
    fn new(config: &Config) -> Self {
        Receiver {
            arrivals: Arrivals::default(),
            end: Books::new(config).end,
            outbox: Outbox::new(config),
            segment_bytes: u64::from(config.mss_bytes),
            blast: 0,
        }
    }

    /// Writes the bitmap of a payload, segment by segment.
    fn answer(&mut self, now: Time, (start, end): (u64, u64), asked_at: Time) {
        self.arrivals.expect(end);
        let mut left = (end - start) / 8 + BITMAP_BYTES;
        let mut from = start;
        while left > 0 {
            let bytes = left.min(self.segment_bytes);
            left -= bytes;
            let to = if left == 0 { end } else { (from + 8 * bytes).min(end) };
            let missing = self.arrivals.missing(from..to).collect();
            self.outbox.push(now, Report::Bitmap { missing, last: left == 0, asked_at }, bytes as u32);
            from = to;
        }
    }
}

impl ReceivingEnd for Receiver {
    fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match (packet.kind, carried(packet)) {
            (Kind::Syn, _) => return Some(accept(packet)),
            (Kind::Data, _) => {
                self.arrivals.take(packet);
            }
            (Kind::AckAck, Some(&Report::Done { blast, payload })) if blast == self.blast => {
                self.blast += 1;
                self.answer(now, payload, packet.stamp);
            }
            (Kind::AckAck, None) => self.outbox.on_ack(now, packet),
            _ => {}
        }
        self.outbox.poll(now)
    }

    fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        self.outbox.poll(now)
    }

    fn wake(&self) -> Time {
        self.outbox.wake()
    }

    fn delivered(&self) -> u64 {
        self.arrivals.count(self.end)
    }

    fn counts(&self) -> &Counts {
        &self.arrivals.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, ms};

    /// 12 Mbit/s: a packet a millisecond.
    fn path(config: &Config) -> Path<Sender, Receiver> {
        Path::new(&ROW, &[("rate", Value::Number(12.0))], config)
    }

    fn packets(count: u64) -> Config {
        Config { bytes: Some(1448 * count), ..config() }
    }

    #[test]
    fn a_payload_without_losses_takes_its_blast_and_a_round_trip() {
        let mut path = path(&packets(100));
        // connected at 40 ms; the last packet leaves at 139 ms with DONE, and the bitmap is back 40 ms later
        path.run(ms(178), |_, _| false);
        assert_eq!((path.sent.len(), path.sent[99]), (100, (ms(139), 99)));
        assert!(!path.sender.books().done);
        path.run(ms(179), |_, _| false);
        assert!(path.sender.books().done);
        assert_eq!(path.sender.acked(), 100);
    }

    #[test]
    fn the_second_blast_is_what_the_bitmap_lacks() {
        let mut path = path(&packets(100));
        path.run(ms(60_000), |at, packet| {
            packet.kind == Kind::Data && at < ms(150) && packet.seq.is_multiple_of(10)
        });
        let again: Vec<u64> = path.sent[100..].iter().map(|&(_, seq)| seq).collect();
        assert_eq!(again, (0..10).map(|i| 10 * i).collect::<Vec<_>>());
        // from the bitmap at 179 ms on, one a millisecond
        assert_eq!((path.sent[100].0, path.sent[109].0), (ms(179), ms(188)));
        let sent = &path.sender.books().counters;
        assert_eq!((sent.retransmits, sent.congestion_events, path.receiver.counts().duplicates), (10, 1, 0));
        assert!(path.sender.books().done);
    }

    #[test]
    fn a_lost_done_is_repeated_after_the_timeout() {
        let mut path = path(&packets(100));
        let mut lost = 0;
        path.run(ms(60_000), |_, packet| {
            let done = carried(packet).is_some() && lost == 0;
            lost += u32::from(done);
            done
        });
        let sent = &path.sender.books().counters;
        assert_eq!((path.sender.books().done, sent.timeouts, sent.retransmits), (true, 1, 0));
    }

    #[test]
    fn a_payload_of_many_packets_has_a_bitmap_of_many_segments() {
        let mut receiver = Receiver::new(&config());
        let payload = (5, 100_005);
        // the first two and every thousandth arrive; a segment of 1448 bytes covers 11584 packets
        let arrived: Vec<u64> = [5, 6].into_iter().chain((1..100).map(|i| 1000 * i)).collect();
        for &seq in &arrived {
            receiver.on_packet(ms(0), &crate::udp::testing::data(seq));
        }
        let done = message(ms(1), config().flow, 8, Report::Done { blast: 0, payload });
        let mut segments: Vec<SimPacket> = receiver.on_packet(ms(1), &done).into_iter().collect();
        while receiver.wake() <= ms(1) {
            segments.extend(receiver.on_timer(ms(1)));
        }
        // 12502 bytes
        let sizes: Vec<u16> = segments.iter().map(|s| s.bytes).collect();
        assert_eq!(sizes, [1500, 1500, 1500, 1500, 1500, 1500, 1500, 1500, 970]);
        let missing: u64 = segments
            .iter()
            .map(|segment| match carried(segment) {
                Some(Report::Bitmap { missing, .. }) => {
                    missing.iter().map(|(start, end)| end - start).sum::<u64>()
                }
                other => panic!("{other:?}"),
            })
            .sum();
        assert_eq!(missing, 100_000 - arrived.len() as u64);
        // the same DONE again is not answered again
        assert!(receiver.on_packet(ms(2), &done).is_none());
    }

    #[test]
    fn an_endless_flow_blasts_payload_after_payload() {
        // 20 packets of 1448 bytes
        let given =
            [("rate", Value::Number(12.0)), ("payload", Value::Number(20.0 * 1448.0 / BYTES_PER_MIB))];
        let mut path = Path::new(&ROW, &given, &config());
        path.run(ms(1000), |_, _| false);
        // a payload takes 19 ms from its first packet to DONE, and 40 ms until the bitmap is back
        let firsts: Vec<_> = path.sent.iter().filter(|(_, seq)| seq % 20 == 0).map(|&(at, _)| at).collect();
        assert_eq!(firsts[..3], [ms(40), ms(99), ms(158)]);
        assert_eq!(path.sender.acked() % 20, 0);
    }

    #[test]
    fn a_stop_in_the_middle_of_a_blast_repairs_what_was_sent() {
        let mut path = path(&config());
        path.run(ms(100), |_, packet| packet.kind == Kind::Data && packet.seq == 7);
        path.sender.stop(ms(100));
        path.run(ms(60_000), |_, _| false);
        assert!(path.sender.books().done);
        assert_eq!((path.sender.acked(), path.receiver.delivered()), (61, 61));
        assert_eq!(path.receiver.wake(), Time::NEVER);
    }

    #[test]
    fn a_finite_transfer_arrives_whatever_is_lost() {
        path(&packets(691)).survives_losses(691);
    }

    #[test]
    fn the_achieved_rate_is_the_one_that_the_parts_predict() {
        // T = S / B (1 + L + L^2 ...) + (rounds) RTT: 10000 packets at 1 ms, every 100th of a blast lost:
        // blasts of 10000, 100 and 1 packets, the last of which arrives; DONE leaves with the last packet
        let mut path = path(&packets(10_000));
        let mut number = 0_u64;
        let mut ended = None;
        for step in 0..12_000 {
            path.run(ms(step), |_, packet| {
                number += u64::from(packet.kind == Kind::Data);
                packet.kind == Kind::Data && number.is_multiple_of(100)
            });
            if path.sender.books().done && ended.is_none() {
                ended = Some(step);
            }
        }
        // 40 ms for the connection, 9999 + 99 + 0 ms of packets and three round trips
        assert_eq!(ended, Some(40 + 9999 + 99 + 3 * 40));
    }
}
