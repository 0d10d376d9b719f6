//! What the unit tests of transports over UDP share: a host on 10 Gbit/s, and an ideal path between two ends.

use super::end::{ReceivingEnd, SendingEnd};
use super::row::{Config, Row};
use longfat_units::parameters::Value;
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{FlowId, Kind, SimPacket};
use std::collections::VecDeque;

/// Packets of 1500 bytes, endless, at 10 Gbit/s.
pub fn config() -> Config {
    Config {
        flow: FlowId(0),
        mss_bytes: 1448,
        header_bytes: 52,
        bytes: None,
        line: Rate::from_bps(1e10).expect("a rate"),
        host_tick: Interval::ZERO,
        tick_phase: Interval::ZERO,
        rto_min: Interval::from_millis(200),
    }
}

/// So many milliseconds after the beginning.
pub fn ms(ms: u64) -> Time {
    Time::ZERO + Interval::from_millis(ms)
}

/// Data packet `seq`.
pub fn data(seq: u64) -> SimPacket {
    SimPacket::new(Kind::Data, FlowId(0), seq, 1500, Time::ZERO)
}

/// A path of 20 ms there and 20 ms back, of any rate; some data packets are lost on it.
pub struct Path<S, R> {
    pub sender: S,
    pub receiver: R,
    there: VecDeque<(Time, SimPacket)>,
    back: VecDeque<(Time, SimPacket)>,
    /// Every data packet put on it, lost ones included: when, and its number.
    pub sent: Vec<(Time, u64)>,
}

impl<S: SendingEnd, R: ReceivingEnd> Path<S, R> {
    /// With these parameters of a protocol, started at the beginning.
    pub fn new(protocol: &Row<S, R>, given: &[(&str, Value)], config: &Config) -> Self {
        let given: Vec<_> = given.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
        let (sender, receiver) =
            protocol.ends(&given, config, Stream::new(1, "flow/1/udp")).expect("sound parameters");
        let mut path =
            Path { sender, receiver, there: VecDeque::new(), back: VecDeque::new(), sent: Vec::new() };
        path.send(Time::ZERO, &mut |_, _| false, |sender, out| sender.start(Time::ZERO, out));
        path
    }

    fn send(
        &mut self,
        now: Time,
        loses: &mut dyn FnMut(Time, &SimPacket) -> bool,
        act: impl FnOnce(&mut S, &mut dyn FnMut(SimPacket)),
    ) {
        let Path { sender, there, sent, .. } = self;
        act(sender, &mut |packet| {
            if packet.kind == Kind::Data {
                sent.push((now, packet.seq));
            }
            if !loses(now, &packet) {
                there.push_back((now + Interval::from_millis(20), packet));
            }
        });
    }

    /// Runs until `end`, or until nothing more happens; `loses` says which packets are lost on the way there.
    pub fn run(&mut self, end: Time, mut loses: impl FnMut(Time, &SimPacket) -> bool) {
        loop {
            let head = |pipe: &VecDeque<(Time, SimPacket)>| pipe.front().map_or(Time::NEVER, |(at, _)| *at);
            let times = [head(&self.there), self.receiver.wake(), head(&self.back), self.sender.wake()];
            let now = times.into_iter().fold(Time::NEVER, Time::min);
            if now > end {
                return;
            }
            let mut answers = Vec::new();
            match times.iter().position(|&at| at == now) {
                Some(0) => answers.extend(
                    self.there.pop_front().and_then(|(_, packet)| self.receiver.on_packet(now, &packet)),
                ),
                Some(1) => answers.extend(self.receiver.on_timer(now)),
                Some(2) => {
                    if let Some((_, packet)) = self.back.pop_front() {
                        self.send(now, &mut loses, |sender, out| sender.on_packet(now, &packet, out));
                    }
                }
                _ => self.send(now, &mut loses, |sender, out| sender.on_timer(now, out)),
            }
            self.back.extend(answers.into_iter().map(|a| (now + Interval::from_millis(20), a)));
        }
    }

    /// Loses every seventh packet of any kind, and everything for 2 s. The transfer of `packets` packets
    /// still arrives, and then both ends are quiet.
    pub fn survives_losses(&mut self, packets: u64) {
        let mut count = 0_u64;
        self.run(ms(600_000), |at, _| {
            count += 1;
            count.is_multiple_of(7) || (at > ms(300) && at < ms(2300))
        });
        assert!(self.sender.books().done);
        let sent = &self.sender.books().counters;
        assert_eq!(sent.packets_sent, packets + sent.retransmits);
        assert_eq!((self.sender.acked(), self.receiver.delivered()), (packets, packets));
        assert_eq!(self.receiver.wake(), Time::NEVER);
    }
}
