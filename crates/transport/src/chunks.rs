//! A sorted list in chunks: to insert or remove an item costs no more in a list of millions than in one of
//! hundreds.

use std::collections::VecDeque;

/// A place in the list. Those before it stay as they are when an item is inserted there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    chunk: usize,
    item: usize,
}

/// A chunk of more items is cut in two.
const FULL: usize = if cfg!(test) { 4 } else { 1024 };

/// The items, in order.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    /// The first chunk, by itself since most lists have no other; empty only if there is no item at all.
    first: VecDeque<T>,
    /// The other chunks, none of them empty; chunk n of a place is the one at n - 1.
    rest: VecDeque<VecDeque<T>>,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks { first: VecDeque::new(), rest: VecDeque::new() }
    }
}

impl<T> Chunks<T> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    #[inline]
    fn chunk(&self, number: usize) -> Option<&VecDeque<T>> {
        if number == 0 { Some(&self.first) } else { self.rest.get(number - 1) }
    }

    #[inline]
    fn chunk_mut(&mut self, number: usize) -> Option<&mut VecDeque<T>> {
        if number == 0 { Some(&mut self.first) } else { self.rest.get_mut(number - 1) }
    }

    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.first.front()
    }

    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        if self.rest.is_empty() { self.first.back_mut() } else { self.rest.back_mut()?.back_mut() }
    }

    pub fn push_back(&mut self, item: T) {
        let last = self.rest.back_mut().unwrap_or(&mut self.first);
        if last.len() < FULL { last.push_back(item) } else { self.rest.push_back(VecDeque::from([item])) }
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

    /// The first place whose item is not `below`; past the last one if all are. Those below come first.
    #[inline]
    pub fn find(&self, below: impl Fn(&T) -> bool) -> Place {
        let chunk = if self.rest.is_empty() { 0 } else { self.find_chunk(&below) };
        Place { chunk, item: self.chunk(chunk).map_or(0, |held| held.partition_point(below)) }
    }

    #[cold]
    fn find_chunk(&self, below: impl Fn(&T) -> bool) -> usize {
        let all = |chunk: &VecDeque<T>| chunk.back().is_some_and(&below);
        if all(&self.first) { 1 + self.rest.partition_point(all) } else { 0 }
    }

    #[inline]
    pub fn get(&self, at: Place) -> Option<&T> {
        self.chunk(at.chunk)?.get(at.item)
    }

    #[inline]
    pub fn get_mut(&mut self, at: Place) -> Option<&mut T> {
        self.chunk_mut(at.chunk)?.get_mut(at.item)
    }

    /// The place after this one.
    #[inline]
    pub fn next(&self, at: Place) -> Place {
        let next = Place { item: at.item + 1, ..at };
        if self.rest.is_empty() || self.get(next).is_some() {
            next
        } else {
            Place { chunk: at.chunk + 1, item: 0 }
        }
    }

    /// The place before this one, if it is not the first.
    #[inline]
    pub fn before(&self, at: Place) -> Option<Place> {
        if at.item > 0 {
            return Some(Place { item: at.item - 1, ..at });
        }
        let chunk = at.chunk.checked_sub(1)?;
        Some(Place { chunk, item: self.chunk(chunk)?.len().checked_sub(1)? })
    }

    /// The place of the last run.
    pub fn last(&self) -> Option<Place> {
        self.before(Place { chunk: self.rest.len() + 1, item: 0 })
    }

    /// Cuts the chunk of the place that [`Chunks::find`] finds if it is long. Every place changes.
    #[inline]
    pub fn cut(&mut self, below: impl Fn(&T) -> bool) {
        if self.first.len() > FULL || !self.rest.is_empty() {
            self.cut_chunk(self.find(below).chunk);
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

    /// Inserts an item before the one at `at`, which moves to the place after it.
    #[inline]
    pub fn insert(&mut self, at: Place, item: T) {
        if let Some(chunk) = self.chunk_mut(at.chunk) {
            chunk.insert(at.item, item);
        }
    }

    /// Removes the item before `at`, and returns where the one at `at` is then.
    #[inline]
    pub fn remove_before(&mut self, at: Place) -> Place {
        if at.item > 0 {
            if let Some(chunk) = self.chunk_mut(at.chunk) {
                chunk.remove(at.item - 1);
            }
            return Place { item: at.item - 1, ..at };
        }
        self.remove_last_of(at)
    }

    /// As `remove_before`, where that item is the last of its chunk.
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
        Place { chunk: before, item: 0 }
    }

    /// Some of the last items, at most `most`, from the last one down.
    #[inline]
    pub fn last_items(&self, most: usize) -> impl Iterator<Item = &T> {
        self.rest.back().unwrap_or(&self.first).iter().rev().take(most)
    }

    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.rest.back().unwrap_or(&self.first).back()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.rest.iter().flatten())
    }
}
