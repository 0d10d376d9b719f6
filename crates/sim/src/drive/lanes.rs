//! A batch at a link that asks its queue for packets, in a tight loop over arrivals and departures.

use super::batches::Driver;
use super::left::Left;
use super::sources::{FEW_SOURCES, Source, arrival, earliest};
use crate::model::flow::Flow;
use crate::model::link::{Exit, Lane, Use};
use crate::run::state::Simulation;
use longfat_net::Element;
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, SimPacket};

/// The way out of a link.
struct Ends<'a> {
    flows: &'a mut [Flow],
    delay: Interval,
    left: &'a mut Left,
}

impl Exit<SimPacket> for Ends<'_> {
    #[inline(always)]
    fn depart(&mut self, packet: SimPacket, at: Time) {
        let id = packet.flow.0 as usize;
        match self.flows.get_mut(id) {
            Some(flow) if flow.route.path(packet.kind).len() == usize::from(packet.hop) + 1 => {
                flow.pass_on(packet, at + self.delay, true);
                self.left.note(id);
            }
            _ => self.left.onward.push((packet, at)),
        }
    }

    fn drop(&mut self, packet: SimPacket) {
        if packet.kind != Kind::Control
            && let Some(flow) = self.flows.get_mut(packet.flow.0 as usize)
        {
            flow.drop(packet.kind);
        }
    }
}

/// A batch of arrivals on their way through a lane.
struct Batch<'a> {
    ends: Ends<'a>,
    index: usize,
    sources: &'a [Source],
    /// Sort keys of the arrivals; none where the sources are few.
    keys: Option<&'a [u64]>,
    from: Time,
    until: Time,
    events: &'a mut u64,
}

impl Use<SimPacket> for Batch<'_> {
    fn through<E: Element<SimPacket> + ?Sized>(self, lane: Lane<'_, SimPacket, E>) {
        let Batch { ends, index, sources, keys, from, until, events } = self;
        let mut road = Road { lane, ends, index, events: 0 };
        match keys {
            Some(keys) => road.take_all(keys, sources, from),
            None => road.take_few(sources, until),
        }
        // events of the link at `until` belong to the next batch
        *events += road.events + road.lane.advance(until - Interval::from_ns(1), &mut road.ends);
    }
}

/// A lane and the way out of it.
struct Road<'a, E: ?Sized> {
    lane: Lane<'a, SimPacket, E>,
    ends: Ends<'a>,
    index: usize,
    events: u64,
}

impl<E: Element<SimPacket> + ?Sized> Road<'_, E> {
    /// The next packet of a host comes to the link. Returns when the one after it does.
    #[inline(always)]
    fn take(&mut self, now: Time, source: Source) -> Time {
        self.events += 1 + self.lane.advance(now, &mut self.ends);
        let (flow, data) = source.host();
        let flow = &mut self.ends.flows[flow];
        let pipe = if data { &mut flow.sending.outgoing } else { &mut flow.receiving.outgoing };
        // not `pop`: an optional packet goes through memory more often
        let Some(packet) = pipe.first_mut() else { return Time::NEVER };
        let packet = core::mem::take(packet);
        pipe.discard(1);
        let next = pipe.head();
        if flow.losses.strike(self.index, packet.kind) {
            self.lane.counters.packets_lost += 1;
            flow.drop(packet.kind);
        } else {
            self.lane.arrive(now, packet, &mut self.ends);
        }
        next
    }

    /// The packets of few hosts come to the link.
    #[inline(never)] // a loop that needs the registers
    fn take_few(&mut self, sources: &[Source], until: Time) {
        let mut heads = [Time::NEVER; FEW_SOURCES];
        for (head, &source) in heads.iter_mut().zip(sources) {
            let (flow, data) = source.host();
            *head = self.ends.flows[flow].head(data);
        }
        while let Some((first, now)) = earliest(&heads, until) {
            heads[first] = self.take(now, sources[first]);
        }
    }

    /// The packets with these sort keys come to the link.
    #[inline(never)]
    fn take_all(&mut self, keys: &[u64], sources: &[Source], from: Time) {
        for &key in keys {
            let (now, source) = arrival(key, sources, from);
            self.take(now, source);
        }
    }
}

impl Driver<'_> {
    /// Runs a link through the batch if it has a lane and its packets come from hosts. Returns whether it has.
    pub(super) fn lane(&mut self, index: usize, sources: &[Source], from: Time, until: Time) -> bool {
        let hosts = sources.iter().all(|source| matches!(source, Source::Data(_) | Source::Acks(_)));
        if !hosts || self.run.messages.is_some() || !self.run.links[index].has_lane() {
            return false;
        }
        let few = sources.len() <= FEW_SOURCES;
        let mut all = core::mem::take(&mut self.kept.arrivals);
        if !few {
            self.collect(&mut all, sources, from, until);
        }
        self.kept.left.noted.resize(self.run.flows.len(), false);
        let Simulation { links, flows, .. } = &mut *self.run;
        let ends = Ends { flows, delay: links[index].delay, left: &mut self.kept.left };
        let keys = (!few).then(|| all.sorted());
        let events = &mut self.kept.events;
        links[index].lane(Batch { ends, index, sources, keys, from, until, events });
        self.kept.arrivals = all;
        self.look_at_left(index);
        true
    }

    /// Notes when the flows act next whose packets have left link `index`, and sends on what has further to go.
    fn look_at_left(&mut self, index: usize) {
        let mut left = core::mem::take(&mut self.kept.left);
        for flow in left.flows.drain(..) {
            left.noted[flow] = false;
            self.look_at(flow);
        }
        for (packet, departure) in left.onward.drain(..) {
            if let Some(flow) = self.run.pass_on(index, packet, departure, true) {
                self.look_at(flow);
            }
        }
        self.kept.left = left;
    }
}
