//! Random plans of every kind, one for each seed: dumbbells, links in a row and parking lots with every queue
//! and router, varying rates, losses, disturbances and ticks; every algorithm and transport with some of its
//! parameters and options; background traffic; pauses.
//!
//! A plan is sized by the packets that its narrowest link can carry, so that a run takes milliseconds to
//! seconds.

use crate::common::{and, bulk, flow, link, onoff, short, surge, web, with};
use crate::plan_of::plan_of;
use longfat_net::queue::{Discipline, disciplines};
use longfat_net::router::{Router, routers};
use longfat_sim::Plan;
use longfat_transport::cc::{self, Kind, Parameter, Parameters, Value as Given, algorithms};
use longfat_transport::udp::{self, protocols};
use longfat_units::math::pow;
use longfat_units::{Rate, Stream};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Rates of the narrowest link, on a logarithmic scale, bit/s.
const RATES_BPS: (f64, f64) = (1e5, 1e10);
const DURATIONS_S: (f64, f64) = (0.002, 100.0);
/// Packets of the narrowest link: the least, and the most unless the caller asks for others.
pub const PACKETS: (f64, f64) = (300.0, 60_000.0);
/// Longest row of links.
const MOST_HOPS: u64 = 4;
/// Draws of a seed until the check of plans accepts one: some options do not go together.
const TRIES: u64 = 200;
/// A plan with many flows has more flows than this.
const FEW_FLOWS: u64 = 8;
const SOME_FLOWS: u64 = 64;
const MANY_FLOWS: u64 = 300;

/// What happens to a run besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pauses {
    None,
    /// It pauses at random times.
    Only,
    /// In pauses, rates of links and windows of flows are set.
    Changes,
}

/// A plan with a seed.
#[derive(Clone)]
pub struct Drawn {
    /// Its outline; see [`plan_of`].
    pub plan: Value,
    pub pauses: Pauses,
    /// What it has, in words.
    pub kinds: BTreeSet<String>,
}

/// Draws the plan of this seed, whose narrowest link can carry about this many packets.
///
/// # Panics
///
/// If the check of plans refuses all of the draws.
pub fn draw(seed: u64, packets: (f64, f64)) -> Drawn {
    let mut refused = String::new();
    for attempt in 0..TRIES {
        let drawn = Draw::new(seed, attempt, packets).drawn(seed);
        match Plan::from_json(&plan_of(&drawn.plan)).and_then(Plan::check) {
            Ok(_) => return drawn,
            Err(why) => refused = why.to_string(),
        }
    }
    panic!("seed {seed}: {TRIES} draws were refused, the last one with: {refused}")
}

/// What a plan may have. Most have only some of it: with more, plans would be all alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    /// Queues other than drop-tail.
    Queues,
    Losses,
    Vary,
    Tick,
    Disturb,
    /// Options of hosts.
    Options,
    Background,
}

/// The random choices of one plan.
struct Draw {
    stream: Stream,
    may: Vec<May>,
    kinds: BTreeSet<String>,
    /// The rate of the narrowest link, bit/s.
    rate: f64,
    packets: f64,
    duration: f64,
    /// About the flows' round-trip times, s.
    rtt: f64,
    hops: usize,
    /// Delay of each link of the row, in each direction, s.
    delays: Vec<f64>,
    parking_lot: bool,
    /// The router before some links.
    router: Option<(&'static Router, Value)>,
}

/// A path across the links, and the same back.
struct Path {
    forward: Vec<usize>,
    reverse: Vec<usize>,
    /// Two-way delay of its links, s.
    delay: f64,
}

fn given(parameters: &Value) -> Vec<(String, Given)> {
    let given = parameters.as_object().into_iter().flatten();
    let value =
        |value: &Value| value.as_f64().map(Given::Number).or(value.as_str().map(|w| Given::Word(w.into())));
    given.filter_map(|(name, v)| Some((name.clone(), value(v)?))).collect()
}

impl Draw {
    fn new(seed: u64, attempt: u64, packets: (f64, f64)) -> Self {
        let mut draw = Draw {
            stream: Stream::new(seed, &format!("random plan, attempt {attempt}")),
            may: Vec::new(),
            kinds: BTreeSet::new(),
            rate: 0.0,
            packets: 0.0,
            duration: 0.0,
            rtt: 0.0,
            hops: 1,
            delays: Vec::new(),
            parking_lot: false,
            router: None,
        };
        let all =
            [May::Queues, May::Losses, May::Vary, May::Tick, May::Disturb, May::Options, May::Background];
        draw.may = all.into_iter().filter(|_| draw.stream.unit() < 0.5).collect();
        draw.rate = draw.log(RATES_BPS.0, RATES_BPS.1);
        draw.packets = draw.log(packets.0, packets.1);
        draw.duration = (draw.packets * 12_000.0 / draw.rate).clamp(DURATIONS_S.0, DURATIONS_S.1);
        draw.rtt = (draw.duration / draw.log(4.0, 400.0)).clamp(2e-6, 0.6);
        draw
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.stream.unit() < probability
    }

    /// As `chance`, but never if the plan may not have that.
    fn may(&mut self, what: May, probability: f64) -> bool {
        self.chance(probability) && self.may.contains(&what)
    }

    fn log(&mut self, low: f64, high: f64) -> f64 {
        low * pow(high / low, self.stream.unit())
    }

    /// A share of the run, s.
    fn share(&mut self, low: f64, high: f64) -> f64 {
        self.duration * self.log(low, high)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.stream.below(n)
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    fn is(&mut self, kind: impl Into<String>) {
        self.kinds.insert(kind.into());
    }

    fn drawn(mut self, seed: u64) -> Drawn {
        self.layout();
        let links = self.links();
        let flows = match self.below(10) {
            0 => SOME_FLOWS + 1 + self.below(MANY_FLOWS - SOME_FLOWS),
            1 => FEW_FLOWS + 1 + self.below(SOME_FLOWS - FEW_FLOWS),
            _ => self.below(FEW_FLOWS + 1),
        };
        self.is(match flows {
            0 => "flows: none",
            1..=FEW_FLOWS => "flows: 1 to 8",
            _ if flows <= SOME_FLOWS => "flows: 9 to 64",
            _ => "flows: 65 to 300",
        });
        let flows = self.flows(flows);
        let parts = if flows.is_empty() || self.may(May::Background, 0.7) { 1 + self.below(2) } else { 0 };
        let background: Vec<Value> = (0..parts).map(|i| self.background(&format!("b{i}"))).collect();
        let mut window = [self.stream.unit() * self.duration, self.stream.unit() * self.duration];
        window.sort_by(f64::total_cmp);
        let window = if self.chance(0.3) { window } else { [0.0, self.duration] };
        let period = (self.duration / self.log(5.0, 200.0)).max(1e-5);
        let links_s = period * self.of(&[0.3, 1.0, 2.0]);
        let pauses = self.of(&[Pauses::None, Pauses::None, Pauses::None, Pauses::Only, Pauses::Changes]);
        self.is(match pauses {
            Pauses::None => "run: at once",
            Pauses::Only => "run: with pauses",
            Pauses::Changes => "run: rates and windows set in pauses",
        });
        let plan = json!({"seed": seed, "duration_s": self.duration, "window_s": window, "links": links,
            "flows": flows, "background": background, "events": self.chance(0.3), "fast": true,
            "sample": {"flows_s": period, "links_s": links_s.max(1e-5), "internals": self.chance(0.2)}});
        Drawn { plan, pauses, kinds: self.kinds }
    }

    fn layout(&mut self) {
        let (kind, row) = (self.below(10), 2 + self.below(MOST_HOPS - 1));
        (self.hops, self.parking_lot) = (if kind < 4 { 1 } else { row as usize }, kind >= 7);
        self.is(match (self.hops, self.parking_lot) {
            (1, _) => "network: dumbbell".to_owned(),
            (n, false) => format!("network: {n} links in a row"),
            (n, true) => format!("network: parking lot of {n}"),
        });
        let without = self.chance(0.03);
        let (hops, even) = (self.hops as f64, self.chance(0.5));
        self.delays = (0..self.hops)
            .map(|_| {
                let share = if even { 0.5 } else { self.log(0.01, 1.0) };
                if without || (hops == 1.0 && even) { 0.0 } else { share * self.rtt / hops }
            })
            .collect();
        if self.chance(0.3) {
            let router = self.of(&routers().collect::<Vec<_>>());
            let parameters = self.parameters(router.parameters, |p| router.checked(p).is_ok());
            self.router = Some((router, parameters));
        }
    }

    /// Some parameters of a registry entry near their defaults; none if they do not go together.
    fn parameters(&mut self, known: &[Parameter], fit: impl Fn(&[(String, Given)]) -> bool) -> Value {
        let mut chosen = json!({});
        for parameter in known {
            if !self.chance(0.25) {
                continue;
            }
            chosen[parameter.name] = match parameter.kind {
                Kind::Choice(words) => json!(self.of(words)),
                Kind::Number { default, least, greatest } => {
                    let near = (default * self.log(0.5, 2.0)).clamp(least, greatest);
                    json!(if default.fract() == 0.0 && default > 1.0 { near.round() } else { near })
                }
            };
        }
        if fit(&given(&chosen)) { chosen } else { json!({}) }
    }

    // Links

    fn links(&mut self) -> Vec<Value> {
        let narrow = self.below(self.hops as u64) as usize;
        let with_nodes = self.router.is_some() || self.chance(0.5);
        let mut links = Vec::new();
        for back in [false, true] {
            for i in 0..self.hops {
                let factor =
                    if i == narrow && !back { 1.0 } else { self.log(1.0, if back { 5.0 } else { 20.0 }) };
                let has_router = !back && (i == narrow || self.chance(0.7));
                let mut link =
                    self.link(&format!("{}{i}", if back { "back " } else { "" }), factor, has_router);
                link["delay_s"] = json!(self.delays[i]);
                if with_nodes {
                    link["nodes"] = json!(if back { [i + 1, i] } else { [i, i + 1] });
                }
                links.push(link);
            }
        }
        links
    }

    fn link(&mut self, name: &str, factor: f64, has_router: bool) -> Value {
        let rate = self.rate * factor;
        let mut link = link(name, rate, 1);
        link["queue"] = self.queue(rate);
        if let (Some((router, parameters)), true) = (self.router.clone(), has_router) {
            self.is(format!("router: {}", router.name));
            link["router"] = and(parameters, json!({"kind": router.name}));
        } else if self.chance(0.1) {
            link["layer2"] = json!(true);
        }
        for key in ["loss", "ack_loss"] {
            if self.may(May::Losses, 0.4) {
                link[key] = self.loss();
            }
        }
        if self.may(May::Vary, 0.5) {
            link["capacity"] = self.capacity(rate);
        }
        let tick_s =
            if self.may(May::Tick, 0.25) { (self.rtt * self.log(0.01, 1.0)).clamp(1e-6, 10.0) } else { 0.0 };
        if tick_s > 0.0 {
            self.is("link: ticks");
            link["service_tick_s"] = json!(tick_s);
            if self.chance(0.5) {
                link["clock"] = json!("common");
            }
        }
        if self.may(May::Disturb, 0.5) {
            link["disturbance"] = self.disturbance(tick_s > 0.0);
        }
        link
    }

    fn queue(&mut self, rate: f64) -> Value {
        let rows: Vec<&Discipline> = disciplines().collect();
        let row = if self.may(May::Queues, 0.8) { self.of(&rows) } else { rows[0] };
        self.is(format!("queue: {}", row.name));
        let parameters = self.parameters(row.parameters, |p| {
            Rate::from_bps(rate).is_some_and(|rate| row.checked(rate, p).is_ok())
        });
        let packets = self.log(1.0, 3000.0).ceil();
        let limit = match self.chance(0.3) {
            true => json!({"limit_bytes": (1500.0 * packets) as u64}),
            false => json!({"limit_packets": packets as u64}),
        };
        and(and(parameters, json!({"kind": row.name})), limit)
    }

    fn loss(&mut self) -> Value {
        let kind = self.of(&["random", "every", "gilbert_elliott"]);
        self.is(format!("loss: {kind}"));
        match kind {
            "random" => json!({"kind": kind, "probability": self.log(1e-5, 0.1)}),
            "every" => json!({"kind": kind, "packets": self.log(10.0, 5000.0) as u64}),
            _ => {
                json!({"kind": kind, "good_to_bad": self.log(1e-4, 0.05), "bad_to_good": self.log(0.02, 1.0),
                "loss_good": self.of(&[0.0, 0.001]), "loss_bad": self.of(&[0.3, 1.0])})
            }
        }
    }

    fn capacity(&mut self, rate: f64) -> Value {
        let kind = self.of(&["sine", "steps", "trace_ms"]);
        self.is(format!("rate: {kind}"));
        match kind {
            "sine" => {
                json!({kind: {"least_bps": (rate * self.log(0.1, 0.9)).max(1.0),
                    "period_s": self.share(0.05, 2.0).max(1e-3)}})
            }
            "steps" => {
                let mut at_s = 0.0;
                let steps = (0..1 + self.below(5)).map(|_| {
                    let step = json!([at_s, (rate * self.log(0.1, 1.0)).max(1.0)]);
                    at_s += self.share(0.01, 0.5).max(1e-6);
                    step
                });
                json!({kind: steps.collect::<Vec<_>>()})
            }
            _ => {
                // about a packet of the rate at each time, in bursts
                let (count, mut at_ms) = (1 + self.below(100), 0.0);
                let gap_ms = 2.0 * 12e6 / rate;
                let times = (0..count).map(|_| {
                    let together = self.chance(0.5);
                    at_ms += if together { 0.0 } else { gap_ms * self.stream.unit() };
                    at_ms
                });
                let mut times: Vec<f64> = times.collect();
                times.push(at_ms + gap_ms.max(1e-6));
                json!({kind: times})
            }
        }
    }

    fn disturbance(&mut self, ticks: bool) -> Value {
        let late = self.rtt * self.log(0.01, 2.0);
        let mut found = json!({});
        for kind in ["reorder", "jitter", "duplicate", "added_delay", "outages", "overtaking", "remark"] {
            // with a router the fast driver leaves copies to the oracle
            let probability = if kind == "duplicate" && self.router.is_some() { 0.03 } else { 0.3 };
            if !self.chance(probability) {
                continue;
            }
            self.is(format!("disturbance: {kind}"));
            found[kind] = match kind {
                "reorder" => json!({"probability": self.log(1e-4, 0.5), "delay_s": late}),
                "jitter" => json!(late),
                "duplicate" => json!(self.log(1e-4, 0.5)),
                "added_delay" if self.chance(0.5) => {
                    json!({"handovers": {"period_s": self.share(0.05, 0.5).max(0.1), "range_s": late}})
                }
                "added_delay" => {
                    let mut at_s = 0.0;
                    let steps = (0..1 + self.below(4)).map(|_| {
                        at_s += self.share(0.01, 0.4).max(1e-6);
                        json!([at_s, self.rtt * self.stream.unit()])
                    });
                    json!({"steps": steps.collect::<Vec<_>>()})
                }
                "outages" => {
                    let mut end_s = 0.0;
                    let outages = (0..1 + self.below(2)).map(|_| {
                        let (begin_s, length_s) =
                            (end_s + self.share(0.01, 0.7), self.share(0.001, 0.2).max(1e-6));
                        end_s = begin_s + length_s;
                        json!({"begin_s": begin_s, "length_s": length_s, "drains": ticks || self.chance(0.5)})
                    });
                    json!(outages.collect::<Vec<_>>())
                }
                "overtaking" => json!(true),
                _ => json!(self.of(&["mark", "bleach"])),
            };
        }
        found
    }

    // Flows

    fn path(&mut self) -> Path {
        let (mut first, mut end) = (0, self.hops);
        if self.parking_lot && self.chance(0.7) {
            first = self.below(self.hops as u64) as usize;
            end = first + 1 + self.below((self.hops - first) as u64) as usize;
        }
        let there: Vec<usize> = (first..end).collect();
        let back: Vec<usize> = (first..end).rev().map(|i| self.hops + i).collect();
        let delay = 2.0 * self.delays[first..end].iter().sum::<f64>();
        if self.chance(0.2) {
            self.is("flows: against the others");
            return Path { forward: back, reverse: there, delay };
        }
        Path { forward: there, reverse: back, delay }
    }

    /// A round-trip time over links of this two-way delay.
    fn rtt_of(&mut self, delay: f64) -> Value {
        if self.chance(if delay > 0.0 { 0.1 } else { 0.003 }) {
            self.is("host: no delay but that of its links");
            return json!(delay);
        }
        let least = delay + self.rtt * self.log(0.3, 3.0);
        match self.below(8) {
            0 => json!({"uniform": [least, 2.0 * least]}),
            1 => json!({"exponential": [least, 2.0 * least]}),
            2 => json!({"empirical": [[least, 1.0], [3.0 * least, 2.0]]}),
            _ => json!(least),
        }
    }

    /// Flows of a few kinds.
    fn flows(&mut self, count: u64) -> Vec<Value> {
        let templates: Vec<Value> = (0..count.min(4)).map(|_| self.flow()).collect();
        let span = self.share(0.001, 0.5);
        let sized = self.chance(0.3);
        let flows = (0..count).map(|i| {
            let mut flow = if i < 4 { templates[i as usize].clone() } else { self.of(&templates) };
            let path = self.path();
            (flow["name"], flow["forward"], flow["reverse"]) =
                (json!(i.to_string()), json!(path.forward), json!(path.reverse));
            flow["rtt_s"] = self.rtt_of(path.delay);
            flow["start_s"] = match self.below(4) {
                0 => json!(0.0),
                1 => json!({"uniform": [0.0, span]}),
                _ => json!(span * self.stream.unit()),
            };
            if sized && self.chance(0.5) {
                flow["bytes"] = json!(self.log(1.0, 1500.0 * self.packets) as u64 + 1);
            }
            flow
        });
        let flows = flows.collect();
        if sized {
            self.is("flows: some end");
        }
        flows
    }

    fn flow(&mut self) -> Value {
        let protocol = self.router.as_ref().map(|(router, parameters)| {
            let of = parameters["protocol"].as_str().map(str::to_owned);
            let default = router.parameters.iter().find(|p| p.name == "protocol").map(|p| match p.kind {
                Kind::Choice(words) => words[0].to_owned(),
                Kind::Number { .. } => String::new(),
            });
            of.or(default).unwrap_or_else(|| router.name.to_owned())
        });
        let speaks = |row: &cc::Algorithm| row.properties.protocol.map(|p| p.name);
        let explicit: Vec<_> = algorithms().filter(|row| protocol.as_deref() == speaks(row)).collect();
        let others: Vec<_> = algorithms().filter(|row| speaks(row).is_none()).collect();
        if protocol.as_deref() == Some("ptp") && self.chance(0.6) {
            return self.datagrams("cadpc");
        }
        if protocol.is_some() && !explicit.is_empty() && self.chance(0.7) {
            let row = self.of(&explicit);
            return self.segments(row);
        }
        if self.chance(0.2) {
            let row = self.of(&protocols().filter(|row| row.name != "cadpc").collect::<Vec<_>>());
            return self.datagrams(row.name);
        }
        let row = self.of(&others);
        self.segments(row)
    }

    /// The host's own link.
    fn access(&mut self) -> f64 {
        match self.below(3) {
            0 => {
                self.is("host: its link takes no time");
                1e14
            }
            1 => 1e9,
            _ => (self.rate * self.log(0.5, 100.0)).clamp(1e3, 1e14),
        }
    }

    fn datagrams(&mut self, name: &str) -> Value {
        self.is(format!("transport: {name}"));
        let Some(row) = udp::find(name) else { unreachable!("{name} is in the list of protocols") };
        let access = self.access();
        let mbps = self.rate.min(access) / 1e6 * self.log(0.05, 1.0);
        let mut parameters = self.parameters(row.parameters, |_| true);
        for parameter in row.parameters {
            let value = match parameter.name {
                "rate" | "target_rate" => mbps.max(0.001),
                "on" | "off" => self.share(0.01, 0.5).max(1e-3),
                "payload" => self.log(3000.0, 1500.0 * self.packets) / f64::from(1 << 20),
                _ => continue,
            };
            parameters[parameter.name] = json!(value);
        }
        if Rate::from_bps(access).is_none_or(|line| row.check(&given(&parameters), line).is_err()) {
            parameters = json!({});
        }
        let mut flow = with(flow("", name), json!({"parameters": parameters, "access_rate_bps": access}));
        self.options(&mut flow, &[("mss", &[json!(500), json!(8948)]), ("host_tick", &[json!(0.001)])]);
        flow
    }

    fn segments(&mut self, row: &cc::Algorithm) -> Value {
        self.is(format!("algorithm: {}", row.name));
        let parameters =
            self.parameters(row.parameters, |p| Parameters::new(row.name, row.parameters, p).is_ok());
        let header_bytes = 52 + row.properties.protocol.map_or(0, |p| p.header_bytes);
        let access = self.access();
        let changes =
            json!({"parameters": parameters, "header_bytes": header_bytes, "access_rate_bps": access});
        let mut flow = with(flow("", row.name), changes);
        let span = |s: f64| json!(s.max(1e-6));
        let r = self.rtt;
        let any = [json!(false), json!(true)];
        let ecn = if row.properties.protocol.is_some() {
            any[..1].to_vec()
        } else {
            vec![json!(true), json!("accurate"), json!("l4s")]
        };
        let detections = ["rack", "sack", "newreno", "reno-classic", "tahoe"].map(Value::from);
        let recoveries = ["rate-halving-to-half", "prr", "prr-9937", "immediate"].map(Value::from);
        let quick_start: &[Value] = match &self.router {
            Some((router, _)) if router.name == "quickstart" => &[json!(1e6), json!(1e9)],
            _ => &[],
        };
        self.options(
            &mut flow,
            &[
                ("mss", &[json!(64), json!(500), json!(8948)]),
                ("initial_window", &[json!(1.0), json!(2.5), json!(10.0), json!(100.0)]),
                ("initial_ssthresh", &[json!(2.0), json!(40.5)]),
                ("max_window", &[json!(1.0), json!(7.5), json!(1000.0)]),
                ("max_burst", &[json!(1.0), json!(3.0), json!(50.0)]),
                ("slow_start", &[json!("limited"), json!("hystart++"), json!("search")]),
                ("ecn", &ecn),
                ("ecn", &ecn),
                ("abe", if row.properties.beta_ecn.is_some() { &any[1..] } else { &[] }),
                ("ssthresh_cache", &any),
                ("byte_counting", &any),
                ("cwnd_moderation", &any),
                ("timestamps", &any),
                ("slow_start_limit", &[json!(1.0), Value::Null]),
                ("loss_detection", &detections),
                ("recovery", &recoveries),
                ("timeout_reductions", &[json!("each")]),
                ("first_reduction", &[json!("half")]),
                ("rtt_samples", &[json!("last"), json!("numbered")]),
                ("rto_min", &[json!(0.0), json!(0.01), json!(1.0)]),
                ("rto_min_of", &[json!("timeout")]),
                ("rto_tick", &[json!(0.01), json!(0.1)]),
                ("backoff_until", &[json!("new-segment")]),
                ("initial_rto", &[json!(0.02), json!(3.0)]),
                ("stop_s", &[json!(0.7 * self.duration)]),
                ("quick_start", quick_start),
            ],
        );
        let policies: &[(&str, &[Value])] = &[
            ("delayed_ack", &any[..1]),
            ("delayed_ack_timeout", &[json!(1e-3), json!(0.2)]),
            ("quick_acks", &[json!(0), json!(3)]),
            ("sack_compression", &[json!(1e-3), span(r / 9.0)]),
            (
                "receiver",
                &[
                    json!({"conceal_losses": true}),
                    json!({"ack_ahead": 5, "hide_marks": true}),
                    json!({"divide_acks": 3, "hide_marks": true}),
                    json!({"conceal_losses": true, "divide_acks": 2}),
                ],
            ),
        ];
        if self.options(&mut flow, policies) {
            self.is("host: another ACK policy");
            if flow.get("receiver").is_some() && flow["max_window"].is_null() {
                flow["max_window"] = json!(300.0); // it hides losses, so the window would grow forever
            }
        }
        let ticks: &[(&str, &[Value])] = &[
            ("host_tick", &[json!(0.001), span(r / 7.0)]),
            ("interrupt_moderation", &[json!(1e-4), span(r / 11.0)]),
            ("send_jitter", &[json!(1e-5), span(r / 9.0)]),
        ];
        if self.options(&mut flow, ticks) {
            self.is("host: ticks, interrupts or jitter");
        }
        flow
    }

    /// Sets some of the keys. Returns whether it has set any.
    fn options(&mut self, flow: &mut Value, choices: &[(&str, &[Value])]) -> bool {
        let mut any = false;
        for (key, values) in choices {
            if self.may(May::Options, 0.1) && !values.is_empty() {
                flow[*key] = self.of(values);
                any = true;
            }
        }
        any
    }

    // Background

    fn background(&mut self, name: &str) -> Value {
        let kind = self.of(&["web", "surge", "short", "bulk", "onoff"]);
        self.is(format!("background: {kind}"));
        let few = 1 + self.below(12);
        let mut part = match kind {
            "web" => with(web(name, few), json!({"gap_s": self.share(0.01, 1.0).max(1e-4)})),
            "surge" => {
                let rest_s = self.share(1e-6, 0.1).max(1e-6);
                let mut users = surge(name, few);
                let changes = json!({"active_off_scale_s": rest_s, "inactive_off_least_s": rest_s,
                    "largest_bytes": 1e6, "tail_share": self.of(&[0.0, 0.07])});
                users["habits"] = with(users["habits"].clone(), changes);
                users
            }
            "short" => {
                // the mean size is some 20 packets
                let gap_s = (self.duration * 20.0 / self.packets).max(self.duration / 2000.0);
                with(short(name), json!({"gap_s": gap_s.max(1e-6)}))
            }
            "bulk" => bulk(name, few),
            _ => onoff(name, few),
        };
        let path = self.path();
        let mut connection = if kind == "onoff" {
            self.datagrams("onoff")
        } else if self.chance(0.5) {
            let rows: Vec<_> = algorithms().filter(|row| row.properties.protocol.is_none()).collect();
            let row = self.of(&rows);
            self.segments(row)
        } else {
            part["flow"].take()
        };
        if let Some(keys) = connection.as_object_mut() {
            ["name", "start_s", "bytes"].iter().for_each(|key| drop(keys.remove(*key)));
        }
        (connection["forward"], connection["reverse"]) = (json!(path.forward), json!(path.reverse));
        connection["rtt_s"] = self.rtt_of(path.delay);
        part["flow"] = connection;
        part
    }
}
