//! The first step of the [way over a link](super::cross): what comes to it in a batch.

use super::ahead::{self, ask};
use super::arrivals::Arrivals;
use super::link_batch::{LinkBatch, activate};
use super::wakes::Rank;
use crate::model::flow::Flow;
use crate::model::link::{Handle, LinkCounters, Loan};
use longfat_net::WAITS;
use longfat_units::Time;
use longfat_wire::Packet;

/// The most arrivals that are sorted at once: the run cannot be stopped meanwhile. It is small in tests and
/// fuzzing, so that batches are cut there.
pub const MOST: usize = if cfg!(any(fuzzing, debug_assertions)) { 64 } else { 1 << 18 };

impl LinkBatch<'_> {
    /// Collects what comes before `until` from other links, and from the ends to whose packets these handles
    /// belong. Returns how many packets come; those that loss processes take are not among the arrivals.
    #[inline(never)] // a loop that needs the registers
    pub fn collect(
        &mut self,
        sources: &[(Rank, Handle)],
        until: Time,
        arrivals: &mut Arrivals,
        counters: &mut LinkCounters,
    ) -> usize {
        let (mut admitted, mut added) = (0, 0);
        let mut pipes = core::mem::take(&mut self.incoming[self.link]);
        for (_, pipe) in &mut pipes {
            let most = pipe.len().min(MOST - admitted);
            added += arrivals.add(most, |room| {
                admitted += pipe.admit(until, most, |_, at, handle| {
                    let (id, _) = handle.end().host();
                    let lossy = self.lossy;
                    if lossy.is_some_and(|link| self.flows[id].losses.strike(link, handle.kind())) {
                        self.discard(*handle);
                    } else {
                        room.put(at, *handle);
                    }
                    at
                });
            });
            pipe.leave(|_, _| true);
        }
        self.incoming[self.link] = pipes;
        for (place, &(_, source)) in sources.iter().enumerate() {
            if self.many {
                let next = |places: usize| sources.get(place + places).map(|(_, source)| source.end());
                ask(self.flows, next(ahead::PIPE), Flow::prefetch_pipe);
                ask(self.flows, next(ahead::FIRST_PACKETS), Flow::prefetch_next);
                if self.lossy.is_some() {
                    ask(self.flows, next(ahead::PIPE), |flow, _| flow.prefetch_losses());
                }
            }
            let (id, data) = source.end().host();
            let flow = &mut self.flows[id];
            let ring = flow.on_the_way_mut(data);
            activate(ring, source.end(), self.active);
            let most = ring.under_way().min(MOST - admitted);
            added += arrivals.add(most, |room| {
                admitted += flow.admit(data, (until, most), self.lossy, |number, at, packet| {
                    room.put(at, source.of(packet, number));
                    Some(WAITS)
                });
            });
        }
        counters.packets_lost += (admitted - added) as u64;
        admitted
    }
}

/// The loan of a packet with what it carries besides the usual, which is in its ring.
pub fn lend(flows: &mut [Flow], handle: Handle) -> Loan {
    let (id, data) = handle.end().host();
    let waiting = flows[id].on_the_way_mut(data).waiting_mut(handle.number());
    Loan { handle, extra: waiting.and_then(|(_, packet)| packet.extra.take()) }
}
