//! Parameters that users set. A registry row declares them once; this module checks them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number in [least, greatest], with this default.
    Number {
        /// Used when the user gives no value.
        default: f64,
        /// Least value accepted.
        least: f64,
        /// Greatest value accepted.
        greatest: f64,
    },
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
}

/// One parameter of a row.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name in scenario files.
    pub name: &'static str,
    /// Values and default.
    pub kind: Kind,
    /// Unit of a number ("segments", "s", "" for none).
    pub unit: &'static str,
    /// Its effect, in one line.
    pub meaning: &'static str,
    /// What a number is when it is automatic, if it may be: scenario files say "auto", and the core reads 0.
    pub auto: Option<&'static str>,
}

impl Parameter {
    /// A number with default, range and unit.
    pub const fn number(
        name: &'static str,
        default: f64,
        range: (f64, f64),
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        let kind = Kind::Number { default, least: range.0, greatest: range.1 };
        Parameter { name, kind, unit, meaning, auto: None }
    }

    /// The same number, which may also be automatic: 0, and "auto" in scenario files. `is` says what it is
    /// then.
    pub const fn or_auto(self, is: &'static str) -> Self {
        Parameter { auto: Some(is), ..self }
    }

    /// A choice between words; the first is the default.
    pub const fn choice(name: &'static str, words: &'static [&'static str], meaning: &'static str) -> Self {
        Parameter { name, kind: Kind::Choice(words), unit: "", meaning, auto: None }
    }

    /// A choice between yes and no.
    pub const fn flag(name: &'static str, default: bool, meaning: &'static str) -> Self {
        Parameter::choice(name, if default { &["true", "false"] } else { &["false", "true"] }, meaning)
    }
}

/// A value that a user gave; in JSON a number or a string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, already in the parameter's unit.
    Number(f64),
    /// A word.
    Word(String),
}

/// Why parameters were refused.
#[derive(Debug, Error, PartialEq)]
pub enum ParameterError {
    /// There is no such parameter.
    #[error("{owner} has no parameter {name:?}; it has: {known}")]
    Unknown {
        /// The row's name.
        owner: &'static str,
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The queue cannot mark packets.
    #[error("{owner} cannot mark packets, so it has no parameter \"ecn\"; these queues can: {able}")]
    CannotMark {
        /// The row's name.
        owner: &'static str,
        /// The queues that can.
        able: String,
    },
    /// The value is outside what is accepted.
    #[error("{owner}.{name} = {value} is not accepted; give {accepted}")]
    Refused {
        /// The row's name.
        owner: &'static str,
        /// The parameter.
        name: &'static str,
        /// The given value.
        value: String,
        /// The accepted values.
        accepted: String,
    },
}

/// Checked parameters of one instance: every declared parameter has a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters(Vec<(&'static str, Value)>);

impl Parameters {
    /// Defaults of `declared`, overridden by `given`.
    pub fn new(
        owner: &'static str,
        declared: &'static [Parameter],
        given: &[(String, Value)],
    ) -> Result<Self, ParameterError> {
        if let Some((name, _)) = given.iter().find(|(n, _)| declared.iter().all(|p| p.name != n)) {
            let mut known = declared.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
            if known.is_empty() {
                known.push_str("none");
            }
            return Err(ParameterError::Unknown { owner, name: name.clone(), known });
        }
        let value = |p: &'static Parameter| {
            let asked = given.iter().find(|(n, _)| n == p.name).map(|(_, v)| v);
            let refused = |accepted: String| ParameterError::Refused {
                owner,
                name: p.name,
                value: match asked {
                    Some(Value::Number(x)) => x.to_string(),
                    Some(Value::Word(w)) => format!("{w:?}"),
                    None => String::new(),
                },
                accepted,
            };
            match (p.kind, asked) {
                (Kind::Number { default, .. }, None) => Ok(Value::Number(default)),
                (Kind::Number { least, greatest, .. }, Some(Value::Number(x)))
                    if (least..=greatest).contains(x) =>
                {
                    Ok(Value::Number(*x))
                }
                (Kind::Number { least, greatest, .. }, Some(_)) => Err(refused(
                    format!("a number from {least} to {greatest} {}", p.unit).trim_end().to_owned(),
                )),
                (Kind::Choice(words), None) => Ok(Value::Word(words[0].to_owned())),
                (Kind::Choice(words), Some(Value::Word(w))) if words.contains(&w.as_str()) => {
                    Ok(Value::Word(w.clone()))
                }
                (Kind::Choice(words), Some(_)) => Err(refused(format!("one of: {}", words.join(", ")))),
            }
        };
        declared.iter().map(|p| value(p).map(|v| (p.name, v))).collect::<Result<_, _>>().map(Parameters)
    }

    /// The number `name`. Panics if the row does not declare it, which is an error in the row's file.
    pub fn number(&self, name: &str) -> f64 {
        match self.0.iter().find(|(n, _)| *n == name) {
            Some((_, Value::Number(x))) => *x,
            _ => unreachable!("{name} is not a declared number"),
        }
    }

    /// The word `name`. Panics if the row does not declare it, which is an error in the row's file.
    pub fn word(&self, name: &str) -> &str {
        match self.0.iter().find(|(n, _)| *n == name) {
            Some((_, Value::Word(w))) => w,
            _ => unreachable!("{name} is not a declared choice"),
        }
    }

    /// Whether `name`, declared with [`Parameter::flag`], is set.
    pub fn flag(&self, name: &str) -> bool {
        self.word(name) == "true"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &[Parameter] = &[
        Parameter::number("gain", 0.5, (0.0, 1.0), "", "a gain"),
        Parameter::choice("table", &["exact", "nearest"], "which table"),
    ];

    fn given(name: &str, value: Value) -> Vec<(String, Value)> {
        vec![(name.to_owned(), value)]
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let p = Parameters::new("x", ROW, &[]).unwrap();
        assert_eq!((p.number("gain"), p.word("table")), (0.5, "exact"));
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let e = Parameters::new("x", ROW, &given("gian", Value::Number(1.0))).unwrap_err();
        assert_eq!(e.to_string(), r#"x has no parameter "gian"; it has: gain, table"#);
    }

    #[test]
    fn values_outside_their_range_say_what_is_accepted() {
        let e = Parameters::new("x", ROW, &given("gain", Value::Number(2.0))).unwrap_err();
        assert_eq!(e.to_string(), "x.gain = 2 is not accepted; give a number from 0 to 1");
        assert!(Parameters::new("x", ROW, &given("gain", Value::Number(f64::NAN))).is_err());
        let e = Parameters::new("x", ROW, &given("table", Value::Word("near".into()))).unwrap_err();
        assert_eq!(e.to_string(), r#"x.table = "near" is not accepted; give one of: exact, nearest"#);
    }
}
