use crate::source::{Bench, Given, PACKET, RATE_BPS, capable, data, parameters, poisson, s, setup, steady};
use longfat_net::queue::{Red, find};
use longfat_net::{DropReason, Element};
use longfat_units::Stream;
use longfat_units::parameters::Value;
use longfat_wire::SimPacket;

fn red(given: &[(&str, &dyn Given)]) -> Bench<Red<SimPacket>> {
    let base: [(&str, &dyn Given); 4] = [("min", &25.0), ("max", &75.0), ("max_p", &0.1), ("weight", &0.002)];
    let kept = base.into_iter().filter(|(name, _)| given.iter().all(|(other, _)| other != name));
    let all: Vec<_> = kept.chain(given.iter().copied()).collect();
    Bench::new(Red::build(setup(1000), &parameters("red", &all)))
}

/// Mean of the average queue and share of packets dropped or marked, once settled; the load goes on for 330 s
/// from `from_s`.
fn settled(mut bench: Bench<Red<SimPacket>>, load: f64, from_s: f64) -> (f64, f64, Bench<Red<SimPacket>>) {
    bench.run(poisson(load, 10, (from_s, from_s + 30.0)), |_, _| {});
    bench.forget();
    let (mut sum, mut count) = (0.0, 0.0);
    bench.run(poisson(load, 10, (from_s + 30.0, from_s + 330.0)), |_, queue| {
        sum += queue.average();
        count += 1.0;
    });
    let signalled = bench.tally.dropped.len() as f64 + bench.tally.marks() as f64;
    (sum / count, signalled / count, bench)
}

#[test]
fn the_average_settles_where_the_curve_drops_what_the_link_cannot_carry() {
    // The link carries 1 / load of the packets; the rest d is dropped. Gaps between drops are uniform in 1
    // ... 1/p (section 8 of the paper), so their mean is (1/p + 1) / 2, and p = d / (2 - d); with wait
    // uniform in 1/p ... 2/p - 1, and p = 3 d / (2 + d). The average is where the line from 25 to 75 packets,
    // or beyond it the gentle one to 150, has that p. With wait a peak of p brings a drop forward that the
    // valley after it does not put off, so there the average stays a little lower.
    for (load, wait, average, tolerance) in [
        (1.05, "false", 37.2, 0.03),
        (1.1, "false", 48.8, 0.03),
        (1.15, "false", 59.9, 0.03),
        (1.4, "false", 80.6, 0.03),
        (1.05, "true", 59.9, 0.06),
    ] {
        let (found, _, bench) = settled(red(&[("wait", &wait)]), load, 0.0);
        assert!(
            (found / average - 1.0).abs() < tolerance,
            "load {load}: average {found:.1}, the curve says {average}"
        );
        assert!(bench.tally.sent.len() > 299_500, "load {load}: the link is never idle");
        assert_eq!(bench.tally.drops(DropReason::Early), bench.tally.dropped.len(), "load {load}");
    }
}

#[test]
fn below_the_lower_threshold_nothing_is_dropped() {
    // M/D/1 at 0.9: 4 packets wait on average
    let (average, dropped, _) = settled(red(&[]), 0.9, 0.0);
    assert!((3.5..4.6).contains(&average), "{average}");
    assert_eq!(dropped, 0.0);
}

#[test]
fn without_the_gentle_slope_an_overload_that_max_p_cannot_hold_is_dropped_by_force() {
    // at 1.4 the curve would need a probability of 1/6; it ends at 1/10
    let (average, dropped, bench) = settled(red(&[("gentle", &"false")]), 1.4, 0.0);
    assert!((70.0..80.0).contains(&average), "{average}");
    assert!((dropped - 0.2857).abs() < 0.01, "{dropped}");
    assert!(bench.tally.drops(DropReason::Forced) > 1000);
}

#[test]
fn adaptation_keeps_the_average_near_the_middle_fifth_between_the_thresholds() {
    // Adaptive RED, section 4.1: from min + 0.4 (max - min) to min + 0.6 (max - min), 45 to 55; within a
    // packet or two
    for load in [1.03, 1.1, 1.3] {
        let mut bench = red(&[("adaptive", &"true")]);
        bench.run(poisson(load, 10, (0.0, 100.0)), |_, _| {});
        let (average, _, bench) = settled(bench, load, 100.0);
        assert!((43.0..57.0).contains(&average), "load {load}: average {average:.1}");
        assert!((0.0099..=0.51).contains(&bench.queue.max_p()), "load {load}: max_p {}", bench.queue.max_p());
    }
    // and without it the same loads spread the average far wider
    let spread = settled(red(&[]), 1.3, 0.0).0 - settled(red(&[]), 1.03, 0.0).0;
    assert!(spread > 35.0, "{spread}");
}

#[test]
fn adaptation_moves_max_p_by_its_printed_steps() {
    // twice what the link carries keeps 75 packets and more: 0.1 + 0.01 twice a second; 0.02 grows by a
    // quarter instead
    for (max_p, after) in [(0.1, 0.14), (0.02, 0.048_8)] {
        let mut bench = red(&[("adaptive", &"true"), ("max_p", &max_p), ("weight", &1.0)]);
        bench.run(steady(0, 2.0 * RATE_BPS, (0.0, 2.2)).into_iter(), |_, _| {});
        // at 0.5, 1, 1.5 and 2 s; 0.02: 0.025, 0.031 25, 0.039 06, 0.048 8
        assert!((bench.queue.max_p() - after).abs() < 1e-4, "{max_p}: {}", bench.queue.max_p());
    }
    // and a queue that is nearly empty leaves nine tenths of it each time, down to 0.01
    let mut bench = red(&[("adaptive", &"true")]);
    bench.run(steady(0, 0.5 * RATE_BPS, (0.0, 2.2)).into_iter(), |_, _| {});
    assert!((bench.queue.max_p() - 0.065_61).abs() < 1e-9, "{}", bench.queue.max_p());
}

#[test]
fn automatic_thresholds_and_weight_are_those_of_the_papers() {
    // 5 ms at 1000 packets/s are 5 packets: half of them is below the least, 5 packets. At 100 times the rate
    // 250.
    let probe = |rate_bps: f64| {
        let rate = longfat_units::Rate::from_bps(rate_bps).unwrap();
        find("red").unwrap().checked(rate, &[("max".to_owned(), Value::Number(300.0))]).err()
    };
    assert_eq!(probe(RATE_BPS), None);
    assert_eq!(probe(100.0 * RATE_BPS), None);
    let refused = probe(200.0 * RATE_BPS).expect("500 packets are more than 300").to_string();
    assert_eq!(
        refused,
        "red.max = 300 packets is not accepted; give more than red.min, which is 500 packets"
    );
    // the average reaches 1 - 1/e of a step after as many packets as the link sends in a second
    let mut bench = red(&[("weight", &0.0), ("max_p", &0.0), ("min", &500.0), ("max", &900.0)]);
    (0..400).for_each(|seq| bench.arrive(s(0.0), data(0, seq, PACKET)));
    let before = bench.queue.average();
    (0..1000).for_each(|i| bench.arrive(s(0.001 * f64::from(i)), data(0, 400, PACKET)));
    let reached = (bench.queue.average() - before) / (400.0 - before);
    assert!((reached - 0.632).abs() < 0.01, "{reached}");
}

#[test]
fn capable_packets_are_marked_at_the_rate_at_which_others_are_dropped() {
    let mixed = |until| {
        let mut draws = Stream::new(5, "capable");
        poisson(1.1, 1, (0.0, until)).map(move |(at, mut p)| {
            if draws.unit() < 0.5 {
                p.flow = longfat_wire::FlowId(1);
                (at, capable(p))
            } else {
                (at, p)
            }
        })
    };
    let mut bench = red(&[("ecn", &"true"), ("max_p", &0.5)]);
    bench.run(mixed(300.0), |_, _| {});
    assert_eq!(bench.tally.dropped_of(1), 0, "capable packets are not dropped");
    let dropped = bench.tally.dropped_of(0) as f64;
    assert!(
        (bench.tally.marks() as f64 / dropped - 1.0).abs() < 0.03,
        "{} marks, {dropped} drops",
        bench.tally.marks()
    );
    // half of the packets are dropped at a rate that makes room for all: 2 (1 - 1 / 1.1) of them
    let arrived = dropped + bench.tally.sent_of(0) as f64;
    assert!((dropped / arrived / 0.1818 - 1.0).abs() < 0.05, "{}", dropped / arrived);
}

#[test]
fn above_the_upper_threshold_capable_packets_are_dropped_too() {
    // RFC 3168, section 7
    let mut bench = red(&[("ecn", &"true"), ("gentle", &"false"), ("weight", &1.0)]);
    (0..300).for_each(|seq| bench.arrive(s(0.0), capable(data(0, seq, PACKET))));
    assert!(bench.tally.marks() > 0);
    assert!(bench.tally.drops(DropReason::Forced) > 200);
}

#[test]
fn in_byte_mode_a_small_packet_is_dropped_less_often_in_proportion_to_its_size() {
    let mut bench = red(&[("mode", &"bytes")]);
    let mut draws = Stream::new(9, "sizes");
    // as many packets of 300 as of 1500 bytes, at 1.1 times the link's rate
    let mut at_s = 0.0;
    let mut arrived = [0.0; 2];
    for seq in 0..400_000 {
        at_s += draws.exponential(8.0 * 900.0 / (1.1 * RATE_BPS));
        let small = draws.unit() < 0.5;
        arrived[usize::from(small)] += 1.0;
        bench.arrive(s(at_s), data(u32::from(small), seq, if small { 300 } else { PACKET }));
    }
    let ratio =
        (bench.tally.dropped_of(0) as f64 / arrived[0]) / (bench.tally.dropped_of(1) as f64 / arrived[1]);
    assert!((ratio / 5.0 - 1.0).abs() < 0.06, "{ratio}");
    // thresholds count mean packets of 1500 bytes: the average in bytes settles between them
    assert!((25.0..75.0).contains(&(bench.queue.average() / 1500.0)), "{}", bench.queue.average());
}

#[test]
fn two_thresholds_side_by_side_mark_each_packet_that_finds_more_waiting_and_nothing_else() {
    // RFC 8257, section 3.1: DCTCP's switches mark what arrives to a queue above K, however long it is
    let given: [(&str, &dyn Given); 6] = [
        ("min", &20.0),
        ("max", &21.0),
        ("max_p", &1.0),
        ("weight", &1.0),
        ("ecn", &"true"),
        ("harddrop", &"false"),
    ];
    let mut bench = red(&given);
    for seq in 0..100 {
        bench.arrive(s(0.0), capable(data(0, seq, PACKET)));
    }
    assert_eq!(bench.tally.dropped.len(), 0);
    // the first is being sent; the 22nd finds 20 waiting, the 23rd finds 21
    assert_eq!((bench.tally.marks(), bench.queue.packets()), (100 - 22, 99));
    let mut hard = red(&given[..5]);
    (0..100).for_each(|seq| hard.arrive(s(0.0), capable(data(0, seq, PACKET))));
    assert!(hard.tally.drops(DropReason::Forced) > 0, "RFC 3168, section 7");
}
