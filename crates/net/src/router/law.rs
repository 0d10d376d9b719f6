//! The part of an explicit protocol that runs in a router, without a queue, and the element that puts it
//! around one. Virtual routers (XCP-i) and shares of a link (XCP-TCP friendliness) drive the same laws.

use super::behind::Behind;
use crate::queue::Boxed;
use crate::{Capacity, Element, Sink};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Packet};

/// The control interval of a law that has none; chosen here.
const INTERVAL: Interval = Interval::from_millis(100);

/// What a law knows about what it controls: a link, a share of one, or a stretch of path that it represents.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// The capacity of the whole link.
    pub capacity: &'a Capacity,
    /// The law's share of it.
    pub share: f64,
    /// Bytes that wait in front of it.
    pub queue_bytes: u64,
}

impl Stretch<'_> {
    /// The rate that the law distributes, bit/s.
    pub fn bps(&self, now: Time) -> f64 {
        self.share * self.capacity.bps(now)
    }
}

/// An explicit protocol's law of control. It sees every packet that crosses the stretch, also those without
/// its header.
pub trait Law<P: Packet>: 'static {
    /// A flow begins, with this identity: see [`Element::begins`].
    fn begins(&mut self, _flow: FlowId, _identity: u64) {}
    /// The router that runs the law is switched on. Called once, before anything else.
    fn begin(&mut self, _now: Time, _stretch: &Stretch) {}
    /// A packet arrives; `queue_bytes` does not yet include it.
    fn arrive(&mut self, now: Time, packet: &mut P, stretch: &Stretch);
    /// When [`Law::timer`] wants to be called; [`Time::NEVER`] before the first packet.
    fn wake(&self) -> Time;
    /// The time has come.
    fn timer(&mut self, now: Time, stretch: &Stretch);
    /// A packet leaves: the law writes its header.
    fn leave(&mut self, now: Time, packet: &mut P, stretch: &Stretch);
    /// Whether the packet carries the protocol's header, so that its flow obeys the law.
    fn guides(&self, packet: &P) -> bool {
        packet.explicit().is_some()
    }
    /// The length of the running control interval. A mechanism that shares a link with the law measures over
    /// the same interval.
    fn interval(&self) -> Interval {
        INTERVAL
    }
}

/// Any law.
pub type DynLaw<P> = Box<dyn Law<P> + Send>;

/// Makes as many instances of a law as there are stretches to control.
pub type Laws<P> = Box<dyn Fn() -> DynLaw<P> + Send>;

impl<P: Packet> Law<P> for DynLaw<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.as_mut().begins(flow, identity);
    }
    fn begin(&mut self, now: Time, stretch: &Stretch) {
        self.as_mut().begin(now, stretch);
    }
    fn arrive(&mut self, now: Time, packet: &mut P, stretch: &Stretch) {
        self.as_mut().arrive(now, packet, stretch);
    }
    fn wake(&self) -> Time {
        self.as_ref().wake()
    }
    fn timer(&mut self, now: Time, stretch: &Stretch) {
        self.as_mut().timer(now, stretch);
    }
    fn leave(&mut self, now: Time, packet: &mut P, stretch: &Stretch) {
        self.as_mut().leave(now, packet, stretch);
    }
    fn guides(&self, packet: &P) -> bool {
        self.as_ref().guides(packet)
    }
    fn interval(&self) -> Interval {
        self.as_ref().interval()
    }
}

/// A queue with a law around it.
pub struct Controlled<P, L> {
    queue: Behind<P>,
    capacity: Capacity,
    law: L,
}

impl<P: Packet, L: Law<P>> Controlled<P, L> {
    /// The law controls the link behind the queue, from the beginning of time.
    pub fn new(queue: Boxed<P>, capacity: Capacity, mut law: L) -> Self {
        let queue = Behind::new(queue);
        law.begin(Time::ZERO, &link(&capacity, &queue));
        Controlled { queue, capacity, law }
    }

    /// The law.
    pub const fn law(&self) -> &L {
        &self.law
    }

    /// The capacity of the link behind the queue.
    pub const fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// When [`Controlled::fire`] wants to be called.
    pub fn wake(&self) -> Time {
        self.law.wake().min(self.queue.wake())
    }

    /// Takes an arriving packet past the law and into the queue.
    #[inline(always)]
    pub fn take(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        self.law.arrive(now, &mut packet, &link(&self.capacity, &self.queue));
        self.queue.arrive(now, packet, out);
    }

    /// Calls the timers that are due: the queue's, then the law's.
    pub fn fire(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.queue.timer(now, out);
        if now >= self.law.wake() {
            self.law.timer(now, &link(&self.capacity, &self.queue));
        }
    }

    /// Returns the next packet, with the law's header.
    #[inline(always)]
    pub fn give(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let mut packet = self.queue.next(now, out);
        if let Some(packet) = &mut packet {
            self.law.leave(now, packet, &link(&self.capacity, &self.queue));
        }
        packet
    }

    /// Packets that wait in the queue.
    pub fn packets(&self) -> u64 {
        self.queue.packets()
    }

    /// Bytes that wait in the queue.
    pub fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

/// The whole link behind this queue.
fn link<'a, P: Packet>(capacity: &'a Capacity, queue: &Behind<P>) -> Stretch<'a> {
    Stretch { capacity, share: 1.0, queue_bytes: queue.bytes() }
}

impl<P: Packet, L: Law<P>> Element<P> for Controlled<P, L> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.law.begins(flow, identity);
        self.queue.begins(flow, identity);
    }

    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.take(now, packet, out);
        out.set_timer(self.wake());
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.fire(now, out);
        out.set_timer(self.wake());
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.give(now, out);
        out.set_timer(self.wake());
        packet
    }

    fn packets(&self) -> u64 {
        self.packets()
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }

    fn flows_estimated(&self) -> Option<f64> {
        self.queue.flows_estimated()
    }
}
