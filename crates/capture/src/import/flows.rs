//! All connections of a capture.

use super::clock::{Clocks, Steps, Timed};
use super::connection::{Connection, Ended};
use super::container::{Contents, Damage};
use super::copies::{Copies, Copy};
use super::seconds;
use super::segment::{End, Segment, segments};
use std::collections::BTreeMap;
use std::io::Read;

/// One row of a flow's series.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Row {
    /// Since the capture began, s.
    pub time_s: f64,
    /// IP bytes of the payload acknowledged so far, also selectively.
    pub received_bytes: f64,
    /// Payload acknowledged so far, bytes.
    pub delivered_bytes: f64,
    /// Smoothed round-trip time, s; NaN before the first sample.
    pub srtt_s: f64,
    /// Segments sent again so far.
    pub retransmits: f64,
    /// Payload in flight, bytes; NaN without packets of the receiver.
    pub flight_bytes: f64,
}

/// What a capture says about a connection, in one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct CapturedFlow {
    /// The sender of the payload, and its receiver.
    pub ends: [End; 2],
    /// The connection's first packet, since the capture began, s.
    pub start_s: f64,
    /// From its first packet to its last, s.
    pub duration_s: f64,
    /// The opening was captured.
    pub opened: bool,
    /// Packets of the receiver were captured.
    pub heard: bool,
    /// IP bytes of the payload that was acknowledged, also selectively, over the duration, bit/s; NaN if the
    /// file has no times.
    pub throughput_bps: f64,
    /// Acknowledged payload over the duration, bit/s; NaN if the file has no times.
    pub goodput_bps: f64,
    /// Time with unacknowledged payload, s; NaN if that is not known.
    pub busy_s: f64,
    /// The same over that time, bit/s; NaN if that is not known.
    pub busy_bps: f64,
    /// Segments with payload.
    pub packets: u64,
    /// Captured packets that are several segments.
    pub long_packets: u64,
    /// The payload of a full segment, bytes.
    pub payload_bytes: u32,
    /// Segments that were sent again.
    pub retransmits: u64,
    /// The mean of the payload in flight while there was some, bytes; NaN if that is not known.
    pub flight_bytes: f64,
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

/// All TCP connections of a capture, and what was left out of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Captured {
    /// In the order of their first packets.
    pub flows: Vec<CapturedFlow>,
    /// What else the file holds.
    pub contents: Contents,
    /// From the first TCP packet to the last, s.
    pub duration_s: f64,
    /// Packets that another interface showed too.
    pub copies: u64,
    /// Packets that the same interface showed twice.
    pub mirrored: u64,
    /// Steps of the clock.
    pub steps: Steps,
    /// Connections without payload in the capture.
    pub without_payload: u64,
    /// Packets with payload of directions that have no flow of their own.
    pub minor_packets: u64,
    /// Probes of closed windows, and keepalives.
    pub probes: u64,
    /// Bytes that were acknowledged, but not captured.
    pub unseen_bytes: u64,
}

/// Reads the TCP connections of a capture.
///
/// # Errors
/// Returns what is wrong if nothing of it can be read.
pub fn flows(input: impl Read) -> Result<Captured, Damage> {
    let mut clocks = Clocks::default();
    let mut all = Connections::default();
    let mut ready: Vec<Timed> = Vec::new();
    let contents = segments(input, &mut |segment| {
        clocks.pass(segment, &|segment, gap_ns| all.contradict(segment, gap_ns), &mut ready);
        ready.drain(..).for_each(|(segment, epoch)| all.take(&segment, epoch));
    })?;
    clocks.finish(&|segment, gap_ns| all.contradict(segment, gap_ns), &mut ready);
    ready.drain(..).for_each(|(segment, epoch)| all.take(&segment, epoch));
    Ok(all.end(contents, clocks.steps))
}

#[derive(Default)]
struct Connections {
    open: BTreeMap<[End; 2], Connection>,
    /// Flows of connections whose ends have another one by now, with their numbers.
    over: Vec<(u64, Ended)>,
    copies: Copies,
    order: u64,
    begin_ns: Option<u64>,
    last_ns: u64,
    found: Captured,
}

/// The ends of a segment in order, and which of them sent it.
fn sorted(segment: &Segment) -> ([End; 2], usize) {
    let [from, to] = segment.ends;
    if from > to { ([to, from], 1) } else { ([from, to], 0) }
}

impl Connections {
    fn contradict(&self, segment: &Segment, gap_ns: u64) -> bool {
        let (ends, side) = sorted(segment);
        self.open.get(&ends).is_some_and(|connection| connection.contradicts(side, segment, gap_ns))
    }

    fn take(&mut self, segment: &Segment, epoch: u32) {
        let begin_ns = *self.begin_ns.get_or_insert(segment.at_ns);
        self.last_ns = self.last_ns.max(segment.at_ns);
        let (ends, side) = sorted(segment);
        match self.copies.find(segment) {
            Some(Copy::Mirrored) => self.found.mirrored += 1,
            Some(Copy::Elsewhere(acked)) => {
                self.found.copies += 1;
                if let Some(connection) = self.open.get_mut(&ends) {
                    connection.take_copy(side, segment, acked);
                }
            }
            None => {
                if self.open.get(&ends).is_some_and(|connection| connection.is_over(side, segment))
                    && let Some(connection) = self.open.remove(&ends)
                {
                    self.over.push((connection.order, connection.end(begin_ns)));
                }
                let connection = self.open.entry(ends).or_insert_with(|| {
                    self.order += 1;
                    Connection::new(self.order, ends, begin_ns, segment.at_ns)
                });
                let acked = connection.take(side, begin_ns, segment, epoch);
                self.copies.add(segment, acked);
            }
        }
    }

    fn end(self, contents: Contents, steps: Steps) -> Captured {
        let Connections { open, over, begin_ns, last_ns, found, .. } = self;
        let begin_ns = begin_ns.unwrap_or(0);
        let open = open.into_values().map(|connection| (connection.order, connection.end(begin_ns)));
        let mut ended: Vec<_> = over.into_iter().chain(open).collect();
        ended.sort_by_key(|(order, _)| *order);
        let duration_s = seconds(last_ns.saturating_sub(begin_ns));
        let mut found = Captured { contents, steps, duration_s, ..found };
        for (_, ended) in ended {
            let Ended { flows, minor_packets, probes, unseen } = ended;
            found.without_payload += u64::from(flows.is_empty());
            found.minor_packets += minor_packets;
            found.probes += probes;
            found.unseen_bytes += unseen;
            found.flows.extend(flows);
        }
        found
    }
}
