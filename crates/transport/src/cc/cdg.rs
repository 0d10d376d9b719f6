//! CAIA delay-gradient TCP (Hayes, Armitage 2011): the change of the round-trip time from one round trip to
//! the next, and not its size, tells of congestion.
//!
//! Once per round trip, of its least and its greatest round-trip time:
//! ```text
//! g_min, g_max  their change since the last round trip, mean of the last 8
//! g = g_min if g_min > 0, else g_max:    cwnd <- 0.7 cwnd   with probability 1 - exp(-g / G)
//!                                        otherwise          cwnd <- cwnd + 1
//! full queue   g_min > 0, g_max <= 0:    a loss halves cwnd, though not below the shadow window
//! other queue                            a loss leaves cwnd as it is
//! ```
//! After five backoffs without a falling gradient it stops backing off for five round trips: others fill the
//! queue. The shadow window is the one that backoffs on delay would not have reduced; a loss with a full
//! queue halves it.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `scale` (G) | 3 | ms per round trip | FreeBSD cc_cdg, by the paper's authors | Linux: 42e-6 per us of a sum of 8, so 2.976 |
//! | `left` | 0.7 | of cwnd | the same | Linux: 724/1024, the square root of 1/2 |
//! | `smoothing` | 8 | round trips | the same | none |
//! | `ineffectual` | 5 | backoffs, and round trips without any | the same | Linux: backs off again only after a falling gradient |
//! | a loss leaves | 1/2 | of cwnd, of the shadow window | the same | none |
//! | certain backoff | 5 G | | FreeBSD cc_cdg: end of its table | not in `linux` |
//! | falling gradient (`linux`) | 32 | us, sum of 8 | Linux tcp_cdg | below 0 in `paper` |
//! | gap in a train, length of a train (`linux`) | 3 ms, 1/2 | of the least round-trip time | Linux tcp_cdg | not in `paper` |
//! | slow-start ends (`linux`) | 9/8 | of the least round-trip time, after 8 samples | Linux tcp_cdg | not in `paper` |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::round::Round;
use super::row::{Properties, Row, SendingTimes};
use longfat_units::math::exp;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Stream, Style, Time};
use std::collections::VecDeque;

/// A backoff is certain from this multiple of G on.
const CERTAIN: f64 = 5.0;
const LINUX_SCALE: f64 = 42e-6;
const LINUX_LEFT: f64 = 724.0 / 1024.0;
const LINUX_FALLING_US: f64 = -32.0;
const LINUX_LEAST_DELAY_US: f64 = 125.0;
const LINUX_TRAIN_GAP: Interval = Interval::from_millis(3);
const LINUX_SAMPLES: u32 = 8;
/// Delayed acknowledgements expected at most.
const LINUX_DELAYED: u32 = 5;

/// The registry row.
pub const ROW: Row<Cdg> = Row {
    entry: Entry {
        name: "cdg",
        title: "CAIA delay gradient",
        aliases: &["tcp-cdg"],
        citation: "Hayes, Armitage: Revisiting TCP Congestion Control Using Delay Gradients, IFIP Networking 2011",
        page: "cdg",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux"],
                "paper: as FreeBSD's cc_cdg by the authors; linux: the kernel's tcp_cdg, with its hybrid slow-start",
            ),
            Parameter::number(
                "scale",
                3.0,
                (0.01, 1e4),
                "ms per RTT",
                "gradient that backs off with probability 0.63 (G; not in linux)",
            ),
            Parameter::number(
                "left",
                0.7,
                (0.01, 1.0),
                "of the window",
                "what a backoff on delay leaves (not in linux)",
            ),
            Parameter::number("smoothing", 8.0, (1.0, 256.0), "round trips", "gradients in the mean"),
            Parameter::number(
                "ineffectual",
                5.0,
                (1.0, 1e3),
                "backoffs",
                "without effect, before it takes others for loss-based flows",
            ),
        ],
        style: Some(Style::new("#e76f51", "<")),
    },
    linux_module: Some("cdg"),
    properties: Properties {
        shrinks: true,
        draws: true,
        samples: true,
        sending_times: SendingTimes::RoundTrips,
        ..Properties::DEFAULT
    },
    build: Cdg::new,
};

/// The least and the greatest of something, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Extremes {
    least: f64,
    greatest: f64,
}

/// What the last round trips say of the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Queue {
    Unknown,
    Full,
    /// Empty, rising or falling: a loss has another reason.
    Other,
}

/// A CDG flow.
#[derive(Clone, Debug)]
pub struct Cdg {
    scale_us: f64,
    left: f64,
    ineffectual: f64,
    smoothing: u32,
    random: Box<Stream>,
    round: Round,
    /// Round-trip times of this round trip and of the last one, unless they are not to be compared.
    now: Option<Extremes>,
    before: Option<Extremes>,
    /// The last changes, and the sum of them.
    gradients: VecDeque<Extremes>,
    sum: Extremes,
    /// Backoffs since the gradient last fell.
    backoffs: f64,
    queue: Queue,
    /// Segments; 0 for none.
    shadow: f64,
    /// The first segment sent after the last backoff on delay, until it is acknowledged.
    reduced: Option<u64>,
    is_linux: bool,
    /// Apart, as `random` is, so that they do not make every sender larger.
    linux: Box<Linux>,
}

/// What Linux's module keeps besides.
#[derive(Clone, Copy, Debug, Default)]
struct Linux {
    /// Delayed acknowledgements that may come.
    delayed: u32,
    slow_start: SlowStart,
    reduction: Option<Reduction>,
}

/// Linux's hybrid slow-start.
#[derive(Clone, Copy, Debug, Default)]
struct SlowStart {
    least_us: f64,
    /// When this round trip's train of acknowledgements began, and its last one came.
    train: Option<(Time, Time)>,
    samples: u32,
}

impl SlowStart {
    /// Whether this acknowledgement shows that the path is full. `least_us` is the least round-trip time of
    /// this round trip, if there is one.
    fn ends(&mut self, now: Time, least_us: Option<f64>) -> bool {
        if let Some(us) = least_us {
            self.least_us = if self.least_us > 0.0 { self.least_us.min(us) } else { us };
        }
        if self.least_us == 0.0 {
            return false;
        }
        match &mut self.train {
            None => self.train = Some((now, now)),
            Some((begun, last)) if now.since(*last) < LINUX_TRAIN_GAP => {
                *last = now;
                let length_us = (0.5 * self.least_us).max(LINUX_LEAST_DELAY_US);
                if now.since(*begun).as_secs_f64() * 1e6 > length_us {
                    return true;
                }
            }
            Some(_) => {}
        }
        if self.samples < LINUX_SAMPLES {
            self.samples += 1;
            return false;
        }
        least_us.is_some_and(|us| us > (1.125 * self.least_us).max(LINUX_LEAST_DELAY_US))
    }

    fn begin_round(&mut self) {
        (self.train, self.samples) = (None, 0);
    }
}

/// Linux's reduction of the window over a round trip (RFC 6937), in segments.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    from: f64,
    to: f64,
    delivered: f64,
    /// The first segment sent in it.
    first: u64,
}

impl Reduction {
    /// The window after an acknowledgement, or none at the end.
    fn window(&mut self, ack: &Ack) -> Option<f64> {
        if ack.unacknowledged > self.first {
            return None;
        }
        let newly = f64::from(ack.newly_delivered);
        self.delivered += newly;
        let sent = ack.next_segment.saturating_sub(self.first) as f64;
        let room = self.to - ack.in_flight;
        let may_send = if room < 0.0 {
            (self.to * self.delivered / self.from).ceil() - sent
        } else {
            room.min((self.delivered - sent).max(newly) + 1.0)
        };
        Some((ack.in_flight + may_send.max(if sent > 0.0 { 0.0 } else { 1.0 })).max(1.0))
    }
}

impl Cdg {
    fn new(p: &Parameters) -> Self {
        let linux = p.word("variant") == "linux";
        let smoothing = p.number("smoothing").floor();
        Cdg {
            scale_us: if linux { 1.0 / (LINUX_SCALE * smoothing) } else { 1e3 * p.number("scale") },
            left: if linux { LINUX_LEFT } else { p.number("left") },
            ineffectual: p.number("ineffectual"),
            smoothing: smoothing as u32,
            random: Box::new(Stream::new(0, "cdg")),
            round: Round::default(),
            now: None,
            before: None,
            gradients: VecDeque::new(),
            sum: Extremes::default(),
            backoffs: 0.0,
            queue: Queue::Unknown,
            shadow: 0.0,
            reduced: None,
            is_linux: linux,
            linux: Box::default(),
        }
    }

    fn take_gradient(&mut self, change: Extremes) {
        if self.gradients.len() == self.smoothing as usize
            && let Some(oldest) = self.gradients.pop_front()
        {
            self.sum.least -= oldest.least;
            self.sum.greatest -= oldest.greatest;
        }
        self.sum.least += change.least;
        self.sum.greatest += change.greatest;
        self.gradients.push_back(change);
    }

    /// The mean gradients, in microseconds per round trip. In the paper's form those missing at the beginning
    /// are 0, in Linux's they are as the others.
    fn means(&self) -> Extremes {
        let count = if self.is_linux { self.gradients.len() as f64 } else { f64::from(self.smoothing) };
        Extremes { least: self.sum.least / count, greatest: self.sum.greatest / count }
    }

    /// Whether this gradient, in microseconds per round trip, makes it back off.
    fn backs_off(&mut self, gradient_us: f64) -> bool {
        let x = gradient_us / self.scale_us;
        let certain = !self.is_linux && x > CERTAIN;
        certain || self.random.unit() < 1.0 - exp(-x)
    }

    /// The paper's judgement of a round trip. Returns whether the gradient makes it back off.
    fn judge(&mut self, now: Extremes, before: Extremes, slow_start: bool) -> bool {
        let last = Extremes { least: now.least - before.least, greatest: now.greatest - before.greatest };
        self.take_gradient(last);
        let mean = self.means();
        let candidates = [
            (slow_start, last.least),
            (true, mean.least),
            (slow_start, last.greatest),
            (true, mean.greatest),
        ];
        let gradient = candidates.iter().find(|(counts, g)| *counts && *g > 0.0);
        let congested = gradient.is_some_and(|&(_, g)| self.backs_off(g));
        if mean.least > 0.0 && mean.greatest <= 0.0 {
            self.queue = Queue::Full;
        } else if mean.least >= 0.0 && mean.greatest < 0.0 {
            (self.queue, self.shadow) = (Queue::Other, 0.0);
        } else if mean.least * mean.greatest > 0.0 {
            self.queue = Queue::Other;
        }
        if mean.least < 0.0 || mean.greatest < 0.0 {
            self.backoffs = 0.0;
        }
        congested
    }

    /// The paper's reaction to a gradient.
    fn react(&mut self, ack: &Ack, w: &mut Window) {
        self.backoffs += 1.0;
        let cwnd = w.cwnd;
        if self.backoffs <= self.ineffectual {
            w.cwnd = (self.left * cwnd).max(1.0);
            w.ssthresh = w.cwnd;
            self.reduced = Some(ack.next_segment);
        } else if self.backoffs >= 2.0 * self.ineffectual {
            self.backoffs = 0.0;
        }
        // the effect shows in the round trip after the next
        self.before = None;
        self.shadow = self.shadow.max(cwnd);
    }

    fn on_ack_as_paper(&mut self, ack: &Ack, w: &mut Window) {
        if self.reduced.is_some_and(|segment| ack.unacknowledged > segment) {
            self.reduced = None;
        }
        if self.shadow == 0.0 && self.gradients.is_empty() {
            self.shadow = w.cwnd;
        }
        let measured = if self.round.passed(ack).is_some() { self.now.take() } else { None };
        if let Some(now) = measured {
            let before = self.before.replace(now);
            if before.is_some_and(|before| self.judge(now, before, w.in_slow_start())) {
                return self.react(ack, w);
            }
        }
        let cwnd = w.cwnd;
        if w.in_slow_start() {
            w.slow_start(ack.acked);
        } else if measured.is_some() {
            w.cwnd += 1.0;
        }
        if self.shadow > 0.0 {
            self.shadow += w.cwnd - cwnd;
        }
    }

    /// Linux's judgement: the gradient in microseconds per round trip, if there is one.
    fn gradient_as_linux(&mut self, now: Extremes) -> Option<f64> {
        let before = self.before.replace(now)?;
        self.take_gradient(Extremes {
            least: now.least - before.least,
            greatest: now.greatest - before.greatest,
        });
        if self.sum.least <= LINUX_FALLING_US || self.sum.greatest <= LINUX_FALLING_US {
            self.backoffs = 0.0;
        }
        let mean = self.means();
        Some(if mean.least > 0.0 { mean.least } else { mean.greatest })
    }

    fn on_ack_as_linux(&mut self, mut l: Linux, ack: &Ack, w: &mut Window) -> Linux {
        if let Some(reduction) = &mut l.reduction {
            if let Some(cwnd) = reduction.window(ack) {
                w.cwnd = cwnd;
                return l;
            }
            w.cwnd = reduction.to;
            l.reduction = None;
            self.end_reduction();
            return l;
        }
        if self.shadow == 0.0 {
            self.shadow = w.cwnd;
        }
        if w.in_slow_start() && l.slow_start.ends(ack.now, self.now.map(|r| r.least)) {
            w.ssthresh = w.cwnd;
        }
        if self.now.is_some() && self.round.passed(ack).is_some() {
            let gradient = self.now.take().and_then(|now| self.gradient_as_linux(now));
            l.slow_start.begin_round();
            if gradient.is_some_and(|g| g > 0.0 && self.backs_off(g)) {
                self.backoffs += 1.0;
                if self.backoffs <= self.ineffectual {
                    self.shadow = self.shadow.max(w.cwnd);
                    w.ssthresh = (self.left * w.cwnd).floor().max(1.0);
                    l.reduction = Some(Reduction {
                        from: w.cwnd,
                        to: w.ssthresh,
                        delivered: 0.0,
                        first: ack.next_segment,
                    });
                    return l;
                }
            }
        }
        let cwnd = w.cwnd;
        if w.in_slow_start() {
            w.slow_start(ack.acked);
        } else {
            w.cwnd += standard_increase(w.cwnd, ack.acked);
        }
        self.shadow += w.cwnd - cwnd;
        l
    }

    /// A round-trip time. Linux keeps those of delayed acknowledgements out of the greatest.
    fn sample(&mut self, ack: &Ack, us: f64) {
        let all_in_order = ack.delivered == ack.unacknowledged;
        if self.is_linux && all_in_order {
            let l = &mut self.linux;
            if ack.newly_delivered == 1 && l.delayed > 0 {
                l.delayed -= 1;
                if let Some(r) = &mut self.now {
                    r.least = r.least.min(us);
                }
                return;
            }
            if ack.newly_delivered > 1 && l.delayed < LINUX_DELAYED {
                l.delayed += 1;
            }
        }
        let r = self.now.get_or_insert(Extremes { least: us, greatest: us });
        *r = Extremes { least: r.least.min(us), greatest: r.greatest.max(us) };
    }

    /// Linux: a reduction has ended, so the next round trip is the first of a new comparison with this one.
    fn end_reduction(&mut self) {
        self.round.restart();
        self.before = self.now.take();
    }
}

impl CongestionControl for Cdg {
    fn on_start(&mut self, _mss_bytes: u32, seed: u64) {
        *self.random = Stream::new(seed, "cdg");
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let cwnd = w.cwnd;
        if self.is_linux {
            *self.linux = self.on_ack_as_linux(*self.linux, ack, w);
        } else {
            self.on_ack_as_paper(ack, w);
        }
        if ack.may_grow {
            return;
        }
        if w.cwnd > cwnd {
            self.shadow = (self.shadow - (w.cwnd - cwnd)).max(0.0); // it does not grow either
        }
        if self.is_linux {
            self.shadow = self.shadow.min(cwnd); // tcp_cdg_cong_avoid
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        let half = standard_decrease(w.cwnd);
        if self.is_linux {
            w.ssthresh = match self.linux.reduction.take() {
                // the loss is of what the backoff is about to reduce
                Some(reduction) => reduction.to.min(w.cwnd),
                None => {
                    self.shadow = standard_decrease(self.shadow).min(w.cwnd);
                    self.shadow.max(half).floor().max(1.0)
                }
            };
            return;
        }
        w.ssthresh = if event.cause != Cause::Loss {
            half
        } else if self.reduced.is_some() || self.queue == Queue::Other {
            w.cwnd
        } else {
            self.shadow = standard_decrease(self.shadow);
            self.shadow.max(half).min(w.cwnd)
        };
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.sample(ack, 1e6 * rtt.as_secs_f64());
        }
    }

    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {
        if self.is_linux {
            self.end_reduction();
        }
    }

    fn internals(&self, out: &mut Internals) {
        if !self.gradients.is_empty() {
            let mean = self.means();
            out.push(("g_min_us", mean.least));
            out.push(("g_max_us", mean.greatest));
        }
        out.push(("shadow_window", self.shadow));
    }
}

#[cfg(test)]
mod tests;
