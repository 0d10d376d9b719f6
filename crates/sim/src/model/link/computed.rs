//! A server that computes the departure of each packet when that arrives.

use super::Exit;
use super::counters::LinkCounters;
use longfat_net::queue::{Limit, RedLaw};
use longfat_net::{Admission, ConstantFifo, ListedFifo, Occupancy, Offered, Sojourn, TickingFifo};
use longfat_units::Time;
use longfat_wire::{Ecn, Packet};

/// A queue that computes departures. [`each_computed`] works with one as what it is.
pub enum Computed {
    /// Drop-tail, served without a pause at a constant rate.
    Constant(Box<ConstantFifo>),
    /// Drop-tail, served at the ticks of a clock.
    Ticking(Box<TickingFifo>),
    /// Drop-tail, where the rate varies as planned or waiting times are measured.
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

/// What a link does with such a queue.
pub trait Departures {
    /// A packet of `bytes` arrives. Returns what becomes of it; it is not marked unless `markable`.
    fn offer(&mut self, now: Time, bytes: u32, markable: bool) -> Offered;
    /// Brings the queue up to `now`, before anything happens at that time, and writes what it has sent.
    fn settle_into(&mut self, now: Time, counters: &mut LinkCounters);
    /// The length of the queue since the last restart.
    fn occupancy(&self) -> &Occupancy;
    /// How long packets have waited since the last restart, if that is measured.
    fn sojourn(&self) -> Option<&Sojourn>;
    /// Restarts the statistics.
    fn restart(&mut self, now: Time);
}

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

/// For drop-tail at a constant rate.
macro_rules! constant_departures {
    ($fifo:ty) => {
        impl Departures for $fifo {
            #[inline(always)]
            fn offer(&mut self, now: Time, bytes: u32, _markable: bool) -> Offered {
                <$fifo>::offer(self, now, bytes)
                    .map_or(Offered::Dropped(longfat_net::DropReason::Full), Offered::Departs)
            }

            fn settle_into(&mut self, now: Time, counters: &mut LinkCounters) {
                self.settle_before(now);
                (counters.packets_out, counters.bytes_out) = self.sent();
                counters.busy = self.busy(now);
            }

            fn occupancy(&self) -> &Occupancy {
                <$fifo>::occupancy(self)
            }

            fn sojourn(&self) -> Option<&Sojourn> {
                None
            }

            fn restart(&mut self, now: Time) {
                <$fifo>::restart(self, now);
            }
        }
    };
}
constant_departures!(ConstantFifo);
constant_departures!(TickingFifo);

impl<A: Admission> Departures for ListedFifo<A> {
    #[inline(always)]
    fn offer(&mut self, now: Time, bytes: u32, markable: bool) -> Offered {
        ListedFifo::offer(self, now, bytes, markable)
    }

    fn settle_into(&mut self, now: Time, counters: &mut LinkCounters) {
        self.settle_before(now);
        (counters.packets_out, counters.bytes_out) = self.sent();
        counters.busy = self.busy(now);
        counters.bits_out = self.bits(now);
    }

    fn occupancy(&self) -> &Occupancy {
        ListedFifo::occupancy(self)
    }

    fn sojourn(&self) -> Option<&Sojourn> {
        ListedFifo::sojourn(self)
    }

    fn restart(&mut self, now: Time) {
        ListedFifo::restart(self, now);
    }
}
