//! The only special case of the [way over a link](super::cross): all packets come straight from ends and go
//! straight to others, and departures are computed. So a link needs nothing of a packet but its size. It has
//! one loop for few ends (W1 and W2), and one for many (W3).

use super::arrivals::{PLACE_BITS, place_of, time_of};
use super::backlog::note;
use super::collect::{Collecting, Record};
use crate::model::flow::Flow;
use crate::model::link::{LinkCounters, Origin};
use core::slice;
use longfat_net::{Departures, GONE};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Kind, Packet, SimPacket};

/// The first arrivals of up to this many ends are compared with each other; those of more are sorted.
pub const FEW_ORIGINS: usize = 4;
/// No packet comes.
const NEVER: u64 = u64::MAX;

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
    /// each is written where it is.
    #[inline(never)] // a loop that needs the registers
    pub fn serve_few<Q: Departures>(&mut self, origins: &[Origin], queue: &mut Q) -> u64 {
        let &mut Collecting { link, is_lossy, from, until, .. } = self;
        let Collecting { flows, counters, noted, .. } = self;
        let key = |at: Time, place: usize| {
            if at < until { at.since(from).as_ns() << PLACE_BITS | place as u64 } else { NEVER }
        };
        let mut heads = [NEVER; FEW_ORIGINS];
        for (place, origin) in origins.iter().enumerate() {
            let (id, data) = origin.end.host();
            let ring = flows[id].on_the_way_mut(data);
            note(ring, origin.end, noted);
            heads[place] = key(ring.head(), place);
        }
        let mut events = 0;
        loop {
            let first = heads.iter().fold(NEVER, |first, &head| first.min(head));
            if first == NEVER {
                return events;
            }
            let place = place_of(first);
            let others =
                heads.iter().filter(|&&head| head != first).fold(NEVER, |first, &head| first.min(head));
            // usually several packets of one end come before the next one of another
            let turn = if others == NEVER {
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
                let offered = queue.offer(now, packet.bytes(), packet.ecn != Ecn::NotCapable);
                counters.count(offered, || packet.ecn = Ecn::Marked).unwrap_or_else(|_| {
                    dropped += 1;
                    drop(packet.kind)
                })
            });
            heads[place] = key(ring.head(), place);
            counters.packets_in += admitted as u64 - (lost_data + lost_others - dropped);
            events += admitted as u64;
            flow.drop_many(lost_data, lost_others);
        }
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
        let offered = queue.offer(time_of(key, from), offer.bytes.into(), offer.ecn != Ecn::NotCapable);
        offer.departs_at = counters.count(offered, || offer.ecn = Ecn::Marked).unwrap_or(GONE);
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
