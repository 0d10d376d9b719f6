//! A server that asks its queue for the next packet: when its wire is free, or for several packets at a tick
//! of its clock.

use super::Exit;
use super::counters::LinkCounters;
use super::line::Line;
use longfat_net::disturbance::{Disturbed, Fate};
use longfat_net::queue::Boxed;
use longfat_net::{Address, Capacity, Credit, DropReason, Element, Sink, Ticks, Visitor, visit};
use longfat_units::{Interval, Time};
use longfat_wire::Packet;

/// A queue, the wire behind it, and what few links have besides.
pub struct Asked<P> {
    /// The queue, perhaps behind a router.
    pub queue: Boxed<P>,
    pub(super) line: Line,
    /// When the queue wants its timer.
    timer_at: Time,
    /// The queue holds packets but gave none when asked: it is not asked again before an arrival or its
    /// timer.
    withheld: bool,
    special: Option<Box<Special<P>>>,
}

/// What few links have.
struct Special<P> {
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
    /// The queue is empty. Packets leave at ticks if there are any, and cross what is disturbed if anything
    /// is.
    pub(super) fn new(
        queue: Boxed<P>,
        line: Line,
        ticks: Option<(Ticks, Credit)>,
        disturbed: Option<Disturbed<P>>,
    ) -> Self {
        let clock = ticks.map(|(ticks, credit)| Clock { ticks, credit, begun: None, next: Time::NEVER });
        let is_special = clock.is_some() || disturbed.is_some();
        let special = is_special.then(|| Box::new(Special { clock, disturbed, held_until: Time::ZERO }));
        Asked { queue, line, timer_at: Time::NEVER, withheld: false, special }
    }

    /// The same with its queue behind another element.
    #[cfg(test)]
    pub(super) fn behind(self, element: impl FnOnce(Boxed<P>) -> Boxed<P>) -> Self {
        Asked { queue: element(self.queue), ..self }
    }

    /// When something happens by itself.
    pub fn wake(&self) -> Time {
        let asks = self.queue.packets() > 0 && !self.withheld;
        wake(asks, &self.line, self.timer_at, self.special.as_deref())
    }

    /// A packet arrives; everything before has happened.
    pub fn arrive(&mut self, now: Time, packet: P, counters: &mut LinkCounters, exit: &mut impl Exit<P>) {
        let Asked { queue, line, timer_at, withheld, special } = self;
        let state = (*timer_at, *withheld);
        let mut service: Service<_, _, _, true> =
            Service::new(&mut **queue, line, special.as_deref_mut(), state, counters, exit);
        service.arrive(now, packet);
        (*timer_at, *withheld) = (service.out.timer_at, service.withheld);
    }

    /// What is due by itself at `now` happens.
    pub fn act(&mut self, now: Time, counters: &mut LinkCounters, exit: &mut impl Exit<P>) {
        let Asked { queue, line, timer_at, withheld, special } = self;
        let state = (*timer_at, *withheld);
        let mut service: Service<_, _, _, true> =
            Service::new(&mut **queue, line, special.as_deref_mut(), state, counters, exit);
        service.act(now);
        (*timer_at, *withheld) = (service.out.timer_at, service.withheld);
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
        let Asked { queue, line, timer_at, withheld, special } = self;
        let state = (*timer_at, *withheld);
        let events;
        (events, (*timer_at, *withheld)) = if special.is_some() {
            let special = special.as_deref_mut();
            visit(
                &mut **queue,
                Batch::<_, _, _, true> { arrivals, until, line, special, state, counters, exit },
            )
        } else {
            let special = None;
            visit(
                &mut **queue,
                Batch::<_, _, _, false> { arrivals, until, line, special, state, counters, exit },
            )
        };
        events
    }

    /// From `now` on, this is the capacity.
    pub(super) fn change(&mut self, now: Time, capacity: &Capacity) {
        self.line.wire.change(capacity.clone());
        let asks = self.queue.packets() > 0 && !self.withheld;
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
fn wake<P>(asks: bool, line: &Line, timer_at: Time, special: Option<&Special<P>>) -> Time {
    match special {
        None => timer_at.min(if asks { line.busy_until } else { Time::NEVER }),
        Some(special) => wake_of_queue(asks, line, timer_at, special)
            .min(special.disturbed.as_ref().map_or(Time::NEVER, Disturbed::head)),
    }
}

/// The same without what leaves the disturbed part.
fn wake_of_queue<P>(asks: bool, line: &Line, timer_at: Time, special: &Special<P>) -> Time {
    timer_at.min(match &special.clock {
        Some(clock) => clock.next,
        None if asks => line.busy_until.max(special.held_until),
        None => Time::NEVER,
    })
}

/// Arrivals on their way through a queue.
struct Batch<'a, P, A, X, const SPECIAL: bool> {
    arrivals: A,
    until: Time,
    line: &'a mut Line,
    special: Option<&'a mut Special<P>>,
    state: (Time, bool),
    counters: &'a mut LinkCounters,
    exit: &'a mut X,
}

impl<P, A, X, const SPECIAL: bool> Visitor<P> for Batch<'_, P, A, X, SPECIAL>
where
    P: Packet + Clone,
    A: Iterator<Item = (Time, P)>,
    X: Exit<P>,
{
    /// The number of events, and when the queue wants its timer and whether it withholds packets.
    type Output = (u64, (Time, bool));

    fn visit<E: Element<P> + ?Sized>(self, queue: &mut E) -> Self::Output {
        let Batch { arrivals, until, line, special, state, counters, exit } = self;
        let mut service: Service<_, _, _, SPECIAL> =
            Service::new(queue, line, special, state, counters, exit);
        let mut events = service.take_all(arrivals);
        loop {
            let now = service.wake();
            if now >= until {
                return (events, (service.out.timer_at, service.withheld));
            }
            service.act(now);
            events += 1;
        }
    }
}

/// A server whose queue is of a known discipline. It has something special only if `SPECIAL`.
struct Service<'a, P, E: ?Sized, X, const SPECIAL: bool> {
    queue: &'a mut E,
    line: &'a mut Line,
    special: Option<&'a mut Special<P>>,
    withheld: bool,
    out: Out<'a, X>,
}

impl<'a, P, E, X, const SPECIAL: bool> Service<'a, P, E, X, SPECIAL>
where
    P: Packet + Clone,
    E: Element<P> + ?Sized,
    X: Exit<P>,
{
    #[inline(always)]
    fn new(
        queue: &'a mut E,
        line: &'a mut Line,
        special: Option<&'a mut Special<P>>,
        (timer_at, withheld): (Time, bool),
        counters: &'a mut LinkCounters,
        exit: &'a mut X,
    ) -> Self {
        let out = Out { exit, counters, timer_at, waited: None, waited_low: None };
        Service { queue, line, special, withheld, out }
    }

    /// Whether the queue has packets that it may give.
    #[inline(always)]
    fn asks(&self) -> bool {
        self.queue.packets() > 0 && !self.withheld
    }

    /// When something happens by itself.
    #[inline(always)]
    fn wake(&self) -> Time {
        wake(self.asks(), self.line, self.out.timer_at, self.special())
    }

    /// What it has that few links have.
    #[inline(always)]
    fn special(&self) -> Option<&Special<P>> {
        if SPECIAL { self.special.as_deref() } else { None }
    }

    /// Takes all arrivals, and what happens by itself before each. Returns the number of events.
    #[inline(never)] // a loop that needs the registers
    fn take_all(&mut self, arrivals: impl Iterator<Item = (Time, P)>) -> u64 {
        let (before, mut events) = (self.out.counters.packets_in, 0);
        for (now, packet) in arrivals {
            loop {
                let at = self.wake();
                if at > now {
                    break;
                }
                if self.out.timer_at <= at || self.special().is_some() {
                    self.act(at); // which would serve as well, but out of line
                } else {
                    self.serve(at);
                }
                events += 1;
            }
            self.arrive(now, packet);
        }
        self.out.counters.packets_in - before + events
    }

    /// A packet arrives.
    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P) {
        self.out.counters.packets_in += 1;
        self.withheld = false;
        self.queue.arrive(now, packet, &mut self.out);
        self.serve_if_free(now);
    }

    /// What is due by itself happens.
    #[inline(never)]
    fn act(&mut self, now: Time) {
        let due =
            |special: &Special<P>| wake_of_queue(self.asks(), self.line, self.out.timer_at, special) <= now;
        if self.special().is_none_or(due) {
            if self.out.timer_at <= now {
                self.withheld = false;
                self.out.timer_at = Time::NEVER;
                self.queue.timer(now, &mut self.out);
            }
            self.serve_if_free(now);
        } else {
            self.release(now);
        }
    }

    /// Serves the queue if the wire is free, and notes how many packets then wait.
    #[inline(always)]
    fn serve_if_free(&mut self, now: Time) {
        if self.special().is_some() {
            self.serve_specially(now);
        } else if self.line.busy_until <= now {
            self.serve_apart(now);
        } else {
            self.note_occupancy(now);
        }
    }

    #[inline(always)]
    fn note_occupancy(&mut self, now: Time) {
        self.line.occupancy.set(now, self.queue.packets(), self.queue.bytes());
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
            self.out.exit.departs(packet, self.line.busy_until);
        }
        self.note_occupancy(now);
    }

    /// Takes the next packet from the queue and puts it on the wire: now, or behind those that a tick has
    /// handed out before it.
    #[inline(always)]
    fn next(&mut self, now: Time) -> Option<P> {
        (self.out.waited, self.out.waited_low) = (None, None);
        let next = self.queue.next(now, &mut self.out);
        self.withheld = next.is_none();
        let packet = next?;
        let Out { counters, waited, waited_low, .. } = &mut self.out;
        self.line.transmit(now, packet.bytes(), (*waited, *waited_low), counters);
        Some(packet)
    }

    /// Serves the queue at ticks, or leads packets into what is disturbed.
    #[cold]
    #[inline(never)]
    fn serve_specially(&mut self, now: Time) {
        let Some(special) = self.special.take() else { return };
        if let Some(clock) = &mut special.clock {
            self.serve_at_ticks(now, clock, special.disturbed.as_mut());
        } else if self.line.busy_until <= now {
            let held = special.disturbed.as_ref().and_then(|disturbed| disturbed.holds(now));
            special.held_until = held.unwrap_or(special.held_until);
            if held.is_none()
                && let Some(packet) = self.next(now)
            {
                self.lead(packet, self.line.busy_until, special.disturbed.as_mut());
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
        let lost = if X::RUNS_AHEAD && disturbed.leads() {
            match disturbed.lead(departure) {
                Some(at) => return exit.departs(packet, at),
                None => packet,
            }
        } else {
            match disturbed.enter(departure, packet) {
                Fate::Carried => return,
                Fate::Doubled(packet) => {
                    counters.packets_doubled += 1;
                    return exit.doubles(packet);
                }
                Fate::Lost(packet) => packet,
            }
        };
        counters.packets_lost += 1;
        exit.drops(lost, DropReason::Lost);
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
    timer_at: Time,
    waited: Option<Interval>,
    waited_low: Option<Interval>,
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
        self.waited = Some(span);
    }
    #[inline(always)]
    fn waited_low(&mut self, span: Interval) {
        self.waited_low = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer_at = at;
    }
    fn originate(&mut self, packet: P, to: Address) {
        self.exit.originates(packet, to);
    }
}
