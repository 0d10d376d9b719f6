//! UDT's sender: sends lost packets first, then new ones as the window allows, one every P.

use super::super::channel::carried;
use super::super::end::{Books, CONTROL_BYTES, Out, Pace, Reliable, SendingEnd};
use super::super::row::Config;
use super::control::{Control, PAIR_EVERY, SYN_S};
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, Report, SimPacket, UdtReport};
use std::collections::BTreeSet;

/// The least time without news after which everything outstanding counts as lost, seconds (draft, section 4).
const LEAST_SILENCE_S: f64 = 0.5;
/// The silence grows up to this many times (draft, 6.2). Unlike the draft, the sender does not give up the
/// connection then.
const MOST_SILENCES: u32 = 16;

/// The sending end.
pub struct Sender {
    books: Books,
    control: Control,
    /// Smoothed round-trip time and its variance, seconds.
    rtt_s: f64,
    rtt_var_s: f64,
    /// The first packet not yet acknowledged.
    acked: u64,
    /// The next new packet.
    next: u64,
    /// The sender's loss list.
    lost: BTreeSet<u64>,
    pace: Pace,
    silences: u32,
}

impl Sender {
    pub(super) fn new(config: &Config, control: Control) -> Self {
        Sender {
            books: Books::new(config),
            control,
            rtt_s: 0.0,
            rtt_var_s: 0.0,
            acked: 0,
            next: 0,
            lost: BTreeSet::new(),
            pace: Pace::new(config),
            silences: 1,
        }
    }

    fn on_ack(&mut self, now: Time, up_to: u64, report: &UdtReport) {
        if let Some(rtt) = report.rtt {
            let rtt_s = rtt.as_secs_f64();
            self.rtt_s = (7.0 * self.rtt_s + rtt_s) / 8.0;
            self.rtt_var_s = (3.0 * self.rtt_var_s + (self.rtt_s - rtt_s).abs()) / 4.0;
        }
        let newly = up_to.saturating_sub(self.acked);
        if newly > 0 {
            self.acked = up_to;
            self.lost = self.lost.split_off(&up_to);
        }
        self.control.on_ack(newly, self.rtt_s, report);
        self.hear(now);
        self.look_for_end(now);
    }

    fn on_nak(&mut self, now: Time, ranges: &[(u64, u64)]) {
        let Some(&(first, _)) = ranges.first() else { return };
        for &(start, end) in ranges {
            self.lost.extend(start.max(self.acked)..end.min(self.next));
        }
        if self.control.on_nak(now, first, self.next.saturating_sub(1), self.rtt_s) {
            self.count_congestion(now);
        }
        self.hear(now);
    }

    /// The receiver is alive: the silence starts again.
    fn hear(&mut self, now: Time) {
        self.silences = 1;
        self.books.connection.expire_at =
            if self.acked < self.next { now + self.silence() } else { Time::NEVER };
    }

    fn silence(&self) -> Interval {
        let one_s = (4.0 * self.rtt_s + self.rtt_var_s + SYN_S).max(LEAST_SILENCE_S);
        Interval::from_secs_f64(f64::from(self.silences) * one_s)
    }

    /// Sends what P and the window allow now.
    fn transmit(&mut self, now: Time, out: Out) {
        self.books.connection.send_at = Time::NEVER;
        if !self.books.is_active() {
            return;
        }
        let allowed = self.control.window() as u64;
        loop {
            let new = self.next < self.books.end && self.next - self.acked < allowed;
            if self.lost.is_empty() && !new {
                return;
            }
            let due = self.pace.due(now);
            if due > now {
                self.books.connection.send_at = due;
                return;
            }
            let mut gap = self.control.interval();
            if let Some(seq) = self.lost.pop_first() {
                self.books.send(now, seq, true, out);
            } else {
                self.books.send(now, self.next, false, out);
                if self.next.is_multiple_of(PAIR_EVERY) {
                    gap = Interval::ZERO;
                }
                self.next += 1;
            }
            self.pace.sent(now, gap);
            if self.books.connection.expire_at == Time::NEVER {
                self.books.connection.expire_at = now + self.silence();
            }
        }
    }
}

impl SendingEnd for Sender {
    fn stop(&mut self, now: Time) {
        self.books.end = self.next;
        self.look_for_end(now);
    }

    fn on_packet(&mut self, now: Time, packet: &SimPacket, out: Out) {
        if self.opens(now, packet) {
            self.rtt_s = now.since(packet.stamp).as_secs_f64();
            self.rtt_var_s = self.rtt_s / 2.0;
            return self.transmit(now, out);
        }
        if packet.kind != Kind::Ack || !self.books.connection.is_open() {
            return;
        }
        match carried(packet) {
            Some(Report::Udt(report)) => {
                let flow = self.books.config.flow;
                out(SimPacket::new(Kind::AckAck, flow, report.number, CONTROL_BYTES, now));
                self.on_ack(now, packet.seq, report);
            }
            Some(Report::Missing(ranges)) => self.on_nak(now, ranges),
            _ => return,
        }
        self.transmit(now, out);
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if self.books.connection.repeats(now, out) {
            return;
        }
        if now >= self.books.connection.expire_at {
            self.count_timeout(now);
            self.control.on_timeout(self.rtt_s);
            if self.lost.is_empty() {
                self.lost.extend(self.acked..self.next);
            }
            self.silences = (self.silences + 1).min(MOST_SILENCES);
            self.books.connection.expire_at = now + self.silence();
        }
        self.transmit(now, out);
    }

    fn cwnd(&self) -> f64 {
        self.control.window()
    }

    fn acked(&self) -> u64 {
        self.acked
    }

    fn srtt(&self) -> Option<Interval> {
        (self.rtt_s > 0.0).then(|| Interval::from_secs_f64(self.rtt_s))
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
    use super::super::{ROW, Receiver};
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, ms};

    const VARIANTS: [&str; 2] = ["thesis", "draft"];

    fn path(variant: &str, config: &Config) -> Path<Sender, Receiver> {
        Path::new(&ROW, &[("variant", Value::Word(variant.to_owned()))], config)
    }

    #[test]
    fn slow_start_sends_sixteen_packets_and_then_two_for_each_acknowledged() {
        let mut path = path("thesis", &config());
        path.run(ms(200), |_, _| false);
        let sent_by = |at: u64| path.sent.iter().filter(|&&(when, _)| when <= ms(at)).count();
        // connected after 40 ms; the receiver acknowledges 10 ms after the first packet, 50 ms a round trip
        assert_eq!((sent_by(39), sent_by(40), sent_by(89), sent_by(90), sent_by(140)), (0, 16, 16, 48, 112));
    }

    #[test]
    fn what_is_lost_goes_before_anything_new() {
        for variant in VARIANTS {
            let mut path = path(variant, &config());
            let mut dropped = None;
            path.run(ms(1000), |_, packet| {
                let lose = packet.seq == 100 && packet.kind == Kind::Data && dropped.is_none();
                dropped = dropped.or(lose.then_some(()));
                lose
            });
            let at = path.sent.iter().rposition(|&(_, seq)| seq == 100).unwrap();
            let next_new = path.sent.iter().position(|&(when, seq)| when >= path.sent[at].0 && seq != 100);
            assert!(next_new.is_none_or(|new| new > at), "{variant}");
            assert_eq!(path.sender.books().counters.retransmits, 1, "{variant}");
            assert_eq!(path.receiver.counts().duplicates, 0, "{variant}");
        }
    }

    #[test]
    fn after_a_loss_packets_leave_in_pairs_and_alone_at_equal_distances() {
        let mut path = path("draft", &config());
        path.run(ms(600), |_, packet| {
            packet.kind == Kind::Data && packet.seq == 60 && packet.stamp < ms(150)
        });
        let late: Vec<_> = path.sent.iter().filter(|&&(at, _)| at > ms(400)).copied().collect();
        assert!(late.len() > 40, "{}", late.len());
        for pair in late.windows(2) {
            let together = pair[1].0 == pair[0].0;
            assert_eq!(together, pair[1].1 % 16 == 1, "{pair:?}");
        }
    }

    #[test]
    fn a_finite_transfer_arrives_whatever_is_lost() {
        let finite = Config { bytes: Some(1_000_000), ..config() };
        for variant in VARIANTS {
            let mut path = path(variant, &finite);
            path.survives_losses(691);
            assert_eq!(path.sender.books().payload(path.sender.acked()), 1_000_000);
        }
    }

    #[test]
    fn a_silence_makes_all_that_is_outstanding_lost() {
        let mut path = path("thesis", &config());
        // the first 16 and what repeats them is lost until 1 s
        path.run(ms(1000), |at, packet| packet.kind == Kind::Data && at < ms(900));
        let at: Vec<_> = path.sent.iter().map(|&(at, _)| at).collect();
        assert_eq!(at.iter().filter(|&&at| at == ms(40)).count(), 16);
        assert!(at.iter().all(|&at| at == ms(40) || at >= ms(540)), "{at:?}");
        assert_eq!(path.sender.books().counters.timeouts, 1);
    }
}
