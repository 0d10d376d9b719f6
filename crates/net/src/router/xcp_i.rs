//! XCP-i: an explicit protocol's router that also represents the routers before it that do not know the
//! protocol (Lopez Pacheco 2008, chapter 4).
//!
//! ```text
//! cloud        :  TTL < the header's own TTL, which only routers like this one count down
//! upstream edge:  last router in the header; ask it, once more after a timeout, and then again at the next packet
//! estimate     :  ABW by the upstream edge, again a period after the last one, until a stop message
//! virtual router of that edge: the protocol's law with capacity BW = I + ABW (equation 4.1) and no queue (equation 4.2)
//! ```
//!
//! I is the recent rate of arrivals from that edge with the protocol's header. The law of the link itself
//! follows the virtual one, as if the two stood in a row.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | period | 1 | s | 4.4.3 "for instance, 1 second after finishing" | none |
//! | tries of a request | 2 | | 4.4.3 | none |
//! | timeout of a request | 1 | s | chosen here | the thesis leaves it open |
//! | inactivity before the end | 120 | s | 4.4.3 "a few minutes" | the number is chosen here |
//! | silence before asking again | 10 | periods | chosen here | the thesis has no such rule: responses may be lost |
//! | bandwidth before the first estimate | 1 | Mbit/s | chosen here | 4.4.1 lets senders wait with data |
//! | least bandwidth | 10 | kbit/s | chosen here | 1500 bytes in 1.2 s |
//! | error of an estimate | 0.05 .. 0.2 | of ABW | 4.6.2 | none |
//! | message | 40 | bytes | chosen here: IP, UDP and 12 | and 4 a gap in a report |

mod dispersion;
mod estimate;
mod estimator;
mod upstream;

use super::behind::Behind;
use super::law::{Controlled, DynLaw, Law, Laws};
use super::protocols::{PROTOCOLS, laws};
use super::row::{Router, Setup};
use crate::queue::Boxed;
use crate::{Address, Element, Sink};
use dispersion::{Arriving, Formula, Train};
use estimate::{Job, Method};
use estimator::{MESSAGE_BYTES, Post};
use longfat_units::parameters::{Parameter, ParameterError, Parameters};
use longfat_units::{Entry, Interval, Stream, Time};
use longfat_wire::{Content, Crossing, FlowId, Kind, Packet, Trail};
use std::collections::BTreeMap;
use upstream::{Patience, Upstream};

/// The registry row.
pub const ROW: Router = Router {
    entry: Entry {
        name: "xcp-i",
        title: "XCP-i",
        aliases: &["xcp_i"],
        citation: "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous \
               high speed networks, thesis, ENS Lyon, 2008, chapter 4",
        page: "xcp-i",
        parameters: &[
            Parameter::choice("protocol", PROTOCOLS, "whose law real and virtual routers follow"),
            Parameter::choice(
                "estimator",
                &["oracle", "oracle-error", "igi", "ptr"],
                "how the bandwidth between two routers is found",
            ),
            Parameter::number(
                "error_least",
                0.05,
                (0.0, 1.0),
                "of the estimate",
                "oracle-error: least error",
            ),
            Parameter::number(
                "error_most",
                0.2,
                (0.0, 1.0),
                "of the estimate",
                "oracle-error: greatest error",
            ),
            Parameter::number("period", 1.0, (1e-3, 1e4), "s", "from the end of an estimate to the next"),
            Parameter::number("timeout", 1.0, (1e-3, 1e3), "s", "how long to wait for an answer"),
            Parameter::number("inactivity", 120.0, (0.1, 1e6), "s", "without packets, until estimates end"),
            Parameter::number("packets", 60.0, (2.0, 1000.0), "packets", "igi, ptr: of a train"),
            Parameter::number(
                "packet_bytes",
                500.0,
                (40.0, 1500.0),
                "bytes",
                "igi, ptr: of a train's packets",
            ),
            Parameter::number("trains", 3.0, (1.0, 100.0), "trains", "igi, ptr: sent at each gap"),
        ],
        style: None,
    },
    check: check_errors,
    sends_messages: true,
    reorders: false,
};

fn check_errors(p: &Parameters) -> Result<(), ParameterError> {
    let (least, most) = (p.number("error_least"), p.number("error_most"));
    if least > most {
        return Err(ParameterError::Refused {
            owner: ROW.name,
            name: "error_least",
            value: least.to_string(),
            accepted: format!("a number up to error_most, which is {most}"),
        });
    }
    Ok(())
}

const SILENCE: f64 = 10.0;

/// The router.
pub struct XcpI<P> {
    address: Address,
    stream: Stream,
    laws: Laws<P>,
    /// Recognises the protocol's packets; it controls nothing.
    guide: DynLaw<P>,
    method: Method,
    /// Least and greatest error of an oracle's estimate.
    error: Option<(f64, f64)>,
    patience: Patience,
    period: Interval,
    /// The link's queue with the protocol's law around it.
    queue: Behind<P>,
    /// The table: routers on the far side of clouds that data cross.
    upstream: BTreeMap<Address, Upstream<P>>,
    /// Arriving trains, by sender.
    trains: BTreeMap<Address, Arriving>,
    /// Routers for which this one makes estimates.
    downstream: BTreeMap<Address, Job<P>>,
}

impl<P: Packet + Send + 'static> XcpI<P> {
    /// From checked parameters.
    pub(super) fn build(setup: Setup<P>, p: &Parameters) -> Self {
        let Setup { queue, capacity, stream, address, .. } = setup;
        let error = (p.number("error_least"), p.number("error_most"));
        let [period, timeout, inactivity] =
            ["period", "timeout", "inactivity"].map(|name| Interval::from_secs_f64(p.number(name)));
        let train = Train {
            packets: p.number("packets") as u16,
            bytes: p.number("packet_bytes") as u32,
            trains: p.number("trains") as u32,
            timeout,
        };
        let laws = laws(p.word("protocol"));
        let queue: Boxed<P> = Box::new(Controlled::new(queue, capacity, laws()));
        XcpI {
            address,
            stream,
            method: match p.word("estimator") {
                "igi" => Method::Dispersion(train, Formula::Igi),
                "ptr" => Method::Dispersion(train, Formula::Ptr),
                _ => Method::Oracle,
            },
            error: (p.word("estimator") == "oracle-error").then_some(error),
            patience: Patience { timeout, inactivity, silence: period.max(timeout).scale(SILENCE) },
            period,
            guide: laws(),
            laws,
            queue: Behind::new(queue),
            upstream: BTreeMap::new(),
            trains: BTreeMap::new(),
            downstream: BTreeMap::new(),
        }
    }

    /// Handles a data packet or connection request that carries the protocol's header.
    fn look(&mut self, now: Time, packet: &mut P, out: &mut dyn Sink<P>) {
        if !matches!(packet.kind(), Kind::Data | Kind::Syn) || !self.guide.guides(packet) {
            return;
        }
        let ttl = packet.ttl();
        let Some(trail) = packet.trail_mut() else { return };
        let before = *trail;
        // the router that contains this element decrements the other TTL
        *trail = Trail { ttl: ttl.saturating_sub(1), last_router: Some(self.address) };
        let (true, Some(edge)) = (ttl < before.ttl, before.last_router) else { return };
        let upstream =
            self.upstream.entry(edge).or_insert_with(|| Upstream::new(now, (self.laws)(), self.patience));
        let asks = upstream.packet(now, packet);
        if asks {
            post(self.address, edge, out).send(Content::Request, MESSAGE_BYTES);
        }
    }

    /// Handles a message for this router.
    fn hear(&mut self, now: Time, from: Address, content: Content, out: &mut dyn Sink<P>) {
        let mut post = post(self.address, from, out);
        match content {
            Content::Request => {
                post.send(Content::Accepted, MESSAGE_BYTES);
                let (method, period) = (self.method, self.period);
                let job = self.downstream.entry(from).or_insert_with(|| Job::new(method, period, now));
                job.timer(now, &mut post);
            }
            Content::Stop => drop(self.downstream.remove(&from)),
            Content::Accepted => {
                if let Some(upstream) = self.upstream.get_mut(&from) {
                    upstream.accepted(now);
                }
            }
            Content::Probe(crossings) => {
                let error = self.error.map_or(0.0, |(least, most)| {
                    let size = self.stream.uniform(least, most);
                    if self.stream.unit() < 0.5 { -size } else { size }
                });
                // the edge's own link has a router: the edge
                let cloud = crossings.iter().filter(|crossing| crossing.link != from);
                let spare_bps = cloud.map(Crossing::spare_bps).fold(f64::INFINITY, f64::min);
                self.known(now, from, spare_bps * (1.0 + error), out);
            }
            Content::Available(spare_bps) => self.known(now, from, spare_bps, out),
            Content::Train { train, index, packets } => {
                let arriving = self.trains.entry(from).or_default();
                if let Some(gaps) = arriving.packet(now, train, index, packets) {
                    let bytes = MESSAGE_BYTES + 4 * gaps.len() as u32;
                    post.send(Content::Gaps { train, gaps }, bytes);
                }
            }
            Content::Gaps { train, gaps } => {
                if let Some(job) = self.downstream.get_mut(&from) {
                    job.gaps(now, train, &gaps, &mut post);
                }
            }
            _ => {} // for another kind of router
        }
    }

    /// An estimate of what is available from an edge to here has arrived. An edge that this router no longer
    /// asks gets a stop message.
    fn known(&mut self, now: Time, edge: Address, spare_bps: f64, out: &mut dyn Sink<P>) {
        match self.upstream.get_mut(&edge) {
            Some(upstream) if spare_bps.is_finite() => upstream.known(now, spare_bps, &self.laws),
            Some(_) => {} // a probe that no link answered carries no estimate
            None => post(self.address, edge, out).send(Content::Stop, MESSAGE_BYTES),
        }
    }

    fn plan(&self, out: &mut dyn Sink<P>) {
        let tables =
            self.upstream.values().map(Upstream::wake).chain(self.downstream.values().map(Job::wake));
        out.set_timer(tables.fold(self.queue.wake(), Time::min));
    }
}

/// The messages from this router to another.
fn post<P>(from: Address, to: Address, out: &mut dyn Sink<P>) -> Post<'_, P> {
    Post { from, to, out }
}

impl<P: Packet + Send + 'static> Element<P> for XcpI<P> {
    fn begins(&mut self, flow: FlowId, identity: u64) {
        self.queue.begins(flow, identity);
    }

    fn arrive(&mut self, now: Time, mut packet: P, out: &mut dyn Sink<P>) {
        if let Some(message) = packet.message().filter(|message| message.to == self.address) {
            let (from, content) = (message.from, message.content.clone());
            self.hear(now, from, content, out);
        } else {
            self.look(now, &mut packet, out);
            self.queue.arrive(now, packet, out);
        }
        self.plan(out);
    }

    fn timer(&mut self, now: Time, out: &mut dyn Sink<P>) {
        self.queue.timer(now, out);
        let address = self.address;
        self.upstream.retain(|&edge, upstream| {
            let inactive = upstream.is_inactive(now);
            if inactive {
                post(address, edge, out).send(Content::Stop, MESSAGE_BYTES);
            } else if upstream.timer(now) {
                post(address, edge, out).send(Content::Request, MESSAGE_BYTES);
            }
            !inactive
        });
        for (&to, job) in &mut self.downstream {
            job.timer(now, &mut post(address, to, out));
        }
        self.plan(out);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        let packet = self.queue.next(now, out);
        self.plan(out);
        packet
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn flows_estimated(&self) -> Option<f64> {
        self.queue.flows_estimated()
    }
}
