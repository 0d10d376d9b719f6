//! Two queues by weight: exact shares, no credit for unused time, the law's half.

use crate::driver::{World, data, ignore};
use crate::setup::{Tally, carrying, setup};
use longfat_net::router::find;
use longfat_net::{DropReason, Element};
use longfat_units::parameters::Value;
use longfat_units::{Interval, Time};
use longfat_wire::{Explicit, Packet, SimPacket};

const RATE_BPS: f64 = 10e6;

fn world(weight: f64, packets: u64) -> World<SimPacket> {
    world_of(packets, &[("weight".to_owned(), Value::Number(weight))])
}

/// A router with these parameters, and this limit of each queue.
fn world_of(packets: u64, given: &[(String, Value)]) -> World<SimPacket> {
    let router = find("dqw").unwrap().instance(setup(RATE_BPS, packets), given).unwrap();
    let mut world = World::new();
    world.add_link(RATE_BPS, vec![router as Box<dyn Element<SimPacket>>]);
    world
}

fn word(word: &str) -> Value {
    Value::Word(word.to_owned())
}

/// The explicit flows' share of the bytes sent in this time.
fn explicit_share(world: &World<SimPacket>, (from_s, until_s): (f64, f64)) -> f64 {
    let window = Time::from_secs_f64(from_s)..Time::from_secs_f64(until_s);
    let bytes = |explicit: bool| -> u64 {
        let sent = world.sent().filter(|(at, p)| window.contains(at) && p.explicit().is_some() == explicit);
        sent.map(|(_, p)| u64::from(p.bytes())).sum()
    };
    bytes(true) as f64 / (bytes(true) + bytes(false)) as f64
}

#[test]
fn two_full_queues_share_by_weight_to_the_byte_whatever_their_packets_size() {
    for (weight, explicit_bytes, other_bytes) in [(0.5, 1000, 1000), (0.5, 1500, 300), (0.25, 800, 1100)] {
        let mut world = world(weight, 10_000);
        (0..4000).for_each(|_| world.send(Time::ZERO, 0, carrying(0, explicit_bytes, 1e5, 0.1)));
        (0..9000).for_each(|seq| world.send(Time::ZERO, 0, data(1, seq, other_bytes)));
        world.run(Time::from_secs_f64(1.5), &mut ignore);
        world.assert_conserves();
        let share = explicit_share(&world, (0.0, 1.5));
        assert!((share - weight).abs() < 0.002, "{weight}: {share}");
    }
}

#[test]
fn turns_of_packets_give_the_longer_packets_the_greater_share() {
    for (weight, explicit_bytes, other_bytes) in [(0.5, 1500, 300), (0.5, 300, 1500), (0.25, 800, 1100)] {
        let given = [("turn".to_owned(), word("packets")), ("weight".to_owned(), Value::Number(weight))];
        let mut world = world_of(10_000, &given);
        (0..8000).for_each(|_| world.send(Time::ZERO, 0, carrying(0, explicit_bytes, 1e5, 0.1)));
        (0..8000).for_each(|seq| world.send(Time::ZERO, 0, data(1, seq, other_bytes)));
        world.run(Time::from_secs_f64(1.0), &mut ignore);
        world.assert_conserves();
        let explicit = weight * f64::from(explicit_bytes);
        let expected = explicit / (explicit + (1.0 - weight) * f64::from(other_bytes));
        let share = explicit_share(&world, (0.0, 1.0));
        assert!((share - expected).abs() < 0.003, "{weight}: {share}, expected {expected}");
    }
}

#[test]
fn queues_of_equal_weight_and_packets_are_served_in_turn() {
    let mut world = world(0.5, 100);
    (0..20).for_each(|seq| world.send(Time::ZERO, 0, data(1, seq, 1000)));
    (0..20).for_each(|_| world.send(Time::ZERO, 0, carrying(0, 1000, 1e5, 0.1)));
    world.run(Time::from_secs_f64(1.0), &mut ignore);
    let kinds: Vec<bool> = world.sent().map(|(_, p)| p.explicit().is_some()).collect();
    // the first was on the wire before any other came, and counts as the turn of its kind
    assert!(!kinds[0] && kinds[1] && kinds.len() == 40, "{kinds:?}");
    assert!(kinds[2..].chunks(2).all(|pair| pair[0] != pair[1]), "{kinds:?}");
}

#[test]
fn one_alone_gets_the_whole_link_and_saves_no_turns_for_the_other() {
    let mut world = world(0.5, 10_000);
    // explicit packets alone fill the link for a second, and leave it empty for one; then both want it
    (0..1250).for_each(|_| world.send(Time::ZERO, 0, carrying(0, 1000, 1e5, 0.1)));
    for seq in 0..2000 {
        let at = Time::from_secs_f64(2.0) + Interval::from_ns(seq);
        world.send(at, 0, data(1, seq, 1000));
        world.send(at, 0, carrying(0, 1000, 1e5, 0.1));
    }
    world.run(Time::from_secs_f64(3.0), &mut ignore);
    let first = world.sent().filter(|(at, _)| *at <= Time::from_secs_f64(1.0)).count();
    assert_eq!(first, 1250);
    for tenth in 20..30 {
        let from_s = 0.1 * f64::from(tenth);
        let share = explicit_share(&world, (from_s, from_s + 0.1));
        assert!((share - 0.5).abs() < 0.02, "from {from_s} s: {share}");
    }
}

#[test]
fn each_queue_has_room_of_its_own() {
    let mut world = world(0.5, 50);
    (0..500).for_each(|seq| world.send(Time::ZERO, 0, data(1, seq, 1000)));
    (0..50).for_each(|_| world.send(Time::from_ns(1), 0, carrying(0, 1000, 1e5, 0.1)));
    world.run(Time::from_secs_f64(1.0), &mut ignore);
    world.assert_conserves();
    assert!(world.dropped().all(|(_, p, why)| p.explicit().is_none() && why == DropReason::Full));
    // one on the wire, 50 waiting
    assert_eq!(world.dropped().count(), 449);
}

#[test]
fn the_law_gives_out_its_part_of_the_link_whether_or_not_others_use_the_rest() {
    // 10 packets of 1000 bytes in the first interval of 50 ms are 200 000 bytes/s of the half's 625 000: with
    // a round-trip time of 100 ms, phi / d = .4 x 425 000 = 170 000 bytes/s, times rtt 17 000 bytes in all;
    // of the whole link's 1 250 000 bytes/s, .4 x 1 050 000 = 420 000, times rtt 42 000
    for (controls, others, bytes) in
        [("weight", 0, 17_000.0), ("weight", 40, 17_000.0), ("link", 0, 42_000.0), ("link", 40, 42_000.0)]
    {
        let given = [("controls".to_owned(), word(controls))];
        let mut router = find("dqw").unwrap().instance(setup(RATE_BPS, 100), &given).unwrap();
        let mut tally = Tally::default();
        let mut cross = |now: Time, packet: SimPacket| {
            tally.run_to(router.as_mut(), now);
            router.arrive(now, packet, &mut tally);
            match router.next(now, &mut tally).and_then(|p| p.explicit().copied()) {
                Some(Explicit::Xcp(header)) => header.feedback_bytes,
                _ => 0.0,
            }
        };
        (0..10).for_each(|_| assert_eq!(cross(Time::ZERO, carrying(0, 1000, 20_000.0, 0.1)), 0.0));
        (0..others).for_each(|seq| assert_eq!(cross(Time::ZERO, data(1, seq, 1000)), 0.0));
        let later = Time::ZERO + Interval::from_millis(51);
        let given: f64 = (0..10).map(|_| cross(later, carrying(0, 1000, 20_000.0, 0.1))).sum();
        assert!((given - bytes).abs() < 1e-6 * bytes, "{controls}, {others}: {given}");
    }
}
