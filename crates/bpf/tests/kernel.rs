//! The algorithms in this machine's kernel: they load, carry flows whose cwnd moves like that of the Rust
//! algorithms, and disappear with their owner. Each test is skipped, with the reason, where it cannot run.
#![cfg(feature = "loader")]
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "skip/mod.rs"]
mod skip;

use libbpf_rs::MapType;
use libbpf_rs::query::{MapInfo, MapInfoIter};
use longfat_bpf::{Error, KERNEL_FORMS, KernelForm, Registration, Source, available};
use longfat_transport::Feedback;
use longfat_transport::cc::{
    Ack, Cause, Congestion, CongestionControl, Delivery, LostSegment, MarkSample, Opening, Repair, Window,
    find,
};
use longfat_units::{Interval, Time};
use skip::skipped;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

const LOADER: &str = env!("CARGO_BIN_EXE_longfat-bpf");
/// All processes share the kernel's names, so one test runs at a time.
static KERNEL: Mutex<()> = Mutex::new(());

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Returns the lock on the kernel and the folder of the objects; or `None`, after saying why.
fn kernel() -> Option<(MutexGuard<'static, ()>, PathBuf)> {
    let turn = KERNEL.lock().unwrap_or_else(PoisonError::into_inner);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|l| l.starts_with("Uid:\t0\t"));
    let missing = [
        (!is_root, "not root"),
        (!Path::new(longfat_bpf::KERNEL_TYPES).exists(), "a kernel without BTF"),
        (!runs("clang") || !runs("make"), "no clang or no make (Debian: apt install clang make)"),
        (
            !Path::new("/usr/include/bpf/bpf_helpers.h").exists(),
            "no libbpf-dev (Debian: apt install libbpf-dev)",
        ),
    ];
    if let Some((_, reason)) = missing.iter().find(|(is_missing, _)| *is_missing) {
        skipped(reason);
        return None;
    }
    let built =
        Command::new("make").arg("--silent").arg("bpf").current_dir(root()).output().expect("it starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some((turn, root().join("bpf/out")))
}

/// Returns the program that makes the path for flows in these tests.
fn path_script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/path.py")
}

/// Returns why there can be no such path here, if so.
fn no_path() -> Option<&'static str> {
    let is_there = Path::new("/dev/net/tun").exists() && runs("python3") && runs("ip");
    (!is_there).then_some("no /dev/net/tun, python3 or ip (Debian: apt install python3 iproute2)")
}

/// Whether sockets may select the algorithm now.
fn is_available(name: &str) -> bool {
    available().expect("the kernel lists them").iter().any(|n| n == name)
}

/// Whether the algorithm disappears soon: a registration ends when the kernel has cleaned up after its owner.
fn vanishes(name: &str) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        !is_available(name)
    })
}

/// A process that has registered these objects; it ends with the test, whatever the result.
struct Owner(Child);

impl Owner {
    fn of(objects: &[PathBuf]) -> Owner {
        let mut child = Command::new(LOADER)
            .args(objects)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was built with this test");
        let mut names = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut names).expect("a line");
        if names.is_empty() {
            let output = child.wait_with_output().expect("it ended");
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        }
        assert_eq!(names.split_whitespace().count(), objects.len(), "{names}");
        Owner(child)
    }

    fn kill(&mut self) {
        self.0.kill().expect("it runs"); // SIGKILL
        self.0.wait().expect("it was killed");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_algorithm_is_registered_while_its_owner_lives_and_gone_after_kill_9() {
    let Some((_turn, folder)) = kernel() else { return };
    let objects: Vec<PathBuf> = KERNEL_FORMS.iter().map(|form| form.object(&folder)).collect();
    let mut owner = Owner::of(&objects);
    for form in &KERNEL_FORMS {
        assert!(is_available(form.name), "{} is not there", form.name);
    }
    owner.kill();
    for form in &KERNEL_FORMS {
        assert!(vanishes(form.name), "{} is still there", form.name);
    }
}

/// Returns the ids of the algorithms that the kernel holds in memory, registered or only used by a socket.
fn held_in_memory() -> Vec<u32> {
    let is_algorithm = |map: &MapInfo| map.ty == MapType::StructOps && map.name.as_c_str() == c"algorithm";
    MapInfoIter::default().filter(is_algorithm).map(|map| map.id).collect()
}

#[test]
fn flows_that_end_with_kill_9_leave_no_algorithm_in_the_kernels_memory() {
    let Some((_turn, folder)) = kernel() else { return };
    if let Some(reason) = no_path() {
        return skipped(reason);
    }
    let before = held_in_memory();
    let form = &KERNEL_FORMS[1];
    let mut owner = Owner::of(&[form.object(&folder)]);
    let mut path = Command::new("python3")
        .arg(path_script())
        .args(["0.02", "400", "60", "600", "60", form.name])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    // a flow under way, with segments in flight
    let mut lines = BufReader::new(path.stdout.take().expect("piped")).lines();
    assert!(lines.nth(30).is_some(), "no flow");
    let is_new = || held_in_memory().iter().any(|id| !before.contains(id));
    assert!(is_new());
    owner.kill();
    assert!(vanishes(form.name));
    assert!(is_new(), "the flow goes on with it");
    path.kill().expect("it runs");
    path.wait().expect("it was killed");
    let is_gone = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        !is_new()
    });
    assert!(is_gone, "a socket still holds it");
}

#[test]
fn a_registration_ends_with_its_object_and_a_second_one_of_a_name_is_refused() {
    let Some((_turn, folder)) = kernel() else { return };
    let object = KERNEL_FORMS[0].object(&folder);
    let logs = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let first = Registration::new(&Source::only(&object), logs).expect("nobody has it");
    assert!(is_available(first.name()));
    let second = Registration::new(&Source::only(&object), logs);
    assert!(matches!(second, Err(Error::Taken { ref name }) if name == first.name()), "{second:?}");
    drop(first);
    assert!(vanishes(KERNEL_FORMS[0].name));
}

#[test]
fn a_second_process_with_the_same_algorithm_has_it_under_another_name() {
    let Some((_turn, folder)) = kernel() else { return };
    let logs = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // fifteen characters, as many as the kernel accepts
    let form = KERNEL_FORMS.iter().find(|form| form.name.len() == longfat_bpf::LONGEST_NAME);
    let object = form.expect("westwood+").object(&folder);
    let held: Vec<Registration> = (0..3)
        .map(|_| Registration::beside_others(&Source::only(&object), logs).expect("a name is free"))
        .collect();
    let names: BTreeSet<&str> = held.iter().map(Registration::name).collect();
    assert_eq!(names.len(), 3);
    for name in &names {
        assert!(name.starts_with("lf_westwood") && is_available(name), "{names:?}");
    }
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    drop(held);
    for name in &names {
        assert!(vanishes(name), "{name} is still there");
    }
}

#[test]
fn a_program_that_the_verifier_rejects_is_reported_in_one_line_and_leaves_only_its_log() {
    let Some((_turn, _)) = kernel() else { return };
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let object = tmp.join("lf_rejected.o");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rejected.c");
    let include = root().join("bpf");
    let built = Command::new("clang")
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wno-unused-function", "-c", "-I"])
        .args([&include, &source, Path::new("-o"), &object])
        .status()
        .expect("clang runs");
    assert!(built.success());
    let output = Command::new(LOADER).arg(&object).env("TMPDIR", tmp).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.contains("lf_rejected") && said.contains("cong_avoid") && said.contains("write"), "{said}");
    let (_, named) = said.split_once("(log: ").expect("the line names the log");
    let log = std::fs::read_to_string(named.trim_end().trim_end_matches(')')).expect("it was written");
    assert!(log.lines().count() > 3, "{log}");
    assert!(!is_available("lf_rejected"));
}

#[test]
fn without_rights_the_line_says_what_is_needed() {
    let Some((_turn, folder)) = kernel() else { return };
    // where every user may read
    let shared = std::env::temp_dir().join(format!("longfat-bpf-{}", std::process::id()));
    std::fs::create_dir_all(&shared).expect("a temporary folder");
    let (program, object) = (shared.join("loader"), shared.join("lf_stcp.o"));
    std::fs::copy(LOADER, &program).expect("copied");
    std::fs::copy(folder.join("lf_stcp.o"), &object).expect("copied");
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"])
        .args([&program, &object])
        .output();
    std::fs::remove_dir_all(&shared).expect("removed");
    let Ok(output) = output else { return skipped("no setpriv (Debian: util-linux)") };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("needs root") && said.trim_end().lines().count() == 1, "{said}");
}

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
    control.on_start(SEGMENT_BYTES as u32);
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
                base_rtt: us(now.min_rtt_us),
                one_way_delay: None,
                in_flight: now.cwnd as f64,
                delivered: now.delivered,
                next_segment: now.delivered + before.cwnd,
                unacknowledged: now.delivered,
            };
            if control.wants_samples() {
                control.on_sample(&ack);
            }
            if control.feedback() != Feedback::Classic {
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
                base_rtt: us(now.min_rtt_us),
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

/// Compares the windows of a flow in the kernel with those of the Rust form of an algorithm that models the path. What the
/// kernel tells it but TCP_INFO does not is put together from earlier samples.
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
            newly_delivered: newly,
            newly_lost: lost,
            total_delivered: now.delivered,
            total_lost: 0,
            prior_in_flight: before.unacked,
            in_flight: now.unacked,
            srtt: us(now.srtt_us),
            next_departure: at(&now),
            window_limited: true,
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
/// Hybla's slow-start grows by 15 segments for each at 100 ms, to thousands before the first loss shows: one recovery
/// takes the rest of the run. LEDBAT++ halts for its slowdowns and sends less.
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

/// Connects a DCTCP sender to a receiver with this algorithm, or the kernel's default one, and prints the sender's
/// algorithm after some data, and whether ECN is on (TCPI_OPT_ECN).
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
