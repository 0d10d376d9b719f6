//! The registry, the files of `src/queue` and the model pages belong together.

use crate::source::setup;
use longfat_net::queue::{disciplines, find};
use longfat_units::parameters::{Kind, Value};
use longfat_wire::SimPacket;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Files of `src/queue` that hold no discipline.
const SHARED: [&str; 4] = ["average", "fifo", "mod", "registry"];

fn folder(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn every_file_is_a_row_and_every_row_a_file() {
    let files: BTreeSet<String> = std::fs::read_dir(folder("src/queue"))
        .expect("the folder")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .filter(|stem| !SHARED.contains(&stem.as_str()))
        .collect();
    assert_eq!(files, disciplines().map(|row| row.name.to_owned()).collect());
}

#[test]
fn every_row_has_a_model_page_that_ends_in_its_validation() {
    for row in disciplines() {
        let page = folder("../../docs/models").join(row.name).with_extension("md");
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        let last = text.lines().rfind(|line| line.starts_with("## "));
        assert_eq!(last, Some("## Validation"), "last section of {}", page.display());
        for p in row.parameters {
            assert!(text.contains(&format!("`{}`", p.name)), "{}: nothing about {}", page.display(), p.name);
        }
    }
}

#[test]
fn names_are_unique_and_parameters_have_sound_defaults() {
    let mut seen = BTreeSet::new();
    for row in disciplines() {
        for name in std::iter::once(&row.name).chain(row.aliases) {
            assert!(seen.insert(*name), "{name} is taken twice");
            assert_eq!(find(name).map(|d| d.name), Some(row.name));
        }
        assert!(row.citation.chars().any(|c| c.is_ascii_digit()), "{}: no year", row.name);
        assert_eq!(row.ecn, row.parameters.iter().any(|p| p.name == "ecn"), "{}", row.name);
        for p in row.parameters {
            assert!(!p.meaning.is_empty() && !p.meaning.contains('\n'), "{}.{}", row.name, p.name);
            if let Kind::Number { default, least, greatest } = p.kind {
                assert!((least..=greatest).contains(&default), "{}.{}", row.name, p.name);
            }
        }
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
            "droptail has no parameter \"ecn\"; it has: nothing that marks; these do: red, choke, blue, sred, \
             codel, fq_codel, pie",
        ),
    ] {
        assert_eq!(line, expected);
    }
}
