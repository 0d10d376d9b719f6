//! A run: its links, flows and sessions, what is sampled on the way, and what it gives in the end.
//!
//! Two drivers move it through time: [`crate::windows`] in batches, and [`crate::plain`] event by event. They give
//! the same bytes; a test says so.

use crate::figures::{
    BackgroundMark, FlowMark, SampleMean, Summary, background_figures, flow_figures, link_figures,
};
use crate::flow::{Checks, Flow, NewFlow, Transfer, Transport};
use crate::link::{LINK_COLUMNS, Link, LinkCounters, link_sample};
use crate::messages::{Messages, PROCESSING};
use crate::plan::{ConnectionPlan, Plan, PlanError};
use crate::series::{EventRow, Series};
use crate::workload::{Session, sessions};
use longfat_net::LossModel;
use longfat_transport::Happened;
use longfat_transport::cc::Controller;
use longfat_units::{Interval, Stream, Time};
use longfat_wire::{FlowId, Kind, SimPacket};
use thiserror::Error;

/// Samples of a flow: times in s, windows in segments, counters since its start.
pub const FLOW_COLUMNS: &[&str] = &[
    "time_s",
    "cwnd",
    "ssthresh",
    "srtt_s",
    "acked_bytes",
    "delivered_bytes",
    "received_bytes",
    "packets_sent",
    "packets_lost",
    "retransmits",
];
/// A background connection that completed: its source's index, times in s, payload.
pub const TRANSFER_COLUMNS: &[&str] = &["group", "start_s", "duration_s", "bytes"];

/// With less, windows hold too little to be worth it, and events are taken one by one (chosen here).
const LEAST_LOOKAHEAD: Interval = Interval::from_ns(100);
/// Events between two looks at whether the run is still wanted.
pub(crate) const EVENTS_PER_POLL: u64 = 1 << 16;

/// Why a run ended early.
#[derive(Debug, Error)]
pub enum RunError {
    /// The plan cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A user's own algorithm failed.
    #[error("the algorithm of flow {flow:?} failed: {reason}")]
    Algorithm {
        /// The flow's name.
        flow: String,
        /// What it raised, or which window it left.
        reason: String,
    },
    /// The caller no longer wants the run.
    #[error("interrupted")]
    Interrupted,
}

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Figures of the window.
    pub summary: Summary,
    /// Samples of each flow, by name.
    pub flows: Vec<(String, Series)>,
    /// Samples of each link, by name.
    pub links: Vec<(String, Series)>,
    /// Background connections that completed.
    pub transfers: Series,
    /// The event log, in order of time, if it was asked for.
    pub events: Vec<EventRow>,
    /// How many events the scheduler handled: a matter of speed, not of results.
    pub events_handled: u64,
}

/// All counters at one moment: of flows, links and background sources.
type Marks = (Vec<FlowMark>, Vec<LinkCounters>, Vec<BackgroundMark>);

/// A run in progress.
pub struct Simulation {
    plan: Plan,
    pub(crate) links: Vec<Link>,
    /// Where elements can send messages: what those need.
    pub(crate) messages: Option<Box<Messages>>,
    pub(crate) sessions: Vec<Session>,
    /// Sessions that know again when they open their next connection, for the driver to see.
    pub(crate) woken: Vec<usize>,
    pub(crate) flows: Vec<Flow>,
    /// Background connections' places that are free again.
    vacant: Vec<usize>,
    /// Background connections that are complete but still have packets under way.
    leaving: Vec<usize>,
    flow_series: Vec<Series>,
    srtt: Vec<SampleMean>,
    link_series: Vec<Series>,
    /// Completed background connections: when, place, row of `transfers`.
    transfers: Vec<(Time, usize, [f64; 4])>,
    /// How many connections each background source opened and completed; the rest of those that have left.
    background: Vec<BackgroundMark>,
    pub(crate) end: Time,
    window: (Time, Time),
    flow_samples: u64,
    link_samples: u64,
    next_flow_sample: Time,
    next_link_sample: Time,
    next_mark: Time,
    /// Shortest time in which anything that leaves a link can reach a host or another link.
    pub(crate) lookahead: Interval,
    /// How many flows, or what never leaves, could do so in no longer time.
    nearest: usize,
    at_window: Option<Marks>,
    figures: Option<Summary>,
}

impl Simulation {
    /// A run of `plan`; `custom` makes a user's own algorithm for the flow of this name.
    pub fn new(plan: Plan, custom: &mut dyn FnMut(&str) -> Option<Controller>) -> Result<Self, PlanError> {
        plan.check()?;
        let links = (plan.links.iter().enumerate())
            .map(|(i, link)| Link::new(link, i, plan.seed, plan.fast))
            .collect::<Result<Vec<_>, _>>()?;
        let sessions = sessions(plan.seed, &plan.background);
        let mut run = Simulation {
            sessions,
            woken: Vec::new(),
            flows: Vec::with_capacity(plan.flows.len()),
            vacant: Vec::new(),
            leaving: Vec::new(),
            flow_series: vec![Series::new(FLOW_COLUMNS); plan.flows.len()],
            srtt: vec![SampleMean::default(); plan.flows.len()],
            link_series: vec![Series::new(LINK_COLUMNS); links.len()],
            transfers: Vec::new(),
            background: vec![BackgroundMark::default(); plan.background.len()],
            links,
            messages: Messages::new(&plan).map(Box::new),
            end: Time::from_secs_f64(plan.duration_s),
            window: (Time::from_secs_f64(plan.window_s.0), Time::from_secs_f64(plan.window_s.1)),
            at_window: None,
            figures: None,
            flow_samples: 0,
            link_samples: 0,
            next_flow_sample: Time::ZERO,
            next_link_sample: Time::ZERO,
            next_mark: Time::from_secs_f64(plan.window_s.0),
            lookahead: Interval::MAX,
            nearest: 0,
            plan,
        };
        run.add_named_flows(custom)?;
        run.look_ahead_again();
        Ok(run)
    }

    fn add_named_flows(
        &mut self,
        custom: &mut dyn FnMut(&str) -> Option<Controller>,
    ) -> Result<(), PlanError> {
        for i in 0..self.plan.flows.len() {
            let planned = &self.plan.flows[i];
            let name = format!("flow/{}", planned.name);
            let start = planned
                .start_s
                .distribution()
                .draw(&mut Stream::new(self.plan.seed, &format!("{name}/start")));
            let within = |e: PlanError| PlanError { at: format!("flows[{i}].{}", e.at), what: e.what };
            let transport =
                Transport::new(&planned.connection, &mut || custom(&planned.name)).map_err(within)?;
            let new = NewFlow {
                id: FlowId(i as u32),
                stream_name: &name,
                seed: self.plan.seed,
                bytes: planned.bytes,
                start: Time::from_secs_f64(start),
                losses: self.losses(&planned.connection),
                shared_delay: self.shared_delay(&planned.connection),
                checks: self.checks(),
            };
            let mut flow = Flow::new(&planned.connection, transport, new).map_err(within)?;
            flow.sending.stop_at = planned.connection.stop();
            if self.plan.events {
                flow.sending.sender.keep_log();
            }
            self.look_ahead(&flow);
            self.flows.push(flow);
        }
        Ok(())
    }

    fn checks(&self) -> Checks {
        Checks { period_s: self.plan.sample.flows_s, window: self.window, end: self.end }
    }

    fn losses(&self, plan: &ConnectionPlan) -> Vec<(usize, Kind, LossModel)> {
        let data = plan.forward.iter().map(|&l| (l, Kind::Data, self.links[l].loss));
        let acks = plan.reverse.iter().map(|&l| (l, Kind::Ack, self.links[l].ack_loss));
        data.chain(acks).filter(|(_, _, model)| *model != LossModel::None).collect()
    }

    fn shared_delay(&self, plan: &ConnectionPlan) -> (Interval, Interval) {
        let sum = |path: &[usize]| path.iter().fold(Interval::ZERO, |d, &l| d + self.links[l].delay);
        (sum(&plan.forward), sum(&plan.reverse))
    }

    /// Runs to the end. `wanted` is asked now and then whether to go on.
    pub fn run(mut self, wanted: &mut dyn FnMut() -> bool) -> Result<Outcome, RunError> {
        let events = if self.plan.fast && self.lookahead >= LEAST_LOOKAHEAD {
            crate::windows::drive(&mut self, wanted)?
        } else {
            crate::plain::drive(&mut self, wanted)?
        };
        self.finish(events)
    }

    /// Takes a flow into the lookahead.
    fn look_ahead(&mut self, flow: &Flow) {
        let least = self.least_delay_of(flow);
        if least < self.lookahead {
            (self.lookahead, self.nearest) = (least, 1);
        } else if least == self.lookahead {
            self.nearest += 1;
        }
    }

    /// The lookahead of what is there: a near flow that has left shortens it no more.
    fn look_ahead_again(&mut self) {
        let sources = self.plan.background.iter().map(|source| source.workload().connection());
        let onward = sources.map(|c| self.least_delay_between(&[&c.forward, &c.reverse]));
        self.lookahead = onward.fold(self.least_delay_of_messages(), Interval::min);
        self.nearest = 1; // these never leave
        let mut there = vec![true; self.flows.len()];
        self.vacant.iter().for_each(|&i| there[i] = false);
        let flows = core::mem::take(&mut self.flows);
        flows.iter().zip(there).filter(|(_, there)| *there).for_each(|(flow, _)| self.look_ahead(flow));
        self.flows = flows;
    }

    /// Nothing that leaves a link on this flow's way arrives anywhere sooner than this.
    fn least_delay_of(&self, flow: &Flow) -> Interval {
        let route = &flow.route;
        let between = self.least_delay_between(&[&route.forward, &route.reverse]);
        // the last link's own delay comes before what only this flow uses
        let last = |path: &[usize]| path.last().map_or(Interval::ZERO, |&l| self.links[l].delay);
        let there = last(&route.forward) + route.forward_delay;
        between.min(there).min(last(&route.reverse) + route.reverse_delay)
    }

    /// Nothing that an element says reaches a link sooner than this.
    fn least_delay_of_messages(&self) -> Interval {
        let delays = self.links.iter().filter(|_| self.messages.is_some()).map(|link| link.delay);
        delays.min().map_or(Interval::MAX, |least| least.min(PROCESSING))
    }

    /// The least delay of any link of these paths that leads to another link: all but the last.
    fn least_delay_between(&self, paths: &[&[usize]]) -> Interval {
        let onward = paths.iter().flat_map(|path| path.iter().rev().skip(1));
        onward.map(|&l| self.links[l].delay).min().unwrap_or(Interval::MAX)
    }

    /// When the next sample or window mark is due.
    pub(crate) fn next_probe(&self) -> Time {
        self.next_flow_sample.min(self.next_link_sample).min(self.next_mark)
    }

    /// Takes the samples and marks due at `now`, before anything else happens then.
    pub(crate) fn probe(&mut self, now: Time) {
        if self.next_flow_sample <= now {
            self.sample_flows(now);
            self.leave();
        }
        if self.next_link_sample <= now {
            self.sample_links(now);
        }
        while self.next_mark <= now {
            self.mark_window(now);
        }
    }

    /// A packet comes to link `index`. True if it goes no further: a loss process took it, or it is a message that has
    /// come to the element that it is for.
    #[inline]
    pub(crate) fn keeps(&mut self, now: Time, index: usize, packet: &mut SimPacket) -> bool {
        if self.messages.is_some() && self.takes_message(now, index, packet) {
            return true;
        }
        packet.kind != Kind::Control && self.loses(index, packet)
    }

    /// Whether a loss process takes this packet of a flow; counted if so.
    #[inline]
    fn loses(&mut self, index: usize, packet: &SimPacket) -> bool {
        let flow = &mut self.flows[packet.flow.0 as usize];
        if !flow.is_lost(index, packet.kind) {
            return false;
        }
        self.links[index].counters.packets_lost += 1;
        flow.drop(packet.kind);
        true
    }

    /// A packet whose last bit leaves link `index` at `departure`: puts it where it goes next. Answers the flow whose
    /// end it is on the way to. With `ahead`, ends of lasting flows take it at once.
    pub(crate) fn pass_on(
        &mut self,
        index: usize,
        mut packet: SimPacket,
        departure: Time,
        ahead: bool,
    ) -> Option<usize> {
        let link = &mut self.links[index];
        let at = departure + link.delay;
        if packet.kind == Kind::Control {
            self.pass_message_on(index, packet, at);
            return None;
        }
        let id = packet.flow.0 as usize;
        let flow = &mut self.flows[id];
        if let Some(&next) = flow.route.path(packet.kind).get(usize::from(packet.hop) + 1) {
            packet.hop += 1;
            self.lead(index, next, at, packet);
            return None;
        }
        flow.pass_on(packet, at, ahead);
        Some(id)
    }

    /// A queue or element has dropped a packet.
    #[inline]
    pub(crate) fn drop(&mut self, packet: &SimPacket) {
        if packet.kind != Kind::Control {
            self.flows[packet.flow.0 as usize].drop(packet.kind);
        } else if let Some(messages) = &mut self.messages {
            messages.counters.dropped += 1;
        }
    }

    /// What a link in plain form has let depart or dropped goes where it goes; the flows whose ends it is on the way to.
    pub(crate) fn clear_link(&mut self, now: Time, index: usize, ahead: bool) -> Vec<usize> {
        for packet in core::mem::take(&mut self.links[index].dropped) {
            self.drop(&packet);
        }
        if !self.links[index].originated.is_empty() {
            self.send_messages(now, index);
        }
        let departed = core::mem::take(&mut self.links[index].departed);
        departed
            .into_iter()
            .filter_map(|(packet, departure)| self.pass_on(index, packet, departure, ahead))
            .collect()
    }

    /// After a sender's event: whether its algorithm failed, or its transfer is complete.
    #[inline(always)]
    pub(crate) fn after_sender(&mut self, now: Time, index: usize) -> Result<(), RunError> {
        self.check(index)?;
        let flow = &self.flows[index];
        if flow.sending.is_complete() && flow.transfer.is_some_and(|t| !t.complete) {
            self.complete(now, index);
        }
        Ok(())
    }

    /// Whether the algorithm of this flow has failed.
    #[inline(always)]
    pub(crate) fn check(&mut self, index: usize) -> Result<(), RunError> {
        if self.flows[index].sending.sender.has_failed() { Err(self.failure(index)) } else { Ok(()) }
    }

    #[cold]
    fn failure(&mut self, index: usize) -> RunError {
        let reason = self.flows[index].sending.sender.take_failure().unwrap_or_default();
        let flow = self.plan.flows.get(index).map_or_else(String::new, |f| f.name.clone());
        RunError::Algorithm { flow, reason }
    }

    /// A session opens its next connection. Answers its place.
    pub(crate) fn request(&mut self, now: Time, index: usize) -> Result<usize, RunError> {
        let session = &mut self.sessions[index];
        let bytes = session.open(now);
        let (group, name) = (session.group, format!("{}/{}", session.name, session.opened));
        let planned = self.plan.background[group].workload().connection();
        let transport = Transport::new(planned, &mut || None)?;
        let place = self.vacant.pop().unwrap_or(self.flows.len());
        let new = NewFlow {
            id: FlowId(place as u32),
            stream_name: &name,
            seed: self.plan.seed,
            bytes,
            start: now,
            losses: self.losses(planned),
            shared_delay: self.shared_delay(planned),
            checks: self.checks(),
        };
        let mut flow = Flow::new(planned, transport, new)?;
        flow.transfer = Some(Transfer { group, session: index, bytes, complete: false });
        if bytes.is_none() {
            flow.sending.stop_at = planned.stop();
        }
        self.background[group].open(bytes.map(|payload| planned.ip_bytes(payload)));
        self.look_ahead(&flow);
        if place == self.flows.len() {
            self.flows.push(flow);
        } else {
            self.flows[place] = flow;
        }
        Ok(place)
    }

    /// A background connection has sent all it had.
    fn complete(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let Some(transfer) = &mut flow.transfer else { return };
        transfer.complete = true;
        let (group, session) = (transfer.group, transfer.session);
        if let Some(bytes) = transfer.bytes {
            let duration = now.since(flow.began).as_secs_f64();
            let row = [group as f64, flow.began.as_secs_f64(), duration, bytes as f64];
            self.transfers.push((now, index, row));
            self.background[group].completed += 1;
        }
        self.leaving.push(index);
        if self.sessions[session].completed(now) {
            self.woken.push(session);
        }
    }

    /// What background sources have done so far, connections that still have their places included.
    fn background_now(&self) -> Vec<BackgroundMark> {
        let mut marks = self.background.clone();
        for flow in &self.flows {
            if let Some(transfer) = flow.transfer {
                marks[transfer.group].add(flow);
            }
        }
        marks
    }

    /// Frees the places of complete connections that have nothing under way any more. Done at samples only, when
    /// both drivers have handled the same events, so that both give new connections the same places.
    fn leave(&mut self) {
        let mut leaving = core::mem::take(&mut self.leaving);
        leaving.sort_unstable(); // the drivers see connections complete in different orders
        leaving.retain(|&i| {
            let flow = &mut self.flows[i];
            let stays = flow.under_way() > 0 || !flow.receiving.receiver.is_silent();
            if !stays {
                if let Some(transfer) = flow.transfer.take() {
                    self.background[transfer.group].add(flow);
                }
                self.vacant.push(i);
                self.nearest -= usize::from(self.least_delay_of(&self.flows[i]) == self.lookahead);
            }
            stays
        });
        self.leaving = leaving;
        if self.nearest == 0 {
            self.look_ahead_again();
        }
    }

    fn sample_flows(&mut self, now: Time) {
        let in_window = (self.window.0..=self.window.1).contains(&now);
        for ((flow, series), srtt) in self.flows.iter_mut().zip(&mut self.flow_series).zip(&mut self.srtt) {
            let (sender, receiver) = (flow.sending.at(now), flow.receiving.at(now));
            let rtt_s = sender.srtt.as_secs_f64();
            if in_window && rtt_s > 0.0 && flow.sending.completed(now).is_none() {
                srtt.add(rtt_s);
            }
            series.push(&[
                now.as_secs_f64(),
                sender.window.cwnd,
                sender.window.ssthresh,
                rtt_s,
                sender.acked_bytes as f64,
                flow.sending.sender.payload(receiver.delivered) as f64,
                receiver.received_bytes as f64,
                sender.counters.packets_sent as f64,
                flow.packets_lost as f64,
                sender.counters.retransmits as f64,
            ]);
        }
        self.flow_samples += 1;
        self.next_flow_sample = self.checks().grid(self.flow_samples).max(now + Interval::from_ns(1));
    }

    fn sample_links(&mut self, now: Time) {
        for (link, series) in self.links.iter_mut().zip(&mut self.link_series) {
            series.push(&link_sample(link, now));
        }
        self.link_samples += 1;
        self.next_link_sample = grid(self.link_samples, self.plan.sample.links_s, now);
    }

    /// The window of figures begins or ends.
    fn mark_window(&mut self, now: Time) {
        if self.at_window.is_none() {
            let flows =
                self.flows.iter_mut().take(self.plan.flows.len()).map(|f| FlowMark::of(f, now)).collect();
            let links = self.links.iter_mut().map(|l| l.settle(now).1).collect();
            self.links.iter_mut().for_each(|l| l.restart(now));
            let background = self.background_now();
            self.at_window = Some((flows, links, background));
            self.next_mark = self.window.1;
        } else {
            self.next_mark = Time::NEVER;
            self.figures = Some(self.take_figures(now));
        }
    }

    fn take_figures(&mut self, now: Time) -> Summary {
        let (flow_marks, link_marks, background_marks) = self.at_window.clone().unwrap_or_default();
        let from = self.window.0;
        let flows = (self.flows.iter_mut().zip(&self.plan.flows).zip(flow_marks).zip(&self.srtt))
            .map(|(((flow, planned), before), &srtt)| {
                let after = (now, FlowMark::of(flow, now));
                flow_figures(flow, &planned.name, &planned.connection.algorithm, (from, before), after, srtt)
            })
            .collect();
        let links = (self.links.iter_mut().zip(link_marks))
            .map(|(link, before)| {
                let (occupancy, after) = link.settle(now);
                link_figures(link, (from, before), (now, after, occupancy))
            })
            .collect::<Vec<_>>();
        let background = (self.plan.background.iter().zip(background_marks).zip(self.background_now()))
            .map(|((planned, before), after)| {
                background_figures(planned.workload(), (from, before), (now, after))
            })
            .collect();
        Summary { flows, links, background, packets: 0, messages: None }
    }

    fn finish(mut self, events_handled: u64) -> Result<Outcome, RunError> {
        let end = self.end;
        let mut summary = match self.figures.take() {
            Some(figures) => figures,
            None => self.take_figures(end),
        };
        summary.messages = self.messages.as_ref().map(|m| m.counters);
        summary.packets = self.links.first_mut().map_or(0, |l| l.settle(end).1.packets_out);
        let mut transfers = Series::new(TRANSFER_COLUMNS);
        self.transfers.sort_by_key(|&(at, place, _)| (at, place));
        self.transfers.iter().for_each(|(_, _, row)| transfers.push(row));
        let names = self.plan.flows.iter().map(|f| f.name.clone());
        let mut events: Vec<EventRow> = Vec::new();
        for (flow, planned) in self.flows.iter_mut().zip(&self.plan.flows) {
            let log = flow.sending.sender.take_log().into_iter().filter(|&(at, ..)| at <= end);
            events.extend(log.map(|(at, what, cwnd)| EventRow {
                time_s: at.as_secs_f64(),
                flow: planned.name.clone(),
                what: word(what),
                cwnd,
            }));
        }
        events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        Ok(Outcome {
            summary,
            flows: names.zip(self.flow_series).collect(),
            links: self.links.iter().map(|l| l.name.clone()).zip(self.link_series).collect(),
            transfers,
            events,
            events_handled,
        })
    }
}

/// The time of sample `row`; later than `now` in any case.
fn grid(row: u64, period_s: f64, now: Time) -> Time {
    Time::from_secs_f64(row as f64 * period_s).max(now + Interval::from_ns(1))
}

const fn word(what: Happened) -> &'static str {
    match what {
        Happened::Connected => "connected",
        Happened::QuickStart => "quick-start",
        Happened::QuickStartRefused => "quick-start-refused",
        Happened::Loss => "loss",
        Happened::Mark => "mark",
        Happened::Timeout => "timeout",
        Happened::Recovered => "recovered",
        Happened::Undone => "undone",
        Happened::Done => "done",
    }
}
