//! A connection: where its packets go, and how they get from one end to the other.

use super::ends::Carrier;
use super::host::{Access, HostClock, Jitter};
use super::losses::PathLosses;
use super::machines::{AnyReceiver, AnySender};
use super::receiving::ReceivingEnd;
use super::sending::SendingEnd;
use super::snapshots::SampleTimes;
use crate::model::link::{End, Handle, Link};
use crate::model::order::Order;
use longfat_net::{COPY, GONE, Pipe, WAITS};
use longfat_scenario::plan::{CheckedConnection, Streams};
use longfat_units::cache::prefetch;
use longfat_units::{Interval, Time};
use longfat_wire::{FlowId, Kind, Packet, SimPacket};

/// Where a connection's packets go.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Route {
    /// Links that data cross.
    pub forward: Vec<usize>,
    /// Links that acknowledgements cross.
    pub reverse: Vec<usize>,
    /// From the last bit on the wire of the last link to the receiver: that link's own delay, and the stretch
    /// that only this connection uses.
    to_receiver: Interval,
    /// The same for acknowledgements and the sender.
    to_sender: Interval,
    /// How many routers data pass behind the first link; each lowers the time-to-live.
    forward_routers: u8,
    /// The same for acknowledgements.
    reverse_routers: u8,
    /// Whether packets may overtake each other on the way.
    pub reorders: bool,
}

impl Route {
    /// The route of a connection with this round-trip time over these links; some of its packets carry ECT(1)
    /// if `sends_ect1`.
    fn new(plan: &CheckedConnection, links: &[Link], rtt: Interval, sends_ect1: bool) -> Self {
        let one_way = Interval::from_ns(rtt.as_ns() / 2);
        let shared = |path: &[usize]| {
            let delays = path.iter().map(|&l| links[l].delay);
            delays.fold(Interval::ZERO, |sum, delay| sum + delay)
        };
        let to_end = |all: Interval, path: &[usize]| {
            let own = all.saturating_sub(shared(path)).max(Interval::from_ns(1));
            path.last().map_or(own, |&last| own + links[last].delay)
        };
        let routers = |path: &[usize]| path.iter().skip(1).filter(|&&l| !links[l].layer2).count() as u8;
        // packets without ECT(1) get into the other queue of a link for L4S once an earlier link has marked
        // them
        let reorders = |path: &[usize]| {
            path.iter().any(|&l| links[l].reorders || links[l].l4s && (sends_ect1 || path.len() > 1))
        };
        Route {
            to_receiver: to_end(one_way, &plan.forward),
            to_sender: to_end(rtt.saturating_sub(one_way), &plan.reverse),
            forward_routers: routers(&plan.forward),
            reverse_routers: routers(&plan.reverse),
            reorders: reorders(&plan.forward) || reorders(&plan.reverse),
            forward: plan.forward.clone(),
            reverse: plan.reverse.clone(),
        }
    }

    /// The links this kind of packet crosses.
    #[inline]
    pub fn path(&self, kind: Kind) -> &[usize] {
        if kind.is_forward() { &self.forward } else { &self.reverse }
    }

    /// The last link that data (or acknowledgements) cross. A path has at least one link.
    pub fn last(&self, data: bool) -> usize {
        let path = if data { &self.forward } else { &self.reverse };
        path[path.len() - 1]
    }

    /// From the wire of the last link to the receiver (or to the sender).
    pub const fn to_end(&self, data: bool) -> Interval {
        if data { self.to_receiver } else { self.to_sender }
    }
}

/// The slots of a ring for packets that a connection leaves to the next one, at most (chosen here): the usual
/// initial window fits in. Long files are seldom, and every index carries one of them some time.
const KEPT_SLOTS: usize = 16;

/// A connection in the simulator.
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Flow {
    /// Where packets go.
    pub route: Route,
    /// The transfer that it carries for background traffic, until its index is free again.
    pub transfer: Option<Transfer>,
    /// Receiving end.
    pub receiving: ReceivingEnd,
    /// Sending end.
    pub sending: SendingEnd,
    /// Loss processes on its path.
    pub losses: PathLosses,
    /// When it starts, as planned.
    pub began: Time,
    /// Where it stands among others at the same time.
    pub order: Order,
    /// Two-way propagation delay.
    pub rtt: Interval,
    /// Its data packets that the network dropped.
    pub packets_lost: u64,
    /// Its packets of all kinds that the network dropped, less those that it doubled.
    dropped: i64,
}

/// One connection's work for background traffic.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Index of the background.
    pub group: usize,
    /// Index of the session that opened it.
    pub session: usize,
    /// Payload, bytes; endless if `None`.
    pub bytes: Option<u64>,
    /// Everything was acknowledged.
    pub complete: bool,
}

/// The inputs of a new connection besides its options.
pub struct Opening<'a> {
    /// Its index.
    pub id: FlowId,
    /// Where it stands among others at the same time.
    pub order: Order,
    /// Its random streams.
    pub streams: &'a Streams,
    /// Payload to send, bytes; endless if `None`.
    pub bytes: Option<u64>,
    /// When it starts.
    pub start: Time,
    /// All links of the run.
    pub links: &'a [Link],
    /// When samples will look at it.
    pub times: SampleTimes,
}

impl Flow {
    /// A connection as planned, with this carrier. Inlined to save copies of 2 KiB: web traffic opens a
    /// connection for every few packets.
    #[inline(always)]
    pub fn new(plan: &CheckedConnection, opening: &Opening<'_>, carrier: Carrier<'_>) -> Self {
        let Opening { id, order, streams, bytes, start, links, times } = *opening;
        let rtt = Interval::from_secs_f64(plan.rtt().draw(&mut streams.stream("rtt")));
        let moderation = Interval::from_secs_f64(plan.interrupt_moderation);
        let tick = Interval::from_secs_f64(plan.host_tick);
        let clock = HostClock::new(tick, moderation, streams.stream("tick"));
        let jitter = (plan.send_jitter > 0.0)
            .then(|| Jitter::new(Interval::from_secs_f64(plan.send_jitter), streams.stream("jitter")));
        let access = Access::new(plan.access_rate(), None);
        let (sender, receiver) = carrier.ends(plan, id, bytes, streams, &clock);
        let route = Route::new(plan, links, rtt, sender.sends_ect1());
        Flow {
            sending: SendingEnd::new(
                sender,
                clock,
                Access::new(plan.access_rate(), jitter.map(Box::new)),
                start,
                times,
            ),
            receiving: ReceivingEnd::new(
                receiver,
                HostClock::without_ticks(moderation),
                access,
                start,
                times,
            ),
            route,
            losses: PathLosses::new(|l| (&*links[l].name, links[l].loss, links[l].ack_loss), plan, streams),
            began: start,
            order,
            rtt,
            packets_lost: 0,
            dropped: 0,
            transfer: None,
        }
    }

    /// Uses the room of a connection that is over, so that those which come and go need no new one.
    pub fn take_room(&mut self, old: &mut Flow) {
        self.sending.incoming.take_room(&mut old.sending.incoming);
        self.sending.outgoing.take_room(&mut old.sending.outgoing);
        self.receiving.incoming.take_room(&mut old.receiving.incoming);
        self.receiving.outgoing.take_room(&mut old.receiving.outgoing);
    }

    /// Frees what it holds, as it is over, but for a little room for the next connection with its index.
    pub fn free(&mut self) {
        for pipe in [
            &mut self.sending.incoming,
            &mut self.sending.outgoing,
            &mut self.receiving.incoming,
            &mut self.receiving.outgoing,
        ] {
            pipe.free(KEPT_SLOTS);
        }
        self.sending.sender.free();
        self.receiving.receiver.free();
    }

    /// Sends a packet that leaves its last link at `departure` on its way to its end.
    pub fn pass_on(&mut self, packet: SimPacket, departure: Time) {
        let is_data = packet.kind.is_forward();
        let end = if is_data { &mut self.receiving.incoming } else { &mut self.sending.incoming };
        end.push(departure + self.route.to_end(is_data), packet);
    }

    /// The receiver takes the first of its data packets that have left their last link. `leaves`, which this
    /// returns, returns when each does so, or [`GONE`], from what stands in their ring.
    #[inline(never)] // a loop that needs the registers
    pub fn take_data<F: FnMut(Time, &mut SimPacket) -> Time>(&mut self, mut leaves: F) -> F {
        let Flow { sending, receiving, route, transfer, packets_lost, dropped, .. } = self;
        let (SendingEnd { outgoing, sender, .. }, in_transfer) = (sending, transfer.is_some());
        outgoing.leave(|outcome, packet| {
            let departure = leaves(outcome, packet);
            if departure < GONE {
                take_data(route, receiving, sender, in_transfer, departure, packet);
            } else if departure < outcome {
                *packets_lost += u64::from(packet.kind == Kind::Data);
                *dropped += 1; // only now
            }
            departure <= GONE
        });
        leaves
    }

    /// The same for its sender and its acknowledgements.
    #[inline(never)]
    pub fn take_acks<F: FnMut(Time, &mut SimPacket) -> Time>(&mut self, mut leaves: F) -> F {
        let Flow { sending, receiving, route, transfer, dropped, .. } = self;
        let (ReceivingEnd { outgoing, receiver, .. }, in_transfer) = (receiving, transfer.is_some());
        outgoing.leave(|outcome, packet| {
            let departure = leaves(outcome, packet);
            if departure < GONE {
                take_ack(route, sending, receiver, in_transfer, departure, packet);
            } else if departure < outcome {
                *dropped += 1;
            }
            departure <= GONE
        });
        leaves
    }

    /// A packet leaves its ring, and its last link at `departure`, before others that it has overtaken.
    pub fn take_one(&mut self, handle: Handle, departure: Time) {
        let (_, data) = handle.end().host();
        let Some((outcome, packet)) = self.on_the_way_mut(data).waiting_mut(handle.number()) else { return };
        let mut packet = if *outcome == WAITS {
            *outcome = GONE;
            core::mem::take(packet)
        } else {
            *outcome += COPY; // a copy of it is still on its way
            packet.clone()
        };
        packet.ecn = handle.ecn();
        let Flow { sending, receiving, route, transfer, .. } = self;
        if data {
            take_data(route, receiving, &mut sending.sender, transfer.is_some(), departure, &mut packet);
        } else {
            take_ack(route, sending, &mut receiving.receiver, transfer.is_some(), departure, &mut packet);
        }
    }

    /// Those of the next `most` data packets (or acknowledgements) that reach their first link before `until`
    /// begin to wait. If the link has loss processes, `lossy` is its index, and they take their packets.
    /// `meet` is called for each of the others as in [`Pipe::admit`], and returns `None` for one that is
    /// dropped. Returns how many there are of all.
    #[inline(always)]
    pub fn admit(
        &mut self,
        data: bool,
        (until, most): (Time, usize),
        lossy: Option<usize>,
        mut meet: impl FnMut(u32, Time, &mut SimPacket) -> Option<Time>,
    ) -> usize {
        let Flow { sending, receiving, losses, packets_lost, dropped, .. } = self;
        let ring = if data { &mut sending.outgoing } else { &mut receiving.outgoing };
        ring.admit(until, most, |number, at, packet| {
            let is_lost = lossy.is_some_and(|link| losses.strike(link, packet.kind));
            let outcome = if is_lost { None } else { meet(number, at, packet) };
            outcome.unwrap_or_else(|| {
                *packets_lost += u64::from(packet.kind == Kind::Data);
                *dropped += 1;
                GONE
            })
        })
    }

    /// Its data packets (or acknowledgements) on the way to their first link, and those that wait on their
    /// way behind it.
    #[inline]
    pub const fn on_the_way(&self, data: bool) -> &Pipe<SimPacket> {
        if data { &self.sending.outgoing } else { &self.receiving.outgoing }
    }

    /// The same for changes.
    #[inline(always)]
    pub const fn on_the_way_mut(&mut self, data: bool) -> &mut Pipe<SimPacket> {
        if data { &mut self.sending.outgoing } else { &mut self.receiving.outgoing }
    }

    /// Asks the processor for where its data (or acknowledgements) are on the way to their first link.
    #[inline(always)]
    pub fn prefetch_pipe(&self, data: bool) {
        prefetch(self.on_the_way(data));
    }

    /// The same, and for where they go.
    #[inline(always)]
    pub fn prefetch_route(&self, data: bool) {
        prefetch(&self.route);
        self.prefetch_pipe(data);
    }

    /// The same for the first of those packets, once [`Flow::prefetch_pipe`] has brought where they are.
    #[inline(always)]
    pub fn prefetch_next(&self, data: bool) {
        self.on_the_way(data).prefetch_next();
    }

    /// The same for its loss processes.
    #[inline(always)]
    pub fn prefetch_losses(&self) {
        prefetch(&self.losses);
    }

    /// The same for the state that data need at the receiver, or acknowledgements at the sender.
    #[inline(always)]
    pub fn prefetch_state(&self, data: bool) {
        prefetch(&self.route);
        prefetch(&self.transfer);
        if data {
            prefetch(&self.receiving);
        } else {
            prefetch(&self.sending);
        }
        prefetch(self.on_the_way(data));
    }

    /// The same for the packets that reach that end next, and for the places of their answers, once the state
    /// has come.
    #[inline(always)]
    pub fn prefetch_packets(&self, data: bool) {
        self.on_the_way(data).prefetch_waiting();
        self.on_the_way(!data).prefetch_end();
    }

    /// The same for what acknowledgements carry besides the usual, once the state and the packets have come.
    #[inline(always)]
    pub fn prefetch_extras(&self, data: bool) {
        if data {
            self.receiving.receiver.prefetch_room();
        } else {
            for (_, ack) in self.receiving.outgoing.iter().take(2) {
                if let Some(extra) = ack.extra.as_deref() {
                    prefetch(extra);
                }
            }
        }
    }

    /// When the first of its data packets (or acknowledgements) reaches a link.
    #[inline]
    pub const fn head(&self, data: bool) -> Time {
        self.on_the_way(data).head()
    }

    /// When its last byte was with the receiving application, if that was before `now`. The last one is that
    /// of its `bytes`, or of those that were acknowledged if it was stopped before. Its ends may have run
    /// ahead.
    pub fn delivered(&self, bytes: Option<u64>, now: Time) -> Option<Time> {
        let there = self.receiving.present();
        let delivered = self.sending.sender.payload_delivered(there.delivered, there.concealed);
        let acked = || self.sending.completed(now).map(|_| self.sending.sender.acked_bytes());
        let is_last = bytes.is_some_and(|all| delivered >= all)
            || acked().is_some_and(|all| all > 0 && delivered >= all);
        is_last.then(|| self.receiving.last_delivery()).filter(|&at| at < now)
    }

    /// Whether nothing happens to it from `now` on; for a complete transfer. Its receiver may have run ahead.
    pub fn is_over(&self, now: Time) -> bool {
        let under_way = self.sending.balance + self.receiving.balance - self.dropped;
        under_way <= 0 && self.receiving.last_arrival() < now && self.receiving.receiver.is_silent()
    }

    /// What the handles of its data (or acknowledgements) have in common at their first link.
    pub fn handle(&self, index: usize, data: bool) -> Handle {
        let path = if data { &self.route.forward } else { &self.route.reverse };
        Handle::of_end(End::of(index as u32, data), path.len() - 1, self.route.reorders)
    }

    /// Counts a packet of this flow that was dropped.
    #[inline]
    pub fn drop(&mut self, kind: Kind) {
        self.packets_lost += u64::from(kind == Kind::Data);
        self.dropped += 1;
    }

    /// Counts a copy that the network made of a packet of this flow.
    #[inline]
    pub const fn double(&mut self) {
        self.dropped -= 1;
    }
}

/// A receiver takes a data packet that leaves its last link at `departure`: at once, since all earlier ones
/// are with it.
#[inline(always)]
fn take_data(
    route: &Route,
    receiving: &mut ReceivingEnd,
    sender: &mut AnySender,
    in_transfer: bool,
    departure: Time,
    packet: &mut SimPacket,
) {
    if route.forward_routers > 0 {
        packet.ttl = packet.ttl.saturating_sub(route.forward_routers);
    }
    let at = departure.later_by(route.to_receiver);
    if in_transfer {
        receiving.note_arrival(at);
    }
    receiving.take_ahead(at, packet);
    if packet.extra.is_some() {
        packet.extra.take().into_iter().for_each(|extra| sender.recycle(extra)); // while it is in the cache
    }
}

/// The same for a sender and an acknowledgement; it waits if the sender cannot take it yet.
#[inline(always)]
fn take_ack(
    route: &Route,
    sending: &mut SendingEnd,
    receiver: &mut AnyReceiver,
    in_transfer: bool,
    departure: Time,
    packet: &mut SimPacket,
) {
    if route.reverse_routers > 0 {
        packet.ttl = packet.ttl.saturating_sub(route.reverse_routers);
    }
    let at = departure.later_by(route.to_sender);
    if !sending.take_ahead(at, packet, in_transfer) {
        sending.incoming.push(at, core::mem::take(packet));
    } else if let Some(extra) = packet.extra.take() {
        receiver.recycle(extra);
    }
}
