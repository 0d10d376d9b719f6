//! The definition as a JSON Schema.

use crate::tree::Value;
use serde_json::Value as Json;

/// A value as JSON.
pub fn json_of(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(switch) => (*switch).into(),
        Value::Integer(number) => i64::try_from(*number).map_or(Json::Null, Json::from),
        Value::Float(number) => (*number).into(),
        Value::Text(text) | Value::Moment(text) => text.clone().into(),
        Value::Object(object) => object.name.clone().into(),
        Value::List(items) => items.iter().map(|item| json_of(&item.value)).collect(),
        Value::Table(table) => table
            .iter()
            .map(|(key, item)| (key.to_owned(), json_of(&item.value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}
