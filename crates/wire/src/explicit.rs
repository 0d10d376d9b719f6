//! Explicit congestion headers, by which senders and routers speak to each other.

use crate::message::Address;
use crate::quick_start::QuickStart;
use longfat_units::Time;
use longfat_units::math::{exp, ln};

/// An explicit congestion header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Explicit {
    /// XCP (Katabi, Handley, Rohrs: SIGCOMM 2002).
    Xcp(Xcp),
    /// VCP (Xia, Subramanian, Stoica, Kalyanaraman: SIGCOMM 2005).
    Vcp(Load),
    /// Quick-Start (RFC 4782).
    QuickStart(QuickStart),
    /// JetMax (Zhang, Leonard, Loguinov: INFOCOM 2006).
    JetMax(JetMax),
    /// RCP (Dukkipati, Kobayashi, Zhang-Shen, McKeown: IWQoS 2005).
    Rcp(Rcp),
    /// TCP MaxNet (Wydrowski, Zukerman: IEEE Communications Letters 2002).
    MaxNet(MaxNet),
    /// ERICA on IP packets (Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: IEEE/ACM Transactions on Networking
    /// 2000).
    Erica(Erica),
    /// PTP (Welzl: draft-welzl-ptp-03, 2000).
    Ptp(Ptp),
}

impl Explicit {
    /// Returns how many bytes of a packet it takes.
    pub const fn header_bytes(&self) -> u32 {
        match self {
            Explicit::Xcp(_) => Xcp::HEADER_BYTES,
            Explicit::Vcp(_) => 0, // the two ECN bits of the IP header
            Explicit::QuickStart(_) => QuickStart::OPTION_BYTES,
            Explicit::JetMax(_) => JetMax::HEADER_BYTES,
            Explicit::Rcp(_) => Rcp::HEADER_BYTES,
            Explicit::MaxNet(_) => MaxNet::HEADER_BYTES,
            Explicit::Erica(_) => Erica::HEADER_BYTES,
            Explicit::Ptp(_) => Ptp::HEADER_BYTES,
        }
    }

    /// Joins the header of a later packet to this one, to what a receiver echoes that acknowledges several
    /// packets at once: the sum of XCP's feedback, the highest of VCP's loads, and the last of other headers.
    #[inline]
    pub fn join(&mut self, later: &Explicit) {
        match (self, later) {
            (Explicit::Xcp(a), Explicit::Xcp(b)) => {
                *a = Xcp { feedback_bytes: a.feedback_bytes + b.feedback_bytes, ..*b };
            }
            (Explicit::Vcp(a), Explicit::Vcp(b)) => *a = (*a).max(*b),
            (before, later) => *before = *later,
        }
    }

    /// Whether receivers echo it on the acknowledgements of the data that carry it.
    pub const fn is_echoed(&self) -> bool {
        !matches!(self, Explicit::QuickStart(_) | Explicit::Ptp(_))
    }

    /// Whether receivers also echo it on the answer to the connection request that carries it, so that a
    /// flow knows its rate before it sends data.
    pub const fn is_answered(&self) -> bool {
        matches!(self, Explicit::Rcp(_))
    }
}

/// What VCP's routers say about their load, in two bits; senders write the first value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Load {
    /// Multiplicative increase.
    #[default]
    Low,
    /// Additive increase.
    High,
    /// Multiplicative decrease.
    Over,
}

/// The XCP congestion header.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Xcp {
    /// The sender's current cwnd in bytes.
    pub cwnd_bytes: f64,
    /// The sender's current round-trip time estimate in seconds; 0 while it has none.
    pub rtt_s: f64,
    /// Change of cwnd in bytes: what the sender wishes, then what the routers on the path leave of it.
    pub feedback_bytes: f64,
    /// XCP-r: the sender has set its cwnd by other means than feedback, and the receiver's copy of it has to
    /// follow (Lopez Pacheco 2008, section 5.3: the congestion flag). Routers leave it alone.
    pub reset: bool,
}

impl Xcp {
    /// Its length, on data and on acknowledgements (draft-falk-xcp-spec-03, congestion header).
    pub const HEADER_BYTES: u32 = 20;

    /// Whether the sender knows its round-trip time and cwnd; without them a router cannot tell it anything.
    pub fn is_measured(&self) -> bool {
        self.rtt_s > 0.0 && self.cwnd_bytes > 0.0
    }
}

/// What routers that count their own kind write beside an explicit header (XCP-i: Lopez Pacheco 2008, section
/// 4.4): a second time-to-live, and the last such router that the packet has passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trail {
    /// Like the IP header's, but only these routers decrease it.
    pub ttl: u8,
    /// The last of these routers; `None` when the packet leaves the sender.
    pub last_router: Option<Address>,
}

impl Trail {
    /// The time-to-live that a sender puts into both headers (Linux: net.ipv4.ip_default_ttl).
    pub const TTL: u8 = 64;
}

impl Default for Trail {
    fn default() -> Self {
        Trail { ttl: Trail::TTL, last_router: None }
    }
}

/// The JetMax congestion header (Lopez Pacheco 2008, section 2.5.3.2). Routers are numbered along the path
/// from the sender, beginning with 1; 0 stands for none. The proposed size s of the thesis is the packet's
/// own length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JetMax {
    /// R_T: the router whose rate the sender follows.
    pub bottleneck: u8,
    /// R_C: how many JetMax routers the packet has crossed.
    pub hops: u8,
    /// R_S: the router that the sender should follow.
    pub suggested: u8,
    /// p: the greatest overload of a router on the path, as a share of what arrives at it; 0 if none is
    /// overloaded.
    pub loss: f64,
    /// g: the rate that the suggested router has for each of its flows, bit/s of IP; infinite until a router
    /// has set it.
    pub fair_bps: f64,
    /// delta: how long after this packet the sender's next one leaves, s.
    pub gap_s: f64,
    /// JetMax-r: on acknowledgements, the gap that the receiver computes from the above, s; 0 where receivers
    /// only echo.
    pub next_gap_s: f64,
}

impl JetMax {
    /// Its length, on data and on acknowledgements (chosen here: three bytes and four words of 32 bits,
    /// padded).
    pub const HEADER_BYTES: u32 = 20;
}

/// The RCP congestion header: what the sender wishes and knows, and what the routers on the path leave of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rcp {
    /// R_p: infinite when the packet leaves the sender, then the least rate of a router that it has crossed,
    /// bit/s of IP.
    pub rate_bps: f64,
    /// RTT_p: the sender's round-trip time estimate, s; 0 while it has none.
    pub rtt_s: f64,
}

impl Rcp {
    /// Its length, on data and on acknowledgements (chosen here: two rates and a round-trip time, as words of
    /// 32 bits).
    pub const HEADER_BYTES: u32 = 12;
}

/// The TCP MaxNet header: the greatest price of a link on the path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MaxNet {
    /// The price, s; 0 until a router has set it. A router's price is never 0.
    pub price_s: f64,
}

impl MaxNet {
    /// Its length, on data and on acknowledgements: 24 bits (Suchara, Andrew, Witt, Jacobsson, Wydrowski,
    /// Low: BROADNETS 2008, abstract), padded to a word.
    pub const HEADER_BYTES: u32 = 4;
    /// How much of a rise in price divides demand by e, s (chosen here: see the router).
    pub const SCALE_S: f64 = 0.4;
    /// The demand at a price of 0, bit/s of IP (the authors' overview of MaxNet: rates up to 10^15 bit/s).
    pub const MOST_BPS: f64 = 1e15;
    /// The demand at the greatest price, bit/s of IP (the same page: rates from 32 bit/s).
    pub const LEAST_BPS: f64 = 32.0;

    /// The demand function that all sources share: the rate of a source of weight 1 at this price, bit/s of
    /// IP.
    pub fn demand_bps(price_s: f64) -> f64 {
        MaxNet::MOST_BPS * exp(-price_s / MaxNet::SCALE_S)
    }

    /// The price at which a source of weight 1 has this rate in bit/s of IP, s.
    pub fn price_s_for(bps: f64) -> f64 {
        MaxNet::SCALE_S * ln(MaxNet::MOST_BPS / bps)
    }
}

/// What ATM's resource management cells carry for ERICA, here on each data packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Erica {
    /// CCR: the rate at which the sender may send now, bit/s of IP.
    pub current_bps: f64,
    /// ER: the least rate that a router on the path allows, bit/s of IP; infinite until one has set it.
    pub explicit_bps: f64,
}

impl Erica {
    /// Its length, on data and on acknowledgements (chosen here: two words of 32 bits).
    pub const HEADER_BYTES: u32 = 8;
}

/// The header of a query of the Performance Transparency Protocol. It asks one router about itself; the
/// routers are numbered along the path from the sender, beginning with 1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Ptp {
    /// The router that the query asks.
    pub wanted: u8,
    /// How many PTP routers the query has crossed.
    pub hops: u8,
    /// What that router wrote; empty until the query has crossed it.
    pub stamp: PtpStamp,
}

impl Ptp {
    /// Its length (chosen here: two bytes, padded, a time and a rate of 32 bits, a counter of 64 bits).
    pub const HEADER_BYTES: u32 = 20;
}

/// What a PTP router knows about the link behind it. Two of these tell how busy the link was in between.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PtpStamp {
    /// When the query left the router.
    pub time: Time,
    /// The capacity of the link at that time, bit/s.
    pub capacity_bps: f64,
    /// All bytes of IP that have left over the link, the query included.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_stands_for_the_rate_that_it_leaves_and_e_times_the_rate_costs_one_scale_less() {
        for bps in [32.0, 1e6, 1e9, 1e15] {
            assert!((MaxNet::demand_bps(MaxNet::price_s_for(bps)) / bps - 1.0).abs() < 1e-12, "{bps}");
        }
        assert_eq!(MaxNet::price_s_for(1e15), 0.0);
        // ln 2 = 0.693147: half the rate costs 0.4 x 0.693147 s more
        let half = MaxNet::price_s_for(1e8) - MaxNet::price_s_for(2e8);
        assert!((half - 0.277_258_9).abs() < 1e-6, "{half}");
    }
}
