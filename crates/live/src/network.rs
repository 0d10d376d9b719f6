//! The links that a router's thread has, driven by the wall clock, and where packets go between them. The
//! links are the simulator's own (`crates/sim/src/model/link.rs`), and so is the way that packets take: its
//! loss processes, its propagation delays and its count of IP's time-to-live.

use crate::lanes::{Lanes, Stop};
use crate::path::Path;
use crate::ports::{CONNECTIONS, is_guest, opener};
use longfat_capture::Watch;
use longfat_net::{Address, DropReason};
use longfat_sim::{
    Link, LinkCounters, LinkSample, LinkSummary, MessageCounters, Messages, PROCESSING, Series, link_summary,
};
use longfat_units::Time;
use longfat_wire::{FlowId, Kind, Packet, RealPacket};

/// What a link reports after a run.
pub struct LinkReport {
    /// Its index in the plan.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The summary of the measured span.
    pub summary: LinkSummary,
    /// Its samples.
    pub series: Series<LinkSample>,
    /// Packets that left it in the whole run.
    pub packets: u64,
}

/// A link, what was sampled of it, and the lanes that lead on from it.
struct Observed {
    index: usize,
    link: Link<RealPacket>,
    series: Series<LinkSample>,
    /// The counters when the measured span began.
    before: Option<LinkCounters>,
    summary: Option<LinkSummary>,
    /// The lane to each link that comes next on a path.
    onward: Vec<(usize, usize)>,
    /// The lane of its router's own messages to each link that they cross first.
    control: Vec<(usize, usize)>,
    /// Where copies of packets go, if there is a capture.
    watch: Option<Watch>,
}

/// A connection's way, and its lanes: there and back, to its first link and from its last.
struct Known {
    path: Path,
    first: [usize; 2],
    last: [usize; 2],
}

/// The links of a thread and the packets between them.
pub struct Network {
    links: Vec<Observed>,
    /// Where in `links` each link of the plan is.
    places: Vec<Option<usize>>,
    lanes: Lanes,
    connections: Vec<Option<Box<Known>>>,
    /// Messages between routers, if there can be any. Then the network has all links.
    messages: Option<Messages>,
    measured: (Time, Time),
}

impl Network {
    /// A network of these links, each with its index in the plan, of `all` in all, and perhaps with a
    /// capture.
    pub fn new(
        links: Vec<(usize, Link<RealPacket>, Option<Watch>)>,
        all: usize,
        measured: (Time, Time),
    ) -> Self {
        let mut places = vec![None; all];
        let links: Vec<_> = links
            .into_iter()
            .map(|(index, link, watch)| Observed {
                index,
                link,
                series: Series::default(),
                before: None,
                summary: None,
                onward: Vec::new(),
                control: Vec::new(),
                watch,
            })
            .collect();
        for (place, link) in links.iter().enumerate() {
            places[link.index] = Some(place);
        }
        let connections = (0..CONNECTIONS).map(|_| None).collect();
        Network { links, places, lanes: Lanes::default(), connections, messages: None, measured }
    }

    /// The same network with messages between its routers.
    pub fn talking(self, messages: Option<Messages>) -> Self {
        Network { messages, ..self }
    }

    /// Takes in a connection that is about to be opened, perhaps under the name of one that is over.
    pub fn learn(&mut self, flow: FlowId, path: Path) {
        let side = opener(flow);
        let begin = |kind| path.links(kind).first().copied().unwrap_or_default();
        let stops = [Stop::Link(begin(Kind::Data)), Stop::Link(begin(Kind::Ack))];
        let slot = &mut self.connections[flow.0 as usize];
        let (first, last) = match slot.take() {
            Some(known) => {
                for (lane, stop) in known.first.into_iter().zip(stops) {
                    self.lanes.lead(lane, stop);
                }
                (known.first, known.last)
            }
            None => {
                let hosts = [Stop::Host(1 - side), Stop::Host(side)];
                (stops.map(|stop| self.lanes.add(stop)), hosts.map(|stop| self.lanes.add(stop)))
            }
        };
        *slot = Some(Box::new(Known { path, first, last }));
    }

    /// Takes in a connection of programs, whose packets from one side go to the other over one link.
    pub fn learn_guest(&mut self, flow: FlowId, path: Path, side: usize) {
        let index = flow.0 as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, || None);
        }
        let begin = path.links(Kind::Data).first().copied().unwrap_or_default();
        let (first, last) = (self.lanes.add(Stop::Link(begin)), self.lanes.add(Stop::Host(1 - side)));
        self.connections[index] = Some(Box::new(Known { path, first: [first; 2], last: [last; 2] }));
    }

    /// Returns what is known of a connection.
    pub fn path(&mut self, flow: FlowId) -> Option<&mut Path> {
        self.connections.get_mut(flow.0 as usize)?.as_mut().map(|known| &mut known.path)
    }

    /// A host has begun to send a packet of a known connection.
    pub fn send(&mut self, now: Time, packet: RealPacket) {
        let Some(known) = &mut self.connections[packet.flow().0 as usize] else { return };
        // data and acknowledgements of programs leave the host over one link
        let kind = if is_guest(packet.flow()) { Kind::Data } else { packet.kind() };
        let at = known.path.leave_host(now, kind, packet.bytes());
        self.lanes.put(known.first[way(packet.kind())], at, packet);
    }

    /// Returns when something is due next.
    pub fn next(&self) -> Time {
        self.links.iter().fold(self.lanes.next(), |at, each| at.min(each.link.wake()))
    }

    /// Does the next thing, which is due at `at`. Returns a packet that has arrived at the hosts of a side;
    /// puts those that were lost into `lost`.
    pub fn act(&mut self, at: Time, lost: &mut Vec<RealPacket>) -> Option<(usize, RealPacket)> {
        if let Some(place) = self.links.iter().position(|each| each.link.wake() <= at) {
            self.links[place].link.on_timer(at);
            self.clear(at, place, lost);
            return None;
        }
        match self.lanes.take()? {
            (Stop::Host(side), packet) => Some((side, packet)),
            (Stop::Link(index), packet) => {
                if let Some(before) = packet.hop.checked_sub(1) {
                    self.arrived(at, &packet, before.into());
                }
                self.enter(at, index, packet, lost);
                None
            }
        }
    }

    /// A packet that has crossed all links of its path is handed to its host.
    pub fn hand_over(&self, now: Time, packet: &RealPacket) {
        self.arrived(now, packet, packet.hop.into());
    }

    /// A packet is at the end of a link, the one with this number on its path.
    fn arrived(&self, now: Time, packet: &RealPacket, hop: usize) {
        let kind = packet.kind();
        let Some(known) = self.known(packet) else { return };
        let link = known.path.links(kind).get(hop).and_then(|&link| self.places[link]);
        if let (false, Some(watch)) =
            (kind.is_forward(), link.and_then(|place| self.links[place].watch.as_ref()))
        {
            watch.arrives(now, packet);
        }
    }

    /// The connection of a packet; `None` for messages between routers.
    fn known(&self, packet: &RealPacket) -> Option<&Known> {
        self.connections.get(packet.flow().0 as usize)?.as_deref()
    }

    /// A packet comes to a link.
    fn enter(&mut self, now: Time, index: usize, mut packet: RealPacket, lost: &mut Vec<RealPacket>) {
        let Some(place) = self.places[index] else { return };
        let known = self.connections.get_mut(packet.flow().0 as usize).and_then(Option::as_mut);
        let Observed { link, watch, .. } = &mut self.links[place];
        if let Some(messages) = &mut self.messages
            && messages.enter(now, index, link, &mut packet)
        {
            link.deliver(now, packet);
            return self.clear(now, place, lost);
        }
        if let Some(watch) = watch {
            watch.enters(now, &packet);
        }
        if known.is_some_and(|known| known.path.losses.strike(index, packet.kind())) {
            link.counters.packets_lost += 1;
            self.lose(now, place, packet, DropReason::Lost, lost);
        } else {
            link.arrive(now, packet);
            self.clear(now, place, lost);
        }
    }

    /// A packet goes no further than this link.
    fn lose(
        &mut self,
        now: Time,
        place: usize,
        packet: RealPacket,
        reason: DropReason,
        lost: &mut Vec<RealPacket>,
    ) {
        if let (Kind::Control, Some(messages)) = (packet.kind(), &mut self.messages) {
            messages.counters.dropped += 1;
        }
        if let Some(watch) = &self.links[place].watch {
            watch.drops(now, &packet, reason);
        }
        lost.push(packet);
    }

    /// Passes on what a link has sent or dropped.
    fn clear(&mut self, now: Time, place: usize, lost: &mut Vec<RealPacket>) {
        let mut dropped = core::mem::take(&mut self.links[place].link.released.dropped);
        for (packet, reason) in dropped.drain(..) {
            self.lose(now, place, packet, reason, lost);
        }
        let Observed { link, .. } = &mut self.links[place];
        link.released.dropped = dropped;
        link.released.doubled.clear();
        for (packet, to) in core::mem::take(&mut link.released.originated) {
            self.send_message(now, place, packet, to);
        }
        let Observed { link, .. } = &mut self.links[place];
        let mut departed = core::mem::take(&mut link.released.departed);
        for (packet, departure) in departed.drain(..) {
            self.pass_on(now, place, packet, departure);
        }
        self.links[place].link.released.departed = departed;
    }

    /// The last bit of a packet leaves a link at `departure`: it goes to the next link of its path, or to its
    /// end.
    fn pass_on(&mut self, now: Time, place: usize, mut packet: RealPacket, departure: Time) {
        let at = departure + self.links[place].link.delay;
        let kind = packet.kind();
        if kind == Kind::Control {
            return self.pass_message_on(now, place, packet, at);
        }
        let Some(known) = self.known(&packet) else { return };
        if is_guest(packet.flow()) && kind == Kind::Data && packet.got_marked() {
            known.path.counts.marked.add(1);
        }
        if let (true, Some(watch)) = (kind.is_forward(), &self.links[place].watch) {
            packet.write_explicit();
            watch.leaves(now, &packet);
        }
        let Some(&next) = known.path.links(kind).get(usize::from(packet.hop) + 1) else {
            let at = at + known.path.delay(kind);
            return self.lanes.put(known.last[way(kind)], at, packet);
        };
        packet.hop += 1;
        self.lead(place, next, at, packet);
    }

    /// A packet goes from one link to another, where it arrives at `at`.
    fn lead(&mut self, place: usize, next: usize, at: Time, mut packet: RealPacket) {
        let switched = self.places[next].is_some_and(|next| self.links[next].link.layer2);
        packet.set_ttl(packet.ttl().saturating_sub(u8::from(!switched)));
        let lane = lane(&mut self.links[place].onward, &mut self.lanes, next);
        self.lanes.put(lane, at, packet);
    }

    /// The last bit of a message has left a link and is at its end at `at`.
    #[cold]
    fn pass_message_on(&mut self, now: Time, place: usize, packet: RealPacket, at: Time) {
        let Observed { index, watch, .. } = &self.links[place];
        if let Some(watch) = watch {
            watch.leaves(now, &packet);
        }
        let next = self.messages.as_mut().and_then(|messages| messages.pass_on(&packet, *index));
        if let Some(next) = next {
            self.lead(place, next, at, packet);
        }
    }

    /// A link's router sends a message.
    #[cold]
    fn send_message(&mut self, now: Time, place: usize, mut packet: RealPacket, to: Address) {
        let index = self.links[place].index;
        let first = self.messages.as_mut().and_then(|messages| messages.send(&mut packet, index, to));
        if let Some(first) = first {
            let lane = lane(&mut self.links[place].control, &mut self.lanes, first);
            self.lanes.put(lane, now + PROCESSING, packet);
        }
    }

    /// Takes a sample of every link.
    pub fn sample(&mut self, now: Time) {
        for each in &mut self.links {
            each.series.push(&LinkSample::of(&mut each.link, now));
        }
    }

    /// The measured span begins.
    pub fn begin_measured(&mut self, now: Time) {
        for each in &mut self.links {
            each.before = Some(each.link.settle(now).1);
            each.link.restart(now);
        }
    }

    /// The measured span ends.
    pub fn end_measured(&mut self, now: Time) {
        let begin = self.measured.0;
        for each in &mut self.links {
            each.summary = Some(each.summarize(begin, now));
        }
    }

    /// Returns how many messages there were between routers, if there could be any.
    pub fn messages(&self) -> Option<MessageCounters> {
        self.messages.as_ref().map(|messages| messages.counters)
    }

    /// Returns the reports at the end of the run.
    pub fn reports(self, end: Time) -> Vec<LinkReport> {
        let begin = self.measured.0;
        let report = |mut each: Observed| {
            let packets = each.link.settle(end).1.packets_out;
            let summary = each.summary.take().unwrap_or_else(|| each.summarize(begin, end));
            LinkReport { index: each.index, name: each.link.name, summary, series: each.series, packets }
        };
        self.links.into_iter().map(report).collect()
    }
}

impl Observed {
    fn summarize(&mut self, begin: Time, now: Time) -> LinkSummary {
        let before = self.before.unwrap_or_default();
        let (occupancy, after) = self.link.settle(now);
        link_summary(&mut self.link, (begin, before), (now, after, occupancy))
    }
}

/// The lane to a link, of those that lead on from another; adds it if there is none yet.
fn lane(leading: &mut Vec<(usize, usize)>, lanes: &mut Lanes, to: usize) -> usize {
    if let Some(&(_, lane)) = leading.iter().find(|(link, _)| *link == to) {
        return lane;
    }
    let lane = lanes.add(Stop::Link(to));
    leading.push((to, lane));
    lane
}

/// 0 for what goes from opener to listener, 1 for what comes back.
fn way(kind: Kind) -> usize {
    usize::from(!kind.is_forward())
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_sim::{CheckedPlan, Plan, PlanError};
    use longfat_wire::{Content, Message};

    #[test]
    fn a_message_that_any_queue_refuses_counts_as_dropped() -> Result<(), PlanError> {
        // without a router, a drop-tail queue of constant rate is arithmetic; with one, it holds its packets
        for (router, server) in [("null", "computed"), (r#"{"kind": "xcp-i"}"#, "asked")] {
            let link = |name, nodes, router| {
                format!(
                    r#"{{"name": "{name}", "nodes": {nodes}, "rate_bps": 1e7, "delay_s": 0.0, "layer2": false,
                    "loss": {{"kind": "none"}}, "ack_loss": {{"kind": "none"}}, "router": {router},
                    "service_tick_s": 0.0, "queue": {{"kind": "droptail", "limit_packets": 2}}}}"#
                )
            };
            let plan = Plan::from_json(&format!(
                r#"{{"seed": 1, "duration_s": 1.0, "window_s": [0.0, 1.0], "links": [{}, {}], "flows": [],
                "background": [], "sample": {{"flows_s": 0.1, "links_s": 0.1, "internals": false}},
                "events": false, "fast": true}}"#,
                link("there", "[0, 1]", router),
                link("back", "[1, 0]", r#"{"kind": "xcp-i"}"#),
            ))?;
            let plan: CheckedPlan = plan.check()?;
            let messages = Messages::new(&plan.links);
            let links: Vec<_> = plan.links.into_iter().map(|link| Link::new(link, true)).collect();
            assert_eq!(links[0].server_name(), server);
            let links = links.into_iter().enumerate().map(|(index, link)| (index, link, None)).collect();
            let mut network = Network::new(links, 2, (Time::ZERO, Time::NEVER)).talking(messages);
            let mut lost = Vec::new();
            for _ in 0..9 {
                let message = Message { from: Address(0), to: Address(1), content: Content::Request };
                network.enter(Time::ZERO, 0, RealPacket::control(message, 1500), &mut lost);
            }
            assert!(lost.len() >= 5, "{}", lost.len());
            assert_eq!(network.messages().map(|counters| counters.dropped), Some(lost.len() as u64));
        }
        Ok(())
    }
}
