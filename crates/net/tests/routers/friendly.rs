//! XCP-TCP friendliness: the thesis's numbers, the law of the drop probability, and when and on which packets
//! it acts.

use crate::driver::{World, bits_sent, data, ignore};
use crate::setup::{Tally, carrying, setup};
use longfat_net::router::friendly::{Friendly, Probability, ROW, target_bps};
use longfat_net::router::{Setup, find};
use longfat_net::{DropReason, Element};
use longfat_units::parameters::Value;
use longfat_units::{Interval, Stream, Time};
use longfat_wire::{Explicit, Kind, Load, Packet, SimPacket};
use proptest::prelude::*;

const RATE_BPS: f64 = 10e6;
/// The rate of packets of 1000 bytes that fill the link.
const GAP_NS: u64 = 800_000;

fn given(numbers: &[(&str, f64)], words: &[(&str, &str)]) -> Vec<(String, Value)> {
    let numbers = numbers.iter().map(|(n, x)| ((*n).to_owned(), Value::Number(*x)));
    numbers.chain(words.iter().map(|(n, w)| ((*n).to_owned(), Value::Word((*w).to_owned())))).collect()
}

fn friendly(numbers: &[(&str, f64)], words: &[(&str, &str)]) -> Friendly<SimPacket> {
    let p = ROW.checked(&given(numbers, words)).unwrap();
    Friendly::build(setup(RATE_BPS, 1 << 20), &p)
}

/// Packets of 1000 bytes from 0 to `until_s`: every millisecond as many of the explicit flow 0 and of the
/// other flow 1 as these rates say. The router's queue does not build: the link takes all at once.
fn feed(router: &mut Friendly<SimPacket>, rates_bps: (f64, f64), until_s: f64) -> Tally {
    feed_from(router, rates_bps, (0.0, until_s))
}

/// The same between two times.
fn feed_from(
    router: &mut Friendly<SimPacket>,
    (explicit_bps, other_bps): (f64, f64),
    (from_s, until_s): (f64, f64),
) -> Tally {
    let mut tally = Tally::default();
    let (mut explicit, mut other) = (0.0, 0.0);
    for ms in (1e3 * from_s) as u64..(1e3 * until_s) as u64 {
        let now = Time::ZERO + Interval::from_millis(ms);
        tally.run_to(router, now);
        explicit += explicit_bps / 8e6;
        other += other_bps / 8e6;
        while explicit >= 1.0 {
            router.arrive(now, carrying(0, 1000, 50_000.0, 0.05), &mut tally);
            explicit -= 1.0;
        }
        while other >= 1.0 {
            router.arrive(now, data(1, ms, 1000), &mut tally);
            other -= 1.0;
        }
        while router.next(now, &mut tally).is_some() {}
    }
    tally
}

#[test]
fn targets_are_those_that_the_thesis_prints() {
    // chapter 6: a link of 1024 Mbit/s, Mbit/s for the explicit flows
    for (explicit, others, printed) in [
        (1.0, 2.0, 341.33),
        (3.0, 10.0, 236.30),
        (10.0, 3.0, 787.70),
        (1.0, 10.0, 93.09),
        (10.0, 2.0, 853.34),
    ] {
        let target = target_bps(1024e6, explicit, others) / 1e6;
        assert!((target - printed).abs() < 0.01, "{explicit} and {others}: {target}");
    }
}

#[test]
fn the_probability_grows_and_falls_by_a_ten_thousandth_and_is_none_below_its_threshold() {
    let p = ROW.checked(&[]).unwrap();
    let after = |updates: usize, excess_bps: f64| {
        let mut probability = Probability::new(&p);
        (0..updates).for_each(|_| probability.update(excess_bps));
        probability.now
    };
    assert_eq!(after(0, 0.0), 0.001);
    assert_eq!(after(100, 0.0), 0.001, "as it was where the explicit flows have just enough");
    // 1.0001^10000 = 2.718146 and 0.9999^10000 = 0.367861
    assert!((after(10_000, -1.0) - 0.002_718_146).abs() < 1e-9);
    assert!((after(10_000, 1.0) - 0.000_367_861).abs() < 1e-9);
    // ln 10 / 0.0001 = 23 026 updates to a tenth
    assert!(after(23_000, 1.0) > 0.0001 && after(23_050, 1.0) == 0.0);
    assert_eq!(after(100_000, -1.0), 1.0);
    let mut probability = Probability::new(&p);
    (0..30_000).for_each(|_| probability.update(1.0));
    probability.update(-1.0);
    assert_eq!(probability.now, 0.001, "from none it begins anew");
}

#[test]
fn it_moves_once_a_control_interval_or_with_each_of_the_others_packets() {
    // one flow of each kind, so the target is half of the link, of which the explicit one has a tenth: p
    // grows. The header's round-trip time makes intervals of 50 ms, 20 of which end in the second; of the
    // others' 1126 packets up to then 56 come in the first, the 1070 others while the mechanism acts.
    let words = |update| [("counter", "exact"), ("update", update)];
    let mut each_interval = friendly(&[("increase", 1.01)], &words("interval"));
    feed(&mut each_interval, (1e6, 9e6), 1.0015);
    let p = each_interval.drop_probability();
    assert!((p / (0.001 * 1.220_19) - 1.0).abs() < 1e-4, "1.01^20 = 1.22019: {p}");
    let mut each_packet = friendly(&[], &words("packet"));
    feed(&mut each_packet, (1e6, 9e6), 1.0015);
    let p = each_packet.drop_probability();
    assert!((p / (0.001 * 1.112_93) - 1.0).abs() < 1e-4, "1.0001^1070 = 1.11293: {p}");
}

#[test]
fn an_elastic_probability_takes_back_what_accelerating_traffic_has_gained_and_is_the_printed_one_otherwise() {
    for update in ["interval", "packet"] {
        let after = |p_drop: &str, later_bps: f64| {
            let mut router = friendly(&[], &[("counter", "exact"), ("update", update), ("p_drop", p_drop)]);
            feed_from(&mut router, (1e6, 9e6), (0.0, 4.0));
            let before = router.drop_probability();
            feed_from(&mut router, (1e6, later_bps), (4.0, 12.0));
            router.drop_probability() / before
        };
        let (steady, printed) = (after("elastic", 9e6), after("printed", 9e6));
        assert!((steady / printed - 1.0).abs() < 0.02, "{update}: {steady} {printed}");
        // a third more traffic: (4 / 3)^2 = 1.78 times the probability
        let (gained, printed) = (after("elastic", 12e6), after("printed", 12e6));
        let more = gained / printed;
        assert!((1.5..1.85).contains(&more), "{update}: {gained} {printed}");
    }
}

#[test]
fn others_that_leave_the_explicit_flows_their_share_are_not_dropped_in_the_end() {
    let mut router = friendly(&[("start", 0.1), ("decrease", 0.9)], &[("counter", "exact")]);
    let tally = feed(&mut router, (8e6, 2e6), 10.0);
    assert_eq!(router.drop_probability(), 0.0);
    // 0.1, 0.09, ... over intervals of 12.5 packets: 12.5 in all
    assert!((2..30).contains(&tally.dropped.len()), "{}", tally.dropped.len());
}

/// Shares of the others' packets that are dropped in 20 s while the probability stays at a tenth.
fn dropped_share(explicit_bps: f64, other_bps: f64) -> f64 {
    let mut router =
        friendly(&[("start", 0.1), ("increase", 1.0), ("decrease", 1.0)], &[("counter", "exact")]);
    let tally = feed(&mut router, (explicit_bps, other_bps), 20.0);
    tally.dropped.len() as f64 / (20.0 * other_bps / 8e3)
}

#[test]
fn it_acts_where_both_kinds_fill_the_link_and_rests_elsewhere() {
    let share = dropped_share(2e6, 7.8e6);
    assert!((share - 0.1).abs() < 0.006, "98 % of the link by both: {share}");
    assert_eq!(dropped_share(2e6, 7.6e6), 0.0, "96 % of the link");
    assert_eq!(dropped_share(0.0, 12e6), 0.0, "nobody to protect");
    let mut alone = friendly(&[("start", 1.0)], &[]);
    assert_eq!(feed(&mut alone, (12e6, 0.0), 2.0).dropped.len(), 0, "nobody to protect from");
}

#[test]
fn the_probability_begins_anew_when_the_load_is_gone() {
    let mut router = friendly(&[("increase", 1.1)], &[("counter", "exact")]);
    feed(&mut router, (1e6, 11e6), 2.0);
    assert!(router.drop_probability() > 0.02);
    // the feed's clock begins at 0 again, which the router does not mind: its interval has ended long since
    let mut tally = Tally::default();
    let mut at = |ms: u64, packet: SimPacket| {
        let now = Time::ZERO + Interval::from_millis(ms);
        tally.run_to(&mut router, now);
        router.arrive(now, packet, &mut tally);
        router.next(now, &mut tally);
    };
    (2000..2200).for_each(|ms| {
        at(ms, carrying(0, 100, 50_000.0, 0.05));
        at(ms, data(1, ms, 100));
    });
    // both kinds at 1.6 Mbit/s: it rests; then the link is full again for one interval
    (2200..2252).for_each(|ms| {
        at(ms, carrying(0, 100, 50_000.0, 0.05));
        (0..2).for_each(|_| at(ms, data(1, ms, 1000)));
    });
    let p = router.drop_probability();
    assert!(p > 0.0 && p < 0.0013, "{p}");
}

#[test]
fn around_another_protocol_s_law_it_protects_that_one_s_flows() {
    let vcp = |seq: u64| {
        let mut packet = carrying(0, 1000, 50_000.0, 0.05);
        packet.seq = seq;
        packet.explicit_mut().map(|header| *header = Explicit::Vcp(Load::default())).expect("a header");
        packet
    };
    let mut router =
        friendly(&[("start", 0.1), ("increase", 1.0)], &[("counter", "exact"), ("protocol", "vcp")]);
    let mut tally = Tally::default();
    let mut told = 0;
    for i in 0..10_000_u64 {
        let now = Time::ZERO + Interval::from_ns(GAP_NS * i * 5 / 6);
        tally.run_to(&mut router, now);
        // a tenth VCP's, a tenth XCP's, which it does not guide
        let packet = match i % 10 {
            0 => vcp(i),
            1 => carrying(1, 1000, 50_000.0, 0.05),
            _ => data(2, i, 1000),
        };
        router.arrive(now, packet, &mut tally);
        if let Some(Explicit::Vcp(load)) = router.next(now, &mut tally).and_then(|p| p.explicit().copied()) {
            told += u32::from(load != Load::default());
        }
    }
    let of = |flow: u32| tally.dropped.iter().filter(|(p, _)| p.flow.0 == flow).count();
    assert_eq!(of(0), 0);
    // a tenth of each of the others, but for the first interval of 200 ms
    assert!((60..140).contains(&of(1)) && (680..880).contains(&of(2)), "{} and {}", of(1), of(2));
    assert!(told > 900, "a link with a load of 1.2 is overloaded: {told} packets say so");
}

#[test]
fn explicit_flows_alone_are_told_what_their_own_router_would_tell_them() {
    let crossing = |name: &str| {
        let router = find(name).unwrap().instance(setup(RATE_BPS, 1 << 20), &[]).unwrap();
        let mut world = World::new();
        world.add_link(RATE_BPS, vec![router as Box<dyn Element<SimPacket>>]);
        for i in 0..3000_u64 {
            let packet = carrying((i % 3) as u32, 1000, 20_000.0 * (1 + i % 3) as f64, 0.06);
            world.send(Time::from_ns(GAP_NS * i * 9 / 10 + i % 7), 0, packet);
        }
        world.run(Time::from_secs_f64(5.0), &mut ignore);
        world.assert_conserves();
        let told = |p: &SimPacket| match p.explicit() {
            Some(Explicit::Xcp(header)) => header.feedback_bytes,
            _ => panic!("the header is gone"),
        };
        world.sent().map(|(at, p)| (at, told(p))).collect::<Vec<_>>()
    };
    let own = crossing("xcp");
    assert!(own.len() == 3000 && own.iter().any(|(_, f)| *f > 0.0));
    assert!(own == crossing("friendly"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_but_other_flows_data_is_dropped_by_it_and_nothing_is_lost(
        seed in any::<u64>(), start in 0.05..1.0_f64, counter in 0..3_usize, inspect in 0.1..1.0_f64,
        packet in any::<bool>(),
    ) {
        let words = [
            ("counter", ["zombie", "exact", "bloom"][counter]),
            ("update", if packet { "packet" } else { "interval" }),
        ];
        let given = given(&[("start", start), ("inspect", inspect)], &words);
        let setup = Setup { stream: Stream::new(seed, "router"), ..setup(RATE_BPS, 1 << 20) };
        let router = find("friendly").unwrap().instance(setup, &given).unwrap();
        let mut world = World::new();
        world.add_link(RATE_BPS, vec![router as Box<dyn Element<SimPacket>>]);
        let mut draws = Stream::new(seed, "traffic");
        for i in 0..8000_u64 {
            let mut packet = match draws.below(3) {
                0 => carrying(draws.below(3) as u32, 1000, 50_000.0, 0.05),
                _ => data(10 + draws.below(4) as u32, i, 1000),
            };
            packet.kind = [Kind::Data, Kind::Data, Kind::Data, Kind::Ack, Kind::Syn, Kind::SynAck][draws.below(6) as usize];
            world.send(Time::from_ns(GAP_NS * i * 3 / 4), 0, packet);
        }
        world.run(Time::from_secs_f64(8.0), &mut ignore);
        world.assert_conserves();
        let dropped: Vec<_> = world.dropped().collect();
        // a zombie list may not be full before the end
        prop_assert!(!dropped.is_empty() || counter == 0);
        for (_, packet, reason) in dropped {
            prop_assert!(reason == DropReason::Early && packet.kind == Kind::Data && packet.explicit().is_none());
        }
        prop_assert!(bits_sent(&world, 0) > 0.0);
    }
}
