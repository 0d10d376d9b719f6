//! The registry, the files of `src/router` and the model pages belong together.

use crate::registry;
use longfat_net::router::{PROTOCOLS, find, routers};
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
