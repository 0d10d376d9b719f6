//! A stretch of path that keeps order: packets leave it after a delay, first in, first out.

use longfat_units::Time;

/// Packets under way, each with the time of its arrival; arrival times never decrease. The first ones may have arrived
/// already, and keep their places until they are [discarded](Pipe::discard_before).
///
/// A ring whose size is a power of two. Callers read a packet in the ring and then discard it, which avoids a
/// move.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Pipe<P> {
    slots: Vec<(Time, P)>,
    /// The index of the first packet. It never wraps; only its low bits select a slot.
    first: usize,
    len: usize,
    /// When the first packet arrives: read far more often than it changes.
    head: Time,
}

impl<P> Default for Pipe<P> {
    fn default() -> Self {
        Pipe { slots: Vec::new(), first: 0, len: 0, head: Time::NEVER }
    }
}

impl<P: Default> Pipe<P> {
    const FIRST_SLOTS: usize = 4;
    /// So many packets often arrive, or enter, together (measured, docs/performance.md).
    const TOGETHER: usize = 4;

    #[inline(always)]
    fn slot(&self, place: usize) -> usize {
        self.first.wrapping_add(place) & self.slots.len().wrapping_sub(1)
    }

    /// When the next packet arrives; [`Time::NEVER`] if none is under way.
    #[inline(always)]
    pub const fn head(&self) -> Time {
        self.head
    }

    /// A packet enters and will arrive at `at`. Returns what was in its slot, either the default or a packet that
    /// has been discarded, so that callers can use its parts again.
    #[inline(always)]
    pub fn push(&mut self, at: Time, packet: P) -> P {
        if self.len == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.len);
        if self.head == Time::NEVER {
            self.head = at;
        }
        self.len += 1;
        match self.slots.get_mut(slot) {
            Some(slot) => core::mem::replace(slot, (at, packet)).1,
            None => P::default(),
        }
    }

    /// Uses the room of a pipe that is not needed any more; both are empty.
    pub fn take_room(&mut self, old: &mut Self) {
        if self.len == 0 && old.len == 0 && self.slots.len() < old.slots.len() {
            core::mem::swap(&mut self.slots, &mut old.slots);
            self.first = 0;
        }
    }

    /// Frees the room if there is nothing in it and it has more than `most` slots.
    pub fn free(&mut self, most: usize) {
        if self.len == 0 && self.slots.len() > most {
            self.slots = Vec::new();
            self.first = 0;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mask = self.slots.len().wrapping_sub(1);
        self.slots.rotate_left(if self.len == 0 { 0 } else { self.first & mask });
        self.first = 0;
        let slots = (2 * self.slots.len()).max(Self::FIRST_SLOTS);
        self.slots.resize_with(slots, || (Time::NEVER, P::default()));
    }

    /// A reference to the packet that arrives next.
    #[inline(always)]
    pub fn first(&self) -> Option<&P> {
        self.slots.get(self.slot(0)).filter(|_| self.len > 0).map(|(_, packet)| packet)
    }

    /// The same for changes.
    #[inline(always)]
    pub fn first_mut(&mut self) -> Option<&mut P> {
        let slot = self.slot(0);
        self.slots.get_mut(slot).filter(|_| self.len > 0).map(|(_, packet)| packet)
    }

    /// Asks the processor for the first packets, as many as mostly arrive together.
    #[inline(always)]
    pub fn prefetch_first(&self) {
        self.prefetch(0);
    }

    /// The same behind the first `n`.
    #[inline(always)]
    pub fn prefetch_after(&self, n: usize) {
        self.prefetch(n);
    }

    /// The same for the places of the packets that enter next.
    #[inline(always)]
    pub fn prefetch_end(&self) {
        self.prefetch(self.len);
    }

    #[inline(always)]
    fn prefetch(&self, place: usize) {
        for place in place..place + Self::TOGETHER {
            if let Some(slot) = self.slots.get(self.slot(place)) {
                longfat_units::cache::prefetch(slot);
            }
        }
    }

    /// Takes the packet that arrives next.
    #[inline]
    pub fn pop(&mut self) -> Option<P> {
        let slot = self.slot(0);
        let packet = self.slots.get_mut(slot).filter(|_| self.len > 0).map(|(_, p)| core::mem::take(p));
        self.discard(1);
        packet
    }

    /// The packets under way, each with the time of its arrival, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &(Time, P)> + '_ {
        (0..self.len).filter_map(|i| self.slots.get(self.slot(i)))
    }

    /// The packets under way in order, each with the time of its arrival, in two stretches.
    #[inline(always)]
    pub fn stretches(&mut self) -> [&mut [(Time, P)]; 2] {
        self.stretches_after(0)
    }

    /// The same without the first `n`.
    #[inline(always)]
    pub fn stretches_after(&mut self, n: usize) -> [&mut [(Time, P)]; 2] {
        let begin = self.slot(n);
        let (len, slots) = (self.len - n.min(self.len), self.slots.len());
        let (before, after) = self.slots.split_at_mut(begin.min(slots));
        let near = len.min(after.len());
        let far = (len - near).min(before.len());
        [&mut after[..near], &mut before[..far]]
    }

    /// Discards the first `n` packets without reading them.
    #[inline(always)]
    pub fn discard(&mut self, n: usize) {
        self.discard_before(n, 0);
    }

    /// The same, but the `stay` packets behind them, which have arrived, keep their places. Until they are discarded,
    /// [`Pipe::head`] is when the packet behind them arrives; [`Pipe::stretches_after`] can leave them out.
    #[inline(always)]
    pub fn discard_before(&mut self, n: usize, stay: usize) {
        if n < self.len {
            self.first = self.first.wrapping_add(n);
            self.len -= n;
        } else {
            self.first = 0; // the slots that were used last, and are in the cache
            self.len = 0;
        }
        let next = if stay < self.len { self.slots.get(self.slot(stay)) } else { None };
        self.head = next.map_or(Time::NEVER, |&(at, _)| at);
    }

    /// Takes those of the first `n` packets away at whose places, counted from the first, `keep` returns false.
    pub fn retain_first(&mut self, n: usize, keep: impl Fn(usize) -> bool) {
        let mut free = n; // what is kept moves up to this place
        for place in (0..n).rev().filter(|&place| keep(place)) {
            free -= 1;
            let (from, to) = (self.slot(place), self.slot(free));
            self.slots.swap(from, to);
        }
        self.first = self.first.wrapping_add(free);
        self.len -= free;
    }

    /// The last `n` packets that have entered, in order.
    pub fn last(&self, n: usize) -> impl Iterator<Item = &P> + '_ {
        (self.len.saturating_sub(n)..self.len)
            .filter_map(|i| self.slots.get(self.slot(i)).map(|(_, packet)| packet))
    }

    /// How many packets arrive before `until`, or have arrived.
    pub fn due(&self, until: Time) -> usize {
        let (mut due, mut most) = (0, self.len);
        while due < most {
            let middle = due + (most - due) / 2;
            let early = self.slots.get(self.slot(middle)).is_some_and(|&(at, _)| at < until);
            (due, most) = if early { (middle + 1, most) } else { (due, middle) };
        }
        due
    }

    /// How many packets are in their places.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    proptest::proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order(pushes in proptest::collection::vec(0u8..5, 1..400)) {
            let (mut pipe, mut model) = (Pipe::default(), VecDeque::new());
            for (i, push) in (0u64..).zip(pushes) {
                if push > 1 {
                    pipe.push(Time::from_ns(i), i);
                    model.push_back(i);
                } else if push > 0 {
                    pipe.free(4);
                    proptest::prop_assert_eq!(pipe.first(), model.front());
                    proptest::prop_assert_eq!(pipe.pop(), model.pop_front());
                } else {
                    let [near, far] = pipe.stretches();
                    let all = near.iter().chain(far.iter()).copied();
                    proptest::prop_assert!(all.eq(model.iter().map(|&at| (Time::from_ns(at), at))));
                    let some = i as usize % 4;
                    pipe.discard(some);
                    model.drain(..some.min(model.len()));
                }
                proptest::prop_assert_eq!(pipe.head(), model.front().map_or(Time::NEVER, |&at| Time::from_ns(at)));
                proptest::prop_assert!(pipe.iter().copied().eq(model.iter().map(|&at| (Time::from_ns(at), at))));
                let until = Time::from_ns(i / 2);
                proptest::prop_assert_eq!(pipe.due(until), model.iter().filter(|&&at| Time::from_ns(at) < until).count());
                proptest::prop_assert_eq!((pipe.len(), pipe.is_empty()), (model.len(), model.is_empty()));
            }
        }

        #[test]
        fn a_large_ring_is_freed_once_it_is_empty(packets in 0usize..100, most in 0usize..100) {
            let mut pipe = Pipe::default();
            for _ in 0..packets {
                pipe.push(Time::ZERO, 0u64);
            }
            let room = pipe.slots.len();
            pipe.free(most);
            proptest::prop_assert_eq!(pipe.slots.len(), if packets > 0 { room } else { 0 });
            pipe.discard(packets);
            pipe.free(most);
            proptest::prop_assert_eq!(pipe.slots.len(), if room > most { 0 } else { room });
        }

        #[test]
        fn packets_that_have_arrived_keep_their_places_until_they_are_discarded(
            steps in proptest::collection::vec((0usize..6, 0usize..6), 1..200),
        ) {
            let (mut pipe, mut model, mut arrived, mut at) = (Pipe::default(), VecDeque::new(), 0, 0u64);
            for (entering, leaving) in steps {
                for _ in 0..entering {
                    pipe.push(Time::from_ns(at), at);
                    model.push_back(at);
                    at += 1;
                }
                let head = model.get(arrived).map_or(Time::NEVER, |&at| Time::from_ns(at));
                proptest::prop_assert_eq!(pipe.head(), head);
                let arrived_before = arrived;
                pipe.retain_first(arrived_before, |place| place % 3 != 1);
                let mut place = 0;
                model.retain(|_| {
                    place += 1;
                    place > arrived_before || (place - 1) % 3 != 1
                });
                arrived -= (arrived + 1) / 3;
                let gone = leaving.min(model.len());
                model.drain(..gone);
                arrived = (arrived + entering / 2).saturating_sub(gone).min(model.len());
                pipe.discard_before(gone, arrived);
                let behind = || model.iter().skip(arrived).map(|&at| (Time::from_ns(at), at));
                proptest::prop_assert_eq!(pipe.head(), behind().next().map_or(Time::NEVER, |(at, _)| at));
                let [near, far] = pipe.stretches_after(arrived);
                proptest::prop_assert!(near.iter().chain(far.iter()).copied().eq(behind()));
                proptest::prop_assert!(pipe.iter().map(|&(_, at)| at).eq(model.iter().copied()));
            }
        }
    }
}
