//! A whole plan, as read from JSON and after its check.

use super::connection::{CheckedConnection, ConnectionPlan};
use super::distribution::distribution;
use super::error::{LONGEST_S, PlanError, bad, within};
use super::held;
use super::link::{CheckedLink, LinkPlan};
use super::nodes;
use super::traffic::{Traffic, TrafficPlan};
use crate::forms::Drawn;
use crate::tables::Transport;
use longfat_units::{Distribution, Time};
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::Arc;

/// Most long-lived flows in one run.
const MOST_FLOWS: usize = 1_000_000;

/// A run, as read from JSON: numbers only, in SI units.
///
/// The scenario's defaults are filled in already. In JSON a key whose value is null may be missing, and so
/// may those of [`Transport`] and [`Disturbed`](crate::tables::Disturbed), which then have their defaults.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of every random stream.
    pub seed: u64,
    /// Simulated time, seconds.
    pub duration_s: f64,
    /// The span [from, to] that the summary covers, seconds; the key's name is the command line's.
    pub window_s: (f64, f64),
    /// Shared links.
    pub links: Vec<LinkPlan>,
    /// Flows with series of their own.
    pub flows: Vec<FlowPlan>,
    /// Traffic that comes and goes.
    pub background: Vec<BackgroundPlan>,
    /// Sampling periods.
    pub sample: SamplePlan,
    /// Whether to log what happens to each flow's window: losses, timeouts, the ends of their repair, and so
    /// on.
    pub events: bool,
    /// Whether to use what is faster with the same results: the fast driver, drop-tail and RED that work out
    /// their lengths without holding packets, and other queues that hold numbers of packets instead of the
    /// packets.
    pub fast: bool,
}

/// Sampling periods, seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplePlan {
    /// Between samples of flows.
    pub flows_s: f64,
    /// Between samples of links.
    pub links_s: f64,
    /// Whether samples of flows have what their algorithms know of themselves.
    pub internals: bool,
}

/// A flow with series of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowPlan {
    /// Its name in results, unique among flows.
    pub name: String,
    /// When it starts, seconds.
    pub start_s: Drawn,
    /// Payload to send, bytes; endless if null.
    pub bytes: Option<u64>,
    /// Flows with the same number lie between the same two hosts, which matters with
    /// `ssthresh_cache`; hosts of its own if null.
    pub hosts: Option<u64>,
    /// The options of its connection.
    #[serde(flatten)]
    pub connection: ConnectionPlan,
}

/// Traffic that comes and goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackgroundPlan {
    /// Its name in results, unique among backgrounds.
    pub name: String,
    /// Its connections.
    pub flow: ConnectionPlan,
    /// Its kind, and the numbers of that.
    #[serde(flatten)]
    pub traffic: TrafficPlan,
}

/// A plan that can be run. Only [`Plan::check`] makes one.
///
/// A run takes it apart, because each link consumes its own part, while the rest is read for as long as the
/// run lasts.
#[non_exhaustive]
pub struct CheckedPlan {
    /// Shared links, in the order of the plan.
    pub links: Vec<CheckedLink>,
    /// The rest.
    pub run: CheckedRun,
}

/// A checked plan without its links: who sends what and when, and what is observed.
#[non_exhaustive]
pub struct CheckedRun {
    /// Seed of every random stream.
    pub seed: u64,
    /// Time that the run covers, seconds.
    pub duration_s: f64,
    /// The span [from, to] that the summary covers, seconds.
    pub window_s: (f64, f64),
    /// Flows with series of their own, in the order of the plan.
    pub flows: Vec<CheckedFlow>,
    /// Traffic that comes and goes, in the order of the plan.
    pub background: Vec<CheckedBackground>,
    /// Sampling periods.
    pub sample: SamplePlan,
    /// Whether to log what happens to each flow's window.
    pub events: bool,
    /// Whether to use the fast driver and arithmetic queues.
    pub fast: bool,
}

impl Deref for CheckedPlan {
    type Target = CheckedRun;

    fn deref(&self) -> &CheckedRun {
        &self.run
    }
}

/// A flow after its check.
#[derive(Clone)]
#[non_exhaustive]
pub struct CheckedFlow {
    /// Its name in results.
    pub name: String,
    /// When it starts, seconds.
    pub start: Distribution,
    /// Payload to send, bytes; endless if `None`.
    pub bytes: Option<u64>,
    /// The number of its hosts, if other flows have the same ones.
    pub hosts: Option<u64>,
    /// The options of its connection.
    pub connection: CheckedConnection,
}

/// Traffic that comes and goes, after its check.
#[derive(Clone)]
#[non_exhaustive]
pub struct CheckedBackground {
    /// Its name in results.
    pub name: String,
    /// Its kind, and the numbers of that.
    pub traffic: Traffic,
    /// Its connections.
    pub connection: CheckedConnection,
}

impl Plan {
    /// Reads a plan from JSON. Refuses unknown keys and wrong types; [`Plan::check`] checks the values.
    pub fn from_json(text: &str) -> Result<Plan, PlanError> {
        serde_json::from_str(text).or_else(|e| bad("plan", e.to_string()))
    }

    /// Checks every value.
    pub fn check(self) -> Result<CheckedPlan, PlanError> {
        self.check_transports()?;
        within("duration_s", self.duration_s, 1e-9, LONGEST_S)?;
        within("window_s[0]", self.window_s.0, 0.0, self.duration_s)?;
        within("window_s[1]", self.window_s.1, self.window_s.0, self.duration_s)?;
        within("sample.flows_s", self.sample.flows_s, 1e-6, LONGEST_S)?;
        within("sample.links_s", self.sample.links_s, 1e-6, LONGEST_S)?;
        if self.flows.len() > MOST_FLOWS {
            return bad("flows", format!("{} are more than {MOST_FLOWS}", self.flows.len()));
        }
        let measured = (Time::from_secs_f64(self.window_s.0), Time::from_secs_f64(self.window_s.1));
        let numbered = self.links.into_iter().enumerate();
        let links = numbered
            .map(|(i, link)| link.check((&format!("links[{i}]"), i), self.seed, measured))
            .collect::<Result<Vec<CheckedLink>, _>>()?;
        check_names("links", links.iter().map(|link| &*link.name))?;
        check_names("flows", self.flows.iter().map(|flow| &*flow.name))?;
        check_names("background", self.background.iter().map(|background| &*background.name))?;
        let numbered = self.flows.into_iter().enumerate();
        let flows = numbered
            .map(|(i, flow)| flow.check(&format!("flows[{i}]"), links.len()))
            .collect::<Result<Vec<_>, _>>()?;
        let numbered = self.background.into_iter().enumerate();
        let background = numbered
            .map(|(i, background)| background.check(&format!("background[{i}]"), links.len()))
            .collect::<Result<Vec<_>, _>>()?;
        let named = flows.iter().enumerate().map(|(i, f)| (format!("flows[{i}]"), &*f.connection));
        let sources = background.iter().enumerate();
        let sources = sources.map(|(i, b)| (format!("background[{i}].flow"), &*b.connection));
        nodes::check(&links, named.chain(sources))?;
        let run = CheckedRun {
            seed: self.seed,
            duration_s: self.duration_s,
            window_s: self.window_s,
            flows,
            background,
            sample: self.sample,
            events: self.events,
            fast: self.fast,
        };
        Ok(CheckedPlan { links, run })
    }

    /// Checks how the ends of each connection behave, the same ones in a row once.
    fn check_transports(&self) -> Result<(), PlanError> {
        let flows = self.flows.iter().enumerate();
        let flows = flows.map(|(i, flow)| (format!("flows[{i}].transport"), &flow.connection.transport));
        let parts = self.background.iter().enumerate();
        let parts = parts.map(|(i, part)| (format!("background[{i}].flow.transport"), &part.flow.transport));
        let mut last: Option<&Arc<Transport>> = None;
        for (at, transport) in flows.chain(parts) {
            if last.is_none_or(|last| !Arc::ptr_eq(last, transport) && last != transport) {
                held::check(&at, &**transport)?;
            }
            last = Some(transport);
        }
        Ok(())
    }
}

/// Names tell results and random streams apart, so no two links, flows or backgrounds may have the same.
fn check_names<'a>(at: &str, names: impl Iterator<Item = &'a str>) -> Result<(), PlanError> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => bad(at, format!("two are named {:?}", twice[0])),
        None => Ok(()),
    }
}

impl FlowPlan {
    fn check(self, at: &str, links: usize) -> Result<CheckedFlow, PlanError> {
        let start = distribution(&format!("{at}.start_s"), &self.start_s, LONGEST_S)?;
        if self.bytes == Some(0) {
            return bad(format!("{at}.bytes"), "0 is not accepted; give 1 or more");
        }
        let connection = self.connection.check(at, links)?;
        Ok(CheckedFlow { name: self.name, start, bytes: self.bytes, hosts: self.hosts, connection })
    }
}

impl BackgroundPlan {
    fn check(self, at: &str, links: usize) -> Result<CheckedBackground, PlanError> {
        let traffic = self.traffic.check(at, self.flow.algorithm.name())?;
        let connection = self.flow.check(&format!("{at}.flow"), links)?;
        Ok(CheckedBackground { name: self.name, traffic, connection })
    }
}
