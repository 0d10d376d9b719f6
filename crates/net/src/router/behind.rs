//! A queue that stands behind a router in the same element: the two share one timer of the link.

use crate::queue::{Boxed, DropTail};
use crate::{Address, DropReason, Element, Sink, into_type};
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Packet};

/// The queue, and when it wants its timer.
pub struct Behind<P> {
    queue: Queue<P>,
    timer_at: Time,
}

/// Drop-tail is usual behind routers, and quicker where the compiler knows it.
enum Queue<P> {
    DropTail(DropTail<P>),
    Other(Boxed<P>),
}

macro_rules! each {
    ($self:ident, $queue:ident => $call:expr) => {
        match $self {
            Queue::DropTail($queue) => $call,
            Queue::Other($queue) => $call,
        }
    };
}

impl<P: Packet> Queue<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        each!(self, queue => queue.begins(flow, identity));
    }

    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        each!(self, queue => queue.arrive(now, packet, out));
    }

    #[inline(always)]
    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        each!(self, queue => queue.timer(now, out));
    }

    #[inline(always)]
    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        each!(self, queue => queue.next(now, out))
    }

    #[inline(always)]
    fn packets(&self) -> u64 {
        each!(self, queue => queue.packets())
    }

    #[inline(always)]
    fn bytes(&self) -> u64 {
        each!(self, queue => queue.bytes())
    }

    fn flows_estimated(&self) -> Option<f64> {
        each!(self, queue => queue.flows_estimated())
    }
}

impl<P: Packet> Behind<P> {
    pub fn new(queue: Boxed<P>) -> Self {
        let queue = into_type(queue).map_or_else(Queue::Other, |queue| Queue::DropTail(*queue));
        Behind { queue, timer_at: Time::NEVER }
    }

    /// When [`Behind::timer`] wants to be called.
    pub const fn wake(&self) -> Time {
        self.timer_at
    }

    pub fn begins(&mut self, flow: FlowId, identity: u64) {
        self.queue.begins(flow, identity);
    }

    pub fn packets(&self) -> u64 {
        self.queue.packets()
    }

    pub fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    pub fn flows_estimated(&self) -> Option<f64> {
        self.queue.flows_estimated()
    }

    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.queue.arrive(now, packet, &mut Within { out, timer_at: &mut self.timer_at });
    }

    /// Calls the queue's timer if it is due.
    pub fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        if self.timer_at <= now {
            self.timer_at = Time::NEVER;
            self.queue.timer(now, &mut Within { out, timer_at: &mut self.timer_at });
        }
    }

    #[inline(always)]
    pub fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        self.queue.next(now, &mut Within { out, timer_at: &mut self.timer_at })
    }
}

/// The link's sink, except for the timer.
struct Within<'a, P> {
    out: &'a mut dyn Sink<P>,
    timer_at: &'a mut Time,
}

impl<P> Sink<P> for Within<'_, P> {
    fn forward(&mut self, packet: P) {
        self.out.forward(packet);
    }
    fn drop(&mut self, packet: P, reason: DropReason) {
        self.out.drop(packet, reason);
    }
    fn marked(&mut self, reason: DropReason) {
        self.out.marked(reason);
    }
    fn waited(&mut self, span: Interval) {
        self.out.waited(span);
    }
    fn waited_low(&mut self, span: Interval) {
        self.out.waited_low(span);
    }
    fn set_timer(&mut self, at: Time) {
        *self.timer_at = at;
    }
    fn originate(&mut self, packet: P, to: Address) {
        self.out.originate(packet, to);
    }
}
