//! An XCP router (Katabi, Handley, Rohrs: SIGCOMM 2002) around a queue. It needs a timer that it sets again
//! each control interval, a header that it changes on packets as they leave, and the length of the queue that
//! it controls.

use crate::driver::{Arrivals, World, ignore};
use longfat_net::queue::{DropTail, Limit};
use longfat_net::{Element, Sink};
use longfat_units::{Interval, Time};
use longfat_wire::{Explicit, Extra, FlowId, Kind, Packet, SimPacket, Xcp};

/// SIGCOMM 2002, section 3.5 and 4.
const ALPHA: f64 = 0.4;
const BETA: f64 = 0.226;
const GAMMA: f64 = 0.1;

/// Sums over the packets of one control interval.
#[derive(Default)]
struct Sums {
    bytes: f64,
    /// s, rtt s / cwnd and rtt^2 s / cwnd over packets that carry a header.
    carried: f64,
    by_window: f64,
    rtt_by_window: f64,
}

struct XcpRouter<Q> {
    queue: Q,
    capacity_bytes_per_s: f64,
    sums: Sums,
    mean_rtt_s: f64,
    /// xi_p and xi_n of the running interval.
    gain: (f64, f64),
    interval_ends: Time,
    /// The least queue since the last update of Q, and Q.
    least_bytes: f64,
    persistent_bytes: f64,
    queue_due: Time,
    started: bool,
}

impl<Q> XcpRouter<Q> {
    fn new(queue: Q, rate_bps: f64) -> Self {
        XcpRouter {
            queue,
            capacity_bytes_per_s: rate_bps / 8.0,
            sums: Sums::default(),
            mean_rtt_s: 0.1,
            gain: (0.0, 0.0),
            interval_ends: Time::NEVER,
            least_bytes: f64::INFINITY,
            persistent_bytes: 0.0,
            queue_due: Time::NEVER,
            started: false,
        }
    }

    fn control(&mut self) {
        let sums = std::mem::take(&mut self.sums);
        let d = self.mean_rtt_s;
        let input = sums.bytes / d;
        let phi = ALPHA * d * (self.capacity_bytes_per_s - input) - BETA * self.persistent_bytes;
        let shuffled = (GAMMA * sums.bytes - phi.abs()).max(0.0);
        self.gain = if sums.by_window > 0.0 {
            (
                (shuffled + phi.max(0.0)) / (d * sums.by_window),
                (shuffled + (-phi).max(0.0)) / (d * sums.carried),
            )
        } else {
            (0.0, 0.0)
        };
        if sums.by_window > 0.0 {
            self.mean_rtt_s = (sums.rtt_by_window / sums.by_window).clamp(1e-3, 10.0);
        }
    }
}

impl<P: Packet, Q: Element<P>> Element<P> for XcpRouter<Q> {
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if !self.started {
            // an element does not learn when the run begins; its first packet tells it
            self.started = true;
            self.interval_ends = now + Interval::from_secs_f64(self.mean_rtt_s);
            self.queue_due = self.interval_ends;
            out.set_timer(self.interval_ends);
        }
        let bytes = f64::from(packet.bytes());
        self.sums.bytes += bytes;
        self.least_bytes = self.least_bytes.min(self.queue.bytes() as f64);
        if let Some(Explicit::Xcp(header)) = packet.explicit()
            && header.rtt_s > 0.0
        {
            self.sums.carried += bytes;
            self.sums.by_window += header.rtt_s * bytes / header.cwnd_bytes;
            self.sums.rtt_by_window += header.rtt_s * header.rtt_s * bytes / header.cwnd_bytes;
        }
        self.queue.arrive(now, packet, out);
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        // two clocks on one timer: the control interval, and the drain time of a queue that does not persist
        if now >= self.interval_ends {
            self.control();
            self.interval_ends = now + Interval::from_secs_f64(self.mean_rtt_s);
        }
        if now >= self.queue_due {
            self.persistent_bytes = if self.least_bytes.is_finite() { self.least_bytes } else { 0.0 };
            self.least_bytes = self.queue.bytes() as f64;
            let drain_s = self.queue.bytes() as f64 / self.capacity_bytes_per_s;
            self.queue_due = now + Interval::from_secs_f64((self.mean_rtt_s - drain_s).max(2e-3));
        }
        out.set_timer(self.interval_ends.min(self.queue_due));
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let mut packet = self.queue.next(now, out)?;
        let bytes = f64::from(packet.bytes());
        if let Some(Explicit::Xcp(header)) = packet.explicit_mut()
            && header.rtt_s > 0.0
        {
            let positive = self.gain.0 * header.rtt_s * header.rtt_s * bytes / header.cwnd_bytes;
            let negative = self.gain.1 * header.rtt_s * bytes;
            header.feedback_bytes = header.feedback_bytes.min(positive - negative);
        }
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

const PACKET_BYTES: f64 = 1000.0;

/// An XCP sender without end of data; its segments are never lost here.
struct Sender {
    flow: u32,
    base_rtt: Interval,
    cwnd_bytes: f64,
    rtt_s: f64,
    in_flight: f64,
    next: u64,
}

impl Sender {
    fn new(flow: u32, base_rtt_s: f64) -> Self {
        let base_rtt = Interval::from_secs_f64(base_rtt_s);
        Sender { flow, base_rtt, cwnd_bytes: 2.0 * PACKET_BYTES, rtt_s: 0.0, in_flight: 0.0, next: 0 }
    }

    fn fill(&mut self, now: Time, out: &mut Arrivals<SimPacket>) {
        while self.in_flight + PACKET_BYTES <= self.cwnd_bytes {
            let mut packet =
                SimPacket::new(Kind::Data, FlowId(self.flow), self.next, PACKET_BYTES as u32, now);
            let wish =
                Xcp { cwnd_bytes: self.cwnd_bytes, rtt_s: self.rtt_s, feedback_bytes: 1e9, ..Xcp::default() };
            packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::Xcp(wish)), ..Extra::default() }));
            out.push((now, 0, packet));
            self.next += 1;
            self.in_flight += PACKET_BYTES;
        }
    }

    /// The echo of a packet that left the bottleneck at `departure`; the flow's whole delay lies behind it.
    fn acknowledged(&mut self, departure: Time, packet: &SimPacket, out: &mut Arrivals<SimPacket>) {
        let now = departure + self.base_rtt;
        let sample_s = now.since(packet.stamp).as_secs_f64();
        if let Some(Explicit::Xcp(header)) = packet.explicit()
            && header.rtt_s > 0.0
        {
            self.cwnd_bytes = (self.cwnd_bytes + header.feedback_bytes).max(PACKET_BYTES);
        }
        self.rtt_s = if self.rtt_s == 0.0 { sample_s } else { 0.875 * self.rtt_s + 0.125 * sample_s };
        self.in_flight -= PACKET_BYTES;
        self.fill(now, out);
    }
}

/// Runs senders with these round-trip times, the i-th starting at i seconds, over 20 Mbit/s.
fn xcp(rtts_s: &[f64], until_s: f64) -> World<SimPacket> {
    let rate_bps = 20e6;
    let mut world = World::new();
    let queue = DropTail::new(Limit::Packets(250));
    world.add_link(rate_bps, vec![Box::new(XcpRouter::new(queue, rate_bps))]);
    let mut senders: Vec<_> = rtts_s.iter().zip(0..).map(|(&rtt_s, i)| Sender::new(i, rtt_s)).collect();
    for (i, sender) in senders.iter_mut().enumerate() {
        let mut first = vec![];
        sender.fill(Time::from_secs_f64(i as f64), &mut first);
        first.into_iter().for_each(|(at, link, packet)| world.send(at, link, packet));
    }
    world.run(Time::from_secs_f64(until_s), &mut |at, _, packet, out| {
        senders[packet.flow.0 as usize].acknowledged(at, &packet, out);
    });
    world
}

/// Each flow's rate in bit/s over [from, until).
fn rates(world: &World<SimPacket>, flows: usize, (from_s, until_s): (f64, f64)) -> Vec<f64> {
    let mut bits = vec![0.0; flows];
    for (at, packet) in world.sent() {
        if (from_s..until_s).contains(&at.as_secs_f64()) {
            bits[packet.flow.0 as usize] += 8.0 * PACKET_BYTES / (until_s - from_s);
        }
    }
    bits
}

/// Jain's index.
fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(s, q), r| (s + r, q + r * r));
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn xcp_fills_the_link_fairly_without_drops() {
    for rtts_s in [[0.08; 4], [0.04, 0.06, 0.08, 0.12]] {
        let world = xcp(&rtts_s, 40.0);
        world.assert_conserves();
        let rates = rates(&world, 4, (20.0, 40.0));
        let busy = rates.iter().sum::<f64>() / 20e6;
        assert!(busy >= 0.95, "RTTs {rtts_s:?}: utilization {busy:.4}");
        assert!(jain(&rates) > 0.99, "RTTs {rtts_s:?}: rates {rates:.0?}");
        assert_eq!(world.dropped().count(), 0, "RTTs {rtts_s:?}");
    }
}

#[test]
fn xcp_makes_room_for_a_newcomer_within_seconds() {
    let world = xcp(&[0.08, 0.08], 12.0);
    let alone = rates(&world, 2, (0.5, 1.0));
    assert!(alone[0] > 0.9 * 20e6, "alone: {alone:.0?}");
    let together = rates(&world, 2, (6.0, 12.0));
    assert!(jain(&together) > 0.99, "five seconds after the second one's start: {together:.0?}");
    assert!(together.iter().sum::<f64>() > 0.95 * 20e6, "{together:.0?}");
}

#[test]
fn packets_without_a_header_pass_the_router_unchanged() {
    let mut world = World::new();
    world.add_link(1e6, vec![Box::new(XcpRouter::new(DropTail::new(Limit::Packets(10)), 1e6))]);
    (0..5).for_each(|seq| world.send(Time::ZERO, 0, crate::driver::data(0, seq, 1000)));
    // the control timer never stops, so the clock ends the run
    world.run(Time::from_secs_f64(5.0), &mut ignore);
    let seen: Vec<_> = world.sent().map(|(at, p)| (at.as_ns(), p.clone())).collect();
    let sent = (0..5).map(|seq| (8_000_000 * (seq + 1), crate::driver::data(0, seq, 1000)));
    assert_eq!(seen, sent.collect::<Vec<_>>());
}
