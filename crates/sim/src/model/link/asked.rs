//! A server that asks its queue for the next packet: when its wire is free, or for several packets at a tick
//! of its clock.

use super::counters::LinkCounters;
use super::line::Line;
use super::{Exit, Unbuilt};
use longfat_net::disturbance::{Disturbed, Fate};
use longfat_net::queue::{Boxed, Limit};
use longfat_net::{Address, Capacity, Credit, DropReason, Element, Sink, Ticks, Visitor, visit};
use longfat_units::{Interval, Time};
use longfat_wire::Packet;

/// A queue, the wire behind it, and what few links have besides.
pub struct Asked<P> {
    /// The queue, perhaps behind a router.
    pub queue: Boxed<P>,
    pub(super) line: Line,
    pub(super) special: Option<Box<Special<P>>>,
}

/// What few links have.
pub(super) struct Special<P> {
    /// The clock by which the queue is served; otherwise packets leave one after the other.
    clock: Option<Clock<P>>,
    /// What lies behind the wire and disturbs packets.
    disturbed: Option<Disturbed<P>>,
    /// The end of the outage that kept the link from sending.
    held_until: Time,
}

/// Service at ticks.
struct Clock<P> {
    ticks: Ticks,
    credit: Credit,
    /// A packet that has left the queue, for the last of whose bits there is no credit yet.
    begun: Option<P>,
    /// The tick at which there is something to do, however many pass before it; [`Time::NEVER`] while the
    /// link is idle.
    next: Time,
}

impl<P: Packet + Clone> Asked<P> {
    /// An empty queue before an idle link of this capacity; a router gets the limit.
    pub(super) fn new(unbuilt: Unbuilt, capacity: &Capacity, limit: Limit) -> Self
    where
        P: Send + 'static,
    {
        let Unbuilt { queue, router, ticks, disturbances } = unbuilt;
        let line = Line::new(capacity.clone());
        let queue = match router {
            None => queue.build(),
            Some(router) => router.build(queue.build(), limit, capacity.clone()),
        };
        let credit = || Credit::new(capacity.clone());
        let clock = ticks.map(|ticks| Clock { ticks, credit: credit(), begun: None, next: Time::NEVER });
        let disturbed = disturbances.map(|law| Disturbed::new(*law));
        let is_special = clock.is_some() || disturbed.is_some();
        let special = is_special.then(|| Box::new(Special { clock, disturbed, held_until: Time::ZERO }));
        Asked { queue, line, special }
    }

    /// When something happens by itself.
    pub fn wake(&self) -> Time {
        wake(self.line.asks(self.queue.packets()), &self.line, self.special.as_deref())
    }

    /// The server while it works for this exit.
    pub(super) fn service<'a, X>(
        &'a mut self,
        counters: &'a mut LinkCounters,
        exit: &'a mut X,
    ) -> Service<'a, P, dyn Element<P> + Send, X> {
        let Asked { queue, line, special } = self;
        Service { queue: &mut **queue, special: special.as_deref_mut(), out: Out { exit, counters, line } }
    }

    /// Takes these arrivals, in order, each with its time, and everything that happens by itself before
    /// `until`. Returns the number of events.
    pub fn run(
        &mut self,
        arrivals: impl Iterator<Item = (Time, P)>,
        until: Time,
        counters: &mut LinkCounters,
        exit: &mut impl Exit<P>,
    ) -> u64 {
        let Service { queue, special, out } = self.service(counters, exit);
        visit(queue, Batch { arrivals, until, special, out })
    }

    /// From `now` on, this is the capacity.
    pub(super) fn change(&mut self, now: Time, capacity: &Capacity) {
        self.line.wire.change(capacity.clone());
        let asks = self.line.asks(self.queue.packets());
        if let Some(clock) = self.special.as_mut().and_then(|special| special.clock.as_mut()) {
            clock.credit.change(capacity.clone());
            if clock.next != Time::NEVER {
                clock.plan(now - Interval::from_ns(1), asks); // perhaps at `now`
            }
        }
    }
}

impl<P> Clock<P> {
    /// Finds the tick after `now` at which there is something to do: the rest of a packet is paid for, or the
    /// next one may leave.
    fn plan(&mut self, now: Time, asks: bool) {
        let begun = self.begun.is_some();
        self.next = if begun || asks { self.credit.earned_at(!begun, &self.ticks, now) } else { Time::NEVER };
    }
}

/// When a server does something by itself; its queue has packets that it may give if `asks`.
#[inline(always)]
fn wake<P>(asks: bool, line: &Line, special: Option<&Special<P>>) -> Time {
    match special {
        None => line.timer_at.min(if asks { line.busy_until } else { Time::NEVER }),
        Some(special) => {
            let head = special.disturbed.as_ref().map_or(Time::NEVER, Disturbed::head);
            special.wake_of_queue(asks, line).min(head)
        }
    }
}

impl<P> Special<P> {
    /// When the queue has something to do.
    fn wake_of_queue(&self, asks: bool, line: &Line) -> Time {
        line.timer_at.min(match &self.clock {
            Some(clock) => clock.next,
            None if asks => line.busy_until.max(self.held_until),
            None => Time::NEVER,
        })
    }
}

/// Arrivals on their way through a queue.
struct Batch<'a, P, A, X> {
    arrivals: A,
    until: Time,
    special: Option<&'a mut Special<P>>,
    out: Out<'a, X>,
}

impl<P, A, X> Visitor<P> for Batch<'_, P, A, X>
where
    P: Packet + Clone,
    A: Iterator<Item = (Time, P)>,
    X: Exit<P>,
{
    type Output = u64;

    fn visit<E: Element<P> + ?Sized>(self, queue: &mut E) -> u64 {
        let Batch { arrivals, until, special, out } = self;
        Service { queue, special, out }.run(arrivals, until)
    }
}

/// A server whose queue is of a known discipline.
pub(super) struct Service<'a, P, E: ?Sized, X> {
    queue: &'a mut E,
    special: Option<&'a mut Special<P>>,
    out: Out<'a, X>,
}

impl<P: Packet + Clone, E: Element<P> + ?Sized, X: Exit<P>> Service<'_, P, E, X> {
    /// Whether the queue has packets that it may give.
    #[inline(always)]
    fn asks(&self) -> bool {
        self.out.line.asks(self.queue.packets())
    }

    #[inline(always)]
    fn wake(&self) -> Time {
        wake(self.asks(), self.out.line, self.special.as_deref())
    }

    /// Takes all arrivals, and what happens by itself before each and then before `until`. Returns how many
    /// events.
    #[inline(never)] // a loop that needs the registers
    fn run(&mut self, mut arrivals: impl Iterator<Item = (Time, P)>, until: Time) -> u64 {
        let (before, mut events) = (self.out.counters.packets_in, 0);
        loop {
            let next = arrivals.next();
            let end = next.as_ref().map_or(until, |(now, _)| now.later_by(Interval::from_ns(1)));
            loop {
                let at = self.wake();
                if at >= end {
                    break;
                }
                if self.out.line.timer_at <= at || self.special.is_some() {
                    self.act(at); // which would serve as well, but out of line
                } else {
                    self.serve(at);
                }
                events += 1;
            }
            let Some((now, packet)) = next else { return self.out.counters.packets_in - before + events };
            self.arrive(now, packet);
        }
    }

    /// A packet arrives; everything before has happened.
    #[inline(always)]
    pub(super) fn arrive(&mut self, now: Time, packet: P) {
        self.out.counters.packets_in += 1;
        self.out.line.withheld = false;
        self.queue.arrive(now, packet, &mut self.out);
        self.serve_if_free(now);
    }

    /// What is due by itself at `now` happens.
    #[inline(never)]
    pub(super) fn act(&mut self, now: Time) {
        let asks = self.asks();
        let line = &mut *self.out.line;
        if self.special.as_ref().is_some_and(|special| special.wake_of_queue(asks, line) > now) {
            return self.release(now);
        }
        if line.timer_at <= now {
            (line.withheld, line.timer_at) = (false, Time::NEVER);
            self.queue.timer(now, &mut self.out);
        }
        self.serve_if_free(now);
    }

    /// Serves the queue if the wire is free, and notes how many packets then wait.
    #[inline(always)]
    fn serve_if_free(&mut self, now: Time) {
        if self.special.is_some() {
            self.serve_specially(now);
        } else if self.out.line.busy_until <= now {
            self.serve_apart(now);
        } else {
            self.note_occupancy(now);
        }
    }

    #[inline(always)]
    fn note_occupancy(&mut self, now: Time) {
        self.out.line.occupancy.set(now, self.queue.packets(), self.queue.bytes());
    }

    /// The same as [`Service::serve`] out of line, where the link was idle or a timer fires: that keeps the
    /// loop short.
    #[inline(never)]
    fn serve_apart(&mut self, now: Time) {
        self.serve(now);
    }

    /// The wire is free: takes the next packet from the queue.
    #[inline(always)]
    fn serve(&mut self, now: Time) {
        if let Some(packet) = self.next(now) {
            self.out.exit.departs(packet, self.out.line.busy_until);
        }
        self.note_occupancy(now);
    }

    /// Takes the next packet from the queue and puts it on the wire: now, or behind those that a tick has
    /// handed out before it.
    #[inline(always)]
    fn next(&mut self, now: Time) -> Option<P> {
        (self.out.line.waited, self.out.line.waited_low) = (None, None);
        let next = self.queue.next(now, &mut self.out);
        self.out.line.withheld = next.is_none();
        let packet = next?;
        self.out.line.transmit(now, packet.bytes(), self.out.counters);
        Some(packet)
    }

    /// Serves the queue at ticks, or leads packets into what is disturbed.
    #[cold]
    #[inline(never)]
    fn serve_specially(&mut self, now: Time) {
        let Some(special) = self.special.take() else { return };
        if let Some(clock) = &mut special.clock {
            self.serve_at_ticks(now, clock, special.disturbed.as_mut());
        } else if self.out.line.busy_until <= now {
            let held = special.disturbed.as_ref().and_then(|disturbed| disturbed.holds(now));
            special.held_until = held.unwrap_or(special.held_until);
            if held.is_none()
                && let Some(packet) = self.next(now)
            {
                self.lead(packet, self.out.line.busy_until, special.disturbed.as_mut());
            }
        }
        self.special = Some(special);
        self.note_occupancy(now);
        self.release(now);
    }

    /// At a tick, hands out what the rate has earned. A link that was idle hands out packets at once if it
    /// has credit left; they are on the wire at the next tick.
    fn serve_at_ticks(&mut self, now: Time, clock: &mut Clock<P>, mut disturbed: Option<&mut Disturbed<P>>) {
        if clock.next == Time::NEVER {
            clock.credit.resume(clock.ticks.at_or_before(now));
        } else if clock.next <= now {
            clock.credit.earn(now);
        } else {
            return; // at work, and between two ticks
        }
        let tick = clock.ticks.at_or_after(now);
        if clock.credit.is_settled()
            && let Some(packet) = clock.begun.take()
        {
            self.lead(packet, tick, disturbed.as_deref_mut());
        }
        while clock.begun.is_none() && clock.credit.is_left() && self.asks() {
            let Some(packet) = self.next(now) else { break };
            clock.credit.pay(packet.bytes());
            if clock.credit.is_settled() {
                self.lead(packet, tick, disturbed.as_deref_mut());
            } else {
                clock.begun = Some(packet);
            }
        }
        clock.plan(now, self.asks());
    }

    /// A packet leaves the wire at `departure`, perhaps into what is disturbed.
    fn lead(&mut self, mut packet: P, departure: Time, disturbed: Option<&mut Disturbed<P>>) {
        let Some(disturbed) = disturbed else { return self.out.exit.departs(packet, departure) };
        let Out { exit, counters, .. } = &mut self.out;
        counters.marks[DropReason::Forced as usize] += u64::from(disturbed.remark(&mut packet));
        match disturbed.enter(departure, packet, X::RUNS_AHEAD) {
            Fate::Leaves(packet, at) => exit.departs(packet, at),
            Fate::Carried => {}
            Fate::Doubled(packet) => {
                counters.packets_doubled += 1;
                exit.doubles(packet);
            }
            Fate::Lost(packet) => {
                counters.packets_lost += 1;
                exit.drops(packet, DropReason::Lost);
            }
        }
    }

    /// What leaves the disturbed part by `now` goes on.
    fn release(&mut self, now: Time) {
        let disturbed = self.special.as_mut().and_then(|special| special.disturbed.as_mut());
        for (packet, at) in disturbed.into_iter().flat_map(|d| core::iter::from_fn(|| d.release(now))) {
            self.out.exit.departs(packet, at);
        }
    }
}

/// Where the queue puts its actions.
struct Out<'a, X> {
    exit: &'a mut X,
    counters: &'a mut LinkCounters,
    line: &'a mut Line,
}

impl<P, X: Exit<P>> Sink<P> for Out<'_, X> {
    fn forward(&mut self, _: P) {} // there is no element behind the queue
    fn drop(&mut self, packet: P, reason: DropReason) {
        self.counters.count_drop(reason);
        self.exit.drops(packet, reason);
    }
    fn marked(&mut self, reason: DropReason) {
        self.counters.marks[reason as usize] += 1;
    }
    #[inline(always)]
    fn waited(&mut self, span: Interval) {
        self.line.waited = Some(span);
    }
    #[inline(always)]
    fn waited_low(&mut self, span: Interval) {
        self.line.waited_low = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.line.timer_at = at;
    }
    fn originate(&mut self, packet: P, to: Address) {
        self.exit.originates(packet, to);
    }
}
