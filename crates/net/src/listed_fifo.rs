//! A FIFO that decides at arrival and whose rate may vary as planned, without departure events.
//!
//! As with [`ConstantFifo`](crate::ConstantFifo), the start of a packet's transmission is known when the
//! packet is accepted. Here each waiting packet is remembered by itself, since transmission times differ.
//! [`queue::DropTail`](crate::queue::DropTail) or [`queue::Red`](crate::queue::Red) behind a link that asks
//! for packets gives the same results by events.

use crate::{Admission, Admitted, Capacity, Departures, Foreseen, Occupancy, Offered, Sojourn, Transmitter};
use longfat_units::{Interval, Time};
use std::collections::VecDeque;

/// The fast form of a discipline that decides at arrival.
#[derive(Clone, Debug)]
pub struct ListedFifo<A> {
    admission: A,
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
    waits: Foreseen,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// When its transmission starts.
    start: Time,
    bytes: u32,
}

impl<A: Admission> ListedFifo<A> {
    /// An empty queue before an idle link, whose waits are measured in this span.
    pub fn new(capacity: Capacity, admission: A, measured: (Time, Time)) -> Self {
        ListedFifo {
            admission,
            wire: Transmitter::new(capacity),
            waiting: VecDeque::new(),
            next_start: Time::NEVER,
            free_at: Time::ZERO,
            idle: Interval::ZERO,
            occupancy: Occupancy::default(),
            sent: (0, 0),
            last_bytes: 0,
            waits: Foreseen::new(measured),
        }
    }

    /// Lets everything leave the queue whose transmission has started by `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        while self.next_start <= now {
            let Some(Waiting { start, bytes }) = self.waiting.pop_front() else { return };
            self.next_start = self.waiting.front().map_or(Time::NEVER, |next| next.start);
            self.occupancy.leave(start, bytes);
            self.start(start, bytes);
        }
    }

    /// The transmission of a packet starts.
    #[inline(always)]
    fn start(&mut self, now: Time, bytes: u32) {
        self.admission.starts(now, bytes);
        self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(bytes));
        self.last_bytes = bytes;
    }

    /// Returns when the last bit of a packet is on the wire that is admitted now.
    #[inline(always)]
    fn accept(&mut self, now: Time, bytes: u32) -> Time {
        let start = self.free_at.max(now);
        if self.free_at <= now {
            self.idle = self.idle + now.since(self.free_at);
            self.start(now, bytes);
        } else {
            self.next_start = self.next_start.min(start);
            self.waiting.push_back(Waiting { start, bytes });
            self.waits.record(now, start);
            self.occupancy.join(now, bytes);
        }
        self.free_at = self.wire.send(start, bytes);
        self.free_at
    }

    /// When the last packet whose transmission has started is on the wire.
    fn busy_until(&self) -> Time {
        self.next_start.min(self.free_at) // without a pause between those that wait
    }
}

impl<A: Admission> Departures for ListedFifo<A> {
    #[inline(always)]
    fn offer(&mut self, now: Time, bytes: u32, markable: bool) -> Offered {
        self.settle(now);
        let waiting = (self.occupancy.packets(), self.occupancy.bytes());
        match self.admission.admit(now, waiting, bytes, markable) {
            Admitted::Unmarked => Offered::Departs(self.accept(now, bytes)),
            Admitted::Marked(reason) => Offered::Marked(self.accept(now, bytes), reason),
            Admitted::Dropped(reason) => Offered::Dropped(reason),
        }
    }

    fn settle_before(&mut self, now: Time) {
        self.settle(now - Interval::from_ns(1));
    }

    fn sent(&self) -> (u64, u64) {
        self.sent
    }

    fn busy(&self, now: Time) -> Interval {
        let until = self.busy_until();
        until.since(Time::ZERO).saturating_sub(self.idle).saturating_sub(until.since(now))
    }

    fn bits(&self, now: Time) -> Option<f64> {
        let (all, last) = (8.0 * self.sent.1 as f64, 8.0 * f64::from(self.last_bytes));
        let rest = self.wire.capacity().bits(now, self.busy_until().max(now));
        Some((all - rest).max(all - last))
    }

    fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    fn sojourn(&mut self) -> &Sojourn {
        self.waits.measured(self.sent.0)
    }

    fn restart(&mut self, now: Time) {
        self.settle_before(now);
        self.occupancy.restart(now);
        self.waits.begin(self.sent.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Boxed, DropTail, Limit, Red, RedLaw};
    use crate::testing::{self, source::Given};
    use crate::{DropReason, Sine, Sink, Trace};
    use longfat_units::Rate;
    use longfat_wire::{Address, Ecn, FlowId, Kind, Packet, SimPacket};
    use proptest::prelude::*;

    /// A link that asks its queue for packets, one event after the other.
    struct Asking {
        queue: Boxed<SimPacket>,
        wire: Transmitter,
        free_at: Time,
        occupancy: Occupancy,
        served: Interval,
        sent: (u64, u64),
        /// Bits before the packet on the wire.
        bits_before: f64,
        waits: Sojourn,
    }

    /// What the queue reports.
    #[derive(Default)]
    struct Noted {
        waited: Interval,
        dropped: Option<DropReason>,
        marked: Option<DropReason>,
    }

    impl Sink<SimPacket> for Noted {
        fn forward(&mut self, _: SimPacket) {}
        fn drop(&mut self, _: SimPacket, reason: DropReason) {
            self.dropped = Some(reason);
        }
        fn marked(&mut self, reason: DropReason) {
            self.marked = Some(reason);
        }
        fn waited(&mut self, span: Interval) {
            self.waited = span;
        }
        fn set_timer(&mut self, _: Time) {}
        fn originate(&mut self, _: SimPacket, _: Address) {}
    }

    impl Asking {
        fn new(queue: Boxed<SimPacket>, capacity: Capacity) -> Self {
            Asking {
                queue,
                wire: Transmitter::new(capacity),
                free_at: Time::ZERO,
                occupancy: Occupancy::default(),
                served: Interval::ZERO,
                sent: (0, 0),
                bits_before: 0.0,
                waits: Sojourn::default(),
            }
        }

        /// Sends what waits whenever the wire is free between `now` and `until`.
        fn serve(&mut self, now: Time, until: Time) {
            let mut noted = Noted::default();
            while self.free_at <= until {
                let start = self.free_at.max(now);
                let Some(packet) = self.queue.next(start, &mut noted) else { return };
                self.occupancy.set(start, self.queue.packets(), self.queue.bytes());
                self.waits.record(noted.waited);
                self.bits_before = 8.0 * self.sent.1 as f64;
                self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(packet.bytes()));
                self.free_at = self.wire.send(start, packet.bytes());
                self.served = self.served + self.free_at.since(start);
            }
        }

        /// A packet arrives, after what leaves until then. Returns what becomes of it, if it is the last one.
        fn arrive(&mut self, now: Time, packet: SimPacket) -> (Option<DropReason>, Option<DropReason>) {
            self.serve(Time::ZERO, now);
            let mut noted = Noted::default();
            self.queue.arrive(now, packet, &mut noted);
            self.serve(now, now);
            self.occupancy.set(now, self.queue.packets(), self.queue.bytes());
            (noted.dropped, noted.marked)
        }

        /// Starts the statistics of a measurement interval.
        fn restart(&mut self, now: Time) {
            self.serve(Time::ZERO, now - Interval::from_ns(1));
            self.occupancy.restart(now);
            self.waits.restart();
        }

        fn bits(&self, now: Time) -> f64 {
            let rest = self.wire.capacity().bits(now, self.free_at.max(now));
            (8.0 * self.sent.1 as f64 - rest).max(self.bits_before)
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
            // small packets share an opportunity, and take no time
            proptest::collection::vec(0..20u64, 1..9).prop_map(|mut ms| {
                ms.sort_unstable();
                ms.push(21);
                let times = ms.into_iter().map(|ms| Time::ZERO + Interval::from_millis(ms)).collect();
                Capacity::Trace(Trace::new(times).unwrap_or_else(|| panic!("a trace")))
            }),
        ]
    }

    /// Packets by the time since the one before, their size, and whether they may be marked.
    fn packets() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
        let packet = (0..30_000u64, prop::sample::select(vec![40u32, 576, 1500]), any::<bool>());
        proptest::collection::vec(packet, 1..300)
    }

    /// Offers the same packets to both; all that can be seen of them has to be the same.
    fn compare<A: Admission>(
        fifo: impl FnOnce((Time, Time)) -> ListedFifo<A>,
        mut asking: Asking,
        arrivals: Vec<(u64, u32, bool)>,
    ) -> Result<(), TestCaseError> {
        let (mut now, mut last, mut since) = (Time::ZERO, Time::ZERO, Time::ZERO);
        // the measured span begins and ends with these arrivals
        let [begin, end] = [2, 3].map(|quarters| quarters * arrivals.len() / 4);
        let at =
            |index| arrivals[..=index].iter().fold(Time::ZERO, |at, (gap, ..)| at + Interval::from_ns(*gap));
        let mut fifo = fifo((at(begin), at(end)));
        for (i, (gap, bytes, markable)) in arrivals.into_iter().enumerate() {
            now += Interval::from_ns(gap);
            if i == begin {
                fifo.restart(now);
                asking.restart(now);
                since = now;
            }
            if i == end {
                fifo.settle_before(now);
                asking.serve(Time::ZERO, now - Interval::from_ns(1));
                for share in [0.0, 0.1, 0.5, 0.99] {
                    prop_assert_eq!(fifo.sojourn().percentile_s(share), asking.waits.percentile_s(share));
                }
            }
            let mut packet = SimPacket::new(Kind::Data, FlowId(0), 0, bytes, now);
            packet.ecn = if markable { Ecn::Capable } else { Ecn::NotCapable };
            let expected = asking.arrive(now, packet);
            let (departs, got) = match fifo.offer(now, bytes, markable) {
                Offered::Departs(at) => (at, (None, None)),
                Offered::Marked(at, reason) => (at, (None, Some(reason))),
                Offered::Dropped(reason) => (last, (Some(reason), None)),
            };
            prop_assert_eq!(got, expected);
            prop_assert!(departs >= last);
            last = departs;
            prop_assert_eq!(fifo.sent(), asking.sent);
            let later = now + Interval::from_ns(1);
            let lengths = asking.occupancy.statistics(since, later);
            prop_assert_eq!(fifo.occupancy().statistics(since, later), lengths);
            prop_assert_eq!(fifo.bits(now), Some(asking.bits(now)));
            prop_assert_eq!(fifo.busy(now), asking.served.saturating_sub(asking.free_at.since(now)));
        }
        fifo.settle_before(last + Interval::from_ns(1));
        asking.serve(Time::ZERO, last);
        prop_assert_eq!((last, fifo.sent()), (asking.free_at, asking.sent));
        Ok(())
    }

    proptest! {
        #[test]
        fn drop_tail_does_what_it_does_behind_a_link_that_asks(
            capacity in capacities(), arrivals in packets(), most in 1..6u64, bytes in any::<bool>(),
        ) {
            let limit = if bytes { Limit::Bytes(1500 * most) } else { Limit::Packets(most) };
            let asking = Asking::new(Box::new(DropTail::new(limit)), capacity.clone());
            compare(|measured| ListedFifo::new(capacity, limit, measured), asking, arrivals)?;
        }

        #[test]
        fn red_drops_and_marks_what_it_does_behind_a_link_that_asks(
            capacity in capacities(), arrivals in packets(), most in 1..9u64, ecn in any::<bool>(), hard in any::<bool>(),
        ) {
            let word = |flag: bool| if flag { "true" } else { "false" };
            let (ecn, hard) = (word(ecn), word(hard));
            let given: [(&str, &dyn Given); 5] =
                [("min", &1.0), ("max", &4.0), ("weight", &0.3), ("ecn", &ecn), ("harddrop", &hard)];
            let (setup, p) = (testing::source::setup(most), testing::source::parameters("red", &given));
            let law = RedLaw::build(setup.clone(), &p);
            let asking = Asking::new(Box::new(Red::build(setup, &p)), capacity.clone());
            compare(|measured| ListedFifo::new(capacity, law, measured), asking, arrivals)?;
        }
    }
}
