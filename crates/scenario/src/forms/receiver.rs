//! What a receiver does against the rules.

use super::basic::{inline_table, whole_number, whole_schema};
use crate::form::{Custom, View, table_schema};
use crate::problem::Refusal;
use crate::tree::{Table, Value};
use serde_json::json;

const AHEAD: (i128, i128) = (0, 1_000_000_000);
const PARTS: (i128, i128) = (1, 100);
const EXAMPLE: &str =
    "{ conceal_losses = true }, or with ack_ahead = 10, divide_acks = 4 and hide_marks = true";

/// What the receiver does against the rules; by default nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// It acknowledges segments that are missing below the highest one that has come.
    pub conceal_losses: bool,
    /// Its ACKs cover up to this many segments that have not come yet.
    pub ack_ahead: i64,
    /// It sends this many ACKs in place of one, each for a part of the same segments.
    pub divide_acks: i64,
    /// It takes marked packets for unmarked ones.
    pub hide_marks: bool,
}

impl Receiver {
    /// One that keeps the rules.
    pub const HONEST: Receiver =
        Receiver { conceal_losses: false, ack_ahead: 0, divide_acks: 1, hide_marks: false };

    /// What differs from an honest receiver.
    fn written(&self) -> Table {
        let mut table = Table::default();
        if self.conceal_losses {
            table.push("conceal_losses", true);
        }
        if self.ack_ahead != 0 {
            table.push("ack_ahead", Value::Integer(self.ack_ahead.into()));
        }
        if self.divide_acks != 1 {
            table.push("divide_acks", Value::Integer(self.divide_acks.into()));
        }
        if self.hide_marks {
            table.push("hide_marks", true);
        }
        table
    }
}

fn read(value: &Value) -> Result<Receiver, Refusal> {
    const KEYS: [&str; 4] = ["conceal_losses", "ack_ahead", "divide_acks", "hide_marks"];
    let table = inline_table(value, &[], &KEYS, EXAMPLE)?;
    let switch = |key: &str| match table.get(key).map(|item| &item.value) {
        None => Ok(false),
        Some(Value::Bool(switch)) => Ok(*switch),
        Some(_) => Err(Refusal::new("this is not a switch", "true or false").within(key).at_part(key)),
    };
    let count = |key: &str, limits, default| match table.get(key) {
        None => Ok(default),
        Some(item) => {
            whole_number(&item.value, limits, "").map_err(|refusal: Refusal| refusal.within(key).at_part(key))
        }
    };
    Ok(Receiver {
        conceal_losses: switch("conceal_losses")?,
        ack_ahead: count("ack_ahead", AHEAD, 0)?,
        divide_acks: count("divide_acks", PARTS, 1)?,
        hide_marks: switch("hide_marks")?,
    })
}

/// What a receiver does against the rules.
pub const RECEIVER: Custom<Receiver> = Custom {
    accepts: EXAMPLE,
    read: |value, _| read(value),
    write: |value| value.written().into(),
    schema: || {
        let switch = json!({"type": "boolean"});
        table_schema(
            &[],
            &[
                ("conceal_losses", switch.clone()),
                ("ack_ahead", whole_schema(AHEAD, "")),
                ("divide_acks", whole_schema(PARTS, "")),
                ("hide_marks", switch),
            ],
        )
    },
    view: |value| {
        View::Fields(vec![
            ("conceal_losses", View::Bool(value.conceal_losses)),
            ("ack_ahead", View::Integer(value.ack_ahead)),
            ("divide_acks", View::Integer(value.divide_acks)),
            ("hide_marks", View::Bool(value.hide_marks)),
        ])
    },
};
