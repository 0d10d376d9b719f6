//! The objects of `bpf/` beside the Rust algorithms: both get the same events, each keeps its own window, and
//! the two have to stay together. The paths are those of `crates/bpf-loader/tests/equations.rs`, which
//! compares the same sources compiled for this machine.

#![allow(clippy::expect_used, reason = "a test may panic")]

mod objects;

use longfat_bpf_vm::{Connection, Object};
use longfat_transport::Feedback;
use longfat_transport::cc::{
    Ack, Cause, Congestion, CongestionControl, Controller, Delivery, LostSegment, MarkSample, Opening,
    Repair, Window, find,
};
use longfat_units::{Interval, Time};

const SEGMENT_BYTES: u32 = 1448;
/// By what share the windows may differ beside whole segments: as for the form that is compiled for this
/// machine.
const TOLERANCE: f64 = 5e-3;
/// By how many segments they may differ: the sender sees the whole part of the object's window, and a
/// threshold a hair below a whole number loses a segment, with which slow-start ends.
const WHOLE: f64 = 2.0;
/// The algorithms that have an object.
const FORMS: [(&str, &str); 17] = [
    ("hstcp", "lf_hstcp"),
    ("stcp", "lf_stcp"),
    ("bic", "lf_bic"),
    ("htcp", "lf_htcp"),
    ("fast", "lf_fast"),
    ("yeah", "lf_yeah"),
    ("africa", "lf_africa"),
    ("westwood+", "lf_westwoodplus"),
    ("ctcp", "lf_ctcp"),
    ("illinois", "lf_illinois"),
    ("vegas", "lf_vegas"),
    ("ltcp", "lf_ltcp"),
    ("hybla", "lf_hybla"),
    ("veno", "lf_veno"),
    ("dctcp", "lf_dctcp"),
    ("ledbat++", "lf_ledbat"),
    ("copa", "lf_copa"),
];

/// Forms whose windows may be further apart after a share of the events, and when: `lf_bic` hurries when
/// delays have looked low for 2 s and the window is beyond that of the last loss, and where that comparison
/// falls otherwise in one form, the windows are apart until both have lost a segment; `lf_copa` turns at each
/// acknowledgement, and where one turn falls otherwise, what follows is shifted
/// (`crates/bpf-loader/tests/equations.rs` allows it the same share).
const APART: [(&str, f64, bool); 2] = [("lf_bic", 0.2, true), ("lf_copa", 0.1, false)];

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

/// Both forms with their windows, and what has come of them.
struct Drive {
    rust: Controller,
    object: Connection,
    w: Window,
    other: Window,
    path: Bottleneck,
    now_us: u64,
    unacknowledged: u64,
    base_us: u64,
    srtt_us: u64,
    random: u64,
    /// What the threshold was beyond whole segments.
    fraction: f64,
    /// Segments lost since the last acknowledgement, and all of them.
    lost: u64,
    total_lost: u64,
    events: u64,
    /// Events after which the windows were further apart than is allowed.
    off: u64,
    /// The greatest distance, as a share of what is allowed, and where it was.
    worst: (f64, String),
}

impl Drive {
    fn new(algorithm: &str, object: &Object, path: Bottleneck) -> Self {
        let mut rust = find(algorithm).expect("in the registry").instance(&[]).expect("defaults");
        let mut object = object.algorithm(None).expect("one congestion control").connection();
        rust.on_start(SEGMENT_BYTES, 0);
        object.on_start(SEGMENT_BYTES, 0);
        let w =
            Window { cwnd: path.cwnd as f64, ssthresh: path.ssthresh as f64, max_ssthresh: f64::INFINITY };
        let mut drive = Drive {
            rust,
            object,
            w,
            other: w,
            path,
            now_us: 1_000_000,
            unacknowledged: 0,
            base_us: u64::MAX,
            srtt_us: 0,
            random: 1,
            fraction: 0.0,
            lost: 0,
            total_lost: 0,
            events: 0,
            off: 0,
            worst: (0.0, String::new()),
        };
        if drive.rust.properties.model_based {
            let opening = Opening { now: Time::from_ns(1000 * drive.now_us), rtt: None, selective: true };
            drive.rust.on_open(&opening, &mut drive.w);
            drive.object.on_open(&opening, &mut drive.other);
        }
        drive
    }

    fn noise_us(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if self.path.noise_us == 0 { 0 } else { (self.random >> 33) % self.path.noise_us }
    }

    fn queue(&self) -> f64 {
        (self.w.cwnd - self.path.rate_pps * self.path.base_us as f64 / 1e6).max(0.0)
    }

    fn compare(&mut self, event: &str) {
        self.events += 1;
        assert_eq!(self.object.take_failure(), None, "{event}");
        let off = |a: f64, b: f64| if a == b { 0.0 } else { (a - b).abs() / (WHOLE + TOLERANCE * b) };
        let off = off(self.other.cwnd, self.w.cwnd).max(off(self.other.ssthresh, self.w.ssthresh));
        self.off += u64::from(off >= 1.0 || off.is_nan());
        if off > self.worst.0 || off.is_nan() {
            let text = format!("event {}, {event}: {:?}, not {:?}", self.events, self.other, self.w);
            self.worst = (off, text);
        }
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
            let ack = Ack {
                now: Time::from_ns(1000 * self.now_us),
                acked: acked as f64,
                newly_delivered: acked as u32,
                rtt: Some(us(rtt_us)),
                srtt: us(self.srtt_us),
                base_rtt: Some(us(self.base_us)),
                one_way_delay: None,
                in_flight: self.w.cwnd,
                delivered: self.unacknowledged,
                next_segment: self.unacknowledged + self.w.cwnd as u64,
                unacknowledged: self.unacknowledged,
                may_grow: true,
            };
            self.mark(&ack);
            if self.rust.properties.samples {
                self.rust.on_sample(&ack);
            }
            if self.object.properties().samples || self.object.properties().model_based {
                self.object.on_sample(&ack);
            }
            if self.rust.properties.model_based {
                self.deliver(&ack);
                continue;
            }
            self.rust.on_ack(&ack, &mut self.w);
            self.w.ssthresh = self.w.ssthresh.floor();
            self.object.on_ack(&ack, &mut self.other);
            self.compare("ack");
        }
    }

    /// Whether the queue marks what comes now; only some algorithms have it so.
    fn marks(&self) -> bool {
        self.rust.properties.feedback == Feedback::Dctcp && self.queue() > self.path.queue_packets / 3.0
    }

    /// Tells of the extent of marking, where it is told.
    fn mark(&mut self, ack: &Ack) {
        assert_eq!(self.rust.properties.feedback, self.object.properties().feedback);
        if self.rust.properties.feedback == Feedback::Classic {
            return;
        }
        let delivered = u64::from(ack.newly_delivered);
        let sample = MarkSample {
            now: ack.now,
            delivered,
            marked: if self.marks() { delivered } else { 0 },
            next_segment: ack.next_segment,
            unacknowledged: ack.unacknowledged,
            srtt: ack.srtt,
        };
        self.rust.on_marks(&sample, &mut self.w);
        self.object.on_marks(&sample, &mut self.other);
    }

    /// An acknowledgement, as an algorithm that controls the window in every phase learns of it.
    fn deliver(&mut self, ack: &Ack) {
        let lost = std::mem::take(&mut self.lost);
        let in_flight = self.w.cwnd as u64;
        let prior = ack.delivered.saturating_sub(in_flight);
        let delivery = Delivery {
            now: ack.now,
            rate: ack.rtt.map(|rtt| (ack.delivered - prior) as f64 / rtt.as_secs_f64()),
            delivered: ack.delivered - prior,
            prior_delivered: Some(prior),
            app_limited: false,
            tx_in_flight: in_flight,
            lost,
            rtt: ack.rtt,
            left: ack.rtt.map(|rtt| ack.now - rtt),
            newly_delivered: u64::from(ack.newly_delivered),
            newly_lost: lost,
            total_delivered: ack.delivered,
            total_lost: self.total_lost,
            prior_in_flight: in_flight,
            in_flight,
            srtt: ack.srtt,
            next_departure: ack.now,
            window_limited: true,
            may_grow: true,
            source_limited: false,
            repair: Repair::None,
        };
        self.rust.on_delivery(&delivery, &mut self.w);
        self.object.on_delivery(&delivery, &mut self.other);
        self.compare("delivery");
    }

    /// The same for a loss or a timeout, which ends with one segment.
    fn lose(&mut self, cause: Cause) {
        let now = Time::from_ns(1000 * self.now_us);
        let lost = LostSegment {
            now,
            segment: self.unacknowledged,
            left: now - us(self.srtt_us),
            tx_in_flight: self.w.cwnd as u64,
            lost: 1,
            app_limited: false,
            total_delivered: self.unacknowledged,
        };
        self.rust.on_lost(&lost, &mut self.w);
        self.total_lost += 1;
        if cause == Cause::Timeout {
            let in_flight = self.w.cwnd;
            let (srtt, base_rtt) = (us(self.srtt_us), Some(us(self.base_us)));
            let event = Congestion { cause, now, in_flight, srtt, base_rtt };
            self.rust.on_congestion(&event, &mut self.w);
            self.object.on_congestion(&event, &mut self.other);
            (self.w.cwnd, self.other.cwnd) = (1.0, 1.0);
            self.rust.on_timeout(now, &mut self.w);
            self.object.on_timeout(now, &mut self.other);
        } else {
            self.lost += 1;
        }
    }

    /// Passes a congestion event. Recovery takes a round trip, and begins with one segment after a timeout.
    fn congestion(&mut self, cause: Cause) {
        if self.rust.properties.model_based {
            return self.lose(cause);
        }
        let event = Congestion {
            cause,
            now: Time::from_ns(1000 * self.now_us),
            in_flight: self.w.cwnd,
            srtt: us(self.srtt_us),
            base_rtt: Some(us(self.base_us)),
        };
        self.rust.on_congestion(&event, &mut self.w);
        self.object.on_congestion(&event, &mut self.other);
        // a kernel's thresholds are whole; the objects keep the fraction for the window after recovery
        let exact = self.w.ssthresh.max(2.0);
        self.fraction = exact.fract();
        self.w.ssthresh = exact.floor();
        self.w.cwnd = if cause == Cause::Timeout { 1.0 + self.fraction } else { exact };
        self.other.cwnd = if cause == Cause::Timeout { 1.0 } else { self.other.ssthresh };
        self.compare("congestion");
        self.now_us += self.srtt_us;
        let now = Time::from_ns(1000 * self.now_us);
        self.rust.on_recovered(now, &mut self.w);
        self.w.ssthresh = self.w.ssthresh.floor();
        self.object.on_recovered(now, &mut self.other);
        self.compare("recovered");
    }

    /// Declares the last event spurious.
    fn undo(&mut self, before: [Window; 2]) {
        // tcp_undo_cwnd_reduction: the window comes back, and at least three quarters of it as the threshold
        let w = before[0];
        let ssthresh = w.ssthresh.max((w.cwnd as u64 / 2 + w.cwnd as u64 / 4) as f64);
        self.w = Window { cwnd: w.cwnd.floor() + self.fraction, ssthresh, ..w };
        self.other = before[1];
        self.rust.on_undo(&mut self.w);
        self.object.on_undo(&mut self.other);
        self.compare("undone");
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
                let before = [self.w, self.other];
                self.congestion(if losses % 7 == 0 { Cause::Timeout } else { Cause::Loss });
                if losses % 5 == 0 && !self.rust.properties.model_based {
                    self.undo(before);
                    self.congestion(Cause::Loss);
                }
            }
        }
        assert!(losses > 3, "only {losses} losses");
    }
}

fn us(us: u64) -> Interval {
    Interval::from_ns(1000 * us)
}

#[test]
fn the_objects_windows_stay_with_those_of_the_rust_forms() {
    let mut apart = Vec::new();
    for (algorithm, name) in FORMS {
        let Some(file) = objects::form(name) else { return };
        let object = Object::new(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        for path in PATHS {
            let mut drive = Drive::new(algorithm, &object, path);
            drive.run();
            let (worst, place) = &drive.worst;
            let (events, off) = (drive.events, drive.off);
            println!(
                "{name:16} {:6} us: {events} events, {off} off, at most {worst:.2} of what is allowed",
                path.base_us
            );
            let known = APART.iter().find(|(form, _, noisy)| *form == name && (!noisy || path.noise_us > 0));
            let most = known.map_or(0.0, |(_, share, _)| share * events as f64);
            if off as f64 > most {
                apart.push(format!("{name}, {} us, {off} of {events} events off: {place}", path.base_us));
            }
        }
    }
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}
