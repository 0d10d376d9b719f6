//! A shared link: a queue, a transmitter, a stretch of propagation.

mod asked;
mod computed;
mod counters;
mod handle;
mod line;

pub use asked::Asked;
pub(crate) use computed::each_computed;
pub use computed::{Computed, serve};
pub use counters::LinkCounters;
pub use handle::{End, Handle, Loan};
use longfat_net::disturbance::Disturbances;
#[cfg(test)]
use longfat_net::queue;
use longfat_net::queue::Limit;
use longfat_net::{Address, Capacity, Departures, DropReason, LossModel, Occupancy, Pipe, Sojourn, Ticks};
use longfat_scenario::plan::{CheckedLink, CheckedQueue, CheckedRouter};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{FlowId, Packet, SimPacket};
use thiserror::Error;

/// How packets get from the queue to the wire.
pub enum Server<P> {
    /// A queue that has yet to be built; nothing while it is.
    Unbuilt(Option<Box<Unbuilt>>),
    /// Departures are computed at arrival.
    Computed(Computed),
    /// Any queue: the link asks it for packets.
    Asked(Box<Asked<P>>),
    /// The same in the fast driver.
    Handles(Box<Asked<Handle>>),
    /// The same with a router.
    Loans(Box<Asked<Loan>>),
}

/// Evaluates one expression with a queue that computes departures, or another with one that is asked for
/// packets.
macro_rules! each_server {
    ($server:expr, $fifo:ident => $computed:expr, $queue:ident => $asked:expr) => {
        match $server {
            Server::Computed(computed) => each_computed!(computed, $fifo => $computed),
            Server::Asked($queue) => $asked,
            Server::Handles($queue) => $asked,
            Server::Loans($queue) => $asked,
            Server::Unbuilt(_) => unreachable!("a link without a queue"),
        }
    };
}

/// Where packets go that leave a link.
pub trait Exit<P> {
    /// Whether it may get a packet before others that leave earlier at other links.
    const RUNS_AHEAD: bool;
    /// The packet is on the wire; `at` is the time of its last bit, later where the link is disturbed.
    fn departs(&mut self, packet: P, at: Time);
    /// The packet was dropped or lost.
    fn drops(&mut self, packet: P, reason: DropReason);
    /// A packet was doubled.
    fn doubles(&mut self, _packet: P) {
        unreachable!("this driver runs no plan in which packets with headers are doubled");
    }
    /// An element sends a message of its own.
    fn originates(&mut self, _packet: P, _to: Address) {
        unreachable!("this driver runs no plan whose elements send messages");
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
    /// Messages of its elements on their way to the first link, by that link's index.
    pub control: Vec<(usize, Pipe<P>)>,
    /// What it has released; the caller takes it away.
    pub released: Released<P>,
    /// Counters.
    pub counters: LinkCounters,
    /// Why its rate cannot be set, if so.
    fixed: Option<RateError>,
    /// Whether packets may overtake each other behind the wire.
    pub reorders: bool,
    /// Whether its queue is for L4S and so has two queues.
    pub l4s: bool,
    /// How packets get from the queue to the wire.
    server: Server<P>,
}

/// What a queue that is asked for packets is built from.
pub struct Unbuilt {
    queue: CheckedQueue,
    router: Option<CheckedRouter>,
    ticks: Option<Ticks>,
    disturbances: Option<Box<Disturbances>>,
}

/// Why the rate of a link cannot be set while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RateError {
    /// The plan says how the rate varies.
    #[error("its rate varies as the scenario says; accepted: a link with a constant rate")]
    Varies,
    /// The router got the rate when the run began.
    #[error("its router knows its rate; accepted: a link without a router")]
    Router,
    /// The run began without leave to set rates, so departures may be computed at arrival.
    #[error("the rates of this run are fixed; accepted: a run with rates=True")]
    Fixed,
}

impl<P: Packet + Clone + Default + Send + 'static> Link<P> {
    /// A link as planned. `fast` allows computed departures where the queue and the rate have them.
    pub fn new(planned: CheckedLink, fast: bool) -> Self {
        let mut link = Self::without_queue(planned, fast);
        link.build_queue(false);
        link
    }

    /// The same, but a queue that is asked for packets has yet to be built.
    pub(crate) fn without_queue(planned: CheckedLink, fast: bool) -> Self {
        let CheckedLink { plan, rate, capacity, ticks, disturbances, queue, router, measured, .. } = planned;
        let computes = fast && router.is_none() && disturbances.is_none();
        let computed =
            if computes { Computed::new(&queue, (rate, &capacity), ticks, measured) } else { None };
        Link {
            name: plan.name,
            rate,
            delay: Interval::from_secs_f64(plan.delay_s),
            limit: queue.setup.limit,
            loss: plan.loss,
            ack_loss: plan.ack_loss,
            onward: Vec::new(),
            layer2: plan.layer2,
            control: Vec::new(),
            released: Released::default(),
            counters: LinkCounters::default(),
            fixed: match (&capacity, &router) {
                (Capacity::Constant(_), None) => fast.then_some(RateError::Fixed),
                (Capacity::Constant(_), Some(_)) => Some(RateError::Router),
                _ => Some(RateError::Varies),
            },
            capacity,
            reorders: disturbances.as_ref().is_some_and(|law| !law.keeps_order())
                || router.as_ref().is_some_and(CheckedRouter::reorders),
            l4s: queue.discipline.l4s,
            server: computed.map_or_else(
                || Server::Unbuilt(Some(Box::new(Unbuilt { queue, router, ticks, disturbances }))),
                Server::Computed,
            ),
        }
    }

    /// Builds its queue, unless it has one. With `in_rings`, packets stay in the rings of their ends.
    pub(crate) fn build_queue(&mut self, in_rings: bool) {
        let Server::Unbuilt(unbuilt) = &mut self.server else { return };
        let (Some(unbuilt), capacity, limit) = (unbuilt.take(), &self.capacity, self.limit) else { return };
        self.server = match (in_rings, unbuilt.router.is_some()) {
            (false, _) => Server::Asked(Box::new(Asked::new(*unbuilt, capacity, limit))),
            (true, false) => Server::Handles(Box::new(Asked::new(*unbuilt, capacity, limit))),
            (true, true) => Server::Loans(Box::new(Asked::new(*unbuilt, capacity, limit))),
        };
    }

    /// The rate from `now` on. A packet whose transmission has begun leaves as planned before.
    pub fn set_rate(&mut self, now: Time, rate: Rate) -> Result<(), RateError> {
        if let Some(reason) = self.fixed {
            return Err(reason);
        }
        self.capacity = self.capacity.changed(now, rate).ok_or(RateError::Varies)?;
        each_server!(&mut self.server, _fifo => Err(RateError::Fixed), queue => {
            queue.change(now, &self.capacity);
            Ok(())
        })
    }

    /// A flow begins whose packets will cross the link, and this is its identity; one that had its place is
    /// over.
    pub fn begins(&mut self, flow: FlowId, identity: u64) {
        each_server!(&mut self.server, _fifo => {}, server => server.queue.begins(flow, identity));
    }

    /// Builds its queue behind another element.
    #[cfg(test)]
    pub fn install(&mut self, element: impl FnOnce(queue::Boxed<P>) -> queue::Boxed<P>) {
        self.build_queue(false);
        if let Server::Asked(server) = core::mem::replace(&mut self.server, Server::Unbuilt(None)) {
            self.server = Server::Asked(Box::new(Asked { queue: element(server.queue), ..*server }));
        }
    }

    /// A packet arrives; see [`Link::released`].
    pub fn arrive(&mut self, now: Time, packet: P) {
        let Link { server, counters, released, .. } = self;
        match server {
            Server::Computed(computed) => each_computed!(computed, queue => {
                serve(&mut **queue, core::iter::once((now, packet)), counters, released);
            }),
            Server::Asked(queue) => queue.service(counters, released).arrive(now, packet),
            _ => unreachable!("a queue of handles"),
        }
    }

    /// A message arrives at the elements it is addressed to. Unlike a packet that [`arrives`](Link::arrive),
    /// it will not cross the link.
    pub fn deliver(&mut self, now: Time, packet: P) {
        self.arrive(now, packet);
        self.counters.packets_in -= 1;
    }

    /// The transmitter is free again, the queue's timer fires, or a packet leaves the disturbed part of the
    /// link.
    pub fn on_timer(&mut self, now: Time) {
        if let Server::Asked(queue) = &mut self.server {
            queue.service(&mut self.counters, &mut self.released).act(now);
        }
    }

    /// When [`Link::on_timer`] has to be called next.
    #[inline]
    pub fn wake(&self) -> Time {
        each_server!(&self.server, _fifo => Time::NEVER, queue => queue.wake())
    }

    /// Brings counters and queue length up to `now`, before anything happens at that time, and returns the
    /// occupancy and the counters.
    pub fn settle(&mut self, now: Time) -> (Occupancy, LinkCounters) {
        let Link { server, counters, .. } = self;
        if matches!(server, Server::Unbuilt(_)) {
            return (Occupancy::default(), *counters);
        }
        each_server!(server, fifo => {
            fifo.settle_before(now);
            (counters.packets_out, counters.bytes_out) = fifo.sent();
            counters.busy = fifo.busy(now);
            counters.bits_out = fifo.bits(now).unwrap_or_default();
            (*fifo.occupancy(), *counters)
        }, queue => queue.line.settle(now, counters))
    }

    /// Restarts the queue statistics.
    pub fn restart(&mut self, now: Time) {
        each_server!(&mut self.server, fifo => fifo.restart(now), queue => queue.line.restart(now));
    }

    /// How many active flows its queue estimates, if it does.
    pub fn flows_estimated(&self) -> Option<f64> {
        each_server!(&self.server, _fifo => None, server => server.queue.flows_estimated())
    }

    /// How long packets have waited in the measured span, from the restart at its begin until its end; and in
    /// its low-latency queue, if one has ever been there.
    pub fn waits(&mut self) -> (&Sojourn, Option<&Sojourn>) {
        each_server!(&mut self.server, fifo => (fifo.sojourn(), None), server => server.line.waits())
    }

    /// How packets get to the wire: `computed`, or `asked`.
    pub fn server_name(&self) -> &'static str {
        each_server!(&self.server, _fifo => "computed", _queue => "asked")
    }

    /// What the fast driver needs: the server, the counters, and the propagation delay.
    pub(crate) fn parts(&mut self) -> (&mut Server<P>, &mut LinkCounters, Interval) {
        (&mut self.server, &mut self.counters, self.delay)
    }
}

/// What a link has released.
#[derive(Default)]
pub struct Released<P> {
    /// Packets whose transmission has begun, or will begin for certain, with the time of their last bit.
    pub departed: Vec<(P, Time)>,
    /// Packets that elements dropped, or that were lost behind the wire, and why.
    pub dropped: Vec<(P, DropReason)>,
    /// The flows of packets that were doubled.
    pub doubled: Vec<FlowId>,
    /// Messages that its elements have sent.
    pub originated: Vec<(P, Address)>,
}

impl<P: Packet> Exit<P> for Released<P> {
    const RUNS_AHEAD: bool = false;

    fn departs(&mut self, packet: P, at: Time) {
        self.departed.push((packet, at));
    }
    fn drops(&mut self, packet: P, reason: DropReason) {
        self.dropped.push((packet, reason));
    }
    fn doubles(&mut self, packet: P) {
        self.doubled.push(packet.flow());
    }
    fn originates(&mut self, packet: P, to: Address) {
        self.originated.push((packet, to));
    }
}

/// The pipe to this link or from it, among pipes in the order of their links; creates it if there is none.
pub fn pipe_of<P: Default>(pipes: &mut Vec<(usize, Pipe<P>)>, link: usize) -> &mut Pipe<P> {
    let at = pipes.binary_search_by_key(&link, |(link, _)| *link).unwrap_or_else(|at| {
        pipes.insert(at, (link, Pipe::default()));
        at
    });
    &mut pipes[at].1
}
