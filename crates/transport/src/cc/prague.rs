//! Prague (De Schepper, Tilmans, Briscoe, Goel: draft-briscoe-iccrg-prague-congestion-control-04, 2024), the
//! scalable congestion control of L4S: as DCTCP it reduces the window by the share of marked packets, but it
//! grows between marks in every phase, paces, keeps a fractional window, and shares a queue evenly with flows
//! of other round-trip times.
//!
//! ```text
//! once a round: alpha <- (1 - g) alpha + g marked / delivered        (from the first mark on)
//! Mark        : cwnd  <- (1 - alpha / 2) cwnd                        (at most once a round)
//! Ack         : cwnd  <- cwnd + a (delivered - marked) / cwnd        (also while the window shrinks after a mark)
//! Loss        : cwnd  <- cwnd / 2                                    (as Reno)
//! RTT_virt    = max(RTT, 25 ms); after the transition a = (RTT / RTT_virt)^2, and a round lasts RTT_virt
//! leaves      : paced at cwnd / RTT, twice that below half of ssthresh; in flight are at most ceil(cwnd), at least 2
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `g` | 1/16 | | tcp_prague.c, PRAGUE_SHIFT_G | none |
//! | `rtt_target` | 25 | ms | draft, section 2.4.4; tcp_prague.c, prague_rtt_target | none |
//! | `rtt_transition` | 500 | rounds | tcp_prague.c of earlier kernels, DEFAULT_RTT_TRANSITION | 4 in that of Linux 6.6 |
//! | alpha at the beginning | 1 | | tcp_prague.c, PRAGUE_MAX_ALPHA | none |
//! | least packets in flight | 2 | segments | tcp_prague.c, MIN_CWND_RTT | none |
//! | least rate | 100 | kbit/s | tcp_prague.c, MINIMUM_RATE | of full packets |
//! | longest burst | 2^-12 | s | tcp_prague.c, prague_burst_shift | at least a segment |
//! | loss | 1/2 | of cwnd | tcp_prague.c, prague_enter_loss | none |
//!
//! In tcp_prague.c a mark begins a phase of a round-trip time (CWR), and only its beginning can reduce the
//! window, so with 20 ms the window is reduced every 40 ms and not every 25 ms. Here a flow that has rounds
//! of 25 ms answers the first mark after them.
//!
//! The file that was read is net/ipv4/tcp_prague.c of the L4S team's kernel 6.6 (version 0.7), in its
//! window-based mode. Its rate-based mode for windows below four packets, its smaller segments, and the 3 %
//! by which its pacing alternates are left out; below two segments the window acts by pacing alone. The
//! draft's own text was not at hand.

use super::congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Delivery, Internals, MarkSample, Opening, Repair, Window,
};
use super::row::{Properties, Row};
use crate::feedback::Feedback;
use crate::packet_sizes::HEADER_BYTES;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

/// The registry row.
pub const ROW: Row<Prague> = Row {
    entry: Entry {
        name: "prague",
        title: "TCP Prague",
        aliases: &[],
        citation: "De Schepper, Tilmans, Briscoe, Goel: Prague Congestion Control, \
                   draft-briscoe-iccrg-prague-congestion-control-04, 2024",
        page: "prague",
        parameters: &[
            Parameter::number("g", 0.0625, (1e-4, 1.0), "", "weight of a round in alpha"),
            Parameter::number(
                "rtt_target",
                25.0,
                (0.0, 1000.0),
                "ms",
                "flows of a shorter round-trip time behave as if it were this long",
            ),
            Parameter::number("rtt_transition", 500.0, (0.0, 1e9), "rounds", "rounds before they do so"),
        ],
        style: Some(Style::new("#0072b2", "h")),
    },
    linux_module: None, // only in the L4S team's kernel
    properties: Properties {
        model_based: true,
        paces: true,
        feedback: Feedback::Accurate,
        sends_ect1: true,
        ..Properties::DEFAULT
    },
    build: Prague::build,
};

const LEAST_IN_FLIGHT: f64 = 2.0;
const LEAST_RATE_BPS: f64 = 100e3;
const LONGEST_BURST_S: f64 = 1.0 / 4096.0;
/// What a loss leaves.
const LEFT: f64 = 0.5;

/// The growth per round-trip time of a flow that behaves as if its round-trip time were `target` (section
/// 2.4.4).
fn increase(srtt: Interval, target: Interval) -> f64 {
    if srtt >= target {
        return 1.0;
    }
    let ratio = srtt.as_secs_f64() / target.as_secs_f64();
    ratio * ratio
}

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    g: f64,
    target: Interval,
    transition: u64,
    /// The window, which may be below one segment.
    fraction: f64,
    alpha: f64,
    /// A mark has come: there is a queue that marks.
    saw_mark: bool,
    /// Rounds since slow-start ended.
    rounds: u64,
    /// The round ends when this segment is acknowledged.
    round_end: u64,
    delivered: u64,
    marked: u64,
    /// When alpha was last computed, and when a mark last reduced the window.
    alpha_at: Time,
    reduced_at: Time,
    /// What the last acknowledgement told.
    last: Option<MarkSample>,
    /// A loss is being repaired.
    repairing: bool,
    /// The window before the last loss, and ssthresh.
    before: f64,
    before_ssthresh: f64,
    /// The least rate, segments/s.
    least_rate: f64,
    srtt: Interval,
}

impl Prague {
    fn build(p: &Parameters) -> Self {
        Prague {
            g: p.number("g"),
            target: Interval::from_secs_f64(1e-3 * p.number("rtt_target")),
            transition: p.number("rtt_transition") as u64,
            fraction: 1.0,
            alpha: 1.0,
            saw_mark: false,
            rounds: 0,
            round_end: 0,
            delivered: 0,
            marked: 0,
            alpha_at: Time::ZERO,
            reduced_at: Time::ZERO,
            last: None,
            repairing: false,
            before: 0.0,
            before_ssthresh: 0.0,
            least_rate: 0.0,
            srtt: Interval::ZERO,
        }
    }

    /// Whether it behaves as if its round-trip time were the target, if that is longer.
    fn is_independent(&self, w: &Window) -> bool {
        self.rounds >= self.transition && !w.in_slow_start()
    }

    /// The least window, segments.
    fn least(&self) -> f64 {
        (self.least_rate * self.srtt.as_secs_f64()).min(LEAST_IN_FLIGHT)
    }

    /// Whether its rounds last longer than a round-trip time.
    fn has_own_rounds(&self, w: &Window) -> bool {
        self.is_independent(w) && self.srtt < self.target
    }

    fn answer_mark(&mut self, now: Time, w: &mut Window) {
        self.reduced_at = now;
        self.reduce_to((1.0 - 0.5 * self.alpha) * self.fraction, w);
    }

    fn reduce_to(&mut self, window: f64, w: &mut Window) {
        self.fraction = window.max(self.least());
        w.ssthresh = self.fraction.min(w.cwnd);
    }

    fn grow(&mut self, delivery: &Delivery, marked: u64, w: &mut Window) {
        let counted = delivery.newly_delivered.saturating_sub(marked) as f64;
        if counted == 0.0 || self.repairing || delivery.app_limited || !delivery.may_grow {
            return;
        }
        if w.in_slow_start() {
            w.slow_start(counted);
            self.fraction = w.cwnd;
            return;
        }
        let step = if self.is_independent(w) { increase(delivery.srtt, self.target) } else { 1.0 };
        self.fraction += step * counted / self.fraction;
    }

    /// The packets that the window allows in flight.
    fn allowed(&self) -> f64 {
        self.fraction.ceil().max(LEAST_IN_FLIGHT)
    }

    /// Moves the packets in flight towards the window, by a segment an acknowledgement.
    fn follow(&self, w: &mut Window) {
        let allowed = self.allowed();
        w.cwnd = if w.cwnd > allowed { (w.cwnd - 1.0).max(allowed) } else { (w.cwnd + 1.0).min(allowed) };
    }

    /// Ends a round that is over.
    fn end_round(&mut self, sample: &MarkSample, w: &Window) {
        let waits = self.is_independent(w) && sample.now.since(self.alpha_at) < self.target;
        if sample.unacknowledged < self.round_end || waits {
            return;
        }
        if self.saw_mark {
            let share = self.marked as f64 / self.delivered.max(1) as f64;
            self.alpha = ((1.0 - self.g) * self.alpha + self.g * share).min(1.0);
            self.alpha_at = sample.now;
        }
        self.rounds += u64::from(!w.in_slow_start());
        self.round_end = sample.next_segment;
        (self.delivered, self.marked) = (0, 0);
    }
}

impl CongestionControl for Prague {
    fn on_start(&mut self, mss_bytes: u32, _seed: u64) {
        self.least_rate = LEAST_RATE_BPS / (8.0 * (f64::from(mss_bytes) + HEADER_BYTES));
    }

    fn on_ack(&mut self, _ack: &Ack, _w: &mut Window) {}

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        match event.cause {
            Cause::Mark if self.has_own_rounds(w) => w.ssthresh = w.ssthresh.min(w.cwnd),
            Cause::Mark => self.answer_mark(event.now, w),
            Cause::Loss | Cause::Timeout => {
                (self.before, self.before_ssthresh) = (self.fraction, w.ssthresh);
                self.repairing = true;
                self.reduce_to(LEFT * self.fraction, w);
            }
        }
    }

    fn on_marks(&mut self, sample: &MarkSample, w: &mut Window) {
        if sample.marked > 0
            && !self.repairing
            && self.has_own_rounds(w)
            && sample.now.since(self.reduced_at) >= self.target
        {
            self.answer_mark(sample.now, w);
        }
        self.saw_mark |= sample.marked > 0;
        self.delivered += sample.delivered;
        self.marked += sample.marked.min(sample.delivered);
        self.last = Some(*sample);
    }

    fn on_open(&mut self, opening: &Opening, w: &mut Window) {
        self.fraction = w.cwnd;
        self.srtt = opening.rtt.unwrap_or(Interval::ZERO);
        (self.alpha_at, self.reduced_at) = (opening.now, opening.now);
    }

    fn on_delivery(&mut self, delivery: &Delivery, w: &mut Window) {
        self.srtt = delivery.srtt;
        self.repairing &= delivery.repair != Repair::None;
        let sample = self.last.take();
        self.grow(delivery, sample.map_or(0, |s| s.marked), w);
        self.follow(w);
        if let Some(sample) = sample {
            self.end_round(&sample, w);
        }
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.repairing = false;
        self.fraction = self.fraction.max(self.before);
        w.cwnd = self.allowed();
        w.ssthresh = w.ssthresh.max(self.before_ssthresh);
    }

    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        let rate = self.fraction.max(self.least()) / srtt.as_secs_f64();
        let factor = if w.cwnd < 0.5 * w.ssthresh { 2.0 } else { 1.0 };
        (rate.is_finite() && rate > 0.0).then_some(factor * rate)
    }

    fn send_quantum(&self) -> f64 {
        let rate = self.fraction / self.srtt.as_secs_f64().max(LONGEST_BURST_S);
        (rate * LONGEST_BURST_S).max(1.0)
    }

    fn internals(&self, out: &mut Internals) {
        out.extend([("alpha", self.alpha), ("window", self.fraction)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{congestion, instance, loss, window};
    use super::*;

    use longfat_units::Stream;

    const RTT: Interval = Interval::from_millis(10);

    /// A Prague flow on a path that it fills, with one acknowledgement a segment.
    struct Flow {
        prague: Prague,
        w: Window,
        now: Time,
        delivered: u64,
        rtt: Interval,
        reducible_from: u64,
    }

    impl Flow {
        /// In congestion avoidance with this window, after so many rounds.
        fn new(cwnd: f64, rounds: u64) -> Self {
            let mut prague = instance(&ROW, &[]);
            let mut w = window(cwnd, cwnd);
            prague.on_start(1448, 0);
            prague.on_open(&Opening { now: Time::ZERO, rtt: Some(RTT), selective: true }, &mut w);
            prague.rounds = rounds;
            Flow { prague, w, now: Time::ZERO, delivered: 0, rtt: RTT, reducible_from: 0 }
        }

        fn ack(&mut self, marked: bool) {
            self.now += self.rtt.scale(1.0 / self.prague.fraction);
            self.delivered += 1;
            let next_segment = self.delivered + self.w.cwnd as u64;
            self.prague.on_marks(
                &MarkSample {
                    now: self.now,
                    delivered: 1,
                    marked: u64::from(marked),
                    next_segment,
                    unacknowledged: self.delivered,
                    srtt: self.rtt,
                },
                &mut self.w,
            );
            if marked && self.delivered > self.reducible_from {
                self.reducible_from = next_segment;
                self.congestion(Cause::Mark);
            }
            self.prague.on_delivery(
                &Delivery {
                    now: self.now,
                    rate: None,
                    delivered: 1,
                    prior_delivered: None,
                    app_limited: false,
                    tx_in_flight: 1,
                    lost: 0,
                    rtt: Some(self.rtt),
                    left: Some(self.now - self.rtt),
                    newly_delivered: 1,
                    newly_lost: 0,
                    total_delivered: self.delivered,
                    total_lost: 0,
                    prior_in_flight: 1,
                    in_flight: 1,
                    srtt: self.rtt,
                    next_departure: self.now,
                    window_limited: true,
                    may_grow: true,
                    source_limited: false,
                    repair: Repair::None,
                },
                &mut self.w,
            );
        }

        fn congestion(&mut self, cause: Cause) {
            self.prague.on_congestion(&Congestion { now: self.now, ..congestion(cause) }, &mut self.w);
        }
    }

    #[test]
    fn growth_is_a_segment_a_round_trip_and_at_5_ms_a_25th_of_that_as_if_the_round_trip_took_25_ms() {
        let (target, short) = (Interval::from_millis(25), Interval::from_millis(5));
        assert!((increase(short, target) - 0.04).abs() < 1e-12, "(5 / 25)^2");
        assert_eq!([25, 100].map(|ms| increase(Interval::from_millis(ms), target)), [1.0, 1.0]);
        for (rounds, growth) in [(0, 1.0), (500, 0.16)] {
            let mut flow = Flow::new(100.0, rounds);
            (0..100).for_each(|_| flow.ack(false));
            let grown = flow.prague.fraction - 100.0;
            assert!((grown / growth - 1.0).abs() < 0.01, "{rounds}: {grown}");
        }
    }

    #[test]
    fn a_share_p_of_marks_keeps_the_window_at_about_two_marks_a_round_trip() {
        // growth of 1 - p a round trip against p cwnd / 2 in those with a mark, five or six of seven
        for p in [0.2, 0.05, 0.01] {
            let mut flow = Flow::new(2.0 / p, 0);
            flow.prague.transition = u64::MAX;
            let every = (1.0 / p) as u64;
            let (mut sum, mut count, mut draws) = (0.0, 0.0, Stream::new(1, "marks"));
            for n in 0..200_000 {
                flow.ack(draws.below(every) == 0);
                if n > 20_000 {
                    (sum, count) = (sum + flow.prague.fraction, count + 1.0);
                }
            }
            let marks = p * sum / count;
            assert!((1.5..3.0).contains(&marks), "{p}: {marks} a round trip");
        }
    }

    #[test]
    fn the_first_mark_halves_the_window_and_a_loss_does_as_in_reno() {
        for event in [congestion(Cause::Mark), loss(), congestion(Cause::Timeout)] {
            let mut flow = Flow::new(100.0, 0);
            flow.prague.on_congestion(&event, &mut flow.w);
            assert_eq!((flow.prague.fraction, flow.w.ssthresh), (50.0, 50.0), "{event:?}");
        }
        let mut later = Flow::new(100.0, 0);
        later.prague.alpha = 0.1;
        later.congestion(Cause::Mark);
        assert_eq!(later.prague.fraction, 95.0);
        later.congestion(Cause::Loss);
        assert_eq!(later.prague.fraction, 47.5, "also after a mark");
        later.w.cwnd = 1.0; // as after a timeout
        later.prague.on_undo(&mut later.w);
        assert_eq!((later.prague.fraction, later.w.cwnd), (95.0, 95.0), "all of it at once");
        assert_eq!(later.w.ssthresh, 95.0, "what the mark had left");
    }

    #[test]
    fn once_independent_marks_reduce_at_most_once_in_25_ms() {
        for (rounds, left) in [(0, 72.9), (500, 90.0)] {
            let mut flow = Flow::new(100.0, rounds);
            flow.prague.alpha = 0.2;
            flow.now = Time::ZERO + Interval::from_millis(100);
            for _ in 0..3 {
                flow.congestion(Cause::Mark);
                let (delivered, marked) = (1, 1);
                let told = MarkSample {
                    now: flow.now,
                    delivered,
                    marked,
                    next_segment: 100,
                    unacknowledged: 0,
                    srtt: RTT,
                };
                flow.prague.on_marks(&told, &mut flow.w);
                flow.now += Interval::from_millis(10);
            }
            assert!((flow.prague.fraction - left).abs() < 1e-9, "{rounds}");
        }
    }

    #[test]
    fn a_window_below_two_segments_acts_by_pacing_down_to_100_kbit_a_second() {
        let mut flow = Flow::new(2.0, 0);
        flow.prague.reduce_to(0.5, &mut flow.w);
        (0..3).for_each(|_| flow.prague.follow(&mut flow.w));
        assert_eq!(flow.w.cwnd, 2.0);
        assert_eq!(flow.prague.pacing_rate(&flow.w, RTT), Some(50.0), "half a segment in 10 ms");
        flow.prague.reduce_to(0.0, &mut flow.w);
        let least = flow.prague.pacing_rate(&flow.w, RTT).expect("a rate");
        assert!((least - 100e3 / 12_000.0).abs() < 1e-9, "{least}: 1500 bytes each");
    }

    #[test]
    fn in_flight_follows_the_window_by_a_segment_an_acknowledgement() {
        let mut flow = Flow::new(100.0, 0);
        flow.prague.alpha = 0.1;
        flow.congestion(Cause::Mark);
        let windows: Vec<f64> = (0..7).map(|_| (flow.ack(false), flow.w.cwnd).1).collect();
        assert_eq!(windows, [99.0, 98.0, 97.0, 96.0, 96.0, 96.0, 96.0], "95 and a little growth, rounded up");
    }
}
