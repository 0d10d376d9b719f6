//! Changes of tables by dotted keys: for `--set`, the axes of a sweep, and values that replace others.

use crate::problem::{Refusal, refuse};
use crate::read::parse;
use crate::stacks;
use crate::tree::{Item, Table, Value};

/// Keys whose value may be a bare name, and the key of that name in the table that it is short for.
const SHORT_FORMS: [(&str, &str); 4] =
    [("algorithm", "name"), ("queue", "kind"), ("router", "kind"), ("reverse_queue", "kind")];

/// Sets a dotted key in nested tables; list positions are numbers. Makes tables that are missing.
///
/// # Errors
///
/// The key passes through a value that is not a table, or a list lacks the position.
pub fn set(tables: &mut Table, key: &str, value: Item) -> Result<(), Refusal> {
    let parts: Vec<&str> = key.split('.').collect();
    let mut here = tables.place(parts[0]);
    for (depth, part) in parts.iter().enumerate().skip(1) {
        let short = SHORT_FORMS.iter().find(|(name, _)| *name == parts[depth - 1]);
        if let Some((_, name)) = short
            && !matches!(here.value, Value::Table(_) | Value::List(_))
        {
            let bare = std::mem::replace(&mut here.value, Value::Null);
            *here = Item::new(Table::of([(*name, bare)]).into()); // the text has no such table
        }
        let passed = parts[..depth].join(".");
        here = match &mut here.value {
            Value::List(items) => {
                let index = position(items, part, &passed, key)?;
                &mut items[index]
            }
            Value::Table(table) => table.place(part),
            _ => return refuse(format!("{key}: {passed} is not a table"), "the whole value"),
        };
    }
    *here = value;
    Ok(())
}

fn position(items: &[Item], part: &str, list: &str, key: &str) -> Result<usize, Refusal> {
    let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match part.parse::<usize>() {
        Ok(index) if is_number && index < items.len() => Ok(index),
        _ => {
            let positions = match items.len() {
                0 => "nothing, it is empty".to_owned(),
                length => format!("a position from 0 to {}", length - 1),
            };
            refuse(format!("{key}: there is no {list}.{part}"), format!("after {list} {positions}"))
        }
    }
}

/// The key and the value of "key=value"; the value is read as TOML if it is, else as a text.
pub fn assignment(text: &str) -> Result<(String, Value), Refusal> {
    let accepted = "key=value such as \"flow.0.rtt=82 ms\"";
    let Some((key, value)) = text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
        return refuse(format!("--set {text} has no \"=\""), accepted);
    };
    if key.is_empty() || value.is_empty() {
        let lacks = if key.is_empty() { "key" } else { "value" };
        return refuse(format!("--set {text} has no {lacks}"), accepted);
    }
    let read = parse(&format!("value = {value}")).ok().filter(|table| table.keys().eq(["value"]));
    let found = read.and_then(|mut table| table.remove("value")).map(|item| without_places(item.value));
    match found {
        Some(found) => Ok((key.to_owned(), found)),
        None if value.starts_with(['"', '\'', '[', '{']) => refuse(
            format!("--set {key}={value} does not close what it opens"),
            "a value as a scenario file writes it, or a text without quotes",
        ),
        None => Ok((key.to_owned(), value.into())),
    }
}

/// The same value without its places in a text.
fn without_places(value: Value) -> Value {
    match value {
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| Item::new(without_places(item.value))).collect())
        }
        Value::Table(table) => {
            Table::of(table.iter().map(|(key, item)| (key.to_owned(), without_places(item.value.clone()))))
                .into()
        }
        plain => plain,
    }
}

/// Takes the keys that stacks set out of each flow and background that gets another stack, so that the stack
/// sets them all.
pub fn make_room_for_stacks<'a>(tables: &mut Table, changed: impl Iterator<Item = &'a str>) {
    for key in changed {
        let parts: Vec<&str> = key.split('.').collect();
        let [kind @ ("flow" | "background"), number, "stack"] = parts[..] else { continue };
        let Some(Value::List(items)) = tables.get_mut(kind).map(|item| &mut item.value) else { continue };
        let part = number.parse::<usize>().ok().and_then(|number| items.get_mut(number));
        if let Some(Value::Table(part)) = part.map(|item| &mut item.value) {
            for preset in stacks::preset_keys() {
                part.remove(preset);
            }
        }
    }
}
