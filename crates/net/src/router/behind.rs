//! A queue that stands behind a router in the same element: the two share one timer of the link.

use crate::queue::Boxed;
use crate::{Address, DropReason, Sink};
use longfat_units::{Interval, Time};
use longfat_wire::Packet;

/// The queue, and when it wants its timer.
pub struct Behind<P> {
    queue: Boxed<P>,
    timer_at: Time,
}

impl<P: Packet> Behind<P> {
    pub fn new(queue: Boxed<P>) -> Self {
        Behind { queue, timer_at: Time::NEVER }
    }

    /// When [`Behind::timer`] wants to be called.
    pub const fn wake(&self) -> Time {
        self.timer_at
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
