//! Tsunami (Meiss: Tsunami: A High-Speed Rate-Controlled Protocol for File Transfer, Indiana University, 2002; Wallace:
//! Tsunami File Transfer Protocol, PFLDnet 2003): blocks at a distance that follows the error rate, and lists of missing
//! blocks that the client sends again and again.
//!
//! ```text
//! every 50 blocks, if 350 ms have passed since the last time, the client
//!     asks for its missing blocks, n of them, or for everything from the first one on if n reaches 2048
//!     e <- h e + (1 - h) 50000 n / (1 + n + blocks since the last time)                   in thousandths of a per cent
//! the server, when told e, with the threshold E and the distance of blocks D:
//!     e > E:  D <- D (1 + (25/24 - 1) (1 + e - E) / (100000 - E))
//!     e <= E: D <- 5/6 D,   never below 8 block / target rate or above 10 ms
//! the server, when told nothing for 500 ms and 2048 blocks:  as if e were 100000
//! the last block comes again until the client has everything; at each the client asks for what is missing
//! ```
//!
//! Requests travel over TCP in the original, and here as [`super::channel`] says. The server serves them before new blocks,
//! one at a time, a block each D.
//!
//! The papers' texts could not be had: this follows the published source (tsunami-udp 1.1, 2009-2013, `client/command.c`,
//! `client/protocol.c`, `server/main.c`, `server/protocol.c`, `client/config.c`, `tsunami-client.h`), which the first of
//! the authors wrote.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | target rate | 650 | Mbit/s of payload | `DEFAULT_TARGET_RATE` | D is not cut to whole microseconds |
//! | first D | 3 | of the least | `ttp_open_transfer` | none |
//! | greatest D | 10 | ms | `ttp_accept_retransmit` | none |
//! | E | 7500 | thousandths of a per cent | `DEFAULT_ERROR_RATE` | none |
//! | slower, faster | 25/24, 5/6 | of D | `DEFAULT_SLOWER_NUM` to `DEFAULT_FASTER_DEN` | none |
//! | h | 0.25 | | `DEFAULT_HISTORY` | none |
//! | update period | 350 ms and 50 blocks | | `UPDATE_PERIOD`; `command_get` | none |
//! | most requests at once | 2048 | | `MAX_RETRANSMISSION_BUFFER` | none |
//! | most requests kept | 32 times as many | | `ttp_request_retransmit` | none |
//! | on the wire | 0.5 s at the target rate | | `ttp_open_transfer` | none |
//! | silence | 500 ms and 2048 blocks | | `client_handler` | the server never gives up; the source does after 15 s |
//! | distance after the last block | D and 10 times the greatest D | | `client_handler` | the source means the greatest wait, which comes to the same |
//! | request | 10 | bytes | `retransmission_t`: 16, 32 and 32 bits | without padding |
//! | block | mss | | source: 1024 bytes, 32 KiB before 2008 | one block a packet |

use super::arrivals::Arrivals;
use super::channel::{Inbox, Outbox, carried, carrying};
use super::connection::{Connection, Reliable, accept};
use super::end::{Books, Out, Pace, ReceivingEnd, SendingEnd};
use super::row::{BPS_PER_MBPS, Config, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};
use longfat_wire::{Kind, Report, SimPacket};
use std::collections::{BTreeSet, VecDeque};

/// A share of 1 in thousandths of a per cent.
const WHOLE: f64 = 100_000.0;
/// Thousandths of a per cent for a share of 1 of blocks asked for: half of what the unit says.
const ERROR_OF_SHARE: f64 = 500.0 * 100.0;
const FIRST: f64 = 3.0;
const GREATEST_S: f64 = 0.01;
const HISTORY: f64 = 0.25;
const UPDATE: Interval = Interval::from_millis(350);
const UPDATE_BLOCKS: u64 = 50;
const MOST_REQUESTS: usize = 2048;
const MOST_KEPT: usize = 32 * MOST_REQUESTS;
const ON_WIRE_S: f64 = 0.5;
const SILENCE: Interval = Interval::from_millis(500);
const SILENCE_BLOCKS: u32 = 2048;
const LAST_WAIT: f64 = 10.0;
const REQUEST_BYTES: u32 = 10;

const TARGET: Parameter = Parameter::number(
    "target_rate",
    650.0,
    (0.001, 1e7),
    "Mbit/s",
    "payload at the least distance of blocks",
);

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "tsunami",
        title: "Tsunami",
        aliases: &[],
        citation: "Meiss: Tsunami: A High-Speed Rate-Controlled Protocol for File Transfer, Indiana University, 2002",
        page: "tsunami",
        parameters: &[
            TARGET,
            Parameter::number(
                "error_rate",
                0.075,
                (0.0, 0.99),
                "",
                "error rate above which the server slows down (E)",
            ),
            Parameter::number(
                "slower",
                25.0 / 24.0,
                (1.0, 100.0),
                "",
                "growth of the distance at an error rate of 100 %",
            ),
            Parameter::number(
                "faster",
                5.0 / 6.0,
                (0.001, 1.0),
                "",
                "fall of the distance at low error rates",
            ),
        ],
        style: Some(Style::new("#0096c7", "P")),
    },
    reliable: true,
    answered: true,
    random: false,
    build: |p, config, _| (Sender::new(p, config), Receiver::new(p, config)),
};

/// The distance of blocks.
#[derive(Clone, Debug)]
struct Control {
    /// Error rate above which it grows, thousandths of a per cent.
    threshold: f64,
    slower: f64,
    faster: f64,
    least_s: f64,
    /// D, seconds.
    distance_s: f64,
    /// The greatest D so far.
    greatest_s: f64,
}

impl Control {
    fn new(p: &Parameters, config: &Config) -> Self {
        let least_s = f64::from(8 * config.mss_bytes) / (BPS_PER_MBPS * p.number(TARGET.name));
        let least_s = least_s.max(config.line_s());
        Control {
            threshold: WHOLE * p.number("error_rate"),
            slower: p.number("slower"),
            faster: p.number("faster"),
            least_s,
            distance_s: FIRST * least_s,
            greatest_s: FIRST * least_s,
        }
    }

    /// The client sees this error rate. Returns whether it is too high.
    fn adapt(&mut self, error: f64) -> bool {
        let slows = error > self.threshold;
        self.distance_s *= if slows {
            1.0 + (self.slower - 1.0) * (1.0 + error - self.threshold) / (WHOLE - self.threshold)
        } else {
            self.faster
        };
        self.distance_s = self.distance_s.min(GREATEST_S).max(self.least_s);
        self.greatest_s = self.greatest_s.max(self.distance_s);
        slows
    }
}

/// The sending end (the original's server).
pub struct Sender {
    books: Books,
    connection: Connection,
    control: Control,
    inbox: Inbox,
    /// What the client asks for, in order.
    requests: VecDeque<Report>,
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
    fn new(p: &Parameters, config: &Config) -> Self {
        Sender {
            books: Books::new(config),
            connection: Connection::new(config),
            control: Control::new(p, config),
            inbox: Inbox::default(),
            requests: VecDeque::new(),
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

    /// Sends what the distance of blocks allows now.
    fn transmit(&mut self, now: Time, out: Out) {
        self.connection.send_at = Time::NEVER;
        while self.connection.is_open() && !self.books.done {
            let due = self.pace.due(now);
            if due > now {
                self.connection.send_at = due;
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

impl Reliable for Sender {
    fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl SendingEnd for Sender {
    fn start(&mut self, now: Time, out: Out) {
        self.connection.request(now, out);
    }

    fn stop(&mut self, now: Time) {
        self.books.end = self.books.end.min(self.sent);
        self.look_for_end(now);
    }

    fn on_packet(&mut self, now: Time, packet: &SimPacket, out: Out) {
        if self.opens(now, packet) {
            self.heard_at = now;
        } else if packet.kind == Kind::Ack && self.connection.is_open() {
            let requests = self.inbox.take(packet, out);
            self.requests.extend(requests);
            (self.heard_at, self.blocks_since) = (now, 0);
        } else {
            return;
        }
        self.transmit(now, out);
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if !self.connection.repeats(now, out) {
            self.transmit(now, out);
        }
    }

    fn wake(&self) -> Time {
        self.connection.wake()
    }

    fn cwnd(&self) -> f64 {
        (self.connection.rtt.srtt().as_secs_f64() / self.control.distance_s).max(1.0)
    }

    fn srtt(&self) -> Interval {
        self.connection.rtt.srtt()
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

/// What the client ignores after it has asked for a restart: blocks that were under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The last block that was to be asked for.
    last: u64,
    /// The last block that may be under way.
    clear: u64,
}

/// The receiving end (the original's client): blocks go to the disk as they come.
#[derive(Clone, Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    /// One past the last packet; never reached by endless flows.
    end: u64,
    outbox: Outbox,
    /// Requests of a segment.
    segment: usize,
    /// Blocks that 0.5 s at the target rate send.
    on_wire: u64,
    /// The block expected next.
    next: u64,
    /// Blocks to ask for.
    wanted: BTreeSet<u64>,
    restart: Option<Pending>,
    blocks: u64,
    /// `blocks` at the last update, and when that was.
    updated: (u64, Time),
    /// e, thousandths of a per cent.
    error: f64,
    complete: bool,
}

impl Receiver {
    fn new(p: &Parameters, config: &Config) -> Self {
        let blocks = BPS_PER_MBPS * p.number(TARGET.name) * ON_WIRE_S / f64::from(8 * config.mss_bytes);
        Receiver {
            arrivals: Arrivals::default(),
            end: Books::new(config).end,
            outbox: Outbox::new(config),
            segment: (config.mss_bytes / REQUEST_BYTES).max(1) as usize,
            on_wire: blocks as u64,
            next: 0,
            wanted: BTreeSet::new(),
            restart: None,
            blocks: 0,
            updated: (0, Time::NEVER),
            error: 0.0,
            complete: false,
        }
    }

    fn on_block(&mut self, now: Time, packet: &SimPacket) {
        if self.updated.1 == Time::NEVER {
            self.updated.1 = now;
        }
        self.blocks += 1;
        let last = matches!(carried(packet), Some(Report::Block { last: true }));
        let news = self.arrivals.take(packet).is_some();
        if (news || last || self.restart.is_some()) && !self.complete && !self.is_under_way(packet.seq, last)
        {
            self.note(packet.seq, carried(packet).is_none());
            if last {
                self.on_last(now, packet.seq + 1);
            }
        }
        if !self.complete && self.blocks.is_multiple_of(UPDATE_BLOCKS) && now.since(self.updated.1) > UPDATE {
            self.update(now);
        }
    }

    /// Whether the block left before the server saw the request for a restart.
    fn is_under_way(&self, seq: u64, last: bool) -> bool {
        !last && self.restart.is_some_and(|restart| seq > restart.last && seq <= restart.clear)
    }

    /// Wants what is missing before this block.
    fn note(&mut self, seq: u64, original: bool) {
        let room = MOST_KEPT.saturating_sub(self.wanted.len());
        self.wanted
            .extend(self.arrivals.missing(self.next..seq).flat_map(|(start, end)| start..end).take(room));
        if original {
            self.next = seq + 1;
        }
        if self.restart.is_some_and(|restart| self.next >= restart.last) {
            self.restart = None;
        }
    }

    /// The file's last block has come, perhaps again.
    fn on_last(&mut self, now: Time, end: u64) {
        let first = self.arrivals.in_order();
        if first >= end {
            self.complete = true;
            self.wanted.clear();
            return self.outbox.push(now, Report::Arrived(end), REQUEST_BYTES);
        }
        self.wanted.extend(self.arrivals.missing(first..end).flat_map(|(start, end)| start..end));
        self.ask(now);
    }

    /// Asks for the missing blocks. Returns how many requests count for the error rate.
    fn ask(&mut self, now: Time) -> usize {
        let arrivals = &self.arrivals;
        self.wanted.retain(|&seq| arrivals.lacks(seq));
        if self.wanted.len() >= MOST_REQUESTS {
            let first = self.arrivals.in_order();
            let last = self.wanted.last().copied().unwrap_or(first);
            self.restart = Some(Pending { last, clear: last + self.on_wire });
            self.wanted.clear();
            self.next = first;
            self.outbox.push(now, Report::Restart(first), REQUEST_BYTES);
            return MOST_REQUESTS;
        }
        let wanted: Vec<u64> = self.wanted.iter().copied().collect();
        for segment in wanted.chunks(self.segment) {
            let missing = Report::Missing(super::arrivals::ranges(segment.iter().copied()));
            self.outbox.push(now, missing, REQUEST_BYTES * segment.len() as u32);
        }
        wanted.len()
    }

    fn update(&mut self, now: Time) {
        let asked = self.ask(now) as f64;
        let share = asked / (1.0 + asked + (self.blocks - self.updated.0) as f64);
        self.error = HISTORY * self.error + (1.0 - HISTORY) * ERROR_OF_SHARE * share;
        self.outbox.push(now, Report::ErrorRate(self.error.floor()), REQUEST_BYTES);
        self.updated = (self.blocks, now);
    }
}

impl ReceivingEnd for Receiver {
    fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match packet.kind {
            Kind::Syn => return Some(accept(packet)),
            Kind::Data => self.on_block(now, packet),
            Kind::AckAck => self.outbox.on_ack(now, packet),
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

    fn received_bytes(&self) -> u64 {
        self.arrivals.received_bytes
    }

    fn duplicates(&self) -> u64 {
        self.arrivals.duplicates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, data, ms};

    /// 11.584 Mbit/s: a block a millisecond at the least.
    const RATE: [(&str, Value); 1] = [("target_rate", Value::Number(11.584))];

    fn control() -> Control {
        let given = [("target_rate".to_owned(), Value::Number(11.584))];
        Control::new(&ROW.check(&given, config().line).unwrap(), &config())
    }

    fn blocks(count: u64) -> Config {
        Config { bytes: Some(1448 * count), ..config() }
    }

    #[test]
    fn the_distance_of_blocks_starts_at_three_times_the_least_and_reaches_it_after_seven_good_reports() {
        let mut c = control();
        assert!((c.distance_s - 0.003).abs() < 1e-12);
        // 3 (5/6)^6 = 1.005, and the seventh ends at the least
        (0..6).for_each(|_| assert!(!c.adapt(7500.0)));
        assert!((c.distance_s - 1.00469e-3).abs() < 1e-8, "{}", c.distance_s);
        c.adapt(0.0);
        assert!((c.distance_s - 0.001).abs() < 1e-12);
        c.adapt(0.0);
        assert!((c.distance_s - 0.001).abs() < 1e-12);
    }

    #[test]
    fn a_bad_report_slows_down_by_a_25th_part_at_most_and_to_10_ms_at_most() {
        let mut c = control();
        // an error rate of 53750: half the way from 7500 to 100000, so half of 1/24
        assert!(c.adapt(53_750.0));
        assert!((c.distance_s / 0.003 - (1.0 + 0.5 / 24.0)).abs() < 1e-6, "{}", c.distance_s);
        c.distance_s = 0.003;
        c.adapt(100_000.0);
        assert!((c.distance_s / 0.003 - 25.0 / 24.0).abs() < 1e-6);
        (0..100).for_each(|_| assert!(c.adapt(100_000.0)));
        assert_eq!(c.distance_s, 0.01);
    }

    #[test]
    fn the_error_rate_is_half_the_share_of_blocks_asked_for_smoothed() {
        let given = [("target_rate".to_owned(), Value::Number(11.584))];
        let p = ROW.check(&given, config().line).unwrap();
        let mut r = Receiver::new(&p, &config());
        // a block each 10 ms, every tenth of them missing: an update after 50 arrivals, at 550 ms
        let mut told = Vec::new();
        for seq in (0..60).filter(|seq| seq % 10 != 5) {
            let mut segment = r.on_packet(ms(10 * seq), &data(seq));
            while let Some(packet) = segment {
                told.extend(carried(&packet).cloned());
                segment = r.on_timer(ms(10 * seq));
            }
        }
        let missing = (0..5).map(|i| (10 * i + 5, 10 * i + 6)).collect();
        // 5 of 1 + 5 + 50: 0.75 * 50000 * 5 / 56 = 3348.2
        assert_eq!(told, [Report::Missing(missing), Report::ErrorRate(3348.0)]);
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
        assert_eq!((path.receiver.duplicates(), path.receiver.wake()), (1, Time::NEVER));
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
        assert_eq!(path.receiver.duplicates(), 0);
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
        let mut path = Path::new(&ROW, &RATE, &blocks(691));
        let mut count = 0_u64;
        path.run(ms(600_000), |at, _| {
            count += 1;
            count.is_multiple_of(7) || (at > ms(300) && at < ms(2300))
        });
        assert!(path.sender.books().done);
        let sent = &path.sender.books().counters;
        assert_eq!(sent.packets_sent, 691 + sent.retransmits);
        assert_eq!((path.receiver.delivered(), path.receiver.wake()), (691, Time::NEVER));
    }
}
