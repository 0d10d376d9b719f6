//! Links: the shared one of a dumbbell, or those between nodes.

use crate::form::Maybe;
use crate::forms::{
    ADDED_DELAY, Added, BUFFER, Buffer, DELAYS_S, DUPLICATE, Element, LOSS, NAME, OUTAGES, Outage, QUEUE,
    RATES_BPS, REORDER, ROUTER, RTT, Rate, Reorder, SERVICE_TICK, SWITCH, VARYING_RATE, Words, constant_rate,
    time,
};
use crate::keys::{Checked, table};
use crate::problem::{Refusal, refuse_key};
use longfat_net::LossModel;
use longfat_net::disturbance::Remark;
use serde::{Deserialize, Serialize};

/// The rates of the hosts' own links, bit/s; room for ten times the fastest bottleneck.
const ACCESS_RATES_BPS: (f64, f64) = (1e3, 1e14);
/// The rate of access links; if the bottleneck is at least as fast, it is ten times its rate.
const LEAST_ACCESS_BPS: f64 = 1e9;

/// The rate of the hosts' own links beside a link of this rate, bit/s.
pub fn access_bps(rate_bps: f64) -> f64 {
    if rate_bps >= LEAST_ACCESS_BPS { 10.0 * rate_bps } else { LEAST_ACCESS_BPS }
}

table! {
    /// What disturbs packets behind a link's transmitter.
    #[derive(Serialize, Deserialize)]
    pub struct Disturbed {
        /// A share of the data packets and ACKs takes this much longer, and others overtake it.
        reorder: Option<Reorder> = Maybe(REORDER), else None;
        /// Each packet takes longer by a time up to this, drawn anew; order is kept without `overtaking`.
        jitter: f64 = time(DELAYS_S, "2 ms"), else 0.0;
        /// The share of data packets and ACKs that arrive twice.
        duplicate: f64 = DUPLICATE, else 0.0;
        /// A propagation delay that varies, in both directions; it is added to the constant one.
        added_delay: Option<Added> = Maybe(ADDED_DELAY), else None;
        /// A router marks all ECN-capable data packets, or clears their ECN field; by default it does
        /// neither.
        remark: Option<Remark> = Maybe(Words(&[("mark", Remark::Mark), ("bleach", Remark::Bleach)])), else None;
        /// Packets may overtake each other by jitter and by a delay that varies.
        overtaking: bool = SWITCH, else false;
        /// When the link carries nothing, in either direction, and what its queues do meanwhile.
        outages: Vec<Outage> = OUTAGES, else Vec::new();
    }
}

table! {
    /// A dumbbell's shared link with its queue, the way back, and the access links around it.
    pub struct Bottleneck {
        ..disturbed: Disturbed,
        /// Its rate, constant or varying.
        rate: Rate = VARYING_RATE;
        /// Room for waiting packets.
        buffer: Buffer = BUFFER, else Buffer::one_bdp(); // Villamizar and Song, CCR 1994
        /// Two-way propagation delay of programs' connections; by default the smallest RTT of a flow.
        rtt: Option<f64> = Maybe(RTT), else None;
        /// The RTT of "% BDP"; by default the smallest RTT of a flow.
        buffer_rtt: Option<f64> = Maybe(RTT), else None;
        /// The queueing discipline.
        queue: Element = QUEUE, else Element::DROPTAIL;
        /// An explicit-rate router around the queue.
        router: Option<Element> = Maybe(ROUTER), else None;
        /// Loss of data packets that enter the bottleneck.
        loss: LossModel = LOSS, else LossModel::None;
        /// Loss of ACKs that enter the reverse path.
        ack_loss: LossModel = LOSS, else LossModel::None;
        /// The router's clock: at each tick each way hands out what its rate has earned. With 0 it has none.
        service_tick: f64 = SERVICE_TICK, else 0.0;
        /// Rate of the hosts' own links; by default 1 Gbit/s, or 10 times a faster bottleneck's.
        access_rate: Option<f64> = Maybe(constant_rate(ACCESS_RATES_BPS, "1 Gbit/s")), else None;
        /// Rate of the way back; by default that of the bottleneck.
        reverse_rate: Option<f64> = Maybe(constant_rate(RATES_BPS, "250 Mbit/s")), else None;
        /// Buffer of the way back; by default as many packets as the bottleneck's, at least 1000.
        reverse_buffer: Option<Buffer> = Maybe(BUFFER), else None;
        /// The queueing discipline of the way back.
        reverse_queue: Element = QUEUE, else Element::DROPTAIL;
    }
}

table! {
    /// A point where links meet; nodes that links name need no table of their own.
    pub struct Node {
        /// What links and flows call it.
        name: String = NAME;
    }
}

table! {
    /// A link from one node to another, and back.
    pub struct Link {
        ..disturbed: Disturbed,
        /// Its name in results, "FROM-TO" by default; the way back is called "TO-FROM", or NAME-back.
        name: Option<String> = Maybe(NAME), else None;
        /// The node where it begins.
        origin as "from": String = NAME;
        /// The node where it ends.
        to: String = NAME;
        /// Its rate, constant or varying; the way back always has the greatest rate.
        rate: Rate = VARYING_RATE;
        /// Propagation delay, each way.
        delay: f64 = time((0.0, 100.0), "10 ms"), else 0.0;
        /// Room for waiting packets; the RTT of "% BDP" is the smallest of a flow.
        buffer: Buffer = BUFFER, else Buffer::one_bdp(); // as in a bottleneck
        /// The queueing discipline.
        queue: Element = QUEUE, else Element::DROPTAIL;
        /// An explicit-rate router around the queue.
        router: Option<Element> = Maybe(ROUTER), else None;
        /// Loss of data packets that enter the link.
        loss: LossModel = LOSS, else LossModel::None;
        /// Loss of ACKs that enter the way back; a link with one way loses those that enter itself.
        ack_loss: LossModel = LOSS, else LossModel::None;
        /// The link's clock: at each tick each way hands out what its rate has earned. With 0 it has none.
        service_tick: f64 = SERVICE_TICK, else 0.0;
        /// 2 puts its queue into a switch, which does not count down IP's time-to-live and has no router.
        layer: i64 = Words(&[("2", 2), ("3", 3)]), else 3;
        /// Whether it has a way back.
        duplex: bool = SWITCH, else true;
    }
}

impl Disturbed {
    /// Whether what happens to packets differs from seed to seed.
    pub fn is_random(&self) -> bool {
        self.reorder.is_some_and(|reorder| 0.0 < reorder.probability && reorder.probability < 1.0)
            || self.jitter > 0.0
            || (0.0 < self.duplicate && self.duplicate < 1.0)
            || matches!(self.added_delay, Some(Added::Handovers { .. }))
    }

    /// What of it disturbs packets on the way back: only what happens to the medium.
    #[must_use]
    pub fn on_the_way_back(&self) -> Disturbed {
        let Disturbed { added_delay, overtaking, outages, .. } = self.clone();
        Disturbed { added_delay, overtaking, outages, ..Disturbed::default() }
    }

    /// Whether it disturbs any packet.
    pub fn is_in_effect(&self) -> bool {
        let reorder = self.reorder.filter(|reorder| reorder.probability > 0.0);
        Disturbed { reorder, ..self.clone() } != Disturbed::default()
    }

    /// Refuses a queue served at ticks that would have to wait for the end of an outage.
    fn check_ticks(&self, service_tick: f64) -> Result<(), Refusal> {
        if service_tick > 0.0 && self.outages.iter().any(|outage| !outage.drains) {
            return refuse_key(
                "outages",
                "a queue that is served at ticks cannot wait",
                "with service_tick, queue = \"drains\" in each of them",
            );
        }
        Ok(())
    }
}

impl Bottleneck {
    /// The rate of the way back, bit/s.
    pub fn reverse_bps(&self) -> f64 {
        self.reverse_rate.unwrap_or_else(|| self.rate.bps())
    }

    /// The rate of the hosts' own links, bit/s.
    pub fn access_bps(&self) -> f64 {
        self.access_rate.unwrap_or_else(|| access_bps(self.rate.bps()))
    }
}

impl Checked for Disturbed {}

impl Checked for Node {}

impl Checked for Bottleneck {
    fn check(&self) -> Result<(), Refusal> {
        self.check_ticks(self.service_tick)?;
        self.queue.check_queue(self.rate.bps()).map_err(|refusal| refusal.about("queue"))?;
        self.reverse_queue.check_queue(self.reverse_bps()).map_err(|refusal| refusal.about("reverse_queue"))
    }
}

impl Checked for Link {
    fn check(&self) -> Result<(), Refusal> {
        if self.origin == self.to {
            return refuse_key("to", "this is the node of `from`, too", "two nodes that differ");
        }
        self.check_ticks(self.service_tick)?;
        self.queue.check_queue(self.rate.bps()).map_err(|refusal| refusal.about("queue"))?;
        if self.layer == 2 && self.router.is_some() {
            return refuse_key("router", "a switch (layer = 2) has no router", "with a router, layer = 3");
        }
        Ok(())
    }
}

impl Link {
    /// The names of its ways in results; the way back has none if there is none.
    pub fn names(&self) -> (String, Option<String>) {
        let (there, back) = match &self.name {
            Some(name) => (name.clone(), format!("{name}-back")),
            None => (format!("{}-{}", self.origin, self.to), format!("{}-{}", self.to, self.origin)),
        };
        (there, self.duplex.then_some(back))
    }
}
