//! Connections that the plan does not have: those of programs on the path. The routers meet them by their
//! packets, of any protocol over IPv4 and IPv6, and count each by its addresses and ports.

use crate::namespace::ADDRESSES;
use crate::path::{Counts, Path};
use crate::ports::CONNECTIONS;
use crate::stamps::Stamps;
use longfat_sim::{LinkPlan, PathLosses, Streams};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::{Conversation, FlowId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most connections with a row of their own; further ones share the last row (chosen here).
const MOST_ROWS: usize = 10_000;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;

/// A connection by its protocol, and by the address and port at side A and at side B.
type Key = (u8, [(IpAddr, u16); 2]);

/// What is counted of one connection.
#[derive(Debug)]
struct Row {
    key: Key,
    /// The side that sent the first packet.
    opener: usize,
    /// When that packet came.
    first: Time,
    /// When the latest packet came, ns.
    latest_ns: AtomicU64,
    /// What side A sends, and what side B sends.
    ways: [Arc<Counts>; 2],
}

/// What a run tells of one of its programs' connections.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionReport {
    /// "tcp", "udp", "icmp", "icmp6", or IP's number of another protocol.
    pub protocol: String,
    /// The address at side A.
    pub a: String,
    /// The port there; 0 where the protocol has none.
    pub a_port: u16,
    /// The address at side B.
    pub b: String,
    /// The port there.
    pub b_port: u16,
    /// The side that sent the first packet.
    pub opened_by: char,
    /// When the first packet came to a router, s.
    pub first_s: f64,
    /// When the last one came, s.
    pub last_s: f64,
    /// What side A sent.
    pub a_to_b: WayReport,
    /// What side B sent.
    pub b_to_a: WayReport,
}

/// What went one way: packets that carry something for an application, with the bytes of their IP packets.
#[derive(Clone, Debug, Serialize)]
pub struct WayReport {
    /// Packets that came to the router.
    pub packets: u64,
    /// Packets that the network dropped.
    pub dropped: u64,
    /// Packets that the router marked (ECN).
    pub marked: u64,
    /// Bytes handed to the other side.
    pub bytes: u64,
    /// The same over the time from the first packet to the last, bit/s; 0 for less than one sample of time.
    pub throughput_bps: f64,
}

/// The connections that both routers have met.
#[derive(Debug, Default)]
struct Met {
    rows: Vec<Arc<Row>>,
    numbers: BTreeMap<Key, usize>,
}

/// What the path is like for the connections of programs.
#[derive(Clone, Debug)]
pub struct GuestPath {
    /// Two-way propagation delay.
    pub rtt: Interval,
    /// The rate of the hosts' own links.
    pub access: Rate,
    /// The seed of the loss processes.
    pub seed: u64,
    /// The plans of both links.
    pub links: Vec<LinkPlan>,
}

/// The connections of programs, as the router of one side knows them.
pub struct Guests {
    side: usize,
    path: Arc<GuestPath>,
    met: Arc<Mutex<Met>>,
    numbers: BTreeMap<Key, usize>,
    rows: BTreeMap<usize, Arc<Row>>,
}

impl Guests {
    /// Returns those of each side's router.
    pub fn of_both(path: GuestPath) -> [Self; 2] {
        let (path, met) = (Arc::new(path), Arc::<Mutex<Met>>::default());
        [0, 1].map(|side| Guests {
            side,
            path: path.clone(),
            met: met.clone(),
            numbers: BTreeMap::new(),
            rows: BTreeMap::new(),
        })
    }

    /// Whether a program sent this packet, and not a connection of the plan.
    #[inline]
    pub fn sent(&self, packet: &Conversation) -> bool {
        packet.source.0 != IpAddr::V4(ADDRESSES[self.side])
    }

    /// Returns the connection of a packet that came to this side's router now; `None` for a packet that stays
    /// on its own network, such as a multicast.
    pub fn meet(&mut self, now: Time, packet: &Conversation) -> Option<FlowId> {
        if stays(packet.destination.0) || stays(packet.source.0) {
            return None;
        }
        let mut ends = [packet.source, packet.destination];
        ends.rotate_left(self.side);
        let key = (packet.protocol, ends);
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None => {
                let (number, row) = self.introduce(now, key);
                self.numbers.insert(key, number);
                self.rows.insert(number, row);
                number
            }
        };
        self.rows[&number].latest_ns.fetch_max(now.as_ns(), Ordering::Relaxed);
        Some(FlowId((CONNECTIONS + number) as u32))
    }

    /// Makes the row of a connection, unless the other router has.
    fn introduce(&self, now: Time, key: Key) -> (usize, Arc<Row>) {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match met.numbers.get(&key) {
            Some(&number) => number,
            None if met.rows.len() >= MOST_ROWS => MOST_ROWS - 1,
            None => {
                let number = met.rows.len();
                let latest_ns = AtomicU64::new(now.as_ns());
                met.rows.push(Arc::new(Row {
                    key,
                    opener: self.side,
                    first: now,
                    latest_ns,
                    ways: Default::default(),
                }));
                met.numbers.insert(key, number);
                number
            }
        };
        (number, met.rows[number].clone())
    }

    /// Returns the side whose router this is.
    pub const fn side(&self) -> usize {
        self.side
    }

    /// Returns the way of a connection that this router has met.
    pub fn path(&self, flow: FlowId) -> Path {
        let number = flow.0 as usize - CONNECTIONS;
        let (forward_delay, reverse_delay) = Path::delays(self.path.rtt, (Interval::ZERO, Interval::ZERO));
        let models = |link: usize| {
            let LinkPlan { name, loss, ack_loss, .. } = &self.path.links[link];
            (name.as_str(), *loss, *ack_loss)
        };
        let streams = Streams::of_flow(self.path.seed, &format!("connection {number}"));
        Path {
            forward: [self.side].into(),
            reverse: [self.side].into(),
            forward_delay,
            reverse_delay,
            access: self.path.access,
            access_free: [Time::ZERO; 2],
            ecn: true,
            explicit: false,
            stamps: [Stamps::default(); 2],
            losses: PathLosses::both_ways(models, std::iter::once(self.side), &streams),
            counts: self.rows[&number].ways[self.side].clone(),
        }
    }

    /// Returns what was counted, in the order in which the connections appeared.
    pub fn reports(&self) -> Vec<ConnectionReport> {
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.rows.iter().map(|row| report(row)).collect()
    }
}

/// Whether a packet to or from this address stays on the network of its own host.
fn stays(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => {
            four.is_multicast() || four.is_broadcast() || four.is_unspecified() || four.is_link_local()
        }
        IpAddr::V6(six) => six.is_multicast() || six.is_unspecified() || six.is_unicast_link_local(),
    }
}

fn report(row: &Row) -> ConnectionReport {
    let latest = Time::from_ns(row.latest_ns.load(Ordering::Relaxed));
    let lasted_s = latest.since(row.first).as_secs_f64();
    let way = |counts: &Counts| {
        let bytes = counts.received_bytes.get();
        WayReport {
            packets: counts.packets_sent.get(),
            dropped: counts.packets_lost.get(),
            marked: counts.marked.get(),
            bytes,
            throughput_bps: if lasted_s > 0.0 { 8.0 * bytes as f64 / lasted_s } else { 0.0 },
        }
    };
    let (protocol, [(a, a_port), (b, b_port)]) = row.key;
    let protocol = match protocol {
        TCP => "tcp".to_owned(),
        UDP => "udp".to_owned(),
        ICMP => "icmp".to_owned(),
        ICMPV6 => "icmp6".to_owned(),
        other => other.to_string(),
    };
    ConnectionReport {
        protocol,
        a: a.to_string(),
        a_port,
        b: b.to_string(),
        b_port,
        opened_by: if row.opener == 0 { 'a' } else { 'b' },
        first_s: row.first.as_secs_f64(),
        last_s: latest.as_secs_f64(),
        a_to_b: way(&row.ways[0]),
        b_to_a: way(&row.ways[1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::GUESTS;
    use longfat_wire::Carrier;

    fn both() -> [Guests; 2] {
        let path = GuestPath {
            rtt: Interval::from_millis(40),
            access: Rate::from_bps(1e9).unwrap(),
            seed: 1,
            links: Vec::new(),
        };
        Guests::of_both(path)
    }

    fn packet(from: usize, source: u16, destination: u16) -> Conversation {
        let [own, other] = [from, 1 - from].map(|side| IpAddr::from(GUESTS[side]));
        Conversation {
            protocol: TCP,
            source: (own, source),
            destination: (other, destination),
            carrier: Some(Carrier::Tcp),
        }
    }

    #[test]
    fn both_routers_count_the_two_ways_of_a_connection_in_one_row() {
        let [mut a, mut b] = both();
        let flow = a.meet(Time::from_ns(1_000_000_000), &packet(0, 40_000, 80));
        assert_eq!(b.meet(Time::from_ns(3_000_000_000), &packet(1, 80, 40_000)), flow);
        assert_ne!(b.meet(Time::from_ns(3_500_000_000), &packet(1, 40_000, 80)), flow);
        b.rows[&0].ways[1].received_bytes.add(500);
        let rows = a.reports();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].a_port, rows[0].b_port, rows[0].opened_by), (40_000, 80, 'a'));
        assert_eq!((rows[0].first_s, rows[0].last_s, rows[0].b_to_a.throughput_bps), (1.0, 3.0, 2000.0));
        assert_eq!((rows[1].a_port, rows[1].b_port, rows[1].opened_by), (80, 40_000, 'b'));
    }

    #[test]
    fn packets_for_neighbours_only_do_not_cross() {
        let [mut a, _] = both();
        for to in ["224.0.0.22", "255.255.255.255", "ff02::2", "fe80::1"] {
            let mut packet = packet(0, 1, 2);
            packet.destination.0 = to.parse().unwrap();
            assert_eq!(a.meet(Time::ZERO, &packet), None, "{to}");
        }
    }

    #[test]
    fn connections_beyond_the_table_share_its_last_row() {
        let [mut a, mut b] = both();
        for n in 0..MOST_ROWS + 5 {
            a.meet(Time::ZERO, &packet(0, n as u16, 80));
        }
        assert_eq!(b.reports().len(), MOST_ROWS);
        let last = FlowId((CONNECTIONS + MOST_ROWS - 1) as u32);
        assert_eq!(b.meet(Time::ZERO, &packet(1, 80, MOST_ROWS as u16 + 2)), Some(last));
    }

    #[test]
    fn a_packet_is_a_programs_unless_it_comes_from_the_plans_own_address() {
        let [a, b] = both();
        let mut packet = packet(0, 40_000, 80);
        assert!(a.sent(&packet));
        packet.source.0 = ADDRESSES[0].into();
        assert!(!a.sent(&packet) && b.sent(&packet));
    }
}
