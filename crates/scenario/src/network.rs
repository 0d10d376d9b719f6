//! The network of a scenario: the links that packets cross, and the numbers that follow from them.

use crate::decimal::Decimal;
use crate::forms::{Buffer, Drawn, Element, MOST_PACKETS, RTT_SUCH_AS};
use crate::plan::MOST_NODES;
use crate::problem::{Refusal, refuse, refuse_key};
use crate::routes::{Hop, Routes};
use crate::sums::sum;
use crate::tables::{Background, Bottleneck, Flow, Link, Placed, Rates, Scenario, access_bps};
use crate::text::general;
use crate::units::RATE;
use longfat_units::Interval;
use longfat_units::parameters::Kind;
use std::fmt;

/// The links of a dumbbell, in the plan's order.
pub const LINKS: [&str; 2] = ["bottleneck", "reverse"];
/// The largest packet of IP that programs send where there are neither flows nor backgrounds, bytes.
const PROGRAM_PACKET_BYTES: f64 = 1500.0;
/// The reverse path's buffer is the forward one's, but at least this, so that it drops no ACKs by accident.
const LEAST_REVERSE_PACKETS: u64 = 1000;
/// The most links on the path of a flow, either way.
const MOST_LINKS: usize = 64;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Way<'a> {
    /// Its name in results.
    pub name: String,
    /// The link; `None` in a dumbbell.
    pub link: Option<&'a Link>,
    /// The position of the link in the file.
    pub position: usize,
    /// Whether it leads back.
    pub is_back: bool,
    /// The numbers of the nodes where it begins and ends.
    pub nodes: Option<(usize, usize)>,
}

impl<'a> Way<'a> {
    /// The names of the nodes where it begins and ends; empty in a dumbbell.
    fn ends(&self) -> [&'a str; 2] {
        match self.link {
            Some(link) if self.is_back => [&link.to, &link.origin],
            Some(link) => [&link.origin, &link.to],
            None => [""; 2],
        }
    }
}

/// The links that packets cross there and back, by position among the ways.
#[derive(Clone, Debug)]
pub struct Path {
    /// There.
    pub forward: Vec<usize>,
    /// Back.
    pub reverse: Vec<usize>,
    /// The rates of the narrowest links.
    pub rates: Rates,
    /// Propagation there and back, s; `None` where the flow itself has it, in a dumbbell.
    pub rtt_s: Option<f64>,
}

/// A bottleneck or links, and the path of every flow and background.
pub struct Network<'a> {
    scenario: &'a Scenario,
    /// The links, ways back included.
    pub ways: Vec<Way<'a>>,
    /// The path of each flow.
    pub flows: Vec<Path>,
    /// The path of each background.
    pub backgrounds: Vec<Path>,
    /// The rate of the hosts' own links, bit/s.
    pub access_bps: f64,
    /// The largest full packet of IP that a flow sends (a background where there is no flow), bytes.
    pub packet_bytes: f64,
    /// The RTT of "% BDP", s.
    pub buffer_rtt_s: f64,
    /// The RTT of programs' connections, s; 0 if nothing says it.
    pub program_rtt_s: f64,
}

impl Scenario {
    /// The links, the paths over them, and derived values.
    pub fn network(&self) -> Result<Network<'_>, Refusal> {
        Network::new(self)
    }
}

impl<'a> Network<'a> {
    /// Works out everything. Refuses parts that do not fit together.
    pub fn new(scenario: &'a Scenario) -> Result<Network<'a>, Refusal> {
        check_parts(scenario)?;
        let (ways, flows, backgrounds) = match &scenario.bottleneck {
            Some(bottleneck) => dumbbell(scenario, bottleneck),
            None => topology(scenario)?,
        };
        let fastest = || scenario.link.iter().map(|link| link.rate.bps()).fold(0.0, f64::max);
        let access_bps =
            scenario.bottleneck.as_ref().map_or_else(|| access_bps(fastest()), Bottleneck::access_bps);
        let mut network = Network {
            scenario,
            ways,
            flows,
            backgrounds,
            access_bps,
            packet_bytes: measured_packet_bytes(scenario),
            buffer_rtt_s: 0.0,
            program_rtt_s: 0.0,
        };
        let least_s = network.least_rtt_s();
        let given = |of: fn(&Bottleneck) -> Option<f64>| scenario.bottleneck.as_ref().and_then(of);
        network.program_rtt_s = given(|bottleneck| bottleneck.rtt).unwrap_or(least_s);
        let has_parts = !scenario.flow.is_empty() || !scenario.background.is_empty();
        let usual_s = if has_parts { least_s } else { network.program_rtt_s };
        network.buffer_rtt_s = given(|bottleneck| bottleneck.buffer_rtt).unwrap_or(usual_s);
        Ok(network)
    }

    /// The smallest RTT that a flow can have, or a background where there is no flow; 0 without any.
    fn least_rtt_s(&self) -> f64 {
        let least = |all: &mut dyn Iterator<Item = f64>| all.reduce(f64::min).unwrap_or(0.0);
        let scenario = self.scenario;
        let has_flows = !scenario.flow.is_empty();
        if scenario.bottleneck.is_none() {
            let paths = if has_flows { &self.flows } else { &self.backgrounds };
            return least(&mut paths.iter().map(|path| path.rtt_s.unwrap_or(0.0)));
        }
        let of_flows = scenario.flow.iter().filter_map(|flow| flow.rtt.as_ref());
        let of_backgrounds = scenario.background.iter().filter_map(|part| part.connections().rtt.as_ref());
        if has_flows {
            least(&mut of_flows.map(Drawn::least))
        } else {
            least(&mut of_backgrounds.map(Drawn::least))
        }
    }

    /// The ways that the data of a part cross.
    fn crossed<'b>(&'b self, path: &'b Path, is_reverse: bool) -> impl Iterator<Item = &'b Way<'a>> {
        let links = if is_reverse { &path.reverse } else { &path.forward };
        links.iter().map(|&index| &self.ways[index])
    }

    /// The router of each link, with the link's name, that the data of a flow cross.
    pub fn routers(&self, flow: usize) -> Vec<(&str, Option<&Element>)> {
        let router = |way: &Way<'a>| match way.link {
            _ if way.is_back => None,
            Some(link) => link.router.as_ref(),
            None => self.scenario.bottleneck.as_ref().and_then(|bottleneck| bottleneck.router.as_ref()),
        };
        let ways = self.crossed(&self.flows[flow], self.scenario.flow[flow].is_reverse());
        ways.map(|way| (&*way.name, router(way))).collect()
    }

    /// The queues that the data of a flow cross.
    pub fn queues(&self, flow: usize) -> Vec<&Element> {
        const DROPTAIL: &Element = &Element::DROPTAIL;
        let queue = |way: &Way<'a>| match (way.link, &self.scenario.bottleneck) {
            (Some(_), _) if way.is_back => DROPTAIL,
            (Some(link), _) => &link.queue,
            (None, Some(bottleneck)) if way.is_back => &bottleneck.reverse_queue,
            (None, Some(bottleneck)) => &bottleneck.queue,
            (None, None) => DROPTAIL,
        };
        self.crossed(&self.flows[flow], self.scenario.flow[flow].is_reverse()).map(queue).collect()
    }

    /// The size of a buffer on a link of this rate, and of a packet, in bytes.
    fn exact(&self, buffer: &Buffer, rate_bps: f64) -> (Decimal, Decimal) {
        let packet = Decimal::of(self.packet_bytes);
        match (buffer, buffer.bytes(rate_bps, self.buffer_rtt_s)) {
            (Buffer::Packets(packets), _) => (Decimal::from(*packets), Decimal::from(1)),
            (_, bytes) => (bytes.unwrap_or_else(|| Decimal::from(0)), packet),
        }
    }

    /// The size of a buffer on a link of this rate, in full packets.
    pub fn packets(&self, buffer: &Buffer, rate_bps: f64) -> f64 {
        if let Buffer::Packets(packets) = buffer {
            return *packets as f64;
        }
        let (size, packet) = self.exact(buffer, rate_bps);
        size.ratio(&packet)
    }

    /// The full packets that fit into a buffer on a link of this rate.
    pub fn whole_packets(&self, buffer: &Buffer, rate_bps: f64) -> u64 {
        let (size, packet) = self.exact(buffer, rate_bps);
        size.ratio_floor(&packet)
    }

    /// The buffer of a dumbbell's way back: the given one, else the forward one with its least size.
    pub fn reverse_buffer(&self, bottleneck: &Bottleneck) -> Buffer {
        let usual = || {
            let forward = self.whole_packets(&bottleneck.buffer, bottleneck.rate.bps());
            Buffer::Packets(forward.max(LEAST_REVERSE_PACKETS))
        };
        bottleneck.reverse_buffer.clone().unwrap_or_else(usual)
    }

    /// Key, size and link rate of each buffer that is given.
    pub fn buffers(&self) -> Vec<(String, &'a Buffer, f64)> {
        let numbered = self.scenario.link.iter().enumerate();
        let mut found: Vec<_> =
            numbered.map(|(i, link)| (format!("link.{i}.buffer"), &link.buffer, link.rate.bps())).collect();
        if let Some(bottleneck) = &self.scenario.bottleneck {
            found.push(("bottleneck.buffer".to_owned(), &bottleneck.buffer, bottleneck.rate.bps()));
            if let Some(back) = &bottleneck.reverse_buffer {
                found.push(("bottleneck.reverse_buffer".to_owned(), back, bottleneck.reverse_bps()));
            }
        }
        found
    }

    /// A background with its load worked out.
    pub fn loaded(&self, index: usize) -> Background {
        let (part, path) = (self.scenario.background[index].clone(), &self.backgrounds[index]);
        let rtt_s = path.rtt_s.or_else(|| part.connections().rtt.as_ref().map(Drawn::mean));
        part.loaded(path.rates, rtt_s)
    }

    /// Refuses sources that are faster than their host's link, and loads that their algorithm does not take.
    pub fn check_sources(&self) -> Result<(), Refusal> {
        let scenario = self.scenario;
        let flows = scenario.flow.iter().enumerate();
        for (i, flow) in flows {
            let key = format!("flow.{i}.algorithm.rate");
            self.check_rate(key, "it", flow.algorithm.rate_bps())?;
        }
        for i in 0..scenario.background.len() {
            let part = self.loaded(i);
            let bps = part.connections().algorithm.rate_bps();
            match &scenario.background[i] {
                Background::Onoff(onoff) if onoff.load.is_some() => {
                    let key = format!("background.{i}.load");
                    check_load(&part).map_err(|refusal| refusal.about(&*key))?;
                    let rate = RATE.write(bps.unwrap_or(0.0));
                    self.check_rate(key, &format!("a source with {rate}"), bps)?;
                }
                _ => self.check_rate(format!("background.{i}.algorithm.rate"), "it", bps)?,
            }
        }
        Ok(())
    }

    fn check_rate(&self, key: String, source: &str, bps: Option<f64>) -> Result<(), Refusal> {
        if bps.is_none_or(|bps| bps <= self.access_bps) {
            return Ok(());
        }
        let whose = if self.scenario.bottleneck.is_some() { " (bottleneck.access_rate)" } else { "" };
        let accepted = format!("up to \"{}\"{whose}", RATE.write(self.access_bps));
        refuse_key(key, format!("{source} is above the host's own link"), accepted)
    }

    /// Refuses a buffer that holds no packet, more than the core can count, or a share of no BDP.
    pub fn check_buffers(&self) -> Result<(), Refusal> {
        let scenario = self.scenario;
        let of_flows = scenario.flow.iter().map(|flow| flow.packet_bytes());
        let of_backgrounds = scenario.background.iter().map(|part| part.connections().packet_bytes());
        let largest = of_flows.chain(of_backgrounds).fold(0.0, f64::max);
        for (key, buffer, rate_bps) in self.buffers() {
            let problem = match buffer {
                Buffer::Bytes(bytes) if (*bytes as f64) < largest => Some((
                    format!("it is less than a packet of {} B", general(largest, 6)),
                    "\"20 % BDP\", \"175 packets\", \"512 KiB\" or \"10 ms\"",
                )),
                Buffer::Bdp(_) if self.buffer_rtt_s == 0.0 => Some(if scenario.bottleneck.is_none() {
                    let what = "this is in BDP, and links without delay have none";
                    (what.to_owned(), "packets, bytes or a time")
                } else {
                    let what = "this is in BDP, and an exponential rtt has no least one";
                    (what.to_owned(), "bottleneck.buffer_rtt")
                }),
                _ => None,
            };
            if let Some((what, accepted)) = problem {
                return refuse_key(key, what, accepted);
            }
            let packets = self.packets(buffer, rate_bps);
            if packets > MOST_PACKETS as f64 {
                return refuse_key(
                    key,
                    format!("\"{}\" is {} packets", buffer.written(), general(packets, 3)),
                    format!("up to {}", general(MOST_PACKETS as f64, 6)),
                );
            }
        }
        Ok(())
    }
}

/// Refuses a load whose sources would send at a rate that their algorithm does not take.
fn check_load(part: &Background) -> Result<(), Refusal> {
    let (Background::Onoff(onoff), Some(row)) = (part, part.connections().algorithm.entry()) else {
        return Ok(());
    };
    let Some(rate) = onoff.algorithm.number("rate") else { return Ok(()) };
    match row.parameters.iter().find(|parameter| parameter.name == "rate").map(|parameter| parameter.kind) {
        Some(Kind::Number { least, greatest, .. }) if !(least..=greatest).contains(&rate) => refuse(
            format!("this gives each source a rate of {} Mbit/s", general(rate, 6)),
            format!("a load that gives from {least} to {greatest} Mbit/s"),
        ),
        _ => Ok(()),
    }
}

fn measured_packet_bytes(scenario: &Scenario) -> f64 {
    let of_flows = scenario.flow.iter().map(|flow| flow.packet_bytes()).reduce(f64::max);
    let of_backgrounds = || scenario.background.iter().map(|part| part.connections().packet_bytes());
    of_flows.or_else(|| of_backgrounds().reduce(f64::max)).unwrap_or(PROGRAM_PACKET_BYTES)
}

/// A table of a list, written as its key.
#[derive(Clone, Copy, Debug)]
pub struct Entry(pub &'static str, pub usize);

impl fmt::Display for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.0, self.1)
    }
}

/// The flows and backgrounds with their keys.
pub fn parts(scenario: &Scenario) -> impl Iterator<Item = (Entry, &Placed)> {
    let flows = scenario.flow.iter().enumerate().map(|(i, flow)| (Entry("flow", i), &flow.placed));
    let backgrounds = scenario.background.iter().enumerate();
    flows.chain(backgrounds.map(|(i, part)| (Entry("background", i), &part.connections().placed)))
}

fn check_parts(scenario: &Scenario) -> Result<(), Refusal> {
    let has_links = !scenario.link.is_empty();
    if has_links && scenario.bottleneck.is_some() {
        return refuse_key("link", "[bottleneck] and [[link]] exclude each other", "one of them");
    }
    if has_links {
        let has_rtt = scenario.flow.iter().map(|flow| flow.rtt.is_some());
        let has_rtt = has_rtt.chain(scenario.background.iter().map(|part| part.connections().rtt.is_some()));
        for ((key, part), has_rtt) in parts(scenario).zip(has_rtt) {
            for (end, node) in [("from", &part.origin), ("to", &part.to)] {
                if node.is_none() {
                    return refuse_key(format!("{key}.{end}"), "this key is missing", "the name of a node");
                }
            }
            if has_rtt {
                return refuse_key(
                    format!("{key}.rtt"),
                    "it does not go with [[link]], whose delays make it",
                    "leave it out",
                );
            }
        }
        return Ok(());
    }
    if !scenario.node.is_empty() {
        return refuse_key("node", "[[node]] stands without [[link]]", "both, or [bottleneck]");
    }
    if scenario.bottleneck.is_none() {
        return refuse_key(
            "bottleneck",
            "this key is missing",
            "a table, [bottleneck], or [[link]] and [[node]]",
        );
    }
    for (key, part) in parts(scenario) {
        for (end, node) in [("from", &part.origin), ("to", &part.to)] {
            if node.is_some() {
                let key = format!("{key}.{end}");
                return refuse_key(key, "it goes with [[link]], not with [bottleneck]", "rtt");
            }
        }
    }
    let lacks_rtt = |flow: &Flow| flow.rtt.is_none();
    match scenario.flow.iter().position(lacks_rtt) {
        Some(i) => refuse_key(format!("flow.{i}.rtt"), "this key is missing", RTT_SUCH_AS),
        None => Ok(()),
    }
}

type Parts<'a> = (Vec<Way<'a>>, Vec<Path>, Vec<Path>);

fn dumbbell<'a>(scenario: &Scenario, bottleneck: &Bottleneck) -> Parts<'a> {
    let way = |position: usize| Way {
        name: LINKS[position].to_owned(),
        link: None,
        position,
        is_back: position == 1,
        nodes: None,
    };
    // the RTT is propagation of the whole path, spread by the core: the links themselves add none
    let rates = Rates { forward: bottleneck.rate.bps(), reverse: bottleneck.reverse_bps() };
    let path = Path { forward: vec![0], reverse: vec![1], rates, rtt_s: None };
    let paths = |count: usize| vec![path.clone(); count];
    (vec![way(0), way(1)], paths(scenario.flow.len()), paths(scenario.background.len()))
}

fn topology(scenario: &Scenario) -> Result<Parts<'_>, Refusal> {
    let mut ways = Vec::new();
    for is_back in [false, true] {
        for (position, link) in scenario.link.iter().enumerate() {
            let (there, back) = link.names();
            let name = if is_back { back } else { Some(there) };
            ways.extend(name.map(|name| Way { name, link: Some(link), position, is_back, nodes: None }));
        }
    }
    differ("links", ways.iter().map(|way| (&*way.name, Entry("link", way.position))))?;
    let nodes = scenario.node.iter().enumerate();
    differ("nodes", nodes.map(|(i, node)| (&*node.name, Entry("node", i))))?;
    let mut nodes: Vec<&str> = Vec::new();
    let named = scenario.node.iter().map(|node| &*node.name);
    for name in named.chain(ways.iter().flat_map(Way::ends)) {
        if !nodes.contains(&name) {
            nodes.push(name);
        }
    }
    if nodes.len() > MOST_NODES as usize {
        return refuse(format!("there are {} nodes", nodes.len()), format!("up to {MOST_NODES}"));
    }
    let number = |name: &str| nodes.iter().position(|known| *known == name);
    for way in &mut ways {
        let [from, to] = way.ends().map(number);
        way.nodes = from.zip(to);
    }
    let mut pairs = Vec::new();
    for (key, part) in parts(scenario) {
        let (from, to) = (part.origin.as_deref().unwrap_or(""), part.to.as_deref().unwrap_or(""));
        for (end, node) in [("from", from), ("to", to)] {
            if number(node).is_none() {
                let known: Vec<String> = nodes.iter().take(20).map(|name| format!("\"{name}\"")).collect();
                return refuse_key(format!("{key}.{end}"), "no link leads there", known.join(", "));
            }
        }
        if from == to {
            return refuse_key(
                format!("{key}.to"),
                "this is the node of `from`, too",
                "two nodes that differ",
            );
        }
        pairs.push((key, number(from).zip(number(to)).unwrap_or_default()));
    }
    let hops: Vec<Hop> = ways
        .iter()
        .filter_map(|way| {
            let delay = Interval::from_secs_f64(way.link?.delay);
            way.nodes.map(|(from, to)| Hop { from, to, delay })
        })
        .collect();
    let destinations = pairs.iter().flat_map(|(_, (from, to))| [*from, *to]);
    let routes = Routes::new(hops, destinations);
    let mut paths = Vec::new();
    for (key, (from, to)) in pairs {
        let (there, back) = (routes.path(from, to), routes.path(to, from));
        for (path, begin, end) in [(&there, from, to), (&back, to, from)] {
            if path.as_ref().is_none_or(|path| path.len() > MOST_LINKS) {
                let problem = match path {
                    None => "no path leads".to_owned(),
                    Some(_) => format!("more than {MOST_LINKS} links lead"),
                };
                return refuse_key(
                    key.to_string(),
                    format!("{problem} from \"{}\" to \"{}\"", nodes[begin], nodes[end]),
                    "nodes that links connect, both ways",
                );
            }
        }
        paths.push(path(&ways, there.unwrap_or_default(), back.unwrap_or_default()));
    }
    let backgrounds = paths.split_off(scenario.flow.len());
    Ok((ways, paths, backgrounds))
}

fn path(ways: &[Way<'_>], forward: Vec<usize>, reverse: Vec<usize>) -> Path {
    let of = |index: &usize| ways[*index].link;
    let narrowest = |links: &[usize]| {
        links.iter().filter_map(of).map(|link| link.rate.bps()).fold(f64::INFINITY, f64::min)
    };
    let delays: Vec<f64> = forward.iter().chain(&reverse).filter_map(of).map(|link| link.delay).collect();
    let rates = Rates { forward: narrowest(&forward), reverse: narrowest(&reverse) };
    Path { forward, reverse, rates, rtt_s: Some(sum(&delays)) }
}

/// Refuses a name that comes twice; each has the key of its table.
pub fn differ<'a>(what: &str, names: impl Iterator<Item = (&'a str, Entry)>) -> Result<(), Refusal> {
    let mut seen = std::collections::BTreeSet::new();
    for (name, key) in names {
        if !seen.insert(name) {
            return refuse_key(
                key.to_string(),
                format!("two {what} are called \"{name}\""),
                "names that differ",
            );
        }
    }
    Ok(())
}
