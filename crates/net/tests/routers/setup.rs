//! Helpers to build and drive routers, and packets that carry XCP's header.

use super::driver::data;
use longfat_net::queue::{DropTail, Limit};
use longfat_net::router::Setup;
use longfat_net::{Address, Capacity, DropReason, Element, Sink};
use longfat_units::{Rate, Stream, Time};
use longfat_wire::{Explicit, Extra, SimPacket, Xcp};

/// Drop-tail for this many packets, before a link of constant rate.
pub fn setup(rate_bps: f64, packets: u64) -> Setup<SimPacket> {
    let limit = Limit::Packets(packets);
    Setup {
        queue: Box::new(DropTail::new(limit)),
        capacity: Capacity::Constant(Rate::from_bps(rate_bps).unwrap()),
        limit,
        stream: Stream::new(5, "router"),
        address: Address(0),
    }
}

/// A packet of this flow with a header that requests infinite feedback.
pub fn carrying(flow: u32, bytes: u32, cwnd_bytes: f64, rtt_s: f64) -> SimPacket {
    let header = Xcp { cwnd_bytes, rtt_s, feedback_bytes: f64::INFINITY, ..Xcp::default() };
    let mut packet = data(flow, 0, bytes);
    packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::Xcp(header)), ..Extra::default() }));
    packet
}

/// Records the timer that an element set, and the packets that it dropped.
pub struct Tally {
    pub timer: Time,
    pub dropped: Vec<(SimPacket, DropReason)>,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { timer: Time::NEVER, dropped: vec![] }
    }
}

impl Tally {
    /// Fires the element's timer as often as it is due by `now`.
    pub fn run_to(&mut self, element: &mut dyn Element<SimPacket>, now: Time) {
        while self.timer <= now {
            let at = std::mem::replace(&mut self.timer, Time::NEVER);
            element.timer(at, self);
        }
    }
}

impl Sink<SimPacket> for Tally {
    fn forward(&mut self, _: SimPacket) {
        panic!("a router around a queue forwards nothing");
    }
    fn drop(&mut self, packet: SimPacket, reason: DropReason) {
        self.dropped.push((packet, reason));
    }
    fn marked(&mut self, _: DropReason) {}
    fn set_timer(&mut self, at: Time) {
        self.timer = at;
    }
    fn originate(&mut self, _: SimPacket, _: Address) {
        panic!("this router sends nothing of its own");
    }
}
