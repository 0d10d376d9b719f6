//! The oracle: handles one event at a time. It takes the earliest event off the agenda, lets its element act,
//! and plans what follows. Tests compare the fast driver with it, and it runs plans in which packets can
//! cross from one link to another in no time.
//!
//! The slots of the agenda are in the canonical order of events at the same time: probes, link transmitters,
//! pipes from link to link, messages of the links' elements, background sessions, then four for each flow:
//! the sender's own link, the receiver, the receiver's own link, the sender.

use super::agenda::Agenda;
use crate::results::outcome::RunError;
use crate::run::state::Simulation;
use longfat_net::Pipe;
use longfat_units::Time;
use longfat_wire::SimPacket;

const PROBE: usize = 0;
const FIRST_LINK: usize = 1;
const SLOTS_PER_FLOW: usize = 4;
const ACCESS: usize = 0;
const RECEIVER: usize = 1;
const ACK_ACCESS: usize = 2;

struct Driver<'a> {
    run: &'a mut Simulation,
    agenda: Agenda,
    first_session: usize,
    first_flow: usize,
}

/// Runs to the end and returns the number of events.
pub fn drive(run: &mut Simulation, wanted: &mut dyn FnMut() -> bool) -> Result<u64, RunError> {
    let first_session = FIRST_LINK + 3 * run.links.len();
    let first_flow = first_session + run.sessions.len();
    let agenda = Agenda::new(first_flow + SLOTS_PER_FLOW * run.flows.len());
    let mut driver = Driver { run, agenda, first_session, first_flow };
    driver.agenda.set(PROBE, driver.run.next_probe());
    for (i, session) in driver.run.sessions.iter().enumerate() {
        driver.agenda.set(first_session + i, session.next_at);
    }
    for i in 0..driver.run.flows.len() {
        driver.plan_flow(i);
    }
    let mut events = 0;
    let mut last = (Time::NEVER, 0);
    loop {
        let (now, slot) = driver.agenda.first();
        if now > driver.run.end {
            return Ok(events);
        }
        events += 1;
        // a run may be idle, and a sample looks at every flow; a source that acts again at the same moment sends
        // a burst, which may be of any length
        let long = slot == PROBE || (now, slot) == last;
        if (long || events % Simulation::EVENTS_PER_POLL == 0) && !wanted() {
            return Err(RunError::Interrupted);
        }
        last = (now, slot);
        driver.event(now, slot)?;
    }
}

impl Driver<'_> {
    fn event(&mut self, now: Time, slot: usize) -> Result<(), RunError> {
        let links = self.run.links.len();
        if slot == PROBE {
            self.run.probe(now);
            self.agenda.set(PROBE, self.run.next_probe());
        } else if slot < FIRST_LINK + links {
            let index = slot - FIRST_LINK;
            self.run.links[index].on_timer(now);
            self.settle(now, index);
        } else if slot < FIRST_LINK + 2 * links {
            let index = slot - FIRST_LINK - links;
            if let Some((to, packet)) = first_out(&mut self.run.links[index].onward) {
                self.settle(now, index);
                self.enter(now, to, packet);
            }
        } else if slot < self.first_session {
            let index = slot - FIRST_LINK - 2 * links;
            if let Some((to, packet)) = first_out(&mut self.run.links[index].control) {
                self.settle(now, index);
                self.enter(now, to, packet);
            }
        } else if slot < self.first_flow {
            let index = slot - self.first_session;
            let flow = self.run.request(now, index)?;
            self.agenda.set(slot, self.run.sessions[index].next_at);
            self.agenda.reserve(self.first_flow + SLOTS_PER_FLOW * (flow + 1));
            self.plan_flow(flow);
        } else {
            let index = (slot - self.first_flow) / SLOTS_PER_FLOW;
            self.flow_event(now, index, (slot - self.first_flow) % SLOTS_PER_FLOW)?;
        }
        Ok(())
    }

    fn flow_event(&mut self, now: Time, index: usize, part: usize) -> Result<(), RunError> {
        let flow = &mut self.run.flows[index];
        match part {
            ACCESS | ACK_ACCESS => {
                let pipe =
                    if part == ACCESS { &mut flow.sending.outgoing } else { &mut flow.receiving.outgoing };
                if let Some(packet) = pipe.pop() {
                    let link = flow.route.path(packet.kind)[0];
                    self.enter(now, link, packet);
                }
            }
            RECEIVER => flow.receiving.event(now),
            _ => {
                flow.sending.event(now);
                self.run.after_sender(now, index)?;
                while let Some(session) = self.run.woken.pop() {
                    self.agenda.set(self.first_session + session, self.run.sessions[session].next_at);
                }
            }
        }
        self.plan_flow(index);
        Ok(())
    }

    fn plan_flow(&mut self, index: usize) {
        let flow = &self.run.flows[index];
        let slot = self.first_flow + SLOTS_PER_FLOW * index;
        let times = [flow.head(true), flow.receiving.wake(), flow.head(false), flow.sending.wake()];
        for (part, at) in times.into_iter().enumerate() {
            if self.agenda.get(slot + part) != at {
                self.agenda.set(slot + part, at);
            }
        }
    }

    /// A packet comes to a link.
    fn enter(&mut self, now: Time, index: usize, mut packet: SimPacket) {
        if self.run.keeps(now, index, &mut packet) {
            return self.settle(now, index);
        }
        let link = &mut self.run.links[index];
        if !link.is_arithmetic() {
            link.arrive(now, packet);
        } else if let Some(departure) = link.offer(now, u32::from(packet.bytes)) {
            if let Some(flow) = self.run.pass_on(index, packet, departure, false) {
                self.plan_flow(flow);
            }
        } else {
            self.run.drop(&packet);
        }
        self.settle(now, index);
    }

    /// A link has acted: takes away what it has released, and plans its next events.
    fn settle(&mut self, now: Time, index: usize) {
        for flow in self.run.clear_link(now, index, false) {
            self.plan_flow(flow);
        }
        let (link, links) = (&self.run.links[index], self.run.links.len());
        self.agenda.set(FIRST_LINK + index, link.wake());
        self.agenda.set(FIRST_LINK + links + index, link.onward_head());
        self.agenda.set(FIRST_LINK + 2 * links + index, link.control_head());
    }
}

/// Takes the packet that is the first to arrive at another link.
fn first_out(outlets: &mut [(usize, Pipe<SimPacket>)]) -> Option<(usize, SimPacket)> {
    let (to, pipe) = outlets.iter_mut().min_by_key(|(_, pipe)| pipe.head())?;
    Some((*to, pipe.pop()?))
}
