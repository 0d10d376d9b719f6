//! The registries, the files of `src/cc` and `src/udp` and the model pages belong together.

#[path = "../../units/tests/registry/mod.rs"]
mod registry;

use longfat_transport::cc::{self, algorithms};
use longfat_transport::udp::{self, protocols};
use longfat_units::{Entry, Rate};
use std::path::Path;

fn entries() -> Vec<&'static Entry> {
    let tcp = algorithms().map(|row| &row.entry);
    tcp.chain(protocols().map(|row| &row.entry)).collect()
}

#[test]
fn every_row_has_a_page_a_source_and_sound_parameters_and_its_names_are_its_own() {
    let entries = entries();
    let problems = registry::problems("algorithm", entries.iter());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_row_that_a_file_declares_is_in_the_list() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut missing = registry::unlisted(&source.join("cc"), |name| cc::find(name).is_some());
    missing.extend(registry::unlisted(&source.join("udp"), |name| udp::find(name).is_some()));
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn names_and_aliases_find_their_row() {
    for entry in entries() {
        for name in std::iter::once(&entry.name).chain(entry.aliases) {
            let found = cc::find(name).map(|a| a.name).or_else(|| udp::find(name).map(|p| p.name));
            assert_eq!(found, Some(entry.name));
        }
    }
}

#[test]
fn defaults_make_an_instance() {
    assert!(algorithms().all(|row| row.instance(&[]).is_ok()));
    let line = Rate::from_bps(1e9).unwrap();
    assert!(protocols().all(|row| row.check(&[], line).is_ok()));
}
