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
    /// The most lines.
    pub most: usize,
    /// Whether each time is after the one before, and not the same.
    pub is_strict: bool,
    /// How to make such a trace, or another value, of the lines of a file that has other columns.
    pub convert: fn(&[Vec<&str>]) -> String,
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

/// Reads the file that a table names, and gives the numbers of each line to `row`, which returns what would
/// be accepted in their place; returns the file and its place in messages. `example` is the name of such a
/// file.
pub fn read(
    table: &Table,
    at: &At<'_>,
    kind: &Kind,
    example: &str,
    mut row: impl FnMut([f64; 2]) -> Result<(), String>,
) -> Result<(Source, String), Refusal> {
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
    let place = format!("trace {}", path.display());
    match file(&path, given, at, kind, &mut row) {
        Ok(source) => Ok((source, place)),
        Err(refusal) => Err(refusal.within(&place)),
    }
}

fn file(
    path: &Path,
    given: Option<&str>,
    at: &At<'_>,
    kind: &Kind,
    row: &mut dyn FnMut([f64; 2]) -> Result<(), String>,
) -> Result<Source, Refusal> {
    let world = at.context.world;
    let missing = |reason| Refusal::new(reason, "a file, relative to the scenario's folder");
    let bytes = world.bytes(path, MOST_BYTES).map_err(missing)?;
    let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(digest) = given.filter(|digest| *digest != sha256) {
        let (found, wanted) = (&sha256[..16], &digest[..16]);
        return refuse(
            format!("its content has changed: its SHA-256 is {found}..., and the scenario has {wanted}..."),
            "the file as it was, or the scenario without sha256",
        );
    }
    let no_text = |reason| Refusal::new(reason, "a text file of numbers, also packed by gzip or zstd");
    let text = measured_text(bytes.clone(), MOST_BYTES).map_err(no_text)?;
    if text.is_empty() {
        let unpacked = if bytes.len() > "\u{feff}".len() { " when it is unpacked" } else { "" };
        return refuse(format!("it is empty{unpacked}"), kind.accepted);
    }
    let (mut is_first, mut before, mut count) = (true, f64::NEG_INFINITY, 0);
    for (index, line) in text.split('\n').enumerate() {
        let words = words(line);
        if words.is_empty() {
            continue;
        }
        let is_head = std::mem::take(&mut is_first)
            && !words.iter().any(|word| is_number(word))
            && words.iter().all(|word| word.chars().any(char::is_alphabetic));
        let following = || text.split('\n').skip(index).take(21);
        let mut check = || {
            if is_head {
                return check_head(line, &words, kind);
            }
            let numbers = numbers(line, &words, kind, following)?;
            let time = std::mem::replace(&mut before, numbers[0]);
            row(numbers).map_err(|accepted| Refusal::new(shown(line), accepted))?;
            if numbers[0] < time || (kind.is_strict && numbers[0] == time) {
                return refuse(format!("{} comes after {time}", numbers[0]), kind.accepted);
            }
            count += 1;
            if count > kind.most {
                return refuse(shown(line), format!("up to {} lines", kind.most));
            }
            Ok(())
        };
        check().map_err(|refusal| refusal.within(&format!("line {}", index + 1)))?;
    }
    if count == 0 {
        return refuse("it has no line of numbers", kind.accepted);
    }
    Ok(Source { path: world.whole(path), sha256, bytes: bytes.into() })
}

/// The numbers of a line; `following` are this line and the next ones.
fn numbers<'a, L: Iterator<Item = &'a str>>(
    line: &str,
    words: &[&str],
    kind: &Kind,
    following: impl FnOnce() -> L,
) -> Result<[f64; 2], Refusal> {
    if !words.iter().all(|word| is_number(word)) {
        return refuse(shown(line), kind.accepted);
    }
    if words.len() != kind.columns {
        let following: Vec<Vec<&str>> =
            following().map(self::words).filter(|words| !words.is_empty()).take(2).collect();
        let columns = format!("{} column{}", words.len(), if words.len() > 1 { "s" } else { "" });
        return refuse(
            format!("{}: {columns}", shown(line)),
            format!("{}; {}", kind.accepted, (kind.convert)(&following)),
        );
    }
    let mut numbers = [0.0; 2];
    for (slot, word) in numbers.iter_mut().zip(words) {
        *slot = word.parse().unwrap_or(f64::NAN);
    }
    Ok(numbers)
}

fn words(line: &str) -> Vec<&str> {
    let text = line.split('#').next().unwrap_or_default();
    text.split(SEPARATORS).filter(|word| !word.is_empty()).collect()
}

/// Refuses names of columns that have another unit.
fn check_head(line: &str, names: &[&str], kind: &Kind) -> Result<(), Refusal> {
    match names.iter().find_map(|name| unit(name)) {
        Some(unit) => refuse(format!("{}: a column is in {unit}", shown(line)), kind.accepted),
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
