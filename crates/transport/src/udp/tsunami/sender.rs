//! Tsunami's sender (the original's server): serves requests before new blocks, one block every D.

use super::super::channel::{Inbox, carrying};
use super::super::end::{Books, Out, Pace, Reliable, SendingEnd};
use super::super::row::Config;
use super::control::Control;
use super::{MOST_KEPT, WHOLE};
use longfat_units::parameters::Parameters;
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, Report, SimPacket};
use std::collections::VecDeque;

const SILENCE: Interval = Interval::from_millis(500);
const SILENCE_BLOCKS: u32 = 2048;
/// What the last block waits before it comes again, in units of the greatest distance.
const LAST_WAIT: f64 = 10.0;

/// The sending end (the original's server).
pub struct Sender {
    books: Books,
    control: Control,
    inbox: Inbox,
    /// What the client asks for, in order.
    requests: VecDeque<Report>,
    /// Blocks that they ask for, at most `MOST_KEPT`.
    waiting: usize,
    /// The next block.
    next: u64,
    /// One past the last block sent.
    sent: u64,
    /// The client has everything.
    complete: bool,
    pace: Pace,
    /// When the client was last heard, or its silence noticed.
    heard_at: Time,
    blocks_since: u32,
}

impl Sender {
    pub(super) fn new(p: &Parameters, config: &Config) -> Self {
        Sender {
            books: Books::new(config),
            control: Control::new(p, config),
            inbox: Inbox::default(),
            requests: VecDeque::new(),
            waiting: 0,
            next: 0,
            sent: 0,
            complete: false,
            pace: Pace::new(config),
            heard_at: Time::ZERO,
            blocks_since: 0,
        }
    }

    fn adapt(&mut self, now: Time, error: f64) {
        if self.control.adapt(error) {
            self.count_congestion(now);
        }
    }

    /// Keeps a request. Blocks for which there is no room are dropped: the client asks for them again.
    fn keep(&mut self, request: Report) {
        if let Report::Missing(ranges) = &request {
            let blocks = ranges.iter().map(|(start, end)| (end - start) as usize).sum::<usize>();
            if self.waiting + blocks > MOST_KEPT {
                return;
            }
            self.waiting += blocks;
        }
        self.requests.push_back(request);
    }

    /// Sends what the distance of blocks allows now.
    fn transmit(&mut self, now: Time, out: Out) {
        self.books.connection.send_at = Time::NEVER;
        while self.books.is_active() {
            let due = self.pace.due(now);
            if due > now {
                self.books.connection.send_at = due;
                return;
            }
            let mut gap_s = self.control.distance_s;
            match self.requests.pop_front() {
                Some(Report::ErrorRate(error)) => {
                    self.adapt(now, error);
                    continue;
                }
                Some(Report::Restart(block)) => {
                    self.next = block;
                    continue;
                }
                Some(Report::Arrived(_)) => {
                    self.complete = true;
                    self.look_for_end(now);
                    return;
                }
                Some(Report::Missing(ranges)) => self.retransmit(now, ranges, out),
                Some(_) => continue,
                None => {
                    let seq = self.next.min(self.books.end - 1);
                    let last = seq + 1 == self.books.end;
                    self.send(now, seq, last.then_some(Report::Block { last }), out);
                    self.next = seq + 1;
                    if last {
                        gap_s += LAST_WAIT * self.control.greatest_s;
                    }
                }
            }
            self.pace.sent(now, Interval::from_secs_f64(gap_s));
            self.watch(now);
        }
    }

    /// Sends the first of the blocks asked for and keeps the rest.
    fn retransmit(&mut self, now: Time, mut ranges: Vec<(u64, u64)>, out: Out) {
        let Some((first, end)) = ranges.first_mut() else { return };
        let seq = *first;
        self.waiting -= 1;
        *first += 1;
        if first == end {
            ranges.remove(0);
        }
        if !ranges.is_empty() {
            self.requests.push_front(Report::Missing(ranges));
        }
        self.send(now, seq, Some(Report::Block { last: false }), out);
    }

    fn send(&mut self, now: Time, seq: u64, kind: Option<Report>, out: Out) {
        self.books.send(now, seq, seq < self.sent, &mut |packet| {
            out(match &kind {
                Some(kind) => carrying(packet, kind.clone()),
                None => packet,
            });
        });
        self.sent = self.sent.max(seq + 1);
    }

    /// Looks after each block whether the client has been silent for too long.
    fn watch(&mut self, now: Time) {
        self.blocks_since += 1;
        if self.blocks_since > SILENCE_BLOCKS {
            self.blocks_since = 0;
            if now.since(self.heard_at) >= SILENCE {
                self.heard_at = now;
                self.adapt(now, WHOLE);
            }
        }
    }
}

impl SendingEnd for Sender {
    fn stop(&mut self, now: Time) {
        self.books.end = self.books.end.min(self.sent);
        self.look_for_end(now);
    }

    fn on_packet(&mut self, now: Time, packet: &SimPacket, out: Out) {
        if self.opens(now, packet) {
            self.heard_at = now;
        } else if packet.kind == Kind::Ack && self.books.connection.is_open() {
            self.inbox.take(packet, out).into_iter().for_each(|request| self.keep(request));
            (self.heard_at, self.blocks_since) = (now, 0);
        } else {
            return;
        }
        self.transmit(now, out);
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if !self.books.connection.repeats(now, out) {
            self.transmit(now, out);
        }
    }

    fn cwnd(&self) -> f64 {
        (self.books.connection.rtt.srtt().as_secs_f64() / self.control.distance_s).max(1.0)
    }

    /// The client says nothing of single blocks before it has all of them.
    fn acked(&self) -> u64 {
        if self.complete { self.books.end } else { 0 }
    }

    fn books(&self) -> &Books {
        &self.books
    }

    fn books_mut(&mut self) -> &mut Books {
        &mut self.books
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::end::ReceivingEnd;
    use super::super::ROW;
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, ms};
    use longfat_wire::FlowId;

    /// 11.584 Mbit/s: a block a millisecond at the least.
    const RATE: [(&str, Value); 1] = [("target_rate", Value::Number(11.584))];

    fn blocks(count: u64) -> Config {
        Config { bytes: Some(1448 * count), ..config() }
    }

    #[test]
    fn a_file_without_losses_ends_half_a_round_trip_after_its_last_block() {
        let mut path = Path::new(&ROW, &RATE, &blocks(100));
        path.run(ms(10_000), |_, _| false);
        // from 40 ms on, 3 ms apart, as no report is due before the end
        let firsts: Vec<_> = path.sent.iter().take(100).copied().collect();
        assert_eq!(firsts[99], (ms(40 + 3 * 99), 99));
        assert!(path.sender.books().done);
        // the last block comes again 33 ms later, and the end is known 40 ms after it left first
        assert_eq!(path.sent.len(), 101);
        assert_eq!((path.receiver.counts().duplicates, path.receiver.wake()), (1, Time::NEVER));
    }

    #[test]
    fn what_is_asked_for_goes_before_new_blocks() {
        let mut path = Path::new(&ROW, &RATE, &config());
        path.run(ms(2000), |at, packet| packet.kind == Kind::Data && packet.seq == 20 && at < ms(200));
        let at = path.sent.iter().rposition(|&(_, seq)| seq == 20).unwrap();
        // the client looks again at the 150th block, of which the server hears 20 ms later
        assert!(path.sent[at].0 > ms(400) && path.sent[at].0 < ms(600), "{:?}", path.sent[at]);
        assert_eq!(path.sent.iter().filter(|(_, seq)| *seq == 20).count(), 2);
        assert_eq!(path.sender.books().counters.retransmits, 1);
        assert_eq!(path.receiver.counts().duplicates, 0);
    }

    #[test]
    fn requests_beyond_those_of_the_client_s_whole_table_are_dropped() {
        let mut path = Path::new(&ROW, &RATE, &blocks(200_000));
        path.run(ms(41), |_, _| false);
        let requests = [(0, 65_000), (70_000, 70_537), (80_000, 80_536), (90_000, 90_001)];
        for (number, range) in requests.into_iter().enumerate() {
            let ask = SimPacket::new(Kind::Ack, FlowId(0), number as u64, 52, ms(41));
            path.sender.on_packet(ms(41), &carrying(ask, Report::Missing(vec![range])), &mut |_| {});
        }
        // 65000 and 537 are one more than 65536, and with 536 it is full
        assert_eq!(path.sender.requests.len(), 2);
        assert_eq!(path.sender.waiting, 65_536);
        // 3 ms later one has been served, so there is room for one
        path.sender.on_timer(ms(43), &mut |_| {});
        let ask = SimPacket::new(Kind::Ack, FlowId(0), 4, 52, ms(43));
        path.sender.on_packet(ms(43), &carrying(ask, Report::Missing(vec![(90_000, 90_001)])), &mut |_| {});
        assert_eq!((path.sender.requests.len(), path.sender.waiting), (3, 65_536));
    }

    #[test]
    fn too_many_missing_blocks_bring_a_restart_at_the_first() {
        let mut path = Path::new(&ROW, &[("target_rate", Value::Number(1000.0))], &blocks(20_000));
        // nothing of 3000 blocks arrives
        path.run(ms(60_000), |at, packet| {
            packet.kind == Kind::Data && (1000..4000).contains(&packet.seq) && at < ms(300)
        });
        assert!(path.sender.books().done);
        assert_eq!((path.sender.acked(), path.receiver.delivered()), (20_000, 20_000));
        let restart = path.sent.windows(2).find(|pair| pair[1].1 < pair[0].1).unwrap();
        assert_eq!(restart[1].1, 1000);
        // from there on everything again, in order
        let at = path.sent.iter().position(|sent| *sent == restart[1]).unwrap();
        assert!(path.sent[at..at + 3000].iter().map(|&(_, seq)| seq).eq(1000..4000));
    }

    #[test]
    fn a_silent_client_slows_the_server_down() {
        let mut path = Path::new(&ROW, &[("target_rate", Value::Number(1158.4))], &config());
        // 10 us a block at the least, 30 us at first; nothing arrives after the connection is open
        path.run(ms(3040), |_, packet| packet.kind == Kind::Data);
        // 500 ms, then five times 500 ms and at most 2048 blocks each
        assert_eq!(path.sender.books().counters.congestion_events, 5);
        let factor = path.sender.control.distance_s / 30e-6;
        // (25 / 24)^5
        assert!((factor - 1.226_434).abs() < 1e-3, "{factor}");
    }

    #[test]
    fn a_stop_ends_the_file_at_the_last_block_sent() {
        let mut path = Path::new(&ROW, &RATE, &config());
        path.run(ms(1000), |_, packet| packet.kind == Kind::Data && packet.seq.is_multiple_of(9));
        let sent = path.sender.sent;
        path.sender.stop(ms(1000));
        path.run(ms(60_000), |_, _| false);
        assert!(path.sender.books().done);
        assert_eq!((path.sender.acked(), path.receiver.delivered()), (sent, sent));
        assert_eq!(path.receiver.wake(), Time::NEVER);
    }

    #[test]
    fn a_finite_transfer_arrives_whatever_is_lost() {
        Path::new(&ROW, &RATE, &blocks(691)).survives_losses(691);
    }
}
