//! Why a scenario is refused: a line for each problem, with its place in the text.

use std::fmt;
use std::ops::Range;

/// Why a value is refused, and what would be accepted in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, with a verb.
    pub what: String,
    /// What would be accepted.
    pub accepted: String,
    /// The key that it is about, below the table that was checked: "rtt" or "flow.0.rtt"; empty for the
    /// table.
    pub key: String,
    /// The part of the value that it is about, in words: "sine.max", "outage 2, begin"; empty for the whole.
    pub place: String,
    /// The keys within the value that lead there, for its place in the text; empty for the whole value.
    pub part: String,
}

impl Refusal {
    /// This is wrong, and that would be accepted.
    pub fn new(what: impl Into<String>, accepted: impl Into<String>) -> Refusal {
        let (what, accepted, none) = (what.into(), accepted.into(), String::new);
        Refusal { what, accepted, key: none(), place: none(), part: none() }
    }

    /// The same about a key of the table.
    #[must_use]
    pub fn about(mut self, key: impl Into<String>) -> Refusal {
        self.key = key.into();
        self
    }

    /// The same at a key within the value.
    #[must_use]
    pub fn at_part(mut self, part: &str) -> Refusal {
        self.part = if self.part.is_empty() { part.to_owned() } else { format!("{part}.{}", self.part) };
        self
    }

    /// The same, of a part of the value: of a key, or of what has a number, as "outage 2".
    #[must_use]
    pub fn within(mut self, part: &str) -> Refusal {
        let joint = match &*self.place {
            "" => "",
            inner if part.contains(' ') || inner.contains(' ') => ", ",
            _ => ".",
        };
        self.place = format!("{part}{joint}{}", self.place);
        self
    }

    /// The same, of the value of a key within the value.
    #[must_use]
    pub fn under(self, key: &str) -> Refusal {
        self.within(key).at_part(key)
    }

    /// The same, of an item of a list that is the value: "outage 2" has the index 1.
    #[must_use]
    pub fn of_item(self, name: &str, index: usize) -> Refusal {
        self.within(&format!("{name} {}", index + 1)).at_part(&index.to_string())
    }

    /// What is wrong, after the part of the value that it is about.
    fn wrong(&self) -> String {
        if self.place.is_empty() { self.what.clone() } else { format!("{}: {}", self.place, self.what) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(out, "{}: ", self.key)?;
        }
        write!(out, "{}; accepted: {}", self.wrong(), self.accepted)
    }
}

/// One problem of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, such as "flow.0.rtt"; empty for the whole scenario.
    pub key: String,
    /// The value as messages show it; `None` where the key is missing, or unknown, or a whole table.
    pub value: Option<String>,
    /// Why.
    pub refusal: Refusal,
    /// Its place in the text.
    pub span: Option<Range<usize>>,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, accepted) = (self.refusal.wrong(), &self.refusal.accepted);
        match (&*self.key, &self.value) {
            ("", _) => write!(out, "{what}; accepted: {accepted}"),
            (key, None) => write!(out, "{key}: {what}; accepted: {accepted}"),
            (key, Some(value)) => write!(out, "{key} = {value}: {what}; accepted: {accepted}"),
        }
    }
}

impl Problem {
    /// The problem with its line of the text, as compilers write it; `source` is the name of the file.
    pub fn in_text(&self, source: &str, text: &str) -> String {
        let Some(span) = &self.span else { return format!("{source}: {self}") };
        let begin = span.start.min(text.len());
        let line_begin = text[..begin].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_begin..].lines().next().unwrap_or_default();
        let number = text[..line_begin].matches('\n').count() + 1;
        let column = text[line_begin..begin].chars().count();
        // it may begin behind the line, at a carriage return
        let end = span.end.min(line_begin + line.len()).max(begin);
        let marks = text[begin..end].chars().count().max(1);
        let (line, column, marks) = cut(line, column, marks);
        let margin = " ".repeat(number.to_string().len());
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        format!(
            "{key}{what}\n{margin}--> {source}:{number}:{shown}\n{margin} |\n{number} | {line}\n{margin} | \
             {space}{under} accepted: {accepted}",
            what = self.refusal.wrong(),
            shown = text[line_begin..begin].chars().count() + 1,
            space = " ".repeat(column),
            under = "^".repeat(marks),
            accepted = self.refusal.accepted,
        )
    }
}

/// The most columns of a line that a message has.
const MOST_COLUMNS: usize = 80;

/// The part of a line around some columns, without characters that a terminal would obey.
fn cut(line: &str, column: usize, marks: usize) -> (String, usize, usize) {
    let plain: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let column = column.min(plain.len());
    if plain.len() <= MOST_COLUMNS {
        return (plain.into_iter().collect(), column, marks);
    }
    let from = column.saturating_sub(MOST_COLUMNS / 2).min(plain.len() - MOST_COLUMNS);
    let shown: String = plain[from..from + MOST_COLUMNS].iter().collect();
    (shown, column - from, marks.min(MOST_COLUMNS - (column - from)).max(1))
}

/// Why a value or a table is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The value itself.
    Value(Refusal),
    /// Keys of a table.
    Keys(Vec<Problem>),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::Value(refusal)
    }
}

/// Refuses what a key of the table holds.
pub fn refuse_key<T>(
    key: impl Into<String>,
    what: impl Into<String>,
    accepted: impl Into<String>,
) -> Result<T, Refusal> {
    Err(Refusal::new(what, accepted).about(key))
}

/// Refuses a value.
pub fn refuse<T, E: From<Refusal>>(what: impl Into<String>, accepted: impl Into<String>) -> Result<T, E> {
    Err(Refusal::new(what, accepted).into())
}
