use crate::source::{Bench, Given, PACKET, Tally, data, merged, parameters, s, setup, steady};
use longfat_net::queue::Sfq;
use longfat_net::{DropReason, Element};
use longfat_units::Time;
use longfat_wire::{FlowId, SimPacket};

fn sfq(packets: u64, given: &[(&str, &dyn Given)]) -> Bench<Sfq<SimPacket>> {
    Bench::new(Sfq::build(setup(packets), &parameters("sfq", given)))
}

#[test]
fn flows_that_send_too_much_get_equal_parts_whatever_each_sends() {
    let sources = [6e6, 8e6, 10e6, 40e6].iter().zip(0..).map(|(&rate, flow)| steady(flow, rate, (0.0, 30.0)));
    let mut bench = sfq(400, &[]);
    bench.run(merged(sources.collect()).into_iter(), |_, _| {});
    for flow in 0..4 {
        let rate = bench.tally.sent_of(flow) as f64 / 30.0;
        assert!((rate / 250.0 - 1.0).abs() < 0.01, "flow {flow}: {rate:.1} packets/s");
    }
}

#[test]
fn a_new_flow_waits_for_its_turn_behind_the_others() {
    let mut bench = sfq(1000, &[]);
    for seq in 0..3 {
        (0..2).for_each(|flow| bench.queue.arrive(Time::ZERO, data(flow, seq, 500), &mut bench.tally));
    }
    let mut order = vec![];
    let mut take = |queue: &mut Sfq<SimPacket>, tally: &mut Tally, n: usize| {
        order.extend((0..n).filter_map(|_| queue.next(s(0.001), tally)).map(|p| (p.flow.0, p.seq)));
    };
    take(&mut bench.queue, &mut bench.tally, 1);
    bench.queue.arrive(Time::ZERO, data(2, 0, 500), &mut bench.tally);
    take(&mut bench.queue, &mut bench.tally, 6);
    // a quantum of 1514 bytes sends all three packets of a flow
    assert_eq!(order, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)]);
    assert!(bench.queue.next(s(0.001), &mut bench.tally).is_none());
}

#[test]
fn an_overflow_takes_the_last_packet_of_the_longest_queue() {
    let mut bench = sfq(10, &[]);
    (0..8).for_each(|seq| bench.queue.arrive(Time::ZERO, data(1, seq, PACKET), &mut bench.tally));
    (0..3).for_each(|seq| bench.queue.arrive(Time::ZERO, data(2, seq, PACKET), &mut bench.tally));
    let dropped: Vec<_> = bench.tally.dropped.iter().map(|(_, p, why)| (p.flow, p.seq, *why)).collect();
    assert_eq!(dropped, [(FlowId(1), 7, DropReason::Full)]);
    // where each has one packet, the flow whose turn it is loses it
    let mut bench = sfq(2, &[]);
    (0..3).for_each(|flow| bench.queue.arrive(Time::ZERO, data(flow, 0, PACKET), &mut bench.tally));
    assert_eq!(bench.tally.dropped.iter().map(|(_, p, _)| p.flow.0).collect::<Vec<_>>(), [0]);
    assert_eq!(bench.queue.packets(), 2);
}

#[test]
fn a_queue_holds_127_packets_and_128_queues_may_have_some() {
    let mut bench = sfq(100_000, &[]);
    (0..130).for_each(|seq| bench.queue.arrive(Time::ZERO, data(1, seq, PACKET), &mut bench.tally));
    assert_eq!((bench.tally.dropped_of(1), bench.queue.packets()), (3, 127));
    let mut bench = sfq(100_000, &[]);
    (0..1000).for_each(|flow| bench.queue.arrive(Time::ZERO, data(flow, 0, PACKET), &mut bench.tally));
    // those that share a queue with an earlier one find room in it
    let kept = bench.queue.packets();
    assert!((129..400).contains(&kept), "{kept}");
    let mut bench = sfq(100_000, &[("flows", &3.0), ("divisor", &65_536.0)]);
    (0..10).for_each(|flow| bench.queue.arrive(Time::ZERO, data(flow, 0, PACKET), &mut bench.tally));
    assert_eq!(bench.queue.packets(), 3);
}
