//! Forms: how scenario files write one kind of value. A form reads and writes values, says what it accepts in
//! messages, and describes itself as a JSON Schema.

use crate::at::At;
use crate::problem::Refused;
use crate::tree::{Item, Table, Value};
use serde_json::{Map, Value as Json, json};

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

impl Key {
    /// A schema that is its own, or refers to it, with its documentation and its default as a file writes it.
    pub fn documented(&self, schema: Json) -> Json {
        let mut found = match schema {
            // an editor shows what stands beside anyOf, not what stands beside $ref
            Json::Object(one) if one.contains_key("$ref") => {
                Map::from_iter([("anyOf".to_owned(), json!([one]))])
            }
            Json::Object(one) => one,
            other => return other,
        };
        let form = found.remove("description").and_then(|text| text.as_str().map(str::to_owned));
        let texts = [Some(self.doc.clone()), form].into_iter().flatten();
        let sentences: Vec<String> = texts.map(|text| format!("{}.", text.trim_end_matches('.'))).collect();
        found.insert("description".to_owned(), sentences.join(" ").into());
        if self.tables.is_empty() && self.default != Value::Null {
            found.insert("default".to_owned(), self.default.json());
        }
        found.into()
    }
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

/// The form of a table that holds a value of another form under its only key.
pub struct Under<F>(pub &'static str, pub F);

impl<F> Under<F> {
    /// Whether it is a table with this key alone.
    pub fn fits(&self, value: &Value) -> bool {
        value.table().is_some_and(|table| table.has_only(&[self.0], &[]))
    }
}

impl<F: Form> Form for Under<F> {
    type Value = F::Value;

    fn accepts(&self) -> String {
        format!("{{ {} = ... }}", self.0)
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<Self::Value, Refused> {
        let inner = item.value.table().and_then(|table| table.get(self.0)).unwrap_or(item);
        self.1.read(inner, &at.below(self.0)).map_err(|refused| match refused {
            Refused::Value(refusal) => Refused::Value(refusal.under(self.0)),
            keys => keys,
        })
    }

    fn write(&self, value: &Self::Value) -> Value {
        Table::of([(self.0, self.1.write(value))]).into()
    }

    fn schema(&self) -> Json {
        table_schema(&[(self.0, self.1.schema())], 1)
    }

    fn view(&self, value: &Self::Value) -> View {
        View::Fields(vec![(self.0, self.1.view(value))])
    }
}

/// A form that is made of functions, for values with a syntax of their own.
pub struct Custom<T> {
    /// What it takes.
    pub accepts: &'static str,
    /// Reads it.
    pub read: fn(&Item, &At<'_>) -> Result<T, Refused>,
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
        (self.read)(item, at)
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

/// The schema of a table with these keys and no others; the first `required` ones have to be given.
pub fn table_schema(keys: &[(&str, Json)], required: usize) -> Json {
    let properties: Map<String, Json> =
        keys.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    let names: Vec<&str> = keys[..required].iter().map(|(key, _)| *key).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}
