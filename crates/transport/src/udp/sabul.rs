//! SABUL (Gu, Grossman: SABUL: A Transport Protocol for Grid Computing, Journal of Grid Computing 1, 2003): data over UDP
//! at a rate that is looked at each SYN, control messages over TCP. UDT is its successor.
//!
//! ```text
//! P: time between two packets, l: losses reported over packets sent since the last SYN, h <- w h + (1 - w) l
//! SYN, h <= .001:          P <- P SYN / (P inc + SYN),  inc = max(10^ceil(log10(SYN / P)) / 1000, 1/1500)
//!      then                10 us <= P <= 1 ms
//! ERR, first loss among what was sent after the last such decrease:   P <- 1.125 P, and a pause of one SYN
//! ERR, the 16th, 32nd, 64th... since:                                 P <- 1.125 P
//! variant "mimd", SYN:     h > .001:  P <- P (1 + .1 (h - .001)) + .5 us
//!                          h < .001:  P <- P (1 + 10 (h - .001))
//!                          h = .001:  P <- P + .1 us
//!                  ERR:    changes nothing
//! ```
//!
//! The receiver sends a SYN each 10 ms, an ACK with the first packet missing each 100 ms, an ERR with the packets of a gap
//! at once, and each 20 ms one with those that were reported longer than 1.5 round trips ago. Lost packets go before new
//! ones. Control messages travel as [`super::channel`] says.
//!
//! The paper's text could not be had, only its abstract: this follows the authors' published library (SABUL 2, University
//! of Illinois, `sender.cpp` of 16 March 2003, `recver.cpp`, `sabul.cpp` and `recver.h` of 7 January 2003). Its comments
//! keep the rule that "mimd" follows, the library's earlier one.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | SYN | 0.01 | s | `sabul.cpp`: `m_iSYNInterval` | none |
//! | loss limit | 0.001 | share of packets | `sender.cpp`: `m_dLossRateLimit` | none |
//! | w | 0.1 | | `m_dWeight`, the weight of the past | none |
//! | decrease | 1.125 | factor of P | `processFeedback` | none |
//! | first, least P | 10 | us | constructor of `CSabulSender` | at least the time that the host's own link needs |
//! | greatest P after an increase | 1000 | us | the same | none |
//! | greatest P | 1 | s | chosen here; the source has none | |
//! | ACK, ERR interval | 100, 20 | ms | `recver.cpp` | none |
//! | losses reported again after | 1.5 RTT, at least 20 ms | | `CSabulRecver::open` | the RTT is measured from the acceptance to the first packet, and then by the control connection; the source measures once |
//! | EXP | 1 | s | `m_iEXPInterval` | none |
//! | flow window | 25600 | packets | `recver.h`: `FlagSize` | none |
//! | losses in an ERR | mss / 4 - 2 | | `sabul.cpp`: `m_iMaxLossLength` | none |
//! | ACK, SYN | 8 | bytes | `feedback`: two 32-bit words | none |
//! | ERR | 8, and 4 for each loss | bytes | the same | none |
//! | silence after which the receiver's clocks stop | 1 | s | chosen here; the source closes the connection | |

use super::arrivals::{Arrivals, ranges};
use super::channel::{Inbox, Outbox};
use super::connection::{Connection, Reliable, accept};
use super::end::{Books, Out, Pace, ReceivingEnd, SendingEnd};
use super::row::{Config, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time, math};
use longfat_wire::{Kind, Report, SimPacket};
use std::collections::BTreeSet;

const SYN: Interval = Interval::from_millis(10);
const SYN_S: f64 = 0.01;
const LIMIT: f64 = 0.001;
const WEIGHT: f64 = 0.1;
const DECREASE: f64 = 1.125;
const FIRST_COUNT: u32 = 4;
const GREATEST_RAISED_S: f64 = 1e-3;
const GREATEST_S: f64 = 1.0;
const LEAST_INCREASE: f64 = 1.0 / 1500.0;
const ACK_INTERVAL: Interval = Interval::from_millis(100);
const ERR_INTERVAL: Interval = Interval::from_millis(20);
const PATIENCE: f64 = 1.5;
const EXP: Interval = Interval::from_millis(1000);
const WORD_BYTES: u32 = 4;
const MESSAGE_BYTES: u32 = 2 * WORD_BYTES;

/// The registry row.
pub const ROW: Row<Sender, Receiver> = Row {
    entry: Entry {
        name: "sabul",
        title: "SABUL",
        aliases: &[],
        citation: "Gu, Grossman: SABUL: A Transport Protocol for Grid Computing, Journal of Grid Computing 1, 2003",
        page: "sabul",
        parameters: &[
            Parameter::choice(
                "variant",
                &["library", "mimd"],
                "mimd: the library's earlier rule, which multiplies and ignores single loss reports",
            ),
            Parameter::number(
                "least_period",
                1e-5,
                (1e-9, 1e-3),
                "s",
                "first and least time between packets (P)",
            ),
            Parameter::number(
                "flow_window",
                25_600.0,
                (2.0, 1e9),
                "packets",
                "most packets outstanding: the receiver's reordering window",
            ),
        ],
        style: Some(Style::new("#a7c957", "x")),
    },
    reliable: true,
    answered: true,
    random: false,
    build: |p, config, _| (Sender::new(p, config), Receiver::new(config)),
};

/// P after a SYN without too many losses.
fn raised(period_s: f64) -> f64 {
    let increase = math::pow(10.0, math::log10(SYN_S / period_s).ceil()) / 1000.0;
    period_s * SYN_S / (period_s * increase.max(LEAST_INCREASE) + SYN_S)
}

/// P after a SYN by the earlier rule; `losses` is h.
fn multiplied(period_s: f64, losses: f64) -> f64 {
    let excess = losses - LIMIT;
    if excess > 0.0 {
        period_s * (1.0 + 0.1 * excess) + 0.5e-6
    } else if excess < 0.0 {
        period_s * (1.0 + 10.0 * excess)
    } else {
        period_s + 0.1e-6
    }
}

/// The time between packets.
#[derive(Clone, Debug)]
struct Control {
    multiplies: bool,
    least_s: f64,
    /// P, seconds.
    period_s: f64,
    /// The share of losses, smoothed.
    history: f64,
    /// The last packet sent before the last decrease at a new loss.
    last_seq: Option<u64>,
    /// Reports since.
    reports: u64,
    /// The next decrease comes at two to the power of this.
    count: u32,
    /// The next packet is followed by a pause.
    frozen: bool,
}

impl Control {
    fn new(p: &Parameters, config: &Config) -> Self {
        let least_s = p.number("least_period").max(config.line_s());
        Control {
            multiplies: p.word("variant") == "mimd",
            least_s,
            period_s: least_s,
            history: 0.0,
            last_seq: None,
            reports: 0,
            count: 1,
            frozen: false,
        }
    }

    /// A SYN: so many packets were sent since the last one, and so many losses reported.
    fn on_syn(&mut self, sent: u64, lost: u64) {
        let sent = sent.max(lost);
        if sent == 0 {
            return;
        }
        self.history = WEIGHT * self.history + (1.0 - WEIGHT) * lost as f64 / sent as f64;
        if self.multiplies {
            self.period_s = multiplied(self.period_s, self.history);
        } else if self.history > LIMIT {
            return;
        } else {
            self.period_s = raised(self.period_s);
        }
        self.period_s = self.period_s.min(GREATEST_RAISED_S).max(self.least_s);
    }

    /// An ERR whose first loss is `first`; `next` is the next new packet. Returns whether P grows.
    fn on_err(&mut self, first: u64, next: u64) -> bool {
        if self.multiplies {
            return false;
        }
        if self.last_seq.is_none_or(|last| first > last) {
            self.last_seq = Some(next);
            self.frozen = true;
            (self.reports, self.count) = (1, FIRST_COUNT);
        } else {
            self.reports += 1;
            if self.reports < 1_u64.checked_shl(self.count).unwrap_or(u64::MAX) {
                return false;
            }
            self.count += 1;
        }
        self.period_s = (DECREASE * self.period_s).min(GREATEST_S);
        true
    }

    /// How long after a packet the next one may leave.
    fn gap(&mut self) -> Interval {
        let pause_s = if core::mem::take(&mut self.frozen) { SYN_S } else { 0.0 };
        Interval::from_secs_f64(self.period_s + pause_s)
    }
}

/// The sending end.
pub struct Sender {
    books: Books,
    /// Its timeout is the silence (EXP).
    connection: Connection,
    control: Control,
    flow_window: u64,
    inbox: Inbox,
    /// The first packet not yet acknowledged.
    acked: u64,
    /// The next new packet.
    next: u64,
    lost: BTreeSet<u64>,
    /// Packets sent, and losses reported, since the last SYN.
    sent_since: u64,
    lost_since: u64,
    pace: Pace,
}

impl Sender {
    fn new(p: &Parameters, config: &Config) -> Self {
        Sender {
            books: Books::new(config),
            connection: Connection::new(config),
            control: Control::new(p, config),
            flow_window: p.number("flow_window") as u64,
            inbox: Inbox::default(),
            acked: 0,
            next: 0,
            lost: BTreeSet::new(),
            sent_since: 0,
            lost_since: 0,
            pace: Pace::new(config),
        }
    }

    fn on_report(&mut self, now: Time, report: &Report) {
        match report {
            Report::Arrived(up_to) => {
                self.acked = self.acked.max(*up_to);
                self.lost = self.lost.split_off(&self.acked);
                self.hear(now);
                self.look_for_end(now);
            }
            Report::Missing(ranges) => {
                let Some(&(first, _)) = ranges.first() else { return };
                if self.control.on_err(first, self.next) {
                    self.count_congestion(now);
                }
                for &(start, end) in ranges {
                    self.lost.extend(start.max(self.acked)..end.min(self.next));
                    self.lost_since += end - start;
                }
                self.hear(now);
            }
            Report::Tick => {
                self.control.on_syn(self.sent_since, self.lost_since);
                (self.sent_since, self.lost_since) = (0, 0);
            }
            _ => {}
        }
    }

    /// The receiver says something of its packets: the silence starts again.
    fn hear(&mut self, now: Time) {
        self.connection.expire_at = if self.acked < self.next { now + EXP } else { Time::NEVER };
    }

    /// Sends what P and the flow window allow now.
    fn transmit(&mut self, now: Time, out: Out) {
        self.connection.send_at = Time::NEVER;
        while self.connection.is_open() && !self.books.done {
            let new = self.next < self.books.end && self.next - self.acked < self.flow_window;
            if self.lost.is_empty() && !new {
                return;
            }
            let due = self.pace.due(now);
            if due > now {
                self.connection.send_at = due;
                return;
            }
            if let Some(seq) = self.lost.pop_first() {
                self.books.send(now, seq, true, out);
            } else {
                self.books.send(now, self.next, false, out);
                self.next += 1;
            }
            self.sent_since += 1;
            self.pace.sent(now, self.control.gap());
            if self.connection.expire_at == Time::NEVER {
                self.connection.expire_at = now + EXP;
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
        self.books.end = self.next;
        self.look_for_end(now);
    }

    fn on_packet(&mut self, now: Time, packet: &SimPacket, out: Out) {
        if packet.kind == Kind::Ack && self.connection.is_open() {
            for report in self.inbox.take(packet, out) {
                self.on_report(now, &report);
            }
        } else if !self.opens(now, packet) {
            return;
        }
        self.transmit(now, out);
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if self.connection.repeats(now, out) {
            return;
        }
        if now >= self.connection.expire_at {
            self.count_timeout(now);
            self.lost.extend(self.acked..self.next);
            self.connection.expire_at = now + EXP;
        }
        self.transmit(now, out);
    }

    fn wake(&self) -> Time {
        self.connection.wake()
    }

    fn cwnd(&self) -> f64 {
        (self.connection.rtt.srtt().as_secs_f64() / self.control.period_s).clamp(1.0, self.flow_window as f64)
    }

    fn srtt(&self) -> Interval {
        self.connection.rtt.srtt()
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
    fn new(config: &Config) -> Self {
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

    /// Keeps a range unless all of it has arrived. Nothing is missing between two ranges that follow each other, so
    /// those with the same time become one.
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

    fn received_bytes(&self) -> u64 {
        self.arrivals.received_bytes
    }

    fn duplicates(&self) -> u64 {
        self.arrivals.duplicates
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel::carried;
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, data, ms};

    const VARIANTS: [&str; 2] = ["library", "mimd"];

    fn given(variant: &str) -> [(&'static str, Value); 1] {
        [("variant", Value::Word(variant.to_owned()))]
    }

    fn control(variant: &str, period_s: f64) -> Control {
        let given = [("variant".to_owned(), Value::Word(variant.to_owned()))];
        let mut c = Control::new(&ROW.check(&given, config().line).unwrap(), &config());
        c.period_s = period_s;
        c
    }

    #[test]
    fn the_increase_goes_in_steps_of_ten_with_the_rate() {
        // packets a SYN before and after: 1000 (P = 10 us) and less add 1, 100 and less .1, 10 and less .01
        for (packets, more) in
            [(1000.0, 1.0), (101.0, 1.0), (99.9, 0.1), (50.0, 0.1), (9.99, 0.01), (0.5, 0.001)]
        {
            let after = SYN_S / raised(SYN_S / packets) - packets;
            assert!((after / more - 1.0).abs() < 1e-6, "{packets}: {after}");
        }
        // and at least 1/1500
        let after = SYN_S / raised(SYN_S / 0.05) - 0.05;
        assert!((after * 1500.0 - 1.0).abs() < 1e-6, "{after}");
    }

    #[test]
    fn a_syn_with_more_than_a_thousandth_lost_adds_nothing() {
        let mut c = control("library", 1e-4);
        c.on_syn(100, 1);
        assert_eq!(c.period_s, 1e-4);
        assert!((c.history - 0.009).abs() < 1e-12);
        // .0009 of the past is below the limit again; 100 packets a SYN and .1 more
        c.on_syn(100, 0);
        assert!((SYN_S / c.period_s - 100.1).abs() < 1e-9);
        // nothing sent changes nothing
        let before = c.clone();
        c.on_syn(0, 0);
        assert_eq!((c.period_s, c.history), (before.period_s, before.history));
    }

    #[test]
    fn a_new_loss_takes_a_ninth_of_the_rate_and_older_ones_at_powers_of_two() {
        let mut c = control("library", 9e-5);
        assert!(c.on_err(5, 1000));
        assert!((c.period_s - 1.0125e-4).abs() < 1e-12);
        // the pause follows the next packet, once
        assert_eq!(c.gap(), Interval::from_secs_f64(0.01 + 1.0125e-4));
        assert_eq!(c.gap(), Interval::from_secs_f64(1.0125e-4));
        // what was sent before counts: decreases at the 16th, 32nd, 64th and 128th report
        let at: Vec<u64> = (2..=200).filter(|_| c.on_err(900, 2000)).collect();
        assert_eq!(at, [16, 32, 64, 128]);
        // what was sent after it does not wait
        assert!(!c.on_err(1000, 2000));
        assert!(c.on_err(1001, 2000));
    }

    #[test]
    fn the_earlier_rule_falls_by_a_hundredth_and_grows_by_half_a_microsecond() {
        assert!((multiplied(1e-4, 0.0) - 0.99e-4).abs() < 1e-15);
        // 10 % lost: .1 (.1 - .001), and .5 us
        assert!((multiplied(1e-4, 0.1) - (1.0099e-4 + 0.5e-6)).abs() < 1e-15);
        assert!((multiplied(1e-4, 0.001) - 1.001e-4).abs() < 1e-15);
        let mut c = control("mimd", 1e-4);
        assert!(!c.on_err(5, 1000));
        assert_eq!(c.period_s, 1e-4);
    }

    #[test]
    fn it_starts_at_a_packet_each_10_us_and_ends_an_increase_at_a_millisecond_at_most() {
        let mut path = Path::new(&ROW, &given("library"), &config());
        path.run(ms(41), |_, _| false);
        let at: Vec<Time> = path.sent.iter().map(|&(at, _)| at).collect();
        assert_eq!((at[0], at[1], at.len()), (ms(40), ms(40) + Interval::from_ns(10_000), 101));
        let mut c = control("library", 0.1);
        c.on_syn(100, 0);
        assert_eq!(c.period_s, 1e-3);
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

    /// The losses in the reports that a receiver sends at its timers until `end`; all are acknowledged at once.
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

    #[test]
    fn what_is_lost_goes_before_anything_new_and_once() {
        for variant in VARIANTS {
            let mut path = Path::new(&ROW, &given(variant), &config());
            path.run(ms(1000), |at, packet| packet.kind == Kind::Data && packet.seq == 100 && at < ms(50));
            let at = path.sent.iter().rposition(|&(_, seq)| seq == 100).unwrap();
            // sent at 41 ms; the next one shows the gap at 61 ms, and the sender hears of it at 81 ms
            assert!(path.sent[at].0 >= ms(81) && path.sent[at].0 < ms(82), "{variant}: {:?}", path.sent[at]);
            assert_eq!(path.sender.books().counters.retransmits, 1, "{variant}");
            assert_eq!(path.receiver.duplicates(), 0, "{variant}");
        }
    }

    #[test]
    fn a_silence_of_a_second_makes_all_that_is_outstanding_lost() {
        let few = Config { bytes: Some(1448 * 10), ..config() };
        let mut path = Path::new(&ROW, &given("library"), &few);
        path.run(ms(10_000), |at, packet| packet.kind == Kind::Data && at < ms(900));
        assert_eq!(path.sent.len(), 20);
        assert_eq!(path.sent[10].0, ms(1040));
        assert_eq!((path.sender.books().done, path.sender.books().counters.timeouts), (true, 1));
    }

    #[test]
    fn the_flow_window_bounds_what_is_outstanding() {
        let given = [("flow_window", Value::Number(200.0))];
        let mut path = Path::new(&ROW, &given, &config());
        path.run(ms(100), |_, _| false);
        // 2 ms for 200 packets; the receiver acknowledges 100 ms after the first of them arrived
        assert_eq!(path.sent.len(), 200);
        path.run(ms(181), |_, _| false);
        assert!(path.sent.len() > 200);
    }

    #[test]
    fn a_finite_transfer_arrives_whatever_is_lost() {
        let finite = Config { bytes: Some(1_000_000), ..config() };
        for variant in VARIANTS {
            let mut path = Path::new(&ROW, &given(variant), &finite);
            let mut count = 0_u64;
            path.run(ms(600_000), |at, _| {
                count += 1;
                count.is_multiple_of(7) || (at > ms(300) && at < ms(2300))
            });
            assert!(path.sender.books().done, "{variant}");
            let sent = &path.sender.books().counters;
            assert_eq!(sent.packets_sent, 691 + sent.retransmits, "{variant}");
            assert_eq!(path.receiver.delivered(), 691, "{variant}");
            assert_eq!(path.receiver.wake(), Time::NEVER, "{variant}");
        }
    }
}
