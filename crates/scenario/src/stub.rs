//! The module of typed constructors for Python: a class for each table, whose arguments are the table's keys.

use crate::form::{Key, TableDoc};
use crate::keys::Keys;
use crate::schema::{nested, with_shorthands};
use crate::tables::{Disturbed, Scenario, Transport};
use serde_json::Value as Json;

/// The most columns of a line.
const MOST_COLUMNS: usize = 110;

const HEAD: &str = r#""""Typed constructors of tables of a scenario, generated from its keys.

Each is a dict with the keys that are given: what a scenario file would have in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal
"#;

const TABLE: &str = r#"

class Table(dict[str, Any]):
    """A table of a scenario, with the keys that are given."""

    def __init__(self, keys: Mapping[str, Any]) -> None:
        super().__init__({key: value for key, value in keys.items() if value is not None})

    def __repr__(self) -> str:
        keys = ", ".join(f"{'origin' if key == 'from' else key}={value!r}" for key, value in self.items())
        return f"{type(self).__name__}({keys})"
"#;

/// The text of the module.
pub fn stub() -> String {
    let whole = Scenario::doc();
    let mut tables = Vec::new();
    nested(&whole, &mut tables);
    let kinds: Vec<&str> =
        tables.iter().filter(|table| kind(table).is_some()).map(|table| table.title).collect();
    let mut long = Vec::new();
    let classes: Vec<String> = tables.iter().map(|table| class(table, &mut long)).collect();
    let mut out = HEAD.to_owned();
    for (index, (name, words)) in long.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { "" });
        out.push_str(&alias(name, words));
    }
    out.push_str(TABLE);
    for class in classes {
        out.push_str("\n\n");
        out.push_str(&class);
    }
    out.push_str(&format!(
        "\n\nBackground = {}\n\"\"\"Traffic that comes and goes.\"\"\"\n",
        kinds.join(" | ")
    ));
    out
}

/// The kind of background that a table is.
fn kind(table: &TableDoc) -> Option<&str> {
    table.keys.iter().find(|key| key.name == "kind").and_then(|key| key.schema["const"].as_str())
}

/// The keys that a constructor takes without their names.
const fn positional(title: &str) -> &'static [&'static str] {
    match title.as_bytes() {
        b"Flow" => &["algorithm"],
        b"Link" => &["from", "to"],
        b"Node" => &["name"],
        b"Program" => &["command"],
        _ => &[],
    }
}

/// A name for a type that is too long for an argument's line.
fn alias(name: &str, words: &str) -> String {
    let line = format!("{name} = Literal[{words}]\n");
    if line.chars().count() <= MOST_COLUMNS {
        return line;
    }
    format!("{name} = Literal[\n    {},\n]\n", words.replace(", ", ",\n    "))
}

/// Whether most tables of flows, or of links, have this key; it comes after the others.
fn is_shared(key: &Key) -> bool {
    let mut shared = Vec::new();
    Transport::names(&mut shared);
    Disturbed::names(&mut shared);
    key.name != "algorithm" && shared.contains(&key.name)
}

/// The class of a table; types that are too long go into `long`, with their names.
fn class(table: &TableDoc, long: &mut Vec<(String, String)>) -> String {
    let first = positional(table.title);
    let keys: Vec<Key> = with_shorthands(table).into_iter().filter(|key| key.name != "kind").collect();
    let place = |key: &Key| first.iter().position(|name| *name == key.name).unwrap_or(first.len());
    let mut ordered: Vec<&Key> = keys.iter().collect();
    ordered.sort_by_key(|key| (place(key), !key.required, is_shared(key)));
    let mut about = table.about.lines();
    let mut out = format!("class {}(Table):\n", table.title);
    out.push_str(&wrapped(&format!("\"\"\"{}", about.next().unwrap_or_default()), "    ", "    "));
    for line in about {
        out.push_str(&if line.is_empty() { "\n".to_owned() } else { wrapped(line, "    ", "    ") });
    }
    out.push_str("\n    Args:\n");
    for key in &ordered {
        let doc = key.doc.replace('\n', " ").replace('\\', "\\\\");
        out.push_str(&wrapped(&format!("{}: {doc}", argument(key)), "        ", "            "));
    }
    out.push_str("    \"\"\"\n\n    def __init__(\n        self,\n");
    for (index, key) in ordered.iter().enumerate() {
        if index == first.len() {
            out.push_str("        *,\n");
        }
        let optional = if key.required { "" } else { " | None = None" };
        let mut line = format!("        {}: {}{optional},\n", argument(key), of_python(&key.schema));
        if line.chars().count() > MOST_COLUMNS
            && let Some((_, rest)) = line.split_once("Literal[")
            && let Some((words, _)) = rest.split_once(']')
        {
            let (name, words) = (title(key.name), words.to_owned());
            line = format!("        {}: {name}{optional},\n", argument(key));
            if !long.iter().any(|(known, _)| *known == name) {
                long.push((name, words));
            }
        }
        out.push_str(&line);
    }
    out.push_str("    ) -> None:\n        super().__init__(\n            {\n");
    if let Some(kind) = kind(table) {
        out.push_str(&format!("                \"kind\": \"{kind}\",\n"));
    }
    for key in &ordered {
        out.push_str(&format!("                \"{}\": {},\n", key.name, argument(key)));
    }
    out.push_str("            }\n        )\n");
    out
}

/// The name of a key in Python.
fn argument(key: &Key) -> &'static str {
    if key.name == "from" { "origin" } else { key.name }
}

/// "loss_detection" as "LossDetection".
fn title(name: &str) -> String {
    let capital =
        |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect();
    name.split('_').map(|word| -> String { capital(word) }).collect()
}

/// The text in lines of at most 110 columns.
fn wrapped(text: &str, first: &str, next: &str) -> String {
    let (mut out, mut line) = (String::new(), first.to_owned());
    for word in text.split_whitespace() {
        let space = if line.trim().is_empty() { "" } else { " " };
        if !space.is_empty() && line.chars().count() + 1 + word.chars().count() > MOST_COLUMNS {
            out.push_str(&line);
            out.push('\n');
            line = format!("{next}{word}");
        } else {
            line.push_str(space);
            line.push_str(word);
        }
    }
    out + &line + "\n"
}

/// The type in Python of what a schema accepts.
fn of_python(schema: &Json) -> String {
    let mut types = Types::default();
    types.add(schema);
    types.written()
}

/// The types that a union has.
#[derive(Default)]
struct Types {
    plain: Vec<&'static str>,
    words: Vec<String>,
    numbers: Vec<String>,
    list: bool,
    table: bool,
    own: bool,
}

impl Types {
    fn add(&mut self, schema: &Json) {
        for one in schema["anyOf"].as_array().into_iter().chain(schema["oneOf"].as_array()).flatten() {
            self.add(one);
        }
        let choices = schema["enum"].as_array().map_or(std::slice::from_ref(&schema["const"]), Vec::as_slice);
        for choice in choices {
            match choice {
                Json::Bool(_) => self.add_plain("bool"),
                Json::String(word) => self.words.push(word.clone()),
                Json::Number(number) => self.numbers.push(number.to_string()),
                _ => {}
            }
        }
        let is_choice = !choices[0].is_null();
        match schema["type"].as_str() {
            _ if is_choice => {}
            Some("boolean") => self.add_plain("bool"),
            Some("integer") => self.add_plain("int"),
            Some("number") => self.add_plain("float"),
            Some("string") => self.add_plain("str"),
            Some("array") => self.list = true,
            Some("object") => self.table = true,
            _ => {}
        }
        self.own |= schema["pattern"].as_str().is_some_and(|pattern| pattern.contains(r"\.py:"));
    }

    fn add_plain(&mut self, name: &'static str) {
        if !self.plain.contains(&name) {
            self.plain.push(name);
        }
    }

    fn written(mut self) -> String {
        // a name of a registry may also come from a variable
        if self.table && !self.words.is_empty() {
            self.add_plain("str");
        }
        let mut parts: Vec<String> = self.plain.iter().map(|name| (*name).to_owned()).collect();
        if !self.words.is_empty() && !self.plain.contains(&"str") {
            let words: Vec<String> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
            parts.push(format!("Literal[{}]", words.join(", ")));
        }
        if !self.numbers.is_empty() {
            parts.push(format!("Literal[{}]", self.numbers.join(", ")));
        }
        if self.list {
            parts.push("Sequence[Any]".to_owned());
        }
        if self.table {
            parts.push("Mapping[str, Any]".to_owned());
        }
        if self.own {
            parts.push("Callable[..., Any]".to_owned());
        }
        parts.join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_an_argument_of_its_table() {
        let (text, whole) = (stub(), Scenario::doc());
        let mut tables = Vec::new();
        nested(&whole, &mut tables);
        for table in tables {
            let begin = text.find(&format!("\nclass {}(Table):", table.title)).unwrap_or(text.len());
            let class = text[begin..].split("\n\n\n").next().unwrap_or_default();
            for key in with_shorthands(table).iter().filter(|key| key.name != "kind") {
                let name = argument(key);
                assert!(class.contains(&format!("\n        {name}: ")), "{}.{name}", table.title);
                assert!(class.contains(&format!("\"{}\": {name},\n", key.name)), "{}.{name}", table.title);
            }
        }
    }

    #[test]
    fn a_key_has_the_type_of_what_it_takes() {
        let text = stub();
        for argument in [
            "rate: str | Mapping[str, Any],",
            "loss: float | str | Mapping[str, Any] | None = None,",
            "ecn: bool | Literal[\"accurate\", \"l4s\"] | None = None,",
            "algorithm: str | Mapping[str, Any] | Callable[..., Any] | None = None,",
            "layer: Literal[2, 3] | None = None,",
            "count: int | str | None = None,",
        ] {
            assert!(text.contains(&format!("\n        {argument}\n")), "{argument}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= MOST_COLUMNS));
    }
}
