//! A drop-tail FIFO in front of a link of constant rate that serves it at the ticks of a clock, without
//! events.
//!
//! When a packet is accepted, arithmetic gives the tick at which it leaves the queue and the one that pays
//! its last bit: nothing that arrives later changes either. [`queue::DropTail`](crate::queue::DropTail)
//! behind a link that asks for packets at its ticks gives the same results by events.

use crate::last_size::LastSize;
use crate::queue::Limit;
use crate::{Capacity, Credit, Departures, DropReason, Foreseen, Occupancy, Offered, Sojourn, Ticks};
use longfat_units::{Interval, Rate, Time};
use std::collections::VecDeque;

/// The fast form of drop-tail at a constant rate with ticks.
#[derive(Clone, Debug)]
pub struct TickingFifo {
    rate: Rate,
    limit: Limit,
    ticks: Ticks,
    /// What is left once everything accepted is paid for.
    credit: Credit,
    /// The tick up to which the link has earned that credit.
    tick: Time,
    /// When everything accepted is on the wire: from then on the link is idle.
    idle_from: Time,
    /// The waiting packets in their order: those of one size that leave at one tick are one entry.
    waiting: VecDeque<Leaving>,
    /// When the first of them leaves; [`Time::NEVER`] if none waits.
    first_leaves: Time,
    /// What has left the queue is on the wire, one packet behind the other, until then.
    busy_until: Time,
    /// Transmission of everything that has left the queue, until `busy_until`.
    served: Interval,
    occupancy: Occupancy,
    waits: Foreseen,
    packets_out: u64,
    bytes_out: u64,
    /// The last packet that left the queue.
    last_size: LastSize,
}

/// Packets of one size that leave the queue at one tick.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    at: Time,
    packets: u32,
    bytes: u32,
}

impl TickingFifo {
    /// An empty queue before an idle link without credit, whose waits are measured in this span.
    pub fn new(rate: Rate, limit: Limit, ticks: Ticks, measured: (Time, Time)) -> Self {
        TickingFifo {
            rate,
            limit,
            ticks,
            credit: Credit::new(Capacity::Constant(rate)),
            tick: Time::ZERO,
            idle_from: Time::ZERO,
            waiting: VecDeque::new(),
            first_leaves: Time::NEVER,
            busy_until: Time::ZERO,
            served: Interval::ZERO,
            occupancy: Occupancy::default(),
            waits: Foreseen::new(measured),
            packets_out: 0,
            bytes_out: 0,
            last_size: LastSize::default(),
        }
    }

    /// Lets everything leave the queue whose tick has come by `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time) {
        if self.first_leaves <= now {
            self.let_leave(now);
        }
    }

    #[inline(never)]
    fn let_leave(&mut self, now: Time) {
        while self.first_leaves <= now
            && let Some(Leaving { at, packets, bytes }) = self.waiting.pop_front()
        {
            self.first_leaves = self.waiting.front().map_or(Time::NEVER, |next| next.at);
            let (together, each) = (u64::from(packets), u64::from(bytes));
            let (queued, queued_bytes) = (self.occupancy.packets(), self.occupancy.bytes());
            self.occupancy.set(at, queued - together, queued_bytes - together * each);
            self.depart(at, together, bytes);
        }
    }

    /// Packets that have left the queue at `at` go on the wire behind those before them.
    #[inline]
    fn depart(&mut self, at: Time, packets: u64, bytes: u32) {
        let each = self.last_size.transmission(self.rate, bytes);
        let transmission = Interval::from_ns(packets * each.as_ns());
        self.busy_until = self.busy_until.max(at).later_by(transmission);
        self.served = self.served + transmission;
        self.packets_out += packets;
        self.bytes_out += packets * u64::from(bytes);
    }

    /// Earns up to the tick that pays for everything, further than one tick away.
    #[inline(never)]
    fn earn_more(&mut self) {
        let tick = self.credit.earned_at(false, &self.ticks, self.tick);
        self.earn(tick);
    }

    /// Earns up to the next tick.
    #[inline(always)]
    fn earn(&mut self, tick: Time) {
        self.tick = tick;
        self.credit.earn(tick);
    }

    /// A packet of `bytes` arrives. Returns the tick at which its last bit is on the wire, or `None` if there
    /// is no room for it.
    #[inline]
    fn accept(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.settle(now);
        if !self.limit.admits(self.occupancy.packets(), self.occupancy.bytes(), bytes) {
            return None;
        }
        let mut next = self.tick + self.ticks.period();
        let mut leaves = self.tick;
        if self.idle_from <= now {
            // an idle link has earned nothing, and hands out packets at once with what it has left
            if self.tick == Time::ZERO || now >= next {
                next = self.ticks.after(now);
                self.tick = next - self.ticks.period(); // the last one that is not after now
            }
            self.credit.resume(self.tick);
            leaves = now;
            if self.credit.is_left() {
                self.credit.pay(bytes);
                self.depart(now, 1, bytes);
                if self.credit.is_settled() {
                    self.idle_from = now;
                    let at_a_tick = next.since(now) == self.ticks.period();
                    return Some(if at_a_tick { now } else { next });
                }
                return Some(self.pay_off(next));
            }
        }
        if !self.credit.is_left() {
            self.earn(next);
            leaves = next;
            next += self.ticks.period();
        }
        self.wait(now, leaves, bytes);
        self.credit.pay(bytes);
        Some(self.pay_off(next))
    }

    /// A packet waits for the tick at which it leaves.
    #[inline(always)]
    fn wait(&mut self, now: Time, leaves: Time, bytes: u32) {
        self.occupancy.join(now, bytes);
        self.waits.record(now, leaves);
        match self.waiting.back_mut() {
            Some(last) if last.at == leaves && last.bytes == bytes => last.packets += 1,
            _ => {
                self.first_leaves = self.first_leaves.min(leaves);
                self.waiting.push_back(Leaving { at: leaves, packets: 1, bytes });
            }
        }
    }

    /// Earns, from the tick `next` on, until everything is paid for. Returns the tick at which it is.
    #[inline(always)]
    fn pay_off(&mut self, next: Time) -> Time {
        if !self.credit.is_settled() {
            self.earn(next);
        }
        if !self.credit.is_settled() {
            self.earn_more();
        }
        self.idle_from = self.tick;
        self.tick
    }
}

impl Departures for TickingFifo {
    #[inline(always)]
    fn offer(&mut self, now: Time, bytes: u32, _markable: bool) -> Offered {
        self.accept(now, bytes).map_or(Offered::Dropped(DropReason::Full), Offered::Departs)
    }

    fn settle_before(&mut self, now: Time) {
        self.settle(now - Interval::from_ns(1));
    }

    fn sent(&self) -> (u64, u64) {
        (self.packets_out, self.bytes_out)
    }

    fn busy(&self, now: Time) -> Interval {
        self.served.saturating_sub(self.busy_until.since(now))
    }

    fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    fn sojourn(&mut self) -> &Sojourn {
        self.waits.measured(self.packets_out)
    }

    fn restart(&mut self, now: Time) {
        self.settle_before(now);
        self.waits.begin(self.packets_out);
        self.occupancy.restart(now);
    }
}
