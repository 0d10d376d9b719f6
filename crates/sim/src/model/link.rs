//! A shared link: a queue, a transmitter, a stretch of propagation.

mod arithmetic;
mod counters;
mod elements;
mod lane;
mod line;
mod ticket;
mod ticketed;

pub(crate) use arithmetic::each_arithmetic;
pub use arithmetic::{Arithmetic, Departures};
pub use counters::{Crossed, LinkCounters};
use elements::{Actions, Clock, Elements, Installed};
pub use lane::{Exit, Lane, Use};
use line::Line;
use longfat_net::DropReason;
use longfat_net::disturbance::{Disturbed, Fate};
use longfat_net::queue::{Limit, RedLaw};
use longfat_net::{
    Address, Capacity, ConstantFifo, Credit, ListedFifo, LossModel, Occupancy, Pipe, Sojourn, TickingFifo,
};
use longfat_scenario::plan::{CheckedLink, CheckedQueue, CheckedRouter};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{Ecn, FlowId, Packet, SimPacket};
use thiserror::Error;
pub use ticket::{End, Ticket};
pub use ticketed::{Rows, Ticketed};

/// How packets get from the queue to the wire.
enum Service<P> {
    /// Departures are computed at arrival.
    Arithmetic(Arithmetic),
    /// Any queue: the link asks for the next packet when it is free, or for several at a tick of its clock.
    Elements(Box<Elements<P>>),
    /// The same, but the queue holds tickets in place of packets.
    Tickets(Box<Ticketed>),
}

impl<P> Service<P> {
    /// The wire, unless departures are arithmetic.
    const fn line(&self) -> Option<&Line> {
        match self {
            Service::Arithmetic(_) => None,
            Service::Elements(elements) => Some(&elements.line),
            Service::Tickets(queue) => Some(&queue.line),
        }
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
    /// Packets that elements dropped, or that were lost behind the wire, and why; the caller takes them away.
    pub dropped: Vec<(P, DropReason)>,
    /// The flows of packets that were doubled; the caller takes them away.
    pub doubled: Vec<FlowId>,
    /// Counters.
    pub counters: LinkCounters,
    /// Why nobody may set its rate, if so.
    fixed: Option<RateError>,
    /// What its queue is built from, until it is.
    unbuilt: Option<Box<Unbuilt>>,
    service: Service<P>,
}

/// What the queue of a link is built from.
struct Unbuilt {
    queue: CheckedQueue,
    router: Option<CheckedRouter>,
    /// It may hold tickets.
    may_hold_tickets: bool,
}

/// Why the rate of a link cannot be set while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RateError {
    /// The plan says how the rate varies.
    #[error("its rate varies as the scenario says; accepted: a link with a constant rate")]
    Varies,
    /// The router was told the rate when the run began.
    #[error("its router knows its rate; accepted: a link without a router")]
    Router,
    /// The run began without leave to set rates, so departures may be computed at arrival.
    #[error("the rates of this run are fixed; accepted: a run with rates=True")]
    Fixed,
}

impl<P: Packet + Clone + Default + Send + 'static> Link<P> {
    /// A link as planned. `fast` allows arithmetic departures where the queue and the rate have them.
    pub fn new(planned: CheckedLink, fast: bool) -> Self {
        let mut link = Self::without_queue(planned, fast);
        link.build_queue();
        link
    }

    /// The same, but a queue that is not arithmetic has yet to be built.
    pub(crate) fn without_queue(planned: CheckedLink, fast: bool) -> Self {
        let CheckedLink { plan, rate, capacity, ticks, disturbances, queue, router, .. } = planned;
        let limit = queue.setup.limit;
        let calm = router.is_none() && disturbances.is_none();
        let measured = queue.measures_waits();
        let plain = queue.is_drop_tail() && capacity.is_constant() && !measured;
        let elements = || {
            Service::Elements(Box::new(Elements {
                chain: Vec::new(),
                line: Line::new(capacity.clone(), measured),
                clock: ticks.map(|ticks| Clock {
                    ticks,
                    credit: Credit::new(capacity.clone()),
                    begun: None,
                    next: Time::NEVER,
                }),
                behind: disturbances.map(|law| Box::new(Disturbed::new(*law))),
                held_until: Time::ZERO,
                withheld: false,
            }))
        };
        let service = match ticks {
            _ if !fast || !calm => elements(),
            None if plain => {
                Service::Arithmetic(Arithmetic::Constant(Box::new(ConstantFifo::new(rate, limit))))
            }
            Some(ticks) if plain => {
                Service::Arithmetic(Arithmetic::Ticking(Box::new(TickingFifo::new(rate, limit, ticks))))
            }
            Some(_) => elements(),
            None if queue.is_drop_tail() => {
                let fifo = ListedFifo::new(capacity.clone(), limit, measured);
                Service::Arithmetic(Arithmetic::Listed(Box::new(fifo)))
            }
            None if queue.discipline.name == "red" => {
                let law = RedLaw::build(queue.setup.clone(), &queue.parameters);
                let fifo = ListedFifo::new(capacity.clone(), law, measured);
                Service::Arithmetic(Arithmetic::Red(Box::new(fifo)))
            }
            None => elements(),
        };
        let may_hold_tickets = fast && calm && ticks.is_none();
        let unbuilt = matches!(service, Service::Elements(_));
        let unbuilt = unbuilt.then(|| Box::new(Unbuilt { queue, router, may_hold_tickets }));
        let fixed = match (&capacity, &plan.router) {
            (Capacity::Constant(_), None) => fast.then_some(RateError::Fixed),
            (Capacity::Constant(_), Some(_)) => Some(RateError::Router),
            _ => Some(RateError::Varies),
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
            fixed,
            unbuilt,
            service,
        }
    }

    /// Builds its queue, unless it has one.
    pub(crate) fn build_queue(&mut self) {
        if let (Service::Elements(elements), Some(unbuilt)) = (&mut self.service, self.unbuilt.take()) {
            let Unbuilt { queue, router, .. } = *unbuilt;
            let queue = queue.build();
            let element = match router {
                None => queue,
                Some(router) => router.build(queue, self.limit, self.capacity.clone()),
            };
            elements.chain.push(Installed { element, timer_at: Time::NEVER });
        }
    }

    /// Whether, and if not why, [`Link::set_rate`] may be called.
    pub const fn fixed(&self) -> Option<RateError> {
        self.fixed
    }

    /// The rate from `now` on. A packet whose transmission has begun leaves as planned before.
    pub fn set_rate(&mut self, now: Time, rate: Rate) -> Result<(), RateError> {
        if let Some(reason) = self.fixed {
            return Err(reason);
        }
        let Service::Elements(elements) = &mut self.service else { return Err(RateError::Fixed) };
        self.capacity = self.capacity.changed(now, rate).ok_or(RateError::Varies)?;
        elements.change(now, &self.capacity);
        Ok(())
    }

    /// A flow begins whose packets will cross the link, and this is its identity; one that had its place is
    /// over.
    pub fn begins(&mut self, flow: FlowId, identity: u64) {
        match &mut self.service {
            Service::Arithmetic(_) => {}
            Service::Elements(elements) => {
                elements.chain.iter_mut().for_each(|installed| installed.element.begins(flow, identity));
            }
            Service::Tickets(queue) => queue.queue.begins(flow, identity),
        }
    }

    /// Puts an element in front of the existing ones.
    #[cfg(test)]
    pub fn install(&mut self, element: Box<dyn longfat_net::Element<P> + Send>) {
        if let Service::Elements(elements) = &mut self.service {
            elements.chain.insert(0, Installed { element, timer_at: Time::NEVER });
        }
    }

    /// Whether departures are arithmetic: then packets go through [`Link::offer`], otherwise through
    /// [`Link::arrive`], unless the queue holds tickets: then batches go through [`Ticketed::run`].
    #[inline]
    pub const fn is_arithmetic(&self) -> bool {
        matches!(self.service, Service::Arithmetic(_))
    }

    /// The arithmetic queue, the counters and the propagation delay, where departures are arithmetic.
    #[inline(always)]
    pub fn arithmetic(&mut self) -> Option<(&mut Arithmetic, &mut LinkCounters, Interval)> {
        match &mut self.service {
            Service::Arithmetic(queue) => Some((queue, &mut self.counters, self.delay)),
            Service::Elements(_) | Service::Tickets(_) => None,
        }
    }

    /// Whether there is a quick way through the link, which its queue and what lies behind that have to allow. Only for
    /// runs without messages of elements.
    pub fn has_lane(&self) -> bool {
        matches!(&self.service, Service::Elements(elements) if elements.has_lane())
    }

    /// Lets `what` use the quick way through the link, if there is one.
    pub fn lane(&mut self, what: impl Use<P>) {
        if let Service::Elements(elements) = &mut self.service {
            elements.lane(&mut self.counters, what);
        }
    }

    /// Offers a packet to the arithmetic queue, which may mark it. Returns when its last bit is on the wire.
    ///
    /// # Errors
    /// Why the queue drops it.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, packet: &mut P) -> Result<Time, DropReason> {
        let (bytes, markable) = (packet.bytes(), packet.ecn() != Ecn::NotCapable);
        self.counters.packets_in += 1;
        let crossed: Crossed = match &mut self.service {
            Service::Arithmetic(queue) => {
                each_arithmetic!(queue, fifo => Departures::offer(&mut **fifo, now, bytes, markable))
            }
            Service::Elements(_) | Service::Tickets(_) => {
                debug_assert!(false, "a queue that the link asks for packets");
                None.into()
            }
        };
        self.counters.count(crossed);
        match crossed {
            Crossed::Departs(at) => Ok(at),
            Crossed::Marked(at, _) => {
                packet.set_ecn(Ecn::Marked);
                Ok(at)
            }
            Crossed::Dropped(reason) => Err(reason),
            Crossed::Lost => Err(DropReason::Lost),
        }
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
        debug_assert!(!matches!(self.service, Service::Tickets(_)), "a packet where the queue holds tickets");
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
            for (mut packet, departure) in entering {
                let flow = packet.flow();
                self.counters.marks[DropReason::Forced as usize] += u64::from(behind.remark(&mut packet));
                match behind.enter(departure, packet) {
                    Fate::Carried => {}
                    Fate::Doubled => {
                        self.counters.packets_doubled += 1;
                        self.doubled.push(flow);
                    }
                    Fate::Lost(packet) => {
                        self.counters.packets_lost += 1;
                        self.dropped.push((packet, DropReason::Lost));
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
            Service::Arithmetic(_) => Time::NEVER,
            Service::Elements(elements) => match &elements.behind {
                None => elements.wake(),
                Some(behind) => elements.wake().min(behind.head()),
            },
            Service::Tickets(queue) => queue.wake(),
        }
    }

    /// Brings counters and queue length up to `now`, before anything happens at that time, and returns the
    /// occupancy and the counters.
    pub fn settle(&mut self, now: Time) -> (Occupancy, LinkCounters) {
        match &mut self.service {
            Service::Arithmetic(queue) => each_arithmetic!(queue, fifo => {
                fifo.settle_into(now, &mut self.counters);
                (*fifo.occupancy(), self.counters)
            }),
            Service::Elements(elements) => elements.line.settle(now, &mut self.counters),
            Service::Tickets(queue) => queue.line.settle(now, &mut self.counters),
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
            Service::Arithmetic(queue) => each_arithmetic!(queue, fifo => fifo.restart(now)),
            Service::Elements(elements) => elements.line.restart(now),
            Service::Tickets(queue) => queue.line.restart(now),
        }
    }

    /// How many active flows its queue estimates, if it does.
    pub fn flows_estimated(&self) -> Option<f64> {
        match &self.service {
            Service::Arithmetic(_) => None,
            Service::Tickets(tickets) => tickets.queue.flows_estimated(),
            Service::Elements(elements) => elements.chain.iter().find_map(|e| e.element.flows_estimated()),
        }
    }

    /// The same in its low-latency queue, if a packet has ever been in one.
    pub fn low_latency(&self) -> Option<&Sojourn> {
        self.service.line()?.low_latency.as_ref()
    }

    /// How long packets have waited since the last restart, if that is measured.
    pub fn sojourn(&self) -> Option<&Sojourn> {
        match &self.service {
            Service::Arithmetic(queue) => each_arithmetic!(queue, fifo => fifo.sojourn()),
            _ => self.service.line()?.sojourn.as_ref(),
        }
    }
}

impl Link {
    /// Builds its queue for tickets in place of packets if it can hold them; with `l4s`, some flows send
    /// ECT(1). All packets that will come are those of this number of lasting flows, straight from one host,
    /// and go straight to the other. The caller takes them through [`Link::tickets`].
    pub(crate) fn hold_tickets(&mut self, flows: usize, l4s: bool) {
        // a queue of L4S has two queues, and flows may have packets in both
        let holds =
            |unbuilt: &mut Box<Unbuilt>| unbuilt.may_hold_tickets && !(l4s && unbuilt.queue.discipline.l4s);
        if let Some(unbuilt) = self.unbuilt.take_if(holds) {
            let line = Line::new(self.capacity.clone(), unbuilt.queue.measures_waits());
            self.service = Service::Tickets(Box::new(Ticketed::new(unbuilt.queue.build(), line, flows)));
        }
    }

    /// The queue that holds tickets, if it does, the counters and the propagation delay.
    pub(crate) fn tickets(&mut self) -> Option<(&mut Ticketed, &mut LinkCounters, Interval)> {
        match &mut self.service {
            Service::Tickets(queue) => Some((queue, &mut self.counters, self.delay)),
            _ => None,
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
