//! A queue that drops at its head when asked for the next packet, after CoDel (RFC 8289). Needs: `next` that drops
//! some packets on the way to the one it answers with, and the time a packet arrived kept beside it.

use crate::driver::{Left, World, constant_rate, data, ignore};
use longfat_net::queue::{DropTail, Limit};
use longfat_net::{Address, DropReason, Element, Sink};
use longfat_units::math::sqrt;
use longfat_units::{Interval, Time};
use longfat_wire::{Packet, SimPacket};
use std::collections::VecDeque;

/// RFC 8289, section 4.
const TARGET: Interval = Interval::from_millis(5);
const INTERVAL: Interval = Interval::from_millis(100);

struct CoDel<P> {
    queue: VecDeque<(Time, P)>,
    bytes: u64,
    /// When delays will have been above the target for a whole interval.
    patience_ends: Option<Time>,
    /// While dropping: when the next drop is due, and how many there were.
    dropping: Option<(Time, u32)>,
}

impl<P: Packet> CoDel<P> {
    fn new() -> Self {
        CoDel { queue: VecDeque::new(), bytes: 0, patience_ends: None, dropping: None }
    }

    /// The head, and whether it is time to drop.
    fn head(&mut self, now: Time) -> Option<(P, bool)> {
        let Some((since, packet)) = self.queue.pop_front() else {
            self.patience_ends = None;
            return None;
        };
        self.bytes -= u64::from(packet.bytes());
        if now.since(since) < TARGET || self.bytes <= 1500 {
            self.patience_ends = None;
            return Some((packet, false));
        }
        let ends = *self.patience_ends.get_or_insert(now + INTERVAL);
        Some((packet, now >= ends))
    }

    fn control_law(from: Time, drops: u32) -> Time {
        from + INTERVAL.scale(1.0 / sqrt(f64::from(drops)))
    }
}

impl<P: Packet> Element<P> for CoDel<P> {
    fn arrive(&mut self, now: Time, packet: P, _out: &mut dyn Sink<P>) {
        self.bytes += u64::from(packet.bytes());
        self.queue.push_back((now, packet));
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        loop {
            let (packet, late) = self.head(now)?;
            if !late {
                self.dropping = None;
                return Some(packet);
            }
            match self.dropping {
                Some((due, _)) if now < due => return Some(packet),
                Some((due, drops)) => self.dropping = Some((Self::control_law(due, drops + 1), drops + 1)),
                None => self.dropping = Some((Self::control_law(now, 1), 1)),
            }
            out.drop(packet, DropReason::Early);
        }
    }

    fn packets(&self) -> u64 {
        self.queue.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[test]
fn codel_drops_at_the_head_and_holds_an_overload_that_drop_tail_does_not() {
    let waits_s = |queue: Box<dyn Element<SimPacket>>| {
        let mut world = World::new();
        world.add_link(10e6, vec![queue]);
        constant_rate(&mut world, 0, 1000, 11e6, (0.0, 60.0));
        world.run(Time::from_secs_f64(60.0), &mut ignore);
        world.assert_conserves();
        // whatever leaves, on the wire or dropped, was at the head: the numbers come in order and without gap
        let numbers = world.left.iter().map(|(_, how)| match how {
            Left::Sent(p) | Left::Dropped(p, _) => p.seq,
        });
        assert!(numbers.enumerate().all(|(i, seq)| i as u64 == seq), "packets leave at the head only");
        let dropped = world.dropped().count();
        let busy = world.sent().count() as f64 * 8000.0 / 10e6 / 60.0;
        let most = world.sent().filter(|(at, _)| at.as_secs_f64() > 30.0);
        // packet number n came at n gaps of 8000 bits at 11 Mbit/s
        let most = most.map(|(at, p)| at.as_secs_f64() - p.seq as f64 * 8000.0 / 11e6).fold(0.0, f64::max);
        (most, dropped, busy)
    };
    let (codel, dropped, busy) = waits_s(Box::new(CoDel::new()));
    let (drop_tail, none, _) = waits_s(Box::new(DropTail::new(Limit::Packets(1_000_000))));
    assert!(busy > 0.99, "the link is busy {busy:.4} of the time");
    assert!(dropped > 1000, "{dropped} drops");
    assert_eq!(none, 0);
    assert!(drop_tail > 5.0, "an endless queue grows: {drop_tail:.2} s");
    assert!(codel < 1.0, "longest wait {codel:.3} s");
}

#[test]
fn codel_lets_a_burst_pass_that_is_gone_within_an_interval() {
    let mut world = World::new();
    world.add_link(10e6, vec![Box::new(CoDel::new())]);
    (0..100).for_each(|seq| world.send(Time::ZERO, 0, data(0, seq, 1000)));
    world.run(Time::from_secs_f64(10.0), &mut ignore);
    assert_eq!((world.sent().count(), world.dropped().count()), (100, 0));
}

#[test]
fn one_request_for_a_packet_may_cost_several() {
    // long idle behind a burst: when the link asks again, many drops are due at once
    let mut queue = CoDel::new();
    let mut sink = Dropped::default();
    (0..200).for_each(|seq| queue.arrive(Time::ZERO, data(0, seq, 1000), &mut sink));
    let at = Time::from_secs_f64;
    assert_eq!(queue.next(at(0.01), &mut sink).map(|p| p.seq), Some(0));
    assert_eq!(queue.next(at(0.2), &mut sink).map(|p| p.seq), Some(2));
    let then = queue.next(at(1.0), &mut sink).map(|p| p.seq);
    assert!(sink.0 > 5, "{} drops", sink.0);
    assert_eq!(then, Some(sink.0 + 2), "the packets dropped were the ones at the head");
}

#[derive(Default)]
struct Dropped(u64);

impl<P> Sink<P> for Dropped {
    fn forward(&mut self, _: P) {}
    fn drop(&mut self, _: P, _: DropReason) {
        self.0 += 1;
    }
    fn marked(&mut self) {}
    fn set_timer(&mut self, _: Time) {}
    fn originate(&mut self, _: P, _: Address) {}
}
