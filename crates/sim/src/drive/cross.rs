//! How packets cross a link in a batch. There is one way, in three steps:
//!
//! 1. The arrivals are collected, from other links and from the ends of flows, and put in order: a key has
//!    the time of an arrival above its place among those collected. Loss processes take theirs here.
//! 2. The server of the link takes the arrivals in that order, and puts each packet that leaves or is dropped
//!    into an exit ([`Outlet`]).
//! 3. Each end takes those of the packets sent to it that have left their last link.
//!
//! A packet stays in the ring of the end that has sent it until its last link, and only its handle moves. The
//! ring holds, in place of the time of its arrival at the first link, what is known of it: that it waits,
//! that it is gone, or when it leaves its last link. So an end takes its packets together, and its state
//! comes into the cache once.

use super::ahead;
use super::arrivals::{PLACE_BITS, place_of, time_of};
use super::backlog::{Backlog, Outlet, note};
use super::batches::{Driver, Kept};
use super::collect::{Collected, Collecting, MOST, take_extra};
use super::straight::{FEW_ORIGINS, offer_all, take_offered};
use crate::model::flow::Flow;
use crate::model::link::{Loan, Origin, Server, each_computed};
use crate::results::outcome::RunError;
use crate::run::state::Simulation;
use longfat_net::LossModel;
use longfat_units::{Interval, Time};

const NANOSECOND: Interval = Interval::from_ns(1);
impl Driver<'_> {
    /// Runs a link through the batch.
    pub(super) fn link(&mut self, index: usize, mut from: Time, until: Time) -> Result<(), RunError> {
        let mut origins = core::mem::take(&mut self.kept.active);
        origins.clear();
        let of_links = self.kept.incoming[index].iter().filter(|(_, pipe)| pipe.head() < until);
        let most = of_links.map(|(_, pipe)| pipe.len()).sum::<usize>()
            + self.kept.feeds.arriving(index, until, &mut origins);
        if most == 0 && self.run.links[index].wake() >= until {
            from = until;
        }
        while from < until {
            let mut to = until;
            while most > MOST && to.since(from) > NANOSECOND && self.reach(index, &origins, to) > MOST {
                to = from + Interval::from_ns(to.since(from).as_ns() / 2);
            }
            while !self.cross(index, &origins, (from, to))? {}
            from = to;
        }
        self.kept.active = origins;
        Ok(())
    }

    /// How many packets reach the link before `until`.
    fn reach(&self, index: usize, origins: &[Origin], until: Time) -> usize {
        let of_links: usize = self.kept.incoming[index].iter().map(|(_, pipe)| pipe.due(until)).sum();
        let of_ends = origins.iter().map(|origin| {
            let (flow, data) = origin.end.host();
            self.run.flows[flow].on_the_way(data).due(until)
        });
        of_links + of_ends.sum::<usize>()
    }

    /// Takes what arrives from `from` to `until`. Returns false if some is left, which happens only if too
    /// many arrive in the same nanosecond.
    fn cross(
        &mut self,
        index: usize,
        origins: &[Origin],
        (from, until): (Time, Time),
    ) -> Result<bool, RunError> {
        let Driver { run, kept, .. } = self;
        let Kept { collected, offers, incoming, idle_until, backlog, events, .. } = &mut **kept;
        let Simulation { links, flows, .. } = &mut **run;
        let many = ahead::pays(origins);
        backlog.defers = many;
        let link = &mut links[index];
        let is_lossy = link.loss != LossModel::None || link.ack_loss != LossModel::None;
        let (server, counters, delay) = link.parts();
        let Collected { arrivals, handles, extras } = collected;
        arrivals.clear(until.since(from).as_ns() << PLACE_BITS);
        let noted = &mut backlog.noted;
        let mut collecting = Collecting {
            link: index,
            is_lossy,
            from,
            until,
            flows,
            counters,
            arrivals,
            noted,
            len: 0,
            admitted: 0,
        };
        let is_straight = incoming[index].iter().all(|(_, pipe)| pipe.is_empty())
            && origins.iter().all(|origin| origin.is_straight());
        let (mut admitted, mut offered) = (0, false);
        match server {
            Server::Computed(queue) if is_straight && origins.len() <= FEW_ORIGINS => {
                *events += each_computed!(queue, fifo => collecting.serve_few(origins, &mut **fifo));
            }
            Server::Computed(queue) if is_straight => {
                collecting.collect_from_ends(origins, offers);
                (admitted, offered) = (collecting.admitted, true);
                *events += admitted as u64;
                counters.packets_in += collecting.len as u64;
                let keys = arrivals.sorted();
                each_computed!(queue, fifo => offer_all(keys, offers, from, &mut **fifo, counters));
            }
            _ => {
                incoming[index].iter_mut().for_each(|(_, pipe)| collecting.collect_from_link(pipe, handles));
                collecting.collect_from_ends(origins, handles);
                admitted = collecting.admitted;
                let collected = &handles[..collecting.len];
                if let Server::Loans(_) = server {
                    extras.clear();
                    extras.extend(collected.iter().map(|&handle| take_extra(flows, handle)));
                }
                let order = arrivals.sorted().iter().map(|&key| (time_of(key, from), place_of(key)));
                let mut exit = Outlet { flows, backlog, incoming, idle_until, link: index, delay };
                *events += match server {
                    Server::Computed(queue) => {
                        queue.run(order.map(|(at, place)| (at, collected[place])), counters, &mut exit)
                    }
                    Server::Handles(queue) => {
                        queue.run(order.map(|(at, place)| (at, collected[place])), until, counters, &mut exit)
                    }
                    Server::Loans(queue) => {
                        let mut lend =
                            |place: usize| Loan { handle: collected[place], extra: extras[place].take() };
                        queue.run(order.map(|(at, place)| (at, lend(place))), until, counters, &mut exit)
                    }
                    Server::Asked(_) => unreachable!("a queue of packets"),
                };
            }
        }
        backlog.settle_all(flows);
        let Backlog { loose, noted, .. } = backlog;
        for (handle, at) in loose.drain(..) {
            let (id, data) = handle.end().host();
            flows[id].take_one(handle, at, delay);
            note(flows[id].on_the_way_mut(data), handle.end(), noted);
        }
        let failed = self.hand_out(many, offered);
        let Driver { run, kept, .. } = self;
        let (flows, incoming) = (&run.flows, &kept.incoming);
        let is_left = |origin: &Origin| {
            let (flow, data) = origin.end.host();
            flows[flow].head(data) < until
        };
        let is_all = admitted < MOST
            || !(origins.iter().any(is_left) || incoming[index].iter().any(|(_, pipe)| pipe.head() < until));
        failed.map_or(Ok(()), |id| self.run.check_algorithm(id))?;
        self.poll_seldom()?;
        Ok(is_all)
    }

    /// The third step. With `offered`, all packets have met a queue whose departures are computed. Returns a
    /// flow whose algorithm failed, if any did.
    fn hand_out(&mut self, many: bool, offered: bool) -> Option<usize> {
        let Driver { run, kept, .. } = self;
        let Kept { feeds, offers, backlog, ends, .. } = &mut **kept;
        let Simulation { links, flows, .. } = &mut **run;
        core::mem::swap(&mut backlog.noted, ends);
        let mut offers = offers.iter();
        let mut failed = None;
        for (place, &end) in ends.iter().enumerate() {
            if many {
                let ask = |places: usize, what: fn(&Flow, bool)| {
                    if let Some((flow, data)) = ends.get(place + places).map(|end| end.host()) {
                        what(&flows[flow], data);
                    }
                };
                ask(ahead::STATE, Flow::prefetch_state);
                ask(ahead::PACKETS, Flow::prefetch_packets);
                ask(ahead::EXTRAS, Flow::prefetch_extras);
            }
            let (id, data) = end.host();
            let flow = &mut flows[id];
            flow.on_the_way_mut(data).is_noted = false;
            let delay = links[flow.route.last(data)].delay;
            match (data, offered) {
                (true, false) => take::<true>(flow, delay),
                (false, false) => take::<false>(flow, delay),
                (true, true) => take_offered::<true>(flow, delay, &mut offers),
                (false, true) => take_offered::<false>(flow, delay, &mut offers),
            }
            if data {
                feeds.look_at_receiver(id, flow);
            } else {
                feeds.look_at_sender(id, flow);
                if flow.sending.sender.has_failed() {
                    failed = failed.or(Some(id));
                }
            }
        }
        ends.clear();
        failed
    }
}

/// The packets of a flow that have left their last link come to their end.
#[inline(never)] // a loop that needs the registers
fn take<const DATA: bool>(flow: &mut Flow, delay: Interval) {
    if DATA {
        flow.take_data(delay, |known, _| known);
    } else {
        flow.take_acks(delay, |known, _| known);
    }
}
