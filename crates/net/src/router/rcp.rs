//! RCP's router (Dukkipati, Kobayashi, Zhang-Shen, McKeown: Processor Sharing Flows in the Internet, IWQoS
//! 2005): gives every flow the same rate R and adjusts it so that the link is full and the queue empty. It
//! counts no flows: C / R stands for their number.
//!
//! ```text
//! once in T = min(d, interval), with C' = gamma C:
//!   R <- R [1 + (T / d) (alpha (C' - y) - beta q / d) / C'],   1/100 packet per d <= R <= C'
//!   d <- g s + (1 - g) d       s: mean round-trip time of the bytes that came with one
//!        g = T / d  if s >= d,   (R / C) (s / d) (T / d)  otherwise
//! a packet leaves with the lesser of its rate and R
//! ```
//!
//! y is the rate of all arrivals in T, q the queue at its end, C the capacity then. The round-trip times are
//! those of RCP's headers.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | rule | as above | | the authors' ns-2 router, whose comment writes it so | none |
//! | alpha, beta | 0.4, 0.4 | | the authors' ns-2 defaults; their scripts for flow completion times set 0.1 and 1 | none |
//! | gamma | 1 | of the capacity | the authors' ns-2 defaults | none |
//! | interval | 10 | ms | the authors' ns-2 defaults (update time slot) | none |
//! | R at first | 0.05 | of the capacity | the authors' ns-2 defaults | none; it grows from the time on when the router is switched on |
//! | d at first | 200 | ms | the authors' ns-2 router | none |
//! | least R | 0.01 | of 1000 bytes per d | the authors' ns-2 defaults | none |
//! | first interval | T | | the authors' ns-2 router | there at random around T |
//! | idle intervals before the first packet, one by one | 100 000 | the last ones | chosen here, to bound the work | those before see the capacity of their end; ns-2 computes all |

use super::law::{Law, Stretch};
use super::row::Router;
use longfat_units::math::pow;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, Kind, Packet};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "rcp",
        title: "RCP",
        aliases: &[],
        citation: "Dukkipati, Kobayashi, Zhang-Shen, McKeown: Processor Sharing Flows in the Internet, IWQoS 2005",
        page: "rcp",
        parameters: &[
            Parameter::number("alpha", 0.4, (1e-3, 10.0), "", "how fast the rate follows unused capacity"),
            Parameter::number("beta", 0.4, (0.0, 10.0), "", "how fast the rate drains the queue"),
            Parameter::number("gamma", 1.0, (0.1, 1.0), "of the capacity", "how much of it flows should use"),
            Parameter::number("interval", 10.0, (0.1, 1e4), "ms", "greatest time between two updates (T)"),
            Parameter::number("initial", 0.05, (1e-6, 1.0), "of the capacity", "the rate at first"),
            Parameter::number(
                "initial_rtt",
                200.0,
                (0.01, 1e5),
                "ms",
                "the mean round-trip time at first (d)",
            ),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

/// The least rate is this for each mean round-trip time, bits: a hundredth of 1000 bytes.
const LEAST_BITS: f64 = 0.01 * 8000.0;

/// When the first packet arrives, up to so many intervals before it are computed one by one.
const REPLAYED: u64 = 100_000;

/// The gains of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// The gain for unused capacity.
    pub alpha: f64,
    /// The gain for the queue.
    pub beta: f64,
}

/// What a link saw in one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The interval's length T, s.
    pub span_s: f64,
    /// The capacity that flows should use, C', bit/s.
    pub capacity_bps: f64,
    /// The rate of arrivals y, bit/s.
    pub input_bps: f64,
    /// The queue q at the end, bits.
    pub queue_bits: f64,
}

impl Gains {
    /// The rate after an interval in which it was `rate_bps`, before any bound; `rtt_s` is d.
    pub fn next_bps(&self, rate_bps: f64, rtt_s: f64, seen: &Seen) -> f64 {
        let spare_bps = self.alpha * (seen.capacity_bps - seen.input_bps);
        let drain_bps = self.beta * seen.queue_bits / rtt_s;
        rate_bps * (1.0 + seen.span_s / rtt_s * (spare_bps - drain_bps) / seen.capacity_bps)
    }
}

/// d after an interval of `span_s` whose bytes had a mean round-trip time of `sample_s`; `share` is R / C.
pub fn mean_rtt_s(rtt_s: f64, sample_s: f64, share: f64, span_s: f64) -> f64 {
    let damping = if sample_s >= rtt_s { 1.0 } else { share * sample_s / rtt_s };
    rtt_s + (damping * span_s / rtt_s).min(1.0) * (sample_s - rtt_s)
}

/// The law.
#[derive(Clone, Debug)]
pub struct Rcp {
    gains: Gains,
    gamma: f64,
    /// T is at most this.
    longest: Interval,
    /// The share of the capacity that R has at first.
    initial: f64,
    /// R, bit/s.
    rate_bps: f64,
    /// d, s.
    rtt_s: f64,
    /// The last mean round-trip time of an interval, s; 0 before the first.
    sample_s: f64,
    /// Bytes that arrived in the running interval.
    bytes: f64,
    /// Bytes that came with a round-trip time, and the sum of bytes times round-trip time, byte s.
    timed: (f64, f64),
    /// A packet has arrived.
    awake: bool,
    began: Time,
    ends: Time,
}

impl Rcp {
    /// From checked parameters.
    pub fn build(p: &Parameters) -> Self {
        Rcp {
            gains: Gains { alpha: p.number("alpha"), beta: p.number("beta") },
            gamma: p.number("gamma"),
            longest: Interval::from_secs_f64(1e-3 * p.number("interval")),
            initial: p.number("initial"),
            rate_bps: 0.0,
            rtt_s: 1e-3 * p.number("initial_rtt"),
            sample_s: 0.0,
            bytes: 0.0,
            timed: (0.0, 0.0),
            awake: false,
            began: Time::ZERO,
            ends: Time::NEVER,
        }
    }

    /// The length of the next interval, T.
    fn slot(&self) -> Interval {
        self.longest.min(Interval::from_secs_f64(self.rtt_s))
    }

    fn start_interval(&mut self, now: Time) {
        (self.began, self.ends) = (now, now + self.slot());
    }

    /// The running interval ends.
    fn update(&mut self, now: Time, stretch: &Stretch) {
        let span_s = now.since(self.began).as_secs_f64();
        let link_bps = stretch.bps(now).max(1.0);
        let (bytes, sum) = core::mem::take(&mut self.timed);
        if bytes > 0.0 {
            self.sample_s = sum / bytes;
        }
        self.rtt_s = mean_rtt_s(self.rtt_s, self.sample_s, self.rate_bps / link_bps, span_s);
        let seen = Seen {
            span_s,
            capacity_bps: self.gamma * link_bps,
            input_bps: 8.0 * core::mem::take(&mut self.bytes) / span_s,
            queue_bits: 8.0 * stretch.queue_bytes as f64,
        };
        let rate_bps = self.gains.next_bps(self.rate_bps, self.rtt_s, &seen);
        self.rate_bps = rate_bps.min(seen.capacity_bps).max(LEAST_BITS / self.rtt_s);
        self.start_interval(now);
    }

    /// The first packet arrives: the intervals that have ended since the router was switched on saw none.
    /// They need no timer, so that an idle link costs no events.
    fn catch_up(&mut self, now: Time, stretch: &Stretch) {
        let span = self.slot();
        let ended = now.since(self.began).as_ns() / span.as_ns().max(1);
        let at_once = ended.saturating_sub(REPLAYED);
        if at_once > 0 {
            // d stays without a round-trip time, so each of them is the same factor, up to the capacity
            let growth = 1.0 + span.as_secs_f64() / self.rtt_s * self.gains.alpha;
            self.start_interval(self.began + Interval::from_ns(at_once * span.as_ns()));
            let most_bps = self.gamma * stretch.bps(self.began).max(1.0);
            self.rate_bps = (self.rate_bps * pow(growth, at_once as f64)).min(most_bps);
        }
        while self.ends <= now {
            self.update(self.ends, stretch);
        }
    }
}

impl<P: Packet> Law<P> for Rcp {
    fn begin(&mut self, now: Time, stretch: &Stretch) {
        self.rate_bps = self.initial * stretch.bps(now);
        self.start_interval(now);
    }

    fn arrive(&mut self, now: Time, packet: &mut P, stretch: &Stretch) {
        if !self.awake {
            self.awake = true;
            self.catch_up(now, stretch);
        }
        let bytes = f64::from(packet.bytes());
        self.bytes += bytes;
        if let Some(Explicit::Rcp(header)) = packet.explicit()
            && header.rtt_s > 0.0
        {
            self.timed.0 += bytes;
            self.timed.1 += bytes * header.rtt_s;
        }
    }

    fn wake(&self) -> Time {
        if self.awake { self.ends } else { Time::NEVER }
    }

    fn timer(&mut self, now: Time, stretch: &Stretch) {
        self.update(now, stretch);
    }

    fn leave(&mut self, _now: Time, packet: &mut P, _stretch: &Stretch) {
        let kind = packet.kind();
        if let Some(Explicit::Rcp(header)) = packet.explicit_mut()
            && matches!(kind, Kind::Data | Kind::Syn)
        {
            header.rate_bps = header.rate_bps.min(self.rate_bps);
        }
    }

    fn guides(&self, packet: &P) -> bool {
        matches!(packet.explicit(), Some(Explicit::Rcp(_)))
    }

    fn interval(&self) -> Interval {
        self.slot()
    }
}
