use crate::source::{Bench, Given, PACKET, data, merged, parameters, poisson, s, setup, steady};
use longfat_net::queue::FqCoDel;
use longfat_net::{DropReason, Element};
use longfat_units::Time;
use longfat_wire::{FlowId, SimPacket};
use std::collections::BTreeSet;

fn fq_codel(packets: u64, given: &[(&str, &dyn Given)]) -> Bench<FqCoDel<SimPacket>> {
    Bench::new(FqCoDel::build(setup(packets), &parameters("fq_codel", given)))
}

#[test]
fn flows_that_send_too_much_get_equal_parts_whatever_each_sends() {
    let sources = [3e6, 5e6, 10e6, 40e6].iter().zip(0..).map(|(&rate, flow)| steady(flow, rate, (0.0, 30.0)));
    let mut bench = fq_codel(10_000, &[]);
    bench.run(merged(sources.collect()).into_iter(), |_, _| {});
    // 12 Mbit/s in four parts: 3 Mbit/s, 250 packets a second, less what CoDel drops of the first at its own
    // rate
    for flow in 0..4 {
        let rate = bench.tally.sent_of(flow) as f64 / 30.0;
        assert!((rate / 250.0 - 1.0).abs() < 0.03, "flow {flow}: {rate:.1} packets/s");
    }
}

#[test]
fn a_sparse_flow_does_not_wait_behind_a_full_one() {
    // RFC 8290, section 1.3: a flow that needs less than a quantum a turn is always new
    let sparse = steady(1, 0.1e6, (1.0, 30.0));
    let sent = sparse.len();
    let all = merged(vec![steady(0, 24e6, (0.0, 30.0)), sparse]);
    let mut bench = fq_codel(10_000, &[]);
    bench.run(all.into_iter(), |_, _| {});
    assert_eq!((bench.tally.dropped_of(1), bench.tally.sent_of(1)), (0, sent));
    let (mut longest, mut came) = (0.0_f64, steady(1, 0.1e6, (1.0, 30.0)).into_iter());
    for (at, _) in bench.tally.sent.iter().filter(|(_, p)| p.flow == FlowId(1)) {
        longest = longest.max(at.since(came.next().unwrap().0).as_secs_f64());
    }
    // at most the packet on the wire and one more turn
    assert!(longest < 0.002_1, "{longest}");
}

#[test]
fn a_queue_without_credit_goes_behind_those_that_become_old_before_the_next_packet() {
    // RFC 8290, section 4.2: a turn ends when the next packet is asked for
    let mut queue = fq_codel(100, &[("quantum", &1500.0)]).queue;
    let mut tally = crate::source::Tally::default();
    let mut give = |queue: &mut FqCoDel<SimPacket>, flow: u32| {
        (0..3).for_each(|seq| queue.arrive(Time::ZERO, data(flow, seq, 1500), &mut tally));
    };
    (1..=2).for_each(|flow| give(&mut queue, flow));
    let sent = |queue: &mut FqCoDel<SimPacket>, packets: usize| {
        let sent = (0..packets)
            .map(|_| queue.next(Time::ZERO, &mut crate::source::Tally::default()).unwrap().flow.0);
        sent.collect::<Vec<_>>()
    };
    assert_eq!(sent(&mut queue, 3), [1, 2, 1]);
    give(&mut queue, 3);
    // the third flow's queue is new, then old; only now the first one's turn ends, and it goes behind the
    // third one
    assert_eq!(sent(&mut queue, 4), [3, 2, 3, 1]);
}

#[test]
fn an_overflow_takes_half_of_the_longest_queue_from_its_head_but_at_most_a_batch() {
    let mut queue = fq_codel(400, &[]).queue;
    let mut tally = crate::source::Tally::default();
    (0..100).for_each(|seq| queue.arrive(Time::ZERO, data(1, seq, PACKET), &mut tally));
    (0..300).for_each(|seq| queue.arrive(Time::ZERO, data(2, seq, PACKET), &mut tally));
    assert!(tally.dropped.is_empty());
    queue.arrive(Time::ZERO, data(1, 100, PACKET), &mut tally);
    // the longest has 300 packets: a batch of 64 of it
    let dropped: Vec<_> = tally.dropped.iter().map(|(_, p, why)| (p.flow, p.seq, *why)).collect();
    assert_eq!(dropped, (0..64).map(|seq| (FlowId(2), seq, DropReason::Full)).collect::<Vec<_>>());
    assert_eq!(queue.packets(), 337);
    // a short one is halved
    let mut queue = fq_codel(10, &[]).queue;
    let mut tally = crate::source::Tally::default();
    (0..11).for_each(|seq| queue.arrive(Time::ZERO, data(3, seq, PACKET), &mut tally));
    assert_eq!((tally.dropped.len(), queue.packets()), (6, 5));
}

#[test]
fn each_flow_leaves_in_order_and_alone_in_its_turn() {
    let mut queue = fq_codel(1000, &[]).queue;
    let mut tally = crate::source::Tally::default();
    for seq in 0..30 {
        (0..3).for_each(|flow| queue.arrive(Time::ZERO, data(flow, seq, 500), &mut tally));
    }
    let order: Vec<u32> =
        (0..18).filter_map(|_| queue.next(s(0.001), &mut tally)).map(|p| p.flow.0).collect();
    // a quantum of 1514 bytes sends four of 500: credit is left after three, and is overdrawn by the fourth
    assert_eq!(order[..12], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    // then 1514 - 486 bytes are three packets
    assert_eq!(order[12..], [0, 0, 0, 1, 1, 1]);
}

#[test]
fn the_salt_spreads_flows_over_the_queues() {
    // 200 flows in 1024 queues: about 200^2 / 2 / 1024 = 19.5 pairs share one
    let mut queue = fq_codel(100_000, &[]).queue;
    let mut tally = crate::source::Tally::default();
    for flow in 0..200 {
        (0..2).for_each(|seq| queue.arrive(Time::ZERO, data(flow, seq, 1514), &mut tally));
    }
    // the first turn takes a quantum, one packet, of each queue
    let mut first = BTreeSet::new();
    let mut taken = 0;
    while let Some(p) = queue.next(s(0.001), &mut tally) {
        taken += 1;
        if !first.insert(p.flow) {
            break;
        }
    }
    let queues = taken - 1;
    assert!((165..200).contains(&queues), "{queues} queues for 200 flows");
}

#[test]
fn one_queue_alone_is_codel() {
    let codel = || {
        let given = parameters("codel", &[]);
        let mut bench = Bench::new(longfat_net::queue::CoDel::<SimPacket>::build(setup(10_000), &given));
        bench.run(poisson(1.2, 20, (0.0, 20.0)), |_, _| {});
        bench.tally.sent.iter().map(|(at, p)| (*at, p.seq)).collect::<Vec<_>>()
    };
    let mut bench = fq_codel(10_000, &[("flows", &1.0)]);
    bench.run(poisson(1.2, 20, (0.0, 20.0)), |_, _| {});
    let sent: Vec<_> = bench.tally.sent.iter().map(|(at, p)| (*at, p.seq)).collect();
    assert!(bench.tally.drops(DropReason::Delay) > 100);
    assert!(sent == codel());
}
