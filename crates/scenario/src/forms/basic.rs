//! Quantities, counts, shares and switches. Each limit is a constant.

use crate::at::At;
use crate::form::{Custom, Form, View, any_of};
use crate::problem::{Refusal, Refused, refuse};
use crate::text::{general, listed, shown, suggestion};
use crate::tree::{Item, Value};
use crate::units::{Dimension, LONGEST_TEXT, RATE, SIZE, TIME, split};
use longfat_transport::Feedback;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// The rates of links, bit/s.
pub const RATES_BPS: (f64, f64) = (1e3, 1e13);
/// The lengths of runs, s.
pub const DURATIONS_S: (f64, f64) = (1e-3, 1e6);
/// Times within runs, s.
pub const TIMES_S: (f64, f64) = (0.0, DURATIONS_S.1);
/// Round-trip times, s.
pub const RTTS_S: (f64, f64) = (1e-6, 1e3);
/// Ticks of clocks, s; 0 is none.
pub const TICKS_S: (f64, f64) = (0.0, 10.0);
/// The ticks of a link's clock other than 0, s.
pub const SERVICE_TICKS_S: (f64, f64) = (1e-6, TICKS_S.1);
/// Mean gaps, s.
pub const GAPS_S: (f64, f64) = (1e-6, DURATIONS_S.1);
/// Delays that disturbances add, s.
pub const DELAYS_S: (f64, f64) = (0.0, 100.0);
/// Payload of a segment, bytes; the greatest leaves room for the headers in an IP packet of 65535 bytes.
pub const MSS_BYTES: (f64, f64) = (64.0, 65_483.0);
/// Payload of a transfer, bytes.
pub const TRANSFER_BYTES: (f64, f64) = (1.0, 1e15);
/// Windows, segments.
pub const WINDOWS_SEGMENTS: (f64, f64) = (1.0, 1e9);
/// The most characters of a name.
pub const LONGEST_NAME: usize = 100;
/// The most flows of a scenario.
pub const MOST_FLOWS: i128 = 100_000;
/// The most sessions, users or sources of a background.
pub const MOST_SESSIONS: i128 = 100_000;
/// Seeds.
pub const SEEDS: (i128, i128) = (0, i64::MAX as i128);
/// How files write a window or a threshold without limit.
pub const INFINITE: &str = "infinite";

/// A time, a rate or a size within limits: an SI float inside, a number with its unit in a file.
#[derive(Clone, Copy)]
pub struct Quantity {
    dimension: &'static Dimension,
    limits: (f64, f64),
    example: &'static str,
    may_vary: Option<&'static str>,
    /// The least value other than 0, if 0 stands for none.
    least_above_zero: f64,
}

const fn quantity(dimension: &'static Dimension, limits: (f64, f64), example: &'static str) -> Quantity {
    Quantity { dimension, limits, example, may_vary: None, least_above_zero: 0.0 }
}

/// A time within limits, s.
pub const fn time(limits: (f64, f64), example: &'static str) -> Quantity {
    quantity(&TIME, limits, example)
}

/// A size within limits, bytes.
pub const fn size(limits: (f64, f64), example: &'static str) -> Quantity {
    quantity(&SIZE, limits, example)
}

/// A rate within limits, bit/s.
pub const fn rate(limits: (f64, f64), example: &'static str) -> Quantity {
    quantity(&RATE, limits, example)
}

/// A rate that does not vary, bit/s.
pub const fn constant_rate(limits: (f64, f64), example: &'static str) -> Quantity {
    Quantity { may_vary: Some("only bottleneck.rate and link.rate can vary"), ..rate(limits, example) }
}

/// The length of a run.
pub const DURATION: Quantity = time(DURATIONS_S, "60 s");
/// A time within a run.
pub const MOMENT: Quantity = time(TIMES_S, "5 s");
/// A round-trip time.
pub const RTT: Quantity = time(RTTS_S, "42 ms");
/// A sampling period.
pub const PERIOD: Quantity = time((1e-6, 1e6), "100 ms");
/// A tick of a clock.
pub const TICK: Quantity = time(TICKS_S, "1 ms");
/// The tick of a link's clock.
pub const SERVICE_TICK: Quantity = Quantity { least_above_zero: SERVICE_TICKS_S.0, ..time(TICKS_S, "1 ms") };
/// A mean gap.
pub const GAP: Quantity = time(GAPS_S, "1 s");
/// Payload of a transfer.
pub const TRANSFER: Quantity = size(TRANSFER_BYTES, "10 MB");

impl Quantity {
    /// Reads it, exactly as the form does.
    pub fn parse(&self, value: &Value) -> Result<f64, Refusal> {
        if let (Some(what), Value::Table(_)) = (self.may_vary, value) {
            return refuse(what, format!("a constant rate such as \"{}\"", self.dimension.example));
        }
        let number = self.dimension.parse_within(value, self.limits, self.example)?;
        if 0.0 < number && number < self.least_above_zero {
            let span = self.dimension.span((self.least_above_zero, self.limits.1));
            return refuse("the time is too small", format!("0 s for none, or {span}"));
        }
        Ok(number)
    }

    /// Its JSON Schema without the limits, which alternatives and lists share.
    pub fn unlimited_schema(&self) -> Json {
        let units: Vec<&str> = self.dimension.unit_names().collect();
        number_schema(&format!("a {}", self.dimension.name), self.dimension.example, &units, false)
    }

    /// The example.
    pub const fn example(&self) -> &'static str {
        self.example
    }
}

impl Form for Quantity {
    type Value = f64;

    fn accepts(&self) -> String {
        format!("a {} such as \"{}\"", self.dimension.name, self.example)
    }

    fn read(&self, item: &Item, _: &At<'_>) -> Result<f64, Refused> {
        Ok(self.parse(&item.value)?)
    }

    fn write(&self, value: &f64) -> Value {
        // what is no number is refused when it is read
        if value.is_finite() { self.dimension.write(*value).into() } else { Value::Float(*value) }
    }

    fn schema(&self) -> Json {
        let units: Vec<&str> = self.dimension.unit_names().collect();
        let what = format!(
            "A {} with its unit ({}), {}",
            self.dimension.name,
            units.join(", "),
            self.dimension.span(self.limits)
        );
        json!({"type": "string", "pattern": number_with(NUMBER, &units, false), "maxLength": LONGEST_TEXT,
            "description": what, "examples": [self.example]})
    }

    fn view(&self, value: &f64) -> View {
        View::Float(*value)
    }
}

/// The JSON Schema of a text that holds a number and one of these units.
pub fn number_schema(what: &str, example: &str, units: &[&str], negative: bool) -> Json {
    text_schema(NUMBER, what, example, units, negative)
}

/// The same of a whole number. Of one with an exponent only the reader knows whether it is whole.
pub fn whole_text_schema(what: &str, example: &str, units: &[&str]) -> Json {
    text_schema(WHOLE_NUMBER, what, example, units, false)
}

fn text_schema(number: &str, what: &str, example: &str, units: &[&str], negative: bool) -> Json {
    json!({"type": "string", "pattern": number_with(number, units, negative), "maxLength": LONGEST_TEXT,
        "description": format!("{what}, with its unit ({}), such as \"{example}\"", units.join(", ")),
        "examples": [example]})
}

/// The JSON Schema of a text that holds a number without a unit.
pub fn plain_schema() -> Json {
    json!({"type": "string", "pattern": number_with(NUMBER, &[""], false), "maxLength": LONGEST_TEXT})
}

/// Regular expressions of numbers without a sign.
const NUMBER: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?";
const WHOLE_NUMBER: &str = r"([0-9]+(\.0*)?|([0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,3})";

/// A regular expression, of JSON Schema, for a number with one of these units.
fn number_with(number: &str, units: &[&str], negative: bool) -> String {
    let sign = if negative { "[+-]?" } else { r"\+?" };
    let spelled: Vec<String> =
        units.iter().map(|unit| unit.replace(' ', r"\s+").replace('µ', "[\u{b5}\u{3bc}]")).collect();
    format!(r"^\s*{sign}{number}\s*({})\s*$", spelled.join("|"))
}

/// A whole number within limits, perhaps with a unit.
#[derive(Clone, Copy)]
pub struct Whole {
    limits: (i128, i128),
    unit: &'static str,
}

/// A whole number within limits, perhaps with a unit.
pub const fn whole(limits: (i128, i128), unit: &'static str) -> Whole {
    Whole { limits, unit }
}

impl Whole {
    /// Its unit, of several and of one.
    fn units(&self) -> [&'static str; 2] {
        [self.unit, self.unit.strip_suffix('s').unwrap_or(self.unit)]
    }
}

impl Form for Whole {
    type Value = i64;

    fn accepts(&self) -> String {
        "a whole number".to_owned()
    }

    fn read(&self, item: &Item, _: &At<'_>) -> Result<i64, Refused> {
        let with_unit = || {
            let (amount, given) = item.value.text().and_then(split)?;
            let fits = !given.is_empty() && self.units().contains(&given.as_str());
            fits.then(|| amount.whole()).flatten()
        };
        let what = match item.value.whole().or_else(with_unit) {
            Some(n) if n < self.limits.0 => "the number is too small",
            Some(n) if n > self.limits.1 => "the number is too large",
            Some(n) => return Ok(n as i64),
            None => "this is not a whole number",
        };
        refuse(what, format!("a whole number from {} to {}", self.limits.0, self.limits.1))
    }

    fn write(&self, value: &i64) -> Value {
        Value::Integer((*value).into())
    }

    fn schema(&self) -> Json {
        let bare =
            json!({"type": "integer", "minimum": self.limits.0 as i64, "maximum": self.limits.1 as i64});
        if self.unit.is_empty() {
            return bare;
        }
        any_of([bare, whole_text_schema("A count", &format!("3 {}", self.unit), &self.units())])
    }

    fn view(&self, value: &i64) -> View {
        View::Integer(*value)
    }
}

/// A number within limits, bare or with a unit of its own.
#[derive(Clone, Copy)]
pub struct Number {
    limits: (f64, f64),
    accepted: &'static str,
    example: f64,
    unit: Unit,
}

/// What may follow a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    None,
    Percent,
    /// Segments; "infinite" may stand for the number.
    Segments {
        or_infinite: bool,
    },
}

/// A bare number within limits.
pub const fn number(limits: (f64, f64), accepted: &'static str, example: f64) -> Number {
    Number { limits, accepted, example, unit: Unit::None }
}

/// A share, bare or as a percentage.
pub const fn share_of(limits: (f64, f64), accepted: &'static str, example: f64) -> Number {
    Number { limits, accepted, example, unit: Unit::Percent }
}

/// A number of segments.
pub const SEGMENTS: Number = segments("a number of segments from 1 to 1e+09", false);
/// A number of segments, or "infinite", which is `None`.
pub const SEGMENTS_OR_INFINITE: OrInfinite =
    OrInfinite(segments("a number of segments from 1 to 1e+09, or \"infinite\"", true));

const fn segments(accepted: &'static str, or_infinite: bool) -> Number {
    Number { limits: WINDOWS_SEGMENTS, accepted, example: 100.0, unit: Unit::Segments { or_infinite } }
}

impl Number {
    fn is_infinite_too(&self) -> bool {
        self.unit == Unit::Segments { or_infinite: true }
    }

    /// The units, and the power of ten that they stand for.
    const fn units(&self) -> (&'static [&'static str], i64) {
        match self.unit {
            Unit::None => (&[], 0),
            Unit::Percent => (&["%"], -2),
            Unit::Segments { .. } => (&["segments", "segment"], 0),
        }
    }
}

impl Form for Number {
    type Value = f64;

    fn accepts(&self) -> String {
        match self.unit {
            Unit::Segments { .. } => "a number of segments".to_owned(),
            Unit::Percent if self.accepted.contains("such as") => self.accepted.to_owned(),
            _ => general(self.example, 6),
        }
    }

    fn read(&self, item: &Item, _: &At<'_>) -> Result<f64, Refused> {
        let (units, power) = self.units();
        let is_infinite = item.value.text() == Some(INFINITE) || item.value.number() == Some(f64::INFINITY);
        if is_infinite && self.is_infinite_too() {
            return Ok(f64::INFINITY);
        }
        let number = match item.value.text().and_then(split) {
            Some((amount, unit)) if units.contains(&&*unit) => Some(amount.shifted(power).to_f64()),
            _ => item.value.number(),
        };
        match number {
            Some(x) if (self.limits.0..=self.limits.1).contains(&x) => Ok(x),
            Some(x) if x < self.limits.0 => refuse("the number is too small", self.accepted),
            Some(x) if x > self.limits.1 => refuse("the number is too large", self.accepted),
            _ => refuse("this is not a number", self.accepted),
        }
    }

    fn write(&self, value: &f64) -> Value {
        if value.is_infinite() { INFINITE.into() } else { Value::Float(*value) }
    }

    fn schema(&self) -> Json {
        let mut bare = json!({"type": "number", "minimum": self.limits.0, "maximum": self.limits.1});
        let (what, example) = match self.unit {
            Unit::None => {
                bare["description"] = self.accepted.into();
                return bare;
            }
            Unit::Percent => ("A percentage", "7 %"),
            Unit::Segments { .. } => ("A number", "100 segments"),
        };
        let infinite = self.is_infinite_too().then(|| json!({"const": INFINITE}));
        any_of([bare, number_schema(what, example, self.units().0, false)].into_iter().chain(infinite))
    }

    fn view(&self, value: &f64) -> View {
        View::Float(*value)
    }
}

/// A number, or `None` where there is no limit.
pub struct OrInfinite(Number);

impl Form for OrInfinite {
    type Value = Option<f64>;

    fn accepts(&self) -> String {
        self.0.accepts()
    }

    fn read(&self, item: &Item, at: &At<'_>) -> Result<Option<f64>, Refused> {
        self.0.read(item, at).map(|x| x.is_finite().then_some(x))
    }

    fn write(&self, value: &Option<f64>) -> Value {
        self.0.write(&value.unwrap_or(f64::INFINITY))
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }

    fn view(&self, value: &Option<f64>) -> View {
        self.0.view(&value.unwrap_or(f64::INFINITY))
    }
}

/// One of a few words, which stand for the values of an enumeration. In files "true" and "false" are
/// switches, and what is a whole number is a number.
pub struct Words<T: 'static>(pub &'static [(&'static str, T)]);

/// What files have for a word.
fn in_files(word: &str) -> Value {
    match (word, word.parse()) {
        ("true" | "false", _) => Value::Bool(word == "true"),
        (_, Ok(number)) => Value::Integer(number),
        (_, Err(_)) => word.into(),
    }
}

impl<T: Copy + PartialEq> Words<T> {
    fn known(&self) -> Vec<Value> {
        self.0.iter().map(|(word, _)| in_files(word)).collect()
    }
}

impl<T: Copy + PartialEq> Form for Words<T> {
    type Value = T;

    fn accepts(&self) -> String {
        listed_values(&self.known())
    }

    fn read(&self, item: &Item, _: &At<'_>) -> Result<T, Refused> {
        let number = item.value.whole().map(Value::Integer);
        let given = number.as_ref().unwrap_or(&item.value);
        match self.0.iter().find(|(word, _)| in_files(word) == *given) {
            Some((_, value)) => Ok(*value),
            None => Err(no_choice(given, &self.known()).into()),
        }
    }

    fn write(&self, value: &T) -> Value {
        self.0.iter().find(|(_, one)| one == value).map_or(Value::Null, |(word, _)| in_files(word))
    }

    fn schema(&self) -> Json {
        let known: Vec<Json> = self.known().iter().map(Value::json).collect();
        let mut schema = if let [one] = &known[..] { json!({"const": one}) } else { json!({"enum": known}) };
        if known.iter().all(Json::is_string) {
            schema["type"] = "string".into();
        } else if known.iter().all(Json::is_i64) {
            schema["type"] = "integer".into();
        }
        schema
    }

    fn view(&self, value: &T) -> View {
        match self.write(value) {
            Value::Bool(switch) => View::Bool(switch),
            Value::Integer(number) => View::Integer(number as i64),
            Value::Text(word) => View::Text(word),
            _ => View::None,
        }
    }
}

fn listed_values(known: &[Value]) -> String {
    listed(&known.iter().map(shown).collect::<Vec<_>>())
}

/// Refuses what is none of these values, with the nearest word if one is near.
pub fn no_choice(value: &Value, known: &[Value]) -> Refusal {
    let words = known.iter().filter_map(Value::text);
    let near = value.text().map_or_else(String::new, |word| suggestion(word, words));
    Refusal::new(format!("there is no such choice{near}"), listed_values(known))
}

/// A switch.
pub const SWITCH: Custom<bool> = Custom {
    accepts: "true or false",
    read: |item, _| match &item.value {
        Value::Bool(switch) => Ok(*switch),
        _ => refuse("this is not a switch", "true or false"),
    },
    write: |value| Value::Bool(*value),
    schema: || json!({"type": "boolean"}),
    view: |value| View::Bool(*value),
};

/// Any text.
pub const TEXT: Custom<String> = Custom {
    accepts: "a text",
    read: |item, _| match item.value.text() {
        Some(text) => Ok(text.to_owned()),
        None => refuse("this is not a text", "a text"),
    },
    write: |value| value.clone().into(),
    schema: || json!({"type": "string"}),
    view: |value| View::Text(value.clone()),
};

/// A name of a flow, a link, a node, a background or a program.
pub const NAME: Custom<String> = Custom {
    accepts: "a name such as \"R1\"",
    read: |item, _| match item.value.text() {
        Some(name)
            if !name.trim().is_empty()
                && name.chars().all(is_printable)
                && name.chars().count() <= LONGEST_NAME =>
        {
            Ok(name.to_owned())
        }
        _ => refuse("this is not a name", format!("1 to {LONGEST_NAME} printable characters")),
    },
    write: |value| value.clone().into(),
    schema: || {
        let pattern = format!("^ *[^ {HIDDEN}][^{HIDDEN}]*$");
        json!({"type": "string", "pattern": pattern, "maxLength": LONGEST_NAME})
    },
    view: |value| View::Text(value.clone()),
};

/// What is not printable, as a regular expression's class of characters has it.
const HIDDEN: &str = concat!(
    r"\u0000-\u001f\u007f-\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ue000-\uf8ff",
    r"\ufeff\ufff9-\ufffb"
);

/// Whether a terminal shows it as it is: no control, no separator but the space, no direction of writing.
fn is_printable(character: char) -> bool {
    let separates = character.is_whitespace() && character != ' ';
    let hides = matches!(character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e000}'..='\u{f8ff}' | '\u{fff9}'..='\u{fffb}');
    !character.is_control() && !separates && !hides
}

/// How a flow uses marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ecn {
    /// It negotiates no ECN of its own accord.
    Off,
    /// RFC 3168.
    On,
    /// Accurate feedback (RFC 9768).
    Accurate,
    /// The same, and ECT(1) on data (RFC 9331).
    L4s,
}

impl Ecn {
    /// Whether it negotiates ECN of its own accord; algorithms may do so without it.
    pub const fn is_on(self) -> bool {
        !matches!(self, Ecn::Off)
    }

    /// Whether data carry ECT(1).
    pub const fn is_l4s(self) -> bool {
        matches!(self, Ecn::L4s)
    }

    /// The least feedback that the receiver gives.
    pub const fn feedback(self) -> Feedback {
        match self {
            Ecn::Off | Ecn::On => Feedback::Classic,
            Ecn::Accurate | Ecn::L4s => Feedback::Accurate,
        }
    }
}

/// How a flow uses marks.
pub const ECN: Words<Ecn> =
    Words(&[("true", Ecn::On), ("false", Ecn::Off), ("accurate", Ecn::Accurate), ("l4s", Ecn::L4s)]);

/// Two times, the lesser first.
pub const WINDOW: Custom<(f64, f64)> = Custom {
    accepts: "two times such as [\"100 s\", \"600 s\"]",
    read: |item, _| {
        let Some([begin, end]) = item.value.list() else {
            return refuse("these are not two times", "two times such as [\"100 s\", \"600 s\"]");
        };
        let begin = TIME.parse(&begin.value, "")?.to_f64();
        let end = TIME.parse(&end.value, "")?.to_f64();
        if !(0.0 <= begin && begin < end && end <= TIMES_S.1) {
            let accepted = "two times from 0 s on, the lesser first, such as [\"100 s\", \"600 s\"]";
            return refuse("the times are not in order", accepted);
        }
        Ok((begin, end))
    },
    write: |&(begin, end)| Value::List(vec![TIME.write(begin).into(), TIME.write(end).into()]),
    schema: || json!({"type": "array", "items": MOMENT.unlimited_schema(), "minItems": 2, "maxItems": 2}),
    view: |&(begin, end)| View::List(vec![View::Float(begin), View::Float(end)]),
};
