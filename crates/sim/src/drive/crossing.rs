//! A batch from many flows over a link whose departures are arithmetic: first the link takes all arrivals in order,
//! which needs nothing of the flows but sizes. Then each flow takes its own packets one after the other, so that its
//! state comes into the cache once.

use super::arrivals::Crossing;
use super::batches::{Driver, Fast, Kept, fast_path};
use super::road::Departures;
use super::sources::{SOURCE_BITS, Source};
use crate::model::flow::{Flow, Way};
use crate::model::link::Arithmetic;
use crate::results::outcome::RunError;
use longfat_units::{Interval, Time};

/// From this many sources on, what they need is seldom in the cache (chosen here).
const MANY: usize = 512;
/// The first packets of so many sources are read before the loop over them (chosen here).
const PIPES_AHEAD: usize = 32;
/// The state of so many flows is read before the loop over them (chosen here; some ten lines of the cache each).
const FLOWS_AHEAD: usize = 8;

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
        crossing.clear();
        arrivals.clear(until.since(from).as_ns() << SOURCE_BITS);
        for group in sources.chunks(PIPES_AHEAD) {
            if sources.len() >= MANY {
                read(flows, group, |flow, data| flow.on_the_way(data).read_first());
            }
            for &source in group {
                let (flow, data) = source.host();
                let Flow { sending, receiving, losses, .. } = &mut flows[flow];
                let pipe = if data { &sending.outgoing } else { &receiving.outgoing };
                for (at, packet) in pipe.iter().take_while(|(at, _)| *at < until) {
                    let mut new = Crossing { bytes: packet.bytes.into(), departs_at: Time::NEVER };
                    if way == Way::Lossy && losses.strike(index, packet.kind) {
                        new.bytes = Crossing::LOST;
                    } else {
                        arrivals.push(at.since(from).as_ns() << SOURCE_BITS | crossing.len() as u64);
                    }
                    crossing.push(new);
                }
            }
        }
        let keys = arrivals.sorted();
        match queue {
            Arithmetic::Constant(fifo) => offer_all(keys, crossing, from, fifo),
            Arithmetic::Ticking(fifo) => offer_all(keys, crossing, from, fifo),
        }
        counters.packets_in += keys.len() as u64;
        *events += crossing.len() as u64;
        let mut rest = crossing.iter();
        let mut failed = None;
        for group in sources.chunks(FLOWS_AHEAD) {
            if sources.len() >= MANY {
                read(flows, group, Flow::read);
            }
            for &source in group {
                let (id, data) = source.host();
                let flow = &mut flows[id];
                while flow.head(data) < until
                    && let Some(packet) = rest.next()
                {
                    if way == Way::Lossy && packet.bytes == Crossing::LOST {
                        flow.lose(data, counters);
                    } else if data {
                        flow.cross_data(|_| packet.departure(), counters, delay);
                    } else {
                        flow.cross_acks(|_| packet.departure(), counters, delay);
                    }
                }
                if data {
                    feeds.look_at_receiver(id, flow);
                } else {
                    feeds.look_at_sender(id, flow);
                    if flow.sending.sender.has_failed() {
                        failed = failed.or(Some(id));
                    }
                }
            }
        }
        failed.map_or(Ok(true), |id| self.run.check_algorithm(id).map(|()| true))
    }
}

/// Reads what a loop over these sources is going to need. That loop waits for each source in turn, while the
/// processor reads for many at once here.
#[inline(always)]
fn read(flows: &[Flow], sources: &[Source], what: impl Fn(&Flow, bool) -> u64) {
    let all = sources.iter().map(|source| {
        let (flow, data) = source.host();
        what(&flows[flow], data)
    });
    core::hint::black_box(all.fold(0, |all, one| all ^ one));
}

/// Asks a queue, in the order of the keys, when each arrival departs.
#[inline(always)]
fn offer_all(keys: &[u64], crossing: &mut [Crossing], from: Time, queue: &mut impl Departures) {
    for &key in keys {
        let now = from + Interval::from_ns(key >> SOURCE_BITS);
        let Crossing { bytes, departs_at } = &mut crossing[(key & ((1 << SOURCE_BITS) - 1)) as usize];
        *departs_at = queue.offer(now, *bytes).unwrap_or(Time::NEVER);
    }
}
