//! A drop-tail FIFO in front of a link of constant rate, without departure events.
//!
//! When a packet is accepted, arithmetic gives the start of its transmission: now, or the end of the one
//! before it, whichever is later. Waiting packets are sent without a pause, so it is enough to remember their
//! sizes and when the first of them starts. [`queue::DropTail`](crate::queue::DropTail) behind a link that
//! asks for packets gives the same results by events.

use crate::queue::Limit;
use crate::{Departures, DropReason, Foreseen, Occupancy, Offered, Sojourn};
use longfat_units::{Interval, Rate, Time};
use std::collections::VecDeque;

/// The fast form of drop-tail at a constant rate.
#[derive(Clone, Debug)]
pub struct ConstantFifo {
    rate: Rate,
    limit: Limit,
    /// When the transmission of the first waiting packet starts; [`Time::NEVER`] if none waits.
    next_start: Time,
    /// The waiting packets: the first of one size, and those behind them.
    first: Alike,
    behind: VecDeque<Alike>,
    /// Packets of this size wait with the first ones; [`NO_SIZE`] if none waits, or some wait behind those.
    joins: u32,
    free_at: Time,
    /// How long nothing was transmitted before `free_at`.
    idle: Interval,
    occupancy: Occupancy,
    waits: Foreseen,
    /// Packets and bytes accepted before the last packets of one size.
    accepted_before: (u64, u64),
    /// The last packets accepted, all of one size: sizes rarely change, and the transmission time needs a
    /// division.
    last: Alike,
}

/// No packet is this large.
const NO_SIZE: u32 = u32::MAX;

/// Packets of the same size, one behind the other.
#[derive(Clone, Copy, Debug, Default)]
struct Alike {
    packets: u64,
    bytes: u32,
    transmission: Interval,
}

impl ConstantFifo {
    /// An empty queue before an idle link, whose waits are measured in this span.
    pub fn new(rate: Rate, limit: Limit, measured: (Time, Time)) -> Self {
        ConstantFifo {
            rate,
            limit,
            next_start: Time::NEVER,
            first: Alike::default(),
            behind: VecDeque::new(),
            joins: NO_SIZE,
            free_at: Time::ZERO,
            idle: Interval::ZERO,
            occupancy: Occupancy::default(),
            waits: Foreseen::new(measured),
            accepted_before: (0, 0),
            last: Alike::default(),
        }
    }

    /// Lets everything leave the queue whose transmission has started by `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        while self.next_start <= now {
            self.occupancy.leave(self.next_start, self.first.bytes);
            self.next_start = self.next_start.later_by(self.first.transmission);
            self.first.packets -= 1;
            if self.first.packets == 0 {
                self.next_size();
            }
            // keeps the state in memory: mostly one or two packets leave, and copies in registers would cost
            // more
            core::hint::black_box(&mut *self);
        }
    }

    /// The last of the first waiting packets of one size has left.
    #[inline(never)]
    fn next_size(&mut self) {
        match self.behind.pop_front() {
            Some(next) => self.first = next,
            None => self.next_start = Time::NEVER,
        }
        let alone = self.first.packets > 0 && self.behind.is_empty();
        self.joins = if alone { self.first.bytes } else { NO_SIZE };
    }

    /// A packet of `bytes`, the size of `last`, waits behind the others until its transmission starts at
    /// `free_at`.
    #[inline(always)]
    fn wait(&mut self, now: Time, bytes: u32) {
        if self.joins == bytes {
            self.first.packets += 1;
        } else if self.occupancy.packets() == 0 {
            self.next_start = self.free_at;
            self.first = Alike { packets: 1, ..self.last };
            self.joins = bytes;
        } else {
            self.wait_behind();
        }
        self.occupancy.join(now, bytes);
    }

    #[inline(never)]
    fn wait_behind(&mut self) {
        self.joins = NO_SIZE;
        match self.behind.back_mut() {
            Some(last) if last.bytes == self.last.bytes => last.packets += 1,
            _ => self.behind.push_back(Alike { packets: 1, ..self.last }),
        }
    }

    /// A packet of `bytes` arrives. Returns when its last bit will be on the wire, or `None` if there is no
    /// room for it.
    #[inline(always)]
    fn accept(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.settle(now);
        if !self.limit.admits(self.occupancy.packets(), self.occupancy.bytes(), bytes) {
            return None;
        }
        if self.last.bytes != bytes {
            self.accepted_before = self.accepted();
            self.last = Alike { packets: 0, bytes, transmission: self.rate.transmission(bytes) };
        }
        self.last.packets += 1;
        if self.free_at <= now {
            self.idle = self.idle + now.since(self.free_at);
            self.free_at = now.later_by(self.last.transmission);
        } else {
            self.waits.record(now, self.free_at);
            self.wait(now, bytes);
            self.free_at = self.free_at.later_by(self.last.transmission);
        }
        Some(self.free_at)
    }

    /// Packets and bytes accepted.
    const fn accepted(&self) -> (u64, u64) {
        let Alike { packets, bytes, .. } = self.last;
        (self.accepted_before.0 + packets, self.accepted_before.1 + packets * bytes as u64)
    }
}

impl Departures for ConstantFifo {
    #[inline(always)]
    fn offer(&mut self, now: Time, bytes: u32, _markable: bool) -> Offered {
        self.accept(now, bytes).map_or(Offered::Dropped(DropReason::Full), Offered::Departs)
    }

    fn settle_before(&mut self, now: Time) {
        self.settle(now - Interval::from_ns(1));
    }

    fn sent(&self) -> (u64, u64) {
        let (packets, bytes) = self.accepted();
        (packets - self.occupancy.packets(), bytes - self.occupancy.bytes())
    }

    fn busy(&self, now: Time) -> Interval {
        let accepted = self.free_at.since(Time::ZERO).saturating_sub(self.idle);
        accepted.saturating_sub(self.free_at.since(now)) // without a pause until `free_at`
    }

    fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    fn sojourn(&mut self) -> &Sojourn {
        self.waits.measured(self.sent().0)
    }

    fn restart(&mut self, now: Time) {
        self.settle_before(now);
        self.waits.begin(self.sent().0);
        self.occupancy.restart(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn departures_and_counts_are_those_of_a_list_of_packets(
            arrivals in proptest::collection::vec((0..30_000u64, prop::sample::select(vec![40u32, 576, 1500])), 1..200),
            most in 1..6u64,
        ) {
            let rate = Rate::from_bps(1e9).unwrap_or_else(|| panic!("a rate"));
            let mut fifo = ConstantFifo::new(rate, Limit::Packets(most), (Time::ZERO, Time::NEVER));
            let (mut now, mut free_at) = (Time::ZERO, Time::ZERO);
            let mut accepted: Vec<(Time, u32)> = Vec::new(); // when the transmission starts, and the size
            for (gap, bytes) in arrivals {
                now += Interval::from_ns(gap);
                let waiting = accepted.iter().filter(|(start, _)| *start > now).count() as u64;
                let expected = (waiting < most).then(|| {
                    let start = free_at.max(now);
                    accepted.push((start, bytes));
                    free_at = start + rate.transmission(bytes);
                    free_at
                });
                prop_assert_eq!(fifo.accept(now, bytes), expected);
                let started = accepted.iter().filter(|(start, _)| *start <= now);
                let sent = started.fold((0, 0), |(n, sum), &(_, bytes)| (n + 1, sum + u64::from(bytes)));
                prop_assert_eq!(fifo.sent(), sent);
            }
        }
    }
}
