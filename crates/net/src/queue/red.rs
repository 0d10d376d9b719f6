//! RED (Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM Transactions on
//! Networking 1(4), 1993), with the gentle slope (Floyd 2000) and adaptation of max_p (Floyd, Gummadi,
//! Shenker: Adaptive RED, 2001).
//!
//! ```text
//! arrival:   avg <- (1 - w) avg + w q
//! drop with  p_b = max_p (avg - min) / (max - min)            from min to max
//!            p_b = max_p + (1 - max_p) (avg - max) / max      from max to 2 max, where gentle
//! spaced:    p_a = p_b / (1 - count p_b), count packets since the last drop
//! adaptive:  every 0.5 s   max_p + min(0.01, max_p / 4)   where avg is above min + 0.6 (max - min)
//!                          0.9 max_p                      where it is below min + 0.4 (max - min)
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | min | max(5, target C / 2) | packets | Adaptive RED, 4.3; ns-2 red.cc | none; where `min` is 0 |
//! | max | 3 min | packets | Adaptive RED, 4.3; ns-2 red.cc | none; where `max` is 0 |
//! | target delay | 5 | ms | ns-2 `targetdelay_` | none |
//! | w | 1 - exp(-1 / C) | | Adaptive RED, 4.2; ns-2 `q_weight_` 0 | ns-2's default, -1, is the same at RTTs to 100 ms |
//! | max_p | 0.1 | | ns-2 `linterm_` 10 | the paper of 1993 has 1/50 |
//! | alpha, beta | 0.01, 0.9 | | Adaptive RED, 4.1 | none |
//! | interval | 0.5 | s | Adaptive RED, figure 2 | checked at arrivals, as in ns-2 |
//! | range of max_p | 0.01 to 0.5 | | Adaptive RED, figure 2; ns-2 `bottom_`, `top_` | none |
//! | harddrop | true | | RFC 3168, section 7 | Linux's tc-red marks there unless `harddrop` is given |
//! | mean packet | 1500 | bytes | chosen here: a full packet | ns-2 has 500 |

use super::average::{Average, Curve, Spacing, Verdict, packets_per_s};
use super::fifo::Fifo;
use super::limit::Limit;
use super::row::{Discipline, LawKind, Setup};
use crate::{Admission, Admitted, DropReason, Element, Sink};
use longfat_units::parameters::{Parameter, ParameterError, Parameters};
use longfat_units::{Entry, Interval, Rate, Stream, Style, Time};
use longfat_wire::{Ecn, Packet};

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "red",
        title: "RED",
        aliases: &[],
        citation: "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM Transactions on \
               Networking 1(4), 1993; Floyd, Gummadi, Shenker: Adaptive RED, 2001",
        page: "red",
        parameters: &[
            MIN,
            MAX,
            MAX_P,
            WEIGHT,
            Parameter::flag("gentle", true, "the probability rises to 1 at twice the upper threshold"),
            Parameter::flag("adaptive", false, "move max_p so that the average stays between the thresholds"),
            Parameter::number(
                "target_delay",
                5.0,
                (1e-3, 1e4),
                "ms",
                "the automatic lower threshold is half of it",
            ),
            Parameter::number(
                "interval",
                0.5,
                (1e-3, 1e3),
                "s",
                "adaptive: time between two changes of max_p",
            ),
            Parameter::number("alpha", 0.01, (0.0, 1.0), "", "adaptive: greatest increase of max_p"),
            Parameter::number("beta", 0.9, (0.0, 1.0), "", "adaptive: factor by which max_p decreases"),
            WAIT,
            Parameter::choice("mode", &["packets", "bytes"], "what the average and the probability count"),
            MEAN_PACKET,
            ECN,
            Parameter::flag(
                "harddrop",
                true,
                "with ecn: above the curve, drop packets that can be marked too (RFC 3168)",
            ),
        ],
        style: Some(Style::new("#d55e00", "o")),
    },
    linux_module: Some("red"),
    ecn: true,
    l4s: false,
    random: true,
    law: Some(LawKind::Red),
    check,
};

pub(super) const MIN: Parameter =
    Parameter::number("min", 0.0, (0.0, 1e9), "packets", "lower threshold of the average")
        .or_auto("from target_delay, at least 5 packets");
pub(super) const MAX: Parameter =
    Parameter::number("max", 0.0, (0.0, 1e9), "packets", "upper threshold of the average")
        .or_auto("three times min");
pub(super) const MAX_P: Parameter =
    Parameter::number("max_p", 0.1, (0.0, 1.0), "", "drop probability at the upper threshold");
pub(super) const WEIGHT: Parameter =
    Parameter::number("weight", 0.0, (0.0, 1.0), "", "weight of a packet in the average")
        .or_auto("1 - exp(-1 / packets per second)");
pub(super) const WAIT: Parameter =
    Parameter::flag("wait", false, "leave at least 1/p packets between two drops, as ns-2 does");
pub(super) const MEAN_PACKET: Parameter = Parameter::number(
    "mean_packet",
    1500.0,
    (1.0, 65_535.0),
    "bytes",
    "a typical packet, for idle times, automatic values and byte mode",
);
pub(super) const ECN: Parameter =
    Parameter::flag("ecn", false, "mark packets that can be marked (RFC 3168) instead of dropping them");

/// The range of max_p in adaptation.
const MAX_P_RANGE: (f64, f64) = (0.01, 0.5);

/// The thresholds in packets: as given, or automatic if 0.
pub(super) fn thresholds(rate: Rate, p: &Parameters, target_s: f64) -> (f64, f64) {
    let automatic = (0.5 * target_s * packets_per_s(rate, p.number("mean_packet"))).max(5.0);
    let min = if p.number("min") > 0.0 { p.number("min") } else { automatic };
    (min, if p.number("max") > 0.0 { p.number("max") } else { 3.0 * min })
}

/// Refuses thresholds in the wrong order.
pub(super) fn check_thresholds(row: &Discipline, (min, max): (f64, f64)) -> Result<(), ParameterError> {
    if max <= min {
        let accepted = format!("more than {}.min, which is {min} packets", row.name);
        return Err(row.refuse("max", format!("{max} packets"), accepted));
    }
    Ok(())
}

fn target_s(p: &Parameters) -> f64 {
    1e-3 * p.number("target_delay")
}

fn check(rate: Rate, p: &Parameters) -> Result<(), ParameterError> {
    check_thresholds(&ROW, thresholds(rate, p, target_s(p)))
}

/// A RED queue.
#[derive(Clone, Debug)]
pub struct Red<P> {
    law: Law,
    queue: Fifo<P>,
}

/// What RED decides, which it does at arrival.
#[derive(Clone, Debug)]
pub struct Law {
    limit: Limit,
    average: Average,
    curve: Curve,
    spacing: Spacing,
    adaptation: Option<Adaptation>,
    /// In byte mode, the bytes of a mean packet.
    bytes_each: Option<f64>,
    ecn: bool,
    /// Above the curve, packets that can be marked are dropped too.
    hard: bool,
    draws: Stream,
}

#[derive(Clone, Debug)]
struct Adaptation {
    interval: Interval,
    alpha: f64,
    beta: f64,
    last: Time,
}

impl<P: Packet> Red<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        Red { law: Law::build(setup, p), queue: Fifo::default() }
    }

    /// The average queue, in packets, or in bytes in byte mode.
    pub const fn average(&self) -> f64 {
        self.law.average.value()
    }

    /// The probability at the upper threshold, which adaptation moves.
    pub const fn max_p(&self) -> f64 {
        self.law.curve.max_p
    }
}

impl Law {
    /// Without its queue, from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        let (min, max) = thresholds(setup.rate, p, target_s(p));
        let mean = p.number("mean_packet");
        let bytes_each = (p.word("mode") == "bytes").then_some(mean);
        let unit = bytes_each.unwrap_or(1.0);
        Law {
            limit: setup.limit,
            average: Average::new(p.number("weight"), setup.rate, mean),
            curve: Curve {
                min: min * unit,
                max: max * unit,
                max_p: p.number("max_p"),
                gentle: p.flag("gentle"),
            },
            spacing: Spacing::new(p.flag("wait")),
            adaptation: p.flag("adaptive").then(|| Adaptation {
                interval: Interval::from_secs_f64(p.number("interval")),
                alpha: p.number("alpha"),
                beta: p.number("beta"),
                last: Time::ZERO,
            }),
            bytes_each,
            ecn: p.flag("ecn"),
            hard: p.flag("harddrop"),
            draws: setup.stream,
        }
    }
}

impl Adaptation {
    fn adapt(&mut self, now: Time, average: f64, curve: &mut Curve) {
        if now.since(self.last) < self.interval {
            return;
        }
        self.last = now;
        let part = 0.4 * (curve.max - curve.min);
        let (least, greatest) = MAX_P_RANGE;
        if average > curve.max - part && curve.max_p < greatest {
            curve.max_p += self.alpha.min(0.25 * curve.max_p);
        } else if average < curve.min + part && curve.max_p > least {
            curve.max_p *= self.beta;
        }
    }
}

/// Whether a verdict strikes a packet that the queue has room for, and why. `size` is in packets.
#[inline]
pub(super) fn strikes(
    verdict: Verdict,
    size: f64,
    spacing: &mut Spacing,
    draws: &mut Stream,
) -> Option<DropReason> {
    match verdict {
        Verdict::Pass => {
            spacing.restart();
            None
        }
        Verdict::Chance(p) => spacing.strikes(p, size, draws).then_some(DropReason::Early),
        Verdict::Force => {
            spacing.restart();
            Some(DropReason::Forced)
        }
    }
}

impl Admission for Law {
    #[inline(always)]
    fn admit(&mut self, now: Time, (packets, queued): (u64, u64), bytes: u32, markable: bool) -> Admitted {
        let (length, size) = match self.bytes_each {
            None => (packets as f64, 1.0),
            Some(mean) => (queued as f64, f64::from(bytes) / mean),
        };
        self.average.arrive(now, length, packets == 0);
        let average = self.average.value();
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.adapt(now, average, &mut self.curve);
        }
        if !self.limit.admits(packets, queued, bytes) {
            self.spacing.restart();
            return Admitted::Dropped(DropReason::Full);
        }
        match strikes(self.curve.verdict(average), size, &mut self.spacing, &mut self.draws) {
            None => Admitted::Unmarked,
            Some(reason) if self.ecn && markable && (reason == DropReason::Early || !self.hard) => {
                Admitted::Marked(reason)
            }
            Some(reason) => Admitted::Dropped(reason),
        }
    }

    #[inline(always)]
    fn starts(&mut self, now: Time, bytes: u32) {
        self.average.depart(now, bytes);
    }
}

impl<P: Packet> Element<P> for Red<P> {
    #[inline(always)]
    fn arrive(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        let (waiting, markable) = ((self.queue.len(), self.queue.bytes()), packet.ecn() != Ecn::NotCapable);
        match self.law.admit(now, waiting, packet.bytes(), markable) {
            Admitted::Dropped(reason) => return out.drop(packet, reason),
            Admitted::Marked(reason) => {
                packet.set_ecn(Ecn::Marked);
                out.marked(reason);
            }
            Admitted::Unmarked => {}
        }
        self.queue.push(now, packet);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.queue.serve(now, out)?;
        self.law.starts(now, packet.bytes());
        Some(packet)
    }

    fn packets(&self) -> u64 {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
