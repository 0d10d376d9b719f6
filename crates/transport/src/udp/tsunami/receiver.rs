//! Tsunami's receiver (the original's client): asks for missing blocks, and reports the error rate.

use super::super::arrivals::{Arrivals, ranges};
use super::super::channel::{Outbox, carried};
use super::super::connection::accept;
use super::super::end::{Books, Counts, ReceivingEnd};
use super::super::row::{BPS_PER_MBPS, Config};
use super::{MOST_KEPT, MOST_REQUESTS, TARGET};
use longfat_units::parameters::Parameters;
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, Report, SimPacket};
use std::collections::BTreeSet;
use std::ops::Range;

/// Thousandths of a per cent for a share of 1 of blocks asked for: half of what the unit says.
const ERROR_OF_SHARE: f64 = 500.0 * 100.0;
const HISTORY: f64 = 0.25;
const UPDATE: Interval = Interval::from_millis(350);
const UPDATE_BLOCKS: u64 = 50;
const ON_WIRE_S: f64 = 0.5;
const REQUEST_BYTES: u32 = 10;

/// What the client ignores after it has asked for a restart: blocks that were under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The last block that was to be asked for.
    last: u64,
    /// The last block that may be under way.
    clear: u64,
}

/// The receiving end (the original's client): blocks go to the disk as they come.
#[derive(Clone, Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    /// One past the last packet; never reached by endless flows.
    end: u64,
    outbox: Outbox,
    /// Requests of a segment.
    segment: usize,
    /// Blocks that 0.5 s at the target rate send.
    on_wire: u64,
    /// The block expected next.
    next: u64,
    /// Blocks to ask for, at most `MOST_KEPT`.
    wanted: BTreeSet<u64>,
    restart: Option<Pending>,
    blocks: u64,
    /// `blocks` at the last update, and when that was.
    updated: (u64, Time),
    /// e, thousandths of a per cent.
    error: f64,
    complete: bool,
}

impl Receiver {
    pub(super) fn new(p: &Parameters, config: &Config) -> Self {
        let blocks = BPS_PER_MBPS * p.number(TARGET.name) * ON_WIRE_S / f64::from(8 * config.mss_bytes);
        Receiver {
            arrivals: Arrivals::default(),
            end: Books::new(config).end,
            outbox: Outbox::new(config),
            segment: (config.mss_bytes / REQUEST_BYTES).max(1) as usize,
            on_wire: blocks as u64,
            next: 0,
            wanted: BTreeSet::new(),
            restart: None,
            blocks: 0,
            updated: (0, Time::NEVER),
            error: 0.0,
            complete: false,
        }
    }

    fn on_block(&mut self, now: Time, packet: &SimPacket) {
        if self.updated.1 == Time::NEVER {
            self.updated.1 = now;
        }
        self.blocks += 1;
        let last = matches!(carried(packet), Some(Report::Block { last: true }));
        let news = self.arrivals.take(packet).is_some();
        if (news || last || self.restart.is_some()) && !self.complete && !self.is_under_way(packet.seq, last)
        {
            self.note(packet.seq, carried(packet).is_none());
            if last {
                self.on_last(now, packet.seq + 1);
            }
        }
        if !self.complete && self.blocks.is_multiple_of(UPDATE_BLOCKS) && now.since(self.updated.1) > UPDATE {
            self.update(now);
        }
    }

    /// Whether the block left before the server saw the request for a restart.
    fn is_under_way(&self, seq: u64, last: bool) -> bool {
        !last && self.restart.is_some_and(|restart| seq > restart.last && seq <= restart.clear)
    }

    /// Wants what is missing of a range, as long as there is room. Nothing is forgotten: as many blocks as
    /// that bring a restart.
    fn want(&mut self, range: Range<u64>) {
        let room = MOST_KEPT.saturating_sub(self.wanted.len());
        self.wanted.extend(self.arrivals.missing(range).flat_map(|(start, end)| start..end).take(room));
    }

    /// Wants what is missing before this block.
    fn note(&mut self, seq: u64, original: bool) {
        self.want(self.next..seq);
        if original {
            self.next = seq + 1;
        }
        if self.restart.is_some_and(|restart| self.next >= restart.last) {
            self.restart = None;
        }
    }

    /// The file's last block has come, perhaps again.
    fn on_last(&mut self, now: Time, end: u64) {
        let first = self.arrivals.in_order();
        if first >= end {
            self.complete = true;
            self.wanted.clear();
            return self.outbox.push(now, Report::Arrived(end), REQUEST_BYTES);
        }
        self.want(first..end);
        self.ask(now);
    }

    /// Asks for the missing blocks. Returns how many requests count for the error rate.
    fn ask(&mut self, now: Time) -> usize {
        let arrivals = &self.arrivals;
        self.wanted.retain(|&seq| arrivals.lacks(seq));
        if self.wanted.len() >= MOST_REQUESTS {
            let first = self.arrivals.in_order();
            let last = self.wanted.last().copied().unwrap_or(first);
            self.restart = Some(Pending { last, clear: last + self.on_wire });
            self.wanted.clear();
            self.next = first;
            self.outbox.push(now, Report::Restart(first), REQUEST_BYTES);
            return MOST_REQUESTS;
        }
        let wanted: Vec<u64> = self.wanted.iter().copied().collect();
        for segment in wanted.chunks(self.segment) {
            let missing = Report::Missing(ranges(segment.iter().copied()));
            self.outbox.push(now, missing, REQUEST_BYTES * segment.len() as u32);
        }
        wanted.len()
    }

    fn update(&mut self, now: Time) {
        let asked = self.ask(now) as f64;
        let share = asked / (1.0 + asked + (self.blocks - self.updated.0) as f64);
        self.error = HISTORY * self.error + (1.0 - HISTORY) * ERROR_OF_SHARE * share;
        self.outbox.push(now, Report::ErrorRate(self.error.floor()), REQUEST_BYTES);
        self.updated = (self.blocks, now);
    }
}

impl ReceivingEnd for Receiver {
    fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match packet.kind {
            Kind::Syn => return Some(accept(packet)),
            Kind::Data => self.on_block(now, packet),
            Kind::AckAck => self.outbox.on_ack(now, packet),
            _ => {}
        }
        self.outbox.poll(now)
    }

    fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        self.outbox.poll(now)
    }

    fn wake(&self) -> Time {
        self.outbox.wake()
    }

    fn delivered(&self) -> u64 {
        self.arrivals.count(self.end)
    }

    fn counts(&self) -> &Counts {
        &self.arrivals.counts
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::channel::carrying;
    use super::super::ROW;
    use super::*;
    use crate::cc::Value;
    use crate::udp::testing::{config, data, ms};

    #[test]
    fn the_error_rate_is_half_the_share_of_blocks_asked_for_smoothed() {
        let given = [("target_rate".to_owned(), Value::Number(11.584))];
        let p = ROW.check(&given, config().line).unwrap();
        let mut r = Receiver::new(&p, &config());
        // a block each 10 ms, every tenth of them missing: an update after 50 arrivals, at 550 ms
        let mut told = Vec::new();
        for seq in (0..60).filter(|seq| seq % 10 != 5) {
            let mut segment = r.on_packet(ms(10 * seq), &data(seq));
            while let Some(packet) = segment {
                told.extend(carried(&packet).cloned());
                segment = r.on_timer(ms(10 * seq));
            }
        }
        let missing = (0..5).map(|i| (10 * i + 5, 10 * i + 6)).collect();
        // 5 of 1 + 5 + 50: 0.75 * 50000 * 5 / 56 = 3348.2
        assert_eq!(told, [Report::Missing(missing), Report::ErrorRate(3348.0)]);
    }

    #[test]
    fn the_client_keeps_no_more_requests_than_the_original_and_starts_again_from_the_first_block() {
        let p = ROW.check(&[], config().line).unwrap();
        let mut r = Receiver::new(&p, &config());
        let last = carrying(data(100_000), Report::Block { last: true });
        let restart = r.on_packet(ms(0), &last).unwrap();
        assert_eq!(carried(&restart), Some(&Report::Restart(0)));
        // 65536 of the 100000 missing blocks, 0 to 65535, were to be asked for
        assert_eq!(r.restart.map(|restart| restart.last), Some(65_535));
        assert_eq!(r.wanted.len(), 0);
    }
}
