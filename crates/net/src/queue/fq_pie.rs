//! FQ-PIE (Linux net/sched/sch_fq_pie.c, 2020, by Ramakrishnan, Bhasi, Saicharan, Monis, Patil and
//! Tahiliani): flows are hashed to queues, served in turn as in FQ-CoDel (RFC 8290); each queue is a PIE (RFC
//! 8033).
//!
//! ```text
//! arrival:  joins the queue of its flow's hash, unless all queues together are full or that queue's PIE drops it
//! every T:  each queue's PIE changes its probability, from how long the last packet of this queue waited
//! next:     deficit round robin, new queues first
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | flows | 1024 | queues | Linux | none |
//! | quantum | 1514 | bytes | Linux: the MTU with its Ethernet header | packets have no Ethernet header here |
//! | target, update | 15, 15 | ms | Linux; RFC 8033 | none |
//! | alpha, beta | 0.125, 1.25 | 1/s | Linux; RFC 8033 | none |
//! | ECN threshold | 0.1 | | Linux `ecn_prob` | none |
//! | few packets | 2 | packets of the flow | Linux: two MTUs of the flow's bytes | counted in packets, as in `pie` |

use super::fifo::Fifo;
use super::fq_codel::{FLOWS, QUANTUM};
use super::limit::Limit;
use super::pie::{ALPHA, BETA, DERANDOMIZE, ECN_THRESHOLD, Law, MAX_BURST, Memory, TARGET, UPDATE};
use super::red::ECN;
use super::row::{Discipline, Setup};
use super::turns::Turns;
use crate::hash::Bins;
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::Parameters;
use longfat_units::{Entry, Stream, Style, Time};
use longfat_wire::{FlowId, Packet};

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "fq_pie",
        title: "FQ-PIE",
        aliases: &["fq-pie"],
        citation: "Ramakrishnan, Bhasi, Saicharan, Monis, Patil, Tahiliani: Flow Queue PIE, Linux \
               net/sched/sch_fq_pie.c, 2020",
        page: "fq_pie",
        parameters: &[
            TARGET,
            UPDATE,
            MAX_BURST,
            ALPHA,
            BETA,
            ECN_THRESHOLD,
            DERANDOMIZE,
            FLOWS,
            QUANTUM,
            ECN,
        ],
        style: Some(Style::new("#a21caf", "o")),
    },
    linux_module: Some("fq_pie"),
    ecn: true,
    l4s: false,
    random: true,
    law: None,
    check: |_, _| Ok(()),
};

/// One of the queues.
#[derive(Clone, Debug)]
struct Slot<P> {
    queue: Fifo<P>,
    memory: Memory,
    is_awake: bool,
}

/// An FQ-PIE queue.
#[derive(Clone, Debug)]
pub struct FqPie<P> {
    limit: Limit,
    law: Law,
    bins: Bins,
    slots: Vec<Slot<P>>,
    /// The slots that are not at rest: of thousands, hardly any has packets.
    awake: Vec<usize>,
    turns: Turns,
    draws: Stream,
    started: bool,
    packets: u64,
    bytes: u64,
}

impl<P: Packet> FqPie<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let mut draws: Stream = setup.stream;
        let (law, flows) = (Law::new(p), p.number("flows") as usize);
        FqPie {
            limit: setup.limit,
            law,
            bins: Bins::new(&mut draws, flows),
            slots: (0..flows)
                .map(|_| Slot { queue: Fifo::default(), memory: law.memory(), is_awake: false })
                .collect(),
            awake: Vec::new(),
            turns: Turns::new(flows, p.number("quantum") as i64),
            draws,
            started: false,
            packets: 0,
            bytes: 0,
        }
    }
}

impl<P: Packet> Element<P> for FqPie<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.bins.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if !self.started {
            self.started = true;
            out.set_timer(now + self.law.update);
        }
        let index = self.bins.of(&packet);
        let Slot { queue, memory, is_awake } = &mut self.slots[index];
        if !self.limit.admits(self.packets, self.bytes, packet.bytes()) {
            Law::refuse(memory);
            return out.drop(packet, DropReason::Full);
        }
        if let Some(packet) = self.law.admit(memory, packet, queue.len(), &mut self.draws, out) {
            self.packets += 1;
            self.bytes += u64::from(packet.bytes());
            queue.push(now, packet);
            self.turns.join(index);
            if !core::mem::replace(is_awake, true) {
                self.awake.push(index);
            }
        }
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        let FqPie { law, slots, awake, .. } = self;
        awake.retain(|&index| {
            let Slot { queue, memory, is_awake } = &mut slots[index];
            law.control(memory);
            *is_awake = queue.len() > 0 || !law.is_at_rest(memory);
            *is_awake
        });
        out.set_timer(now + self.law.update);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        loop {
            let index = self.turns.next()?;
            let Slot { queue, memory, .. } = &mut self.slots[index];
            let Some((since, packet)) = queue.pop() else {
                queue.rest();
                self.turns.pass();
                continue;
            };
            let waited = now.since(since);
            out.waited(waited);
            Law::left(memory, waited, queue.len());
            self.turns.pay(index, packet.bytes());
            self.packets -= 1;
            self.bytes -= u64::from(packet.bytes());
            return Some(packet);
        }
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
