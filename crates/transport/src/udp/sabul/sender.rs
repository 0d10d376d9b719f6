//! SABUL's sender: sends lost packets first, then new ones, one every P.

use super::super::channel::Inbox;
use super::super::end::{Books, Out, Pace, Reliable, SendingEnd};
use super::super::row::Config;
use super::EXP;
use super::control::Control;
use longfat_units::Time;
use longfat_units::parameters::Parameters;
use longfat_wire::{Kind, Report, SimPacket};
use std::collections::BTreeSet;

/// The sending end.
pub struct Sender {
    books: Books,
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
    pub(super) fn new(p: &Parameters, config: &Config) -> Self {
        Sender {
            books: Books::new(config),
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
        self.books.connection.expire_at = if self.acked < self.next { now + EXP } else { Time::NEVER };
    }

    /// Sends what P and the flow window allow now.
    fn transmit(&mut self, now: Time, out: Out) {
        self.books.connection.send_at = Time::NEVER;
        while self.books.is_active() {
            let new = self.next < self.books.end && self.next - self.acked < self.flow_window;
            if self.lost.is_empty() && !new {
                return;
            }
            let due = self.pace.due(now);
            if due > now {
                self.books.connection.send_at = due;
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
            if self.books.connection.expire_at == Time::NEVER {
                self.books.connection.expire_at = now + EXP;
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
        if packet.kind == Kind::Ack && self.books.connection.is_open() {
            for report in self.inbox.take(packet, out) {
                self.on_report(now, &report);
            }
        } else if !self.opens(now, packet) {
            return;
        }
        self.transmit(now, out);
    }

    fn on_timer(&mut self, now: Time, out: Out) {
        if self.books.connection.repeats(now, out) {
            return;
        }
        if now >= self.books.connection.expire_at {
            self.count_timeout(now);
            self.lost.extend(self.acked..self.next);
            self.books.connection.expire_at = now + EXP;
        }
        self.transmit(now, out);
    }

    fn cwnd(&self) -> f64 {
        (self.books.connection.rtt.srtt().as_secs_f64() / self.control.period_s)
            .clamp(1.0, self.flow_window as f64)
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

#[cfg(test)]
mod tests {
    use super::super::super::end::ReceivingEnd;
    use super::super::ROW;
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{Path, config, ms};
    use longfat_units::Interval;

    const VARIANTS: [&str; 2] = ["library", "mimd"];

    fn given(variant: &str) -> [(&'static str, Value); 1] {
        [("variant", Value::Word(variant.to_owned()))]
    }

    #[test]
    fn it_starts_at_a_packet_each_10_us() {
        let mut path = Path::new(&ROW, &given("library"), &config());
        path.run(ms(41), |_, _| false);
        let at: Vec<Time> = path.sent.iter().map(|&(at, _)| at).collect();
        assert_eq!((at[0], at[1], at.len()), (ms(40), ms(40) + Interval::from_ns(10_000), 101));
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
            assert_eq!(path.receiver.counts().duplicates, 0, "{variant}");
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
            Path::new(&ROW, &given(variant), &finite).survives_losses(691);
        }
    }
}
