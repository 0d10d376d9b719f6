//! CUBIC's functions of the kernel, called by an object that drives them its own way.

#![allow(clippy::expect_used, reason = "a test may panic")]

mod objects;

use longfat_bpf_vm::Object;
use longfat_transport::cc::{Ack, Cause, Congestion, CongestionControl, Delivery, Opening, Repair, Window};
use longfat_units::{Interval, Time};

/// Each acknowledgement takes a segment from the window, as in a recovery that sends nothing.
const TEXT: &str = r#"
#include "kernel_types.h"
extern void cubictcp_init(struct tcp_sock *tp) __ksym;
extern void cubictcp_acked(struct tcp_sock *tp, const struct ack_sample *sample) __ksym;
extern u32 cubictcp_recalc_ssthresh(struct tcp_sock *tp) __ksym;
SEC("struct_ops") void BPF_PROG(init, struct tcp_sock *tp) { cubictcp_init(tp); }
SEC("struct_ops") u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return cubictcp_recalc_ssthresh(tp); }
SEC("struct_ops") u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }
SEC("struct_ops") void BPF_PROG(acked, struct tcp_sock *tp, const struct ack_sample *sample)
{ cubictcp_acked(tp, sample); }
SEC("struct_ops") void BPF_PROG(control, struct tcp_sock *tp, u32 ack, int flag, const void *rs)
{ tp->snd_cwnd = tp->snd_cwnd - 1; }
SEC(".struct_ops.link") struct tcp_congestion_ops driven = {
    .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo_cwnd, .cong_control = (void *)control,
    .pkts_acked = (void *)acked, .init = (void *)init, .name = "driven" };
char _license[] SEC("license") = "GPL";
"#;

const fn ms(ms: u64) -> Interval {
    Interval::from_millis(ms)
}

fn ack(now: Time, rtt: Interval) -> Ack {
    Ack {
        now,
        acked: 0.0,
        newly_delivered: 1,
        rtt: Some(rtt),
        srtt: rtt,
        base_rtt: Some(ms(25)),
        one_way_delay: None,
        in_flight: 40.0,
        delivered: 100,
        next_segment: 200,
        unacknowledged: 100,
        may_grow: true,
    }
}

fn delivery(now: Time, rtt: Interval) -> Delivery {
    Delivery {
        now,
        rate: None,
        delivered: 1,
        prior_delivered: None,
        app_limited: false,
        tx_in_flight: 40,
        lost: 0,
        rtt: Some(rtt),
        left: Some(now - rtt),
        newly_delivered: 1,
        newly_lost: 0,
        total_delivered: 100,
        total_lost: 1,
        prior_in_flight: 41,
        in_flight: 40,
        srtt: rtt,
        next_departure: now,
        window_limited: true,
        may_grow: true,
        source_limited: false,
        repair: Repair::Recovery,
    }
}

/// Linux, hystart_update: a train of acknowledgements at most 2 ms apart that is longer than half of the
/// least delay and 1 ms, here (25 + 1) / 2 ms from the first one at 1 ms on.
#[test]
fn a_recovery_below_ssthresh_lowers_it_to_the_window_once_a_train_of_acknowledgements_is_long() {
    let Some(file) = objects::of(TEXT, "driven", &[]) else { return };
    let object = Object::new(&file).unwrap_or_else(|error| panic!("{error}"));
    let mut connection = object.algorithm(None).expect("the only one").connection();
    connection.on_start(1448, 0);
    let mut w = Window { cwnd: 51.0, ssthresh: 84.0, max_ssthresh: f64::INFINITY };
    connection.on_open(&Opening { now: Time::ZERO, rtt: None, selective: true }, &mut w);
    let mut lowered = None;
    for i in 1..30 {
        let (now, rtt) = (Time::ZERO + ms(i), if i == 1 { ms(25) } else { ms(50) });
        let before = w.cwnd;
        connection.on_sample(&ack(now, rtt));
        connection.on_delivery(&delivery(now, rtt), &mut w);
        assert_eq!(connection.take_failure(), None);
        if w.ssthresh < 84.0 {
            lowered = lowered.or(Some((i, before, w.ssthresh)));
        }
    }
    assert_eq!(lowered, Some((15, 37.0, 37.0)), "at the window that the acknowledgement found");
}

/// Lets CUBIC's own functions grow the window, and hear of idle times.
const RESUMING: &str = r#"
#include "kernel_types.h"
extern void cubictcp_init(struct tcp_sock *tp) __ksym;
extern void cubictcp_cong_avoid(struct tcp_sock *tp, u32 ack, u32 acked) __ksym;
extern void cubictcp_cwnd_event(struct tcp_sock *tp, u32 event) __ksym;
extern void cubictcp_acked(struct tcp_sock *tp, const struct ack_sample *sample) __ksym;
extern u32 cubictcp_recalc_ssthresh(struct tcp_sock *tp) __ksym;
SEC("struct_ops") void BPF_PROG(init, struct tcp_sock *tp) { cubictcp_init(tp); }
SEC("struct_ops") u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return tp->snd_cwnd = cubictcp_recalc_ssthresh(tp); }
SEC("struct_ops") u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }
SEC("struct_ops") void BPF_PROG(event, struct tcp_sock *tp, u32 event) { cubictcp_cwnd_event(tp, event); }
SEC("struct_ops") void BPF_PROG(acked, struct tcp_sock *tp, const struct ack_sample *sample)
{ cubictcp_acked(tp, SAMPLE); }
SEC("struct_ops") void BPF_PROG(control, struct tcp_sock *tp, u32 ack, int flag, const void *rs)
{ cubictcp_cong_avoid(tp, ack, 10); }
SEC(".struct_ops.link") struct tcp_congestion_ops resuming = {
    .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo_cwnd, .cong_control = (void *)control,
    .pkts_acked = (void *)acked, .cwnd_event = (void *)event, .init = (void *)init, .name = "resuming" };
char _license[] SEC("license") = "GPL";
"#;

/// The window 4 s after a loss at 1000 segments, without what was idle after the first 2 s; and why it ended.
fn resumed(object: &Object, idle: Interval) -> (f64, Option<String>) {
    let mut connection = object.algorithm(None).expect("the only one").connection();
    connection.on_start(1448, 0);
    let mut w = Window { cwnd: 1000.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY };
    let (opened, rtt) = (Time::ZERO, ms(100));
    connection.on_open(&Opening { now: opened, rtt: None, selective: true }, &mut w);
    let loss =
        Congestion { cause: Cause::Loss, now: opened, in_flight: 1000.0, srtt: rtt, base_rtt: Some(rtt) };
    connection.on_congestion(&loss, &mut w);
    let mut now = opened;
    for i in 0..400 {
        if i == 200 {
            let last_sent = now;
            now += idle;
            connection.on_restart(now, Some(last_sent), &mut w);
        }
        now += ms(10);
        connection.on_sample(&ack(now, rtt));
        connection.on_delivery(&delivery(now, rtt), &mut w);
    }
    (w.cwnd, connection.take_failure())
}

#[test]
fn an_idle_time_does_not_let_the_window_jump_to_where_the_curve_would_be() {
    let Some(file) = objects::of(RESUMING, "resuming", &["-DSAMPLE=sample"]) else { return };
    let object = Object::new(&file).unwrap_or_else(|error| panic!("{error}"));
    let (steady, failure) = resumed(&object, Interval::ZERO);
    assert_eq!(failure, None);
    assert!((750.0..1000.0).contains(&steady), "{steady}");
    let (paused, _) = resumed(&object, ms(4000));
    assert!((paused - steady).abs() <= 2.0, "{paused} after an idle time, {steady} without");
}

#[test]
fn only_the_sample_of_an_acknowledgement_is_accepted_as_one() {
    let Some(file) = objects::of(RESUMING, "sampled", &["-DSAMPLE=0"]) else { return };
    let object = Object::new(&file).unwrap_or_else(|error| panic!("{error}"));
    let (_, failure) = resumed(&object, Interval::ZERO);
    let failure = failure.expect("no sample");
    assert!(
        failure.ends_with("cubictcp_acked: passes 0x0 where the sample of an acknowledgement is expected"),
        "{failure}"
    );
}
