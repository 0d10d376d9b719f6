//! Lines about a scenario that can be run: probable mistakes, and how to read its results.

use crate::forms::{Added, Algorithm, Carrier, DelaySteps, Ecn, Element, ElementKind, Rate};
use crate::network::{Network, parts};
use crate::problem::Refusal;
use crate::stacks;
use crate::tables::{Flow, Scenario, Transport, unlike};
use crate::text::general;
use crate::units::{RATE, TIME};
use longfat_net::queue;
use longfat_units::parameters::Value as Setting;
use std::collections::BTreeSet;

/// A trace that covers less than this share of a run ends long before it (chosen here).
const ENDS_EARLY: f64 = 0.9;
/// A shorter trace of a rate is a pattern that is meant to repeat, such as a constant rate, s (chosen here).
const PATTERN_S: f64 = 1.0;
/// A channel of a telephone network (ITU-T G.711), bit/s: traces of slower links are rare, wrong units are
/// not.
const SLOW_BPS: f64 = 64_000.0;
/// Delays that traces record are longer, s; in seconds instead of ms they are below it (chosen here).
const SHORT_DELAY_S: f64 = 1e-3;
/// The metrics that compare flows with each other.
const COMPARING: [&str; 3] = ["jain", "throughput_ratio", "convergence_80_s"];

/// Notes on settings that can be run but are probably mistakes.
pub fn warnings(scenario: &Scenario) -> Result<Vec<String>, Refusal> {
    let network = scenario.network()?;
    let mut found = Vec::new();
    for (key, buffer, rate_bps) in network.buffers() {
        let packets = network.packets(buffer, rate_bps);
        if packets < 1.0 {
            let (size, packets) = (buffer.written(), general(packets, 3));
            found.push(format!("{key} = \"{size}\" is {packets} packets; 1 packet is used"));
        }
    }
    slow_ticks(scenario, &network, &mut found);
    for (number, flow) in scenario.flow.iter().enumerate() {
        let least_s = flow.start.least();
        if least_s >= scenario.duration {
            found.push(format!("flow.{number} starts at {}, not before the run's end", TIME.write(least_s)));
        }
    }
    Ok(found)
}

/// Links whose buffer a tick's worth of packets overfills, so that they lose some of every burst.
fn slow_ticks(scenario: &Scenario, network: &Network<'_>, found: &mut Vec<String>) {
    for (key, buffer, rate_bps) in network.buffers() {
        let table = key.rsplit_once('.').map_or("", |(table, _)| table);
        let tick_s =
            match (&scenario.bottleneck, table.strip_prefix("link.").and_then(|n| n.parse::<usize>().ok())) {
                (_, Some(number)) => scenario.link[number].service_tick,
                (Some(bottleneck), None) => bottleneck.service_tick,
                (None, None) => 0.0,
            };
        let drained_s = network.packets(buffer, rate_bps) * network.packet_bytes * 8.0 / rate_bps;
        if tick_s > drained_s {
            found.push(format!(
                "{table}.service_tick = \"{}\" is longer than {key} takes to drain, {}: a tick can hand out more \
                 than fits",
                TIME.write(tick_s),
                short_time(drained_s, 3)
            ));
        }
    }
}

/// Lines to know when reading the results.
pub fn notes(scenario: &Scenario) -> Result<Vec<String>, Refusal> {
    let network = scenario.network()?;
    let mut found = Vec::new();
    for (number, flow) in scenario.flow.iter().enumerate() {
        of_flow(number, flow, &network, &mut found);
        of_l4s(number, flow, &network.queues(number), &mut found);
        of_ebpf(number, flow, &mut found);
    }
    let links = scenario.link.iter().enumerate();
    let links = links.map(|(number, link)| (format!("link.{number}"), &link.rate, &link.added_delay));
    let shared = scenario.bottleneck.iter();
    let shared = shared.map(|link| ("bottleneck".to_owned(), &link.rate, &link.added_delay));
    for (key, rate, added) in links.chain(shared) {
        of_traces(&key, rate, added.as_ref(), scenario.duration, &mut found);
    }
    Ok(found)
}

/// The metrics that compare flows, if these flows do not cross the same links; else none.
pub fn meaningless_metrics(scenario: &Scenario) -> Result<&'static [&'static str], Refusal> {
    let network = scenario.network()?;
    let ways: BTreeSet<BTreeSet<usize>> = scenario
        .flow
        .iter()
        .zip(&network.flows)
        .map(|(flow, path)| if flow.is_reverse() { &path.reverse } else { &path.forward })
        .map(|links| links.iter().copied().collect())
        .collect();
    Ok(if ways.len() > 1 { &COMPARING } else { &[] })
}

fn short_time(seconds: f64, digits: usize) -> String {
    TIME.write(general(seconds, digits).parse().unwrap_or(seconds))
}

/// Notes on traces that end early, or that seem to have another unit.
fn of_traces(key: &str, rate: &Rate, added: Option<&Added>, duration_s: f64, found: &mut Vec<String>) {
    let (whole, time) = (TIME.write(duration_s), |seconds: f64| short_time(seconds, 4));
    let period_s = rate.repeats_after_s();
    let repeating_s = period_s.filter(|&s| (PATTERN_S..ENDS_EARLY * duration_s).contains(&s));
    if let Some(period_s) = repeating_s {
        found.push(format!(
            "{key}.rate repeats its trace, which lasts {}; the run lasts {whole}",
            time(period_s)
        ));
    }
    if period_s.is_some() && rate.bps() < SLOW_BPS {
        let mean = RATE.write(general(rate.bps(), 3).parse().unwrap_or_else(|_| rate.bps()));
        found.push(format!(
            "{key}.rate is {mean} on average: a line of a trace is a time in ms, at which 1500 bytes leave; this \
             file may have another unit"
        ));
    }
    let Some(Added::Steps(DelaySteps { steps, source: Some(_) })) = added else { return };
    let (end_s, last_s) = steps.last().copied().unwrap_or_default();
    let longest_s = steps.iter().map(|step| step.1).fold(0.0, f64::max);
    if end_s < ENDS_EARLY * duration_s {
        found.push(format!(
            "the trace of {key}.added_delay ends at {}; its last delay, {}, holds until the end of the run, {whole}",
            time(end_s),
            time(last_s)
        ));
        if let Some(period_s) = repeating_s {
            found.push(format!(
                "{key} repeats its trace of the rate, but not that of the delay: after the first {} a rate and a \
                 delay are not of the same moment",
                time(end_s.min(period_s))
            ));
        }
    }
    if 0.0 < longest_s && longest_s < SHORT_DELAY_S {
        found.push(format!(
            "{key}.added_delay is {} at most: a trace has times and delays in ms; this file may have another unit",
            time(longest_s)
        ));
    }
}

/// Notes on a flow that sends ECT(1): queues and responses that are not those of L4S.
fn of_l4s(number: usize, flow: &Flow, queues: &[&Element], found: &mut Vec<String>) {
    if flow.ecn != Ecn::L4s && !flow.algorithm.sends_ect1() {
        return;
    }
    let what = format!("flow.{number} ({}) sends ECT(1)", flow.algorithm.name());
    let knows = |element: &&&Element| queue::find(element.kind).is_some_and(|row| row.l4s);
    if !queues.iter().any(|element| knows(&element)) {
        let able: Vec<String> =
            queue::disciplines().filter(|row| row.l4s).map(|row| format!("\"{}\"", row.name)).collect();
        found.push(format!("{what}, but no queue on its way knows L4S; these do: {}", able.join(", ")));
    }
    if !flow.algorithm.is_scalable() {
        found.push(format!(
            "{what}, but its response to marks is not the scalable one of L4S (RFC 9331, 4.3)"
        ));
    }
}

/// A note on an object with a kernel's algorithm whose host is not the kernel's.
fn of_ebpf(number: usize, flow: &Flow, found: &mut Vec<String>) {
    let Some(linux) = stacks::STACKS.iter().find(|stack| stack.name == "linux") else { return };
    let keys: Vec<&'static str> = linux.keys_for(None).into_iter().map(|(key, _)| key).collect();
    if flow.algorithm.is_ebpf() && !unlike(&flow.transport, linux, &keys).is_empty() {
        let name = flow.algorithm.name();
        let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
        found.push(format!(
            "flow.{number} ({file}) is a Linux kernel's algorithm on another host; suggested: stack = \"{}\"",
            linux.name
        ));
    }
}

fn of_flow(number: usize, flow: &Flow, network: &Network<'_>, found: &mut Vec<String>) {
    let (key, name, routers) = (format!("flow.{number}"), flow.algorithm.name(), network.routers(number));
    let links = |wanted: &dyn Fn(Option<&Element>) -> bool| {
        let names: Vec<&str> =
            routers.iter().filter(|(_, router)| wanted(*router)).map(|(link, _)| *link).collect();
        if names.is_empty() { None } else { Some(names.join(", ")) }
    };
    if flow.algorithm.protocol().is_some() {
        let own = name.strip_suffix("-r").unwrap_or(name);
        if let Some(bare) = links(&|router| router.is_none()) {
            found.push(format!("{key} ({name}) crosses links without a router: {bare}"));
        }
        if let Some(foreign) = links(&|router| router.is_some_and(|router| protocol(router) != own)) {
            found.push(format!("{key} ({name}) crosses routers of another protocol: {foreign}"));
        }
    }
    if flow.abe && flow.ecn == Ecn::Off {
        found.push(format!("{key}: abe = true has no effect without ecn = true"));
    }
    other_intervals(&key, &flow.algorithm, &routers, found);
    let is_not = |kind: &'static str| move |router: Option<&Element>| router.is_none_or(|r| r.kind != kind);
    if name == "cadpc"
        && let Some(mute) = links(&is_not("ptp"))
    {
        found.push(format!("{key} (cadpc) learns nothing of links without a PTP router: {mute}"));
    }
    if flow.quick_start.is_some()
        && let Some(deaf) = links(&is_not("quickstart"))
    {
        found.push(format!(
            "{key} asks for a rate by Quick-Start, but routers on its way take no part: {deaf}"
        ));
    }
}

/// The parameter of a router, its default if it is not given.
fn parameter(router: &Element, name: &str) -> Option<Setting> {
    let row = ElementKind::Router.find(router.kind, "").ok()?;
    router.filled(row).into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The protocol that a router speaks with hosts: its own name, or the one that it drives.
fn protocol(router: &Element) -> String {
    match parameter(router, "protocol") {
        Some(Setting::Word(word)) => word,
        _ => router.kind.to_owned(),
    }
}

/// A note of VCP's t_rho, which its senders and its routers each have for themselves.
fn other_intervals(
    key: &str,
    algorithm: &Algorithm,
    routers: &[(&str, Option<&Element>)],
    found: &mut Vec<String>,
) {
    let Some(own) = algorithm.number("interval").filter(|_| algorithm.name() == "vcp") else { return };
    let measured = |router: &Element| match parameter(router, "interval") {
        Some(Setting::Number(ms)) if router.kind == "vcp" && ms != own => Some(ms),
        _ => None,
    };
    let unlike: Vec<String> = routers
        .iter()
        .filter_map(|(link, router)| Some(format!("{link} ({} ms)", general(measured((*router)?)?, 6))))
        .collect();
    if !unlike.is_empty() {
        found.push(format!(
            "{key} (vcp) scales by an interval of {} ms, routers on its way measure over another: {}",
            general(own, 6),
            unlike.join(", ")
        ));
    }
}

/// The names of stacks, each with the keys in which a connection differs from it.
pub type Exceptions = Vec<(&'static str, Vec<&'static str>)>;

/// The keys of stacks in which each flow and background over TCP differs from each stack.
pub fn unlike_stacks(scenario: &Scenario) -> Vec<(String, Exceptions)> {
    let keys = stacks::preset_keys();
    let of = |part: &Transport| {
        stacks::STACKS.iter().map(|stack| (stack.name, unlike(part, stack, &keys))).collect()
    };
    let over_tcp = parts(scenario).filter(|(_, part)| part.algorithm.carrier() == Carrier::Tcp);
    over_tcp.map(|(key, part)| (key.to_string(), of(&part.transport))).collect()
}
