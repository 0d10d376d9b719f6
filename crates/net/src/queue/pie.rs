//! PIE (Pan, Natarajan, Baker, White: Proportional Integral Controller Enhanced (PIE), RFC 8033, 2017): drops
//! arrivals with a probability that a controller derives from how long packets wait and whether the wait
//! grows.
//!
//! ```text
//! every T:  p <- p + scale(p) (alpha (delay - target) + beta (delay - delay before)), delays in s
//!           scale: 1/2048 for p < 1e-6, 1/512 < 1e-5, 1/128 < 1e-4, 1/32 < 1e-3, 1/8 < 1e-2, 1/2 < 1e-1, then 1
//!           a step up is at most 0.02 where p is 0.1 or more;  p <- 0.98 p when nothing waited twice
//! arrival:  never while a burst is allowed, with two packets or fewer waiting, or with delay < target / 2 and p < 0.2;
//!           else with p, but spaced: not before the sum of p since the last drop is 0.85, certainly when it is 8.5
//! burst:    150 ms are allowed, less the time that passes; again in full when p = 0 and both delays < target / 2
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | target (QDELAY_REF) | 15 | ms | RFC 8033, section 4 | none |
//! | update (T_UPDATE) | 15 | ms | RFC 8033, section 4 | begins with the first arrival |
//! | alpha, beta | 0.125, 1.25 | 1/s | RFC 8033, section 4 | none |
//! | max_burst | 150 | ms | RFC 8033, section 4 | none |
//! | ECN threshold | 0.1 | | RFC 8033, 5.1 | none; above it packets are dropped |
//! | spacing | 0.85, 8.5 | | RFC 8033, 5.4 | none; `derandomize = false` leaves it out |
//! | greatest step | 0.02 | | RFC 8033, 5.5 | none |
//! | few packets | 2 | packets | RFC 8033, section 4: 2 mean packets of bytes | counted in packets, as in ns-3 |
//! | delay | of the last packet sent | | RFC 8033, section 4 leaves the choice; Linux' default | 0 when the queue is empty |

use super::fifo::{Fifo, signal};
use super::limit::Limit;
use super::red::ECN;
use super::row::{Discipline, Setup};
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::{Parameter, ParameterError, Parameters};
use longfat_units::{Entry, Interval, Stream, Style, Time};
use longfat_wire::Packet;

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "pie",
        title: "PIE",
        aliases: &[],
        citation: "Pan, Natarajan, Baker, White: Proportional Integral Controller Enhanced (PIE): A Lightweight Control \
               Scheme to Address the Bufferbloat Problem, RFC 8033, 2017",
        page: "pie",
        parameters: &[
            Parameter::number("target", 15.0, (1e-3, 1e6), "ms", "the delay to hold (QDELAY_REF)"),
            Parameter::number(
                "update",
                15.0,
                (1e-3, 1e6),
                "ms",
                "time between two changes of the probability (T_UPDATE)",
            ),
            Parameter::number(
                "max_burst",
                150.0,
                (0.0, 1e6),
                "ms",
                "a burst of this length passes without drops (MAX_BURST)",
            ),
            Parameter::number(
                "alpha",
                0.125,
                (0.0, 1e3),
                "1/s",
                "weight of the delay's distance from the target",
            ),
            Parameter::number("beta", 1.25, (0.0, 1e3), "1/s", "weight of the delay's growth"),
            Parameter::number(
                "ecn_threshold",
                0.1,
                (0.0, 1.0),
                "",
                "above this probability packets are not marked but dropped",
            ),
            Parameter::flag("derandomize", true, "space the drops (RFC 8033, 5.4)"),
            ECN,
        ],
        style: Some(Style::new("#111827", "o")),
    },
    linux_module: Some("pie"),
    ecn: true,
    random: true,
};

const SPACING: (f64, f64) = (0.85, 8.5);
const GREATEST_STEP: f64 = 0.02;
const FEW_PACKETS: u64 = 2;
const DECAY: f64 = 0.98;

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie<P> {
    limit: Limit,
    queue: Fifo<P>,
    target_s: f64,
    update: Interval,
    max_burst: Interval,
    alpha: f64,
    beta: f64,
    ecn: Option<f64>,
    derandomize: bool,
    draws: Stream,
    started: bool,
    probability: f64,
    delay_s: f64,
    old_delay_s: f64,
    burst: Interval,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
}

impl<P: Packet> Pie<P> {
    /// An empty queue from checked parameters; refused where they do not go together.
    pub fn build(setup: Setup, p: &Parameters) -> Result<Self, ParameterError> {
        let ms = |name| Interval::from_secs_f64(1e-3 * p.number(name));
        Ok(Pie {
            limit: setup.limit,
            queue: Fifo::default(),
            target_s: 1e-3 * p.number("target"),
            update: ms("update"),
            max_burst: ms("max_burst"),
            alpha: p.number("alpha"),
            beta: p.number("beta"),
            ecn: p.flag("ecn").then(|| p.number("ecn_threshold")),
            derandomize: p.flag("derandomize"),
            draws: setup.stream,
            started: false,
            probability: 0.0,
            delay_s: 0.0,
            old_delay_s: 0.0,
            burst: ms("max_burst"),
            accumulated: 0.0,
        })
    }

    /// The drop probability.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    fn is_calm(&self, delay_s: f64) -> bool {
        delay_s < 0.5 * self.target_s
    }

    fn drops(&mut self) -> bool {
        let few = self.queue.len() <= FEW_PACKETS;
        if self.burst > Interval::ZERO || few || (self.is_calm(self.old_delay_s) && self.probability < 0.2) {
            return false;
        }
        if self.derandomize {
            self.accumulated = if self.probability > 0.0 { self.accumulated + self.probability } else { 0.0 };
            if self.accumulated < SPACING.0 {
                return false;
            }
        }
        let drops =
            (self.derandomize && self.accumulated >= SPACING.1) || self.draws.unit() < self.probability;
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    fn control(&mut self) {
        let (delay_s, p) = (self.delay_s, self.probability);
        let mut step = self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.old_delay_s);
        step *= scale(p);
        if p >= 0.1 {
            step = step.min(GREATEST_STEP);
        }
        self.probability = (p + step).clamp(0.0, 1.0);
        if delay_s == 0.0 && self.old_delay_s == 0.0 {
            self.probability *= DECAY;
        }
        self.burst = self.burst.saturating_sub(self.update);
        if self.probability == 0.0 && self.is_calm(delay_s) && self.is_calm(self.old_delay_s) {
            self.burst = self.max_burst;
        }
        self.old_delay_s = delay_s;
    }
}

/// How much of a step a small probability takes (RFC 8033, section 4).
fn scale(p: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| p < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl<P: Packet> Element<P> for Pie<P> {
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if !self.started {
            self.started = true;
            out.set_timer(now + self.update);
        }
        if !self.queue.fits(&packet, self.limit) {
            self.accumulated = 0.0;
            return out.drop(packet, DropReason::Full);
        }
        let admitted = if self.drops() {
            let marks = self.ecn.is_some_and(|threshold| self.probability <= threshold);
            signal(packet, marks, DropReason::Early, out)
        } else {
            Some(packet)
        };
        if let Some(packet) = admitted {
            self.queue.push(now, packet);
        }
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.control();
        out.set_timer(now + self.update);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let (since, packet) = self.queue.pop()?;
        let waited = now.since(since);
        out.waited(waited);
        self.delay_s = if self.queue.len() == 0 { 0.0 } else { waited.as_secs_f64() };
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_probability_takes_the_share_of_a_step_that_the_rfc_prints() {
        for (p, divisor) in
            [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0), (0.5, 1.0)]
        {
            assert_eq!(scale(p) * divisor, 1.0, "{p}");
        }
    }
}
