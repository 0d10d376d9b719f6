//! The ends of flows that send to each link: when each of them acts next, and when its first packet arrives.

use crate::model::flow::Flow;
use crate::model::link::{End, Handle};
use crate::model::order::Order;
use longfat_net::Pipe;
use longfat_units::Time;
use longfat_wire::SimPacket;

/// Number of ends for which one earliest time is kept, so that thousands of idle flows cost little.
const BLOCK: usize = 16;

/// What an end does next, or the earliest of what some do.
#[derive(Clone, Copy)]
struct Next {
    /// When it acts by itself.
    wake: Time,
    /// When the first packet that it has sent arrives at the link.
    head: Time,
    /// How many packets it has sent that have not arrived.
    sent: usize,
}

const NOTHING: Next = Next { wake: Time::NEVER, head: Time::NEVER, sent: 0 };

impl Next {
    /// The earlier of both times of each.
    fn min(self, other: &Self) -> Self {
        Next { wake: self.wake.min(other.wake), head: self.head.min(other.head), ..self }
    }
}

/// The ends that send to one link.
#[derive(Default)]
pub struct LinkWakes {
    /// Each end, with its order.
    ends: Vec<(Rank, Handle)>,
    nexts: Vec<Next>,
    /// The earliest of each block, as last computed.
    blocks: Vec<Next>,
    /// Whether something in each block may have changed since.
    stale: Vec<bool>,
    /// No end acts, no packet arrives, and nothing happens at the link before this.
    pub idle_until: Time,
    /// Places of ends that are not there any more.
    vacant: Vec<usize>,
}

impl LinkWakes {
    fn add(&mut self, rank: Rank, end: Handle) -> usize {
        if let Some(place) = self.vacant.pop() {
            self.ends[place] = (rank, end);
            return place;
        }
        let place = self.ends.len();
        self.ends.push((rank, end));
        self.nexts.push(NOTHING);
        if place.is_multiple_of(BLOCK) {
            self.blocks.push(NOTHING);
            self.stale.push(false);
        }
        place
    }

    fn remove(&mut self, place: usize) {
        self.set(place, Some(Time::NEVER), &Pipe::default());
        self.vacant.push(place);
    }

    /// When an end acts next, unless that has not changed, and what it has sent.
    #[inline(always)]
    fn set(&mut self, place: usize, wake: Option<Time>, sent: &Pipe<SimPacket>) {
        let next = &mut self.nexts[place];
        *next = Next { wake: wake.unwrap_or(next.wake), head: sent.head(), sent: sent.under_way() };
        self.stale[place / BLOCK] = true;
        self.idle_until = self.idle_until.min(wake.unwrap_or(Time::NEVER)).min(next.head);
    }

    /// Finds out until when nothing happens, once some ends have acted or their packets have arrived; at the
    /// link itself, nothing does before `until`.
    pub fn look(&mut self, until: Time) {
        self.refresh();
        let first = self.blocks.iter().fold(NOTHING, Next::min);
        self.idle_until = until.min(first.wake).min(first.head);
    }

    fn refresh(&mut self) {
        for ((block, stale), nexts) in
            self.blocks.iter_mut().zip(&mut self.stale).zip(self.nexts.chunks(BLOCK))
        {
            if core::mem::take(stale) {
                *block = nexts.iter().fold(NOTHING, Next::min);
            }
        }
    }

    /// The next end from `place` on that acts before `until`; then `place` is the one after it. Begin with
    /// place 0.
    pub fn acting(&mut self, place: &mut usize, until: Time) -> Option<End> {
        if *place == 0 {
            self.refresh();
        }
        while let Some(next) = self.nexts.get(*place) {
            if place.is_multiple_of(BLOCK) && self.blocks[*place / BLOCK].wake >= until {
                *place += BLOCK;
                continue;
            }
            *place += 1;
            if next.wake < until {
                return Some(self.ends[*place - 1].1.end());
            }
        }
        None
    }

    /// Adds the ends whose packets arrive before `until` to `sources`, which is empty, in the order of the
    /// flows. Returns how many packets there are at most.
    pub fn arriving(&mut self, until: Time, sources: &mut Vec<(Rank, Handle)>) -> usize {
        self.refresh();
        let mut most = 0;
        for block in (0..self.blocks.len()).filter(|&block| self.blocks[block].head < until) {
            for place in BLOCK * block..self.ends.len().min(BLOCK * (block + 1)) {
                let next = self.nexts[place];
                if next.head < until {
                    sources.push(self.ends[place]);
                    most += next.sent;
                }
            }
        }
        sources.sort_unstable_by_key(|&(rank, _)| rank); // seldom out of order
        most
    }
}

/// The canonical order of ends: that of their flows, the sender first.
pub type Rank = (Order, bool);

/// Where an end has its times: the link, and the place at this link.
type Place = (usize, usize);

/// No flow has been at this index.
const NOWHERE: [Place; 2] = [(usize::MAX, 0); 2];

/// The ends that send to each link.
pub struct WakeIndex {
    pub links: Vec<LinkWakes>,
    /// Where each flow's sender and receiver have theirs.
    places: Vec<[Place; 2]>,
}

impl WakeIndex {
    /// No flow sends to any of this many links yet.
    pub fn new(links: usize) -> Self {
        WakeIndex { links: (0..links).map(|_| LinkWakes::default()).collect(), places: Vec::new() }
    }

    /// Includes the flow at this index, which is new; one that had the index before is over.
    pub fn admit(&mut self, index: usize, flow: &Flow) {
        if self.places.len() <= index {
            self.places.resize(index + 1, NOWHERE);
        }
        self.places[index] = [true, false].map(|is_sender| self.admit_end(index, flow, is_sender));
        self.look_at(index, flow, [true, true]);
    }

    fn admit_end(&mut self, index: usize, flow: &Flow, is_sender: bool) -> Place {
        let (old, place) = self.places[index][usize::from(!is_sender)];
        if let Some(old) = self.links.get_mut(old) {
            old.remove(place);
        }
        let link = if is_sender { flow.route.forward[0] } else { flow.route.reverse[0] };
        (link, self.links[link].add((flow.order, !is_sender), flow.handle(index, is_sender)))
    }

    /// Notes when the ends of a flow act next, those of sender and receiver that may have acted; of the other
    /// one, packets may have arrived.
    #[inline(always)]
    pub fn look_at(&mut self, index: usize, flow: &Flow, [sender, receiver]: [bool; 2]) {
        let [(forward, from), (reverse, back)] = self.places[index];
        let Flow { sending, receiving, .. } = flow;
        self.links[forward].set(from, sender.then(|| sending.wake()), &sending.outgoing);
        self.links[reverse].set(back, receiver.then(|| receiving.wake()), &receiving.outgoing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_come_in_the_order_of_their_flows_wherever_they_have_a_place(
            // an end, and when it acts and its first packet arrives; or it leaves
            steps in proptest::collection::vec(
                (0..60u32, any::<bool>(), proptest::option::weighted(0.8, [0..9u64, 0..9u64])),
                1..200,
            ),
        ) {
            let rank = |end: End| (Order::of_flow(end.host().0 as u32 * 7 % 60), !end.host().1);
            let (mut ends, mut model) = (LinkWakes::default(), std::collections::BTreeMap::new());
            let until = Time::from_ns(4);
            for (flow, is_sender, times) in steps {
                let end = End::of(flow, is_sender);
                let Some([wake, head]) = times.map(|times| times.map(Time::from_ns)) else {
                    model.remove(&rank(end)).into_iter().for_each(|(place, _)| ends.remove(place));
                    continue;
                };
                let add = || ends.add(rank(end), Handle::of_end(end, 0, false));
                let place = model.get(&rank(end)).map_or_else(add, |&(place, _)| place);
                let mut sent = Pipe::default();
                sent.push(head, SimPacket::default());
                ends.set(place, Some(wake), &sent);
                model.insert(rank(end), (place, [wake, head]));
                let due = |which: usize| -> Vec<Rank> {
                    let due = model.iter().filter(|(_, (_, times))| times[which] < until);
                    due.map(|(&rank, _)| rank).collect()
                };
                let mut sources = Vec::new();
                prop_assert_eq!(ends.arriving(until, &mut sources), due(1).len());
                prop_assert_eq!(sources.iter().map(|&(rank, _)| rank).collect::<Vec<_>>(), due(1));
                let first = model.values().flat_map(|&(_, times)| times).fold(Time::NEVER, Time::min);
                prop_assert!(ends.idle_until <= first);
                ends.look(Time::NEVER);
                prop_assert_eq!(ends.idle_until, first);
                let mut place = 0;
                let acting = std::iter::from_fn(|| ends.acting(&mut place, until)).map(rank);
                let mut acting: Vec<_> = acting.collect();
                acting.sort_unstable();
                prop_assert_eq!(acting, due(0));
            }
        }
    }
}
