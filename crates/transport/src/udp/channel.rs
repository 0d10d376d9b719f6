//! The control connection of SABUL, Reliable Blast UDP and Tsunami, which is TCP in the originals: it brings
//! the messages of the receiver to the sender, all of them and in order.
//!
//! Each message is a segment. The sender acknowledges each segment cumulatively; the receiver sends the
//! oldest one again after three duplicate acknowledgements (RFC 5681, and one for each partial
//! acknowledgement: RFC 6582) or after the retransmission timeout (RFC 6298). There is no congestion window,
//! so a message leaves at once, and no delayed acknowledgement; both are left out because the messages are
//! few and small.
//!
//! | constant | value | source |
//! |---|---|---|
//! | headers of a segment | 52 bytes | IP 20, TCP 20, timestamps 12 (RFC 7323) |
//! | duplicate acknowledgements | 3 | RFC 5681 |

use super::end::Out;
use super::row::Config;
use crate::rtt::{RtoConfig, RttEstimator};
use longfat_units::{Interval, Time};
use longfat_wire::{Extra, FlowId, Kind, Report, SimPacket};
use std::collections::{BTreeMap, VecDeque};

const HEADER_BYTES: u32 = 52;
const DUPLICATES: u32 = 3;

/// A packet that carries `report`.
pub(super) fn carrying(packet: SimPacket, report: Report) -> SimPacket {
    let extra = Extra { report: Some(Box::new(report)), ..Extra::default() };
    SimPacket { extra: Some(Box::new(extra)), ..packet }
}

/// What a packet carries, if anything.
pub(super) fn carried(packet: &SimPacket) -> Option<&Report> {
    packet.extra.as_ref().and_then(|extra| extra.report.as_deref())
}

/// A message from the sender, which the protocol itself repeats if it has to.
pub(super) fn message(now: Time, flow: FlowId, bytes: u32, report: Report) -> SimPacket {
    carrying(SimPacket::new(Kind::AckAck, flow, 0, HEADER_BYTES + bytes, now), report)
}

/// The receiver's end of the connection, which sends the messages.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    flow: FlowId,
    /// Messages not yet acknowledged, and the bytes of each.
    messages: VecDeque<(Report, u32)>,
    /// The number of the first of them.
    first: u64,
    /// How many of them have been sent.
    sent: usize,
    rtt: RttEstimator,
    duplicates: u32,
    /// Losses are being repaired until this message is acknowledged.
    recover: u64,
    /// The first message goes again at once.
    again: bool,
    /// When there was last something to send at once.
    since: Time,
    expire_at: Time,
}

impl Outbox {
    pub(super) fn new(config: &Config) -> Self {
        Outbox {
            flow: config.flow,
            messages: VecDeque::new(),
            first: 0,
            sent: 0,
            rtt: RttEstimator::new(&RtoConfig::with_min(config.rto_min)),
            duplicates: 0,
            recover: 0,
            again: false,
            since: Time::NEVER,
            expire_at: Time::NEVER,
        }
    }

    /// Writes a message of so many bytes, which [`Outbox::poll`] sends.
    pub(super) fn push(&mut self, now: Time, report: Report, bytes: u32) {
        self.messages.push_back((report, bytes));
        self.since = now;
    }

    /// The next segment that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<SimPacket> {
        if core::mem::take(&mut self.again) {
            return self.segment(now, 0);
        }
        if self.sent < self.messages.len() {
            self.sent += 1;
            if self.expire_at == Time::NEVER {
                self.expire_at = self.rtt.deadline(now);
            }
            return self.segment(now, self.sent - 1);
        }
        if now < self.expire_at {
            return None;
        }
        self.rtt.back_off();
        self.recover = self.first + self.sent as u64;
        self.expire_at = self.rtt.deadline(now);
        self.segment(now, 0)
    }

    /// When [`Outbox::poll`] next has a segment.
    pub(super) fn wake(&self) -> Time {
        if self.again || self.sent < self.messages.len() { self.since } else { self.expire_at }
    }

    /// An acknowledgement of all messages before `packet.seq`.
    pub(super) fn on_ack(&mut self, now: Time, packet: &SimPacket) {
        let news = packet.seq.saturating_sub(self.first).min(self.sent as u64) as usize;
        if news == 0 {
            if packet.seq == self.first && self.sent > 0 {
                self.duplicates += 1;
                if self.duplicates == DUPLICATES && self.first >= self.recover {
                    self.recover = self.first + self.sent as u64;
                    (self.again, self.since) = (true, now);
                }
            }
            return;
        }
        self.messages.drain(..news);
        self.first += news as u64;
        self.sent -= news;
        self.duplicates = 0;
        self.rtt.sample(packet.stamp, now);
        self.again = self.sent > 0 && self.first < self.recover;
        if self.again {
            self.since = now;
        }
        self.expire_at = if self.sent > 0 { self.rtt.deadline(now) } else { Time::NEVER };
    }

    /// What the receiver sent at `from` has had an effect.
    pub(super) fn sample(&mut self, from: Time, now: Time) {
        self.rtt.sample(from, now);
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub(super) const fn srtt(&self) -> Interval {
        self.rtt.srtt()
    }

    fn segment(&self, now: Time, index: usize) -> Option<SimPacket> {
        let (report, bytes) = self.messages.get(index)?;
        let packet =
            SimPacket::new(Kind::Ack, self.flow, self.first + index as u64, HEADER_BYTES + bytes, now);
        Some(carrying(packet, report.clone()))
    }
}

/// The sender's end, which takes the messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    /// The next message in order.
    next: u64,
    early: BTreeMap<u64, Report>,
}

impl Inbox {
    /// Acknowledges a segment. Returns the messages that it makes readable, in order.
    pub(super) fn take(&mut self, packet: &SimPacket, out: Out) -> Vec<Report> {
        if let (true, Some(report)) = (packet.seq >= self.next, carried(packet)) {
            self.early.insert(packet.seq, report.clone());
        }
        let mut readable = Vec::new();
        while let Some(report) = self.early.remove(&self.next) {
            readable.push(report);
            self.next += 1;
        }
        out(SimPacket::new(Kind::AckAck, packet.flow, self.next, HEADER_BYTES, packet.stamp));
        readable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp::testing::{config, ms};

    /// Both ends; messages and acknowledgements take 20 ms each way, and `loses` says which messages are
    /// lost.
    fn exchange(count: u64, mut loses: impl FnMut(Time, &SimPacket) -> bool) -> Vec<(Time, u64)> {
        let (mut outbox, mut inbox) = (Outbox::new(&config()), Inbox::default());
        (0..count).for_each(|i| outbox.push(Time::ZERO, Report::Arrived(i), 8));
        let mut there: VecDeque<(Time, SimPacket)> = VecDeque::new();
        let mut back: VecDeque<(Time, SimPacket)> = VecDeque::new();
        let mut read = Vec::new();
        loop {
            let head = |pipe: &VecDeque<(Time, SimPacket)>| pipe.front().map_or(Time::NEVER, |(at, _)| *at);
            let now = outbox.wake().min(head(&there)).min(head(&back));
            if now == Time::NEVER {
                assert!(outbox.messages.is_empty());
                return read;
            }
            if head(&there) == now {
                let (_, packet) = there.pop_front().unwrap();
                let reports =
                    inbox.take(&packet, &mut |ack| back.push_back((now + Interval::from_millis(20), ack)));
                read.extend(reports.into_iter().map(|report| match report {
                    Report::Arrived(i) => (now, i),
                    other => panic!("{other:?}"),
                }));
            } else if head(&back) == now {
                outbox.on_ack(now, &back.pop_front().unwrap().1);
            } else if let Some(packet) = outbox.poll(now)
                && !loses(now, &packet)
            {
                there.push_back((now + Interval::from_millis(20), packet));
            }
        }
    }

    #[test]
    fn messages_arrive_at_once_and_in_order() {
        let read = exchange(4, |_, _| false);
        assert_eq!(read, (0..4).map(|i| (ms(20), i)).collect::<Vec<_>>());
    }

    #[test]
    fn three_duplicates_bring_a_lost_message_after_a_round_trip() {
        let read = exchange(5, |at, packet| at == Time::ZERO && packet.seq == 1);
        // the first arrives at 20 ms; the others wait for the second, which leaves again at 40 ms
        assert_eq!(read, [(ms(20), 0), (ms(60), 1), (ms(60), 2), (ms(60), 3), (ms(60), 4)]);
    }

    #[test]
    fn the_last_message_comes_again_after_the_timeout() {
        let read = exchange(2, |at, packet| at == Time::ZERO && packet.seq == 1);
        // 40 ms of round trip and the floor of 200 ms, counted from the acknowledgement at 40 ms
        assert_eq!(read, [(ms(20), 0), (ms(300), 1)]);
    }

    #[test]
    fn any_loss_is_repaired() {
        let mut count = 0_u64;
        let read = exchange(50, |_, _| {
            count += 1;
            !count.is_multiple_of(3)
        });
        assert_eq!(read.iter().map(|&(_, i)| i).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
    }
}
