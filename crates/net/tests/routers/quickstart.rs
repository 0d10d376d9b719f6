//! Quick-Start's router: approvals worked by hand from the link's load.

use crate::driver::{World, constant_rate, ignore};
use crate::setup::setup;
use longfat_net::Element;
use longfat_net::router::find;
use longfat_units::Time;
use longfat_wire::{Explicit, Extra, FlowId, Function, Kind, Packet, QuickStart, RateCode, SimPacket};

const NONCE: u32 = 0x1234_5678 & ((1 << 30) - 1);

fn router(rate_bps: f64) -> Box<dyn Element<SimPacket>> {
    find("quickstart").unwrap().instance(setup(rate_bps, 1000), &[]).unwrap()
}

/// A connection request of this flow that asks for this rate.
fn request(flow: u32, bps: f64) -> SimPacket {
    let option =
        QuickStart { function: Function::Request, rate: RateCode::at_most(bps), ttl: 100, nonce: NONCE };
    let mut packet = SimPacket::new(Kind::Syn, FlowId(flow), 0, 68, Time::ZERO);
    packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::QuickStart(option)), ..Extra::default() }));
    packet
}

fn option(packet: &SimPacket) -> QuickStart {
    let Some(Explicit::QuickStart(option)) = packet.explicit() else { panic!("no option") };
    *option
}

/// The answers to requests at these times, seconds, with a constant load in bit/s until `load_ends_s`.
fn approved(rate_bps: f64, load_bps: f64, load_ends_s: f64, requests: &[(f64, f64)]) -> Vec<QuickStart> {
    let mut world = World::new();
    world.add_link(rate_bps, vec![router(rate_bps)]);
    if load_bps > 0.0 {
        constant_rate(&mut world, 9, 1000, load_bps, (0.0, load_ends_s));
    }
    for (i, &(at_s, bps)) in requests.iter().enumerate() {
        world.send(Time::from_secs_f64(at_s), 0, request(i as u32, bps));
    }
    world.run(Time::from_secs_f64(30.0), &mut ignore);
    world.assert_conserves();
    let mut left: Vec<_> =
        world.sent().filter(|(_, p)| p.kind == Kind::Syn).map(|(_, p)| p.clone()).collect();
    left.sort_by_key(|p| p.flow);
    left.iter().map(option).collect()
}

/// Rates in kbit/s.
fn kbps(options: &[QuickStart]) -> Vec<f64> {
    options.iter().map(|o| o.rate.bps() / 1e3).collect()
}

#[test]
fn an_idle_link_approves_what_fits_its_share_and_counts_the_ttl_down() {
    // 85 % of 100 Mbit/s hold the code for 81.92 Mbit/s, 85 % of 90 only that for 40.96
    let whole = approved(100e6, 0.0, 0.0, &[(0.0, 81.92e6)]);
    assert_eq!(whole[0], QuickStart { ttl: 99, ..option(&request(0, 81.92e6)) });
    let part = approved(90e6, 0.0, 0.0, &[(0.0, 81.92e6)]);
    assert_eq!((kbps(&part), part[0].ttl), (vec![40_960.0], 99));
}

#[test]
fn lowering_the_rate_changes_only_the_nonce_s_bits_for_the_steps_taken() {
    let part = approved(90e6, 0.0, 0.0, &[(0.0, 1.31072e9)]);
    assert_eq!(kbps(&part), [40_960.0]);
    // 15 to 10: the ten lowest bits are new, the others the sender's
    assert_eq!(part[0].nonce >> 10, NONCE >> 10);
    assert!(part[0].is_honest(NONCE));
    assert_ne!(part[0].nonce, NONCE);
}

#[test]
fn what_the_link_carries_is_not_approved_again() {
    // 60 of 100 Mbit/s in use leave 25 of 85: the code for 20.48
    assert_eq!(kbps(&approved(100e6, 60e6, 3.0, &[(2.5, 81.92e6)])), [20_480.0]);
    // of the last second's slots of 200 ms the busiest counts, so an end of the load shows a second later
    assert_eq!(kbps(&approved(100e6, 60e6, 2.0, &[(2.9, 81.92e6)])), [20_480.0]);
    assert_eq!(kbps(&approved(100e6, 60e6, 2.0, &[(3.5, 81.92e6)])), [81_920.0]);
}

#[test]
fn what_was_approved_lately_is_not_approved_again() {
    // 85 - 40.96 = 44.04 leave another 40.96; 3.08 leave 2.56; .52 leave .32, .2 leave .16
    let requests = [(0.01, 41e6), (0.02, 81.92e6), (0.03, 81.92e6), (0.04, 81.92e6), (0.05, 81.92e6)];
    assert_eq!(kbps(&approved(100e6, 0.0, 0.0, &requests)), [40_960.0, 40_960.0, 2_560.0, 320.0, 160.0]);
    // remembered for 200 ms at least, and for 400 at most
    assert_eq!(kbps(&approved(100e6, 0.0, 0.0, &[(0.1, 81.92e6), (0.3, 81.92e6)])), [81_920.0, 2_560.0]);
    assert_eq!(kbps(&approved(100e6, 0.0, 0.0, &[(0.1, 81.92e6), (0.51, 81.92e6)])), [81_920.0, 81_920.0]);
}

#[test]
fn a_request_of_which_nothing_is_left_is_emptied() {
    let denied = approved(100e6, 90e6, 3.0, &[(2.5, 81.92e6)]);
    assert_eq!(denied[0], QuickStart::default());
}

#[test]
fn other_packets_pass_unchanged_even_with_an_option() {
    let mut world = World::new();
    world.add_link(1e6, vec![router(1e6)]);
    let mut response = request(0, 1.31072e9);
    response.kind = Kind::SynAck;
    let mut report = request(1, 1.31072e9);
    report.kind = Kind::Data;
    let plain = SimPacket::new(Kind::Syn, FlowId(2), 0, 60, Time::ZERO);
    let packets = [response, report, plain];
    packets.iter().for_each(|p| world.send(Time::ZERO, 0, p.clone()));
    world.run(Time::from_secs_f64(1.0), &mut ignore);
    let left: Vec<_> = world.sent().map(|(_, p)| p.clone()).collect();
    assert_eq!(left, packets);
}
