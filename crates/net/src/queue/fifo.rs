//! What every discipline keeps its packets in: first in, first out, with the time of each arrival.

use super::limit::Limit;
use crate::{DropReason, Sink};
use longfat_units::Time;
use longfat_wire::{Ecn, Packet};
use std::collections::VecDeque;

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

    /// Joins the end.
    #[inline]
    pub fn push(&mut self, now: Time, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.packets.push_back((now, packet));
    }

    /// Whether there is room for it.
    #[inline]
    pub fn fits(&self, packet: &P, limit: Limit) -> bool {
        limit.admits(self.len(), self.bytes, packet.bytes())
    }

    /// Leaves the head: when it came, and the packet.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, P)> {
        let (since, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes());
        Some((since, packet))
    }

    /// Leaves the head to be sent; its wait is told.
    #[inline]
    pub fn serve(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let (since, packet) = self.pop()?;
        out.waited(now.since(since));
        Some(packet)
    }

    /// The packet at this place, counted from the head.
    pub fn get(&self, place: usize) -> Option<&P> {
        self.packets.get(place).map(|(_, packet)| packet)
    }

    /// Takes the packet at this place, counted from the head.
    pub fn remove(&mut self, place: usize) -> Option<P> {
        let (_, packet) = self.packets.remove(place)?;
        self.bytes -= u64::from(packet.bytes());
        Some(packet)
    }
}

/// Signals congestion to one packet: marks it where `ecn` is on and it can be (RFC 3168, section 5), and answers it;
/// else drops it.
pub fn signal<P: Packet>(mut packet: P, ecn: bool, reason: DropReason, out: &mut dyn Sink<P>) -> Option<P> {
    if ecn && packet.ecn() != Ecn::NotCapable {
        packet.set_ecn(Ecn::Marked);
        out.marked(reason);
        return Some(packet);
    }
    out.drop(packet, reason);
    None
}
