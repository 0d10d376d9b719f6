//! Changes JSON as a person or a broken program might: a value here and there, within the document's own
//! form.
//!
//! Changing bytes alone, a fuzzer spends its time on text that is no JSON.

use longfat_net::{queue, router};
use longfat_transport::cc::{self, Kind, Parameter};
use longfat_transport::udp;
use serde_json::{Map, Value, json};

/// Numbers at which something tends to change.
const NUMBERS: [f64; 22] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    3.0,
    10.0,
    1e-9,
    1e-6,
    1e-3,
    0.01,
    1e3,
    1448.0,
    9000.0,
    65535.0,
    1e6,
    4294967295.0,
    1e9,
    1e12,
    9007199254740993.0,
    1e18,
    1e308,
];
/// Keys of plans that mean nothing by default, with a value that means something.
const EXTRAS: [(&str, &str); 28] = [
    ("timestamps", "false"),
    ("rto_tick", "0.5"),
    ("initial_rto", "3.0"),
    ("rto_min_of", "\"timeout\""),
    ("quick_acks", "0"),
    ("sack_compression", "0.001"),
    ("slow_start_limit", "null"),
    ("cwnd_moderation", "true"),
    ("max_burst", "3.0"),
    ("ssthresh_cache", "true"),
    ("hosts", "1"),
    ("loss_detection", "\"rack\""),
    ("recovery", "\"prr\""),
    ("timeout_reductions", "\"each\""),
    ("first_reduction", "\"half\""),
    ("backoff_until", "\"new-segment\""),
    ("rtt_samples", "\"last\""),
    ("interrupt_moderation", "0.0001"),
    ("send_jitter", "0.00001"),
    ("receiver", "{\"conceal_losses\":true,\"ack_ahead\":3,\"divide_acks\":2,\"hide_marks\":false}"),
    ("quick_start", "1000000.0"),
    ("service_tick_s", "0.001"),
    ("clock", "\"a\""),
    ("layer2", "true"),
    ("capacity", "{\"trace_ms\":[1,2,2,7]}"),
    ("nodes", "[0,1]"),
    ("bytes", "30000"),
    ("stop_s", "1.5"),
];

/// A small generator of numbers (xorshift64*): libFuzzer gives a seed, and the same seed gives the same
/// change.
pub struct Dice(u64);

impl Dice {
    /// From libFuzzer's seed.
    pub fn new(seed: u32) -> Self {
        Dice(u64::from(seed) << 1 | 1)
    }

    /// Returns a number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn one<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// Returns the document with one to four changes, or none if the text is no JSON object.
pub fn changed(text: &[u8], seed: u32) -> Option<String> {
    let mut document: Value = serde_json::from_slice(text).ok()?;
    let mut dice = Dice::new(seed);
    for _ in 0..=dice.below(4) {
        let count = nodes(&document);
        let mut target = dice.below(count);
        change(&mut document, &mut target, &mut dice);
    }
    document.is_object().then(|| document.to_string())
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(nodes).sum::<usize>(),
        Value::Object(keys) => keys.values().map(nodes).sum(),
        _ => 0,
    }
}

/// Changes the node with this number, counted from the outside in; returns whether that was within.
fn change(value: &mut Value, target: &mut usize, dice: &mut Dice) -> bool {
    if *target == 0 {
        alter(value, dice);
        return true;
    }
    *target -= 1;
    match value {
        Value::Array(values) => values.iter_mut().any(|value| change(value, target, dice)),
        Value::Object(keys) => keys.values_mut().any(|value| change(value, target, dice)),
        _ => false,
    }
}

fn alter(value: &mut Value, dice: &mut Dice) {
    if dice.below(30) == 0 {
        *value = dice
            .one(&[Some("null"), Some("[]"), Some("{}"), Some("true"), Some("\"\""), None])
            .map_or_else(|| json!(dice.one(&NUMBERS)), |text| serde_json::from_str(text).unwrap_or_default());
        return;
    }
    match value {
        Value::Null => *value = number(dice.one(&NUMBERS)),
        Value::Bool(was) => *was = !*was,
        Value::Number(was) => {
            let was = was.as_f64().unwrap_or(0.0);
            *value = number(match dice.below(6) {
                0 => was * 0.5,
                1 => was * 2.0,
                2 => was + 1.0,
                3 => was - 1.0,
                4 => was * 10f64.powi(dice.below(13) as i32 - 6),
                _ => dice.one(&NUMBERS),
            });
        }
        Value::String(was) => *was = word(dice),
        Value::Array(values) => match (values.len(), dice.below(4)) {
            (0, _) => values.push(number(dice.one(&NUMBERS))),
            (count, 0) => drop(values.remove(dice.below(count))),
            (count, 1) => {
                let (a, b) = (dice.below(count), dice.below(count));
                values.swap(a, b);
            }
            (count, _) => {
                let mut again = values[dice.below(count)].clone();
                if let Some(Value::String(name)) = again.get_mut("name") {
                    name.push('+');
                }
                values.push(again);
            }
        },
        Value::Object(keys) => alter_object(keys, dice),
    }
}

fn alter_object(keys: &mut Map<String, Value>, dice: &mut Dice) {
    match dice.below(5) {
        0 if !keys.is_empty() => {
            let key = keys.keys().nth(dice.below(keys.len())).cloned().unwrap_or_default();
            keys.shift_remove(&key);
        }
        1 => {
            let (key, value) = dice.one(&EXTRAS);
            keys.insert(key.to_owned(), serde_json::from_str(value).unwrap_or_default());
        }
        _ => set_parameter(keys, dice),
    }
}

/// Sets a parameter of what the object names, or another algorithm, queue or router.
fn set_parameter(keys: &mut Map<String, Value>, dice: &mut Dice) {
    let kind = keys.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_algorithm = cc::find(&kind).map(|row| row.parameters);
    let of_algorithm = of_algorithm.or_else(|| udp::find(&kind).map(|row| row.parameters));
    let of_algorithm = of_algorithm.filter(|_| keys.contains_key("parameters"));
    let of_kind = queue::find(&kind).map(|row| row.parameters);
    let of_kind = of_kind.or_else(|| router::find(&kind).map(|row| row.parameters));
    match (of_algorithm, of_kind) {
        (Some(parameters), _) if !parameters.is_empty() && dice.below(4) > 0 => {
            let (name, value) = parameter(parameters, dice);
            if let Some(Value::Object(own)) = keys.get_mut("parameters") {
                own.insert(name, value);
            }
        }
        (Some(_), _) => {
            keys.insert("kind".to_owned(), word_of(dice, true).into());
            keys.insert("parameters".to_owned(), json!({}));
        }
        (None, Some(parameters)) if !parameters.is_empty() => {
            let (name, value) = parameter(parameters, dice);
            keys.insert(name, value);
        }
        _ => {
            if keys.contains_key("router") || keys.contains_key("queue") {
                let rows: Vec<_> = router::routers().map(|row| row.name).collect();
                keys.insert("router".to_owned(), json!({"kind": dice.one(&rows)}));
            }
        }
    }
}

fn parameter(parameters: &[Parameter], dice: &mut Dice) -> (String, Value) {
    let parameter = dice.one(parameters);
    let value = match parameter.kind {
        Kind::Choice(words) => dice.one(words).into(),
        Kind::Number { default, least, greatest } => {
            let middle = least + (greatest - least) * dice.below(1000) as f64 * 1e-3;
            number(dice.one(&[default, least, greatest, middle, 0.5 * default, 2.0 * default]))
        }
    };
    (parameter.name.to_owned(), value)
}

fn word(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => word_of(dice, false),
        1 => dice
            .one(&[
                "",
                "a",
                "true",
                "rack",
                "reno-classic",
                "sack",
                "custom",
                "standard",
                "limited",
                "random",
            ])
            .to_owned(),
        _ => word_of(dice, true),
    }
}

fn word_of(dice: &mut Dice, algorithm: bool) -> String {
    let names: Vec<&str> = if algorithm {
        cc::algorithms().map(|row| row.name).chain(udp::protocols().map(|row| row.name)).collect()
    } else {
        queue::disciplines().map(|row| row.name).chain(router::routers().map(|row| row.name)).collect()
    };
    dice.one(&names).to_owned()
}

/// A number as plans write it: whole ones without a point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}
