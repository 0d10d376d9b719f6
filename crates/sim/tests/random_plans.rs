//! Random plans of every kind: both drivers give the same bytes. The example `random_plans` runs thousands.

#[path = "../examples/random_plans/compare.rs"]
mod compare;
#[path = "../examples/random_plans/draw.rs"]
mod draw;

use compare::compare;
use draw::{PACKETS, draw};
use longfat_net::queue::disciplines;
use longfat_net::router::routers;
use longfat_transport::cc::algorithms;
use longfat_transport::udp::protocols;
use std::collections::BTreeSet;

#[test]
fn random_plans_give_the_same_bytes_by_both_drivers() {
    let mut in_batches = 0;
    for seed in 0..150 {
        let drawn = draw(seed, (PACKETS.0, 2000.0));
        let (outcome, differs) = compare(&drawn);
        assert_eq!(differs, None, "seed {seed}: {}", drawn.plan);
        in_batches += u32::from(outcome.driver == "batches");
    }
    assert!(in_batches > 120, "the oracle ran too many plans for the fast driver: {in_batches} were left");
}

/// Packets with and without an explicit header overtake each other between the two queues of `dqw`.
#[test]
fn plans_that_once_differed_give_the_same_bytes_by_both_drivers() {
    for seed in [8205, 11095] {
        let drawn = draw(seed, PACKETS);
        assert!(drawn.kinds.contains("router: dqw"), "seed {seed} names another plan now");
        assert_eq!(compare(&drawn).1, None, "seed {seed}: {}", drawn.plan);
    }
}

#[test]
fn random_plans_have_everything_that_the_registries_have() {
    let drawn: BTreeSet<String> = (0..1500).flat_map(|seed| draw(seed, PACKETS).kinds).collect();
    let queues = disciplines().map(|row| format!("queue: {}", row.name));
    let routers = routers().map(|row| format!("router: {}", row.name));
    let algorithms = algorithms().map(|row| format!("algorithm: {}", row.name));
    let protocols = protocols().map(|row| format!("transport: {}", row.name));
    let rows = queues.chain(routers).chain(algorithms).chain(protocols);
    assert_eq!(rows.filter(|row| !drawn.contains(row)).collect::<Vec<_>>(), Vec::<String>::new());
}
