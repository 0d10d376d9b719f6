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
use longfat_units::parameters::{Parameter, Parameters};
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
        parameters: &[TARGET, UPDATE, MAX_BURST, ALPHA, BETA, ECN_THRESHOLD, DERANDOMIZE, ECN],
        style: Some(Style::new("#111827", "o")),
    },
    linux_module: Some("pie"),
    ecn: true,
    l4s: false,
    random: true,
    law: None,
    check: |_, _| Ok(()),
};

pub(super) const TARGET: Parameter =
    Parameter::number("target", 15.0, (1e-3, 1e6), "ms", "the delay to hold (QDELAY_REF)");
pub(super) const UPDATE: Parameter = Parameter::number(
    "update",
    15.0,
    (1e-3, 1e6),
    "ms",
    "time between two changes of the probability (T_UPDATE)",
);
pub(super) const MAX_BURST: Parameter = Parameter::number(
    "max_burst",
    150.0,
    (0.0, 1e6),
    "ms",
    "a burst of this length passes without drops (MAX_BURST)",
);
pub(super) const ALPHA: Parameter =
    Parameter::number("alpha", 0.125, (0.0, 1e3), "1/s", "weight of the delay's distance from the target");
pub(super) const BETA: Parameter =
    Parameter::number("beta", 1.25, (0.0, 1e3), "1/s", "weight of the delay's growth");
pub(super) const ECN_THRESHOLD: Parameter = Parameter::number(
    "ecn_threshold",
    0.1,
    (0.0, 1.0),
    "",
    "above this probability packets are not marked but dropped",
);
pub(super) const DERANDOMIZE: Parameter =
    Parameter::flag("derandomize", true, "space the drops (RFC 8033, 5.4)");

const SPACING: (f64, f64) = (0.85, 8.5);
const GREATEST_STEP: f64 = 0.02;
const FEW_PACKETS: u64 = 2;
const DECAY: f64 = 0.98;

/// PIE's settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    target_s: f64,
    /// Time between two calls of [`Law::control`].
    pub update: Interval,
    max_burst: Interval,
    alpha: f64,
    beta: f64,
    ecn: Option<f64>,
    derandomize: bool,
}

/// PIE's state for one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// The drop probability.
    pub probability: f64,
    delay: Interval,
    old_delay: Interval,
    /// Whether the old delay is less than half of the target.
    calm: bool,
    burst: Interval,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
}

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie<P> {
    limit: Limit,
    queue: Fifo<P>,
    law: Law,
    memory: Memory,
    draws: Stream,
    started: bool,
}

impl<P: Packet> Pie<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let law = Law::new(p);
        Pie {
            limit: setup.limit,
            queue: Fifo::default(),
            memory: law.memory(),
            law,
            draws: setup.stream,
            started: false,
        }
    }

    /// The drop probability.
    pub const fn probability(&self) -> f64 {
        self.memory.probability
    }
}

impl Law {
    pub(super) fn new(p: &Parameters) -> Self {
        let ms = |name| Interval::from_secs_f64(1e-3 * p.number(name));
        Law {
            target_s: 1e-3 * p.number("target"),
            update: ms("update"),
            max_burst: ms("max_burst"),
            alpha: p.number("alpha"),
            beta: p.number("beta"),
            ecn: p.flag("ecn").then(|| p.number("ecn_threshold")),
            derandomize: p.flag("derandomize"),
        }
    }

    /// The state of a queue before its first packet.
    pub(super) const fn memory(&self) -> Memory {
        let burst = self.max_burst;
        let delay = Interval::ZERO;
        Memory { probability: 0.0, delay, old_delay: delay, calm: true, burst, accumulated: 0.0 }
    }

    fn drops(&self, m: &mut Memory, waiting: u64, draws: &mut Stream) -> bool {
        let few = waiting <= FEW_PACKETS;
        if m.burst > Interval::ZERO || few || (m.calm && m.probability < 0.2) {
            return false;
        }
        if self.derandomize {
            m.accumulated = if m.probability > 0.0 { m.accumulated + m.probability } else { 0.0 };
            if m.accumulated < SPACING.0 {
                return false;
            }
        }
        let drops = (self.derandomize && m.accumulated >= SPACING.1) || draws.unit() < m.probability;
        if drops {
            m.accumulated = 0.0;
        }
        drops
    }

    /// A packet arrives where so many wait, and there is room for it. Returns it unless it is dropped.
    #[inline(always)]
    pub(super) fn admit<P: Packet>(
        &self,
        m: &mut Memory,
        packet: P,
        waiting: u64,
        draws: &mut Stream,
        out: &mut dyn Sink<P>,
    ) -> Option<P> {
        if self.drops(m, waiting, draws) {
            let marks = self.ecn.is_some_and(|threshold| m.probability <= threshold);
            return signal(packet, marks, DropReason::Early, out);
        }
        Some(packet)
    }

    /// A packet arrives where there is no room for it.
    pub(super) const fn refuse(m: &mut Memory) {
        m.accumulated = 0.0;
    }

    /// A packet has left after this wait, and so many are behind it.
    pub(super) fn left(m: &mut Memory, waited: Interval, behind: u64) {
        m.delay = if behind == 0 { Interval::ZERO } else { waited };
    }

    /// Whether [`Law::control`] changes nothing more, if the queue is empty, until a packet joins it.
    pub(super) fn is_at_rest(&self, m: &Memory) -> bool {
        m.probability == 0.0
            && m.delay == Interval::ZERO
            && m.old_delay == Interval::ZERO
            && m.burst == self.max_burst
    }

    /// Changes the probability; called at each multiple of `update`.
    pub(super) fn control(&self, m: &mut Memory) {
        let (delay_s, old_delay_s, p) = (m.delay.as_secs_f64(), m.old_delay.as_secs_f64(), m.probability);
        let mut step = self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - old_delay_s);
        step *= scale(p);
        if p >= 0.1 {
            step = step.min(GREATEST_STEP);
        }
        m.probability = (p + step).clamp(0.0, 1.0);
        if delay_s == 0.0 && old_delay_s == 0.0 {
            m.probability *= DECAY;
        }
        m.burst = m.burst.saturating_sub(self.update);
        let calm = delay_s < 0.5 * self.target_s;
        if m.probability == 0.0 && calm && m.calm {
            m.burst = self.max_burst;
        }
        (m.old_delay, m.calm) = (m.delay, calm);
    }
}

/// How much of a step a small probability takes (RFC 8033, section 4).
fn scale(p: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| p < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl<P: Packet> Element<P> for Pie<P> {
    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if !self.started {
            self.started = true;
            out.set_timer(now + self.law.update);
        }
        if !self.queue.fits(&packet, self.limit) {
            Law::refuse(&mut self.memory);
            return out.drop(packet, DropReason::Full);
        }
        let waiting = self.queue.len();
        if let Some(packet) = self.law.admit(&mut self.memory, packet, waiting, &mut self.draws, out) {
            self.queue.push(now, packet);
        }
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.law.control(&mut self.memory);
        out.set_timer(now + self.law.update);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let (since, packet) = self.queue.pop()?;
        let waited = now.since(since);
        out.waited(waited);
        Law::left(&mut self.memory, waited, self.queue.len());
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

    proptest::proptest! {
        #[test]
        fn an_idle_queue_comes_to_rest_and_stays_there(
            target_s in 1e-6f64..0.1,
            update_ns in 1u64..100_000_000,
            burst_ns in 0u64..500_000_000,
            (alpha, beta, probability) in (0.01f64..10.0, 0.0f64..10.0, 0.0f64..1.0),
        ) {
            let (update, max_burst) = (Interval::from_ns(update_ns), Interval::from_ns(burst_ns));
            let law = Law { target_s, update, max_burst, alpha, beta, ecn: None, derandomize: true };
            let (delay, old_delay, burst) = (Interval::ZERO, Interval::from_millis(500), Interval::ZERO);
            let mut m = Memory { probability, delay, old_delay, calm: false, burst, accumulated: 0.0 };
            let rounds = (0..50_000).take_while(|_| { law.control(&mut m); !law.is_at_rest(&m) }).count();
            proptest::prop_assert!(rounds < 50_000, "{rounds} rounds");
            let late = Memory { old_delay: Interval::from_millis(500), calm: false, ..m };
            proptest::prop_assert!(!law.is_at_rest(&late));
            law.control(&mut m);
            proptest::prop_assert!(law.is_at_rest(&m));
        }
    }

    #[test]
    fn a_small_probability_takes_the_share_of_a_step_that_the_rfc_prints() {
        for (p, divisor) in
            [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0), (0.5, 1.0)]
        {
            assert_eq!(scale(p) * divisor, 1.0, "{p}");
        }
    }
}
