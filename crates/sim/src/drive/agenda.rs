//! The agenda of the oracle: finds the next event.
//!
//! Every source of events (a flow's head-of-line arrival, a link, a probe) owns one slot that holds the time
//! of its next event. Ties go to the source whose order is lower, and among sources of equal order to the
//! lower slot, so events have the canonical order (time, element), which depends neither on the order in
//! which slots were set nor on the slots that flows happen to have.

use crate::model::order::Order;
use core::cmp::Reverse;
use longfat_units::Time;
use std::collections::BinaryHeap;

#[derive(Clone, Debug)]
pub struct Agenda {
    /// When the next event of each slot is, and the order of the slot.
    slots: Vec<(Time, Order)>,
    /// Those events, and some that have been planned anew since; the first one is none of these.
    events: BinaryHeap<Reverse<(Time, Order, u32)>>,
}

impl Agenda {
    /// An empty agenda with room for `slots` slots.
    pub fn new(slots: usize) -> Self {
        Agenda { slots: vec![(Time::NEVER, Order::default()); slots], events: BinaryHeap::new() }
    }

    /// Among events at the same time, those of `slot` come in this order; without this call, before all flows.
    pub fn set_order(&mut self, slot: usize, order: Order) {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, (Time::NEVER, Order::default()));
        }
        let (at, _) = core::mem::replace(&mut self.slots[slot], (Time::NEVER, order));
        self.set(slot, at);
    }

    /// Plans the next event of `slot` at `at`, instead of an event planned before. [`Time::NEVER`] plans
    /// none.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Time) {
        let Agenda { slots, events } = self;
        if core::mem::replace(&mut slots[slot].0, at) == at {
            return;
        }
        let next = Reverse((at, slots[slot].1, slot as u32));
        if let Some(mut first) = events.peek_mut().filter(|first| first.0.2 == next.0.2) {
            *first = next; // mostly its own event, which has been handled
        } else if at != Time::NEVER {
            events.push(next);
        }
        let holds = |&Reverse((at, order, slot)): &_| slots[slot as usize] == (at, order);
        while events.peek().is_some_and(|first| !holds(first)) {
            events.pop();
        }
        if events.len() > 8 * slots.len() {
            let all = slots.iter().zip(0..).map(|(&(at, order), slot)| Reverse((at, order, slot)));
            *events = all.filter(|next| next.0.0 != Time::NEVER).collect();
        }
    }

    /// The earliest event: its time and slot.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        self.events.peek().map_or((Time::NEVER, 0), |&Reverse((at, _, slot))| (at, slot as usize))
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
                if order != 0 || slot >= agenda.slots.len() {
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
