//! Which transmissions are under way, by their numbers.

use std::collections::VecDeque;

/// A transmission.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    seq: u64,
    /// Its own number while it is under way, otherwise a lower one; none between the two is under way.
    last: u64,
}

/// The transmissions from the first one under way on. Each that is no longer under way points to an earlier
/// one, and searches shorten the ways that they go, so that any number of searches costs little more than the
/// transmissions.
#[derive(Clone, Debug, Default)]
pub struct Transmissions {
    /// The number of the first one here.
    front: u64,
    all: VecDeque<Transmission>,
}

impl Transmissions {
    /// The next transmission leaves; numbers ascend by one.
    #[inline]
    pub fn push(&mut self, number: u64, seq: u64) {
        if self.all.is_empty() {
            self.front = number;
        }
        self.all.push_back(Transmission { seq, last: number });
    }

    /// A transmission is not under way any more.
    #[inline]
    pub fn remove(&mut self, number: u64) {
        let index = (number - self.front) as usize;
        if index > 0 {
            self.all[index].last = number - 1;
            return;
        }
        self.all.pop_front();
        self.front += 1;
        while self.all.front().is_some_and(|next| next.last < self.front) {
            self.all.pop_front();
            self.front += 1;
        }
    }

    /// The segment of the last transmission under way below this number.
    pub fn last_below(&mut self, number: u64) -> Option<u64> {
        let mut at = number.saturating_sub(1);
        loop {
            let index = at.checked_sub(self.front)? as usize;
            let Transmission { seq, last } = *self.all.get(index)?;
            if last == at {
                return Some(seq);
            }
            if let Some(before) = last.checked_sub(self.front).and_then(|index| self.all.get(index as usize))
            {
                self.all[index].last = before.last;
            }
            at = last;
        }
    }

    /// Exactly these are under way, in the order of their numbers; the last transmission of all has number
    /// `latest`.
    pub fn restart(&mut self, under_way: impl Iterator<Item = (u64, u64)>, latest: u64) {
        self.all.clear();
        for (number, seq) in under_way {
            self.fill(number);
            self.push(number, seq);
        }
        self.fill(latest + 1);
    }

    /// Adds transmissions that are not under way up to this number.
    fn fill(&mut self, number: u64) {
        while !self.all.is_empty() && self.front + (self.all.len() as u64) < number {
            let last = self.front + self.all.len() as u64 - 1;
            self.all.push_back(Transmission { seq: 0, last });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_last_one_below_a_number_is_that_of_a_sorted_map(
            steps in proptest::collection::vec((0u8..5, 0u64..200), 1..300)
        ) {
            let (mut transmissions, mut model, mut latest) = (Transmissions::default(), BTreeMap::new(), 0);
            for (what, which) in steps {
                match what {
                    0 | 1 => {
                        latest += 1;
                        transmissions.push(latest, 7 * latest);
                        model.insert(latest, 7 * latest);
                    }
                    2 | 3 => {
                        let any = model.keys().nth(which as usize % model.len().max(1)).copied();
                        if let Some(number) = any {
                            transmissions.remove(number);
                            model.remove(&number);
                        }
                    }
                    _ => {
                        model.retain(|number, _| (number + which) % 3 > 0);
                        transmissions.restart(model.iter().map(|(&number, &seq)| (number, seq)), latest);
                    }
                }
                let number = which.min(latest + 1);
                let below = model.range(..number).next_back().map(|(_, &seq)| seq);
                prop_assert_eq!(transmissions.last_below(number), below);
            }
        }
    }
}
