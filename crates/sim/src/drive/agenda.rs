//! The agenda of the oracle: a tournament over sources that finds the next event.
//!
//! Every source of events (a flow's head-of-line arrival, a link, a probe) owns one slot that holds the time
//! of its next event. The tree above the slots knows the earliest one. Ties go to the source whose order is
//! lower, and among sources of equal order to the lower slot, so events have the canonical order (time,
//! element), which depends neither on the order in which slots were set nor on the slots that flows happen to
//! have.

use crate::model::order::Order;
use longfat_units::Time;

/// The next event of one slot.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    order: Order,
    slot: u32,
}

/// The agenda of one run.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// A complete binary tree: node i has the children 2 i and 2 i + 1, and the slots are the leaves.
    tree: Vec<Entry>,
    leaves: usize,
}

impl Agenda {
    /// An empty agenda with room for `slots` slots.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.max(2).next_power_of_two();
        let mut tree = vec![Entry { at: Time::NEVER, order: Order::default(), slot: 0 }; 2 * leaves];
        for (i, leaf) in tree[leaves..].iter_mut().enumerate() {
            leaf.slot = i as u32;
        }
        for i in (1..leaves).rev() {
            tree[i] = tree[2 * i];
        }
        Agenda { tree, leaves }
    }

    /// Makes room for `slots` slots; planned events stay.
    pub fn reserve(&mut self, slots: usize) {
        if slots <= self.leaves {
            return;
        }
        let mut larger = Agenda::new(slots);
        let (above, leaves) = larger.tree.split_at_mut(larger.leaves);
        leaves[..self.leaves].copy_from_slice(&self.tree[self.leaves..]);
        let above = above.len();
        (1..above).rev().for_each(|i| larger.tree[i] = larger.earlier(2 * i));
        *self = larger;
    }

    /// The earlier one of node `i` and its neighbour.
    #[inline]
    fn earlier(&self, i: usize) -> Entry {
        let (left, right) = (self.tree[i & !1], self.tree[i | 1]);
        if (left.at, left.order) <= (right.at, right.order) { left } else { right }
    }

    /// Among events at the same time, those of `slot` come in this order; without this call, before all
    /// flows.
    pub fn set_order(&mut self, slot: usize, order: Order) {
        let mut i = self.leaves + slot;
        self.tree[i].order = order;
        while i > 1 {
            let earlier = self.earlier(i);
            i >>= 1;
            self.tree[i] = earlier;
        }
    }

    /// Plans the next event of `slot` at `at`, instead of an event planned before. [`Time::NEVER`] plans
    /// none.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Time) {
        let mut i = self.leaves + slot;
        self.tree[i].at = at;
        while i > 1 {
            let earlier = self.earlier(i);
            i >>= 1;
            let parent = &mut self.tree[i];
            // the slot neither won before nor wins now, so nothing changes further up
            if parent.slot == earlier.slot && parent.at == earlier.at {
                return;
            }
            *parent = earlier;
        }
    }

    /// The time planned for the next event of `slot`.
    #[inline]
    pub fn get(&self, slot: usize) -> Time {
        self.tree[self.leaves + slot].at
    }

    /// The earliest event: its time and slot.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        let first = self.tree[1];
        (first.at, first.slot as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_event_comes_first_and_the_lowest_order_and_slot_among_equals(
            steps in proptest::collection::vec((0usize..37, 0u64..20, proptest::bool::ANY, 0u32..5), 1..200)
        ) {
            let mut agenda = Agenda::new(5);
            let mut expected = vec![(Time::NEVER, Order::default()); 37];
            for (slot, at, clear, order) in steps {
                let at = if clear { Time::NEVER } else { Time::from_ns(at) };
                agenda.reserve(slot + 1);
                if order != 0 {
                    agenda.set_order(slot, Order::of_flow(order));
                    expected[slot].1 = Order::of_flow(order);
                }
                agenda.set(slot, at);
                expected[slot].0 = at;
                let (i, &(t, _)) = expected.iter().enumerate().min_by_key(|&(i, next)| (*next, i)).unwrap();
                prop_assert_eq!(agenda.first().0, t);
                if t != Time::NEVER {
                    prop_assert_eq!(agenda.first().1, i);
                }
            }
        }
    }
}
