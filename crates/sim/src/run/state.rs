//! The state of a run.

use super::inheritance::Inheritance;
use super::lookahead::{Approaches, Lookahead};
use super::messages::Messages;
use crate::model::flow::{Carrier, Flow, Opening, RouteMetrics, SampleTimes};
use crate::model::link::{Link, LinkCounters};
use crate::model::order::Order;
use crate::model::workload::{Session, each_session};
use crate::results::outcome::RunError;
use crate::results::samples::{FlowSample, Internals, LinkSample, TransferSample};
use crate::results::summary::{BackgroundCounters, FlowCounters, SampleMean, Summary};
use longfat_scenario::plan::{CheckedPlan, CheckedRouter, CheckedRun, PlanError, Streams, ranks};
use longfat_transport::cc::Controller;
use longfat_units::{Interval, Time};
use longfat_wire::FlowId;

/// Fewer complete connections than this keep their indices (chosen here); tests and fuzzers free each at
/// once.
pub const FEW_LEAVING: usize = if cfg!(any(fuzzing, debug_assertions)) { 1 } else { 16 };

/// All counters at one moment: of flows, links and background traffic.
pub type Counters = (Vec<FlowCounters>, Vec<LinkCounters>, Vec<BackgroundCounters>);

/// The run's samples so far, and the time of the next one.
#[derive(Default)]
pub struct Sampled {
    /// Samples of each flow.
    pub flows: Vec<Vec<FlowSample>>,
    /// What each flow's algorithm knew of itself.
    pub internals: Vec<Internals>,
    /// Samples of each flow's smoothed round-trip time in the measured span.
    pub srtt: Vec<SampleMean>,
    /// Samples of each link.
    pub links: Vec<Vec<LinkSample>>,
    /// How many samples of flows there are, and of links.
    pub rows: (u64, u64),
    /// When flows are sampled next.
    pub next_flows: Time,
    /// When links are sampled next.
    pub next_links: Time,
    /// When the measured span begins or ends next.
    pub next_bound: Time,
    /// The counters at the beginning of the measured span, once that has come.
    pub before: Option<Counters>,
    /// The summary, once the measured span has ended.
    pub summary: Option<Summary>,
}

/// Who decides on the rates of the links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rates {
    /// The plan alone. Departures from drop-tail and RED are then computed at arrival.
    Planned,
    /// The caller may also set constant ones while the run pauses, so all links ask their queues. The results
    /// are the same, later.
    Settable,
}

/// A run in progress.
pub struct Simulation {
    pub(crate) plan: CheckedRun,
    pub(crate) links: Vec<Link>,
    /// Messages, where routers understand any.
    pub(crate) messages: Option<Box<Messages>>,
    /// Whether only the oracle runs it, for what its links do.
    pub(crate) needs_oracle: bool,
    pub(crate) sessions: Vec<Session>,
    /// What the connections of each session have learnt.
    pub(crate) routes: Vec<RouteMetrics>,
    /// What flows inherit from earlier ones.
    pub(crate) inheritance: Inheritance,
    /// Sessions that know again when they open their next connection; the driver takes them away.
    pub(crate) woken: Vec<usize>,
    /// The flows of the plan, then background connections.
    pub(crate) flows: Vec<Flow>,
    /// Indices of background connections that have left; new ones take them.
    pub(crate) vacant: Vec<usize>,
    /// Indices of background connections that are complete but may still have packets under way.
    pub(crate) leaving: Vec<usize>,
    /// How many of those there have to be before the run looks which are over.
    pub(crate) many_leaving: usize,
    /// Background connections that are complete: when, in which order, and the sample.
    pub(crate) transfers: Vec<(Time, Order, TransferSample)>,
    /// How many of them are in order.
    pub(crate) ordered: usize,
    /// The connections that each background opened and completed, and what those did that have left.
    pub(crate) background: Vec<BackgroundCounters>,
    pub(crate) end: Time,
    pub(crate) times: SampleTimes,
    pub(crate) sampled: Sampled,
    pub(crate) lookahead: Lookahead,
}

impl Simulation {
    /// The number of events between two questions whether to go on.
    pub(crate) const EVENTS_PER_POLL: u64 = 1 << 10;

    /// A run of this plan. `custom` makes the user's own algorithm of the flow with this name; the error is
    /// that it makes none.
    pub fn new(
        plan: CheckedPlan,
        custom: &mut dyn FnMut(&str) -> Option<Controller>,
    ) -> Result<Self, RunError> {
        Self::new_while(plan, Rates::Planned, custom, &mut || true)
    }

    /// As [`Simulation::new`], which takes seconds for the largest plans. Calls `wanted` now and then and
    /// stops with [`RunError::Interrupted`] if that returns false.
    pub fn new_while(
        plan: CheckedPlan,
        rates: Rates,
        custom: &mut dyn FnMut(&str) -> Option<Controller>,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, RunError> {
        let CheckedPlan { links: planned, run: plan, .. } = plan;
        let messages = Messages::new(&planned).map(Box::new);
        let routers = || planned.iter().filter_map(|link| link.router.as_ref());
        let mut disturbances = planned.iter().filter_map(|link| link.disturbances.as_ref());
        // messages have no end that keeps them, and the copies of a packet have one header between them
        let needs_oracle = routers().any(CheckedRouter::sends_messages)
            || routers().next().is_some() && disturbances.any(|law| law.duplicate > 0.0);
        let fast = plan.fast && rates == Rates::Planned;
        let links: Vec<Link> = planned.into_iter().map(|link| Link::without_queue(link, fast)).collect();
        let (from_s, to_s) = plan.window_s;
        let measured = (Time::from_secs_f64(from_s), Time::from_secs_f64(to_s));
        let end = Time::from_secs_f64(plan.duration_s);
        let mut sessions = Vec::new();
        for session in each_session(plan.seed, &plan.background) {
            sessions.push(session);
            go_on(sessions.len(), wanted)?;
        }
        let mut run = Simulation {
            routes: sessions.iter().map(|_| RouteMetrics::default()).collect(),
            sessions,
            inheritance: Inheritance::new(&[], &[]),
            woken: Vec::new(),
            flows: Vec::with_capacity(plan.flows.len()),
            vacant: Vec::new(),
            leaving: Vec::new(),
            many_leaving: FEW_LEAVING,
            transfers: Vec::new(),
            ordered: 0,
            background: vec![BackgroundCounters::default(); plan.background.len()],
            end,
            times: SampleTimes { period_s: plan.sample.flows_s, measured, end },
            sampled: Sampled {
                flows: vec![Vec::new(); plan.flows.len()],
                internals: vec![Internals::default(); plan.flows.len()],
                srtt: vec![SampleMean::default(); plan.flows.len()],
                links: vec![Vec::new(); links.len()],
                next_bound: measured.0,
                ..Sampled::default()
            },
            lookahead: Lookahead::new(&links, core::iter::empty()),
            links,
            messages,
            needs_oracle,
            plan,
        };
        run.add_named_flows(custom, wanted)?;
        run.inheritance = Inheritance::new(&run.plan.flows, &run.flows);
        run.compute_lookahead();
        Ok(run)
    }

    /// Its links, in the order of the plan.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The plan without its links.
    pub const fn plan(&self) -> &CheckedRun {
        &self.plan
    }

    /// When it ends.
    pub const fn end(&self) -> Time {
        self.end
    }

    /// The first moment after the run.
    pub(crate) fn after_end(&self) -> Time {
        self.end + Interval::from_ns(1)
    }

    fn add_named_flows(
        &mut self,
        custom: &mut dyn FnMut(&str) -> Option<Controller>,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<(), RunError> {
        let names: Vec<&str> = self.plan.flows.iter().map(|flow| &*flow.name).collect();
        for ((i, planned), rank) in self.plan.flows.iter().enumerate().zip(ranks(&names)) {
            go_on(i, wanted)?;
            let streams = Streams::of_flow(self.plan.seed, &planned.name);
            let start = planned.start.draw(&mut streams.stream("start"));
            let id = FlowId(i as u32);
            let opening = Opening {
                id,
                order: Order::of_flow(rank),
                streams: &streams,
                bytes: planned.bytes,
                start: Time::from_secs_f64(start),
                links: &self.links,
                times: self.times,
            };
            let carrier = Carrier::new(&planned.connection, &mut || custom(&planned.name))
                .map_err(|e| PlanError { at: format!("flows[{i}].{}", e.at), what: e.what })?;
            let mut flow = Flow::new(&planned.connection, &opening, carrier);
            flow.sending.stop_at = planned.connection.stop();
            if self.plan.events {
                flow.sending.sender.keep_log();
            }
            if self.plan.sample.internals || flow.sending.sender.is_custom() {
                flow.sending.keep_internals(self.times);
            }
            self.flows.push(flow);
        }
        Ok(())
    }

    /// Builds the links' queues and announces the lasting flows to them, before the run begins. For a driver
    /// that works `in_batches`, they hold handles.
    pub(crate) fn build_queues(&mut self, in_batches: bool) {
        self.links.iter_mut().for_each(|link| link.build_queue(in_batches));
        let seed = self.plan.seed;
        for ((i, flow), planned) in self.flows.iter().enumerate().zip(&self.plan.flows) {
            let identity = Streams::of_flow(seed, &planned.name).identity();
            for &link in flow.route.forward.iter().chain(&flow.route.reverse) {
                self.links[link].begins(FlowId(i as u32), identity);
            }
        }
    }

    /// The paths of background connections, whether open or not.
    fn background_paths(&self) -> impl Iterator<Item = &[usize]> {
        let connections = self.plan.background.iter().map(|background| &background.connection);
        connections.flat_map(|c| [c.forward.as_slice(), c.reverse.as_slice()])
    }

    /// From where packets come to each link.
    pub(crate) fn approaches(&self) -> Approaches {
        let routes = self.flows.iter().map(|flow| &flow.route);
        Approaches::new(&self.links, routes, self.background_paths())
    }

    /// Computes the lookahead of the present flows: flows that have left no longer shorten it.
    pub(crate) fn compute_lookahead(&mut self) {
        self.lookahead = Lookahead::new(&self.links, self.background_paths());
        let mut present = vec![true; self.flows.len()];
        self.vacant.iter().for_each(|&i| present[i] = false);
        for (flow, _) in self.flows.iter().zip(present).filter(|(_, present)| *present) {
            self.lookahead.include(&self.links, flow);
        }
    }

    /// Fails if the algorithm of this flow has failed.
    #[inline(always)]
    pub(crate) fn check_algorithm(&mut self, index: usize) -> Result<(), RunError> {
        if self.flows[index].sending.sender.has_failed() { Err(self.failure(index)) } else { Ok(()) }
    }

    #[cold]
    fn failure(&mut self, index: usize) -> RunError {
        let reason = self.flows[index].sending.sender.take_failure().unwrap_or_default();
        let flow = self.plan.flows.get(index).map_or_else(String::new, |f| f.name.clone());
        RunError::Algorithm { flow, reason }
    }
}

/// Asks whether to go on after every 64th of many things.
fn go_on(done: usize, wanted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
    if !done.is_multiple_of(64) || wanted() { Ok(()) } else { Err(RunError::Interrupted) }
}
