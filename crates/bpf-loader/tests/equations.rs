//! Compares the fixed-point sources of `bpf/`, compiled for this machine, with the Rust algorithms: both get
//! the same events, each keeps its own cwnd, and the two have to stay together. Also compares them with
//! numbers that papers print.

#![allow(clippy::expect_used, reason = "a test may panic")]

use longfat_bpf_loader::KERNEL_FORMS;
use longfat_transport::Feedback;
use longfat_transport::cc::{
    Ack, Cause, Congestion, CongestionControl, Controller, Delivery, Internals, LostSegment, MarkSample,
    Opening, Repair, Window, find,
};
use longfat_units::{Interval, Time};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// By what share the windows may differ: rounding, and once per round trip an integer comparison with another
/// outcome.
const TOLERANCE: f64 = 5e-3;
const SEGMENT_BYTES: u32 = 1448;
/// Moves its window up or down at each acknowledgement, by a segment or more in competitive mode, by a
/// comparison of times whose least is known to a 32nd of a window. An acknowledgement with another outcome
/// shifts what follows, so this share of the windows may differ by more, and their mean by this.
const TURNS_AT_EACH_ACK: (&str, f64, f64) = ("copa", 0.1, 1e-3);

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
}

fn compiler() -> Option<&'static str> {
    ["cc", "gcc", "clang"].into_iter().find(|name| {
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    })
}

/// Builds the algorithm as a program for this machine; returns `None` if there is no C compiler.
fn program(name: &str, test: &str) -> Option<PathBuf> {
    let Some(compiler) = compiler() else {
        eprintln!("skipped: no C compiler (Debian: apt install gcc)");
        return None;
    };
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{test}"));
    let source = sources().join(name).with_extension("c");
    let flags = ["-std=gnu11", "-DLF_HOST", "-O1", "-Wall", "-Werror", "-Wno-unused-function", "-o"];
    let compiled = Command::new(compiler).args(flags).arg(&program).arg(&source).output().expect("it starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(program)
}

/// Returns the numbers that the program prints after each event: cwnd, ssthresh, and perhaps the time in us
/// in which it paces out a cwnd.
fn answers(program: &Path, events: &str) -> Vec<Vec<f64>> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("compiled above");
    let mut stdin = child.stdin.take().expect("piped");
    let events = events.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(events.as_bytes()));
    let output = child.wait_with_output().expect("it ends with its input");
    writer.join().expect("no panic").expect("it reads everything");
    let number = |text: &str| text.parse().expect("numbers");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.split(' ').map(number).collect())
        .collect()
}

/// Returns (cwnd, ssthresh) of the program after each event.
fn windows(program: &Path, events: &str) -> Vec<(f64, f64)> {
    answers(program, events).into_iter().map(|numbers| (numbers[0], numbers[1])).collect()
}

/// A flow alone at a bottleneck, driven by the Rust algorithm's cwnd.
#[derive(Clone, Copy, Debug)]
struct Bottleneck {
    base_us: u64,
    rate_pps: f64,
    queue_packets: f64,
    /// The greatest random delay.
    noise_us: u64,
    cwnd: u64,
    ssthresh: u64,
    /// How many segments every other acknowledgement covers; those between cover one less.
    covered: u64,
    /// Round trips after which there is a loss even if the queue is not full.
    patience: u64,
    seconds: u64,
}

/// The events for both forms, and what the Rust form does with them.
struct Drive {
    control: Controller,
    w: Window,
    path: Bottleneck,
    now_us: u64,
    unacknowledged: u64,
    base_us: u64,
    srtt_us: u64,
    random: u64,
    /// Segments marked so far, for algorithms that count them.
    marked: u64,
    /// Segments lost since the last acknowledgement, for algorithms that model the path.
    lost: u64,
    /// Acknowledgements at which Copa was in competitive mode.
    competing: u64,
    events: String,
    expected: Vec<(f64, f64)>,
    /// The time in which a cwnd is paced out, if the algorithm has one.
    paced_us: Vec<Option<f64>>,
}

impl Drive {
    fn new(algorithm: &str, path: Bottleneck) -> Self {
        let row = find(algorithm).expect("in the registry");
        let mut control = row.instance(&[]).expect("defaults");
        control.on_start(SEGMENT_BYTES, 0);
        let w =
            Window { cwnd: path.cwnd as f64, ssthresh: path.ssthresh as f64, max_ssthresh: f64::INFINITY };
        let events = format!("segment {SEGMENT_BYTES}\nwindow {} {}\n", path.cwnd, path.ssthresh);
        // the program answers the first line with its initial window
        let expected = vec![(10.0, f64::from(i32::MAX)), (w.cwnd, w.ssthresh)];
        let (base_us, srtt_us) = (u64::MAX, 0);
        let mut drive = Drive {
            control,
            w,
            path,
            now_us: 1_000_000,
            unacknowledged: 0,
            base_us,
            srtt_us,
            random: 1,
            marked: 0,
            lost: 0,
            competing: 0,
            events,
            expected,
            paced_us: vec![None; 2],
        };
        if drive.control.properties.model_based {
            let now = Time::from_ns(1000 * drive.now_us);
            drive.control.on_open(&Opening { now, rtt: None, selective: true }, &mut drive.w);
            drive.note(&format!("open {}", drive.now_us));
        }
        drive
    }

    fn us(us: u64) -> Interval {
        Interval::from_ns(1000 * us)
    }

    fn now(&self) -> Time {
        Time::from_ns(1000 * self.now_us)
    }

    fn noise_us(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if self.path.noise_us == 0 { 0 } else { (self.random >> 33) % self.path.noise_us }
    }

    fn queue(&self) -> f64 {
        (self.w.cwnd - self.path.rate_pps * self.path.base_us as f64 / 1e6).max(0.0)
    }

    fn note(&mut self, event: &str) {
        self.events.push_str(event);
        self.events.push('\n');
        self.expected.push((self.w.cwnd, self.w.ssthresh));
        let rate =
            self.control.pacing_rate(&self.w, Self::us(self.srtt_us)).filter(|_| self.unacknowledged > 0);
        self.paced_us.push(rate.map(|rate| 1e6 * self.w.cwnd / rate));
    }

    /// Passes one round trip in which every acknowledgement covers `acked` segments.
    fn round_trip(&mut self, acked: u64) {
        let rtt_us = self.path.base_us + (self.queue() / self.path.rate_pps * 1e6) as u64;
        let acks = (self.w.cwnd as u64 / acked).max(1);
        for _ in 0..acks {
            self.now_us += rtt_us / acks;
            let rtt_us = rtt_us + self.noise_us();
            self.unacknowledged += acked;
            self.base_us = self.base_us.min(rtt_us);
            self.srtt_us = if self.srtt_us == 0 { rtt_us } else { (7 * self.srtt_us + rtt_us) / 8 };
            if self.control.properties.model_based {
                self.deliver(acked, rtt_us);
                continue;
            }
            let next = self.unacknowledged + self.w.cwnd as u64;
            let us = Self::us;
            self.mark(acked, next);
            let ack = Ack {
                now: self.now(),
                acked: acked as f64,
                newly_delivered: acked as u32,
                rtt: Some(us(rtt_us)),
                srtt: us(self.srtt_us),
                base_rtt: Some(us(self.base_us)),
                one_way_delay: None,
                in_flight: self.w.cwnd,
                delivered: self.unacknowledged,
                next_segment: next,
                unacknowledged: self.unacknowledged,
                may_grow: true,
            };
            if self.control.properties.samples {
                self.control.on_sample(&ack);
            }
            self.control.on_ack(&ack, &mut self.w);
            let mut line = String::new();
            let (now, base, srtt, una) = (self.now_us, self.base_us, self.srtt_us, self.unacknowledged);
            let marked = self.marked;
            let _ = write!(line, "ack {now} {acked} {rtt_us} {base} {srtt} {una} {next} {una} {marked}");
            self.note(&line);
        }
    }

    /// Whether the queue marks what comes now; only some algorithms have it so.
    fn marks(&self) -> bool {
        self.control.properties.feedback == Feedback::Dctcp && self.queue() > self.path.queue_packets / 3.0
    }

    /// Tells the algorithm of the extent of marking, if it wants to know.
    fn mark(&mut self, acked: u64, next: u64) {
        if self.control.properties.feedback == Feedback::Classic {
            return;
        }
        let marked = if self.marks() { acked } else { 0 };
        self.marked += marked;
        let sample = MarkSample {
            now: self.now(),
            delivered: acked,
            marked,
            next_segment: next,
            unacknowledged: self.unacknowledged,
            srtt: Self::us(self.srtt_us),
        };
        self.control.on_marks(&sample, &mut self.w);
    }

    /// An acknowledgement, as an algorithm that models the path learns of it.
    fn deliver(&mut self, acked: u64, rtt_us: u64) {
        let lost = std::mem::take(&mut self.lost);
        let (una, in_flight) = (self.unacknowledged, self.w.cwnd as u64);
        let prior = una.saturating_sub(in_flight);
        let delivery = Delivery {
            now: self.now(),
            rate: None,
            delivered: una - prior,
            prior_delivered: Some(prior),
            app_limited: false,
            tx_in_flight: in_flight,
            lost,
            rtt: Some(Self::us(rtt_us)),
            left: Some(self.now() - Self::us(rtt_us)),
            newly_delivered: acked,
            newly_lost: lost,
            total_delivered: una,
            total_lost: 0,
            prior_in_flight: in_flight,
            in_flight,
            srtt: Self::us(self.srtt_us),
            next_departure: self.now(),
            window_limited: true,
            may_grow: true,
            source_limited: false,
            repair: Repair::None,
        };
        self.control.on_delivery(&delivery, &mut self.w);
        let mut internals = Internals::default();
        self.control.internals(&mut internals);
        self.competing += u64::from(internals.iter().any(|(name, value)| name == "competing" && value > 0.0));
        let (now, srtt) = (self.now_us, self.srtt_us);
        self.note(&format!("delivery {now} {acked} {lost} {rtt_us} {srtt} {una} {prior}"));
    }

    /// The same for a loss or a timeout.
    fn lose(&mut self, cause: Cause) {
        let lost = LostSegment {
            now: self.now(),
            segment: self.unacknowledged,
            left: self.now() - Self::us(self.srtt_us),
            tx_in_flight: self.w.cwnd as u64,
            lost: 1,
            app_limited: false,
            total_delivered: self.unacknowledged,
        };
        self.control.on_lost(&lost, &mut self.w);
        if cause == Cause::Timeout {
            self.w.cwnd = 1.0;
            self.control.on_timeout(self.now(), &mut self.w);
            self.note(&format!("timeout {} {} {}", self.now_us, self.base_us, self.srtt_us));
        } else {
            self.lost += 1;
        }
    }

    /// Passes a congestion event. Recovery takes a round trip, and begins with one segment after a timeout.
    fn congestion(&mut self, cause: Cause) {
        if self.control.properties.model_based {
            return self.lose(cause);
        }
        let us = Self::us;
        let event = Congestion {
            cause,
            now: self.now(),
            in_flight: self.w.cwnd,
            srtt: us(self.srtt_us),
            base_rtt: Some(us(self.base_us)),
        };
        self.control.on_congestion(&event, &mut self.w);
        self.w.ssthresh = self.w.ssthresh.max(2.0);
        self.w.cwnd = if cause == Cause::Timeout { 1.0 } else { self.w.ssthresh };
        let word = match cause {
            Cause::Timeout => "timeout",
            Cause::Loss => "loss",
            Cause::Mark => "mark",
        };
        let times = format!("{} {} {}", self.now_us, self.base_us, self.srtt_us);
        self.note(&format!("{word} {times}"));
        self.now_us += self.srtt_us;
        self.control.on_recovered(self.now(), &mut self.w);
        self.note(&format!("recovered {} {} {}", self.now_us, self.base_us, self.srtt_us));
    }

    /// Declares the last event spurious.
    fn undo(&mut self, before: Window) {
        self.w = Window { cwnd: before.cwnd.floor(), ssthresh: before.ssthresh.floor(), ..before };
        let (cwnd, ssthresh) = (self.w.cwnd, self.w.ssthresh);
        self.control.on_undo(&mut self.w);
        self.note(&format!("undone {cwnd} {ssthresh}"));
    }

    /// Runs with a loss whenever the queue is full or `patience` round trips have passed; some losses are
    /// timeouts instead, and some are undone.
    fn run(&mut self) {
        let end_us = self.now_us + 1_000_000 * self.path.seconds;
        let (mut rounds, mut losses) = (0, 0);
        while self.now_us < end_us {
            self.round_trip(self.path.covered - rounds % 2);
            rounds += 1;
            if self.marks() {
                self.congestion(Cause::Mark);
            }
            if self.queue() >= self.path.queue_packets || rounds % self.path.patience == 0 {
                losses += 1;
                let before = self.w;
                self.congestion(if losses % 7 == 0 { Cause::Timeout } else { Cause::Loss });
                if losses % 5 == 0 && !self.control.properties.model_based {
                    self.undo(before);
                    self.congestion(Cause::Loss);
                }
            }
        }
        assert!(losses > 3, "only {losses} losses");
    }
}

const PATHS: [Bottleneck; 4] = [
    // 100 Mbit/s, 82 ms, a small queue, in congestion avoidance
    Bottleneck {
        base_us: 82_000,
        rate_pps: 8333.0,
        queue_packets: 130.0,
        noise_us: 0,
        cwnd: 400,
        ssthresh: 2,
        covered: 2,
        patience: 24,
        seconds: 16,
    },
    // 10 Mbit/s, 40 ms, a queue of two BDP, from slow-start
    Bottleneck {
        base_us: 40_000,
        rate_pps: 833.0,
        queue_packets: 66.0,
        noise_us: 0,
        cwnd: 10,
        ssthresh: 64,
        covered: 2,
        patience: 60,
        seconds: 40,
    },
    // 1 Gbit/s, 200 ms: windows of many thousand segments
    Bottleneck {
        base_us: 200_000,
        rate_pps: 83_333.0,
        queue_packets: 1700.0,
        noise_us: 0,
        cwnd: 14_000,
        ssthresh: 2,
        covered: 16,
        patience: 12,
        seconds: 30,
    },
    // 20 Mbit/s, 16 ms, with delays that jitter by 2 ms
    Bottleneck {
        base_us: 16_000,
        rate_pps: 1667.0,
        queue_packets: 40.0,
        noise_us: 2000,
        cwnd: 10,
        ssthresh: 40,
        covered: 2,
        patience: 60,
        seconds: 40,
    },
];

#[test]
fn the_kernels_fixed_point_windows_stay_with_those_of_the_simulator() {
    let mut apart = Vec::new();
    for form in &KERNEL_FORMS {
        let Some(program) = program(form.name, "beside") else { return };
        for path in PATHS {
            let mut drive = Drive::new(form.algorithm, path);
            drive.run();
            let got = windows(&program, &drive.events);
            assert_eq!(got.len(), drive.expected.len(), "{}", form.name);
            let off = |(got, want): (&(f64, f64), &(f64, f64))| {
                ((got.0 - want.0).abs() / want.0).max((got.1 - want.1).abs() / want.1)
            };
            let offs: Vec<f64> = got.iter().zip(&drive.expected).map(off).collect();
            let is_off = |off: &f64| *off >= TOLERANCE || off.is_nan();
            let (turning, share, of_mean) = TURNS_AT_EACH_ACK;
            if form.algorithm == turning {
                let far = offs.iter().copied().filter(|off| is_off(off)).count() as f64 / offs.len() as f64;
                let sums = got.iter().zip(&drive.expected).map(|(got, want)| (got.0, want.0));
                let (sum, wanted) = sums.fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
                assert!(
                    far <= share && (sum / wanted - 1.0).abs() <= of_mean,
                    "{path:?}: {far} {sum} {wanted}"
                );
                assert!(drive.competing > 1000, "{path:?}: never in competitive mode");
                println!("{turning:16} {:6} us: {far:.1e} of the windows further than that", path.base_us);
            } else if let Some(i) = offs.iter().position(is_off) {
                let (event, got, want) =
                    (drive.events.lines().nth(i).unwrap_or_default(), got[i], drive.expected[i]);
                apart.push(format!(
                    "{}, {path:?}: line {}: {event}: {got:?}, not {want:?}",
                    form.name,
                    i + 1
                ));
            }
            let worst = offs.iter().fold(0.0, |a: f64, &b| a.max(b));
            println!(
                "{:16} {:6} us: {} events, windows within {worst:.1e}{}",
                form.name,
                path.base_us,
                got.len(),
                if drive.competing > 0 {
                    format!(", {} in competitive mode", drive.competing)
                } else {
                    String::new()
                },
            );
        }
    }
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}

#[test]
fn a_form_that_sets_its_pacing_rate_paces_as_the_simulator() {
    let Some(program) = program("lf_copa", "pace") else { return };
    let (algorithm, ..) = TURNS_AT_EACH_ACK;
    for path in PATHS {
        let mut drive = Drive::new(algorithm, path);
        drive.run();
        let times = answers(&program, &drive.events).into_iter().map(|numbers| numbers[2]);
        let pairs: Vec<_> =
            times.zip(&drive.paced_us).filter_map(|(got, want)| want.map(|want| (got, want))).collect();
        let far = pairs.iter().filter(|(got, want)| (got / want - 1.0).abs() > TOLERANCE).count();
        assert!(pairs.len() > 10_000 && far <= pairs.len() / 1000, "{path:?}: {far}");
        println!("{algorithm}, {} us: {far} of {} further than {TOLERANCE}", path.base_us, pairs.len());
    }
}

/// RFC 3649, appendix B: w, a(w), b(w).
const APPENDIX_B: [(f64, f64, f64); 9] = [
    (38.0, 1.0, 0.50),
    (118.0, 2.0, 0.44),
    (221.0, 3.0, 0.41),
    (347.0, 4.0, 0.38),
    (495.0, 5.0, 0.37),
    (663.0, 6.0, 0.35),
    (851.0, 7.0, 0.34),
    (1058.0, 8.0, 0.33),
    (84035.0, 71.0, 0.10),
];

#[test]
fn high_speed_tcp_in_the_kernel_grows_and_yields_as_the_rfcs_table_prints() {
    let Some(program) = program("lf_hstcp", "table") else { return };
    for (w, a, b) in APPENDIX_B {
        let events = format!("window {w} 2\nack 1 1 1 1 1 1 {w} 1\nwindow {w} 2\nloss 2 1 1\n");
        let got = windows(&program, &events);
        let (grown, left) = (got[1].0, got[3].1);
        // the table comes from 0.078 / w^1.2, whose digits are rounded: 2.4 % off at its end
        let increase = (grown - w) * w;
        assert!((increase / a - 1.0).abs() < 0.03, "a({w}) = {increase}, not {a}");
        let decrease = 1.0 - left / w;
        assert!((decrease - b).abs() < 0.006, "b({w}) = {decrease}, not {b}");
    }
}

#[test]
fn scalable_tcp_in_the_kernel_recovers_from_a_loss_in_fourteen_round_trips_at_every_window() {
    // Kelly 2003: log(1 - b) / log(1 + a) = 13.4 round trips
    let Some(program) = program("lf_stcp", "recovery") else { return };
    for before in [200_u64, 16_700, 167_000] {
        let (mut events, mut left) = (format!("window {before} 2\nloss 1 1 1\n"), before * 7 / 8);
        for _ in 0..14 {
            let _ = writeln!(events, "ack 1 {left} 1 1 1 1 1 1");
            left += left / 100;
        }
        let got: Vec<f64> = windows(&program, &events).iter().map(|w| w.0).collect();
        assert!(got[14] < before as f64 && got[15] > before as f64 * 0.99, "{before}: {got:?}");
    }
}
