//! A server that computes the departure of each packet when that arrives.

use super::Exit;
use super::counters::LinkCounters;
use longfat_net::queue::Law;
use longfat_net::{Capacity, ConstantFifo, Departures, ListedFifo, TickingFifo, Ticks};
use longfat_scenario::plan::CheckedQueue;
use longfat_units::{Rate, Time};
use longfat_wire::Packet;

/// A queue that computes departures. [`each_computed`] works with one as what it is.
pub enum Computed {
    /// Drop-tail, served without a pause at a constant rate.
    Constant(Box<ConstantFifo>),
    /// Drop-tail, served at the ticks of a clock.
    Ticking(Box<TickingFifo>),
    /// Any law, at any rate.
    Listed(Box<ListedFifo<Law>>),
}

/// Evaluates an expression with the queue that a [`Computed`] is.
macro_rules! each_computed {
    ($computed:expr, $queue:ident => $expression:expr) => {
        match $computed {
            $crate::model::link::Computed::Constant($queue) => $expression,
            $crate::model::link::Computed::Ticking($queue) => $expression,
            $crate::model::link::Computed::Listed($queue) => $expression,
        }
    };
}
pub(crate) use each_computed;

impl Computed {
    /// The queue as planned, before a link that is served at ticks if there are any; `None` if it does not
    /// decide at arrival, or if none here serves it so.
    pub(super) fn new(
        queue: &CheckedQueue,
        (rate, capacity): (Rate, &Capacity),
        ticks: Option<Ticks>,
        measured: (Time, Time),
    ) -> Option<Self> {
        let law = Law::build(queue.discipline.law?, queue.setup.clone(), &queue.parameters);
        let is_plain = capacity.is_constant();
        Some(match (law, ticks) {
            (Law::DropTail(limit), None) if is_plain => {
                Computed::Constant(Box::new(ConstantFifo::new(rate, limit, measured)))
            }
            (Law::DropTail(limit), Some(ticks)) if is_plain => {
                Computed::Ticking(Box::new(TickingFifo::new(rate, limit, ticks, measured)))
            }
            (law, None) => Computed::Listed(Box::new(ListedFifo::new(capacity.clone(), law, measured))),
            (_, Some(_)) => return None,
        })
    }
}

/// Offers these arrivals, in order, each with its time. Returns how many there are.
#[inline(never)] // a loop that needs the registers
pub fn serve<P: Packet, Q: Departures>(
    queue: &mut Q,
    arrivals: impl Iterator<Item = (Time, P)>,
    counters: &mut LinkCounters,
    exit: &mut impl Exit<P>,
) -> u64 {
    let mut arrived = 0;
    for (now, mut packet) in arrivals {
        arrived += 1;
        match counters.offer(queue, now, &mut packet) {
            Ok(at) => exit.departs(packet, at),
            Err(reason) => exit.drops(packet, reason),
        }
    }
    counters.packets_in += arrived;
    arrived
}
