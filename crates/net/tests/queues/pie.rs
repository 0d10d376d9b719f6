use crate::source::{Bench, Given, PACKET, RATE_BPS, capable, data, parameters, poisson, s, setup, steady};
use longfat_net::DropReason;
use longfat_net::queue::Pie;
use longfat_wire::SimPacket;

fn pie(given: &[(&str, &dyn Given)]) -> Bench<Pie<SimPacket>> {
    Bench::new(Pie::build(setup(10_000), &parameters("pie", given)))
}

#[test]
fn it_holds_its_target_and_drops_what_the_link_cannot_carry() {
    for (load, target_ms) in [(1.05, 15.0), (1.2, 15.0), (1.2, 50.0)] {
        for derandomize in ["true", "false"] {
            let mut bench = pie(&[("target", &target_ms), ("derandomize", &derandomize)]);
            bench.run(poisson(load, 10, (0.0, 60.0)), |_, _| {});
            bench.forget();
            bench.run(poisson(load, 10, (60.0, 360.0)), |_, _| {});
            let waits = &bench.tally.waits;
            let mean_ms = 1e3 * waits.iter().map(|w| w.as_secs_f64()).sum::<f64>() / waits.len() as f64;
            let context = format!("load {load}, target {target_ms} ms, derandomize {derandomize}");
            assert!((mean_ms / target_ms - 1.0).abs() < 0.1, "{context}: mean wait {mean_ms:.2} ms");
            let busy = waits.len() as f64 / 300_000.0;
            assert!(busy > 0.98, "{context}: the link is busy {busy:.4} of the time");
            assert_eq!(bench.tally.drops(DropReason::Early), bench.tally.dropped.len());
        }
    }
}

#[test]
fn a_burst_of_the_allowed_length_passes_and_a_longer_one_does_not() {
    // RFC 8033, section 4: 150 ms without drops, however far above the target; a queue that grew to 150 ms
    // then drains
    let mut bench = pie(&[]);
    bench.run(steady(0, 24e6, (0.0, 0.149)).into_iter(), |_, _| {});
    bench.run_to(s(1.0));
    assert_eq!(bench.tally.dropped.len(), 0);
    let mut bench = pie(&[]);
    bench.run(steady(0, 24e6, (0.0, 2.0)).into_iter(), |_, _| {});
    let first = bench.tally.dropped.first().expect("drops").0.as_secs_f64();
    assert!((0.15..0.4).contains(&first), "first drop at {first}");
}

#[test]
fn the_allowance_returns_when_the_congestion_has_gone() {
    let mut bench = pie(&[]);
    bench.run(steady(0, 24e6, (0.0, 2.0)).into_iter(), |_, _| {});
    assert!(bench.queue.probability() > 0.0);
    // idle: the probability falls to nothing, and with it the allowance comes back
    bench.run_to(s(60.0));
    assert_eq!(bench.queue.probability(), 0.0);
    bench.forget();
    bench.run(steady(0, 24e6, (60.0, 60.149)).into_iter(), |_, _| {});
    bench.run_to(s(61.0));
    assert_eq!(bench.tally.dropped.len(), 0);
}

#[test]
fn spacing_lets_no_two_drops_be_close() {
    // RFC 8033, 5.4: not before the probabilities since the last drop sum to 0.85
    let gaps = |derandomize: &str| {
        let mut bench = pie(&[("derandomize", &derandomize)]);
        bench.run(poisson(1.05, 1, (0.0, 60.0)), |_, _| {});
        bench.forget();
        bench.run(poisson(1.05, 1, (60.0, 360.0)), |_, _| {});
        let numbers: Vec<_> = bench.tally.dropped.iter().map(|(_, p, _)| p.seq).collect();
        numbers.windows(2).filter(|w| w[1] - w[0] <= 3).count() as f64 / numbers.len() as f64
    };
    let (with, without) = (gaps("true"), gaps("false"));
    assert!(with < 0.01, "{with:.3} of the gaps are 3 packets or fewer");
    assert!(without > 0.08, "{without:.3}");
}

#[test]
fn marks_give_way_to_drops_above_the_threshold() {
    // RFC 8033, 5.1: a load that ignores marks drives the probability above 10 %, and is dropped from there
    // on
    let mut bench = pie(&[("ecn", &"true")]);
    bench.run(poisson(1.2, 1, (0.0, 100.0)).map(|(at, p)| (at, capable(p))), |_, queue| {
        assert!(queue.probability() <= 1.0);
    });
    assert!(bench.tally.marks() > 5, "{}", bench.tally.marks());
    assert!(bench.queue.probability() > 0.1);
    assert!(bench.tally.drops(DropReason::Early) > 1000);
    // while it needs less, there are no drops
    let mut bench = pie(&[("ecn", &"true"), ("ecn_threshold", &1.0)]);
    bench.run(poisson(1.2, 1, (0.0, 20.0)).map(|(at, p)| (at, capable(p))), |_, _| {});
    assert_eq!(bench.tally.drops(DropReason::Early), 0);
}

#[test]
fn two_packets_in_the_queue_are_never_too_many() {
    // RFC 8033, section 4: with two packets or fewer waiting nothing is dropped, however slow the link
    let mut bench = pie(&[("target", &0.1), ("max_burst", &0.0)]);
    (0..2).for_each(|seq| bench.arrive(s(0.0), data(0, seq, PACKET)));
    bench.run(steady(0, RATE_BPS, (0.0, 60.0)).into_iter(), |_, queue| {
        assert!(longfat_net::Element::<SimPacket>::packets(queue) <= 2);
    });
    assert!(bench.tally.dropped.is_empty());
    assert!(bench.queue.probability() > 0.5, "{}", bench.queue.probability());
}
