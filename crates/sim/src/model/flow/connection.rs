//! A connection: where its packets go, and how they get from one end to the other.

use super::ends::Carrier;
use super::host::{Access, HostClock, Jitter};
use super::losses::PathLosses;
use super::receiving::ReceivingEnd;
use super::sending::SendingEnd;
use super::snapshots::SampleTimes;
use crate::model::link::{End, Handle, Link, Origin};
use crate::model::order::Order;
use longfat_net::{GONE, Pipe, WAITS};
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
    /// From the last link to the receiver.
    pub forward_delay: Interval,
    /// From the last link to the sender.
    pub reverse_delay: Interval,
    /// How many routers data pass behind the first link, each of which lowers the time-to-live.
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
        let own = |all: Interval, path: &[usize]| all.saturating_sub(shared(path)).max(Interval::from_ns(1));
        let routers = |path: &[usize]| path.iter().skip(1).filter(|&&l| !links[l].layer2).count() as u8;
        // packets without ECT(1) get into the other queue of a link for L4S once an earlier link has marked
        // them
        let reorders = |path: &[usize]| {
            path.iter().any(|&l| links[l].reorders || links[l].l4s && (sends_ect1 || path.len() > 1))
        };
        Route {
            forward_delay: own(one_way, &plan.forward),
            reverse_delay: own(rtt.saturating_sub(one_way), &plan.reverse),
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

    /// From the last link to the end: that link's own delay, and the stretch that only this connection uses.
    pub fn to_end(&self, links: &[Link], data: bool) -> Interval {
        links[self.last(data)].delay + if data { self.forward_delay } else { self.reverse_delay }
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

    /// Sends a packet, which has crossed its last link at `at`, on its way to its end. With `ahead`, the
    /// receiver takes data at once, and the sender acknowledgements.
    #[inline(always)]
    pub fn pass_on(&mut self, packet: SimPacket, at: Time, ahead: bool) {
        if packet.kind.is_forward() {
            let at = at + self.route.forward_delay;
            if ahead {
                if self.transfer.is_some() {
                    self.receiving.note_arrival(at);
                }
                self.receiving.take_ahead(at, &packet);
                if let Some(extra) = packet.extra {
                    self.sending.sender.recycle(extra);
                }
            } else {
                self.receiving.incoming.push(at, packet);
            }
        } else {
            let at = at + self.route.reverse_delay;
            if !ahead || !self.sending.take_ahead(at, &packet, self.transfer.is_some()) {
                self.sending.incoming.push(at, packet);
            } else if let Some(extra) = packet.extra {
                self.receiving.receiver.recycle(extra);
            }
        }
    }

    /// The receiver takes the first of its data packets that are in their ring and do not wait any more;
    /// `delay` is that of their last link. `outcome` returns what becomes of each, from what stands in the
    /// ring. Handled at once, as in [`Flow::pass_on`] with `ahead`.
    #[inline(always)]
    pub fn take_data(&mut self, delay: Interval, mut outcome: impl FnMut(Time, &mut SimPacket) -> Time) {
        let Flow { sending, receiving, route, transfer, .. } = self;
        sending.outgoing.leave(|known, packet| {
            let known = outcome(known, packet);
            if known >= GONE {
                return known == GONE;
            }
            if route.forward_routers > 0 {
                packet.ttl = packet.ttl.saturating_sub(route.forward_routers);
            }
            let at = known.later_by(delay).later_by(route.forward_delay);
            if transfer.is_some() {
                receiving.note_arrival(at);
            }
            receiving.take_ahead(at, packet);
            true
        });
    }

    /// The same for its sender and its acknowledgements.
    #[inline(always)]
    pub fn take_acks(&mut self, delay: Interval, mut outcome: impl FnMut(Time, &mut SimPacket) -> Time) {
        let Flow { sending, receiving, route, transfer, .. } = self;
        let ReceivingEnd { outgoing, receiver, .. } = receiving;
        outgoing.leave(|known, packet| {
            let known = outcome(known, packet);
            if known >= GONE {
                return known == GONE;
            }
            if route.reverse_routers > 0 {
                packet.ttl = packet.ttl.saturating_sub(route.reverse_routers);
            }
            let at = known.later_by(delay).later_by(route.reverse_delay);
            if !sending.take_ahead(at, packet, transfer.is_some()) {
                sending.incoming.push(at, core::mem::take(packet));
            } else if let Some(extra) = packet.extra.take() {
                receiver.recycle(extra); // while it is in the cache
            }
            true
        });
    }

    /// A packet leaves its ring, and its last link at `at`, behind which it takes `delay`, before others that
    /// it has overtaken.
    pub fn take_one(&mut self, handle: Handle, at: Time, delay: Interval) {
        let (_, data) = handle.end().host();
        let Some((known, packet)) = self.on_the_way_mut(data).waiting_mut(handle.number()) else { return };
        let mut packet = if *known == WAITS {
            *known = GONE;
            core::mem::take(packet)
        } else {
            *known += Interval::from_ns(1); // a copy of it is still on its way
            packet.clone()
        };
        packet.ecn = handle.ecn();
        let routers = if data { self.route.forward_routers } else { self.route.reverse_routers };
        packet.ttl = packet.ttl.saturating_sub(routers);
        self.pass_on(packet, at + delay, true);
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

    /// Its data packets (or acknowledgements) in their ring, and its loss processes.
    #[inline(always)]
    pub const fn ring_and_losses(&mut self, data: bool) -> (&mut Pipe<SimPacket>, &mut PathLosses) {
        let Flow { sending, receiving, losses, .. } = self;
        (if data { &mut sending.outgoing } else { &mut receiving.outgoing }, losses)
    }

    /// Where its data (or acknowledgements) come from, for their first link.
    pub fn origin(&self, index: usize, data: bool) -> Origin {
        let path = if data { &self.route.forward } else { &self.route.reverse };
        Origin::new(End::of(index as u32, data), path.len() - 1, self.route.reorders)
    }

    /// Counts packets of this flow that were dropped: of data, and of others.
    #[inline]
    pub const fn drop_many(&mut self, data: u64, others: u64) {
        self.packets_lost += data;
        self.dropped += (data + others) as i64;
    }

    /// Counts a packet of this flow that was dropped.
    #[inline]
    pub fn drop(&mut self, kind: Kind) {
        self.packets_lost += u64::from(kind == Kind::Data);
        self.dropped += 1;
    }

    /// Counts a packet of this flow of which the network made a copy.
    #[inline]
    pub const fn double(&mut self) {
        self.dropped -= 1;
    }
}
