//! What algorithms know of themselves, in series beside those of their flows.

use crate::common::{
    assert_same_series, column, dumbbell, flow, router_of, run, run_by_both, variants, with,
};
use serde_json::json;

#[test]
fn both_drivers_sample_what_every_algorithm_knows_of_itself_and_its_results_stay() {
    for (name, algorithm, parameters) in variants() {
        let one = with(flow(&name, algorithm), json!({"parameters": parameters}));
        let mut plan = dumbbell(2e7, 60, 3.0, vec![one]);
        plan["links"][0]["router"] = router_of(algorithm);
        let without = run(&plan);
        plan["sample"]["internals"] = json!(true);
        let with = run_by_both(&plan);
        assert!(without.internals.is_empty(), "{name}");
        assert_same_series(&without.flows, &with.flows);
        for (quantity, series) in with.internals.iter().flat_map(|(_, quantities)| quantities) {
            let values = series.column("value").unwrap_or_default();
            assert!(!values.is_empty() && values.iter().all(|x| !x.is_nan()), "{name}: {quantity}");
        }
    }
}

#[test]
fn samples_begin_after_the_flow_has_and_end_with_it() {
    let late = with(flow("late", "fast"), json!({"start_s": 1.05, "bytes": 1_000_000}));
    let mut plan = dumbbell(2e7, 60, 5.0, vec![flow("reno", "reno"), late]);
    plan["sample"]["internals"] = json!(true);
    let outcome = run_by_both(&plan);
    let completed_s = outcome.summary.flows[1].completed_s.unwrap_or_else(|| panic!("it completes"));
    let [(name, quantities)] = &outcome.internals[..] else { panic!("Reno knows nothing of itself") };
    assert_eq!(name, "late");
    let times = column(quantities, "alpha", "time_s");
    assert!((times[0] - 1.1).abs() < 1e-9, "{}", times[0]);
    let last = times[times.len() - 1];
    assert!(last <= completed_s && last > completed_s - 0.1 - 1e-9, "{last}, completed at {completed_s}");
    // FAST knows the base round-trip time once it has measured one, 42 ms and the transmissions
    let base = column(quantities, "base_rtt_s", "value");
    assert!(!base.is_empty() && base.iter().all(|&rtt_s| (0.042..0.05).contains(&rtt_s)), "{base:?}");
}
