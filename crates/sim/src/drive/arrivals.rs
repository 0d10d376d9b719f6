//! The arrivals of a batch at one link, in order.

use crate::model::link::Handle;
use core::{cell::Cell, slice};
use longfat_units::{Interval, Time};

/// Bits of a sort key that hold where an arrival stands among those collected; the others hold the time since
/// the batch began.
pub const PLACE_BITS: u32 = 24;
/// Up to this many arrivals are sorted without buckets.
const FEW: usize = 32;
/// The most arrivals in one bucket for which sorting by insertion is quicker than any other way.
const CROWDED: u32 = 24;
/// A bucket holds 1/2 to 1 key on average (measured, docs/performance.md): with fewer buckets more keys move.
const BITS_MORE: u32 = 1;

#[inline(always)]
pub const fn place_of(key: u64) -> usize {
    (key & ((1 << PLACE_BITS) - 1)) as usize
}

/// The time in this sort key, in a batch that begins at `from`.
#[inline(always)]
pub fn time_of(key: u64, from: Time) -> Time {
    from.later_by(Interval::from_ns(key >> PLACE_BITS))
}

/// The arrivals of a batch, and their sort keys: the time in the upper bits, the place in the lower ones.
#[derive(Default)]
pub struct Arrivals {
    /// When the batch begins.
    from: Time,
    /// All keys are below this.
    bound: u64,
    len: usize,
    /// The packets by their places, and room for more behind them.
    handles: Vec<Handle>,
    /// Their keys, and room for more.
    keys: Vec<u64>,
    /// The keys by buckets.
    sorted: Vec<u64>,
    /// Where the next key of each bucket goes.
    places: Vec<u32>,
}

/// Room for arrivals of one source, which come in order.
pub struct Room<'a> {
    slots: core::iter::Zip<slice::IterMut<'a, u64>, slice::IterMut<'a, Handle>>,
    /// The key of the next one, were its time zero.
    next: u64,
}

impl Room<'_> {
    /// A packet arrives at this time: one of those for which there is room.
    #[inline(always)]
    pub fn put(&mut self, at: Time, handle: Handle) {
        let Some((key, slot)) = self.slots.next() else {
            unreachable!("a caller admits no more than `most`")
        };
        *key = (at.as_ns() << PLACE_BITS).wrapping_add(self.next);
        *slot = handle;
        self.next += 1;
    }
}

impl Arrivals {
    /// Forgets all. Those that are added will come in a batch from `from` to `until`.
    pub fn clear(&mut self, from: Time, until: Time) {
        (self.from, self.len, self.bound) = (from, 0, until.since(from).as_ns() << PLACE_BITS);
    }

    /// Adds those of up to `most` arrivals that `put` puts into their room. Returns how many these are.
    #[inline(always)]
    pub fn add(&mut self, most: usize, put: impl FnOnce(&mut Room<'_>)) -> usize {
        let until = self.len + most;
        if self.keys.len() < until {
            self.keys.resize(until, 0);
            self.handles.resize(until, Handle::default());
        }
        let slots = self.keys[self.len..until].iter_mut().zip(&mut self.handles[self.len..until]);
        let first = (self.len as u64).wrapping_sub(self.from.as_ns() << PLACE_BITS);
        let mut room = Room { slots, next: first };
        put(&mut room);
        let added = room.next.wrapping_sub(first) as usize;
        self.len += added;
        added
    }

    /// When the batch begins, the keys in their order, and the packets by their places. Links are busy most
    /// of the time, so the keys lie almost evenly in a batch: one to two buckets for each key leave little to
    /// sort.
    pub fn sorted(&mut self) -> (Time, &[u64], &mut [Handle]) {
        if self.len <= FEW || !self.spread() {
            self.keys[..self.len].sort_unstable();
        } else {
            insert_each(&mut self.sorted[..self.len]);
            core::mem::swap(&mut self.keys, &mut self.sorted);
        }
        (self.from, &self.keys[..self.len], &mut self.handles[..self.len])
    }

    /// The arrivals in their order, each with its time.
    pub fn in_order(&mut self) -> impl Iterator<Item = (Time, Handle)> + '_ {
        let (from, keys, handles) = self.sorted();
        keys.iter().map(move |&key| (time_of(key, from), handles[place_of(key)]))
    }

    pub fn handles(&self) -> &[Handle] {
        &self.handles[..self.len]
    }

    /// Puts the keys into buckets, in the order of the buckets. Returns false if a bucket is crowded.
    fn spread(&mut self) -> bool {
        let Arrivals { keys, len, bound, sorted, places, .. } = self;
        let (room, keys) = (keys.len(), &keys[..*len]);
        debug_assert!(keys.iter().all(|key| key < bound), "a key without a bucket");
        let bits = keys.len().ilog2() + BITS_MORE;
        let shift = (u64::BITS - bound.leading_zeros()).saturating_sub(bits);
        places.clear();
        places.resize(1 << bits, 0);
        for &key in keys {
            places[(key >> shift) as usize] += 1;
        }
        let mut before = 0;
        for place in &mut *places {
            let count = core::mem::replace(place, before);
            before += count;
            if count > CROWDED {
                return false;
            }
        }
        if sorted.len() < room {
            sorted.resize(room, 0);
        }
        let sorted = &mut sorted[..keys.len()];
        for &key in keys {
            let place = &mut places[(key >> shift) as usize];
            sorted[*place as usize] = key;
            *place += 1;
        }
        true
    }
}

/// Sorts keys that are almost in order. Neighbours change places without a branch, since which ones do
/// cannot be predicted; few keys have to go further.
fn insert_each(keys: &mut [u64]) {
    let keys = Cell::from_mut(keys).as_slice_of_cells();
    let [first, .., end] = keys else { return };
    let (mut before, mut last) = (0, first.get()); // the last two of those in order
    for (place, pair) in keys.windows(2).enumerate() {
        let next = pair[1].get();
        let lesser = last.min(next);
        last = last.max(next);
        pair[0].set(lesser);
        if lesser >= before {
            before = lesser;
            continue;
        }
        let mut at = place;
        while at > 0 && keys[at - 1].get() > lesser {
            keys[at].swap(&keys[at - 1]);
            at -= 1;
        }
    }
    end.set(last);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::link::End;

    /// Adds arrivals at these times in two parts. Returns in which order they come.
    fn order(arrivals: &mut Arrivals, times: &[u64]) -> Vec<(u64, usize)> {
        let (first, rest) = times.split_at(times.len() / 3);
        arrivals.clear(Time::ZERO, Time::from_ns(u64::MAX >> PLACE_BITS));
        let mut ends = (0..).map(|end| Handle::of_end(End::of(end, true), 0, false));
        for part in [first, rest] {
            let added = arrivals.add(part.len() + 2, |room| {
                part.iter().zip(&mut ends).for_each(|(&at, end)| room.put(Time::from_ns(at), end));
            });
            assert_eq!(added, part.len());
        }
        arrivals.in_order().map(|(at, handle)| (at.as_ns(), handle.end().host().0)).collect()
    }

    proptest::proptest! {
        #[test]
        fn arrivals_come_in_order_whether_they_are_spread_or_crowded(
            times in proptest::collection::vec((0u64..1 << 30, 0u32..10), 0..300)
        ) {
            let mut arrivals = Arrivals::default();
            let crowded: Vec<u64> = times.iter().map(|&(time, shift)| time << shift).collect();
            let spread = (0..times.len() as u64).map(|i| (1000 * (i * 7 % 300) + i % 5) << 21).collect();
            for times in [crowded, spread] {
                let mut expected: Vec<_> = times.iter().copied().zip(0..).collect();
                expected.sort_unstable();
                proptest::prop_assert_eq!(order(&mut arrivals, &times), expected);
            }
        }
    }
}
