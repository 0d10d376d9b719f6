//! Where packets go: through loss processes, from link to link, and to their ends.

use super::messages::PROCESSING;
use super::state::Simulation;
use crate::model::link::pipe_of;
use longfat_units::Time;
use longfat_wire::{Kind, SimPacket};

impl Simulation {
    /// A packet comes to link `index`. Returns true if it goes no further: a loss process took it, or it is a
    /// message for the element there.
    #[inline]
    pub(crate) fn keeps(&mut self, now: Time, index: usize, packet: &mut SimPacket) -> bool {
        if self.messages.is_some() && self.takes_message(now, index, packet) {
            return true;
        }
        packet.kind != Kind::Control && self.loses(index, packet)
    }

    /// Returns whether a loss process takes this packet of a flow, and counts it if so.
    #[inline]
    fn loses(&mut self, index: usize, packet: &SimPacket) -> bool {
        let flow = &mut self.flows[packet.flow.0 as usize];
        if !flow.losses.strike(index, packet.kind) {
            return false;
        }
        self.links[index].counters.packets_lost += 1;
        flow.drop(packet.kind);
        true
    }

    /// The last bit of a packet leaves link `index` at `departure`: sends the packet on. Returns the flow if
    /// the packet is on the way to one of its ends.
    fn pass_on(&mut self, index: usize, mut packet: SimPacket, departure: Time) -> Option<usize> {
        let link = &mut self.links[index];
        let at = departure + link.delay;
        if packet.kind == Kind::Control {
            self.pass_message_on(index, packet, at);
            return None;
        }
        let id = packet.flow.0 as usize;
        let flow = &mut self.flows[id];
        if let Some(&next) = flow.route.path(packet.kind).get(usize::from(packet.hop) + 1) {
            packet.hop += 1;
            self.lead(index, next, at, packet);
            return None;
        }
        flow.pass_on(packet, departure);
        Some(id)
    }

    /// When a packet whose last bit leaves link `index` at `departure` is at the next link or at its end, and
    /// whether it is at its end then.
    pub(crate) fn arrival(&self, index: usize, packet: &SimPacket, departure: Time) -> (Time, bool) {
        match self.flows.get(packet.flow.0 as usize).map(|flow| &flow.route) {
            Some(route) if route.path(packet.kind).len() == usize::from(packet.hop) + 1 => {
                (departure + route.to_end(packet.kind.is_forward()), true)
            }
            // there is a further link, or the packet is a message between elements
            _ => (departure + self.links[index].delay, false),
        }
    }

    /// Counts a packet that a queue or an element has dropped.
    fn drop(&mut self, packet: &SimPacket) {
        if packet.kind != Kind::Control {
            self.flows[packet.flow.0 as usize].drop(packet.kind);
        } else if let Some(messages) = &mut self.messages {
            messages.counters.dropped += 1;
        }
    }

    /// Takes away what the elements of a link have dropped, sent and let depart. Returns the flows with
    /// packets on the way to their ends.
    pub(crate) fn clear_link(&mut self, now: Time, index: usize) -> Vec<usize> {
        for (packet, _) in core::mem::take(&mut self.links[index].released.dropped) {
            self.drop(&packet);
        }
        for flow in core::mem::take(&mut self.links[index].released.doubled) {
            self.flows[flow.0 as usize].double();
        }
        if !self.links[index].released.originated.is_empty() {
            self.send_messages(now, index);
        }
        let departed = core::mem::take(&mut self.links[index].released.departed);
        departed
            .into_iter()
            .filter_map(|(packet, departure)| self.pass_on(index, packet, departure))
            .collect()
    }

    /// A packet goes from one link to another, where it arrives at `at`.
    fn lead(&mut self, from: usize, to: usize, at: Time, mut packet: SimPacket) {
        packet.ttl = packet.ttl.saturating_sub(u8::from(!self.links[to].layer2));
        pipe_of(&mut self.links[from].onward, to).push(at, packet);
    }

    /// Counts a packet that comes to link `index`; hands it to the element there and returns true if it is a
    /// message for that element.
    #[inline(never)]
    fn takes_message(&mut self, now: Time, index: usize, packet: &mut SimPacket) -> bool {
        let Some(messages) = &mut self.messages else { return false };
        let link = &mut self.links[index];
        let has_arrived = messages.enter(now, index, link, packet);
        if has_arrived {
            link.deliver(now, core::mem::take(packet));
        }
        has_arrived
    }

    #[cold]
    fn pass_message_on(&mut self, index: usize, packet: SimPacket, at: Time) {
        let Some(messages) = &mut self.messages else { return };
        if let Some(next) = messages.pass_on(&packet, index) {
            self.lead(index, next, at, packet);
        }
    }

    /// Sends the messages of a link's elements on their way.
    #[cold]
    fn send_messages(&mut self, now: Time, index: usize) {
        for (mut packet, to) in core::mem::take(&mut self.links[index].released.originated) {
            let Some(messages) = &mut self.messages else { continue };
            if let Some(first) = messages.send(&mut packet, index, to) {
                pipe_of(&mut self.links[index].control, first).push(now + PROCESSING, packet);
            }
        }
    }
}
