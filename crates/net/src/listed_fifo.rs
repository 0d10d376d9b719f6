//! A drop-tail FIFO whose rate may vary as planned and whose waiting times may be measured, without departure events.
//!
//! As with [`ConstantFifo`](crate::ConstantFifo), the start of a packet's transmission is known when the packet is
//! accepted. Here each waiting packet is remembered by itself, since transmission times differ.
//! [`queue::DropTail`](crate::queue::DropTail) behind a link that asks for packets gives the same results by events.

use crate::queue::Limit;
use crate::{Capacity, Occupancy, Sojourn, Transmitter};
use longfat_units::{Interval, Time};
use std::collections::VecDeque;

/// The fast form of drop-tail where the rate varies or waiting times are measured.
#[derive(Clone, Debug)]
pub struct ListedFifo {
    limit: Limit,
    wire: Transmitter,
    /// The waiting packets in their order.
    waiting: VecDeque<Waiting>,
    /// When the transmission of the first of them starts; [`Time::NEVER`] if none waits.
    next_start: Time,
    /// When everything accepted is on the wire.
    free_at: Time,
    /// How long nothing was transmitted before `free_at`.
    idle: Interval,
    occupancy: Occupancy,
    /// Packets and bytes whose transmission has started, and the bytes of the last one.
    sent: (u64, u64),
    last_bytes: u32,
    sojourn: Option<Sojourn>,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Time,
    /// When its transmission starts.
    start: Time,
    bytes: u32,
}

impl ListedFifo {
    /// An empty queue before an idle link, which notes how long packets wait if `measured`.
    pub fn new(capacity: Capacity, limit: Limit, measured: bool) -> Self {
        ListedFifo {
            limit,
            wire: Transmitter::new(capacity),
            waiting: VecDeque::new(),
            next_start: Time::NEVER,
            free_at: Time::ZERO,
            idle: Interval::ZERO,
            occupancy: Occupancy::default(),
            sent: (0, 0),
            last_bytes: 0,
            sojourn: measured.then(Sojourn::default),
        }
    }

    /// Brings queue and counters to their state just before anything happens at `now`.
    pub fn settle_before(&mut self, now: Time) {
        self.settle(now - Interval::from_ns(1));
    }

    /// Lets everything leave the queue whose transmission has started by `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        while self.next_start <= now {
            let Some(Waiting { since, start, bytes }) = self.waiting.pop_front() else { return };
            self.next_start = self.waiting.front().map_or(Time::NEVER, |next| next.start);
            self.occupancy.leave(start, bytes);
            self.start(start.since(since), bytes);
        }
    }

    /// Counts a packet whose transmission starts after this wait.
    #[inline(always)]
    fn start(&mut self, waited: Interval, bytes: u32) {
        self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(bytes));
        self.last_bytes = bytes;
        if let Some(sojourn) = &mut self.sojourn {
            sojourn.record(waited);
        }
    }

    /// A packet of `bytes` arrives. Returns when its last bit will be on the wire, or `None` if there is no
    /// room for it.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.settle(now);
        if !self.limit.admits(self.occupancy.packets(), self.occupancy.bytes(), bytes) {
            return None;
        }
        let start = self.free_at.max(now);
        if self.free_at <= now {
            self.idle = self.idle + now.since(self.free_at);
            self.start(Interval::ZERO, bytes);
        } else {
            self.next_start = self.next_start.min(start);
            self.waiting.push_back(Waiting { since: now, start, bytes });
            self.occupancy.join(now, bytes);
        }
        self.free_at = self.wire.send(start, bytes);
        Some(self.free_at)
    }

    /// The queue's length, exact after [`ListedFifo::settle_before`], like all that follows.
    pub const fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Starts the statistics of a measurement interval.
    pub fn restart(&mut self, now: Time) {
        self.settle_before(now);
        self.occupancy.restart(now);
        if let Some(sojourn) = &mut self.sojourn {
            sojourn.restart();
        }
    }

    /// When the last packet whose transmission has started is on the wire.
    fn busy_until(&self) -> Time {
        self.next_start.min(self.free_at) // without a pause between those that wait
    }

    /// How long the link has transmitted by `now`.
    pub fn busy(&self, now: Time) -> Interval {
        let until = self.busy_until();
        until.since(Time::ZERO).saturating_sub(self.idle).saturating_sub(until.since(now))
    }

    /// The bits that it has transmitted by `now`.
    pub fn bits(&self, now: Time) -> f64 {
        let (all, last) = (8.0 * self.sent.1 as f64, 8.0 * f64::from(self.last_bytes));
        let rest = self.wire.capacity().bits(now, self.busy_until().max(now));
        (all - rest).max(all - last)
    }

    /// Packets and bytes whose transmission has started.
    pub const fn sent(&self) -> (u64, u64) {
        self.sent
    }

    /// How long packets have waited since the last restart, if that is measured.
    pub const fn sojourn(&self) -> Option<&Sojourn> {
        self.sojourn.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::DropTail;
    use crate::{DropReason, Element, Sine, Sink};
    use longfat_units::Rate;
    use longfat_wire::{Address, FlowId, Kind, Packet, SimPacket};
    use proptest::prelude::*;

    /// A link that asks its queue for packets, one event after the other.
    struct Asking {
        queue: DropTail<SimPacket>,
        wire: Transmitter,
        free_at: Time,
        occupancy: Occupancy,
        served: Interval,
        sent: (u64, u64),
        waits: Sojourn,
    }

    /// Notes what the queue reports.
    #[derive(Default)]
    struct Noted {
        waited: Interval,
        dropped: bool,
    }

    impl Sink<SimPacket> for Noted {
        fn forward(&mut self, _: SimPacket) {}
        fn drop(&mut self, _: SimPacket, _: DropReason) {
            self.dropped = true;
        }
        fn marked(&mut self, _: DropReason) {}
        fn waited(&mut self, span: Interval) {
            self.waited = span;
        }
        fn set_timer(&mut self, _: Time) {}
        fn originate(&mut self, _: SimPacket, _: Address) {}
    }

    impl Asking {
        /// Sends what waits, as far as the wire is free by `until`. Returns when the last packet's last bit is on it.
        fn serve(&mut self, now: Time, until: Time) {
            let mut noted = Noted::default();
            while self.free_at <= until {
                let start = self.free_at.max(now);
                let Some(packet) = self.queue.next(start, &mut noted) else { return };
                self.occupancy.set(start, self.queue.packets(), self.queue.bytes());
                self.waits.record(noted.waited);
                self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(packet.bytes()));
                self.free_at = self.wire.send(start, packet.bytes());
                self.served = self.served + self.free_at.since(start);
            }
        }
    }

    fn capacities() -> impl Strategy<Value = Capacity> {
        let rate = |mbps: f64| Rate::from_bps(mbps * 1e6).unwrap_or_else(|| panic!("a rate"));
        let steps = [(0.0, 1000.0), (0.5e-3, 50.0), (1.5e-3, 400.0)]
            .map(|(s, mbps)| (Time::from_secs_f64(s), rate(mbps)));
        prop_oneof![
            Just(Capacity::Constant(rate(1000.0))),
            Just(Capacity::Steps(steps.into())),
            Just(Capacity::Sine(Sine { range_bps: (1e8, 1e9), period_s: 2e-3 })),
        ]
    }

    proptest! {
        #[test]
        fn departures_counts_and_waits_are_those_of_a_link_that_asks_its_queue(
            capacity in capacities(),
            arrivals in proptest::collection::vec((0..30_000u64, prop::sample::select(vec![40u32, 576, 1500])), 1..200),
            most in 1..6u64,
        ) {
            let mut fifo = ListedFifo::new(capacity.clone(), Limit::Packets(most), true);
            let mut asking = Asking {
                queue: DropTail::new(Limit::Packets(most)),
                wire: Transmitter::new(capacity),
                free_at: Time::ZERO,
                occupancy: Occupancy::default(),
                served: Interval::ZERO,
                sent: (0, 0),
                waits: Sojourn::default(),
            };
            let mut now = Time::ZERO;
            let mut last = Time::ZERO;
            for (gap, bytes) in arrivals {
                now += Interval::from_ns(gap);
                asking.serve(Time::ZERO, now);
                let mut noted = Noted::default();
                let packet = SimPacket::new(Kind::Data, FlowId(0), 0, bytes, now);
                asking.queue.arrive(now, packet, &mut noted);
                asking.serve(now, now);
                asking.occupancy.set(now, asking.queue.packets(), asking.queue.bytes());
                let departure = fifo.offer(now, bytes);
                prop_assert_eq!(departure.is_none(), noted.dropped);
                if let Some(at) = departure {
                    prop_assert!(at >= last);
                    last = at;
                }
                prop_assert_eq!(fifo.sent(), asking.sent);
                let later = now + Interval::from_ns(1);
                prop_assert_eq!(fifo.occupancy().statistics(Time::ZERO, later), asking.occupancy.statistics(Time::ZERO, later));
                prop_assert_eq!(fifo.busy(now), asking.served.saturating_sub(asking.free_at.since(now)));
                for share in [0.1, 0.5, 0.99] {
                    prop_assert_eq!(fifo.sojourn().and_then(|s| s.percentile_s(share)), asking.waits.percentile_s(share));
                }
            }
            fifo.settle_before(last + Interval::from_ns(1));
            asking.serve(Time::ZERO, last);
            prop_assert_eq!((last, fifo.sent()), (asking.free_at, asking.sent));
        }
    }
}
