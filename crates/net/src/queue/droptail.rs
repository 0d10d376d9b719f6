//! Drop-tail: first in, first out; an arrival that finds the queue full is dropped.

use super::Limit;
use crate::{DropReason, Element, Sink};
use longfat_units::Time;
use longfat_wire::Packet;
use std::collections::VecDeque;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    limit: Limit,
    queue: VecDeque<P>,
    bytes: u64,
}

impl<P> DropTail<P> {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        DropTail { limit, queue: VecDeque::new(), bytes: 0 }
    }
}

impl<P: Packet> Element<P> for DropTail<P> {
    fn arrive(&mut self, _now: Time, packet: P, out: &mut dyn Sink<P>) {
        if self.limit.admits(self.queue.len() as u64, self.bytes, packet.bytes()) {
            self.bytes += u64::from(packet.bytes());
            self.queue.push_back(packet);
        } else {
            out.drop(packet, DropReason::Full);
        }
    }

    fn next(&mut self, _now: Time, _out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.bytes());
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.queue.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
