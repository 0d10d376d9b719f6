//! A shared link: a queue, a transmitter, a stretch of propagation.

use crate::plan::{LinkPlan, PlanError, rate};
use longfat_net::queue::Limit;
use longfat_net::{
    Address, Capacity, ConstantFifo, DropReason, Element, LossModel, Occupancy, Pipe, Sink, Sojourn,
    Transmitter,
};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{Packet, SimPacket};

/// How many packets were dropped or marked, by reason.
pub type Reasons = [u64; DropReason::COUNT];

/// Counters of one link, since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Packets that came to the link.
    pub packets_in: u64,
    /// Dropped by the queue.
    pub packets_dropped: u64,
    /// Of those, by reason, where that is not a full queue.
    pub drops: Reasons,
    /// Marked by the queue, by reason.
    pub marks: Reasons,
    /// Lost by the loss process before the queue.
    pub packets_lost: u64,
    /// Packets whose transmission has begun.
    pub packets_out: u64,
    /// Their IP bytes.
    pub bytes_out: u64,
    /// How long it has transmitted.
    pub busy: Interval,
    /// What it has transmitted, where its capacity varies, bits.
    pub bits_out: f64,
}

/// How packets get from the queue to the wire.
enum Service {
    /// Constant rate, drop-tail: departures are arithmetic.
    Constant(ConstantFifo),
    /// Any queue: the link asks for the next packet when it is free.
    Plain(Box<Plain>),
}

struct Plain {
    /// Elements in a row: what one forwards arrives at the next; the last holds the queue.
    elements: Vec<Installed>,
    wire: Transmitter,
    busy_until: Time,
    /// Transmission of everything served so far, until `busy_until`.
    served: Interval,
    /// Bits of everything served before the last packet, and with it.
    bits: (f64, f64),
    /// The queue holds packets but gave none when asked: it is not asked again before an arrival or a timer.
    withheld: bool,
    occupancy: Occupancy,
    /// How long packets waited, if that is measured.
    sojourn: Option<Sojourn>,
}

/// An element and the time of its timer.
struct Installed {
    element: Box<dyn Element<SimPacket> + Send>,
    timer_at: Time,
}

/// What an element's call left: packets to drop, a timer.
#[derive(Default)]
struct Outcome {
    dropped: Vec<SimPacket>,
    drops: Reasons,
    marks: Reasons,
    waited: Option<Interval>,
    timer: Option<Time>,
    forwarded: Vec<SimPacket>,
    originated: Vec<(SimPacket, Address)>,
}

impl Sink<SimPacket> for Outcome {
    fn forward(&mut self, packet: SimPacket) {
        self.forwarded.push(packet);
    }
    fn drop(&mut self, packet: SimPacket, reason: DropReason) {
        self.drops[reason as usize] += u64::from(reason != DropReason::Full);
        self.dropped.push(packet);
    }
    fn marked(&mut self, reason: DropReason) {
        self.marks[reason as usize] += 1;
    }
    fn waited(&mut self, span: Interval) {
        self.waited = Some(span);
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn originate(&mut self, packet: SimPacket, to: Address) {
        self.originated.push((packet, to));
    }
}

/// A shared link.
pub struct Link {
    /// Its name in results.
    pub name: String,
    /// Transmission rate; the greatest where it varies.
    pub rate: Rate,
    /// Transmission rate over time.
    pub capacity: Capacity,
    /// Propagation delay.
    pub delay: Interval,
    /// What the queue holds.
    pub limit: Limit,
    /// Losses among data packets.
    pub loss: LossModel,
    /// Losses among acknowledgements.
    pub ack_loss: LossModel,
    /// Packets on their way to the next link of their path, by that link.
    pub onward: Vec<(usize, Pipe<SimPacket>)>,
    /// Whether its queue stands in a switch, which leaves the time-to-live of IP as it is.
    pub layer2: bool,
    /// Messages that its elements have sent; to be taken away.
    pub originated: Vec<(SimPacket, Address)>,
    /// Messages of its elements on their way to the first link, by link.
    pub control: Vec<(usize, Pipe<SimPacket>)>,
    /// Plain form: packets whose transmission has begun, with the time of their last bit; to be taken away.
    pub departed: Vec<(SimPacket, Time)>,
    /// Plain form: packets dropped; to be taken away.
    pub dropped: Vec<SimPacket>,
    /// Counters.
    pub counters: LinkCounters,
    service: Service,
}

impl Link {
    /// Link number `index` as planned, in the run with this seed; `fast` allows the arithmetic form where the queue has one.
    pub fn new(plan: &LinkPlan, index: usize, seed: u64, fast: bool) -> Result<Self, PlanError> {
        let rate = rate("links.rate_bps", plan.rate_bps)?;
        let limit = plan.queue.limit();
        let capacity = plan.capacity("links.capacity", rate)?;
        let arithmetic = plan.queue.is_plain_drop_tail() && plan.router.is_none() && capacity.is_constant();
        let service = if fast && arithmetic {
            Service::Constant(ConstantFifo::new(rate, limit))
        } else {
            let element = plan.element("links", index, seed)?;
            Service::Plain(Box::new(Plain {
                elements: vec![Installed { element, timer_at: Time::NEVER }],
                wire: Transmitter::new(capacity.clone()),
                busy_until: Time::ZERO,
                served: Interval::ZERO,
                bits: (0.0, 0.0),
                withheld: false,
                occupancy: Occupancy::default(),
                sojourn: (!plan.queue.is_plain_drop_tail()).then(Sojourn::default),
            }))
        };
        Ok(Link {
            name: plan.name.clone(),
            rate,
            capacity,
            delay: Interval::from_secs_f64(plan.delay_s),
            limit,
            loss: plan.loss.model(),
            ack_loss: plan.ack_loss.model(),
            onward: Vec::new(),
            layer2: plan.layer2,
            originated: Vec::new(),
            control: Vec::new(),
            departed: Vec::new(),
            dropped: Vec::new(),
            counters: LinkCounters::default(),
            service,
        })
    }

    /// Puts an element in front of those that it has.
    #[cfg(test)]
    pub fn install(&mut self, element: Box<dyn Element<SimPacket> + Send>) {
        if let Service::Plain(plain) = &mut self.service {
            plain.elements.insert(0, Installed { element, timer_at: Time::NEVER });
        }
    }

    /// Whether departures are arithmetic; then packets go through [`Link::offer`], else through [`Link::arrive`].
    #[inline]
    pub const fn is_constant(&self) -> bool {
        matches!(self.service, Service::Constant(_))
    }

    /// The arithmetic form, the counters and the propagation delay, where departures are arithmetic.
    #[inline(always)]
    pub const fn constant(&mut self) -> Option<(&mut ConstantFifo, &mut LinkCounters, Interval)> {
        match &mut self.service {
            Service::Constant(fifo) => Some((fifo, &mut self.counters, self.delay)),
            Service::Plain(_) => None,
        }
    }

    /// The arithmetic form's answer to a packet of `bytes`: when its last bit is on the wire; `None` if it is dropped.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, bytes: u32) -> Option<Time> {
        let Service::Constant(fifo) = &mut self.service else { return None };
        self.counters.packets_in += 1;
        let departure = fifo.offer(now, bytes);
        self.counters.packets_dropped += u64::from(departure.is_none());
        departure
    }

    /// A packet arrives at the elements (plain form). What departs or is dropped is left in [`Link::departed`] and
    /// [`Link::dropped`].
    pub fn arrive(&mut self, now: Time, packet: SimPacket) {
        self.counters.packets_in += 1;
        self.deliver(now, packet);
    }

    /// A message arrives at the elements that it is for: as [`Link::arrive`], but it is not to cross the link.
    pub fn deliver(&mut self, now: Time, packet: SimPacket) {
        if let Service::Plain(plain) = &mut self.service {
            let mut outcome = Outcome::default();
            plain.pass(now, 0, packet, &mut outcome);
            self.carry_out(now, outcome);
        }
    }

    /// The transmitter is free again, or an element's timer fired (plain form).
    pub fn on_timer(&mut self, now: Time) {
        if let Service::Plain(plain) = &mut self.service {
            let mut outcome = Outcome::default();
            plain.fire(now, &mut outcome);
            self.carry_out(now, outcome);
        }
    }

    fn carry_out(&mut self, now: Time, mut outcome: Outcome) {
        let Service::Plain(plain) = &mut self.service else { return };
        if let Some((packet, departure)) = plain.serve(now, &mut outcome) {
            self.counters.packets_out += 1;
            self.counters.bytes_out += u64::from(packet.bytes());
            self.departed.push((packet, departure));
        }
        for (sum, n) in self.counters.drops.iter_mut().zip(outcome.drops) {
            *sum += n;
        }
        for (sum, n) in self.counters.marks.iter_mut().zip(outcome.marks) {
            *sum += n;
        }
        self.counters.packets_dropped += outcome.dropped.len() as u64;
        self.dropped.append(&mut outcome.dropped);
        self.originated.append(&mut outcome.originated);
    }

    /// When [`Link::on_timer`] wants to be called.
    #[inline]
    pub fn wake(&self) -> Time {
        match &self.service {
            Service::Constant(_) => Time::NEVER,
            Service::Plain(plain) => plain.wake(),
        }
    }

    /// Brings counters and queue length up to `now`, before what happens then: the occupancy, and the counters.
    pub fn settle(&mut self, now: Time) -> (Occupancy, LinkCounters) {
        match &mut self.service {
            Service::Constant(fifo) => {
                fifo.settle_before(now);
                (self.counters.packets_out, self.counters.bytes_out) = fifo.sent();
                self.counters.busy = fifo.busy(now);
                (*fifo.occupancy(), self.counters)
            }
            Service::Plain(plain) => {
                self.counters.busy = plain.served.saturating_sub(plain.busy_until.since(now));
                if !self.capacity.is_constant() {
                    // what the last packet still takes
                    let rest = self.capacity.bits(now, plain.busy_until.max(now));
                    self.counters.bits_out = (plain.bits.1 - rest).max(plain.bits.0);
                }
                (plain.occupancy, self.counters)
            }
        }
    }

    /// When the first packet reaches the link after this one.
    #[inline]
    pub fn onward_head(&self) -> Time {
        self.onward.iter().fold(Time::NEVER, |a, (_, pipe)| a.min(pipe.head()))
    }

    /// When the first message reaches another link.
    #[inline]
    pub fn control_head(&self) -> Time {
        self.control.iter().fold(Time::NEVER, |a, (_, pipe)| a.min(pipe.head()))
    }

    /// Starts the figures of a window.
    pub fn restart(&mut self, now: Time) {
        match &mut self.service {
            Service::Constant(fifo) => fifo.restart(now),
            Service::Plain(plain) => {
                plain.occupancy.restart(now);
                if let Some(sojourn) = &mut plain.sojourn {
                    sojourn.restart();
                }
            }
        }
    }

    /// How many flows its queue takes to be active, if it estimates that.
    pub fn flows_estimated(&self) -> Option<f64> {
        match &self.service {
            Service::Constant(_) => None,
            Service::Plain(plain) => plain.elements.iter().find_map(|e| e.element.flows_estimated()),
        }
    }

    /// How long packets waited since then, if that is measured.
    pub fn sojourn(&self) -> Option<&Sojourn> {
        match &self.service {
            Service::Constant(_) => None,
            Service::Plain(plain) => plain.sojourn.as_ref(),
        }
    }
}

/// The stretch that leads to link `to`; new if there is none yet.
pub fn outlet(outlets: &mut Vec<(usize, Pipe<SimPacket>)>, to: usize) -> &mut Pipe<SimPacket> {
    let at = outlets.iter().position(|(link, _)| *link == to).unwrap_or_else(|| {
        outlets.push((to, Pipe::default()));
        outlets.len() - 1
    });
    &mut outlets[at].1
}

impl Installed {
    /// Calls the element and keeps the timer it asked for.
    fn call(&mut self, outcome: &mut Outcome, act: impl FnOnce(&mut dyn Element<SimPacket>, &mut Outcome)) {
        act(self.element.as_mut(), outcome);
        if let Some(at) = outcome.timer.take() {
            self.timer_at = at;
        }
    }
}

impl Plain {
    /// Packets and bytes in the queue.
    fn waiting(&self) -> (u64, u64) {
        self.elements.last().map_or((0, 0), |last| (last.element.packets(), last.element.bytes()))
    }

    fn wake(&self) -> Time {
        let asks = self.waiting().0 > 0 && !self.withheld;
        let free = if asks { self.busy_until } else { Time::NEVER };
        self.elements.iter().fold(free, |at, installed| at.min(installed.timer_at))
    }

    /// The packet arrives at element `first`, and at the next one if that forwards it, and so on.
    fn pass(&mut self, now: Time, first: usize, packet: SimPacket, outcome: &mut Outcome) {
        self.withheld = false;
        let mut ready = vec![packet];
        for installed in &mut self.elements[first..] {
            for packet in ready.drain(..) {
                installed.call(outcome, |element, out| element.arrive(now, packet, out));
            }
            ready.append(&mut outcome.forwarded);
        }
    }

    /// Calls the elements whose timers have come.
    fn fire(&mut self, now: Time, outcome: &mut Outcome) {
        for i in 0..self.elements.len() {
            if self.elements[i].timer_at > now {
                continue;
            }
            self.withheld = false;
            self.elements[i].timer_at = Time::NEVER;
            self.elements[i].call(outcome, |element, out| element.timer(now, out));
            for packet in core::mem::take(&mut outcome.forwarded) {
                self.pass(now, i + 1, packet, outcome);
            }
        }
    }

    /// Starts the next transmission if the link is free: the packet, and when its last bit is on the wire.
    fn serve(&mut self, now: Time, outcome: &mut Outcome) -> Option<(SimPacket, Time)> {
        let mut next = None;
        if self.busy_until <= now
            && let Some(last) = self.elements.last_mut()
        {
            last.call(outcome, |element, out| next = element.next(now, out));
            self.withheld = next.is_none();
        }
        if let Some(packet) = &next {
            self.busy_until = self.wire.send(now, packet.bytes());
            self.served = self.served + self.busy_until.since(now);
            self.bits = (self.bits.1, self.bits.1 + 8.0 * f64::from(packet.bytes()));
            if let (Some(sojourn), Some(span)) = (&mut self.sojourn, outcome.waited) {
                sojourn.record(span);
            }
        }
        let (packets, bytes) = self.waiting();
        self.occupancy.set(now, packets, bytes);
        next.map(|packet| (packet, self.busy_until))
    }
}
