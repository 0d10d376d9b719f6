//! A connection: its two directions, and their series.

use super::direction::Direction;
use super::rtt::{Rtt, Sent};
use super::seconds;
use super::segment::{End, Segment};

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

/// Time between two rows of a flow's series, ns.
const ROW_NS: u64 = 100_000_000;
/// The most rows of a series; of longer captures, the rows are further apart.
const MOST_ROWS: usize = 100_000;
/// A packet whose IP length is not true may have this many bytes behind it that are no payload: a check
/// sequence, or what fills a frame up.
const MOST_SURPLUS: u32 = 6;
/// The direction with less payload is a flow of its own if it has this part of the payload of the other
/// (chosen here).
const OWN_FLOW: u64 = 10;

/// The state of a direction at a time.
#[derive(Clone, Copy)]
struct State {
    at_ns: u64,
    high: u64,
    acked: u64,
    waiting: u64,
    overhead: f64,
    srtt_s: f64,
    again: u64,
    flight: u64,
}

/// A direction, and what is measured of it over time.
#[derive(Default)]
struct Side {
    direction: Direction,
    series: Vec<State>,
    /// Time with data in flight, ns, and the integral of what was in flight over it, byte ns.
    busy_ns: u64,
    area: f64,
}

pub struct Connection {
    /// Its number among all.
    pub order: u64,
    ends: [End; 2],
    first_ns: u64,
    last_ns: u64,
    opened: bool,
    sides: [Side; 2],
    /// The time of the next row since the capture began, ns, and the time between rows.
    next_ns: u64,
    step_ns: u64,
    surplus: Option<u32>,
}

/// What a connection leaves behind.
#[derive(Default)]
pub struct Ended {
    /// One or two, or none.
    pub flows: Vec<CapturedFlow>,
    /// Packets with payload of a direction that has no row of its own.
    pub minor_packets: u64,
    /// Probes in all directions.
    pub probes: u64,
    /// Bytes that were acknowledged, but not captured.
    pub unseen: u64,
}

impl Connection {
    /// Begins with a segment at `first_ns` of a capture that began at `begin_ns`. `ends` are in order.
    pub fn new(order: u64, ends: [End; 2], begin_ns: u64, first_ns: u64) -> Self {
        Connection {
            order,
            ends,
            first_ns,
            last_ns: first_ns,
            opened: false,
            sides: [Side::default(), Side::default()],
            next_ns: first_ns.saturating_sub(begin_ns).next_multiple_of(ROW_NS),
            step_ns: ROW_NS,
            surplus: None,
        }
    }

    /// Whether the segment, from this side, is of another connection between the same ends.
    pub fn is_over(&self, side: usize, segment: &Segment) -> bool {
        let began = self.sides.iter().any(|side| side.direction.high > 0);
        began && self.sides[side].direction.is_foreign(segment)
    }

    /// Whether the connection contradicts a silence of this many ns before this segment.
    pub fn contradicts(&self, side: usize, segment: &Segment, gap_ns: u64) -> bool {
        let own = &self.sides[side].direction;
        let other = &self.sides[1 - side].direction;
        if let Some(elapsed_ns) = segment.stamps.and_then(|(value, _)| own.stamps.elapsed_ns(value)) {
            return elapsed_ns < gap_ns / 2;
        }
        let progress = segment.ack.is_some_and(|ack| other.is_progress(ack));
        (own.is_waiting() && own.is_new(segment)) || progress
    }

    /// Takes its next segment. Returns when that was sent which it acknowledges, if a round trip ends here.
    pub fn take(&mut self, side: usize, begin_ns: u64, segment: &Segment, epoch: u32) -> Option<Sent> {
        let segment = &self.corrected(segment);
        self.opened |= segment.opens;
        self.pass_time(begin_ns, segment.at_ns);
        let [a, b] = &mut self.sides;
        let (own, other) = if side == 0 { (a, b) } else { (b, a) };
        let (own, other) = (&mut own.direction, &mut other.direction);
        if segment.dropped && segment.payload == 0 {
            return None; // an acknowledgement that did not arrive
        }
        if let (true, Some(mss)) = (segment.opens, segment.mss) {
            own.sizes.announce(mss);
            other.sizes.announce(mss);
        }
        own.enter(epoch);
        other.enter(epoch);
        own.announce(segment);
        let ack = segment.ack.filter(|_| !segment.resets);
        if let Some((_, echo)) = segment.stamps.filter(|_| !segment.untimed)
            && let Some(since_ns) = other.stamps.echo(echo).since_ns(segment.at_ns)
        {
            own.near_ns = Some(own.near_ns.map_or(since_ns, |least| least.min(since_ns)));
        }
        own.send(segment, other.is_closed());
        let sent = ack.and_then(|ack| other.hear(segment, ack));
        if let Some(sent) = sent {
            other.rtts.sample(segment.interface, segment.at_ns, sent);
        }
        sent
    }

    /// Another interface shows a segment again; what it acknowledged was sent at `acked`.
    pub fn take_copy(&mut self, side: usize, segment: &Segment, acked: Option<Sent>) {
        if let Some((value, _)) = segment.stamps {
            self.sides[side].direction.stamps.sight(value, segment.at_ns);
        }
        if let Some(sent) = acked.filter(|_| !segment.dropped) {
            self.sides[1 - side].direction.rtts.sample(segment.interface, segment.at_ns, sent);
        }
    }

    /// The segment, without bytes that only look like payload.
    fn corrected(&mut self, segment: &Segment) -> Segment {
        let payload = if segment.inferred {
            if segment.payload <= MOST_SURPLUS {
                let least = self.surplus.unwrap_or(MOST_SURPLUS).min(segment.payload);
                self.surplus = Some(least);
            }
            segment.payload.saturating_sub(self.surplus.unwrap_or(0))
        } else {
            segment.payload
        };
        Segment { payload, ..*segment }
    }

    fn pass_time(&mut self, begin_ns: u64, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.last_ns);
        for side in &mut self.sides {
            if side.direction.is_waiting() {
                side.busy_ns += passed_ns;
                side.area += side.direction.flight.bytes() as f64 * passed_ns as f64;
            }
        }
        self.last_ns = self.last_ns.max(now_ns);
        let since_ns = now_ns.saturating_sub(begin_ns);
        if self.next_ns > since_ns {
            return;
        }
        // nothing changes in between: the first and the last are enough, however long the silence was
        let last_ns = since_ns - (since_ns - self.next_ns) % self.step_ns;
        self.add_rows(self.next_ns);
        if last_ns > self.next_ns {
            self.add_rows(last_ns);
        }
        self.next_ns = last_ns + self.step_ns;
        if self.sides.iter().any(|side| side.series.len() >= MOST_ROWS) {
            self.step_ns *= 2;
            self.next_ns = self.next_ns.next_multiple_of(self.step_ns);
            for side in &mut self.sides {
                side.series.retain(|state| state.at_ns.is_multiple_of(self.step_ns));
            }
        }
    }

    fn add_rows(&mut self, at_ns: u64) {
        for Side { direction, series, .. } in &mut self.sides {
            if direction.high > 0 {
                series.push(State {
                    at_ns,
                    high: direction.high,
                    acked: direction.acked,
                    waiting: direction.flight.waiting(),
                    overhead: direction.sizes.overhead(),
                    srtt_s: direction.rtts.longest().map_or(f64::NAN, |rtt| rtt.smoothed_s),
                    again: direction.sizes.again(),
                    flight: direction.flight.bytes(),
                });
            }
        }
    }

    /// The flows of this connection.
    pub fn end(self, begin_ns: u64) -> Ended {
        let [a, b] = self.sides.each_ref().map(|side| side.direction.sizes.payload());
        let own = [a > 0 && a * OWN_FLOW >= b, b > 0 && b * OWN_FLOW >= a];
        let mut ended = Ended::default();
        for side in [usize::from(b > a), usize::from(b <= a)] {
            let direction = &self.sides[side].direction;
            ended.probes += direction.probes;
            ended.unseen += direction.unseen;
            if own[side] {
                ended.flows.push(self.flow(side, begin_ns));
            } else {
                ended.minor_packets += direction.sizes.packets();
            }
        }
        ended
    }

    fn flow(&self, side: usize, begin_ns: u64) -> CapturedFlow {
        let Side { direction, series, busy_ns, area } = &self.sides[side];
        let ends = [self.ends[side], self.ends[1 - side]];
        // without a time, there is none for anything
        let nan = if direction.timed { 0.0 } else { f64::NAN };
        let duration_s = seconds(self.last_ns - self.first_ns);
        let rate = |bytes: f64, span_s: f64| nan + if span_s > 0.0 { 8.0 * bytes / span_s } else { 0.0 };
        let received = direction.arrived() as f64 * direction.sizes.overhead();
        let near_s = nan + direction.near_ns.map_or(0.0, seconds);
        let rtt = direction.rtts.longest();
        let [rtt_min_s, rtt_mean_s, srtt_mean_s] =
            rtt.map_or([f64::NAN; 3], Rtt::summary).map(|rtt| rtt + near_s);
        let (packets, retransmits) = direction.sizes.segments();
        let busy_s = if direction.heard { nan + seconds(*busy_ns) } else { f64::NAN };
        let row = |state: &State| {
            let [arrived, delivered] =
                if direction.heard { [state.high - state.waiting, state.acked] } else { [state.high; 2] };
            Row {
                time_s: seconds(state.at_ns),
                received_bytes: arrived as f64 * state.overhead,
                delivered_bytes: delivered as f64,
                srtt_s: state.srtt_s + near_s,
                retransmits: state.again as f64,
                flight_bytes: if direction.heard { state.flight as f64 } else { f64::NAN },
            }
        };
        CapturedFlow {
            ends,
            start_s: seconds(self.first_ns.saturating_sub(begin_ns)),
            duration_s,
            opened: self.opened,
            heard: direction.heard,
            throughput_bps: rate(received, duration_s),
            goodput_bps: rate(direction.delivered() as f64, duration_s),
            busy_s,
            busy_bps: rate(received, busy_s),
            packets,
            long_packets: direction.sizes.long(),
            payload_bytes: direction.sizes.full(),
            retransmits,
            flight_bytes: if busy_s > 0.0 { area / *busy_ns as f64 } else { f64::NAN },
            rtt_min_s,
            rtt_mean_s,
            srtt_mean_s,
            rtt_samples: rtt.map_or(0, |rtt| rtt.samples),
            closed: direction.fin && direction.acked >= direction.high,
            rows: series.iter().map(row).collect(),
        }
    }
}
