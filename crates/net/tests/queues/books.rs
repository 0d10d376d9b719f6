//! What holds for every discipline: no packet appears or vanishes, flows stay in order, the limit holds, only
//! packets that can be marked are marked, and the same seed gives the same run.

use crate::source::{Bench, Made, PACKET, capable, data, s, setup};
use longfat_net::Element;
use longfat_net::queue::{Discipline, Limit, disciplines};
use longfat_units::parameters::{Kind, Value};
use longfat_units::{Interval, Stream};
use longfat_wire::{Ecn, Packet};
use std::collections::BTreeMap;

/// Every row with its defaults, and with every other word of its choices.
fn variants() -> Vec<(&'static Discipline, Vec<(String, Value)>)> {
    let mut all = Vec::new();
    for row in disciplines() {
        all.push((row, vec![]));
        for p in row.parameters {
            if let Kind::Choice(words) = p.kind {
                let given = |w: &&'static str| vec![(p.name.to_owned(), Value::Word((*w).to_owned()))];
                all.extend(words[1..].iter().map(|w| (row, given(w))));
            }
        }
    }
    all
}

fn run(row: &Discipline, given: &[(String, Value)], limit: Limit) -> Bench<Made> {
    let mut setup = setup(1);
    setup.limit = limit;
    let mut bench = Bench::new(Made(row.instance(setup, given).unwrap()));
    let mut draws = Stream::new(13, "books");
    let mut at_s = 0.0;
    let mut next = [0; 8];
    for i in 0..60_000_u32 {
        // overload, silence and light load in turn
        let load = [1.6, 0.05, 0.8, 1.1][(i / 5000) as usize % 4];
        at_s += draws.exponential(0.001 / load);
        let flow = draws.below(8) as usize;
        let bytes = [60, 576, PACKET][draws.below(3) as usize];
        let packet = data(flow as u32, next[flow], bytes);
        next[flow] += 1;
        // flows 0 and 1 of L4S, 2 and 3 of RFC 3168
        let mut packet = if flow < 4 { capable(packet) } else { packet };
        if flow < 2 {
            packet.set_ecn(Ecn::Ect1);
        }
        bench.arrive(s(at_s), packet);
        let within = match limit {
            Limit::Packets(most) => bench.queue.packets() <= most,
            Limit::Bytes(most) => bench.queue.bytes() <= most,
        };
        assert!(within, "{}: {} packets, {} bytes", row.name, bench.queue.packets(), bench.queue.bytes());
    }
    bench
}

#[test]
fn nothing_vanishes_flows_stay_in_order_and_only_capable_packets_are_marked() {
    for (row, given) in variants() {
        for limit in [Limit::Packets(100), Limit::Bytes(60_000), Limit::Packets(1)] {
            let bench = run(row, &given, limit);
            let context = format!("{} {given:?} {limit:?}", row.name);
            let tally = &bench.tally;
            let gone = tally.sent.len() + tally.dropped.len();
            assert_eq!(gone as u64 + bench.queue.packets(), 60_000, "{context}");
            assert_eq!(tally.waits.len(), tally.sent.len(), "{context}: every wait is told");
            let mut last: BTreeMap<_, u64> = BTreeMap::new();
            for (_, p) in &tally.sent {
                let before = last.insert(p.flow, p.seq);
                assert!(before.is_none_or(|seq| seq < p.seq), "{context}: {:?} out of order", p.flow);
                assert!(p.ecn != Ecn::Marked || p.flow.0 < 4, "{context}: a packet that cannot be marked");
            }
            let sent_marked = tally.sent.iter().filter(|(_, p)| p.ecn == Ecn::Marked).count() as u64;
            assert!(sent_marked <= tally.marks(), "{context}");
            assert!(row.ecn || tally.marks() == 0, "{context}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_and_a_discipline_that_draws_another_with_another_seed() {
    for row in disciplines() {
        let sent = |seed: u64| {
            let mut setup = setup(100);
            setup.stream = Stream::new(seed, "queue");
            let mut bench = Bench::new(Made(row.instance(setup, &[]).unwrap()));
            bench.run(crate::source::poisson(1.2, 40, (0.0, 20.0)), |_, _| {});
            bench.tally.sent.iter().map(|(_, p)| p.seq).collect::<Vec<_>>()
        };
        assert!(sent(1) == sent(1), "{}", row.name);
        assert_eq!(sent(1) != sent(2), row.random, "{}", row.name);
    }
}

#[test]
fn waits_are_from_arrival_to_the_beginning_of_transmission() {
    for row in disciplines() {
        let mut bench = Bench::new(Made(row.instance(setup(100), &[]).unwrap()));
        // three packets at once before a link of a packet a millisecond
        (0..3).for_each(|seq| bench.arrive(s(1.0), data(0, seq, PACKET)));
        bench.run_to(s(2.0));
        let ms = |n| Interval::from_millis(n);
        assert_eq!(bench.tally.waits, [ms(0), ms(1), ms(2)], "{}", row.name);
    }
}
