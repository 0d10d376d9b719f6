//! XCP's router (Katabi, Handley, Rohrs: Congestion Control for High Bandwidth-Delay Product Networks,
//! SIGCOMM 2002): tells each sender how many bytes to add to its window, or to remove from it, without a
//! record of flows.
//!
//! ```text
//! efficiency:  phi  = alpha d (C - y/d) - beta Q        bytes, once in a control interval d
//! fairness  :  h    = max(0, gamma y - |phi|)
//!              xi_p = (h + max(0,  phi)) / (d sum(rtt s / cwnd)),   p = xi_p rtt^2 s / cwnd
//!              xi_n = (h + max(0, -phi)) / (d sum(s)),              n = xi_n rtt s
//!              feedback <- min(feedback, p - n)
//! ```
//!
//! d is the mean round-trip time, C the capacity now, y the bytes that arrived in an interval, Q the queue
//! that persists; sums are over the packets of the last interval, rtt, cwnd and s a packet's own. Traffic
//! without a header counts in y and Q, not in the sums.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | alpha | 0.4 | of the spare capacity | SIGCOMM 2002, section 3.5 | none |
//! | beta | 0.226 | of the queue | SIGCOMM 2002, section 3.5 | none |
//! | gamma | 0.1 | of the traffic | SIGCOMM 2002, section 3.5 | none |
//! | interval at first | 0.05 | s | INITIAL_Te_VALUE in ns-2's xcp/xcpq.h | until a round-trip time is known; `restarts`: again after an interval without one |
//! | interval's range | 0.001 .. 1 | s | draft-falk-xcp-spec-03, its router in ns-2 | none |
//! | least wait for Q | 0.002 | s | draft-falk-xcp-spec-03, its router in ns-2 | waits d less the queue, not half of that |

use super::law::{Law, Stretch};
use super::row::Router;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, Kind, Packet, Xcp as Header};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "xcp",
        title: "XCP",
        aliases: &[],
        citation: "Katabi, Handley, Rohrs: Congestion Control for High Bandwidth-Delay Product Networks, SIGCOMM 2002",
        page: "xcp",
        parameters: &[
            Parameter::number(
                "alpha",
                0.4,
                (1e-3, 1.0),
                "of spare capacity",
                "how much of it is given out in an interval",
            ),
            Parameter::number(
                "beta",
                0.226,
                (0.0, 1.0),
                "of the queue",
                "how much of a standing one is drained in an interval",
            ),
            Parameter::number(
                "gamma",
                0.1,
                (0.0, 1.0),
                "of the traffic",
                "how much at least changes hands in an interval",
            ),
            Parameter::flag(
                "restarts",
                false,
                "an interval without round-trip times sets the next one back to 50 ms",
            ),
        ],
        style: None,
    },
    check: |_| Ok(()),
    sends_messages: false,
    reorders: false,
};

const FIRST_INTERVAL_S: f64 = 0.05;
const INTERVALS_S: (f64, f64) = (1e-3, 1.0);
const LEAST_WAIT_S: f64 = 2e-3;

/// The gains of XCP's router.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    /// Gain of the efficiency controller.
    pub alpha: f64,
    /// Gain of the persistent queue.
    pub beta: f64,
    /// Gain of shuffling.
    pub gamma: f64,
}

/// Sums over the packets of one control interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Bytes of every packet.
    pub bytes: f64,
    /// Sum of s over packets with a header.
    pub carried: f64,
    /// Sum of rtt s / cwnd over those, seconds.
    pub by_window: f64,
    /// Sum of rtt^2 s / cwnd over those.
    pub rtt_by_window: f64,
}

/// The result of an interval's sums: changes of throughput, bytes/s, to distribute in the next interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// (h + max(0, phi)) / d.
    pub positive: f64,
    /// (h + max(0, -phi)) / d.
    pub negative: f64,
}

impl Sums {
    /// A packet of `bytes` with this header, if it has one, arrives.
    pub fn add(&mut self, bytes: f64, header: Option<&Header>) {
        self.bytes += bytes;
        if let Some(header) = header.filter(|h| h.is_measured()) {
            let seconds = header.rtt_s * bytes / header.cwnd_bytes;
            self.carried += bytes;
            self.by_window += seconds;
            self.rtt_by_window += seconds * header.rtt_s.min(INTERVALS_S.1);
        }
    }

    /// The mean round-trip time of the flows, s; `None` if no header had one.
    pub fn mean_rtt_s(&self) -> Option<f64> {
        (self.by_window > 0.0)
            .then(|| (self.rtt_by_window / self.by_window).clamp(INTERVALS_S.0, INTERVALS_S.1))
    }

    /// The aggregate feedback and the shuffled traffic, spread over an interval of `mean_rtt_s`. The sums are
    /// over `span_s`; the link carries `capacity` bytes/s, and `queue_bytes` is the persistent queue.
    pub fn budget(
        &self,
        gains: Gains,
        (span_s, mean_rtt_s): (f64, f64),
        capacity: f64,
        queue_bytes: f64,
    ) -> Budget {
        let input = self.bytes / span_s;
        let phi = gains.alpha * mean_rtt_s * (capacity - input) - gains.beta * queue_bytes;
        let shuffled = (gains.gamma * input * mean_rtt_s - phi.abs()).max(0.0);
        Budget {
            positive: (shuffled + phi.max(0.0)) / mean_rtt_s,
            negative: (shuffled + (-phi).max(0.0)) / mean_rtt_s,
        }
    }
}

/// The two controllers.
#[derive(Clone, Debug)]
pub struct Xcp {
    gains: Gains,
    restarts: bool,
    sums: Sums,
    /// d.
    mean_rtt_s: f64,
    /// xi_p and xi_n of the running interval.
    scale: (f64, f64),
    /// What is left to distribute.
    left: Budget,
    began: Time,
    ends: Time,
    /// The least queue since the last update of Q, and Q.
    least_bytes: f64,
    persistent_bytes: f64,
    queue_due: Time,
}

impl Xcp {
    /// From checked parameters.
    pub fn build(p: &Parameters) -> Self {
        Xcp {
            gains: Gains { alpha: p.number("alpha"), beta: p.number("beta"), gamma: p.number("gamma") },
            restarts: p.flag("restarts"),
            sums: Sums::default(),
            mean_rtt_s: FIRST_INTERVAL_S,
            scale: (0.0, 0.0),
            left: Budget::default(),
            began: Time::ZERO,
            ends: Time::NEVER,
            least_bytes: 0.0,
            persistent_bytes: 0.0,
            queue_due: Time::NEVER,
        }
    }

    fn control(&mut self, now: Time, stretch: &Stretch) {
        let sums = core::mem::take(&mut self.sums);
        let span_s = now.since(self.began).as_secs_f64();
        if let Some(mean_s) = sums.mean_rtt_s() {
            self.mean_rtt_s = mean_s;
            let capacity = stretch.bps(now) / 8.0;
            self.left = sums.budget(self.gains, (span_s, mean_s), capacity, self.persistent_bytes);
            self.scale = (self.left.positive / sums.by_window, self.left.negative / sums.carried);
        } else {
            (self.left, self.scale) = (Budget::default(), (0.0, 0.0));
            if self.restarts {
                self.mean_rtt_s = FIRST_INTERVAL_S;
            }
        }
        self.began = now;
        self.ends = now + Interval::from_secs_f64(self.mean_rtt_s);
    }

    fn take_queue(&mut self, now: Time, stretch: &Stretch) {
        let queue_bytes = stretch.queue_bytes as f64;
        self.persistent_bytes = self.least_bytes.min(queue_bytes);
        self.least_bytes = queue_bytes;
        let waiting_s = 8.0 * queue_bytes / stretch.bps(now).max(1.0);
        self.queue_due = now + Interval::from_secs_f64((self.mean_rtt_s - waiting_s).max(LEAST_WAIT_S));
    }

    /// The feedback that a packet gets. An interval never distributes more than planned, even if more packets
    /// leave than in the last one. What a packet cannot use, because another router allows it less, is left
    /// to others (draft-falk-xcp-spec-03).
    fn write(&mut self, bytes: f64, header: &mut Header) {
        if !header.is_measured() {
            header.feedback_bytes = 0.0;
            return;
        }
        let mut positive = (self.scale.0 * header.rtt_s * bytes / header.cwnd_bytes).min(self.left.positive);
        let mut negative = (self.scale.1 * bytes).min(self.left.negative);
        let own = positive - negative;
        let wished = header.feedback_bytes / header.rtt_s;
        if wished < own {
            negative = (negative + own - wished).min(self.left.negative);
            positive = (wished + negative).max(0.0);
        } else {
            header.feedback_bytes = own * header.rtt_s;
        }
        self.left.positive = (self.left.positive - positive).max(0.0);
        self.left.negative = (self.left.negative - negative).max(0.0);
    }
}

/// The XCP header of a data packet; acknowledgements are not controlled.
fn header<P: Packet>(packet: &P) -> Option<&Header> {
    match packet.explicit() {
        Some(Explicit::Xcp(header)) if packet.kind() == Kind::Data => Some(header),
        _ => None,
    }
}

impl<P: Packet> Law<P> for Xcp {
    fn arrive(&mut self, now: Time, packet: &mut P, stretch: &Stretch) {
        if self.ends == Time::NEVER {
            self.began = now;
            self.ends = now + Interval::from_secs_f64(self.mean_rtt_s);
            self.queue_due = self.ends;
        }
        self.sums.add(f64::from(packet.bytes()), header(packet));
        self.least_bytes = self.least_bytes.min(stretch.queue_bytes as f64);
    }

    fn wake(&self) -> Time {
        self.ends.min(self.queue_due)
    }

    fn timer(&mut self, now: Time, stretch: &Stretch) {
        if now >= self.queue_due {
            self.take_queue(now, stretch);
        }
        if now >= self.ends {
            self.control(now, stretch);
        }
    }

    fn leave(&mut self, _now: Time, packet: &mut P, _stretch: &Stretch) {
        let (bytes, kind) = (f64::from(packet.bytes()), packet.kind());
        if let Some(Explicit::Xcp(header)) = packet.explicit_mut()
            && kind == Kind::Data
        {
            self.write(bytes, header);
        }
    }

    fn guides(&self, packet: &P) -> bool {
        matches!(packet.explicit(), Some(Explicit::Xcp(_)))
    }

    fn interval(&self) -> Interval {
        Interval::from_secs_f64(self.mean_rtt_s)
    }
}
