//! TCP Westwood (Mascolo et al. 2001) and Westwood+ (Dell'Aera, Grieco and Mascolo 2004): a loss leaves a
//! window that matches the bandwidth estimated from acknowledgements, rather than half of the window.
//!
//! ```text
//! Ack :  cwnd <- cwnd + 1 / cwnd                            (per segment that counts)
//! Loss:  ssthresh <- BWE RTTmin, at least 2;   cwnd <- min(cwnd, ssthresh); 1 after a timeout
//! BWE :  two low-pass filters in a row, x <- 7/8 x + 1/8 sample
//! ```
//! A sample is what arrived over the time it took: in Westwood from one acknowledgement to the next, in
//! Westwood+ over max(RTT, 50 ms), because acknowledgements that a queue has compressed say nothing about the
//! path. With agile probing (Westwood) slow-start continues as long as BWE RTTmin is above ssthresh.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | weight of a sample | 1/8, twice | | Linux tcp_westwood | Westwood: chosen here; the papers' filter knows the time |
//! | first sample | fills both filters | | Linux tcp_westwood, since 2.6.18 | none |
//! | `least_interval` | 50 | ms | Linux tcp_westwood | none |
//! | least ssthresh | 2 | segments | Linux tcp_westwood; RFC 5681 | none |
//! | `increase = "scalable"` | 0.01 | segments per segment | Kelly 2003 for what López Pacheco 2008, 2.4.5, calls like STCP | chosen here |
//! | `hz` (`linux`) | 250 | 1/s | Debian's kernels | parameter |
//! | RTTmin before the first sample (`linux`) | 20 | s | Linux tcp_westwood | none |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{
    Ack, Cause, Congestion, CongestionControl, Internals, LEAST_SSTHRESH, Window,
};
use super::row::{Properties, Row, SendingTimes};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

/// Weight of the past in each of the filters.
const MEMORY: f64 = 7.0 / 8.0;
const SCALABLE_INCREASE: f64 = 0.01;
const LINUX_INITIAL_RTT: Interval = Interval::from_millis(20_000);
/// Linux never samples more often than 20 times a second.
const LINUX_SAMPLES_PER_S: f64 = 20.0;
/// Used until the sender's segment size is known.
const ANY_MSS_BYTES: f64 = 1000.0;

/// The registry row of Westwood.
pub const ROW: Row<Westwood> = Row {
    entry: Entry {
        name: "westwood",
        title: "TCP Westwood",
        aliases: &["tcp-westwood"],
        citation: "Mascolo, Casetti, Gerla, Sanadidi, Wang: TCP Westwood: Bandwidth Estimation for Enhanced Transport \
                   over Wireless Links, ACM MobiCom 2001",
        page: "westwood",
        parameters: &[Parameter::choice(
            "agile_probing",
            &["on", "off"],
            "whether the estimated bandwidth sets how long slow-start lasts",
        )],
        style: Some(Style::new("#5f8f00", "p")),
    },
    linux_module: None,
    properties: Properties { samples: true, ..Properties::DEFAULT },
    build: |p| Westwood::new(Form::Westwood, p.word("agile_probing") == "on"),
};

/// The registry row of Westwood+.
pub const PLUS: Row<Westwood> = Row {
    entry: Entry {
        name: "westwood+",
        title: "TCP Westwood+",
        aliases: &["westwoodplus", "westwood-plus"],
        citation: "Dell'Aera, Grieco, Mascolo: Linux 2.4 Implementation of Westwood+ TCP with Rate-Halving: A \
                   Performance Evaluation over the Internet, IEEE ICC 2004",
        page: "westwood",
        parameters: &[
            Parameter::choice("variant", &["paper", "linux"], "linux: the kernel's tcp_westwood"),
            Parameter::choice(
                "increase",
                &["standard", "scalable"],
                "scalable: at least 0.01 segments per segment, as in Mascolo and Racanelli 2005 (not in linux)",
            ),
            Parameter::choice(
                "agile_probing",
                &["off", "on"],
                "whether the estimated bandwidth sets how far slow-start goes (not in linux)",
            ),
            Parameter::number(
                "least_interval",
                50.0,
                (0.0, 1e4),
                "ms",
                "the least duration of a bandwidth sample (not in linux)",
            ),
            Parameter::number("hz", 250.0, (20.0, 1e5), "ticks per s", "linux: the kernel's clock"),
        ],
        style: Some(Style::new("#a3c644", "h")),
    },
    linux_module: Some("westwood"),
    properties: Properties {
        samples: true,
        varies: |own, p| Properties { sending_times: sending_times(p), ..own },
        ..Properties::DEFAULT
    },
    build: Westwood::plus,
};

/// The kernel gives its modules the round-trip time of the last segment acknowledged.
fn sending_times(p: &Parameters) -> SendingTimes {
    if p.word("variant") == "linux" { SendingTimes::RoundTrips } else { SendingTimes::Unused }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Westwood,
    Plus,
    Linux,
}

/// A Westwood or Westwood+ flow.
#[derive(Clone, Debug)]
pub struct Westwood {
    form: Form,
    agile: bool,
    scalable: bool,
    least_interval: Interval,
    hz: f64,
    mss_bytes: f64,
    /// Output of the first and of the second filter: segments per second, in Linux bytes per tick.
    rough: f64,
    bandwidth: f64,
    /// The beginning of the sample under way, and segments that arrived since.
    since: Option<Time>,
    counted: f64,
    /// Linux: the last round-trip time, and the least since the last timeout.
    rtt: Interval,
    least_rtt: Interval,
    forget_least_rtt: bool,
    /// Agile probing is under way: no loss since the connection began or a timeout.
    probing: bool,
    /// ssthresh when recovery ends: the estimate, which may be above cwnd.
    estimate: Option<f64>,
    /// Linux: fast recovery is under way, at whose end cwnd becomes the estimate.
    completing: bool,
}

impl Westwood {
    fn new(form: Form, agile: bool) -> Self {
        Westwood {
            form,
            agile,
            scalable: false,
            least_interval: Interval::ZERO,
            hz: 1.0,
            mss_bytes: ANY_MSS_BYTES,
            rough: 0.0,
            bandwidth: 0.0,
            since: None,
            counted: 0.0,
            rtt: LINUX_INITIAL_RTT,
            least_rtt: LINUX_INITIAL_RTT,
            forget_least_rtt: true,
            probing: agile,
            estimate: None,
            completing: false,
        }
    }

    fn plus(p: &Parameters) -> Self {
        if p.word("variant") == "linux" {
            return Westwood { hz: p.number("hz"), ..Self::new(Form::Linux, false) };
        }
        Westwood {
            scalable: p.word("increase") == "scalable",
            least_interval: Interval::from_secs_f64(p.number("least_interval") / 1000.0),
            ..Self::new(Form::Plus, p.word("agile_probing") == "on")
        }
    }

    fn filter(&mut self, sample: f64) {
        if self.rough == 0.0 && self.bandwidth == 0.0 {
            (self.rough, self.bandwidth) = (sample, sample);
            return;
        }
        let low_pass = |past: f64, new: f64| MEMORY * past + (1.0 - MEMORY) * new;
        let whole = |x: f64| if self.form == Form::Linux { x.floor() } else { x };
        self.rough = whole(low_pass(self.rough, sample));
        self.bandwidth = whole(low_pass(self.bandwidth, self.rough));
    }

    /// Ticks of the kernel's clock, not rounded.
    fn ticks(&self, ns: u64) -> f64 {
        ns as f64 * self.hz / 1e9
    }

    /// The number of segments that the path holds without a queue; `None` before the first sample, or before
    /// the first round-trip time, which without timestamps may come later.
    #[inline]
    fn pipe(&self, base_rtt: Option<Interval>) -> Option<f64> {
        let pipe = self.bandwidth * base_rtt?.as_secs_f64();
        (self.bandwidth > 0.0).then_some(pipe.max(LEAST_SSTHRESH))
    }

    fn linux_pipe(&self) -> f64 {
        let least_rtt = self.ticks(self.least_rtt.as_ns()).ceil();
        (self.bandwidth * least_rtt / self.mss_bytes).floor().max(LEAST_SSTHRESH)
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
        }
        if ack.newly_delivered == 0 {
            return;
        }
        let Some(since) = self.since else {
            self.since = Some(ack.now);
            return;
        };
        self.counted += f64::from(ack.newly_delivered);
        let span = ack.now.since(since);
        let least = if self.form == Form::Plus { self.rtt.max(self.least_interval) } else { Interval::ZERO };
        // If a host takes no time to respond, the next flight's first acknowledgement comes exactly one
        // round-trip time later. It ends the sample, as with hosts that take some time. Acknowledgements at
        // the same instant count as one.
        if span >= least && span > Interval::ZERO {
            self.filter(self.counted / span.as_secs_f64());
            self.since = Some(ack.now);
            self.counted = 0.0;
        }
    }

    /// The kernel checks whether a sample is complete before it counts the acknowledgement, with the previous
    /// round-trip time, in whole ticks and bytes.
    fn measure_as_linux(&mut self, ack: &Ack) {
        let now = self.ticks(ack.now.as_ns()).floor();
        if let Some(since) = self.since {
            let span = now - self.ticks(since.as_ns()).floor();
            let rtt = self.ticks(self.rtt.as_ns()).ceil();
            if span > rtt.max((self.hz / LINUX_SAMPLES_PER_S).floor()) {
                self.filter((self.counted * self.mss_bytes / span).floor());
                self.since = Some(ack.now);
                self.counted = 0.0;
            }
            self.counted += f64::from(ack.newly_delivered);
        } else {
            self.since = Some(ack.now);
        }
        self.least_rtt = if self.forget_least_rtt { self.rtt } else { self.rtt.min(self.least_rtt) };
        self.forget_least_rtt = false;
        self.rtt = ack.rtt.unwrap_or(self.rtt);
    }

    fn on_congestion_as_linux(&mut self, cause: Cause, w: &mut Window) {
        self.completing = cause != Cause::Timeout;
        if self.completing {
            w.ssthresh = standard_decrease(w.cwnd).floor().max(1.0);
        } else {
            let pipe = self.linux_pipe();
            self.estimate = Some(pipe);
            self.forget_least_rtt = true;
            w.ssthresh = pipe.min(w.cwnd);
        }
    }
}

impl CongestionControl for Westwood {
    fn on_start(&mut self, mss_bytes: u32, _seed: u64) {
        self.mss_bytes = f64::from(mss_bytes);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        // the window grows in a recovery only after a timeout, and such a recovery never completes
        self.completing = false;
        if self.probing
            && let Some(pipe) = self.pipe(ack.base_rtt)
            && (w.ssthresh.is_infinite() || w.ssthresh < pipe)
        {
            w.ssthresh = pipe;
        }
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        let standard = standard_increase(w.cwnd, ack.acked);
        w.cwnd += if self.scalable { standard.max(SCALABLE_INCREASE * ack.acked) } else { standard };
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        if self.form == Form::Linux {
            return self.on_congestion_as_linux(event.cause, w);
        }
        self.probing = self.agile && event.cause == Cause::Timeout;
        let unknown = || standard_decrease(w.cwnd).max(LEAST_SSTHRESH);
        let pipe = self.pipe(event.base_rtt).unwrap_or_else(unknown);
        self.estimate = Some(pipe);
        w.ssthresh = pipe.min(w.cwnd);
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if self.form == Form::Linux { self.measure_as_linux(ack) } else { self.measure(ack) }
    }

    fn on_recovered(&mut self, _now: Time, w: &mut Window) {
        if core::mem::take(&mut self.completing) {
            w.ssthresh = self.linux_pipe();
            w.cwnd = w.ssthresh;
        } else if let Some(pipe) = self.estimate {
            w.ssthresh = pipe;
        }
        self.estimate = None;
    }

    fn on_undo(&mut self, _w: &mut Window) {
        self.estimate = None;
        self.completing = false;
    }

    fn internals(&self, out: &mut Internals) {
        let per_second = if self.form == Form::Linux { self.hz / self.mss_bytes } else { 1.0 };
        if self.bandwidth > 0.0 {
            out.push(("bandwidth_pps", self.bandwidth * per_second));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::Path;
    use super::super::testing::{ack, congestion, instance, loss, window};
    use super::*;

    /// A path of 100 ms whose bottleneck takes 1000 segments a second: 100 of them fill it.
    fn path() -> Path {
        Path::new(0.1, 1000.0)
    }

    fn plus(words: &[(&str, &str)]) -> Westwood {
        instance(&PLUS, words)
    }

    fn westwood(words: &[(&str, &str)]) -> Westwood {
        instance(&ROW, words)
    }

    fn linux() -> Westwood {
        plus(&[("variant", "linux")])
    }

    /// Runs with this window until the estimate has settled, after a round trip on the empty path.
    fn settle(c: &mut Westwood, path: &mut Path, cwnd: f64) {
        path.run(path.base_s, c, &mut window(2.0, 2.0));
        for _ in 0..80 {
            let mut w = window(cwnd, 2.0);
            path.run(path.rtt_s(cwnd), c, &mut w);
        }
    }

    #[test]
    fn a_loss_leaves_what_the_path_holds_without_its_queue_however_long_that_is() {
        for queue in [20.0, 50.0, 100.0, 300.0] {
            for mut c in [westwood(&[]), plus(&[])] {
                let (mut path, mut w) = (path(), window(100.0 + queue, 2.0));
                settle(&mut c, &mut path, w.cwnd);
                path.lose(Cause::Loss, &mut c, &mut w);
                assert!((97.0..=103.0).contains(&w.cwnd), "{:?} {queue}: {}", c.form, w.cwnd);
            }
        }
    }

    #[test]
    fn a_loss_before_a_queue_takes_nothing_and_slow_start_goes_on_up_to_the_estimate() {
        let (mut c, mut path) = (plus(&[]), path());
        settle(&mut c, &mut path, 100.0);
        let mut w = window(60.0, 2.0);
        let event = loss();
        c.on_congestion(&event, &mut w);
        assert_eq!(w.ssthresh, 60.0);
        w.cwnd = w.ssthresh;
        c.on_recovered(Time::ZERO, &mut w);
        assert!(w.in_slow_start() && (95.0..=105.0).contains(&w.ssthresh), "{}", w.ssthresh);
    }

    #[test]
    fn a_timeout_sets_ssthresh_by_the_same_estimate() {
        for mut c in [westwood(&[]), plus(&[]), linux()] {
            c.on_start(1000, 0);
            let (mut path, mut w) = (path(), window(150.0, 2.0));
            settle(&mut c, &mut path, 150.0);
            c.on_congestion(&congestion(Cause::Timeout), &mut w);
            assert!((95.0..=103.0).contains(&w.ssthresh), "{:?}: {}", c.form, w.ssthresh);
        }
    }

    #[test]
    fn without_any_estimate_a_loss_halves() {
        let mut w = window(40.0, 2.0);
        plus(&[]).on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 20.0);
    }

    #[test]
    fn a_loss_before_any_round_trip_time_is_known_halves_whatever_the_bandwidth() {
        for mut c in [westwood(&[]), plus(&[])] {
            let (mut path, mut w) = (path(), window(40.0, 2.0));
            settle(&mut c, &mut path, 100.0);
            c.on_congestion(&Congestion { base_rtt: None, ..loss() }, &mut w);
            assert_eq!(w.ssthresh, 20.0, "{:?}", c.form);
        }
    }

    #[test]
    fn a_recovery_without_any_estimate_leaves_two_segments_or_more() {
        let (mut c, mut w) = (plus(&[]), window(1.0, 2.0));
        c.on_congestion(&loss(), &mut w);
        c.on_recovered(Time::ZERO, &mut w);
        assert_eq!(w.ssthresh, 2.0);
    }

    #[test]
    fn the_acknowledgement_just_a_round_trip_after_the_first_of_a_flight_ends_a_sample() {
        // a host without any work of its own: flights of 10, 20 and 40 segments leave at once, 100 ms apart
        let (mut c, mut path) = (plus(&[]), path());
        let mut samples = vec![];
        for (flight, segments) in [10_u32, 20, 40].into_iter().enumerate() {
            for i in 0..segments {
                path.now_s = 0.1 * (flight + 1) as f64 + 0.001 * f64::from(i);
                c.on_sample(&path.ack(0.1 + 0.001 * f64::from(i), 40.0));
                if i == 0 {
                    samples.push(c.bandwidth);
                }
            }
        }
        assert_eq!(samples[..2], [0.0, 100.0]);
        let filtered = |past: f64, sample: f64| past + (sample - past) / 8.0;
        assert!((samples[2] - filtered(100.0, filtered(100.0, 200.0))).abs() < 1e-6, "{samples:?}");
    }

    /// Acknowledgements of a path that carries 1000 segments a second in the long run, but reach the sender
    /// in bursts of fifty at ten times the rate: compressed by a queue on their way.
    fn compressed(c: &mut Westwood) -> f64 {
        let mut path = path();
        for i in 0..5000_u32 {
            path.now_s = f64::from(i / 50) * 0.05 + f64::from(i % 50) * 0.0001;
            c.on_sample(&path.ack(0.1, 100.0));
        }
        c.bandwidth
    }

    #[test]
    fn compressed_acknowledgements_mislead_westwood_but_not_westwood_plus() {
        // the reason for Westwood+ (Lopez Pacheco 2008, section 2.4.5)
        let (misled, right) = (compressed(&mut westwood(&[])), compressed(&mut plus(&[])));
        assert!(misled > 3000.0, "{misled}");
        assert!((950.0..=1050.0).contains(&right), "{right}");
    }

    #[test]
    fn the_filters_take_the_first_sample_and_then_an_eighth_of_an_eighth_of_a_step() {
        let mut c = plus(&[]);
        c.filter(640.0);
        assert_eq!(c.bandwidth, 640.0);
        c.filter(1280.0);
        // 640 + 640/8 = 720, 640 + 80/8 = 650
        assert_eq!((c.rough, c.bandwidth), (720.0, 650.0));
        let mut c = linux();
        c.filter(640.0);
        c.filter(1000.0);
        // 685, 645.625: in whole bytes per tick
        assert_eq!((c.rough, c.bandwidth), (685.0, 645.0));
    }

    #[test]
    fn a_sample_of_westwood_plus_takes_50_ms_at_least() {
        let mut c = plus(&[]);
        let mut path = Path::new(0.01, 1000.0);
        for _ in 0..49 {
            path.now_s += 0.001;
            c.on_sample(&path.ack(0.01, 10.0));
        }
        assert_eq!(c.bandwidth, 0.0);
        for _ in 0..4 {
            path.now_s += 0.001;
            c.on_sample(&path.ack(0.01, 10.0));
        }
        assert!((c.bandwidth - 1000.0).abs() < 1.0, "{}", c.bandwidth);
    }

    #[test]
    fn agile_probing_ends_slow_start_at_the_path_instead_of_at_a_loss() {
        let run = |words| {
            let (mut c, mut path, mut w) = (westwood(words), path(), window(10.0, f64::INFINITY));
            path.run(1.0, &mut c, &mut w);
            w
        };
        let probed = run(&[]);
        assert!(!probed.in_slow_start() && probed.cwnd < 120.0, "{probed:?}");
        assert!(run(&[("agile_probing", "off")]).in_slow_start());
    }

    #[test]
    fn probing_rests_after_a_loss_and_begins_again_with_a_timeout() {
        let mut c = westwood(&[]);
        c.on_congestion(&loss(), &mut window(50.0, 2.0));
        assert!(!c.probing);
        c.on_congestion(&congestion(Cause::Timeout), &mut window(50.0, 2.0));
        assert!(c.probing);
    }

    #[test]
    fn growth_is_that_of_standard_tcp_unless_the_scalable_one_is_chosen() {
        // Kelly 2003: 0.01 a segment, which is more than 1 / cwnd beyond 100 segments
        for (word, cwnd, growth) in [
            ("standard", 50.0, 0.02),
            ("standard", 400.0, 0.0025),
            ("scalable", 50.0, 0.02),
            ("scalable", 400.0, 0.01),
        ] {
            let mut w = window(cwnd, 2.0);
            plus(&[("increase", word)]).on_ack(&ack(1.0), &mut w);
            assert!((w.cwnd - cwnd - growth).abs() < 1e-9, "{word} {cwnd}");
        }
    }

    #[test]
    fn linux_halves_first_and_ends_recovery_at_the_estimate() {
        let mut c = linux();
        c.on_start(1000, 0);
        let (mut path, mut w) = (path(), window(180.0, 2.0));
        settle(&mut c, &mut path, 180.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 90.0);
        w.cwnd = 90.0;
        c.on_recovered(Time::ZERO, &mut w);
        assert!((97.0..=100.0).contains(&w.cwnd) && w.ssthresh == w.cwnd, "{w:?}");
    }

    #[test]
    fn linux_does_not_jump_to_the_estimate_after_a_timeout() {
        let mut c = linux();
        c.on_start(1000, 0);
        let (mut path, mut w) = (path(), window(180.0, 2.0));
        settle(&mut c, &mut path, 180.0);
        // a recovery that a timeout cuts short: slow-start from one segment up to half
        c.on_congestion(&loss(), &mut w);
        w.cwnd = 1.0;
        c.on_ack(&ack(1.0), &mut w);
        c.on_recovered(Time::ZERO, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (2.0, 90.0));
    }

    #[test]
    fn a_coarse_clock_makes_linux_take_the_path_for_longer_than_it_is() {
        // 42 ms are 11 ticks of 4 ms, so 44 ms; and 5 of 10 ms
        for (hz, ticks_ms) in [(250.0, 44.0), (100.0, 50.0), (1000.0, 42.0)] {
            let mut c = Westwood { hz, ..linux() };
            c.on_start(1000, 0);
            let mut path = Path::new(0.042, 10_000.0);
            settle(&mut c, &mut path, 500.0);
            let (got, expected) = (c.linux_pipe(), 10.0 * ticks_ms);
            assert!((got / expected - 1.0).abs() < 0.03, "{hz}: {got}, not {expected}");
        }
    }
}
