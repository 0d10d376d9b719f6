//! A batch at a link that asks its queue for packets, in a tight loop over arrivals and departures.

use super::ahead;
use super::batches::Driver;
use super::left::Left;
use super::sources::{FEW_SOURCES, Source, arrival, earliest, source};
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
    /// The last packets that left, if their flows are so many that each has to be asked for before it takes its own.
    lagging: Option<Lagging>,
}

/// So many packets wait until their flows are in the cache (chosen here, as the constants of [`ahead`]).
const LAG: usize = 4;

/// Packets that have left a link, in a ring, each with the time of its last bit.
struct Lagging {
    packets: [Option<(SimPacket, Time)>; LAG],
    oldest: usize,
}

impl Lagging {
    const NONE: Lagging = Lagging { packets: [const { None }; LAG], oldest: 0 };

    /// Another packet has left, or none. Returns the one that left [`LAG`] calls ago.
    #[inline(always)]
    fn push(&mut self, packet: Option<(SimPacket, Time)>) -> Option<(SimPacket, Time)> {
        let oldest = core::mem::replace(&mut self.packets[self.oldest], packet);
        self.oldest = (self.oldest + 1) % LAG;
        oldest
    }

    /// The one that [`Lagging::push`] returns after this many more.
    #[inline(always)]
    fn after(&self, pushes: usize) -> Option<&SimPacket> {
        self.packets[(self.oldest + pushes) % LAG].as_ref().map(|(packet, _)| packet)
    }
}

/// Does this with a packet's flow, if it has one, and whether the packet is on the way to its receiver.
#[inline(always)]
fn with_flow(flows: &[Flow], packet: &SimPacket, what: impl Fn(&Flow, bool)) {
    if let Some(flow) = flows.get(packet.flow.0 as usize) {
        what(flow, packet.kind.is_forward());
    }
}

impl Ends<'_> {
    /// A packet that has left goes on to its end, or to its next link.
    #[inline(always)]
    fn hand_over(&mut self, packet: SimPacket, at: Time) {
        let id = packet.flow.0 as usize;
        match self.flows.get_mut(id) {
            Some(flow) if flow.route.path(packet.kind).len() == usize::from(packet.hop) + 1 => {
                flow.pass_on(packet, at + self.delay, true);
                self.left.note(id);
            }
            _ => self.left.onward.push((packet, at)),
        }
    }

    /// Hands over the packets that lag behind.
    fn hand_over_all(&mut self) {
        let Some(mut lagging) = self.lagging.take() else { return };
        for _ in 0..LAG {
            if let Some((packet, at)) = lagging.push(None) {
                self.hand_over(packet, at);
            }
        }
    }
}

impl Exit<SimPacket> for Ends<'_> {
    #[inline(always)]
    fn depart(&mut self, packet: SimPacket, at: Time) {
        let Some(lagging) = &mut self.lagging else { return self.hand_over(packet, at) };
        with_flow(self.flows, &packet, Flow::prefetch_state);
        if let Some(next) = lagging.after(LAG / 2) {
            with_flow(self.flows, next, Flow::prefetch_answers);
        }
        if let Some((packet, at)) = lagging.push(Some((packet, at))) {
            self.hand_over(packet, at);
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
        road.ends.hand_over_all();
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

    /// Does this with the flow of the packet with this sort key, if there is one, and whether its sender sends it.
    #[inline(always)]
    fn at(&self, key: Option<&u64>, sources: &[Source], what: impl Fn(&Flow, bool)) {
        if let Some(&key) = key {
            let (id, data) = source(key, sources).host();
            what(&self.ends.flows[id], data);
        }
    }

    /// The packets with these sort keys come to the link.
    #[inline(never)]
    fn take_all(&mut self, keys: &[u64], sources: &[Source], from: Time) {
        for (place, &key) in keys.iter().enumerate() {
            if ahead::pays(sources) {
                self.at(keys.get(place + ahead::PIPE), sources, |flow, data| {
                    flow.prefetch_pipe(data);
                    flow.prefetch_losses();
                });
                self.at(keys.get(place + ahead::FIRST_PACKETS), sources, Flow::prefetch_first);
            }
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
        let lagging = ahead::pays(sources).then_some(Lagging::NONE);
        let ends = Ends { flows, delay: links[index].delay, left: &mut self.kept.left, lagging };
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

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_wire::FlowId;

    #[test]
    fn packets_that_lag_come_in_order_and_each_once_however_many_they_are() {
        for packets in 0..3 * LAG {
            let mut lagging = Lagging::NONE;
            let seen = |left: Option<(SimPacket, Time)>| left.map(|(packet, at)| (packet.seq, at.as_ns()));
            let mut come = Vec::new();
            for seq in 0..packets as u64 {
                let packet = SimPacket::new(Kind::Data, FlowId(0), seq, 1500, Time::ZERO);
                let next = lagging.after(LAG / 2).map(|packet| packet.seq);
                assert_eq!(next, (seq >= LAG as u64 / 2).then(|| seq - LAG as u64 / 2));
                come.extend(seen(lagging.push(Some((packet, Time::from_ns(10 * seq))))));
            }
            assert_eq!(come.len(), packets.saturating_sub(LAG), "the last ones lag");
            come.extend((0..LAG).filter_map(|_| seen(lagging.push(None))));
            assert!(come.into_iter().eq((0..packets as u64).map(|seq| (seq, 10 * seq))), "{packets}");
        }
    }
}
