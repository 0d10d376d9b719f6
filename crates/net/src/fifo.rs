//! A drop-tail FIFO in front of a link of constant rate, without departure events.
//!
//! When a packet is accepted, the time at which its transmission starts is arithmetic: the later of now and the end
//! of the one before it. So it is enough to remember those starts; a packet waits until its own has come.
//! [`queue::DropTail`](crate::queue::DropTail) behind a link that asks for packets gives the same results by events.

use crate::Occupancy;
use crate::queue::Limit;
use longfat_units::{Interval, Rate, Time};
use std::collections::VecDeque;

/// The fast form of drop-tail at a constant rate.
#[derive(Clone, Debug)]
pub struct ConstantFifo {
    rate: Rate,
    limit: Limit,
    /// Of each waiting packet: when its transmission starts, and its size.
    waiting: VecDeque<(Time, u32)>,
    free_at: Time,
    /// Transmission of everything accepted so far, until `free_at`.
    accepted: Interval,
    occupancy: Occupancy,
    packets_out: u64,
    bytes_out: u64,
    /// The last packet size and how long that takes: sizes hardly ever change, a division is slow.
    last_size: (u32, Interval),
}

impl ConstantFifo {
    /// An empty queue before an idle link.
    pub fn new(rate: Rate, limit: Limit) -> Self {
        ConstantFifo {
            rate,
            limit,
            waiting: VecDeque::new(),
            free_at: Time::ZERO,
            accepted: Interval::ZERO,
            occupancy: Occupancy::default(),
            packets_out: 0,
            bytes_out: 0,
            last_size: (0, Interval::ZERO),
        }
    }

    /// Brings queue and counters to where they are just before anything happens at `now`, for whoever looks then.
    pub fn settle_before(&mut self, now: Time) {
        self.settle(now - Interval::from_ns(1));
    }

    /// Lets everything leave the queue whose transmission has started by `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        while let Some(&(start, bytes)) = self.waiting.front() {
            if start > now {
                break;
            }
            self.waiting.pop_front();
            self.occupancy.leave(start, bytes);
            self.packets_out += 1;
            self.bytes_out += u64::from(bytes);
        }
    }

    /// A packet of `bytes` arrives: when its last bit will be on the wire, or `None` if there is no room for it.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.settle(now);
        if !self.limit.admits(self.occupancy.packets(), self.occupancy.bytes(), bytes) {
            return None;
        }
        if self.last_size.0 != bytes {
            self.last_size = (bytes, self.rate.transmission(bytes));
        }
        self.accepted = self.accepted + self.last_size.1;
        if self.free_at <= now {
            self.packets_out += 1;
            self.bytes_out += u64::from(bytes);
            self.free_at = now + self.last_size.1;
        } else {
            self.occupancy.join(now, bytes);
            self.waiting.push_back((self.free_at, bytes));
            self.free_at += self.last_size.1;
        }
        Some(self.free_at)
    }

    /// The queue's length, exact after [`ConstantFifo::settle_before`].
    pub const fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Starts the figures of a window.
    pub fn restart(&mut self, now: Time) {
        self.settle_before(now);
        self.occupancy.restart(now);
    }

    /// How long the link has transmitted by `now`.
    pub const fn busy(&self, now: Time) -> Interval {
        self.accepted.saturating_sub(self.free_at.since(now)) // without a pause until `free_at`
    }

    /// Packets and bytes whose transmission has started.
    pub const fn sent(&self) -> (u64, u64) {
        (self.packets_out, self.bytes_out)
    }
}
