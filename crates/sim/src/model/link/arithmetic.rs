//! Queues that compute departures at arrival.

use super::counters::{Crossed, LinkCounters};
use longfat_net::queue::{Limit, RedLaw};
use longfat_net::{Admission, ConstantFifo, ListedFifo, Sojourn, TickingFifo};
use longfat_units::Time;

/// A queue that computes departures at arrival. [`each_arithmetic`] works with one as what it is.
pub enum Arithmetic {
    /// Drop-tail, served without a pause at a constant rate.
    Constant(Box<ConstantFifo>),
    /// Drop-tail, served at the ticks of a clock.
    Ticking(Box<TickingFifo>),
    /// Drop-tail, where the rate varies as planned or waiting times are measured.
    Listed(Box<ListedFifo<Limit>>),
    /// RED.
    Red(Box<ListedFifo<RedLaw>>),
}

/// Evaluates an expression with the queue that an [`Arithmetic`] is.
macro_rules! each_arithmetic {
    ($arithmetic:expr, $queue:ident => $expression:expr) => {
        match $arithmetic {
            $crate::model::link::Arithmetic::Constant($queue) => $expression,
            $crate::model::link::Arithmetic::Ticking($queue) => $expression,
            $crate::model::link::Arithmetic::Listed($queue) => $expression,
            $crate::model::link::Arithmetic::Red($queue) => $expression,
        }
    };
}
pub(crate) use each_arithmetic;

/// What a link does with such a queue.
pub trait Departures {
    /// As [`Admission::JUDGES`].
    const JUDGES: bool;
    /// A packet of `bytes` arrives. Returns what becomes of it; it is not marked unless `markable`.
    fn offer(&mut self, now: Time, bytes: u32, markable: bool) -> Crossed;
    /// Brings the queue up to `now`, before anything happens at that time, and writes what it has sent.
    fn settle_into(&mut self, now: Time, counters: &mut LinkCounters);
    /// How long packets have waited since the last restart, if that is measured.
    fn sojourn(&self) -> Option<&Sojourn> {
        None
    }
}

impl Arithmetic {
    /// As [`Admission::JUDGES`].
    pub fn judges(&self) -> bool {
        const fn of<Q: Departures>(_: &Q) -> bool {
            Q::JUDGES
        }
        each_arithmetic!(self, queue => of(&**queue))
    }
}

/// For drop-tail at a constant rate.
macro_rules! constant_departures {
    ($fifo:ty) => {
        impl Departures for $fifo {
            const JUDGES: bool = false;

            #[inline(always)]
            fn offer(&mut self, now: Time, bytes: u32, _markable: bool) -> Crossed {
                <$fifo>::offer(self, now, bytes).into()
            }

            fn settle_into(&mut self, now: Time, counters: &mut LinkCounters) {
                self.settle_before(now);
                (counters.packets_out, counters.bytes_out) = self.sent();
                counters.busy = self.busy(now);
            }
        }
    };
}
constant_departures!(ConstantFifo);
constant_departures!(TickingFifo);

impl<A: Admission> Departures for ListedFifo<A> {
    const JUDGES: bool = A::JUDGES;

    #[inline(always)]
    fn offer(&mut self, now: Time, bytes: u32, markable: bool) -> Crossed {
        ListedFifo::offer(self, now, bytes, markable).into()
    }

    fn settle_into(&mut self, now: Time, counters: &mut LinkCounters) {
        self.settle_before(now);
        (counters.packets_out, counters.bytes_out) = self.sent();
        counters.busy = self.busy(now);
        counters.bits_out = self.bits(now);
    }

    fn sojourn(&self) -> Option<&Sojourn> {
        ListedFifo::sojourn(self)
    }
}
