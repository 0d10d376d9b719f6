//! Shared links: their capacity, their queue and the router around it, and losses.

use super::connection::values;
use super::disturbance::DisturbancePlan;
use super::error::{LONGEST_S, PlanError, bad, rate, within};
use super::streams::Streams;
use longfat_net::disturbance::Disturbances;
use longfat_net::queue::{self, Boxed, Discipline, Limit, Setup};
use longfat_net::router::{self, Router};
use longfat_net::{Address, Capacity, LossModel, Sine, Ticks, Trace};
use longfat_transport::cc::{Parameters, Value};
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::Packet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Deref;

/// Shortest and longest time between two ticks of a link, seconds; the shortest one keeps a run from ticking
/// more often than packets come.
const SERVICE_TICKS_S: (f64, f64) = (1e-6, 10.0);

/// A link that flows share, as read from JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Its name in results, unique among links.
    pub name: String,
    /// Rate, bit/s; the greatest where it varies.
    pub rate_bps: f64,
    /// How the rate varies; constant if null.
    pub capacity: Option<CapacityPlan>,
    /// The nodes that it leads from and to, by number; null in a plan without a map of its network.
    pub nodes: Option<(u32, u32)>,
    /// Whether its queue stands in a switch, which leaves the time-to-live of IP unchanged.
    pub layer2: bool,
    /// Propagation delay, seconds; part of the round-trip time of flows that cross it.
    pub delay_s: f64,
    /// Time between two ticks of the clock by which it serves its queue, seconds; 0 for none: it then sends
    /// packets one after the other.
    pub service_tick_s: f64,
    /// The name of that clock; links of one clock and period tick together. Its own name if null.
    pub clock: Option<String>,
    /// The queue before it.
    pub queue: QueuePlan,
    /// The router around the queue; none if null.
    pub router: Option<RouterPlan>,
    /// Losses among data packets that enter it.
    pub loss: LossModel,
    /// Losses among acknowledgements that enter it.
    pub ack_loss: LossModel,
    /// What else happens to packets behind it; nothing if null.
    pub disturbance: Option<DisturbancePlan>,
}

/// A queue discipline. One of the two limits is given, and the other one is null or missing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueuePlan {
    /// Name in the registry of queues.
    pub kind: String,
    /// Most packets waiting.
    pub limit_packets: Option<u64>,
    /// Most bytes waiting.
    pub limit_bytes: Option<u64>,
    /// Parameters that differ from the registry's defaults.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Value>,
}

/// An explicit-rate router.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RouterPlan {
    /// Name in the registry of routers.
    pub kind: String,
    /// Parameters that differ from the registry's defaults.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Value>,
}

/// A rate that varies; times in seconds, rates in bit/s.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CapacityPlan {
    /// A sine between two rates; the greatest is the link's rate.
    Sine {
        /// Least rate, bit/s.
        least_bps: f64,
        /// Period, seconds.
        period_s: f64,
    },
    /// Time and rate of each step.
    Steps(Vec<(f64, f64)>),
    /// Times of delivery opportunities, milliseconds.
    TraceMs(Vec<f64>),
}

/// A link after its check: its plan, and what the check has parsed of it. Only [`Plan::check`] makes one.
///
/// [`Plan::check`]: super::Plan::check
#[non_exhaustive]
pub struct CheckedLink {
    /// The plan.
    pub plan: LinkPlan,
    /// The transmission rate; the greatest where it varies.
    pub rate: Rate,
    /// The rate over time.
    pub capacity: Capacity,
    /// When it serves its queue, if by a clock.
    pub ticks: Option<Ticks>,
    /// What disturbs packets behind it, if anything does.
    pub disturbances: Option<Box<Disturbances>>,
    /// The queue.
    pub queue: CheckedQueue,
    /// The router that holds it.
    pub router: Option<CheckedRouter>,
    /// The span to which results are restricted.
    pub measured: (Time, Time),
}

/// What a queue is built from.
pub struct CheckedQueue {
    /// Its row.
    pub discipline: &'static Discipline,
    /// Its parameters.
    pub parameters: Parameters,
    /// Its limit, the rate of its link, and its random stream.
    pub setup: Setup,
}

/// What a router is built from, besides its queue.
pub struct CheckedRouter {
    row: &'static Router,
    parameters: Parameters,
    stream: Stream,
    address: Address,
}

impl Deref for CheckedLink {
    type Target = LinkPlan;

    fn deref(&self) -> &LinkPlan {
        &self.plan
    }
}

impl CheckedQueue {
    /// Whether it is a drop-tail queue.
    pub fn is_drop_tail(&self) -> bool {
        self.discipline.name == "droptail"
    }

    /// Builds the queue.
    pub fn build<P: Packet + Send + 'static>(self) -> Boxed<P> {
        self.discipline.build(self.setup, &self.parameters)
    }
}

impl CheckedRouter {
    /// Whether it sends messages to other routers.
    pub const fn sends_messages(&self) -> bool {
        self.row.sends_messages
    }

    /// Whether packets of one connection may overtake each other in it.
    pub const fn reorders(&self) -> bool {
        self.row.reorders
    }

    /// Builds the router around this queue, before a link of this capacity.
    pub fn build<P: Packet + Send + 'static>(
        self,
        queue: Boxed<P>,
        limit: Limit,
        capacity: Capacity,
    ) -> Boxed<P> {
        let CheckedRouter { row, parameters, stream, address } = self;
        row.build(router::Setup { queue, capacity, limit, stream, address }, &parameters)
    }
}

impl QueuePlan {
    /// What it holds.
    pub fn limit(&self) -> Limit {
        match (self.limit_packets, self.limit_bytes) {
            (Some(n), _) => Limit::Packets(n),
            (None, n) => Limit::Bytes(n.unwrap_or(0)),
        }
    }

    /// Checks everything in it; the queue is before a link of this rate.
    fn check(&self, at: &str, rate: Rate, streams: &Streams) -> Result<CheckedQueue, PlanError> {
        match (self.limit_packets, self.limit_bytes) {
            (Some(1..), None) | (None, Some(1..)) => {}
            _ => return bad(at, "give limit_packets or limit_bytes, 1 or more"),
        }
        let Some(discipline) = queue::find(&self.kind) else {
            return bad(format!("{at}.kind"), format!("there is no queue {:?}", self.kind));
        };
        let setup = Setup { limit: self.limit(), rate, stream: streams.stream("queue") };
        let parameters = discipline.checked(rate, &values(&self.parameters));
        let parameters = parameters.or_else(|e| bad(at, e.to_string()))?;
        Ok(CheckedQueue { discipline, parameters, setup })
    }
}

impl CapacityPlan {
    /// The capacity of a link whose greatest rate is `rate_bps`.
    fn check(&self, at: &str, rate_bps: f64) -> Result<Capacity, PlanError> {
        Ok(match self {
            CapacityPlan::Sine { least_bps, period_s } => {
                within(&format!("{at}.least_bps"), *least_bps, 1.0, rate_bps)?;
                within(&format!("{at}.period_s"), *period_s, 1e-6, LONGEST_S)?;
                Capacity::Sine(Sine { range_bps: (*least_bps, rate_bps), period_s: *period_s })
            }
            CapacityPlan::Steps(steps) => {
                let mut checked = Vec::with_capacity(steps.len());
                for &(from_s, bps) in steps {
                    within(at, from_s, 0.0, LONGEST_S)?;
                    within(at, bps, 1.0, rate_bps)?;
                    checked.push((Time::from_secs_f64(from_s), rate(at, bps)?));
                }
                if checked.is_empty() || checked.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    return bad(at, "give one step or more, each later than the one before");
                }
                Capacity::Steps(checked.into())
            }
            CapacityPlan::TraceMs(times) => {
                // a time below 0 is taken as 0 ns, as a cast to an unsigned number does
                let trace =
                    times.iter().map(|&ms| Time::from_ns((1e6 * ms.min(1e3 * LONGEST_S)).round() as u64));
                let accepted = "give times in ascending order, the last one after 0";
                Trace::new(trace.collect()).map_or_else(|| bad(at, accepted), |t| Ok(Capacity::Trace(t)))?
            }
        })
    }
}

impl LinkPlan {
    /// Checks everything in it. `at` is its own key, `index` its position in the plan; results are restricted
    /// to the `measured` span.
    pub(super) fn check(
        self,
        (at, index): (&str, usize),
        seed: u64,
        measured: (Time, Time),
    ) -> Result<CheckedLink, PlanError> {
        let rate = rate(&format!("{at}.rate_bps"), self.rate_bps)?;
        within(&format!("{at}.delay_s"), self.delay_s, 0.0, 1000.0)?;
        check_loss(&format!("{at}.loss"), self.loss)?;
        check_loss(&format!("{at}.ack_loss"), self.ack_loss)?;
        let capacity = match &self.capacity {
            None => Capacity::Constant(rate),
            Some(varying) => varying.check(&format!("{at}.capacity"), self.rate_bps)?,
        };
        let ticks = self.check_ticks(at, seed)?;
        let streams = Streams::of_link(seed, &self.name);
        let queue = self.queue.check(&format!("{at}.queue"), rate, &streams)?;
        let router = match &self.router {
            None => None,
            Some(planned) => {
                let at = format!("{at}.router");
                let Some(row) = router::find(&planned.kind) else {
                    return bad(format!("{at}.kind"), format!("there is no router {:?}", planned.kind));
                };
                let (stream, address) = (streams.stream("router"), Address(index as u32));
                let parameters = row.checked(&values(&planned.parameters));
                let parameters = parameters.or_else(|e| bad(&at, e.to_string()))?;
                Some(CheckedRouter { row, parameters, stream, address })
            }
        };
        if self.layer2 && self.router.is_some() {
            return bad(format!("{at}.router"), "a layer-2 switch cannot hold a router");
        }
        let disturbances = match &self.disturbance {
            None => None,
            Some(planned) => {
                let at = format!("{at}.disturbance");
                if ticks.is_some() && planned.holds_the_queue() {
                    return bad(format!("{at}.outages"), "a link with service_tick_s cannot hold its queue");
                }
                planned.check(&at)?;
                Some(Box::new(planned.build(seed, &streams)))
            }
        };
        Ok(CheckedLink { plan: self, rate, capacity, ticks, disturbances, queue, router, measured })
    }

    /// The ticks at which it serves its queue; `None` without a clock.
    fn check_ticks(&self, at: &str, seed: u64) -> Result<Option<Ticks>, PlanError> {
        if self.service_tick_s == 0.0 {
            return Ok(None);
        }
        let (least, greatest) = SERVICE_TICKS_S;
        within(&format!("{at}.service_tick_s"), self.service_tick_s, least, greatest)?;
        let clock = self.clock.as_ref().unwrap_or(&self.name);
        let stream = Streams::of_clock(seed, clock).stream("phase");
        Ok(Some(Ticks::new(Interval::from_secs_f64(self.service_tick_s), stream)))
    }
}

fn check_loss(at: &str, model: LossModel) -> Result<(), PlanError> {
    let probabilities = match model {
        LossModel::None => vec![],
        LossModel::Random { probability } => vec![probability],
        LossModel::Every { packets } => {
            return if packets >= 1 { Ok(()) } else { bad(at, "give 1 or more packets") };
        }
        LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            vec![good_to_bad, bad_to_good, loss_good, loss_bad]
        }
    };
    probabilities.into_iter().try_for_each(|p| within(at, p, 0.0, 1.0))
}
