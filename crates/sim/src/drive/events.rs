//! The oracle: handles one event at a time. It takes the earliest event off the agenda, its element acts, and
//! what follows is planned. Tests compare the fast driver with it.
//!
//! The slots of the agenda are in the canonical order of events at the same time, which the page on the
//! architecture has ("Two drivers"). Flows have an order of their own, since one may have any slot.

use super::agenda::Agenda;
use super::tap::Tap;
use crate::results::outcome::RunError;
use crate::run::state::Simulation;
use longfat_net::DropReason;
use longfat_units::Time;
use longfat_wire::{Kind, SimPacket};

const PROBE: usize = 0;
const FIRST_LINK: usize = 1;
const SLOTS_PER_FLOW: usize = 4;
const ACCESS: usize = 0;
const RECEIVER: usize = 1;
const ACK_ACCESS: usize = 2;

/// What the driver keeps from one span of a run to the next.
pub struct DriverState {
    agenda: Agenda,
    first_session: usize,
    first_flow: usize,
    /// The last event: its time and its slot.
    last: (Time, usize),
    /// The number of events handled so far.
    pub events: u64,
}

impl DriverState {
    pub fn new(run: &Simulation) -> Self {
        let first_session = FIRST_LINK + 3 * run.links.len();
        let first_flow = first_session + run.sessions.len();
        let agenda = Agenda::new(first_flow + SLOTS_PER_FLOW * run.flows.len());
        let mut state = DriverState { agenda, first_session, first_flow, last: (Time::NEVER, 0), events: 0 };
        state.agenda.set(PROBE, run.next_probe());
        for (i, session) in run.sessions.iter().enumerate() {
            state.agenda.set(first_session + i, session.next_at);
        }
        for i in 0..run.flows.len() {
            state.admit(run, i);
        }
        state
    }

    /// Includes the flow at this index, which is new; one that had the index before is over.
    fn admit(&mut self, run: &Simulation, index: usize) {
        let slot = self.first_flow + SLOTS_PER_FLOW * index;
        for part in 0..SLOTS_PER_FLOW {
            self.agenda.set_order(slot + part, run.flows[index].order);
        }
        self.plan_flow(run, index);
    }

    pub fn plan_link(&mut self, run: &Simulation, index: usize) {
        let (link, links) = (&run.links[index], run.links.len());
        self.agenda.set(FIRST_LINK + index, link.wake());
        for (part, pipes) in [&link.onward, &link.control].into_iter().enumerate() {
            let head = pipes.iter().fold(Time::NEVER, |first, (_, pipe)| first.min(pipe.head()));
            self.agenda.set(FIRST_LINK + (1 + part) * links + index, head);
        }
    }

    pub fn plan_flow(&mut self, run: &Simulation, index: usize) {
        let flow = &run.flows[index];
        let slot = self.first_flow + SLOTS_PER_FLOW * index;
        let times = [flow.head(true), flow.receiving.wake(), flow.head(false), flow.sending.wake()];
        for (part, at) in times.into_iter().enumerate() {
            self.agenda.set(slot + part, at);
        }
    }
}

struct Driver<'a, 't> {
    run: &'a mut Simulation,
    state: &'a mut DriverState,
    tap: Option<&'a mut (dyn Tap + 't)>,
}

/// Handles everything before `to`, which is at most a nanosecond after the run's end, and reports it to a
/// tap.
pub fn drive<'t>(
    run: &mut Simulation,
    state: &mut DriverState,
    to: Time,
    wanted: &mut dyn FnMut() -> bool,
    tap: Option<&mut (dyn Tap + 't)>,
) -> Result<(), RunError> {
    let mut driver = Driver { run, state, tap };
    loop {
        let (now, slot) = driver.state.agenda.first();
        if now >= to {
            return Ok(());
        }
        driver.state.events += 1;
        // a run may be idle, and a sample looks at every flow; a source that acts again at the same moment
        // sends a burst, which may be of any length
        let long = slot == PROBE || (now, slot) == driver.state.last;
        if (long || driver.state.events.is_multiple_of(Simulation::EVENTS_PER_POLL)) && !wanted() {
            return Err(RunError::Interrupted);
        }
        driver.state.last = (now, slot);
        driver.event(now, slot)?;
    }
}

impl Driver<'_, '_> {
    fn event(&mut self, now: Time, slot: usize) -> Result<(), RunError> {
        let links = self.run.links.len();
        if slot == PROBE {
            self.run.probe(now);
            self.state.agenda.set(PROBE, self.run.next_probe());
        } else if slot < FIRST_LINK + links {
            let index = slot - FIRST_LINK;
            self.run.links[index].on_timer(now);
            self.settle(now, index);
        } else if slot < self.state.first_session {
            let (part, index) = ((slot - FIRST_LINK) / links, (slot - FIRST_LINK) % links);
            let link = &mut self.run.links[index];
            let outlets = if part == 1 { &mut link.onward } else { &mut link.control };
            let first = outlets.iter_mut().min_by_key(|(_, pipe)| pipe.head());
            if let Some((to, Some(packet))) = first.map(|(to, pipe)| (*to, pipe.pop())) {
                self.settle(now, index);
                self.enter(now, to, packet);
            }
        } else if slot < self.state.first_flow {
            let index = slot - self.state.first_session;
            self.run.leave(now);
            let flow = self.run.request(now, index)?;
            if let Some(tap) = &mut self.tap {
                let background = &self.run.plan.background[self.run.sessions[index].group];
                tap.opens(now, flow, &background.name, &background.connection);
            }
            self.state.agenda.set(slot, self.run.sessions[index].next_at);
            self.state.admit(self.run, flow);
        } else {
            let index = (slot - self.state.first_flow) / SLOTS_PER_FLOW;
            self.flow_event(now, index, (slot - self.state.first_flow) % SLOTS_PER_FLOW)?;
        }
        Ok(())
    }

    fn flow_event(&mut self, now: Time, index: usize, part: usize) -> Result<(), RunError> {
        let flow = &mut self.run.flows[index];
        match part {
            ACCESS | ACK_ACCESS => {
                if let Some(packet) = flow.on_the_way_mut(part == ACCESS).pop() {
                    let link = flow.route.path(packet.kind)[0];
                    self.enter(now, link, packet);
                }
            }
            RECEIVER => flow.receiving.event(now),
            _ => {
                self.sender_event(now, index);
                self.run.after_sender(now, index)?;
                while let Some(session) = self.run.woken.pop() {
                    self.state
                        .agenda
                        .set(self.state.first_session + session, self.run.sessions[session].next_at);
                }
            }
        }
        self.state.plan_flow(self.run, index);
        Ok(())
    }

    /// A sender acts, and the tap sees what it has taken and sent.
    fn sender_event(&mut self, now: Time, index: usize) {
        let sending = &mut self.run.flows[index].sending;
        let Some(tap) = &mut self.tap else { return sending.event(now) };
        let (waiting, sent) = (sending.incoming.len(), sending.outgoing.len());
        let first = sending.incoming.first().cloned();
        sending.event(now);
        let taken = first.filter(|_| sending.incoming.len() < waiting);
        let mut sent = sending.outgoing.last(sending.outgoing.len() - sent);
        if let Some(sender) = sending.sender.tcp_view() {
            tap.acts(now, index, taken.as_ref(), &mut sent, &sender);
        }
    }

    /// A packet comes to a link.
    fn enter(&mut self, now: Time, index: usize, mut packet: SimPacket) {
        if let Some(tap) = &mut self.tap {
            tap.enters(now, index, &packet);
        }
        if self.run.keeps(now, index, &mut packet) {
            if let Some(tap) = self.tap.as_mut().filter(|_| packet.kind != Kind::Control) {
                tap.drops(now, index, &packet, DropReason::Lost);
            }
        } else {
            self.run.links[index].arrive(now, packet);
        }
        self.settle(now, index);
    }

    /// A link has acted: reports to the tap what it has released, takes that away, and plans its next events.
    fn settle(&mut self, now: Time, index: usize) {
        if let Some(tap) = &mut self.tap {
            let released = &self.run.links[index].released;
            for (packet, reason) in &released.dropped {
                tap.drops(now, index, packet, *reason);
            }
            for (packet, departure) in &released.departed {
                let (arrival, last) = self.run.arrival(index, packet, *departure);
                tap.leaves(now, index, packet, arrival, last);
            }
        }
        for flow in self.run.clear_link(now, index) {
            self.state.plan_flow(self.run, flow);
        }
        self.state.plan_link(self.run, index);
    }
}
