//! SRED (Ott, Lakshman, Wong: SRED: Stabilized RED, IEEE INFOCOM 1999; Lopez Pacheco 2008, section 2.5.1.4):
//! estimates how many flows are active, and derives the drop probability from that and from how full the
//! queue is.
//!
//! ```text
//! arrival:  a zombie drawn from the list has its flow: a hit; else it replaces the zombie with probability r
//!           P <- (1 - alpha) P + alpha hit,  alpha = r / M;  1 / P estimates the number of flows
//! p_sred  = p_max       where the queue is filled to 1/3 or more
//!         = p_max / 4   from 1/6 to 1/3
//!         = 0           below
//! simple:   p_zap = p_sred min(1, 1 / (256 P)^2)
//! full:     p_zap = p_sred min(1, 1 / (256 P)^2) (1 + hit / P)
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | M (zombies) | 1000 | packets | Ott et al.; thesis 2.5.1.4 | none |
//! | r (overwrite) | 0.25 | | Ott et al.; thesis 2.5.1.4 | none |
//! | alpha | r / M = 0.00025 | | thesis, equation 2.28 | none |
//! | p_max | 0.15 | | thesis 2.5.1.4 | none |
//! | 256 | 256 | flows | thesis 2.5.1.4 | none |

use super::fifo::{Fifo, signal};
use super::limit::Limit;
use super::red::ECN;
use super::row::{Discipline, Setup};
use crate::counter::{Counter, Zombies};
use crate::{DropReason, Element, Identities, Sink};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Stream, Style, Time};
use longfat_wire::{FlowId, Packet};

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "sred",
        title: "SRED",
        aliases: &[],
        citation: "Ott, Lakshman, Wong: SRED: Stabilized RED, IEEE INFOCOM 1999",
        page: "sred",
        parameters: &[
            Parameter::choice(
                "variant",
                &["simple", "full"],
                "full: packets of a flow that hits are dropped more often",
            ),
            Parameter::number("max_p", 0.15, (0.0, 1.0), "", "greatest drop probability before the factors"),
            Parameter::number(
                "zombies",
                1000.0,
                (1.0, 1e6),
                "packets",
                "length of the list (M), rounded down",
            ),
            Parameter::number(
                "overwrite",
                0.25,
                (1e-6, 1.0),
                "",
                "probability that a miss replaces a zombie (r)",
            ),
            ECN,
        ],
        style: Some(Style::new("#cc79a7", "o")),
    },
    linux_module: None,
    ecn: true,
    l4s: false,
    random: true,
    law: None,
    check: |_, _| Ok(()),
};

/// With this many flows or more, `p_sred` applies in full.
const MOST_FLOWS: f64 = 256.0;

/// An SRED queue.
#[derive(Clone, Debug)]
pub struct Sred<P> {
    limit: Limit,
    queue: Fifo<P>,
    full: bool,
    max_p: f64,
    zombies: Zombies,
    identities: Identities,
    ecn: bool,
    draws: Stream,
}

impl<P: Packet> Sred<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let (most, overwrite) = (p.number("zombies").trunc(), p.number("overwrite"));
        Sred {
            limit: setup.limit,
            queue: Fifo::default(),
            full: p.word("variant") == "full",
            max_p: p.number("max_p"),
            zombies: Zombies::new(most as usize, overwrite, overwrite / most),
            identities: Identities::default(),
            ecn: p.flag("ecn"),
            draws: setup.stream,
        }
    }

    /// The estimated probability of a hit, P; its inverse estimates the number of active flows.
    pub const fn hit_probability(&self) -> f64 {
        self.zombies.hit_probability()
    }

    fn probability(&self, hit: bool) -> f64 {
        let filled = self.limit.share(self.queue.len(), self.queue.bytes());
        let p = self.max_p * step(filled) * few_flows(self.hit_probability());
        if self.full && hit { p * (1.0 + 1.0 / self.hit_probability()) } else { p }
    }
}

/// p_sred over p_max for a queue filled to this share.
fn step(filled: f64) -> f64 {
    if filled >= 1.0 / 3.0 {
        1.0
    } else if filled >= 1.0 / 6.0 {
        0.25
    } else {
        0.0
    }
}

/// With fewer flows each drop weighs more, so there are fewer drops by this factor.
fn few_flows(hits: f64) -> f64 {
    let few = MOST_FLOWS * hits;
    if few > 1.0 { 1.0 / (few * few) } else { 1.0 }
}

impl<P: Packet> Element<P> for Sred<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.identities.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        let hit = self.zombies.look(self.identities.of(packet.flow()), &mut self.draws);
        if !self.queue.fits(&packet, self.limit) {
            return out.drop(packet, DropReason::Full);
        }
        let p = self.probability(hit);
        let strikes = p > 0.0 && self.draws.unit() < p;
        let admitted = if strikes { signal(packet, self.ecn, DropReason::Early, out) } else { Some(packet) };
        if let Some(packet) = admitted {
            self.queue.push(now, packet);
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

    fn flows_estimated(&self) -> Option<f64> {
        self.zombies.flows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_the_factor_for_few_flows_are_those_that_the_thesis_prints() {
        // thesis 2.5.1.4 with p_max = 0.15
        for (filled, p) in
            [(0.0, 0.0), (0.16, 0.0), (0.17, 0.0375), (0.33, 0.0375), (0.34, 0.15), (1.0, 0.15)]
        {
            assert!((0.15 * step(filled) - p).abs() < 1e-12, "{filled}");
        }
        // 256 flows and more: the whole; 16 flows: (16 / 256)^2
        for (flows, factor) in [(1000.0, 1.0), (256.0, 1.0), (128.0, 0.25), (16.0, 1.0 / 256.0)] {
            assert!((few_flows(1.0 / flows) - factor).abs() < 1e-12, "{flows}");
        }
    }
}
