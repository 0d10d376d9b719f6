//! RCP's router: rates and mean round-trip times worked by hand from the rule that the authors print, and
//! which packets carry the rate.

use crate::driver::{World, data, ignore};
use crate::setup::setup;
use longfat_net::router::rcp::{Gains, Seen, mean_rtt_s};
use longfat_net::router::{Law, Rcp as Router, Stretch, find};
use longfat_net::{Capacity, Element};
use longfat_units::parameters::Value;
use longfat_units::{Rate, Time};
use longfat_wire::{Explicit, Extra, Kind, Packet, Rcp, SimPacket};
use proptest::prelude::*;

/// 10 Mbit/s: 12 500 bytes in an interval of 10 ms.
const LINK_BPS: f64 = 10e6;

/// The law of a link of 10 Mbit/s, switched on at time 0.
fn law(parameters: &[(&str, f64)]) -> Router {
    law_of(&Capacity::Constant(Rate::from_bps(LINK_BPS).unwrap()), parameters)
}

fn law_of(capacity: &Capacity, parameters: &[(&str, f64)]) -> Router {
    let given: Vec<_> = parameters.iter().map(|&(n, x)| (n.to_owned(), Value::Number(x))).collect();
    let mut law = Router::build(&find("rcp").unwrap().checked(&given).unwrap());
    Law::<SimPacket>::begin(&mut law, Time::ZERO, &idle(capacity));
    law
}

/// What the first packet of all reads when it comes at this time.
fn first_reads(law: &mut Router, capacity: &Capacity, at_s: f64) -> f64 {
    let mut packet = carrying(500, header(f64::INFINITY, 0.0));
    law.arrive(Time::from_secs_f64(at_s), &mut packet, &idle(capacity));
    law.leave(Time::from_secs_f64(at_s), &mut packet, &idle(capacity));
    read(&packet)
}

fn carrying(bytes: u32, header: Rcp) -> SimPacket {
    let mut packet = data(0, 0, bytes);
    packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::Rcp(header)), ..Extra::default() }));
    packet
}

fn header(rate_bps: f64, rtt_s: f64) -> Rcp {
    Rcp { rate_bps, rtt_s }
}

/// A link without a queue.
fn idle(capacity: &Capacity) -> Stretch<'_> {
    Stretch { capacity, share: 1.0, queue_bytes: 0 }
}

/// Packets of 500 bytes arrive at this rate until `until_s`, each with this round-trip time. Returns what a
/// packet reads at the end.
fn offered_bps(law: &mut Router, input_bps: f64, rtt_s: f64, queue_bytes: u64, until_s: f64) -> f64 {
    let capacity = Capacity::Constant(Rate::from_bps(LINK_BPS).unwrap());
    let stretch = Stretch { queue_bytes, ..idle(&capacity) };
    let mut packets = (0..).map(|i| 4000.0 * f64::from(i) / input_bps).take_while(|&t| t < until_s);
    let mut next = packets.next();
    loop {
        let wake = Law::<SimPacket>::wake(law);
        match next {
            Some(at_s) if Time::from_secs_f64(at_s) < wake => {
                law.arrive(Time::from_secs_f64(at_s), &mut carrying(500, header(1e12, rtt_s)), &stretch);
                next = packets.next();
            }
            _ if wake > Time::from_secs_f64(until_s) => break,
            _ => Law::<SimPacket>::timer(law, wake, &stretch),
        }
    }
    let mut packet = carrying(500, header(f64::INFINITY, rtt_s));
    law.leave(Time::from_secs_f64(until_s), &mut packet, &stretch);
    read(&packet)
}

fn read(packet: &SimPacket) -> f64 {
    let Some(Explicit::Rcp(header)) = packet.explicit() else { panic!("no header") };
    header.rate_bps
}

#[test]
fn an_unused_fifth_of_the_link_raises_the_rate_by_that_part_of_alpha_in_a_round_trip() {
    // T = d, 20 % unused, no queue: 1 + 0.4 x 0.2 = 1.08
    let seen = Seen { span_s: 0.1, capacity_bps: 10e6, input_bps: 8e6, queue_bits: 0.0 };
    let gains = Gains { alpha: 0.4, beta: 0.4 };
    assert!((gains.next_bps(1e6, 0.1, &seen) - 1.08e6).abs() < 1e-3);
    // a tenth of the round trip is a tenth of that
    assert!((gains.next_bps(1e6, 0.1, &Seen { span_s: 0.01, ..seen }) - 1.008e6).abs() < 1e-3);
}

#[test]
fn a_queue_of_half_a_round_trip_lowers_the_rate_by_that_part_of_beta() {
    // 10 Mbit/s and 0.1 s hold 1 Mbit; half of that waits and the link is full: 1 - 0.4 x 0.5 = 0.8
    let seen = Seen { span_s: 0.1, capacity_bps: 10e6, input_bps: 10e6, queue_bits: 0.5e6 };
    let gains = Gains { alpha: 0.4, beta: 0.4 };
    assert!((gains.next_bps(1e6, 0.1, &seen) - 0.8e6).abs() < 1e-3);
    // an overload of a half and that queue: 1 - 0.4 x 0.5 - 0.2
    let both = Seen { input_bps: 15e6, ..seen };
    assert!((gains.next_bps(1e6, 0.1, &both) - 0.6e6).abs() < 1e-3);
    // their other gains: 1 - 0.1 x 0.5 - 1 x 0.5
    assert!((Gains { alpha: 0.1, beta: 1.0 }.next_bps(1e6, 0.1, &both) - 0.45e6).abs() < 1e-3);
}

#[test]
fn a_longer_round_trip_time_counts_by_the_interval_and_a_shorter_one_also_by_its_flow_s_share() {
    // d = 0.1 s, T = 0.01 s. Of 0.2 s a tenth of the difference; of 0.05 s, with R / C = 0.5, 0.5 x 0.5 x 0.1
    // of it
    assert!((mean_rtt_s(0.1, 0.2, 0.5, 0.01) - 0.11).abs() < 1e-12);
    assert!((mean_rtt_s(0.1, 0.05, 0.5, 0.01) - (0.1 - 0.025 * 0.05)).abs() < 1e-12);
    assert_eq!(mean_rtt_s(0.2, 0.0, 0.05, 0.01), 0.2, "no sample yet");
}

#[test]
fn a_router_offers_a_twentieth_of_its_link_at_first_and_all_of_it_while_nobody_uses_it() {
    let mut law = law(&[]);
    assert_eq!(offered_bps(&mut law, 1e3, 0.0, 0, 0.005), 0.05 * LINK_BPS);
    // d stays at 0.2 s without a round-trip time: 1 + 0.4 x 0.01 / 0.2 = 1.02 in each of 100 intervals, less
    // what the one packet of the first takes (0.04 of the link: 0.0008); 0.5 x 1.02^99 x 1.0192 = 3.62 Mbit/s
    let after = offered_bps(&mut self::law(&[]), 1e3, 0.0, 0, 1.005);
    assert!((after / 3.62e6 - 1.0).abs() < 0.001, "{after}");
    assert_eq!(offered_bps(&mut self::law(&[]), 1e3, 0.0, 0, 3.0), LINK_BPS);
    let reserved = &mut self::law(&[("gamma", 0.95)]);
    assert!((offered_bps(reserved, 1e3, 0.0, 0, 4.0) / (0.95 * LINK_BPS) - 1.0).abs() < 1e-9);
}

#[test]
fn the_rate_has_grown_since_time_0_when_the_first_packet_comes_and_an_idle_router_has_no_timer() {
    // 1.02 in each interval of 10 ms: 0.5 x 1.02^100 = 3.622 Mbit/s, and the whole link after 152 intervals
    let capacity = Capacity::Constant(Rate::from_bps(LINK_BPS).unwrap());
    for (at_s, expected) in [(0.005, 0.5e6), (1.005, 3.622e6), (3.0, LINK_BPS), (100.0, LINK_BPS)] {
        let mut law = law(&[]);
        assert_eq!(Law::<SimPacket>::wake(&law), Time::NEVER);
        let offered = first_reads(&mut law, &capacity, at_s);
        assert!((offered / expected - 1.0).abs() < 1e-3, "{at_s}: {offered}");
        let wake = Law::<SimPacket>::wake(&law);
        assert!(wake > Time::from_secs_f64(at_s) && wake <= Time::from_secs_f64(at_s + 0.01), "{wake:?}");
    }
}

#[test]
fn the_rate_has_grown_in_every_router_that_drives_the_law() {
    // after 3 s idle: the whole link, or the half that is the law's
    let protocol = [("protocol".to_owned(), Value::Word("rcp".to_owned()))];
    let cases: [(&str, &[_], f64); 4] = [
        ("rcp", &[], LINK_BPS),
        ("friendly", &protocol, LINK_BPS),
        ("xcp-i", &protocol, LINK_BPS),
        ("dqw", &protocol, 0.5 * LINK_BPS),
    ];
    for (name, given, expected) in cases {
        let router = find(name).unwrap().instance(setup(LINK_BPS, 100), given).unwrap();
        let mut world = World::new();
        world.add_link(LINK_BPS, vec![router as Box<dyn Element<SimPacket>>]);
        world.send(Time::from_secs_f64(3.0), 0, carrying(500, header(f64::INFINITY, 0.0)));
        world.run(Time::from_secs_f64(4.0), &mut ignore);
        let offered: Vec<_> = world.sent().map(|(_, packet)| read(packet)).collect();
        assert_eq!(offered, [expected], "{name}");
    }
}

#[test]
fn an_idle_router_follows_a_capacity_that_varies() {
    // 2 Mbit/s from 5 to 5.5 s holds R there; 51 intervals end from 5.5 to 6 s: 2 x 1.02^51 = 5.491
    let steps = [(0.0, 10e6), (5.0, 2e6), (5.5, 10e6)];
    let step = |(at_s, bps)| (Time::from_secs_f64(at_s), Rate::from_bps(bps).unwrap());
    let capacity = Capacity::Steps(steps.map(step).to_vec().into());
    let offered = first_reads(&mut law_of(&capacity, &[]), &capacity, 6.005);
    assert!((offered / 5.491e6 - 1.0).abs() < 1e-3, "{offered}");
}

#[test]
fn hours_without_a_packet_cost_no_more_than_seconds() {
    // three hours of intervals of 0.1 ms, in each of which R grows by a part in 10^9: 0.5 x e^0.108 = 0.5570
    // Mbit/s
    let capacity = Capacity::Constant(Rate::from_bps(LINK_BPS).unwrap());
    let mut law = law(&[("interval", 0.1), ("initial_rtt", 1e5), ("alpha", 1e-3)]);
    let offered = first_reads(&mut law, &capacity, 3.0 * 3600.0);
    assert!((offered / 0.5570e6 - 1.0).abs() < 1e-4, "{offered}");
}

#[test]
fn an_overload_that_does_not_listen_leaves_a_hundredth_of_a_packet_in_a_round_trip() {
    // 80 bits in 0.1 s
    let least = offered_bps(&mut law(&[("initial_rtt", 100.0)]), 5.0 * LINK_BPS, 0.1, 1_000_000, 5.0);
    assert!((least - 800.0).abs() < 1e-6, "{least}");
}

#[test]
fn a_fuller_link_or_a_queue_means_a_lower_rate() {
    let after = |input_bps, queue| offered_bps(&mut law(&[]), input_bps, 0.1, queue, 1.0);
    let rates = [after(2e6, 0), after(8e6, 0), after(8e6, 20_000), after(12e6, 20_000)];
    assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
}

#[test]
fn requests_and_data_learn_the_rate_and_acknowledgements_and_other_protocols_do_not() {
    let capacity = Capacity::Constant(Rate::from_bps(LINK_BPS).unwrap());
    let mut law = law(&[]);
    let asked = header(f64::INFINITY, 0.1);
    for (kind, learns) in [(Kind::Syn, true), (Kind::Data, true), (Kind::Ack, false), (Kind::SynAck, false)] {
        let mut packet = carrying(1500, asked);
        packet.kind = kind;
        law.arrive(Time::ZERO, &mut packet, &idle(&capacity));
        law.leave(Time::ZERO, &mut packet, &idle(&capacity));
        assert_eq!(read(&packet).is_finite(), learns, "{kind:?}");
    }
    let mut other = data(1, 0, 1500);
    law.leave(Time::ZERO, &mut other, &idle(&capacity));
    assert!(other.extra.is_none() && !Law::<SimPacket>::guides(&law, &other));
}

#[test]
fn an_interval_is_no_longer_than_the_mean_round_trip_time() {
    let mut law = law(&[("initial_rtt", 4.0)]);
    assert_eq!(Law::<SimPacket>::interval(&law).as_secs_f64(), 0.004);
    offered_bps(&mut law, LINK_BPS, 0.1, 0, 3.0);
    assert_eq!(Law::<SimPacket>::interval(&law).as_secs_f64(), 0.01);
}

proptest! {
    #[test]
    fn a_rate_stays_within_its_bounds_and_a_packet_keeps_a_lower_one(
        input_bps in 1e3..1e8_f64, queue in 0_u64..10_000_000, came_bps in 1e2..1e8_f64, rtt_s in 0.0..1.0_f64,
    ) {
        let mut law = law(&[]);
        let rate_bps = offered_bps(&mut law, input_bps, rtt_s, queue, 0.5);
        prop_assert!(rate_bps > 0.0 && rate_bps <= LINK_BPS, "{rate_bps}");
        let capacity = Capacity::Constant(Rate::from_bps(LINK_BPS).unwrap());
        let mut packet = carrying(500, header(came_bps, rtt_s));
        law.leave(Time::from_secs_f64(0.5), &mut packet, &idle(&capacity));
        prop_assert_eq!(read(&packet), came_bps.min(rate_bps));
    }
}
