//! Objects that are wrong: each is refused before a run, or ended in it, with one line that says where and
//! why.

#![allow(clippy::expect_used, reason = "a test may panic")]

mod objects;

use longfat_bpf_vm::{Algorithm, Connection, LoadError, Object};
use longfat_transport::cc::{Ack, Cause, Congestion, CongestionControl, Window};
use longfat_units::{Interval, Time};
use proptest::prelude::*;

/// What each source begins with.
const HEAD: &str = r#"
#include "kernel_types.h"
SEC("struct_ops") u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return tp->snd_cwnd / 2; }
SEC("struct_ops") u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }
char _license[] SEC("license") = "GPL";
#define ALGORITHM(NAME, AVOID) \
    SEC(".struct_ops.link") struct tcp_congestion_ops NAME = { \
        .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo_cwnd, .cong_avoid = (void *)AVOID, .name = #NAME };
#define AVOID(NAME) \
    void avoid_##NAME(unsigned long long *ctx); \
    ALGORITHM(NAME, avoid_##NAME) \
    SEC("struct_ops") void BPF_PROG(avoid_##NAME, struct tcp_sock *tp, u32 ack, u32 acked)
"#;

/// Programs that go wrong, in one object.
const RUNS: &str = r#"
struct { __uint(type, BPF_MAP_TYPE_ARRAY_OF_ONE); __uint(max_entries, 4); __type(key, u32); __type(value, u64); } few SEC(".maps");
struct { __uint(type, 1); __uint(max_entries, 4); __type(key, u32); __type(value, u64); } some SEC(".maps");
struct { __uint(type, 24); __uint(map_flags, 1); __type(key, int); __type(value, u64); } stored SEC(".maps");
u32 counted;
const volatile u32 step = 3;
static u64 (*clock)(void) = (void *)5;
extern unsigned long CONFIG_HZ __kconfig;
extern unsigned int CONFIG_NOWHERE __kconfig __weak;
extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void no_such_function(struct tcp_sock *tp) __ksym __weak;

AVOID(endless) { volatile u32 *cwnd = &tp->snd_cwnd; while (*cwnd) ; }
AVOID(wild) { *(volatile u32 *)(tp->srtt_us + 1000000ul) = 1; }
AVOID(null) { u32 key = 99; volatile u64 *v = bpf_map_lookup_elem(&few, &key); *v = 1; }
AVOID(overflow) { volatile char buffer[256] = {}; buffer[acked * 1000] = 1; }
AVOID(forbidden) { *(volatile u32 *)&tp->srtt_us = 7; }
AVOID(zero) { volatile u32 none = 0; tp->snd_cwnd = 5 + 100 / none; }
AVOID(globals) { counted += step; tp->snd_cwnd = counted + CONFIG_HZ + CONFIG_NOWHERE; }
AVOID(hash) {
    u32 key = acked; u64 one = 1, *known = bpf_map_lookup_elem(&some, &key);
    if (known) *known += 1; else bpf_map_update_elem(&some, &key, &one, 0);
    known = bpf_map_lookup_elem(&some, &key);
    if (known) tp->snd_cwnd = 100 + *known;
}
AVOID(storage) {
    u64 *mine = bpf_sk_storage_get(&stored, tp, 0, 1);
    if (mine) { *mine += 1; tp->snd_cwnd = *mine; }
}
AVOID(kfunc) { if (no_such_function) no_such_function(tp); tp->snd_cwnd += 3 * (tcp_slow_start(tp, acked) == 0); }
static long body(u32 i, u32 *sum) { *sum += i; return i == 6; }
AVOID(looped) { u32 sum = 0; bpf_loop(10, body, &sum, 0); tp->snd_cwnd = sum; }
AVOID(printing) { bpf_printk("window %u after %d", tp->snd_cwnd, -3); }
AVOID(greatest) { tp->snd_cwnd = ~0u; }
"#;

fn ack(now_ms: u64, acked: u32) -> Ack {
    Ack {
        now: Time::from_ns(1_000_000 * now_ms),
        acked: f64::from(acked),
        newly_delivered: acked,
        rtt: Some(Interval::from_millis(50)),
        srtt: Interval::from_millis(50),
        base_rtt: Some(Interval::from_millis(40)),
        one_way_delay: None,
        in_flight: 10.0,
        delivered: 100,
        next_segment: 120,
        unacknowledged: 100,
        may_grow: true,
    }
}

fn runs() -> Option<Object> {
    let text = format!("{HEAD}{RUNS}").replace("BPF_MAP_TYPE_ARRAY_OF_ONE", "2");
    objects::of(&text, "runs", &[]).map(|file| Object::new(&file).unwrap_or_else(|error| panic!("{error}")))
}

fn algorithm(object: &Object, name: &str) -> Algorithm {
    object.algorithm(Some(name)).expect("in the object")
}

/// Calls `cong_avoid` once. Returns the window, and why it was ended.
fn grow(connection: &mut Connection) -> (f64, Option<String>) {
    let mut w = Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    connection.on_ack(&ack(1, 2), &mut w);
    (w.cwnd, connection.take_failure())
}

fn started(algorithm: &Algorithm) -> Connection {
    let mut connection = algorithm.connection();
    connection.on_start(1448, 0);
    connection
}

#[test]
fn a_program_that_goes_wrong_is_ended_with_its_name_its_instruction_and_the_reason() {
    let Some(object) = runs() else { return };
    let cases = [
        ("endless", "it ran longer than its budget of instructions; does a loop not end?"),
        ("wild", "writes through 0xf4240, which is no pointer"), // 1000000, as srtt is not known yet
        ("null", "writes through a null pointer (0x0)"),
        ("overflow", "of the stack, which has"),
        ("forbidden", "writes 4 bytes to tcp_sock.srtt_us, which the kernel does not permit"),
    ];
    for (name, reason) in cases {
        let mut connection = started(&algorithm(&object, name));
        let (_, failure) = grow(&mut connection);
        let failure = failure.unwrap_or_else(|| panic!("{name} did not fail"));
        let reason = if name == "wild" { "which is no pointer" } else { reason };
        assert!(failure.contains(&format!("avoid_{name}, instruction ")), "{failure}");
        assert!(failure.contains(reason), "{failure}, not: {reason}");
        assert_eq!(failure.lines().count(), 1, "{failure}");
        assert_eq!(grow(&mut connection).1, None, "it is told once, and {name} is not called again");
    }
}

/// Programs whose helpers work hard. Each comes twice: so that the budget covers it, and so that it does not.
const HARD: &str = r#"
struct { __uint(type, 2); __uint(max_entries, 2); __type(key, u32); __type(value, u64[1 << 17]); } large SEC(".maps");
struct { __uint(type, 9); __uint(max_entries, 8); __type(key, u32); __type(value, u64[1 << 17]); } recent SEC(".maps");
#define VALUES(FROM, TO) \
    u32 first = 0, second = 1; \
    u64 *FROM = bpf_map_lookup_elem(&large, &first), *TO = bpf_map_lookup_elem(&large, &second); \
    if (!FROM || !TO) return 0;
#define TWICE(NAME) \
    AVOID(few_##NAME) { NAME(8); } \
    AVOID(many_##NAME) { NAME(80); }
static long (*read_kernel)(void *to, u32 bytes, const void *from) = (void *)113;
static long (*read_text)(void *to, u32 bytes, const void *from) = (void *)115;

static int copying(int times) { VALUES(from, to) for (int i = 0; i < times; i++) read_kernel(to, 1 << 20, from); return 0; }
static int reading(int times) {
    VALUES(from, to)
    read_kernel(from, 8, "aaaaaaa");
    for (int i = 0; i < 15 * times; i++) read_text(to, 65536, from);
    return 0;
}
static int updating(int times) {
    VALUES(from, to)
    for (int i = 0; i < times; i++) { u32 key = i; bpf_map_update_elem(&recent, &key, from, 0); }
    return 0;
}
TWICE(copying)
TWICE(reading)
TWICE(updating)
"#;

#[test]
fn what_helpers_copy_is_taken_from_the_budget() {
    let Some(file) = objects::of(&format!("{HEAD}{HARD}"), "hard", &["-O1"]) else { return };
    let object = Object::new(&file).unwrap_or_else(|error| panic!("{error}"));
    for name in ["copying", "reading", "updating"] {
        let ended = |times: &str| grow(&mut started(&algorithm(&object, &format!("{times}_{name}")))).1;
        assert_eq!(ended("few"), None, "{name}");
        let failure = ended("many").unwrap_or_else(|| panic!("{name} did not fail"));
        assert!(
            failure.ends_with("it ran longer than its budget of instructions; does a loop not end?"),
            "{failure}"
        );
        assert!(failure.contains("avoid_many_"), "{failure}");
    }
}

#[test]
fn a_timeout_comes_after_a_program_has_set_the_greatest_window_too() {
    let Some(object) = runs() else { return };
    let mut connection = started(&algorithm(&object, "greatest"));
    let mut w = Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    connection.on_ack(&ack(1, 2), &mut w);
    assert_eq!(w.cwnd, f64::from(u32::MAX));
    let span = Interval::from_millis(50);
    let now = Time::from_ns(2_000_000);
    let timeout =
        Congestion { cause: Cause::Timeout, now, in_flight: w.cwnd, srtt: span, base_rtt: Some(span) };
    connection.on_congestion(&timeout, &mut w);
    assert!(w.cwnd >= 1.0, "{w:?}");
    assert_eq!(connection.take_failure(), None);
}

#[test]
fn what_the_kernel_offers_a_program_is_there() {
    let Some(object) = runs() else { return };
    let grown = |name: &str, times: usize| {
        let mut connection = started(&algorithm(&object, name));
        (0..times).map(|_| grow(&mut connection)).last().expect("called")
    };
    assert_eq!(grown("zero", 1), (5.0, None), "a division by zero is zero");
    assert_eq!(grown("globals", 2), (256.0, None), "2 x 3 and 250 ticks a second");
    assert_eq!(grown("hash", 3), (103.0, None));
    assert_eq!(grown("storage", 4), (4.0, None));
    assert_eq!(grown("kfunc", 1), (15.0, None), "slow-start by 2, which leaves nothing, and 3 more");
    assert_eq!(grown("looped", 1), (21.0, None), "0 + 1 + ... + 6");
    let mut connection = started(&algorithm(&object, "printing"));
    grow(&mut connection);
    assert_eq!(connection.printed().collect::<Vec<_>>(), ["window 10 after -3"]);
}

#[test]
fn connections_of_a_run_share_maps_but_not_their_storage_and_a_fresh_run_begins_anew() {
    let Some(object) = runs() else { return };
    let hash = algorithm(&object, "hash");
    let (mut one, mut other) = (started(&hash), started(&hash));
    assert_eq!(grow(&mut one).0, 101.0);
    assert_eq!(grow(&mut other).0, 102.0);
    assert_eq!(grow(&mut started(&hash.fresh())).0, 101.0);
    let storage = algorithm(&object, "storage");
    let (mut one, mut other) = (started(&storage), started(&storage));
    assert_eq!((grow(&mut one).0, grow(&mut one).0, grow(&mut other).0), (1.0, 2.0, 1.0));
}

#[test]
fn an_object_with_several_congestion_controls_asks_for_a_name() {
    let Some(object) = runs() else { return };
    assert!(
        matches!(object.algorithm(None), Err(LoadError::Several(names)) if names.contains("endless, wild"))
    );
    assert!(matches!(object.algorithm(Some("cubic")), Err(LoadError::NoSuchName { .. })));
    assert_eq!(object.names().count(), 13);
}

/// Compiles a source, expects a refusal, and returns its line.
fn refused(text: &str, name: &str, flags: &[&str]) -> Option<String> {
    let file = objects::of(&format!("{HEAD}{text}"), name, flags)?;
    let loaded = Object::new(&file).and_then(|object| object.algorithm(None));
    let line = loaded.expect_err("it is wrong").to_string();
    assert_eq!(line.lines().count(), 1, "{line}");
    Some(line)
}

#[test]
fn an_object_that_cannot_run_here_is_refused_with_what_it_lacks() {
    let helper = "static long (*tail)(void) = (void *)9999; AVOID(a) { tp->snd_cwnd = tail(); }";
    let Some(line) = refused(helper, "helper", &[]) else { return };
    assert!(line.starts_with("avoid_a, instruction "), "{line}");
    assert!(line.ends_with("calls helper 9999, which is not available here"), "{line}");
    let cases = [
        (
            "kfunc",
            "extern void bbr_main(struct tcp_sock *tp) __ksym; AVOID(a) { bbr_main(tp); }",
            "kfunc bbr_main: not available here; Linux offers it since 5.13",
        ),
        (
            "no_kfunc",
            "extern void frobnicate(struct tcp_sock *tp) __ksym; AVOID(a) { frobnicate(tp); }",
            "kfunc frobnicate: not available here; Longfat knows no Linux that offers it to congestion control",
        ),
        (
            "gigabytes",
            "struct { __uint(type, 2); __uint(max_entries, 1 << 28); __type(key, u32); __type(value, u64[2]); }
             huge SEC(\".maps\"); AVOID(a) { u32 k = 0; u64 *v = bpf_map_lookup_elem(&huge, &k); if (v) tp->snd_cwnd = *v; }",
            "map huge: 4294967296 bytes; accepted: at most 67108864",
        ),
        (
            "no_ssthresh",
            "SEC(\".struct_ops.link\") struct tcp_congestion_ops bare = { .undo_cwnd = (void *)undo_cwnd, .name = \"b\" };",
            "bare: no ssthresh; the kernel requires it",
        ),
        (
            "no_growth",
            "ALGORITHM(bare, 0)",
            "bare: neither cong_avoid nor cong_control; the kernel requires one",
        ),
        (
            "no_name",
            "AVOID(a) {} SEC(\".struct_ops.link\") struct tcp_congestion_ops b = { .ssthresh = (void *)ssthresh,
             .undo_cwnd = (void *)undo_cwnd, .cong_avoid = (void *)avoid_a };",
            "b: name \"\"; accepted: 1 to 15 characters",
        ),
        (
            "field",
            "struct tcp_sock___new { u32 from_tomorrow; } CO_RE;
             AVOID(a) { tp->snd_cwnd = ((struct tcp_sock___new *)tp)->from_tomorrow; }",
            "needs struct tcp_sock___new.from_tomorrow, which the model does not have",
        ),
        (
            "setting",
            "extern unsigned long CONFIG_ELSEWHERE __kconfig; AVOID(a) { tp->snd_cwnd = CONFIG_ELSEWHERE; }",
            "extern variable CONFIG_ELSEWHERE: not available here",
        ),
        (
            "map_of_maps",
            "struct { __uint(type, 12); __uint(max_entries, 1); __type(key, u32); __type(value, u32); } outer SEC(\".maps\");
             AVOID(a) { u32 k = 0; tp->snd_cwnd = !bpf_map_lookup_elem(&outer, &k); }",
            "map outer: of type 12; accepted: arrays",
        ),
    ];
    for (name, text, reason) in cases {
        let Some(line) = refused(text, name, &[]) else { return };
        assert!(line.contains(reason), "{line}, not: {reason}");
    }
    let Some(line) = refused("AVOID(a) {}", "big", &["-target", "bpfeb"]) else { return };
    assert_eq!(line, "a big-endian object; accepted: little-endian (clang -target bpfel)");
}

/// The same file with another name of a section; names may share their ends.
fn renamed(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let (from, to) = (format!("{from}\0"), format!("{to}\0"));
    let mut file = file.to_vec();
    let places: Vec<usize> = (0..file.len()).filter(|&at| file[at..].starts_with(from.as_bytes())).collect();
    assert!(!places.is_empty(), "no section {from:?}");
    places.into_iter().for_each(|at| file[at..at + to.len()].copy_from_slice(to.as_bytes()));
    file
}

#[test]
fn an_object_without_types_congestion_control_or_license_is_refused() {
    let Some(file) = objects::of(&format!("{HEAD}AVOID(a) {{}}"), "plain", &[]) else { return };
    let line = |file: &[u8]| Object::new(file).map(|_| ()).expect_err("it is wrong").to_string();
    assert!(Object::new(&file).is_ok(), "no init is what the kernel permits");
    assert_eq!(line(&renamed(&file, ".BTF", ".BTX")), "no BTF; compile with clang -g");
    assert!(
        line(&renamed(&file, ".struct_ops.link", ".struct_opt.link")).starts_with("no congestion control")
    );
    assert!(line(&renamed(&file, "license", "licence")).starts_with("license \"\""));
    assert_eq!(line(b"#!/bin/sh\n"), "not an eBPF object: no ELF header");
    assert_eq!(line(&file[..60]), "not an eBPF object: the ELF header is cut off");
    assert_eq!(line(&[]), "not an eBPF object: no ELF header");
}

#[test]
fn code_behind_a_check_for_a_field_that_is_not_there_does_not_count() {
    let text = "struct tcp_sock___new { u32 from_tomorrow; } CO_RE;
        AVOID(a) {
            struct tcp_sock___new *new = (void *)tp;
            if (bpf_core_field_exists(new->from_tomorrow)) tp->snd_cwnd = new->from_tomorrow; else tp->snd_cwnd = 44;
        }";
    let Some(file) = objects::of(&format!("{HEAD}{text}"), "guarded", &[]) else { return };
    let object = Object::new(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(grow(&mut started(&algorithm(&object, "a"))), (44.0, None));
}

/// Loads a file and calls what it holds, if anything. Whatever happens takes one line.
fn exercise(file: &[u8]) {
    let object = match Object::new(file) {
        Ok(object) => object,
        Err(error) => return assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    };
    let names: Vec<String> = object.names().map(str::to_owned).collect();
    for name in names {
        let Ok(algorithm) = object.algorithm(Some(&name)) else { continue };
        let mut connection = algorithm.connection();
        connection.set_budget(2000);
        connection.on_start(1448, 0);
        let mut w = Window { cwnd: 10.0, ssthresh: 30.0, max_ssthresh: f64::INFINITY };
        let zero = Interval::ZERO;
        for n in 1..4 {
            connection.on_sample(&ack(n, 2));
            connection.on_ack(&ack(n, 2), &mut w);
            let cause = if n == 2 { Cause::Loss } else { Cause::Timeout };
            let event = Congestion {
                cause,
                now: Time::from_ns(9_000_000 * n),
                in_flight: 9.0,
                srtt: zero,
                base_rtt: Some(zero),
            };
            connection.on_congestion(&event, &mut w);
            connection.on_recovered(event.now, &mut w);
            connection.on_undo(&mut w);
            assert!(w.cwnd.is_finite() && w.cwnd >= 1.0, "{w:?}");
        }
        if let Some(failure) = connection.take_failure() {
            assert_eq!(failure.lines().count(), 1, "{failure}");
        }
    }
}

/// How many damaged objects a test tries; LONGFAT_EBPF_CASES sets another number.
fn cases() -> u32 {
    std::env::var("LONGFAT_EBPF_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

#[test]
fn a_damaged_object_is_refused_or_ended_with_one_line() {
    let text = format!("{HEAD}{RUNS}").replace("BPF_MAP_TYPE_ARRAY_OF_ONE", "2");
    let (Some(one), Some(other)) = (objects::of(&text, "damaged", &[]), objects::form("lf_htcp")) else {
        return;
    };
    let config = ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    let byte = prop_oneof![any::<u8>(), Just(0), Just(255), Just(1), Just(0x7f)];
    let damage =
        (any::<bool>(), prop::collection::vec((any::<prop::sample::Index>(), byte), 1..12), 0_usize..20);
    let strategy = (damage, any::<prop::sample::Index>());
    proptest!(config, |(((is_one, bytes, cut), end) in strategy)| {
        let mut file = if is_one { one.clone() } else { other.clone() };
        for (at, byte) in &bytes {
            let at = at.index(file.len());
            file[at] = *byte;
        }
        if cut == 0 {
            file.truncate(end.index(file.len()));
        }
        exercise(&file);
    });
}

#[test]
fn a_damaged_program_is_refused_or_ended_with_one_line() {
    let Some(file) = objects::form("lf_htcp") else { return };
    // the instructions come right behind the header of 64 bytes
    let code = 64..64 + 1200 * 8_usize;
    let config = ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    let bytes = prop::collection::vec((code, any::<u8>()), 1..6);
    proptest!(config, |(bytes in bytes)| {
        let mut file = file.clone();
        let last = file.len() - 1;
        for (at, byte) in &bytes {
            file[(*at).min(last)] = *byte;
        }
        exercise(&file);
    });
}
