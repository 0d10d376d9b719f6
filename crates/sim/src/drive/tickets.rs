//! A batch at a link whose queue holds tickets. The queue first takes all arrivals in order; it needs only a ticket of each.
//! Then each flow takes those of its packets that have left or have been dropped. The others stay where they are.

use super::ahead;
use super::batches::{Driver, Kept, MANY_ARRIVALS};
use super::sources::{SOURCE_BITS, Source};
use crate::model::flow::Flow;
use crate::model::link::{Crossed, End, LinkCounters, Rows, Ticket};
use crate::results::outcome::RunError;
use crate::run::state::Simulation;
use core::cell::Cell;
use longfat_units::{Interval, Time};
use longfat_wire::{Ecn, SimPacket};

/// The most arrivals that are sorted at once. It is small in tests and fuzzing, so that batches are cut there.
const MOST: usize = if cfg!(any(fuzzing, debug_assertions)) { 64 } else { MANY_ARRIVALS };
const NANOSECOND: Interval = Interval::from_ns(1);

impl Driver<'_> {
    /// Runs a link through the batch if its queue holds tickets, and returns false if it holds none. There are no more
    /// than `most` arrivals.
    pub(super) fn serve_tickets(
        &mut self,
        index: usize,
        sources: &[Source],
        (mut from, until): (Time, Time),
        most: usize,
    ) -> Result<bool, RunError> {
        if self.run.links[index].tickets().is_none() {
            return Ok(false);
        }
        while from < until {
            let mut to = until;
            while most > MOST && to.since(from) > NANOSECOND && self.reach(index, sources, to) > MOST {
                to = from + Interval::from_ns(to.since(from).as_ns() / 2);
            }
            while !self.issue(index, sources, from, to)? {}
            from = to;
        }
        Ok(true)
    }

    /// How many more packets reach the link before `until`.
    fn reach(&mut self, index: usize, sources: &[Source], until: Time) -> usize {
        let Simulation { links, flows, .. } = &mut *self.run;
        let Some((queue, ..)) = links[index].tickets() else { return 0 };
        let due = |source: &Source| {
            let (flow, data) = source.host();
            flows[flow].on_the_way(data).due(until) - queue.rows.len(end(*source))
        };
        sources.iter().map(due).sum()
    }

    /// Takes what arrives from `from` to `until`. Returns false if some is left, which happens only if too many arrive in
    /// the same nanosecond.
    fn issue(&mut self, index: usize, sources: &[Source], from: Time, until: Time) -> Result<bool, RunError> {
        let Driver { run, kept, .. } = self;
        let Kept { feeds, arrivals, tickets, ends, events, .. } = &mut **kept;
        let Simulation { links, flows, .. } = &mut **run;
        let Some((queue, counters, delay)) = links[index].tickets() else { return Ok(true) };
        arrivals.clear(until.since(from).as_ns() << SOURCE_BITS);
        let mut issued = 0;
        for (place, &source) in sources.iter().enumerate() {
            if ahead::pays(sources) {
                ahead::at(flows, sources, place + ahead::PIPE, |flow, data| {
                    flow.prefetch_pipe(data);
                });
                let after = |places: usize| sources.get(place + places).map(|&source| end(source));
                if let Some(end) = after(ahead::PIPE) {
                    queue.rows.prefetch_row(end);
                }
                if let Some(end) = after(ahead::FIRST_PACKETS) {
                    let (flow, data) = end.host();
                    flows[flow].on_the_way(data).prefetch_after(queue.rows.len(end));
                    queue.rows.prefetch_fates(end);
                }
            }
            let (flow, data) = source.host();
            let (pipe, end) = (flows[flow].on_the_way_mut(data), end(source));
            let stay = queue.rows.len(end);
            let most = (pipe.len() - stay).min(MOST - issued);
            if tickets.len() < issued + most {
                tickets.resize(issued + most, Ticket::NONE);
            }
            let mut new = 0;
            arrivals.add(most, |keys| {
                let room = (keys, &mut tickets[issued..issued + most]);
                let first = (issued as u64, queue.rows.next_number(end));
                new = write_tickets(room, pipe.stretches_after(stay), (from, until), end, first);
                new
            });
            queue.rows.enter(end, new);
            issued += new;
        }
        let arrivals = arrivals.sorted().iter().map(|&key| {
            let ticket = tickets[(key & ((1 << SOURCE_BITS) - 1)) as usize];
            (from.later_by(Interval::from_ns(key >> SOURCE_BITS)), ticket)
        });
        queue.rows.begin(ahead::pays(sources));
        *events += queue.run(arrivals, until, counters);
        queue.rows.end();
        for (end, kind) in queue.rows.dropped() {
            flows[end.host().0].drop(kind);
        }
        let mut failed = None;
        queue.rows.take_noted(ends);
        for (place, &end) in ends.iter().enumerate() {
            if ahead::pays(sources) {
                let ask = |places: usize, what: fn(&Flow, bool)| {
                    if let Some((flow, data)) = ends.get(place + places).map(|end| end.host()) {
                        what(&flows[flow], data);
                    }
                };
                if let Some(&end) = ends.get(place + ahead::STATE) {
                    queue.rows.prefetch_row(end);
                }
                if let Some(&end) = ends.get(place + ahead::PACKETS) {
                    queue.rows.prefetch_fates(end);
                }
                ask(ahead::STATE, Flow::prefetch_state);
                ask(ahead::PACKETS, Flow::prefetch_packets);
                ask(ahead::EXTRAS, Flow::prefetch_extras);
            }
            let (id, data) = end.host();
            let flow = &mut flows[id];
            if data {
                take::<true>(flow, &mut queue.rows, end, counters, delay);
                queue.rows.close_gaps(end, flow.on_the_way_mut(data));
                feeds.look_at_receiver(id, flow);
            } else {
                take::<false>(flow, &mut queue.rows, end, counters, delay);
                queue.rows.close_gaps(end, flow.on_the_way_mut(data));
                feeds.look_at_sender(id, flow);
                if flow.sending.sender.has_failed() {
                    failed = failed.or(Some(id));
                }
            }
        }
        let is_left = |source: &Source| {
            let (flow, data) = source.host();
            flows[flow].head(data) < until
        };
        let is_all = issued < MOST || !sources.iter().any(is_left);
        failed.map_or(Ok(()), |id| self.run.check_algorithm(id))?;
        self.poll_seldom()?;
        Ok(is_all)
    }
}

#[inline(always)]
fn end(source: Source) -> End {
    let (flow, data) = source.host();
    End::of(flow as u32, data)
}

/// Writes keys and tickets of what this end has sent and what comes before `until`, as far as there is room; the first ones
/// have these numbers. Returns how many there are.
#[inline(always)]
fn write_tickets(
    (keys, tickets): (&mut [u64], &mut [Ticket]),
    stretches: [&mut [(Time, SimPacket)]; 2],
    (from, until): (Time, Time),
    end: End,
    (place, number): (u64, u32),
) -> usize {
    let mut written = 0;
    for stretch in stretches {
        let room = keys[written..].iter_mut().zip(&mut tickets[written..]);
        let before = written;
        for ((key, ticket), (at, packet)) in room.zip(&*stretch) {
            if *at >= until {
                return written;
            }
            debug_assert!(from <= *at, "an arrival before the batch");
            *key = (at.as_ns() - from.as_ns()) << SOURCE_BITS | (place + written as u64);
            *ticket = Ticket::of(packet, end, number.wrapping_add(written as u32));
            written += 1;
        }
        if written - before < stretch.len() {
            break; // there is no more room
        }
    }
    written
}

/// The packets of an end leave their places whose fates are known, up to the first that waits.
#[inline(never)] // a loop that needs the registers
fn take<const DATA: bool>(
    flow: &mut Flow,
    rows: &mut Rows,
    end: End,
    counters: &mut LinkCounters,
    delay: Interval,
) {
    let (fates, stay) = rows.leave(end);
    let fates = Cell::new(fates);
    let crosses = |_| !fates.get().is_empty();
    let next = |_: &mut _, _, packet: &mut SimPacket| {
        let (fate, rest) = fates.get().split_first()?;
        fates.set(rest);
        let at = fate.departs_at()?;
        if fate.is_marked() {
            packet.ecn = Ecn::Marked;
        }
        Some(Crossed::Departs(at))
    };
    if DATA {
        flow.cross_data(crosses, next, counters, delay, stay);
    } else {
        flow.cross_acks(crosses, next, counters, delay, stay);
    }
    debug_assert!(fates.get().is_empty(), "fewer packets than fates");
}
