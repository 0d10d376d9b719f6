//! What is run: numbers only, SI units, every default already filled in. Checked here once more, because a plan may
//! come from anywhere.

mod connection;

use crate::messages;
use crate::workload::{BulkPlan, OnoffPlan, ShortPlan, SurgePlan, WebPlan, Workload};
pub use connection::{ConnectionPlan, ReductionPlan, RttSamplesPlan, SlowStart};
use longfat_net::queue::Boxed;
use longfat_net::queue::{self, Limit, Setup};
use longfat_net::router;
use longfat_net::{Address, Capacity, LossModel, Trace};
use longfat_transport::cc::Value;
use longfat_units::{Distribution, Empirical, Interval, Rate, Stream, Time};
use longfat_wire::{Packet, SimPacket};
use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

/// Most long-lived flows in one run.
pub const MOST_FLOWS: usize = 1_000_000;
/// Longest run, seconds (about eleven days).
pub const LONGEST_S: f64 = 1e6;

/// A plan that cannot be run: what is wrong, and where.
#[derive(Debug, Error, PartialEq)]
#[error("{at}: {what}")]
pub struct PlanError {
    /// The key, e.g. `flows[0].rtt_s`.
    pub at: String,
    /// What is wrong with it.
    pub what: String,
}

/// A run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of every random stream.
    pub seed: u64,
    /// Simulated time, seconds.
    pub duration_s: f64,
    /// Figures are restricted to [from, to], seconds.
    pub window_s: (f64, f64),
    /// Shared links.
    pub links: Vec<LinkPlan>,
    /// Flows with series of their own.
    pub flows: Vec<FlowPlan>,
    /// Traffic that comes and goes.
    pub background: Vec<BackgroundPlan>,
    /// Sampling periods.
    pub sample: SamplePlan,
    /// Keep a log of losses, timeouts and recoveries.
    pub events: bool,
    /// Use the arithmetic form of constant-rate drop-tail queues; the plain form gives the same results.
    pub fast: bool,
}

/// Sampling periods, seconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplePlan {
    /// Of flows.
    pub flows_s: f64,
    /// Of links.
    pub links_s: f64,
}

/// A link that flows share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Its name in results.
    pub name: String,
    /// bit/s; the greatest where it varies.
    pub rate_bps: f64,
    /// How the rate varies; constant if null.
    #[serde(default)]
    pub capacity: Option<CapacityPlan>,
    /// The nodes that it leads from and to, by number; null in a plan without a map of its network.
    #[serde(default)]
    pub nodes: Option<(u32, u32)>,
    /// Its queue stands in a switch, which leaves the time-to-live of IP as it is.
    #[serde(default)]
    pub layer2: bool,
    /// Propagation delay, seconds; counts towards the round-trip time of flows that cross it.
    pub delay_s: f64,
    /// The queue before it.
    pub queue: QueuePlan,
    /// The router around the queue; none if null.
    #[serde(default)]
    pub router: Option<RouterPlan>,
    /// Losses among data packets that enter it.
    pub loss: LossPlan,
    /// Losses among acknowledgements that enter it.
    pub ack_loss: LossPlan,
}

/// A queue discipline; exactly one of the limits is given.
#[derive(Clone, Debug, Deserialize)]
pub struct QueuePlan {
    /// Name in the registry.
    pub kind: String,
    /// Most packets waiting.
    #[serde(default)]
    pub limit_packets: Option<u64>,
    /// Most bytes waiting.
    #[serde(default)]
    pub limit_bytes: Option<u64>,
    /// Parameters that differ from the registry's defaults.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ValuePlan>,
}

/// An explicit-rate router.
#[derive(Clone, Debug, Deserialize)]
pub struct RouterPlan {
    /// Name in the registry.
    pub kind: String,
    /// Parameters that differ from the registry's defaults.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ValuePlan>,
}

/// A rate that varies; times in seconds, rates in bit/s.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the same fields as Capacity, documented there")]
pub enum CapacityPlan {
    Sine {
        least_bps: f64,
        period_s: f64,
    },
    /// Time and rate of each step.
    Steps(Vec<(f64, f64)>),
    /// Times of delivery opportunities, whole milliseconds.
    TraceMs(Vec<u64>),
}

/// A loss process.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the same fields as LossModel, documented there")]
pub enum LossPlan {
    None,
    Random { probability: f64 },
    Every { packets: u64 },
    GilbertElliott { good_to_bad: f64, bad_to_good: f64, loss_good: f64, loss_bad: f64 },
}

/// A number, or how to draw it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum DistributionPlan {
    /// Always this.
    Fixed(f64),
    /// Drawn once a flow (once a connection in the background).
    Drawn(Drawn),
}

/// How a number is drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Uniform between two values.
    Uniform(f64, f64),
    /// Exponential: the least value, and the mean.
    Exponential(f64, f64),
    /// One of these values.
    Empirical(EmpiricalPlan),
}

/// Values with their weights, read once.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Vec<(f64, f64)>")]
pub struct EmpiricalPlan(Result<Empirical, &'static str>);

impl From<Vec<(f64, f64)>> for EmpiricalPlan {
    fn from(rows: Vec<(f64, f64)>) -> Self {
        EmpiricalPlan(Empirical::new(&rows))
    }
}

impl EmpiricalPlan {
    /// The values, if they are a distribution.
    pub fn values(&self, at: &str) -> Result<&Empirical, PlanError> {
        self.0.as_ref().or_else(|what| bad(at, *what))
    }

    /// Whether it is a distribution of values between two bounds.
    pub fn check(&self, at: &str, least: f64, greatest: f64) -> Result<(), PlanError> {
        self.values(at)?.values().iter().try_for_each(|&x| within(at, x, least, greatest).map(|_| ()))
    }
}

/// A value of an algorithm's or a queue's parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ValuePlan {
    Number(f64),
    Word(String),
}

/// A flow with series of its own.
#[derive(Clone, Debug, Deserialize)]
pub struct FlowPlan {
    /// Its name in results; no two alike.
    pub name: String,
    /// When it starts, seconds.
    pub start_s: DistributionPlan,
    /// Payload to send; endless if null.
    pub bytes: Option<u64>,
    /// Everything else.
    #[serde(flatten)]
    pub connection: ConnectionPlan,
}

/// Traffic that comes and goes; what each kind takes stands in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the plans are documented where they are")]
pub enum BackgroundPlan {
    Web(WebPlan),
    Surge(SurgePlan),
    Short(ShortPlan),
    Bulk(BulkPlan),
    Onoff(OnoffPlan),
}

impl BackgroundPlan {
    /// The plan, whatever its kind.
    pub fn workload(&self) -> &dyn Workload {
        match self {
            BackgroundPlan::Web(plan) => plan,
            BackgroundPlan::Surge(plan) => plan,
            BackgroundPlan::Short(plan) => plan,
            BackgroundPlan::Bulk(plan) => plan,
            BackgroundPlan::Onoff(plan) => plan,
        }
    }
}

pub(crate) fn bad<T>(at: impl Into<String>, what: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError { at: at.into(), what: what.into() })
}

pub(crate) fn within(at: &str, x: f64, least: f64, greatest: f64) -> Result<f64, PlanError> {
    if (least..=greatest).contains(&x) {
        Ok(x)
    } else {
        bad(at, format!("{x} is not accepted; give a number from {least} to {greatest}"))
    }
}

impl DistributionPlan {
    /// The distribution to draw from; the plan is checked.
    pub fn distribution(&self) -> Distribution {
        match self {
            DistributionPlan::Fixed(x) => Distribution::Fixed(*x),
            DistributionPlan::Drawn(Drawn::Uniform(a, b)) => Distribution::Uniform(*a, *b),
            DistributionPlan::Drawn(Drawn::Exponential(least, mean)) => {
                Distribution::Exponential(*least, *mean)
            }
            DistributionPlan::Drawn(Drawn::Empirical(plan)) => {
                plan.0.clone().map_or(Distribution::Fixed(0.0), Distribution::Empirical)
            }
        }
    }

    pub(crate) fn check(&self, at: &str, greatest: f64) -> Result<(), PlanError> {
        match self {
            DistributionPlan::Fixed(x) => within(at, *x, 0.0, greatest).map(|_| ()),
            DistributionPlan::Drawn(Drawn::Uniform(a, b) | Drawn::Exponential(a, b)) => {
                within(at, *a, 0.0, greatest)?;
                within(at, *b, *a, greatest).map(|_| ())
            }
            DistributionPlan::Drawn(Drawn::Empirical(plan)) => plan.check(at, 0.0, greatest),
        }
    }
}

impl LossPlan {
    /// The model it stands for.
    pub const fn model(self) -> LossModel {
        match self {
            LossPlan::None => LossModel::None,
            LossPlan::Random { probability } => LossModel::Random { probability },
            LossPlan::Every { packets } => LossModel::Every { packets },
            LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad }
            }
        }
    }

    fn check(self, at: &str) -> Result<(), PlanError> {
        let chances = match self {
            LossPlan::None => vec![],
            LossPlan::Random { probability } => vec![probability],
            LossPlan::Every { packets } => {
                return if packets >= 1 { Ok(()) } else { bad(at, "give 1 or more packets") };
            }
            LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                vec![good_to_bad, bad_to_good, loss_good, loss_bad]
            }
        };
        chances.into_iter().try_for_each(|p| within(at, p, 0.0, 1.0).map(|_| ()))
    }
}

/// Parameters as a registry takes them.
fn values(parameters: &BTreeMap<String, ValuePlan>) -> Vec<(String, Value)> {
    let value = |v: &ValuePlan| match v {
        ValuePlan::Number(x) => Value::Number(*x),
        ValuePlan::Word(w) => Value::Word(w.clone()),
    };
    parameters.iter().map(|(n, v)| (n.clone(), value(v))).collect()
}

impl QueuePlan {
    /// What it holds.
    pub fn limit(&self) -> Limit {
        match (self.limit_packets, self.limit_bytes) {
            (Some(n), _) => Limit::Packets(n),
            (None, n) => Limit::Bytes(n.unwrap_or(0)),
        }
    }

    /// Whether it is a drop-tail queue whose waits nobody wants to know, which has an arithmetic form.
    pub fn is_plain_drop_tail(&self) -> bool {
        let measured = self.parameters.get(queue::SOJOURN);
        let is_drop_tail = queue::find(&self.kind).is_some_and(|row| row.name == "droptail");
        is_drop_tail && !matches!(measured, Some(ValuePlan::Word(w)) if w == "true")
    }

    /// The queue before a link of this rate; its random stream is named after the link.
    pub fn build<P: Packet + Send + 'static>(
        &self,
        at: &str,
        rate: Rate,
        seed: u64,
        link: &str,
    ) -> Result<Boxed<P>, PlanError> {
        match (self.limit_packets, self.limit_bytes) {
            (Some(1..), None) | (None, Some(1..)) => {}
            _ => return bad(at, "give limit_packets or limit_bytes, 1 or more"),
        }
        let Some(row) = queue::find(&self.kind) else {
            return bad(format!("{at}.kind"), format!("there is no queue {:?}", self.kind));
        };
        let stream = Stream::new(seed, &format!("link/{link}/queue"));
        let setup = Setup { limit: self.limit(), rate, stream };
        row.instance(setup, &values(&self.parameters)).or_else(|e| bad(at, e.to_string()))
    }
}

impl LinkPlan {
    /// What it can carry; `rate` is [`LinkPlan::rate_bps`], checked.
    pub fn capacity(&self, at: &str, rate: Rate) -> Result<Capacity, PlanError> {
        Ok(match &self.capacity {
            None => Capacity::Constant(rate),
            Some(CapacityPlan::Sine { least_bps, period_s }) => {
                within(&format!("{at}.least_bps"), *least_bps, 1.0, self.rate_bps)?;
                within(&format!("{at}.period_s"), *period_s, 1e-6, LONGEST_S)?;
                Capacity::Sine { range_bps: (*least_bps, self.rate_bps), period_s: *period_s }
            }
            Some(CapacityPlan::Steps(steps)) => {
                let mut checked = Vec::with_capacity(steps.len());
                for &(from_s, bps) in steps {
                    within(at, from_s, 0.0, LONGEST_S)?;
                    within(at, bps, 1.0, self.rate_bps)?;
                    checked.push((Time::from_secs_f64(from_s), self::rate(at, bps)?));
                }
                if checked.is_empty() || checked.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    return bad(at, "give one step or more, each later than the one before");
                }
                Capacity::Steps(checked.into())
            }
            Some(CapacityPlan::TraceMs(times)) => {
                let longest_ms = (1e3 * LONGEST_S) as u64;
                let trace = times.iter().map(|&ms| Time::ZERO + Interval::from_millis(ms.min(longest_ms)));
                let accepted = "give times in ascending order, the last one after 0";
                Trace::new(trace.collect()).map_or_else(|| bad(at, accepted), |t| Ok(Capacity::Trace(t)))?
            }
        })
    }

    /// The queue with the router around it, if there is one; `at` is the link's place in the plan, `index` its number.
    pub fn element<P: Packet + Send + 'static>(
        &self,
        at: &str,
        index: usize,
        seed: u64,
    ) -> Result<Boxed<P>, PlanError> {
        let rate = rate(&format!("{at}.rate_bps"), self.rate_bps)?;
        let queue = self.queue.build(&format!("{at}.queue"), rate, seed, &self.name)?;
        let Some(planned) = &self.router else { return Ok(queue) };
        let at = format!("{at}.router");
        let Some(row) = router::find(&planned.kind) else {
            return bad(format!("{at}.kind"), format!("there is no router {:?}", planned.kind));
        };
        let setup = router::Setup {
            queue,
            capacity: self.capacity(&at, rate)?,
            limit: self.queue.limit(),
            stream: Stream::new(seed, &format!("link/{}/router", self.name)),
            address: Address(index as u32),
        };
        row.instance(setup, &values(&planned.parameters)).or_else(|e| bad(at, e.to_string()))
    }
}

/// A checked rate.
pub(crate) fn rate(at: &str, bps: f64) -> Result<Rate, PlanError> {
    within(at, bps, 1.0, 1e15)?;
    Rate::from_bps(bps).map_or_else(|| bad(at, format!("{bps} is no rate")), Ok)
}

impl Plan {
    /// A plan from JSON; unknown keys and wrong types are refused.
    pub fn from_json(text: &str) -> Result<Plan, PlanError> {
        let plan: Plan = serde_json::from_str(text).or_else(|e| bad("plan", e.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// Whether it can be run.
    pub fn check(&self) -> Result<(), PlanError> {
        within("duration_s", self.duration_s, 1e-9, LONGEST_S)?;
        within("window_s[0]", self.window_s.0, 0.0, self.duration_s)?;
        within("window_s[1]", self.window_s.1, self.window_s.0, self.duration_s)?;
        within("sample.flows_s", self.sample.flows_s, 1e-6, LONGEST_S)?;
        within("sample.links_s", self.sample.links_s, 1e-6, LONGEST_S)?;
        if self.flows.len() > MOST_FLOWS {
            return bad("flows", format!("{} are more than {MOST_FLOWS}", self.flows.len()));
        }
        for (i, link) in self.links.iter().enumerate() {
            let at = format!("links[{i}]");
            let rate = rate(&format!("{at}.rate_bps"), link.rate_bps)?;
            within(&format!("{at}.delay_s"), link.delay_s, 0.0, 1000.0)?;
            link.loss.check(&format!("{at}.loss"))?;
            link.ack_loss.check(&format!("{at}.ack_loss"))?;
            link.capacity(&format!("{at}.capacity"), rate)?;
            link.element::<SimPacket>(&at, i, self.seed)?;
            if link.layer2 && link.router.is_some() {
                return bad(format!("{at}.router"), "a switch, layer2, has no router");
            }
        }
        let mut names: Vec<&str> = self.flows.iter().map(|f| f.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
            return bad("flows", format!("two are named {:?}", twice[0]));
        }
        for (i, flow) in self.flows.iter().enumerate() {
            let at = format!("flows[{i}]");
            flow.start_s.check(&format!("{at}.start_s"), LONGEST_S)?;
            if flow.bytes == Some(0) {
                return bad(format!("{at}.bytes"), "0 is not accepted; give 1 or more");
            }
            flow.connection.check(&at, self.links.len())?;
        }
        for (i, background) in self.background.iter().enumerate() {
            let at = format!("background[{i}]");
            background.workload().check(&at)?;
            background.workload().connection().check(&format!("{at}.flow"), self.links.len())?;
        }
        messages::check(self)
    }
}
