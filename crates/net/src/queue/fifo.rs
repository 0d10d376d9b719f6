//! The packets of a discipline: first in, first out, with the time of each arrival.

use super::limit::Limit;
use crate::{DropReason, Sink};
use longfat_units::Time;
use longfat_wire::{Ecn, Packet};
use std::collections::VecDeque;

/// A queue at rest keeps room for this many packets (chosen here): most flows never have more there.
const KEPT: usize = 16;

/// Packets that wait, each with the time of its arrival.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    packets: VecDeque<(Time, P)>,
    bytes: u64,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Fifo { packets: VecDeque::new(), bytes: 0 }
    }
}

impl<P: Packet> Fifo<P> {
    /// Packets waiting.
    #[inline]
    pub fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Bytes waiting.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, now: Time, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.packets.push_back((now, packet));
    }

    /// Whether there is room for the packet.
    #[inline]
    pub fn fits(&self, packet: &P, limit: Limit) -> bool {
        limit.admits(self.len(), self.bytes, packet.bytes())
    }

    /// Frees the room that its longest queue has left, if nothing waits; for one of many queues, most of
    /// which wait for their next flow.
    #[inline]
    pub fn rest(&mut self) {
        if self.packets.is_empty() && self.packets.capacity() > KEPT {
            self.packets = VecDeque::new();
        }
    }

    /// Takes the packet at the head. Returns the time of its arrival, and the packet.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, P)> {
        let (since, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes());
        Some((since, packet))
    }

    /// Takes the packet at the head to send it, and reports how long it waited.
    #[inline]
    pub fn serve(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let (since, packet) = self.pop()?;
        out.waited(now.since(since));
        Some(packet)
    }

    /// The packet at the head, and the time of its arrival.
    #[inline]
    pub fn first(&self) -> Option<(Time, &P)> {
        self.packets.front().map(|(since, packet)| (*since, packet))
    }

    /// The packet at this index, counted from the head.
    pub fn get(&self, index: usize) -> Option<&P> {
        self.packets.get(index).map(|(_, packet)| packet)
    }

    /// Takes the packet at this index, counted from the head.
    pub fn remove(&mut self, index: usize) -> Option<P> {
        let (_, packet) = self.packets.remove(index)?;
        self.bytes -= u64::from(packet.bytes());
        Some(packet)
    }
}

/// Signals congestion by one packet. If `ecn` is on and the packet can be marked (RFC 3168, section 5), marks
/// and returns it; otherwise drops it.
pub fn signal<P: Packet>(mut packet: P, ecn: bool, reason: DropReason, out: &mut dyn Sink<P>) -> Option<P> {
    if ecn && packet.ecn() != Ecn::NotCapable {
        packet.set_ecn(Ecn::Marked);
        out.marked(reason);
        return Some(packet);
    }
    out.drop(packet, reason);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::Interval;
    use longfat_wire::{FlowId, Kind, SimPacket};

    #[test]
    fn a_queue_at_rest_has_no_room_of_its_longest_time() {
        let mut queue = Fifo::default();
        let packet = || SimPacket::new(Kind::Data, FlowId(0), 0, 1500, Time::ZERO);
        (0..1000).for_each(|_| queue.push(Time::ZERO, packet()));
        queue.rest();
        assert_eq!(queue.len(), 1000);
        while queue.pop().is_some() {}
        assert!(queue.packets.capacity() >= 1000);
        queue.rest();
        assert!(queue.packets.capacity() <= KEPT);
        queue.push(Time::ZERO + Interval::from_ns(1), packet());
        assert_eq!(queue.bytes(), 1500);
    }
}
