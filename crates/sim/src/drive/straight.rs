//! The only special case of the [way over a link](super::cross): all packets come straight from ends and go
//! straight to others, and departures are computed. So a link needs nothing of a packet but its size. With
//! few ends, W1 and W2 take fewer instructions by it, and with many ends W3 does (docs/performance.md).

use super::arrivals::{PLACE_BITS, place_of, time_of};
use super::backlog::note;
use super::collect::{Collecting, Record};
use crate::model::flow::Flow;
use crate::model::link::{Departures, LinkCounters, Origin};
use core::slice;
use longfat_net::{GONE, Offered};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Kind, Packet, SimPacket};

/// The first arrivals of up to this many ends are compared with each other; those of more are sorted.
pub const FEW_ORIGINS: usize = 4;

/// What is known of the packets of a batch, and room that others have used.
#[derive(Default)]
pub struct Straight {
    /// The first arrivals from each end, where the ends are few.
    pub heads: Heads,
    /// The packets by their places, where the ends are many.
    pub offers: Vec<Offer>,
}

/// A packet, and what becomes of it.
#[derive(Clone, Copy)]
#[repr(C)] // as in a packet
pub struct Offer {
    bytes: u16,
    kind: Kind,
    /// Its ECN field, changed if it is marked.
    ecn: Ecn,
    /// When its last bit leaves, or [`GONE`].
    departs_at: Time,
}

impl Record for Offer {
    const NONE: Self = Offer { bytes: 0, kind: Kind::Data, ecn: Ecn::NotCapable, departs_at: GONE };

    #[inline(always)]
    fn write(&mut self, at: Time, packet: &SimPacket, _: Origin, _: u32) -> Time {
        (self.bytes, self.kind, self.ecn) = (packet.bytes, packet.kind, packet.ecn);
        at // which saves a write
    }
}

impl Collecting<'_> {
    /// Steps 1 and 2 at once, for packets that come straight from some ends, and go straight to others, over
    /// a link whose departures are computed: the first packets of the ends are compared, and what becomes of
    /// each is written where it is. This is the only special case; W1 and W2 take fewer instructions by it
    /// (docs/performance.md).
    #[inline(never)] // a loop that needs the registers
    pub fn serve_few<Q: Departures>(&mut self, origins: &[Origin], heads: &mut Heads, queue: &mut Q) -> u64 {
        let &mut Collecting { link, is_lossy, from, until, .. } = self;
        let Collecting { flows, counters, noted, .. } = self;
        let key = |at: Time, place: usize| {
            if at < until { at.since(from).as_ns() << PLACE_BITS | place as u64 } else { Heads::NEVER }
        };
        let first_keys = origins.iter().enumerate().map(|(place, origin)| {
            let (id, data) = origin.end.host();
            let ring = flows[id].on_the_way_mut(data);
            note(ring, origin.end, noted);
            key(ring.head(), place)
        });
        heads.fill(origins.len(), first_keys);
        let mut events = 0;
        while heads.first() != Heads::NEVER {
            let place = place_of(heads.first());
            let others = heads.first_of_others(place);
            // usually several packets of one end come before the next one of another
            let turn = if others == Heads::NEVER {
                until
            } else {
                time_of(others, from) + Interval::from_ns(u64::from(place < place_of(others)))
            };
            let (id, data) = origins[place].end.host();
            let flow = &mut flows[id];
            let (ring, losses) = flow.ring_and_losses(data);
            let (mut lost_data, mut lost_others, mut dropped) = (0, 0, 0);
            let mut drop = |kind| {
                lost_data += u64::from(kind == Kind::Data);
                lost_others += u64::from(kind != Kind::Data);
                GONE
            };
            let admitted = ring.admit(turn, usize::MAX, |_, now, packet| {
                if is_lossy && losses.strike(link, packet.kind) {
                    counters.packets_lost += 1;
                    return drop(packet.kind);
                }
                match queue.offer(now, packet.bytes(), packet.ecn != Ecn::NotCapable) {
                    Offered::Departs(at) => at,
                    Offered::Marked(at, reason) => {
                        counters.marks[reason as usize] += 1;
                        packet.ecn = Ecn::Marked;
                        at
                    }
                    Offered::Dropped(reason) => {
                        counters.count_drop(reason);
                        dropped += 1;
                        drop(packet.kind)
                    }
                }
            });
            heads.set(place, key(ring.head(), place));
            counters.packets_in += admitted as u64 - (lost_data + lost_others - dropped);
            events += admitted as u64;
            flow.drop_many(lost_data, lost_others);
        }
        events
    }
}

/// Asks a queue, in the order of the keys, what becomes of each packet.
#[inline(never)] // a loop that needs the registers
pub fn offer_all<Q: Departures>(
    keys: &[u64],
    offers: &mut [Offer],
    from: Time,
    queue: &mut Q,
    counters: &mut LinkCounters,
) {
    for &key in keys {
        let offer = &mut offers[place_of(key)];
        offer.departs_at =
            match queue.offer(time_of(key, from), offer.bytes.into(), offer.ecn != Ecn::NotCapable) {
                Offered::Departs(at) => at,
                Offered::Marked(at, reason) => {
                    counters.marks[reason as usize] += 1;
                    offer.ecn = Ecn::Marked;
                    at
                }
                Offered::Dropped(reason) => {
                    counters.count_drop(reason);
                    GONE
                }
            };
    }
}

/// The packets of a flow that have met the queue come to their end; they are the first of `offers`.
#[inline(never)]
pub fn take_offered<const DATA: bool>(flow: &mut Flow, delay: Interval, offers: &mut slice::Iter<'_, Offer>) {
    let (mut dropped_data, mut dropped_others) = (0, 0);
    let outcome = |known, packet: &mut SimPacket| {
        let Some(offer) = (if known == GONE { None } else { offers.next() }) else { return known };
        packet.ecn = offer.ecn;
        if offer.departs_at == GONE {
            dropped_data += u64::from(packet.kind == Kind::Data);
            dropped_others += u64::from(packet.kind != Kind::Data);
        }
        offer.departs_at
    };
    if DATA {
        flow.take_data(delay, outcome);
    } else {
        flow.take_acks(delay, outcome);
    }
    flow.drop_many(dropped_data, dropped_others);
}

/// The first keys of several sources, of which the least one is known.
#[derive(Default)]
pub struct Heads {
    /// A complete binary tree of least keys: node i has the children 2 i and 2 i + 1, and the sources are the
    /// leaves.
    tree: Vec<u64>,
    leaves: usize,
}

impl Heads {
    /// No source has another key.
    pub const NEVER: u64 = u64::MAX;

    /// Forgets all; this many sources have these first keys.
    pub fn fill(&mut self, sources: usize, keys: impl Iterator<Item = u64>) {
        self.leaves = sources.max(2).next_power_of_two();
        self.tree.clear();
        self.tree.resize(2 * self.leaves, Self::NEVER);
        for (leaf, key) in self.tree[self.leaves..].iter_mut().zip(keys) {
            *leaf = key;
        }
        for i in (1..self.leaves).rev() {
            self.tree[i] = self.tree[2 * i].min(self.tree[2 * i + 1]);
        }
    }

    /// The least key.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.tree[1]
    }

    /// The least key of all sources but this one.
    #[inline(always)]
    pub fn first_of_others(&self, source: usize) -> u64 {
        let (mut i, mut first) = (self.leaves + source, Self::NEVER);
        while i > 1 {
            first = first.min(self.tree[i ^ 1]);
            i >>= 1;
        }
        first
    }

    /// This source has another first key.
    #[inline(always)]
    pub fn set(&mut self, source: usize, key: u64) {
        let (mut i, mut first) = (self.leaves + source, key);
        self.tree[i] = key;
        while i > 1 {
            first = first.min(self.tree[i ^ 1]);
            i >>= 1;
            self.tree[i] = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_least_head_comes_first_and_the_least_of_the_others_is_known(
            sources in 1usize..40,
            steps in proptest::collection::vec((0usize..40, proptest::option::of(0u64..1000)), 1..100),
        ) {
            let mut heads = Heads::default();
            let mut model = vec![7; sources];
            heads.fill(sources, model.iter().copied());
            for (source, key) in steps {
                let source = source % sources;
                model[source] = key.unwrap_or(Heads::NEVER);
                heads.set(source, model[source]);
                proptest::prop_assert_eq!(Some(heads.first()), model.iter().copied().min());
                for source in 0..sources {
                    let others = (0..sources).filter(|&other| other != source).map(|other| model[other]);
                    proptest::prop_assert_eq!(heads.first_of_others(source), others.min().unwrap_or(Heads::NEVER));
                }
            }
        }
    }
}
