//! JetMax's router: numbers worked by hand from equations 2.38 to 2.40 of Lopez Pacheco's thesis, which
//! router's values a packet carries, and that the rates of its followers add up to what is available.

use crate::driver::{World, data};
use longfat_net::queue::{DropTail, Limit};
use longfat_net::router::jetmax::Sums;
use longfat_net::router::{JetMax as Router, Law, Setup, Stretch, find};
use longfat_net::{Address, Capacity, Element};
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{Explicit, Extra, JetMax, Kind, Packet, SimPacket};
use proptest::prelude::*;
use std::collections::VecDeque;

const GAMMA: f64 = 0.95;
const INTERVAL_S: f64 = 0.05;

fn capacity(bps: f64) -> Capacity {
    Capacity::Constant(Rate::from_bps(bps).unwrap())
}

fn law() -> Router {
    Router::build(&find("jetmax").unwrap().checked(&[]).unwrap())
}

/// The header of a sender that follows router `bottleneck` and knows no overload or rate.
fn header(bottleneck: u8, gap_s: f64) -> JetMax {
    JetMax {
        bottleneck,
        hops: 0,
        suggested: bottleneck,
        loss: 0.0,
        fair_bps: f64::INFINITY,
        gap_s,
        next_gap_s: 0.0,
    }
}

fn carrying(flow: u32, bytes: u32, header: JetMax) -> SimPacket {
    let mut packet = data(flow, 0, bytes);
    packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::JetMax(header)), ..Extra::default() }));
    packet
}

fn read(packet: &SimPacket) -> JetMax {
    let Some(Explicit::JetMax(header)) = packet.explicit() else { panic!("no header") };
    *header
}

fn at(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// Packets arrive at these times over a stretch of this capacity, from 0 until `until_s`; the router's answer
/// to a packet that then carries `asked`.
fn answer(law: &mut Router, bps: f64, packets: &[(f64, SimPacket)], until_s: f64, asked: JetMax) -> JetMax {
    let capacity = capacity(bps);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    for (at_s, packet) in packets {
        while Law::<SimPacket>::wake(law) <= at(*at_s) {
            Law::<SimPacket>::timer(law, Law::<SimPacket>::wake(law), &stretch);
        }
        law.arrive(at(*at_s), &mut packet.clone(), &stretch);
    }
    while Law::<SimPacket>::wake(law) <= at(until_s) {
        Law::<SimPacket>::timer(law, Law::<SimPacket>::wake(law), &stretch);
    }
    let mut packet = carrying(99, 1000, asked);
    law.leave(at(until_s), &mut packet, &stretch);
    read(&packet)
}

/// Packets of `bytes` of one flow, a gap apart, until `until_s`; they follow router `bottleneck`.
fn paced(flow: u32, bytes: u32, bottleneck: u8, gap_s: f64, until_s: f64) -> Vec<(f64, SimPacket)> {
    let packets = (0..).map(|i| 1e-4 * f64::from(flow) + gap_s * f64::from(i)).take_while(|&t| t < until_s);
    packets.map(|t| (t, carrying(flow, bytes, header(bottleneck, gap_s)))).collect()
}

fn in_order(mut packets: Vec<(f64, SimPacket)>) -> Vec<(f64, SimPacket)> {
    packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    packets
}

#[test]
fn a_router_gives_each_member_an_even_part_of_what_others_leave_of_its_target() {
    // 10 Mbit/s, 95 % of it: 9.5 Mbit/s. In 0.1 s 25 000 bytes of others, 2 Mbit/s, and gaps that sum to 0.3
    // s: three flows. (9.5 - 2) / 3 = 2.5 Mbit/s
    let sums = Sums { bytes: 100_000.0, unresponsive: 25_000.0, gaps_s: 0.3 };
    let verdict = sums.verdict(0.95, 0.1, 10e6);
    assert!((verdict.fair_bps - 2.5e6).abs() < 1e-3 && verdict.loss == 0.0, "{verdict:?}");
}

#[test]
fn overload_is_what_came_above_the_target_as_a_share_of_what_came() {
    // 125 000 bytes in 0.1 s are 10 Mbit/s on a link of 8 whose target is 7.5: a quarter is too much
    let sums = Sums { bytes: 125_000.0, unresponsive: 0.0, gaps_s: 0.1 };
    assert!((sums.verdict(0.9375, 0.1, 8e6).loss - 0.25).abs() < 1e-12);
    // at the target, give or take packets, there is none
    for bytes in [92_000.0, 93_750.0, 95_500.0] {
        assert_eq!(Sums { bytes, ..sums }.verdict(0.9375, 0.1, 8e6).loss, 0.0, "{bytes}");
    }
}

#[test]
fn traffic_that_does_not_listen_may_leave_nothing_but_never_less() {
    let sums = Sums { bytes: 150_000.0, unresponsive: 140_000.0, gaps_s: 0.2 };
    assert_eq!(sums.verdict(0.95, 0.1, 10e6).fair_bps, 0.0);
}

#[test]
fn flows_are_counted_one_by_one_whatever_their_rates() {
    // gaps of 0.7 ms to 40 ms: the slowest has one or two packets in an interval
    let gaps_s = [0.0007, 0.003, 0.011, 0.04];
    let flows = gaps_s.iter().zip(0..).flat_map(|(&gap_s, i)| paced(i, 1000, 1, gap_s, 1.0));
    let told = answer(&mut law(), 100e6, &in_order(flows.collect()), 1.0, header(1, 0.01));
    // all follow: 95 Mbit/s over four
    assert!((told.fair_bps / (95e6 / 4.0) - 1.0).abs() < 1e-3, "{told:?}");
}

#[test]
fn whoever_follows_another_router_counts_as_traffic_and_whoever_follows_none_as_a_member() {
    // 1250 bytes each 1 ms are 10 Mbit/s
    let one = |bottleneck| {
        answer(
            &mut law(),
            100e6,
            &in_order([paced(0, 1250, 1, 0.001, 1.0), paced(1, 1250, bottleneck, 0.001, 1.0)].concat()),
            1.0,
            header(1, 0.01),
        )
    };
    for (bottleneck, fair_bps) in [(2, 85e6), (0, 47.5e6), (1, 47.5e6)] {
        let told = one(bottleneck).fair_bps;
        assert!((told / fair_bps - 1.0).abs() < 0.01, "{bottleneck}: {told}");
    }
}

#[test]
fn a_router_says_nothing_before_it_has_counted_for_an_interval() {
    let told = answer(&mut law(), 1e7, &paced(0, 1000, 0, 0.001, 0.02), 0.02, header(0, 0.001));
    assert_eq!((told.hops, told.suggested, told.fair_bps), (1, 0, f64::INFINITY));
}

#[test]
fn a_packet_learns_of_the_router_with_the_least_rate_and_the_bottleneck_renews_its_word() {
    // 1 Mbit/s of traffic: the router has 9.5 - 1 = 8.5 Mbit/s for its one follower
    let traffic = || (0..1000).map(|i| (1e-3 * f64::from(i), data(5, 0, 125))).collect::<Vec<_>>();
    let ask = |asked| answer(&mut law(), 1e7, &traffic(), 1.0, asked);
    let second = |suggested, fair_bps| JetMax { hops: 1, suggested, fair_bps, ..header(suggested, 0.01) };
    for (asked, suggested, fair_bps) in [
        (second(1, 9e6), 2, 8.5e6), // a router before it had more
        (second(1, 8e6), 1, 8e6),   // or less
        (second(2, 3e6), 2, 8.5e6), // its own word from a round trip ago
        (second(0, f64::INFINITY), 2, 8.5e6),
    ] {
        let told = ask(asked);
        assert_eq!((told.hops, told.suggested, told.bottleneck), (2, suggested, asked.bottleneck));
        assert!((told.fair_bps / fair_bps - 1.0).abs() < 0.01, "{told:?}");
    }
}

#[test]
fn an_overloaded_router_comes_before_one_with_a_lesser_rate() {
    // 1250 bytes each 0.5 ms are 20 Mbit/s on 10: 10.5 of them too much, and no rate is left for others
    let traffic: Vec<_> = (0..2000).map(|i| (5e-4 * f64::from(i), data(5, 0, 1250))).collect();
    let before = JetMax { hops: 1, suggested: 1, fair_bps: -1.0, ..header(1, 0.01) };
    for (loss, suggested) in [(0.0, 2), (0.5, 2), (0.6, 1)] {
        let told = answer(&mut law(), 1e7, &traffic, 1.0, JetMax { loss, ..before });
        assert_eq!(told.suggested, suggested, "{loss}");
    }
    // and the other way round: an idle router does not hide that overload
    let told = answer(
        &mut law(),
        1e9,
        &paced(0, 1000, 1, 0.01, 1.0),
        1.0,
        JetMax { loss: 0.1, fair_bps: 1e12, ..before },
    );
    assert_eq!((told.suggested, told.loss), (1, 0.1));
}

#[test]
fn acknowledgements_and_other_packets_pass_unchanged() {
    let capacity = capacity(1e7);
    let stretch = Stretch { capacity: &capacity, share: 1.0, queue_bytes: 0 };
    let mut law = law();
    answer(&mut law, 1e7, &paced(0, 1000, 1, 0.001, 0.2), 0.2, header(1, 0.01));
    let mut echo = carrying(0, 72, header(1, 0.01));
    echo.kind = Kind::Ack;
    for packet in [echo, data(1, 7, 1000)] {
        let mut crossing = packet.clone();
        law.leave(at(0.2), &mut crossing, &stretch);
        assert_eq!(crossing, packet);
    }
}

#[test]
fn a_share_of_a_link_is_shared_out_as_a_link_of_that_size() {
    let (capacity, mut law) = (capacity(1e8), law());
    let stretch = Stretch { capacity: &capacity, share: 0.25, queue_bytes: 0 };
    for (at_s, mut packet) in paced(0, 1000, 1, 0.001, INTERVAL_S) {
        law.arrive(at(at_s), &mut packet, &stretch);
    }
    Law::<SimPacket>::timer(&mut law, at(INTERVAL_S), &stretch);
    let mut packet = carrying(0, 1000, header(1, 0.001));
    law.leave(at(INTERVAL_S), &mut packet, &stretch);
    assert!((read(&packet).fair_bps / 23.75e6 - 1.0).abs() < 1e-3);
}

/// A sender that always follows: half-way to the router's rate, once per round trip.
struct Follower {
    rate_bps: f64,
    rtt: Interval,
    bottleneck: u8,
    /// When its next packet leaves, and from when on an echo may move its rate.
    next: Time,
    from: Time,
    /// Headers on their way back, and when they arrive.
    echoes: VecDeque<(Time, JetMax)>,
}

const BITS: f64 = 12_000.0;

impl Follower {
    /// Its next packet, and when that leaves; not before `earliest`.
    fn send(&mut self, flow: u32, earliest: Time) -> (Time, usize, SimPacket) {
        let now = self.next.max(earliest);
        while let Some(&(arrived, told)) = self.echoes.front().filter(|(arrived, _)| *arrived <= now) {
            self.echoes.pop_front();
            if arrived >= self.from && told.suggested > 0 {
                self.bottleneck = told.suggested;
                if told.bottleneck == told.suggested {
                    self.rate_bps = (0.5 * (self.rate_bps + told.fair_bps)).max(BITS);
                }
                self.from = arrived + self.rtt;
            }
        }
        let gap_s = BITS / self.rate_bps;
        self.next = now + Interval::from_secs_f64(gap_s);
        (now, 0, carrying(flow, 1500, header(self.bottleneck, gap_s)))
    }
}

/// Runs followers with these first rates and round-trip times on a link. Returns their rates after `until_s`.
fn follow(bps: f64, others_bps: f64, flows: &[(f64, f64)], until_s: f64) -> Vec<f64> {
    let mut world = World::new();
    let limit = Limit::Packets(1 << 20);
    let setup = Setup {
        queue: Box::new(DropTail::new(limit)),
        limit,
        capacity: capacity(bps),
        stream: Stream::new(1, "router"),
        address: Address(0),
    };
    let router = find("jetmax").unwrap().instance(setup, &[]);
    world.add_link(bps, vec![router.unwrap() as Box<dyn Element<SimPacket>>]);
    let follower = |&(rate_bps, rtt_s): &(f64, f64)| Follower {
        rate_bps,
        rtt: Interval::from_secs_f64(rtt_s),
        bottleneck: 0,
        next: Time::ZERO,
        from: Time::ZERO,
        echoes: VecDeque::new(),
    };
    let mut followers: Vec<_> = flows.iter().map(follower).collect();
    for (follower, i) in followers.iter_mut().zip(0..) {
        let (at, link, packet) = follower.send(i, Time::ZERO);
        world.send(at, link, packet);
    }
    for i in 0..(until_s * others_bps / BITS) as u64 {
        world.send(at(i as f64 * BITS / others_bps), 0, data(1000, i, 1500));
    }
    // each packet that leaves lets the one after it go; all delay lies behind the link
    world.run(at(until_s), &mut |departure, _, packet, out| {
        if let Some(follower) = followers.get_mut(packet.flow.0 as usize) {
            follower.echoes.push_back((departure + follower.rtt, read(&packet)));
            out.push(follower.send(packet.flow.0, departure));
        }
    });
    world.assert_conserves();
    followers.iter().map(|f| f.rate_bps).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rates_that_follow_end_even_and_sum_to_the_target_less_what_others_take(
        flows in prop::collection::vec((1e5..1.5e6_f64, 0.02..0.2_f64), 1..6),
        others in 0.0..0.5_f64,
    ) {
        let bps = 20e6;
        let rates = follow(bps, others * bps, &flows, 6.0);
        let expected = (GAMMA - others) * bps / flows.len() as f64;
        for rate in &rates {
            prop_assert!((rate / expected - 1.0).abs() < 0.03, "{rates:.0?} instead of {expected:.0}");
        }
        let sum = rates.iter().sum::<f64>() + others * bps;
        prop_assert!((sum / (GAMMA * bps) - 1.0).abs() < 0.02, "{sum}");
    }

    #[test]
    fn no_verdict_gives_out_more_than_the_target(
        bytes in 0.0..1e7_f64, share in 0.0..1.0_f64, flows in 0.0..1e4_f64, span_s in 1e-3..1.0_f64, bps in 1e4..1e11_f64,
    ) {
        let sums = Sums { bytes, unresponsive: share * bytes, gaps_s: flows * span_s };
        let verdict = sums.verdict(GAMMA, span_s, bps);
        prop_assert!(verdict.fair_bps >= 0.0 && (0.0..1.0).contains(&verdict.loss));
        let given = verdict.fair_bps * flows + 8.0 * share * bytes / span_s;
        prop_assert!(given <= (GAMMA * bps).max(8.0 * share * bytes / span_s) * (1.0 + 1e-9), "{given}");
    }
}
