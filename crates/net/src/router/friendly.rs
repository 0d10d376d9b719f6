//! XCP-TCP friendliness (Lopez Pacheco 2008, chapter 6): keeps the flows of an explicit protocol and all
//! others at their fair shares of a link, by dropping data packets of the others. It wraps the law of any
//! explicit protocol (section 7.4).
//!
//! ```text
//! target:  BW = C N / (N + M)                                                      (6.1)
//! active:  data packets of both kinds came in the last control interval, at more than `load` C
//! update:  rate of the explicit flows > BW:  p <- p x 0.9999;  p <- 0 below `low`
//!                                     < BW:  p <- p x 1.0001;  p <- `start` from 0
//! elastic:  < BW:  p <- p x 1.0001 (y' / y' an interval ago)^2
//! while active, another flow's data packet is dropped with probability p; p <- `start` when the load is below `load` C
//! ```
//!
//! A counter each estimates N, the explicit flows, and M, the others. C is the capacity now; rates are those
//! of arrivals. `p_drop = "elastic"` is what section 7.3.2 of the thesis wishes for without a formula: a p
//! that rises with the acceleration of the other traffic. y' is that traffic's smoothed rate. A TCP's rate
//! goes as 1 / sqrt(p) (Mathis, Semke, Mahdavi, Ott: CCR 1997), so the square takes back what the traffic has
//! gained. What it has lost is given back: if only gains counted, noise alone would raise p.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `start` | 0.001 | | thesis 6.3.3 | none |
//! | `decrease`, `increase` | 0.9999, 1.0001 | | thesis 6.4 | none |
//! | `low` | 0.0001 | | thesis 6.4 | none |
//! | `load` | 0.97 | of the capacity | thesis 6.3.4 | none |
//! | elastic exponent | 2 | | Mathis et al. 1997; chosen here for every TCP | the thesis has no formula |
//! | weight of the last interval in y' | 0.125 | | chosen here: as TCP's smoothed round-trip time | the thesis has no formula |
//! | zombies | 1000 | packets | thesis 6.3.2 | none |
//! | zombies overwritten | 0.25; 0.5 of half of the packets | of the misses | thesis 6.3.2, 6.5 | 0.25 / `inspect`, up to 1 |
//! | zombies' alpha | 0.25 / 1000 `inspect` | | thesis, equation 2.28 and 6.5 | none |

use super::law::{Controlled, DynLaw, Law};
use super::protocols::{PROTOCOLS, laws};
use super::row::{Router, Setup};
use crate::counter::{Bloom, Counter, Exact, Zombies};
use crate::{DropReason, Element, Identities, Sink};
use longfat_units::math::pow;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Stream, Time};
use longfat_wire::{FlowId, Kind, Packet};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "friendly",
        title: "XCP-TCP friendliness",
        aliases: &[],
        citation: "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous \
               high speed networks, thesis, ENS Lyon, 2008, chapter 6",
        page: "friendly",
        parameters: &[
            Parameter::choice("protocol", PROTOCOLS, "explicit protocol whose flows it protects"),
            Parameter::choice("counter", &["zombie", "exact", "bloom"], "how flows are counted"),
            Parameter::number(
                "inspect",
                1.0,
                (0.01, 1.0),
                "of the packets",
                "the share that the counters inspect",
            ),
            Parameter::choice("update", &["interval", "packet"], "when the drop probability moves"),
            Parameter::choice(
                "p_drop",
                &["printed", "elastic"],
                "how it rises: by the printed factor, or also with the other traffic's acceleration",
            ),
            Parameter::number("start", 0.001, (0.0, 1.0), "", "drop probability at first"),
            Parameter::number(
                "decrease",
                0.9999,
                (0.9, 1.0),
                "",
                "factor while explicit flows have their share",
            ),
            Parameter::number("increase", 1.0001, (1.0, 1.1), "", "factor while explicit flows lack some"),
            Parameter::number("low", 0.0001, (0.0, 1.0), "", "a lower drop probability becomes 0"),
            Parameter::number(
                "load",
                0.97,
                (0.0, 1.0),
                "of the capacity",
                "with less traffic nothing is dropped",
            ),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

const ZOMBIES: usize = 1000;
/// The weight of the last interval in the other traffic's smoothed rate.
const WEIGHT: f64 = 0.125;
/// TCP's rate goes as p to the power of -1 over this.
const RESPONSE: f64 = 2.0;
/// The share of misses that replace a zombie when every packet is inspected.
const OVERWRITE: f64 = 0.25;

/// The rate that the explicit flows should have on a link of `capacity_bps`, beside the other flows (equation
/// 6.1).
pub fn target_bps(capacity_bps: f64, explicit_flows: f64, other_flows: f64) -> f64 {
    capacity_bps * explicit_flows / (explicit_flows + other_flows)
}

/// The drop probability, and how it moves.
#[derive(Clone, Copy, Debug)]
pub struct Probability {
    /// The probability of a drop, between 0 and 1.
    pub now: f64,
    start: f64,
    low: f64,
    decrease: f64,
    increase: f64,
    /// The further factor of an update while explicit flows lack some, for the acceleration of the other
    /// traffic.
    elastic: f64,
}

impl Probability {
    /// From checked parameters, at its start.
    pub fn new(p: &Parameters) -> Self {
        let [start, low, decrease, increase] = ["start", "low", "decrease", "increase"].map(|n| p.number(n));
        Probability { now: start, start, low, decrease, increase, elastic: 1.0 }
    }

    /// One update. `excess_bps` is the explicit flows' rate less their target.
    pub fn update(&mut self, excess_bps: f64) {
        if excess_bps > 0.0 {
            self.now *= self.decrease;
            if self.now < self.low {
                self.now = 0.0;
            }
        } else if excess_bps < 0.0 {
            let factor = self.increase * self.elastic;
            self.now = if self.now == 0.0 { self.start } else { (self.now * factor).min(1.0) };
        }
    }

    fn reset(&mut self) {
        self.now = self.start;
    }
}

/// The acceleration of the other traffic.
#[derive(Clone, Copy, Debug, Default)]
struct Acceleration {
    smoothed_bps: f64,
    /// Updates of the probability in the running interval.
    updates: u32,
}

impl Acceleration {
    /// An interval has ended with this rate. Returns the factor of one update in the next.
    fn factor(&mut self, bps: f64) -> f64 {
        let updates = core::mem::take(&mut self.updates).max(1);
        // what appears from nothing meets `start`
        let before = if self.smoothed_bps > 0.0 { self.smoothed_bps } else { bps };
        self.smoothed_bps = before + WEIGHT * (bps - before);
        let gained = if before > 0.0 { self.smoothed_bps / before } else { 1.0 };
        pow(gained, RESPONSE / f64::from(updates))
    }
}

/// The flows of one kind.
struct Side {
    counter: Box<dyn Counter + Send>,
    /// Bytes of all packets in the running interval, and whether one was data.
    bytes: u64,
    present: bool,
}

impl Side {
    fn new(p: &Parameters, draws: &mut Stream) -> Self {
        let inspect = p.number("inspect");
        let alpha = OVERWRITE / ZOMBIES as f64 * inspect;
        let counter: Box<dyn Counter + Send> = match p.word("counter") {
            "exact" => Box::new(Exact::default()),
            "bloom" => Box::new(Bloom::new(draws)),
            _ => Box::new(Zombies::new(ZOMBIES, (OVERWRITE / inspect).min(1.0), alpha)),
        };
        Side { counter, bytes: 0, present: false }
    }

    /// Ends an interval. Returns its bytes, and whether data arrived.
    fn end_interval(&mut self) -> (f64, bool) {
        self.counter.end_interval();
        (core::mem::take(&mut self.bytes) as f64, core::mem::take(&mut self.present))
    }
}

/// A queue with a law around it, and the mechanism that limits other flows to their share.
pub struct Friendly<P> {
    link: Controlled<P, DynLaw<P>>,
    explicit: Side,
    others: Side,
    identities: Identities,
    inspect: f64,
    each_packet: bool,
    load: f64,
    probability: Probability,
    /// How the other traffic accelerates, if the probability rises with it.
    acceleration: Option<Acceleration>,
    /// The explicit flows' rate in the last interval less their target, bit/s; `None` while the mechanism is
    /// inactive.
    excess_bps: Option<f64>,
    began: Time,
    ends: Time,
    draws: Stream,
}

impl<P: Packet> Friendly<P> {
    /// From checked parameters.
    pub fn build(setup: Setup<P>, p: &Parameters) -> Self {
        let mut draws = setup.stream;
        Friendly {
            link: Controlled::new(setup.queue, setup.capacity, laws(p.word("protocol"))()),
            explicit: Side::new(p, &mut draws),
            others: Side::new(p, &mut draws),
            identities: Identities::default(),
            inspect: p.number("inspect"),
            each_packet: p.word("update") == "packet",
            load: p.number("load"),
            probability: Probability::new(p),
            acceleration: (p.word("p_drop") == "elastic").then(Acceleration::default),
            excess_bps: None,
            began: Time::ZERO,
            ends: Time::NEVER,
            draws,
        }
    }

    /// The probability with which it drops another flow's data packet now.
    pub fn drop_probability(&self) -> f64 {
        if self.excess_bps.is_some() { self.probability.now } else { 0.0 }
    }

    fn count(&mut self, packet: &P, explicit: bool) {
        let side = if explicit { &mut self.explicit } else { &mut self.others };
        side.bytes += u64::from(packet.bytes());
        if packet.kind() == Kind::Data {
            side.present = true;
            if self.inspect >= 1.0 || self.draws.unit() < self.inspect {
                side.counter.see(self.identities.of(packet.flow()), &mut self.draws);
            }
        }
    }

    /// Whether a data packet of another flow is to be dropped.
    fn strikes(&mut self) -> bool {
        let Some(excess_bps) = self.excess_bps else { return false };
        if self.each_packet {
            self.probability.update(excess_bps);
            if let Some(acceleration) = &mut self.acceleration {
                acceleration.updates += 1;
            }
        }
        self.probability.now > 0.0 && self.draws.unit() < self.probability.now
    }

    /// A control interval ends.
    fn control(&mut self, now: Time) {
        let bits_to_bps = 8.0 / now.since(self.began).as_secs_f64();
        let (explicit_bytes, has_explicit) = self.explicit.end_interval();
        let (other_bytes, has_others) = self.others.end_interval();
        let capacity_bps = self.link.capacity().bps(now);
        if let Some(acceleration) = &mut self.acceleration {
            self.probability.elastic = acceleration.factor(bits_to_bps * other_bytes);
        }
        let loaded = bits_to_bps * (explicit_bytes + other_bytes) > self.load * capacity_bps;
        if !loaded {
            self.probability.reset();
        }
        self.excess_bps = match (self.explicit.counter.flows(), self.others.counter.flows()) {
            (Some(n), Some(m)) if loaded && has_explicit && has_others => {
                Some(bits_to_bps * explicit_bytes - target_bps(capacity_bps, n, m))
            }
            _ => None,
        };
        if let (Some(excess_bps), false) = (self.excess_bps, self.each_packet) {
            self.probability.update(excess_bps);
        }
        self.began = now;
        self.ends = now + self.link.law().interval();
    }

    fn plan(&self, out: &mut dyn Sink<P>) {
        out.set_timer(self.ends.min(self.link.wake()));
    }
}

impl<P: Packet> Element<P> for Friendly<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.identities.begins(flow, identity);
        self.link.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if self.ends == Time::NEVER {
            self.began = now;
            self.ends = now + self.link.law().interval();
        }
        let explicit = self.link.law().guides(&packet);
        self.count(&packet, explicit);
        if !explicit && packet.kind() == Kind::Data && self.strikes() {
            out.drop(packet, DropReason::Early);
        } else {
            self.link.take(now, packet, out);
        }
        self.plan(out);
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.link.fire(now, out);
        // after the law, whose next interval is this one's too
        if now >= self.ends {
            self.control(now);
        }
        self.plan(out);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.link.give(now, out);
        self.plan(out);
        packet
    }

    fn packets(&self) -> u64 {
        self.link.packets()
    }

    fn bytes(&self) -> u64 {
        self.link.bytes()
    }

    /// The flows of both kinds together.
    fn flows_estimated(&self) -> Option<f64> {
        match (self.explicit.counter.flows(), self.others.counter.flows()) {
            (None, None) => None,
            (n, m) => Some(n.unwrap_or(0.0) + m.unwrap_or(0.0)),
        }
    }
}
