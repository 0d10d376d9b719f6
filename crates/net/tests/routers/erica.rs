//! ERICA's router: explicit rates worked by hand from its pseudocode, how it measures, and that flows that
//! follow it settle at even rates between the target and delta above it.

use crate::driver::data;
use longfat_net::Capacity;
use longfat_net::router::erica::Measured;
use longfat_net::router::{Erica as Router, Law, Stretch, find};
use longfat_units::{Rate, Time};
use longfat_wire::{Erica, Explicit, Extra, Kind, Packet, SimPacket};
use proptest::prelude::*;

const INTERVAL_S: f64 = 0.1;

fn capacity(bps: f64) -> Capacity {
    Capacity::Constant(Rate::from_bps(bps).unwrap())
}

fn law() -> Router {
    Router::build(&find("erica").unwrap().checked(&[]).unwrap())
}

fn carrying(flow: u32, bytes: u32, current_bps: f64) -> SimPacket {
    let mut packet = data(flow, 0, bytes);
    let explicit = Some(Explicit::Erica(Erica { current_bps, explicit_bps: f64::INFINITY }));
    packet.extra = Some(Box::new(Extra { explicit, ..Extra::default() }));
    packet
}

fn read(packet: &SimPacket) -> f64 {
    let Some(Explicit::Erica(header)) = packet.explicit() else { panic!("no header") };
    header.explicit_bps
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// Packets of 1250 bytes arrive and leave at their flows' rates in one interval of a link of `bps`, which
/// ends. Flows from 100 on have no header.
fn interval(law: &mut Router, bps: f64, number: u32, rates_bps: &[(u32, f64)]) {
    let capacity = capacity(bps);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let began = INTERVAL_S * f64::from(number);
    for &(flow, rate_bps) in rates_bps {
        for _ in 0..(rate_bps * INTERVAL_S / 10_000.0).round() as u32 {
            let mut packet = if flow < 100 { carrying(flow, 1250, rate_bps) } else { data(flow, 0, 1250) };
            law.arrive(at(began), &mut packet, &stretch);
            law.leave(at(began), &mut packet, &stretch);
        }
    }
    Law::<SimPacket>::timer(law, at(began + INTERVAL_S), &stretch);
}

/// What a packet of this flow is told in the interval after `number`.
fn told(law: &mut Router, number: u32, packet: &SimPacket) -> f64 {
    let capacity = capacity(1e6);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut packet = packet.clone();
    law.leave(at(INTERVAL_S * f64::from(number + 1)), &mut packet, &stretch);
    read(&packet)
}

#[test]
fn in_overload_a_flow_gets_its_share_or_an_even_one_and_otherwise_also_the_greatest_rate_given_before() {
    // a target of 100 Mbit/s for four flows. Overloaded twice: 60 / 2 = 30, 20 / 2 = 10 but at least 25. At
    // half load: 20 / 0.5 = 40, but 45 was given before; 60 / 0.5 = 120, at most 100
    let measured = |overload| Measured { target_bps: 100e6, overload, flows: 4.0, max_previous_bps: 45e6 };
    for (overload, current_bps, explicit_bps) in [
        (2.0, 60e6, 30e6),
        (2.0, 30e6, 25e6),
        (0.5, 26e6, 52e6),
        (0.8, 26e6, 45e6),
        (0.5, 60e6, 100e6),
        (1.05, 30e6, 45e6), // within delta of the target
        (1.15, 30e6, 30e6 / 1.15),
    ] {
        let measured = measured(overload);
        let told = measured.explicit_bps(measured.allocated_bps(0.1, current_bps), current_bps);
        assert!((told - explicit_bps).abs() < 1e-3, "{overload}, {current_bps}: {told}");
    }
}

#[test]
fn a_flow_below_the_even_share_does_not_pass_it_in_one_step_but_counts_with_what_it_could_have() {
    let measured = Measured { target_bps: 100e6, overload: 0.1, flows: 4.0, max_previous_bps: 90e6 };
    for (current_bps, allocated_bps, explicit_bps) in [(20e6, 200e6, 25e6), (25e6, 250e6, 100e6)] {
        let allocated = measured.allocated_bps(0.1, current_bps);
        assert!((allocated - allocated_bps).abs() < 1e-3, "{current_bps}: {allocated}");
        assert_eq!(measured.explicit_bps(allocated, current_bps), explicit_bps);
    }
}

#[test]
fn the_greatest_rate_of_an_interval_is_that_before_flows_are_held_to_the_even_share() {
    // 10 and 30 of 90 Mbit/s: z = 4/9, VC shares 22.5 and 67.5, even share 45. Both are below it and are told
    // 45, but 67.5 is the greatest rate, which both get in the next interval: they send 90, and z is 1
    let mut law = law();
    interval(&mut law, 100e6, 0, &[(1, 10e6), (2, 30e6)]);
    interval(&mut law, 100e6, 1, &[(1, 45e6), (2, 45e6)]);
    for flow in [1, 2] {
        let told = told(&mut law, 1, &carrying(flow, 1250, 45e6));
        assert!((told - 67.5e6).abs() < 1e-3, "{flow}: {told}");
    }
}

#[test]
fn the_router_measures_a_flow_s_rate_itself_whatever_its_packets_say() {
    let capacity = capacity(100e6);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut law = law();
    for (flow, packets) in [(1, 1200), (2, 600)] {
        for _ in 0..packets {
            law.arrive(at(0.0), &mut carrying(flow, 1250, 1e3), &stretch);
        }
    }
    Law::<SimPacket>::timer(&mut law, at(INTERVAL_S), &stretch);
    // 120 and 60 Mbit/s, twice the target
    for (flow, explicit_bps) in [(1, 60e6), (2, 45e6)] {
        let told = told(&mut law, 0, &carrying(flow, 1250, 1e9));
        assert!((told - explicit_bps).abs() < 1e-3, "{flow}: {told}");
    }
}

#[test]
fn newcomers_count_at_once() {
    // flow 1 has all of 90 Mbit/s; with the first newcomer 45 are an even share, with the second 30
    let capacity = capacity(100e6);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut law = law();
    interval(&mut law, 100e6, 0, &[(1, 90e6)]);
    for (flow, explicit_bps) in [(2, 45e6), (3, 30e6), (2, 45e6), (1, 90e6)] {
        let mut packet = carrying(flow, 1250, 1e6);
        law.arrive(at(INTERVAL_S), &mut packet, &stretch);
        law.leave(at(INTERVAL_S), &mut packet, &stretch);
        assert!((read(&packet) - explicit_bps).abs() < 1e-3, "{flow}: {}", read(&packet));
    }
}

#[test]
fn a_flow_is_counted_where_its_packets_arrive_and_not_where_they_leave() {
    let capacity = capacity(100e6);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut law = law();
    interval(&mut law, 100e6, 0, &[(1, 90e6)]);
    told(&mut law, 0, &carrying(1, 1250, 90e6));
    interval(&mut law, 100e6, 1, &[]);
    let mut packet = carrying(2, 1250, 1e6);
    law.arrive(at(2.0 * INTERVAL_S), &mut packet, &stretch);
    let told = told(&mut law, 1, &packet);
    assert!((told - 90e6).abs() < 1e-3, "{told}");
}

#[test]
fn only_data_with_its_header_begin_the_first_interval() {
    let capacity = capacity(100e6);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut law = law();
    let mut request = carrying(1, 40, 0.0);
    request.kind = Kind::Syn;
    for mut packet in [request, data(2, 0, 1250)] {
        law.arrive(at(1.0), &mut packet, &stretch);
        assert_eq!(Law::<SimPacket>::wake(&law), Time::NEVER);
    }
    law.arrive(at(2.0), &mut carrying(1, 1250, 1e6), &stretch);
    assert_eq!(Law::<SimPacket>::wake(&law), at(2.0 + INTERVAL_S));
    // what came before does not count
    Law::<SimPacket>::timer(&mut law, at(2.0 + INTERVAL_S), &stretch);
    assert!((told(&mut law, 20, &carrying(1, 1250, 1e6)) - 90e6).abs() < 1e-3);
}

#[test]
fn the_target_is_shared_by_the_flows_of_the_last_interval_and_leaves_out_what_others_send() {
    // 90 % of 100 Mbit/s less 30: 60 for two flows; they send 20 and 100, twice the target
    let mut law = law();
    interval(&mut law, 100e6, 0, &[(1, 20e6), (2, 100e6), (100, 30e6)]);
    for (flow, current_bps, explicit_bps) in [(1, 20e6, 30e6), (2, 100e6, 50e6)] {
        let told = told(&mut law, 0, &carrying(flow, 1250, current_bps));
        assert!((told - explicit_bps).abs() < 1e-3, "{flow}: {told}");
    }
}

#[test]
fn all_packets_of_a_flow_in_an_interval_are_told_the_same() {
    let mut law = law();
    interval(&mut law, 100e6, 0, &[(1, 180e6)]);
    for current_bps in [180e6, 90e6, 10e6] {
        let told = told(&mut law, 0, &carrying(1, 1250, current_bps));
        assert!((told - 90e6).abs() < 1e-3, "{current_bps}: {told}");
    }
}

#[test]
fn before_the_first_interval_ends_flows_keep_their_rate_and_an_idle_link_gives_its_target() {
    let mut law = law();
    assert_eq!(told(&mut law, 0, &carrying(1, 1250, 7e6)), 7e6);
    interval(&mut law, 100e6, 0, &[(1, 200e6)]);
    interval(&mut law, 100e6, 1, &[]);
    assert!((told(&mut law, 1, &carrying(1, 1250, 7e6)) - 90e6).abs() < 1e-3);
}

#[test]
fn a_packet_keeps_a_lesser_rate_and_acknowledgements_and_other_packets_pass_unchanged() {
    let capacity = capacity(100e6);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut law = law();
    interval(&mut law, 100e6, 0, &[(1, 180e6)]);
    let mut packet = carrying(1, 1250, 180e6);
    if let Some(Explicit::Erica(header)) = packet.explicit_mut() {
        header.explicit_bps = 5e6;
    }
    assert_eq!(told(&mut law, 0, &packet), 5e6);
    packet.kind = Kind::Ack;
    for packet in [packet, data(1, 7, 1000)] {
        let mut crossing = packet.clone();
        law.leave(at(0.1), &mut crossing, &stretch);
        assert_eq!(crossing, packet);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flows_that_follow_settle_at_even_rates_from_the_target_to_delta_above_it(
        first_bps in prop::collection::vec(1e6..80e6_f64, 1..8), others in 0.0..0.5_f64,
    ) {
        let (bps, mut rates) = (100e6, first_bps);
        let target = (0.9 - others) * bps;
        let mut law = law();
        // packets are whole: what an interval has no room for comes in the next one
        let mut owed = vec![0.0; rates.len()];
        let mut sums = vec![0.0; rates.len()];
        let (intervals, counted) = (80, 20);
        for number in 0..intervals {
            let whole_bps = |(rate, owed): (&f64, &mut f64)| {
                let packets = (*owed + rate * INTERVAL_S / 10_000.0).floor();
                *owed += rate * INTERVAL_S / 10_000.0 - packets;
                packets * 10_000.0 / INTERVAL_S
            };
            let mut offered: Vec<_> = (0..).zip(rates.iter().zip(&mut owed).map(whole_bps)).collect();
            offered.push((100, others * bps));
            interval(&mut law, bps, number, &offered);
            for (flow, (rate, sum)) in (0..).zip(rates.iter_mut().zip(&mut sums)) {
                *rate = told(&mut law, number, &carrying(flow, 1250, *rate));
                if number >= intervals - counted {
                    *sum += *rate / f64::from(counted);
                }
            }
        }
        let (rates, sum) = (&sums, sums.iter().sum::<f64>());
        // packets are whole: one more or less in an interval is 0.1 Mbit/s
        let slack = 0.1e6 * (rates.len() + 1) as f64;
        prop_assert!(sum > target - slack && sum < 1.1 * target + slack, "{sum:.0} of {target:.0}");
        let even = sum / rates.len() as f64;
        for rate in rates {
            prop_assert!((rate / even - 1.0).abs() < 0.1, "{rates:.0?}");
        }
    }
}
