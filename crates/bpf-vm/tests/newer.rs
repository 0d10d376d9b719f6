//! Objects for kernels that are newer than the one that the model follows.

#![allow(clippy::expect_used, reason = "a test may panic")]

mod objects;

use longfat_bpf_vm::{Called, Object};
use longfat_transport::cc::{CongestionControl, Window};
use longfat_units::Time;
use std::sync::{Arc, Mutex};

/// An object as for Linux 7.1, whose structure has a callback of its own for what CA_EVENT_TX_START told
/// before.
const TEXT: &str = r#"
#include "kernel_types.h"
extern void cubictcp_init(struct tcp_sock *tp) __ksym;
extern void cubictcp_cwnd_event_tx_start(struct tcp_sock *tp) __ksym;
SEC("struct_ops") void BPF_PROG(init, struct tcp_sock *tp) { cubictcp_init(tp); }
SEC("struct_ops") u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return tp->snd_cwnd / 2; }
SEC("struct_ops") u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }
SEC("struct_ops") void BPF_PROG(cong_control, struct tcp_sock *tp, u32 ack, int flag, const void *rs) { }
SEC("struct_ops") void BPF_PROG(cwnd_event, struct tcp_sock *tp, u32 event) { tp->snd_cwnd = 5; }
SEC("struct_ops") void BPF_PROG(tx_start, struct tcp_sock *tp) { cubictcp_cwnd_event_tx_start(tp); tp->snd_cwnd = 7; }
struct tcp_congestion_ops___newer {
    u32 (*ssthresh)(struct sock *);
    void (*cwnd_event)(struct sock *, u32);
    void (*cwnd_event_tx_start)(struct sock *);
    void (*cong_control)(struct sock *, u32, int, const void *);
    u32 (*undo_cwnd)(struct sock *);
    void (*init)(struct sock *);
    char name[16];
};
SEC(".struct_ops.link") struct tcp_congestion_ops___newer newer = {
    .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo_cwnd, .cong_control = (void *)cong_control,
    .cwnd_event = (void *)cwnd_event, .cwnd_event_tx_start = (void *)tx_start, .init = (void *)init,
    .name = "newer" };
char _license[] SEC("license") = "GPL";
"#;

#[test]
fn an_object_for_linux_7_1_learns_of_the_first_segment_in_flight_by_a_callback_of_its_own() {
    let Some(file) = objects::of(TEXT, "newer", &[]) else { return };
    let object = Object::new(&file).unwrap_or_else(|error| panic!("{error}"));
    let algorithm = object.algorithm(None).expect("the only one");
    assert!(algorithm.callbacks().any(|name| name == "cwnd_event_tx_start"));
    let mut connection = algorithm.connection();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    connection.observe(move |called: &Called| kept.lock().expect("alone").push(called.callback));
    connection.on_start(1448, 0);
    let mut w = Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    connection.on_restart(Time::from_ns(1_000_000), None, &mut w);
    assert_eq!((w.cwnd, connection.take_failure()), (7.0, None));
    assert_eq!(*seen.lock().expect("alone"), ["cwnd_event_tx_start"], "cwnd_event does not hear of it");
}

/// What a program is told of an idle time: the ticks since the last segment left.
const IDLE: &str = r#"
#include "kernel_types.h"
struct tcp_sock___sent { u32 lsndtime; } CO_RE;
static u64 (*ticks)(void) = (void *)118;
SEC("struct_ops") u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return tp->snd_cwnd / 2; }
SEC("struct_ops") u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }
SEC("struct_ops") void BPF_PROG(cong_control, struct tcp_sock *tp, u32 ack, int flag, const void *rs) { }
SEC("struct_ops") void BPF_PROG(cwnd_event, struct tcp_sock *tp, u32 event)
{ tp->snd_cwnd = 100 + (u32)ticks() - ((struct tcp_sock___sent *)tp)->lsndtime; }
SEC(".struct_ops.link") struct tcp_congestion_ops idle = {
    .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo_cwnd, .cong_control = (void *)cong_control,
    .cwnd_event = (void *)cwnd_event, .name = "idle" };
char _license[] SEC("license") = "GPL";
"#;

#[test]
fn a_program_sees_how_long_nothing_was_sent() {
    let Some(file) = objects::of(IDLE, "idle", &[]) else { return };
    let object = Object::new(&file).unwrap_or_else(|error| panic!("{error}"));
    let mut connection = object.algorithm(None).expect("the only one").connection();
    connection.on_start(1448, 0);
    let mut w = Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    let at = |ms: u64| Time::from_ns(1_000_000 * ms);
    connection.on_restart(at(500), Some(at(100)), &mut w);
    assert_eq!((w.cwnd, connection.take_failure()), (200.0, None), "400 ms are 100 ticks of 4 ms");
}
