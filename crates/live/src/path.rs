//! What the router knows of a connection, and what is counted of it there.

use crate::stamps::Stamps;
use longfat_sim::PathLosses;
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{Explicit, Kind, Packet, RealPacket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread increases and others read.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `n`.
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Returns the count up to now.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is counted of a connection outside its ends.
#[derive(Debug, Default)]
pub struct Counts {
    /// Data packets that came to the router.
    pub packets_sent: Count,
    /// Data packets that the network dropped.
    pub packets_lost: Count,
    /// Data packets handed to the receiver.
    pub packets_received: Count,
    /// IP bytes of those packets.
    pub received_bytes: Count,
    /// Data packets that the router marked, of connections of programs.
    pub marked: Count,
    /// Payload that the receiving application has read.
    pub delivered_bytes: Count,
    /// When it had read all of it, nanoseconds; 0 before.
    pub all_delivered_ns: Count,
    /// Its explicit headers, if it has any.
    pub explicit: ExplicitCounts,
}

/// What is counted of the explicit headers of a connection. Feedback is in 1/256 byte, and wraps as signed
/// numbers do.
#[derive(Debug, Default)]
pub struct ExplicitCounts {
    /// Acknowledgements that the receiver sent.
    pub acks: Count,
    /// Those that carried no header.
    pub acks_without: Count,
    /// Those of these whose SACK blocks left no room for one.
    pub acks_without_room: Count,
    /// Feedback on the data that was handed to the receiver.
    pub given: Count,
    /// Feedback on the acknowledgements that the receiver sent.
    pub echoed: Count,
    /// Feedback on those that were handed to the sender.
    pub returned: Count,
}

impl ExplicitCounts {
    /// A host has sent this packet.
    pub fn see_sent(&self, packet: &RealPacket) {
        if packet.kind() != Kind::Ack {
            return;
        }
        self.acks.add(1);
        if packet.explicit().is_none() {
            self.acks_without.add(1);
            self.acks_without_room.add(u64::from(!packet.has_room_for_option()));
        }
        self.echoed.add(parts(packet));
    }

    /// The packet was handed to its host.
    pub fn see_received(&self, packet: &RealPacket) {
        match packet.kind() {
            Kind::Data => self.given.add(parts(packet)),
            Kind::Ack => self.returned.add(parts(packet)),
            _ => {}
        }
    }
}

/// The feedback that a packet carries, in 1/256 byte.
fn parts(packet: &RealPacket) -> u64 {
    match packet.explicit() {
        Some(Explicit::Xcp(header)) if header.feedback_bytes.is_finite() => {
            (header.feedback_bytes * 256.0).round() as i64 as u64
        }
        _ => 0,
    }
}

/// A connection's way through the routers; each router has its own copy.
#[derive(Clone)]
pub struct Path {
    /// The links that packets cross from opener to listener, by index.
    pub forward: Arc<[usize]>,
    /// The same, from listener to opener.
    pub reverse: Arc<[usize]>,
    /// Propagation behind the last link, from opener to listener.
    pub forward_delay: Interval,
    /// The same, from listener to opener.
    pub reverse_delay: Interval,
    /// The rate of the hosts' own links.
    pub access: Rate,
    /// When those links are free again: the opener's, and the listener's.
    pub access_free: [Time; 2],
    /// Whether the connection may use ECN.
    pub ecn: bool,
    /// Whether its packets carry explicit headers.
    pub explicit: bool,
    /// The timestamps of what comes from the opener, and from the listener: each side has its own clock.
    pub stamps: [Stamps; 2],
    /// Loss processes: link, kind of packet, process.
    pub losses: PathLosses,
    /// What is counted of the connection.
    pub counts: Arc<Counts>,
}

impl Path {
    /// Splits a two-way propagation delay into what each direction has behind its last link, as the simulator
    /// does: half of it each, less the delay of the links themselves.
    pub fn delays(rtt: Interval, links: (Interval, Interval)) -> (Interval, Interval) {
        let one_way = Interval::from_ns(rtt.as_ns() / 2);
        let back = rtt.saturating_sub(one_way);
        (one_way.saturating_sub(links.0), back.saturating_sub(links.1))
    }

    /// Returns the links that this kind of packet crosses.
    pub fn links(&self, kind: Kind) -> &[usize] {
        if kind.is_forward() { &self.forward } else { &self.reverse }
    }

    /// Returns the propagation delay behind the last link in the direction of this kind of packet.
    pub const fn delay(&self, kind: Kind) -> Interval {
        if kind.is_forward() { self.forward_delay } else { self.reverse_delay }
    }

    /// Returns when a packet that comes to its host's own link now has left it.
    pub fn leave_host(&mut self, now: Time, kind: Kind, bytes: u32) -> Time {
        let free = &mut self.access_free[usize::from(!kind.is_forward())];
        *free = now.max(*free) + self.access.transmission(bytes);
        *free
    }
}
