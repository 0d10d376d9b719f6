//! Values that change in steps, as a scenario file writes them: a list of pairs of time and value.

use super::basic::{Quantity, time};
use crate::at::At;
use crate::form::{Form, View};
use crate::problem::{Refusal, Refused, refuse};
use crate::tree::{Item, Value};
use serde_json::{Value as Json, json};

/// The most steps.
const MOST_STEPS: usize = 100_000;
/// The latest time of a step, s.
pub const LATEST_S: f64 = 1e6;
/// The time of a step.
const WHEN: Quantity = time((0.0, LATEST_S), "10 s");

/// Pairs of a time in s and a value, in order of time.
pub struct Steps {
    /// What a value is called.
    pub name: &'static str,
    /// Two values, for messages.
    pub examples: (&'static str, &'static str),
    /// The form of a value.
    pub value: Quantity,
    /// Whether the first step has to be at the beginning of the run.
    pub from_start: bool,
}

impl Steps {
    fn second(&self) -> String {
        format!("[\"10 s\", \"{}\"]", self.examples.1)
    }

    /// Reads a pair that comes after another one.
    fn step(&self, pair: &Value, before: Option<&(f64, f64)>) -> Result<(f64, f64), Refusal> {
        let Some([when, value]) = pair.list() else {
            return refuse(
                "this is not a pair",
                format!("a time and a {} such as {}", self.name, self.second()),
            );
        };
        let step = (WHEN.parse(&when.value)?, self.value.parse(&value.value)?);
        match before {
            None if self.from_start && step.0 != 0.0 => {
                refuse("the first step is later", "\"0 s\", the beginning of the run")
            }
            Some(before) if step.0 <= before.0 => {
                refuse("the time is not later", "a time after the one before")
            }
            _ => Ok(step),
        }
    }
}

impl Form for Steps {
    type Value = Vec<(f64, f64)>;

    fn accepts(&self) -> String {
        format!(
            "a list of 1 to {MOST_STEPS} pairs of time and {} such as [[\"0 s\", \"{}\"], {}]",
            self.name,
            self.examples.0,
            self.second()
        )
    }

    fn read(&self, item: &Item, _: &At<'_>) -> Result<Self::Value, Refused> {
        let Some(pairs) = item.value.list().filter(|pairs| (1..=MOST_STEPS).contains(&pairs.len())) else {
            return refuse("this is no such list", self.accepts());
        };
        let mut steps: Vec<(f64, f64)> = Vec::with_capacity(pairs.len());
        for (index, pair) in pairs.iter().enumerate() {
            let step = self.step(&pair.value, steps.last());
            steps.push(step.map_err(|refusal| refusal.of_item("pair", index))?);
        }
        Ok(steps)
    }

    fn write(&self, steps: &Self::Value) -> Value {
        let pair = |(when, value): &(f64, f64)| {
            Item::new(Value::List(vec![WHEN.write(when).into(), self.value.write(value).into()]))
        };
        Value::List(steps.iter().map(pair).collect())
    }

    fn schema(&self) -> Json {
        let pair = [WHEN.unlimited_schema(), self.value.unlimited_schema()];
        let pair = json!({"type": "array", "prefixItems": pair, "minItems": 2, "maxItems": 2});
        json!({"type": "array", "items": pair, "minItems": 1, "maxItems": MOST_STEPS})
    }

    fn view(&self, steps: &Self::Value) -> View {
        let pair = |&(when, value): &(f64, f64)| View::List(vec![View::Float(when), View::Float(value)]);
        View::List(steps.iter().map(pair).collect())
    }
}
