//! The only special case of the [way over a link](super::cross): all packets come straight from ends and go
//! straight to others, and departures are computed. So what becomes of a packet need not be written into its
//! ring before the third step, and with few ends (W1 and W2), nothing has to be put in order.

use super::arrivals::{Arrivals, PLACE_BITS, place_of, time_of};
use super::link_batch::{LinkBatch, activate};
use super::wakes::Rank;
use crate::model::link::{Handle, LinkCounters};
use longfat_net::{Departures, GONE};
use longfat_units::{Interval, Time};

/// The first arrivals of up to this many ends are compared with each other.
pub const FEW: usize = 4;
/// No packet comes.
const NEVER: u64 = u64::MAX;

impl Arrivals {
    /// Step 2: writes what becomes of each packet into its handle.
    #[inline(never)] // a loop that needs the registers
    pub fn offer_all<Q: Departures>(&mut self, queue: &mut Q, counters: &mut LinkCounters) -> u64 {
        let (from, keys, handles) = self.sorted();
        for &key in keys {
            let handle = &mut handles[place_of(key)];
            let departure = counters.offer(queue, time_of(key, from), handle);
            handle.leave(departure.unwrap_or(GONE));
        }
        counters.packets_in += keys.len() as u64;
        keys.len() as u64
    }
}

impl LinkBatch<'_> {
    /// Steps 1 and 2 at once, from `from` to `until`: the first packets of the ends are compared, and what
    /// becomes of each is written where it is. Returns how many there are.
    #[inline(never)] // a loop that needs the registers
    pub fn serve_few<Q: Departures>(
        &mut self,
        sources: &[(Rank, Handle)],
        (from, until): (Time, Time),
        queue: &mut Q,
        counters: &mut LinkCounters,
    ) -> u64 {
        let key = |at: Time, place: usize| {
            if at < until { at.since(from).as_ns() << PLACE_BITS | place as u64 } else { NEVER }
        };
        let mut heads = [NEVER; FEW];
        for (place, (_, source)) in sources.iter().enumerate() {
            let (id, data) = source.end().host();
            let ring = self.flows[id].on_the_way_mut(data);
            activate(ring, source.end(), self.active);
            heads[place] = key(ring.head(), place);
        }
        let (mut admitted, mut offered) = (0, 0);
        loop {
            let first = heads.iter().fold(NEVER, |first, &head| first.min(head));
            if first == NEVER {
                counters.packets_in += offered;
                counters.packets_lost += admitted - offered;
                return admitted;
            }
            let place = place_of(first);
            let others =
                heads.iter().filter(|&&head| head != first).fold(NEVER, |first, &head| first.min(head));
            // usually several packets of one end come before the next one of another
            let next = if others == NEVER {
                until
            } else {
                time_of(others, from) + Interval::from_ns(u64::from(place < place_of(others)))
            };
            let (id, data) = sources[place].1.end().host();
            let flow = &mut self.flows[id];
            admitted += flow.admit(data, (next, usize::MAX), self.lossy, |_, now, packet| {
                offered += 1;
                counters.offer(queue, now, packet).ok()
            }) as u64;
            heads[place] = key(flow.head(data), place);
        }
    }
}
