//! The quick way through a link that asks its queue: what arrives in a batch is known, so the queue serves its
//! arrivals and departures in one loop, and each packet goes straight to where it leaves.

use super::counters::LinkCounters;
use super::elements::{Elements, Installed};
use longfat_net::disturbance::Disturbed;
use longfat_net::{Address, DropReason, Element, Sink, Visitor, visit};
use longfat_units::{Interval, Time};
use longfat_wire::Packet;

/// Where packets go that leave a link.
pub trait Exit<P> {
    /// The packet is on the wire; `at` is the time of its last bit, later where the link is disturbed.
    fn depart(&mut self, packet: P, at: Time);
    /// The packet was dropped.
    fn drop(&mut self, packet: P);
}

/// A link whose only element holds a queue, behind which packets leave one after the other and keep their
/// order, in a run without messages.
pub struct Lane<'a, P, E: ?Sized> {
    queue: &'a mut E,
    timer_at: &'a mut Time,
    elements: &'a mut Elements<P>,
    /// The link's counters.
    pub counters: &'a mut LinkCounters,
    /// The packets and bytes in the queue.
    waiting: (u64, u64),
}

/// What uses the lane of a link.
pub trait Use<P> {
    /// Uses it.
    fn through<E: Element<P> + ?Sized>(self, lane: Lane<'_, P, E>)
    where
        P: Packet;
}

impl<P: Packet> Elements<P> {
    /// Whether it has a lane.
    pub(super) fn has_lane(&self) -> bool {
        let keeps_order = self.behind.as_ref().is_none_or(|behind| behind.leads());
        self.chain.len() == 1 && self.clock.is_none() && keeps_order
    }

    /// Lets `what` use the lane, if there is one.
    pub(super) fn lane(&mut self, counters: &mut LinkCounters, what: impl Use<P>) {
        if !self.has_lane() {
            return;
        }
        let Some(mut installed) = self.chain.pop() else { return };
        let Installed { element, timer_at } = &mut installed;
        visit(element.as_mut(), Entry { timer_at, elements: self, counters, what });
        self.chain.push(installed);
    }
}

/// Where [`visit`] leads.
struct Entry<'a, P, U> {
    timer_at: &'a mut Time,
    elements: &'a mut Elements<P>,
    counters: &'a mut LinkCounters,
    what: U,
}

impl<P: Packet, U: Use<P>> Visitor<P> for Entry<'_, P, U> {
    type Output = ();

    fn visit<E: Element<P> + ?Sized>(self, queue: &mut E) {
        let Entry { timer_at, elements, counters, what } = self;
        let waiting = (queue.packets(), queue.bytes());
        what.through(Lane { queue, timer_at, elements, counters, waiting });
    }
}

impl<P: Packet, E: Element<P> + ?Sized> Lane<'_, P, E> {
    /// When something happens by itself.
    #[inline(always)]
    fn wake(&self) -> Time {
        let asks = self.waiting.0 > 0 && !self.elements.withheld;
        let free = self.elements.line.busy_until.max(self.elements.held_until);
        if asks { free.min(*self.timer_at) } else { *self.timer_at }
    }

    /// Handles what happens by itself up to `until`, included, which is not [`Time::NEVER`]. Returns the number of events.
    #[inline(always)]
    pub fn advance(&mut self, until: Time, exit: &mut impl Exit<P>) -> u64 {
        debug_assert!(until != Time::NEVER, "the loop would not end");
        let mut events = 0;
        loop {
            let now = self.wake();
            if now > until {
                return events;
            }
            if *self.timer_at <= now {
                self.fire(now, exit);
            }
            self.act(now, exit);
            events += 1;
        }
    }

    /// A packet arrives.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: P, exit: &mut impl Exit<P>) {
        self.counters.packets_in += 1;
        self.elements.withheld = false;
        let mut out = Out::new(exit, self.counters, self.timer_at);
        self.queue.arrive(now, packet, &mut out);
        self.waiting = (self.queue.packets(), self.queue.bytes());
        self.act(now, exit);
    }

    /// The element's timer fires.
    #[inline(never)]
    fn fire(&mut self, now: Time, exit: &mut impl Exit<P>) {
        self.elements.withheld = false;
        *self.timer_at = Time::NEVER;
        let mut out = Out::new(exit, self.counters, self.timer_at);
        self.queue.timer(now, &mut out);
        self.waiting = (self.queue.packets(), self.queue.bytes());
    }

    /// Starts the transmission that is due, if there is one, and notes how many packets then wait.
    #[inline(always)]
    fn act(&mut self, now: Time, exit: &mut impl Exit<P>) {
        if self.elements.line.busy_until <= now {
            self.serve(now, exit);
        }
        self.elements.line.occupancy.set(now, self.waiting.0, self.waiting.1);
    }

    /// The wire is free: takes the next packet from the queue, unless an outage keeps the link from sending.
    #[inline(never)]
    fn serve(&mut self, now: Time, exit: &mut impl Exit<P>) {
        if self.elements.behind.is_some() && self.elements.is_held(now) {
            return;
        }
        let mut out = Out::new(exit, self.counters, self.timer_at);
        let next = self.queue.next(now, &mut out);
        let waited = (out.waited, out.waited_low);
        self.waiting = (self.queue.packets(), self.queue.bytes());
        self.elements.withheld = next.is_none();
        if let Some(packet) = next {
            self.elements.line.transmit(now, packet.bytes(), waited, self.counters);
            let departure = self.elements.line.busy_until;
            match &mut self.elements.behind {
                None => exit.depart(packet, departure),
                Some(behind) => lead(behind, self.counters, packet, departure, exit),
            }
        }
    }
}

/// A packet comes to the disturbed part of the link, and goes where it leaves that.
#[inline(never)] // most links have none
fn lead<P: Packet>(
    behind: &mut Disturbed<P>,
    counters: &mut LinkCounters,
    mut packet: P,
    departure: Time,
    exit: &mut impl Exit<P>,
) {
    counters.marks[DropReason::Forced as usize] += u64::from(behind.remark(&mut packet));
    if let Some(at) = behind.lead(departure) {
        exit.depart(packet, at);
    } else {
        counters.packets_lost += 1;
        exit.drop(packet);
    }
}

/// Where the element puts its actions.
struct Out<'a, E> {
    exit: &'a mut E,
    counters: &'a mut LinkCounters,
    timer_at: &'a mut Time,
    waited: Option<Interval>,
    waited_low: Option<Interval>,
}

impl<'a, E> Out<'a, E> {
    #[inline(always)]
    const fn new(exit: &'a mut E, counters: &'a mut LinkCounters, timer_at: &'a mut Time) -> Self {
        Out { exit, counters, timer_at, waited: None, waited_low: None }
    }
}

impl<P, E: Exit<P>> Sink<P> for Out<'_, E> {
    fn forward(&mut self, _packet: P) {} // there is no element behind this one
    fn drop(&mut self, packet: P, reason: DropReason) {
        self.counters.drops[reason as usize] += u64::from(reason != DropReason::Full);
        self.counters.packets_dropped += 1;
        self.exit.drop(packet);
    }
    fn marked(&mut self, reason: DropReason) {
        self.counters.marks[reason as usize] += 1;
    }
    fn waited(&mut self, span: Interval) {
        self.waited = Some(span);
    }
    fn waited_low(&mut self, span: Interval) {
        self.waited_low = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        *self.timer_at = at;
    }
    fn originate(&mut self, _packet: P, _to: Address) {} // a run without messages loses it
}
