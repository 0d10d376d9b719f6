//! The hosts' side of the TCP option, `bpf/option.h`, says and reads what the routers' side does.

#![allow(clippy::expect_used, reason = "a test may panic")]

use longfat_units::Stream;
use longfat_wire::{Explicit, Packet, RealPacket, Xcp};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const ECHO: u64 = 1 << 60;

/// What the C form prints, a line for each of these; `None` without a C compiler.
fn answers(requests: &str) -> Option<Vec<String>> {
    let is_there = |name: &&str| {
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let Some(compiler) = ["cc", "gcc", "clang"].into_iter().find(is_there) else {
        eprintln!("skipped: no C compiler (Debian: apt install gcc)");
        return None;
    };
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("option");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/option.c");
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Werror", "-Wno-unused-function", "-o"];
    let compiled = Command::new(compiler).args(flags).arg(&program).arg(&source).output().expect("it starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("compiled above");
    let (mut stdin, requests) = (child.stdin.take().expect("piped"), requests.to_owned());
    let writer = std::thread::spawn(move || stdin.write_all(requests.as_bytes()));
    let output = child.wait_with_output().expect("it ends with its input");
    writer.join().expect("no panic").expect("it reads everything");
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// A segment without payload whose only option has this word; checksums do not matter here.
fn packet(word: u64) -> RealPacket {
    let mut bytes = vec![0x45, 0, 0, 52, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    bytes.extend([0x9c, 0x40, 0x13, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x10, 0, 0, 0, 0, 0, 0]);
    bytes.extend([254, 12, 0x4c, 0x46]);
    bytes.extend(word.to_be_bytes());
    let (mut packet, _) = RealPacket::parse(bytes).expect("a packet");
    packet.read_explicit();
    packet
}

fn read(word: u64) -> Xcp {
    match packet(word).explicit() {
        Some(Explicit::Xcp(header)) => *header,
        other => panic!("{word:x}: {other:?}"),
    }
}

/// The word after a router has written this feedback.
fn guided(word: u64, feedback_bytes: f64) -> u64 {
    let mut packet = packet(word);
    let Some(Explicit::Xcp(header)) = packet.explicit_mut() else { panic!("{word:x}") };
    header.feedback_bytes = feedback_bytes;
    packet.write_explicit();
    let word = packet.to_bytes()[44..52].try_into().expect("eight bytes");
    u64::from_be_bytes(word)
}

#[test]
fn hosts_and_routers_mean_the_same_by_a_word() {
    let mut stream = Stream::new(1, "option");
    let mut random = |bits: u32| stream.below(1 << bits);
    let untouched = (1 << 23) - 1;
    let windows: Vec<_> = (0..400).map(|i| (random(1 + i % 40), random(1 + i % 26))).collect();
    let requests: String =
        windows.iter().map(|(cwnd, rtt)| format!("data {cwnd} {rtt} {untouched}\n")).collect();
    let Some(words) = answers(&requests) else { return };
    let mut requests = String::new();
    let mut told = Vec::new();
    for (i, (word, (cwnd, rtt_us))) in (0..).zip(words.iter().zip(windows)) {
        let word: u64 = word.parse().expect("a number");
        let header = read(word);
        assert!((header.cwnd_bytes - cwnd as f64).abs() <= cwnd as f64 / 2048.0, "{cwnd} {header:?}");
        assert!((header.rtt_s * 1e6 - rtt_us as f64).abs() <= rtt_us as f64 / 2048.0, "{rtt_us} {header:?}");
        assert!(header.feedback_bytes.is_infinite() && !header.reset);
        let parts = random(1 + i % 37) as i64 * if i % 3 == 0 { -1 } else { 1 };
        let word = guided(word, parts as f64 / 256.0);
        writeln!(requests, "read {word}\necho {cwnd} {parts}").expect("a string");
        told.push((read(word), parts, cwnd));
    }
    let lines = answers(&requests).expect("the compiler is still there");
    let numbers = |line: &str| line.split(' ').map(|n| n.parse().expect("numbers")).collect::<Vec<i64>>();
    let mut requests = String::new();
    for (two, (header, parts, cwnd)) in lines.chunks(2).zip(&told) {
        let seen = numbers(&two[0]);
        assert_eq!((seen[0] as f64, seen[1] as f64 / 256.0), (header.cwnd_bytes, header.feedback_bytes));
        let word: u64 = two[1].parse().expect("a number");
        assert_ne!(word & ECHO, 0);
        let echo = read(word);
        assert_eq!(echo.feedback_bytes, *parts as f64 / 256.0);
        assert!((echo.cwnd_bytes - *cwnd as f64).abs() <= *cwnd as f64 / 2048.0);
        writeln!(requests, "read {word}").expect("a string");
    }
    let lines = answers(&requests).expect("the compiler is still there");
    for (line, (_, parts, _)) in lines.iter().zip(told) {
        assert_eq!(numbers(line)[2], parts);
    }
}
