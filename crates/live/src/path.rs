//! What the router knows of a connection, and what it counts of it.

use longfat_sim::{ConnectionPlan, PathLosses};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{Carrier, FlowId, Kind, Ports};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the side that opens connections to it listens.
pub const LISTEN_PORT: u16 = 5001;
/// Where the servers of iperf3 listen, and what its clients send data from; each flow has one of each. The kernel chooses
/// other ports of itself.
pub const IPERF_SERVERS: Range<u16> = 5201..7201;
/// Of the same flows, in the same order.
pub const IPERF_CLIENTS: Range<u16> = 7201..9201;
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

/// The connection that a packet of this side belongs to, and whether the opener sent it.
pub fn conversation(side: usize, ports: Ports) -> (FlowId, bool) {
    if ports.source == LISTEN_PORT || IPERF_SERVERS.contains(&ports.source) {
        (place(ports.carrier, 1 - side, ports.destination), false)
    } else {
        (place(ports.carrier, side, ports.source), true)
    }
}

/// What TCP's segment size leaves out: IP and TCP headers without options.
const MSS_HEADERS: u32 = 40;

/// A connection's segment size as the kernel counts it.
pub const fn segment_bytes(planned: &ConnectionPlan) -> u32 {
    planned.mss_bytes + planned.header_bytes - MSS_HEADERS
}

/// Whether this is what an iperf3 and its server say to each other beside the data.
pub fn is_arrangement(ports: Ports) -> bool {
    let arranges = |server, client| IPERF_SERVERS.contains(&server) && !IPERF_CLIENTS.contains(&client);
    arranges(ports.source, ports.destination) || arranges(ports.destination, ports.source)
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

/// How long what one end of a connection sends has been on its way from the kernel's stamp (TSval) to whoever reads it off
/// the device. The stamps' clock runs as the reader's but begins anywhere, so that the shortest way found is taken to be none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    first: Option<(Time, u32)>,
    least_ns: i64,
}

impl Stamps {
    /// Of Linux, unless a route says that microseconds are wanted.
    const TICK_NS: i64 = 1_000_000;

    /// At least how long the packet with this stamp took, read now: a stamp may be older by a tick than it says.
    pub fn waited(&mut self, now: Time, stamp: u32) -> Interval {
        let (begin, origin) = *self.first.get_or_insert((now, stamp));
        let ticks = i64::from(stamp.wrapping_sub(origin).cast_signed());
        let way_ns = now.since(begin).as_ns().cast_signed() - ticks * Self::TICK_NS;
        self.least_ns = self.least_ns.min(way_ns);
        Interval::from_ns((way_ns - self.least_ns - Self::TICK_NS).max(0).cast_unsigned())
    }
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
    /// Of what comes from the router's own side.
    pub stamps: Stamps,
    /// Loss processes: link, kind of packet, process.
    pub losses: PathLosses,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_lay_before_it_was_read_is_told_from_the_stamps_whatever_they_begin_at() {
        let mut stamps = Stamps::default();
        let origin = u32::MAX - 3;
        let ways_us: Vec<u64> = (0..100u64)
            .map(|n| {
                let sent_us = 370 * n;
                let lay_us = if n == 60 { 7_000 } else { 30 };
                let stamp = origin.wrapping_add((sent_us / 1000) as u32);
                stamps.waited(Time::from_ns(1000 * (50_000 + sent_us + lay_us)), stamp).as_ns() / 1000
            })
            .collect();
        let (late, others): (Vec<_>, Vec<_>) = ways_us.into_iter().enumerate().partition(|(n, _)| *n == 60);
        assert!((6_000..=7_000).contains(&late[0].1), "{late:?}");
        assert!(others.iter().all(|(_, way)| *way == 0), "{others:?}");
    }
}
