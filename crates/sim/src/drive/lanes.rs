//! A batch at a link that asks its queue for packets, in a tight loop over arrivals and departures.

use super::batches::Driver;
use super::left::Left;
use super::sources::{FEW_SOURCES, Source, arrival, earliest};
use crate::model::flow::Flow;
use crate::model::link::{Exit, Lane};
use crate::run::state::Simulation;
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, SimPacket};

/// The way out of a link.
struct Ends<'a> {
    flows: &'a mut [Flow],
    delay: Interval,
    left: &'a mut Left,
}

impl Exit<SimPacket> for Ends<'_> {
    #[inline]
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

/// A lane and the way out of it.
struct Road<'a> {
    lane: Lane<'a, SimPacket>,
    ends: Ends<'a>,
    index: usize,
    events: u64,
}

impl Road<'_> {
    /// The next packet of a host comes to the link. Returns when the one after it does.
    #[inline(always)]
    fn take(&mut self, now: Time, source: Source) -> Time {
        self.events += 1 + self.lane.advance(now, &mut self.ends);
        let (flow, data) = source.host();
        let flow = &mut self.ends.flows[flow];
        let pipe = if data { &mut flow.sending.outgoing } else { &mut flow.receiving.outgoing };
        let packet = pipe.pop();
        let next = pipe.head();
        let Some(packet) = packet else { return next };
        if flow.losses.strike(self.index, packet.kind) {
            self.lane.counters.packets_lost += 1;
            flow.drop(packet.kind);
        } else {
            self.lane.arrive(now, packet, &mut self.ends);
        }
        next
    }
}

impl Driver<'_> {
    /// Runs a link through the batch if it has a lane and its packets come from hosts. Returns whether it has.
    pub(super) fn lane(&mut self, index: usize, sources: &[Source], from: Time, until: Time) -> bool {
        let hosts = sources.iter().all(|source| matches!(source, Source::Data(_) | Source::Acks(_)));
        if !hosts || self.run.messages.is_some() || self.run.links[index].lane().is_none() {
            return false;
        }
        let few = sources.len() <= FEW_SOURCES;
        let mut all = core::mem::take(&mut self.kept.arrivals);
        if !few {
            self.collect(&mut all, sources, from, until);
        }
        self.kept.left.noted.resize(self.run.flows.len(), false);
        let Simulation { links, flows, .. } = &mut *self.run;
        let delay = links[index].delay;
        let Some(lane) = links[index].lane() else { return false };
        let ends = Ends { flows, delay, left: &mut self.kept.left };
        let mut road = Road { lane, ends, index, events: 0 };
        if few {
            let mut heads = [Time::NEVER; FEW_SOURCES];
            for (head, &source) in heads.iter_mut().zip(sources) {
                let (flow, data) = source.host();
                *head = road.ends.flows[flow].head(data);
            }
            while let Some((first, now)) = earliest(&heads, until) {
                heads[first] = road.take(now, sources[first]);
            }
        } else {
            for &key in all.sorted() {
                let (now, source) = arrival(key, sources, from);
                road.take(now, source);
            }
        }
        // events of the link at `until` belong to the next batch
        self.kept.events += road.events + road.lane.advance(until - Interval::from_ns(1), &mut road.ends);
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
