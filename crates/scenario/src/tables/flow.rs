//! Flows, and how often they and the links are sampled.

use super::transport::{Direction, Placed, Transport};
use crate::form::{Maybe, View};
use crate::forms::{
    DRAWN_RTT, DRAWN_TIME, Drawn, MOMENT, MOST_FLOWS, NAME, PERIOD, SWITCH, TRANSFER, Words, whole,
};
use crate::keys::{Checked, table};
use crate::problem::{Refusal, refuse_key};
use crate::tree::Table;
use crate::units::TIME;

table! {
    /// One flow, or `count` of them.
    pub struct Flow {
        ..placed: Placed,
        /// Its name in results, by default a running number; `count` flows get one number each after it.
        name: Option<String> = Maybe(NAME), else None;
        /// Two-way propagation delay of the whole path; with `[bottleneck]`.
        rtt: Option<Drawn> = Maybe(DRAWN_RTT), else None;
        /// When it starts.
        start: Drawn = DRAWN_TIME, else Drawn::Fixed(0.0);
        /// From then on it sends nothing new; by default it never stops.
        stop: Option<f64> = Maybe(MOMENT), else None;
        /// Payload after which it is complete; by default it is endless.
        bytes: Option<f64> = Maybe(TRANSFER), else None;
        /// The number of flows like this one.
        count: i64 = whole((1, MOST_FLOWS), "flows"), else 1;
        /// The n-th of `count` flows, from 0, starts n times this later.
        stagger: f64 = MOMENT, else 0.0;
        /// Which way data go.
        direction: Direction = Words(&[
            ("forward", Direction::Forward),
            ("reverse", Direction::Reverse),
        ]), else Direction::Forward;
    }
}

table! {
    /// How often series are sampled.
    pub struct Sample {
        /// Period of the series of flows.
        cwnd: f64 = PERIOD, else 0.1;
        /// Period of the series of links.
        queue: f64 = PERIOD, else 0.1;
        /// Also log each loss, mark, timeout and recovery of the flows.
        events: bool = SWITCH, else false;
        /// Also sample what the flows' algorithms know of themselves, such as FAST's `alpha`.
        internals: bool = SWITCH, else false;
    }
}

impl Flow {
    /// Whether its data go from the end of the path to its beginning.
    pub fn is_reverse(&self) -> bool {
        self.direction == Direction::Reverse
    }
}

impl Checked for Sample {}

impl Default for Sample {
    fn default() -> Sample {
        Sample { cwnd: 0.1, queue: 0.1, events: false, internals: false, given: Default::default() }
    }
}

impl Checked for Flow {
    const SHORTHANDS: &'static [&'static str] = Transport::SHORTHANDS;

    fn spelled_out(table: &Table, at: &crate::at::At<'_>) -> Result<Option<Table>, Refusal> {
        Transport::spelled_out(table, at)
    }

    fn check(&self) -> Result<(), Refusal> {
        self.transport.check()?;
        if let Some(stop) = self.stop
            && stop <= self.start.least()
        {
            let start = TIME.write(self.start.least());
            return refuse_key("stop", format!("it is not after the start, {start}"), "a later time");
        }
        if self.stagger > 0.0 && matches!(self.start, Drawn::Exponential(..)) {
            return refuse_key(
                "stagger",
                "it does not go with an exponential start",
                "a fixed or uniform start",
            );
        }
        Ok(())
    }

    fn derived(&self, out: &mut Vec<(&'static str, View)>) {
        self.transport.derived(out);
    }

    fn tidy(&self, written: &mut Table) {
        self.transport.tidy(written);
    }
}
