//! Counters of flows, as the friendliness router drives them: known numbers of flows of equal rate.

use crate::driver::data;
use crate::setup::{Tally, setup};
use longfat_net::router::find;
use longfat_units::parameters::Value;
use longfat_units::{Interval, Stream, Time};

/// This many packets arrive in one of the router's intervals of 50 ms.
const PACKETS: u64 = 10_000;

/// How many flows the router's counter finds; each packet is of any of them. Mean of 1 / estimate over 400
/// 000 packets that it is shown, after ten intervals to begin with.
fn estimate(counter: &str, inspect: f64, flows: u64) -> f64 {
    let given = [
        ("counter".to_owned(), Value::Word(counter.to_owned())),
        ("inspect".to_owned(), Value::Number(inspect)),
    ];
    let mut router = find("friendly").unwrap().instance(setup(1e9, 10), &given).unwrap();
    let (mut draws, mut tally) = (Stream::new(3, "flows"), Tally::default());
    let (mut sum, mut count) = (0.0, 0.0);
    for i in 0..10 * PACKETS + (40.0 / inspect) as u64 * PACKETS {
        let now = Time::ZERO + Interval::from_ns(5_000 * i);
        tally.run_to(router.as_mut(), now);
        router.arrive(now, data(draws.below(flows) as u32, i, 100), &mut tally);
        router.next(now, &mut tally);
        if i >= 10 * PACKETS {
            sum += 1.0 / router.flows_estimated().expect("a number of flows");
            count += 1.0;
        }
    }
    count / sum
}

#[test]
fn zombies_count_flows_of_equal_rate_to_within_a_tenth_from_all_packets_and_from_half() {
    for inspect in [1.0, 0.5] {
        for flows in [10, 30, 100, 500] {
            let found = estimate("zombie", inspect, flows);
            assert!((found / flows as f64 - 1.0).abs() < 0.1, "{found:.1} of {flows}, {inspect} inspected");
        }
    }
}

#[test]
fn a_table_is_exact_and_a_bloom_filter_less_than_a_hundredth_low() {
    for flows in [10, 100, 500] {
        assert!((estimate("exact", 1.0, flows) - flows as f64).abs() < 1e-6 * flows as f64);
        let found = estimate("bloom", 1.0, flows);
        let share = found / flows as f64;
        assert!((0.99..1.0 + 1e-6).contains(&share), "{found} of {flows}");
        // ten packets of each are seen, still
        assert!((estimate("exact", 0.5, flows) / flows as f64 - 1.0).abs() < 0.01);
    }
}

#[test]
fn flows_that_have_gone_are_forgotten_by_all_counters() {
    for (counter, packets) in [("exact", 2 * PACKETS), ("bloom", 2 * PACKETS), ("zombie", 8 * PACKETS)] {
        let given = [("counter".to_owned(), Value::Word(counter.to_owned()))];
        let mut router = find("friendly").unwrap().instance(setup(1e9, 10), &given).unwrap();
        let (mut draws, mut tally) = (Stream::new(4, "gone"), Tally::default());
        for i in 0..packets + 5 * PACKETS {
            let now = Time::ZERO + Interval::from_ns(5_000 * i);
            let flow = if i < 5 * PACKETS { draws.below(100) } else { draws.below(2) };
            tally.run_to(router.as_mut(), now);
            router.arrive(now, data(flow as u32, i, 100), &mut tally);
            router.next(now, &mut tally);
        }
        let left = router.flows_estimated().unwrap_or(0.0);
        assert!((left - 2.0).abs() < 0.2, "{counter}: {left}");
    }
}
