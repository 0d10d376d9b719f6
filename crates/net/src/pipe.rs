//! A stretch of path that keeps order: what goes in comes out after a delay, first in, first out.

use longfat_units::Time;
use std::collections::VecDeque;

/// Packets under way, each with the time of its arrival; arrival times never decrease.
#[derive(Clone, Debug)]
pub struct Pipe<P> {
    under_way: VecDeque<(Time, P)>,
}

impl<P> Default for Pipe<P> {
    fn default() -> Self {
        Pipe { under_way: VecDeque::new() }
    }
}

impl<P> Pipe<P> {
    /// When the next packet arrives; [`Time::NEVER`] if none is under way.
    #[inline]
    pub fn head(&self) -> Time {
        self.under_way.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// A packet enters and will arrive at `at`. Answers whether it is the only one under way.
    #[inline]
    pub fn push(&mut self, at: Time, packet: P) -> bool {
        debug_assert!(self.under_way.back().is_none_or(|&(last, _)| last <= at), "a pipe keeps order");
        self.under_way.push_back((at, packet));
        self.under_way.len() == 1
    }

    /// Takes the packet that arrives next.
    #[inline]
    pub fn pop(&mut self) -> Option<P> {
        self.under_way.pop_front().map(|(_, packet)| packet)
    }

    /// When each packet under way arrives, in order.
    #[inline]
    pub fn times(&self) -> impl Iterator<Item = Time> + '_ {
        self.under_way.iter().map(|&(at, _)| at)
    }

    /// How many packets are under way.
    pub fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Forgets all that is under way; the memory stays.
    pub fn clear(&mut self) {
        self.under_way.clear();
    }
}
