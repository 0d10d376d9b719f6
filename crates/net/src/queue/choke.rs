//! CHOKe (Pan, Prabhakar, Psounis: CHOKe, a Stateless Active Queue Management Scheme for Approximating Fair
//! Bandwidth Allocation, IEEE INFOCOM 2000): RED that also compares an arriving packet with one drawn from
//! the queue; if they belong to the same flow, both are dropped.
//!
//! ```text
//! avg <- RED's average
//! avg < min :         admit
//! else      :         draw a packet from the queue; same flow: drop both
//!           avg < max : else drop with RED's probability
//!           else      : else drop
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | candidates | 1 | packets | Pan et al., basic CHOKe | none; theirs draw more in an extension |
//! | thresholds, weight, max_p | as RED | | Pan et al.: "the drop probability is computed exactly as in RED" | automatic values as in `red` |
//!
//! The thesis of Lopez Pacheco (2008, algorithm 5) does not draw above the upper threshold but drops the
//! arriving packet at once: `variant = "thesis"`. Linux's sch_choke draws, as in the paper.

use super::average::{Average, Curve, Spacing, Verdict};
use super::fifo::{Fifo, signal};
use super::limit::Limit;
use super::red::{ECN, MAX, MAX_P, MEAN_PACKET, MIN, WAIT, WEIGHT, check_thresholds, strikes, thresholds};
use super::row::{Discipline, Setup};
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::{Parameter, ParameterError, Parameters};
use longfat_units::{Entry, Rate, Stream, Style, Time};
use longfat_wire::Packet;

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "choke",
        title: "CHOKe",
        aliases: &[],
        citation: "Pan, Prabhakar, Psounis: CHOKe, a Stateless Active Queue Management Scheme for Approximating Fair \
               Bandwidth Allocation, IEEE INFOCOM 2000",
        page: "choke",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "thesis"],
                "thesis: above the upper threshold nothing is drawn, the arriving packet is dropped",
            ),
            MIN,
            MAX,
            MAX_P,
            WEIGHT,
            Parameter::number(
                "candidates",
                1.0,
                (1.0, 1000.0),
                "packets",
                "how many are drawn from the queue for each arrival, rounded down",
            ),
            WAIT,
            MEAN_PACKET,
            ECN,
        ],
        style: Some(Style::new("#92400e", "o")),
    },
    linux_module: Some("choke"),
    ecn: true,
    l4s: false,
    random: true,
    law: None,
    check,
};

fn check(rate: Rate, p: &Parameters) -> Result<(), ParameterError> {
    check_thresholds(&ROW, thresholds(rate, p, TARGET_DELAY_S))
}

/// The automatic lower threshold is half of it, as by default in RED.
const TARGET_DELAY_S: f64 = 0.005;

/// A CHOKe queue.
#[derive(Clone, Debug)]
pub struct Choke<P> {
    limit: Limit,
    queue: Fifo<P>,
    average: Average,
    curve: Curve,
    spacing: Spacing,
    candidates: u32,
    /// Whether it draws above the upper threshold.
    always_draws: bool,
    ecn: bool,
    draws: Stream,
}

impl<P: Packet> Choke<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let (min, max) = thresholds(setup.rate, p, TARGET_DELAY_S);
        Choke {
            limit: setup.limit,
            queue: Fifo::default(),
            average: Average::new(p.number("weight"), setup.rate, p.number("mean_packet")),
            curve: Curve { min, max, max_p: p.number("max_p"), gentle: false },
            spacing: Spacing::new(p.flag("wait")),
            candidates: p.number("candidates") as u32,
            always_draws: p.word("variant") == "paper",
            ecn: p.flag("ecn"),
            draws: setup.stream,
        }
    }

    /// Draws candidates and drops those of the packet's flow. Returns whether there was one.
    fn matches(&mut self, packet: &P, out: &mut dyn Sink<P>) -> bool {
        let mut found = false;
        for _ in 0..self.candidates {
            let index = self.draws.below(self.queue.len()) as usize;
            let same = self.queue.get(index).is_some_and(|drawn| drawn.flow() == packet.flow());
            if same && let Some(victim) = self.queue.remove(index) {
                out.drop(victim, DropReason::Match);
                found = true;
            }
        }
        found
    }
}

impl<P: Packet> Element<P> for Choke<P> {
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        self.average.arrive(now, self.queue.len() as f64, self.queue.len() == 0);
        let verdict = self.curve.verdict(self.average.value());
        let draws = match verdict {
            Verdict::Pass => false,
            Verdict::Chance(_) => true,
            Verdict::Force => self.always_draws,
        };
        if draws && self.matches(&packet, out) {
            self.spacing.restart();
            return out.drop(packet, DropReason::Match);
        }
        if !self.queue.fits(&packet, self.limit) {
            self.spacing.restart();
            return out.drop(packet, DropReason::Full);
        }
        let admitted = match strikes(verdict, 1.0, &mut self.spacing, &mut self.draws) {
            None => Some(packet),
            // RFC 3168, section 7: above the upper threshold even packets that can be marked are dropped
            Some(reason) => signal(packet, self.ecn && reason == DropReason::Early, reason, out),
        };
        if let Some(packet) = admitted {
            self.queue.push(now, packet);
        }
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.queue.serve(now, out)?;
        self.average.depart(now, packet.bytes());
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
