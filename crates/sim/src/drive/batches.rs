//! The fast driver: moves the run through time in batches instead of single events.
//!
//! What leaves a link arrives after a propagation delay, and no host's actions depend on another's: until
//! then a host runs alone, ahead of its links ("Two drivers" in docs/architecture.md). Each link has a clock
//! of its own, and takes its turn up to the time until when its arrivals are known. Where connections come
//! and go, all links keep in step instead, and a batch is at most the lookahead. Batches also end where
//! samples are taken, so that samples see the same state with both drivers. How packets cross a link is in
//! `cross`.

use super::agenda::Agenda;
use super::arrivals::{Arrivals, PLACE_BITS};
use super::link_batch::Incoming;
use super::wakes::{Rank, WakeIndex};
use crate::model::link::{End, Handle, Loan};
use crate::results::outcome::RunError;
use crate::run::lookahead::Approaches;
use crate::run::state::Simulation;
use longfat_units::{Interval, Time};

/// Longest batch, in packets of 1500 bytes on the fastest link (measured, docs/performance.md): each of ten
/// thousand flows has several packets in it, and with few flows its length makes no difference.
const PACKETS_PER_BATCH: u32 = 16384;
/// Longest batch whose times fit into the other bits, about 18 minutes.
const LONGEST_SPAN: Interval = Interval::from_ns(u64::MAX >> PLACE_BITS);

/// What the driver keeps from one span of a run to the next.
pub struct DriverState {
    /// The number of events at the last question whether to go on.
    polled: u64,
    longest: Interval,
    /// When something happens next at each link and at each end of a flow that sends to it.
    pub(super) wakes: WakeIndex,
    /// From where packets come to each link.
    approaches: Approaches,
    /// The clock of each link: what comes before has been handled.
    clocks: Vec<Time>,
    /// All links have the same clock.
    in_step: bool,
    /// What the handles of each end with packets for a link in this batch have in common.
    pub(super) sources: Vec<(Rank, Handle)>,
    /// What comes to a link in this batch.
    pub(super) arrivals: Arrivals,
    /// The same at a link with a router.
    pub(super) loans: Vec<(Time, Loan)>,
    /// Handles on their way to each link from others.
    pub(super) incoming: Vec<Incoming>,
    /// What leaves a link in a batch that asks for memory ahead.
    pub(super) later: Vec<(Handle, Time)>,
    /// The ends whose packets have come to a link in this batch, or have left.
    pub(super) active: Vec<End>,
    /// When each session opens its next connection.
    requests: Agenda,
    /// The number of events handled so far.
    pub events: u64,
}

impl DriverState {
    pub fn new(run: &Simulation) -> Self {
        let fastest = run.links.iter().map(|l| l.rate).max();
        let mut state = DriverState {
            longest: fastest
                .map_or(LONGEST_SPAN, |r| r.transmission(1500 * PACKETS_PER_BATCH).min(LONGEST_SPAN)),
            wakes: WakeIndex::new(run.links.len()),
            approaches: run.approaches(),
            clocks: vec![Time::ZERO; run.links.len()],
            in_step: !run.sessions.is_empty(),
            sources: Vec::new(),
            arrivals: Arrivals::default(),
            loans: Vec::new(),
            incoming: vec![Incoming::new(); run.links.len()],
            later: Vec::new(),
            active: Vec::new(),
            requests: Agenda::new(run.sessions.len()),
            events: 0,
            polled: 0,
        };
        for (i, session) in run.sessions.iter().enumerate() {
            state.requests.set(i, session.next_at);
        }
        let mut flows: Vec<usize> = (0..run.flows.len()).collect();
        flows.sort_by_key(|&i| run.flows[i].order); // so that ends need not be sorted for each batch
        for i in flows {
            state.wakes.admit(i, &run.flows[i]);
        }
        state
    }
}

pub(super) struct Driver<'a> {
    pub(super) run: &'a mut Simulation,
    wanted: &'a mut dyn FnMut() -> bool,
    pub(super) state: &'a mut DriverState,
}

/// Handles everything before `to`, which is at most a nanosecond after the run's end.
pub fn drive(
    run: &mut Simulation,
    state: &mut DriverState,
    to: Time,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<(), RunError> {
    let mut driver = Driver { run, wanted, state };
    // the caller may have acted in a pause
    (0..driver.run.links.len()).for_each(|link| driver.look_at_link(link));
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
        let end = probe.min(to);
        if driver.state.in_step {
            let span = driver.run.lookahead.least().min(driver.state.longest);
            driver.batch(now, (now + span).min(end))?;
        } else {
            driver.round(now, end)?;
        }
    }
}

impl Driver<'_> {
    fn poll(&mut self) -> Result<(), RunError> {
        self.state.polled = self.state.events;
        if (self.wanted)() { Ok(()) } else { Err(RunError::Interrupted) }
    }

    /// Asks whether to go on, if that was long ago.
    #[inline]
    pub(super) fn poll_seldom(&mut self) -> Result<(), RunError> {
        if self.state.events - self.state.polled >= Simulation::EVENTS_PER_POLL {
            self.poll()
        } else {
            Ok(())
        }
    }

    fn next_event(&self) -> Time {
        let links = self.state.wakes.links.iter().map(|link| link.idle_until);
        links.fold(self.state.requests.first().0, Time::min)
    }

    /// Gives each link a turn, which begins no earlier than the next event, at `now`, and ends no later than
    /// `end`.
    fn round(&mut self, now: Time, end: Time) -> Result<(), RunError> {
        for clock in &mut self.state.clocks {
            *clock = now.max(*clock);
        }
        for link in 0..self.run.links.len() {
            let from = self.state.clocks[link];
            let known = self.state.approaches.known(link, &self.state.clocks);
            let until = known.min(from + self.state.longest).min(end);
            if self.state.wakes.links[link].idle_until < until {
                self.hosts(link, until)?;
                if from < until {
                    self.link(link, from, until)?;
                }
                self.look_at_link(link);
            }
            self.state.clocks[link] = until.max(from);
        }
        Ok(())
    }

    /// Runs all links through a batch in step.
    fn batch(&mut self, from: Time, until: Time) -> Result<(), RunError> {
        self.state.clocks.fill(from);
        // hosts before requests: a connection that completes lets its session open the next one, even in this
        // batch
        for link in 0..self.run.links.len() {
            if self.state.wakes.links[link].idle_until < until {
                self.hosts(link, until)?;
            }
        }
        self.run.order_transfers();
        while let Some(session) = self.run.woken.pop() {
            self.state.requests.set(session, self.run.sessions[session].next_at);
        }
        let until = self.requests(from, until)?;
        for link in 0..self.run.links.len() {
            if self.state.wakes.links[link].idle_until < until {
                self.link(link, from, until)?;
                self.look_at_link(link);
            }
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
            let (now, session) = self.state.requests.first();
            if now >= until {
                break;
            }
            let flow = self.run.request(now, session)?;
            self.state.requests.set(session, self.run.sessions[session].next_at);
            self.state.wakes.admit(flow, &self.run.flows[flow]);
            opened.push(flow);
            self.state.events += 1;
            until = until.min(from + self.run.lookahead.least());
            self.poll_seldom()?;
        }
        for flow in opened {
            self.host(End::of(flow as u32, true), until)?;
            self.host(End::of(flow as u32, false), until)?;
        }
        Ok(until)
    }

    /// Finds out until when nothing happens at this link.
    fn look_at_link(&mut self, link: usize) {
        let heads = self.state.incoming[link].iter().map(|(_, pipe)| pipe.head());
        let own = heads.fold(self.run.links[link].wake(), Time::min);
        self.state.wakes.links[link].look(own);
    }

    /// Runs the hosts that send to this link up to `until`.
    fn hosts(&mut self, link: usize, until: Time) -> Result<(), RunError> {
        let mut place = 0;
        while let Some(end) = self.state.wakes.links[link].acting(&mut place, until) {
            self.host(end, until)?;
        }
        Ok(())
    }

    /// Runs an end of a flow up to `until`, as far as what arrives at it is known.
    fn host(&mut self, end: End, until: Time) -> Result<(), RunError> {
        let (index, is_sender) = end.host();
        let flow = &mut self.run.flows[index];
        let from = self.state.clocks[flow.route.last(!is_sender)];
        let until = until.min(from + flow.route.to_end(!is_sender));
        let due = |at: Time| (at < until).then_some(at);
        if is_sender {
            while let Some(now) = due(self.run.flows[index].sending.wake()) {
                let sending = &mut self.run.flows[index].sending;
                sending.event(now);
                let goes_on = sending.wake() == now; // a burst, which may be of any length
                self.run.after_sender(now, index)?;
                self.state.events += 1;
                if goes_on {
                    self.poll()?;
                }
            }
        } else {
            while let Some(now) = due(flow.receiving.wake()) {
                flow.receiving.event(now);
                self.state.events += 1;
            }
        }
        self.poll_seldom()?;
        self.state.wakes.look_at(index, &self.run.flows[index], [true, true]);
        Ok(())
    }
}
