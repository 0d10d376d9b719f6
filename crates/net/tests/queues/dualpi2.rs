use crate::source::{Bench, Given, RATE_BPS, merged, parameters, poisson, s, setup, steady};
use longfat_net::queue::DualPi2;
use longfat_net::{DropReason, Element};
use longfat_units::Time;
use longfat_wire::{Ecn, FlowId, Packet, SimPacket};

fn dualpi2(given: &[(&str, &dyn Given)]) -> Bench<DualPi2<SimPacket>> {
    Bench::new(DualPi2::build(setup(100_000), &parameters("dualpi2", given)))
}

fn l4s((at, mut packet): (Time, SimPacket)) -> (Time, SimPacket) {
    packet.set_ecn(Ecn::Ect1);
    (at, packet)
}

fn mean_wait_s(bench: &Bench<DualPi2<SimPacket>>, flow: u32) -> f64 {
    // the bench records a wait for each packet sent, in order
    let waits = bench.tally.sent.iter().zip(&bench.tally.waits).filter(|((_, p), _)| p.flow == FlowId(flow));
    let (sum, n) = waits.fold((0.0, 0), |(sum, n), (_, w)| (sum + w.as_secs_f64(), n + 1));
    sum / f64::from(n)
}

#[test]
fn classic_packets_wait_about_the_target_at_any_load_that_drops_can_hold() {
    for (target, load) in [(15.0, 1.02), (15.0, 1.1), (30.0, 1.1)] {
        let mut bench = dualpi2(&[("target", &target)]);
        bench.run(poisson(load, 1, (0.0, 50.0)), |_, _| {});
        bench.forget();
        bench.run(poisson(load, 1, (50.0, 250.0)), |_, _| {});
        let mean_ms = 1e3 * mean_wait_s(&bench, 0);
        assert!((mean_ms / target - 1.0).abs() < 0.1, "{mean_ms} ms at load {load}");
        assert!(bench.tally.drops(DropReason::Early) > 0 && bench.tally.drops(DropReason::Full) == 0);
        // what the load has too much is dropped with p'^2
        let p = bench.queue.probability();
        assert!((p * p - (1.0 - 1.0 / load)).abs() < 0.03, "p' {p} at load {load}");
    }
}

#[test]
fn a_packet_of_l4s_beside_a_classic_flood_waits_for_a_packet_or_two() {
    let flood: Vec<_> = poisson(1.1, 1, (0.0, 30.0)).collect();
    let thin: Vec<_> = steady(1, 0.1e6, (5.0, 30.0)).into_iter().map(l4s).collect();
    let mut bench = dualpi2(&[]);
    bench.run(merged(vec![flood, thin]).into_iter(), |_, _| {});
    let longest = (bench.tally.sent.iter().zip(&bench.tally.waits))
        .filter(|((_, p), _)| p.flow == FlowId(1))
        .map(|(_, w)| w.as_secs_f64())
        .fold(0.0, f64::max);
    assert!(longest < 0.0021, "{longest}");
    assert_eq!(bench.tally.low_waits.len(), bench.tally.sent_of(1), "these waits are told apart");
    assert!(mean_wait_s(&bench, 0) > 0.01);
    assert_eq!(bench.tally.dropped_of(1), 0);
}

#[test]
fn the_coupled_marks_are_k_times_the_root_of_the_classic_ones() {
    // half of the load each: p_L ~ 2 p', p_C ~ p'^2; the native AQM is out of the way
    let mut bench = dualpi2(&[("step", &1e6), ("classic_share", &50.0)]);
    let both = || {
        poisson(1.2, 2, (0.0, 200.0)).map(|(at, p)| if p.flow == FlowId(1) { l4s((at, p)) } else { (at, p) })
    };
    // unmarked load does not answer: hold p' by a constant controller
    let (mut sums, mut n) = (0.0, 0);
    bench.run(both(), |at, queue| {
        if at > s(20.0) && queue.probability() < 0.5 {
            (sums, n) = (sums + queue.probability(), n + 1);
        }
    });
    assert!(n > 10_000, "p' stays below overload: {n}");
    let p = sums / f64::from(n);
    let marked = bench.tally.sent.iter().filter(|(at, p)| *at > s(20.0) && p.ecn == Ecn::Marked).count();
    let low = bench.tally.sent.iter().filter(|(at, p)| *at > s(20.0) && p.flow == FlowId(1)).count();
    let ratio = marked as f64 / low as f64;
    assert!((ratio / (2.0 * p) - 1.0).abs() < 0.1, "marked {ratio}, p' {p}");
}

#[test]
fn a_flood_of_l4s_leaves_the_classic_queue_a_tenth() {
    let flood: Vec<_> = steady(1, 5.0 * RATE_BPS, (0.0, 20.0)).into_iter().map(l4s).collect();
    let classic: Vec<_> = steady(0, 0.5 * RATE_BPS, (0.0, 20.0));
    let mut bench = dualpi2(&[("alpha", &0.0), ("beta", &0.0)]);
    bench.run(merged(vec![flood, classic]).into_iter(), |_, _| {});
    let share = bench.tally.sent_of(0) as f64 / bench.tally.sent.len() as f64;
    assert!((share - 0.1).abs() < 0.001, "{share}");
}

#[test]
fn in_overload_packets_that_could_be_marked_are_dropped_unless_the_queue_may_overflow() {
    let flood = || poisson(3.0, 1, (0.0, 20.0)).map(l4s);
    let mut bench = dualpi2(&[]);
    bench.run(flood(), |_, _| {});
    assert!(bench.tally.drops(DropReason::Early) > 10_000, "{}", bench.tally.drops(DropReason::Early));
    // two thirds have to go: p_C = 2/3
    let p = bench.queue.probability();
    assert!((p * p - 2.0 / 3.0).abs() < 0.05, "{p}");
    let mut bench =
        Bench::new(DualPi2::build(setup(100), &parameters("dualpi2", &[("overload", &"overflow")])));
    bench.run(flood(), |_, _| {});
    assert_eq!(bench.tally.drops(DropReason::Early), 0);
    assert!(bench.tally.drops(DropReason::Full) > 10_000);
    assert_eq!(Element::<SimPacket>::packets(&bench.queue), 100);
}
