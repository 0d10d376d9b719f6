//! A batch at one link: what comes to it, and what becomes of packets in the rings of their ends, where a
//! server writes it.

use super::ahead::{self, ask};
use super::arrivals::Arrivals;
use super::wakes::{Rank, WakeIndex};
use crate::model::flow::Flow;
use crate::model::link::{End, Exit, Handle, LinkCounters, Loan, pipe_of};
use longfat_net::{COPY, DropReason, GONE, Pipe, WAITS};
use longfat_units::{Interval, Time};
use longfat_wire::{Packet, SimPacket};

/// The most arrivals that are sorted at once: the run cannot be stopped meanwhile. It is small in tests and
/// fuzzing, so that batches are cut there.
pub const MOST: usize = if cfg!(any(fuzzing, debug_assertions)) { 64 } else { 1 << 18 };

/// Handles on their way to a link, by the link that they come from.
pub type Incoming = Vec<(usize, Pipe<Handle>)>;

pub struct LinkBatch<'a> {
    pub link: usize,
    /// The link's propagation delay.
    pub delay: Interval,
    /// Its index once more if it has loss processes.
    pub lossy: Option<usize>,
    pub flows: &'a mut [Flow],
    /// What is on its way to each link from others.
    pub incoming: &'a mut [Incoming],
    /// When something happens next at each link.
    pub wakes: &'a mut WakeIndex,
    /// The ends whose packets came, or left.
    pub active: &'a mut Vec<End>,
    /// Whether it [asks for memory ahead](ahead).
    pub many: bool,
    /// Then: packets that leave the link, and those that are [`GONE`]; nothing has been done with them.
    pub later: &'a mut Vec<(Handle, Time)>,
}

impl LinkBatch<'_> {
    /// Collects what comes before `until` from other links, and from the ends to whose packets these handles
    /// belong. Returns how many packets come; those that loss processes take are not among the arrivals.
    #[inline(never)] // a loop that needs the registers
    pub fn collect(
        &mut self,
        sources: &[(Rank, Handle)],
        until: Time,
        arrivals: &mut Arrivals,
        counters: &mut LinkCounters,
    ) -> usize {
        let (mut admitted, mut added) = (0, 0);
        let mut pipes = core::mem::take(&mut self.incoming[self.link]);
        for (_, pipe) in &mut pipes {
            let most = pipe.len().min(MOST - admitted);
            added += arrivals.add(most, |room| {
                admitted += pipe.admit(until, most, |_, at, handle| {
                    let losses = &mut self.flows[handle.end().host().0].losses;
                    if self.lossy.is_some_and(|link| losses.strike(link, handle.kind())) {
                        self.discard(*handle);
                    } else {
                        room.put(at, *handle);
                    }
                    at
                });
            });
            pipe.leave(|_, _| true);
        }
        self.incoming[self.link] = pipes;
        for (place, &(_, source)) in sources.iter().enumerate() {
            if self.many {
                let next = |places: usize| sources.get(place + places).map(|(_, source)| source.end());
                ask(self.flows, next(ahead::PIPE), Flow::prefetch_pipe);
                ask(self.flows, next(ahead::FIRST_PACKETS), Flow::prefetch_next);
                if self.lossy.is_some() {
                    ask(self.flows, next(ahead::PIPE), |flow, _| flow.prefetch_losses());
                }
            }
            let (id, data) = source.end().host();
            let flow = &mut self.flows[id];
            let ring = flow.on_the_way_mut(data);
            activate(ring, source.end(), self.active);
            let most = ring.under_way().min(MOST - admitted);
            added += arrivals.add(most, |room| {
                admitted += flow.admit(data, (until, most), self.lossy, |number, at, packet| {
                    room.put(at, source.of(packet, number));
                    Some(WAITS)
                });
            });
        }
        counters.packets_lost += (admitted - added) as u64;
        admitted
    }

    /// Does what was left for the end of the batch.
    pub fn settle_all(&mut self) {
        let later = core::mem::take(self.later);
        for (place, &(handle, outcome)) in later.iter().enumerate() {
            let next = |places: usize| later.get(place + places).map(|&(handle, _)| handle);
            ask(self.flows, next(ahead::PIPE).map(Handle::end), Flow::prefetch_route);
            if let Some(handle) = next(ahead::PACKETS) {
                let prefetch = |flow: &Flow, data| flow.on_the_way(data).prefetch_number(handle.number());
                ask(self.flows, Some(handle.end()), prefetch);
            }
            if outcome == GONE { self.discard(handle) } else { self.leave(handle, outcome) }
        }
        *self.later = later;
        self.later.clear();
    }

    #[inline(always)]
    fn leave(&mut self, handle: Handle, at: Time) {
        if !handle.is_straight() {
            return self.leave_apart(handle, at);
        }
        let (outcome, packet) = self.waiting(handle);
        debug_assert!(*outcome == WAITS, "a packet that has left");
        *outcome = at;
        packet.ecn = handle.ecn();
    }

    /// The packet goes to its next link, or leaves the last one, perhaps before others of its end.
    #[inline(never)]
    fn leave_apart(&mut self, handle: Handle, departure: Time) {
        let (id, data) = handle.end().host();
        let flow = &mut self.flows[id];
        if handle.links() == 0 {
            flow.take_one(handle, departure);
            return activate(flow.on_the_way_mut(data), handle.end(), self.active);
        }
        let path = if data { &flow.route.forward } else { &flow.route.reverse };
        let (next, at) = (path[path.len() - handle.links()], departure + self.delay);
        let idle_until = &mut self.wakes.links[next].idle_until;
        *idle_until = at.min(*idle_until);
        pipe_of(&mut self.incoming[next], self.link).push(at, handle.at_next_link());
    }

    #[inline(never)]
    pub fn discard(&mut self, handle: Handle) {
        self.flows[handle.end().host().0].drop(handle.kind());
        let (outcome, _) = self.waiting(handle);
        if *outcome == WAITS {
            *outcome = GONE;
        } else {
            *outcome += COPY; // a copy of it is still on its way
        }
    }

    /// The packet in its ring; its end becomes active.
    #[inline(always)]
    fn waiting(&mut self, handle: Handle) -> &mut (Time, SimPacket) {
        let (id, data) = handle.end().host();
        let ring = self.flows[id].on_the_way_mut(data);
        activate(ring, handle.end(), self.active);
        let Some(waiting) = ring.waiting_mut(handle.number()) else { unreachable!("a packet that has left") };
        waiting
    }
}

impl Exit<Handle> for LinkBatch<'_> {
    const RUNS_AHEAD: bool = true;

    #[inline(always)]
    fn departs(&mut self, handle: Handle, at: Time) {
        if self.many {
            self.later.push((handle, at));
        } else {
            self.leave(handle, at);
        }
    }

    fn drops(&mut self, handle: Handle, _: DropReason) {
        if self.many {
            self.later.push((handle, GONE));
        } else {
            self.discard(handle);
        }
    }

    /// Both copies have the same handle.
    fn doubles(&mut self, handle: Handle) {
        debug_assert!(handle.may_overtake(), "a copy that keeps its order");
        self.flows[handle.end().host().0].double();
        let (outcome, _) = self.waiting(handle);
        *outcome = *outcome - COPY;
    }
}

impl Exit<Loan> for LinkBatch<'_> {
    const RUNS_AHEAD: bool = true;

    fn departs(&mut self, loan: Loan, at: Time) {
        let (_, packet) = self.waiting(loan.handle);
        packet.extra = loan.extra;
        self.departs(loan.handle, at);
    }

    fn drops(&mut self, loan: Loan, reason: DropReason) {
        self.drops(loan.handle, reason);
    }
}

/// Makes an end, whose ring this is, active, unless it is already.
#[inline(always)]
pub fn activate(ring: &mut Pipe<SimPacket>, end: End, active: &mut Vec<End>) {
    if !core::mem::replace(&mut ring.is_active, true) {
        active.push(end);
    }
}

/// The loan of a packet with what it carries besides the usual, which is in its ring.
pub fn lend(flows: &mut [Flow], handle: Handle) -> Loan {
    let (id, data) = handle.end().host();
    let waiting = flows[id].on_the_way_mut(data).waiting_mut(handle.number());
    Loan { handle, extra: waiting.and_then(|(_, packet)| packet.extra.take()) }
}
