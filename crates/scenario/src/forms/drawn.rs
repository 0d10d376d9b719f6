//! Quantities that are fixed or drawn, and files of measured values.

use super::basic::{MOMENT, Quantity, RTT, TRANSFER_BYTES, plain_schema, size};
use crate::at::At;
use crate::form::{Form, View, any_of, table_schema};
use crate::problem::{Refusal, Refused, refuse};
use crate::text::shown;
use crate::tree::{Item, Table, Value};
use crate::units::split;
use crate::world::measured_text;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

/// The most rows of a file of measured values.
const MOST_VALUES: usize = 100_000;
/// The largest such file; longer lines than these rows need are comments.
const MOST_BYTES: u64 = 16_000_000;
const GREATEST_WEIGHT: f64 = 1e15;

const ACCEPTED: &str = "a time such as \"42 ms\", { uniform = [\"0 s\", \"40 s\"] }, \
     { exponential = \"40 ms\" } or { empirical = \"file.csv\" }";

/// Values and their weights.
pub type Rows = Arc<[(f64, f64)]>;

/// A value that is fixed, or drawn once for each flow or connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Uniform in [low, high).
    Uniform(f64, f64),
    /// The least value plus an exponential part; the second number is the mean of the sum.
    Exponential(f64, f64),
    /// One of these values, with probabilities in proportion to the weights.
    Empirical(Rows),
    /// Always this value.
    #[serde(untagged)]
    Fixed(f64),
}

impl Drawn {
    /// The least value that can be drawn.
    pub fn least(&self) -> f64 {
        match self {
            Drawn::Fixed(x) | Drawn::Uniform(x, _) | Drawn::Exponential(x, _) => *x,
            Drawn::Empirical(rows) => {
                rows.iter().filter(|row| row.1 > 0.0).map(|row| row.0).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// The mean of the draws.
    pub fn mean(&self) -> f64 {
        match self {
            Drawn::Fixed(x) | Drawn::Exponential(_, x) => *x,
            Drawn::Uniform(low, high) => 0.5 * (low + high),
            Drawn::Empirical(rows) => weighted_mean(rows, |x| x),
        }
    }

    /// Whether one draw can differ from another.
    pub fn is_random(&self) -> bool {
        match self {
            Drawn::Fixed(_) => false,
            Drawn::Uniform(low, high) | Drawn::Exponential(low, high) => low < high,
            Drawn::Empirical(rows) => {
                let mut values = rows.iter().filter(|row| row.1 > 0.0).map(|row| row.0);
                let first = values.next();
                values.any(|value| Some(value) != first)
            }
        }
    }

    /// The same value, so much later; an exponential one stays.
    #[must_use]
    pub fn later(&self, delay: f64) -> Drawn {
        match self {
            Drawn::Fixed(x) => Drawn::Fixed(x + delay),
            Drawn::Uniform(low, high) => Drawn::Uniform(low + delay, high + delay),
            Drawn::Exponential(..) => self.clone(),
            Drawn::Empirical(rows) => {
                Drawn::Empirical(rows.iter().map(|&(value, weight)| (value + delay, weight)).collect())
            }
        }
    }
}

/// The mean of what `of` makes of the values.
pub fn weighted_mean(rows: &[(f64, f64)], of: impl Fn(f64) -> f64) -> f64 {
    let (products, weights) = rows.iter().map(|&(x, w)| (of(x) * w, w)).unzip::<_, _, Vec<_>, Vec<_>>();
    crate::sums::sum(&products) / crate::sums::sum(&weights)
}

/// The form of measured values: a table that names their file, or has them.
pub struct Measured(Quantity);

impl Measured {
    fn fits(value: &Value) -> bool {
        value.table().is_some_and(|table| table.has_only(&["empirical"], &[]))
    }

    /// Reads the name of a file, or rows that are a value, or a value and its weight.
    fn rows(&self, value: &Value, at: &At<'_>) -> Result<Rows, Refusal> {
        match value {
            Value::Text(file) => {
                let path = at.context.base.join(file);
                self.file(&path, at).map_err(|refusal| refusal.within(&path.display().to_string()))
            }
            Value::List(items) => {
                let row = |(index, item): (usize, &Item)| {
                    self.item(&item.value)
                        .map_err(|refusal| refusal.of_item("value", index).at_part("empirical"))
                };
                checked(items.iter().enumerate().map(row).collect::<Result<_, _>>()?)
            }
            _ => {
                let accepted = format!(
                    "a file's name such as \"measured.csv\", or a list such as [\"{}\"]",
                    self.0.example()
                );
                refuse("these are no values", accepted)
            }
        }
    }

    fn file(&self, path: &Path, at: &At<'_>) -> Result<Rows, Refusal> {
        let accepted = "a file with lines of value[, weight], relative to the scenario's folder";
        let unreadable = |reason| Refusal::new(reason, accepted);
        let bytes = at.context.world.bytes(path, MOST_BYTES).map_err(unreadable)?;
        let text = measured_text(bytes, MOST_BYTES).map_err(unreadable)?;
        let mut rows = Vec::new();
        for (index, line) in text.split('\n').enumerate() {
            rows.extend(self.line(line).map_err(|refusal| refusal.within(&format!("line {}", index + 1)))?);
        }
        checked(rows)
    }

    /// The value and the weight of a line; `None` if it is empty.
    fn line(&self, line: &str) -> Result<Option<(f64, f64)>, Refusal> {
        let cells: Vec<&str> = line.split('#').next().unwrap_or_default().split(',').map(str::trim).collect();
        match cells[..] {
            [""] => Ok(None),
            [value] => self.weighted(&value.into(), &Value::Float(1.0)).map(Some),
            [value, weight] => self.weighted(&value.into(), &weight.into()).map(Some),
            _ => refuse(
                format!("it has {} columns", cells.len()),
                format!("value[, weight] such as \"{}, 3\"", self.0.example()),
            ),
        }
    }

    /// The value and the weight of an item of a list.
    fn item(&self, item: &Value) -> Result<(f64, f64), Refusal> {
        match item.list() {
            None => self.weighted(item, &Value::Float(1.0)),
            Some([value, weight]) => self.weighted(&value.value, &weight.value),
            Some(_) => refuse(
                "this is not a value with its weight",
                format!("a value, or a value and its weight such as [\"{}\", 3]", self.0.example()),
            ),
        }
    }

    fn weighted(&self, value: &Value, weight: &Value) -> Result<(f64, f64), Refusal> {
        let value = self.0.parse(value)?;
        let number = match weight.text().and_then(split) {
            Some((amount, unit)) if unit.is_empty() => Some(amount.to_f64()),
            _ => weight.number(),
        };
        match number {
            Some(weight) if (0.0..=GREATEST_WEIGHT).contains(&weight) => Ok((value, weight)),
            _ => refuse(
                format!("{} is not a weight", shown(weight)),
                format!("a number from 0 to {}", crate::text::general(GREATEST_WEIGHT, 6)),
            ),
        }
    }
}

fn checked(rows: Vec<(f64, f64)>) -> Result<Rows, Refusal> {
    let what = match rows.len() {
        0 => "it holds no value".to_owned(),
        count if count > MOST_VALUES => format!("it holds more than {MOST_VALUES} values"),
        _ if rows.iter().all(|row| row.1 == 0.0) => {
            return refuse("all weights are 0", "at least one above 0");
        }
        _ => return Ok(rows.into()),
    };
    refuse(what, format!("up to {MOST_VALUES} lines of value[, weight]"))
}

impl Form for Measured {
    type Value = Rows;

    fn accepts(&self) -> String {
        "{ empirical = \"sizes.csv\" }".to_owned()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<Rows, Refused> {
        match item.value.table().and_then(|table| table.get("empirical")) {
            Some(values) if Measured::fits(&item.value) => Ok(self.rows(&values.value, at)?),
            _ => refuse(
                "these are no measured sizes",
                "{ empirical = \"sizes.csv\" }, with lines of size[, weight], \
                 or { empirical = [\"10 kB\", [\"1 MB\", 0.1]] }",
            ),
        }
    }

    /// Writes the values themselves, so that a stored scenario needs no other file.
    fn write(&self, rows: &Rows) -> Value {
        let row = |(value, weight): &(f64, f64)| {
            let written = Item::new(self.0.write(value));
            if *weight == 1.0 { written } else { vec![written, Item::new(Value::Float(*weight))].into() }
        };
        Table::of([("empirical", rows.iter().map(row).collect::<Vec<_>>())]).into()
    }

    fn schema(&self) -> Json {
        let value = self.0.unlimited_schema();
        let weight =
            any_of([json!({"type": "number", "minimum": 0, "maximum": GREATEST_WEIGHT}), plain_schema()]);
        let pair = json!({"type": "array", "prefixItems": [value, weight], "minItems": 2, "maxItems": 2});
        let rows = json!({"type": "array", "items": any_of([value, pair]), "minItems": 1,
            "maxItems": MOST_VALUES});
        let about = "A file with lines of value[, weight], relative to the scenario";
        let file = json!({"type": "string", "description": about});
        table_schema(&[("empirical", any_of([file, rows]))], 1)
    }

    fn view(&self, rows: &Rows) -> View {
        View::List(rows.iter().map(|&(x, w)| View::List(vec![View::Float(x), View::Float(w)])).collect())
    }
}

/// The form of a time that is fixed or drawn.
pub struct DrawnForm {
    quantity: Quantity,
    accepts: &'static str,
}

impl Form for DrawnForm {
    type Value = Drawn;

    fn accepts(&self) -> String {
        self.accepts.to_owned()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<Drawn, Refused> {
        let parse = |value: &Value| self.quantity.parse(value);
        let part = |value: &Value, part: &str| parse(value).map_err(|refusal| refusal.at_part(part));
        let Some(table) = item.value.table() else { return Ok(Drawn::Fixed(parse(&item.value)?)) };
        let of = |key: &str| table.get(key).map_or(&Value::Null, |item| &item.value);
        if table.has_only(&["uniform"], &[]) {
            let Some([low, high]) = of("uniform").list() else {
                return refuse(
                    "these are not two times",
                    "two times such as { uniform = [\"0 s\", \"40 s\"] }",
                );
            };
            let (low, high) = (part(&low.value, "uniform.0")?, part(&high.value, "uniform.1")?);
            if low > high {
                return refuse("uniform has its first time above the second", "the lesser time first");
            }
            Ok(Drawn::Uniform(low, high))
        } else if table.has_only(&["exponential"], &["least"]) {
            let mean = part(of("exponential"), "exponential")?;
            let least = if table.has("least") { part(of("least"), "least")? } else { 0.0 };
            if least > mean {
                return refuse("least is above the mean", "the lesser time as least");
            }
            Ok(Drawn::Exponential(least, mean))
        } else if Measured::fits(&item.value) {
            Measured(self.quantity).read(item, at).map(Drawn::Empirical)
        } else {
            refuse("this is not a time", ACCEPTED)
        }
    }

    fn write(&self, value: &Drawn) -> Value {
        let written = |x: &f64| Item::new(self.quantity.write(x));
        let mut table = Table::default();
        match value {
            Drawn::Fixed(x) => return written(x).value,
            Drawn::Empirical(rows) => return Measured(self.quantity).write(rows),
            Drawn::Uniform(low, high) => table.push("uniform", vec![written(low), written(high)]),
            Drawn::Exponential(least, mean) => {
                table.push("exponential", written(mean));
                if *least > 0.0 {
                    table.push("least", written(least));
                }
            }
        }
        table.into()
    }

    fn schema(&self) -> Json {
        let value = self.quantity.unlimited_schema();
        let ends = json!({"type": "array", "items": value, "minItems": 2, "maxItems": 2});
        any_of([
            value.clone(),
            table_schema(&[("uniform", ends)], 1),
            table_schema(&[("exponential", value.clone()), ("least", value)], 1),
            Measured(self.quantity).schema(),
        ])
    }

    fn view(&self, value: &Drawn) -> View {
        let pair = |low: &f64, high: &f64| View::List(vec![View::Float(*low), View::Float(*high)]);
        match value {
            Drawn::Fixed(x) => View::Float(*x),
            Drawn::Uniform(low, high) => View::Fields(vec![("uniform", pair(low, high))]),
            Drawn::Exponential(least, mean) => View::Fields(vec![("exponential", pair(least, mean))]),
            Drawn::Empirical(rows) => View::Fields(vec![("empirical", Measured(self.quantity).view(rows))]),
        }
    }
}

/// What a key of an RTT takes.
pub const RTT_SUCH_AS: &str =
    "a two-way propagation delay such as \"42 ms\", or { uniform = [\"16 ms\", \"320 ms\"] }";

/// A time within a run, fixed or drawn.
pub const DRAWN_TIME: DrawnForm =
    DrawnForm { quantity: MOMENT, accepts: "a time such as \"5 s\", or { uniform = [\"0 s\", \"40 s\"] }" };
/// A round-trip time, fixed or drawn.
pub const DRAWN_RTT: DrawnForm = DrawnForm { quantity: RTT, accepts: RTT_SUCH_AS };
/// Measured sizes.
pub const MEASURED_SIZES: Measured = Measured(size(TRANSFER_BYTES, "10 kB"));
