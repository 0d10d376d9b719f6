//! What happens to packets behind a link's transmitter: reordering, delays that vary, outages.
//!
//! A trace of delays is a text file. Each line has a time and a delay, both in milliseconds; the delay holds
//! from that time on.

use super::basic::{DELAYS_S, Number, inline_table, quantity_schema, share, share_of, share_schema};
use super::steps::{self, LATEST_S, MOST_STEPS};
use super::trace::{self, Kind, Source};
use crate::at::At;
use crate::form::{Custom, View, any_of, table_schema};
use crate::problem::{Refusal, refuse};
use crate::tree::{Item, Table, Value};
use crate::units::TIME;
use serde_json::json;
use std::sync::Arc;

const PERIODS_S: (f64, f64) = (0.1, LATEST_S);
const OUTAGES_S: (f64, f64) = (1e-6, LATEST_S);
const MOST_LINES: usize = 1_000_000;
const MOST_OUTAGES: usize = 10_000;
const SHARES: (f64, f64) = (0.0, 1.0);
const SHARE: &str = "a share of the packets from 0 to 1, such as 0.01 or \"1 %\"";
const REORDER_EXAMPLE: &str = "{ probability = 0.01, delay = \"10 ms\" }";
const OUTAGE_EXAMPLE: &str =
    "{ begin = \"10 s\", length = \"2 s\" }, with queue = \"waits\" (the default) or \"drains\"";
const ADDED_EXAMPLE: &str = "{ steps = [[\"0 s\", \"0 ms\"], [\"10 s\", \"20 ms\"]] }, { trace = \"file\" } or \
     { handovers = { period = \"15 s\", range = \"20 ms\" } }";
const ACCEPTED_LINES: &str = "a time and a delay in ms on each line, each time after the one before";

/// A share of the packets.
pub const DUPLICATE: Number = share_of(SHARES, SHARE, 0.01);

/// A share of the packets takes longer by a delay, so that others overtake it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// The share.
    pub probability: f64,
    /// How much longer, s.
    pub delay_s: f64,
}

/// A delay that varies.
#[derive(Clone, Debug, PartialEq)]
pub enum Added {
    /// A time and the delay from then on, s; and the trace that they come from.
    Steps(Arc<[(f64, f64)]>, Option<Source>),
    /// A delay that is drawn anew from [0, `range_s`] at each multiple of the period.
    Handovers {
        /// The period, s.
        period_s: f64,
        /// The greatest delay, s.
        range_s: f64,
    },
}

/// A time in which a link carries nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// When it begins, s.
    pub begin_s: f64,
    /// How long it lasts, s.
    pub length_s: f64,
    /// Whether queued packets leave, and are lost; else they wait.
    pub drains: bool,
}

fn part<'a>(table: &'a Table, key: &str) -> &'a Value {
    table.get(key).map_or(&Value::Null, |item| &item.value)
}

fn time(value: &Value, limits: (f64, f64), place: &str, example: &str) -> Result<f64, Refusal> {
    let key = place.rsplit(' ').next().unwrap_or_default();
    TIME.parse_within(value, limits, example).map_err(|refusal| refusal.within(place).at_part(key))
}

fn read_reorder(value: &Value) -> Result<Reorder, Refusal> {
    let table = inline_table(value, &["probability", "delay"], &[], REORDER_EXAMPLE)?;
    let probability = share(part(table, "probability"), SHARES, SHARE);
    Ok(Reorder {
        probability: probability.map_err(|refusal| refusal.within("probability").at_part("probability"))?,
        delay_s: time(part(table, "delay"), DELAYS_S, "delay", "10 ms")?,
    })
}

/// Packets that others overtake.
pub const REORDER: Custom<Reorder> = Custom {
    accepts: REORDER_EXAMPLE,
    read: |value, _| read_reorder(value),
    write: |value| {
        let delay = Value::from(TIME.write(value.delay_s));
        Table::of([("probability", Value::Float(value.probability)), ("delay", delay)]).into()
    },
    schema: || table_schema(&[("probability", share_schema(SHARES)), ("delay", quantity_schema(&TIME))], &[]),
    view: |value| {
        View::Fields(vec![
            ("probability", View::Float(value.probability)),
            ("delay", View::Float(value.delay_s)),
        ])
    },
};

fn read_added(value: &Value, at: &At<'_>) -> Result<Added, Refusal> {
    match value.table() {
        Some(table) if table.has_only(&["steps"], &[]) => {
            let delay = |value: &Value| TIME.parse_within(value, DELAYS_S, "10 ms");
            let steps = steps::read(part(table, "steps"), "delay", ("0 ms", "20 ms"), delay, false)?;
            Ok(Added::Steps(steps.into(), None))
        }
        Some(table) if table.has_only(&["handovers"], &[]) => {
            let accepted = "{ period = \"15 s\", range = \"20 ms\" }";
            let given = inline_table(part(table, "handovers"), &["period", "range"], &[], accepted)
                .map_err(|refusal| refusal.within("handovers").at_part("handovers"))?;
            Ok(Added::Handovers {
                period_s: time(part(given, "period"), PERIODS_S, "handovers.period", "15 s")?,
                range_s: time(part(given, "range"), DELAYS_S, "handovers.range", "20 ms")?,
            })
        }
        Some(table) if trace::is_named(table) => read_trace(table, at),
        _ => refuse("this is not a delay that varies", ADDED_EXAMPLE),
    }
}

fn read_trace(table: &Table, at: &At<'_>) -> Result<Added, Refusal> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let kind = Kind { columns: 2, accepted: ACCEPTED_LINES, convert };
    let (source, _) = trace::read(table, at, &kind, "leo.delays", |row| {
        let [time_s, delay_s] = row.numbers.map(|number| number / 1e3);
        if !(0.0..=LATEST_S).contains(&time_s) || !(DELAYS_S.0..=DELAYS_S.1).contains(&delay_s) {
            return row.refuse(&format!(
                "times up to {} and delays up to {}",
                TIME.write(LATEST_S),
                TIME.write(DELAYS_S.1)
            ));
        }
        if let Some(&(before_s, _)) = steps.last()
            && time_s <= before_s
        {
            return row.refuse_order(row.numbers[0], 1e3 * before_s, ACCEPTED_LINES);
        }
        steps.push((time_s, delay_s));
        if steps.len() > MOST_LINES {
            return row.refuse(&format!("up to {MOST_LINES} lines"));
        }
        Ok(())
    })?;
    Ok(Added::Steps(steps.into(), Some(source)))
}

/// How the lines of a file with other columns become times and delays.
fn convert(lines: &[Vec<&str>]) -> String {
    if lines.first().is_some_and(|line| line.len() > 2) {
        return "more columns: keep the first two, if these are the time and the delay".to_owned();
    }
    let timed: Vec<String> =
        lines.iter().enumerate().map(|(number, line)| format!("\"{} {}\"", 100 * number, line[0])).collect();
    format!("delays alone: put the time of each before it; every 100 ms these are {}", timed.join(" and "))
}

fn write_added(value: &Added) -> Value {
    match value {
        Added::Handovers { period_s, range_s } => {
            let inner = Table::of([("period", TIME.write(*period_s)), ("range", TIME.write(*range_s))]);
            Table::of([("handovers", inner)]).into()
        }
        Added::Steps(_, Some(source)) => source.written(),
        Added::Steps(steps, None) => {
            let pair = |&(time, delay): &(f64, f64)| {
                Item::new(Value::List(vec![TIME.write(time).into(), TIME.write(delay).into()]))
            };
            Table::of([("steps", steps.iter().map(pair).collect::<Vec<_>>())]).into()
        }
    }
}

/// A delay that varies.
pub const ADDED_DELAY: Custom<Added> = Custom {
    accepts: ADDED_EXAMPLE,
    read: read_added,
    write: write_added,
    schema: || {
        let time = quantity_schema(&TIME);
        let pair = json!({"type": "array", "prefixItems": [time, time], "minItems": 2, "maxItems": 2});
        let steps = json!({"type": "array", "items": pair, "minItems": 1, "maxItems": MOST_STEPS});
        let handovers = table_schema(&[("period", time.clone()), ("range", time)], &[]);
        any_of([
            table_schema(&[("steps", steps)], &[]),
            trace::schema("A file of times and delays in ms, relative to the scenario"),
            table_schema(&[("handovers", handovers)], &[]),
        ])
    },
    view: |value| match value {
        Added::Handovers { period_s, range_s } => {
            View::Fields(vec![("period", View::Float(*period_s)), ("range", View::Float(*range_s))])
        }
        Added::Steps(steps, _) => {
            let pair = |&(time, delay): &(f64, f64)| View::List(vec![View::Float(time), View::Float(delay)]);
            View::Fields(vec![("steps", View::List(steps.iter().map(pair).collect()))])
        }
    },
};

fn read_outages(value: &Value) -> Result<Vec<Outage>, Refusal> {
    let Some(items) = value.list().filter(|items| items.len() <= MOST_OUTAGES) else {
        let accepted = format!("a list of up to {MOST_OUTAGES} tables such as {OUTAGE_EXAMPLE}");
        return refuse("this is no such list", accepted);
    };
    let mut outages: Vec<Outage> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let place = format!("outage {}", index + 1);
        let at = |refusal: Refusal| refusal.at_part(&index.to_string());
        let table = inline_table(&item.value, &["begin", "length"], &["queue"], OUTAGE_EXAMPLE)
            .map_err(|refusal| at(refusal.within(&place)))?;
        let begin_s =
            time(part(table, "begin"), (0.0, LATEST_S), &format!("{place}, begin"), "10 s").map_err(at)?;
        let length_s =
            time(part(table, "length"), OUTAGES_S, &format!("{place}, length"), "2 s").map_err(at)?;
        let drains = match table.get("queue").map(|item| item.value.text()) {
            None | Some(Some("waits")) => false,
            Some(Some("drains")) => true,
            Some(_) => {
                let refusal = Refusal::new("there is no such choice", "\"waits\" or \"drains\"");
                return Err(at(refusal.within(&format!("{place}, queue")).at_part("queue")));
            }
        };
        if outages.last().is_some_and(|before| begin_s < before.begin_s + before.length_s) {
            return refuse(format!("{place} begins too early"), "a begin after the end of the outage before");
        }
        outages.push(Outage { begin_s, length_s, drains });
    }
    Ok(outages)
}

const fn queue(outage: &Outage) -> &'static str {
    if outage.drains { "drains" } else { "waits" }
}

/// Outages, in order of time.
pub const OUTAGES: Custom<Vec<Outage>> = Custom {
    accepts: OUTAGE_EXAMPLE,
    read: |value, _| read_outages(value),
    write: |outages| {
        let one = |outage: &Outage| {
            Item::from(Table::of([
                ("begin", TIME.write(outage.begin_s)),
                ("length", TIME.write(outage.length_s)),
                ("queue", queue(outage).to_owned()),
            ]))
        };
        outages.iter().map(one).collect::<Vec<_>>().into()
    },
    schema: || {
        let time = quantity_schema(&TIME);
        let queue = json!({"enum": ["waits", "drains"]});
        let one = table_schema(&[("begin", time.clone()), ("length", time)], &[("queue", queue)]);
        json!({"type": "array", "items": one, "maxItems": MOST_OUTAGES})
    },
    view: |outages| {
        let one = |outage: &Outage| {
            View::Fields(vec![
                ("begin", View::Float(outage.begin_s)),
                ("length", View::Float(outage.length_s)),
                ("queue", View::Text(queue(outage).to_owned())),
            ])
        };
        View::List(outages.iter().map(one).collect())
    },
};
