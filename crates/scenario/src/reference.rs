//! The tables of the reference page, in Markdown: each key with what it takes, its default and its effect.

use crate::form::{Key, TableDoc};
use crate::keys::{Keys, Mark};
use crate::schema::with_shorthands;
use crate::tables::{
    Bottleneck, Bulk, Connections, Disturbed, Flow, Link, Node, Onoff, Program, Sample, Scenario, Short,
    Surge, Transport, Web, marked,
};
use crate::text::{general, listed, shown};
use crate::tree::Value;
use serde_json::Value as Json;

/// The most forms of tables that a cell lists.
const MOST_FORMS: usize = 4;

/// The tables of the page: the name of each, its keys, and the table whose keys the page shows elsewhere.
pub fn tables() -> Vec<(&'static str, TableDoc, Option<TableDoc>)> {
    let transport = || Some(Transport::doc());
    let connections = || Some(Connections::doc());
    vec![
        ("scenario", Scenario::doc(), None),
        ("bottleneck", Bottleneck::doc(), Some(Disturbed::doc())),
        ("node", Node::doc(), None),
        ("link", Link::doc(), Some(Disturbed::doc())),
        ("disturbances", Disturbed::doc(), None),
        ("flow", Flow::doc(), transport()),
        ("transport", Transport::doc(), None),
        ("background", Connections::doc(), transport()),
        ("web", Web::doc(), connections()),
        ("surge", Surge::doc(), connections()),
        ("short", Short::doc(), connections()),
        ("bulk", Bulk::doc(), connections()),
        ("onoff", Onoff::doc(), connections()),
        ("program", Program::doc(), None),
        ("sample", Sample::doc(), None),
    ]
}

/// The keys that the kernel decides in a live run, as a list in a sentence.
pub fn kernels() -> String {
    marked(Mark::Kernel).iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// One table of the page.
pub fn table(keys: &TableDoc, elsewhere: Option<&TableDoc>) -> String {
    let shown_there = elsewhere.map(with_shorthands).unwrap_or_default();
    let mut out = "| key | takes | default | effect |\n|---|---|---|---|\n".to_owned();
    for key in with_shorthands(keys) {
        let is_own = shown_there.iter().all(|other| (other.name, &other.doc) != (key.name, &key.doc));
        if is_own && key.tables.is_empty() {
            out.push_str(&row(&key));
        }
    }
    out
}

/// All tables of the page, each under its name.
pub fn reference() -> String {
    let sections = tables().into_iter().map(|(name, keys, elsewhere)| {
        let about: Vec<&str> = keys.about.lines().map(str::trim).collect();
        format!("## {name}\n\n{}\n\n{}", about.join("\n"), table(&keys, elsewhere.as_ref()))
    });
    sections.collect::<Vec<_>>().join("\n")
}

fn row(key: &Key) -> String {
    let default = match &key.default {
        _ if key.required => "required".to_owned(),
        Value::Null => "–".to_owned(),
        value => format!("`{}`", shown(value)),
    };
    let cells = [format!("`{}`", key.name), takes(key), default, coded(&key.doc)];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")).join(" | "))
}

/// What a key takes, with its limits.
fn takes(key: &Key) -> String {
    let schema = &key.schema;
    if let Some(words) = schema["enum"].as_array() {
        return listed(&words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>());
    }
    if !schema["const"].is_null() {
        return format!("`{}`", schema["const"]);
    }
    if schema["type"] == "boolean" {
        return "`true` or `false`".to_owned();
    }
    if let Some(text) = quantity(schema) {
        return text;
    }
    let forms = schema["anyOf"].as_array().map_or(std::slice::from_ref(schema), Vec::as_slice);
    let of = |kind: &str| forms.iter().find(|form| form["type"] == kind && !form["minimum"].is_null());
    if let Some(form) = of("integer").or_else(|| of("number")) {
        return number(key, form, forms);
    }
    let tables: Vec<String> = forms.iter().filter_map(|form| inline(form, &key.accepts)).collect();
    let is_registry = forms.iter().any(|form| form["enum"].is_array());
    match tables.len() {
        0 => coded(&key.accepts),
        1..=MOST_FORMS => format!("{}, {}", coded(&key.accepts), listed(&tables)),
        _ if is_registry && !key.accepts.contains('{') => {
            format!("a name such as {}, or a table with its `kind` and parameters", coded(&key.accepts))
        }
        _ => coded(&key.accepts),
    }
}

/// A quantity with its limits: "a time from 1 ms to 10 s".
fn quantity(schema: &Json) -> Option<String> {
    let description = schema["description"].as_str().filter(|_| schema["pattern"].is_string())?;
    let (what, rest) = description.split_once(" with its unit (")?;
    let (_, limits) = rest.split_once("), ")?;
    limits.starts_with("from").then(|| format!("{} {limits}", what.to_lowercase()))
}

/// A number with its limits, and what else stands for one.
fn number(key: &Key, form: &Json, forms: &[Json]) -> String {
    let end = |word: &str| {
        form[word].as_i64().map_or_else(|| general(end_of(form, word), 6), |end| end.to_string())
    };
    let mut text = match form["description"].as_str() {
        Some(described) => coded(described),
        None => {
            let what = if key.accepts.starts_with("a ") { key.accepts.split(',').next() } else { None };
            let limits = format!("from {} to {}", end("minimum"), end("maximum"));
            match what.unwrap_or("a number") {
                what if what.contains(" from ") => coded(what),
                what => format!("{what} {limits}"),
            }
        }
    };
    for other in forms {
        let is_percent = other["pattern"].as_str().is_some_and(|pattern| pattern.contains("(%)"));
        if is_percent && !text.contains('%') {
            text.push_str(", or a percentage");
        }
        if !other["const"].is_null() {
            text.push_str(&format!(", or `{}`", other["const"]));
        }
    }
    text
}

fn end_of(form: &Json, word: &str) -> f64 {
    form[word].as_f64().unwrap_or(f64::NAN)
}

/// The form of a table as a file writes it, unless the text has it already: "`{ every = ... }`".
fn inline(form: &Json, text: &str) -> Option<String> {
    let keys: Vec<&str> = form["properties"].as_object()?.keys().map(String::as_str).collect();
    let first = keys.first()?;
    let entries: Vec<String> = keys.iter().map(|key| format!("{key} = ...")).collect();
    (!text.contains(&format!("{{ {first} "))).then(|| format!("`{{ {} }}`", entries.join(", ")))
}

/// The text with marks around what a file would have: quoted texts, tables and lists.
fn coded(text: &str) -> String {
    let (mut out, mut depth, mut is_quoted, mut is_marked) = (String::new(), 0, false, false);
    for character in text.chars() {
        let was_within = depth > 0 || is_quoted;
        match character {
            '`' => is_marked = !is_marked,
            _ if is_marked => {}
            '{' | '[' if !is_quoted => depth += 1,
            '}' | ']' if !is_quoted => depth -= 1,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        let is_within = depth > 0 || is_quoted;
        if !was_within && is_within {
            out.push('`');
        }
        out.push(character);
        if was_within && !is_within {
            out.push('`');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::nested;

    #[test]
    fn the_tables_have_every_key_of_a_scenario() {
        let (text, whole) = (reference(), Scenario::doc());
        let mut tables = vec![&whole];
        nested(&whole, &mut tables);
        for key in tables.into_iter().flat_map(with_shorthands).filter(|key| key.tables.is_empty()) {
            assert!(text.contains(&format!("\n| `{}` | ", key.name)), "{}", key.name);
        }
    }

    #[test]
    fn a_row_says_what_a_key_takes_and_its_default() {
        let text = reference();
        for row in [
            "| `duration` | a time from 1 ms to 1000000 s | required |",
            "| `count` | a whole number from 1 to 100000 | `1` |",
            "| `max_window` | a number of segments from 1 to 1e+09, or `\"infinite\"` | `\"infinite\"` |",
            "| `ecn` | `true`, `false`, `\"accurate\"` or `\"l4s\"` | `false` |",
            "| `layer` | `2` or `3` | `3` |",
            "| `timestamps` | `true` or `false` | `true` |",
        ] {
            assert!(text.contains(row), "{row}");
        }
    }

    #[test]
    fn what_a_file_would_have_is_code() {
        assert_eq!(
            coded("such as \"5 s\", or { a = [\"0 s\"] }"),
            "such as `\"5 s\"`, or `{ a = [\"0 s\"] }`"
        );
        assert_eq!(coded("the key `[[link]]`"), "the key `[[link]]`");
    }
}
