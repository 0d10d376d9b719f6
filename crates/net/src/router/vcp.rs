//! VCP's router (Xia, Subramanian, Stoica, Kalyanaraman: One More Bit Is Enough, SIGCOMM 2005): reports in
//! two bits whether the link's load is low, high or too high.
//!
//! ```text
//! rho = (lambda + kappa q) / (target C t_rho)        once in t_rho
//! code: low below 0.8, high below 1, over from there on; a packet keeps a higher one it comes with
//! ```
//!
//! lambda is what arrives in t_rho, bytes; C the capacity now; q the queue, sampled each t_q: q <- 3/4 q +
//! 1/4 of the samples' mean over the interval. All traffic counts, including other protocols'; only VCP
//! headers are written.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | t_rho | 200 | ms | SIGCOMM 2005; the authors' ns-2 router | none |
//! | t_q | 10 | ms | the authors' ns-2 router | none |
//! | kappa | 0.5 | of the queue | the authors' ns-2 router | none |
//! | target | 0.95 | of the capacity | the authors' ns-2 router | none |
//! | weight of the newest mean queue | 1/4 | | the authors' ns-2 router, its comment | its integer arithmetic makes it 1/16 |
//! | low, high below | 0.8, 1 | of the target | SIGCOMM 2005 | ns-2 rounds up to whole percents first |

use super::law::{Law, Stretch};
use super::row::Router;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, Kind, Load, Packet};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "vcp",
        title: "VCP",
        aliases: &[],
        citation: "Xia, Subramanian, Stoica, Kalyanaraman: One More Bit Is Enough, SIGCOMM 2005",
        page: "vcp",
        parameters: &[
            Parameter::number(
                "interval",
                200.0,
                (1.0, 1e4),
                "ms",
                "time over which load is measured (t_rho)",
            ),
            Parameter::number(
                "sampling",
                10.0,
                (0.1, 1e4),
                "ms",
                "time from one look at the queue to the next (t_q)",
            ),
            Parameter::number("kappa", 0.5, (0.0, 10.0), "of the queue", "how much of it counts as load"),
            Parameter::number("target", 0.95, (0.01, 1.0), "of the capacity", "what counts as full load"),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

/// Below this the load is low.
const LOW: f64 = 0.8;
/// Below this it is high.
const HIGH: f64 = 1.0;
/// The weight of the newest interval's mean queue.
const WEIGHT: f64 = 0.25;

/// The report for a load factor.
pub fn encode(load_factor: f64) -> Load {
    match load_factor {
        rho if rho < LOW => Load::Low,
        rho if rho < HIGH => Load::High,
        _ => Load::Over,
    }
}

/// The load factor's measurement.
#[derive(Clone, Debug)]
pub struct Vcp {
    interval: Interval,
    sampling: Interval,
    kappa: f64,
    target: f64,
    /// Bytes that arrived in the running interval.
    bytes: f64,
    /// Sum and number of its samples of the queue.
    sampled: (f64, f64),
    persistent_bytes: f64,
    load: Load,
    ends: Time,
    sample_due: Time,
}

impl Vcp {
    /// From checked parameters.
    pub fn build(p: &Parameters) -> Self {
        let ms = |name| Interval::from_secs_f64(1e-3 * p.number(name));
        Vcp {
            interval: ms("interval"),
            sampling: ms("sampling"),
            kappa: p.number("kappa"),
            target: p.number("target"),
            bytes: 0.0,
            sampled: (0.0, 0.0),
            persistent_bytes: 0.0,
            load: Load::Low,
            ends: Time::NEVER,
            sample_due: Time::NEVER,
        }
    }

    fn measure(&mut self, now: Time, stretch: &Stretch) {
        let (sum, samples) = core::mem::take(&mut self.sampled);
        if samples > 0.0 {
            self.persistent_bytes += WEIGHT * (sum / samples - self.persistent_bytes);
        }
        let room = self.target * stretch.bps(now) / 8.0 * self.interval.as_secs_f64();
        let load = core::mem::take(&mut self.bytes) + self.kappa * self.persistent_bytes;
        self.load = encode(if load > 0.0 { load / room } else { 0.0 });
        self.ends = now + self.interval;
    }
}

impl<P: Packet> Law<P> for Vcp {
    fn arrive(&mut self, now: Time, packet: &mut P, _stretch: &Stretch) {
        if self.ends == Time::NEVER {
            self.ends = now + self.interval;
            self.sample_due = now + self.sampling;
        }
        self.bytes += f64::from(packet.bytes());
    }

    fn wake(&self) -> Time {
        self.ends.min(self.sample_due)
    }

    fn timer(&mut self, now: Time, stretch: &Stretch) {
        if now >= self.sample_due {
            self.sampled.0 += stretch.queue_bytes as f64;
            self.sampled.1 += 1.0;
            self.sample_due = now + self.sampling;
        }
        if now >= self.ends {
            self.measure(now, stretch);
        }
    }

    fn leave(&mut self, _now: Time, packet: &mut P, _stretch: &Stretch) {
        let kind = packet.kind();
        if let Some(Explicit::Vcp(load)) = packet.explicit_mut()
            && kind == Kind::Data
        {
            *load = self.load.max(*load);
        }
    }

    fn guides(&self, packet: &P) -> bool {
        matches!(packet.explicit(), Some(Explicit::Vcp(_)))
    }

    fn interval(&self) -> Interval {
        self.interval
    }
}
