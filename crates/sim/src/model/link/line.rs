//! The wire behind a queue that a link asks for packets, and what is measured there.

use super::counters::LinkCounters;
use longfat_net::{Capacity, Occupancy, Sojourn, Transmitter};
use longfat_units::{Interval, Time};

/// A wire, and what is measured of the queue before it.
pub(super) struct Line {
    pub(super) wire: Transmitter,
    pub(super) busy_until: Time,
    /// When the queue wants its timer.
    pub(super) timer_at: Time,
    /// The queue holds packets but gave none when asked: it is not asked again before an arrival or its
    /// timer.
    pub(super) withheld: bool,
    /// How long the next packet to transmit has waited, if that is known; and in a low-latency queue.
    pub(super) waited: Option<Interval>,
    pub(super) waited_low: Option<Interval>,
    /// For how long, until `busy_until`, it has not transmitted.
    idle: Interval,
    /// Bytes of everything served before the wire was last free.
    bytes_before: u64,
    pub(super) occupancy: Occupancy,
    /// How long packets waited.
    sojourn: Sojourn,
    /// How long packets waited in a low-latency queue, once there was one.
    low_latency: Option<Sojourn>,
}

impl Line {
    /// An idle one.
    pub(super) fn new(capacity: Capacity) -> Self {
        Line {
            wire: Transmitter::new(capacity),
            busy_until: Time::ZERO,
            timer_at: Time::NEVER,
            withheld: false,
            waited: None,
            waited_low: None,
            idle: Interval::ZERO,
            bytes_before: 0,
            occupancy: Occupancy::default(),
            sojourn: Sojourn::default(),
            low_latency: None,
        }
    }

    /// Whether a queue of this many packets may give one.
    #[inline(always)]
    pub(super) const fn asks(&self, packets: u64) -> bool {
        packets > 0 && !self.withheld
    }

    /// Puts a packet of `bytes` on the wire: now, or behind those that a tick has handed out before it.
    #[inline(always)]
    pub(super) fn transmit(&mut self, now: Time, bytes: u32, counters: &mut LinkCounters) {
        if self.busy_until <= now {
            self.idle = self.idle + now.since(self.busy_until);
            self.busy_until = now;
            self.bytes_before = counters.bytes_out;
        }
        counters.packets_out += 1;
        counters.bytes_out += u64::from(bytes);
        self.busy_until = self.wire.send(self.busy_until, bytes);
        if let Some(span) = self.waited {
            self.sojourn.record(span);
        }
        if let Some(span) = self.waited_low {
            self.low_latency.get_or_insert_default().record(span);
        }
    }

    /// Writes what it has transmitted before `now`. Returns the length of the queue and the counters.
    pub(super) fn settle(&self, now: Time, counters: &mut LinkCounters) -> (Occupancy, LinkCounters) {
        let begun = self.busy_until.since(Time::ZERO).saturating_sub(self.idle);
        counters.busy = begun.saturating_sub(self.busy_until.since(now));
        // the rest of the last packet's transmission
        let rest = self.wire.capacity().bits(now, self.busy_until.max(now));
        let [all, before] = [counters.bytes_out, self.bytes_before].map(|bytes| 8.0 * bytes as f64);
        counters.bits_out = (all - rest).max(before);
        (self.occupancy, *counters)
    }

    /// How long packets have waited: all, and those in a low-latency queue.
    pub(super) const fn waits(&self) -> (&Sojourn, Option<&Sojourn>) {
        (&self.sojourn, self.low_latency.as_ref())
    }

    pub(super) fn restart(&mut self, now: Time) {
        self.occupancy.restart(now);
        self.sojourn.restart();
        if let Some(sojourn) = &mut self.low_latency {
            sojourn.restart();
        }
    }
}
