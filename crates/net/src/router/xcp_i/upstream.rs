//! A router's knowledge about another router on the far side of a cloud, and the virtual router that
//! represents the cloud.

use crate::router::{DynLaw, Laws, Stretch};
use crate::{Capacity, Meter};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::Packet;

/// The rate that the law distributes before the first response: little, because section 4.4.1 makes senders
/// wait with data until the estimate arrives.
const UNKNOWN_BPS: f64 = 1e6;
/// The least assumed capacity of a cloud; with less, protocols that assign rates would stop flows forever.
const LEAST_BPS: f64 = 1e4;

/// How long a router waits for others.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the acknowledgement of a request.
    pub timeout: Interval,
    /// For data, before it wants no more estimates.
    pub inactivity: Interval,
    /// For estimates, before it asks again.
    pub silence: Interval,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Talk {
    /// The next packet asks.
    None,
    /// This many requests have been sent.
    Asked(u32),
    /// The other router has agreed to make estimates.
    Accepted,
}

/// An entry of the table.
pub struct Upstream<P> {
    law: DynLaw<P>,
    /// The capacity of the virtual router's link; `None` while the other side does not respond. Data then
    /// pass as if there were no virtual router.
    bandwidth: Option<Capacity>,
    /// The rate of packets with a header from there.
    input: Meter,
    patience: Patience,
    talk: Talk,
    due: Time,
    last_packet: Time,
}

impl<P: Packet> Upstream<P> {
    /// Begins to represent the cloud before a router from which no packet has come yet.
    pub fn new(now: Time, law: DynLaw<P>, patience: Patience) -> Self {
        let mut upstream = Upstream {
            law,
            bandwidth: None,
            input: Meter::default(),
            patience,
            talk: Talk::None,
            due: Time::NEVER,
            last_packet: Time::ZERO,
        };
        upstream.begin(now, UNKNOWN_BPS);
        upstream
    }

    /// The virtual router begins with this capacity.
    fn begin(&mut self, now: Time, bps: f64) {
        self.bandwidth = constant(bps);
        if let Some(capacity) = &self.bandwidth {
            self.law.begin(now, &stretch(capacity));
        }
    }

    /// A packet from there has crossed the cloud, and now crosses the virtual router. Returns whether to ask
    /// the other side.
    pub fn packet(&mut self, now: Time, packet: &mut P) -> bool {
        self.last_packet = now;
        self.input.add(now, u64::from(packet.bytes()));
        if let Some(capacity) = &self.bandwidth {
            let stretch = stretch(capacity);
            self.law.arrive(now, packet, &stretch);
            self.law.leave(now, packet, &stretch);
        }
        let asks = self.talk == Talk::None;
        if asks {
            self.ask(now, 1);
        }
        asks
    }

    fn ask(&mut self, now: Time, tries: u32) {
        (self.talk, self.due) = (Talk::Asked(tries), now + self.patience.timeout);
    }

    /// The other side has the request.
    pub fn accepted(&mut self, now: Time) {
        (self.talk, self.due) = (Talk::Accepted, now + self.patience.silence);
    }

    /// The other side has reported its available bandwidth.
    pub fn known(&mut self, now: Time, spare_bps: f64, laws: &Laws<P>) {
        self.accepted(now);
        let bps = self.input.bps(now) + spare_bps;
        if self.bandwidth.is_some() {
            self.bandwidth = constant(bps);
        } else {
            self.law = laws(); // the old law's sums and timer are out of date
            self.begin(now, bps);
        }
    }

    /// The timer is due. Returns whether to ask the other side again.
    pub fn timer(&mut self, now: Time) -> bool {
        if let Some(capacity) = &self.bandwidth
            && now >= self.law.wake()
        {
            self.law.timer(now, &stretch(capacity));
        }
        if now < self.due {
            return false;
        }
        if self.talk == Talk::Asked(1) {
            self.ask(now, 2);
            return true;
        }
        if self.talk == Talk::Asked(2) {
            self.bandwidth = None; // the path is broken, in the words of the thesis
        }
        (self.talk, self.due) = (Talk::None, Time::NEVER);
        false
    }

    /// When [`Upstream::timer`] wants to be called, or [`Upstream::is_inactive`].
    pub fn wake(&self) -> Time {
        let law = if self.bandwidth.is_some() { self.law.wake() } else { Time::NEVER };
        law.min(self.due).min(self.last_packet + self.patience.inactivity)
    }

    /// Whether nothing has arrived from there for so long that estimates are useless.
    pub fn is_inactive(&self, now: Time) -> bool {
        now >= self.last_packet + self.patience.inactivity
    }
}

fn constant(bps: f64) -> Option<Capacity> {
    Rate::from_bps(bps.max(LEAST_BPS)).map(Capacity::Constant)
}

/// The virtual router's link, which has no queue.
const fn stretch(capacity: &Capacity) -> Stretch<'_> {
    Stretch { capacity, share: 1.0, queue_bytes: 0 }
}
