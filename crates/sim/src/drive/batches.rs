//! The fast driver: moves the run through time in batches instead of single events.
//!
//! Whatever leaves a link reaches a host or another link only after some propagation delay; the shortest of
//! these is the lookahead L. Everything that hosts do in [t, t + L) therefore follows from what is already on
//! its way to them, and no host's actions in that batch depend on another's: each host can be run through the
//! batch on its own, in a tight loop, without a scheduler. Then each link takes what the hosts (and other
//! links) have sent it in the batch, merged in the canonical order (time, source), which is the order in
//! which the oracle would have handled it.
//!
//! The ends of a lasting flow need not even wait for the next batch. Only its own packets and timers change
//! an end, so it handles each packet as soon as the link knows when that will arrive, and keeps snapshots of
//! itself at the sample times that its clock passes. The receiver of a transfer does so too; its sender waits, as the
//! session hears of its completion.
//!
//! Batches also end where samples are taken, so that samples see the same state with both drivers.

use super::agenda::Agenda;
use super::arrivals::Arrivals;
use super::left::Left;
use super::road::{Road, offer_all};
use super::sources::{FEW_SOURCES, SOURCE_BITS, Source, arrival, earliest};
use crate::model::flow::Flow;
use crate::model::link::{Arithmetic, LinkCounters};
use crate::results::outcome::RunError;
use crate::run::state::Simulation;
use longfat_net::Pipe;
use longfat_units::{Interval, Time};
use longfat_wire::SimPacket;

/// Longest batch, in packets of 1500 bytes on the fastest link: the packets of a batch should stay in the
/// cache.
const PACKETS_PER_BATCH: u32 = 2048;
/// Number of flows for which one earliest time is kept, so that thousands of idle flows cost little.
const BLOCK: usize = 16;
/// With this many arrivals at one link in a batch, they are merged one by one: sorting them all would take room
/// for all of them, and nobody could stop the run meanwhile.
const MANY_ARRIVALS: usize = 1 << 18;
/// Longest batch whose times fit into the other bits, about 18 minutes.
const LONGEST_SPAN: Interval = Interval::from_ns(u64::MAX >> SOURCE_BITS);

/// What the driver keeps from one span of a run to the next.
pub struct Kept {
    /// The number of events at the last question whether to go on.
    polled: u64,
    /// Longest batch.
    longest: Interval,
    /// When each flow's sender or receiver acts next.
    wake: Vec<Time>,
    /// When each flow's first data packet and its first acknowledgement arrive at a link.
    heads: Vec<[Time; 2]>,
    /// The earliest of these in each block of flows, [wake, heads], as last computed.
    blocks: Vec<[Time; 2]>,
    /// Whether something in each block may have changed since.
    stale: Vec<bool>,
    /// The sources with packets for each link in this batch.
    active: Vec<Vec<Source>>,
    /// Sort keys of this batch's arrivals at one link.
    pub(super) arrivals: Arrivals,
    /// Sizes in IP bytes of this batch's arrivals at one link, by sources, and when each departs; never if dropped.
    crossing: Vec<(u32, Time)>,
    /// What leaves a link that has a lane.
    pub(super) left: Left,
    /// When each session opens its next connection.
    requests: Agenda,
    /// The number of events handled so far.
    pub events: u64,
}

impl Kept {
    /// At the beginning of a run.
    pub fn new(run: &Simulation) -> Self {
        let fastest = run.links.iter().map(|l| l.rate).max();
        let mut kept = Kept {
            longest: fastest
                .map_or(LONGEST_SPAN, |r| r.transmission(1500 * PACKETS_PER_BATCH).min(LONGEST_SPAN)),
            wake: Vec::new(),
            heads: Vec::new(),
            blocks: Vec::new(),
            stale: Vec::new(),
            active: vec![Vec::new(); run.links.len()],
            arrivals: Arrivals::default(),
            crossing: Vec::new(),
            left: Left::default(),
            requests: Agenda::new(run.sessions.len()),
            events: 0,
            polled: 0,
        };
        for (i, session) in run.sessions.iter().enumerate() {
            kept.requests.set(i, session.next_at);
        }
        for i in 0..run.flows.len() {
            kept.admit(run, i);
        }
        kept
    }

    /// Includes the connection at this index, which is new.
    fn admit(&mut self, run: &Simulation, flow: usize) {
        if flow == self.wake.len() {
            self.wake.push(Time::NEVER);
            self.heads.push([Time::NEVER; 2]);
            if flow == BLOCK * self.blocks.len() {
                self.blocks.push([Time::NEVER; 2]);
                self.stale.push(true);
            }
        }
        self.look_at(run, flow);
    }

    /// Notes when a flow acts next.
    #[inline]
    pub fn look_at(&mut self, run: &Simulation, index: usize) {
        let flow = &run.flows[index];
        self.wake[index] = flow.sending.wake().min(flow.receiving.wake());
        self.heads[index] = [flow.head(true), flow.head(false)];
        self.stale[index / BLOCK] = true;
    }
}

pub(super) struct Driver<'a> {
    pub(super) run: &'a mut Simulation,
    wanted: &'a mut dyn FnMut() -> bool,
    pub(super) kept: &'a mut Kept,
}

/// Handles everything before `to`, which is at most a nanosecond after the run's end.
pub fn drive(
    run: &mut Simulation,
    kept: &mut Kept,
    to: Time,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<(), RunError> {
    let mut driver = Driver { run, wanted, kept };
    loop {
        let probe = driver.run.next_probe();
        let now = driver.next_event().min(probe);
        if now >= to {
            return Ok(());
        }
        if now == probe {
            driver.run.probe(now);
            driver.poll()?; // a run may be idle, and a sample looks at every flow
            continue;
        }
        driver.poll_seldom()?;
        let span = driver.run.lookahead.least().min(driver.kept.longest);
        driver.batch(now, (now + span).min(probe).min(to))?;
    }
}

impl Driver<'_> {
    /// Asks whether to go on.
    fn poll(&mut self) -> Result<(), RunError> {
        self.kept.polled = self.kept.events;
        if (self.wanted)() { Ok(()) } else { Err(RunError::Interrupted) }
    }

    /// Asks whether to go on, if that was long ago.
    #[inline]
    fn poll_seldom(&mut self) -> Result<(), RunError> {
        if self.kept.events - self.kept.polled >= Simulation::EVENTS_PER_POLL { self.poll() } else { Ok(()) }
    }

    /// Brings the blocks up to date.
    fn refresh(&mut self) {
        let flows = self.kept.wake.chunks(BLOCK).zip(self.kept.heads.chunks(BLOCK));
        for ((block, stale), (wake, heads)) in
            self.kept.blocks.iter_mut().zip(&mut self.kept.stale).zip(flows)
        {
            if core::mem::take(stale) {
                let first = |earliest: Time, &at: &Time| earliest.min(at);
                *block = [
                    wake.iter().fold(Time::NEVER, first),
                    heads.as_flattened().iter().fold(Time::NEVER, first),
                ];
            }
        }
    }

    fn next_event(&mut self) -> Time {
        self.refresh();
        let flows =
            self.kept.blocks.as_flattened().iter().fold(self.kept.requests.first().0, |a, &b| a.min(b));
        self.run.links.iter().fold(flows, |a, l| a.min(l.wake()).min(l.onward_head()).min(l.control_head()))
    }

    #[inline(never)] // its loops need the registers
    fn batch(&mut self, from: Time, until: Time) -> Result<(), RunError> {
        // hosts before requests: a connection that completes lets its session open the next one, even in this
        // batch
        for block in 0..self.kept.blocks.len() {
            if self.kept.blocks[block][0] < until {
                for index in BLOCK * block..self.kept.wake.len().min(BLOCK * (block + 1)) {
                    if self.kept.wake[index] < until {
                        self.hosts(index, until)?;
                    }
                }
            }
        }
        self.run.order_transfers();
        while let Some(session) = self.run.woken.pop() {
            self.kept.requests.set(session, self.run.sessions[session].next_at);
        }
        let until = self.requests(from, until)?;
        self.assign(until);
        for index in 0..self.run.links.len() {
            self.link(index, from, until)?;
        }
        Ok(())
    }

    /// Opens the connections that sessions open in this batch; none of them can complete within it. Returns
    /// the batch's end: a connection with a shorter path than any before shortens the batch. The other hosts
    /// may have been run further already, which does no harm, since everything that reaches them until then
    /// was known.
    fn requests(&mut self, from: Time, mut until: Time) -> Result<Time, RunError> {
        let mut opened = Vec::new();
        loop {
            let (now, session) = self.kept.requests.first();
            if now >= until {
                break;
            }
            let flow = self.run.request(now, session)?;
            self.kept.requests.set(session, self.run.sessions[session].next_at);
            self.kept.admit(self.run, flow);
            opened.push(flow);
            self.kept.events += 1;
            until = until.min(from + self.run.lookahead.least());
            self.poll_seldom()?;
        }
        for flow in opened {
            self.hosts(flow, until)?;
        }
        Ok(until)
    }

    /// Runs both ends of a flow through the batch, each on its own.
    fn hosts(&mut self, index: usize, until: Time) -> Result<(), RunError> {
        let receiving = &mut self.run.flows[index].receiving;
        loop {
            let now = receiving.wake();
            if now >= until {
                break;
            }
            receiving.event(now);
            self.kept.events += 1;
        }
        loop {
            let sending = &mut self.run.flows[index].sending;
            let now = sending.wake();
            if now >= until {
                break;
            }
            sending.event(now);
            let goes_on = sending.wake() == now; // a burst, which may be of any length
            self.run.after_sender(now, index)?;
            self.kept.events += 1;
            if goes_on {
                self.poll()?;
            }
        }
        self.poll_seldom()?;
        self.look_at(index);
        Ok(())
    }

    /// Finds the sources with packets for each link before `until`.
    fn assign(&mut self, until: Time) {
        self.refresh();
        let Driver { run, kept, .. } = self;
        let Kept { active, heads, blocks, .. } = &mut **kept;
        for (i, link) in run.links.iter().enumerate() {
            for (k, (to, _)) in link.onward.iter().enumerate().filter(|(_, (_, pipe))| pipe.head() < until) {
                active[*to].push(Source::Onward(i, k));
            }
        }
        for (i, link) in run.links.iter().enumerate() {
            for (k, (to, _)) in link.control.iter().enumerate().filter(|(_, (_, pipe))| pipe.head() < until) {
                active[*to].push(Source::Control(i, k));
            }
        }
        let waiting = blocks.iter().enumerate().filter(|(_, [_, head])| *head < until);
        for i in waiting.flat_map(|(k, _)| BLOCK * k..heads.len().min(BLOCK * (k + 1))) {
            let [data, acks] = heads[i];
            if data < until {
                active[run.flows[i].route.forward[0]].push(Source::Data(i));
            }
            if acks < until {
                active[run.flows[i].route.reverse[0]].push(Source::Acks(i));
            }
        }
    }

    /// Runs a link through the batch.
    fn link(&mut self, index: usize, from: Time, until: Time) -> Result<(), RunError> {
        let sources = core::mem::take(&mut self.kept.active[index]);
        if self.has_many_arrivals(&sources, until) {
            self.merge_singly(index, &sources, until)?;
        } else if self.lane(index, &sources, from, until) {
            // done
        } else if sources.len() <= FEW_SOURCES {
            self.merge_few(index, &sources, until);
        } else {
            self.merge_many(index, &sources, from, until);
        }
        self.link_timers(index, until, false);
        for &source in &sources {
            if let Source::Data(i) | Source::Acks(i) = source {
                self.run.check_algorithm(i)?;
                self.look_at(i);
            }
        }
        self.kept.active[index] = sources;
        self.kept.active[index].clear();
        Ok(())
    }

    /// Handles the arrivals from few sources, by comparing their first ones; among equals the first source
    /// comes first.
    fn merge_few(&mut self, index: usize, sources: &[Source], until: Time) {
        let mut heads = [Time::NEVER; FEW_SOURCES];
        for (head, &source) in heads.iter_mut().zip(sources) {
            *head = self.pipe(source).head();
        }
        if let Some((flows, queue, counters, delay)) = self.fast_path(index, sources) {
            let mut road = Road { flows, sources, heads, until, counters, delay };
            let events = match queue {
                Arithmetic::Constant(fifo) => road.cross(fifo),
                Arithmetic::Ticking(fifo) => road.cross(fifo),
            };
            self.kept.events += events;
            return;
        }
        while let Some((first, now)) = earliest(&heads, until) {
            self.take(now, index, sources[first]);
            heads[first] = self.pipe(sources[first]).head();
        }
    }

    /// Handles the arrivals from many sources, by sorting them all.
    fn merge_many(&mut self, index: usize, sources: &[Source], from: Time, until: Time) {
        let mut all = core::mem::take(&mut self.kept.arrivals);
        if self.fast_path(index, sources).is_some() {
            self.cross(index, sources, from, until, &mut all);
        } else {
            self.collect(&mut all, sources, from, until);
            for &key in all.sorted() {
                let (now, source) = arrival(key, sources, from);
                self.take(now, index, source);
            }
        }
        self.kept.arrivals = all;
    }

    /// The arrivals from many sources cross a link that [has a fast path](Self::fast_path): first the link takes
    /// all of them in order, which needs nothing of the flows but sizes. Then each flow takes its own, one after
    /// the other, so that it comes into the cache once.
    fn cross(&mut self, index: usize, sources: &[Source], from: Time, until: Time, all: &mut Arrivals) {
        let mut crossing = core::mem::take(&mut self.kept.crossing);
        crossing.clear();
        all.clear(until.since(from).as_ns() << SOURCE_BITS);
        for &source in sources {
            for (at, packet) in self.pipe(source).iter().take_while(|(at, _)| *at < until) {
                all.push(at.since(from).as_ns() << SOURCE_BITS | crossing.len() as u64);
                crossing.push((packet.bytes.into(), Time::NEVER));
            }
        }
        if let Some((flows, queue, counters, delay)) = self.fast_path(index, sources) {
            let keys = all.sorted();
            match queue {
                Arithmetic::Constant(fifo) => offer_all(keys, &mut crossing, from, fifo),
                Arithmetic::Ticking(fifo) => offer_all(keys, &mut crossing, from, fifo),
            }
            counters.packets_in += crossing.len() as u64;
            let mut rest = crossing.iter().map(|&(_, at)| (at != Time::NEVER).then_some(at));
            for &source in sources {
                let (flow, data) = source.host();
                let flow = &mut flows[flow];
                if data {
                    while flow.head(true) < until
                        && let Some(departure) = rest.next()
                    {
                        flow.cross_data(|_| departure, counters, delay);
                    }
                } else {
                    while flow.head(false) < until
                        && let Some(departure) = rest.next()
                    {
                        flow.cross_acks(|_| departure, counters, delay);
                    }
                }
            }
        }
        self.kept.events += crossing.len() as u64;
        self.kept.crossing = crossing;
    }

    /// Collects the arrivals from these sources before `until`.
    pub(super) fn collect(&mut self, all: &mut Arrivals, sources: &[Source], from: Time, until: Time) {
        all.clear(until.since(from).as_ns() << SOURCE_BITS);
        for (i, &source) in sources.iter().enumerate() {
            let key = |at: Time| at.since(from).as_ns() << SOURCE_BITS | i as u64;
            all.extend(self.pipe(source).iter().map(|&(at, _)| at).take_while(|&at| at < until).map(key));
        }
    }

    /// Whether more than [`MANY_ARRIVALS`] come from these sources before `until`.
    fn has_many_arrivals(&mut self, sources: &[Source], until: Time) -> bool {
        let waiting: usize = sources.iter().map(|&source| self.pipe(source).len()).sum();
        waiting > MANY_ARRIVALS && {
            let due: usize = sources.iter().map(|&source| self.pipe(source).due(until)).sum();
            due > MANY_ARRIVALS
        }
    }

    /// Handles any number of arrivals: takes the earliest one, of the first source among equals.
    #[cold]
    fn merge_singly(&mut self, index: usize, sources: &[Source], until: Time) -> Result<(), RunError> {
        let mut heads = Agenda::new(sources.len());
        for (i, &source) in sources.iter().enumerate() {
            heads.set(i, self.pipe(source).head());
        }
        loop {
            let (now, first) = heads.first();
            if now >= until {
                return Ok(());
            }
            self.take(now, index, sources[first]);
            heads.set(first, self.pipe(sources[first]).head());
            self.poll_seldom()?;
        }
    }

    /// What the fast path needs, in the common case: packets of hosts only, arithmetic departures, no loss
    /// process, no further link.
    fn fast_path(
        &mut self,
        index: usize,
        sources: &[Source],
    ) -> Option<(&mut [Flow], Arithmetic<'_>, &mut LinkCounters, Interval)> {
        if self.run.messages.is_some() {
            return None; // each packet that comes to a link has to be counted
        }
        let Simulation { links, flows, .. } = &mut *self.run;
        let direct = sources.iter().all(|source| match *source {
            Source::Data(i) => flows[i].crosses_one_link(true),
            Source::Acks(i) => flows[i].crosses_one_link(false),
            Source::Onward(..) | Source::Control(..) => false,
        });
        let (queue, counters, delay) = links[index].arithmetic().filter(|_| direct)?;
        Some((flows.as_mut_slice(), queue, counters, delay))
    }

    /// The next packet of a source comes to a link.
    #[inline]
    fn take(&mut self, now: Time, index: usize, source: Source) {
        self.kept.events += 1;
        self.link_timers(index, now, true);
        if let Some(packet) = self.pipe(source).pop() {
            self.enter(now, index, packet);
        }
    }

    #[inline]
    fn pipe(&mut self, source: Source) -> &mut Pipe<SimPacket> {
        match source {
            Source::Onward(link, k) => &mut self.run.links[link].onward[k].1,
            Source::Control(link, k) => &mut self.run.links[link].control[k].1,
            Source::Data(flow) => &mut self.run.flows[flow].sending.outgoing,
            Source::Acks(flow) => &mut self.run.flows[flow].receiving.outgoing,
        }
    }

    /// Handles the link's own events before `until`, or up to it if `inclusive`: they come before arrivals at
    /// the same time.
    #[inline]
    fn link_timers(&mut self, index: usize, until: Time, inclusive: bool) {
        loop {
            let now = self.run.links[index].wake();
            if now > until || (now == until && !inclusive) || now == Time::NEVER {
                return;
            }
            self.run.links[index].on_timer(now);
            self.kept.events += 1;
            self.clear(now, index);
        }
    }

    /// A packet comes to a link.
    fn enter(&mut self, now: Time, index: usize, mut packet: SimPacket) {
        if self.run.keeps(now, index, &mut packet) {
            return self.clear(now, index);
        }
        let link = &mut self.run.links[index];
        if !link.is_arithmetic() {
            link.arrive(now, packet);
            self.clear(now, index);
        } else if let Some(departure) = link.offer(now, u32::from(packet.bytes)) {
            if let Some(flow) = self.run.pass_on(index, packet, departure, true) {
                self.look_at(flow);
            }
        } else {
            self.run.drop(&packet);
        }
    }

    fn clear(&mut self, now: Time, index: usize) {
        for flow in self.run.clear_link(now, index, true) {
            self.look_at(flow);
        }
    }

    /// Notes when a flow acts next.
    #[inline]
    pub(super) fn look_at(&mut self, index: usize) {
        self.kept.look_at(self.run, index);
    }
}
