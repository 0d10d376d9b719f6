use crate::source::{Bench, Given, PACKET, data, parameters, poisson, s, setup};
use longfat_net::DropReason;
use longfat_net::queue::Blue;
use longfat_wire::SimPacket;

fn blue(packets: u64, given: &[(&str, &dyn Given)]) -> Bench<Blue<SimPacket>> {
    Bench::new(Blue::build(setup(packets), &parameters("blue", given)))
}

#[test]
fn the_probability_rises_once_a_freeze_time_whatever_overflows_meanwhile() {
    let mut bench = blue(10, &[]);
    // 1000 packets a second leave, 2000 come: full after 10 ms; 100 ms after the beginning the first rise
    // counts
    let arrivals = (0..900).map(|i| (s(0.0005 * f64::from(i)), data(0, u64::from(i as u32), PACKET)));
    bench.run(arrivals, |_, _| {});
    // just after 100, 200, 300 and 400 ms
    assert!((bench.queue.probability() - 0.08).abs() < 1e-12, "{}", bench.queue.probability());
    assert!(bench.tally.drops(DropReason::Full) > 300);
}

#[test]
fn an_idle_link_lowers_it_at_once_and_then_once_a_freeze_time() {
    let mut bench = blue(10, &[]);
    (0..400).for_each(|i| bench.arrive(s(0.0005 * f64::from(i)), data(0, 0, PACKET)));
    let before = bench.queue.probability();
    assert!((before - 0.02).abs() < 1e-12, "{before}");
    // the last rise was at 101 ms at most, the queue drains by 212 ms, and is idle until 715 ms: lowered at
    // 212, 312, 412, 512, 612 and 712 ms
    bench.arrive(s(0.715), data(0, 0, PACKET));
    let lowered = before - bench.queue.probability();
    assert!((lowered - 6.0 * 0.002).abs() < 1e-12, "{lowered}");
    // a pause shorter than the freeze time after that changes nothing
    bench.arrive(s(0.730), data(0, 0, PACKET));
    assert!((before - bench.queue.probability() - lowered).abs() < 1e-15);
    // and it stops at nothing
    bench.arrive(s(100.0), data(0, 0, PACKET));
    assert_eq!(bench.queue.probability(), 0.0);
}

#[test]
fn it_finds_the_probability_that_the_load_needs_and_then_hardly_overflows() {
    for (load, needed) in [(1.05, 0.0476), (1.1, 0.0909), (1.25, 0.2)] {
        let mut bench = blue(200, &[]);
        bench.run(poisson(load, 5, (0.0, 60.0)), |_, _| {});
        bench.forget();
        let (mut sum, mut count) = (0.0, 0.0);
        bench.run(poisson(load, 5, (60.0, 660.0)), |_, queue| {
            sum += queue.probability();
            count += 1.0;
        });
        let mean = sum / count;
        assert!((mean - needed).abs() < 0.015, "load {load}: probability {mean:.4}, the load needs {needed}");
        let full = bench.tally.drops(DropReason::Full) as f64 / bench.tally.dropped.len() as f64;
        assert!(full < 0.12, "load {load}: {full:.3} of the drops are overflows");
        let busy = bench.tally.sent.len() as f64 / 600_000.0;
        assert!(busy > 0.97, "load {load}: the link is busy {busy:.3} of the time");
    }
}
