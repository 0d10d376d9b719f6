//! The registry, the files of `src/queue` and the model pages belong together.

use crate::registry;
use crate::source::setup;
use longfat_net::queue::{disciplines, find};
use longfat_units::parameters::Value;
use longfat_wire::SimPacket;
use std::path::Path;

#[test]
fn every_row_has_a_page_a_source_and_sound_parameters_and_its_names_are_its_own() {
    let problems = registry::problems("queue", disciplines());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_row_that_a_file_declares_is_in_the_list() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/queue");
    let missing = registry::unlisted(&source, |name| find(name).is_some());
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn names_and_aliases_find_their_row_and_defaults_make_a_queue() {
    for row in disciplines() {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            assert_eq!(find(name).map(|d| d.name), Some(row.name));
        }
        assert_eq!(row.ecn, row.parameters.iter().any(|p| p.name == "ecn"), "{}", row.name);
        assert!(row.instance::<SimPacket>(setup(10), &[]).is_ok(), "{}", row.name);
    }
}

#[test]
fn values_that_do_not_go_together_are_refused_in_one_line() {
    let refusal = |name: &str, given: &[(&str, Value)]| {
        let given: Vec<_> = given.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
        let refused = find(name).expect("a row").instance::<SimPacket>(setup(10), &given);
        refused.err().unwrap_or_else(|| panic!("{name} {given:?} is accepted")).to_string()
    };
    let number = Value::Number;
    for (line, expected) in [
        (
            refusal("red", &[("min", number(50.0)), ("max", number(20.0))]),
            "red.max = 20 packets is not accepted; give more than red.min, which is 50 packets",
        ),
        (
            refusal("choke", &[("min", number(5.0)), ("max", number(5.0))]),
            "choke.max = 5 packets is not accepted; give more than choke.min, which is 5 packets",
        ),
        (
            refusal("codel", &[("target", number(100.0))]),
            "codel.target = 100 ms is not accepted; give less than codel.interval, 100 ms",
        ),
        (
            refusal("pie", &[("ecn_threshold", number(1.5))]),
            "pie.ecn_threshold = 1.5 is not accepted; give a number from 0 to 1",
        ),
        (
            refusal("droptail", &[("ecn", Value::Word("true".to_owned()))]),
            "droptail cannot mark packets, so it has no parameter \"ecn\"; these queues can: red, choke, blue, \
             sred, codel, fq_codel, pie, dualpi2, fq_pie",
        ),
    ] {
        assert_eq!(line, expected);
    }
}
