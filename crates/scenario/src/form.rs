//! Forms: how scenario files write one kind of value. A form reads and writes values, says what it accepts in
//! messages, and describes itself as a JSON Schema.

use crate::at::At;
use crate::problem::{Refusal, Refused};
use crate::tree::{Item, Value};
use serde_json::{Value as Json, json};

/// What Python and pages see of a value: SI numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum View {
    /// Nothing.
    None,
    /// A switch.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<View>),
    /// Values with names.
    Fields(Vec<(&'static str, View)>),
}

/// One key of a table, for documentation, schemas and stubs.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name in files.
    pub name: &'static str,
    /// Its effect, in a sentence or two.
    pub doc: String,
    /// What it takes.
    pub accepts: String,
    /// Its JSON Schema.
    pub schema: Json,
    /// Its default as a file writes it; null if it has none.
    pub default: Value,
    /// Whether it has to be given.
    pub required: bool,
    /// The tables that it holds.
    pub tables: Vec<TableDoc>,
}

/// A table, for documentation, schemas and stubs.
#[derive(Clone, Debug)]
pub struct TableDoc {
    /// Its name, such as "Flow".
    pub title: &'static str,
    /// What it is.
    pub about: String,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// How files write one kind of value.
pub trait Form {
    /// What it is inside.
    type Value;

    /// What it takes, for the message where it is missing.
    fn accepts(&self) -> String;

    /// Reads it.
    fn read(&self, item: &Item, at: &At<'_>) -> Result<Self::Value, Refused>;

    /// Writes it as a file has it.
    fn write(&self, value: &Self::Value) -> Value;

    /// Its JSON Schema.
    fn schema(&self) -> Json;

    /// It in SI numbers.
    fn view(&self, value: &Self::Value) -> View;

    /// The tables that it holds, for documentation.
    fn tables(&self) -> Vec<TableDoc> {
        Vec::new()
    }
}

/// A form whose value may be missing.
pub struct Maybe<F>(pub F);

impl<F: Form> Form for Maybe<F> {
    type Value = Option<F::Value>;

    fn accepts(&self) -> String {
        self.0.accepts()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<Self::Value, Refused> {
        if item.value == Value::Null { Ok(None) } else { self.0.read(item, at).map(Some) }
    }

    fn write(&self, value: &Self::Value) -> Value {
        value.as_ref().map_or(Value::Null, |value| self.0.write(value))
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }

    fn view(&self, value: &Self::Value) -> View {
        value.as_ref().map_or(View::None, |value| self.0.view(value))
    }

    fn tables(&self) -> Vec<TableDoc> {
        self.0.tables()
    }
}

/// A form that is made of functions, for values with a syntax of their own.
pub struct Custom<T> {
    /// What it takes.
    pub accepts: &'static str,
    /// Reads it.
    pub read: fn(&Value, &At<'_>) -> Result<T, Refusal>,
    /// Writes it.
    pub write: fn(&T) -> Value,
    /// Its JSON Schema.
    pub schema: fn() -> Json,
    /// It in SI numbers.
    pub view: fn(&T) -> View,
}

impl<T> Form for Custom<T> {
    type Value = T;

    fn accepts(&self) -> String {
        self.accepts.to_owned()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<T, Refused> {
        Ok((self.read)(&item.value, at)?)
    }

    fn write(&self, value: &T) -> Value {
        (self.write)(value)
    }

    fn schema(&self) -> Json {
        (self.schema)()
    }

    fn view(&self, value: &T) -> View {
        (self.view)(value)
    }
}

/// A schema that one of these has to accept.
pub fn any_of(schemas: impl IntoIterator<Item = Json>) -> Json {
    json!({"anyOf": schemas.into_iter().collect::<Vec<_>>()})
}

/// The schema of an inline table with these keys and no others.
pub fn table_schema(required: &[(&str, Json)], optional: &[(&str, Json)]) -> Json {
    let properties: serde_json::Map<String, Json> =
        required.iter().chain(optional).map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    let names: Vec<&str> = required.iter().map(|(key, _)| *key).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}
