//! Queues and routers as a scenario names them: by a name, or a table with parameters.
//!
//! The registries know numbers and words. A scenario file says `true` and `false` where a row has a choice
//! between "on" and "off" or between "true" and "false", and "auto" where the number 0 stands for a value
//! that the row works out by itself.

use super::basic::{no_choice, number_schema};
use crate::at::At;
use crate::form::{Form, View, any_of};
use crate::problem::{Refusal, Refused, refuse};
use crate::text::{general, suggestion};
use crate::tree::{Item, Table, Value};
use crate::units::{counted_units, declared_units, from_declared, to_declared};
use longfat_net::{queue, router};
use longfat_units::parameters::{Kind, Parameter, Value as Setting};
use longfat_units::{Entry, Rate};
use serde_json::{Value as Json, json};

/// Words for true and false in the registries.
const SWITCHES: [(&str, &str); 2] = [("on", "off"), ("true", "false")];
/// How files write a number that the row works out by itself.
const AUTO: &str = "auto";

/// The registry that an element is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// Congestion controls and transports over UDP.
    Algorithm,
    /// Queues.
    Queue,
    /// Routers.
    Router,
}

impl ElementKind {
    /// The key that holds the name where a scenario writes a table. Both words are read in each.
    pub const fn name_key(self) -> &'static str {
        if matches!(self, ElementKind::Algorithm) { "name" } else { "kind" }
    }

    const fn one(self) -> &'static str {
        match self {
            ElementKind::Algorithm => "algorithm",
            ElementKind::Queue => "queue",
            ElementKind::Router => "router",
        }
    }

    /// All rows.
    pub fn rows(self) -> Vec<&'static Entry> {
        match self {
            ElementKind::Algorithm => {
                let over_udp = longfat_transport::udp::protocols().map(|row| &row.entry);
                longfat_transport::cc::algorithms().map(|row| &row.entry).chain(over_udp).collect()
            }
            ElementKind::Queue => queue::disciplines().map(|row| &row.entry).collect(),
            ElementKind::Router => router::routers().map(|row| &row.entry).collect(),
        }
    }

    /// The row with this name or alias; the refusal suggests the nearest name. `also` is what else is
    /// accepted.
    pub fn find(self, name: &str, also: &str) -> Result<&'static Entry, Refusal> {
        let rows = self.rows();
        if let Some(row) = rows.iter().find(|row| row.is_called(name)) {
            return Ok(row);
        }
        let one = self.one();
        let article = if one.starts_with('a') { "an" } else { "a" };
        let near = suggestion(name, rows.iter().copied().flat_map(names));
        let known: Vec<String> = rows.iter().map(|row| format!("\"{}\"", row.name)).collect();
        refuse(format!("\"{name}\" is not {article} {one}{near}"), format!("{}{also}", known.join(", ")))
    }
}

/// The name of a row, then its aliases.
fn names(row: &Entry) -> impl Iterator<Item = &'static str> + use<> {
    [row.name].into_iter().chain(row.aliases.iter().copied())
}

/// A queue or a router of a registry, with the parameters that are given, in the registry's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The row's name.
    pub kind: &'static str,
    /// The parameters.
    pub parameters: Vec<(&'static str, Setting)>,
}

impl Element {
    /// Drop-tail.
    pub const DROPTAIL: Element = Element { kind: "droptail", parameters: Vec::new() };

    /// All parameters of its row, with the default of every one that is not given.
    pub fn filled(&self, row: &Entry) -> Vec<(&'static str, Setting)> {
        filled(row, &self.parameters)
    }

    /// Refuses a queue that does not go before a link of this rate.
    pub fn check_queue(&self, rate_bps: f64) -> Result<(), Refusal> {
        let (Some(row), Some(rate)) = (queue::find(self.kind), Rate::from_bps(rate_bps)) else {
            return refuse("there is no such queue", "another one");
        };
        row.checked(rate, &with_owned_names(&self.parameters)).map(|_| ()).map_err(refused_by_row)
    }
}

/// Parameters as a row of a registry takes them.
pub fn with_owned_names(parameters: &[(&'static str, Setting)]) -> Vec<(String, Setting)> {
    parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// What a row refuses.
pub fn refused_by_row(error: impl ToString) -> Refusal {
    let line = error.to_string();
    let (what, accepted) = line.split_once("; give ").unwrap_or((&line, "other values"));
    Refusal::new(what, accepted)
}

/// The other word for the key of the name.
fn other_name_key(key: &str) -> &'static str {
    if key == "name" { "kind" } else { "name" }
}

/// The name and the parameters of a name or a table.
pub fn split_table(value: &Value, kind: ElementKind) -> (Option<&Value>, Vec<(&str, &Item)>) {
    let Some(table) = value.table() else { return (Some(value), Vec::new()) };
    let own = kind.name_key();
    let key = if table.has(own) { own } else { other_name_key(own) };
    let rest = table.iter().filter(|(name, _)| *name != key).collect();
    (table.get(key).map(|item| &item.value), rest)
}

/// Reads parameters of a row; what the row itself refuses is checked by `check`.
pub fn read_parameters(
    row: &'static Entry,
    given: &[(&str, &Item)],
    kind: ElementKind,
) -> Result<Vec<(&'static str, Setting)>, Refusal> {
    let read = |&(name, item): &(&str, &Item)| {
        let Some(parameter) = row.parameters.iter().find(|parameter| parameter.name == name) else {
            if name == "ecn" && kind == ElementKind::Queue {
                let able: Vec<String> = queue::disciplines()
                    .filter(|other| other.ecn)
                    .map(|other| format!("\"{}\"", other.name))
                    .collect();
                return refuse(
                    format!("ecn: {} cannot mark packets", row.name),
                    format!("ecn with {}", able.join(", ")),
                );
            }
            let known: Vec<&str> = row.parameters.iter().map(|parameter| parameter.name).collect();
            let near = suggestion(name, known.iter().copied());
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let what = format!("{} has no parameter \"{name}\"{near}", row.name);
            return Err(Refusal::new(what, known).at_part(name));
        };
        let value = setting(parameter, &item.value).map_err(|refusal| {
            let place = format!("{}.{name} = {}", row.name, crate::text::shown(&item.value));
            refusal.within(&place).at_part(name)
        })?;
        Ok((parameter.name, value))
    };
    given.iter().map(read).collect()
}

fn setting(parameter: &Parameter, value: &Value) -> Result<Setting, Refusal> {
    match parameter.kind {
        Kind::Choice(words) => {
            let known = file_words(parameter);
            match (value, switch_words(words)) {
                (Value::Bool(true), Some((on, _))) => Ok(Setting::Word(on.to_owned())),
                (Value::Bool(false), Some((_, off))) => Ok(Setting::Word(off.to_owned())),
                (Value::Text(word), _) if known.contains(value) => Ok(Setting::Word(word.clone())),
                _ => Err(no_choice(value, &known)),
            }
        }
        Kind::Number { least, greatest, .. } => {
            let also = if parameter.auto.is_some() { format!(" or \"{AUTO}\"") } else { String::new() };
            if parameter.auto.is_some() && value.text() == Some(AUTO) {
                return Ok(Setting::Number(0.0));
            }
            let number = to_declared(value, parameter.unit)
                .map_err(|refusal| Refusal::new(refusal.what, format!("{}{also}", refusal.accepted)))?;
            if parameter.auto.is_some() && number == 0.0 {
                let greatest = shown_declared(greatest, parameter.unit);
                return refuse("it is not above 0", format!("\"{AUTO}\", or above 0 and up to {greatest}"));
            }
            if (least..=greatest).contains(&number) {
                return Ok(Setting::Number(number));
            }
            let side = if number < least { "small" } else { "large" };
            let bound = |x: f64| shown_declared(x, parameter.unit);
            let from = match (parameter.auto, least) {
                (Some(_), 0.0) => "above 0 and up".to_owned(),
                _ => format!("from {}", bound(least)),
            };
            refuse(format!("it is too {side}"), format!("{from} to {}{also}", bound(greatest)))
        }
    }
}

fn shown_declared(x: f64, unit: &str) -> String {
    match from_declared(x, unit) {
        Value::Text(text) => text,
        Value::Integer(number) => number.to_string(),
        _ => crate::text::float(x),
    }
}

/// The row's words for true and false, if the choice is a switch.
fn switch_words(words: &[&str]) -> Option<(&'static str, &'static str)> {
    SWITCHES.into_iter().find(|(on, off)| words.contains(on) && words.contains(off))
}

/// The choices of a parameter as a file writes them: words, then true and false; none for a number.
pub fn file_words(parameter: &Parameter) -> Vec<Value> {
    let Kind::Choice(words) = parameter.kind else { return Vec::new() };
    let switch = switch_words(words);
    let is_word = |word: &&&str| switch.is_none_or(|(on, off)| **word != on && **word != off);
    let mut known: Vec<Value> = words.iter().filter(is_word).map(|word| Value::from(*word)).collect();
    if switch.is_some() {
        known.extend([Value::Bool(true), Value::Bool(false)]);
    }
    known
}

/// A value of a registry as a scenario file writes it.
pub fn written(parameter: &Parameter, value: &Setting) -> Value {
    match (value, parameter.kind) {
        (Setting::Word(word), Kind::Choice(words)) => match switch_words(words) {
            Some((on, _)) if word == on => true.into(),
            Some((_, off)) if word == off => false.into(),
            _ => word.clone().into(),
        },
        (Setting::Number(0.0), _) if parameter.auto.is_some() => AUTO.into(),
        (Setting::Number(x), _) => from_declared(*x, parameter.unit),
        (Setting::Word(word), _) => word.clone().into(),
    }
}

/// The default of a parameter.
pub fn default(parameter: &Parameter) -> Setting {
    match parameter.kind {
        Kind::Number { default, .. } => Setting::Number(default),
        Kind::Choice(words) => Setting::Word(words[0].to_owned()),
    }
}

/// All parameters of a row, with the default of every one that is not given.
pub fn filled(row: &Entry, given: &[(&'static str, Setting)]) -> Vec<(&'static str, Setting)> {
    let value = |parameter: &Parameter| {
        let asked = given.iter().find(|(name, _)| *name == parameter.name);
        (parameter.name, asked.map_or_else(|| default(parameter), |(_, value)| value.clone()))
    };
    row.parameters.iter().map(value).collect()
}

/// A name, or a table with parameters, as a file has it.
pub fn write_named(
    name: Value,
    key: &str,
    row: Option<&Entry>,
    parameters: &[(&'static str, Setting)],
) -> Value {
    let Some(row) = row.filter(|_| !parameters.is_empty()) else { return name };
    let mut table = Table::of([(key, name)]);
    for (name, value) in parameters {
        if let Some(parameter) = row.parameters.iter().find(|parameter| parameter.name == *name) {
            table.push(*name, written(parameter, value));
        }
    }
    table.into()
}

/// Parameters in the registry's numbers and words.
pub fn view_parameters(parameters: &[(&'static str, Setting)]) -> View {
    let one = |value: &Setting| match value {
        Setting::Number(x) => View::Float(*x),
        Setting::Word(word) => View::Text(word.clone()),
    };
    View::Fields(parameters.iter().map(|(name, value)| (*name, one(value))).collect())
}

/// The form of a queue or a router.
pub struct Named {
    kind: ElementKind,
    example: &'static str,
}

/// A queue.
pub const QUEUE: Named = Named { kind: ElementKind::Queue, example: "droptail" };
/// A router.
pub const ROUTER: Named = Named { kind: ElementKind::Router, example: "xcp" };

impl Form for Named {
    type Value = Element;

    fn accepts(&self) -> String {
        format!("\"{}\"", self.example)
    }

    fn read(&self, item: &Item, _: &At<'_>) -> Result<Element, Refused> {
        let (name, given) = split_table(&item.value, self.kind);
        let Some(name) = name.and_then(Value::text) else {
            let one = self.kind.one();
            let accepted = format!(
                "the name of a {one} such as \"{}\", or a table with its kind and parameters",
                self.example
            );
            return refuse(format!("this is not a {one}"), accepted);
        };
        let row = self.kind.find(name, "")?;
        Ok(Element { kind: row.name, parameters: read_parameters(row, &given, self.kind)? })
    }

    fn write(&self, value: &Element) -> Value {
        write_named(value.kind.into(), "kind", self.kind.find(value.kind, "").ok(), &value.parameters)
    }

    fn schema(&self) -> Json {
        kind_schema(self.kind)
    }

    fn view(&self, value: &Element) -> View {
        let settings = self.kind.find(value.kind, "").map(|row| view_parameters(&value.filled(row)));
        View::Fields(vec![
            ("kind", View::Text(value.kind.to_owned())),
            ("parameters", view_parameters(&value.parameters)),
            ("settings", settings.unwrap_or(View::None)),
        ])
    }
}

/// The JSON Schema of a name of a registry, or a table with parameters.
pub fn kind_schema(kind: ElementKind) -> Json {
    let rows = kind.rows();
    let names: Vec<&str> = rows.iter().copied().flat_map(names).collect();
    let tables = rows.iter().map(|row| row_schema(row, kind.name_key()));
    any_of([json!({"enum": names})].into_iter().chain(tables))
}

/// The schema of a table that names this row under `key` (or the other of "name" and "kind").
pub fn row_schema(row: &Entry, key: &str) -> Json {
    let names: Vec<&str> = names(row).collect();
    let other = other_name_key(key);
    let mut properties = serde_json::Map::new();
    properties.insert(key.to_owned(), json!({"enum": names}));
    properties.insert(other.to_owned(), json!({"enum": names}));
    for parameter in row.parameters {
        properties.insert(parameter.name.to_owned(), parameter_schema(parameter));
    }
    json!({"type": "object", "description": row.citation, "properties": properties,
        "oneOf": [{"required": [key]}, {"required": [other]}], "additionalProperties": false})
}

/// The schema of one parameter, with its meaning, its default and its limits.
pub fn parameter_schema(parameter: &Parameter) -> Json {
    let auto = parameter.auto.map_or_else(String::new, |is| format!("; {AUTO}: {is}"));
    let mut schema = match parameter.kind {
        Kind::Choice(_) => {
            let known: Vec<Json> = file_words(parameter).iter().map(Value::json).collect();
            json!({"enum": known})
        }
        Kind::Number { default, least, greatest } => {
            let automatic = parameter.auto.map(|_| json!({"const": AUTO}));
            let negative = least < 0.0;
            let units = declared_units(parameter.unit);
            let mut forms = Vec::new();
            if units.is_empty() {
                // 0 is how the row has "auto"
                let minimum =
                    if automatic.is_some() && least == 0.0 { "exclusiveMinimum" } else { "minimum" };
                forms.push(json!({"type": "number", (minimum): least, "maximum": greatest}));
                if !parameter.unit.is_empty() {
                    let example = format!("20 {}", parameter.unit);
                    let units = counted_units(parameter.unit);
                    forms.push(number_schema("A number", &example, &units, negative));
                }
            } else {
                let example = format!("{} {}", general(default, 6), parameter.unit);
                forms.push(number_schema("A quantity", &example, &units, negative));
            }
            any_of(forms.into_iter().chain(automatic))
        }
    };
    schema["description"] = format!("{}{auto}", parameter.meaning).into();
    schema["default"] = written(parameter, &default(parameter)).json();
    schema
}
