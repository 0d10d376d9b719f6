//! The quick way of a batch over a link whose departures are arithmetic: the queue sees sizes only, and each
//! packet goes straight to the end that it is for.

use super::sources::{FEW_SOURCES, Source, earliest, turn};
use crate::model::flow::{Flow, PathLosses};
use crate::model::link::{Crossed, Departures, LinkCounters};
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, Packet, SimPacket};

/// The way from few hosts over a link that has arithmetic departures.
pub struct Road<'a> {
    pub link: usize,
    pub flows: &'a mut [Flow],
    pub sources: &'a [Source],
    pub heads: [Time; FEW_SOURCES],
    pub until: Time,
    pub counters: &'a mut LinkCounters,
    pub delay: Interval,
}

impl Road<'_> {
    /// Takes all arrivals through the queue and over the link; some may meet a loss process first if `LOSSY`. Returns
    /// how many there were.
    #[inline(never)] // its loops need the registers
    pub fn cross<const LOSSY: bool, Q: Departures>(&mut self, queue: &mut Q) -> u64 {
        let Road { link, flows, sources, heads, until, counters, delay } = self;
        let (mut arrived, lost_before) = (0, counters.packets_lost);
        while let Some((first, _)) = earliest(heads, *until) {
            let (flow, data) = sources[first].host();
            let flow = &mut flows[flow];
            // usually several packets of one source come before the next one of another
            let turn = turn(heads, first, *until);
            // a loop of its own for each direction, so that none asks which one it is for every packet
            heads[first] = if data {
                let meet = |losses: &mut _, now, packet: &mut _| {
                    Some(meet::<LOSSY, Q>(queue, &mut arrived, (*link, losses), now, packet))
                };
                flow.cross_data(|at| at < turn, meet, counters, *delay, 0)
            } else {
                let meet = |losses: &mut _, now, packet: &mut _| {
                    Some(meet::<LOSSY, Q>(queue, &mut arrived, (*link, losses), now, packet))
                };
                flow.cross_acks(|at| at < turn, meet, counters, *delay, 0)
            };
        }
        counters.packets_in += arrived;
        arrived + counters.packets_lost - lost_before
    }
}

/// What becomes of a packet at the link.
#[inline(always)]
fn meet<const LOSSY: bool, Q: Departures>(
    queue: &mut Q,
    arrived: &mut u64,
    (link, losses): (usize, &mut PathLosses),
    now: Time,
    packet: &SimPacket,
) -> Crossed {
    if LOSSY && losses.strike(link, packet.kind) {
        return Crossed::Lost;
    }
    *arrived += 1;
    queue.offer(now, packet.bytes(), Q::JUDGES && packet.ecn != Ecn::NotCapable)
}
