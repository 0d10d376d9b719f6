//! Low priority by one-way delays (Kuzmanovic, Knightly: TCP-LP: A Distributed Algorithm for Low Priority
//! Data Transfer, INFOCOM 2003): a flow gives way before others lose packets.
//!
//! ```text
//! d     <- (1 - gamma) d + gamma * one-way delay        each acknowledgement
//! early:   d > d_min + delta (d_max - d_min)
//! early, first:                     cwnd <- cwnd / 2,   the inference phase begins: no growth for 3 round trips
//! early, in the inference phase:    cwnd <- 1,          it starts again
//! ```
//!
//! After a reaction, delays do not count until a segment sent after it is acknowledged; d starts again with
//! that one.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `smoothing` (gamma) | 1/8 | | Linux tcp_lp, after TCP-LP; a referee's comment on TCP-LP | none known |
//! | `threshold` (delta) | 0.15 | of d_max - d_min | Linux tcp_lp, after TCP-LP | none known |
//! | `inference` | 3 | round trips | Linux tcp_lp, after TCP-LP | none known |
//! | d_min, d_max | | s | least and greatest of the connection | Linux resets both after each indication |
//! | pause after a reaction | one round trip | | TCP-LP, from memory: at most one reaction a round trip | the restart of d is chosen here |
//! | active | after the first loss | | TCP-LP, from memory: d_max is not known before | Linux: from the start |

use super::congestion_control::{Ack, Internals, LEAST_SSTHRESH, Window};
use longfat_units::Time;
use longfat_units::parameters::{Parameter, Parameters};

/// What the algorithms with this mechanism declare.
pub(super) const PARAMETERS: [Parameter; 3] = [
    Parameter::number(
        "threshold",
        0.15,
        (0.01, 1.0),
        "of the range",
        "queueing delay, between least and greatest, that indicates congestion",
    ),
    Parameter::number("smoothing", 0.125, (0.001, 1.0), "", "weight of a sample of the one-way delay"),
    Parameter::number(
        "inference",
        3.0,
        (1.0, 1e3),
        "round trips",
        "how long an indication forbids growth, and the next one leaves a single segment",
    ),
];

/// One-way delays, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Delay {
    smoothed: f64,
    least: f64,
    greatest: f64,
}

/// An early congestion indication and the reaction to it.
#[derive(Clone, Copy, Debug)]
struct Indication {
    at: Time,
    /// The first segment sent after the reaction; none once it has been acknowledged.
    awaited: Option<u64>,
}

/// Early congestion indications of a flow.
#[derive(Clone, Debug)]
pub(super) struct LowPriority {
    threshold: f64,
    smoothing: f64,
    inference: f64,
    delay: Option<Delay>,
    /// A loss has shown how long the queue can be.
    active: bool,
    /// The last indication, while the inference phase lasts.
    indicated: Option<Indication>,
}

impl LowPriority {
    /// Takes the three parameters.
    pub fn new(p: &Parameters) -> Self {
        LowPriority {
            threshold: p.number("threshold"),
            smoothing: p.number("smoothing"),
            inference: p.number("inference"),
            delay: None,
            active: false,
            indicated: None,
        }
    }

    #[inline]
    fn is_early(&self) -> bool {
        self.active
            && self.delay.is_some_and(|d| d.smoothed > d.least + self.threshold * (d.greatest - d.least))
    }

    /// Halves the window, or leaves a single segment if `within` the inference phase, which starts again.
    fn give_way(&mut self, ack: &Ack, within: bool, w: &mut Window) {
        self.indicated = Some(Indication { at: ack.now, awaited: Some(ack.next_segment) });
        w.cwnd = if within { 1.0 } else { (0.5 * w.cwnd).max(1.0) };
        w.ssthresh = w.cwnd.max(LEAST_SSTHRESH);
    }

    /// An acknowledgement in the inference phase.
    fn infer(&mut self, ack: &Ack, indicated: Indication, w: &mut Window) {
        match indicated.awaited {
            // segments sent before the reaction do not show its effect
            Some(segment) if ack.unacknowledged <= segment => {}
            Some(_) => {
                self.indicated = Some(Indication { awaited: None, ..indicated });
                if let (Some(d), Some(sample)) = (&mut self.delay, ack.one_way_delay) {
                    d.smoothed = sample.as_ns() as f64;
                }
            }
            None if self.is_early() => self.give_way(ack, true, w),
            None => {}
        }
    }

    /// Gives way if others seem to send. Returns whether this acknowledgement lets the window grow.
    #[inline]
    pub fn lets_grow(&mut self, ack: &Ack, w: &mut Window) -> bool {
        if let Some(indicated) = self.indicated {
            if ack.now.since(indicated.at) < ack.srtt.scale(self.inference) {
                self.infer(ack, indicated, w);
                return false;
            }
            self.indicated = None;
        }
        let early = self.is_early();
        if early {
            self.give_way(ack, false, w);
        }
        !early
    }

    /// A congestion event: from the first on, delays count.
    pub fn lose(&mut self) {
        self.active = true;
    }

    /// Takes the delay of an acknowledgement.
    #[inline]
    pub fn sample(&mut self, ack: &Ack) {
        let Some(sample) = ack.one_way_delay.map(|d| d.as_ns() as f64) else { return };
        match &mut self.delay {
            Some(d) => {
                d.smoothed += self.smoothing * (sample - d.smoothed);
                d.least = d.least.min(sample);
                d.greatest = d.greatest.max(sample);
            }
            None => self.delay = Some(Delay { smoothed: sample, least: sample, greatest: sample }),
        }
    }

    /// See [`super::CongestionControl::internals`].
    pub fn internals(&self, out: &mut Internals) {
        if let Some(d) = self.delay {
            out.push(("smoothed_delay_s", d.smoothed * 1e-9));
            out.push(("threshold_delay_s", (d.least + self.threshold * (d.greatest - d.least)) * 1e-9));
        }
        out.push(("inferring", f64::from(u8::from(self.indicated.is_some()))));
    }
}

/// A flow for the tests of algorithms with this mechanism.
#[cfg(test)]
pub(super) mod flow {
    use super::super::testing::{ack_at, loss, window};
    use super::super::{Ack, CongestionControl, Window};
    use longfat_units::{Interval, Time};

    /// A flow on a path of 100 ms there and back whose one-way delays lay between 50 and 150 ms.
    pub struct Flow<C> {
        pub c: C,
        pub w: Window,
        now_ms: u64,
        acknowledged: u64,
    }

    impl<C: CongestionControl> Flow<C> {
        pub fn new(c: C, cwnd: f64, lost: bool) -> Self {
            let mut f = Flow { c, w: window(cwnd, 2.0), now_ms: 0, acknowledged: 0 };
            if lost {
                f.c.on_congestion(&loss(), &mut f.w);
                f.w.ssthresh = 2.0;
            }
            f.sample(150, 1);
            // the smoothed delay forgets the 150 ms
            f.sample(50, 200);
            f
        }

        /// One segment a millisecond leaves and arrives.
        fn ack(&self, one_way_ms: u64) -> Ack {
            let (now, rtt_ms) = (Time::ZERO + Interval::from_millis(self.now_ms), 50 + one_way_ms);
            Ack {
                one_way_delay: Some(Interval::from_millis(one_way_ms)),
                unacknowledged: self.acknowledged,
                next_segment: self.acknowledged + rtt_ms,
                ..ack_at(now, 1.0, Interval::from_millis(rtt_ms))
            }
        }

        fn sample(&mut self, one_way_ms: u64, times: u32) {
            for _ in 0..times {
                let ack = self.ack(one_way_ms);
                self.c.on_sample(&ack);
            }
        }

        /// This many acknowledgements, one per millisecond.
        pub fn acknowledge(&mut self, one_way_ms: u64, times: u32) {
            for _ in 0..times {
                self.now_ms += 1;
                self.acknowledged += 1;
                self.sample(one_way_ms, 1);
                let ack = self.ack(one_way_ms);
                self.c.on_ack(&ack, &mut self.w);
            }
        }
    }
}
