//! Words and numbers as messages show them.

use crate::tree::{Item, Value};

const LONGEST_VALUE: usize = 60;

/// A number with so many digits, without an exponent where that is short: C's `%g`.
pub fn general(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".to_owned() } else { x.to_string() };
    }
    let scientific = format!("{x:.*e}", digits - 1);
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if power < -4 || power >= digits as i32 {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), power.abs());
    }
    trimmed(&format!("{x:.*}", (digits as i32 - 1 - power).max(0) as usize))
}

/// A value roughly as a file writes it, shortened if it is long.
pub fn shown(value: &Value) -> String {
    let text = whole(value);
    if text.chars().count() <= LONGEST_VALUE {
        return text;
    }
    let kept: String = text.chars().take(LONGEST_VALUE - 3).collect();
    format!("{kept}...")
}

fn whole(value: &Value) -> String {
    let list = |items: &[Item]| items.iter().map(|item| whole(&item.value)).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(switch) => switch.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => float(*number),
        Value::Text(text) => quoted(text),
        Value::Moment(text) => text.clone(),
        Value::Object(object) => object.name.clone(),
        Value::List(items) => format!("[{}]", list(items)),
        Value::Table(table) => {
            let entries: Vec<_> =
                table.iter().map(|(key, item)| format!("{key} = {}", whole(&item.value))).collect();
            if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
        }
    }
}

/// A text in quotes; control characters are escaped.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            control if control.is_control() => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A float with a point or an exponent, as files have it.
pub fn float(x: f64) -> String {
    if x.is_nan() {
        "nan".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
        let text = format!("{x:e}");
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let power: i32 = power.parse().unwrap_or(0);
        format!("{mantissa}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
    } else {
        format!("{x:?}")
    }
}

/// Returns `, did you mean "x"?` if a known word is near, or nothing.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    /// Chosen here: "rtt_ms" is near "rtt", and "surfing" is not near "surge".
    const NEAR: f64 = 0.8;
    let near = known
        .into_iter()
        .map(|other| {
            // one letter more, fewer, other or swapped
            let is_slip = word.len() > 1 && strsim::osa_distance(word, other) <= 1;
            (if is_slip { 1.0 } else { strsim::jaro_winkler(word, other) }, other)
        })
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    near.map_or_else(String::new, |(_, other)| format!(", did you mean \"{other}\"?"))
}

/// The up to three known words that the fewest changes of letters make of a word, the nearest first.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Vec<&'a str> {
    let letters = word.chars().count();
    let changes = known.iter().map(|other| (strsim::osa_distance(word, other), *other));
    // with changes of more than half of its letters, it is another word
    let mut near: Vec<_> = changes.filter(|(changes, _)| 2 * changes <= letters).collect();
    near.sort_by_key(|(changes, _)| *changes);
    near.into_iter().take(3).map(|(_, other)| other).collect()
}

/// Words in a row: `"a", "b" or "c"`.
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The same of words that files have in quotes.
pub fn listed_words(words: &[&str]) -> String {
    listed(&words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>())
}
