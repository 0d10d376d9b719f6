//! The arrivals of a batch at one link, in order.

use longfat_units::Time;

/// Up to so many arrivals are sorted without buckets.
const FEW: usize = 32;
/// The most arrivals in one bucket for which sorting by insertion is quicker than any other way.
const CROWDED: u32 = 24;

/// A packet that crosses a link in a batch.
pub struct Crossing {
    /// IP bytes, or [`Crossing::LOST`].
    pub bytes: u32,
    /// When it departs; never if the queue dropped it.
    pub departs_at: Time,
}

impl Crossing {
    /// No packet is this small: a loss process took it, and the queue never saw it.
    pub const LOST: u32 = 0;

    /// When it departs, if it does.
    #[inline(always)]
    pub fn departure(&self) -> Option<Time> {
        (self.departs_at != Time::NEVER).then_some(self.departs_at)
    }
}

/// Sort keys of arrivals: the time in the upper bits, the source in the lower ones.
#[derive(Default)]
pub struct Arrivals {
    keys: Vec<u64>,
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
        self.keys.clear();
        self.bound = bound;
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, key: u64) {
        self.keys.push(key);
    }

    /// Adds these.
    #[inline]
    pub fn extend(&mut self, keys: impl Iterator<Item = u64>) {
        self.keys.extend(keys);
    }

    /// The keys in ascending order. Links are busy most of the time, so the keys are spread over a batch almost
    /// evenly: about as many buckets as keys leave little to sort.
    pub fn sorted(&mut self) -> &[u64] {
        if self.keys.len() <= FEW || !self.spread() {
            self.keys.sort_unstable();
            return &self.keys;
        }
        insert_each(&mut self.sorted);
        &self.sorted
    }

    /// Puts the keys into buckets, in the order of the buckets. Returns false if a bucket is crowded.
    fn spread(&mut self) -> bool {
        let Arrivals { keys, bound, sorted, places } = self;
        let bits = keys.len().ilog2();
        let shift = (u64::BITS - bound.leading_zeros()).saturating_sub(bits);
        let last = (1 << bits) - 1;
        let bucket = |key: u64| (key >> shift) as usize & last;
        places.clear();
        places.resize(1 << bits, 0);
        for &key in &*keys {
            places[bucket(key)] += 1;
        }
        let (mut before, mut most) = (0, 0);
        for place in &mut *places {
            let count = core::mem::replace(place, before);
            before += count;
            most = most.max(count);
        }
        if most > CROWDED {
            return false;
        }
        sorted.resize(keys.len(), 0);
        for &key in &*keys {
            let place = &mut places[bucket(key)];
            sorted[*place as usize] = key;
            *place += 1;
        }
        true
    }
}

/// Sorts keys that are almost in order. Neighbours change places without a branch, since nobody can predict which ones
/// do; few keys have to go further.
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

    proptest::proptest! {
        #[test]
        fn keys_come_out_in_order_whether_they_are_spread_or_crowded(
            keys in proptest::collection::vec((0u64..1 << 30, 0u32..36), 0..300)
        ) {
            let mut arrivals = Arrivals::default();
            for _ in 0..2 {
                let keys: Vec<u64> = keys.iter().map(|&(key, shift)| key << shift).collect();
                arrivals.clear(u64::MAX);
                arrivals.extend(keys.iter().copied());
                let mut expected = keys.clone();
                expected.sort_unstable();
                proptest::prop_assert_eq!(arrivals.sorted(), &expected);
                let even: Vec<u64> = (0..keys.len() as u64).map(|i| 1000 * (i * 7 % 300) + i % 5).collect();
                arrivals.clear(300_000);
                arrivals.extend(even.iter().copied());
                let mut expected = even;
                expected.sort_unstable();
                proptest::prop_assert_eq!(arrivals.sorted(), &expected);
            }
        }
    }
}
