//! A driver of elements: links with rows of elements before them, an agenda, and nothing else.
#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::expect_used, reason = "a test may panic")]

use longfat_net::{Address, DropReason, Element, Sink};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{FlowId, Kind, Packet, SimPacket};
use std::collections::BTreeMap;

/// How a packet left an element: on the wire, or dropped.
#[derive(Clone, Debug)]
pub enum Left<P> {
    Sent(P),
    Dropped(P, DropReason),
}

/// What one call of an element left behind.
struct Wishes<P> {
    forwarded: Vec<P>,
    dropped: Vec<(P, DropReason)>,
    originated: Vec<(P, Address)>,
    timer: Option<Time>,
    marked: u64,
    waited: Option<Interval>,
}

impl<P> Default for Wishes<P> {
    fn default() -> Self {
        Wishes {
            forwarded: vec![],
            dropped: vec![],
            originated: vec![],
            timer: None,
            marked: 0,
            waited: None,
        }
    }
}

impl<P> Sink<P> for Wishes<P> {
    fn forward(&mut self, packet: P) {
        self.forwarded.push(packet);
    }
    fn drop(&mut self, packet: P, reason: DropReason) {
        self.dropped.push((packet, reason));
    }
    fn marked(&mut self, _reason: DropReason) {
        self.marked += 1;
    }
    fn waited(&mut self, span: Interval) {
        self.waited = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn originate(&mut self, packet: P, to: Address) {
        self.originated.push((packet, to));
    }
}

enum Event<P> {
    Arrive(usize, P),
    Free(usize),
    Timer { link: usize, element: usize },
}

/// A link: elements in a row, the last of which holds the queue, and a transmitter.
struct Link<P> {
    elements: Vec<Box<dyn Element<P>>>,
    timers: Vec<Time>,
    rate: Rate,
    busy: bool,
}

/// Packets on their way to a link: when, to which, what.
pub type Arrivals<P> = Vec<(Time, usize, P)>;

/// What lies behind the links: it learns when a packet's last bit has left a link, and returns packets for
/// links.
pub type Beyond<'a, P> = &'a mut dyn FnMut(Time, usize, P, &mut Arrivals<P>);

/// What a network does to a message: delay it, or lose it.
pub type Carry<P> = Box<dyn FnMut(Time, &mut P) -> Option<Interval>>;

/// All links and what happens to them.
pub struct World<P> {
    links: Vec<Link<P>>,
    agenda: BTreeMap<(Time, u64), Event<P>>,
    planned: u64,
    /// How long a message takes from one element to another.
    pub message_delay: Interval,
    /// The fate of a message on its way, if not the usual delay: another delay, or a loss.
    pub carry: Option<Carry<P>>,
    /// Which messages are lost, counted from 0 in the order of their sending.
    pub lost_messages: Vec<usize>,
    /// When each message was sent, and to whom.
    pub messages: Vec<(Time, Address)>,
    /// In order: what left the links' queues.
    pub left: Vec<(Time, Left<P>)>,
    pub packets_in: u64,
    pub bytes_in: u64,
    pub marked: u64,
    /// How long the packets on the wire had waited, in order, if elements report it.
    pub waits: Vec<Interval>,
    /// Most packets that waited at one time.
    pub most_waiting: u64,
}

impl<P: Packet + Clone> World<P> {
    pub fn new() -> Self {
        World {
            links: vec![],
            agenda: BTreeMap::new(),
            planned: 0,
            message_delay: Interval::from_millis(5),
            carry: None,
            lost_messages: vec![],
            messages: vec![],
            left: vec![],
            packets_in: 0,
            bytes_in: 0,
            marked: 0,
            waits: vec![],
            most_waiting: 0,
        }
    }

    /// Adds a link. Returns its number, which is the address of its elements.
    pub fn add_link(&mut self, rate_bps: f64, elements: Vec<Box<dyn Element<P>>>) -> usize {
        let timers = vec![Time::NEVER; elements.len()];
        self.links.push(Link {
            elements,
            timers,
            rate: Rate::from_bps(rate_bps).expect("a rate"),
            busy: false,
        });
        self.links.len() - 1
    }

    /// A packet arrives at a link at this time.
    pub fn send(&mut self, at: Time, link: usize, packet: P) {
        self.plan(at, Event::Arrive(link, packet));
    }

    /// Runs until no event is left, or until `end`.
    pub fn run(&mut self, end: Time, beyond: Beyond<'_, P>) {
        while let Some((&(now, _), _)) = self.agenda.first_key_value() {
            if now > end {
                return;
            }
            let Some((_, event)) = self.agenda.pop_first() else { return };
            let link = match event {
                Event::Arrive(link, packet) => {
                    if packet.kind() != Kind::Control {
                        self.packets_in += 1;
                        self.bytes_in += u64::from(packet.bytes());
                    }
                    self.pass(now, link, 0, packet);
                    link
                }
                Event::Free(link) => {
                    self.links[link].busy = false;
                    link
                }
                Event::Timer { link, element } => {
                    if self.links[link].timers[element] != now {
                        continue; // set anew meanwhile
                    }
                    self.links[link].timers[element] = Time::NEVER;
                    self.call(now, link, element, |e, out| e.timer(now, out));
                    link
                }
            };
            self.serve(now, link, beyond);
            self.most_waiting = self.most_waiting.max(self.waiting().0);
        }
    }

    /// Packets and bytes that wait in all elements.
    pub fn waiting(&self) -> (u64, u64) {
        let elements = self.links.iter().flat_map(|l| &l.elements);
        elements.fold((0, 0), |(p, b), e| (p + e.packets(), b + e.bytes()))
    }

    /// What went over the wire, in order.
    pub fn sent(&self) -> impl Iterator<Item = (Time, &P)> {
        self.left.iter().filter_map(|(at, how)| match how {
            Left::Sent(packet) => Some((*at, packet)),
            Left::Dropped(..) => None,
        })
    }

    /// What was dropped, in order.
    pub fn dropped(&self) -> impl Iterator<Item = (Time, &P, DropReason)> {
        self.left.iter().filter_map(|(at, how)| match how {
            Left::Dropped(packet, reason) => Some((*at, packet, *reason)),
            Left::Sent(_) => None,
        })
    }

    /// Checks conservation to the byte: every packet that arrived was sent, was dropped, or waits.
    pub fn assert_conserves(&self) {
        let (packets, bytes) = self.waiting();
        let left_bytes: u64 = (self.left.iter())
            .map(|(_, how)| match how {
                Left::Sent(p) | Left::Dropped(p, _) => u64::from(p.bytes()),
            })
            .sum();
        assert_eq!(self.packets_in, self.left.len() as u64 + packets, "packets");
        assert_eq!(self.bytes_in, left_bytes + bytes, "bytes");
    }

    fn plan(&mut self, at: Time, event: Event<P>) {
        self.planned += 1;
        self.agenda.insert((at, self.planned), event);
    }

    /// A packet arrives at an element and, where forwarded, at those behind it.
    fn pass(&mut self, now: Time, link: usize, element: usize, packet: P) {
        assert!(element < self.links[link].elements.len(), "the last element of a row holds a queue");
        self.call(now, link, element, |e, out| e.arrive(now, packet, out));
    }

    fn call(
        &mut self,
        now: Time,
        link: usize,
        element: usize,
        act: impl FnOnce(&mut dyn Element<P>, &mut dyn Sink<P>),
    ) {
        let mut wishes = Wishes::default();
        act(self.links[link].elements[element].as_mut(), &mut wishes);
        self.grant(now, link, element, wishes);
    }

    fn grant(&mut self, now: Time, link: usize, element: usize, wishes: Wishes<P>) {
        self.marked += wishes.marked;
        self.waits.extend(wishes.waited);
        self.left.extend(wishes.dropped.into_iter().map(|(p, why)| (now, Left::Dropped(p, why))));
        if let Some(at) = wishes.timer {
            assert!(at >= now, "a timer for the past: {at:?} at {now:?}");
            self.links[link].timers[element] = at;
            if at != Time::NEVER {
                self.plan(at, Event::Timer { link, element });
            }
        }
        for (mut packet, to) in wishes.originated {
            let lost = self.lost_messages.contains(&self.messages.len());
            self.messages.push((now, to));
            let takes = match &mut self.carry {
                Some(carry) => carry(now, &mut packet),
                None => Some(self.message_delay),
            };
            if let Some(span) = takes.filter(|_| !lost) {
                self.plan(now + span, Event::Arrive(to.0 as usize, packet));
            }
        }
        for packet in wishes.forwarded {
            self.pass(now, link, element + 1, packet);
        }
    }

    /// Starts the next transmission if the link is free.
    fn serve(&mut self, now: Time, link: usize, beyond: Beyond<'_, P>) {
        let last = self.links[link].elements.len() - 1;
        if self.links[link].busy {
            return;
        }
        let mut next = None;
        self.call(now, link, last, |e, out| next = e.next(now, out));
        let Some(packet) = next else { return };
        let departure = now + self.links[link].rate.transmission(packet.bytes());
        self.links[link].busy = true;
        self.plan(departure, Event::Free(link));
        self.left.push((departure, Left::Sent(packet.clone())));
        let mut arrivals = Vec::new();
        beyond(departure, link, packet, &mut arrivals);
        arrivals.into_iter().for_each(|(at, to, packet)| self.send(at, to, packet));
    }
}

/// A data packet.
pub fn data(flow: u32, seq: u64, bytes: u32) -> SimPacket {
    SimPacket::new(Kind::Data, FlowId(flow), seq, bytes, Time::ZERO)
}

/// Ignores what arrives over a link.
pub fn ignore<P>(_: Time, _: usize, _: P, _: &mut Arrivals<P>) {}

/// Sends packets of `bytes` at a constant rate into link 0 from `from_s` until `until_s`, numbered from 0.
pub fn constant_rate(
    world: &mut World<SimPacket>,
    flow: u32,
    bytes: u32,
    rate_bps: f64,
    (from_s, until_s): (f64, f64),
) {
    let gap_s = 8.0 * f64::from(bytes) / rate_bps;
    let count = ((until_s - from_s) / gap_s) as u64;
    for seq in 0..count {
        world.send(Time::from_secs_f64(from_s + gap_s * seq as f64), 0, data(flow, seq, bytes));
    }
}

/// Bits of a flow that were put on the wire.
pub fn bits_sent(world: &World<SimPacket>, flow: u32) -> f64 {
    world.sent().filter(|(_, p)| p.flow == FlowId(flow)).map(|(_, p)| 8.0 * f64::from(p.bytes())).sum()
}

/// Segments of each flow leave in the order of their numbers.
pub fn assert_in_order(world: &World<SimPacket>) {
    let mut last = BTreeMap::new();
    for (_, p) in world.sent() {
        let before = last.insert(p.flow, p.seq);
        assert!(before.is_none_or(|s| s < p.seq), "flow {:?}: {} after {before:?}", p.flow, p.seq);
    }
}
