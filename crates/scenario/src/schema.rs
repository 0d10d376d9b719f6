//! The definition as a JSON Schema (draft 2020-12), for editors. It checks the form: keys, types, units and
//! names, with their parameters, and which keys a network and a dumbbell need. What depends on several
//! values, such as a window that ends after the run, only the reader checks.
//!
//! A key of several tables is written in the first of them, and the others refer to it as a whole, with its
//! description: editors show what a reference leads to, and some ignore what stands beside the reference.

use crate::form::{Form, Key, TableDoc};
use crate::forms::{
    ALGORITHM, BUFFER, DRAWN_TIME, ElementKind, LOSS, MEASURED_SIZES, QUEUE, ROUTER, VARYING_RATE,
};
use crate::keys::{Checked, Keys};
use crate::stacks::STACKS;
use crate::tables::{Disturbed, Onoff, Scenario, Short, Surge, Transport};
use crate::tree::Value;
use longfat_units::parameters::Kind;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Tables that need either of two keys.
const EITHER: [(&str, &str, &str); 2] = [(Surge::TITLE, "users", "load"), (Short::TITLE, "gap", "load")];
/// The stack of a flow that names none.
const STANDARD_STACK: &str = "rfc";

/// The JSON Schema of scenario files.
pub fn scenario_schema() -> Json {
    let whole = Scenario::doc();
    let mut writer = Writer { shared: shared(), places: Vec::new() };
    let mut definitions = Map::new();
    for base in [Transport::doc(), Disturbed::doc()] {
        let mut schema = writer.table(&base);
        schema.remove("additionalProperties");
        definitions.insert(base.title.to_owned(), schema.into());
    }
    let mut tables = Vec::new();
    nested(&whole, &mut tables);
    for table in tables {
        definitions.insert(table.title.to_owned(), writer.table(table).into());
    }
    for (name, schema) in &writer.shared {
        definitions.insert((*name).to_owned(), writer.referring(schema, Some(name)));
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), DIALECT.into());
    schema.extend(writer.table(&whole));
    schema.insert("title".to_owned(), "Longfat scenario".into());
    schema.insert("oneOf".to_owned(), json!([{"required": ["bottleneck"]}, some("link")]));
    schema.insert("anyOf".to_owned(), json!([some("flow"), some("background"), some("program")]));
    schema.insert("if".to_owned(), some("link"));
    schema.insert("then".to_owned(), in_a_network());
    schema.insert("else".to_owned(), in_a_dumbbell());
    schema.insert("$defs".to_owned(), definitions.into());
    schema.into()
}

/// A list that is given and not empty.
fn some(key: &str) -> Json {
    json!({"required": [key], "properties": {key: {"minItems": 1}}})
}

/// Flows and backgrounds name their nodes; the links' delays make their RTT.
fn in_a_network() -> Json {
    let placed = json!({"items": {"required": ["from", "to"], "properties": {"rtt": false}}});
    json!({"properties": {"flow": placed, "background": placed, "program": {"maxItems": 0}}})
}

/// There are no nodes, and flows have an RTT; so have backgrounds and programs without a flow to take it
/// from.
fn in_a_dumbbell() -> Json {
    let nowhere = json!({"from": false, "to": false});
    json!({
        "properties": {
            "node": {"maxItems": 0},
            "flow": {"items": {"properties": nowhere, "required": ["rtt"]}},
            "background": {"items": {"properties": nowhere}},
        },
        "if": {"not": some("flow")},
        "then": {
            "properties": {"background": {"items": {"required": ["rtt"]}}},
            "if": {"not": some("background")},
            "then": {"properties": {"bottleneck": {"required": ["rtt"]}}},
        },
    })
}

/// Schemas that several keys have, by name.
fn shared() -> Vec<(&'static str, Json)> {
    vec![
        ("Algorithm", ALGORITHM.schema()),
        ("Queue", QUEUE.schema()),
        ("Router", ROUTER.schema()),
        ("Buffer", BUFFER.schema()),
        ("Loss", LOSS.schema()),
        ("VaryingRate", VARYING_RATE.schema()),
        ("DrawnTime", DRAWN_TIME.schema()),
        ("MeasuredSizes", MEASURED_SIZES.schema()),
    ]
}

/// The tables within a table, each once, in the order of the keys that hold them.
pub fn nested<'a>(table: &'a TableDoc, found: &mut Vec<&'a TableDoc>) {
    for inner in table.keys.iter().flat_map(|key| &key.tables) {
        if found.iter().all(|known| known.title != inner.title) {
            found.push(inner);
            nested(inner, found);
        }
    }
}

/// Writes tables, each key once.
struct Writer {
    shared: Vec<(&'static str, Json)>,
    /// The keys that are written, with their schemas and the tables where they stand.
    places: Vec<(&'static str, Json, &'static str)>,
}

impl Writer {
    fn table(&mut self, table: &TableDoc) -> Map<String, Json> {
        let mut properties = Map::new();
        for key in with_shorthands(table) {
            let schema = key.documented(self.referring(&key.schema, None));
            let known = self.places.iter().find(|(name, known, _)| *name == key.name && *known == schema);
            let written = match known {
                Some((_, _, place)) => json!({"$ref": format!("#/$defs/{place}/properties/{}", key.name)}),
                None => {
                    self.places.push((key.name, schema.clone(), table.title));
                    schema
                }
            };
            properties.insert(key.name.to_owned(), written);
        }
        let required: Vec<&str> = table.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
        let mut schema = Map::new();
        schema.insert("title".to_owned(), table.title.into());
        schema.insert("description".to_owned(), table.about.replace('\n', " ").into());
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        if let Some((_, one, other)) = EITHER.iter().find(|(title, ..)| *title == table.title) {
            schema.insert("oneOf".to_owned(), json!([{"required": [one]}, {"required": [other]}]));
        }
        schema
    }

    /// The schema with a reference wherever it has a shared one; `but` is the one that is defined.
    fn referring(&self, schema: &Json, but: Option<&str>) -> Json {
        let known = self.shared.iter().find(|(name, shared)| Some(*name) != but && shared == schema);
        match (known, schema) {
            (Some((name, _)), _) => json!({"$ref": format!("#/$defs/{name}")}),
            (None, Json::Object(words)) => words
                .iter()
                .map(|(word, one)| (word.clone(), self.referring(one, but)))
                .collect::<Map<_, _>>()
                .into(),
            (None, Json::Array(items)) => items.iter().map(|one| self.referring(one, but)).collect(),
            (None, other) => other.clone(),
        }
    }
}

/// The keys of a table, those that stand for others included; on-off sources have an algorithm of their own.
pub fn with_shorthands(table: &TableDoc) -> Vec<Key> {
    let mut keys = table.keys.clone();
    if table.title == Onoff::TITLE
        && let Some(key) = keys.iter_mut().find(|key| key.name == "algorithm")
    {
        key.doc = "The algorithm \"onoff\" with its rate while on and its periods.".to_owned();
        key.default = "onoff".into();
    }
    let mut names = Vec::new();
    Transport::names(&mut names);
    if names.iter().all(|name| keys.iter().any(|key| key.name == *name)) {
        keys.extend(Transport::SHORTHANDS.iter().map(|name| shorthand(name)));
    }
    keys
}

fn shorthand(name: &'static str) -> Key {
    let (doc, words, default) = match name {
        "stack" => (
            "Sets the keys of a host of this name; keys that are written out win.",
            STACKS.iter().map(|stack| stack.name).collect(),
            STANDARD_STACK.into(),
        ),
        _ => ("Short for algorithm = { name = ..., variant = ... }.", variants(), Value::Null),
    };
    Key {
        name,
        doc: doc.to_owned(),
        accepts: crate::text::listed_words(&words),
        schema: json!({"enum": words, "type": "string"}),
        default,
        required: false,
        tables: Vec::new(),
    }
}

/// The variants of all algorithms.
fn variants() -> Vec<&'static str> {
    let parameters = ElementKind::Algorithm.rows().into_iter().flat_map(|row| row.parameters);
    let words = parameters.filter(|parameter| parameter.name == "variant").flat_map(|parameter| {
        match parameter.kind {
            Kind::Choice(words) => words,
            Kind::Number { .. } => &[],
        }
    });
    words.copied().collect::<BTreeSet<_>>().into_iter().collect()
}

/// JSON as people read it.
pub fn printed(json: &Json) -> String {
    format!("{json:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(schema: &Json, of: &mut dyn FnMut(&Json)) {
        of(schema);
        match schema {
            Json::Object(words) => words.values().for_each(|one| each(one, of)),
            Json::Array(items) => items.iter().for_each(|one| each(one, of)),
            _ => {}
        }
    }

    #[test]
    fn each_reference_leads_to_a_schema() {
        let schema = scenario_schema();
        let mut count = 0;
        each(&schema, &mut |one| {
            if let Some(place) = one.get("$ref").and_then(Json::as_str) {
                count += 1;
                let found = schema.pointer(place.trim_start_matches('#'));
                assert!(found.is_some_and(Json::is_object), "{place}");
            }
        });
        assert!(count > 200, "{count}");
    }

    #[test]
    fn each_key_of_each_table_is_there_with_a_description() {
        let (schema, whole) = (scenario_schema(), Scenario::doc());
        let mut tables = Vec::new();
        nested(&whole, &mut tables);
        assert_eq!(tables.len(), 11);
        for table in tables {
            let properties = &schema["$defs"][table.title]["properties"];
            for key in with_shorthands(table) {
                let found = &properties[key.name];
                let place = found["$ref"].as_str().map(|place| place.trim_start_matches('#'));
                let found = place.and_then(|place| schema.pointer(place)).unwrap_or(found);
                let described = found["description"].as_str().unwrap_or_default();
                let doc = key.doc.trim_end_matches('.');
                assert!(!doc.is_empty() && described.starts_with(doc), "{}.{}", table.title, key.name);
            }
        }
    }

    #[test]
    fn the_printed_schema_is_the_schema() {
        let schema = scenario_schema();
        assert_eq!(serde_json::from_str::<Json>(&printed(&schema)).ok(), Some(schema));
    }
}
