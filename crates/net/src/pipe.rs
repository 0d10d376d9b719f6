//! A stretch of path that keeps order: packets leave it after a delay, first in, first out.

use longfat_units::Time;

/// Packets under way, each with the time of its arrival; arrival times never decrease.
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
        if self.len == 0 {
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

    /// The same for the places of the packets that enter next.
    #[inline(always)]
    pub fn prefetch_end(&self) {
        self.prefetch(self.len);
    }

    #[inline(always)]
    fn prefetch(&self, place: usize) {
        for place in place..place + Self::TOGETHER {
            if let Some(slot) = self.slots.get(self.slot(place)) {
                longfat_cache::prefetch(slot);
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
        let begin = self.slot(0);
        let (len, slots) = (self.len, self.slots.len());
        let (before, after) = self.slots.split_at_mut(begin.min(slots));
        let near = len.min(after.len());
        let far = (len - near).min(before.len());
        [&mut after[..near], &mut before[..far]]
    }

    /// Discards the first `n` packets without reading them.
    #[inline(always)]
    pub fn discard(&mut self, n: usize) {
        if n < self.len {
            self.first = self.first.wrapping_add(n);
            self.len -= n;
            self.head = self.slots.get(self.slot(0)).map_or(Time::NEVER, |&(at, _)| at);
        } else {
            self.first = 0; // the slots that were used last, and are in the cache
            self.len = 0;
            self.head = Time::NEVER;
        }
    }

    /// The last `n` packets that have entered, in order.
    pub fn last(&self, n: usize) -> impl Iterator<Item = &P> + '_ {
        (self.len.saturating_sub(n)..self.len)
            .filter_map(|i| self.slots.get(self.slot(i)).map(|(_, packet)| packet))
    }

    /// How many packets arrive before `until`.
    pub fn due(&self, until: Time) -> usize {
        let (mut due, mut most) = (0, self.len);
        while due < most {
            let middle = due + (most - due) / 2;
            let early = self.slots.get(self.slot(middle)).is_some_and(|&(at, _)| at < until);
            (due, most) = if early { (middle + 1, most) } else { (due, middle) };
        }
        due
    }

    /// How many packets are under way.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is under way.
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
    }
}
