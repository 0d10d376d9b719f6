//! Messages between elements on their way: where they go next, and what probes are told on the way.

use crate::link::{Link, outlet};
use crate::plan::{Plan, PlanError, bad};
use crate::routes::{Hop, Routes};
use crate::simulation::Simulation;
use longfat_net::{Address, Meter};
use longfat_units::{Interval, Time};
use longfat_wire::{Content, Crossing, Kind, Message, Packet, SimPacket};
use serde::Serialize;

/// From an element's call until its message joins the first queue: a router's processor rather than its line cards
/// makes it. Chosen here; also what lets links run on their own for that long ([`crate::windows`]).
pub const PROCESSING: Interval = Interval::from_millis(1);

/// Most nodes of a plan: the table of routes has a row of nodes for each node.
pub const MOST_NODES: u32 = 1000;

/// How many messages there were, since the start of the run. The rest of those sent are on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageCounters {
    /// Put on their way by elements.
    pub sent: u64,
    /// Arrived at the element that they were for.
    pub delivered: u64,
    /// Dropped by a queue or an element on the way.
    pub dropped: u64,
    /// Lost because there is no way to the element, or no router in its place.
    pub undeliverable: u64,
}

/// What the messages of a run need.
pub struct Messages {
    /// Counters.
    pub counters: MessageCounters,
    routes: Routes,
    /// Links with a router, which alone understands messages.
    routers: Vec<bool>,
    meters: Vec<Meter>,
}

#[cfg(test)]
mod tests;

/// Where a message goes next.
enum Next {
    /// Onto this link, or to its element.
    Link(usize),
    /// Nowhere.
    Lost,
}

impl Messages {
    /// What the plan's messages need; none where no element can send one.
    pub fn new(plan: &Plan) -> Option<Self> {
        let hops = plan.links.iter().map(|link| {
            let (from, to) = link.nodes?;
            let delay = Interval::from_secs_f64(link.delay_s);
            Some(Hop { from: from as usize, to: to as usize, delay })
        });
        let hops: Vec<Hop> = hops.collect::<Option<_>>()?;
        let routers: Vec<bool> = plan.links.iter().map(|link| link.router.is_some()).collect();
        if !routers.contains(&true) {
            return None;
        }
        let places: Vec<usize> = hops.iter().map(|hop| hop.from).collect();
        let destinations = places.iter().zip(&routers).filter(|(_, router)| **router).map(|(&at, _)| at);
        Some(Messages {
            counters: MessageCounters::default(),
            routes: Routes::new(hops, destinations),
            meters: vec![Meter::default(); routers.len()],
            routers,
        })
    }

    /// An element of link `from` sends a message: the packet made ready, and where it goes first.
    fn send(&mut self, packet: &mut SimPacket, from: usize, to: Address) -> Next {
        self.counters.sent += 1;
        if let Some(message) = packet.message_mut() {
            (message.from, message.to) = (Address(from as u32), to);
        }
        let at = self.routes.begin(from);
        self.next(packet, at)
    }

    /// A message has crossed link `index`.
    fn pass_on(&mut self, packet: &SimPacket, index: usize) -> Next {
        // one that its own addressee has sent on was not understood there
        if packet.message().is_none_or(|message| message.to.0 as usize == index) {
            self.counters.undeliverable += 1;
            return Next::Lost;
        }
        let at = self.routes.end(index);
        self.next(packet, at)
    }

    fn next(&mut self, packet: &SimPacket, at: usize) -> Next {
        let addressee = packet.message().map(|message| message.to.0 as usize);
        let next = addressee.filter(|&to| self.routers.get(to) == Some(&true)).and_then(|to| {
            let place = self.routes.begin(to);
            if at == place { Some(to) } else { self.routes.next(at, place) }
        });
        match next {
            Some(link) if packet.ttl > 0 => Next::Link(link),
            _ => {
                self.counters.undeliverable += 1;
                Next::Lost
            }
        }
    }

    /// A packet comes to link `index`: measured, told of the link if it is a probe. Whether it is a message for the
    /// element there.
    pub fn enter(&mut self, now: Time, index: usize, link: &Link, packet: &mut SimPacket) -> bool {
        if packet.kind == Kind::Control
            && let Some(Message { to, content, .. }) = packet.message_mut()
        {
            if to.0 as usize == index {
                self.counters.delivered += 1;
                return true;
            }
            if let Content::Probe(crossings) = content {
                crossings.push(Crossing {
                    link: Address(index as u32),
                    capacity_bps: link.capacity.bps(now),
                    input_bps: self.meters[index].bps(now),
                });
            }
        }
        self.meters[index].add(now, u64::from(packet.bytes));
        false
    }
}

impl Simulation {
    /// A packet goes from one link to another, where it arrives at `at`.
    pub(crate) fn lead(&mut self, from: usize, to: usize, at: Time, mut packet: SimPacket) {
        packet.ttl = packet.ttl.saturating_sub(u8::from(!self.links[to].layer2));
        outlet(&mut self.links[from].onward, to).push(at, packet);
    }

    /// As [`Messages::enter`]; a message for the element there is handed to it.
    #[inline(never)]
    pub(crate) fn takes_message(&mut self, now: Time, index: usize, packet: &mut SimPacket) -> bool {
        let Some(messages) = &mut self.messages else { return false };
        let link = &mut self.links[index];
        let is_there = messages.enter(now, index, link, packet);
        if is_there {
            link.deliver(now, core::mem::take(packet));
        }
        is_there
    }

    #[cold]
    pub(crate) fn pass_message_on(&mut self, index: usize, packet: SimPacket, at: Time) {
        let Some(messages) = &mut self.messages else { return };
        if let Next::Link(next) = messages.pass_on(&packet, index) {
            self.lead(index, next, at, packet);
        }
    }

    /// The messages that a link's elements have sent go on their way.
    #[cold]
    pub(crate) fn send_messages(&mut self, now: Time, index: usize) {
        for (mut packet, to) in core::mem::take(&mut self.links[index].originated) {
            let Some(messages) = &mut self.messages else { continue };
            if let Next::Link(first) = messages.send(&mut packet, index, to) {
                outlet(&mut self.links[index].control, first).push(now + PROCESSING, packet);
            }
        }
    }
}

/// Whether the links' nodes, and the paths of connections over them, are in order.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let given = plan.links.iter().filter(|link| link.nodes.is_some()).count();
    for (i, link) in plan.links.iter().enumerate() {
        let at = format!("links[{i}].nodes");
        match link.nodes {
            None if given > 0 => return bad(at, "give the nodes of all links, or of none"),
            Some((from, to)) if from == to || from.max(to) >= MOST_NODES => {
                let accepted = format!("accepted: two nodes that differ, below {MOST_NODES}");
                return bad(at, format!("[{from}, {to}]; {accepted}"));
            }
            _ => {}
        }
    }
    let flows = plan.flows.iter().enumerate().map(|(i, flow)| (format!("flows[{i}]"), &flow.connection));
    let sources = plan.background.iter().enumerate();
    let sources = sources.map(|(i, s)| (format!("background[{i}].flow"), s.workload().connection()));
    for (at, connection) in flows.chain(sources) {
        let ends = |path: &[usize]| {
            let nodes = path.iter().map(|&l| plan.links.get(l).and_then(|link| link.nodes));
            nodes.collect::<Option<Vec<_>>>()
        };
        for (name, path) in [("forward", &connection.forward), ("reverse", &connection.reverse)] {
            if ends(path).is_some_and(|nodes| nodes.windows(2).any(|pair| pair[0].1 != pair[1].0)) {
                return bad(format!("{at}.{name}"), format!("{path:?} is no path: a link begins elsewhere"));
            }
        }
    }
    Ok(())
}
