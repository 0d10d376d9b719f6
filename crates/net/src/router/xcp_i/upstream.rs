//! What a router knows of another one on the far side of a cloud, and the virtual router for what lies in between.

use crate::router::{DynLaw, Laws, Stretch};
use crate::{Capacity, Meter};
use longfat_units::{Interval, Rate, Time};
use longfat_wire::Packet;

/// What the law has to give out before the first answer: little, since to wait with data until the estimate is there is
/// what section 4.4.1 asks of senders.
const UNKNOWN_BPS: f64 = 1e6;
/// The least that a cloud is taken to carry: protocols that tell rates would else stop flows for ever.
const LEAST_BPS: f64 = 1e4;

/// How long a router waits for others.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the acknowledgement of a request.
    pub timeout: Interval,
    /// For data, before it wants no more estimates.
    pub inactivity: Interval,
    /// For estimates, before it asks anew.
    pub silence: Interval,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Talk {
    /// The next packet asks.
    None,
    /// So many requests are out.
    Asked(u32),
    /// The other one has said that it estimates.
    Accepted,
}

/// An entry of the table.
pub struct Upstream<P> {
    law: DynLaw<P>,
    /// What the virtual router has for its link; `None` while the other side does not answer: data then pass as they would
    /// without one.
    bandwidth: Option<Capacity>,
    /// Packets with a header that came from there.
    input: Meter,
    patience: Patience,
    talk: Talk,
    due: Time,
    last_packet: Time,
}

impl<P: Packet> Upstream<P> {
    pub fn new(law: DynLaw<P>, patience: Patience) -> Self {
        Upstream {
            law,
            bandwidth: constant(UNKNOWN_BPS),
            input: Meter::default(),
            patience,
            talk: Talk::None,
            due: Time::NEVER,
            last_packet: Time::ZERO,
        }
    }

    /// A packet has come from there through the cloud: it crosses the virtual router. Whether that one is to be asked.
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

    /// It says how much it could send more than it does.
    pub fn known(&mut self, now: Time, spare_bps: f64, laws: &Laws<P>) {
        self.accepted(now);
        if self.bandwidth.is_none() {
            self.law = laws(); // the old one's sums and timer are of another time
        }
        self.bandwidth = constant(self.input.bps(now) + spare_bps);
    }

    /// The time has come: whether the other side is to be asked again.
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
            self.bandwidth = None; // the path is broken, as the thesis has it
        }
        (self.talk, self.due) = (Talk::None, Time::NEVER);
        false
    }

    /// When [`Upstream::timer`] wants to be called, or [`Upstream::is_inactive`].
    pub fn wake(&self) -> Time {
        let law = if self.bandwidth.is_some() { self.law.wake() } else { Time::NEVER };
        law.min(self.due).min(self.last_packet + self.patience.inactivity)
    }

    /// Whether nothing has come from there for so long that estimates are no use.
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
