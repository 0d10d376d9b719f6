//! VCP's router: loads worked by hand.

use crate::driver::{World, data, ignore};
use crate::setup::setup;
use longfat_net::Element;
use longfat_net::router::find;
use longfat_net::router::vcp::encode;
use longfat_units::Time;
use longfat_units::parameters::Value;
use longfat_wire::{Ecn, Explicit, Extra, Kind, Load, Packet, SimPacket};
use proptest::prelude::*;

/// The rate of the link; with the target at 1, in packets of 1000 bytes: 250 in an interval of 200 ms.
const RATE_BPS: f64 = 10e6;

fn router(parameters: &[(&str, f64)]) -> Box<dyn Element<SimPacket>> {
    let given: Vec<_> = parameters.iter().map(|&(n, x)| (n.to_owned(), Value::Number(x))).collect();
    find("vcp").unwrap().instance(setup(RATE_BPS, 1 << 20), &given).unwrap()
}

fn carrying(load: Load, bytes: u32) -> SimPacket {
    let mut packet = data(0, 0, bytes);
    packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::Vcp(load)), ..Extra::default() }));
    packet
}

fn load(packet: &SimPacket) -> Load {
    let Some(Explicit::Vcp(load)) = packet.explicit() else { panic!("no header") };
    *load
}

/// Constant load as a share of the capacity for two seconds, with a burst at the beginning. Returns what
/// packets reported in the second one.
fn said(parameters: &[(&str, f64)], share: f64, burst: u64) -> Vec<Load> {
    let mut world = World::new();
    world.add_link(RATE_BPS, vec![router(parameters)]);
    let gap_ns = 8e12 / RATE_BPS / share;
    (0..burst).for_each(|_| world.send(Time::ZERO, 0, carrying(Load::Low, 1000)));
    for i in 0..(2e9 / gap_ns) as u64 {
        world.send(Time::from_ns((gap_ns * i as f64) as u64), 0, carrying(Load::Low, 1000));
    }
    world.run(Time::from_secs_f64(2.0), &mut ignore);
    world.assert_conserves();
    world.sent().filter(|(at, _)| at.as_secs_f64() >= 1.0).map(|(_, p)| load(p)).collect()
}

#[test]
fn load_is_low_below_four_fifths_high_below_all_and_over_from_there_on() {
    for (rho, expected) in [
        (0.0, Load::Low),
        (0.799, Load::Low),
        (0.8, Load::High),
        (0.999, Load::High),
        (1.0, Load::Over),
        (7.0, Load::Over),
    ] {
        assert_eq!(encode(rho), expected, "{rho}");
    }
}

#[test]
fn what_arrives_is_compared_with_the_target() {
    // of a target of 95 % of the capacity, 75 % are 79 %, 77 % are 81 %, 94 % are 99 % and 96 % are 101 %
    for (share, expected) in [(0.75, Load::Low), (0.77, Load::High), (0.94, Load::High), (0.96, Load::Over)] {
        let said = said(&[], share, 0);
        assert!(said.len() > 500 && said.iter().all(|&l| l == expected), "{share}: {expected:?}");
    }
}

#[test]
fn half_of_a_queue_that_persists_counts_as_load() {
    // 90 % of the link keep a burst of 1000 packets waiting for seconds: down to 500 in the last of two. 90 %
    // are 225 packets in an interval; of 1000 falling to 750 in the first second at least half of 400 count
    // with them: over.
    for (kappa, expected) in [(0.5, Load::Over), (0.0, Load::High)] {
        let said = said(&[("kappa", kappa), ("target", 1.0)], 0.9, 1000);
        assert!(said.len() > 1000 && said.iter().all(|&l| l == expected), "{kappa}");
    }
}

#[test]
fn before_the_first_interval_ends_load_counts_as_low_and_then_it_is_that_of_the_interval_before() {
    let mut world = World::new();
    world.add_link(RATE_BPS, vec![router(&[("target", 1.0)])]);
    // 110 % for 200 ms, then a packet each 10 ms
    (0..275).for_each(|i| world.send(Time::from_ns(727_000 * i), 0, carrying(Load::Low, 1000)));
    (0..60)
        .for_each(|i| world.send(Time::from_ns(250_000_000 + 10_000_000 * i), 0, carrying(Load::Low, 1000)));
    world.run(Time::from_secs_f64(1.0), &mut ignore);
    let between = |from: f64, to: f64| -> Vec<Load> {
        world.sent().filter(|(at, _)| (from..to).contains(&at.as_secs_f64())).map(|(_, p)| load(p)).collect()
    };
    assert!(between(0.0, 0.199).iter().all(|&l| l == Load::Low));
    let second = between(0.251, 0.4);
    assert!(second.len() > 10 && second.iter().all(|&l| l == Load::Over), "{second:?}");
    let third = between(0.401, 0.6);
    assert!(third.len() > 10 && third.iter().all(|&l| l == Load::Low), "{third:?}");
}

#[test]
fn acknowledgements_and_other_traffic_pass_unchanged_and_count() {
    let mut world = World::new();
    world.add_link(RATE_BPS, vec![router(&[])]);
    for i in 0..1000_u64 {
        let mut packet = if i % 10 == 0 { carrying(Load::Low, 1000) } else { data(1, i, 1000) };
        if i % 10 == 5 {
            packet = carrying(Load::Low, 1000);
            packet.kind = Kind::Ack;
        }
        world.send(Time::from_ns(800_000 * i), 0, packet);
    }
    world.run(Time::from_secs_f64(1.0), &mut ignore);
    let late: Vec<_> = world.sent().filter(|(at, _)| at.as_secs_f64() > 0.3).map(|(_, p)| p).collect();
    assert!(late.iter().filter(|p| p.flow.0 == 1).all(|p| p.extra.is_none() && p.ecn == Ecn::NotCapable));
    assert!(late.iter().filter(|p| p.kind == Kind::Ack).all(|p| load(p) == Load::Low));
    let own: Vec<_> = late.iter().filter(|p| p.flow.0 == 0 && p.kind == Kind::Data).collect();
    assert!(own.len() > 30 && own.iter().all(|p| load(p) == Load::Over), "a tenth of a full link");
}

proptest! {
    #[test]
    fn a_router_only_raises_what_others_have_said(
        came in prop::sample::select(vec![Load::Low, Load::High, Load::Over]), share in 0.1..1.5_f64,
    ) {
        let mut world = World::new();
        world.add_link(RATE_BPS, vec![router(&[])]);
        let gap_ns = 800_000.0 / share;
        (0..600).for_each(|i| world.send(Time::from_ns((gap_ns * f64::from(i)) as u64), 0, carrying(came, 1000)));
        world.run(Time::from_secs_f64(0.5), &mut ignore);
        prop_assert!(world.sent().all(|(_, p)| load(p) >= came));
        prop_assert!(world.sent().count() > 10);
    }
}
