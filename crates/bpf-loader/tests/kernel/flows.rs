//! Flows in the kernel: their windows grow and back off as those of the Rust algorithms, which get the same
//! acknowledgements.

use crate::machine::{Owner, kernel, no_path, path_script, runs};
use crate::skip::skipped;
use longfat_bpf_loader::{KERNEL_FORMS, KernelForm};
use longfat_transport::Feedback;
use longfat_transport::cc::{
    Ack, Cause, Congestion, CongestionControl, Delivery, LostSegment, MarkSample, Opening, Repair, Window,
    find,
};
use longfat_units::{Interval, Time};
use std::path::PathBuf;
use std::process::Command;

/// What a packet of 576 bytes carries.
const SEGMENT_BYTES: u64 = 524;

/// The sender's state after an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at_us: u64,
    /// tcp_ca_state: 2 reduces for a mark, 3 recovers from a loss, 4 from a timeout.
    state: u64,
    cwnd: u64,
    ssthresh: u64,
    srtt_us: u64,
    min_rtt_us: u64,
    bytes_acked: u64,
    delivered: u64,
    delivered_ce: u64,
    /// Segments in flight or lost: those sent beyond the first unacknowledged one.
    unacked: u64,
    /// Segments that count as lost now.
    lost: u64,
}

impl Sample {
    /// The first unacknowledged segment.
    fn unacknowledged(&self) -> u64 {
        self.bytes_acked / SEGMENT_BYTES
    }

    /// The sample of the round-trip time that brought SRTT from its value before to this one: RFC 6298,
    /// SRTT <- 7/8 SRTT + 1/8 R.
    fn rtt(&self, before: &Sample) -> Interval {
        us((8 * self.srtt_us).saturating_sub(7 * before.srtt_us).max(self.min_rtt_us))
    }
}

fn us(us: u64) -> Interval {
    Interval::from_ns(1000 * us)
}

/// The cwnd of one flow in the kernel, and that of the Rust algorithm fed with the same acknowledgements.
#[derive(Debug, Default)]
struct Comparison {
    /// (kernel's, Rust's) ssthresh after each loss, and cwnd before it.
    backoffs: Vec<(f64, f64, f64)>,
    /// (kernel's, Rust's) cwnd at the end of each epoch, and the one at its beginning.
    growths: Vec<(f64, f64, f64)>,
}

fn compare(form: &KernelForm, samples: &[Sample]) -> Comparison {
    let mut control = find(form.algorithm).and_then(|row| row.instance(&[]).ok()).expect("in the registry");
    control.on_start(SEGMENT_BYTES as u32, 0);
    let mut w = Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    let mut result = Comparison::default();
    let (mut epoch_began, mut recovering, mut marked) = (f64::NAN, false, false);
    for pair in samples.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        let newly = now.delivered.saturating_sub(before.delivered);
        let advanced = now.bytes_acked > before.bytes_acked;
        if newly > 0 {
            let ack = Ack {
                now: Time::from_ns(1000 * now.at_us),
                acked: newly as f64,
                newly_delivered: newly as u32,
                rtt: advanced.then(|| now.rtt(&before)),
                srtt: us(now.srtt_us),
                base_rtt: Some(us(now.min_rtt_us)),
                one_way_delay: None,
                in_flight: now.cwnd as f64,
                delivered: now.delivered,
                next_segment: now.delivered + before.cwnd,
                unacknowledged: now.delivered,
                may_grow: true,
            };
            if control.properties.samples {
                control.on_sample(&ack);
            }
            if control.properties.feedback != Feedback::Classic {
                let sample = MarkSample {
                    now: ack.now,
                    delivered: newly,
                    marked: now.delivered_ce.saturating_sub(before.delivered_ce),
                    next_segment: now.unacknowledged() + now.unacked,
                    unacknowledged: now.unacknowledged(),
                    srtt: ack.srtt,
                };
                control.on_marks(&sample, &mut w);
            }
            // an acknowledgement that only reports what arrived above a hole does not let cwnd grow
            if !recovering && now.state < 2 && advanced {
                control.on_ack(&ack, &mut w);
            }
        }
        // a loss while a mark's reduction is under way is an event of its own
        if now.state >= 2 && (!recovering || marked && now.state > 2) {
            if !recovering {
                result.growths.push((before.cwnd as f64, w.cwnd, epoch_began));
            }
            w.cwnd = before.cwnd as f64;
            marked = now.state == 2;
            let event = Congestion {
                cause: match now.state {
                    2 => Cause::Mark,
                    3 => Cause::Loss,
                    _ => Cause::Timeout,
                },
                now: Time::from_ns(1000 * now.at_us),
                in_flight: w.cwnd,
                srtt: us(now.srtt_us),
                base_rtt: Some(us(now.min_rtt_us)),
            };
            control.on_congestion(&event, &mut w);
            result.backoffs.push((now.ssthresh as f64, w.ssthresh.max(2.0), w.cwnd));
            recovering = true;
        } else if recovering && now.state < 2 {
            recovering = false;
            w.cwnd = now.cwnd as f64;
            w.ssthresh = w.ssthresh.min(w.cwnd);
            epoch_began = w.cwnd;
            control.on_recovered(Time::from_ns(1000 * now.at_us), &mut w);
        }
    }
    result
}

/// Compares the windows of a flow in the kernel with those of the Rust form of an algorithm that models the
/// path. What the kernel tells it but TCP_INFO does not is put together from earlier samples.
fn follow(form: &KernelForm, samples: &[Sample]) {
    let mut control = find(form.algorithm).and_then(|row| row.instance(&[]).ok()).expect("in the registry");
    let at = |sample: &Sample| Time::from_ns(1000 * sample.at_us);
    let mut w = Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    control.on_open(&Opening { now: at(&samples[0]), rtt: None, selective: true }, &mut w);
    let mut epochs = Vec::new();
    for (i, pair) in samples.windows(2).enumerate() {
        let (before, now) = (pair[0], pair[1]);
        let newly = now.delivered.saturating_sub(before.delivered);
        if newly == 0 {
            continue;
        }
        let rtt = now.rtt(&before);
        let sent = samples[..=i].iter().rfind(|sample| at(sample) <= at(&now) - rtt);
        let prior = sent.map_or(0, |sample| sample.delivered);
        let lost = now.lost.saturating_sub(before.lost);
        if lost > 0 {
            let segment = LostSegment {
                now: at(&now),
                segment: now.unacknowledged(),
                left: at(&now) - rtt,
                tx_in_flight: now.unacked,
                lost,
                app_limited: false,
                total_delivered: now.delivered,
            };
            control.on_lost(&segment, &mut w);
        }
        let delivery = Delivery {
            now: at(&now),
            rate: None,
            delivered: now.delivered - prior,
            prior_delivered: Some(prior),
            app_limited: false,
            tx_in_flight: now.unacked,
            lost,
            // a segment that was sent twice measures nothing
            rtt: (now.srtt_us != before.srtt_us || now.state < 2).then_some(rtt),
            left: Some(at(&now) - rtt),
            newly_delivered: newly,
            newly_lost: lost,
            total_delivered: now.delivered,
            total_lost: 0,
            prior_in_flight: before.unacked,
            in_flight: now.unacked,
            srtt: us(now.srtt_us),
            next_departure: at(&now),
            window_limited: true,
            may_grow: true,
            source_limited: false,
            repair: Repair::None,
        };
        control.on_delivery(&delivery, &mut w);
        if now.at_us / EPOCH_US > before.at_us / EPOCH_US {
            epochs.push((now.cwnd as f64, w.cwnd));
            w.cwnd = now.cwnd as f64;
        }
    }
    println!("{}: {epochs:.1?}", form.name);
    // the first ones are slow-start
    let later: Vec<(f64, f64)> = epochs.into_iter().skip(SLOW_START_EPOCHS).collect();
    assert!(later.len() > 15, "{}: {later:?}", form.name);
    let mean = |value: fn(&(f64, f64)) -> f64| later.iter().map(value).sum::<f64>() / later.len() as f64;
    let (kernel, rust, apart) = (mean(|e| e.0), mean(|e| e.1), mean(|e| (e.0 - e.1).abs()));
    println!("{}: mean {kernel:.1}, Rust's {rust:.1}, apart by {apart:.2} on average", form.name);
    assert!((kernel / rust - 1.0).abs() < 0.03 && apart < 0.06 * kernel, "{}: {later:?}", form.name);
}

/// The Rust form of an algorithm that models the path begins with the kernel's window this often.
const EPOCH_US: u64 = 500_000;
const SLOW_START_EPOCHS: usize = 3;

/// Base round-trip time in seconds, segments per second, the first new segment that is lost, how many
/// segments from one loss to the next, and the duration in seconds.
const PATH: [&str; 5] = ["0.1", "400", "120", "600", "7"];
/// If more than one in 100 packets leaves the path later than this, what flows measure on it is not compared.
const PUNCTUAL_US: u64 = 5000;
/// How many losses of a flow are compared. At some later ones YeAH halves its window, which depends on a
/// single round trip.
const LOSSES: usize = 3;
/// These depend on round-trip times or rates, which TCP_INFO gives only to about 10 us, so that a comparison
/// may have another outcome.
const MEASURING: [&str; 10] =
    ["ctcp", "fast", "htcp", "hybla", "illinois", "ledbat++", "vegas", "veno", "westwood+", "yeah"];
/// How many flows are carried at once; the path is a program in Python.
const AT_ONCE: usize = 9;
/// Its windows do not follow losses.
const MODELS_PATH: &str = "copa";
/// Hybla's slow-start grows by 15 segments for each at 100 ms, to thousands before the first loss shows: one
/// recovery takes the rest of the run. LEDBAT++ halts for its slowdowns and sends less.
const ONE_RECOVERY: [&str; 2] = ["hybla", "ledbat++"];

/// Carries a flow of each form at once. Returns what each saw, and how late packets were.
fn carry(path: [&str; 5], forms: &[KernelForm]) -> (Vec<Vec<Sample>>, u64) {
    let run = || {
        let names = forms.iter().map(|form| form.name);
        let output =
            Command::new("python3").arg(path_script()).args(path).args(names).output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let late_us =
            printed.lines().find_map(|line| line.strip_prefix("late ")).and_then(|us| us.parse().ok());
        (printed, late_us.unwrap_or(u64::MAX))
    };
    let (mut printed, mut late_us) = run();
    for _ in 0..2 {
        if late_us > PUNCTUAL_US {
            (printed, late_us) = run();
        }
    }
    let sample = |line: &str| {
        let v: Vec<u64> = line.split(' ').map(|n| n.parse().expect("numbers")).collect();
        Sample {
            at_us: v[0],
            state: v[1],
            cwnd: v[2],
            ssthresh: v[3],
            srtt_us: v[4],
            min_rtt_us: v[5],
            bytes_acked: v[6],
            delivered: v[7],
            delivered_ce: v[8],
            unacked: v[9],
            lost: v[10],
        }
    };
    let samples = |form: &KernelForm| {
        let own = printed.lines().filter_map(|line| line.strip_prefix(form.name)?.strip_prefix(' '));
        own.map(sample).filter(|sample| sample.min_rtt_us < u64::from(u32::MAX)).collect()
    };
    (forms.iter().map(samples).collect(), late_us)
}

#[test]
fn flows_in_the_kernel_grow_and_back_off_as_the_rust_algorithms() {
    let Some((_turn, folder)) = kernel() else { return };
    if let Some(reason) = no_path() {
        return skipped(reason);
    }
    let objects: Vec<PathBuf> = KERNEL_FORMS.iter().map(|form| form.object(&folder)).collect();
    let _owner = Owner::of(&objects);
    let forms: Vec<KernelForm> =
        KERNEL_FORMS.into_iter().filter(|form| form.algorithm != MODELS_PATH).collect();
    for forms in forms.chunks(AT_ONCE) {
        compare_flows(forms);
    }
}

/// Carries a flow of each form at once, and compares what it did with the Rust algorithms.
fn compare_flows(forms: &[KernelForm]) {
    let (samples, late_us) = carry(PATH, forms);
    if late_us > PUNCTUAL_US {
        eprintln!("{MEASURING:?} skipped: this machine is too busy, the path was late by {late_us} us");
    }
    for (form, samples) in forms.iter().zip(&samples) {
        let got = compare(form, samples);
        println!("{}: {got:.1?}", form.name);
        let measures = MEASURING.contains(&form.algorithm);
        if measures && late_us > PUNCTUAL_US {
            continue;
        }
        let least = if ONE_RECOVERY.contains(&form.algorithm) { 1 } else { 2 };
        assert!(got.backoffs.len() >= least, "{}: {got:?}", form.name);
        let (backoff_share, growth_share) = if measures { (0.05, 0.1) } else { (0.0, 0.01) };
        for (i, &(kernel, rust, before)) in got.backoffs.iter().take(LOSSES).enumerate() {
            let is_close = (kernel - rust).abs() <= 1.5 + backoff_share * before;
            assert!(is_close, "{}: loss {i} at {before} left {kernel}, not {rust}", form.name);
        }
        for (i, &(kernel, rust, from)) in got.growths.iter().take(LOSSES).enumerate() {
            // some end slow-start at a queue: a round trip earlier or later is a factor of two
            let is_slow_start = measures && i == 0;
            let is_close = (kernel - rust).abs() <= 1.5 + growth_share * kernel;
            assert!(
                is_slow_start || is_close,
                "{}: before loss {i} {from} had grown to {kernel}, not {rust}",
                form.name
            );
        }
    }
}

/// The same path without losses: the window reaches a queue that marks.
const MARKING_PATH: [&str; 5] = ["0.1", "400", "1000000", "600", "12"];

#[test]
fn a_dctcp_flow_in_the_kernel_backs_off_by_its_share_of_marks_as_the_rust_algorithm() {
    let Some((_turn, folder)) = kernel() else { return };
    if let Some(reason) = no_path() {
        return skipped(reason);
    }
    let form = KERNEL_FORMS.iter().find(|form| form.algorithm == "dctcp").expect("it has a form");
    let _owner = Owner::of(&[form.object(&folder)]);
    let (samples, late_us) = carry(MARKING_PATH, std::slice::from_ref(form));
    let samples = &samples[0];
    let last = samples.last().expect("samples");
    assert!(last.delivered_ce > 20 && last.delivered_ce < last.delivered / 2, "{last:?}");
    let got = compare(form, samples);
    println!("late by {late_us} us, {} of {} marked: {got:.1?}", last.delivered_ce, last.delivered);
    assert!(got.backoffs.len() >= 5, "{got:?}");
    for &(kernel, rust, before) in &got.backoffs {
        // a window of observation may end an acknowledgement earlier or later
        let is_close = (kernel - rust).abs() <= 1.5 + 0.02 * before;
        assert!(is_close, "a mark at {before} left {kernel}, not {rust}");
    }
    // alpha has fallen from its value at the beginning
    let (left, _, before) = got.backoffs.last().expect("five");
    assert!(*left > 0.7 * before, "{got:?}");
}

/// Losses as on the other path, and more time.
const LONG_PATH: [&str; 5] = ["0.1", "400", "120", "600", "12"];

#[test]
fn a_copa_flow_in_the_kernel_moves_its_window_as_the_rust_algorithm() {
    let Some((_turn, folder)) = kernel() else { return };
    if let Some(reason) = no_path() {
        return skipped(reason);
    }
    let form = KERNEL_FORMS.iter().find(|form| form.algorithm == MODELS_PATH).expect("it has a form");
    let _owner = Owner::of(&[form.object(&folder)]);
    // both learn of the same round-trip times, late or not
    let (samples, _) = carry(LONG_PATH, std::slice::from_ref(form));
    follow(form, &samples[0]);
}

/// Connects a DCTCP sender to a receiver with this algorithm, or the kernel's default one, and prints the
/// sender's algorithm after some data, and whether ECN is on (TCPI_OPT_ECN).
const CONNECT: &str = "
import socket, sys
receiver = socket.socket()
if sys.argv[2:]:
    receiver.setsockopt(6, socket.TCP_CONGESTION, sys.argv[2].encode())
receiver.bind(('127.0.0.1', 0))
receiver.listen()
sender = socket.socket()
sender.setsockopt(6, socket.TCP_CONGESTION, sys.argv[1].encode())
sender.connect(receiver.getsockname())
accepted, _ = receiver.accept()
sender.send(bytes(1000))
accepted.recv(1000)
name = sender.getsockopt(6, socket.TCP_CONGESTION, 16).rstrip(bytes(1)).decode()
print(name, sender.getsockopt(6, socket.TCP_INFO, 8)[5] & 8)
";

#[test]
fn dctcp_in_the_kernel_is_standard_tcp_beside_a_receiver_without_it() {
    let Some((_turn, folder)) = kernel() else { return };
    if !runs("python3") {
        return skipped("no python3");
    }
    let form = KERNEL_FORMS.iter().find(|form| form.algorithm == "dctcp").expect("it has a form");
    let _owner = Owner::of(&[form.object(&folder)]);
    let connect = |receiver: &[&str]| {
        let output = Command::new("python3")
            .args(["-c", CONNECT, form.name])
            .args(receiver)
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(connect(&["cubic"]), "reno 0");
    assert_eq!(connect(&[form.name]), format!("{} 8", form.name));
}
