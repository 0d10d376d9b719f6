//! Quick-Start's router (Floyd, Allman, Jain, Sarolahti: Quick-Start for TCP and IP, RFC 4782, 2007):
//! approves the rate that a connection request asks for, as far as the link has been idle.
//!
//! ```text
//! free = share C - busiest - approved          busiest: of the last 5 slots, what left in one, as a rate
//! rate <- min(rate, greatest code that fits free);  approved += rate;  QS TTL <- QS TTL - 1
//! ```
//!
//! A request that is refused is emptied: no rate, no QS TTL, no nonce. Packets without a request pass
//! unchanged.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | share | 0.85 | of the capacity | ns-2, Agent/QSAgent threshold_ and alloc_rate_ | none |
//! | memory | 200 | ms | ns-2, state_delay_ | none: the running stretch of this length and the one before |
//! | slot | 200 | ms | ns-2, util_check_intv_ | counts what leaves, ns-2 how long the link is busy |
//! | slots | 5 | | ns-2, util_records_ | none |

use super::law::{Controlled, Law, Stretch};
use super::row::{Router, Setup};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Stream, Time};
use longfat_wire::{Explicit, Function, Kind, Packet, QuickStart as Header, RateCode};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "quickstart",
        title: "Quick-Start",
        aliases: &[],
        citation: "Floyd, Allman, Jain, Sarolahti: Quick-Start for TCP and IP, RFC 4782, 2007",
        page: "quickstart",
        parameters: &[
            Parameter::number(
                "share",
                0.85,
                (0.01, 1.0),
                "of the capacity",
                "the share that may be in use, approved rates included",
            ),
            Parameter::number(
                "memory",
                200.0,
                (1.0, 1e5),
                "ms",
                "how long approvals count as in use, at least",
            ),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

const SLOT: Interval = Interval::from_millis(200);
const SLOTS: usize = 5;

/// Sums over consecutive spans of equal length: the running one, and `N` before it, latest first.
#[derive(Clone, Debug)]
struct Sums<const N: usize> {
    length: Interval,
    began: Time,
    running: f64,
    before: [f64; N],
}

impl<const N: usize> Sums<N> {
    fn new(length: Interval) -> Self {
        Sums { length, began: Time::ZERO, running: 0.0, before: [0.0; N] }
    }

    /// Ends the spans that are over.
    fn go_on(&mut self, now: Time) {
        let over = now.since(self.began).as_ns() / self.length.as_ns();
        for _ in 0..over.min(N as u64 + 1) {
            self.before.rotate_right(1);
            self.before[0] = core::mem::take(&mut self.running);
        }
        self.began += Interval::from_ns(over * self.length.as_ns());
    }

    fn add(&mut self, now: Time, amount: f64) {
        self.go_on(now);
        self.running += amount;
    }
}

/// A router's state: what has left, and what it has approved.
#[derive(Clone, Debug)]
pub struct QuickStart {
    share: f64,
    /// Bits.
    left: Sums<SLOTS>,
    /// bit/s.
    approved: Sums<1>,
    stream: Stream,
}

impl QuickStart {
    /// A queue with this law around it, from checked parameters; never refused. The stream makes nonces.
    pub fn build<P: Packet>(setup: Setup<P>, p: &Parameters) -> Controlled<P, Self> {
        let law = QuickStart {
            share: p.number("share"),
            left: Sums::new(SLOT),
            approved: Sums::new(Interval::from_secs_f64(1e-3 * p.number("memory"))),
            stream: setup.stream,
        };
        Controlled::new(setup.queue, setup.capacity, law)
    }

    fn free_bps(&mut self, now: Time, stretch: &Stretch) -> f64 {
        self.left.go_on(now);
        self.approved.go_on(now);
        let busiest = self.left.before.iter().fold(0.0_f64, |most, &bits| most.max(bits));
        let approved = self.approved.running + self.approved.before[0];
        self.share * stretch.bps(now) - busiest / SLOT.as_secs_f64() - approved
    }

    fn decide(&mut self, now: Time, request: &mut Header, stretch: &Stretch) {
        let rate = RateCode::at_most(self.free_bps(now, stretch)).min(request.rate);
        if rate == RateCode::NONE {
            *request = Header { function: Function::Request, ..Header::default() };
            return;
        }
        if rate < request.rate {
            let nonce = self.stream.below(1 << Header::NONCE_BITS) as u32;
            request.lower(rate, nonce);
        }
        self.approved.add(now, rate.bps());
        request.ttl = request.ttl.wrapping_sub(1);
    }
}

impl<P: Packet> Law<P> for QuickStart {
    fn arrive(&mut self, now: Time, packet: &mut P, stretch: &Stretch) {
        let kind = packet.kind();
        if let Some(Explicit::QuickStart(option)) = packet.explicit_mut()
            && kind == Kind::Syn
            && option.function == Function::Request
        {
            self.decide(now, option, stretch);
        }
    }

    fn wake(&self) -> Time {
        Time::NEVER
    }

    fn timer(&mut self, _now: Time, _stretch: &Stretch) {}

    fn leave(&mut self, now: Time, packet: &mut P, _stretch: &Stretch) {
        self.left.add(now, 8.0 * f64::from(packet.bytes()));
    }
}
