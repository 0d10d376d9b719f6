//! The registry, the files of `src/router` and the model pages belong together.

use longfat_net::router::{ROWS, find};
use longfat_units::parameters::Kind;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Files of `src/router` that hold no router.
const SHARED: [&str; 3] = ["behind", "law", "mod"];

fn folder(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn every_file_is_a_row_and_every_row_a_file() {
    let files: BTreeSet<String> = std::fs::read_dir(folder("src/router"))
        .expect("the folder")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .filter(|stem| !SHARED.contains(&stem.as_str()))
        .map(|stem| stem.replace('_', "-"))
        .collect();
    assert_eq!(files, ROWS.iter().map(|row| row.name.to_owned()).collect());
}

#[test]
fn every_row_is_found_has_sound_defaults_and_a_page_that_ends_in_its_validation() {
    let mut seen = BTreeSet::new();
    for row in ROWS {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            assert!(seen.insert(*name), "{name} is taken twice");
            assert_eq!(find(name).map(|r| r.name), Some(row.name));
        }
        let page = folder("../../docs/models").join(row.name).with_extension("md");
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        let last = text.lines().rfind(|line| line.starts_with("## "));
        assert_eq!(last, Some("## Validation"), "last section of {}", page.display());
        for p in row.parameters {
            assert!(text.contains(&format!("`{}`", p.name)), "{}: nothing about {}", page.display(), p.name);
            if let Kind::Number { default, least, greatest } = p.kind {
                assert!((least..=greatest).contains(&default), "{}.{}", row.name, p.name);
            }
        }
    }
}
