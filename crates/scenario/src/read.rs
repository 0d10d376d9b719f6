//! Reads scenarios from texts and trees of values.

use crate::at::{At, Context};
use crate::keys;
use crate::problem::{Problem, Refusal, Refused};
use crate::tables::Scenario;
use crate::text::quoted;
use crate::tree::{Item, Table, Value};
use toml_edit::{Document, Item as TomlItem, Value as TomlValue};

/// Reads the tree of a TOML text.
pub fn parse(text: &str) -> Result<Table, Vec<Problem>> {
    let document = Document::parse(text).map_err(|error| {
        let what = error.message().trim_end_matches('.').replace('\n', ", ");
        let word = error.span().and_then(|span| text.get(span)).unwrap_or_default();
        let (what, accepted) = toml_problem(&what, word);
        vec![Problem {
            key: String::new(),
            value: None,
            refusal: Refusal::new(what, accepted),
            span: error.span(),
        }]
    })?;
    Ok(table(document.as_table()))
}

/// What is wrong with a text at this word, and what would be accepted.
fn toml_problem(what: &str, word: &str) -> (String, String) {
    const LISTS: [&str; 5] = ["flow", "link", "node", "background", "program"];
    let name = word.trim_matches(['[', ']', ' ']);
    if let Some(list) = LISTS.iter().find(|list| what.contains("duplicate key") && **list == name) {
        return (format!("[{list}] comes twice"), format!("[[{list}]], a list of tables"));
    }
    if what.starts_with("string values must be quoted") {
        return ("a text has no quotes".to_owned(), quoted(word.trim_end()));
    }
    let (what, expected) = what.split_once(", expected ").unwrap_or((what, "TOML"));
    (format!("this is not TOML: {what}"), expected.to_owned())
}

fn table(from: &toml_edit::Table) -> Table {
    let mut to = Table::default();
    for (key, item) in from.iter() {
        to.set(key, of_item(item));
    }
    to
}

fn of_item(item: &TomlItem) -> Item {
    let value = match item {
        TomlItem::None => Value::Null,
        TomlItem::Value(value) => return of_value(value),
        TomlItem::Table(inner) => Value::Table(table(inner)),
        TomlItem::ArrayOfTables(list) => {
            let tables = list.iter().map(|inner| Item { value: table(inner).into(), span: inner.span() });
            Value::List(tables.collect())
        }
    };
    Item { value, span: item.span() }
}

fn of_value(value: &TomlValue) -> Item {
    let inner = match value {
        TomlValue::String(text) => Value::Text(text.value().clone()),
        TomlValue::Integer(number) => Value::Integer((*number.value()).into()),
        TomlValue::Float(number) => Value::Float(*number.value()),
        TomlValue::Boolean(switch) => Value::Bool(*switch.value()),
        TomlValue::Datetime(moment) => Value::Moment(moment.value().to_string()),
        TomlValue::Array(items) => Value::List(items.iter().map(of_value).collect()),
        TomlValue::InlineTable(inner) => {
            let mut to = Table::default();
            for (key, value) in inner.iter() {
                to.set(key, of_value(value));
            }
            Value::Table(to)
        }
    };
    Item { value: inner, span: value.span() }
}

/// Reads a scenario from a tree.
pub fn scenario(tables: Table, context: &Context<'_>) -> Result<Scenario, Vec<Problem>> {
    if tables.has("base") && tables.has("axes") {
        let refusal = Refusal::new("this is a sweep", "a scenario (see `longfat sweep`)");
        return Err(vec![Problem { key: String::new(), value: None, refusal, span: None }]);
    }
    let (whole, top) = (Item::new(tables.into()), At::top(context));
    let scenario: Scenario = keys::read(&whole, &top).map_err(|refused| match refused {
        Refused::Keys(problems) => problems,
        Refused::Value(refusal) => vec![keys::placed(refusal, &whole, &top)],
    })?;
    let misfits = scenario.misfits();
    if misfits.is_empty() {
        return Ok(scenario);
    }
    Err(misfits.into_iter().map(|refusal| keys::placed(refusal, &whole, &top)).collect())
}
