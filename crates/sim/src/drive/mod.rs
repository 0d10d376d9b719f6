//! The two drivers, which move a run through time and give the same results.

use crate::results::outcome::RunError;
use crate::run::state::Simulation;
use longfat_units::{Interval, Time};

mod agenda;
mod ahead;
mod arrivals;
pub mod batches;
mod cross;
pub mod events;
mod link_batch;
mod straight;
pub mod tap;
mod wakes;

/// With a shorter lookahead, batches hold too little to be worth it (chosen here).
const LEAST_LOOKAHEAD: Interval = Interval::from_ns(100);

/// No packet is smaller than this: IP and UDP without payload.
const LEAST_PACKET: u32 = 28;

/// Whether a flow's data and acknowledgements come to the same link, and hosts may send data in no time: then
/// data that answer an acknowledgement come after another one of the same moment, and not before it.
fn may_answer_at_once(run: &Simulation) -> bool {
    let flows = run.plan.flows.iter().map(|flow| &flow.connection);
    let mut connections = flows.chain(run.plan.background.iter().map(|background| &background.connection));
    connections.any(|connection| {
        let transmission = connection.access_rate().transmission(LEAST_PACKET);
        connection.forward[0] == connection.reverse[0] && transmission == Interval::ZERO
    })
}

/// The driver of a run, with what it keeps while the run pauses.
pub enum Drive {
    Batches(Box<batches::DriverState>),
    Events(Box<events::DriverState>),
}

impl Drive {
    /// The driver that suits this run, which has not begun.
    pub fn of(run: &mut Simulation) -> Self {
        let in_batches = run.plan.fast
            && run.lookahead.least() >= LEAST_LOOKAHEAD
            && !(run.needs_oracle || may_answer_at_once(run));
        run.build_queues(in_batches);
        if in_batches {
            Drive::Batches(Box::new(batches::DriverState::new(run)))
        } else {
            Drive::Events(Box::new(events::DriverState::new(run)))
        }
    }

    /// Handles everything before `to`, which is at most a nanosecond after the run's end.
    pub fn advance(
        &mut self,
        run: &mut Simulation,
        to: Time,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<(), RunError> {
        match self {
            Drive::Batches(state) => batches::drive(run, state, to, wanted),
            Drive::Events(state) => events::drive(run, state, to, wanted, None),
        }
    }

    /// The run will pause at `until`: the ends of the plan's flows run no further ahead than that. Those of
    /// background connections may, since a pause does not show them.
    pub fn pause_at(&mut self, run: &mut Simulation, until: Time) -> Result<(), RunError> {
        let Drive::Batches(state) = self else { return Ok(()) };
        for index in 0..run.plan.flows.len() {
            let flow = &mut run.flows[index];
            flow.sending.pause_at(until);
            flow.receiving.pause_at(until);
            run.check_algorithm(index)?;
            state.wakes.look_at(index, &run.flows[index], [true, true]);
        }
        Ok(())
    }

    /// The caller has acted on this flow: finds out when it acts next.
    pub fn look_at(&mut self, run: &Simulation, flow: usize) {
        match self {
            Drive::Batches(state) => state.wakes.look_at(flow, &run.flows[flow], [true, true]),
            Drive::Events(state) => state.plan_flow(run, flow),
        }
    }

    /// The caller has acted on this link: finds out when it acts next. In batches this is looked at anyway.
    pub fn look_at_link(&mut self, run: &Simulation, link: usize) {
        if let Drive::Events(state) = self {
            state.plan_link(run, link);
        }
    }

    /// Its name, and the number of events handled so far.
    pub fn description(&self) -> (&'static str, u64) {
        match self {
            Drive::Batches(state) => ("batches", state.events),
            Drive::Events(state) => ("events", state.events),
        }
    }
}
