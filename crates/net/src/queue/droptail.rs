//! Drop-tail: first in, first out; an arrival that finds the queue full is dropped.
//!
//! [`ConstantFifo`](crate::ConstantFifo) and [`ListedFifo`](crate::ListedFifo) do the same without departure
//! events.

use super::fifo::Fifo;
use super::limit::Limit;
use super::row::{Discipline, LawKind, Setup};
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Style, Time};
use longfat_wire::Packet;

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "droptail",
        title: "Drop-tail",
        aliases: &["fifo"],
        citation: "Postel: Internet Protocol, RFC 791, 1981, leaves the queue to the router; first in, first out; a full \
               queue drops what arrives",
        page: "droptail",
        parameters: &[],
        style: Some(Style::new("#6b7280", "o")),
    },
    linux_module: Some("pfifo"),
    ecn: false,
    l4s: false,
    random: false,
    law: Some(LawKind::DropTail),
    check: |_, _| Ok(()),
};

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    limit: Limit,
    queue: Fifo<P>,
}

impl<P: Packet> DropTail<P> {
    /// An empty queue.
    pub fn new(limit: Limit) -> Self {
        DropTail { limit, queue: Fifo::default() }
    }

    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, _: &Parameters) -> Self {
        DropTail::new(setup.limit)
    }
}

impl<P: Packet> Element<P> for DropTail<P> {
    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if self.queue.fits(&packet, self.limit) {
            self.queue.push(now, packet);
        } else {
            out.drop(packet, DropReason::Full);
        }
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        self.queue.serve(now, out)
    }

    fn packets(&self) -> u64 {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
