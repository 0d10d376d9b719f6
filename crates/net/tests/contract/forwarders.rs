//! Elements that hold no queue: they look at a packet, change or drop it, and pass it on to the one behind
//! them. Needs: `forward`, marks, and rows of elements.

use crate::driver::{World, bits_sent, constant_rate, ignore};
use longfat_net::queue::{DropTail, Limit};
use longfat_net::{DropReason, Element, Sink};
use longfat_units::Time;
use longfat_wire::{Ecn, Packet, SimPacket};

/// A token bucket: packets that exceed it are marked if the transport understands marks, otherwise dropped.
/// Every packet that passes has crossed a router.
struct Policer {
    bytes_per_s: f64,
    depth_bytes: f64,
    tokens_bytes: f64,
    since: Time,
}

impl Policer {
    fn new(rate_bps: f64, depth_bytes: f64) -> Self {
        Policer { bytes_per_s: rate_bps / 8.0, depth_bytes, tokens_bytes: depth_bytes, since: Time::ZERO }
    }
}

impl<P: Packet> Element<P> for Policer {
    fn arrive(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        let gained = self.bytes_per_s * now.since(self.since).as_secs_f64();
        self.tokens_bytes = (self.tokens_bytes + gained).min(self.depth_bytes);
        self.since = now;
        let Some(ttl) = packet.ttl().checked_sub(1) else { return out.drop(packet, DropReason::Lost) };
        packet.set_ttl(ttl);
        let bytes = f64::from(packet.bytes());
        if self.tokens_bytes >= bytes {
            self.tokens_bytes -= bytes;
        } else if packet.ecn() == Ecn::NotCapable {
            return out.drop(packet, DropReason::Early);
        } else {
            packet.set_ecn(Ecn::Marked);
            out.marked(DropReason::Early);
        }
        out.forward(packet);
    }

    fn next(&mut self, _now: Time, _out: &mut dyn Sink<P>) -> Option<P> {
        None
    }

    fn packets(&self) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn drop_tail(packets: u64) -> Box<dyn Element<SimPacket>> {
    Box::new(DropTail::new(Limit::Packets(packets)))
}

#[test]
fn a_policer_before_a_queue_holds_what_passes_to_its_rate() {
    let mut world = World::new();
    world.add_link(10e6, vec![Box::new(Policer::new(4e6, 15_000.0)), drop_tail(100)]);
    constant_rate(&mut world, 0, 1000, 8e6, (0.0, 30.0));
    world.run(Time::from_secs_f64(31.0), &mut ignore);
    world.assert_conserves();
    let passed = bits_sent(&world, 0);
    assert!((passed / (4e6 * 30.0 + 8.0 * 15_000.0) - 1.0).abs() < 0.001, "{passed} bits");
    assert!(world.most_waiting <= 1, "{} wait behind the policer", world.most_waiting);
    assert!(world.dropped().all(|(_, _, reason)| reason == DropReason::Early));
    assert!(world.sent().all(|(_, p)| p.ttl == 63), "each packet has crossed one router");
}

#[test]
fn a_packet_that_understands_marks_is_marked_and_passes() {
    let mut world = World::new();
    world.add_link(10e6, vec![Box::new(Policer::new(4e6, 15_000.0)), drop_tail(100)]);
    for seq in 0..1000 {
        let mut packet = crate::driver::data(0, seq, 1000);
        packet.ecn = Ecn::Capable;
        world.send(Time::from_secs_f64(0.001 * seq as f64), 0, packet);
    }
    world.run(Time::from_secs_f64(2.0), &mut ignore);
    let marked = world.sent().filter(|(_, p)| p.ecn == Ecn::Marked).count() as u64;
    assert_eq!((world.sent().count(), world.marked), (1000, marked));
    // half of the packets exceed half of their rate, except for the bucket's first 15 and what refills in
    // between
    assert!((460..=500).contains(&marked), "{marked} marks");
}

#[test]
fn an_element_that_lets_everything_pass_leaves_a_queue_as_it_was() {
    let overload = |elements| {
        let mut world = World::new();
        world.add_link(10e6, elements);
        constant_rate(&mut world, 0, 1500, 7e6, (0.0, 5.0));
        constant_rate(&mut world, 1, 700, 5e6, (0.0, 5.0));
        world.run(Time::from_secs_f64(6.0), &mut ignore);
        world.assert_conserves();
        let sent: Vec<_> = world.sent().map(|(at, p)| (at, p.flow, p.seq)).collect();
        let dropped: Vec<_> = world.dropped().map(|(at, p, _)| (at, p.flow, p.seq)).collect();
        (sent, dropped)
    };
    let with = overload(vec![Box::new(Policer::new(1e12, 1e9)), drop_tail(50)]);
    let without = overload(vec![drop_tail(50)]);
    assert!(with.1.len() > 100, "{} drops", with.1.len());
    assert!(with == without, "the same packets leave at the same times");
}
