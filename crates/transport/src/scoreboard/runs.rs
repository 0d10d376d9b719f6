//! Runs of consecutive segments in the same state, in chunks: to insert or remove one costs no more in a list of
//! millions than in a list of hundreds.

use super::State;
use std::collections::VecDeque;

/// Consecutive segments in the same state, up to `end`; they begin where the run before them ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub end: u64,
    pub state: State,
}

/// A place in the list. Those before it stay as they are when a run is inserted there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    chunk: usize,
    run: usize,
}

/// A chunk that holds more runs is cut in two.
const FULL: usize = if cfg!(test) { 4 } else { 1024 };

/// The runs, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    /// The first chunk, by itself since most lists have no other; empty only if there is no run at all.
    first: VecDeque<Run>,
    /// The other chunks, none of them empty; chunk n of a place is the one at n - 1.
    rest: VecDeque<VecDeque<Run>>,
}

impl Runs {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    #[inline]
    fn chunk(&self, number: usize) -> Option<&VecDeque<Run>> {
        if number == 0 { Some(&self.first) } else { self.rest.get(number - 1) }
    }

    #[inline]
    fn chunk_mut(&mut self, number: usize) -> Option<&mut VecDeque<Run>> {
        if number == 0 { Some(&mut self.first) } else { self.rest.get_mut(number - 1) }
    }

    #[inline]
    pub fn front(&self) -> Option<&Run> {
        self.first.front()
    }

    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut Run> {
        if self.rest.is_empty() { self.first.back_mut() } else { self.rest.back_mut()?.back_mut() }
    }

    pub fn push_back(&mut self, run: Run) {
        let last = self.rest.back_mut().unwrap_or(&mut self.first);
        if last.len() < FULL { last.push_back(run) } else { self.rest.push_back(VecDeque::from([run])) }
    }

    pub fn pop_front(&mut self) {
        self.first.pop_front();
        if self.first.is_empty() {
            self.first_is_empty();
        }
    }

    #[cold]
    fn first_is_empty(&mut self) {
        if let Some(next) = self.rest.pop_front() {
            self.first = next;
        }
    }

    /// The place of the run that holds `seq`; past the last one if none does.
    #[inline]
    pub fn find(&self, seq: u64) -> Place {
        let chunk = if self.rest.is_empty() { 0 } else { self.find_chunk(seq) };
        Place { chunk, run: self.chunk(chunk).map_or(0, |held| held.partition_point(|run| run.end <= seq)) }
    }

    #[cold]
    fn find_chunk(&self, seq: u64) -> usize {
        let after = |chunk: &VecDeque<Run>| chunk.back().is_some_and(|run| run.end <= seq);
        if after(&self.first) { 1 + self.rest.partition_point(after) } else { 0 }
    }

    #[inline]
    pub fn get(&self, at: Place) -> Option<&Run> {
        self.chunk(at.chunk)?.get(at.run)
    }

    #[inline]
    pub fn get_mut(&mut self, at: Place) -> Option<&mut Run> {
        self.chunk_mut(at.chunk)?.get_mut(at.run)
    }

    /// The place after this one.
    #[inline]
    pub fn next(&self, at: Place) -> Place {
        let next = Place { run: at.run + 1, ..at };
        if self.rest.is_empty() || self.get(next).is_some() {
            next
        } else {
            Place { chunk: at.chunk + 1, run: 0 }
        }
    }

    /// The place before this one, if it is not the first.
    #[inline]
    pub fn before(&self, at: Place) -> Option<Place> {
        if at.run > 0 {
            return Some(Place { run: at.run - 1, ..at });
        }
        let chunk = at.chunk.checked_sub(1)?;
        Some(Place { chunk, run: self.chunk(chunk)?.len().checked_sub(1)? })
    }

    /// The place of the last run.
    pub fn last(&self) -> Option<Place> {
        self.before(Place { chunk: self.rest.len() + 1, run: 0 })
    }

    /// Cuts the chunk that holds `seq` if it is long. Every place changes.
    #[inline]
    pub fn cut(&mut self, seq: u64) {
        if self.first.len() > FULL || !self.rest.is_empty() {
            self.cut_chunk(self.find(seq).chunk);
        }
    }

    #[cold]
    fn cut_chunk(&mut self, chunk: usize) {
        if let Some(held) = self.chunk_mut(chunk)
            && held.len() > FULL
        {
            let half = held.split_off(FULL / 2);
            self.rest.insert(chunk, half);
        }
    }

    /// Inserts a run before the one at `at`, which moves to the place after it.
    #[inline]
    pub fn insert(&mut self, at: Place, run: Run) {
        if let Some(chunk) = self.chunk_mut(at.chunk) {
            chunk.insert(at.run, run);
        }
    }

    /// Removes the run before `at`, and returns where the one at `at` is then.
    #[inline]
    pub fn remove_before(&mut self, at: Place) -> Place {
        if at.run > 0 {
            if let Some(chunk) = self.chunk_mut(at.chunk) {
                chunk.remove(at.run - 1);
            }
            return Place { run: at.run - 1, ..at };
        }
        self.remove_last_of(at)
    }

    /// As `remove_before`, where that run is the last of its chunk.
    #[cold]
    fn remove_last_of(&mut self, at: Place) -> Place {
        let Some(before) = at.chunk.checked_sub(1) else { return at };
        let Some(chunk) = self.chunk_mut(before) else { return at };
        chunk.pop_back();
        if !chunk.is_empty() {
            return at;
        }
        if before == 0 {
            self.first_is_empty();
        } else {
            self.rest.remove(before - 1);
        }
        Place { chunk: before, run: 0 }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Run> {
        self.first.iter().chain(self.rest.iter().flatten())
    }
}
