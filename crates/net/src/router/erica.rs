//! ERICA's router (Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: The ERICA Switch Algorithm for ABR Traffic Management
//! in ATM Networks, IEEE/ACM Transactions on Networking 8(1), 2000; ATM Forum 96-1172; US patent 5 805 577), on IP
//! packets: it divides each flow's rate by the overload, and gives no flow less than an even share.
//!
//! ```text
//! interval:  target <- U C - others,  z <- input / target,  fair share <- target / N
//!            max previous <- max current,  max current <- fair share
//! packet  :  VC share <- CCR / z
//!            ER <- max(fair share, VC share)                 where z > 1 + delta
//!            ER <- max(fair share, VC share, max previous)   else
//!            ER <- fair share                                where CCR < fair share and ER above it
//!            ER <- min(ER, target),  max current <- max(max current, ER)
//!            the packet's ER <- min(its ER, ER)
//! ```
//!
//! C is the capacity now, `others` the rate of packets without ERICA's header, N the flows of which data came in the
//! last interval. A flow gets one ER in an interval; all its packets in that interval carry it.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | U | 0.9 | of the capacity | Vandalore, Fahmy, Jain, Goyal, Goyal 1998 (cs/9809040), as an example | none |
//! | delta | 0.1 | | from memory of the paper, not verified; Kalyanaraman's thesis (1997): "a small fraction" | |
//! | interval | 0.1 | s | chosen here: a flow of 120 kbit/s has a packet of 1500 bytes in it | the paper's are milliseconds: its cells have 53 bytes |
//! | before the first interval ends | ER <- CCR | | chosen here | |

use super::law::{Law, Stretch};
use super::row::Router;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Erica as Header, Explicit, FlowId, Kind, Packet};
use std::collections::{BTreeMap, BTreeSet};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "erica",
        title: "ERICA",
        aliases: &[],
        citation: "Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: The ERICA Switch Algorithm for ABR Traffic Management in \
                   ATM Networks, IEEE/ACM Transactions on Networking 8(1), 2000",
        page: "erica",
        parameters: &[
            Parameter::number("target", 0.9, (0.1, 1.0), "of the capacity", "target utilization (U)"),
            Parameter::number(
                "delta",
                0.1,
                (0.0, 1.0),
                "of the target",
                "overload from which allocations may differ",
            ),
            Parameter::number(
                "interval",
                0.1,
                (1e-3, 10.0),
                "s",
                "averaging interval, which counts load and flows",
            ),
        ],
        style: None,
    },
};

/// What the last interval says about the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The rate to distribute, bit/s.
    pub target_bps: f64,
    /// z: input as a share of the target.
    pub overload: f64,
    /// An even share of the target, bit/s.
    pub fair_bps: f64,
    /// The greatest rate that a flow was given in the interval before, bit/s.
    pub max_previous_bps: f64,
}

impl Measured {
    /// ER for a flow that may send at `current_bps`, bit/s.
    pub fn explicit_bps(&self, delta: f64, current_bps: f64) -> f64 {
        let share = current_bps / self.overload; // infinite without input
        let mut explicit = if self.overload > 1.0 + delta {
            self.fair_bps.max(share)
        } else {
            self.fair_bps.max(share).max(self.max_previous_bps)
        };
        if current_bps < self.fair_bps && explicit > self.fair_bps {
            explicit = self.fair_bps;
        }
        explicit.min(self.target_bps)
    }
}

/// The law.
#[derive(Clone, Debug)]
pub struct Erica {
    target: f64,
    delta: f64,
    interval: Interval,
    /// Bytes with ERICA's header and without in the running interval.
    bytes: (f64, f64),
    active: BTreeSet<FlowId>,
    /// ER of each flow in the running interval, bit/s.
    given: BTreeMap<FlowId, f64>,
    max_current_bps: f64,
    /// `None` before the end of the first interval.
    measured: Option<Measured>,
    began: Time,
    ends: Time,
}

impl Erica {
    /// From checked parameters.
    pub fn build(p: &Parameters) -> Self {
        Erica {
            target: p.number("target"),
            delta: p.number("delta"),
            interval: Interval::from_secs_f64(p.number("interval")),
            bytes: (0.0, 0.0),
            active: BTreeSet::new(),
            given: BTreeMap::new(),
            max_current_bps: 0.0,
            measured: None,
            began: Time::ZERO,
            ends: Time::NEVER,
        }
    }

    /// ER for this flow in the running interval, bit/s.
    fn give(&mut self, flow: FlowId, current_bps: f64) -> f64 {
        let Some(measured) = &self.measured else { return current_bps };
        let given = self.given.entry(flow).or_insert_with(|| measured.explicit_bps(self.delta, current_bps));
        self.max_current_bps = self.max_current_bps.max(*given);
        *given
    }
}

impl<P: Packet> Law<P> for Erica {
    fn arrive(&mut self, now: Time, packet: &mut P, _stretch: &Stretch) {
        if self.ends == Time::NEVER {
            (self.began, self.ends) = (now, now + self.interval);
        }
        let bytes = f64::from(packet.bytes());
        if packet.kind() == Kind::Data && matches!(packet.explicit(), Some(Explicit::Erica(_))) {
            self.bytes.0 += bytes;
            self.active.insert(packet.flow());
        } else {
            self.bytes.1 += bytes;
        }
    }

    fn wake(&self) -> Time {
        self.ends
    }

    fn timer(&mut self, now: Time, stretch: &Stretch) {
        let (own, others) = core::mem::take(&mut self.bytes);
        let bps = |bytes: f64| 8.0 * bytes / now.since(self.began).as_secs_f64();
        let target_bps = (self.target * stretch.bps(now) - bps(others)).max(0.0);
        let flows = self.active.len().max(1) as f64;
        let fair_bps = target_bps / flows;
        self.measured = Some(Measured {
            target_bps,
            overload: if own > 0.0 { bps(own) / target_bps } else { 0.0 },
            fair_bps,
            max_previous_bps: self.max_current_bps,
        });
        self.max_current_bps = fair_bps;
        self.active.clear();
        self.given.clear();
        (self.began, self.ends) = (now, now + self.interval);
    }

    fn leave(&mut self, _now: Time, packet: &mut P, _stretch: &Stretch) {
        let (kind, flow) = (packet.kind(), packet.flow());
        if let Some(Explicit::Erica(Header { current_bps, explicit_bps })) = packet.explicit_mut()
            && kind == Kind::Data
        {
            *explicit_bps = explicit_bps.min(self.give(flow, *current_bps));
        }
    }

    fn guides(&self, packet: &P) -> bool {
        matches!(packet.explicit(), Some(Explicit::Erica(_)))
    }

    fn interval(&self) -> Interval {
        self.interval
    }
}
