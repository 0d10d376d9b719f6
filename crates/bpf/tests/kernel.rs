//! The algorithms in this machine's kernel: they load, carry flows whose cwnd moves like that of the Rust
//! algorithms, and disappear with their owner. Each test is skipped, with the reason, where it cannot run.
#![cfg(feature = "loader")]
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "skip/mod.rs"]
mod skip;

use libbpf_rs::MapType;
use libbpf_rs::query::{MapInfo, MapInfoIter};
use longfat_bpf::{Error, KERNEL_FORMS, KernelForm, Registration, available};
use longfat_transport::cc::{Ack, Cause, Congestion, CongestionControl, Window, find};
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
    let first = Registration::new(&object, logs).expect("nobody has it");
    assert!(is_available(first.name()));
    let second = Registration::new(&object, logs);
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
    let held: Vec<Registration> =
        (0..3).map(|_| Registration::beside_others(&object, logs).expect("a name is free")).collect();
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
    control.on_start(524);
    let us = |us: u64| Interval::from_ns(1000 * us);
    let mut w = Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    let mut result = Comparison::default();
    let (mut epoch_began, mut recovering) = (f64::NAN, false);
    for pair in samples.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        let newly = now.delivered.saturating_sub(before.delivered);
        // RFC 6298: SRTT <- 7/8 SRTT + 1/8 R
        let rtt_us = (8 * now.srtt_us).saturating_sub(7 * before.srtt_us).max(now.min_rtt_us);
        let advanced = now.bytes_acked > before.bytes_acked;
        if newly > 0 {
            let ack = Ack {
                now: Time::from_ns(1000 * now.at_us),
                acked: newly as f64,
                newly_delivered: newly as u32,
                rtt: advanced.then(|| us(rtt_us)),
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
            // an acknowledgement that only reports what arrived above a hole does not let cwnd grow
            if !recovering && now.state < 2 && advanced {
                control.on_ack(&ack, &mut w);
            }
        }
        if !recovering && now.state >= 2 {
            result.growths.push((before.cwnd as f64, w.cwnd, epoch_began));
            w.cwnd = before.cwnd as f64;
            let event = Congestion {
                cause: if now.state == 4 { Cause::Timeout } else { Cause::Loss },
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
const MEASURING: [&str; 9] =
    ["ctcp", "fast", "htcp", "hybla", "illinois", "vegas", "veno", "westwood+", "yeah"];
/// Its slow-start grows by 15 segments for each at 100 ms, to thousands before the first loss shows: one recovery takes
/// the rest of the run.
const ONE_RECOVERY: &str = "hybla";

#[test]
fn flows_in_the_kernel_grow_and_back_off_as_the_rust_algorithms() {
    let Some((_turn, folder)) = kernel() else { return };
    if let Some(reason) = no_path() {
        return skipped(reason);
    }
    let objects: Vec<PathBuf> = KERNEL_FORMS.iter().map(|form| form.object(&folder)).collect();
    let _owner = Owner::of(&objects);
    let run = || {
        let names = KERNEL_FORMS.iter().map(|form| form.name);
        let output =
            Command::new("python3").arg(path_script()).args(PATH).args(names).output().expect("it starts");
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
    if late_us > PUNCTUAL_US {
        eprintln!("{MEASURING:?} skipped: this machine is too busy, the path was late by {late_us} us");
    }
    for form in &KERNEL_FORMS {
        let samples: Vec<Sample> = printed
            .lines()
            .filter_map(|line| line.strip_prefix(form.name)?.strip_prefix(' '))
            .map(|line| {
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
                }
            })
            .filter(|sample| sample.min_rtt_us < u64::from(u32::MAX))
            .collect();
        let got = compare(form, &samples);
        println!("{}: {got:.1?}", form.name);
        let measures = MEASURING.contains(&form.algorithm);
        if measures && late_us > PUNCTUAL_US {
            continue;
        }
        let least = if form.algorithm == ONE_RECOVERY { 1 } else { 2 };
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
