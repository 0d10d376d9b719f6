//! Any queue behind which a link asks for the next packet: what the elements do, the transmitter behind them, and
//! service at the ticks of a clock.

use super::counters::{LinkCounters, Reasons};
use super::line::Line;
use longfat_net::disturbance::Disturbed;
use longfat_net::{Address, Capacity, Credit, DropReason, Element, Sink, Ticks};
use longfat_units::{Interval, Time};
use longfat_wire::Packet;

/// A chain of elements and the transmitter behind it.
pub(super) struct Elements<P> {
    /// What one element forwards arrives at the next; the last one holds the queue.
    pub(super) chain: Vec<Installed<P>>,
    pub(super) line: Line,
    /// The clock by which it serves the queue, if it does; otherwise packets leave one after the other.
    pub(super) clock: Option<Clock<P>>,
    /// What lies behind the wire, if that disturbs packets.
    pub(super) behind: Option<Box<Disturbed<P>>>,
    /// The end of the outage that kept the link from sending.
    pub(super) held_until: Time,
    /// The queue holds packets but gave none when asked: the link does not ask again before an arrival or a
    /// timer.
    pub(super) withheld: bool,
}

/// Service at ticks.
pub(super) struct Clock<P> {
    pub(super) ticks: Ticks,
    pub(super) credit: Credit,
    /// A packet that has left the queue, for the last of whose bits there is no credit yet.
    pub(super) begun: Option<P>,
    /// The tick at which there is something to do, however many pass before it; [`Time::NEVER`] while the
    /// link is idle.
    pub(super) next: Time,
}

/// An element and the time of its timer.
pub(super) struct Installed<P> {
    pub(super) element: Box<dyn Element<P> + Send>,
    pub(super) timer_at: Time,
}

/// What an element put into its sink during a call.
pub(super) struct Actions<P> {
    pub(super) dropped: Vec<(P, DropReason)>,
    pub(super) drops: Reasons,
    pub(super) marks: Reasons,
    pub(super) waited: Option<Interval>,
    pub(super) waited_low: Option<Interval>,
    pub(super) timer: Option<Time>,
    pub(super) forwarded: Vec<P>,
    pub(super) originated: Vec<(P, Address)>,
}

impl<P> Default for Actions<P> {
    fn default() -> Self {
        Actions {
            dropped: Vec::new(),
            drops: Reasons::default(),
            marks: Reasons::default(),
            waited: None,
            waited_low: None,
            timer: None,
            forwarded: Vec::new(),
            originated: Vec::new(),
        }
    }
}

impl<P> Sink<P> for Actions<P> {
    fn forward(&mut self, packet: P) {
        self.forwarded.push(packet);
    }
    fn drop(&mut self, packet: P, reason: DropReason) {
        self.drops[reason as usize] += u64::from(reason != DropReason::Full);
        self.dropped.push((packet, reason));
    }
    fn marked(&mut self, reason: DropReason) {
        self.marks[reason as usize] += 1;
    }
    fn waited(&mut self, span: Interval) {
        self.waited = Some(span);
    }
    fn waited_low(&mut self, span: Interval) {
        self.waited_low = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn originate(&mut self, packet: P, to: Address) {
        self.originated.push((packet, to));
    }
}

impl<P: Packet> Installed<P> {
    /// Calls the element and sets the timer it asked for.
    pub(super) fn call(
        &mut self,
        actions: &mut Actions<P>,
        act: impl FnOnce(&mut dyn Element<P>, &mut Actions<P>),
    ) {
        act(self.element.as_mut(), actions);
        if let Some(at) = actions.timer.take() {
            self.timer_at = at;
        }
    }
}

impl<P: Packet> Elements<P> {
    /// Packets and bytes in the queue.
    pub(super) fn waiting(&self) -> (u64, u64) {
        self.chain.last().map_or((0, 0), |last| (last.element.packets(), last.element.bytes()))
    }

    pub(super) fn wake(&self) -> Time {
        let free = match &self.clock {
            Some(clock) => clock.next,
            None if self.asks() => self.line.busy_until.max(self.held_until),
            None => Time::NEVER,
        };
        self.chain.iter().fold(free, |at, installed| at.min(installed.timer_at))
    }

    /// Whether the queue has packets that it may give.
    fn asks(&self) -> bool {
        self.waiting().0 > 0 && !self.withheld
    }

    /// The packet arrives at element `first`, then at the next one if the first forwards it, and so on.
    pub(super) fn pass(&mut self, now: Time, first: usize, packet: P, actions: &mut Actions<P>) {
        self.withheld = false;
        let mut ready = vec![packet];
        for installed in &mut self.chain[first..] {
            for packet in ready.drain(..) {
                installed.call(actions, |element, out| element.arrive(now, packet, out));
            }
            ready.append(&mut actions.forwarded);
        }
    }

    /// Calls the elements whose timers are due.
    pub(super) fn fire(&mut self, now: Time, actions: &mut Actions<P>) {
        for i in 0..self.chain.len() {
            if self.chain[i].timer_at > now {
                continue;
            }
            self.withheld = false;
            self.chain[i].timer_at = Time::NEVER;
            self.chain[i].call(actions, |element, out| element.timer(now, out));
            for packet in core::mem::take(&mut actions.forwarded) {
                self.pass(now, i + 1, packet, actions);
            }
        }
    }

    /// Starts the transmissions that are due. Puts into `departed` what is on the wire, or when it will be.
    pub(super) fn serve(
        &mut self,
        now: Time,
        actions: &mut Actions<P>,
        counters: &mut LinkCounters,
        departed: &mut Vec<(P, Time)>,
    ) {
        if let Some(mut clock) = self.clock.take() {
            self.serve_at_ticks(now, &mut clock, actions, counters, departed);
            self.clock = Some(clock);
        } else if self.line.busy_until <= now
            && !self.is_held(now)
            && let Some(packet) = self.next(now, actions, counters)
        {
            departed.push((packet, self.line.busy_until));
        }
        let (packets, bytes) = self.waiting();
        self.line.occupancy.set(now, packets, bytes);
    }

    /// Whether an outage keeps the link from sending at `now`.
    #[inline]
    pub(super) fn is_held(&mut self, now: Time) -> bool {
        let end = self.behind.as_ref().and_then(|behind| behind.holds(now));
        self.held_until = end.unwrap_or(self.held_until);
        end.is_some()
    }

    /// At a tick, hands out what the rate has earned. A link that was idle hands out packets at once if it has
    /// credit left; they are on the wire at the next tick.
    fn serve_at_ticks(
        &mut self,
        now: Time,
        clock: &mut Clock<P>,
        actions: &mut Actions<P>,
        counters: &mut LinkCounters,
        departed: &mut Vec<(P, Time)>,
    ) {
        if clock.next == Time::NEVER {
            clock.credit.resume(clock.ticks.at_or_before(now));
        } else if clock.next <= now {
            clock.credit.earn(now);
        } else {
            return; // at work, and between two ticks
        }
        let tick = clock.ticks.at_or_after(now);
        if clock.credit.is_settled() {
            departed.extend(clock.begun.take().map(|packet| (packet, tick)));
        }
        while clock.begun.is_none() && clock.credit.is_left() && self.asks() {
            let Some(packet) = self.next(now, actions, counters) else { break };
            clock.credit.pay(packet.bytes());
            if clock.credit.is_settled() {
                departed.push((packet, tick));
            } else {
                clock.begun = Some(packet);
            }
        }
        clock.next = self.next_tick(now, clock);
    }

    /// The tick after `now` at which there is something to do: the rest of a packet is paid for, or the next
    /// one may leave.
    fn next_tick(&self, now: Time, clock: &Clock<P>) -> Time {
        let begun = clock.begun.is_some();
        if begun || self.asks() { clock.credit.earned_at(!begun, &clock.ticks, now) } else { Time::NEVER }
    }

    /// From `now` on, this is the capacity.
    pub(super) fn change(&mut self, now: Time, capacity: &Capacity) {
        self.line.wire.change(capacity.clone());
        if let Some(mut clock) = self.clock.take() {
            clock.credit.change(capacity.clone());
            if clock.next != Time::NEVER {
                clock.next = self.next_tick(now - Interval::from_ns(1), &clock); // perhaps at `now`
            }
            self.clock = Some(clock);
        }
    }

    /// Takes the next packet from the queue and puts it on the wire: now, or behind those that a tick has
    /// handed out before it.
    fn next(&mut self, now: Time, actions: &mut Actions<P>, counters: &mut LinkCounters) -> Option<P> {
        let mut next = None;
        self.chain.last_mut()?.call(actions, |element, out| next = element.next(now, out));
        self.withheld = next.is_none();
        let packet = next?;
        let waited = (actions.waited.take(), actions.waited_low.take());
        self.line.transmit(now, packet.bytes(), waited, counters);
        Some(packet)
    }
}
