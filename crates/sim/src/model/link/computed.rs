//! A server that computes the departure of each packet when that arrives.

use super::Exit;
use super::counters::LinkCounters;
use longfat_net::queue::{Limit, RedLaw};
use longfat_net::{ConstantFifo, Departures, ListedFifo, TickingFifo};
use longfat_units::Time;
use longfat_wire::{Ecn, Packet};

/// A queue that computes departures. [`each_computed`] works with one as what it is.
pub enum Computed {
    /// Drop-tail, served without a pause at a constant rate.
    Constant(Box<ConstantFifo>),
    /// Drop-tail, served at the ticks of a clock.
    Ticking(Box<TickingFifo>),
    /// Drop-tail, where the rate varies as planned.
    Listed(Box<ListedFifo<Limit>>),
    /// RED.
    Red(Box<ListedFifo<RedLaw>>),
}

/// Evaluates an expression with the queue that a [`Computed`] is.
macro_rules! each_computed {
    ($computed:expr, $queue:ident => $expression:expr) => {
        match $computed {
            $crate::model::link::Computed::Constant($queue) => $expression,
            $crate::model::link::Computed::Ticking($queue) => $expression,
            $crate::model::link::Computed::Listed($queue) => $expression,
            $crate::model::link::Computed::Red($queue) => $expression,
        }
    };
}
pub(crate) use each_computed;

impl Computed {
    /// Takes these arrivals, in order, each with its time. Returns how many there are.
    pub fn run<P: Packet>(
        &mut self,
        arrivals: impl Iterator<Item = (Time, P)>,
        counters: &mut LinkCounters,
        exit: &mut impl Exit<P>,
    ) -> u64 {
        each_computed!(self, queue => serve(&mut **queue, arrivals, counters, exit))
    }
}

#[inline(never)] // a loop that needs the registers
fn serve<P: Packet, Q: Departures>(
    queue: &mut Q,
    arrivals: impl Iterator<Item = (Time, P)>,
    counters: &mut LinkCounters,
    exit: &mut impl Exit<P>,
) -> u64 {
    let mut arrived = 0;
    for (now, mut packet) in arrivals {
        arrived += 1;
        let offered = queue.offer(now, packet.bytes(), packet.ecn() != Ecn::NotCapable);
        match counters.count(offered, || packet.set_ecn(Ecn::Marked)) {
            Ok(at) => exit.departs(packet, at),
            Err(reason) => exit.drops(packet, reason),
        }
    }
    counters.packets_in += arrived;
    arrived
}
