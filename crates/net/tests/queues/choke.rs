use crate::driver::{World, assert_in_order, bits_sent, constant_rate, ignore};
use crate::source::{Given, parameters, setup};
use longfat_net::queue::{Choke, DropTail, Limit, Red};
use longfat_net::{DropReason, Element};
use longfat_units::Time;
use longfat_wire::{FlowId, SimPacket};

const AGGRESSIVE: u32 = 0;
const CAPACITY_BPS: f64 = 10e6;
/// What the other flows offer together.
const OTHERS_BPS: f64 = 12e6;
const SECONDS: f64 = 30.0;
/// RED's settings, CHOKe's like Pan et al.: thresholds of 20 and 150 packets in a buffer of 300.
const THRESHOLDS: [(&str, &dyn Given); 3] = [("min", &20.0), ("max", &150.0), ("weight", &0.02)];

fn choke(more: &[(&str, &dyn Given)]) -> Box<dyn Element<SimPacket>> {
    let all: Vec<_> = THRESHOLDS.iter().chain(more).copied().collect();
    Box::new(Choke::build(setup(300), &parameters("choke", &all)))
}

fn red() -> Box<dyn Element<SimPacket>> {
    Box::new(Red::build(setup(300), &parameters("red", &THRESHOLDS)))
}

/// One flow that does not care, at `rate_bps`, among `others`, before 10 Mbit/s: its
/// share of what is sent.
fn share_of_the_aggressive(
    queue: Box<dyn Element<SimPacket>>,
    rate_bps: f64,
    others: u32,
) -> (f64, World<SimPacket>) {
    let mut world = World::new();
    world.add_link(CAPACITY_BPS, vec![queue]);
    constant_rate(&mut world, AGGRESSIVE, 1000, rate_bps, (0.0, SECONDS));
    for i in 1..=others {
        let start_s = 0.000_9 * f64::from(i);
        constant_rate(&mut world, i, 1000, OTHERS_BPS / f64::from(others), (start_s, SECONDS));
    }
    world.run(Time::from_secs_f64(SECONDS), &mut ignore);
    world.assert_conserves();
    let all: f64 = (0..=others).map(|i| bits_sent(&world, i)).sum();
    (bits_sent(&world, AGGRESSIVE) / all, world)
}

#[test]
fn the_arriving_packet_and_its_match_from_inside_the_queue_are_dropped_together() {
    let (_, world) = share_of_the_aggressive(choke(&[]), 8e6, 16);
    assert_in_order(&world);
    // two drops at the same time of the same flow: the match, which had come earlier, and the arriving packet
    let matched: Vec<_> = world.dropped().filter(|(_, _, why)| *why == DropReason::Match).collect();
    assert!(matched.len() > 2000 && matched.len() % 2 == 0, "{}", matched.len());
    for pair in matched.chunks(2) {
        let [(at, victim, _), (then, arriving, _)] = pair else { panic!("pairs") };
        assert!(at == then && victim.flow == arriving.flow && victim.seq < arriving.seq);
    }
    let of_the_aggressive = matched.iter().filter(|(_, p, _)| p.flow == FlowId(AGGRESSIVE)).count();
    assert!(
        of_the_aggressive as f64 > 0.8 * matched.len() as f64,
        "{of_the_aggressive} of {}",
        matched.len()
    );
    // from anywhere: some matches were followed on the wire by packets that had come before them
    let overtaken = matched.chunks(2).take(500).filter(|pair| {
        let (at, gone, _) = pair[0];
        world.sent().any(|(later, p)| later > at && p.flow == gone.flow && p.seq < gone.seq)
    });
    assert!(overtaken.count() > 100);
}

#[test]
fn an_unresponsive_flow_gets_no_more_than_an_e_plus_first_part_however_fast_it_sends() {
    // Tang, Wang, Low (IEEE/ACM Transactions on Networking 2004): at most 1 / (1 + e) = 26.9 %, reached
    // slightly above the capacity, and less and less beyond; RED leaves it what it sends
    let shares = [1.1, 4.0, 16.0].map(|load| {
        let (share, _) = share_of_the_aggressive(choke(&[]), load * CAPACITY_BPS, 64);
        let (with_red, _) = share_of_the_aggressive(red(), load * CAPACITY_BPS, 64);
        assert!(share < 0.269, "load {load}: CHOKe leaves {share:.3}");
        assert!((with_red - load / (load + 1.2)).abs() < 0.03, "load {load}: RED leaves {with_red:.3}");
        share
    });
    assert!(shares[0] > shares[1] && shares[1] > shares[2], "{shares:?}");
    assert!(shares[2] < 0.15, "{shares:?}");
}

#[test]
fn drop_tail_leaves_an_unresponsive_flow_what_it_asks_for() {
    let (share, _) = share_of_the_aggressive(Box::new(DropTail::new(Limit::Packets(300))), 8e6, 16);
    assert!(share > 0.35, "{share:.3}");
}

#[test]
fn more_candidates_leave_an_unresponsive_flow_less() {
    let (one, _) = share_of_the_aggressive(choke(&[]), 20e6, 64);
    let (four, _) = share_of_the_aggressive(choke(&[("candidates", &4.0)]), 20e6, 64);
    assert!(four < 0.6 * one, "{one:.3} with one candidate, {four:.3} with four");
}

#[test]
fn above_the_upper_threshold_the_thesis_draws_nothing_and_the_paper_does() {
    for (variant, matches) in [("paper", true), ("thesis", false)] {
        let given: [(&str, &dyn Given); 5] =
            [("min", &1.0), ("max", &10.0), ("weight", &1.0), ("max_p", &0.0), ("variant", &variant)];
        let queue: Choke<SimPacket> = Choke::build(setup(300), &parameters("choke", &given));
        let mut bench = crate::source::Bench::new(queue);
        // ten of flows of their own wait, up to the threshold; then more of one of them come
        (0..11).for_each(|flow| bench.arrive(Time::ZERO, crate::source::data(flow, 0, 1000)));
        assert!(bench.tally.dropped.is_empty(), "{variant}");
        (1..30).for_each(|seq| bench.arrive(Time::ZERO, crate::source::data(5, seq, 1000)));
        assert_eq!(bench.tally.drops(DropReason::Match) > 0, matches, "{variant}");
        assert!(bench.tally.drops(DropReason::Forced) > 0, "{variant}");
    }
}
