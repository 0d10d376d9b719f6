//! The quick way of a batch over a link whose departures are arithmetic: the queue sees sizes only, and each
//! packet goes straight to the end that it is for.

use super::sources::{FEW_SOURCES, SOURCE_BITS, Source, earliest, turn};
use crate::model::flow::Flow;
use crate::model::link::LinkCounters;
use longfat_net::{ConstantFifo, TickingFifo};
use longfat_units::{Interval, Time};

/// A queue that knows at once when a packet departs.
pub trait Departures {
    /// A packet of `bytes` arrives. Returns when it departs, or `None` if there is no room for it.
    fn offer(&mut self, now: Time, bytes: u32) -> Option<Time>;
}

impl Departures for ConstantFifo {
    #[inline(always)]
    fn offer(&mut self, now: Time, bytes: u32) -> Option<Time> {
        ConstantFifo::offer(self, now, bytes)
    }
}

impl Departures for TickingFifo {
    #[inline(always)]
    fn offer(&mut self, now: Time, bytes: u32) -> Option<Time> {
        TickingFifo::offer(self, now, bytes)
    }
}

/// The way from few hosts over a link that has arithmetic departures.
pub struct Road<'a> {
    pub flows: &'a mut [Flow],
    pub sources: &'a [Source],
    pub heads: [Time; FEW_SOURCES],
    pub until: Time,
    pub counters: &'a mut LinkCounters,
    pub delay: Interval,
}

impl Road<'_> {
    /// Takes all arrivals through the queue and over the link. Returns how many there were.
    #[inline(always)]
    pub fn cross(&mut self, queue: &mut impl Departures) -> u64 {
        let Road { flows, sources, heads, until, counters, delay } = self;
        let mut events = 0;
        while let Some((first, mut now)) = earliest(heads, *until) {
            let (flow, data) = sources[first].host();
            let flow = &mut flows[flow];
            // usually several packets of one source come before the next one of another
            let turn = turn(heads, first, *until);
            // a loop of its own for each direction, so that none asks which one it is for every packet
            if data {
                while now < turn {
                    now = flow.cross_data(|bytes| queue.offer(now, bytes), counters, *delay);
                    events += 1;
                }
            } else {
                while now < turn {
                    now = flow.cross_acks(|bytes| queue.offer(now, bytes), counters, *delay);
                    events += 1;
                }
            }
            heads[first] = now;
        }
        counters.packets_in += events;
        events
    }
}

/// Asks a queue, in the order of the keys, when each arrival departs.
#[inline(always)]
pub fn offer_all(keys: &[u64], crossing: &mut [(u32, Time)], from: Time, queue: &mut impl Departures) {
    for &key in keys {
        let now = from + Interval::from_ns(key >> SOURCE_BITS);
        let (bytes, departure) = &mut crossing[(key & ((1 << SOURCE_BITS) - 1)) as usize];
        *departure = queue.offer(now, *bytes).unwrap_or(Time::NEVER);
    }
}
