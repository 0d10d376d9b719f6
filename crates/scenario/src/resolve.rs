//! Turns a scenario into its plan: every default filled in, every derived value worked out, in SI units,
//! every flow with its own entry.

use crate::forms::{Algorithm, Buffer, Drawn, Element, Rate};
use crate::keys::Given;
use crate::network::{LINKS, Network, Path, Way};
use crate::plan::{
    BackgroundPlan, BulkPlan, CapacityPlan, ConnectionPlan, DisturbancePlan, FlowPlan, LinkPlan, OnoffPlan,
    Plan, QueuePlan, RouterPlan, SamplePlan, ShortPlan, SizesPlan, SurgePlan, TrafficPlan, WebPlan,
};
use crate::problem::Refusal;
use crate::tables::{Background, Bottleneck, Direction, Disturbed, Scenario, Transport};
use longfat_net::{LossModel, queue, router};
use longfat_units::Entry;
use longfat_units::parameters::Value as Setting;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A plan, and the keys of the scenario behind it.
pub struct Resolved {
    /// What runs.
    pub plan: Plan,
    /// The table behind each link, such as "link.0".
    pub links: Vec<String>,
    /// The table behind each flow.
    pub flows: Vec<usize>,
    /// The table behind each background.
    pub background: Vec<usize>,
    /// The rate of the hosts' own links, bit/s.
    pub access_bps: f64,
}

impl Resolved {
    /// The scenario's key behind one of the plan: "link.0.router" for "links[0].router".
    pub fn written_key(&self, key: &str) -> String {
        let found = key.split_once('[').and_then(|(kind, rest)| {
            let (number, rest) = rest.split_once(']')?;
            Some((kind, number.parse::<usize>().ok()?, rest.trim_start_matches('.')))
        });
        let Some((kind, number, rest)) = found else { return key.to_owned() };
        let rest = rest.strip_suffix("_s").or_else(|| rest.strip_suffix("_bps")).unwrap_or(rest);
        let (owner, rest) = match kind {
            "links" => {
                let is_reverse = self
                    .plan
                    .links
                    .get(number)
                    .is_some_and(|link| link.name == LINKS[1] && link.nodes.is_none());
                let of_reverse = match rest {
                    "rate" => "reverse_rate",
                    "buffer" | "queue.limit_packets" => "reverse_buffer",
                    "queue" => "reverse_queue",
                    other => other,
                };
                (self.links.get(number).cloned(), if is_reverse { of_reverse } else { rest })
            }
            "flows" => (self.flows.get(number).map(|table| format!("flow.{table}")), rest),
            "background" => {
                let table = self.background.get(number).map(|table| format!("background.{table}"));
                (table, rest.strip_prefix("flow.").unwrap_or(rest))
            }
            _ => (None, rest),
        };
        match owner {
            None => key.to_owned(),
            Some(owner) if rest.is_empty() => owner,
            Some(owner) => format!("{owner}.{rest}"),
        }
    }
}

/// The plan of a scenario. The same scenario always gives the same plan.
///
/// `fast` allows the fast driver and queues; results are the same without.
///
/// # Errors
///
/// The parts of the scenario do not fit together; one that was read does not fail.
pub fn resolve(scenario: &Scenario, fast: bool) -> Result<Resolved, Refusal> {
    let network = scenario.network()?;
    let (links, link_keys) = match &scenario.bottleneck {
        Some(bottleneck) => (dumbbell(&network, bottleneck), vec!["bottleneck".to_owned(); 2]),
        None => {
            let links = network.ways.iter().filter_map(|way| link(&network, way)).collect();
            (links, network.ways.iter().map(|way| format!("link.{}", way.position)).collect())
        }
    };
    let (flows, flow_tables) = flows(scenario, &network);
    let (background, background_tables) = backgrounds(scenario, &network);
    let plan = Plan {
        seed: scenario.seed as u64,
        duration_s: scenario.duration,
        window_s: scenario.metrics_window_s(),
        links,
        flows,
        background,
        sample: SamplePlan {
            flows_s: scenario.sample.cwnd,
            links_s: scenario.sample.queue,
            internals: scenario.sample.internals,
        },
        events: scenario.sample.events,
        fast,
    };
    let access_bps = network.access_bps;
    Ok(Resolved { plan, links: link_keys, flows: flow_tables, background: background_tables, access_bps })
}

fn flows(scenario: &Scenario, network: &Network<'_>) -> (Vec<FlowPlan>, Vec<usize>) {
    let mut names = scenario.flow_names().into_iter();
    let (mut flows, mut tables) = (Vec::new(), Vec::new());
    for (table, flow) in scenario.flow.iter().enumerate() {
        let path = &network.flows[table];
        let rtt = flow.rtt.clone();
        let connection = connection(network, &flow.transport, path, rtt, flow.is_reverse(), flow.stop);
        for number in 0..flow.count {
            flows.push(FlowPlan {
                name: names.next().unwrap_or_default(),
                start_s: flow.start.later(flow.stagger * number as f64),
                bytes: flow.bytes.map(|bytes| bytes as u64),
                hosts: flow.ssthresh_cache.then_some(table as u64),
                connection: connection.clone(),
            });
            tables.push(table);
        }
    }
    (flows, tables)
}

fn backgrounds(scenario: &Scenario, network: &Network<'_>) -> (Vec<BackgroundPlan>, Vec<usize>) {
    let (mut found, mut tables) = (Vec::new(), Vec::new());
    for (table, name) in scenario.background_names().into_iter().enumerate() {
        let part = filled_background(scenario, network, table);
        let common = part.connections();
        for direction in common.directions() {
            let is_reverse = *direction == Direction::Reverse;
            let word = if is_reverse { "reverse" } else { "forward" };
            let name = if common.directions().len() > 1 { format!("{name}-{word}") } else { name.clone() };
            let path = &network.backgrounds[table];
            let flow =
                connection(network, &common.transport, path, common.rtt.clone(), is_reverse, common.stop);
            found.push(BackgroundPlan { name, flow, traffic: traffic(&part) });
            tables.push(table);
        }
    }
    (found, tables)
}

/// A background with every default filled in, and its load worked out.
pub fn filled_background(scenario: &Scenario, network: &Network<'_>, table: usize) -> Background {
    let mut part = network.loaded(table);
    if scenario.link.is_empty() && scenario.background[table].connections().rtt.is_none() {
        let rtt = scenario.flow.first().and_then(|flow| flow.rtt.clone());
        part.connections_mut().rtt = rtt.clone();
        // a load of users depends on their RTT
        if let Some(rtt) = rtt {
            part = part.loaded(network.backgrounds[table].rates, Some(rtt.mean()));
        }
    }
    let common = part.connections_mut();
    common.placed.transport.algorithm = common.algorithm.filled();
    part
}

fn traffic(part: &Background) -> TrafficPlan {
    match part {
        Background::Web(web) => TrafficPlan::Web(WebPlan {
            sessions: web.sessions as u64,
            gap_s: web.gap,
            page_bytes: web.page,
            shape: web.shape,
        }),
        Background::Surge(surge) => {
            TrafficPlan::Surge(SurgePlan { users: surge.users.unwrap_or(0) as u64, habits: surge.habits() })
        }
        Background::Short(short) => TrafficPlan::Short(ShortPlan {
            gap_s: short.gap.unwrap_or(f64::NAN),
            sizes: match &short.sizes {
                None => SizesPlan::Files(short.files()),
                Some(rows) => SizesPlan::Empirical(rows.clone()),
            },
        }),
        Background::Bulk(bulk) => {
            TrafficPlan::Bulk(BulkPlan { flows: bulk.flows as u64, start_s: bulk.start.clone() })
        }
        Background::Onoff(onoff) => TrafficPlan::Onoff(OnoffPlan {
            sources: onoff.sources as u64,
            start_s: onoff.start.as_ref().map_or(Drawn::Fixed(0.0), Clone::clone),
        }),
    }
}

/// The options of the connections of a part, there or back.
fn connection(
    network: &Network<'_>,
    part: &Transport,
    path: &Path,
    rtt: Option<Drawn>,
    is_reverse: bool,
    stop_s: Option<f64>,
) -> ConnectionPlan {
    let (forward, reverse) =
        if is_reverse { (&path.reverse, &path.forward) } else { (&path.forward, &path.reverse) };
    let rtt = path.rtt_s.map(Drawn::Fixed).or(rtt).unwrap_or(Drawn::Fixed(0.0));
    let transport = Transport {
        algorithm: part.algorithm.filled(),
        mss: part.mss.trunc(),
        recovery: Some(part.recovery_used()),
        given: Given::default(),
        ..part.clone()
    };
    ConnectionPlan {
        transport: Arc::new(transport),
        header_bytes: part.header_bytes(),
        needs_marks: part.algorithm.needs_marks(),
        forward: forward.clone(),
        reverse: reverse.clone(),
        rtt_s: rtt,
        access_rate_bps: network.access_bps,
        stop_s,
    }
}

fn settings(parameters: Vec<(&'static str, Setting)>) -> BTreeMap<String, Setting> {
    parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn capacity(rate: &Rate) -> Option<CapacityPlan> {
    match rate {
        Rate::Constant(_) => None,
        Rate::Sine(sine) => Some(CapacityPlan::Sine { least_bps: sine.min, period_s: sine.period_s }),
        Rate::Steps(steps) => Some(CapacityPlan::Steps(steps.clone())),
        Rate::Trace(times, ..) => Some(CapacityPlan::TraceMs(times.to_vec())),
    }
}

/// A queue with whole packets that fit, at least one; a buffer in bytes counts bytes.
fn queue_plan(network: &Network<'_>, element: &Element, buffer: &Buffer, rate_bps: f64) -> QueuePlan {
    let bytes = if let Buffer::Bytes(bytes) = buffer { Some(*bytes) } else { None };
    let packets = || network.whole_packets(buffer, rate_bps).max(1);
    let row = queue::find(element.kind).map(|row| &row.entry);
    QueuePlan {
        kind: element.kind.to_owned(),
        limit_packets: bytes.is_none().then(packets),
        limit_bytes: bytes,
        parameters: element_settings(row, element),
    }
}

fn router_plan(element: &Element) -> RouterPlan {
    let row = router::find(element.kind).map(|row| &row.entry);
    RouterPlan { kind: element.kind.to_owned(), parameters: element_settings(row, element) }
}

fn element_settings(row: Option<&Entry>, element: &Element) -> BTreeMap<String, Setting> {
    settings(row.map(|row| element.filled(row)).unwrap_or_default())
}

fn dumbbell(network: &Network<'_>, bottleneck: &Bottleneck) -> Vec<LinkPlan> {
    let tick = bottleneck.service_tick;
    let clock = (tick > 0.0).then(|| LINKS[0].to_owned());
    let there = LinkPlan {
        name: LINKS[0].to_owned(),
        rate_bps: bottleneck.rate.bps(),
        capacity: capacity(&bottleneck.rate),
        nodes: None,
        layer2: false,
        delay_s: 0.0,
        service_tick_s: tick,
        clock: clock.clone(),
        queue: queue_plan(network, &bottleneck.queue, &bottleneck.buffer, bottleneck.rate.bps()),
        router: bottleneck.router.as_ref().map(router_plan),
        loss: bottleneck.loss,
        ack_loss: LossModel::None,
        disturbance: disturbance(&bottleneck.disturbed, LINKS[0], false),
    };
    let (back_bps, buffer) = (bottleneck.reverse_bps(), network.reverse_buffer(bottleneck));
    let back = LinkPlan {
        name: LINKS[1].to_owned(),
        rate_bps: back_bps,
        capacity: None,
        queue: queue_plan(network, &bottleneck.reverse_queue, &buffer, back_bps),
        router: None,
        loss: LossModel::None,
        ack_loss: bottleneck.ack_loss,
        disturbance: disturbance(&bottleneck.disturbed, LINKS[0], true),
        clock,
        ..there.clone()
    };
    vec![there, back]
}

fn link(network: &Network<'_>, way: &Way<'_>) -> Option<LinkPlan> {
    let link = way.link?;
    let (medium, _) = link.names();
    let (queue, router, data_loss) = if way.is_back {
        (&Element::DROPTAIL, None, LossModel::None)
    } else {
        (&link.queue, link.router.as_ref(), link.loss)
    };
    let ack_loss = if way.is_back || !link.duplex { link.ack_loss } else { LossModel::None };
    Some(LinkPlan {
        name: way.name.clone(),
        rate_bps: link.rate.bps(),
        capacity: if way.is_back { None } else { capacity(&link.rate) },
        nodes: way.nodes.map(|(from, to)| (from as u32, to as u32)),
        layer2: link.layer == 2,
        delay_s: link.delay,
        service_tick_s: link.service_tick,
        clock: (link.service_tick > 0.0).then(|| medium.clone()),
        queue: queue_plan(network, queue, &link.buffer, link.rate.bps()),
        router: router.map(router_plan),
        loss: data_loss,
        ack_loss,
        disturbance: disturbance(&link.disturbed, &medium, way.is_back),
    })
}

/// What disturbs packets of one direction; `medium` is the name of what both directions share.
fn disturbance(disturbed: &Disturbed, medium: &str, is_back: bool) -> Option<DisturbancePlan> {
    let disturbed = if is_back { disturbed.on_the_way_back() } else { disturbed.clone() };
    let disturbed = Disturbed { given: Given::default(), ..disturbed };
    disturbed.is_in_effect().then(|| DisturbancePlan { disturbed, medium: medium.to_owned() })
}

/// The same scenario with every default written out, also those that follow from other values.
///
/// # Errors
///
/// As [`resolve`].
pub fn filled(scenario: &Scenario) -> Result<Scenario, Refusal> {
    let network = scenario.network()?;
    let mut whole = scenario.clone();
    whole.window = Some(scenario.metrics_window_s());
    if let Some(bottleneck) = &mut whole.bottleneck {
        bottleneck.reverse_buffer = Some(network.reverse_buffer(bottleneck));
        bottleneck.buffer_rtt = Some(network.buffer_rtt_s).filter(|&rtt_s| rtt_s > 0.0);
        bottleneck.access_rate = Some(bottleneck.access_bps());
        bottleneck.reverse_rate = Some(bottleneck.reverse_bps());
        fill_queue(&mut bottleneck.queue);
        fill_queue(&mut bottleneck.reverse_queue);
        bottleneck.router.iter_mut().for_each(fill_router);
    }
    for link in &mut whole.link {
        if !link.duplex && link.name.is_none() {
            // with a way back, writing the default name out would change the name of that
            link.name = Some(link.names().0);
        }
        fill_queue(&mut link.queue);
        link.router.iter_mut().for_each(fill_router);
    }
    for flow in &mut whole.flow {
        flow.placed.transport.algorithm = Algorithm::filled(&flow.algorithm);
    }
    for (table, name) in scenario.background_names().into_iter().enumerate() {
        let mut part = filled_background(scenario, &network, table);
        part.connections_mut().name = Some(name);
        whole.background[table] = part;
    }
    Ok(whole)
}

fn fill_queue(element: &mut Element) {
    if let Some(row) = queue::find(element.kind) {
        element.parameters = element.filled(&row.entry);
    }
}

fn fill_router(element: &mut Element) {
    if let Some(row) = router::find(element.kind) {
        element.parameters = element.filled(&row.entry);
    }
}
