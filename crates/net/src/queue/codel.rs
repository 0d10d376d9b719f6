//! CoDel (Nichols, Jacobson, McGregor, Iyengar: Controlled Delay Active Queue Management, RFC 8289, 2018):
//! drops at the head while packets have waited longer than a target for a whole interval, at a growing rate
//! until they no longer do.
//!
//! ```text
//! above:     the head has waited for the target or more, and more than a packet is behind it, for an interval
//! dropping:  the next drop comes interval / sqrt(count) after the last one
//! again:     count goes on where it ended, less what it began with, if dropping ended within 16 intervals
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | target | 5 | ms | RFC 8289, section 4 | none |
//! | interval | 100 | ms | RFC 8289, section 4 | none |
//! | memory of count | 16 | intervals | RFC 8289, section 5 | none |
//! | maxpacket | the largest packet seen | bytes | RFC 8289, section 5: the link's MTU, which is not known here | early Linux had the same |

use super::fifo::{Fifo, signal};
use super::limit::Limit;
use super::red::ECN;
use super::row::{Discipline, Setup};
use crate::{DropReason, Element, Sink};
use longfat_units::math::sqrt;
use longfat_units::parameters::{Parameter, ParameterError, Parameters};
use longfat_units::{Entry, Interval, Style, Time};
use longfat_wire::Packet;

/// The registry row.
pub const ROW: Discipline = Discipline {
    entry: Entry {
        name: "codel",
        title: "CoDel",
        aliases: &[],
        citation: "Nichols, Jacobson, McGregor, Iyengar: Controlled Delay Active Queue Management, RFC 8289, 2018",
        page: "codel",
        parameters: &[TARGET, INTERVAL, ECN],
        style: Some(Style::new("#009e73", "o")),
    },
    linux_module: Some("codel"),
    ecn: true,
    l4s: false,
    random: false,
    law: None,
    check: |_, p| Law::check(&ROW, p),
};

pub(super) const TARGET: Parameter =
    Parameter::number("target", 5.0, (1e-3, 1e6), "ms", "how long packets may wait for long");
pub(super) const INTERVAL: Parameter = Parameter::number(
    "interval",
    100.0,
    (1e-3, 1e6),
    "ms",
    "how long they may wait longer before the first drop: a long round-trip time",
);

/// Dropping that starts again within this many intervals continues where it ended.
const MEMORY: u64 = 16;

/// CoDel's settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    target: Interval,
    interval: Interval,
    ecn: bool,
}

/// CoDel's state for one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// When packets will have waited too long for a whole interval.
    above_until: Option<Time>,
    dropping: bool,
    next_drop: Time,
    count: u32,
    last_count: u32,
}

impl Law {
    pub(super) fn new(p: &Parameters) -> Self {
        let ms = |name| Interval::from_secs_f64(1e-3 * p.number(name));
        Law { target: ms("target"), interval: ms("interval"), ecn: p.flag("ecn") }
    }

    /// Refuses a target that no interval would be longer than.
    pub(super) fn check(row: &Discipline, p: &Parameters) -> Result<(), ParameterError> {
        let (target, interval) = (p.number("target"), p.number("interval"));
        if target >= interval {
            let accepted = format!("less than {}.interval, {interval} ms", row.name);
            return Err(row.refuse("target", format!("{target} ms"), accepted));
        }
        Ok(())
    }

    fn after(&self, from: Time, count: u32) -> Time {
        from + self.interval.scale(1.0 / sqrt(f64::from(count)))
    }

    /// Whether it is time to drop the head of the queue (`ok_to_drop` of the RFC's `dodequeue`); `None` if
    /// there is none. Notes in `memory` since when packets have waited too long. `elsewhere`: bytes that
    /// count as waiting behind it, but in other queues.
    #[inline(always)]
    fn ok_to_drop<P: Packet>(
        &self,
        memory: &mut Memory,
        queue: &Fifo<P>,
        (elsewhere, max_packet): (u64, u32),
        now: Time,
    ) -> Option<bool> {
        let Some((since, packet)) = queue.first() else {
            memory.above_until = None;
            return None;
        };
        let behind = queue.bytes() - u64::from(packet.bytes()) + elsewhere;
        if now.since(since) < self.target || behind <= u64::from(max_packet) {
            memory.above_until = None;
            return Some(false);
        }
        Some(now >= *memory.above_until.get_or_insert(now + self.interval))
    }

    /// The packet to send next (`deque` of the RFC). A packet that is marked instead of dropped is sent, as
    /// Linux does.
    #[inline(always)]
    pub(super) fn serve<P: Packet>(
        &self,
        memory: &mut Memory,
        queue: &mut Fifo<P>,
        context: (u64, u32),
        now: Time,
        out: &mut dyn Sink<P>,
    ) -> Option<P> {
        let late = self.ok_to_drop(memory, queue, context, now) == Some(true);
        if late && (!memory.dropping || now >= memory.next_drop) {
            if let Some((since, marked)) = self.drop_late(memory, queue, context, now, out) {
                out.waited(now.since(since));
                return Some(marked);
            }
        } else {
            memory.dropping &= late;
        }
        queue.serve(now, out)
    }

    /// Drops those at the head that it is time to drop; there is one. Returns one that was marked instead.
    #[inline(never)]
    fn drop_late<P: Packet>(
        &self,
        memory: &mut Memory,
        queue: &mut Fifo<P>,
        context: (u64, u32),
        now: Time,
        out: &mut dyn Sink<P>,
    ) -> Option<(Time, P)> {
        if memory.dropping {
            while memory.dropping && now >= memory.next_drop {
                memory.count += 1;
                let (since, packet) = queue.pop()?;
                if let Some(marked) = signal(packet, self.ecn, DropReason::Delay, out) {
                    memory.next_drop = self.after(memory.next_drop, memory.count);
                    return Some((since, marked));
                }
                memory.dropping = self.ok_to_drop(memory, queue, context, now) == Some(true);
                if memory.dropping {
                    memory.next_drop = self.after(memory.next_drop, memory.count);
                }
            }
            return None;
        }
        memory.dropping = true;
        let grown = memory.count - memory.last_count;
        let recent = now.since(memory.next_drop).as_ns() < MEMORY.saturating_mul(self.interval.as_ns());
        memory.count = if grown > 1 && recent { grown } else { 1 };
        memory.last_count = memory.count;
        memory.next_drop = self.after(now, memory.count);
        let (since, packet) = queue.pop()?;
        if let Some(marked) = signal(packet, self.ecn, DropReason::Delay, out) {
            return Some((since, marked));
        }
        memory.dropping = self.ok_to_drop(memory, queue, context, now).is_some();
        None
    }
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct CoDel<P> {
    limit: Limit,
    law: Law,
    memory: Memory,
    queue: Fifo<P>,
    max_packet: u32,
}

impl<P: Packet> CoDel<P> {
    /// An empty queue from checked parameters.
    pub fn build(setup: Setup, p: &Parameters) -> Self {
        CoDel {
            limit: setup.limit,
            law: Law::new(p),
            memory: Memory::default(),
            queue: Fifo::default(),
            max_packet: 0,
        }
    }
}

impl<P: Packet> Element<P> for CoDel<P> {
    #[inline(always)]
    fn arrive(&mut self, now: Time, packet: P, out: &mut dyn Sink<P>) {
        if !self.queue.fits(&packet, self.limit) {
            return out.drop(packet, DropReason::Full);
        }
        self.max_packet = self.max_packet.max(packet.bytes());
        self.queue.push(now, packet);
    }

    fn next(&mut self, now: Time, out: &mut dyn Sink<P>) -> Option<P> {
        self.law.serve(&mut self.memory, &mut self.queue, (0, self.max_packet), now, out)
    }

    fn packets(&self) -> u64 {
        self.queue.len()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}
