//! A drop-tail FIFO in front of a link of constant rate, without departure events.
//!
//! When a packet is accepted, arithmetic gives the start of its transmission: now, or the end of the one
//! before it, whichever is later. Waiting packets are sent without a pause, so it is enough to remember their
//! sizes and when the first of them starts. [`queue::DropTail`](crate::queue::DropTail) behind a link that
//! asks for packets gives the same results by events.

use crate::Occupancy;
use crate::queue::Limit;
use longfat_units::{Interval, Rate, Time};
use std::collections::VecDeque;

/// The fast form of drop-tail at a constant rate.
#[derive(Clone, Debug)]
pub struct ConstantFifo {
    rate: Rate,
    limit: Limit,
    /// When the transmission of the first waiting packet starts; [`Time::NEVER`] if none waits.
    next_start: Time,
    /// The waiting packets: the first of one size, and those behind them.
    first: Alike,
    behind: VecDeque<Alike>,
    free_at: Time,
    /// How long nothing was transmitted before `free_at`.
    idle: Interval,
    occupancy: Occupancy,
    /// Packets and bytes accepted.
    packets_in: u64,
    bytes_in: u64,
    /// The last packet size and its transmission time: sizes rarely change, and a division is slow.
    last_size: (u32, Interval),
}

/// Waiting packets of the same size, one behind the other.
#[derive(Clone, Copy, Debug, Default)]
struct Alike {
    packets: u64,
    bytes: u32,
    transmission: Interval,
}

impl ConstantFifo {
    /// An empty queue before an idle link.
    pub fn new(rate: Rate, limit: Limit) -> Self {
        ConstantFifo {
            rate,
            limit,
            next_start: Time::NEVER,
            first: Alike::default(),
            behind: VecDeque::new(),
            free_at: Time::ZERO,
            idle: Interval::ZERO,
            occupancy: Occupancy::default(),
            packets_in: 0,
            bytes_in: 0,
            last_size: (0, Interval::ZERO),
        }
    }

    /// Brings queue and counters to their state just before anything happens at `now`.
    pub fn settle_before(&mut self, now: Time) {
        self.settle(now - Interval::from_ns(1));
    }

    /// Lets everything leave the queue whose transmission has started by `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        while self.next_start <= now {
            self.occupancy.leave(self.next_start, self.first.bytes);
            self.next_start = self.next_start.later_by(self.first.transmission);
            self.first.packets -= 1;
            if self.first.packets == 0 {
                self.next_size();
            }
            // keeps the state in memory: mostly one or two packets leave, and copies in registers would cost more
            core::hint::black_box(&mut *self);
        }
    }

    /// The last of the first waiting packets of one size has left.
    #[inline(never)]
    fn next_size(&mut self) {
        match self.behind.pop_front() {
            Some(next) => self.first = next,
            None => self.next_start = Time::NEVER,
        }
    }

    /// A packet whose transmission starts at `free_at` waits behind the others.
    #[inline(always)]
    fn wait(&mut self, now: Time, bytes: u32, transmission: Interval) {
        if self.occupancy.packets() == 0 {
            self.next_start = self.free_at;
            self.first = Alike { packets: 1, bytes, transmission };
        } else if self.first.bytes == bytes && self.behind.is_empty() {
            self.first.packets += 1;
        } else {
            match self.behind.back_mut() {
                Some(last) if last.bytes == bytes => last.packets += 1,
                _ => self.behind.push_back(Alike { packets: 1, bytes, transmission }),
            }
        }
        self.occupancy.join(now, bytes);
    }

    /// A packet of `bytes` arrives. Returns when its last bit will be on the wire, or `None` if there is no
    /// room for it.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.settle(now);
        if !self.limit.admits(self.occupancy.packets(), self.occupancy.bytes(), bytes) {
            return None;
        }
        if self.last_size.0 != bytes {
            self.last_size = (bytes, self.rate.transmission(bytes));
        }
        let transmission = self.last_size.1;
        self.packets_in += 1;
        self.bytes_in += u64::from(bytes);
        if self.free_at <= now {
            self.idle = self.idle + now.since(self.free_at);
            self.free_at = now.later_by(transmission);
        } else {
            self.wait(now, bytes, transmission);
            self.free_at = self.free_at.later_by(transmission);
        }
        Some(self.free_at)
    }

    /// The queue's length, exact after [`ConstantFifo::settle_before`].
    pub const fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Starts the statistics of a measurement interval.
    pub fn restart(&mut self, now: Time) {
        self.settle_before(now);
        self.occupancy.restart(now);
    }

    /// How long the link has transmitted by `now`.
    pub const fn busy(&self, now: Time) -> Interval {
        let accepted = self.free_at.since(Time::ZERO).saturating_sub(self.idle);
        accepted.saturating_sub(self.free_at.since(now)) // without a pause until `free_at`
    }

    /// Packets and bytes whose transmission has started.
    pub const fn sent(&self) -> (u64, u64) {
        (self.packets_in - self.occupancy.packets(), self.bytes_in - self.occupancy.bytes())
    }
}
