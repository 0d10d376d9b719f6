//! One queue before one link, fed with open-loop arrivals; tests can inspect it at any time.
#![allow(dead_code, reason = "each test uses its part")]

use longfat_net::queue::{Boxed, Limit, Setup, find};
use longfat_net::{Address, DropReason, Element, Sink};
use longfat_units::parameters::{Parameters, Value};
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{Ecn, FlowId, Packet, SimPacket};
use std::collections::BTreeMap;

/// 12 Mbit/s: a thousand packets of 1500 bytes a second.
pub const RATE_BPS: f64 = 12e6;
pub const PACKET: u32 = 1500;

/// A parameter's value as a test writes it.
pub trait Given {
    fn value(&self) -> Value;
}
impl Given for f64 {
    fn value(&self) -> Value {
        Value::Number(*self)
    }
}
impl Given for &str {
    fn value(&self) -> Value {
        Value::Word((*self).to_owned())
    }
}

/// Parameters for the row, as checked.
pub fn parameters(row: &str, given: &[(&str, &dyn Given)]) -> Parameters {
    let given: Vec<_> = given.iter().map(|(name, v)| ((*name).to_owned(), v.value())).collect();
    find(row).expect("a row").checked(setup(1).rate, &given).expect("sound parameters")
}

/// A queue for this many packets before 12 Mbit/s.
pub fn setup(packets: u64) -> Setup {
    Setup {
        limit: Limit::Packets(packets),
        rate: Rate::from_bps(RATE_BPS).expect("a rate"),
        stream: Stream::new(7, "queue"),
    }
}

pub fn s(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

pub fn data(flow: u32, seq: u64, bytes: u32) -> SimPacket {
    super::driver::data(flow, seq, bytes)
}

/// The same packet, of a transport that understands marks.
pub fn capable(mut packet: SimPacket) -> SimPacket {
    packet.set_ecn(Ecn::Capable);
    packet
}

/// Records what happened to packets.
#[derive(Default)]
pub struct Tally {
    pub sent: Vec<(Time, SimPacket)>,
    pub dropped: Vec<(Time, SimPacket, DropReason)>,
    pub marked: BTreeMap<u8, u64>,
    pub waits: Vec<Interval>,
    pub low_waits: Vec<Interval>,
    now: Time,
    timer: Time,
}

impl Sink<SimPacket> for Tally {
    fn forward(&mut self, _: SimPacket) {
        panic!("a queue forwards nothing");
    }
    fn drop(&mut self, packet: SimPacket, reason: DropReason) {
        self.dropped.push((self.now, packet, reason));
    }
    fn marked(&mut self, reason: DropReason) {
        *self.marked.entry(reason as u8).or_default() += 1;
    }
    fn waited(&mut self, span: Interval) {
        self.waits.push(span);
    }
    fn waited_low(&mut self, span: Interval) {
        self.low_waits.push(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = at;
    }
    fn originate(&mut self, _: SimPacket, _: Address) {
        panic!("a queue originates nothing");
    }
}

impl Tally {
    /// How many were dropped for this reason.
    pub fn drops(&self, reason: DropReason) -> usize {
        self.dropped.iter().filter(|(_, _, why)| *why == reason).count()
    }

    /// How many of this flow were put on the wire.
    pub fn sent_of(&self, flow: u32) -> usize {
        self.sent.iter().filter(|(_, p)| p.flow == FlowId(flow)).count()
    }

    /// How many of this flow were dropped.
    pub fn dropped_of(&self, flow: u32) -> usize {
        self.dropped.iter().filter(|(_, p, _)| p.flow == FlowId(flow)).count()
    }

    pub fn marks(&self) -> u64 {
        self.marked.values().sum()
    }
}

/// A queue, the link behind it, and a record.
pub struct Bench<Q> {
    pub queue: Q,
    pub tally: Tally,
    rate: Rate,
    free_at: Time,
}

/// A queue or a router that the registry made.
pub struct Made(pub Boxed<SimPacket>);

impl Element<SimPacket> for Made {
    fn arrive(&mut self, now: Time, packet: SimPacket, out: &mut dyn Sink<SimPacket>) {
        self.0.arrive(now, packet, out);
    }
    fn timer(&mut self, now: Time, out: &mut dyn Sink<SimPacket>) {
        self.0.timer(now, out);
    }
    fn next(&mut self, now: Time, out: &mut dyn Sink<SimPacket>) -> Option<SimPacket> {
        self.0.next(now, out)
    }
    fn packets(&self) -> u64 {
        self.0.packets()
    }
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

impl<Q: Element<SimPacket>> Bench<Q> {
    pub fn new(queue: Q) -> Self {
        let tally = Tally { timer: Time::NEVER, ..Tally::default() };
        Bench { queue, tally, rate: Rate::from_bps(RATE_BPS).expect("a rate"), free_at: Time::ZERO }
    }

    /// Lets the link and the queue's timer run up to `now`.
    pub fn run_to(&mut self, now: Time) {
        loop {
            let serves = if self.queue.packets() > 0 { self.free_at } else { Time::NEVER };
            let at = serves.min(self.tally.timer);
            if at > now {
                return;
            }
            self.tally.now = at;
            if self.tally.timer <= at {
                self.tally.timer = Time::NEVER;
                self.queue.timer(at, &mut self.tally);
            } else {
                self.serve(at);
            }
        }
    }

    fn serve(&mut self, now: Time) {
        if let Some(packet) = self.queue.next(now, &mut self.tally) {
            self.free_at = now + self.rate.transmission(packet.bytes());
            self.tally.sent.push((now, packet));
        }
    }

    pub fn arrive(&mut self, now: Time, packet: SimPacket) {
        self.run_to(now);
        self.tally.now = now;
        self.queue.arrive(now, packet, &mut self.tally);
        if self.free_at <= now {
            self.serve(now);
        }
    }

    /// All arrivals, in order of time; `look` sees the queue after each.
    pub fn run(&mut self, arrivals: impl Iterator<Item = (Time, SimPacket)>, mut look: impl FnMut(Time, &Q)) {
        for (at, packet) in arrivals {
            self.arrive(at, packet);
            look(at, &self.queue);
        }
    }

    /// Clears the record.
    pub fn forget(&mut self) {
        self.tally = Tally { timer: self.tally.timer, ..Tally::default() };
    }
}

/// Poisson arrivals of full packets at `load` times what the link carries, from `from_s` on, of `flows`
/// flows, each packet of any of them.
pub fn poisson(
    load: f64,
    flows: u32,
    (from_s, until_s): (f64, f64),
) -> impl Iterator<Item = (Time, SimPacket)> {
    let mut draws = Stream::new(3, "poisson");
    let gap_s = 8.0 * f64::from(PACKET) / (load * RATE_BPS);
    let mut at_s = from_s;
    let mut seq = 0;
    core::iter::from_fn(move || {
        at_s += draws.exponential(gap_s);
        seq += 1;
        let flow = draws.below(u64::from(flows)) as u32;
        (at_s < until_s).then(|| (s(at_s), data(flow, seq, PACKET)))
    })
}

/// Arrivals of several sources in order of time.
pub fn merged(sources: Vec<Vec<(Time, SimPacket)>>) -> Vec<(Time, SimPacket)> {
    let mut all: Vec<_> = sources.into_iter().flatten().collect();
    all.sort_by_key(|(at, packet)| (*at, packet.flow()));
    all
}

/// Packets of one flow at a constant rate.
pub fn steady(flow: u32, rate_bps: f64, (from_s, until_s): (f64, f64)) -> Vec<(Time, SimPacket)> {
    let gap_s = 8.0 * f64::from(PACKET) / rate_bps;
    let count = ((until_s - from_s) / gap_s) as u64;
    (0..count).map(|seq| (s(from_s + gap_s * seq as f64), data(flow, seq, PACKET))).collect()
}
