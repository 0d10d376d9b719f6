//! BLUE (Feng, Kandlur, Saha, Shin: BLUE: A New Class of Active Queue Management Algorithms, University of
//! Michigan CSE-TR-387-99, 1999; IEEE/ACM Transactions on Networking 10(4), 2002): one drop probability for
//! all arrivals, raised by overflows and lowered by an idle link.
//!
//! ```text
//! overflow : if now - last_update > freeze_time:  p <- p + delta1, last_update <- now
//! idle link: if now - last_update > freeze_time:  p <- p - delta2, last_update <- now
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | delta1 | 0.02 | | Feng et al. have 0.0025 and 0.02 | their larger step, chosen here; from second hand |
//! | delta2 | 0.002 | | Feng et al.: an order of magnitude below delta1 | goes with delta1 |
//! | freeze_time | 100 | ms | Feng et al. have 10 and 100 ms; the ns-3 port has 100 ms | from second hand |
//!
//! The thesis of Lopez Pacheco (2008, algorithm 6) prints `<` for `>` and adds delta2 on idle: both are
//! errors, as the text beside it agrees with the paper. As printed, p would only rise, in bursts shorter than
//! the freeze time.

use super::fifo::{Fifo, signal};
use super::limit::Limit;
use super::red::ECN;
use super::row::{Discipline, Setup};
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Rate, Stream, Style, Time};
use longfat_wire::Packet;

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "blue",
        title: "BLUE",
        aliases: &[],
        citation: "Feng, Kandlur, Saha, Shin: BLUE: A New Class of Active Queue Management Algorithms, University of \
               Michigan CSE-TR-387-99, 1999",
        page: "blue",
        parameters: &[
            Parameter::number(
                "increment",
                0.02,
                (0.0, 1.0),
                "",
                "an overflow raises the probability by it (delta1)",
            ),
            Parameter::number(
                "decrement",
                0.002,
                (0.0, 1.0),
                "",
                "an idle link lowers the probability by it (delta2)",
            ),
            Parameter::number("freeze_time", 100.0, (1e-3, 1e6), "ms", "least time between two changes"),
            ECN,
        ],
        style: Some(Style::new("#0072b2", "o")),
    },
    linux_module: None,
    ecn: true,
    l4s: false,
    random: true,
    law: None,
    check: |_, _| Ok(()),
};

/// A BLUE queue.
#[derive(Clone, Debug)]
pub struct Blue<P> {
    limit: Limit,
    rate: Rate,
    queue: Fifo<P>,
    increment: f64,
    decrement: f64,
    freeze_time: Interval,
    ecn: bool,
    draws: Stream,
    probability: f64,
    last_update: Time,
    /// When the last packet sent has left.
    free_at: Time,
}

impl<P: Packet> Blue<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        Blue {
            limit: setup.limit,
            rate: setup.rate,
            queue: Fifo::default(),
            increment: p.number("increment"),
            decrement: p.number("decrement"),
            freeze_time: Interval::from_secs_f64(1e-3 * p.number("freeze_time")),
            ecn: p.flag("ecn"),
            draws: setup.stream,
            probability: 0.0,
            last_update: Time::ZERO,
            free_at: Time::ZERO,
        }
    }

    /// The drop probability.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// The link has been idle since `free_at`: one decrement at once or when the freeze time is over, then
    /// one more each freeze time. It is applied when the next packet arrives; nothing else reads the
    /// probability.
    fn settle_idle(&mut self, now: Time) {
        let first = self.free_at.max(self.last_update + self.freeze_time);
        if now > first {
            let more = (now.since(first).as_ns() - 1) / self.freeze_time.as_ns().max(1);
            self.probability = (self.probability - self.decrement * (1 + more) as f64).max(0.0);
            self.last_update = first + Interval::from_ns(more * self.freeze_time.as_ns());
        }
    }
}

impl<P: Packet> Element<P> for Blue<P> {
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if self.queue.len() == 0 && now > self.free_at {
            self.settle_idle(now);
        }
        if !self.queue.fits(&packet, self.limit) {
            if now.since(self.last_update) > self.freeze_time {
                self.probability = (self.probability + self.increment).min(1.0);
                self.last_update = now;
            }
            return out.drop(packet, DropReason::Full);
        }
        let strikes = self.probability > 0.0 && self.draws.unit() < self.probability;
        let admitted = if strikes { signal(packet, self.ecn, DropReason::Early, out) } else { Some(packet) };
        if let Some(packet) = admitted {
            self.queue.push(now, packet);
        }
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.queue.serve(now, out)?;
        self.free_at = now + self.rate.transmission(packet.bytes());
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
