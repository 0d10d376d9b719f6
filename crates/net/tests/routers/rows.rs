//! The registry, the files of `src/router` and the model pages belong together.

use crate::registry;
use crate::setup::setup;
use crate::source::{Bench, Made, RATE_BPS, poisson};
use longfat_net::DropReason;
use longfat_net::queue::{self, Limit};
use longfat_net::router::{PROTOCOLS, Setup, find, routers};
use longfat_units::{Rate, Stream};
use std::path::Path;

#[test]
fn every_row_has_a_page_a_source_and_sound_parameters_and_its_names_are_its_own() {
    let problems = registry::problems("router", routers());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_row_that_a_file_declares_is_in_a_list() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/router");
    let missing = registry::unlisted(&source, |name| find(name).is_some());
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn names_and_aliases_find_their_row() {
    for row in routers() {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            assert_eq!(find(name).map(|r| r.name), Some(row.name));
        }
        assert!(row.checked(&[]).is_ok(), "{}", row.name);
    }
    assert!(PROTOCOLS.iter().all(|name| find(name).is_some()));
}

#[test]
fn every_router_passes_the_timer_of_the_queue_behind_it_on() {
    let limit = Limit::Packets(1000);
    for row in routers() {
        let rate = Rate::from_bps(RATE_BPS).unwrap();
        // PIE drops early only if its timer runs
        let pie = queue::Setup { limit, rate, stream: Stream::new(7, "queue") };
        let queue = queue::find("pie").unwrap().instance(pie, &[]).unwrap();
        let router = row.instance(Setup { queue, limit, ..setup(RATE_BPS, 1000) }, &[]).unwrap();
        let mut bench = Bench::new(Made(router));
        bench.run(poisson(1.5, 3, (0.0, 5.0)), |_, _| {});
        assert!(bench.tally.drops(DropReason::Early) > 1000, "{} leaves its queue without timer", row.name);
    }
}
