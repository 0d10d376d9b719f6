//! XCP's router: numbers worked by hand from the equations of SIGCOMM 2002, and conservation of feedback.

use crate::driver::{World, data, ignore};
use crate::setup::{Tally, carrying, setup};
use longfat_net::Element;
use longfat_net::router::find;
use longfat_net::router::xcp::{Gains, Sums};
use longfat_units::parameters::Value;
use longfat_units::{Interval, Time};
use longfat_wire::{Explicit, Kind, Packet, SimPacket, Xcp};
use proptest::prelude::*;

const GAINS: Gains = Gains { alpha: 0.4, beta: 0.226, gamma: 0.1 };
/// 10 Mbit/s in bytes/s.
const CAPACITY: f64 = 1.25e6;

fn feedback(packet: &SimPacket) -> f64 {
    let Some(Explicit::Xcp(header)) = packet.explicit() else { panic!("no header") };
    header.feedback_bytes
}

fn router() -> Box<dyn Element<SimPacket> + Send> {
    find("xcp").unwrap().instance(setup(8.0 * CAPACITY, 1 << 20), &[]).unwrap()
}

/// The packets cross the router at `now`, without waiting. Returns what they carry then.
fn cross(
    router: &mut dyn Element<SimPacket>,
    tally: &mut Tally,
    now: Time,
    packets: &[SimPacket],
) -> Vec<f64> {
    let through = |packet: &SimPacket| {
        router.arrive(now, packet.clone(), tally);
        feedback(&router.next(now, tally).expect("a packet"))
    };
    packets.iter().map(through).collect()
}

/// Lets time pass up to the end of the running interval. Returns that time.
fn end_interval(router: &mut dyn Element<SimPacket>, tally: &mut Tally) -> Time {
    let now = tally.timer;
    tally.run_to(router, now);
    now
}

#[test]
fn a_half_used_link_gives_four_tenths_of_what_is_spare() {
    // 50 packets of 1000 bytes in 0.1 s at 10 Mbit/s: phi = .4 x .1 s x 750 000 bytes/s = 30 000 bytes, above
    // a tenth of the traffic, so that nothing is shuffled
    let mut sums = Sums::default();
    let header = Xcp { cwnd_bytes: 50_000.0, rtt_s: 0.1, feedback_bytes: 1e9, ..Xcp::default() };
    (0..50).for_each(|_| sums.add(1000.0, Some(&header)));
    assert!((sums.mean_rtt_s().unwrap() - 0.1).abs() < 1e-12);
    let budget = sums.budget(GAINS, (0.1, 0.1), CAPACITY, 0.0);
    assert!((budget.positive - 300_000.0).abs() < 1e-6 && budget.negative == 0.0, "{budget:?}");
}

#[test]
fn a_full_link_shuffles_a_tenth_of_its_traffic_less_what_it_takes_back_for_the_queue() {
    // phi = -.226 x 10 000 = -2260 bytes; a tenth of 125 000 bytes is 12 500, so 10 240 are shuffled in 0.1 s
    let mut sums = Sums::default();
    let header = Xcp { cwnd_bytes: 125_000.0, rtt_s: 0.1, feedback_bytes: 1e9, ..Xcp::default() };
    (0..125).for_each(|_| sums.add(1000.0, Some(&header)));
    let budget = sums.budget(GAINS, (0.1, 0.1), CAPACITY, 10_000.0);
    assert!((budget.positive - 102_400.0).abs() < 1e-6, "{budget:?}");
    assert!((budget.negative - 125_000.0).abs() < 1e-6, "{budget:?}");
}

#[test]
fn each_packet_gets_its_share_in_bytes_of_its_window() {
    // The first interval lasts 50 ms; a flow of 100 ms sends 40 packets of 1000 bytes in it with a window of
    // 80 000 bytes, another 10 with 20 000. phi = .4 x .1 s x (1.25e6 - 1e6 bytes/s) = 10 000 bytes, as much
    // as a tenth of the traffic, so nothing is shuffled. In the next 50 ms, phi / d = 100 000 bytes/s are
    // given out, half to each flow: 5000 bytes of its window, over its 40 or 10 packets.
    let packets: Vec<_> = (0..40)
        .map(|_| carrying(0, 1000, 80_000.0, 0.1))
        .chain((0..10).map(|_| carrying(1, 1000, 20_000.0, 0.1)))
        .collect();
    let (mut router, mut tally) = (router(), Tally::default());
    let before = cross(router.as_mut(), &mut tally, Time::ZERO, &packets);
    assert!(before.iter().all(|&f| f == 0.0), "nothing is given out before the first interval ends");
    let now = end_interval(router.as_mut(), &mut tally);
    assert_eq!(now, Time::ZERO + Interval::from_millis(50));
    let given = cross(router.as_mut(), &mut tally, now, &packets);
    assert!(given[..40].iter().all(|f| (f - 125.0).abs() < 1e-6), "{:?}", &given[..40]);
    assert!(given[40..].iter().all(|f| (f - 500.0).abs() < 1e-6), "{:?}", &given[40..]);
}

#[test]
fn more_packets_than_in_the_last_interval_do_not_get_more_in_all() {
    let packets = vec![carrying(0, 1000, 20_000.0, 0.1); 10];
    let (mut router, mut tally) = (router(), Tally::default());
    cross(router.as_mut(), &mut tally, Time::ZERO, &packets);
    let now = end_interval(router.as_mut(), &mut tally);
    let once: f64 = cross(router.as_mut(), &mut tally, now, &packets).iter().sum();
    assert!(once > 0.0);
    let again: f64 = cross(router.as_mut(), &mut tally, now, &packets).iter().sum();
    assert!(again.abs() < 1e-6 * once, "{once} {again}");
}

#[test]
fn a_router_never_adds_to_what_another_one_left() {
    let mut modest = carrying(0, 1000, 20_000.0, 0.1);
    if let Some(Explicit::Xcp(header)) = modest.explicit_mut() {
        header.feedback_bytes = -100.0;
    }
    let (mut router, mut tally) = (router(), Tally::default());
    cross(router.as_mut(), &mut tally, Time::ZERO, &vec![carrying(0, 1000, 20_000.0, 0.1); 10]);
    let now = end_interval(router.as_mut(), &mut tally);
    assert_eq!(cross(router.as_mut(), &mut tally, now, &[modest]), [-100.0]);
}

#[test]
fn acknowledgements_and_packets_without_a_round_trip_time_are_not_controlled() {
    let (mut router, mut tally) = (router(), Tally::default());
    cross(router.as_mut(), &mut tally, Time::ZERO, &vec![carrying(0, 1000, 20_000.0, 0.1); 10]);
    let now = end_interval(router.as_mut(), &mut tally);
    let mut echo = carrying(0, 72, 20_000.0, 0.1);
    echo.kind = Kind::Ack;
    let given = cross(router.as_mut(), &mut tally, now, &[echo, carrying(0, 1000, 3000.0, 0.0)]);
    assert_eq!(given, [f64::INFINITY, 0.0]);
}

#[test]
fn a_queue_that_persists_is_drained_and_one_that_comes_and_goes_is_not() {
    // flows that fill the link exactly with windows of 125 000 bytes: feedback is what the queue takes back
    let mean_feedback = |standing: u64| {
        let mut world = World::new();
        world.add_link(8.0 * CAPACITY, vec![router() as Box<dyn Element<SimPacket>>]);
        (0..standing).for_each(|_| world.send(Time::ZERO, 0, carrying(0, 1000, 125_000.0, 0.1)));
        // one packet each 0.8 ms; half of the load comes in pairs when nothing stands
        for i in 0..2500_u64 {
            let at = if standing == 0 { 1600 * (i / 2) } else { 800 * i };
            world.send(Time::from_ns(1000 * at), 0, carrying(0, 1000, 125_000.0, 0.1));
        }
        world.run(Time::from_secs_f64(2.0), &mut ignore);
        let late: Vec<f64> =
            world.sent().filter(|(at, _)| at.as_secs_f64() > 0.5).map(|(_, p)| feedback(p)).collect();
        late.iter().sum::<f64>() / late.len() as f64
    };
    // 100 packets stand: -.226 x 100 000 bytes in 0.1 s over 125 packets
    let standing = mean_feedback(100);
    assert!((standing / (-22_600.0 / 125.0) - 1.0).abs() < 0.05, "{standing}");
    assert!(mean_feedback(0).abs() < 4.0, "{}", mean_feedback(0));
}

#[test]
fn packets_without_a_header_pass_unchanged_and_count_as_traffic() {
    let mut world = World::new();
    world.add_link(8.0 * CAPACITY, vec![router() as Box<dyn Element<SimPacket>>]);
    // a full link, nine tenths of it somebody else's
    for i in 0..2000_u64 {
        let packet = if i % 10 == 0 { carrying(0, 1000, 12_500.0, 0.1) } else { data(1, i, 1000) };
        world.send(Time::from_ns(800_000 * i), 0, packet);
    }
    world.run(Time::from_secs_f64(1.5), &mut ignore);
    world.assert_conserves();
    let plain: Vec<_> = world.sent().filter(|(_, p)| p.flow.0 == 1).map(|(_, p)| p.clone()).collect();
    assert!(plain.iter().all(|p| *p == data(1, p.seq, 1000)) && plain.len() > 1000);
    let late: Vec<f64> = (world.sent())
        .filter(|(at, p)| p.flow.0 == 0 && at.as_secs_f64() > 0.3)
        .map(|(_, p)| feedback(p))
        .collect();
    // a router that saw only its own tenth would give 3600 bytes a packet
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!(mean.abs() < 60.0, "{mean}");
}

/// Flows: window in packets of 1000 bytes and round-trip time; and how many of its packets come in an
/// interval.
fn traffic() -> impl Strategy<Value = Vec<(f64, f64, usize)>> {
    prop::collection::vec((1.0..200.0_f64, 0.005..0.9_f64, 1..40_usize), 1..8)
}

proptest! {
    #[test]
    fn an_interval_s_packets_replayed_in_the_next_carry_the_aggregate_feedback_exactly(flows in traffic()) {
        let packets: Vec<_> = (flows.iter().zip(0..))
            .flat_map(|(&(cwnd, rtt_s, count), flow)| vec![carrying(flow, 1000, 1000.0 * cwnd, rtt_s); count])
            .collect();
        let (mut router, mut tally) = (router(), Tally::default());
        cross(router.as_mut(), &mut tally, Time::ZERO, &packets);
        let now = end_interval(router.as_mut(), &mut tally);
        let given = cross(router.as_mut(), &mut tally, now, &packets);
        // as changes of throughput, so that round-trip times do not matter
        let rtts = flows.iter().flat_map(|&(_, rtt_s, count)| vec![rtt_s; count]);
        let sum: f64 = given.iter().zip(rtts).map(|(feedback, rtt_s)| feedback / rtt_s).sum();
        let input = 1000.0 * packets.len() as f64 / 0.05;
        // no queue: phi / d = .4 (C - input), whatever is shuffled
        let expected = 0.4 * (CAPACITY - input);
        prop_assert!((sum - expected).abs() < 1e-6 * (CAPACITY + input), "{sum} {expected}");
    }

    #[test]
    fn what_is_shuffled_is_given_and_taken_alike(
        bytes in 1e3..1e6_f64, d in 0.001..1.0_f64, queue in 0.0..1e6_f64,
    ) {
        let sums = Sums { bytes, carried: bytes, by_window: d, rtt_by_window: d * d };
        let budget = sums.budget(GAINS, (d, d), CAPACITY, queue);
        let net = d * (budget.positive - budget.negative);
        let shuffled = d * budget.positive.min(budget.negative);
        prop_assert!(shuffled >= 0.0);
        // at least a tenth of the traffic changes hands, or is given or taken in all
        prop_assert!(shuffled + net.abs() >= 0.1 * bytes * (1.0 - 1e-9));
        prop_assert!(shuffled == 0.0 || shuffled + net.abs() <= 0.1 * bytes * (1.0 + 1e-9));
    }
}

#[test]
fn an_interval_without_packets_may_set_the_next_one_back_to_fifty_milliseconds() {
    // The first interval lasts 50 ms and finds a round trip of 200 ms; the second, of 200 ms, is empty. What
    // arrives at 251 ms gives feedback once the third is over: at 300 ms, or at 450 ms without the rule.
    for (restarts, third_ms) in [("false", 200), ("true", 50)] {
        let given = [("restarts".to_owned(), Value::Word(restarts.to_owned()))];
        let mut router = find("xcp").unwrap().instance(setup(8.0 * CAPACITY, 1 << 20), &given).unwrap();
        let mut tally = Tally::default();
        let packets = vec![carrying(0, 1000, 20_000.0, 0.2); 10];
        let mut at = |ms: u64| {
            let now = Time::ZERO + Interval::from_millis(ms);
            tally.run_to(router.as_mut(), now);
            cross(router.as_mut(), &mut tally, now, &packets).iter().sum::<f64>()
        };
        assert_eq!((at(0), at(251)), (0.0, 0.0), "{restarts}");
        let end = 250 + third_ms;
        assert!(at(end - 1) == 0.0 && at(end + 1) > 0.0, "{restarts}");
    }
}
