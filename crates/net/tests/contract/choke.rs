//! CHOKe (Pan, Prabhakar, Psounis, INFOCOM 2000; Lopez Pacheco 2008, algorithm 5): an arriving packet is compared with
//! one drawn from the queue; if they belong to the same flow, both are dropped. Needs: dropping the arriving packet
//! and one from anywhere in the queue in one call, and a random stream of its own.

use crate::driver::{World, assert_in_order, bits_sent, constant_rate, ignore};
use longfat_net::queue::{DropTail, Limit};
use longfat_net::{DropReason, Element, Sink};
use longfat_units::{Stream, Time};
use longfat_wire::{FlowId, Packet, SimPacket};
use std::collections::VecDeque;

struct Choke<P> {
    queue: VecDeque<P>,
    bytes: u64,
    capacity: usize,
    thresholds: (f64, f64),
    weight: f64,
    greatest_probability: f64,
    average: f64,
    draws: Stream,
}

impl<P: Packet> Choke<P> {
    fn new(capacity: usize, thresholds: (f64, f64)) -> Self {
        Choke {
            queue: VecDeque::new(),
            bytes: 0,
            capacity,
            thresholds,
            weight: 0.02,
            greatest_probability: 0.1,
            average: 0.0,
            draws: Stream::new(1, "choke"),
        }
    }

    fn join(&mut self, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.queue.push_back(packet);
    }
}

impl<P: Packet> Element<P> for Choke<P> {
    fn arrive(&mut self, _now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.average += self.weight * (self.queue.len() as f64 - self.average);
        let (low, high) = self.thresholds;
        if self.average > low && !self.queue.is_empty() {
            let drawn = self.draws.below(self.queue.len() as u64) as usize;
            if self.queue[drawn].flow() == packet.flow() {
                if let Some(victim) = self.queue.remove(drawn) {
                    self.bytes -= u64::from(victim.bytes());
                    out.drop(victim, DropReason::Early);
                }
                return out.drop(packet, DropReason::Early);
            }
            let probability = self.greatest_probability * (self.average - low) / (high - low);
            if self.average >= high || self.draws.unit() < probability {
                return out.drop(packet, DropReason::Early);
            }
        }
        if self.queue.len() >= self.capacity {
            return out.drop(packet, DropReason::Full);
        }
        self.join(packet);
    }

    fn next(&mut self, _now: Time, _out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.bytes());
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.queue.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

const AGGRESSIVE: u32 = 0;

/// An aggressive flow of 8 Mbit/s and 16 flows of 0.5 Mbit/s before a link of 10 Mbit/s: the share that the
/// aggressive one gets.
fn share_of_the_aggressive(queue: Box<dyn Element<SimPacket>>) -> (f64, World<SimPacket>) {
    let mut world = World::new();
    world.add_link(10e6, vec![queue]);
    constant_rate(&mut world, AGGRESSIVE, 1000, 8e6, (0.0, 60.0));
    (1..=16).for_each(|i| constant_rate(&mut world, i, 1000, 0.5e6, (0.000_9 * f64::from(i), 60.0)));
    world.run(Time::from_secs_f64(60.0), &mut ignore);
    let all: f64 = (0..=16).map(|i| bits_sent(&world, i)).sum();
    (bits_sent(&world, AGGRESSIVE) / all, world)
}

#[test]
fn choke_drops_the_arriving_packet_and_its_match_from_inside_the_queue() {
    let (_, world) = share_of_the_aggressive(Box::new(Choke::new(300, (20.0, 150.0))));
    world.assert_conserves();
    assert_in_order(&world);
    // two drops at the same time of the same flow: the match, which had come earlier, and the arriving packet
    let dropped: Vec<_> = world.dropped().collect();
    let pairs = dropped
        .windows(2)
        .filter(|w| w[0].0 == w[1].0 && w[0].1.flow == w[1].1.flow && w[0].1.seq < w[1].1.seq);
    let pairs: Vec<_> = pairs.collect();
    assert!(pairs.len() > 1000, "{} pairs", pairs.len());
    let of_the_aggressive = pairs.iter().filter(|w| w[0].1.flow == FlowId(AGGRESSIVE)).count();
    assert!(of_the_aggressive as f64 > 0.8 * pairs.len() as f64, "{of_the_aggressive} of {}", pairs.len());
    // from anywhere: some matches were followed on the wire by packets that had come before them
    let overtaken = pairs.iter().filter(|w| {
        let (at, gone, _) = w[0];
        world.sent().any(|(later, p)| later > at && p.flow == gone.flow && p.seq < gone.seq)
    });
    assert!(overtaken.count() > 100);
}

#[test]
fn choke_takes_from_the_aggressive_flow_what_drop_tail_leaves_it() {
    let (choke, _) = share_of_the_aggressive(Box::new(Choke::new(300, (20.0, 150.0))));
    let (drop_tail, world) = share_of_the_aggressive(Box::new(DropTail::new(Limit::Packets(300))));
    world.assert_conserves();
    // Tang, Wang, Low (INFOCOM 2003): under CHOKe an unresponsive flow gets at most 1 / (1 + e) = 26.9 %
    assert!(choke < 0.30, "CHOKe leaves {choke:.3}, drop-tail {drop_tail:.3}");
    assert!(drop_tail > 0.4, "drop-tail leaves {drop_tail:.3}");
}
