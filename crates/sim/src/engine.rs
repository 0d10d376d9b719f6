//! The loop: takes the earliest event off the agenda, lets its element act, plans what follows.
//!
//! Slots of the agenda, in the canonical order of events at the same time: probes, link transmitters, links' onward
//! stretches, their elements' messages, background sessions, then four a flow: what the sender put on its own link,
//! the receiver, what the receiver put on its link, the sender.

use crate::agenda::Agenda;
use crate::figures::{BackgroundFigures, FlowMark, SampleMean, Summary, flow_figures, link_figures};
use crate::flow::{Flow, NewFlow};
use crate::link::{Link, LinkCounters};
use crate::plan::{ConnectionPlan, Plan, PlanError};
use crate::series::{EventRow, Series};
use crate::workload::{Session, connection, sessions};
use longfat_net::LossModel;
use longfat_transport::Happened;
use longfat_transport::cc::Controller;
use longfat_units::{Interval, Stream, Time};
use longfat_wire::{FlowId, Kind, SimPacket};
use thiserror::Error;

const FLOW_COLUMNS: &[&str] = &[
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
const LINK_COLUMNS: &[&str] = &[
    "time_s",
    "queue_packets",
    "queue_bytes",
    "packets_in",
    "packets_out",
    "packets_dropped",
    "packets_marked",
    "packets_lost",
    "bytes_out",
];
const TRANSFER_COLUMNS: &[&str] = &["group", "start_s", "duration_s", "bytes"];

/// Events between two looks at whether the run is still wanted.
const EVENTS_PER_POLL: u64 = 1 << 16;

const FLOW_PROBE: usize = 0;
const LINK_PROBE: usize = 1;
const WINDOW_MARK: usize = 2;
const FIRST_LINK: usize = 3;
const SLOTS_PER_FLOW: usize = 4;

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

/// A run in progress.
pub struct Simulation {
    plan: Plan,
    agenda: Agenda,
    links: Vec<Link>,
    sessions: Vec<Session>,
    flows: Vec<Flow>,
    /// Background connections' places that are free again.
    vacant: Vec<usize>,
    /// Background connections that are complete but still have packets under way.
    leaving: Vec<usize>,
    flow_series: Vec<Series>,
    srtt: Vec<SampleMean>,
    link_series: Vec<Series>,
    transfers: Series,
    background: Vec<BackgroundFigures>,
    background_bytes: Vec<u64>,
    end: Time,
    window: (Time, Time),
    at_window: Option<(Vec<FlowMark>, Vec<LinkCounters>)>,
    figures: Option<Summary>,
    first_flow_slot: usize,
}

impl Simulation {
    /// A run of `plan`; `custom` makes a user's own algorithm for the flow of this name.
    pub fn new(plan: Plan, custom: &mut dyn FnMut(&str) -> Option<Controller>) -> Result<Self, PlanError> {
        plan.check()?;
        let links = plan.links.iter().map(|l| Link::new(l, plan.fast)).collect::<Result<Vec<_>, _>>()?;
        let sessions = sessions(plan.seed, &plan.background);
        let first_flow_slot = FIRST_LINK + 3 * links.len() + sessions.len();
        let agenda = Agenda::new(first_flow_slot + SLOTS_PER_FLOW * plan.flows.len());
        let background = plan
            .background
            .iter()
            .map(|b| BackgroundFigures { name: connection(b).0.to_owned(), ..Default::default() })
            .collect();
        let mut run = Simulation {
            agenda,
            sessions,
            flows: Vec::with_capacity(plan.flows.len()),
            vacant: Vec::new(),
            leaving: Vec::new(),
            flow_series: vec![Series::new(FLOW_COLUMNS); plan.flows.len()],
            srtt: vec![SampleMean::default(); plan.flows.len()],
            link_series: vec![Series::new(LINK_COLUMNS); links.len()],
            transfers: Series::new(TRANSFER_COLUMNS),
            background,
            background_bytes: vec![0; plan.background.len()],
            links,
            end: Time::from_secs_f64(plan.duration_s),
            window: (Time::from_secs_f64(plan.window_s.0), Time::from_secs_f64(plan.window_s.1)),
            at_window: None,
            figures: None,
            first_flow_slot,
            plan,
        };
        run.add_named_flows(custom)?;
        run.agenda.set(FLOW_PROBE, Time::ZERO);
        run.agenda.set(LINK_PROBE, Time::ZERO);
        run.agenda.set(WINDOW_MARK, run.window.0);
        for (i, session) in run.sessions.iter().enumerate() {
            run.agenda.set(FIRST_LINK + 3 * run.links.len() + i, session.next_at);
        }
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
            let (controller, recovery) = Flow::controller(&planned.connection, &mut || custom(&planned.name))
                .map_err(|e| PlanError { at: format!("flows[{i}].{}", e.at), what: e.what })?;
            let new = NewFlow {
                id: FlowId(i as u32),
                stream_name: &name,
                seed: self.plan.seed,
                bytes: planned.bytes,
                start: Time::from_secs_f64(start),
                losses: self.losses(&planned.connection),
                shared_delay: self.shared_delay(&planned.connection),
            };
            let mut flow = Flow::new(&planned.connection, controller, recovery, new)?;
            flow.stop_at = planned.stop_s.map_or(Time::NEVER, Time::from_secs_f64);
            if self.plan.events {
                flow.sender.keep_log();
            }
            self.agenda.set(self.first_flow_slot + SLOTS_PER_FLOW * i + 3, flow.sender_wake());
            self.flows.push(flow);
        }
        Ok(())
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
        let mut events: u64 = 0;
        loop {
            let (now, slot) = self.agenda.first();
            if now > self.end {
                break;
            }
            events += 1;
            if events % EVENTS_PER_POLL == 0 && !wanted() {
                return Err(RunError::Interrupted);
            }
            if slot >= self.first_flow_slot {
                let index = slot - self.first_flow_slot;
                self.flow_event(now, index / SLOTS_PER_FLOW, index % SLOTS_PER_FLOW)?;
            } else {
                self.other_event(now, slot)?;
            }
        }
        self.finish(events)
    }

    #[inline]
    fn flow_event(&mut self, now: Time, index: usize, part: usize) -> Result<(), RunError> {
        let slot = self.first_flow_slot + SLOTS_PER_FLOW * index;
        let flow = &mut self.flows[index];
        match part {
            0 | 2 => {
                let pipe = if part == 0 { &mut flow.to_link } else { &mut flow.ack_to_link };
                let packet = pipe.pop();
                self.agenda.set(slot + part, pipe.head());
                if let Some(packet) = packet {
                    let link = flow.route.path(packet.kind)[0];
                    self.enter(now, link, packet);
                }
            }
            1 => {
                let idle = flow.ack_to_link.is_empty();
                flow.receiver_event(now);
                self.agenda.set(slot + 1, flow.receiver_wake());
                if idle && !flow.ack_to_link.is_empty() {
                    self.agenda.set(slot + 2, flow.ack_to_link.head());
                }
            }
            _ => {
                let idle = flow.to_link.is_empty();
                flow.sender_event(now);
                self.agenda.set(slot + 3, flow.sender_wake());
                if idle && !flow.to_link.is_empty() {
                    self.agenda.set(slot, flow.to_link.head());
                }
                if let Some(reason) = flow.sender.take_failure() {
                    return Err(RunError::Algorithm { flow: self.plan.flows[index].name.clone(), reason });
                }
                if flow.completed.is_some() && flow.transfer.is_some() {
                    self.complete(now, index);
                }
            }
        }
        Ok(())
    }

    fn other_event(&mut self, now: Time, slot: usize) -> Result<(), RunError> {
        match slot {
            FLOW_PROBE => self.sample_flows(now),
            LINK_PROBE => self.sample_links(now),
            WINDOW_MARK => self.mark_window(now),
            _ => {
                let (index, links) = (slot - FIRST_LINK, self.links.len());
                match index / links.max(1) {
                    0 => self.link_timer(now, index),
                    1 => {
                        let link = &mut self.links[index - links];
                        let packet = link.onward.pop();
                        self.agenda.set(slot, link.onward.head());
                        if let Some(packet) = packet {
                            let path = self.flows[packet.flow.0 as usize].route.path(packet.kind);
                            let next = path[usize::from(packet.hop)];
                            self.enter(now, next, packet);
                        }
                    }
                    2 => {
                        let link = &mut self.links[index - 2 * links];
                        let message = link.control.pop();
                        self.agenda.set(slot, link.control.head());
                        if let Some((packet, to)) = message {
                            self.enter(now, to.0 as usize, packet);
                        }
                    }
                    _ => self.request(now, index - 3 * links)?,
                }
            }
        }
        Ok(())
    }

    /// A packet comes to a link.
    #[inline]
    fn enter(&mut self, now: Time, index: usize, packet: SimPacket) {
        let flow = &mut self.flows[packet.flow.0 as usize];
        if flow.is_lost(index, packet.kind) {
            self.links[index].counters.packets_lost += 1;
            flow.packets_lost += u64::from(packet.kind == Kind::Data);
            flow.under_way -= 1;
            return;
        }
        self.at_link(now, index, Some(packet));
    }

    fn link_timer(&mut self, now: Time, index: usize) {
        self.at_link(now, index, None);
    }

    /// Lets a link take a packet, or its timer, and passes on what it sends.
    #[inline]
    fn at_link(&mut self, now: Time, index: usize, packet: Option<SimPacket>) {
        let Simulation { links, flows, agenda, first_flow_slot, .. } = self;
        let count = links.len();
        let link = &mut links[index];
        let delay = link.delay;
        // the onward pipe is part of the link; packets for it are kept aside until the link has acted
        let mut onward: Option<(Time, SimPacket)> = None;
        let mut sent = |mut packet: SimPacket, departure: Time| {
            let id = packet.flow.0 as usize;
            let flow = &mut flows[id];
            packet.hop += 1;
            if usize::from(packet.hop) < flow.route.path(packet.kind).len() {
                onward = Some((departure + delay, packet));
                return;
            }
            let slot = *first_flow_slot + SLOTS_PER_FLOW * id;
            if packet.kind.is_forward() {
                if flow.to_receiver.push(departure + delay + flow.route.forward_delay, packet) {
                    agenda.set(slot + 1, flow.receiver_wake());
                }
            } else if flow.to_sender.push(departure + delay + flow.route.reverse_delay, packet) {
                agenda.set(slot + 3, flow.sender_wake());
            }
        };
        let mut lost: Vec<SimPacket> = Vec::new();
        let mut dropped = |packet: SimPacket| lost.push(packet);
        match packet {
            Some(packet) => link.arrive(now, packet, &mut sent, &mut dropped),
            None => link.on_timer(now, &mut sent, &mut dropped),
        }
        if let Some((at, packet)) = onward {
            if link.onward.push(at, packet) {
                agenda.set(FIRST_LINK + count + index, at);
            }
        }
        let (wake, message) = (link.wake(), link.control.head());
        if agenda.get(FIRST_LINK + index) != wake {
            agenda.set(FIRST_LINK + index, wake);
        }
        if message != Time::NEVER {
            agenda.set(FIRST_LINK + 2 * count + index, message);
        }
        for packet in lost {
            let flow = &mut flows[packet.flow.0 as usize];
            flow.packets_lost += u64::from(packet.kind == Kind::Data);
            flow.under_way -= 1;
        }
    }

    /// A session asks for its next page: a new connection.
    fn request(&mut self, now: Time, index: usize) -> Result<(), RunError> {
        let session = &mut self.sessions[index];
        let bytes = session.take_page(now);
        self.agenda.set(FIRST_LINK + 3 * self.links.len() + index, session.next_at);
        let (group, name) = (session.group, format!("{}/{}", session.name, session.pages));
        self.leave();
        let (_, planned) = connection(&self.plan.background[group]);
        let (controller, recovery) = Flow::controller(planned, &mut || None)?;
        let place = self.vacant.pop().unwrap_or(self.flows.len());
        let new = NewFlow {
            id: FlowId(place as u32),
            stream_name: &name,
            seed: self.plan.seed,
            bytes: Some(bytes),
            start: now,
            losses: self.losses(planned),
            shared_delay: self.shared_delay(planned),
        };
        let mut flow = Flow::new(planned, controller, recovery, new)?;
        flow.transfer = Some((group, bytes));
        self.background[group].transfers_started += 1;
        let slot = self.first_flow_slot + SLOTS_PER_FLOW * place;
        self.agenda.reserve(slot + SLOTS_PER_FLOW);
        self.agenda.set(slot + 3, flow.sender_wake());
        if place == self.flows.len() {
            self.flows.push(flow);
        } else {
            self.flows[place] = flow;
        }
        Ok(())
    }

    /// A background connection has sent all it had.
    fn complete(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let Some((group, bytes)) = flow.transfer.take() else { return };
        let duration = now.since(flow.began).as_secs_f64();
        self.transfers.push(&[group as f64, flow.began.as_secs_f64(), duration, bytes as f64]);
        self.background[group].transfers_completed += 1;
        self.tally(group, index);
        self.leaving.push(index);
    }

    fn tally(&mut self, group: usize, index: usize) {
        let flow = &self.flows[index];
        let figures = &mut self.background[group];
        figures.bytes_delivered += flow.sender.payload(flow.receiver.delivered());
        figures.packets_sent += flow.sender.counters().packets_sent;
        figures.packets_lost += flow.packets_lost;
        self.background_bytes[group] += flow.receiver.received_bytes;
    }

    /// Frees the places of complete connections that have nothing under way any more.
    fn leave(&mut self) {
        let Simulation { leaving, vacant, flows, .. } = self;
        leaving.retain(|&i| {
            let stays = flows[i].under_way > 0;
            if !stays {
                vacant.push(i);
            }
            stays
        });
    }

    fn sample_flows(&mut self, now: Time) {
        let in_window = (self.window.0..=self.window.1).contains(&now);
        for ((flow, series), srtt) in self.flows.iter().zip(&mut self.flow_series).zip(&mut self.srtt) {
            let (sender, receiver) = (&flow.sender, &flow.receiver);
            let rtt_s = sender.rtt().srtt().as_secs_f64();
            if in_window && rtt_s > 0.0 && flow.completed.is_none() {
                srtt.add(rtt_s);
            }
            series.push(&[
                now.as_secs_f64(),
                sender.window().cwnd,
                sender.window().ssthresh,
                rtt_s,
                sender.acked_bytes() as f64,
                sender.payload(receiver.delivered()) as f64,
                receiver.received_bytes as f64,
                sender.counters().packets_sent as f64,
                flow.packets_lost as f64,
                sender.counters().retransmits as f64,
            ]);
        }
        let row = self.flow_series.first().map_or(0, |s| s.columns()[0].1.len());
        self.agenda.set(FLOW_PROBE, grid(row as u64, self.plan.sample.flows_s, now));
    }

    fn sample_links(&mut self, now: Time) {
        for (link, series) in self.links.iter_mut().zip(&mut self.link_series) {
            let (occupancy, c) = link.settle(now);
            series.push(&[
                now.as_secs_f64(),
                occupancy.packets() as f64,
                occupancy.bytes() as f64,
                c.packets_in as f64,
                c.packets_out as f64,
                c.packets_dropped as f64,
                c.packets_marked as f64,
                c.packets_lost as f64,
                c.bytes_out as f64,
            ]);
        }
        let row = self.link_series.first().map_or(0, |s| s.columns()[0].1.len());
        self.agenda.set(LINK_PROBE, grid(row as u64, self.plan.sample.links_s, now));
    }

    /// The window of figures begins or ends.
    fn mark_window(&mut self, now: Time) {
        if self.at_window.is_none() {
            let flows = self.flows.iter().take(self.plan.flows.len()).map(|f| FlowMark::of(f, now)).collect();
            let links = self.links.iter_mut().map(|l| l.settle(now).1).collect();
            self.links.iter_mut().for_each(|l| l.restart(now));
            self.at_window = Some((flows, links));
            self.agenda.set(WINDOW_MARK, self.window.1);
        } else {
            self.agenda.set(WINDOW_MARK, Time::NEVER);
            self.figures = Some(self.take_figures(now));
        }
    }

    fn take_figures(&mut self, now: Time) -> Summary {
        let (flow_marks, link_marks) = self.at_window.clone().unwrap_or_default();
        let from = self.window.0;
        let flows = (self.flows.iter().zip(&self.plan.flows).zip(flow_marks).zip(&self.srtt))
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
        let packets = self.links.first().map_or(0, |l| l.counters.packets_out);
        Summary { flows, links, background: Vec::new(), packets }
    }

    fn finish(mut self, events_handled: u64) -> Result<Outcome, RunError> {
        let end = self.end;
        let mut summary = match self.figures.take() {
            Some(figures) => figures,
            None => self.take_figures(end),
        };
        for i in self.plan.flows.len()..self.flows.len() {
            if let Some((group, _)) = self.flows[i].transfer {
                self.tally(group, i);
            }
        }
        for (figures, bytes) in self.background.iter_mut().zip(&self.background_bytes) {
            figures.throughput_bps = 8.0 * *bytes as f64 / self.plan.duration_s;
        }
        summary.background = self.background;
        let names = self.plan.flows.iter().map(|f| f.name.clone());
        let mut events: Vec<EventRow> = Vec::new();
        for (flow, planned) in self.flows.iter_mut().zip(&self.plan.flows) {
            events.extend(flow.sender.take_log().into_iter().map(|(at, what, cwnd)| EventRow {
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
            transfers: self.transfers,
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
        Happened::Loss => "loss",
        Happened::Mark => "mark",
        Happened::Timeout => "timeout",
        Happened::Recovered => "recovered",
        Happened::Undone => "undone",
        Happened::Done => "done",
    }
}
