//! FQ-CoDel (Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet: The Flow Queue CoDel Packet Scheduler and
//! Active Queue Management Algorithm, RFC 8290, 2018): flows are hashed to queues, served in turn by deficit
//! round robin, new ones first; each queue is a CoDel.
//!
//! ```text
//! arrival:  joins the queue of its flow's hash; a queue that was not listed joins the new ones with a full quantum
//! overflow: half of the queue with the most bytes is dropped at its head, but at most a batch
//! next:     the first new queue, else the first old one; without credit: a quantum more, and to the end of the old ones
//!           empty: a new queue goes to the end of the old ones, an old one leaves the list
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | flows | 1024 | queues | RFC 8290, section 5; Linux | none |
//! | quantum | 1514 | bytes | RFC 8290, section 5: the MTU with its Ethernet header | packets have no Ethernet header here |
//! | batch | 64 | packets | RFC 8290, 4.1; Linux `drop_batch_size` | none |
//! | target, interval | 5, 100 | ms | RFC 8290, section 5; RFC 8289 | none |
//! | CoDel's backlog | of all queues | bytes | Linux sch_fq_codel.c | RFC 8289 speaks of one queue |

use super::codel::{INTERVAL, Law, Memory, TARGET};
use super::fifo::Fifo;
use super::limit::Limit;
use super::row::{Discipline, Setup};
use super::turns::Turns;
use crate::hash::Bins;
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Stream, Style, Time};
use longfat_wire::{FlowId, Packet};
use std::cmp::Reverse;

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "fq_codel",
        title: "FQ-CoDel",
        aliases: &["fq-codel"],
        citation: "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet: The Flow Queue CoDel Packet Scheduler and Active \
               Queue Management Algorithm, RFC 8290, 2018",
        page: "fq_codel",
        parameters: &[
            TARGET,
            INTERVAL,
            FLOWS,
            QUANTUM,
            Parameter::number(
                "batch",
                64.0,
                (1.0, 1e6),
                "packets",
                "the most packets that an overflow drops at once, rounded down",
            ),
            Parameter::flag(
                "ecn",
                true,
                "mark packets that can be marked (RFC 3168) instead of dropping them",
            ),
        ],
        style: Some(Style::new("#7c3aed", "o")),
    },
    linux_module: Some("fq_codel"),
    ecn: true,
    l4s: false,
    random: true,
    law: None,
    check: |_, p| Law::check(&ROW, p),
};

pub(super) const FLOWS: Parameter = Parameter::number(
    "flows",
    1024.0,
    (1.0, 65_536.0),
    "queues",
    "queues that flows are hashed to, rounded down",
);
pub(super) const QUANTUM: Parameter = Parameter::number(
    "quantum",
    1514.0,
    (1.0, 1e6),
    "bytes",
    "what a queue may send in its turn, rounded down",
);

/// One flow's queue.
#[derive(Clone, Debug)]
struct Slot<P> {
    queue: Fifo<P>,
    memory: Memory,
}

/// An FQ-CoDel queue.
#[derive(Clone, Debug)]
#[repr(C)] // `packets` and `bytes` apart: the compiler would read both at once, which takes four instructions more
pub struct FqCoDel<P> {
    packets: u64,
    limit: Limit,
    law: Law,
    batch: u64,
    bins: Bins,
    slots: Vec<Slot<P>>,
    turns: Turns,
    bytes: u64,
    max_packet: u32,
}

impl<P: Packet> FqCoDel<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let slot = || Slot { queue: Fifo::default(), memory: Memory::default() };
        let flows = p.number("flows") as usize;
        let mut draws: Stream = setup.stream;
        FqCoDel {
            limit: setup.limit,
            law: Law::new(p),
            batch: p.number("batch") as u64,
            bins: Bins::new(&mut draws, flows),
            slots: (0..flows).map(|_| slot()).collect(),
            turns: Turns::new(flows, p.number("quantum") as i64),
            packets: 0,
            bytes: 0,
            max_packet: 0,
        }
    }

    fn account(&mut self, packet: &P) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes());
    }

    /// Drops at the head of the queue with the most bytes.
    #[cold]
    #[inline(never)] // otherwise each arrival pays for the look at all queues
    fn overflow(&mut self, out: &mut dyn Sink<P>) {
        // of equally fat ones the first; those that are not listed are empty
        let fatness = |&index: &usize| (self.slots[index].queue.bytes(), Reverse(index));
        let Some(fattest) = self.turns.listed().max_by_key(fatness) else { return };
        let half = self.slots[fattest].queue.bytes() / 2;
        for _ in 0..self.batch {
            let Some((_, packet)) = self.slots[fattest].queue.pop() else { return };
            self.account(&packet);
            out.drop(packet, DropReason::Full);
            if self.slots[fattest].queue.bytes() <= half {
                return;
            }
        }
    }

    fn is_over(&self) -> bool {
        match self.limit {
            Limit::Packets(most) => self.packets > most,
            Limit::Bytes(most) => self.bytes > most,
        }
    }
}

impl<P: Packet> Element<P> for FqCoDel<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.bins.begins(flow, identity);
    }

    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        let index = self.bins.of(&packet);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes());
        self.max_packet = self.max_packet.max(packet.bytes());
        self.slots[index].queue.push(now, packet);
        self.turns.join(index);
        while self.is_over() {
            self.overflow(out);
        }
    }

    #[inline(always)]
    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        loop {
            let index = self.turns.next()?;
            let slot = &mut self.slots[index];
            let before = (slot.queue.len(), slot.queue.bytes());
            let context = (self.bytes - before.1, self.max_packet);
            let next = self.law.serve(&mut slot.memory, &mut slot.queue, context, now, out);
            self.packets -= before.0 - slot.queue.len();
            self.bytes -= before.1 - slot.queue.bytes();
            if let Some(packet) = next {
                self.turns.pay(index, packet.bytes());
                return Some(packet);
            }
            slot.queue.rest();
            self.turns.pass();
        }
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
