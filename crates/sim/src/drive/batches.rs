//! The fast driver: moves the run through time in batches instead of single events.
//!
//! Whatever leaves a link reaches a host or another link only after some propagation delay. Everything that hosts
//! do until then follows from what is already on its way to them, and no host's actions depend on another's: each
//! host can be run through a batch on its own, in a tight loop, without a scheduler. Then the link takes what the
//! hosts (and other links) have sent it in the batch, merged in the canonical order (time, source), which is the
//! order in which the oracle would have handled it.
//!
//! The ends of a lasting flow need not even wait for the next batch. Only its own packets and timers change
//! an end, so it handles each packet as soon as the link knows when that will arrive, and keeps snapshots of
//! itself at the sample times that its clock passes. The ends of a transfer do so too, but its sender waits for what
//! may complete it, as the session hears of that.
//!
//! So each link has a clock of its own, and takes its turn up to the time until when its arrivals are known: the
//! clock of each link before it, and the shortest way from there, directly or through a host. Of two links between
//! the same hosts, each may so be a round-trip time ahead of where it was at its last turn. Where connections come
//! and go, or network elements send messages, all links keep in step instead, and a batch is at most the shortest
//! of those delays, the lookahead.
//!
//! Batches also end where samples are taken, so that samples see the same state with both drivers.
//!
//! There are four ways through a link, from the quickest: departures are arithmetic (`road`, `crossing`); its queue
//! holds tickets in place of packets (`tickets`); its queue is asked for packets in one loop (`lanes`); or one event comes
//! after the other.

use super::agenda::Agenda;
use super::ahead;
use super::arrivals::{Arrivals, Crossing};
use super::feeds::{Arriving, Feeds};
use super::left::Left;
use super::road::Road;
use super::sources::{FEW_SOURCES, SOURCE_BITS, Source, arrival, earliest};
use crate::model::flow::{Flow, Way};
use crate::model::link::{Arithmetic, End, LinkCounters, Ticket, each_arithmetic};
use crate::results::outcome::RunError;
use crate::run::lookahead::Approaches;
use crate::run::state::Simulation;
use longfat_net::Pipe;
use longfat_units::{Interval, Time};
use longfat_wire::SimPacket;

/// Longest batch, in packets of 1500 bytes on the fastest link (measured, docs/performance.md): each of ten thousand
/// flows has several packets in it, and with few flows its length makes no difference.
const PACKETS_PER_BATCH: u32 = 16384;
/// With this many arrivals at one link in a batch, they are merged one by one: sorting them all would take room
/// for all of them, and nobody could stop the run meanwhile.
pub(super) const MANY_ARRIVALS: usize = 1 << 18;
/// Longest batch whose times fit into the other bits, about 18 minutes.
const LONGEST_SPAN: Interval = Interval::from_ns(u64::MAX >> SOURCE_BITS);

/// What the driver keeps from one span of a run to the next.
pub struct Kept {
    /// The number of events at the last question whether to go on.
    polled: u64,
    /// Longest batch.
    longest: Interval,
    /// When each end of a flow acts next, by the link that it sends to.
    pub(super) feeds: Feeds,
    /// From where packets come to each link.
    approaches: Approaches,
    /// The clock of each link: what comes before has been handled.
    clocks: Vec<Time>,
    /// All links have the same clock.
    in_step: bool,
    /// The sources with packets for a link in this batch.
    active: Vec<Source>,
    /// Sort keys of this batch's arrivals at one link.
    pub(super) arrivals: Arrivals,
    /// This batch's arrivals at one link, by sources, and room that others have used.
    pub(super) crossing: Vec<Crossing>,
    /// What leaves a link that has a lane.
    pub(super) left: Left,
    /// The tickets of this batch's arrivals at one link, by sources, and room that others have used.
    pub(super) tickets: Vec<Ticket>,
    /// The ends of flows whose tickets are in this batch.
    pub(super) ends: Vec<End>,
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
            feeds: Feeds::new(run.links.len(), run.flows.len()),
            approaches: run.approaches(),
            clocks: vec![Time::ZERO; run.links.len()],
            in_step: !run.sessions.is_empty() || run.messages.is_some(),
            active: Vec::new(),
            arrivals: Arrivals::default(),
            crossing: Vec::new(),
            left: Left::default(),
            tickets: Vec::new(),
            ends: Vec::new(),
            requests: Agenda::new(run.sessions.len()),
            events: 0,
            polled: 0,
        };
        for (i, session) in run.sessions.iter().enumerate() {
            kept.requests.set(i, session.next_at);
        }
        let mut flows: Vec<usize> = (0..run.flows.len()).collect();
        flows.sort_by_key(|&i| run.flows[i].order); // so that ends need not be sorted for each batch
        for i in flows {
            kept.feeds.admit(i, &run.flows[i]);
        }
        kept
    }

    /// Notes when a flow acts next.
    #[inline]
    pub fn look_at(&mut self, run: &Simulation, index: usize) {
        self.feeds.look_at(index, &run.flows[index]);
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
            return driver.run.check_algorithms(); // those that failed at the last packets of a link with a lane
        }
        if now == probe {
            driver.run.probe(now);
            driver.poll()?; // a run may be idle, and a sample looks at every flow
            continue;
        }
        driver.poll_seldom()?;
        let end = probe.min(to);
        if driver.kept.in_step {
            let span = driver.run.lookahead.least().min(driver.kept.longest);
            driver.batch(now, (now + span).min(end))?;
        } else {
            driver.round(now, end)?;
        }
    }
}

/// What the fast path of a link needs.
pub(super) struct Fast<'a> {
    pub flows: &'a mut [Flow],
    pub queue: &'a mut Arithmetic,
    pub counters: &'a mut LinkCounters,
    pub delay: Interval,
}

/// What the fast path needs, in the common case: packets of hosts only, no further link, arithmetic departures.
pub(super) fn fast_path(run: &mut Simulation, index: usize, way: Way) -> Option<Fast<'_>> {
    if run.messages.is_some() || way == Way::Long {
        return None; // each packet that comes to a link has to be counted, or needs to know where to go
    }
    let Simulation { links, flows, .. } = run;
    let (queue, counters, delay) = links[index].arithmetic()?;
    Some(Fast { flows, queue, counters, delay })
}

impl Driver<'_> {
    /// Asks whether to go on.
    fn poll(&mut self) -> Result<(), RunError> {
        self.kept.polled = self.kept.events;
        if (self.wanted)() { Ok(()) } else { Err(RunError::Interrupted) }
    }

    /// Asks whether to go on, if that was long ago.
    #[inline]
    pub(super) fn poll_seldom(&mut self) -> Result<(), RunError> {
        if self.kept.events - self.kept.polled >= Simulation::EVENTS_PER_POLL { self.poll() } else { Ok(()) }
    }

    fn next_event(&mut self) -> Time {
        let hosts = self.kept.feeds.earliest().min(self.kept.requests.first().0);
        self.run.links.iter().fold(hosts, |a, l| a.min(l.wake()).min(l.onward_head()).min(l.control_head()))
    }

    /// Gives each link a turn, which begins no earlier than the next event, at `now`, and ends no later than `end`.
    fn round(&mut self, now: Time, end: Time) -> Result<(), RunError> {
        for clock in &mut self.kept.clocks {
            *clock = now.max(*clock);
        }
        for link in 0..self.run.links.len() {
            let from = self.kept.clocks[link];
            let known = self.kept.approaches.known(link, &self.kept.clocks);
            let until = known.min(from + self.kept.longest).min(end);
            self.hosts(link, until)?;
            if from < until {
                self.link(link, from, until)?;
                self.kept.clocks[link] = until;
                self.poll_seldom()?;
            }
        }
        Ok(())
    }

    /// Runs all links through a batch in step.
    fn batch(&mut self, from: Time, until: Time) -> Result<(), RunError> {
        self.kept.clocks.fill(from);
        // hosts before requests: a connection that completes lets its session open the next one, even in this
        // batch
        for link in 0..self.run.links.len() {
            self.hosts(link, until)?;
        }
        self.run.order_transfers();
        while let Some(session) = self.run.woken.pop() {
            self.kept.requests.set(session, self.run.sessions[session].next_at);
        }
        let until = self.requests(from, until)?;
        for link in 0..self.run.links.len() {
            self.link(link, from, until)?;
            self.poll_seldom()?;
        }
        self.run.leave(until);
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
            self.kept.feeds.admit(flow, &self.run.flows[flow]);
            opened.push(flow);
            self.kept.events += 1;
            until = until.min(from + self.run.lookahead.least());
            self.poll_seldom()?;
        }
        for flow in opened {
            self.host(Source::Data(flow), until)?;
            self.host(Source::Acks(flow), until)?;
        }
        Ok(until)
    }

    /// Runs the hosts that send to this link up to `until`.
    fn hosts(&mut self, link: usize, until: Time) -> Result<(), RunError> {
        let mut place = 0;
        while let Some(end) = self.kept.feeds.acting(link, &mut place, until) {
            self.host(end, until)?;
        }
        Ok(())
    }

    /// Runs an end of a flow up to `until`, as far as what arrives at it is known.
    fn host(&mut self, end: Source, until: Time) -> Result<(), RunError> {
        let (index, is_sender) = end.host();
        let route = &self.run.flows[index].route;
        let from = self.kept.clocks[route.last(!is_sender)];
        let until = until.min(from + route.to_end(&self.run.links, !is_sender));
        if is_sender {
            self.sender(index, until)?
        } else {
            self.receiver(index, until)
        }
        self.poll_seldom()?;
        self.look_at(index);
        Ok(())
    }

    fn receiver(&mut self, index: usize, until: Time) {
        let receiving = &mut self.run.flows[index].receiving;
        loop {
            let now = receiving.wake();
            if now >= until {
                return;
            }
            receiving.event(now);
            self.kept.events += 1;
        }
    }

    fn sender(&mut self, index: usize, until: Time) -> Result<(), RunError> {
        loop {
            let sending = &mut self.run.flows[index].sending;
            let now = sending.wake();
            if now >= until {
                return Ok(());
            }
            sending.event(now);
            let goes_on = sending.wake() == now; // a burst, which may be of any length
            self.run.after_sender(now, index)?;
            self.kept.events += 1;
            if goes_on {
                self.poll()?;
            }
        }
    }

    /// Finds the sources with packets for a link before `until`.
    fn assign(&mut self, link: usize, until: Time, sources: &mut Vec<Source>) -> Arriving {
        let Driver { run, kept, .. } = self;
        let mut most = 0;
        let mut note = |source: Source, to: usize, pipe: &Pipe<SimPacket>| {
            if to == link && pipe.head() < until {
                sources.push(source);
                most += pipe.len();
            }
        };
        if run.messages.is_none() {
            for from in kept.approaches.to(link) {
                for (k, (to, pipe)) in run.links[from].onward.iter().enumerate() {
                    note(Source::Onward(from, k), *to, pipe);
                }
            }
        } else {
            // messages have ways of their own
            for (from, other) in run.links.iter().enumerate() {
                for (k, (to, pipe)) in other.onward.iter().enumerate() {
                    note(Source::Onward(from, k), *to, pipe);
                }
            }
            for (from, other) in run.links.iter().enumerate() {
                for (k, (to, pipe)) in other.control.iter().enumerate() {
                    note(Source::Control(from, k), *to, pipe);
                }
            }
        }
        let hosts_only = sources.is_empty();
        let Arriving { way, most: of_hosts } = kept.feeds.arriving(link, until, sources);
        Arriving { way: if hosts_only { way } else { Way::Long }, most: most + of_hosts }
    }

    /// Runs a link through a batch.
    #[inline(never)] // its loops need the registers
    fn link(&mut self, index: usize, from: Time, until: Time) -> Result<(), RunError> {
        let mut sources = core::mem::take(&mut self.kept.active);
        sources.clear();
        let Arriving { way, most } = self.assign(index, until, &mut sources);
        if self.serve_tickets(index, &sources, (from, until), most)? {
            // which looks at its flows itself, as `cross` does
        } else if most > MANY_ARRIVALS && self.has_many_arrivals(&sources, until) {
            self.merge_singly(index, &sources, until)?;
            self.look_at_all(&sources)?;
        } else if self.lane(index, &sources, from, until) {
            self.look_at_all(&sources)?;
        } else if sources.len() <= FEW_SOURCES {
            self.merge_few(index, &sources, until, way);
            self.look_at_all(&sources)?;
        } else if !self.cross(index, &sources, (from, until), way)? {
            self.merge_many(index, &sources, from, until);
            self.look_at_all(&sources)?;
        }
        self.link_timers(index, until, false);
        self.kept.active = sources;
        Ok(())
    }

    /// Notes when the flows of these sources act next. Fails if an algorithm of theirs failed.
    fn look_at_all(&mut self, sources: &[Source]) -> Result<(), RunError> {
        for &source in sources {
            if let Source::Data(i) | Source::Acks(i) = source {
                self.run.check_algorithm(i)?;
                self.look_at(i);
            }
        }
        Ok(())
    }

    /// Handles the arrivals from few sources, by comparing their first ones; among equals the first source
    /// comes first.
    fn merge_few(&mut self, index: usize, sources: &[Source], until: Time, way: Way) {
        let mut heads = [Time::NEVER; FEW_SOURCES];
        for (head, &source) in heads.iter_mut().zip(sources) {
            *head = self.pipe(source).head();
        }
        if let Some(Fast { flows, queue, counters, delay }) = fast_path(self.run, index, way) {
            let mut road = Road { link: index, flows, sources, heads, until, counters, delay };
            let events = each_arithmetic!(queue, fifo => match way {
                Way::Plain => road.cross::<false, _>(&mut **fifo),
                Way::Lossy | Way::Long => road.cross::<true, _>(&mut **fifo),
            });
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
        self.collect(&mut all, sources, from, until);
        for &key in all.sorted() {
            let (now, source) = arrival(key, sources, from);
            self.take(now, index, source);
        }
        self.kept.arrivals = all;
    }

    /// Collects the arrivals from these sources before `until`.
    pub(super) fn collect(&mut self, all: &mut Arrivals, sources: &[Source], from: Time, until: Time) {
        all.clear(until.since(from).as_ns() << SOURCE_BITS);
        for (i, &source) in sources.iter().enumerate() {
            if ahead::pays(sources) {
                ahead::to_collect(&self.run.flows, sources, i);
            }
            let pipe = self.pipe(source);
            // with more than MANY_ARRIVALS, nobody collects them
            all.add(pipe.len().min(MANY_ARRIVALS), |keys| {
                let mut added = 0;
                let times = pipe.iter().map(|&(at, _)| at).take_while(|&at| at < until);
                for (key, at) in keys.iter_mut().zip(times) {
                    *key = at.since(from).as_ns() << SOURCE_BITS | i as u64;
                    added += 1;
                }
                added
            });
        }
    }

    /// Whether more than [`MANY_ARRIVALS`] come from these sources before `until`.
    fn has_many_arrivals(&mut self, sources: &[Source], until: Time) -> bool {
        let due: usize = sources.iter().map(|&source| self.pipe(source).due(until)).sum();
        due > MANY_ARRIVALS
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
        } else if let Ok(departure) = link.offer(now, &mut packet) {
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
