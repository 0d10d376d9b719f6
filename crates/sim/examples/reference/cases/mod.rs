//! The reference work: the plan of each case.

mod networks;

use crate::plan_of::plan_of;
use networks::Crossing;
use serde_json::{Value, json};

/// Packets of a `scale` run, unless its shortest time asks for more.
const SCALE_PACKETS: f64 = 2e6;
const SCALE_SHORTEST_S: f64 = 20.0;
/// Bits of a full packet.
const PACKET_BITS: f64 = 12_000.0;
/// They offer 40 % of 1 Gbit/s: a page a second, of 9400 bytes and headers of 52 bytes for each 1448 of them.
const WEB_SESSIONS_40_PERCENT: u64 = 5134;

/// Which links there are, and which of them a flow crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// One link that all flows share, and one for their acknowledgements.
    Dumbbell,
    /// See [`networks::figure_17`]; rates, buffers, flows and round-trip times are the network's own.
    Figure17,
    /// See [`networks::parking_lot`].
    ParkingLot,
}

/// Flows of one algorithm on a network.
#[derive(Clone)]
pub struct Case {
    /// Name on the command line.
    pub name: &'static str,
    /// Description.
    pub title: &'static str,
    pub network: Network,
    pub rate_bps: f64,
    pub buffer_packets: u64,
    pub access_bps: f64,
    pub duration_s: f64,
    pub algorithm: &'static str,
    pub flows: u32,
    /// Round-trip times of the first and the last flow; the others are spread evenly between them. Behind a
    /// parking lot, what lies outside of it.
    pub rtt_s: (f64, f64),
    /// Time between the starts of one flow and the next.
    pub stagger_s: f64,
    /// Segments.
    pub initial_window: f64,
    /// Largest window of each flow, segments; unlimited if `None`.
    pub max_window: Option<f64>,
    /// Where each flow leaves slow-start, segments; at the first loss or mark if `None`.
    pub initial_ssthresh: Option<f64>,
    /// Random loss of data packets at the bottleneck.
    pub loss: f64,
    /// Web sessions, each with a mean gap of 1 s, pages of 9400 bytes on average, Pareto shape 1.2.
    pub web_sessions: u64,
    pub sample_s: f64,
    /// Discipline of the bottleneck's queue, or a kind that is no discipline; see `link` and, for the network
    /// of figure 17, [`networks::figure_17`].
    pub bottleneck: String,
    /// A plan as JSON, in place of all that.
    pub text: Option<String>,
}

/// Every case with a name. `scale` takes its rate, buffer and time from the number of flows.
pub fn all() -> Vec<Case> {
    let w1 = Case {
        name: "w1",
        title: "2 HSTCP, 250 Mbit/s, 42 ms",
        network: Network::Dumbbell,
        rate_bps: 250e6,
        buffer_packets: 175,
        access_bps: 1e9,
        duration_s: 600.0,
        algorithm: "hstcp",
        flows: 2,
        rtt_s: (0.042, 0.042),
        stagger_s: 5.0,
        initial_window: 3.0,
        max_window: None,
        initial_ssthresh: None,
        loss: 0.0,
        web_sessions: 0,
        sample_s: 0.1,
        bottleneck: "droptail".to_owned(),
        text: None,
    };
    let w2 = Case {
        name: "w2",
        title: "1 HSTCP, 1 Gbit/s, 200 ms",
        rate_bps: 1e9,
        buffer_packets: 12_500,
        access_bps: 1e10,
        duration_s: 200.0,
        flows: 1,
        rtt_s: (0.2, 0.2),
        ..w1.clone()
    };
    let w3 = Case {
        name: "w3",
        title: "200 NewReno, 1 Gbit/s, 20-200 ms",
        buffer_packets: 8333,
        duration_s: 60.0,
        algorithm: "newreno",
        flows: 200,
        rtt_s: (0.02, 0.2),
        stagger_s: 0.0,
        ..w2.clone()
    };
    let w4 = Case {
        name: "w4",
        title: "40 DCTCP, figure 17, step marking",
        network: Network::Figure17,
        access_bps: 1e12,
        duration_s: 5.0,
        algorithm: "dctcp",
        flows: 40,
        // ten of them are the second in which ns-3's example starts its flows
        stagger_s: 0.1,
        // RFC 6928, and ns-3's default
        initial_window: 10.0,
        // ns-3's default send buffer, 131072 bytes; without it, slow-start fills the hosts' own links
        max_window: Some(90.0),
        bottleneck: "step".to_owned(),
        ..w3.clone()
    };
    let w5 = Case {
        name: "w5",
        title: "30 CUBIC, 5 x 1 Gbit/s, 24-60 ms",
        network: Network::ParkingLot,
        buffer_packets: 10_000,
        algorithm: "cubic",
        flows: 30,
        rtt_s: (0.02, 0.04),
        stagger_s: 0.05,
        bottleneck: "fq_codel".to_owned(),
        ..w3.clone()
    };
    let w6 = Case {
        name: "w6",
        title: "20 CUBIC, 40 % web, 1 Gbit/s, 20-80 ms",
        algorithm: "cubic",
        flows: 20,
        rtt_s: (0.02, 0.08),
        loss: 1e-5,
        web_sessions: WEB_SESSIONS_40_PERCENT,
        bottleneck: "codel".to_owned(),
        ..w3.clone()
    };
    let ten_gigabit = Case {
        name: "10g",
        title: "1 HSTCP, 10 Gbit/s, 100 ms",
        rate_bps: 1e10,
        buffer_packets: 16_667,
        access_bps: 4e10,
        duration_s: 30.0,
        rtt_s: (0.1, 0.1),
        ..w2.clone()
    };
    let loss =
        Case { name: "loss", title: "W3 with 1 % random loss", duration_s: 120.0, loss: 0.01, ..w3.clone() };
    let web = Case {
        name: "web",
        title: "50 web sessions alone, 10 Mbit/s",
        rate_bps: 10e6,
        buffer_packets: 50,
        duration_s: 3000.0,
        flows: 0,
        rtt_s: (0.1, 0.1),
        web_sessions: 50,
        ..w3.clone()
    };
    let many = Case {
        name: "10k",
        title: "10000 NewReno, 10 Gbit/s, 20-200 ms",
        rate_bps: 1e10,
        buffer_packets: 83_333,
        duration_s: 5.0,
        flows: 10_000,
        sample_s: 1.0,
        ..w3.clone()
    };
    let scale = Case {
        name: "scale",
        title: "N NewReno, 1 Mbit/s each, 20-200 ms",
        initial_ssthresh: Some(8.0),
        sample_s: 1.0,
        ..w3.clone()
    };
    let ten = Case {
        name: "ten",
        title: "10 NewReno, 200 Mbit/s, 20-80 ms",
        rate_bps: 200e6,
        buffer_packets: 1667,
        access_bps: 1e9,
        flows: 10,
        rtt_s: (0.02, 0.08),
        ..w3.clone()
    };
    let w7 = Case {
        name: "w7",
        title: "100000 NewReno, 100 Gbit/s, 20-200 ms",
        duration_s: 2.0,
        ..scale.clone().with_flows(100_000)
    };
    vec![w1, w2, w3, w4, w5, w6, w7, ten_gigabit, loss, web, many, ten, scale.with_flows(10)]
}

/// A link without losses.
fn plain(name: &str, rate_bps: f64, delay_s: f64, queue: Value) -> Value {
    json!({"name": name, "rate_bps": rate_bps, "delay_s": delay_s, "loss": {"kind": "none"},
        "ack_loss": {"kind": "none"}, "queue": queue})
}

impl Case {
    /// A plan as JSON.
    pub fn of_plan(self, text: String) -> Case {
        Case { name: "plan", title: "a plan", text: Some(text), ..self }
    }

    /// The same case with another number of flows. Each flow of `scale` keeps its share of the rate and of
    /// the buffer, and the duration changes so that the number of packets hardly does. Flows start within one
    /// second and leave slow-start near their share; otherwise short runs with many flows would consist of
    /// slow-start and losses only.
    pub fn with_flows(self, flows: u32) -> Case {
        if self.name != "scale" {
            return Case { flows, ..self };
        }
        let rate_bps = 1e6 * f64::from(flows);
        Case {
            flows,
            rate_bps,
            buffer_packets: (0.1 * rate_bps / PACKET_BITS).ceil() as u64,
            stagger_s: 1.0 / f64::from(flows),
            duration_s: (SCALE_PACKETS * PACKET_BITS / rate_bps).max(SCALE_SHORTEST_S),
            ..self
        }
    }

    /// Connections across the first two links; each has a host of its own at either end.
    fn connection(&self, rtt_s: f64) -> Value {
        // a router helps only flows that speak its protocol; its header adds 20 bytes to each packet
        // as scenario files have it
        let recovery = if self.algorithm == "dctcp" { "prr" } else { "rate-halving" };
        let (algorithm, header_bytes, loss_detection) = match self.bottleneck.as_str() {
            "xcp" => ("xcp", 72, None),
            _ => (self.algorithm, 52, Some("sack")),
        };
        json!({"algorithm": algorithm, "parameters": {}, "forward": [0], "reverse": [1], "rtt_s": rtt_s,
            "access_rate_bps": self.access_bps, "mss": 1448, "header_bytes": header_bytes,
            "initial_ssthresh": self.initial_ssthresh, "initial_window": self.initial_window,
            "max_window": self.max_window, "slow_start": "standard", "max_ssthresh": 100.0,
            "delayed_ack": true, "delayed_ack_timeout": 0.04, "byte_counting": true,
            "loss_detection": loss_detection, "recovery": recovery, "host_tick": 0.0, "rto_min": 0.2, "ecn": false})
    }

    /// A link with drop-tail at a constant rate, except for what its kind says. Kinds that are no
    /// disciplines: `steps` halves the rate after a sixth of the time, restores it after a third, and takes a
    /// quarter away after half; `sine` goes down to half the rate and back in 10 s; `xcp` adds a router.
    fn link(&self, name: &str, kind: &str, loss: f64) -> Value {
        let loss =
            if loss > 0.0 { json!({"kind": "random", "probability": loss}) } else { json!({"kind": "none"}) };
        let (rate, time) = (self.rate_bps, self.duration_s);
        let queue = |discipline: &str| json!({"kind": discipline, "limit_packets": self.buffer_packets});
        let mut link = plain(name, rate, 0.0, queue("droptail"));
        link["loss"] = loss;
        match kind {
            "steps" => {
                let steps =
                    [(0.0, rate), (time / 6.0, 0.5 * rate), (time / 3.0, rate), (0.5 * time, 0.75 * rate)];
                link["capacity"] = json!({"steps": steps});
            }
            "sine" => link["capacity"] = json!({"sine": {"least_bps": 0.5 * rate, "period_s": 10.0}}),
            "xcp" => link["router"] = json!({"kind": "xcp", "alpha": 0.4, "beta": 0.226, "gamma": 0.1}),
            discipline => link["queue"] = queue(discipline),
        }
        link
    }

    /// Round-trip time of a flow; see `rtt_s`.
    fn rtt_of(&self, flow: u32) -> f64 {
        let share = f64::from(flow) / f64::from(self.flows.max(2) - 1);
        self.rtt_s.0 + share * (self.rtt_s.1 - self.rtt_s.0)
    }

    fn dumbbell(&self) -> (Vec<Value>, Vec<Crossing>) {
        let crossings = (0..self.flows).map(|i| Crossing {
            name: (i + 1).to_string(),
            forward: vec![0],
            reverse: vec![1],
            rtt_s: self.rtt_of(i),
            start_s: self.stagger_s * f64::from(i),
        });
        let links =
            [self.link("bottleneck", &self.bottleneck, self.loss), self.link("reverse", "droptail", 0.0)];
        (links.into(), crossings.collect())
    }

    /// The plan, as JSON. `fast` chooses the driver; both give the same results.
    pub fn plan(&self, fast: bool) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        const BEFORE: &str = "{\"flows\":[";
        // flow by flow: the values of 100,000 flows take more memory than a run of them
        let mut text = BEFORE.to_owned();
        let (links, crossings) = self.network();
        for (i, crossing) in crossings.iter().enumerate() {
            let flow = plan_of(&json!({"flows": [self.flow(crossing)]}));
            text.push_str(if i > 0 { "," } else { "" });
            text.push_str(flow.strip_prefix(BEFORE).and_then(|f| f.strip_suffix("]}")).unwrap_or(&flow));
        }
        text + "]," + plan_of(&self.around_flows(links, fast)).trim_start_matches('{')
    }

    /// The plan without keys that have usual values; see [`plan_of`].
    #[allow(dead_code, reason = "tests of whole runs change it")]
    pub fn outline(&self, fast: bool) -> Value {
        let (links, crossings) = self.network();
        let mut outline = self.around_flows(links, fast);
        outline["flows"] = crossings.iter().map(|crossing| self.flow(crossing)).collect();
        outline
    }

    fn network(&self) -> (Vec<Value>, Vec<Crossing>) {
        match self.network {
            Network::Dumbbell => self.dumbbell(),
            Network::Figure17 => networks::figure_17(self),
            Network::ParkingLot => networks::parking_lot(self),
        }
    }

    fn flow(&self, crossing: &Crossing) -> Value {
        let mut flow = self.connection(crossing.rtt_s);
        flow["name"] = json!(crossing.name);
        flow["forward"] = json!(crossing.forward);
        flow["reverse"] = json!(crossing.reverse);
        flow["start_s"] = json!(crossing.start_s);
        flow["stop_s"] = Value::Null;
        flow["bytes"] = Value::Null;
        flow
    }

    fn around_flows(&self, links: Vec<Value>, fast: bool) -> Value {
        let background = if self.web_sessions > 0 {
            json!([{"name": "web", "kind": "web", "sessions": self.web_sessions, "gap_s": 1.0,
                "page_bytes": 9400.0, "shape": 1.2, "flow": self.connection(self.rtt_s.0)}])
        } else {
            json!([])
        };
        json!({"seed": 1, "duration_s": self.duration_s, "window_s": [0.0, self.duration_s], "links": links,
            "background": background, "sample": {"flows_s": self.sample_s, "links_s": self.sample_s},
            "events": false, "fast": fast})
    }
}
