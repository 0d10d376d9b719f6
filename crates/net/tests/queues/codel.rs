use crate::driver::{Left, World, constant_rate, data, ignore};
use crate::source::{Bench, Given, PACKET, capable, parameters, s, setup, steady};
use longfat_net::queue::{CoDel, DropTail, Limit};
use longfat_net::{DropReason, Element};
use longfat_units::Time;
use longfat_wire::{Ecn, SimPacket};

fn codel(given: &[(&str, &dyn Given)]) -> CoDel<SimPacket> {
    CoDel::build(setup(1_000_000), &parameters("codel", given))
}

#[test]
fn it_drops_at_the_head_and_holds_an_overload_that_drop_tail_does_not() {
    let waits_s = |queue: Box<dyn Element<SimPacket>>| {
        let mut world = World::new();
        world.add_link(10e6, vec![queue]);
        constant_rate(&mut world, 0, 1000, 11e6, (0.0, 60.0));
        world.run(Time::from_secs_f64(60.0), &mut ignore);
        world.assert_conserves();
        // whatever leaves, on the wire or dropped, was at the head: the numbers come in order and without gap
        let numbers = world.left.iter().map(|(_, how)| match how {
            Left::Sent(p) | Left::Dropped(p, _) => p.seq,
        });
        assert!(numbers.enumerate().all(|(i, seq)| i as u64 == seq), "packets leave at the head only");
        let dropped = world.dropped().count();
        let busy = world.sent().count() as f64 * 8000.0 / 10e6 / 60.0;
        let most = world.sent().filter(|(at, _)| at.as_secs_f64() > 30.0);
        // packet number n came at n gaps of 8000 bits at 11 Mbit/s
        let most = most.map(|(at, p)| at.as_secs_f64() - p.seq as f64 * 8000.0 / 11e6).fold(0.0, f64::max);
        (most, dropped, busy)
    };
    let (codel, dropped, busy) = waits_s(Box::new(codel(&[])));
    let (drop_tail, none, _) = waits_s(Box::new(DropTail::new(Limit::Packets(1_000_000))));
    assert!(busy > 0.99, "the link is busy {busy:.4} of the time");
    assert!(dropped > 1000, "{dropped} drops");
    assert_eq!(none, 0);
    assert!(drop_tail > 5.0, "an endless queue grows: {drop_tail:.2} s");
    assert!(codel < 1.0, "longest wait {codel:.3} s");
}

#[test]
fn drops_come_at_the_interval_over_the_square_root_of_their_number() {
    // RFC 8289: the first one an interval after packets began to wait for the target, then after 100 /
    // sqrt(n) ms: 100, 70.7, 57.7, 50, 44.7, 40.8, ...
    let mut bench = Bench::new(codel(&[]));
    bench.run(steady(0, 24e6, (0.0, 0.8)).into_iter(), |_, _| {});
    // a packet a millisecond leaves, two come: the one that leaves at 10 ms is the first that has waited for
    // 5 ms
    let at_ms: Vec<f64> =
        bench.tally.dropped.iter().map(|(at, _, _)| 1e3 * at.as_secs_f64()).take(8).collect();
    let expected = [110.0, 210.0, 280.7, 338.4, 388.4, 433.2, 474.0, 511.8];
    for (found, expected) in at_ms.iter().zip(expected) {
        // packets leave at whole milliseconds
        assert!((found - expected).abs() <= 1.0, "{at_ms:?}");
    }
    assert_eq!(bench.tally.drops(DropReason::Delay), bench.tally.dropped.len());
}

#[test]
fn a_burst_that_is_gone_within_an_interval_passes() {
    let mut bench = Bench::new(codel(&[]));
    (0..100).for_each(|seq| bench.arrive(Time::ZERO, data(0, seq, PACKET)));
    bench.run_to(s(1.0));
    assert_eq!((bench.tally.sent.len(), bench.tally.dropped.len()), (100, 0));
}

#[test]
fn one_request_for_a_packet_may_cost_several() {
    // long idle behind a burst: when the link asks again, many drops are due at once
    let mut bench = Bench::new(codel(&[]));
    let mut ask = |now: f64| bench.queue.next(s(now), &mut bench.tally).map(|p| p.seq);
    assert_eq!(ask(0.0), None);
    let mut queue = codel(&[]);
    let mut tally = crate::source::Tally::default();
    (0..200).for_each(|seq| queue.arrive(Time::ZERO, data(0, seq, 1000), &mut tally));
    let mut ask = |now: f64| queue.next(s(now), &mut tally).map(|p| p.seq);
    assert_eq!(ask(0.01), Some(0));
    assert_eq!(ask(0.2), Some(2));
    let then = ask(1.0);
    let dropped = tally.dropped.len() as u64;
    assert!(dropped > 5, "{dropped} drops");
    assert_eq!(then, Some(dropped + 2 - 1 + 1), "the packets dropped were the ones at the head");
}

#[test]
fn a_packet_that_can_be_marked_is_marked_and_sent_when_another_would_be_dropped() {
    let mut bench = Bench::new(codel(&[("ecn", &"true")]));
    let arrivals = steady(0, 24e6, (0.0, 0.8)).into_iter().map(|(at, p)| (at, capable(p)));
    bench.run(arrivals, |_, _| {});
    assert!(bench.tally.dropped.is_empty());
    let marked: Vec<f64> = (bench.tally.sent.iter())
        .filter(|(_, p)| p.ecn == Ecn::Marked)
        .map(|(at, _)| 1e3 * at.as_secs_f64())
        .collect();
    assert_eq!(marked.len() as u64, bench.tally.marks());
    // the same times as the drops have
    for (found, expected) in marked.iter().zip([110.0, 210.0, 280.7, 338.4, 388.4]) {
        assert!((found - expected).abs() <= 1.0, "{marked:?}");
    }
}

#[test]
fn the_last_packet_in_the_queue_is_never_dropped() {
    // RFC 8289: a queue of a packet or less is no standing queue, however long that waits
    let mut bench = Bench::new(codel(&[]));
    for i in 0..200 {
        // two packets every 20 ms, asked for 15 ms late
        let at = 0.02 * f64::from(i);
        for seq in 0..2 {
            bench.queue.arrive(s(at), data(0, seq, PACKET), &mut bench.tally);
        }
        for ms in [15.0, 16.0] {
            assert!(bench.queue.next(s(at + 1e-3 * ms), &mut bench.tally).is_some());
        }
    }
    assert!(bench.tally.dropped.is_empty());
}
