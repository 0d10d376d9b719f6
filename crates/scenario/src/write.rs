//! Writes scenarios as TOML.

use crate::forms::{Added, Source};
use crate::keys;
use crate::tables::Scenario;
use crate::tree::{Item, Table, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item as TomlItem, Value as TomlValue};

/// The tables of a scenario as a file has them.
pub fn tables(scenario: &Scenario) -> Table {
    keys::write(scenario)
}

/// The text of these tables. Objects of Python stand there by their names.
pub fn toml(tables: &Table) -> String {
    DocumentMut::from(table(tables)).to_string()
}

/// Plain values come first, then tables, then lists of tables.
fn table(from: &Table) -> toml_edit::Table {
    let mut to = toml_edit::Table::new();
    for (key, item) in from.iter() {
        if let Some(value) = plain(item) {
            to.insert(key, TomlItem::Value(value));
        }
    }
    for (key, item) in from.iter().filter(|(_, item)| plain(item).is_none()) {
        match &item.value {
            Value::Table(inner) => {
                to.insert(key, TomlItem::Table(table(inner)));
            }
            Value::List(items) => {
                let tables = items.iter().filter_map(|item| item.value.table()).map(table);
                to.insert(key, TomlItem::ArrayOfTables(tables.collect()));
            }
            _ => {}
        }
    }
    to
}

/// The most characters of a table that is written within its line.
const MOST_INLINE: usize = 90;

/// A value that is written within a line; `None` for tables and lists of tables.
fn plain(item: &Item) -> Option<TomlValue> {
    match &item.value {
        Value::Table(table) => {
            let value = value(item)?;
            let is_flat = table.iter().all(|(_, item)| !matches!(item.value, Value::List(_)));
            (is_flat && value.to_string().len() <= MOST_INLINE).then_some(value)
        }
        Value::List(items) if items.iter().any(|item| item.value.table().is_some()) => {
            let value = value(item)?;
            (value.to_string().len() <= MOST_INLINE).then_some(value)
        }
        _ => value(item),
    }
}

fn value(item: &Item) -> Option<TomlValue> {
    Some(match &item.value {
        Value::Null => return None,
        Value::Bool(switch) => (*switch).into(),
        Value::Integer(number) => i64::try_from(*number).ok()?.into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) | Value::Moment(text) => text.clone().into(),
        Value::Object(object) => object.name.clone().into(),
        Value::List(items) => TomlValue::Array(items.iter().filter_map(value).collect::<Array>()),
        Value::Table(table) => {
            let mut inline = InlineTable::new();
            for (key, item) in table.iter() {
                inline.insert(key, value(item)?);
            }
            TomlValue::InlineTable(inline)
        }
    })
}

/// The files of a scenario's traces.
pub fn sources(scenario: &Scenario) -> Vec<&Source> {
    let links = scenario.link.iter().map(|link| (&link.rate, &link.added_delay));
    let bottleneck = scenario.bottleneck.iter().map(|link| (&link.rate, &link.added_delay));
    links.chain(bottleneck).flat_map(|(rate, added)| [rate.source(), of_delays(added)]).flatten().collect()
}

const fn of_delays(added: &Option<Added>) -> Option<&Source> {
    match added {
        Some(Added::Steps(delays)) => delays.source.as_ref(),
        _ => None,
    }
}
