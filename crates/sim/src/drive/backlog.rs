//! What becomes of the packets that wait in the rings of their ends: the second step of the
//! [way over a link](super::cross) writes it there.

use super::ahead;
use crate::model::flow::Flow;
use crate::model::link::{End, Exit, Handle, Loan};
use longfat_net::{Address, DropReason, GONE, Pipe, WAITS};
use longfat_units::{Interval, Time};
use longfat_wire::{Packet, SimPacket};

const NANOSECOND: Interval = Interval::from_ns(1);

/// Handles on their way to a link, by the link that they come from.
pub type Incoming = Vec<(usize, Pipe<Handle>)>;

/// The packets that wait in the rings of their ends.
#[derive(Default)]
pub struct Backlog {
    /// The ends whose packets came, or left, in this batch.
    pub noted: Vec<End>,
    /// What becomes of packets, written into the rings at the end of the batch. With very many ends, each
    /// ring has to be asked for before.
    pub later: Vec<(Handle, Time)>,
    /// Whether that is so in this batch.
    pub defers: bool,
    /// Packets that have left their last link, perhaps before others of their end.
    pub loose: Vec<(Handle, Time)>,
}

impl Backlog {
    /// Writes what was kept for the end of the batch.
    pub fn settle_all(&mut self, flows: &mut [Flow]) {
        let later = core::mem::take(&mut self.later);
        for (place, &(handle, outcome)) in later.iter().enumerate() {
            if let Some((id, data)) = later.get(place + ahead::PIPE).map(|(handle, _)| handle.end().host()) {
                flows[id].prefetch_pipe(data);
            }
            if let Some((handle, _)) = later.get(place + ahead::PACKETS) {
                let (id, data) = handle.end().host();
                flows[id].on_the_way(data).prefetch_number(handle.number());
            }
            settle(flows, &mut self.noted, handle, outcome);
        }
        self.later = later;
        self.later.clear();
    }
}

/// Where packets go that leave a link.
pub struct Outlet<'a> {
    pub flows: &'a mut [Flow],
    pub backlog: &'a mut Backlog,
    pub incoming: &'a mut [Incoming],
    pub idle_until: &'a mut [Time],
    pub link: usize,
    pub delay: Interval,
}

impl Outlet<'_> {
    #[inline(always)]
    fn settle(&mut self, handle: Handle, outcome: Time) {
        let Backlog { noted, later, defers, .. } = &mut *self.backlog;
        if *defers {
            later.push((handle, outcome));
        } else {
            settle(self.flows, noted, handle, outcome);
        }
    }

    /// The packet goes to its next link, or leaves the last one before others of its end.
    #[inline(never)]
    fn depart_apart(&mut self, handle: Handle, at: Time) {
        if handle.links() == 0 {
            return self.backlog.loose.push((handle, at));
        }
        let (id, data) = handle.end().host();
        let route = &self.flows[id].route;
        let path = if data { &route.forward } else { &route.reverse };
        let (next, at) = (path[path.len() - handle.links()], at + self.delay);
        self.idle_until[next] = self.idle_until[next].min(at);
        let incoming = &mut self.incoming[next];
        let place = incoming.binary_search_by_key(&self.link, |(from, _)| *from).unwrap_or_else(|place| {
            incoming.insert(place, (self.link, Pipe::default()));
            place
        });
        incoming[place].1.push(at, handle.at_next_link());
    }
}

impl Exit<Handle> for Outlet<'_> {
    const RUNS_AHEAD: bool = true;

    #[inline(always)]
    fn departs(&mut self, handle: Handle, at: Time) {
        if handle.is_straight() {
            self.settle(handle, at);
        } else {
            self.depart_apart(handle, at);
        }
    }

    #[inline(always)]
    fn drops(&mut self, handle: Handle, _: DropReason) {
        self.settle(handle, GONE);
    }

    /// Both copies have the same handle.
    fn doubles(&mut self, handle: Handle) {
        debug_assert!(handle.is_loose(), "a copy that keeps its order");
        let (id, data) = handle.end().host();
        let flow = &mut self.flows[id];
        flow.double();
        if let Some((known, _)) = flow.on_the_way_mut(data).waiting_mut(handle.number()) {
            *known = *known - NANOSECOND;
        }
    }

    fn originates(&mut self, _: Handle, _: Address) {
        debug_assert!(false, "the oracle runs plans whose elements send messages");
    }
}

impl Exit<Loan> for Outlet<'_> {
    const RUNS_AHEAD: bool = true;

    fn departs(&mut self, loan: Loan, at: Time) {
        let Loan { handle, extra } = loan;
        let (id, data) = handle.end().host();
        if let Some((_, packet)) = self.flows[id].on_the_way_mut(data).waiting_mut(handle.number()) {
            packet.extra = extra;
        }
        self.departs(handle, at);
    }

    fn drops(&mut self, loan: Loan, reason: DropReason) {
        self.drops(loan.handle, reason);
    }

    fn doubles(&mut self, loan: Loan) {
        debug_assert!(false, "the oracle runs plans in which packets with headers are doubled");
        self.doubles(loan.handle);
    }

    fn originates(&mut self, loan: Loan, to: Address) {
        self.originates(loan.handle, to);
    }
}

/// Writes into the ring of its end what becomes of a packet.
#[inline(always)]
pub fn settle(flows: &mut [Flow], noted: &mut Vec<End>, handle: Handle, outcome: Time) {
    let (id, data) = handle.end().host();
    let flow = &mut flows[id];
    if outcome == GONE {
        flow.drop(handle.kind());
    }
    let ring = flow.on_the_way_mut(data);
    if let Some((known, packet)) = ring.waiting_mut(handle.number()) {
        if handle.is_loose() && *known != WAITS {
            *known += NANOSECOND; // a copy of it is still on its way
        } else {
            debug_assert!(*known == WAITS, "a packet that has left");
            *known = outcome;
            packet.ecn = handle.ecn();
        }
    }
    note(ring, handle.end(), noted);
}

/// Notes an end, whose ring this is, unless it is noted.
#[inline(always)]
pub fn note(ring: &mut Pipe<SimPacket>, end: End, noted: &mut Vec<End>) {
    if !core::mem::replace(&mut ring.is_noted, true) {
        noted.push(end);
    }
}
