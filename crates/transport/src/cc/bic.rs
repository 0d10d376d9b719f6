//! BIC TCP (Xu, Harfoush, Rhee, INFOCOM 2004): a binary search for the window of the last loss.
//!
//! The authors' Linux patch as Li, Leith and Shorten (2007, section IV-D) describe it:
//! ```text
//! Ack :  cwnd <- cwnd + f(d, cwnd) / cwnd,   d = (w1 - cwnd) / B     (per segment that counts)
//! Loss:  w1 <- (1 + beta) / 2 cwnd  if cwnd < w1 (fast convergence), else cwnd
//!        w2 <- cwnd;   cwnd <- beta cwnd
//!        | B / sigma            d <= 1 and cwnd < w1, or w1 <= cwnd < w1 + B
//! f =    | d                    1 < d <= S_max and cwnd < w1
//!        | (cwnd - w1) / (B-1)  B <= cwnd - w1 < S_max (B - 1)
//!        | S_max                otherwise
//! ```
//! The third branch is printed as w1 / (B-1), a jump by a third of the window: `variant = "literal"`. Up to
//! Low_Window it is standard TCP. Before the first loss, and beyond w2 while the path looks under-used, cwnd
//! grows by at least 5 % per round trip. The path looks under-used once the smoothed queueing delay has been
//! below Low_Util of the range of delays seen for more than Util_Check.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | S_max | 32; Linux 16 | segments per RTT | LLS Table II; Linux tcp_bic, max_increment | none |
//! | B | 4 | | LLS Table II; Linux tcp_bic, BICTCP_B | none |
//! | sigma | 20 | | LLS Table II; Linux tcp_bic, smooth_part | none |
//! | beta | 0.8 | of cwnd | LLS Table II | Linux: 819/1024 |
//! | Low_Window | 14 | segments | LLS Table II; Linux tcp_bic | none |
//! | Low_Util | 0.15 | of the delay range | LLS Table II; Linux 2.6.13 tcp_bic: 153/1024 | none |
//! | Util_Check | 2 | s | LLS Table II; the unit from Linux 2.6.13 tcp_bic | none |
//! | settling time | 1 | s | Linux 2.6.13 tcp_bic: delays are not used so soon after a recovery | none |
//! | least range | 1/64 | of the least delay | Linux 2.6.13 tcp_bic: below, no verdict | none |
//! | memory of the range | 0.9 | per loss | Linux 2.6.13 tcp_bic | none |
//! | segments per acknowledgement | 2 at first, in 1/16 | | Linux tcp_bic, delayed_ack, ACK_RATIO_SHIFT | see `AckRatio` |
//! | growth when under-used | 0.05 | per RTT | Linux tcp_bic: one segment per 20 | none |
//! | S_min | B / sigma = 0.2 | segments per RTT | LLS | parameter; 0.01 in the INFOCOM paper |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

/// Delays are not used until this long after a recovery.
const SETTLING: Interval = Interval::from_millis(1000);
/// The delay range counts only once it exceeds the least delay divided by this.
const LEAST_RANGE: u64 = 64;
/// The part of the delay range that remains after a loss.
const RANGE_MEMORY: f64 = 0.9;
/// Least growth per segment where the path looks under-used.
const HURRY: f64 = 0.05;
/// `s_max` of Li, Leith and Shorten, in segments per round trip.
const PAPER_S_MAX: f64 = 32.0;
/// `s_max` of Linux, in segments per round trip.
const LINUX_S_MAX: f64 = 16.0;

/// The registry row.
pub const ROW: Row<Bic> = Row {
    entry: Entry {
        name: "bic",
        title: "BIC TCP",
        aliases: &["bic-tcp", "bictcp"],
        citation: "Xu, Harfoush, Rhee: Binary Increase Congestion Control for Fast Long-Distance Networks, IEEE \
                   INFOCOM 2004",
        page: "bic",
        parameters: &[
            Parameter::choice(
                "variant",
                &["corrected", "literal", "linux"],
                "the equations of Li, Leith and Shorten, corrected or as printed, or Linux's module",
            ),
            Parameter::choice(
                "fast_convergence",
                &["on", "off"],
                "whether a loss below the last maximum lowers the target",
            ),
            Parameter::number("s_max", 0.0, (0.0, 1e4), "segments per RTT", "greatest step")
                .or_auto("the variant's own: 32, Linux 16"),
            Parameter::number(
                "s_min",
                0.0,
                (0.0, 1e3),
                "segments per RTT",
                "least step, 0.01 in the INFOCOM paper (not in variant linux)",
            )
            .or_auto("b / sigma"),
            Parameter::number(
                "b",
                4.0,
                (2.0, 64.0),
                "",
                "the search goes this part of the way to the target: 1 / b",
            ),
            Parameter::number(
                "sigma",
                20.0,
                (1.0, 1000.0),
                "RTT",
                "time to cross the last b segments before the target",
            ),
            Parameter::number("beta", 0.8, (0.1, 0.99), "of the window", "what a loss leaves"),
            Parameter::number("low_window", 14.0, (0.0, 1e6), "segments", "standard TCP up to this window"),
            Parameter::number(
                "low_util",
                0.15,
                (0.0, 1.0),
                "of the delay range",
                "queueing delay of an under-used path; 0 turns the check off (not in variant linux)",
            ),
            Parameter::number("util_check", 2.0, (0.0, 3600.0), "s", "how long it has to look so"),
        ],
        style: Some(Style::new("#009e73", "D")),
    },
    linux_module: Some("bic"),
    properties: Properties::DEFAULT,
    build: Bic::build,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Corrected,
    Literal,
    Linux,
}

/// The step function f and its constants.
#[derive(Clone, Copy, Debug)]
struct Step {
    variant: Variant,
    s_max: f64,
    s_min: f64,
    b: f64,
    sigma: f64,
}

impl Step {
    /// f(d, cwnd) in segments per round trip, towards the target `w1`.
    #[inline]
    fn per_round_trip(&self, cwnd: f64, w1: f64) -> f64 {
        let beyond = cwnd - w1;
        if beyond < 0.0 {
            let d = -beyond / self.b;
            if d <= 1.0 { self.s_min } else { d.min(self.s_max) }
        } else if beyond < self.b {
            self.s_min
        } else if beyond < self.s_max * (self.b - 1.0) {
            if self.variant == Variant::Literal { w1 / (self.b - 1.0) } else { beyond / (self.b - 1.0) }
        } else {
            self.s_max
        }
    }

    /// Linux counts segments: the window grows by one after this many.
    #[inline]
    fn linux_count(&self, cwnd: f64, w1: f64) -> f64 {
        let cwnd = cwnd.floor();
        let linear = (cwnd / self.s_max).floor();
        let smooth = (cwnd * self.sigma / self.b).floor();
        let count = if cwnd < w1 {
            let distance = ((w1 - cwnd) / self.b).floor();
            if distance > self.s_max {
                linear
            } else if distance <= 1.0 {
                smooth
            } else {
                (cwnd / distance).floor()
            }
        } else if cwnd < w1 + self.b {
            smooth
        } else if cwnd < w1 + self.s_max * (self.b - 1.0) {
            (cwnd * (self.b - 1.0) / (cwnd - w1)).floor()
        } else {
            linear
        };
        count.max(1.0)
    }

    /// Growth per segment that counts; at least `least`.
    #[inline]
    fn per_segment(&self, cwnd: f64, w1: f64, least: f64, ratio: AckRatio) -> f64 {
        match self.variant {
            Variant::Linux => 1.0 / ratio.shortened(self.linux_count(cwnd, w1).min(1.0 / least)),
            _ => (self.per_round_trip(cwnd, w1) / cwnd).max(least),
        }
    }
}

/// Linux's estimate of the segments that one acknowledgement covers, in whole sixteenths.
///
/// The module shortens its count by this ratio, because it used to count acknowledgements. It counts segments
/// since Linux 4.0 and still shortens: with delayed acknowledgements its window grows twice as fast as the
/// paper's.
#[derive(Clone, Copy, Debug)]
struct AckRatio(u32);

impl AckRatio {
    const ONE: u32 = 16;

    fn new() -> Self {
        AckRatio(2 * Self::ONE)
    }

    /// Moves a sixteenth of the way to this acknowledgement's number, in whole numbers.
    #[inline]
    fn on_ack(&mut self, segments: u32) {
        self.0 = self.0 + segments - self.0 / Self::ONE;
    }

    #[inline]
    fn shortened(self, count: f64) -> f64 {
        (count * f64::from(Self::ONE) / f64::from(self.0)).floor().max(1.0)
    }
}

/// The low utilisation check.
#[derive(Clone, Debug)]
struct Utilisation {
    threshold: f64,
    check: Interval,
    least: Interval,
    greatest: Interval,
    /// Delays count from here on; unset from a congestion event to the next acknowledgement that may grow the
    /// window.
    trusted_from: Option<Time>,
    low_since: Option<Time>,
    low: bool,
}

impl Utilisation {
    fn new(threshold: f64, check: Interval) -> Self {
        Utilisation {
            threshold,
            check,
            least: Interval::MAX,
            greatest: Interval::ZERO,
            trusted_from: Some(Time::ZERO),
            low_since: None,
            low: false,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if self.threshold == 0.0 {
            return;
        }
        if self.looks_low(ack) {
            let since = *self.low_since.get_or_insert(ack.now);
            self.low = ack.now.since(since) > self.check;
        } else {
            self.low_since = None;
            self.low = false;
        }
    }

    #[inline]
    fn looks_low(&mut self, ack: &Ack) -> bool {
        let trusted_from = *self.trusted_from.get_or_insert(ack.now + SETTLING);
        let Some(delay) = ack.rtt.filter(|_| ack.now >= trusted_from) else {
            return false;
        };
        if delay < self.least {
            (self.least, self.greatest) = (delay, delay);
            return false;
        }
        self.greatest = self.greatest.max(delay);
        let range = self.greatest.saturating_sub(self.least);
        let queueing = ack.srtt.saturating_sub(self.least);
        range.as_ns() > self.least.as_ns() / LEAST_RANGE
            && (queueing.as_ns() as f64) < self.threshold * range.as_ns() as f64
    }

    fn on_congestion(&mut self) {
        self.trusted_from = None;
        if self.greatest > self.least {
            self.greatest = self.least + self.greatest.saturating_sub(self.least).scale(RANGE_MEMORY);
        }
    }
}

/// The search's memory, in segments; zero before the first loss.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// Target.
    w1: f64,
    /// Window of the last loss.
    w2: f64,
}

/// BIC TCP.
#[derive(Clone, Debug)]
pub struct Bic {
    step: Step,
    fast_convergence: bool,
    beta: f64,
    low_window: f64,
    memory: Memory,
    /// The state to restore if the last event turns out to be spurious.
    before: Memory,
    utilisation: Utilisation,
    ratio: AckRatio,
}

impl Bic {
    fn build(p: &Parameters) -> Self {
        let variant = match p.word("variant") {
            "literal" => Variant::Literal,
            "linux" => Variant::Linux,
            _ => Variant::Corrected,
        };
        let or = |given: f64, own| if given > 0.0 { given } else { own };
        let (b, sigma) = (p.number("b"), p.number("sigma"));
        let s_max = or(p.number("s_max"), if variant == Variant::Linux { LINUX_S_MAX } else { PAPER_S_MAX });
        let low_util = if variant == Variant::Linux { 0.0 } else { p.number("low_util") };
        Bic {
            step: Step { variant, s_max, s_min: or(p.number("s_min"), b / sigma).min(s_max), b, sigma },
            fast_convergence: p.word("fast_convergence") == "on",
            beta: p.number("beta"),
            low_window: p.number("low_window"),
            memory: Memory::default(),
            before: Memory::default(),
            utilisation: Utilisation::new(low_util, Interval::from_secs_f64(p.number("util_check"))),
            ratio: AckRatio::new(),
        }
    }

    fn is_hurried(&self, cwnd: f64) -> bool {
        self.memory.w2 == 0.0 || (self.utilisation.low && cwnd > self.memory.w2)
    }
}

impl CongestionControl for Bic {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.utilisation.on_ack(ack);
        self.ratio.on_ack(ack.newly_delivered);
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        if w.cwnd <= self.low_window {
            w.cwnd += standard_increase(w.cwnd, ack.acked);
            return;
        }
        let least = if self.is_hurried(w.cwnd) { HURRY } else { 0.0 };
        w.cwnd += ack.acked * self.step.per_segment(w.cwnd, self.memory.w1, least, self.ratio);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.before = self.memory;
        self.utilisation.on_congestion();
        let lowered = self.fast_convergence && w.cwnd < self.memory.w1;
        let w1 = if lowered { 0.5 * (1.0 + self.beta) * w.cwnd } else { w.cwnd };
        let linux = self.step.variant == Variant::Linux;
        self.memory = Memory { w1: if linux { w1.floor() } else { w1 }, w2: w.cwnd };
        w.ssthresh = if w.cwnd <= self.low_window { standard_decrease(w.cwnd) } else { self.beta * w.cwnd };
        if linux && event.cause == Cause::Timeout {
            self.memory = Memory::default();
            self.ratio = AckRatio::new();
        }
    }

    fn on_undo(&mut self, _w: &mut Window) {
        self.memory = self.before;
    }

    fn internals(&self, out: &mut Internals) {
        let low = if self.utilisation.low { 1.0 } else { 0.0 };
        out.extend([
            ("target", self.memory.w1),
            ("last_loss_window", self.memory.w2),
            ("low_utilisation", low),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, ack_at, congestion, instance, loss, round_trip, window, with_numbers};
    use super::*;

    fn bic(words: &[(&str, &str)]) -> Bic {
        instance(&ROW, words)
    }

    /// A connection at `cwnd` whose last loss was at 1000 segments.
    fn after_a_loss_at_1000(words: &[(&str, &str)], cwnd: f64) -> (Bic, Window) {
        let mut c = instance(&ROW, words);
        c.on_congestion(&loss(), &mut window(1000.0, 2.0));
        (c, window(cwnd, 2.0))
    }

    #[test]
    fn steps_are_those_of_table_ii() {
        // Li, Leith, Shorten, section IV-D with S_max 32, B 4, sigma 20: least step 4/20 = .2
        let step = bic(&[]).step;
        let at = |cwnd: f64| step.per_round_trip(cwnd, 1000.0);
        let cases = [
            (800.0, 32.0),
            (872.0, 32.0),
            (900.0, 25.0),
            (960.0, 10.0),
            (990.0, 2.5),
            (996.0, 0.2),
            (999.0, 0.2),
            (1000.0, 0.2),
            (1003.9, 0.2),
            (1006.0, 2.0),
            (1060.0, 20.0),
            (1096.0, 32.0),
            (5000.0, 32.0),
        ];
        for (cwnd, segments) in cases {
            assert!((at(cwnd) - segments).abs() < 1e-9, "{cwnd}: {}", at(cwnd));
        }
    }

    #[test]
    fn as_printed_the_third_branch_jumps_by_a_third_of_the_target() {
        let step = bic(&[("variant", "literal")]).step;
        assert_eq!(step.per_round_trip(1030.0, 999.0), 333.0);
        assert_eq!(step.per_round_trip(900.0, 1000.0), 25.0);
    }

    #[test]
    fn the_last_four_segments_before_the_target_take_sigma_round_trips() {
        let (mut c, mut w) = after_a_loss_at_1000(&[], 996.0);
        for _ in 0..20 {
            round_trip(&mut c, &mut w);
        }
        assert!((w.cwnd - 1000.0).abs() < 0.05, "{}", w.cwnd);
    }

    #[test]
    fn a_loss_leaves_four_fifths_and_below_low_window_half() {
        let mut c = bic(&[]);
        for (cwnd, left) in [(1000.0, 800.0), (14.0, 7.0), (15.0, 12.0)] {
            let mut w = window(cwnd, 2.0);
            c.on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, left);
        }
    }

    #[test]
    fn fast_convergence_sets_the_target_between_the_windows_before_and_after_the_loss() {
        for (word, target) in [("on", 810.0), ("off", 900.0)] {
            let (mut c, mut w) = after_a_loss_at_1000(&[("fast_convergence", word)], 900.0);
            c.on_congestion(&loss(), &mut w);
            assert_eq!((c.memory.w1, c.memory.w2), (target, 900.0));
            assert_eq!(w.ssthresh, 720.0);
        }
    }

    #[test]
    fn an_undone_loss_leaves_the_target_alone() {
        let (mut c, mut w) = after_a_loss_at_1000(&[], 900.0);
        c.on_congestion(&loss(), &mut w);
        c.on_undo(&mut w);
        assert_eq!((c.memory.w1, c.memory.w2), (1000.0, 1000.0));
    }

    #[test]
    fn before_any_loss_the_window_grows_five_percent_a_round_trip() {
        for variant in ["corrected", "literal"] {
            let mut c = instance(&ROW, &[("variant", variant)]);
            let mut w = window(2000.0, 2.0);
            round_trip(&mut c, &mut w);
            assert!((w.cwnd - 2100.0).abs() < 2.0, "{variant}: {}", w.cwnd);
        }
    }

    #[test]
    fn linux_grows_twice_as_fast_as_its_count_of_segments_says() {
        // tcp_bic: 20 segments a step before any loss, shortened by a ratio of segments to acknowledgements
        // that begins at 32 / 16 and in whole numbers does not fall below 31 / 16 even when each segment is
        // acknowledged
        let mut c = instance(&ROW, &[("variant", "linux")]);
        let mut w = window(2000.0, 2.0);
        round_trip(&mut c, &mut w);
        assert!((w.cwnd - 2200.0).abs() < 2.0, "{}", w.cwnd);
        assert_eq!(c.ratio.0, 31);
    }

    #[test]
    fn linux_takes_acknowledgements_of_two_segments_for_what_it_began_with() {
        let mut ratio = AckRatio::new();
        (0..100).for_each(|_| ratio.on_ack(2));
        assert_eq!(ratio.0, 32);
        assert_eq!(ratio.shortened(495.0), 247.0);
        assert_eq!(ratio.shortened(1.0), 1.0);
    }

    #[test]
    fn up_to_low_window_it_is_standard_tcp() {
        for variant in ["corrected", "literal", "linux"] {
            let mut w = window(10.0, 2.0);
            bic(&[("variant", variant)]).on_ack(&ack(1.0), &mut w);
            assert_eq!(w.cwnd, 10.1);
        }
    }

    #[test]
    fn linux_steps_by_at_most_16_segments_a_round_trip_and_counts_whole_ones() {
        let step = bic(&[("variant", "linux")]).step;
        // greatest step 500 / 16 = 31.25; (1000 - 960) / 4 = 10; at 990 a distance of 2; then 20 / 4 per
        // segment
        for (cwnd, count) in
            [(500.0, 31.0), (900.0, 56.0), (960.9, 96.0), (990.0, 495.0), (996.0, 4980.0), (1003.0, 5015.0)]
        {
            assert_eq!(step.linux_count(cwnd, 1000.0), count, "{cwnd}");
        }
        assert_eq!(step.linux_count(1012.0, 1000.0), 253.0);
        assert_eq!(step.linux_count(1048.0, 1000.0), 65.0);
    }

    #[test]
    fn a_timeout_makes_linux_forget_the_target_but_not_the_papers_form() {
        for (variant, target) in [("linux", 0.0), ("corrected", 1000.0)] {
            let mut c = bic(&[("variant", variant)]);
            let mut w = window(1000.0, 2.0);
            c.on_congestion(&congestion(Cause::Timeout), &mut w);
            assert_eq!((c.memory.w1, w.ssthresh), (target, 800.0));
        }
    }

    #[test]
    fn the_infocom_papers_least_step_can_be_set() {
        let c = with_numbers(&ROW, &[("s_min", 0.01)]);
        assert_eq!(c.step.per_round_trip(999.0, 1000.0), 0.01);
    }

    /// Feeds 100 ms and once 200 ms, then `smoothed_ms` for `seconds`: does the path look under-used?
    fn looks_under_used(c: &mut Bic, smoothed_ms: u64, seconds: u64) -> bool {
        let mut w = window(1500.0, 2.0);
        let ms = Interval::from_millis;
        for delay in [100, 200] {
            c.on_ack(&ack_at(Time::from_secs_f64(10.0), 1.0, ms(delay)), &mut w);
        }
        for tenth in 0..=10 * seconds {
            let now = Time::from_secs_f64(10.0) + ms(100 * tenth);
            let mut ack = ack_at(now, 1.0, ms(smoothed_ms));
            ack.srtt = ms(smoothed_ms);
            c.on_ack(&ack, &mut w);
        }
        c.utilisation.low
    }

    #[test]
    fn the_path_looks_under_used_after_two_seconds_below_15_percent_of_the_delay_range() {
        assert!(!looks_under_used(&mut bic(&[]), 114, 2));
        assert!(looks_under_used(&mut bic(&[]), 114, 3));
        assert!(!looks_under_used(&mut bic(&[]), 116, 30));
        assert!(!looks_under_used(&mut bic(&[("variant", "linux")]), 114, 30));
        let mut off = with_numbers(&ROW, &[("low_util", 0.0)]);
        assert!(!looks_under_used(&mut off, 114, 30));
    }

    #[test]
    fn an_under_used_path_hurries_growth_only_beyond_the_window_of_the_last_loss() {
        let (mut c, _) = after_a_loss_at_1000(&[], 0.0);
        // the first second after a recovery does not count, so three are needed
        assert!(!looks_under_used(&mut c.clone(), 114, 2));
        c.utilisation.trusted_from = Some(Time::ZERO);
        assert!(looks_under_used(&mut c, 114, 3));
        for (cwnd, per_round_trip) in [(1002.0, 50.1), (990.0, 2.5)] {
            let mut w = window(cwnd, 2.0);
            c.on_ack(&ack_at(Time::from_secs_f64(13.1), 1.0, Interval::from_millis(114)), &mut w);
            assert!(((w.cwnd - cwnd) * cwnd - per_round_trip).abs() < 1e-6, "{cwnd}");
        }
    }

    #[test]
    fn delays_right_after_a_recovery_do_not_count() {
        let (mut c, mut w) = after_a_loss_at_1000(&[], 900.0);
        let at = |ms| Time::ZERO + Interval::from_millis(ms);
        c.on_ack(&ack_at(at(5000), 1.0, Interval::from_millis(80)), &mut w);
        c.on_ack(&ack_at(at(5999), 1.0, Interval::from_millis(80)), &mut w);
        assert_eq!(c.utilisation.least, Interval::MAX);
        c.on_ack(&ack_at(at(6000), 1.0, Interval::from_millis(80)), &mut w);
        assert_eq!(c.utilisation.least, Interval::from_millis(80));
    }
}
