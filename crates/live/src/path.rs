//! What the router knows of a connection, and what it counts of it.

use longfat_net::{Loss, LossModel};
use longfat_sim::LinkPlan;
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{Carrier, FlowId, Kind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the side that opens connections to it listens.
pub const LISTEN_PORT: u16 = 5001;
/// How many connections can be told apart: by carrier, the side that opened them, and its port.
pub const PLACES: usize = 4 << 16;

/// The place of a connection that `side` opened from `port`.
pub const fn place(carrier: Carrier, side: usize, port: u16) -> FlowId {
    let carrier = match carrier {
        Carrier::Tcp => 0,
        Carrier::Udp => 2,
    };
    FlowId(((carrier + side as u32) << 16) | port as u32)
}

/// Whether a connection is none: UDP.
pub const fn carries_datagrams(flow: FlowId) -> bool {
    (flow.0 >> 17) & 1 == 1
}

/// A count that one thread makes and others read.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// So many more.
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// So many up to now.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is counted of a connection outside of its ends.
#[derive(Debug, Default)]
pub struct Counts {
    /// Data packets that came to the router.
    pub packets_sent: Count,
    /// Data packets that the network dropped.
    pub packets_lost: Count,
    /// Data packets handed to the receiver.
    pub packets_received: Count,
    /// Their IP bytes.
    pub received_bytes: Count,
    /// Payload that the receiving application has read.
    pub delivered_bytes: Count,
}

/// A connection's way through the routers; each has its own copy.
#[derive(Clone)]
pub struct Path {
    /// Propagation behind the link, opener to listener.
    pub forward_delay: Interval,
    /// The same, listener to opener.
    pub reverse_delay: Interval,
    /// Of the hosts' own links.
    pub access: Rate,
    /// When those are free again: the opener's, and the listener's.
    pub access_free: [Time; 2],
    /// Whether it may use ECN.
    pub ecn: bool,
    /// Loss processes: link, kind of packet, process.
    pub losses: Vec<(usize, Kind, Loss)>,
    /// What is counted of it.
    pub counts: std::sync::Arc<Counts>,
}

impl Path {
    /// The two-way propagation delay, split as the simulator splits it.
    pub fn delays(rtt: Interval) -> (Interval, Interval) {
        let one_way = Interval::from_ns(rtt.as_ns() / 2);
        (one_way, rtt.saturating_sub(one_way))
    }

    /// Propagation in the direction of this kind of packet.
    pub const fn delay(&self, kind: Kind) -> Interval {
        if kind.is_forward() { self.forward_delay } else { self.reverse_delay }
    }

    /// When a packet has left its host's own link, if it comes to it now.
    pub fn leave_host(&mut self, now: Time, kind: Kind, bytes: u32) -> Time {
        let free = &mut self.access_free[usize::from(!kind.is_forward())];
        *free = now.max(*free) + self.access.transmission(bytes);
        *free
    }

    /// Whether a loss process on this link takes this packet.
    pub fn is_lost(&mut self, link: usize, kind: Kind) -> bool {
        self.losses.iter_mut().any(|(l, k, loss)| *l == link && *k == kind && loss.strikes())
    }
}

/// The loss processes that a connection of this name meets, opened by this side.
pub fn losses(links: &[LinkPlan], side: usize, seed: u64, name: &str) -> Vec<(usize, Kind, Loss)> {
    let data = (side, Kind::Data, links[side].loss.model());
    let acks = (1 - side, Kind::Ack, links[1 - side].ack_loss.model());
    [data, acks]
        .into_iter()
        .filter(|(_, _, model)| *model != LossModel::None)
        .map(|(link, kind, model)| {
            (link, kind, Loss::new(model, Stream::new(seed, &format!("{name}/loss/{link}/{kind:?}"))))
        })
        .collect()
}
