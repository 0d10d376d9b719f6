//! ERICA's router (Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: The ERICA Switch Algorithm for ABR Traffic
//! Management in ATM Networks, IEEE/ACM Transactions on Networking 8(1), 2000; ATM Forum 96-1172; US patent 5
//! 805 577), on IP packets: it divides each flow's rate by the overload, and gives no flow less than an even
//! share.
//!
//! ```text
//! interval:  target <- U C - others,  z <- input / target,  fair share <- target / max(N, 1)       (1) to (5)
//!            max previous <- max current,  max current <- fair share                              (6), (7)
//!            CCR <- a flow's bytes in the interval over its length
//! newcomer:  N <- N + 1, fair share <- target / N
//! packet  :  VC share <- CCR / z                                                                        (8)
//!            ER <- max(fair share, VC share)                 where z > 1 + delta                        (9)
//!            ER <- max(fair share, VC share, max previous)   else                                      (10)
//!            max current <- max(max current, ER)                                                       (11)
//!            ER <- fair share                                where CCR < fair share and ER above it    (12)
//!            the packet's ER <- min(its ER, ER, target)                                                (13)
//! ```
//!
//! C is the capacity now, `others` the rate of packets without ERICA's header, N the flows of which data came
//! in the last interval, a newcomer a flow that is not among them. A flow gets one ER in an interval; all its
//! packets in that interval carry it, and steps (8) to (12) are done once. Numbers are those of the equations
//! of Vandalore, Fahmy, Jain, Goyal, Goyal 1998.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | steps (1) to (11) | | | Vandalore and others 1998 (ATM Forum 98-0408, cs/9809040) | (10) prints max(max previous, VC share), the text beside it adds the fair share |
//! | steps (12), (13) | | | the text beside them in cs/9809040, and from memory, not verified | the copy that was read lacks the equations |
//! | CCR by the router | | | Kalyanaraman's thesis (1997), chapter 6 and appendix C: option | that of the packet is the other option; see the page |
//! | newcomers count at once | | | thesis, appendix C: immediate fair share option | when a packet arrives, not when feedback leaves |
//! | one ER in an interval | | | thesis, appendix C | none |
//! | z without input | infinite | | thesis, table 6.1: the feedback is C / N | none |
//! | U | 0.9 | of the capacity | Vandalore and others 1998, as an example | none |
//! | delta | 0.1 | | from memory of the paper, not verified; the thesis: "a small fraction" | |
//! | interval | 100 | ms | chosen here: a flow of 120 kbit/s has a packet of 1500 bytes in it | the paper's are milliseconds: its cells have 53 bytes |
//! | first interval | | | chosen here: from the first packet of data with the header | |
//! | before it ends | ER <- CCR of the packet | | chosen here | |

use super::law::{Law, Stretch};
use super::row::Router;
use crate::Identities;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Erica as Header, Explicit, FlowId, Kind, Packet};
use std::collections::BTreeMap;

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
                100.0,
                (1.0, 1e4),
                "ms",
                "averaging interval, which counts load and flows",
            ),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

/// What the last interval says about the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The rate to distribute, bit/s.
    pub target_bps: f64,
    /// z: input as a share of the target; infinite without input.
    pub overload: f64,
    /// The flows that share the target: N.
    pub flows: f64,
    /// The greatest rate that a flow was given in the interval before, bit/s.
    pub max_previous_bps: f64,
}

impl Measured {
    /// An even share of the target, bit/s.
    pub fn fair_bps(&self) -> f64 {
        self.target_bps / self.flows.max(1.0)
    }

    /// ER for a flow that sent at `current_bps`, bit/s, as it counts for the greatest rate given: (8) to
    /// (10).
    pub fn allocated_bps(&self, delta: f64, current_bps: f64) -> f64 {
        let explicit = self.fair_bps().max(current_bps / self.overload);
        if self.overload > 1.0 + delta { explicit } else { explicit.max(self.max_previous_bps) }
    }

    /// ER as that flow is told it, bit/s: (12) and (13).
    pub fn explicit_bps(&self, allocated_bps: f64, current_bps: f64) -> f64 {
        let fair = self.fair_bps();
        let explicit = if current_bps < fair { allocated_bps.min(fair) } else { allocated_bps };
        explicit.min(self.target_bps)
    }
}

/// A flow with data in the running interval.
#[derive(Clone, Copy, Debug, Default)]
struct Active {
    /// Bytes of data that have arrived.
    bytes: f64,
    /// ER, bit/s, once a packet has left.
    explicit_bps: Option<f64>,
}

/// The law.
#[derive(Clone, Debug)]
pub struct Erica {
    target: f64,
    delta: f64,
    interval: Interval,
    /// Bytes without ERICA's header in the running interval.
    other_bytes: f64,
    identities: Identities,
    /// The flows of the running interval, by identity.
    current: BTreeMap<u64, Active>,
    /// The flows of the last interval, and their CCR in it, bit/s.
    last: BTreeMap<u64, f64>,
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
            interval: Interval::from_secs_f64(1e-3 * p.number("interval")),
            other_bytes: 0.0,
            identities: Identities::default(),
            current: BTreeMap::new(),
            last: BTreeMap::new(),
            max_current_bps: 0.0,
            measured: None,
            began: Time::ZERO,
            ends: Time::NEVER,
        }
    }

    /// Begins an interval.
    fn begin(&mut self, now: Time) {
        self.other_bytes = 0.0;
        (self.began, self.ends) = (now, now + self.interval);
    }

    /// Data of this flow with the header arrive.
    fn count(&mut self, flow: u64, bytes: f64) {
        let active = self.current.entry(flow).or_default();
        if active.bytes == 0.0
            && !self.last.contains_key(&flow)
            && let Some(measured) = &mut self.measured
        {
            measured.flows += 1.0;
        }
        active.bytes += bytes;
    }

    /// ER for this flow in the running interval, bit/s; before there is any, the packet's CCR.
    fn give(&mut self, flow: u64, packet_bps: f64) -> f64 {
        let Some(measured) = &self.measured else { return packet_bps };
        let current_bps = self.last.get(&flow).copied().unwrap_or(0.0);
        let active = self.current.entry(flow).or_default();
        *active.explicit_bps.get_or_insert_with(|| {
            let allocated_bps = measured.allocated_bps(self.delta, current_bps);
            self.max_current_bps = self.max_current_bps.max(allocated_bps);
            measured.explicit_bps(allocated_bps, current_bps)
        })
    }
}

impl<P: Packet> Law<P> for Erica {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.identities.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, packet: &mut P, _stretch: &Stretch) {
        let bytes = f64::from(packet.bytes());
        if packet.kind() != Kind::Data || !matches!(packet.explicit(), Some(Explicit::Erica(_))) {
            self.other_bytes += bytes;
            return;
        }
        if self.ends == Time::NEVER {
            self.begin(now);
        }
        self.count(self.identities.of(packet.flow()), bytes);
    }

    fn wake(&self) -> Time {
        self.ends
    }

    fn timer(&mut self, now: Time, stretch: &Stretch) {
        let bps = 8.0 / now.since(self.began).as_secs_f64();
        let target_bps = (self.target * stretch.bps(now) - bps * self.other_bytes).max(0.0);
        // a flow whose packets only left is not counted
        let flows = core::mem::take(&mut self.current).into_iter().filter(|(_, active)| active.bytes > 0.0);
        self.last = flows.map(|(flow, active)| (flow, bps * active.bytes)).collect();
        let input_bps: f64 = self.last.values().sum();
        let measured = Measured {
            target_bps,
            overload: if input_bps > 0.0 { input_bps / target_bps } else { f64::INFINITY },
            flows: self.last.len() as f64,
            max_previous_bps: self.max_current_bps,
        };
        self.max_current_bps = measured.fair_bps();
        self.measured = Some(measured);
        self.begin(now);
    }

    fn leave(&mut self, _now: Time, packet: &mut P, _stretch: &Stretch) {
        let (kind, flow) = (packet.kind(), self.identities.of(packet.flow()));
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
