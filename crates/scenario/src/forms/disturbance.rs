//! What happens to packets behind a link's transmitter: reordering, delays that vary, outages.
//!
//! A trace of delays is a text file. Each line has a time and a delay, both in milliseconds; the delay holds
//! from that time on.

use super::basic::{DELAYS_S, Number, Quantity, Words, share_of, time};
use super::steps::{LATEST_S, Steps};
use super::trace::{self, Kind, Source};
use crate::at::At;
use crate::form::{Custom, Form, Under, View, any_of};
use crate::keys::{Checked, Inline, inline, table};
use crate::problem::{Refusal, Refused, refuse};
use crate::tree::{Item, Table, Value};
use crate::units::TIME;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

const PERIODS_S: (f64, f64) = (0.1, LATEST_S);
const MOST_LINES: usize = 1_000_000;
const MOST_OUTAGES: usize = 10_000;
const OUTAGE_EXAMPLE: &str =
    "{ begin = \"10 s\", length = \"2 s\" }, with queue = \"waits\" (the default) or \"drains\"";
const ADDED_EXAMPLE: &str = "{ steps = [[\"0 s\", \"0 ms\"], [\"10 s\", \"20 ms\"]] }, { trace = \"file\" } or \
     { handovers = { period = \"15 s\", range = \"20 ms\" } }";
const ACCEPTED_LINES: &str = "a time and a delay in ms on each line, each time after the one before";

/// A share of the packets.
pub const DUPLICATE: Number =
    share_of((0.0, 1.0), "a share of the packets from 0 to 1, such as 0.01 or \"1 %\"", 0.01);

table! {
    /// A share of the packets takes longer by a delay, so that others overtake it.
    pub inline Reorder {
        /// The share of the packets.
        probability: f64 = DUPLICATE;
        /// How much longer they take.
        delay_s as "delay": f64 = DELAY;
    }
}

/// A delay that varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Added {
    /// In steps.
    Steps(DelaySteps),
    /// At handovers.
    Handovers(Handovers),
}

/// A delay that changes in steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DelaySteps {
    /// A time and the delay from then on, s.
    pub steps: Arc<[(f64, f64)]>,
    /// The trace that they come from.
    #[serde(skip)]
    pub source: Option<Source>,
}

table! {
    /// A delay that is drawn anew from 0 to the range at each multiple of the period.
    pub inline Handovers {
        /// The period.
        period_s as "period": f64 = time(PERIODS_S, "15 s");
        /// The greatest delay.
        range_s as "range": f64 = time(DELAYS_S, "20 ms");
    }
}

table! {
    /// A time in which a link carries nothing.
    pub inline Outage {
        /// When it begins.
        begin_s as "begin": f64 = time((0.0, LATEST_S), "10 s");
        /// How long it lasts.
        length_s as "length": f64 = time((1e-6, LATEST_S), "2 s");
        /// Whether queued packets wait, or leave and are lost.
        drains as "queue": bool = Words(&[("waits", false), ("drains", true)]), else false;
    }
}

impl Checked for Reorder {}
impl Checked for Handovers {}
impl Checked for Outage {}

const DELAY: Quantity = time(DELAYS_S, "10 ms");
const STEPS: Under<Steps> =
    Under("steps", Steps { name: "delay", examples: ("0 ms", "20 ms"), value: DELAY, from_start: false });
const HANDOVERS: Under<Inline<Handovers>> =
    Under("handovers", inline("{ period = \"15 s\", range = \"20 ms\" }"));
const OUTAGE: Inline<Outage> = inline(OUTAGE_EXAMPLE);

/// Packets that others overtake.
pub const REORDER: Inline<Reorder> = inline("{ probability = 0.01, delay = \"10 ms\" }");

fn read_added(item: &Item, at: &At<'_>) -> Result<Added, Refused> {
    match &item.value {
        value if STEPS.fits(value) => {
            let steps = STEPS.read(item, at)?.into();
            Ok(Added::Steps(DelaySteps { steps, source: None }))
        }
        value if HANDOVERS.fits(value) => HANDOVERS.read(item, at).map(Added::Handovers),
        Value::Table(table) if trace::is_named(table) => Ok(read_trace(table, at)?),
        _ => refuse("this is not a delay that varies", ADDED_EXAMPLE),
    }
}

const LINES: Kind = Kind { columns: 2, accepted: ACCEPTED_LINES, most: MOST_LINES, is_strict: true, convert };

fn read_trace(table: &Table, at: &At<'_>) -> Result<Added, Refusal> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let (source, _) = trace::read(table, at, &LINES, "leo.delays", |numbers| {
        let [time_s, delay_s] = numbers.map(|ms| ms / 1e3);
        if !(0.0..=LATEST_S).contains(&time_s) || !(DELAYS_S.0..=DELAYS_S.1).contains(&delay_s) {
            let [latest, greatest] = [LATEST_S, DELAYS_S.1].map(|seconds| TIME.write(seconds));
            return Err(format!("times up to {latest} and delays up to {greatest}"));
        }
        steps.push((time_s, delay_s));
        Ok(())
    })?;
    Ok(Added::Steps(DelaySteps { steps: steps.into(), source: Some(source) }))
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

/// A delay that varies.
pub const ADDED_DELAY: Custom<Added> = Custom {
    accepts: ADDED_EXAMPLE,
    read: read_added,
    write: |added| match added {
        Added::Handovers(handovers) => HANDOVERS.write(handovers),
        Added::Steps(DelaySteps { source: Some(source), .. }) => source.written(),
        Added::Steps(DelaySteps { steps, .. }) => STEPS.write(&steps.to_vec()),
    },
    schema: || {
        let trace = trace::schema("A file of times and delays in ms, relative to the scenario");
        any_of([STEPS.schema(), trace, HANDOVERS.schema()])
    },
    view: |added| match added {
        Added::Handovers(handovers) => HANDOVERS.1.view(handovers),
        Added::Steps(DelaySteps { steps, .. }) => STEPS.view(&steps.to_vec()),
    },
};

fn read_outages(item: &Item, at: &At<'_>) -> Result<Vec<Outage>, Refused> {
    let Some(items) = item.value.list().filter(|items| items.len() <= MOST_OUTAGES) else {
        let accepted = format!("a list of up to {MOST_OUTAGES} tables such as {OUTAGE_EXAMPLE}");
        return refuse("this is no such list", accepted);
    };
    let mut outages: Vec<Outage> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let outage = OUTAGE.parse(&item.value, &at.item(index));
        let outage = outage.map_err(|refusal| refusal.of_item("outage", index))?;
        if outages.last().is_some_and(|before| outage.begin_s < before.begin_s + before.length_s) {
            let what = format!("outage {} begins too early", index + 1);
            return refuse(what, "a begin after the end of the outage before");
        }
        outages.push(outage);
    }
    Ok(outages)
}

/// Outages, in order of time.
pub const OUTAGES: Custom<Vec<Outage>> = Custom {
    accepts: OUTAGE_EXAMPLE,
    read: read_outages,
    write: |outages| outages.iter().map(|outage| OUTAGE.write(outage).into()).collect::<Vec<_>>().into(),
    schema: || json!({"type": "array", "items": OUTAGE.schema(), "maxItems": MOST_OUTAGES}),
    view: |outages| View::List(outages.iter().map(|outage| OUTAGE.view(outage)).collect()),
};
