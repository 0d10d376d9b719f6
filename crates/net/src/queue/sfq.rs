//! SFQ (McKenney: Stochastic Fairness Queueing, INFOCOM 1990), as Linux's net/sched/sch_sfq.c has it: flows
//! are hashed to queues, which are served in turn by deficit round robin.
//!
//! ```text
//! arrival:  joins the queue of its flow's hash; an empty queue goes to the end of the turn, with a quantum of credit;
//!           dropped where its queue holds `depth` packets, or where `flows` queues have packets and its own has none
//! overflow: the last packet of the queue with the most packets is dropped; the next one in turn, if all hold one
//! next:     the queue whose turn it is, while it has credit; then it gets a quantum more and goes to the end
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | divisor | 1024 | queues | Linux SFQ_DEFAULT_HASH_DIVISOR | none |
//! | flows | 128 | queues with packets | Linux SFQ_DEFAULT_FLOWS | none |
//! | depth | 127 | packets | Linux SFQ_MAX_DEPTH | none |
//! | quantum | 1514 | bytes | Linux: the MTU with its Ethernet header | packets have no Ethernet header here |
//! | perturbation | none | | Linux's default, `perturb 0` | the paper changes the hash now and then |

use super::fifo::Fifo;
use super::fq_codel::QUANTUM;
use super::limit::Limit;
use super::row::{Discipline, Setup};
use super::turns::Turns;
use crate::hash::Bins;
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Stream, Style, Time};
use longfat_wire::{FlowId, Packet};

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "sfq",
        title: "SFQ",
        aliases: &[],
        citation: "McKenney: Stochastic Fairness Queueing, IEEE INFOCOM, 1990",
        page: "sfq",
        parameters: &[
            Parameter::number(
                "divisor",
                1024.0,
                (1.0, 65_536.0),
                "queues",
                "queues that flows are hashed to, rounded down",
            ),
            Parameter::number(
                "flows",
                128.0,
                (1.0, 65_408.0),
                "queues",
                "the most queues that may have packets, rounded down",
            ),
            Parameter::number(
                "depth",
                127.0,
                (1.0, 1e6),
                "packets",
                "the most packets in one queue, rounded down",
            ),
            QUANTUM,
        ],
        style: Some(Style::new("#b45309", "o")),
    },
    linux_module: Some("sfq"),
    ecn: false,
    l4s: false,
    random: true,
    law: None,
    check: |_, _| Ok(()),
};

/// An SFQ queue.
#[derive(Clone, Debug)]
pub struct Sfq<P> {
    limit: Limit,
    most_flows: usize,
    depth: u64,
    bins: Bins,
    slots: Vec<Fifo<P>>,
    turns: Turns,
    packets: u64,
    bytes: u64,
}

impl<P: Packet> Sfq<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let mut draws: Stream = setup.stream;
        let queues = p.number("divisor") as usize;
        Sfq {
            limit: setup.limit,
            most_flows: p.number("flows") as usize,
            depth: p.number("depth") as u64,
            bins: Bins::new(&mut draws, queues),
            slots: (0..queues).map(|_| Fifo::default()).collect(),
            turns: Turns::new(queues, p.number("quantum") as i64),
            packets: 0,
            bytes: 0,
        }
    }

    fn account(&mut self, packet: &P) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.bytes());
    }

    fn is_over(&self) -> bool {
        match self.limit {
            Limit::Packets(most) => self.packets > most,
            Limit::Bytes(most) => self.bytes > most,
        }
    }

    /// Drops the last packet of the longest queue; among equals that of the first.
    #[cold]
    #[inline(never)] // otherwise each arrival pays for the look at all queues
    fn overflow(&mut self, out: &mut dyn Sink<P>) {
        let mut longest = 0;
        for (index, queue) in self.slots.iter().enumerate() {
            if queue.len() > self.slots[longest].len() {
                longest = index;
            }
        }
        let dropped = match self.slots[longest].len() {
            0 | 1 => self.turns.first_old().and_then(|first| {
                self.turns.leave();
                self.slots[first].pop().map(|(_, packet)| packet)
            }),
            length => self.slots[longest].remove(length as usize - 1),
        };
        if let Some(packet) = dropped {
            self.account(&packet);
            out.drop(packet, DropReason::Full);
        }
    }
}

impl<P: Packet> Element<P> for Sfq<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.bins.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        let index = self.bins.of(&packet);
        let waiting = self.slots[index].len();
        if waiting >= self.depth || (waiting == 0 && self.turns.len() >= self.most_flows) {
            return out.drop(packet, DropReason::Full);
        }
        self.packets += 1;
        self.bytes += u64::from(packet.bytes());
        self.slots[index].push(now, packet);
        self.turns.join_old(index);
        while self.is_over() {
            self.overflow(out);
        }
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let index = self.turns.next()?;
        let packet = self.slots[index].serve(now, out)?;
        self.account(&packet);
        if self.slots[index].len() == 0 {
            self.slots[index].rest();
            self.turns.leave();
        } else {
            self.turns.pay(index, packet.bytes());
        }
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
