//! Whether a live result can be trusted. Each pitfall of testbeds that Li, Leith and Shorten name is a check
//! (IEEE/ACM ToN 2007, section III: the router has to be the bottleneck, and congestion control has to be
//! what limits flows).

use crate::guided::is_guided;
use crate::hosts::{Hosts, UNSENT};
use crate::iperf::IperfReport;
use crate::path::{Count, ExplicitCounts};
use crate::planned::Planned;
use crate::rest::LATENESS;
use crate::router::Report;
use crate::sysctl::Sysctl;
use longfat_units::Interval;
use serde::Serialize;

/// Buffers may hold a flow back for at most this share of the time in which it has something to send (chosen
/// here).
const HELD_BACK: f64 = 0.02;
/// An iperf3 may take this many round trips and this many seconds to begin (chosen here), because it opens
/// its connections one after the other.
const BEGINNING: (f64, f64) = (3.0, 0.1);
/// A thread of the testbed may use at most this share of a processor (chosen here).
const PROCESSOR: f64 = 0.9;

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What is checked, with the unit of the value.
    pub name: String,
    /// Whether the check passes.
    pub ok: bool,
    /// The value measured.
    pub value: f64,
    /// The greatest value accepted.
    pub bound: f64,
}

/// All checks, and what else to know about a live run.
#[derive(Clone, Debug, Serialize)]
pub struct Validity {
    /// Whether all checks pass.
    pub valid: bool,
    /// The checks.
    pub checks: Vec<Check>,
    /// Lateness of the later router: median, 99th percentile, greatest, s.
    pub lateness_s: [f64; 3],
    /// The shares of a processor that the threads used: the data's router, the ACKs' router, the hosts.
    pub processor: Vec<f64>,
    /// Whether the routers' threads ran before others (SCHED_DEADLINE, SCHED_FIFO).
    pub realtime: bool,
    /// The kernel's algorithm for each flow and background source.
    pub congestion: std::collections::BTreeMap<String, String>,
    /// The settings of the hosts' TCP.
    pub sysctls: std::collections::BTreeMap<String, String>,
    /// What became of the explicit headers of each flow that has them.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub explicit: std::collections::BTreeMap<String, ExplicitReport>,
    /// What iperf3 reports about each flow that it has carried.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub iperf3: std::collections::BTreeMap<String, IperfReport>,
}

/// What became of a flow's explicit headers in the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct ExplicitReport {
    /// Acknowledgements that the receiver sent.
    pub acks: u64,
    /// Those that carried no header: it had nothing to tell, or there was no room.
    pub acks_without: u64,
    /// Those whose SACK blocks left no room for a header.
    pub acks_without_room: u64,
    /// XCP: bytes of feedback on the data that arrived at the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_bytes: Option<f64>,
    /// XCP: the same on the acknowledgements that the receiver sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub echoed_bytes: Option<f64>,
    /// XCP: the same on those that arrived at the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned_bytes: Option<f64>,
}

impl ExplicitReport {
    fn of(counts: &ExplicitCounts, algorithm: &str) -> Self {
        // other algorithms echo no sums
        let bytes = |parts: &Count| (algorithm == "xcp").then(|| parts.get() as i64 as f64 / 256.0);
        ExplicitReport {
            acks: counts.acks.get(),
            acks_without: counts.acks_without.get(),
            acks_without_room: counts.acks_without_room.get(),
            given_bytes: bytes(&counts.given),
            echoed_bytes: bytes(&counts.echoed),
            returned_bytes: bytes(&counts.returned),
        }
    }
}

/// What was counted where the router does not see it.
#[derive(Clone, Copy, Debug)]
pub struct Outside {
    /// Data segments that a flow's kernel sent but the router never received.
    pub missing: u64,
    /// Packets that the TUN devices dropped.
    pub device_drops: u64,
    /// The processor time of the hosts' thread.
    pub hosts_cpu: Interval,
    /// How long the run was, s.
    pub duration_s: f64,
}

impl Validity {
    /// Runs the checks on a run.
    pub fn of(
        plan: &Planned,
        hosts: &Hosts<'_>,
        routers: &[Report],
        outside: Outside,
        packet_bytes: u32,
        sysctls: &[Sysctl],
        iperf3: std::collections::BTreeMap<String, IperfReport>,
    ) -> Self {
        let share = |cpu: Interval| cpu.as_secs_f64() / outside.duration_s;
        let used = routers.iter().map(|router| router.cpu).chain([outside.hosts_cpu]);
        let processor: Vec<f64> = used.map(share).collect();
        let greatest = |of: &dyn Fn(&Report) -> f64| routers.iter().map(of).fold(0.0, f64::max);
        let percentile = |share| greatest(&|router| router.lateness.percentile_s(share).unwrap_or(0.0));
        let p99_s = percentile(0.99);
        let unread_s = greatest(&|router| router.unread.percentile_s(0.99).unwrap_or(0.0));
        let hosts_late_s = hosts.lateness.percentile_s(0.99).unwrap_or(0.0);
        let held_s = UNSENT.0.as_secs_f64(); // after that long, sockets run dry
        let memory = sysctls.iter().any(|(name, value)| name.ends_with("no_metrics_save") && value != "1");
        let mut checks = vec![
            check("packets dropped by the hosts' devices", outside.device_drops as f64, 0.0),
            check("data segments sent that never came to the router", outside.missing as f64, 0.0),
            check("packets that a host did not take", greatest(&|router| router.refused as f64), 0.0),
            check("lateness of the routers, 99th percentile, s", p99_s, LATENESS * plan.drain_s()),
            check("from a host's TCP to the router, 99th percentile, s", unread_s, LATENESS * plan.drain_s()),
            check(
                "largest packet, bytes",
                greatest(&|router| f64::from(router.largest_bytes)),
                f64::from(packet_bytes),
            ),
            check("settings remembered between connections", f64::from(u8::from(memory)), 0.0),
            check("processor used by one thread", processor.iter().copied().fold(0.0, f64::max), PROCESSOR),
        ];
        // without sockets of its own, nothing waits for this thread
        if !plan.run.flows.is_empty() || !plan.run.background.is_empty() {
            let bound = LATENESS * held_s.max(plan.drain_s());
            let late = check("lateness of the hosts, 99th percentile, s", hosts_late_s, bound);
            checks.insert(4, late);
        }
        for (flow, report) in &iperf3 {
            let used = report.processor.iter().copied().fold(0.0, f64::max);
            checks.push(check(&format!("processor used by an iperf3 of flow {flow}"), used, PROCESSOR));
            let Some(flow) = hosts.flows.iter().find(|each| each.name == *flow) else { continue };
            let end = flow.completed.map_or(outside.duration_s, longfat_units::Time::as_secs_f64);
            let late_s = end - flow.start.as_secs_f64() - report.seconds.unwrap_or(0.0);
            let bound = BEGINNING.0 * flow.rtt.as_secs_f64() + BEGINNING.1;
            checks.push(check(
                &format!("from the start of flow {} to its iperf3's, s", flow.name),
                late_s,
                bound,
            ));
        }
        let busy =
            plan.run.flows.iter().zip(&hosts.flows).filter(|(_, flow)| flow.info.busy > Interval::ZERO);
        for (planned, flow) in busy {
            // where the plan limits the receiver's window, it may well hold the flow back
            let by_receiver = if planned.connection.max_window.is_some() {
                Interval::ZERO
            } else {
                flow.info.receiver_limited
            };
            let held = by_receiver.as_secs_f64() + flow.info.buffer_limited.as_secs_f64();
            let name = format!("share of time that buffers held back flow {}", flow.name);
            checks.push(check(&name, held / flow.info.busy.as_secs_f64(), HELD_BACK));
        }
        let guided =
            plan.run.flows.iter().zip(&hosts.flows).filter(|(planned, _)| is_guided(&planned.connection));
        let explicit = guided
            .map(|(planned, flow)| {
                let report =
                    ExplicitReport::of(&flow.counts.explicit, planned.connection.algorithm.listed_name());
                (flow.name.clone(), report)
            })
            .collect();
        Validity {
            valid: checks.iter().all(|check| check.ok),
            checks,
            lateness_s: [percentile(0.5), p99_s, greatest(&|router| router.latest.as_secs_f64())],
            processor,
            realtime: routers.iter().all(|router| router.realtime),
            congestion: hosts.congestion().clone(),
            sysctls: sysctls.iter().cloned().collect(),
            explicit,
            iperf3,
        }
    }
}

fn check(name: &str, value: f64, bound: f64) -> Check {
    Check { name: name.to_owned(), ok: value <= bound, value, bound }
}
