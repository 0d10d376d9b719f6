//! What must hold of the rows of any registry. The tests of each registry include this file.

use longfat_units::Entry;
use longfat_units::parameters::{Kind, Parameter};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// What is wrong with these rows, one sentence each; `kind` is the word for one of them, such as "queue".
pub fn problems<'a, R>(kind: &str, rows: impl Iterator<Item = &'a R>) -> Vec<String>
where
    R: Deref<Target = Entry> + 'a,
{
    let (mut found, mut names, mut styles) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let row: &Entry = row;
        let mut fails = |what: String| found.push(format!("{kind} {} {what}", row.name));
        for name in std::iter::once(&row.name).chain(row.aliases) {
            if !names.insert(*name) {
                fails(format!("shares the name {name} with another row"));
            }
        }
        if row.title.is_empty() {
            fails("has no title".to_owned());
        }
        if !row.citation.chars().any(|c| c.is_ascii_digit()) {
            fails(format!("cites no year: {:?}", row.citation));
        }
        if let Some(style) = row.style {
            if !is_colour(style.colour) {
                fails(format!("has the colour {:?}, which is not #rrggbb in lower case", style.colour));
            }
            if !styles.insert((style.colour, style.marker)) {
                fails(format!("looks like another {kind}: {style:?}"));
            }
        }
        let unique: BTreeSet<_> = row.parameters.iter().map(|p| p.name).collect();
        if unique.len() < row.parameters.len() {
            fails("declares a parameter twice".to_owned());
        }
        for p in row.parameters {
            if let Some(what) = unsound(p) {
                fails(format!("has the parameter {}, {what}", p.name));
            }
        }
        if let Some(what) = problem_of_page(row) {
            fails(what);
        }
    }
    found
}

/// The rows that files in `folder` declare and no list has, one sentence each. A row declares itself by its
/// `Entry { name: "..."`; `is_listed` says whether a list has that name.
pub fn unlisted(folder: &Path, is_listed: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in sources(folder) {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let named = |line: &str| Some(line.strip_prefix("name: \"")?.strip_suffix("\",")?.to_owned());
        let declared =
            lines.windows(2).filter(|two| two[0].ends_with("Entry {")).filter_map(|two| named(two[1]));
        for name in declared.filter(|name| !is_listed(name)) {
            found.push(format!("{} declares the row {name}, which is in no list", file.display()));
        }
    }
    found
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let files: Vec<_> = paths
        .into_iter()
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    assert!(!files.is_empty(), "{} has no source files", folder.display());
    files
}

fn is_colour(colour: &str) -> bool {
    let digits = colour.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn unsound(p: &Parameter) -> Option<String> {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !p.name.chars().all(word) {
        return Some("whose name is not made of lower-case letters, digits and underscores".to_owned());
    }
    if p.meaning.is_empty() || p.meaning.contains('\n') {
        return Some("whose meaning is not one line".to_owned());
    }
    match p.kind {
        Kind::Number { default, least, greatest } if !(least..=greatest).contains(&default) => {
            Some(format!("whose default {default} is not between {least} and {greatest}"))
        }
        Kind::Choice(words) => {
            let distinct: BTreeSet<_> = words.iter().collect();
            (words.len() < 2 || distinct.len() < words.len())
                .then(|| format!("whose choices are not two words or more, all different: {words:?}"))
        }
        Kind::Number { .. } => None,
    }
}

/// A page ends in its validation and names every parameter.
fn problem_of_page(row: &Entry) -> Option<String> {
    let page = format!("docs/models/{}.md", row.page);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(&page);
    let Ok(text) = std::fs::read_to_string(path) else { return Some(format!("has no page {page}")) };
    let last = text.lines().rfind(|line| line.starts_with("## "));
    if last != Some("## Validation") {
        return Some(format!(
            "has a page {page} that does not end in the section Validation, but in {last:?}"
        ));
    }
    // as in `low_window`, or in `variant = "linux"`
    let is_named = |name: &str| ["`", " ="].iter().any(|end| text.contains(&format!("`{name}{end}")));
    let missing: Vec<_> = row.parameters.iter().map(|p| p.name).filter(|name| !is_named(name)).collect();
    (!missing.is_empty()).then(|| format!("has a page {page} that does not name {}", missing.join(", ")))
}
