//! A shared link: a queue, a transmitter, a stretch of propagation.

use crate::plan::{CheckedLink, LinkParts};
use longfat_net::disturbance::{Disturbed, Fate};
use longfat_net::queue::Limit;
use longfat_net::{
    Address, Capacity, ConstantFifo, Credit, DropReason, Element, LossModel, Occupancy, Pipe, Sink, Sojourn,
    TickingFifo, Ticks, Transmitter,
};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{FlowId, Packet, SimPacket};

/// How many packets were dropped or marked, by reason.
pub type Reasons = [u64; DropReason::COUNT];

/// Counters of one link, since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Packets that came to the link.
    pub packets_in: u64,
    /// Dropped by the queue.
    pub packets_dropped: u64,
    /// Packets dropped for another reason than a full queue, by reason.
    pub drops: Reasons,
    /// Marked by the queue, by reason.
    pub marks: Reasons,
    /// Lost by the loss process before the queue, or in an outage behind it.
    pub packets_lost: u64,
    /// Packets that were doubled behind the queue.
    pub packets_doubled: u64,
    /// Packets whose transmission has begun.
    pub packets_out: u64,
    /// Their IP bytes.
    pub bytes_out: u64,
    /// Time for which it has transmitted.
    pub busy: Interval,
    /// Bits that it has transmitted, where its capacity varies.
    pub bits_out: f64,
}

/// How packets get from the queue to the wire.
enum Service<P> {
    /// A drop-tail queue at a constant rate: departures are computed at arrival.
    Arithmetic(ConstantFifo),
    /// The same with service at the ticks of a clock.
    Ticking(Box<TickingFifo>),
    /// Any queue: the link asks for the next packet when it is free, or for several at a tick of its clock.
    Elements(Box<Elements<P>>),
}

/// A chain of elements and the transmitter behind it.
struct Elements<P> {
    /// What one element forwards arrives at the next; the last one holds the queue.
    chain: Vec<Installed<P>>,
    wire: Transmitter,
    /// The clock by which it serves the queue, if it does; otherwise packets leave one after the other.
    clock: Option<Clock<P>>,
    busy_until: Time,
    /// What lies behind the wire, if that disturbs packets.
    behind: Option<Box<Disturbed<P>>>,
    /// The end of the outage that kept the link from sending.
    held_until: Time,
    /// Transmission time of everything served so far, until `busy_until`.
    served: Interval,
    /// Bits of everything served before the wire was last free, and including what is on it.
    bits: (f64, f64),
    /// The queue holds packets but gave none when asked: the link does not ask again before an arrival or a
    /// timer.
    withheld: bool,
    occupancy: Occupancy,
    /// How long packets waited, if that is measured.
    sojourn: Option<Sojourn>,
    /// How long packets waited in a low-latency queue, once there was one.
    low_latency: Option<Sojourn>,
}

/// Service at ticks.
struct Clock<P> {
    ticks: Ticks,
    credit: Credit,
    /// A packet that has left the queue, for the last of whose bits there is no credit yet.
    begun: Option<P>,
    /// The tick at which there is something to do; [`Time::NEVER`] while the link is idle.
    next: Time,
}

/// An element and the time of its timer.
struct Installed<P> {
    element: Box<dyn Element<P> + Send>,
    timer_at: Time,
}

/// What an element put into its sink during a call.
struct Actions<P> {
    dropped: Vec<P>,
    drops: Reasons,
    marks: Reasons,
    waited: Option<Interval>,
    waited_low: Option<Interval>,
    timer: Option<Time>,
    forwarded: Vec<P>,
    originated: Vec<(P, Address)>,
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
        self.dropped.push(packet);
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

/// A shared link.
pub struct Link<P = SimPacket> {
    /// Its name in results.
    pub name: String,
    /// Transmission rate; the greatest where it varies.
    pub rate: Rate,
    /// Transmission rate over time.
    pub capacity: Capacity,
    /// Propagation delay.
    pub delay: Interval,
    /// The packets in the queue.
    pub limit: Limit,
    /// Losses among data packets.
    pub loss: LossModel,
    /// Losses among acknowledgements.
    pub ack_loss: LossModel,
    /// Packets on their way to the next link of their path, by that link's index.
    pub onward: Vec<(usize, Pipe<P>)>,
    /// Whether its queue stands in a switch, which leaves the time-to-live of IP unchanged.
    pub layer2: bool,
    /// Messages that its elements have sent; the caller takes them away.
    pub originated: Vec<(P, Address)>,
    /// Messages of its elements on their way to the first link, by that link's index.
    pub control: Vec<(usize, Pipe<P>)>,
    /// Packets whose transmission has begun, with the time of their last bit; the caller takes them away.
    /// Empty where departures are arithmetic.
    pub departed: Vec<(P, Time)>,
    /// Packets that elements dropped, or that were lost behind the wire; the caller takes them away.
    pub dropped: Vec<P>,
    /// The flows of packets that were doubled; the caller takes them away.
    pub doubled: Vec<FlowId>,
    /// Counters.
    pub counters: LinkCounters,
    service: Service<P>,
}

impl<P: Packet + Clone + Default + Send + 'static> Link<P> {
    /// A link as planned. `fast` allows arithmetic departures where the queue and the rate have them.
    pub fn new(planned: CheckedLink<P>, fast: bool) -> Self {
        let LinkParts { plan, rate, capacity, ticks, disturbances, element } = planned.into_parts();
        let limit = plan.queue.limit();
        let calm = plan.router.is_none() && disturbances.is_none();
        let plain = fast && calm && capacity.is_constant() && plan.queue.is_arithmetic();
        let service = match ticks {
            None if plain => Service::Arithmetic(ConstantFifo::new(rate, limit)),
            Some(ticks) if plain => Service::Ticking(Box::new(TickingFifo::new(rate, limit, ticks))),
            _ => Service::Elements(Box::new(Elements {
                chain: vec![Installed { element, timer_at: Time::NEVER }],
                wire: Transmitter::new(capacity.clone()),
                clock: ticks.map(|ticks| Clock {
                    ticks,
                    credit: Credit::new(capacity.clone()),
                    begun: None,
                    next: Time::NEVER,
                }),
                busy_until: Time::ZERO,
                behind: disturbances.map(|law| Box::new(Disturbed::new(*law))),
                held_until: Time::ZERO,
                served: Interval::ZERO,
                bits: (0.0, 0.0),
                withheld: false,
                occupancy: Occupancy::default(),
                sojourn: (!plan.queue.is_arithmetic()).then(Sojourn::default),
                low_latency: None,
            })),
        };
        Link {
            name: plan.name,
            rate,
            capacity,
            delay: Interval::from_secs_f64(plan.delay_s),
            limit,
            loss: plan.loss,
            ack_loss: plan.ack_loss,
            onward: Vec::new(),
            layer2: plan.layer2,
            originated: Vec::new(),
            control: Vec::new(),
            departed: Vec::new(),
            dropped: Vec::new(),
            doubled: Vec::new(),
            counters: LinkCounters::default(),
            service,
        }
    }

    /// Puts an element in front of the existing ones.
    #[cfg(test)]
    pub fn install(&mut self, element: Box<dyn Element<P> + Send>) {
        if let Service::Elements(elements) = &mut self.service {
            elements.chain.insert(0, Installed { element, timer_at: Time::NEVER });
        }
    }

    /// Whether departures are arithmetic: then packets go through [`Link::offer`], otherwise through
    /// [`Link::arrive`].
    #[inline]
    pub const fn is_arithmetic(&self) -> bool {
        matches!(self.service, Service::Arithmetic(_) | Service::Ticking(_))
    }

    /// The arithmetic queue, the counters and the propagation delay, where departures are arithmetic and need
    /// no tick.
    #[inline(always)]
    pub const fn arithmetic(&mut self) -> Option<(&mut ConstantFifo, &mut LinkCounters, Interval)> {
        match &mut self.service {
            Service::Arithmetic(fifo) => Some((fifo, &mut self.counters, self.delay)),
            Service::Ticking(_) | Service::Elements(_) => None,
        }
    }

    /// Offers a packet of `bytes` to the arithmetic queue: returns when its last bit is on the wire, or
    /// `None` if the queue drops it.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.counters.packets_in += 1;
        let departure = match &mut self.service {
            Service::Arithmetic(fifo) => fifo.offer(now, bytes),
            Service::Ticking(fifo) => fifo.offer(now, bytes),
            Service::Elements(_) => None,
        };
        self.counters.packets_dropped += u64::from(departure.is_none());
        departure
    }

    /// A packet arrives at the elements. [`Link::departed`] and [`Link::dropped`] then hold what departs or
    /// is dropped.
    pub fn arrive(&mut self, now: Time, packet: P) {
        self.counters.packets_in += 1;
        self.deliver(now, packet);
    }

    /// A message arrives at the elements it is addressed to. Unlike a packet that [`arrives`](Link::arrive),
    /// it will not cross the link.
    pub fn deliver(&mut self, now: Time, packet: P) {
        if let Service::Elements(elements) = &mut self.service {
            let mut actions = Actions::default();
            elements.pass(now, 0, packet, &mut actions);
            self.carry_out(now, actions);
        }
    }

    /// The transmitter is free again, an element's timer fired, or a packet leaves the disturbed part of the link.
    pub fn on_timer(&mut self, now: Time) {
        let Service::Elements(elements) = &mut self.service else { return };
        if elements.wake() <= now {
            let mut actions = Actions::default();
            elements.fire(now, &mut actions);
            self.carry_out(now, actions);
        } else {
            self.disturb(now, Vec::new());
        }
    }

    fn carry_out(&mut self, now: Time, mut actions: Actions<P>) {
        let Service::Elements(elements) = &mut self.service else { return };
        let mut entering = Vec::new();
        let departed = if elements.behind.is_some() { &mut entering } else { &mut self.departed };
        elements.serve(now, &mut actions, &mut self.counters, departed);
        for (sum, n) in self.counters.drops.iter_mut().zip(actions.drops) {
            *sum += n;
        }
        for (sum, n) in self.counters.marks.iter_mut().zip(actions.marks) {
            *sum += n;
        }
        self.counters.packets_dropped += actions.dropped.len() as u64;
        self.dropped.append(&mut actions.dropped);
        self.originated.append(&mut actions.originated);
        self.disturb(now, entering);
    }

    /// Leads packets from the transmitter into the disturbed part of the link, if there is one, and takes from it
    /// what leaves it by `now`.
    #[inline]
    fn disturb(&mut self, now: Time, entering: Vec<(P, Time)>) {
        if let Service::Elements(elements) = &mut self.service
            && let Some(behind) = &mut elements.behind
        {
            for (packet, departure) in entering {
                let flow = packet.flow();
                match behind.enter(departure, packet) {
                    Fate::Carried => {}
                    Fate::Doubled => {
                        self.counters.packets_doubled += 1;
                        self.doubled.push(flow);
                    }
                    Fate::Lost(packet) => {
                        self.counters.packets_lost += 1;
                        self.dropped.push(packet);
                    }
                }
            }
            self.departed.extend(core::iter::from_fn(|| behind.release(now)));
        }
    }

    /// When [`Link::on_timer`] has to be called next.
    #[inline]
    pub fn wake(&self) -> Time {
        match &self.service {
            Service::Arithmetic(_) | Service::Ticking(_) => Time::NEVER,
            Service::Elements(elements) => match &elements.behind {
                None => elements.wake(),
                Some(behind) => elements.wake().min(behind.head()),
            },
        }
    }

    /// Brings counters and queue length up to `now`, before anything happens at that time, and returns the
    /// occupancy and the counters.
    pub fn settle(&mut self, now: Time) -> (Occupancy, LinkCounters) {
        match &mut self.service {
            Service::Arithmetic(fifo) => {
                fifo.settle_before(now);
                (self.counters.packets_out, self.counters.bytes_out) = fifo.sent();
                self.counters.busy = fifo.busy(now);
                (*fifo.occupancy(), self.counters)
            }
            Service::Ticking(fifo) => {
                fifo.settle_before(now);
                (self.counters.packets_out, self.counters.bytes_out) = fifo.sent();
                self.counters.busy = fifo.busy(now);
                (*fifo.occupancy(), self.counters)
            }
            Service::Elements(elements) => {
                self.counters.busy = elements.served.saturating_sub(elements.busy_until.since(now));
                if !self.capacity.is_constant() {
                    // the rest of the last packet's transmission
                    let rest = self.capacity.bits(now, elements.busy_until.max(now));
                    self.counters.bits_out = (elements.bits.1 - rest).max(elements.bits.0);
                }
                (elements.occupancy, self.counters)
            }
        }
    }

    /// When the first packet on its way to another link arrives there.
    #[inline]
    pub fn onward_head(&self) -> Time {
        self.onward.iter().fold(Time::NEVER, |a, (_, pipe)| a.min(pipe.head()))
    }

    /// When the first message of its elements arrives at another link.
    #[inline]
    pub fn control_head(&self) -> Time {
        self.control.iter().fold(Time::NEVER, |a, (_, pipe)| a.min(pipe.head()))
    }

    /// Restarts the queue statistics.
    pub fn restart(&mut self, now: Time) {
        match &mut self.service {
            Service::Arithmetic(fifo) => fifo.restart(now),
            Service::Ticking(fifo) => fifo.restart(now),
            Service::Elements(elements) => {
                elements.occupancy.restart(now);
                for sojourn in elements.sojourn.iter_mut().chain(&mut elements.low_latency) {
                    sojourn.restart();
                }
            }
        }
    }

    /// How many active flows its queue estimates, if it does.
    pub fn flows_estimated(&self) -> Option<f64> {
        match &self.service {
            Service::Arithmetic(_) | Service::Ticking(_) => None,
            Service::Elements(elements) => elements.chain.iter().find_map(|e| e.element.flows_estimated()),
        }
    }

    /// The same in its low-latency queue, if a packet has ever been in one.
    pub fn low_latency(&self) -> Option<&Sojourn> {
        match &self.service {
            Service::Arithmetic(_) | Service::Ticking(_) => None,
            Service::Elements(elements) => elements.low_latency.as_ref(),
        }
    }

    /// How long packets have waited since the last restart, if that is measured.
    pub fn sojourn(&self) -> Option<&Sojourn> {
        match &self.service {
            Service::Arithmetic(_) | Service::Ticking(_) => None,
            Service::Elements(elements) => elements.sojourn.as_ref(),
        }
    }
}

/// The pipe that leads to link `to`; creates it if there is none yet.
pub fn outlet<P: Default>(outlets: &mut Vec<(usize, Pipe<P>)>, to: usize) -> &mut Pipe<P> {
    let at = outlets.iter().position(|(link, _)| *link == to).unwrap_or_else(|| {
        outlets.push((to, Pipe::default()));
        outlets.len() - 1
    });
    &mut outlets[at].1
}

impl<P: Packet> Installed<P> {
    /// Calls the element and sets the timer it asked for.
    fn call(&mut self, actions: &mut Actions<P>, act: impl FnOnce(&mut dyn Element<P>, &mut Actions<P>)) {
        act(self.element.as_mut(), actions);
        if let Some(at) = actions.timer.take() {
            self.timer_at = at;
        }
    }
}

impl<P: Packet> Elements<P> {
    /// Packets and bytes in the queue.
    fn waiting(&self) -> (u64, u64) {
        self.chain.last().map_or((0, 0), |last| (last.element.packets(), last.element.bytes()))
    }

    fn wake(&self) -> Time {
        let free = match &self.clock {
            Some(clock) => clock.next,
            None if self.asks() => self.busy_until.max(self.held_until),
            None => Time::NEVER,
        };
        self.chain.iter().fold(free, |at, installed| at.min(installed.timer_at))
    }

    /// Whether the queue has packets that it may give.
    fn asks(&self) -> bool {
        self.waiting().0 > 0 && !self.withheld
    }

    /// The packet arrives at element `first`, then at the next one if the first forwards it, and so on.
    fn pass(&mut self, now: Time, first: usize, packet: P, actions: &mut Actions<P>) {
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
    fn fire(&mut self, now: Time, actions: &mut Actions<P>) {
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
    fn serve(
        &mut self,
        now: Time,
        actions: &mut Actions<P>,
        counters: &mut LinkCounters,
        departed: &mut Vec<(P, Time)>,
    ) {
        if let Some(mut clock) = self.clock.take() {
            self.serve_at_ticks(now, &mut clock, actions, counters, departed);
            self.clock = Some(clock);
        } else if self.busy_until <= now
            && !self.is_held(now)
            && let Some(packet) = self.next(now, actions, counters)
        {
            departed.push((packet, self.busy_until));
        }
        let (packets, bytes) = self.waiting();
        self.occupancy.set(now, packets, bytes);
    }

    /// Whether an outage keeps the link from sending at `now`.
    #[inline]
    fn is_held(&mut self, now: Time) -> bool {
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
        let at_work = clock.begun.is_some() || self.asks();
        clock.next = if at_work { clock.ticks.after(now) } else { Time::NEVER };
    }

    /// Takes the next packet from the queue and puts it on the wire: now, or behind those that a tick has
    /// handed out before it.
    fn next(&mut self, now: Time, actions: &mut Actions<P>, counters: &mut LinkCounters) -> Option<P> {
        let mut next = None;
        self.chain.last_mut()?.call(actions, |element, out| next = element.next(now, out));
        self.withheld = next.is_none();
        let packet = next?;
        counters.packets_out += 1;
        counters.bytes_out += u64::from(packet.bytes());
        let start = self.busy_until.max(now);
        if start == now {
            self.bits.0 = self.bits.1;
        }
        self.bits.1 += 8.0 * f64::from(packet.bytes());
        self.busy_until = self.wire.send(start, packet.bytes());
        self.served = self.served + self.busy_until.since(start);
        if let (Some(sojourn), Some(span)) = (&mut self.sojourn, actions.waited.take()) {
            sojourn.record(span);
        }
        if let Some(span) = actions.waited_low.take() {
            self.low_latency.get_or_insert_default().record(span);
        }
        Some(packet)
    }
}
