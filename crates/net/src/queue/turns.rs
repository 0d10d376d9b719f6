//! Queues that take turns: deficit round robin (Shreedhar, Varghese: Efficient Fair Queuing using Deficit Round Robin,
//! SIGCOMM 1995), with priority for new queues if they join as such (RFC 8290, section 4).
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
    new: List,
    old: List,
    listed: usize,
}

/// What is known of a queue.
#[derive(Clone, Copy, Debug)]
struct Slot {
    credit: i64,
    listed: bool,
    /// The queue behind it in its list.
    after: usize,
}

/// The ends of a list.
#[derive(Clone, Copy, Debug)]
struct List {
    first: usize,
    last: usize,
}

impl List {
    const EMPTY: List = List { first: NONE, last: NONE };

    #[inline]
    fn push(&mut self, index: usize, slots: &mut [Slot]) {
        slots[index].after = NONE;
        match slots.get_mut(self.last) {
            Some(last) => last.after = index,
            None => self.first = index,
        }
        self.last = index;
    }

    #[inline]
    fn pop(&mut self, slots: &[Slot]) -> Option<usize> {
        let index = self.first;
        self.first = slots.get(index)?.after;
        if self.first == NONE {
            self.last = NONE;
        }
        Some(index)
    }

    fn iter(self, slots: &[Slot]) -> impl Iterator<Item = usize> + '_ {
        let some = |index: usize| (index != NONE).then_some(index);
        core::iter::successors(some(self.first), move |&index| some(slots[index].after))
    }
}

impl Turns {
    /// So many queues, none of them listed; the quantum is in bytes, above 0.
    pub fn new(queues: usize, quantum: i64) -> Self {
        let slot = Slot { credit: 0, listed: false, after: NONE };
        Turns { quantum, slots: vec![slot; queues], new: List::EMPTY, old: List::EMPTY, listed: 0 }
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
            self.old.push(index, &mut self.slots);
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

    /// The listed queues.
    pub fn listed(&self) -> impl Iterator<Item = usize> + '_ {
        self.new.iter(&self.slots).chain(self.old.iter(&self.slots))
    }

    /// How many queues are listed.
    pub const fn len(&self) -> usize {
        self.listed
    }

    /// The queue whose turn it is.
    #[inline]
    pub fn next(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.first == NONE { &mut self.old } else { &mut self.new };
            let index = list.first;
            let slot = self.slots.get_mut(index)?;
            if slot.credit > 0 {
                return Some(index);
            }
            slot.credit += self.quantum;
            list.pop(&self.slots);
            self.old.push(index, &mut self.slots);
        }
    }

    /// The queue whose turn it is has sent this many bytes.
    #[inline]
    pub fn pay(&mut self, index: usize, bytes: u32) {
        self.slots[index].credit -= i64::from(bytes);
    }

    /// The queue whose turn it is has nothing to send.
    pub fn pass(&mut self) {
        // RFC 8290, section 4: otherwise a queue that empties between two packets would always be new
        if let Some(index) = self.new.pop(&self.slots) {
            self.old.push(index, &mut self.slots);
        } else {
            self.leave();
        }
    }

    /// The first of the old queues leaves the list.
    pub fn leave(&mut self) {
        if let Some(index) = self.old.pop(&self.slots) {
            self.slots[index].listed = false;
            self.listed -= 1;
        }
    }

    /// The first of the old queues.
    pub fn first_old(&self) -> Option<usize> {
        (self.old.first != NONE).then_some(self.old.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

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
                let listed: Vec<_> = model.new.iter().chain(&model.old).copied().collect();
                prop_assert_eq!(turns.listed().collect::<Vec<_>>(), listed);
                prop_assert_eq!(turns.len(), model.new.len() + model.old.len());
                prop_assert_eq!(turns.first_old(), model.old.front().copied());
            }
        }
    }
}
