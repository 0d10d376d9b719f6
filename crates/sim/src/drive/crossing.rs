//! A batch from many flows over a link whose departures are arithmetic: first the link takes all arrivals in order,
//! which needs nothing of the flows but sizes. Then each flow takes its own packets one after the other, so that its
//! state comes into the cache once.

use super::ahead;
use super::arrivals::{Arrivals, Crossing};
use super::batches::{Driver, Fast, Kept, MANY_ARRIVALS, fast_path};
use super::sources::{SOURCE_BITS, Source};
use crate::model::flow::{Flow, Way};
use crate::model::link::{Crossed, Departures, LinkCounters, each_arithmetic};
use crate::results::outcome::RunError;
use core::slice;
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Packet};

impl Driver<'_> {
    /// The arrivals from many sources cross a link that [has a fast path](fast_path). Returns false if the link has
    /// none.
    pub(super) fn cross(
        &mut self,
        index: usize,
        sources: &[Source],
        (from, until): (Time, Time),
        way: Way,
    ) -> Result<bool, RunError> {
        let Driver { run, kept, .. } = self;
        let Some(Fast { flows, queue, counters, delay }) = fast_path(run, index, way) else {
            return Ok(false);
        };
        let Kept { feeds, arrivals, crossing, events, .. } = &mut **kept;
        arrivals.clear(until.since(from).as_ns() << SOURCE_BITS);
        let judges = queue.judges();
        let collect = match (way, judges) {
            (Way::Plain, false) => collect::<false, false>,
            (Way::Plain, true) => collect::<false, true>,
            (Way::Lossy | Way::Long, false) => collect::<true, false>,
            (Way::Lossy | Way::Long, true) => collect::<true, true>,
        };
        let crossed = collect(index, sources, (from, until), flows, arrivals, crossing);
        let keys = arrivals.sorted();
        each_arithmetic!(queue, fifo => offer_all(keys, crossing, from, &mut **fifo));
        counters.packets_in += keys.len() as u64;
        *events += crossed as u64;
        let mut rest = crossing[..crossed].iter();
        let mut failed = None;
        for (place, &source) in sources.iter().enumerate() {
            if ahead::pays(sources) {
                ahead::at(flows, sources, place + ahead::STATE, Flow::prefetch_state);
                ahead::at(flows, sources, place + ahead::PACKETS, Flow::prefetch_packets);
                ahead::at(flows, sources, place + ahead::EXTRAS, Flow::prefetch_extras);
            }
            let (id, data) = source.host();
            let flow = &mut flows[id];
            let take = match (data, judges) {
                (true, false) => take::<true, false>,
                (true, true) => take::<true, true>,
                (false, false) => take::<false, false>,
                (false, true) => take::<false, true>,
            };
            take(flow, &mut rest, until, counters, delay);
            if data {
                feeds.look_at_receiver(id, flow);
            } else {
                feeds.look_at_sender(id, flow);
                if flow.sending.sender.has_failed() {
                    failed = failed.or(Some(id));
                }
            }
        }
        failed.map_or(Ok(true), |id| self.run.check_algorithm(id).map(|()| true))
    }
}

// Each loop is a function of its own: it needs all registers.

/// Collects what reaches the link before `until`: sizes by sources, and keys of what meets the queue. Returns how many
/// packets there are.
#[inline(never)]
fn collect<const LOSSY: bool, const JUDGES: bool>(
    link: usize,
    sources: &[Source],
    (from, until): (Time, Time),
    flows: &mut [Flow],
    arrivals: &mut Arrivals,
    crossing: &mut Vec<Crossing>,
) -> usize {
    let mut crossed = 0;
    for (place, &source) in sources.iter().enumerate() {
        if ahead::pays(sources) {
            ahead::to_collect(flows, sources, place);
            if LOSSY {
                ahead::at(flows, sources, place + ahead::PIPE, |flow, _| flow.prefetch_losses());
            }
        }
        let (flow, data) = source.host();
        let Flow { sending, receiving, losses, .. } = &mut flows[flow];
        let pipe = if data { &mut sending.outgoing } else { &mut receiving.outgoing };
        let most = pipe.len().min(MANY_ARRIVALS); // with more than that, nobody collects them
        if crossing.len() < crossed + most {
            crossing.resize(crossed + most, Crossing::NONE);
        }
        let first = crossed;
        let room = &mut crossing[first..first + most];
        arrivals.add(most, |keys| {
            let mut key = 0;
            'packets: for stretch in pipe.stretches() {
                for (at, packet) in stretch {
                    if *at >= until {
                        break 'packets;
                    }
                    let crossing = &mut room[crossed - first];
                    if LOSSY && losses.strike(link, packet.kind) {
                        crossing.bytes = Crossing::LOST;
                    } else {
                        debug_assert!(from <= *at, "an arrival before the batch");
                        crossing.bytes = packet.bytes();
                        if JUDGES {
                            crossing.markable = packet.ecn != Ecn::NotCapable;
                        }
                        keys[key] = (at.as_ns() - from.as_ns()) << SOURCE_BITS | crossed as u64;
                        key += 1;
                    }
                    crossed += 1;
                }
            }
            key
        });
    }
    crossed
}

/// Asks a queue, in the order of the keys, when each arrival departs.
#[inline(never)]
fn offer_all<Q: Departures>(keys: &[u64], crossing: &mut [Crossing], from: Time, queue: &mut Q) {
    for &key in keys {
        let now = from.later_by(Interval::from_ns(key >> SOURCE_BITS));
        let packet = &mut crossing[(key & ((1 << SOURCE_BITS) - 1)) as usize];
        let (reason, departs_at) = match queue.offer(now, packet.bytes, Q::JUDGES && packet.markable) {
            Crossed::Departs(at) => (None, at),
            Crossed::Marked(at, reason) => (Some(reason), at),
            Crossed::Dropped(reason) => (Some(reason), Time::NEVER),
            Crossed::Lost => (None, Time::NEVER),
        };
        packet.departs_at = departs_at;
        if Q::JUDGES {
            packet.reason = reason;
        }
    }
}

/// The packets of a flow that cross the link, the first of `rest`, come to their end: data to the receiver, or
/// acknowledgements to the sender.
#[inline(never)]
fn take<const DATA: bool, const JUDGES: bool>(
    flow: &mut Flow,
    rest: &mut slice::Iter<'_, Crossing>,
    until: Time,
    counters: &mut LinkCounters,
    delay: Interval,
) {
    let next = |_: &mut _, _, _: &mut _| {
        debug_assert!(!rest.as_slice().is_empty(), "a packet that was not collected");
        Some(rest.next().map_or(Crossed::Lost, |packet| packet.outcome::<JUDGES>()))
    };
    if DATA {
        flow.cross_data(|at| at < until, next, counters, delay, 0);
    } else {
        flow.cross_acks(|at| at < until, next, counters, delay, 0);
    }
}
