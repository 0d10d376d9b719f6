//! Background connections: how they open, complete and leave.

use super::state::{FEW_LEAVING, Simulation};
use crate::model::flow::{Carrier, Flow, Opening, SampleTimes, Transfer};
use crate::results::outcome::RunError;
use crate::results::samples::TransferSample;
use crate::results::summary::BackgroundCounters;
use longfat_units::{Interval, Time};
use longfat_wire::FlowId;

impl Simulation {
    /// A session opens its next connection. Returns the connection's index.
    pub(crate) fn request(&mut self, now: Time, session: usize) -> Result<usize, RunError> {
        let source = &mut self.sessions[session];
        let group = source.group;
        let (bytes, streams) = source.open(now);
        let order = source.order();
        let planned = &self.plan.background[group].connection;
        let index = self.vacant.pop().unwrap_or(self.flows.len());
        let id = FlowId(index as u32);
        let opening = Opening {
            id,
            order,
            streams: &streams,
            bytes,
            start: now,
            links: &self.links,
            times: SampleTimes { period_s: f64::INFINITY, ..self.times }, // nobody samples it but at the bounds
        };
        let carrier = Carrier::new(planned, &mut || None)?;
        let mut flow = Flow::new(planned, &opening, carrier);
        if let Some(ssthresh) = planned.ssthresh_cache.then(|| self.routes[session].ssthresh(now)).flatten() {
            flow.sending.sender.inherit_ssthresh(ssthresh);
        }
        flow.transfer = Some(Transfer { group, session, bytes, complete: false });
        if bytes.is_none() {
            flow.sending.stop_at = planned.stop();
        }
        self.background[group].open(bytes.map(|payload| planned.ip_bytes(payload)));
        for &link in planned.forward.iter().chain(&planned.reverse) {
            self.links[link].begins(id, streams.identity());
        }
        self.lookahead.include(&self.links, &flow);
        match self.flows.get_mut(index) {
            Some(left) => {
                flow.take_room(left);
                *left = flow;
            }
            None => self.flows.push(flow),
        }
        Ok(index)
    }

    /// After an event of a sender: fails if its algorithm failed, and completes its transfer if everything is
    /// acknowledged.
    #[inline(always)]
    pub(crate) fn after_sender(&mut self, now: Time, index: usize) -> Result<(), RunError> {
        self.check_algorithm(index)?;
        let flow = &self.flows[index];
        if flow.sending.is_complete() && flow.transfer.is_some_and(|t| !t.complete) {
            self.complete(now, index);
        }
        Ok(())
    }

    /// Sorts the transfers that have completed since the last call, which a driver finds flow by flow.
    /// Sorting all of them at the end then has little left to do.
    pub(crate) fn order_transfers(&mut self) {
        if self.ordered < self.transfers.len() {
            self.transfers[self.ordered..].sort_unstable_by_key(|&(at, order, _)| (at, order));
            self.ordered = self.transfers.len();
        }
    }

    /// All data of a background connection are acknowledged.
    fn complete(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let Some(transfer) = &mut flow.transfer else { return };
        transfer.complete = true;
        let (group, session, bytes) = (transfer.group, transfer.session, transfer.bytes);
        if self.plan.background[group].connection.ssthresh_cache {
            self.routes[session].end(now, flow.order, flow.sending.sender.window());
        }
        if let Some(bytes) = bytes {
            let delivery = flow.delivered(Some(bytes), now).map(|at| at.since(flow.began));
            let sample = TransferSample {
                group: group as f64,
                start_s: flow.began.as_secs_f64(),
                duration_s: now.since(flow.began).as_secs_f64(),
                bytes: bytes as f64,
                delivery_s: delivery.map_or(f64::NAN, Interval::as_secs_f64),
            };
            self.transfers.push((now, flow.order, sample));
            self.background[group].completed += 1;
        }
        self.leaving.push(index);
        if self.sessions[session].completed(now) {
            self.woken.push(session);
        }
    }

    /// Counters of all background traffic just before `now`, a bound of the measured span; connections that
    /// have not left yet are included.
    pub(crate) fn background_counters(&mut self, now: Time) -> Vec<BackgroundCounters> {
        let mut counters = self.background.clone();
        for flow in &mut self.flows {
            if let Some(transfer) = flow.transfer {
                counters[transfer.group].add(flow, now);
            }
        }
        counters
    }

    /// Frees the indices of complete connections that have nothing under way any more, once there may be
    /// many. Everything before `now` has been handled. The drivers call this at different times and give new
    /// connections different indices, so no result may depend on an index.
    pub(crate) fn leave(&mut self, now: Time) {
        if self.leaving.len() < self.many_leaving {
            return;
        }
        let mut leaving = core::mem::take(&mut self.leaving);
        let mut longer = false;
        leaving.retain(|&i| {
            let flow = &mut self.flows[i];
            let stays = !flow.is_over(now);
            if !stays {
                if let Some(transfer) = flow.transfer.take() {
                    self.background[transfer.group].add(flow, now);
                }
                flow.free();
                self.vacant.push(i);
                longer |= self.lookahead.exclude(&self.links, &self.flows[i]);
            }
            stays
        });
        self.many_leaving = FEW_LEAVING.max(2 * leaving.len()); // so that each is looked at twice on average
        self.leaving = leaving;
        if longer {
            self.compute_lookahead();
        }
    }
}
