//! A drop-tail FIFO in front of a link of constant rate, without departure events.
//!
//! When a packet is accepted, the time at which its transmission starts is arithmetic: the later of now and the end
//! of the one before it. So it is enough to remember those starts; a packet waits until its own has come.
//! [`queue::DropTail`](crate::queue::DropTail) behind a link that asks for packets gives the same results by events.

use crate::Occupancy;
use crate::queue::Limit;
use longfat_units::{Rate, Time};
use std::collections::VecDeque;

/// The fast form of drop-tail at a constant rate.
#[derive(Clone, Debug)]
pub struct ConstantFifo {
    rate: Rate,
    limit: Limit,
    /// Of each waiting packet: when its transmission starts, and its size.
    waiting: VecDeque<(Time, u32)>,
    free_at: Time,
    occupancy: Occupancy,
    packets_out: u64,
    bytes_out: u64,
    /// The last packet size and how long that takes: sizes hardly ever change, a division is slow.
    last_size: (u32, longfat_units::Interval),
}

impl ConstantFifo {
    /// An empty queue before an idle link.
    pub fn new(rate: Rate, limit: Limit) -> Self {
        ConstantFifo {
            rate,
            limit,
            waiting: VecDeque::new(),
            free_at: Time::ZERO,
            occupancy: Occupancy::default(),
            packets_out: 0,
            bytes_out: 0,
            last_size: (0, longfat_units::Interval::ZERO),
        }
    }

    /// Lets everything leave the queue whose transmission has started by `now`.
    #[inline(always)]
    pub fn settle(&mut self, now: Time) {
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
        if self.last_size.0 != bytes {
            self.last_size = (bytes, self.rate.transmission(bytes));
        }
        if self.free_at <= now {
            self.packets_out += 1;
            self.bytes_out += u64::from(bytes);
            self.free_at = now + self.last_size.1;
        } else {
            if !self.limit.admits(self.occupancy.packets(), self.occupancy.bytes(), bytes) {
                return None;
            }
            self.occupancy.join(now, bytes);
            self.waiting.push_back((self.free_at, bytes));
            self.free_at += self.last_size.1;
        }
        Some(self.free_at)
    }

    /// The queue's length, exact after [`ConstantFifo::settle`].
    pub const fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Starts the figures of a window.
    pub fn restart(&mut self, now: Time) {
        self.settle(now);
        self.occupancy.restart(now);
    }

    /// Packets and bytes whose transmission has started.
    pub const fn sent(&self) -> (u64, u64) {
        (self.packets_out, self.bytes_out)
    }
}
