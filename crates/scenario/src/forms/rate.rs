//! Rates of links, constant or varying: a sine, steps, or a Mahimahi trace.
//!
//! A trace is a text file in the format of Mahimahi's link shell (Netravali et al., USENIX ATC 2015): each
//! line is a time in milliseconds at which the link can deliver 1500 bytes; after the last line it starts
//! again.

use super::basic::{Quantity, RATES_BPS, rate, time};
use super::steps::{LATEST_S, Steps};
use super::trace::{self, Kind, Source};
use crate::at::At;
use crate::form::{Custom, Form, Under, View, any_of};
use crate::keys::{Checked, Inline, inline, table};
use crate::problem::{Refusal, Refused, refuse};
use crate::text::general;
use crate::tree::{Item, Table, Value};
use crate::units::RATE;
use std::sync::Arc;

/// The bytes that one line of a trace delivers.
const OPPORTUNITY_BYTES: f64 = 1500.0;
const MOST_OPPORTUNITIES: usize = 5_000_000;
const PERIODS_S: (f64, f64) = (1e-3, 1e6);
/// The core counts nanoseconds.
const LEAST_PERIOD_MS: f64 = 1e-6;

/// A rate, bit/s.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// It does not vary.
    Constant(f64),
    /// A sine between the greatest and the least rate.
    Sine(Sine),
    /// A time in s and a rate from then on.
    Steps(Vec<(f64, f64)>),
    /// Times of deliveries, ms, the mean rate, and their file.
    Trace(Arc<[f64]>, f64, Source),
}

impl Rate {
    /// The greatest rate, for a trace the mean rate. Buffers given as a time or a share of the BDP, access
    /// links and the reverse path use that number.
    pub fn bps(&self) -> f64 {
        match self {
            Rate::Constant(bps) | Rate::Sine(Sine { max: bps, .. }) | Rate::Trace(_, bps, _) => *bps,
            Rate::Steps(steps) => steps.iter().map(|step| step.1).fold(0.0, f64::max),
        }
    }

    /// The file of a trace.
    pub const fn source(&self) -> Option<&Source> {
        match self {
            Rate::Trace(_, _, source) => Some(source),
            _ => None,
        }
    }

    /// The time after which a trace starts again, s; `None` without a trace.
    pub fn repeats_after_s(&self) -> Option<f64> {
        match self {
            Rate::Trace(times, ..) => times.last().map(|ms| ms / 1e3),
            _ => None,
        }
    }
}

const ACCEPTED: &str = "a rate such as \"250 Mbit/s\", \
     { sine = { max = \"1 Gbit/s\", min = \"300 Mbit/s\", period = \"32 s\" } }, \
     { steps = [[\"0 s\", \"1 Gbit/s\"], [\"10 s\", \"300 Mbit/s\"]] } or { trace = \"file\" }";
const ACCEPTED_SINE: &str = "{ max = \"1 Gbit/s\", min = \"300 Mbit/s\", period = \"32 s\" }";
const ACCEPTED_LINES: &str =
    "one time in ms on each line, none smaller than the one before; each delivers 1500 bytes";

table! {
    /// A sine between two rates.
    pub inline Sine {
        /// The greatest rate.
        max: f64 = CONSTANT;
        /// The least rate.
        min: f64 = CONSTANT;
        /// The period.
        period_s as "period": f64 = time(PERIODS_S, "42 ms");
    }
}

impl Checked for Sine {}

const CONSTANT: Quantity = rate(RATES_BPS, "250 Mbit/s");
const SINE: Under<Inline<Sine>> = Under("sine", inline(ACCEPTED_SINE));
const STEPS: Under<Steps> = Under(
    "steps",
    Steps { name: "rate", examples: ("1 Gbit/s", "300 Mbit/s"), value: CONSTANT, from_start: true },
);

fn read(item: &Item, at: &At<'_>) -> Result<Rate, Refused> {
    match &item.value {
        value if SINE.fits(value) => {
            let sine = SINE.read(item, at)?;
            if sine.min > sine.max {
                return refuse("sine.min is above sine.max", "the lesser rate as min");
            }
            Ok(Rate::Sine(sine))
        }
        value if STEPS.fits(value) => STEPS.read(item, at).map(Rate::Steps),
        Value::Table(table) if trace::is_named(table) => Ok(read_trace(table, at)?),
        Value::Table(_) => refuse("this is not a rate", ACCEPTED),
        _ => CONSTANT.read(item, at).map(Rate::Constant),
    }
}

const LINES: Kind =
    Kind { columns: 1, accepted: ACCEPTED_LINES, most: MOST_OPPORTUNITIES, is_strict: false, convert };

fn read_trace(table: &Table, at: &At<'_>) -> Result<Rate, Refusal> {
    let latest_ms = 1e3 * LATEST_S;
    let mut times: Vec<f64> = Vec::new();
    let (source, place) = trace::read(table, at, &LINES, "cellular.trace", |[time, _]| {
        if !(0.0..=latest_ms).contains(&time) {
            return Err(format!("times from 0 to {latest_ms} ms"));
        }
        times.push(time);
        Ok(())
    })?;
    let last = times.last().copied().unwrap_or(0.0);
    if last < LEAST_PERIOD_MS {
        return Err(Refusal::new("no line has a time after 0 ms", ACCEPTED_LINES).within(&place));
    }
    // exact as long as the product is, below 2^53 / 12e6 lines
    let mean = 8.0 * OPPORTUNITY_BYTES * times.len() as f64 * 1000.0 / last;
    RATE.within(mean, RATES_BPS).map_err(|refusal| {
        let what = format!("its mean is {} bit/s", general(mean, 3));
        Refusal::new(what, refusal.accepted).within(&place)
    })?;
    Ok(Rate::Trace(times.into(), mean, source))
}

/// How the lines of a file with times and rates become steps.
fn convert(lines: &[Vec<&str>]) -> String {
    let pairs: Vec<String> = lines
        .iter()
        .filter(|line| line.len() > 1)
        .map(|line| format!("[\"{} s\", \"{} Mbit/s\"]", line[0], line[1]))
        .collect();
    let pairs = pairs.join(", ");
    format!("if its lines have seconds and Mbit/s, write rate = {{ steps = [{pairs}, ...] }}")
}

fn write(rate: &Rate) -> Value {
    match rate {
        Rate::Constant(bps) => CONSTANT.write(bps),
        Rate::Sine(sine) => SINE.write(sine),
        Rate::Steps(steps) => STEPS.write(steps),
        Rate::Trace(_, _, source) => source.written(),
    }
}

/// A rate, constant or varying.
pub const VARYING_RATE: Custom<Rate> = Custom {
    accepts: "a rate such as \"250 Mbit/s\"",
    read,
    write,
    schema: || {
        let trace = trace::schema("A file in Mahimahi's format, relative to the scenario");
        any_of([CONSTANT.unlimited_schema(), SINE.schema(), STEPS.schema(), trace])
    },
    view: |rate| View::Float(rate.bps()),
};
