//! TCP MaxNet's router (Wydrowski, Zukerman: MaxNet: A Congestion Control Architecture, IEEE Communications
//! Letters 6(11), 2002; Suchara, Witt, Wydrowski: TCP MaxNet, ICON 2005): each link has a price, and a packet
//! carries the greatest price on its path, so one link alone, the most congested one, controls a source.
//!
//! ```text
//! arrival:  p <- p + bytes / C - mu dt                the integral of (y - mu C) / C
//! D(p) = X e^(-p / s) is at most mu C and at least the least rate, so s ln(X / mu C) <= p <= s ln(X / least)
//! leaving:  the packet's price <- max(its price, p)
//! ```
//!
//! y is the rate of all arrivals, also those of other protocols; C is the capacity now; dt the time since the
//! last arrival. The price is measured in seconds: it is the delay of a virtual queue that mu C serves, above
//! that of a link on which one source has all of mu C. No state of flows, and an addition and a maximum for
//! each packet.
//!
//! Only abstracts and the authors' overview were at hand; the integral is the link's law of Paganini, Wang,
//! Doyle and Low (IEEE/ACM Transactions on Networking 13(1), 2005), from memory.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | mu | 0.95 | of the capacity | chosen here | the papers' value was not at hand |
//! | X, s, least rate | 10^15, 0.4, 32 | bit/s, s, bit/s | the sender's | shared in `crates/wire/src/explicit.rs` |
//! | least price | s ln(X / mu C) | s | chosen here: at a lower one the first source would ask for more than the link has | 0 in fluid models |

use super::law::{Law, Stretch};
use super::row::Router;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Time};
use longfat_wire::{Explicit, Kind, MaxNet as Header, Packet};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "maxnet",
        title: "TCP MaxNet",
        aliases: &[],
        citation: "Wydrowski, Zukerman: MaxNet: A Congestion Control Architecture, IEEE Communications Letters 6(11), \
                   2002; Suchara, Witt, Wydrowski: TCP MaxNet, ICON 2005",
        page: "maxnet",
        parameters: &[Parameter::number(
            "target",
            0.95,
            (0.1, 1.0),
            "of the capacity",
            "how much of it flows should use (mu)",
        )],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

/// The price of a link of `capacity_bps` after `bytes` more have arrived in `span_s`, s.
pub fn price_s(before_s: f64, target: f64, capacity_bps: f64, bytes: f64, span_s: f64) -> f64 {
    let least = Header::price_s_for(target * capacity_bps);
    let most = Header::price_s_for(Header::LEAST_BPS);
    (before_s + 8.0 * bytes / capacity_bps - target * span_s).max(least).min(most)
}

/// The law.
#[derive(Clone, Debug)]
pub struct MaxNet {
    target: f64,
    /// p when it was last reckoned, and when that was.
    price_s: f64,
    at: Time,
}

impl MaxNet {
    /// From checked parameters.
    pub fn build(p: &Parameters) -> Self {
        MaxNet { target: p.number("target"), price_s: 0.0, at: Time::ZERO }
    }

    fn reckon(&mut self, now: Time, bytes: f64, stretch: &Stretch) {
        let span_s = now.since(self.at).as_secs_f64();
        self.price_s = price_s(self.price_s, self.target, stretch.bps(now), bytes, span_s);
        self.at = now;
    }
}

impl<P: Packet> Law<P> for MaxNet {
    fn arrive(&mut self, now: Time, packet: &mut P, stretch: &Stretch) {
        self.reckon(now, f64::from(packet.bytes()), stretch);
    }

    fn wake(&self) -> Time {
        Time::NEVER
    }

    fn timer(&mut self, _now: Time, _stretch: &Stretch) {}

    fn leave(&mut self, now: Time, packet: &mut P, stretch: &Stretch) {
        let kind = packet.kind();
        if let Some(Explicit::MaxNet(header)) = packet.explicit_mut()
            && kind == Kind::Data
        {
            self.reckon(now, 0.0, stretch);
            header.price_s = header.price_s.max(self.price_s);
        }
    }

    fn guides(&self, packet: &P) -> bool {
        matches!(packet.explicit(), Some(Explicit::MaxNet(_)))
    }
}
