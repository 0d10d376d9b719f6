//! A stretch of path that keeps order: packets leave it after a delay, first in, first out.

use longfat_units::{Interval, Time};
use std::collections::VecDeque;

/// Packets under way, each with the time of its arrival; arrival times never decrease. The first ones may
/// have arrived already and wait: they keep their places, and in place of the time stands what is known of
/// them, which is up to the caller.
///
/// A ring whose size is a power of two. Callers read a packet in the ring and then discard it, which avoids a
/// move.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Pipe<P> {
    slots: Vec<(Time, P)>,
    /// The number of the first packet. Those behind it have the next numbers, and the low bits of a number
    /// select the slot. Numbers begin anew whenever the pipe is empty.
    first: u32,
    len: u32,
    /// How many of the first packets wait.
    waiting: u32,
    /// A flag of the caller's.
    pub is_active: bool,
    /// The numbers of those that wait, where some between them have given up their places.
    #[expect(clippy::box_collection, reason = "few pipes have any, and each lies in the cache")]
    numbers: Option<Box<VecDeque<u32>>>,
    /// When the first packet behind those arrives: read far more often than it changes.
    head: Time,
}

impl<P> Default for Pipe<P> {
    fn default() -> Self {
        Pipe {
            slots: Vec::new(),
            first: 0,
            len: 0,
            waiting: 0,
            is_active: false,
            numbers: None,
            head: Time::NEVER,
        }
    }
}

/// In place of the time of a packet that waits: it does. Each copy of it that is under way elsewhere lowers
/// this by [`COPY`].
pub const WAITS: Time = Time::NEVER;
/// The same for a packet that needs nothing more: it may give up its place. A later time means that it waits,
/// with copies; what an earlier one means is up to the caller.
pub const GONE: Time = Time::from_ns(u64::MAX >> 1);
/// How much earlier than [`WAITS`] the time of a packet is for each copy of it.
pub const COPY: Interval = Interval::from_ns(1);

impl<P: Default> Pipe<P> {
    const FIRST_SLOTS: usize = 4;
    /// This many packets often arrive, or enter, together (measured, docs/performance.md).
    const TOGETHER: usize = 4;

    #[inline(always)]
    fn slot(&self, place: usize) -> usize {
        (self.first as usize).wrapping_add(place) & self.slots.len().wrapping_sub(1)
    }

    /// When the next packet arrives; [`Time::NEVER`] if none is under way.
    #[inline(always)]
    pub const fn head(&self) -> Time {
        self.head
    }

    /// A packet enters and will arrive at `at`. Returns what was in its slot, either the default or a packet
    /// that has been discarded, so that callers can use its parts again.
    #[inline(always)]
    pub fn push(&mut self, at: Time, packet: P) -> P {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.len());
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

    /// Makes room: takes those that are gone out of their places if they are most, or doubles the ring.
    /// Packets keep their numbers.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let waiting = self.waiting as usize;
        let gone = (0..waiting).filter(|&place| self.slots[self.slot(place)].0 == GONE).count();
        if 2 * gone > self.len() {
            self.close_gaps();
            return;
        }
        let before = self.slots.len();
        let slots = (2 * before).max(Self::FIRST_SLOTS);
        self.slots.resize_with(slots, || (Time::NEVER, P::default()));
        if before == 0 {
            return;
        }
        let (low, high) = self.slots.split_at_mut(before);
        let first = self.first as usize & (before - 1);
        if self.first as usize & before == 0 {
            low[..first].swap_with_slice(&mut high[..first]);
        } else {
            low[first..].swap_with_slice(&mut high[first..]);
        }
    }

    /// Takes those that are gone out of their places.
    fn close_gaps(&mut self) {
        let (mut kept, mut numbers) = (0, VecDeque::new());
        for place in 0..self.len() {
            let is_waiting = place < self.waiting as usize;
            let (from, to) = (self.slot(place), self.slot(kept));
            if is_waiting && self.slots[from].0 == GONE {
                continue;
            }
            if is_waiting {
                numbers.push_back(self.number(place));
            }
            self.slots.swap(from, to);
            kept += 1;
        }
        self.len = kept as u32;
        self.waiting = numbers.len() as u32;
        self.numbers = (!numbers.is_empty()).then(|| Box::new(numbers));
    }

    /// The number of the packet that waits at this place, or that will wait behind all others.
    #[inline(always)]
    fn number(&self, place: usize) -> u32 {
        match &self.numbers {
            None => self.first.wrapping_add(place as u32),
            Some(numbers) => match (numbers.get(place), numbers.back()) {
                (Some(&number), _) => number,
                (None, Some(last)) => last.wrapping_add(1),
                (None, None) => 0,
            },
        }
    }

    /// The slot of the packet that waits with this number.
    #[inline(always)]
    fn slot_of(&self, number: u32) -> usize {
        match &self.numbers {
            None => number as usize & self.slots.len().wrapping_sub(1),
            Some(numbers) => Self::search(numbers, number).map_or(usize::MAX, |place| self.slot(place)),
        }
    }

    #[cold]
    #[inline(never)]
    fn search(numbers: &VecDeque<u32>, number: u32) -> Option<usize> {
        let first = *numbers.front()?;
        let after = |number: &u32| number.wrapping_sub(first);
        numbers.binary_search_by_key(&after(&number), after).ok()
    }

    /// A reference to the packet that arrives next.
    #[inline(always)]
    pub fn first(&self) -> Option<&P> {
        self.iter().next().map(|(_, packet)| packet)
    }

    /// Asks the processor for the packets that arrive next, as many as mostly do so together.
    #[inline(always)]
    pub fn prefetch_next(&self) {
        self.prefetch(self.waiting as usize);
    }

    /// The same for the first of those that wait.
    #[inline(always)]
    pub fn prefetch_waiting(&self) {
        self.prefetch(0);
    }

    /// The same for the places of the packets that enter next.
    #[inline(always)]
    pub fn prefetch_end(&self) {
        self.prefetch(self.len());
    }

    /// The same for the place of the packet with this number.
    #[inline(always)]
    pub fn prefetch_number(&self, number: u32) {
        self.slots.get(self.slot_of(number)).into_iter().for_each(longfat_units::cache::prefetch);
    }

    #[inline(always)]
    fn prefetch(&self, place: usize) {
        for place in place..place + Self::TOGETHER {
            if let Some(slot) = self.slots.get(self.slot(place)) {
                longfat_units::cache::prefetch(slot);
            }
        }
    }

    /// Takes the packet that arrives next. Not for a pipe in which packets wait.
    #[inline]
    pub fn pop(&mut self) -> Option<P> {
        debug_assert!(self.waiting == 0, "the first one has arrived");
        if self.len == 0 {
            return None;
        }
        let slot = self.slot(0);
        let packet = self.slots.get_mut(slot).map(|(_, p)| core::mem::take(p));
        self.discard(1);
        let next = if self.len == 0 { None } else { self.slots.get(self.slot(0)) };
        self.head = next.map_or(Time::NEVER, |&(at, _)| at);
        packet
    }

    /// The packets in their places, each with the time of its arrival, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &(Time, P)> + '_ {
        (0..self.len()).filter_map(|i| self.slots.get(self.slot(i)))
    }

    /// The packets from the place `begin` up to the place `end`, with their times, in two stretches.
    #[inline(always)]
    fn stretches(&mut self, begin: usize, end: usize) -> [&mut [(Time, P)]; 2] {
        let (len, slots, begin) = (end - begin, self.slots.len(), self.slot(begin));
        let (before, after) = self.slots.split_at_mut(begin.min(slots));
        let near = len.min(after.len());
        let far = (len - near).min(before.len());
        [&mut after[..near], &mut before[..far]]
    }

    /// Those of the next `most` packets that arrive before `until` begin to wait. `meet` is called for each,
    /// with its number and the time of its arrival, and returns what stands in place of that. Returns how
    /// many there are.
    #[inline(always)]
    pub fn admit(
        &mut self,
        until: Time,
        most: usize,
        mut meet: impl FnMut(u32, Time, &mut P) -> Time,
    ) -> usize {
        let waited = self.waiting as usize;
        let first = self.number(waited);
        let (mut met, mut head) = (0, Time::NEVER);
        let end = self.len().min(waited.saturating_add(most));
        if end < self.len() {
            head = self.slots.get(self.slot(end)).map_or(head, |&(at, _)| at);
        }
        'packets: for stretch in self.stretches(waited, end) {
            for (time, packet) in stretch {
                if *time >= until {
                    head = *time;
                    break 'packets;
                }
                *time = meet(first.wrapping_add(met), *time, packet);
                met += 1;
            }
        }
        self.head = head;
        self.waiting += met;
        if let Some(numbers) = &mut self.numbers {
            numbers.extend((0..met).map(|n| first.wrapping_add(n)));
        }
        met as usize
    }

    /// The packet that waits with this number, and what stands in place of the time of its arrival.
    #[inline(always)]
    pub fn waiting_mut(&mut self, number: u32) -> Option<&mut (Time, P)> {
        debug_assert!(
            self.numbers.is_some() || number.wrapping_sub(self.first) < self.waiting,
            "a packet that does not wait"
        );
        let slot = self.slot_of(number);
        self.slots.get_mut(slot)
    }

    /// The first packets that wait leave, up to the one for which `leave` returns false; it is called for
    /// each, with what stands in place of the time of its arrival.
    #[inline(always)]
    pub fn leave(&mut self, mut leave: impl FnMut(Time, &mut P) -> bool) {
        let mut gone = 0;
        let waiting = self.waiting as usize;
        'packets: for stretch in self.stretches(0, waiting) {
            for (outcome, packet) in stretch {
                if !leave(*outcome, packet) {
                    break 'packets;
                }
                gone += 1;
            }
        }
        self.waiting -= gone as u32;
        if let Some(numbers) = &mut self.numbers {
            numbers.drain(..gone);
            if numbers.is_empty() {
                self.numbers = None;
            }
        }
        self.discard(gone);
    }

    /// Discards the first `n` packets without reading them; what arrives next stays the same.
    #[inline(always)]
    fn discard(&mut self, n: usize) {
        if n < self.len() {
            self.first = self.first.wrapping_add(n as u32);
            self.len -= n as u32;
        } else {
            self.first = 0; // the slots that were used last, and are in the cache
            self.len = 0;
        }
    }

    /// The last `n` packets that have entered, in order.
    pub fn last(&self, n: usize) -> impl Iterator<Item = &P> + '_ {
        (self.len().saturating_sub(n)..self.len())
            .filter_map(|i| self.slots.get(self.slot(i)).map(|(_, packet)| packet))
    }

    /// How many packets arrive before `until`.
    pub fn due(&self, until: Time) -> usize {
        let (waiting, mut due, mut most) = (self.waiting as usize, 0, self.under_way());
        while due < most {
            let middle = due + (most - due) / 2;
            let early = self.slots.get(self.slot(waiting + middle)).is_some_and(|&(at, _)| at < until);
            (due, most) = if early { (middle + 1, most) } else { (due, middle) };
        }
        due
    }

    /// How many packets are in their places.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// How many of them wait.
    #[inline(always)]
    pub const fn waiting(&self) -> usize {
        self.waiting as usize
    }

    /// How many have not arrived.
    #[inline(always)]
    pub const fn under_way(&self) -> usize {
        (self.len - self.waiting) as usize
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order(pushes in proptest::collection::vec(0u8..5, 1..400)) {
            let (mut pipe, mut model) = (Pipe::default(), VecDeque::new());
            for (i, push) in (0u64..).zip(pushes) {
                if push > 1 {
                    pipe.push(Time::from_ns(i), i);
                    model.push_back(i);
                } else {
                    pipe.free(4);
                    proptest::prop_assert_eq!(pipe.first(), model.front());
                    proptest::prop_assert_eq!(pipe.pop(), model.pop_front());
                }
                let head = model.front().map_or(Time::NEVER, |&at| Time::from_ns(at));
                proptest::prop_assert_eq!(pipe.head(), head);
                let all = model.iter().map(|&at| (Time::from_ns(at), at));
                proptest::prop_assert!(pipe.iter().copied().eq(all));
                let until = i / 2;
                let due = model.iter().filter(|&&at| at < until).count();
                proptest::prop_assert_eq!(pipe.due(Time::from_ns(until)), due);
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
            while pipe.pop().is_some() {}
            pipe.free(most);
            proptest::prop_assert_eq!(pipe.slots.len(), if room > most { 0 } else { room });
        }

        #[test]
        fn packets_wait_under_their_numbers_until_they_leave_in_order(
            steps in proptest::collection::vec(
                (0usize..9, 0u64..9, 0usize..9, proptest::collection::vec(0usize..40, 0..6)),
                1..80,
            ),
        ) {
            let (mut pipe, mut at) = (Pipe::default(), 1u64);
            let (mut waiting, mut coming) = (Vec::<(u32, u64, Time)>::new(), VecDeque::<u64>::new());
            for (entering, until, most, going) in steps {
                for _ in 0..entering {
                    pipe.push(Time::from_ns(at), at);
                    coming.push_back(at);
                    at += 1;
                }
                let until = Time::from_ns((at - 1).saturating_sub(until));
                let due = coming.iter().filter(|&&at| Time::from_ns(at) < until).count();
                proptest::prop_assert_eq!(pipe.due(until), due);
                let admitted = pipe.admit(until, most, |number, at, packet| {
                    waiting.push((number, *packet, WAITS));
                    assert_eq!((at, Some(*packet)), (Time::from_ns(*packet), coming.pop_front()));
                    WAITS
                });
                proptest::prop_assert_eq!(admitted, due.min(most));
                let head = coming.front().map_or(Time::NEVER, |&at| Time::from_ns(at));
                proptest::prop_assert_eq!(pipe.head(), head);
                for place in going.into_iter().filter(|&place| place < waiting.len()).collect::<Vec<_>>() {
                    let (number, packet, outcome) = &mut waiting[place];
                    if *outcome == GONE {
                        continue;
                    }
                    *outcome = GONE;
                    let there = pipe.waiting_mut(*number).expect("it waits");
                    proptest::prop_assert_eq!(there.1, *packet);
                    there.0 = GONE;
                }
                let mut left = Vec::new();
                pipe.leave(|outcome, packet| {
                    let leaves = outcome == GONE;
                    left.extend(leaves.then_some(*packet));
                    leaves
                });
                let first = waiting.iter().position(|&(.., outcome)| outcome == WAITS);
                let first = first.unwrap_or(waiting.len());
                // some of those may have given up their places before
                let gone: Vec<u64> = waiting.drain(..first).map(|(_, packet, _)| packet).collect();
                proptest::prop_assert!(left.iter().all(|packet| gone.contains(packet)));
                // those that are gone may have given up their places
                let there = pipe.iter().filter(|&&(at, _)| at != GONE).map(|&(_, packet)| packet);
                let there: Vec<u64> = there.collect();
                let still = waiting.iter().filter(|&&(.., outcome)| outcome == WAITS);
                let still = still.map(|&(_, packet, _)| packet);
                proptest::prop_assert!(there.into_iter().eq(still.chain(coming.iter().copied())));
                proptest::prop_assert_eq!((pipe.under_way(), pipe.head()), (coming.len(), head));
                let gaps = waiting.len() - pipe.waiting();
                proptest::prop_assert!(pipe.waiting() <= waiting.len(), "{}", gaps);
            }
        }
    }
}
