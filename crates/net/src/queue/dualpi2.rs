//! DualPI2 (De Schepper, Briscoe, White: Dual-Queue Coupled Active Queue Management (AQM) for Low Latency,
//! Low Loss, and Scalable Throughput (L4S), RFC 9332, 2023, appendix A): a low-latency queue for packets of
//! L4S, a classic queue for all others, and one controller whose probability is applied linearly to the first
//! and squared to the second.
//!
//! ```text
//! arrival:  ECT(1) and CE join the low-latency queue, all others the classic one
//! every T:  delay = the wait of the head that has waited longest;  p' <- p' + alpha (delay - target)
//!           + beta (delay - delay before), delays in s, 0 <= p' <= 1;  p_CL = k p', p_C = p'^2
//! next:     a weighted round robin in bytes chooses the queue; the packet is marked (or dropped, if it cannot be marked)
//!           classic:      with p_C
//!           low latency:  with max(p_CL, p_L); p_L is 1 where it waited longer than the step, else 0 (step), or grows
//!                         from 0 to 1 over a range of waits (ramp)
//! overload: from p_CL = 1 on, packets of both queues are dropped with p_C, whatever their ECN field; what is left in
//!           the low-latency queue is marked
//! ```
//!
//! The sources that were read: Linux 6.17's net/sched/sch_dualpi2.c, whose authors are two of the RFC's and
//! others, and picoquic's rendering of the RFC's pseudocode (dualq.c); the RFC's own text was not at hand.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | target | 15 | ms | RFC 9332, A.1; Linux | none |
//! | update (Tupdate) | 16 | ms | RFC 9332, A.1; Linux | begins with the first arrival |
//! | alpha, beta | 0.16, 3.2 | 1/s | RFC 9332, A.1; Linux has 41 / 256 and 819 / 256 | none |
//! | k | 2 | | RFC 9332, 2.1; Linux | none |
//! | step | 1 | ms | Linux `step_thresh` | the RFC's default is the ramp |
//! | ramp | 0.8 to 1.2 | ms | RFC 9332, A.1 (minTh, range), as in picoquic | for `low_latency = "ramp"` |
//! | least queue | 0 | packets | Linux `min_qlen_step` | the RFC's Th_len is 1 |
//! | classic share | 10 | % | Linux `c_protection` | the RFC leaves the scheduler open |
//! | few bytes | 2 | largest packets | Linux: no coupled mark or drop with less than 2 MTUs behind | the MTU is not known here |
//! | p_C that overload begins with | 1 / k^2 | | RFC 9332, A.1; Linux | none |

use super::fifo::{Fifo, signal};
use super::limit::Limit;
use super::row::{Discipline, Setup};
use crate::{DropReason, Element, Sink};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Stream, Style, Time};
use longfat_wire::{Ecn, Packet};

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "dualpi2",
        title: "DualPI2",
        aliases: &["dualq"],
        citation: "De Schepper, Briscoe, White: Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low \
               Loss, and Scalable Throughput (L4S), RFC 9332, 2023",
        page: "dualpi2",
        parameters: &[
            Parameter::number("target", 15.0, (1e-3, 1e6), "ms", "the delay of the classic queue to hold"),
            Parameter::number(
                "update",
                16.0,
                (1e-3, 1e6),
                "ms",
                "time between two changes of the probability (Tupdate)",
            ),
            Parameter::number(
                "alpha",
                0.16,
                (0.0, 1e3),
                "1/s",
                "weight of the delay's distance from the target",
            ),
            Parameter::number("beta", 3.2, (0.0, 1e3), "1/s", "weight of the delay's growth"),
            Parameter::number(
                "coupling",
                2.0,
                (0.1, 100.0),
                "",
                "low-latency packets are marked with this many times the root of the classic queue's probability (k)",
            ),
            Parameter::choice(
                "low_latency",
                &["step", "ramp"],
                "how the low-latency queue marks by its own delay: above a step (Linux), or along a ramp (RFC 9332)",
            ),
            Parameter::number("step", 1.0, (0.0, 1e6), "ms", "the wait above which the step marks"),
            Parameter::number("ramp_min", 0.8, (0.0, 1e6), "ms", "the wait at which the ramp begins"),
            Parameter::number(
                "ramp_range",
                0.4,
                (1e-3, 1e6),
                "ms",
                "from there to the wait that is always marked",
            ),
            Parameter::number(
                "least_queue",
                0.0,
                (0.0, 1e6),
                "packets",
                "step and ramp spare a packet with fewer low-latency packets behind it, rounded down (Th_len)",
            ),
            Parameter::number(
                "classic_share",
                10.0,
                (0.0, 100.0),
                "%",
                "what the classic queue gets of the link while both have packets",
            ),
            Parameter::choice(
                "overload",
                &["drop", "overflow"],
                "where marks do not suffice: drop packets that could be marked, or let the queue fill",
            ),
            Parameter::flag(
                "ecn",
                true,
                "mark packets that can be marked; without it there is one queue, PI2, which drops",
            ),
        ],
        style: Some(Style::new("#0369a1", "o")),
    },
    linux_module: Some("dualpi2"),
    ecn: true,
    l4s: true,
    random: true,
    law: None,
    check: |_, _| Ok(()),
};

/// Shares of the scheduler are in this part of a percent, so that its credit is a whole number.
const PARTS: f64 = 1000.0;
/// With fewer bytes behind it than so many of the largest packets, the coupled probability spares a packet.
const FEW_PACKETS: u64 = 2;

/// How the low-latency queue marks by its own delay.
#[derive(Clone, Copy, Debug)]
enum Native {
    /// Waits above this.
    Step(Interval),
    /// From 0 at the first wait to 1 so much later, in s.
    Ramp(f64, f64),
}

impl Native {
    /// The probability of a packet that has waited for `span` (p'_L of the RFC).
    fn probability(self, span: Interval) -> f64 {
        match self {
            Native::Step(step) => f64::from(u8::from(span > step)),
            Native::Ramp(min_s, range_s) => ((span.as_secs_f64() - min_s) / range_s).clamp(0.0, 1.0),
        }
    }
}

/// What the controller makes of p'.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Coupled {
    /// p_CL, of the low-latency queue.
    low: f64,
    /// p_C, of the classic queue.
    classic: f64,
    /// Whether marks no longer suffice.
    overload: bool,
}

/// One of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Low,
    Classic,
}

fn coupled(p: f64, k: f64) -> Coupled {
    Coupled { low: (k * p).min(1.0), classic: p * p, overload: k * p > 1.0 }
}

/// A DualPI2 queue.
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    limit: Limit,
    low: Fifo<P>,
    classic: Fifo<P>,
    target_s: f64,
    update: Interval,
    alpha: f64,
    beta: f64,
    k: f64,
    native: Native,
    least_queue: u64,
    /// Weights of the low-latency and of the classic queue.
    weights: (i64, i64),
    drops_on_overload: bool,
    ecn: bool,
    draws: Stream,
    started: bool,
    probability: f64,
    old_delay_s: f64,
    /// Above zero it is the classic queue's turn.
    credit: i64,
    max_packet: u32,
}

impl<P: Packet> DualPi2<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let s = |name| 1e-3 * p.number(name);
        let classic_weight = (PARTS * p.number("classic_share")).round() as i64;
        DualPi2 {
            limit: setup.limit,
            low: Fifo::default(),
            classic: Fifo::default(),
            target_s: s("target"),
            update: Interval::from_secs_f64(s("update")),
            alpha: p.number("alpha"),
            beta: p.number("beta"),
            k: p.number("coupling"),
            native: match p.word("low_latency") {
                "ramp" => Native::Ramp(s("ramp_min"), s("ramp_range")),
                _ => Native::Step(Interval::from_secs_f64(s("step"))),
            },
            least_queue: p.number("least_queue") as u64,
            weights: ((100.0 * PARTS) as i64 - classic_weight, classic_weight),
            drops_on_overload: p.word("overload") == "drop",
            ecn: p.flag("ecn"),
            draws: setup.stream,
            started: false,
            probability: 0.0,
            old_delay_s: 0.0,
            credit: 0,
            max_packet: 0,
        }
    }

    /// The controller's probability p'.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// Packets in the low-latency and in the classic queue.
    pub fn lengths(&self) -> (u64, u64) {
        (self.low.len(), self.classic.len())
    }

    fn control(&mut self, delay_s: f64) {
        let step = self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.old_delay_s);
        let most = if self.drops_on_overload { 1.0 } else { (1.0 / self.k).min(1.0) };
        self.probability = (self.probability + step).clamp(0.0, most);
        self.old_delay_s = delay_s;
    }

    fn strikes(&mut self, probability: f64) -> bool {
        self.draws.unit() < probability
    }

    /// Whose turn it is, if a packet waits, and whether packets wait in both queues.
    fn turn(&self) -> (Side, bool) {
        let both = self.low.len() > 0 && self.classic.len() > 0;
        let low = self.low.len() > 0 && (!both || self.credit <= 0);
        (if low { Side::Low } else { Side::Classic }, both)
    }

    fn queue(&mut self, side: Side) -> &mut Fifo<P> {
        match side {
            Side::Low => &mut self.low,
            Side::Classic => &mut self.classic,
        }
    }

    /// Whether the first packet of a queue, of so many bytes, has to carry a signal when it leaves after this
    /// wait: if so, whether a mark will do, and why.
    fn verdict(&mut self, side: Side, bytes: u32, span: Interval) -> Option<(bool, DropReason)> {
        let few = self.bytes() - u64::from(bytes) < FEW_PACKETS * u64::from(self.max_packet);
        let coupled = coupled(if few { 0.0 } else { self.probability }, self.k);
        let overload = coupled.overload && self.drops_on_overload;
        if (overload || side == Side::Classic) && self.strikes(coupled.classic) {
            return Some((self.ecn && !overload, DropReason::Early));
        }
        if side == Side::Classic {
            return None;
        }
        let native = if self.low.len() > self.least_queue { self.native.probability(span) } else { 0.0 };
        let reason = if native > coupled.low { DropReason::Delay } else { DropReason::Early };
        self.strikes(native.max(coupled.low)).then_some((true, reason))
    }
}

impl<P: Packet> Element<P> for DualPi2<P> {
    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if !self.started {
            self.started = true;
            out.set_timer(now + self.update);
        }
        if !self.limit.admits(self.packets(), self.bytes(), packet.bytes()) {
            return out.drop(packet, DropReason::Full);
        }
        self.max_packet = self.max_packet.max(packet.bytes());
        if self.packets() == 0 {
            self.credit = i64::from(self.max_packet) * (self.weights.1 - self.weights.0);
        }
        let low = self.ecn && matches!(packet.ecn(), Ecn::Ect1 | Ecn::Marked);
        if low { self.low.push(now, packet) } else { self.classic.push(now, packet) }
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        let oldest = [&self.low, &self.classic]
            .into_iter()
            .filter_map(|queue| queue.first().map(|(since, _)| since))
            .min();
        self.control(oldest.map_or(0.0, |since| now.since(since).as_secs_f64()));
        out.set_timer(now + self.update);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        loop {
            let (side, both) = self.turn();
            let (since, packet) = self.queue(side).first()?;
            let (span, bytes) = (now.since(since), packet.bytes());
            let signals = self.verdict(side, bytes, span);
            let mut packet = self.queue(side).pop()?.1;
            if let Some((ecn, reason)) = signals {
                match signal(packet, ecn, reason, out) {
                    Some(marked) => packet = marked,
                    None => continue,
                }
            }
            if both {
                let weight = if side == Side::Low { self.weights.1 } else { -self.weights.0 };
                self.credit += weight * i64::from(bytes);
            }
            out.waited(span);
            if side == Side::Low {
                out.waited_low(span);
            }
            return Some(packet);
        }
    }

    fn packets(&self) -> u64 {
        self.low.len() + self.classic.len()
    }

    fn bytes(&self) -> u64 {
        self.low.bytes() + self.classic.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::source::{Bench, Given, capable, data, parameters, s, setup};
    use longfat_wire::SimPacket;

    fn dualpi2(given: &[(&str, &dyn Given)]) -> Bench<DualPi2<SimPacket>> {
        Bench::new(DualPi2::build(setup(1000), &parameters("dualpi2", given)))
    }

    fn l4s(seq: u64, bytes: u32) -> SimPacket {
        let mut packet = data(1, seq, bytes);
        packet.set_ecn(Ecn::Ect1);
        packet
    }

    #[test]
    fn probabilities_are_coupled_as_equation_1_says() {
        // p_C = (p_CL / k)^2
        let half = coupled(0.2, 2.0);
        assert!((half.low - 0.4).abs() < 1e-12 && (half.classic - 0.04).abs() < 1e-12 && !half.overload);
        // the classic queue's greatest probability before overload is 25 % with k = 2
        assert_eq!(coupled(0.5, 2.0), Coupled { low: 1.0, classic: 0.25, overload: false });
        assert!(coupled(0.51, 2.0).overload);
    }

    #[test]
    fn the_controller_adds_what_the_distance_and_the_growth_of_the_delay_ask_for() {
        let mut queue = dualpi2(&[]).queue;
        queue.control(0.025); // 0.16 x 10 ms + 3.2 x 25 ms
        assert!((queue.probability() - 0.0816).abs() < 1e-12, "{}", queue.probability());
        queue.control(0.020); // 0.16 x 5 ms - 3.2 x 5 ms
        assert!((queue.probability() - 0.0664).abs() < 1e-12, "{}", queue.probability());
        queue.control(0.0);
        assert!((queue.probability() - 0.0).abs() < 1e-12, "{}", queue.probability());
    }

    #[test]
    fn without_drops_on_overload_the_low_latency_queue_is_at_most_marked_throughout() {
        let mut queue = dualpi2(&[("overload", &"overflow")]).queue;
        queue.control(10.0);
        assert_eq!(queue.probability(), 0.5);
        let mut queue = dualpi2(&[]).queue;
        queue.control(10.0);
        assert_eq!(queue.probability(), 1.0);
    }

    #[test]
    fn the_step_marks_what_waited_longer_and_the_ramp_marks_in_proportion() {
        let us = |n: u64| Interval::from_ns(1000 * n);
        let step = Native::Step(us(1000));
        assert_eq!([1000, 1001].map(|n| step.probability(us(n))), [0.0, 1.0]);
        let ramp = Native::Ramp(0.8e-3, 0.4e-3);
        for (wait, expected) in [(700, 0.0), (800, 0.0), (900, 0.25), (1100, 0.75), (1200, 1.0), (5000, 1.0)]
        {
            assert!((ramp.probability(us(wait)) - expected).abs() < 1e-9, "{wait} us");
        }
    }

    #[test]
    fn of_twenty_packets_of_each_queue_the_first_twenty_sent_have_two_classic_ones() {
        // 10 % of the bytes; the credit begins with 80 % of a packet for the low-latency queue
        let mut bench = dualpi2(&[("step", &1e6)]);
        for seq in 0..20 {
            bench.queue.arrive(s(0.0), capable(data(0, seq, 1500)), &mut bench.tally);
            bench.queue.arrive(s(0.0), l4s(seq, 1500), &mut bench.tally);
        }
        let sent: Vec<_> =
            (0..20).map(|_| bench.queue.next(s(0.0), &mut bench.tally).unwrap().flow.0).collect();
        let classic: Vec<_> =
            sent.iter().enumerate().filter(|(_, flow)| **flow == 0).map(|(i, _)| i).collect();
        // credit -0.8 + 0.1 n > 0 for the first time after nine, then again ten packets later
        assert_eq!(classic, [9, 19]);
    }

    #[test]
    fn a_mark_of_an_earlier_queue_keeps_a_packet_in_the_low_latency_queue() {
        let mut bench = dualpi2(&[]);
        let mut marked = l4s(0, 1500);
        marked.set_ecn(Ecn::Marked);
        for packet in [marked, l4s(1, 1500), capable(data(0, 0, 1500)), data(0, 1, 1500)] {
            bench.queue.arrive(s(0.0), packet, &mut bench.tally);
        }
        assert_eq!(bench.queue.lengths(), (2, 2));
        // without ECN there is one queue
        let mut bench = dualpi2(&[("ecn", &"false")]);
        bench.queue.arrive(s(0.0), l4s(1, 1500), &mut bench.tally);
        assert_eq!(bench.queue.lengths(), (0, 1));
    }
}
