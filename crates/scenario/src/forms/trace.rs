//! Files with measurements of a link: which one a scenario names, and the numbers of its lines.
//!
//! A line has the numbers of one moment, separated by spaces, tabs, commas or semicolons. What follows a `#`
//! is a comment; blank lines do not count; the first line may name the columns.

use crate::at::At;
use crate::form::table_schema;
use crate::problem::{Refusal, refuse};
use crate::tree::{Table, Value};
use crate::units::is_number;
use crate::world::{MOST_BYTES, measured_text};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most characters of a line that a message has.
const LONGEST_SHOWN: usize = 40;
const SEPARATORS: [char; 4] = [' ', '\t', ',', ';'];

/// The file of a trace, and the bytes that were read of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The whole path.
    pub path: PathBuf,
    /// The digest of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

impl Source {
    /// How a scenario file names it: with the digest, so that another content is refused.
    pub fn written(&self) -> Value {
        Table::of([("trace", self.path.to_string_lossy().into_owned()), ("sha256", self.sha256.clone())])
            .into()
    }
}

/// What the lines of one kind of trace hold.
pub struct Kind {
    /// The number of columns; all of them are in ms.
    pub columns: usize,
    /// The form of a line, for messages.
    pub accepted: &'static str,
    /// How to make such a trace, or another value, of the lines of a file that has other columns.
    pub convert: fn(&[Vec<&str>]) -> String,
}

/// A line of numbers.
pub struct Row<'a> {
    number: usize,
    line: &'a str,
    path: &'a Path,
    /// Its numbers.
    pub numbers: [f64; 2],
}

impl Row<'_> {
    /// Refuses it.
    pub fn refuse<T>(&self, accepted: &str) -> Result<T, Refusal> {
        let place = place(self.path, self.number);
        refuse(format!("{place}: {}", shown(self.line)), accepted)
    }

    /// Refuses it for what it comes after.
    pub fn refuse_order<T>(&self, time: f64, before: f64, accepted: &str) -> Result<T, Refusal> {
        refuse(format!("{}: {time} comes after {before}", place(self.path, self.number)), accepted)
    }
}

fn place(path: &Path, number: usize) -> String {
    format!("trace {}, line {number}", path.display())
}

/// Whether a table names a trace: `trace`, and perhaps `sha256`.
pub fn is_named(table: &Table) -> bool {
    table.has_only(&["trace"], &["sha256"])
}

/// The JSON Schema of such a table.
pub fn schema(description: &str) -> Json {
    let digest = json!({"type": "string", "pattern": "^[0-9a-f]{64}$",
        "description": "The digest of the file; another content is refused"});
    table_schema(&[("trace", json!({"type": "string", "description": description})), ("sha256", digest)], 1)
}

/// Reads the file that a table names, and gives each line of numbers to `row`. `example` is the name of such
/// a file.
pub fn read(
    table: &Table,
    at: &At<'_>,
    kind: &Kind,
    example: &str,
    mut row: impl FnMut(&Row<'_>) -> Result<(), Refusal>,
) -> Result<(Source, PathBuf), Refusal> {
    let Some(name) = table.get("trace").and_then(|item| item.value.text()) else {
        return refuse("trace: this is not a name", format!("the name of a file such as \"{example}\""));
    };
    let given = table.get("sha256").map(|item| item.value.text().unwrap_or_default());
    let is_digest = |text: &str| {
        text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    if given.is_some_and(|text| !is_digest(text)) {
        let accepted = "the 64 hexadecimal digits that sha256sum prints, or no such key";
        return refuse("sha256: this is no digest", accepted);
    }
    let path = at.context.base.join(name);
    let bytes = at.context.world.bytes(&path, MOST_BYTES).map_err(|reason| {
        Refusal::new(
            format!("trace {}: {reason}", path.display()),
            "a file, relative to the scenario's folder",
        )
    })?;
    let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(digest) = given.filter(|digest| *digest != sha256) {
        return refuse(
            format!(
                "trace {}: its content has changed: its SHA-256 is {}..., and the scenario has {}...",
                path.display(),
                &sha256[..16],
                &digest[..16]
            ),
            "the file as it was, or the scenario without sha256",
        );
    }
    let text = measured_text(bytes.clone(), MOST_BYTES).map_err(|reason| {
        let accepted = "a text file of numbers, also packed by gzip or zstd";
        Refusal::new(format!("trace {}: {reason}", path.display()), accepted)
    })?;
    if text.is_empty() {
        let unpacked = if bytes.len() > "\u{feff}".len() { " when it is unpacked" } else { "" };
        return refuse(format!("trace {}: it is empty{unpacked}", path.display()), kind.accepted);
    }
    rows(&path, &text, kind, &mut row)?;
    let source = Source { path: at.context.world.whole(&path), sha256, bytes: bytes.into() };
    Ok((source, path))
}

fn rows(
    path: &Path,
    text: &str,
    kind: &Kind,
    row: &mut dyn FnMut(&Row<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let (mut is_first, mut has_rows) = (true, false);
    for (index, line) in text.split('\n').enumerate() {
        let words = words(line);
        if words.is_empty() {
            continue;
        }
        let number = index + 1;
        let may_be_head = std::mem::take(&mut is_first) && !words.iter().any(|word| is_number(word));
        if may_be_head && words.iter().all(|word| word.chars().any(char::is_alphabetic)) {
            check_head(path, number, line, &words, kind)?;
            continue;
        }
        let all_numbers = words.iter().all(|word| is_number(word));
        if words.len() != kind.columns && all_numbers {
            let following: Vec<Vec<&str>> = text
                .split('\n')
                .skip(index)
                .take(21)
                .map(self::words)
                .filter(|w| !w.is_empty())
                .take(2)
                .collect();
            let columns = format!("{} column{}", words.len(), if words.len() > 1 { "s" } else { "" });
            return refuse(
                format!("{}: {}: {columns}", place(path, number), shown(line)),
                format!("{}; {}", kind.accepted, (kind.convert)(&following)),
            );
        }
        if !all_numbers {
            return refuse(format!("{}: {}", place(path, number), shown(line)), kind.accepted);
        }
        let mut numbers = [0.0; 2];
        for (slot, word) in numbers.iter_mut().zip(&words) {
            *slot = word.parse().unwrap_or(f64::NAN);
        }
        row(&Row { number, line, path, numbers })?;
        has_rows = true;
    }
    if !has_rows {
        return refuse(format!("trace {}: it has no line of numbers", path.display()), kind.accepted);
    }
    Ok(())
}

fn words(line: &str) -> Vec<&str> {
    let text = line.split('#').next().unwrap_or_default();
    text.split(SEPARATORS).filter(|word| !word.is_empty()).collect()
}

/// Refuses names of columns that say another unit.
fn check_head(path: &Path, number: usize, line: &str, names: &[&str], kind: &Kind) -> Result<(), Refusal> {
    match names.iter().find_map(|name| unit(name)) {
        Some(unit) => {
            refuse(format!("{}: {}: a column is in {unit}", place(path, number), shown(line)), kind.accepted)
        }
        None => Ok(()),
    }
}

/// The unit at the end of a column's name, where it is not ms.
fn unit(name: &str) -> Option<&'static str> {
    const UNITS: [&str; 9] = ["ns", "us", "µs", "μs", "seconds", "second", "secs", "sec", "s"];
    let name = name.strip_suffix([')', ']']).unwrap_or(name).to_lowercase();
    UNITS.into_iter().find(|unit| {
        name.strip_suffix(unit)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', ' ', '(', '[', '/']))
    })
}

fn shown(line: &str) -> String {
    let text = line.trim();
    let short: String = text.chars().take(LONGEST_SHOWN).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    format!("'{}{more}'", short.escape_debug())
}
