//! Values as files, Python and JSON have them, each with its place in the text if it comes from one.

use serde_json::Value as Json;
use std::ops::Range;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub value: Value,
    /// The bytes of the text that it takes; `None` if it comes from elsewhere.
    pub span: Option<Range<usize>>,
    /// The bytes of its key in the text; `None` if it has none.
    pub key: Option<Range<usize>>,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Python's None.
    Null,
    /// A switch.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A date or a time of TOML, which no key takes.
    Moment(String),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
    /// An object of Python.
    Object(Object),
}

/// An object of Python, such as the class of a user's own algorithm.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name in messages and files: "file.py:Class" for a class or function.
    pub name: String,
    /// Its number among the objects that the binding keeps.
    pub index: usize,
    /// Whether it can be called.
    pub is_callable: bool,
}

/// Objects of one name are equal here; the binding knows whether they are the same.
impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        self.name == other.name
    }
}

impl Eq for Object {}

/// Keys and values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(Vec<(String, Item)>);

impl Item {
    /// A value that comes from no text.
    pub const fn new(value: Value) -> Item {
        Item { value, span: None, key: None }
    }
}

impl<V: Into<Value>> From<V> for Item {
    fn from(value: V) -> Item {
        Item::new(value.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

macro_rules! values_of {
    ($($Type:ty => $kind:ident,)*) => {$(
        impl From<$Type> for Value {
            fn from(value: $Type) -> Value {
                Value::$kind(value)
            }
        }
    )*};
}

values_of! {
    bool => Bool,
    String => Text,
    Vec<Item> => List,
    Table => Table,
}

impl Value {
    /// A number, whole if it is.
    pub fn of_number(x: f64) -> Value {
        if x.fract() == 0.0 && x.abs() < 1e15 { Value::Integer(x as i128) } else { Value::Float(x) }
    }

    /// The number that it is; `None` for anything else, switches too.
    pub const fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// It as JSON.
    pub fn json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(switch) => (*switch).into(),
            Value::Integer(number) => i64::try_from(*number).map_or(Json::Null, Json::from),
            Value::Float(number) => (*number).into(),
            Value::Text(text) | Value::Moment(text) => text.clone().into(),
            Value::Object(object) => object.name.clone().into(),
            Value::List(items) => items.iter().map(|item| item.value.json()).collect(),
            Value::Table(table) => table
                .iter()
                .map(|(key, item)| (key.to_owned(), item.value.json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// The whole number that it is, also if it is written with a point: for JSON, 2 and 2.0 are the same.
    pub fn whole(&self) -> Option<i128> {
        match self {
            Value::Integer(number) => Some(*number),
            Value::Float(number) if number.fract() == 0.0 => Some(*number as i128),
            _ => None,
        }
    }

    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The table that it is.
    pub const fn table(&self) -> Option<&Table> {
        match self {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The items of the list that it is.
    pub fn list(&self) -> Option<&[Item]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }
}

impl Table {
    /// An empty table with room for this many entries.
    pub fn with_room(entries: usize) -> Table {
        Table(Vec::with_capacity(entries))
    }

    /// A table with these entries.
    pub fn of<K: Into<String>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Table {
        Table(entries.into_iter().map(|(key, value)| (key.into(), Item::new(value.into()))).collect())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, item)| item)
    }

    /// The value of a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        self.0.iter_mut().find(|(known, _)| known == key).map(|(_, item)| item)
    }

    /// The place of a key: its value, or an empty table that is put there.
    pub fn place(&mut self, key: &str) -> &mut Item {
        let known = self.0.iter().position(|(known, _)| known == key);
        let index = known.unwrap_or_else(|| {
            self.push(key, Table::default());
            self.0.len() - 1
        });
        &mut self.0[index].1
    }

    /// Whether it has this key.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a key, in its place if it is there, else at the end.
    pub fn set(&mut self, key: impl Into<String>, item: impl Into<Item>) {
        let (key, item) = (key.into(), item.into());
        match self.get_mut(&key) {
            Some(known) => *known = item,
            None => self.0.push((key, item)),
        }
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) -> Option<Item> {
        let index = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(index).1)
    }

    /// Keeps the entries that `is_kept` returns true for.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&str, &Item) -> bool) {
        self.0.retain(|(key, item)| is_kept(key, item));
    }

    /// The entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Item)> {
        self.0.iter().map(|(key, item)| (key.as_str(), item))
    }

    /// The values, in order, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.0.iter_mut().map(|(_, item)| item)
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// Whether it has exactly the first keys, and perhaps some of the second.
    pub fn has_only(&self, required: &[&str], optional: &[&str]) -> bool {
        required.iter().all(|key| self.has(key))
            && self.keys().all(|key| required.contains(&key) || optional.contains(&key))
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an entry that is not there yet.
    pub fn push(&mut self, key: impl Into<String>, item: impl Into<Item>) {
        self.0.push((key.into(), item.into()));
    }
}
