use crate::source::{Bench, Given, PACKET, data, parameters, poisson, s, setup};
use longfat_net::DropReason;
use longfat_net::queue::Sred;
use longfat_units::{Stream, Time};
use longfat_wire::SimPacket;

fn sred(packets: u64, given: &[(&str, &dyn Given)]) -> Bench<Sred<SimPacket>> {
    Bench::new(Sred::build(setup(packets), &parameters("sred", given)))
}

#[test]
fn it_counts_flows_of_equal_rate_to_within_a_tenth() {
    for (variant, flows) in [10, 30, 100, 300, 500]
        .map(|flows| ("simple", flows))
        .into_iter()
        .chain([("full", 10), ("full", 500)])
    {
        let mut bench = sred(1000, &[("variant", &variant)]);
        bench.run(poisson(0.9, flows, (0.0, 40.0)), |_, _| {});
        let (mut sum, mut count) = (0.0, 0.0);
        bench.run(poisson(0.9, flows, (40.0, 340.0)), |_, queue| {
            sum += queue.hit_probability();
            count += 1.0;
        });
        let estimate = count / sum;
        let off = estimate / f64::from(flows) - 1.0;
        assert!(off.abs() < 0.1, "{variant}: {estimate:.1} of {flows} flows");
    }
}

#[test]
fn what_it_counts_are_the_flows_of_its_list_s_memory_not_those_of_a_longer_time() {
    // two flows that take turns of 40 000 packets, ten times as long as the list of 1000 remembers at r =
    // 1/4, are one flow nearly always: a turn sees the other flow for its first tenth; turns of 40 packets
    // are two flows
    let counted = |turn: u64| {
        let mut bench = sred(1000, &[]);
        let mut sum = 0.0;
        for i in 0..400_000_u64 {
            bench.arrive(s(0.001_2 * i as f64), data((i / turn % 2) as u32, 0, PACKET));
            sum += if i >= 80_000 { bench.queue.hit_probability() } else { 0.0 };
        }
        320_000.0 / sum
    };
    let (long, short) = (counted(40_000), counted(40));
    assert!((long - 1.0 / 0.9).abs() < 0.03, "{long}");
    assert!((short - 2.0).abs() < 0.1, "{short}");
}

#[test]
fn of_unequal_flows_it_counts_the_effective_number() {
    // Ott et al., proposition 1: 1 over the sum of the squared shares. One of ten flows sends half of all
    // packets: 1 / (1/4 + 9 / 18^2) = 3.6
    let mut draws = Stream::new(11, "unequal");
    let mut bench = sred(1000, &[]);
    let mut sum = 0.0;
    for i in 0..200_000 {
        let flow = if draws.unit() < 0.5 { 0 } else { 1 + draws.below(9) as u32 };
        bench.arrive(s(0.001_2 * f64::from(i)), data(flow, 0, PACKET));
        sum += if i >= 50_000 { bench.queue.hit_probability() } else { 0.0 };
    }
    let estimate = 150_000.0 / sum;
    assert!((estimate / 3.6 - 1.0).abs() < 0.05, "{estimate}");
}

#[test]
fn a_queue_of_many_flows_drops_at_the_step_that_its_length_has() {
    // thousands of flows: no hits, so p_zap = p_sred: 0, 0.15 / 4 and 0.15 below 1/6, below 1/3 and above it
    let dropped_at = |filled: u64| {
        let mut bench = sred(600, &[]);
        let mut out = 0;
        for round in 0..20_000_u64 {
            // a queue held at this length: whatever comes beyond it leaves at once
            while bench.queue_len() < filled {
                bench.push(data(1_000_000 + round as u32, round, PACKET));
            }
            let before = bench.tally.dropped.len();
            bench.push(data(round as u32, round, PACKET));
            out += bench.tally.dropped.len() - before;
            bench.trim(filled);
        }
        out as f64 / 20_000.0
    };
    for (filled, p) in [(50, 0.0), (150, 0.0375), (250, 0.15)] {
        let found = dropped_at(filled);
        assert!((found - p).abs() < 0.008, "{filled} of 600 packets: {found:.4} dropped, printed {p}");
    }
}

impl Bench<Sred<SimPacket>> {
    fn queue_len(&self) -> u64 {
        longfat_net::Element::<SimPacket>::packets(&self.queue)
    }
    fn push(&mut self, packet: SimPacket) {
        longfat_net::Element::arrive(&mut self.queue, Time::ZERO, packet, &mut self.tally);
    }
    fn trim(&mut self, packets: u64) {
        while self.queue_len() > packets {
            longfat_net::Element::next(&mut self.queue, Time::ZERO, &mut self.tally);
        }
    }
}

#[test]
fn with_few_flows_the_drop_probability_falls_with_the_square_of_their_number() {
    // 16 and 64 flows: p_max (16 / 256)^2 = 0.000 586 and p_max (64 / 256)^2 = 0.009 375 at a full queue's
    // step
    for (flows, p) in [(16, 0.000_586), (64, 0.009_375)] {
        let mut bench = sred(300, &[]);
        bench.run(poisson(1.5, flows, (0.0, 20.0)), |_, _| {});
        bench.forget();
        bench.run(poisson(1.5, flows, (20.0, 420.0)), |_, _| {});
        // drawn drops, of the packets that found room
        let drawn = bench.tally.drops(DropReason::Early) as f64;
        let found = drawn / (drawn + bench.tally.sent.len() as f64);
        assert!((found / p - 1.0).abs() < 0.15, "{flows} flows: {found:.6}, printed {p}");
    }
}

#[test]
fn full_sred_takes_more_from_a_flow_that_sends_more_than_its_share() {
    // one of 401 sends a twentieth of all packets, 21 times as much as any other
    let share = |variant: &str| {
        let mut draws = Stream::new(17, "fast");
        let mut bench = sred(300, &[("variant", &variant)]);
        let arrivals = poisson(1.05, 400, (0.0, 300.0)).map(|(at, mut p)| {
            p.flow = longfat_wire::FlowId(if draws.unit() < 0.05 { 400 } else { p.flow.0 });
            (at, p)
        });
        bench.run(arrivals, |_, _| {});
        assert!(bench.tally.drops(DropReason::Early) > 10_000);
        bench.tally.dropped_of(400) as f64 / bench.tally.dropped.len() as f64
    };
    let (simple, full) = (share("simple"), share("full"));
    assert!((simple - 0.05).abs() < 0.005, "{simple}");
    // a hit is dropped for certain (p_zap (1 + 1 / P) is above 1): a twentieth of the fast flow's packets,
    // beside what all flows lose, 0.0476 less 1 / 420
    assert!(
        (full / 0.05 - (0.05 + 0.0453) / 0.0476).abs() < 0.2,
        "simple {simple:.3}, full {full:.3} of the drops hit the fast flow"
    );
}
