//! Runs cases of the reference work and prints, one line of JSON each, what a packet cost.
//!
//!     reference [CASE]... [--plan FILE] [--seconds S] [--sample S] [--flows N] [--bottleneck KIND]
//!               [--oracle] [--list]
//!
//! `--bottleneck` takes the place of drop-tail at a constant rate. A queue's name gives the bottleneck this
//! queue. Three kinds are no queues' names: with `steps` and `sine` the link's rate varies; `xcp` gives the
//! link a router, and all flows its algorithm.
//!
//! In `w4` the kind is a form of marking: `step` as in the DCTCP paper, or `ramp` as in ns-3's example.
//!
//! `--plan` runs a plan as it is, in JSON (`longfat.Scenario.load(file).plan` in Python has it).
//!
//! `ns_per_packet` is for a data packet that leaves the first link, `ns_per_packet_hop` for a data packet
//! and each link that it crosses. `transmissions_per_s` counts all packets on all links, acknowledgements
//! too, for a second of CPU time: the PTS of Fujimoto et al. (Large-Scale Network Simulation: How Big? How
//! Fast?, MASCOTS 2003), who divide by wall-clock time. Hosts' own links do not count.
//!
//! Times are CPU times of this process, so that a busy machine disturbs them little. `setup_s` goes from the
//! text of the plan to a simulation that is ready; `user_s` and `system_s` are the run itself. The peak of
//! the memory is that of the process so far: to compare it between cases, run them one by one.

mod cases;
#[path = "../../../scenario/tests/plan_of/mod.rs"]
mod plan_of;

use cases::{Case, Network};
use longfat_sim::{Plan, Simulation};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde_json::{Value, json};
use std::error::Error;
use std::process::ExitCode;

fn seconds(t: TimeVal) -> f64 {
    t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6
}

/// User and system CPU seconds of this process.
fn cpu_s() -> Result<(f64, f64), Box<dyn Error>> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    Ok((seconds(usage.user_time()), seconds(usage.system_time())))
}

/// Peak resident memory of this process; unlike getrusage's, it does not count the process that started it.
fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

/// Whether data cross a link, for each link; in these cases no link has both data and acknowledgements.
fn carry_data(plan: &Plan) -> Vec<bool> {
    let flows = plan.flows.iter().map(|flow| &flow.connection);
    let connections = flows.chain(plan.background.iter().map(|source| &source.flow));
    let mut carry = vec![false; plan.links.len()];
    for &link in connections.flat_map(|connection| &connection.forward) {
        if let Some(carries) = carry.get_mut(link) {
            *carries = true;
        }
    }
    carry
}

fn run(case: &Case, fast: bool) -> Result<Value, Box<dyn Error>> {
    let text = case.plan(fast);
    let begin = cpu_s()?;
    let plan = Plan::from_json(&text)?;
    let carry_data = carry_data(&plan);
    let simulation = Simulation::new(plan.check()?, &mut |_| None)?;
    let ready = cpu_s()?;
    let done = simulation.run(&mut || true)?;
    let end = cpu_s()?;
    let (summary, packets) = (&done.summary, done.summary.packets as f64);
    let user_s = end.0 - ready.0;
    // those that wait at the end count too, and hardly change anything
    let sent = summary.links.iter().map(|link| link.packets_in - link.packets_dropped);
    let transmissions = sent.clone().sum::<u64>();
    let packet_hops = sent.zip(carry_data).filter_map(|(sent, data)| data.then_some(sent)).sum::<u64>();
    let (bottleneck, flows, web) = (&summary.links[0], &summary.flows, &summary.background);
    Ok(json!({"case": case.name, "title": case.title, "flows": case.flows, "duration_s": case.duration_s,
        "bottleneck": case.bottleneck, "fast": fast,
        "packets": summary.packets, "events": done.events_handled,
        "events_per_packet": done.events_handled as f64 / packets,
        "setup_s": ready.0 + ready.1 - begin.0 - begin.1, "user_s": user_s, "system_s": end.1 - ready.1,
        "ns_per_packet": user_s * 1e9 / packets,
        "packet_hops": packet_hops, "transmissions": transmissions,
        "ns_per_packet_hop": user_s * 1e9 / packet_hops as f64,
        "transmissions_per_s": transmissions as f64 / user_s,
        "peak_memory_kib": peak_memory_kib(),
        "utilization": bottleneck.utilization,
        "packets_dropped": bottleneck.packets_dropped + bottleneck.packets_lost,
        "retransmits": flows.iter().map(|f| f.retransmits).sum::<u64>(),
        "timeouts": flows.iter().map(|f| f.timeouts).sum::<u64>(),
        "transfers": web.iter().map(|b| b.transfers_completed).sum::<u64>()}))
}

struct Asked {
    cases: Vec<Case>,
    fast: bool,
    list: bool,
}

fn asked(mut arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let known = cases::all();
    let (mut chosen, mut fast, mut list) = (Vec::new(), true, false);
    let (mut time, mut sample, mut flows, mut bottleneck) = (None, None, None, None);
    let span = |word: &str, given: Option<String>| {
        let given = given.and_then(|x| x.parse::<f64>().ok()).filter(|&s| s > 0.0);
        given.ok_or(format!("{word}: give simulated seconds above 0"))
    };
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--oracle" => fast = false,
            "--list" => list = true,
            "--seconds" => time = Some(span(&word, arguments.next())?),
            "--sample" => sample = Some(span(&word, arguments.next())?),
            "--bottleneck" => bottleneck = Some(arguments.next().ok_or("--bottleneck: give its kind")?),
            "--plan" => {
                let file = arguments.next().ok_or("--plan: give a file")?;
                let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
                chosen.extend(known.first().map(|case| case.clone().of_plan(text)));
            }
            "--flows" => {
                let given = arguments.next().and_then(|x| x.parse::<u32>().ok()).filter(|&n| n > 0);
                flows = Some(given.ok_or("--flows: give 1 or more")?);
            }
            name => match known.iter().find(|c| c.name == name) {
                Some(case) => chosen.push(case.clone()),
                None => {
                    let names: Vec<_> = known.iter().map(|c| c.name).collect();
                    return Err(format!("there is no case {name:?}; there are {}", names.join(", ")));
                }
            },
        }
    }
    if chosen.is_empty() {
        chosen = known;
    }
    for case in &chosen {
        if flows.is_some() && case.network == Network::Figure17 {
            return Err(format!("{}: the number of flows belongs to the network", case.name));
        }
        let form = bottleneck.as_ref().unwrap_or(&case.bottleneck);
        if case.network == Network::Figure17 && form != "step" && form != "ramp" {
            return Err(format!("{}: --bottleneck takes step or ramp", case.name));
        }
    }
    let change = |case: Case| {
        let case = if let Some(n) = flows { case.with_flows(n) } else { case };
        Case {
            duration_s: time.unwrap_or(case.duration_s),
            sample_s: sample.unwrap_or(case.sample_s),
            bottleneck: bottleneck.clone().unwrap_or(case.bottleneck),
            ..case
        }
    };
    Ok(Asked { cases: chosen.into_iter().map(change).collect(), fast, list })
}

fn main() -> ExitCode {
    let asked = match asked(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    for case in &asked.cases {
        if asked.list {
            println!("{}", json!({"case": case.name, "title": case.title}));
            continue;
        }
        match run(case, asked.fast) {
            Ok(line) => println!("{line}"),
            Err(why) => {
                eprintln!("{}: {why}", case.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
