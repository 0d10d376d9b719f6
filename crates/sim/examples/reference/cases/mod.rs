//! The reference work: the plan of each case.

use crate::plan_of::plan_of;
use serde_json::{Value, json};

/// Packets of a `scale` run, unless its shortest time asks for more.
const SCALE_PACKETS: f64 = 2e6;
const SCALE_SHORTEST_S: f64 = 20.0;
/// Bits of a full packet.
const PACKET_BITS: f64 = 12_000.0;

/// A dumbbell with flows of one algorithm.
#[derive(Clone)]
pub struct Case {
    /// Name on the command line.
    pub name: &'static str,
    /// Description.
    pub title: &'static str,
    pub rate_bps: f64,
    pub buffer_packets: u64,
    pub access_bps: f64,
    pub duration_s: f64,
    pub algorithm: &'static str,
    pub flows: u32,
    /// Round-trip times of the first and the last flow; the others are spread evenly between them.
    pub rtt_s: (f64, f64),
    /// Time between the starts of one flow and the next.
    pub stagger_s: f64,
    /// Largest window of each flow, segments; unlimited if `None`.
    pub initial_ssthresh: Option<f64>,
    /// Random loss of data packets at the bottleneck.
    pub loss: f64,
    /// Web sessions, each with a mean gap of 1 s, pages of 9400 bytes on average, Pareto shape 1.2.
    pub web_sessions: u64,
    pub sample_s: f64,
    /// Discipline of the bottleneck's queue, or a kind that is no discipline; see `link`.
    pub bottleneck: String,
    /// A plan as JSON, in place of all that.
    pub text: Option<String>,
}

/// Every case with a name. `scale` takes its rate, buffer and time from the number of flows.
pub fn all() -> Vec<Case> {
    let w1 = Case {
        name: "w1",
        title: "2 HSTCP, 250 Mbit/s, 42 ms",
        rate_bps: 250e6,
        buffer_packets: 175,
        access_bps: 1e9,
        duration_s: 600.0,
        algorithm: "hstcp",
        flows: 2,
        rtt_s: (0.042, 0.042),
        stagger_s: 5.0,
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
    vec![w1, w2, w3, ten_gigabit, loss, web, many, ten, scale.with_flows(10)]
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

    fn connection(&self, rtt_s: f64) -> Value {
        // a router helps only flows that speak its protocol; its header adds 20 bytes to each packet
        let (algorithm, header_bytes, loss_detection) = match self.bottleneck.as_str() {
            "xcp" => ("xcp", 72, None),
            _ => (self.algorithm, 52, Some("sack")),
        };
        json!({"algorithm": algorithm, "parameters": {}, "forward": [0], "reverse": [1], "rtt_s": rtt_s,
            "access_rate_bps": self.access_bps, "mss": 1448, "header_bytes": header_bytes,
            "initial_ssthresh": self.initial_ssthresh, "initial_window": 3.0, "max_window": null,
            "slow_start": "standard", "max_ssthresh": 100.0, "delayed_ack": true, "delayed_ack_timeout": 0.04,
            "byte_counting": true, "loss_detection": loss_detection, "recovery": "rate-halving",
            "host_tick": 0.0, "rto_min": 0.2, "ecn": false})
    }

    /// A link with drop-tail at a constant rate, except for what its kind says. Kinds that are no disciplines:
    /// `sojourn` measures waits; `steps` halves the rate after a sixth of the time, restores it after a third,
    /// and takes a quarter away after half; `sine` goes down to half the rate and back in 10 s; `xcp` adds a
    /// router.
    fn link(&self, name: &str, kind: &str, loss: f64) -> Value {
        let loss =
            if loss > 0.0 { json!({"kind": "random", "probability": loss}) } else { json!({"kind": "none"}) };
        let (rate, time) = (self.rate_bps, self.duration_s);
        let queue = |discipline: &str| json!({"kind": discipline, "limit_packets": self.buffer_packets});
        let mut link = json!({"name": name, "rate_bps": rate, "delay_s": 0.0, "loss": loss,
            "ack_loss": {"kind": "none"}, "queue": queue("droptail")});
        match kind {
            "sojourn" => link["queue"]["sojourn"] = json!("true"),
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

    /// The plan, as JSON. `fast` chooses the driver; both give the same results.
    pub fn plan(&self, fast: bool) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        let flows: Vec<Value> = (0..self.flows)
            .map(|i| {
                let share = f64::from(i) / f64::from(self.flows.max(2) - 1);
                let mut flow = self.connection(self.rtt_s.0 + share * (self.rtt_s.1 - self.rtt_s.0));
                flow["name"] = json!((i + 1).to_string());
                flow["start_s"] = json!(self.stagger_s * f64::from(i));
                flow["stop_s"] = Value::Null;
                flow["bytes"] = Value::Null;
                flow
            })
            .collect();
        let background = if self.web_sessions > 0 {
            json!([{"name": "web", "kind": "web", "sessions": self.web_sessions, "gap_s": 1.0, "page_bytes": 9400.0,
                "shape": 1.2, "flow": self.connection(self.rtt_s.0)}])
        } else {
            json!([])
        };
        plan_of(&json!({"seed": 1, "duration_s": self.duration_s, "window_s": [0.0, self.duration_s],
            "links": [self.link("bottleneck", &self.bottleneck, self.loss), self.link("reverse", "droptail", 0.0)], "flows": flows,
            "background": background, "sample": {"flows_s": self.sample_s, "links_s": self.sample_s},
            "events": false, "fast": fast}))
    }
}
