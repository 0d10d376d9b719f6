//! Messages between elements: where they go next, and what links write into probes.

use crate::model::link::Link;
use crate::results::summary::MessageCounters;
use longfat_net::{Address, Meter};
use longfat_scenario::plan::CheckedLink;
use longfat_scenario::{Hop, Routes};
use longfat_units::{Interval, Time};
use longfat_wire::{Content, Crossing, Kind, Message, Packet};

/// Time from an element's call until its message joins the first queue: a router's processor makes the
/// message, not its line cards. Chosen here.
pub const PROCESSING: Interval = Interval::from_millis(1);

/// The messages of a run: who can send them, which way they go, and how many there were.
pub struct Messages {
    /// Counters.
    pub counters: MessageCounters,
    routes: Routes,
    /// Whether each link has a router: only routers understand messages.
    routers: Vec<bool>,
    /// How much has come to each link lately.
    meters: Vec<Meter>,
}

impl Messages {
    /// The messages over these links; `None` where no element can send one.
    pub fn new(links: &[CheckedLink]) -> Option<Self> {
        let hops = links.iter().map(|link| {
            let (from, to) = link.nodes?;
            let delay = Interval::from_secs_f64(link.delay_s);
            Some(Hop { from: from as usize, to: to as usize, delay })
        });
        let hops: Vec<Hop> = hops.collect::<Option<_>>()?;
        let routers: Vec<bool> = links.iter().map(|link| link.router.is_some()).collect();
        if !routers.contains(&true) {
            return None;
        }
        let nodes: Vec<usize> = hops.iter().map(|hop| hop.from).collect();
        let destinations = nodes.iter().zip(&routers).filter(|(_, router)| **router).map(|(&node, _)| node);
        Some(Messages {
            counters: MessageCounters::default(),
            routes: Routes::new(hops, destinations),
            meters: vec![Meter::default(); routers.len()],
            routers,
        })
    }

    /// An element of link `from` sends a message. Completes the packet and returns the link that it crosses
    /// first, or whose element it is for; `None` if it is lost.
    pub fn send(&mut self, packet: &mut impl Packet, from: usize, to: Address) -> Option<usize> {
        self.counters.sent += 1;
        if let Some(message) = packet.message_mut() {
            (message.from, message.to) = (Address(from as u32), to);
        }
        let at = self.routes.begin(from);
        self.next(packet, at)
    }

    /// A message has crossed link `index`. Returns the next link, as [`Messages::send`] does.
    pub fn pass_on(&mut self, packet: &impl Packet, index: usize) -> Option<usize> {
        // if its own addressee has passed it on, that did not understand it
        if packet.message().is_none_or(|message| message.to.0 as usize == index) {
            self.counters.undeliverable += 1;
            return None;
        }
        let at = self.routes.end(index);
        self.next(packet, at)
    }

    fn next(&mut self, packet: &impl Packet, at: usize) -> Option<usize> {
        let addressee = packet.message().map(|message| message.to.0 as usize);
        let next = addressee.filter(|&to| self.routers.get(to) == Some(&true)).and_then(|to| {
            let node = self.routes.begin(to);
            if at == node { Some(to) } else { self.routes.next(at, node) }
        });
        let next = next.filter(|_| packet.ttl() > 0);
        self.counters.undeliverable += u64::from(next.is_none());
        next
    }

    /// A packet comes to link `index`: counts it, and if it is a probe, writes the link's state into it.
    /// Returns whether it is a message for the element there.
    pub fn enter<P: Packet + Clone + Default + Send + 'static>(
        &mut self,
        now: Time,
        index: usize,
        link: &Link<P>,
        packet: &mut P,
    ) -> bool {
        if packet.kind() == Kind::Control
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
        self.meters[index].add(now, u64::from(packet.bytes()));
        false
    }
}
