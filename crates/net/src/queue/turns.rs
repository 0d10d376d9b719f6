//! Queues that take turns: deficit round robin (Shreedhar, Varghese: Efficient Fair Queuing using Deficit
//! Round Robin, SIGCOMM 1995), with priority for new queues if they join as such (RFC 8290, section 4).
//!
//! ```text
//! joins:  a queue that was not listed gets a quantum of credit, at the end of the new ones or of the old ones
//! turn:   of the first new queue, else of the first old one; without credit it gets a quantum more and goes to the end
//!         of the old ones
//! empty:  a new queue goes to the end of the old ones, an old one leaves the list
//! ```

/// Stands for no queue.
const NONE: usize = usize::MAX;

/// Whose turn it is among queues, which are known by their indices.
#[derive(Clone, Debug)]
pub struct Turns {
    quantum: i64,
    slots: Vec<Slot>,
    new: Ring,
    old: Ring,
    listed: usize,
    /// The turn of the last old queue has ended early (see [`Turns::pay`]).
    early: bool,
    /// The old queue before that one.
    before_last: usize,
}

/// What is known of a queue.
#[derive(Clone, Copy, Debug)]
struct Slot {
    credit: i64,
    listed: bool,
    /// The queue behind it in its ring.
    after: usize,
}

/// Queues in a ring: the first one is behind the last one.
#[derive(Clone, Copy, Debug)]
struct Ring {
    first: usize,
    last: usize,
}

impl Ring {
    const EMPTY: Ring = Ring { first: NONE, last: NONE };

    #[inline]
    fn push(&mut self, index: usize, slots: &mut [Slot]) {
        self.insert(index, self.last, slots);
        self.last = index;
    }

    /// Puts a queue behind this one, which is in the ring if any is.
    #[inline]
    fn insert(&mut self, index: usize, before: usize, slots: &mut [Slot]) {
        match slots.get_mut(before) {
            Some(slot) => slots[index].after = core::mem::replace(&mut slot.after, index),
            None => (slots[index].after, self.first) = (index, index),
        }
    }

    #[inline]
    fn pop(&mut self, slots: &mut [Slot]) -> Option<usize> {
        let index = self.first;
        let after = slots.get(index)?.after;
        if index == self.last {
            *self = Ring::EMPTY;
        } else {
            self.first = after;
            slots[self.last].after = after;
        }
        Some(index)
    }

    fn iter(self, slots: &[Slot]) -> impl Iterator<Item = usize> + '_ {
        let some = |index: usize| (index != NONE).then_some(index);
        let next = move |&index: &usize| some(slots[index].after).filter(|_| index != self.last);
        core::iter::successors(some(self.first), next)
    }
}

impl Turns {
    /// So many queues, none of them listed; the quantum is in bytes, above 0.
    pub fn new(queues: usize, quantum: i64) -> Self {
        let slot = Slot { credit: 0, listed: false, after: NONE };
        Turns {
            quantum,
            slots: vec![slot; queues],
            new: Ring::EMPTY,
            old: Ring::EMPTY,
            listed: 0,
            early: false,
            before_last: NONE,
        }
    }

    /// A packet has joined this queue; if the queue is not listed, it joins the new ones.
    #[inline]
    pub fn join(&mut self, index: usize) {
        if self.list(index) {
            self.new.push(index, &mut self.slots);
        }
    }

    /// The same, but it joins the old ones.
    pub fn join_old(&mut self, index: usize) {
        if self.list(index) {
            self.push_old(index);
        }
    }

    #[inline]
    fn list(&mut self, index: usize) -> bool {
        let slot = &mut self.slots[index];
        if slot.listed {
            return false;
        }
        (slot.listed, slot.credit) = (true, self.quantum);
        self.listed += 1;
        true
    }

    /// The listed queues, in no particular order.
    pub fn listed(&self) -> impl Iterator<Item = usize> + '_ {
        self.new.iter(&self.slots).chain(self.old.iter(&self.slots))
    }

    /// How many queues are listed.
    pub const fn len(&self) -> usize {
        self.listed
    }

    /// The queue whose turn it is.
    #[inline(always)]
    pub fn next(&mut self) -> Option<usize> {
        let is_new = self.new.first != NONE;
        let first = if is_new { self.new.first } else { self.old.first };
        if self.slots.get(first)?.credit > 0 {
            self.early &= is_new;
            return Some(first);
        }
        self.next_with_credit()
    }

    /// The same where the first queue has no credit.
    #[inline(never)]
    fn next_with_credit(&mut self) -> Option<usize> {
        while let Some(slot) = self.slots.get_mut(self.new.first) {
            if slot.credit > 0 {
                return Some(self.new.first);
            }
            slot.credit += self.quantum;
            if let Some(index) = self.new.pop(&mut self.slots) {
                self.push_old(index);
            }
        }
        while self.slots.get(self.old.first)?.credit <= 0 {
            self.end_turn();
        }
        self.early = false;
        Some(self.old.first)
    }

    /// The queue whose turn it is has sent this many bytes.
    ///
    /// The turn of an old queue without credit ends when the next packet is asked for, but here it ends now:
    /// the wire is free only later, and by then the next queue is known. Whatever joins the old queues until
    /// then joins them before this one, which is the order that the rules give.
    #[inline]
    pub fn pay(&mut self, index: usize, bytes: u32) {
        let slot = &mut self.slots[index];
        slot.credit -= i64::from(bytes);
        if slot.credit <= 0 && index == self.old.first {
            self.end_turn();
            self.early = true;
        }
    }

    /// The first of the old queues becomes the last one, with a quantum more.
    #[inline]
    fn end_turn(&mut self) {
        if let Some(slot) = self.slots.get_mut(self.old.first) {
            slot.credit += self.quantum;
            self.before_last = self.old.last;
            self.old = Ring { first: slot.after, last: self.old.first };
        }
    }

    /// A queue joins the old ones: at their end, or before the last one if its turn has ended early.
    #[inline]
    fn push_old(&mut self, index: usize) {
        if !self.early {
            return self.old.push(index, &mut self.slots);
        }
        self.old.insert(index, self.before_last, &mut self.slots);
        if self.before_last == self.old.last {
            self.old.first = index;
        }
        self.before_last = index;
    }

    /// Undoes the early end of a turn.
    fn undo_early(&mut self) {
        if core::mem::take(&mut self.early) {
            self.old = Ring { first: self.old.last, last: self.before_last };
            self.slots[self.old.first].credit -= self.quantum;
        }
    }

    /// The queue whose turn it is has nothing to send.
    pub fn pass(&mut self) {
        // RFC 8290, section 4: otherwise a queue that empties between two packets would always be new
        if let Some(index) = self.new.pop(&mut self.slots) {
            self.push_old(index);
        } else {
            self.leave();
        }
    }

    /// The first of the old queues leaves the list.
    pub fn leave(&mut self) {
        self.undo_early();
        if let Some(index) = self.old.pop(&mut self.slots) {
            self.slots[index].listed = false;
            self.listed -= 1;
        }
    }

    /// The first of the old queues.
    pub fn first_old(&mut self) -> Option<usize> {
        self.undo_early();
        (self.old.first != NONE).then_some(self.old.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, VecDeque};

    /// The rules of the head of this file, with two lists of indices.
    #[derive(Default)]
    struct Model {
        credit: [i64; QUEUES],
        new: VecDeque<usize>,
        old: VecDeque<usize>,
    }

    const QUEUES: usize = 5;
    const QUANTUM: i64 = 1500;

    impl Model {
        fn join(&mut self, index: usize, is_new: bool) {
            if !self.new.contains(&index) && !self.old.contains(&index) {
                self.credit[index] = QUANTUM;
                (if is_new { &mut self.new } else { &mut self.old }).push_back(index);
            }
        }

        fn next(&mut self) -> Option<usize> {
            loop {
                let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
                let index = *list.front()?;
                if self.credit[index] > 0 {
                    return Some(index);
                }
                self.credit[index] += QUANTUM;
                list.pop_front();
                self.old.push_back(index);
            }
        }

        fn pass(&mut self) {
            match self.new.pop_front() {
                Some(index) => self.old.push_back(index),
                None => drop(self.old.pop_front()),
            }
        }
    }

    proptest! {
        #[test]
        fn queues_take_turns_by_the_rules_whatever_joins_passes_and_leaves(
            steps in proptest::collection::vec((0..6u8, 0..QUEUES, 1..4000u32), 1..300),
        ) {
            let (mut turns, mut model) = (Turns::new(QUEUES, QUANTUM), Model::default());
            for (step, index, bytes) in steps {
                match step {
                    0 | 1 => {
                        turns.join(index);
                        model.join(index, true);
                    }
                    2 => {
                        turns.join_old(index);
                        model.join(index, false);
                    }
                    3 => {
                        turns.pass();
                        model.pass();
                    }
                    4 => {
                        turns.leave();
                        model.old.pop_front();
                    }
                    _ => {
                        let next = turns.next();
                        prop_assert_eq!(next, model.next());
                        if let Some(next) = next {
                            turns.pay(next, bytes);
                            model.credit[next] -= i64::from(bytes);
                        }
                    }
                }
                let listed: BTreeSet<_> = model.new.iter().chain(&model.old).copied().collect();
                prop_assert_eq!(turns.listed().collect::<BTreeSet<_>>(), listed);
                prop_assert_eq!(turns.len(), model.new.len() + model.old.len());
                prop_assert_eq!(turns.clone().first_old(), model.old.front().copied()); // it undoes an early end
            }
        }
    }
}
