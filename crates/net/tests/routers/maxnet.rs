//! MaxNet's router: prices worked by hand, which router's price a packet carries, and that the price settles
//! where demand meets the target.

use crate::driver::data;
use longfat_net::Capacity;
use longfat_net::router::maxnet::price_s;
use longfat_net::router::{Law, MaxNet as Router, Stretch, find};
use longfat_units::{Rate, Time};
use longfat_wire::{Explicit, Extra, Kind, MaxNet, Packet, SimPacket};
use proptest::prelude::*;

fn capacity(bps: f64) -> Capacity {
    Capacity::Constant(Rate::from_bps(bps).unwrap())
}

fn law() -> Router {
    Router::build(&find("maxnet").unwrap().checked(&[]).unwrap())
}

fn carrying(bytes: u32, price_s: f64) -> SimPacket {
    let mut packet = data(1, 0, bytes);
    let explicit = Some(Explicit::MaxNet(MaxNet { price_s }));
    packet.extra = Some(Box::new(Extra { explicit, ..Extra::default() }));
    packet
}

fn read(packet: &SimPacket) -> f64 {
    let Some(Explicit::MaxNet(header)) = packet.explicit() else { panic!("no header") };
    header.price_s
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// Packets of 1250 bytes arrive for a second at this rate on a link of `bps`; the price of a packet that
/// leaves then.
fn price_after_a_second(law: &mut Router, bps: f64, arriving_bps: f64, from_s: f64) -> f64 {
    let (capacity, gap_s) = (capacity(bps), 10_000.0 / arriving_bps);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    for i in 1..=(1.0 / gap_s) as u32 {
        law.arrive(at(from_s + gap_s * f64::from(i)), &mut data(5, 0, 1250), &stretch);
    }
    let mut packet = carrying(1250, 0.0);
    law.leave(at(from_s + 1.0), &mut packet, &stretch);
    read(&packet)
}

#[test]
fn a_price_rises_by_what_comes_above_the_target_as_a_share_of_the_capacity() {
    // 10 Mbit/s on a link of 10 with a target of 95 %: 0.05 s in each second. Twice that rate: 1.05 s
    let mut law = law();
    let least = MaxNet::price_s_for(9.5e6);
    let first = price_after_a_second(&mut law, 10e6, 10e6, 0.0);
    // the first packet, which meets an idle link, is not above the target
    assert!((first - least - 0.05).abs() < 1e-4, "{first}");
    let second = price_after_a_second(&mut law, 10e6, 20e6, 1.0);
    assert!((second - first - 1.05).abs() < 1e-6, "{second}");
    // 2.5 Mbit/s: 0.25 - 0.95 = -0.7 s
    let third = price_after_a_second(&mut law, 10e6, 2.5e6, 2.0);
    assert!((third - second + 0.7).abs() < 1e-6, "{third}");
}

#[test]
fn a_link_is_never_so_cheap_that_one_source_asks_for_more_than_its_target() {
    for bps in [1e6, 1e9, 1e11] {
        let price = price_s(0.0, 0.95, bps, 0.0, 100.0);
        assert!((MaxNet::demand_bps(price) / (0.95 * bps) - 1.0).abs() < 1e-9, "{bps}");
    }
    let price = price_s(12.0, 0.95, 1e6, 1e9, 0.0);
    assert!(
        (MaxNet::demand_bps(price) / 32.0 - 1.0).abs() < 1e-9,
        "nor so dear that it asks for less than 32 bit/s"
    );
}

#[test]
fn a_packet_keeps_the_greater_price_and_acknowledgements_and_other_packets_pass_unchanged() {
    let capacity = capacity(10e6);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut law = law();
    let own = price_after_a_second(&mut law, 10e6, 10e6, 0.0);
    for (before, after) in [(0.0, own), (own - 0.1, own), (own + 0.1, own + 0.1)] {
        let mut packet = carrying(1250, before);
        law.leave(at(1.0), &mut packet, &stretch);
        assert!((read(&packet) - after).abs() < 1e-12, "{before}");
    }
    let mut echo = carrying(72, 0.5);
    echo.kind = Kind::Ack;
    for packet in [echo, data(1, 7, 1000)] {
        let mut crossing = packet.clone();
        law.leave(at(1.0), &mut crossing, &stretch);
        assert_eq!(crossing, packet);
    }
}

#[test]
fn a_share_of_a_link_has_the_price_of_a_link_of_that_size() {
    let capacity = capacity(100e6);
    let stretch = Stretch { capacity: &capacity, share: 0.1, queue_bytes: 0 };
    let (mut law, mut packet) = (law(), carrying(1250, 0.0));
    law.leave(at(1.0), &mut packet, &stretch);
    assert!((MaxNet::demand_bps(read(&packet)) / 9.5e6 - 1.0).abs() < 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sources_that_follow_the_price_settle_with_even_shares_of_the_target(
        sources in 1..200_u32, bps in 1e6..1e11_f64, others in 0.0..0.9_f64,
    ) {
        // a fluid without delay, in steps of 10 ms
        let (mut price, step_s) = (0.0, 0.01);
        for _ in 0..20_000 {
            let rate = f64::from(sources) * MaxNet::demand_bps(price) + others * bps;
            price = price_s(price, 0.95, bps, rate / 8.0 * step_s, step_s);
        }
        let even = (0.95 - others) * bps / f64::from(sources);
        let demand = MaxNet::demand_bps(price);
        prop_assert!((demand / even - 1.0).abs() < 1e-3, "{} instead of {}", demand, even);
    }
}
