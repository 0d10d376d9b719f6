//! JetMax's router (Zhang, Leonard, Loguinov: JetMax: Scalable Max-Min Congestion Control for High-Speed
//! Heterogeneous Networks, INFOCOM 2006; Computer Networks 2008): counts the flows that follow it and gives
//! each its equal share, without a record of flows. This is the form of Lopez Pacheco's thesis (2008, section
//! 2.5.3.2):
//!
//! ```text
//! loss     :  p = (y - gamma C) / y                   overload, where there is one          (2.38)
//! fair rate:  g = (gamma C - u) / N                                                          (2.39)
//! members  :  N = sum(delta) / Delta                  over the packets of those who follow   (2.40)
//! ```
//!
//! C is the capacity now, y the rate of all arrivals, and u the rate of arrivals that do not follow this
//! router: other protocols, acknowledgements, JetMax flows with their bottleneck elsewhere. delta is the time
//! from a packet to its flow's next one, Delta the interval. A packet carries the values of the most
//! overloaded router or, if none is overloaded, of the one with the least rate.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | gamma | 0.95 | of the capacity | chosen here | the thesis gives no value |
//! | Delta | 0.05 | s | chosen here: below the round-trip times of long fat networks | the thesis gives no value |
//! | p counts from | (1 + gamma) / 2 | of the capacity | chosen here: where gamma C is met, packets are more or fewer by one | any y above gamma C |

use super::law::{Law, Stretch};
use super::row::Router;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, JetMax as Header, Kind, Packet};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "jetmax",
        title: "JetMax",
        aliases: &[],
        citation: "Zhang, Leonard, Loguinov: JetMax: Scalable Max-Min Congestion Control for High-Speed Heterogeneous \
               Networks, INFOCOM 2006",
        page: "jetmax",
        parameters: &[
            Parameter::number(
                "gamma",
                0.95,
                (0.1, 1.0),
                "of the capacity",
                "how much of it flows should use",
            ),
            Parameter::number(
                "interval",
                0.05,
                (1e-3, 10.0),
                "s",
                "how long flows and traffic are counted; not above the least round-trip time",
            ),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

/// What arrives in one interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Bytes of every packet.
    pub bytes: f64,
    /// Bytes of those that do not follow this router.
    pub unresponsive: f64,
    /// Sum of the gaps of those that do, s.
    pub gaps_s: f64,
}

/// What a router says in the next interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// p; 0 without an overload.
    pub loss: f64,
    /// g, bit/s.
    pub fair_bps: f64,
}

impl Sums {
    /// The report for a stretch that carries `capacity_bps`, from sums over `span_s`. The first flow to
    /// follow gets everything that is left.
    pub fn verdict(&self, gamma: f64, span_s: f64, capacity_bps: f64) -> Verdict {
        let target = gamma * capacity_bps;
        let [input, unresponsive] = [self.bytes, self.unresponsive].map(|bytes| 8.0 * bytes / span_s);
        let overloaded = input > 0.5 * (target + capacity_bps);
        Verdict {
            loss: if overloaded { (input - target) / input } else { 0.0 },
            fair_bps: (target - unresponsive).max(0.0) / (self.gaps_s / span_s).max(1.0),
        }
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct JetMax {
    gamma: f64,
    interval: Interval,
    sums: Sums,
    /// The part of this interval's gaps that lies in the next one, s: a packet represents its flow until the
    /// next one arrives.
    carried_s: f64,
    /// `None` before the end of the first interval.
    verdict: Option<Verdict>,
    began: Time,
    ends: Time,
}

impl JetMax {
    /// From checked parameters.
    pub fn build(p: &Parameters) -> Self {
        JetMax {
            gamma: p.number("gamma"),
            interval: Interval::from_secs_f64(p.number("interval")),
            sums: Sums::default(),
            carried_s: 0.0,
            verdict: None,
            began: Time::ZERO,
            ends: Time::NEVER,
        }
    }

    /// Writes this router's values if they are worse than those in the header, or if this router wrote those.
    fn write(&self, header: &mut Header) {
        header.hops = header.hops.saturating_add(1);
        let Some(verdict) = self.verdict else { return };
        let more_loss = verdict.loss > header.loss;
        let less_rate = verdict.loss == 0.0 && header.loss == 0.0 && verdict.fair_bps < header.fair_bps;
        if header.suggested == header.hops || more_loss || less_rate {
            header.suggested = header.hops;
            (header.loss, header.fair_bps) = (verdict.loss, verdict.fair_bps);
        }
    }
}

impl<P: Packet> Law<P> for JetMax {
    fn arrive(&mut self, now: Time, packet: &mut P, _stretch: &Stretch) {
        if self.ends == Time::NEVER {
            (self.began, self.ends) = (now, now + self.interval);
        }
        let bytes = f64::from(packet.bytes());
        self.sums.bytes += bytes;
        match packet.explicit() {
            // a flow without a bottleneck will follow some router: better to count it too early than too late
            Some(Explicit::JetMax(header))
                if packet.kind() == Kind::Data
                    && (header.bottleneck == 0 || header.bottleneck == header.hops.saturating_add(1)) =>
            {
                let within_s = header.gap_s.min(self.ends.since(now).as_secs_f64());
                self.sums.gaps_s += within_s;
                self.carried_s += header.gap_s - within_s;
            }
            _ => self.sums.unresponsive += bytes,
        }
    }

    fn wake(&self) -> Time {
        self.ends
    }

    fn timer(&mut self, now: Time, stretch: &Stretch) {
        let carried_s = core::mem::take(&mut self.carried_s);
        let sums = core::mem::replace(&mut self.sums, Sums { gaps_s: carried_s, ..Sums::default() });
        let span_s = now.since(self.began).as_secs_f64();
        self.verdict = Some(sums.verdict(self.gamma, span_s, stretch.bps(now)));
        (self.began, self.ends) = (now, now + self.interval);
    }

    fn leave(&mut self, _now: Time, packet: &mut P, _stretch: &Stretch) {
        let kind = packet.kind();
        if let Some(Explicit::JetMax(header)) = packet.explicit_mut()
            && kind == Kind::Data
        {
            self.write(header);
        }
    }

    fn guides(&self, packet: &P) -> bool {
        matches!(packet.explicit(), Some(Explicit::JetMax(_)))
    }

    fn interval(&self) -> Interval {
        self.interval
    }
}
