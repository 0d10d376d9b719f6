//! Samples on their grids, the summary of the measured span, and the outcome of the run.

use super::state::Simulation;
use crate::model::flow::next_on_grid;
use crate::model::link::Link;
use crate::results::outcome::Outcome;
use crate::results::samples::{EventRow, FlowSample, InternalSample, Internals, LinkSample};
use crate::results::series::Series;
use crate::results::summary::{
    FlowCounters, FlowFacts, Summary, background_summary, flow_summary, link_summary,
};
use longfat_transport::{Happened, cc};
use longfat_units::Time;
use std::sync::Arc;

impl Simulation {
    /// When the next sample is due, the measured span begins or ends, or a flow starts that may inherit.
    pub(crate) fn next_probe(&self) -> Time {
        let sampled = &self.sampled;
        sampled.next_flows.min(sampled.next_links).min(sampled.next_bound).min(self.inheritance.next)
    }

    /// Takes what is due at `now`, before anything else happens then.
    pub(crate) fn probe(&mut self, now: Time) {
        if self.sampled.next_flows <= now {
            self.sample_flows(now);
        }
        if self.sampled.next_links <= now {
            self.sample_links(now);
        }
        while self.sampled.next_bound <= now {
            self.measure(now);
        }
        if self.inheritance.next <= now {
            self.inheritance.pass_on(&self.plan.flows, &mut self.flows, now);
        }
    }

    fn sample_flows(&mut self, now: Time) {
        let (from, to) = self.times.measured;
        let measured = (from..=to).contains(&now);
        let sampled = &mut self.sampled;
        for (flow, internals) in self.flows.iter_mut().zip(&mut sampled.internals) {
            if flow.began < now && flow.sending.completed(now).is_none() {
                add(internals, flow.sending.internals_at(now).unwrap_or_default(), now);
            }
        }
        for ((flow, rows), srtt) in self.flows.iter_mut().zip(&mut sampled.flows).zip(&mut sampled.srtt) {
            let sample = FlowSample::of(flow, now);
            if measured && !sample.srtt_s.is_nan() && flow.sending.completed(now).is_none() {
                srtt.add(sample.srtt_s);
            }
            rows.push(sample);
        }
        sampled.rows.0 += 1;
        sampled.next_flows = next_on_grid(sampled.rows.0, self.plan.sample.flows_s, now);
    }

    fn sample_links(&mut self, now: Time) {
        let sampled = &mut self.sampled;
        for (link, rows) in self.links.iter_mut().zip(&mut sampled.links) {
            rows.push(LinkSample::of(link, now));
        }
        sampled.rows.1 += 1;
        sampled.next_links = next_on_grid(sampled.rows.1, self.plan.sample.links_s, now);
    }

    /// The measured span begins or ends.
    fn measure(&mut self, now: Time) {
        if self.sampled.before.is_none() {
            let named = self.flows.iter_mut().take(self.plan.flows.len());
            let flows = named.map(|flow| FlowCounters::of(flow, now)).collect();
            let links = self.links.iter_mut().map(|link| link.settle(now).1).collect();
            self.links.iter_mut().for_each(|link| link.restart(now));
            self.sampled.before = Some((flows, links, self.background_counters(now)));
            self.sampled.next_bound = self.times.measured.1;
        } else {
            self.sampled.next_bound = Time::NEVER;
            self.sampled.summary = Some(self.summarize(now));
        }
    }

    /// The summary of the measured span, which ends at `now`.
    fn summarize(&mut self, now: Time) -> Summary {
        let (flows, links, background) = self.sampled.before.clone().unwrap_or_default();
        let from = self.times.measured.0;
        let named = self.flows.iter_mut().zip(&self.plan.flows);
        let flows = (named.zip(flows).zip(&self.sampled.srtt))
            .map(|(((flow, planned), before), &srtt)| {
                let facts = FlowFacts {
                    name: &planned.name,
                    algorithm: planned.connection.algorithm.listed_name(),
                    rtt: flow.rtt,
                    began: flow.began,
                    connected: flow.sending.at(now).connected,
                    delivered: flow.delivered(planned.bytes, now),
                    completed: flow.sending.completed(now),
                    srtt,
                };
                flow_summary(facts, (from, before), (now, FlowCounters::of(flow, now)))
            })
            .collect();
        let links = (self.links.iter_mut().zip(links))
            .map(|(link, before)| {
                let (occupancy, after) = link.settle(now);
                link_summary(link, (from, before), (now, after, occupancy))
            })
            .collect::<Vec<_>>();
        let counters = self.background_counters(now);
        let background = (self.plan.background.iter().zip(background).zip(counters))
            .map(|((planned, before), after)| background_summary(planned, (from, before), (now, after)))
            .collect();
        Summary { flows, links, background, packets: 0, messages: None }
    }

    /// Everything that the run returns, at its end, with what its driver says of itself.
    pub(crate) fn finish(mut self, (driver, events_handled): (&'static str, u64)) -> Outcome {
        let end = self.end;
        let mut summary = match self.sampled.summary.take() {
            Some(summary) => summary,
            None => self.summarize(end),
        };
        summary.messages = self.messages.as_ref().map(|m| m.counters);
        let after = self.after_end(); // with what begins at the very end
        summary.packets = self.links.first_mut().map_or(0, |l| l.settle(after).1.packets_out);
        // the room of background connections is free for the results
        self.flows.truncate(self.plan.flows.len());
        let mut completed = core::mem::take(&mut self.transfers);
        completed.sort_unstable_by_key(|&(at, order, _)| (at, order)); // in place
        let transfers = completed.into_iter().map(|(_, _, sample)| sample).collect();
        let named = self.flows.iter_mut().take(self.plan.flows.len());
        let logs: Vec<_> = named.map(|flow| flow.sending.sender.take_log()).collect();
        // events may be most of what a run takes
        let mut events: Vec<EventRow> = Vec::with_capacity(logs.iter().map(Vec::len).sum());
        for (log, planned) in logs.into_iter().zip(&self.plan.flows) {
            let name: Arc<str> = planned.name.as_str().into();
            let log = log.into_iter().filter(|&(at, ..)| at <= end);
            events.extend(log.map(|(at, what, cwnd)| EventRow {
                time_s: at.as_secs_f64(),
                flow: name.clone(),
                what: word(what),
                cwnd,
            }));
        }
        events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let servers = self.links.iter().map(Link::server_name).collect();
        let names = || self.plan.flows.iter().map(|flow| flow.name.clone());
        let internals = names().zip(self.sampled.internals).filter(|(_, found)| !found.is_empty()).collect();
        Outcome {
            summary,
            flows: names().zip(self.sampled.flows.into_iter().map(Series::from_iter)).collect(),
            internals,
            links: (self.links.into_iter().map(|link| link.name))
                .zip(self.sampled.links.into_iter().map(Series::from_iter))
                .collect(),
            transfers,
            events,
            events_handled,
            driver,
            servers,
        }
    }
}

/// Adds a sample of each quantity.
fn add(series: &mut Internals, found: cc::Internals, now: Time) {
    for (name, value) in found.iter() {
        let sample = InternalSample { time_s: now.as_secs_f64(), value };
        match series.iter_mut().find(|(known, _)| known == name) {
            Some((_, series)) => series.push(&sample),
            None => {
                let mut new = Series::default();
                new.push(&sample);
                series.push((name.to_owned(), new));
            }
        }
    }
}

/// The event log's word for an event.
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
