//! The registries, the files of `src/cc` and `src/udp` and the model pages belong together.

use longfat_transport::cc::{self, Kind, Parameter, algorithms};
use longfat_transport::udp::{self, protocols};
use longfat_units::Rate;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files of `src/cc` that hold no row of their own name: shared machinery, and the standard family.
const NOT_AN_ALGORITHM: [&str; 5] = ["round", "aimd", "mod", "registry", "testing"];
/// These share docs/models/standard.md.
const STANDARD: [&str; 4] = ["tahoe", "reno", "newreno", "sack"];

/// Files of `src/udp` that hold no row.
const NOT_A_PROTOCOL: [&str; 2] = ["mod", "testing"];

/// What the rows of both registries have in common.
struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    citation: &'static str,
    parameters: &'static [Parameter],
}

fn rows() -> Vec<Row> {
    let tcp = algorithms().map(|a| Row {
        name: a.name,
        aliases: a.aliases,
        citation: a.citation,
        parameters: a.parameters,
    });
    let over_udp = protocols().map(|p| Row {
        name: p.name,
        aliases: p.aliases,
        citation: p.citation,
        parameters: p.parameters,
    });
    tcp.chain(over_udp).collect()
}

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A name as a file's stem: `hstcp-lp` lies in `hstcp_lp.rs`, `westwood+` with `westwood`.
fn stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.trim_end_matches('+').chars().map(plain).collect()
}

fn stems_in(folder: &Path) -> BTreeSet<String> {
    std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect()
}

#[test]
fn every_file_of_cc_has_a_row_in_the_registry() {
    let rows: BTreeSet<String> = algorithms().map(|a| stem(a.name)).collect();
    let files = stems_in(&crate_folder().join("src/cc"));
    assert!(files.len() > NOT_AN_ALGORITHM.len(), "found only {files:?}");
    let lacking: Vec<_> =
        files.iter().filter(|f| !NOT_AN_ALGORITHM.contains(&f.as_str()) && !rows.contains(*f)).collect();
    assert!(lacking.is_empty(), "no row of that name: {lacking:?}");
}

#[test]
fn every_file_of_udp_has_a_row_in_the_registry() {
    let rows: BTreeSet<String> = protocols().map(|p| stem(p.name)).collect();
    let files = stems_in(&crate_folder().join("src/udp"));
    let expected = rows.into_iter().chain(NOT_A_PROTOCOL.map(str::to_owned)).collect();
    assert_eq!(files, expected);
}

#[test]
fn every_row_has_a_model_page_that_ends_in_its_validation() {
    let pages = crate_folder().join("../../docs/models");
    for row in rows() {
        let page = if STANDARD.contains(&row.name) { "standard".to_owned() } else { stem(row.name) };
        let page = pages.join(page).with_extension("md");
        let text = std::fs::read_to_string(&page)
            .unwrap_or_else(|e| panic!("{}: {}: {e}", row.name, page.display()));
        let last = text.lines().rfind(|line| line.starts_with("## "));
        assert_eq!(last, Some("## Validation"), "last section of {}", page.display());
    }
}

#[test]
fn names_and_aliases_are_unique_and_find_their_row() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            assert!(seen.insert(*name), "{name} is taken twice");
            let found = cc::find(name).map(|a| a.name).or_else(|| udp::find(name).map(|p| p.name));
            assert_eq!(found, Some(row.name));
        }
    }
}

#[test]
fn every_row_cites_its_source_and_explains_its_parameters() {
    for row in rows() {
        assert!(
            row.citation.chars().any(|c| c.is_ascii_digit()),
            "{}: no year in {:?}",
            row.name,
            row.citation
        );
        let names: BTreeSet<_> = row.parameters.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), row.parameters.len(), "{}: a parameter is declared twice", row.name);
        for p in row.parameters {
            let context = format!("{}.{}", row.name, p.name);
            assert!(
                p.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{context}"
            );
            assert!(!p.meaning.is_empty() && !p.meaning.contains('\n'), "{context}");
            match p.kind {
                Kind::Number { default, least, greatest } => {
                    assert!(
                        (least..=greatest).contains(&default),
                        "{context}: default {default} out of range"
                    );
                }
                Kind::Choice(words) => {
                    let distinct: BTreeSet<_> = words.iter().collect();
                    assert!(words.len() > 1 && distinct.len() == words.len(), "{context}: {words:?}");
                }
            }
        }
    }
    let line = Rate::from_bps(1e9).unwrap();
    assert!(algorithms().all(|row| row.instance(&[]).is_ok()));
    assert!(protocols().all(|row| row.check(&[], line).is_ok()));
}
