//! Quantities as people write them ("250 Mbit/s", "42 ms", "512 KiB"), as SI floats, and back.
//!
//! Decimal prefixes are powers of ten and binary ones (KiB, MiB...) powers of 1024, as IEC 80000-13 has them.
//! [`Dimension::parse`] reads what [`Dimension::write`] returns as the same float.

use crate::decimal::Decimal;
use crate::problem::Refusal;
use crate::text::general;
use crate::tree::Value;

/// The most characters of a quantity; a longer text is a mistake, and arithmetic on it would be slow.
pub const LONGEST_TEXT: usize = 100;
/// From here on a number without a unit is taken for bit/s or bytes, and below for the example's unit.
const BARE_SI: f64 = 1e4;
/// The micro sign, and the Greek letter that looks like it and means the same.
const MICRO: char = '\u{b5}';
const GREEK_MU: char = '\u{3bc}';

/// A kind of quantity: its units, and how values are given and written.
#[derive(Debug)]
pub struct Dimension {
    /// The name, such as "time".
    pub name: &'static str,
    /// The units: each is a factor times a power of ten of the SI unit.
    units: &'static [(&'static str, u64, i64)],
    /// The units that are written: powers of ten in growing order, after the one that zero gets.
    written: &'static [&'static str],
    /// An example.
    pub example: &'static str,
}

/// Seconds.
pub const TIME: Dimension = Dimension {
    name: "time",
    units: &[
        ("ns", 1, -9),
        ("us", 1, -6),
        ("µs", 1, -6),
        ("ms", 1, -3),
        ("s", 1, 0),
        ("min", 60, 0),
        ("h", 3600, 0),
    ],
    written: &["s", "ns", "us", "ms", "s"],
    example: "42 ms",
};

/// Bit/s.
pub const RATE: Dimension = Dimension {
    name: "rate",
    units: &[
        ("bit/s", 1, 0),
        ("kbit/s", 1, 3),
        ("Mbit/s", 1, 6),
        ("Gbit/s", 1, 9),
        ("Tbit/s", 1, 12),
        ("B/s", 8, 0),
        ("kB/s", 8, 3),
        ("MB/s", 8, 6),
        ("GB/s", 8, 9),
    ],
    written: &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"],
    example: "250 Mbit/s",
};

/// Bytes.
pub const SIZE: Dimension = Dimension {
    name: "size",
    units: &[
        ("B", 1, 0),
        ("kB", 1, 3),
        ("MB", 1, 6),
        ("GB", 1, 9),
        ("TB", 1, 12),
        ("KiB", 1 << 10, 0),
        ("MiB", 1 << 20, 0),
        ("GiB", 1 << 30, 0),
        ("TiB", 1 << 40, 0),
    ],
    written: &["B", "MB", "GB", "TB"],
    example: "1500 B",
};

impl Dimension {
    /// The names of its units.
    pub fn unit_names(&self) -> impl Iterator<Item = &'static str> {
        self.units.iter().map(|unit| unit.0)
    }

    /// A number of this unit in SI units; `None` for an unknown unit.
    pub fn scaled(&self, amount: Decimal, unit: &str) -> Option<Decimal> {
        let &(_, factor, power) = self.units.iter().find(|known| known.0 == unit)?;
        Some(amount.times(factor).shifted(power))
    }

    /// The SI value of a number with a unit, exactly. `like` is an example of what the key takes.
    pub fn parse(&self, value: &Value, like: &str) -> Result<Decimal, Refusal> {
        let needs = |number: f64| {
            Refusal::new(format!("a {} needs a unit", self.name), format!("\"{}\"", self.guess(number, like)))
        };
        if let Some(number) = value.number() {
            return Err(needs(number));
        }
        let Some((amount, unit)) = value.text().and_then(split) else {
            return Err(Refusal::new(
                format!("this is not a {}", self.name),
                format!("a number and a unit such as \"{}\"", self.example),
            ));
        };
        if unit.is_empty() {
            return Err(needs(amount.to_f64()));
        }
        self.scaled(amount, &unit).ok_or_else(|| {
            let names: Vec<&str> = self.unit_names().collect();
            let hint = meant(value.text().unwrap_or_default(), &names);
            Refusal::new(format!("\"{unit}\" is not a unit of {}{hint}", self.name), names.join(", "))
        })
    }

    /// As [`Dimension::parse`], rounded, for values within limits.
    pub fn parse_within(&self, value: &Value, limits: (f64, f64), like: &str) -> Result<f64, Refusal> {
        self.within(self.parse(value, like)?.to_f64(), limits)
    }

    /// The value if it lies within the limits.
    pub fn within(&self, x: f64, (least, greatest): (f64, f64)) -> Result<f64, Refusal> {
        if (least..=greatest).contains(&x) {
            return Ok(x);
        }
        let side = if x < least { "small" } else { "large" };
        Err(Refusal::new(format!("the {} is too {side}", self.name), self.span((least, greatest))))
    }

    /// The limits in words.
    pub fn span(&self, (least, greatest): (f64, f64)) -> String {
        format!("from {} to {}", self.write(least), self.write(greatest))
    }

    /// What a number without a unit probably means: one that looks like an SI value gets an SI unit.
    fn guess(&self, number: f64, like: &str) -> String {
        let example = if like.is_empty() { self.example } else { like };
        if !number.is_finite() {
            return example.to_owned();
        }
        let unit = example.split_once(' ').map_or("", |(_, unit)| unit);
        let is_small = self.units.iter().any(|known| known.0 == unit && known.2 < 0);
        let is_si = if is_small { (0.0..1.0).contains(&number) } else { number >= BARE_SI };
        if is_si && number > 0.0 { self.write(number) } else { format!("{} {unit}", general(number, 6)) }
    }

    /// The value with a unit; [`Dimension::parse`] reads it as the same float.
    pub fn write(&self, x: f64) -> String {
        let exact = Decimal::of(x);
        let power = |name: &str| self.units.iter().find(|unit| unit.0 == name).map_or(0, |unit| unit.2);
        let fits = |unit: &&&str| exact >= Decimal::from(1).shifted(power(unit));
        let unit = self.written.iter().rev().find(fits).unwrap_or(&self.written[0]);
        format!("{} {unit}", exact.shifted(-power(unit)).digits())
    }
}

/// The number and the unit (perhaps empty) of a text; `None` if it does not begin with a number.
pub fn split(text: &str) -> Option<(Decimal, String)> {
    if text.chars().count() > LONGEST_TEXT {
        return None;
    }
    let text = text.trim();
    let length = number_length(text)?;
    let (number, unit) = text.split_at(length);
    let mut found = String::with_capacity(unit.len());
    for word in unit.split_whitespace() {
        found.extend((!found.is_empty()).then_some(' '));
        found.extend(word.chars().map(|letter| if letter == GREEK_MU { MICRO } else { letter }));
    }
    Some((Decimal::parse(number)?, found))
}

/// The length of the number at the beginning: `[+-]?(D+.?D*|.D+)([eE][+-]?D{1,3})?`.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let part = digits(at + 1);
        if whole == 0 && part == 0 {
            return None;
        }
        at += 1 + part;
    } else if whole == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        match digits(at + 1 + sign) {
            0 => {}
            count if count > 3 => return None, // beyond every range
            count => at += 1 + sign + count,
        }
    }
    Some(at)
}

/// What people write for a unit, in lower case; one spelling may mean several units.
const SPELLINGS: &[(&str, &[&str])] = &[
    ("bit/s", &["bps", "b/s", "bits/s"]),
    ("kbit/s", &["kbps", "kb/s"]),
    ("Mbit/s", &["mbps", "mb/s", "mbit"]),
    ("Gbit/s", &["gbps", "gb/s", "gbit"]),
    ("Tbit/s", &["tbps"]),
    ("kB/s", &["kb/s"]),
    ("MB/s", &["mb/s"]),
    ("GB/s", &["gb/s"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("ms", &["msec", "msecs", "milliseconds"]),
    ("us", &["usec", "usecs", "microseconds"]),
    ("ns", &["nsec", "nanoseconds"]),
    ("min", &["m", "mins", "minute", "minutes"]),
    ("h", &["hr", "hour", "hours"]),
    ("B", &["byte", "bytes", "octets"]),
    ("kB", &["k", "kb"]),
    ("KiB", &["kb"]),
    ("MB", &["m"]),
    ("GB", &["g"]),
    ("packets", &["pkt", "pkts", "segment", "segments"]),
    ("segments", &["packets"]),
    ("BDP", &["bdps"]),
    ("% BDP", &["%", "% of bdp", "percent bdp"]),
];
/// Spellings whose capitals tell bits from bytes.
const EXACT_SPELLINGS: &[(&str, &[&str])] = &[
    ("kbit/s", &["Kb/s", "kb/s"]),
    ("Mbit/s", &["Mb/s", "Mb"]),
    ("Gbit/s", &["Gb/s"]),
    ("kB/s", &["KB/s", "kBps", "KBps"]),
    ("MB/s", &["MBps"]),
    ("GB/s", &["GBps"]),
    ("MB", &["Mb"]),
];

/// Returns `, did you mean "100 Mbit/s"?` for "100 Mbps", or nothing if no unit is near. `text` is a number
/// with a unit that is none of `units`, which would be accepted.
pub fn meant(text: &str, units: &[&str]) -> String {
    let Some((_, unit)) = split(text) else { return String::new() };
    let of = |table: &[(&'static str, &[&str])], word: &str| -> Vec<&str> {
        table.iter().filter(|(_, spellings)| spellings.contains(&word)).map(|(unit, _)| *unit).collect()
    };
    let mut known = of(EXACT_SPELLINGS, &unit);
    if known.is_empty() {
        let lower = unit.to_lowercase();
        known = of(SPELLINGS, &lower);
        known.extend(units.iter().filter(|other| other.to_lowercase() == lower));
    }
    let Some(number) = text.trim_end().strip_suffix(&unit).map(str::trim).filter(|n| !n.is_empty()) else {
        return String::new();
    };
    let mut guesses: Vec<String> = Vec::new();
    for other in known.into_iter().filter(|other| units.contains(other)) {
        let guess = format!("\"{number} {other}\"");
        if !guesses.contains(&guess) {
            guesses.push(guess);
        }
    }
    if guesses.is_empty() { String::new() } else { format!(", did you mean {}?", guesses.join(" or ")) }
}

/// The units in which registries declare parameters that are a time, a rate or a size.
fn declared(unit: &str) -> Option<(&'static Dimension, &str)> {
    let unit = if unit == "bytes" { "B" } else { unit };
    let dimension = [&TIME, &RATE, &SIZE].into_iter().find(|dimension| {
        dimension.written.contains(&unit) || (dimension.name == "rate" && unit == "kB/s")
    })?;
    Some((dimension, unit))
}

/// A value as a number in a registry's `unit`.
///
/// One rule holds for algorithms, queues and routers: a time, rate or size needs its unit, as everywhere in a
/// scenario; a count, a share or a number without unit may be bare, as the registry knows what it counts. A
/// parameter's unit may always be written: "20 packets", "16 round trips", "0.9 of the capacity", "90 %".
pub fn to_declared(value: &Value, unit: &str) -> Result<f64, Refusal> {
    let bare = value.number();
    if let Some((dimension, written)) = declared(unit) {
        if let Some(number) = bare {
            let example = if number.is_finite() {
                format!("{} {written}", general(number, 6))
            } else {
                dimension.example.to_owned()
            };
            return Err(Refusal::new(format!("a {} needs a unit", dimension.name), format!("\"{example}\"")));
        }
        let exact = dimension.parse(value, "")?;
        let scale = dimension.units.iter().find(|known| known.0 == written);
        let (factor, power) = scale.map_or((1, 0), |&(_, factor, power)| (factor, power));
        // the factors of declared units are 1 and 8, which divide 1000
        return Ok(exact.times(1000 / factor).shifted(-3 - power).to_f64());
    }
    if let Some(number) = bare {
        return Ok(number);
    }
    let found = value.text().and_then(split);
    let units = counted_units(unit);
    if let Some((amount, given)) = &found
        && !given.is_empty()
        && units.contains(&given.as_str())
    {
        return Ok(if given == "%" { amount.clone().shifted(-2) } else { amount.clone() }.to_f64());
    }
    if unit.is_empty() {
        return Err(Refusal::new("this is not a number", "a number"));
    }
    let hint = if found.is_some() { meant(value.text().unwrap_or_default(), &units) } else { String::new() };
    let what = match &found {
        Some((_, given)) if !hint.is_empty() => format!("\"{given}\" is not the unit{hint}"),
        _ => "this is not a number of that unit".to_owned(),
    };
    let example = if is_share(unit) { "0.2" } else { "20" };
    let percent = if is_share(unit) { " or \"20 %\"" } else { "" };
    Err(Refusal::new(what, format!("a number, {example} or \"{example} {unit}\"{percent}")))
}

/// What may follow a number whose declared unit is a count or a share; nothing where there is no unit.
pub fn counted_units(unit: &str) -> Vec<&str> {
    if unit.is_empty() {
        return Vec::new();
    }
    let mut units = vec![unit];
    let single = unit.strip_suffix('s').unwrap_or(unit);
    if single != unit {
        units.push(single);
    }
    if is_share(unit) {
        units.push("%");
    }
    units
}

/// What has to follow a number whose declared unit is of a time, a rate or a size; nothing for others.
pub fn declared_units(unit: &str) -> Vec<&'static str> {
    declared(unit).map(|(dimension, _)| dimension.unit_names().collect()).unwrap_or_default()
}

/// Whether the registry declares a share of something, such as "of the window".
pub fn is_share(unit: &str) -> bool {
    unit.starts_with("of ")
}

/// What [`to_declared`] reads as this number; counts of packets and segments have no unit.
pub fn from_declared(x: f64, unit: &str) -> Value {
    match declared(unit) {
        Some((_, written)) => Value::Text(format!("{} {written}", Decimal::of(x).digits())),
        None => Value::of_number(x),
    }
}

/// Whether a word is a number without a unit.
pub fn is_number(word: &str) -> bool {
    number_length(word) == Some(word.len())
}
