//! Objects that others wrote, run unmodified: the kernel's own selftests (tools/testing/selftests/bpf/progs),
//! built outside of this repository. LONGFAT_EBPF_OBJECTS names the folder with `bpf_cubic.bpf.o`,
//! `bpf_cc_cubic.bpf.o` and `bpf_dctcp.bpf.o`; without it the tests are skipped. To build them: unpack
//! Debian's linux-source-6.12, and compile each file with `clang -target bpf -mcpu=v3 -O2 -g
//! -D__TARGET_ARCH_x86`, a `vmlinux.h` and `progs` among the folders of headers.

#![allow(clippy::expect_used, reason = "a test may panic")]

use longfat_bpf_vm::{Connection, Object};
use longfat_transport::cc::{
    Ack, Cause, Congestion, CongestionControl, Delivery, MarkSample, Opening, Repair, Window,
};
use longfat_units::{Interval, Time};

const MSS: u32 = 1448;

fn object(name: &str) -> Option<Object> {
    let Ok(folder) = std::env::var("LONGFAT_EBPF_OBJECTS") else {
        eprintln!("skipped: LONGFAT_EBPF_OBJECTS is not set");
        return None;
    };
    let file = std::fs::read(std::path::Path::new(&folder).join(name)).expect("a file of the folder");
    Some(Object::new(&file).unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn open_window() -> Window {
    Window { cwnd: 10.0, ssthresh: f64::INFINITY, max_ssthresh: f64::INFINITY }
}

/// A flow alone at 20 Mbit/s and 50 ms, with a queue of one BDP: each acknowledgement covers one segment.
struct Flow {
    connection: Connection,
    w: Window,
    now_ns: u64,
    delivered: u64,
    marks: bool,
    /// The window before the last loss or mark.
    peak: f64,
}

const RATE: f64 = 1727.0;
const BASE_NS: u64 = 50_000_000;
const BDP: f64 = 86.0;

impl Flow {
    fn new(connection: Connection) -> Self {
        let mut flow = Flow {
            connection,
            w: open_window(),
            now_ns: 1_000_000_000,
            delivered: 0,
            marks: false,
            peak: 0.0,
        };
        flow.connection.on_start(MSS, 0);
        if flow.connection.properties().model_based {
            let rtt = Some(Interval::from_ns(BASE_NS));
            let opening = Opening { now: Time::from_ns(flow.now_ns), rtt, selective: true };
            flow.connection.on_open(&opening, &mut flow.w);
        }
        flow
    }

    /// One round trip; a loss, or a mark, when the queue is full. Returns whether there was one.
    fn round_trip(&mut self) -> bool {
        let queue = (self.w.cwnd - BDP).max(0.0);
        let rtt = Interval::from_ns(BASE_NS + (queue / RATE * 1e9) as u64);
        let acks = self.w.cwnd as u64;
        for _ in 0..acks {
            self.now_ns += rtt.as_ns() / acks;
            self.delivered += 1;
            self.acknowledge(rtt);
            assert_eq!(self.connection.take_failure(), None);
        }
        let full = self.w.cwnd > 2.0 * BDP;
        if full {
            let cause = if self.marks { Cause::Mark } else { Cause::Loss };
            let now = Time::from_ns(self.now_ns);
            self.peak = self.w.cwnd;
            let in_flight = self.w.cwnd;
            let event =
                Congestion { cause, now, in_flight, srtt: rtt, base_rtt: Some(Interval::from_ns(BASE_NS)) };
            self.connection.on_congestion(&event, &mut self.w);
            if !self.connection.properties().model_based {
                self.w.cwnd = self.w.ssthresh;
                self.connection.on_recovered(now, &mut self.w);
            }
            assert_eq!(self.connection.take_failure(), None);
        }
        full
    }

    fn acknowledge(&mut self, rtt: Interval) {
        let now = Time::from_ns(self.now_ns);
        let ack = Ack {
            now,
            acked: 1.0,
            newly_delivered: 1,
            rtt: Some(rtt),
            srtt: rtt,
            base_rtt: Some(Interval::from_ns(BASE_NS)),
            one_way_delay: None,
            in_flight: self.w.cwnd - 1.0,
            delivered: self.delivered,
            next_segment: self.delivered + self.w.cwnd as u64 - 1,
            unacknowledged: self.delivered,
            may_grow: true,
        };
        if self.marks {
            let marked = u64::from(self.delivered.is_multiple_of(4));
            let (next_segment, unacknowledged) = (ack.next_segment, ack.unacknowledged);
            let sample = MarkSample { now, delivered: 1, marked, next_segment, unacknowledged, srtt: rtt };
            self.connection.on_marks(&sample, &mut self.w);
        }
        if self.connection.properties().samples {
            self.connection.on_sample(&ack);
        }
        if !self.connection.properties().model_based {
            return self.connection.on_ack(&ack, &mut self.w);
        }
        let delivery = Delivery {
            now,
            rate: Some(RATE),
            delivered: 80,
            prior_delivered: Some(self.delivered.saturating_sub(80)),
            app_limited: false,
            tx_in_flight: 80,
            lost: 0,
            rtt: Some(rtt),
            left: Some(now - rtt),
            newly_delivered: 1,
            newly_lost: 0,
            total_delivered: self.delivered,
            total_lost: 0,
            prior_in_flight: self.w.cwnd as u64,
            in_flight: self.w.cwnd as u64 - 1,
            srtt: rtt,
            next_departure: now,
            window_limited: true,
            may_grow: true,
            source_limited: false,
            repair: Repair::None,
        };
        self.connection.on_delivery(&delivery, &mut self.w);
    }
}

#[test]
fn the_kernels_bpf_cubic_leaves_slow_start_by_delay_and_grows_to_the_last_maximum() {
    let Some(object) = object("bpf_cubic.bpf.o") else { return };
    let mut flow = Flow::new(object.algorithm(None).expect("one").connection());
    for _ in 0..7 {
        flow.round_trip();
    }
    assert!(flow.w.ssthresh < 200.0, "HyStart ends slow-start before the queue is full: {:?}", flow.w);
    while !flow.round_trip() {}
    // CUBIC leaves 717/1024 of the window
    let (peak, left) = (flow.peak, flow.w.cwnd);
    assert!((left / peak / (717.0 / 1024.0) - 1.0).abs() < 0.01, "{left} of {peak}");
    let began_ns = flow.now_ns;
    while !flow.round_trip() {}
    // W(t) = C (t - K)^3 + W_max with K = cbrt(W_max (1 - beta) / C), until the queue is full again
    let cbrt = longfat_units::math::cbrt;
    let k = cbrt(peak * (1.0 - 717.0 / 1024.0) / 0.4);
    let expected_s = k - cbrt((peak - 2.0 * BDP).max(0.0) / 0.4);
    let took_s = (flow.now_ns - began_ns) as f64 / 1e9;
    assert!((took_s / expected_s - 1.0).abs() < 0.1, "{took_s} s, not {expected_s} s");
}

#[test]
fn the_kernels_bpf_cc_cubic_paces_and_grows_with_the_simulators_cubic() {
    let Some(object) = object("bpf_cc_cubic.bpf.o") else { return };
    let algorithm = object.algorithm(None).expect("one");
    assert!(algorithm.is_model_based());
    let mut flow = Flow::new(algorithm.connection());
    while !flow.round_trip() {}
    assert!(flow.w.ssthresh < 150.0, "{:?}", flow.w);
}

#[test]
fn the_kernels_bpf_dctcp_learns_the_share_of_marks() {
    let Some(object) = object("bpf_dctcp.bpf.o") else { return };
    assert!(object.algorithm(Some("bpf_dctcp_nouse")).is_err(), "it lacks what the kernel requires");
    let algorithm = object.algorithm(None).expect("the other one");
    assert!(algorithm.needs_ecn());
    let mut flow = Flow::new(algorithm.connection());
    flow.marks = true;
    while !flow.round_trip() {}
    // alpha began at 1; in five round trips of slow-start it fell towards 1/4 with g = 1/16
    let share = 2.0 * (1.0 - flow.w.cwnd / flow.peak);
    assert!((0.70..0.85).contains(&share), "{share}");
    for _ in 0..8 {
        while !flow.round_trip() {}
    }
    let share = 2.0 * (1.0 - flow.w.cwnd / flow.peak);
    assert!((share - 0.25).abs() < 0.03, "a quarter is marked, but alpha is {share}");
}
