//! The arrivals of a batch at one link, in order.

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

/// The place in this sort key.
#[inline(always)]
pub const fn place_of(key: u64) -> usize {
    (key & ((1 << PLACE_BITS) - 1)) as usize
}

/// The time in this sort key, in a batch that begins at `from`.
#[inline(always)]
pub fn time_of(key: u64, from: Time) -> Time {
    from.later_by(Interval::from_ns(key >> PLACE_BITS))
}

/// Sort keys of arrivals: the time in the upper bits, the place in the lower ones.
#[derive(Default)]
pub struct Arrivals {
    /// The keys, and room for more behind them.
    keys: Vec<u64>,
    len: usize,
    /// All keys are below this.
    bound: u64,
    /// The keys by buckets.
    sorted: Vec<u64>,
    /// Where the next key of each bucket goes.
    places: Vec<u32>,
}

impl Arrivals {
    /// Forgets all. Those that are added will be below `bound`.
    pub fn clear(&mut self, bound: u64) {
        self.len = 0;
        self.bound = bound;
    }

    /// Adds the keys that `write` writes into room for `most` of them; it returns how many it wrote.
    #[inline(always)]
    pub fn add(&mut self, most: usize, write: impl FnOnce(&mut [u64]) -> usize) {
        let until = self.len + most;
        if self.keys.len() < until {
            self.keys.resize(until, 0);
        }
        self.len += write(&mut self.keys[self.len..until]);
    }

    /// The keys in ascending order. Links are busy most of the time, so the keys are spread over a batch
    /// almost evenly: one to two buckets for each key leave little to sort.
    pub fn sorted(&mut self) -> &[u64] {
        if self.len <= FEW || !self.spread() {
            let keys = &mut self.keys[..self.len];
            keys.sort_unstable();
            return keys;
        }
        let sorted = &mut self.sorted[..self.len];
        insert_each(sorted);
        sorted
    }

    /// Puts the keys into buckets, in the order of the buckets. Returns false if a bucket is crowded.
    fn spread(&mut self) -> bool {
        let Arrivals { keys, len, bound, sorted, places } = self;
        let keys = &keys[..*len];
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
        if sorted.len() < keys.len() {
            sorted.resize(keys.len(), 0);
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
    let Some(&first) = keys.first() else { return };
    let (mut before, mut last) = (0, first); // the last two of those in order
    for i in 1..keys.len() {
        let lesser = last.min(keys[i]);
        last = last.max(keys[i]);
        (keys[i - 1], keys[i]) = (lesser, last);
        if lesser >= before {
            before = lesser;
            continue;
        }
        let mut at = i - 1;
        while at > 0 && keys[at - 1] > lesser {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = lesser;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds these keys, in two parts.
    fn add_all(arrivals: &mut Arrivals, keys: &[u64]) {
        let (first, rest) = keys.split_at(keys.len() / 3);
        for part in [first, rest] {
            arrivals.add(part.len() + 2, |room| {
                room[..part.len()].copy_from_slice(part);
                part.len()
            });
        }
    }

    proptest::proptest! {
        #[test]
        fn keys_come_out_in_order_whether_they_are_spread_or_crowded(
            keys in proptest::collection::vec((0u64..1 << 30, 0u32..36), 0..300)
        ) {
            let mut arrivals = Arrivals::default();
            for _ in 0..2 {
                let keys: Vec<u64> = keys.iter().map(|&(key, shift)| key << shift).collect();
                arrivals.clear(u64::MAX);
                add_all(&mut arrivals, &keys);
                let mut expected = keys.clone();
                expected.sort_unstable();
                proptest::prop_assert_eq!(arrivals.sorted(), &expected);
                let even: Vec<u64> = (0..keys.len() as u64).map(|i| 1000 * (i * 7 % 300) + i % 5).collect();
                arrivals.clear(300_000);
                add_all(&mut arrivals, &even);
                let mut expected = even;
                expected.sort_unstable();
                proptest::prop_assert_eq!(arrivals.sorted(), &expected);
            }
        }
    }
}
