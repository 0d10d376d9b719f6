//! Programs on the path: commands that a live run starts at either side, beside the scenario's flows.

use crate::form::{Custom, Maybe, View, any_of};
use crate::forms::{MOMENT, NAME, Words};
use crate::keys::{Checked, table};
use crate::problem::{Refusal, refuse, refuse_key};
use crate::tree::{Item, Table, Value};
use crate::units::TIME;
use serde_json::json;

const EXAMPLE: &str =
    "a command such as \"iperf3 -c {peer}\", or a list such as [\"iperf3\", \"-c\", \"{peer}\"]";

/// A text with a word, as a regular expression; nothing can be run with a NUL in it.
const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// By /bin/sh.
    Shell(String),
    /// As it is.
    Words(Vec<String>),
}

/// A side of the path; the bottleneck is in the direction from A to B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where data of forward flows begin.
    A,
    /// Where they end.
    B,
}

fn read_command(value: &Value) -> Result<Command, Refusal> {
    let is_plain = |text: &str| !text.contains('\0');
    match value {
        Value::Text(text) if !text.trim().is_empty() && is_plain(text) => Ok(Command::Shell(text.clone())),
        Value::List(items) => {
            let words: Option<Vec<String>> = items
                .iter()
                .map(|item| item.value.text().filter(|text| is_plain(text)).map(str::to_owned))
                .collect();
            match words.filter(|words| words.first().is_some_and(|word| !word.trim().is_empty())) {
                Some(words) => Ok(Command::Words(words)),
                None => refuse("this is not a command", EXAMPLE),
            }
        }
        _ => refuse("this is not a command", EXAMPLE),
    }
}

const COMMAND: Custom<Command> = Custom {
    accepts: EXAMPLE,
    read: |item, _| Ok(read_command(&item.value)?),
    write: |command| match command {
        Command::Shell(text) => text.clone().into(),
        Command::Words(words) => {
            words.iter().map(|word| Item::from(word.as_str())).collect::<Vec<_>>().into()
        }
    },
    schema: || {
        any_of([
            json!({"type": "string", "pattern": NOT_BLANK, "description": "For /bin/sh -c"}),
            json!({"type": "array", "prefixItems": [{"type": "string", "pattern": NOT_BLANK}],
                "items": {"type": "string", "pattern": r"^[^\u0000]*$"}, "minItems": 1}),
        ])
    },
    view: |command| match command {
        Command::Shell(text) => View::Text(text.clone()),
        Command::Words(words) => View::List(words.iter().map(|word| View::Text(word.clone())).collect()),
    },
};

const ENVIRONMENT: Custom<Vec<(String, String)>> = Custom {
    accepts: "a table of texts",
    read: |item, _| {
        const ACCEPTED: &str = "a table of texts, such as { LANG = \"C\" }";
        let Some(table) = item.value.table() else { return refuse("this is not a table", ACCEPTED) };
        let mut found = Vec::new();
        for (name, item) in table.iter() {
            let is_name = !name.is_empty() && !name.contains(['=', '\0']);
            match item.value.text().filter(|text| is_name && !text.contains('\0')) {
                Some(text) => found.push((name.to_owned(), text.to_owned())),
                None => return refuse(format!("{name}: this is not a variable with a text"), ACCEPTED),
            }
        }
        Ok(found)
    },
    write: |variables| Table::of(variables.iter().cloned()).into(),
    schema: || {
        json!({"type": "object", "propertyNames": {"pattern": r"^[^=\u0000]+$"},
            "additionalProperties": {"type": "string", "pattern": r"^[^\u0000]*$"}})
    },
    view: |variables| {
        let pair = |(name, text): &(String, String)| {
            View::List(vec![View::Text(name.clone()), View::Text(text.clone())])
        };
        View::List(variables.iter().map(pair).collect())
    },
};

table! {
    /// A program that runs on the path in a live run.
    pub struct Program {
        /// What is run: a text by /bin/sh, a list as it is. {peer} stands for the other side's address.
        command: Command = COMMAND;
        /// The side that it runs on; the bottleneck is in the direction from "a" to "b".
        side: Side = Words(&[("a", Side::A), ("b", Side::B)]), else Side::A;
        /// Its name in results, by default program-1 and so on.
        name: Option<String> = Maybe(NAME), else None;
        /// When it starts.
        start: f64 = MOMENT, else 0.0;
        /// When it is asked to end (SIGTERM, a second later SIGKILL); by default with the run.
        stop: Option<f64> = Maybe(MOMENT), else None;
        /// Variables that it has beside those of Longfat's own environment.
        environment: Vec<(String, String)> = ENVIRONMENT, else Vec::new();
    }
}

impl Checked for Program {
    fn check(&self) -> Result<(), Refusal> {
        match self.stop {
            Some(stop) if stop <= self.start => {
                let start = TIME.write(self.start);
                refuse_key("stop", format!("it is not after the start, {start}"), "a later time")
            }
            _ => Ok(()),
        }
    }
}
