//! A connection in the simulator: its two ends, the hosts' own links, and the stretches of path that only it uses.

mod checks;
mod host;
mod machines;
mod receiving;
mod sending;
mod transport;

pub use checks::Checks;
pub use receiving::ReceivingEnd;
pub use sending::SendingEnd;
pub use transport::Transport;

use crate::link::LinkCounters;
use crate::plan::{ConnectionPlan, PlanError, rate};
use host::{Access, HostClock};
use longfat_net::{ConstantFifo, Loss};
use longfat_units::{Interval, Stream, Time};
use longfat_wire::{FlowId, Kind, Packet, SimPacket};

/// Where a connection's packets go.
#[derive(Clone, Debug)]
pub struct Route {
    /// Links that data cross.
    pub forward: Vec<usize>,
    /// Links that acknowledgements cross.
    pub reverse: Vec<usize>,
    /// From the last link to the receiver.
    pub forward_delay: Interval,
    /// From the last link to the sender.
    pub reverse_delay: Interval,
}

impl Route {
    /// The links this kind of packet crosses.
    #[inline]
    pub fn path(&self, kind: Kind) -> &[usize] {
        if kind.is_forward() { &self.forward } else { &self.reverse }
    }
}

/// A connection in the simulator.
pub struct Flow {
    /// Sending end.
    pub sending: SendingEnd,
    /// Receiving end.
    pub receiving: ReceivingEnd,
    /// Where packets go.
    pub route: Route,
    /// Loss processes on its way: link, whether for data, process. Mostly none.
    pub losses: Vec<(usize, Kind, Loss)>,
    /// When it was to start, for figures.
    pub began: Time,
    /// Two-way propagation delay.
    pub rtt: Interval,
    /// Its data packets that the network dropped.
    pub packets_lost: u64,
    /// Its packets of all kinds that the network dropped.
    dropped: i64,
    /// What it transfers for a background source, until it has left its place.
    pub transfer: Option<Transfer>,
}

/// One connection's work for a background source.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Index of the source.
    pub group: usize,
    /// Index of the session that opened it.
    pub session: usize,
    /// Payload, bytes; endless if `None`.
    pub bytes: Option<u64>,
    /// Everything was acknowledged.
    pub complete: bool,
}

/// What a new connection needs beside its plan.
pub struct NewFlow<'a> {
    /// Its index.
    pub id: FlowId,
    /// Names its random streams, e.g. `flow/1`.
    pub stream_name: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Payload to send; endless if `None`.
    pub bytes: Option<u64>,
    /// When it starts.
    pub start: Time,
    /// Loss models it meets: link, kind of packet, model.
    pub losses: Vec<(usize, Kind, longfat_net::LossModel)>,
    /// Propagation delay of the shared links on its way there, and back.
    pub shared_delay: (Interval, Interval),
    /// When samples will look at the receiver.
    pub checks: Checks,
}

impl Flow {
    /// A connection as planned.
    pub fn new(plan: &ConnectionPlan, transport: Transport, new: NewFlow<'_>) -> Result<Self, PlanError> {
        let stream = |what: &str| Stream::new(new.seed, &format!("{}/{what}", new.stream_name));
        let rtt = Interval::from_secs_f64(plan.rtt_s.distribution().draw(&mut stream("rtt")));
        let one_way = Interval::from_ns(rtt.as_ns() / 2);
        let remaining =
            |all: Interval, shared: Interval| all.saturating_sub(shared).max(Interval::from_ns(1));
        let clock = HostClock::new(Interval::from_secs_f64(plan.host_tick_s), stream("tick"));
        let access = Access::new(rate("access_rate_bps", plan.access_rate_bps)?);
        let (sender, receiver) = transport.ends(plan, &clock, &new)?;
        let losses = new
            .losses
            .into_iter()
            .map(|(link, kind, model)| {
                (link, kind, Loss::new(model, stream(&format!("loss/{link}/{kind:?}"))))
            })
            .collect();
        Ok(Flow {
            sending: SendingEnd::new(sender, clock, access.clone(), new.start, new.checks),
            receiving: ReceivingEnd::new(receiver, access, new.start, new.checks),
            route: Route {
                forward: plan.forward.clone(),
                reverse: plan.reverse.clone(),
                forward_delay: remaining(one_way, new.shared_delay.0),
                reverse_delay: remaining(rtt.saturating_sub(one_way), new.shared_delay.1),
            },
            losses,
            began: new.start,
            rtt,
            packets_lost: 0,
            dropped: 0,
            transfer: None,
        })
    }

    /// A packet whose last bit leaves its last link, and the propagation of that, at `at`: puts it on its way to its end.
    /// With `ahead`, an end of a lasting flow takes it at once.
    #[inline(always)]
    pub fn pass_on(&mut self, packet: SimPacket, at: Time, ahead: bool) {
        let ahead = ahead && self.transfer.is_none();
        if packet.kind.is_forward() {
            let at = at + self.route.forward_delay;
            if ahead {
                self.receiving.take_ahead(at, &packet);
            } else {
                self.receiving.incoming.push(at, packet);
            }
        } else {
            let at = at + self.route.reverse_delay;
            if !ahead || !self.sending.take_ahead(at, &packet) {
                self.sending.incoming.push(at, packet);
            }
        }
    }

    /// The first of its data packets, or else acknowledgements, on the way to a link crosses that link, the only one on
    /// its way, or is dropped there. Answers when the next one comes to the link.
    #[inline(always)]
    pub fn cross(
        &mut self,
        now: Time,
        data: bool,
        fifo: &mut ConstantFifo,
        counters: &mut LinkCounters,
        delay: Interval,
    ) -> Time {
        let Flow { sending, receiving, route, transfer, .. } = self;
        let pipe = if data { &sending.outgoing } else { &receiving.outgoing };
        let Some(packet) = pipe.first() else { return Time::NEVER };
        counters.packets_in += 1;
        let departure = fifo.offer(now, packet.bytes());
        let taken = match departure {
            Some(at) if data && transfer.is_none() => {
                let at = at.later_by(delay).later_by(route.forward_delay);
                if let Some(packet) = sending.outgoing.first() {
                    receiving.take_ahead(at, packet);
                }
                true
            }
            Some(at) if transfer.is_none() => {
                let at = at.later_by(delay).later_by(route.reverse_delay);
                match receiving.outgoing.first() {
                    Some(packet) => sending.take_ahead(at, packet), // no closure: it would not be inlined
                    None => false,
                }
            }
            _ => false,
        };
        let pipe = if data { &mut sending.outgoing } else { &mut receiving.outgoing };
        if taken {
            pipe.advance();
        } else if let Some(packet) = pipe.pop() {
            match departure {
                Some(at) => self.pass_on(packet, at + delay, false),
                None => {
                    counters.packets_dropped += 1;
                    self.drop(packet.kind);
                }
            }
        }
        self.head(data)
    }

    /// When the first of its data packets, or else acknowledgements, comes to a link.
    #[inline]
    pub const fn head(&self, data: bool) -> Time {
        if data { self.sending.outgoing.head() } else { self.receiving.outgoing.head() }
    }

    /// Its packets of all kinds that are neither at an end nor dropped.
    pub const fn under_way(&self) -> i64 {
        self.sending.balance + self.receiving.balance - self.dropped
    }

    /// Whether its data, or else its acknowledgements, cross a single link and meet no loss process.
    #[inline]
    pub fn is_plain(&self, data: bool) -> bool {
        let path = if data { &self.route.forward } else { &self.route.reverse };
        path.len() == 1 && self.losses.is_empty()
    }

    /// A packet of this flow was dropped.
    #[inline]
    pub fn drop(&mut self, kind: Kind) {
        self.packets_lost += u64::from(kind == Kind::Data);
        self.dropped += 1;
    }

    /// Whether a loss process on this link takes this packet.
    #[inline]
    pub fn is_lost(&mut self, link: usize, kind: Kind) -> bool {
        !self.losses.is_empty()
            && self.losses.iter_mut().any(|(l, k, loss)| *l == link && *k == kind && loss.strikes())
    }
}
