//! What a capture says about its TCP connections.
//!
//! ```text
//! flow        a connection in the direction with more payload
//! sent again  a segment that begins below the highest byte seen so far of its direction
//! RTT         a segment whose bytes, or whose timestamp, an acknowledgement answers: from the capture to the receiver and
//!             back; and the same on the sender's side of the capture, from an acknowledgement's timestamp to the first
//!             segment that echoes it, of which the least is added. Without timestamps, only the first part, of segments that
//!             were sent once (Karn's rule)
//! smoothed    srtt <- 7/8 srtt + 1/8 RTT (RFC 6298)
//! throughput  IP bytes of the acknowledged payload, over the time from the connection's first packet to its last
//! ```

use crate::reader::{Contents, Damage, Segment, read};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::net::IpAddr;

/// The weight of a sample in the smoothed round-trip time (RFC 6298, alpha).
const WEIGHT: f64 = 1.0 / 8.0;
/// Time between two rows of a flow's series, s.
const ROW_S: f64 = 0.1;
/// The most rows of a series; of longer captures, the rows are further apart.
const MOST_ROWS: f64 = 100_000.0;
/// The most segments that wait for an acknowledgement in memory; older ones give no round-trip time.
const MOST_WAITING: usize = 1 << 17;
/// Among so many packets of a direction, one that another interface shows too counts once.
const MOST_SEEN: usize = 1 << 13;
const NS: f64 = 1e9;

/// One end of a connection.
type End = (IpAddr, u16);

/// One row of a flow's series.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Row {
    /// Since the capture began, s.
    pub time_s: f64,
    /// IP bytes of the payload acknowledged so far.
    pub received_bytes: f64,
    /// Payload acknowledged so far, bytes.
    pub delivered_bytes: f64,
    /// Smoothed round-trip time, s; NaN before the first sample.
    pub srtt_s: f64,
    /// Segments sent again so far.
    pub retransmits: f64,
    /// Payload sent and not acknowledged, bytes.
    pub flight_bytes: f64,
}

/// What a capture says about a connection.
#[derive(Clone, PartialEq, Debug)]
pub struct CapturedFlow {
    /// The sender of most of the payload, and its receiver.
    pub ends: [End; 2],
    /// Its first packet, since the capture began, s.
    pub start_s: f64,
    /// From its first packet to its last, s.
    pub duration_s: f64,
    /// The opening was captured.
    pub opened: bool,
    /// IP bytes of the acknowledged payload over the duration, bit/s.
    pub throughput_bps: f64,
    /// Acknowledged payload over the duration, bit/s.
    pub goodput_bps: f64,
    /// Packets with payload.
    pub packets: u64,
    /// The largest payload of a packet, bytes.
    pub payload_bytes: u32,
    /// Those of them that were sent again.
    pub retransmits: u64,
    /// The least round-trip time, s; NaN without a sample.
    pub rtt_min_s: f64,
    /// The mean of all, s.
    pub rtt_mean_s: f64,
    /// The mean of the smoothed one over time, s.
    pub srtt_mean_s: f64,
    /// Samples of the round-trip time.
    pub rtt_samples: u64,
    /// The last byte was acknowledged after a FIN.
    pub closed: bool,
    /// Its series.
    pub rows: Vec<Row>,
}

/// All TCP connections of a capture.
#[derive(Clone, PartialEq, Debug)]
pub struct Captured {
    /// In the order of their first packets; those without payload are left out.
    pub flows: Vec<CapturedFlow>,
    /// What else the file holds.
    pub contents: Contents,
    /// From the first packet to the last TCP packet, s.
    pub duration_s: f64,
    /// Packets that another interface showed too.
    pub copies: u64,
}

/// Reads the TCP connections of a capture.
///
/// # Errors
/// Returns what is wrong if nothing of it can be read.
pub fn flows(input: impl Read) -> Result<Captured, Damage> {
    let mut connections: BTreeMap<[End; 2], Connection> = BTreeMap::new();
    let (mut first, mut last, mut order, mut copies) = (None, 0, 0, 0);
    let contents = read(input, &mut |segment| {
        let begin = *first.get_or_insert(segment.at_ns);
        last = last.max(segment.at_ns);
        let [from, to] = segment.ends;
        let side = usize::from(from > to);
        let key = if side == 0 { [from, to] } else { [to, from] };
        let connection = connections.entry(key).or_insert_with(|| {
            order += 1;
            Connection::new(order, begin, segment.at_ns)
        });
        if connection.is_copy(side, segment) {
            copies += 1;
        } else {
            connection.take(side, begin, segment);
        }
    })?;
    let begin = first.unwrap_or(0);
    let mut found: Vec<_> = connections.into_iter().collect();
    found.sort_by_key(|(_, connection)| connection.order);
    let flows = found.into_iter().filter_map(|(ends, connection)| connection.end(ends, begin)).collect();
    let duration_s = seconds(last.saturating_sub(begin));
    Ok(Captured { flows, contents, duration_s, copies })
}

/// A segment that waits for its acknowledgement.
#[derive(Clone, Copy)]
struct Waiting {
    end: u64,
    at_ns: u64,
    /// Sent once so far.
    once: bool,
}

/// One direction of a connection.
#[derive(Default)]
struct Direction {
    /// The sequence number of the first byte that was seen, once there was one.
    isn: Option<u32>,
    /// One past the highest byte, counted from the first.
    high: u64,
    /// Acknowledged by the other end.
    acked: u64,
    packets: u64,
    payload: u64,
    largest: u32,
    ip_bytes: u64,
    again: u64,
    fin: bool,
    waiting: VecDeque<Waiting>,
    /// When a TSval was first sent.
    stamped: BTreeMap<u32, u64>,
    stamps: VecDeque<u32>,
    /// The least time until the other end echoed a timestamp of this one, ns.
    echoed_ns: Option<u64>,
    rtt: Rtt,
    rows: Vec<Row>,
    /// Packets as other interfaces may show them too.
    seen: BTreeMap<Shown, u32>,
    shown: VecDeque<Shown>,
}

/// What two captures of one packet have in common.
type Shown = (u16, u32, Option<u32>, u32, Option<(u32, u32)>);

/// Round-trip times.
#[derive(Default)]
struct Rtt {
    samples: u64,
    sum_s: f64,
    least_s: f64,
    smoothed_s: f64,
    /// The integral of the smoothed one, s^2, and since when, ns.
    area: f64,
    since_ns: u64,
    began_ns: u64,
}

impl Rtt {
    fn sample(&mut self, now_ns: u64, rtt_s: f64) {
        if self.samples == 0 {
            (self.least_s, self.smoothed_s) = (rtt_s, rtt_s);
            (self.began_ns, self.since_ns) = (now_ns, now_ns);
        }
        self.area += self.smoothed_s * seconds(now_ns.saturating_sub(self.since_ns));
        self.since_ns = now_ns.max(self.since_ns);
        self.samples += 1;
        self.sum_s += rtt_s;
        self.least_s = self.least_s.min(rtt_s);
        self.smoothed_s += WEIGHT * (rtt_s - self.smoothed_s);
    }

    /// Least, mean, and the mean of the smoothed one over time, s.
    fn told(&self) -> [f64; 3] {
        if self.samples == 0 {
            return [f64::NAN; 3];
        }
        let span_s = seconds(self.since_ns - self.began_ns);
        let smoothed = if span_s > 0.0 { self.area / span_s } else { self.smoothed_s };
        [self.least_s, self.sum_s / self.samples as f64, smoothed]
    }
}

impl Direction {
    /// The place of a sequence number, counted from the first byte.
    fn place(&mut self, seq: u32) -> u64 {
        let isn = *self.isn.get_or_insert(seq);
        let low = seq.wrapping_sub(isn);
        // the one nearest to the highest so far
        let ahead = low.wrapping_sub(self.high as u32) as i32;
        self.high.saturating_add_signed(i64::from(ahead))
    }

    /// IP bytes of the payload acknowledged so far.
    fn received_bytes(&self) -> f64 {
        if self.payload == 0 { 0.0 } else { self.acked as f64 * self.ip_bytes as f64 / self.payload as f64 }
    }

    fn send(&mut self, segment: &Segment) {
        if segment.opens {
            self.isn = Some(segment.seq.wrapping_add(1));
        }
        if let Some((value, _)) = segment.stamps
            && !self.stamped.contains_key(&value)
        {
            self.stamped.insert(value, segment.at_ns);
            self.stamps.push_back(value);
            if self.stamps.len() > MOST_WAITING
                && let Some(old) = self.stamps.pop_front()
            {
                self.stamped.remove(&old);
            }
        }
        self.fin |= segment.closes;
        if segment.payload == 0 || segment.opens {
            return;
        }
        let start = self.place(segment.seq);
        let end = start + u64::from(segment.payload);
        self.packets += 1;
        self.payload += u64::from(segment.payload);
        self.largest = self.largest.max(segment.payload);
        self.ip_bytes += u64::from(segment.ip_bytes);
        if start < self.high {
            self.again += 1;
            let from = self.waiting.partition_point(|waiting| waiting.end <= start);
            self.waiting.iter_mut().skip(from).take_while(|w| w.end <= end).for_each(|w| w.once = false);
        } else {
            self.waiting.push_back(Waiting { end, at_ns: segment.at_ns, once: true });
            if self.waiting.len() > MOST_WAITING {
                self.waiting.pop_front();
            }
        }
        self.high = self.high.max(end);
    }

    /// The other end acknowledges everything below this sequence number.
    fn hear(&mut self, segment: &Segment, ack: u32) {
        let Some(isn) = self.isn else { return };
        let low = ack.wrapping_sub(isn);
        let ahead = low.wrapping_sub(self.acked as u32) as i32;
        let acked = self.acked.saturating_add_signed(i64::from(ahead)).min(self.high);
        let newly = acked > self.acked;
        self.acked = self.acked.max(acked);
        let mut sent_ns = None;
        while let Some(waiting) = self.waiting.front().filter(|waiting| waiting.end <= self.acked) {
            sent_ns = waiting.once.then_some(waiting.at_ns);
            self.waiting.pop_front();
        }
        let echo = segment.stamps.map(|(_, echo)| echo);
        if let Some(echo) = echo {
            sent_ns = self.stamped.get(&echo).copied();
            if let Some(&sent) = self.stamped.get(&echo) {
                let wait = segment.at_ns.saturating_sub(sent);
                self.echoed_ns = Some(self.echoed_ns.map_or(wait, |least| least.min(wait)));
            }
        }
        if let Some(sent) = sent_ns.filter(|_| newly || segment.opens) {
            self.rtt.sample(segment.at_ns, seconds(segment.at_ns.saturating_sub(sent)));
        }
    }

    fn row(&self, time_s: f64) -> Row {
        Row {
            time_s,
            received_bytes: self.received_bytes(),
            delivered_bytes: self.acked as f64,
            srtt_s: if self.rtt.samples == 0 { f64::NAN } else { self.rtt.smoothed_s },
            retransmits: self.again as f64,
            flight_bytes: self.high.saturating_sub(self.acked) as f64,
        }
    }
}

struct Connection {
    order: u64,
    first_ns: u64,
    last_ns: u64,
    opened: bool,
    sides: [Direction; 2],
    next_row: f64,
    step_s: f64,
}

impl Connection {
    fn new(order: u64, begin_ns: u64, first_ns: u64) -> Self {
        Connection {
            order,
            first_ns,
            last_ns: first_ns,
            opened: false,
            sides: [Direction::default(), Direction::default()],
            next_row: (seconds(first_ns.saturating_sub(begin_ns)) / ROW_S).ceil() * ROW_S,
            step_s: ROW_S,
        }
    }

    /// Whether another interface has shown this packet.
    fn is_copy(&mut self, side: usize, segment: &Segment) -> bool {
        let own = &mut self.sides[side];
        let shown = (segment.ip_id, segment.seq, segment.ack, segment.payload, segment.stamps);
        if let Some(&interface) = own.seen.get(&shown) {
            return interface != segment.interface;
        }
        own.seen.insert(shown, segment.interface);
        own.shown.push_back(shown);
        if own.shown.len() > MOST_SEEN
            && let Some(old) = own.shown.pop_front()
        {
            own.seen.remove(&old);
        }
        false
    }

    fn take(&mut self, side: usize, begin_ns: u64, segment: &Segment) {
        self.opened |= segment.opens;
        let now_s = seconds(segment.at_ns.saturating_sub(begin_ns));
        while self.next_row <= now_s {
            let time_s = self.next_row;
            for direction in &mut self.sides {
                let row = direction.row(time_s);
                direction.rows.push(row);
            }
            self.next_row += self.step_s;
            if self.sides[0].rows.len() as f64 >= MOST_ROWS {
                self.thin();
            }
        }
        self.last_ns = self.last_ns.max(segment.at_ns);
        if segment.dropped && segment.payload == 0 {
            return; // an acknowledgement that did not arrive
        }
        self.sides[side].send(segment);
        if let Some(ack) = segment.ack {
            self.sides[1 - side].hear(segment, ack);
        }
    }

    /// Leaves out every second row.
    fn thin(&mut self) {
        for direction in &mut self.sides {
            let mut odd = true;
            direction.rows.retain(|_| {
                odd = !odd;
                !odd
            });
        }
        self.step_s *= 2.0;
    }

    fn end(self, ends: [End; 2], begin_ns: u64) -> Option<CapturedFlow> {
        let Connection { first_ns, last_ns, opened, sides: [a, b], .. } = self;
        let (data, back, ends) =
            if a.payload >= b.payload { (a, b, ends) } else { (b, a, [ends[1], ends[0]]) };
        if data.packets == 0 {
            return None;
        }
        let duration_s = seconds(last_ns - first_ns);
        let rate = |bytes: f64| if duration_s > 0.0 { 8.0 * bytes / duration_s } else { 0.0 };
        let near_s = back.echoed_ns.map_or(0.0, seconds);
        let [rtt_min_s, rtt_mean_s, srtt_mean_s] = data.rtt.told().map(|rtt| rtt + near_s);
        let start_s = seconds(first_ns.saturating_sub(begin_ns));
        let mut rows: Vec<Row> = data.rows.iter().copied().filter(|row| row.time_s >= start_s).collect();
        rows.iter_mut().for_each(|row| row.srtt_s += near_s);
        Some(CapturedFlow {
            ends,
            start_s,
            duration_s,
            opened,
            throughput_bps: rate(data.received_bytes()),
            goodput_bps: rate(data.acked as f64),
            packets: data.packets,
            payload_bytes: data.largest,
            retransmits: data.again,
            rtt_min_s,
            rtt_mean_s,
            srtt_mean_s,
            rtt_samples: data.rtt.samples,
            closed: data.fin && data.acked >= data.high,
            rows,
        })
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PCAP: [u8; 24] =
        [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0];

    #[test]
    fn places_follow_the_highest_byte_across_the_end_of_the_numbers() {
        let mut direction = Direction { isn: Some(u32::MAX - 99), ..Direction::default() };
        assert_eq!(direction.place(u32::MAX - 99), 0);
        direction.high = 1000;
        assert_eq!(direction.place(900), 1000, "the next one, behind the wrap");
        assert_eq!(direction.place(u32::MAX - 49), 50, "sent again");
        direction.high = (1 << 32) + 1000;
        assert_eq!(direction.place(900), (1 << 32) + 1000, "a second time round");
    }

    #[test]
    fn the_smoothed_round_trip_time_moves_by_an_eighth_and_its_mean_is_over_time() {
        let mut rtt = Rtt::default();
        rtt.sample(0, 0.1);
        rtt.sample(1_000_000_000, 0.2);
        rtt.sample(4_000_000_000, 0.1125);
        let [least, mean, smoothed] = rtt.told();
        assert_eq!(least, 0.1);
        assert!((mean - 0.1375).abs() < 1e-12);
        // 0.1 for 1 s, then 0.1 + (0.2 - 0.1) / 8 = 0.1125 for 3 s
        assert!((smoothed - (0.1 + 3.0 * 0.1125) / 4.0).abs() < 1e-12, "{smoothed}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600), form in 0u8..3) {
            let begin: &[u8] = match form {
                0 => &[],
                1 => &PCAP,
                _ => &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0],
            };
            if let Ok(captured) = flows(&[begin, &bytes[..]].concat()[..]) {
                prop_assert!(captured.contents.others <= captured.contents.packets);
            }
        }
    }
}
