//! About how much memory a run takes at most.
//!
//! The estimate is made from a plan, before the run: every packet of the first windows, on the way and in
//! full queues, every connection that may be open at once, every sample and event. It is an upper bound of
//! what the scenario itself asks for; what an algorithm of one's own does with its window is not in it.

mod largest;

use crate::forms::{Added, Drawn};
use crate::occupancy::{self, Larger, Path};
use crate::plan::{
    ConnectionPlan, DisturbancePlan, Habits, LinkPlan, Plan, QueuePlan, SizesPlan, SurgePlan, TrafficPlan,
};
use crate::sums::sum;
use longfat_net::LossModel;
use longfat_transport::cc::LossDetection;
use longfat_units::math;

pub use largest::largest_within;

// Bytes of one of each, above what runs with many of them were measured to take.

/// Any run: 3 to 4 MB were measured, of the core's code and of what Python makes of the summary; the rest is
/// what the allocator keeps.
const RUN: f64 = 5.3e6;
/// A packet that waits, bytes: 48 in a ring that doubles, and what its sender keeps; 100 were measured.
pub const PACKET: f64 = 165.0;
/// A packet in flight: the same, with SACK blocks on the way back after a loss; up to 330 were measured.
const FLIGHT: f64 = 340.0;
/// A flow of the plan with its first samples: 7500 were measured.
const FLOW: f64 = 7900.0;
/// An open connection of a background, without its first window: 3110 were measured.
const CONNECTION: f64 = 3200.0;
/// What a flow or connection needs besides for each of the first [`BUSY_PACKETS`] packets in flight, as its
/// lists grow: 500 were measured for one packet, and 2400 for five on a path that loses every twentieth.
const BUSY: f64 = 500.0;
const BUSY_PACKETS: f64 = 5.0;
/// What a busy flow with this algorithm needs besides, as measured: lists of rates, delays, what was sent.
const BUSY_WITH: &[(&str, f64)] =
    &[("bbr", 6e3), ("bbr3", 6e3), ("copa", 4.5e3), ("cbr", 4.5e3), ("onoff", 4.5e3), ("udt", 60e3)];
/// What a connection whose losses RACK finds needs besides, and a busy one: 960 and 3200 were measured.
const RACK: f64 = 1100.0;
const RACK_BUSY: f64 = 3500.0;
/// A session or source that opens connections: about 300 were measured.
const SESSION: f64 = 330.0;
/// A complete connection: 56 bytes in a list, then five columns of 8 bytes.
const TRANSFER: f64 = 96.0;
/// A sample of a flow: ten columns of 8 bytes. At the end, those of one flow at a time are there twice.
const FLOW_SAMPLE: f64 = 88.0;
/// The same of a link, with eleven columns.
const LINK_SAMPLE: f64 = 96.0;
/// A sample of a quantity that an algorithm knows of itself: a time and a value.
const INTERNAL: f64 = 16.0;
/// An event: 24 bytes in its flow's list, which doubles, then a row of 48 bytes, sorted and copied.
const EVENT: f64 = 130.0;
/// The smallest packet.
const LEAST_PACKET: f64 = 40.0;
/// The longest acknowledgement: IP, TCP and 40 bytes of options.
const LONGEST_ACK: f64 = 80.0;
/// A full packet of 1500 bytes, bits.
const PACKET_BITS: f64 = 12_000.0;

/// The algorithms that know quantities of themselves: with one of them, with two, and so on; others have
/// none.
pub const INTERNALS: [&[&str]; 7] = [
    &["ltcp", "westwood", "westwood+", "xcp", "xcp-r", "vcp", "rcp", "erica", "dctcp", "hybla"],
    &["hstcp", "cubic", "ctcp", "jetmax", "jetmax-r", "maxnet", "prague", "veno", "ledbat", "vivace"],
    &["bic", "fast", "htcp", "yeah", "hstcp-lp", "illinois", "lp", "cdg", "nv"],
    &["ledbat++", "bbr", "copa"],
    &[],
    &[],
    &["bbr3"],
];
/// And users' own, which are asked in any case (chosen here: what they know is not known before).
const OWN_INTERNALS: usize = 3;
/// A recovery takes a round trip at least, and is logged when it begins and when it ends.
const EVENTS_PER_ROUND: f64 = 2.0;
/// The share of packets that congestion takes at most, for the number of events (chosen here): flows whose
/// windows are so small that more is lost have hardly any fast recovery.
const CONGESTION: f64 = 0.05;

/// On a path with room, a connection that carries a file is open for this time (a timeout, or a delayed ACK),
/// seconds, and for these round trips to open, to close and until nothing of it is under way, and one for
/// each doubling.
const LIFE: (f64, f64) = (0.2, 5.0);
/// The share of a path that connections with files have beside lasting flows that yield to losses (chosen
/// here, as the next three).
const LEFT: f64 = 0.87;
/// The same beside other flows: one BBR flow left .74 of 1 Gbit/s to short flows with a load of .91.
const GREEDY_LEAVE: f64 = 0.65;
/// The same for users, who ask for less the longer they wait: one left .46 of 2 Gbit/s behind RED to 8,000.
const GREEDY_LEAVE_TO_USERS: f64 = 0.4;
/// The same where queues are fair, as behind these: a lasting flow has the share of one file.
const FAIR_LEAVE: f64 = 0.97;
const FAIR: &[&str] = &["fq_codel", "fq_pie", "sfq"];
const YIELDING: &[&str] =
    &["reno", "newreno", "reno-classic", "tahoe", "cubic", "bic", "htcp", "vegas", "westwood", "veno"];
/// Factor of the time for which files keep connections open behind RED, which drops their packets though the
/// path has room (chosen here: of 120 random large scenarios, two runs behind it had up to 1.4 times as many
/// open as behind other queues).
const BEHIND_RED: f64 = 1.5;
/// Standard deviations of a Poisson distribution above the mean: one run in 30,000 has more.
const DEVIATIONS: f64 = 4.0;
/// Factor of the open connections of users: the fluid models have no spread between the runs of a scenario
/// (chosen here: of sixty random large scenarios, one run had a tenth more connections open than they give).
const USERS: f64 = 1.15;
/// Objects with more files are so rare that the mean does not count them.
const MOST_FILES: u64 = 10_000;

/// About how much memory a run takes at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// All of it.
    pub bytes: f64,
    /// The plan's key with the greatest part of that.
    pub key: String,
}

/// The estimate for a plan. `tables` has the table behind each flow: what the flows of one table take counts
/// as that of the first.
pub fn estimate(plan: &Plan, tables: &[usize]) -> Estimate {
    let run = Run::new(plan, tables);
    let mut parts = Parts::default();
    run.add_flows(&mut parts);
    run.add_samples(&mut parts);
    for number in 0..plan.background.len() {
        run.add_background(&mut parts, number);
    }
    for number in 0..plan.links.len() {
        run.add_link(&mut parts, number);
    }
    let bytes = parts.0.iter().map(|(_, bytes)| bytes).sum();
    let greatest = parts.0.into_iter().reduce(|most, next| if next.1 > most.1 { next } else { most });
    Estimate { bytes, key: greatest.map(|(key, _)| key).unwrap_or_default() }
}

/// Bytes by the key that asks for them.
#[derive(Default)]
struct Parts(Vec<(String, f64)>);

impl Parts {
    /// Adds some; those of one key come one after the other.
    fn add(&mut self, key: impl Into<String>, bytes: f64) {
        let key = key.into();
        match self.0.last_mut() {
            Some((last, sum)) if *last == key => *sum += bytes,
            _ => self.0.push((key, bytes)),
        }
    }
}

/// A plan, and what follows from all of it.
struct Run<'a> {
    plan: &'a Plan,
    /// The first flow of each table, and how many it has.
    tables: Vec<(usize, f64)>,
    /// The rates of all hosts' own links.
    hosts_bps: f64,
    /// How many members all backgrounds have.
    members: f64,
    /// The most acknowledgements that data ask for, bit/s.
    acks_bps: f64,
    /// For each link, whether data cross it.
    has_data: Vec<bool>,
    /// For each link that is the slowest one of connections: their longest round trip, seconds, and their
    /// smallest full packet, bits.
    slowest: Vec<Option<(f64, f64)>>,
    /// Whether a flow does not yield to losses.
    is_greedy: bool,
    /// The packets in flight of a flow or a lasting connection of a background, as far as they count.
    busy: f64,
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, tables: &[usize]) -> Run<'a> {
        let mut first = 0;
        let runs = tables.chunk_by(|a, b| a == b).map(|run| {
            first += run.len();
            (first - run.len(), run.len() as f64)
        });
        let tables: Vec<(usize, f64)> = runs.collect();
        let of_flows = tables.iter().map(|&(first, count)| (&plan.flows[first].connection, count));
        let of_parts = plan.background.iter().map(|part| (&part.flow, members(&part.traffic).1));
        let connections: Vec<(&ConnectionPlan, f64)> = of_flows.clone().chain(of_parts).collect();
        let mut run = Run {
            plan,
            hosts_bps: connections.iter().map(|(flow, count)| count * flow.access_rate_bps).sum(),
            members: plan.background.iter().map(|part| members(&part.traffic).1).sum(),
            acks_bps: 0.0,
            has_data: vec![false; plan.links.len()],
            slowest: vec![None; plan.links.len()],
            is_greedy: of_flows.clone().any(|(flow, _)| !YIELDING.contains(&flow.algorithm.name())),
            tables: tables.clone(),
            busy: 0.0,
        };
        for (connection, _) in &connections {
            connection.forward.iter().for_each(|&link| run.has_data[link] = true);
            let packet_bits = 8.0 * f64::from(connection.mss_bytes() + connection.header_bytes);
            let (rtt_s, least_bits) =
                run.slowest[slowest(plan, connection)].get_or_insert((0.0, f64::INFINITY));
            *rtt_s = rtt_s.max(greatest_rtt_s(connection));
            *least_bits = least_bits.min(packet_bits);
        }
        let asking = plan.links.iter().zip(&run.slowest);
        let asking = asking.filter_map(|(link, slowest)| slowest.map(|(_, bits)| link.rate_bps / bits));
        run.acks_bps = 8.0 * LONGEST_ACK * sum(&asking.collect::<Vec<_>>());
        let waiting = |link: &LinkPlan| room(&link.queue).min(link.rate_bps * plan.duration_s / PACKET_BITS);
        let packets: f64 =
            plan.links.iter().enumerate().map(|(number, link)| run.in_flight(number) + waiting(link)).sum();
        run.busy = BUSY_PACKETS.min(packets / (plan.flows.len() as f64 + run.members).max(1.0));
        run
    }

    fn add_flows(&self, parts: &mut Parts) {
        for &(first, count) in &self.tables {
            let flow = &self.plan.flows[first];
            parts.add(format!("flows[{first}].count"), count * (FLOW + grown(&flow.connection, self.busy)));
            let window = window(&flow.connection, flow.bytes);
            parts.add(format!("flows[{first}].initial_window"), count * PACKET * window);
        }
    }

    fn add_samples(&self, parts: &mut Parts) {
        let Plan { duration_s, ref sample, ref flows, ref links, .. } = *self.plan;
        if !flows.is_empty() {
            let samples = duration_s / sample.flows_s + 1.0;
            parts.add("sample.cwnd", FLOW_SAMPLE * (flows.len() as f64 + 1.0) * samples);
            let known = |&(first, count): &(usize, f64)| {
                count * internals(flows[first].connection.algorithm.listed_name(), sample.internals) as f64
            };
            parts.add("sample.internals", INTERNAL * self.tables.iter().map(known).sum::<f64>() * samples);
        }
        parts.add("duration_s", RUN);
        let samples = duration_s / sample.links_s + 1.0;
        parts.add("sample.queue", LINK_SAMPLE * (links.len() as f64 + 1.0) * samples);
        if self.plan.events {
            parts.add("sample.events", EVENT * self.events());
        }
    }

    /// The events that flows log at most: of recoveries, one a round trip, each after a loss.
    fn events(&self) -> f64 {
        let connection = |first: usize| &self.plan.flows[first].connection;
        let per_round = |&(first, count): &(usize, f64)| count / connection(first).rtt_s.least().max(1e-6);
        let lost = |link: &LinkPlan| {
            (CONGESTION + lost(link.loss) + lost(link.ack_loss)).min(1.0) * link.rate_bps / PACKET_BITS
        };
        let rounds_per_s: f64 = self.tables.iter().map(per_round).sum();
        let lost_per_s: f64 = self.plan.links.iter().map(lost).sum();
        self.plan.duration_s * EVENTS_PER_ROUND * rounds_per_s.min(lost_per_s)
    }

    fn add_link(&self, parts: &mut Parts, number: usize) {
        let link = &self.plan.links[number];
        if !self.is_idle(number) {
            // an acknowledgement releases two packets at most; the first windows are counted with their
            // connections
            let arriving = self.members + 2.0 * link.rate_bps * self.plan.duration_s / PACKET_BITS;
            parts.add(format!("links[{number}].buffer"), PACKET * room(&link.queue).min(arriving));
        }
        parts.add(format!("links[{number}].rate"), FLIGHT * self.in_flight(number));
        for (key, delay_s) in link.disturbance.iter().flat_map(longest) {
            parts.add(format!("links[{number}].{key}"), PACKET * self.under_way(link, delay_s));
        }
    }

    /// Whether this link carries acknowledgements only, faster than data can ask for them: then none waits.
    fn is_idle(&self, number: usize) -> bool {
        !self.has_data[number] && self.acks_bps <= self.plan.links[number].rate_bps
    }

    /// The data packets on their way that this link has carried, if it is the slowest one that they cross.
    fn in_flight(&self, number: usize) -> f64 {
        self.under_way(&self.plan.links[number], self.slowest[number].map_or(0.0, |(rtt_s, _)| rtt_s))
    }

    /// The packets on a link with this delay; on their way to hosts, ends take them ahead of time.
    fn under_way(&self, link: &LinkPlan, delay_s: f64) -> f64 {
        self.hosts_bps.min(link.rate_bps) * delay_s / PACKET_BITS
    }

    fn add_background(&self, parts: &mut Parts, number: usize) {
        let part = &self.plan.background[number];
        let (connection, (of, members)) = (&part.flow, members(&part.traffic));
        let key = |name: &str| format!("background[{number}].{name}");
        parts.add(key(of), SESSION * members);
        match &part.traffic {
            TrafficPlan::Web(web) => {
                let least = web.page_bytes * (1.0 - 1.0 / web.shape);
                let larger = |bytes: f64| math::pow((least / bytes).min(1.0), web.shape);
                parts.add(key("gap_s"), self.files(connection, members / web.gap_s, &larger));
            }
            TrafficPlan::Short(short) => {
                let bytes = match &short.sizes {
                    SizesPlan::Files(files) => {
                        self.files(connection, 1.0 / short.gap_s, &|x| files.larger(x))
                    }
                    SizesPlan::Empirical(rows) => {
                        self.files(connection, 1.0 / short.gap_s, &larger_row(rows))
                    }
                };
                parts.add(key("gap_s"), bytes);
            }
            TrafficPlan::Surge(surge) => parts.add(key(of), self.users(connection, surge)),
            TrafficPlan::Bulk(_) | TrafficPlan::Onoff(_) => {
                let each = CONNECTION + grown(connection, self.busy) + PACKET * window(connection, None);
                parts.add(key(of), members * each);
            }
        }
    }

    /// What connections that carry files share on their path, beside lasting flows; and the factor of the
    /// time for which files keep them open, for losses on a path with room.
    fn shared(&self, connection: &ConnectionPlan, greedy_leave: f64) -> (Path, f64) {
        let slowest = &self.plan.links[slowest(self.plan, connection)];
        let share = match slowest.queue.kind.as_str() {
            kind if FAIR.contains(&kind) => FAIR_LEAVE,
            _ if self.is_greedy => greedy_leave,
            _ => LEFT,
        };
        let path = Path {
            bytes_per_s: share * connection.mss / (connection.mss + f64::from(connection.header_bytes))
                * slowest.rate_bps
                / 8.0,
            rtt_s: greatest_rtt_s(connection).max(1e-6),
            first_bytes: window(connection, None) * connection.mss,
        };
        (path, if slowest.queue.kind == "red" { BEHIND_RED } else { 1.0 })
    }

    /// How long connections open, seconds.
    fn span_s(&self, connection: &ConnectionPlan) -> f64 {
        connection.stop_s.map_or(self.plan.duration_s, |stop_s| stop_s.min(self.plan.duration_s))
    }

    /// Bytes of connections with files that open whether or not earlier ones are complete, and of complete
    /// ones.
    ///
    /// What the path cannot carry stays open; the others are open for a while.
    fn files(&self, connection: &ConnectionPlan, per_s: f64, larger: Larger<'_>) -> f64 {
        let ((path, repairs), span_s) = (self.shared(connection, GREEDY_LEAVE), self.span_s(connection));
        let opened = per_s * span_s;
        let life_s = repairs * (LIFE.0 + path.rtt_s * (LIFE.1 + path.rounds(larger)));
        let more_per_s = occupancy::growth(per_s, path.bytes_per_s, larger, path.bytes_per_s * span_s);
        let mean = per_s * life_s.min(span_s) + more_per_s * span_s;
        let each = CONNECTION + grown(connection, 1.0); // most files are short
        each * opened.min(mean + DEVIATIONS * math::sqrt(mean)) + TRANSFER * (opened - more_per_s * span_s)
    }

    /// Bytes of users who have one connection at a time and rest between, and of their complete ones.
    fn users(&self, connection: &ConnectionPlan, surge: &SurgePlan) -> f64 {
        let (users, habits) = (surge.users as f64, &surge.habits);
        if surge.users == 0 {
            return 0.0;
        }
        let ((path, repairs), span_s) =
            (self.shared(connection, GREEDY_LEAVE_TO_USERS), self.span_s(connection));
        let (least_s, shape) = (habits.inactive_off_least_s, habits.inactive_off_shape);
        let waiting = |at_s: f64| math::pow((least_s / at_s).min(1.0), shape);
        let larger = |bytes: f64| habits.sizes.larger(bytes);
        let first = occupancy::beginners(&path, &larger, &waiting, span_s, users);
        let object_files = Habits { files_most: habits.files_most.min(MOST_FILES), ..*habits }.mean_files();
        let files = files_of_user(habits, object_files, connection.rtt_s.least().max(1e-3), span_s);
        let carried = path.bytes_per_s * span_s / habits.sizes.mean_bytes();
        // those that the path keeps waiting
        let late = (1.0 - carried / (users * files)).max(0.0);
        let begun = (first * object_files).min(1.0); // as if all files of an object came at once
        let mean = users * (late + (1.0 - late) * begun);
        // most files are short, but where half of the users wait, their files share what is in flight
        let waiting_share = (2.0 * late).min(1.0);
        let each = CONNECTION + grown(connection, waiting_share * self.busy + (1.0 - waiting_share));
        let packets = path.bytes_per_s * span_s / connection.mss;
        // and the object that each has begun
        let transfers = packets.min(users * ((1.0 - late) * files + object_files));
        each * users.min(USERS * repairs * mean + DEVIATIONS * math::sqrt(mean)) + TRANSFER * transfers
    }
}

/// The slowest link that a connection's data cross, the first of them.
fn slowest(plan: &Plan, connection: &ConnectionPlan) -> usize {
    let rate_bps = |link: &usize| plan.links[*link].rate_bps;
    let slowest = connection.forward.iter().copied().min_by(|a, b| rate_bps(a).total_cmp(&rate_bps(b)));
    slowest.unwrap_or(0)
}

/// What a connection needs besides if this many packets of it are in flight.
fn grown(connection: &ConnectionPlan, busy: f64) -> f64 {
    let row = BUSY_WITH.iter().find(|(name, _)| *name == connection.algorithm.name());
    let lists = row.map_or(0.0, |&(_, bytes)| bytes);
    let is_rack = connection.loss_detection == Some(LossDetection::Rack);
    let (rack, rack_busy) = if is_rack { (RACK, RACK_BUSY) } else { (0.0, 0.0) };
    BUSY * busy + (lists + rack_busy) * busy / BUSY_PACKETS + rack
}

/// How many quantities this algorithm has that are sampled, where those of listed ones are or are not.
fn internals(algorithm: &str, of_listed: bool) -> usize {
    match algorithm {
        "custom" => OWN_INTERNALS,
        _ if !of_listed => 0,
        _ => INTERNALS.iter().position(|names| names.contains(&algorithm)).map_or(0, |place| place + 1),
    }
}

/// The share of packets that a loss process takes at most.
const fn lost(model: LossModel) -> f64 {
    match model {
        LossModel::None => 0.0,
        LossModel::Random { probability } => probability,
        LossModel::Every { packets } => 1.0 / packets as f64,
        LossModel::GilbertElliott { loss_good, loss_bad, .. } => loss_good.max(loss_bad),
    }
}

/// The greatest delay that each key of a disturbance adds, seconds.
fn longest(disturbance: &DisturbancePlan) -> [(&'static str, f64); 3] {
    let added_s = match &disturbance.added_delay {
        None => 0.0,
        Some(Added::Steps(delays)) => delays.steps.iter().map(|step| step.1).fold(0.0, f64::max),
        Some(Added::Handovers(handovers)) => handovers.range_s,
    };
    let reorder_s = disturbance.reorder.map_or(0.0, |reorder| reorder.delay_s);
    [("reorder", reorder_s), ("jitter", disturbance.jitter), ("added_delay", added_s)]
}

/// The segments that a connection with this payload may send at once, at its start.
fn window(connection: &ConnectionPlan, payload: Option<u64>) -> f64 {
    let most = payload.map_or(f64::INFINITY, |bytes| bytes.div_ceil(connection.mss_bytes().into()) as f64);
    connection.initial_window.min(most).min(connection.max_window.unwrap_or(f64::INFINITY))
}

/// The packets that a queue holds.
fn room(queue: &QueuePlan) -> f64 {
    let limit = |limit: Option<u64>, each: f64| limit.map_or(f64::INFINITY, |limit| limit as f64 / each);
    limit(queue.limit_packets, 1.0).min(limit(queue.limit_bytes, LEAST_PACKET))
}

/// The members of a background that may have a connection each, and the key that asks for them.
const fn members(traffic: &TrafficPlan) -> (&'static str, f64) {
    match traffic {
        TrafficPlan::Web(web) => ("sessions", web.sessions as f64),
        TrafficPlan::Surge(surge) => ("users", surge.users as f64),
        TrafficPlan::Short(_) => ("gap_s", 1.0),
        TrafficPlan::Bulk(bulk) => ("flows", bulk.flows as f64),
        TrafficPlan::Onoff(onoff) => ("sources", onoff.sources as f64),
    }
}

/// The share of files with more bytes, from rows of bytes and weight.
fn larger_row(rows: &[(f64, f64)]) -> impl Fn(f64) -> f64 + use<> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sum = 0.0;
    for (_, weight) in &mut rows {
        sum += *weight;
        *weight = sum;
    }
    move |bytes| match rows.partition_point(|row| row.0 > bytes) {
        0 => 0.0,
        larger => rows[larger - 1].1 / sum,
    }
}

/// The files that a SURGE user fetches on average: it rests before each object, and within one.
///
/// A rest is drawn from a Pareto distribution; what is longer than the run counts as long as that.
fn files_of_user(habits: &Habits, object_files: f64, rtt_s: f64, span_s: f64) -> f64 {
    let (shape, least_s) = (habits.inactive_off_shape, habits.inactive_off_least_s);
    let beyond = (span_s / least_s).max(1.0);
    let longer =
        if shape == 1.0 { math::ln(beyond) } else { (1.0 - math::pow(beyond, 1.0 - shape)) / (shape - 1.0) };
    let within_s = (object_files - 1.0) * habits.mean_active_off_s();
    span_s * object_files / (least_s * (1.0 + longer) + within_s + 2.0 * object_files * rtt_s)
}

fn greatest_rtt_s(connection: &ConnectionPlan) -> f64 {
    match &connection.rtt_s {
        Drawn::Fixed(rtt_s) | Drawn::Uniform(_, rtt_s) => *rtt_s,
        Drawn::Exponential(_, mean_s) => 3.0 * mean_s,
        Drawn::Empirical(rows) => rows.iter().map(|row| row.0).fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at::Context;
    use crate::resolve::{Resolved, resolve};
    use crate::world::Files;
    use longfat_transport::{cc, udp};
    use std::fs;

    const SLOW: &str = "[bottleneck]\nrate = '10 Mbit/s'\nbuffer = '50 packets'\n";
    const RENO: &str = "[[flow]]\nalgorithm = 'reno'\nrtt = '42 ms'\n";

    fn resolved(text: &str, base: &str) -> Resolved {
        let context = Context { world: &Files, base: base.as_ref(), stack: None };
        let scenario = crate::read::scenario(crate::read::parse(text).unwrap(), &context).unwrap();
        resolve(&scenario, true).unwrap()
    }

    /// The estimate of a run of one minute, and the scenario's key of it.
    fn estimated(text: &str) -> (f64, String) {
        let run = resolved(&format!("duration = '60 s'\n{text}"), ".");
        let Estimate { bytes, key } = estimate(&run.plan, &run.flows);
        (bytes, run.written_key(&key))
    }

    #[test]
    fn what_asks_for_most_is_the_key() {
        let web = "[[background]]\nkind = 'web'\nrtt = '42 ms'\n";
        let codel = "[bottleneck]\nrate = '10 Mbit/s'\nbuffer = '1000000 packets'\nqueue = 'codel'\n";
        for (key, text) in [
            ("flow.0.initial_window", format!("{SLOW}{RENO}initial_window = 1e9\n")),
            ("flow.1.initial_window", format!("{codel}{RENO}{RENO}initial_window = 1e6\ncount = 200\n")),
            ("background.0.gap", format!("{SLOW}{web}gap = '1 us'\nsessions = 1\n")),
            ("background.1.gap", format!("{SLOW}{web}{web}gap = '1 ms'\nsessions = 100000\n")),
        ] {
            let (bytes, found) = estimated(&text);
            assert_eq!(found, key);
            assert!(bytes > 20e9, "{key}: {bytes}");
        }
    }

    #[test]
    fn each_flow_of_a_table_and_each_segment_of_its_first_window_counts() {
        let bytes = |count: u32, window: u32| {
            estimated(&format!("{SLOW}{RENO}count = {count}\ninitial_window = {window}\n")).0
        };
        let samples = FLOW_SAMPLE * (60.0 / 0.1 + 1.0);
        // beyond ten flows here, less than a packet of each is in flight, and all of them are counted before
        let each = (bytes(2000, 10) - bytes(1000, 10)) / 1000.0;
        assert!((each - (FLOW + PACKET * 10.0 + samples)).abs() < 0.01, "{each}");
        let segment = (bytes(10, 20) - bytes(10, 10)) / 100.0;
        assert!((segment - PACKET).abs() < 1e-6, "{segment}");
    }

    #[test]
    fn acknowledgements_wait_only_where_more_come_than_the_link_carries() {
        let reverse = |rate: &str| {
            let forward = "[bottleneck]\nrate = '1 Gbit/s'\nbuffer = '100 packets'";
            estimated(&format!(
                "{forward}\nreverse_rate = '{rate}'\nreverse_buffer = '1000000 packets'\n{RENO}"
            ))
        };
        let ((asked, key), (idle, _)) = (reverse("50 Mbit/s"), reverse("60 Mbit/s"));
        assert_eq!(key, "bottleneck.reverse_buffer");
        // two packets for each acknowledgement that the link has room for
        let waiting = PACKET * 2.0 * 50e6 * 60.0 / PACKET_BITS;
        assert!((asked - idle - waiting).abs() < 0.01 * waiting, "{asked} {idle} {waiting}");
    }

    #[test]
    fn events_are_those_of_a_recovery_each_round_trip_or_of_each_loss() {
        let bytes = |loss: f64, events: bool| {
            let path = format!("[bottleneck]\nrate = '1 Gbit/s'\nbuffer = '100 packets'\nloss = {loss}");
            let flows = "[[flow]]\nalgorithm = 'reno'\nrtt = '1 ms'\ncount = 20";
            estimated(&format!("{path}\n{flows}\n[sample]\nevents = {events}\n"))
        };
        // a tenth of 83,333 packets a second there and a twentieth of those back; 20 flows with 1000 round
        // trips
        for (loss, rounds_per_s) in [(0.05, 12_500.0), (0.5, 20_000.0)] {
            let ((with, key), (without, _)) = (bytes(loss, true), bytes(loss, false));
            assert_eq!(key, "sample.events");
            let expected = EVENT * 60.0 * 2.0 * rounds_per_s;
            assert!(((with - without) / expected - 1.0).abs() < 1e-6, "{with} {without} {expected}");
        }
    }

    #[test]
    fn the_share_of_larger_files_is_that_of_their_weights() {
        let larger = larger_row(&[(10.0, 1.0), (5.0, 2.0), (20.0, 1.0)]);
        assert_eq!([4.9, 5.0, 10.0, 19.9, 20.0].map(larger), [1.0, 0.5, 0.25, 0.25, 0.0]);
    }

    #[test]
    fn scenarios_of_the_repository_need_little() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")) {
            let run = resolved(&fs::read_to_string(&file).unwrap(), folder);
            assert!(estimate(&run.plan, &run.flows).bytes < 0.5e9, "{}", file.display());
        }
    }

    #[test]
    fn algorithms_with_a_number_of_their_own_are_listed() {
        let busy = BUSY_WITH.iter().map(|(name, _)| name);
        for name in busy.chain(INTERNALS.iter().copied().flatten()).chain(YIELDING) {
            assert!(cc::find(name).is_some() || udp::find(name).is_some(), "{name}");
        }
    }
}
