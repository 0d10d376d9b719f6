//! How packets cross a link in a batch: they are collected and put in order, served, and taken by their ends.
//! The page on the architecture has the three steps ("How a packet crosses a link").

use super::ahead::{self, ask};
use super::batches::{Driver, DriverState};
use super::link_batch::{LinkBatch, MOST, lend};
use super::straight::FEW;
use super::wakes::Rank;
use crate::model::flow::Flow;
use crate::model::link::{Handle, Server, each_computed, serve};
use crate::results::outcome::RunError;
use crate::run::state::Simulation;
use longfat_net::{GONE, LossModel};
use longfat_units::{Interval, Time};
use longfat_wire::{Packet, SimPacket};

const NANOSECOND: Interval = Interval::from_ns(1);

impl Driver<'_> {
    pub(super) fn link(&mut self, index: usize, mut from: Time, until: Time) -> Result<(), RunError> {
        let mut sources = core::mem::take(&mut self.state.sources);
        sources.clear();
        let of_links = self.state.incoming[index].iter().filter(|(_, pipe)| pipe.head() < until);
        let most = of_links.map(|(_, pipe)| pipe.len()).sum::<usize>()
            + self.state.wakes.links[index].arriving(until, &mut sources);
        if most == 0 && self.run.links[index].wake() >= until {
            from = until;
        }
        let many = ahead::pays(self.run.flows.len(), most);
        while from < until {
            let mut to = until;
            while most > MOST && to.since(from) > NANOSECOND && self.reach(index, &sources, to) > MOST {
                to = from + Interval::from_ns(to.since(from).as_ns() / 2);
            }
            while !self.cross(index, &sources, (from, to), many)? {}
            from = to;
        }
        self.state.sources = sources;
        Ok(())
    }

    /// How many packets reach the link before `until`.
    fn reach(&self, index: usize, sources: &[(Rank, Handle)], until: Time) -> usize {
        let of_links: usize = self.state.incoming[index].iter().map(|(_, pipe)| pipe.due(until)).sum();
        let of_ends = sources.iter().map(|(_, source)| {
            let (flow, data) = source.end().host();
            self.run.flows[flow].on_the_way(data).due(until)
        });
        of_links + of_ends.sum::<usize>()
    }

    /// Takes what arrives from `from` to `until`; `many` batches ask for memory ahead. Returns false if some
    /// may be left, as when too many arrive in the same nanosecond.
    fn cross(
        &mut self,
        index: usize,
        sources: &[(Rank, Handle)],
        (from, until): (Time, Time),
        many: bool,
    ) -> Result<bool, RunError> {
        let Driver { run, state, .. } = self;
        let DriverState { arrivals, loans, incoming, wakes, later, active, events, .. } = &mut **state;
        let Simulation { links, flows, .. } = &mut **run;
        let link = &mut links[index];
        let lossy = (link.loss != LossModel::None || link.ack_loss != LossModel::None).then_some(index);
        let is_straight = incoming[index].iter().all(|(_, pipe)| pipe.is_empty())
            && sources.iter().all(|(_, source)| source.is_straight());
        let (server, counters, delay) = link.parts();
        let mut batch = LinkBatch { link: index, delay, lossy, flows, incoming, wakes, active, later, many };
        let (mut admitted, mut offered) = (0, false);
        *events += match server {
            Server::Computed(queue) if is_straight && sources.len() <= FEW => {
                each_computed!(queue, fifo => batch.serve_few(sources, (from, until), &mut **fifo, counters))
            }
            _ => {
                arrivals.clear(from, until);
                admitted = batch.collect(sources, until, arrivals, counters);
                match server {
                    Server::Computed(queue) if is_straight => {
                        offered = true;
                        each_computed!(queue, fifo => arrivals.offer_all(&mut **fifo, counters))
                    }
                    Server::Computed(computed) => each_computed!(computed, queue => {
                        serve(&mut **queue, arrivals.in_order(), counters, &mut batch)
                    }),
                    Server::Handles(queue) => queue.run(arrivals.in_order(), until, counters, &mut batch),
                    Server::Loans(queue) => {
                        let order = arrivals.in_order();
                        loans.extend(order.map(|(at, handle)| (at, lend(batch.flows, handle))));
                        queue.run(loans.drain(..), until, counters, &mut batch)
                    }
                    Server::Asked(_) | Server::Unbuilt(_) => unreachable!("a queue without handles"),
                }
            }
        };
        batch.settle_all();
        let failed = self.hand_out(many, offered);
        failed.map_or(Ok(()), |id| self.run.check_algorithm(id))?;
        self.poll_seldom()?;
        Ok(admitted < MOST)
    }

    /// The third step. With `offered`, handles say what has become of the packets that wait. Returns a flow
    /// whose algorithm failed, if any did.
    fn hand_out(&mut self, many: bool, offered: bool) -> Option<usize> {
        let DriverState { wakes, arrivals, active, .. } = &mut *self.state;
        let mut handles = arrivals.handles().iter();
        let mut leaves = move |outcome, packet: &mut SimPacket| {
            let Some(handle) = (if outcome == GONE { None } else { handles.next() }) else { return outcome };
            packet.ecn = handle.ecn();
            handle.departure()
        };
        let flows = &mut self.run.flows;
        let mut failed = None;
        for (place, end) in active.iter().enumerate() {
            if many {
                let next = |places: usize| active.get(place + places).copied();
                ask(flows, next(ahead::STATE), Flow::prefetch_state);
                ask(flows, next(ahead::PACKETS), Flow::prefetch_packets);
                ask(flows, next(ahead::EXTRAS), Flow::prefetch_extras);
            }
            let (id, data) = end.host();
            let flow = &mut flows[id];
            flow.on_the_way_mut(data).is_active = false;
            match (data, offered) {
                (true, false) => drop(flow.take_data(|outcome, _| outcome)),
                (false, false) => drop(flow.take_acks(|outcome, _| outcome)),
                (true, true) => leaves = flow.take_data(leaves),
                (false, true) => leaves = flow.take_acks(leaves),
            }
            wakes.look_at(id, flow, [!data, data]);
            if !data && flow.sending.sender.has_failed() {
                failed = failed.or(Some(id));
            }
        }
        active.clear();
        failed
    }
}
