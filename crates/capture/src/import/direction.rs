//! One direction of a connection.

use super::flight::Flight;
use super::rtt::{Rtts, Sent, Stamps};
use super::segment::Segment;
use super::sizes::Sizes;
use std::net::IpAddr;

/// Sequence numbers beyond this are not of the same stream: the greatest window (RFC 7323, section 2.3).
const GREATEST_WINDOW: u64 = 1 << 30;

/// One direction of a connection.
#[derive(Default)]
pub struct Direction {
    /// The sequence number of the first byte that was seen, once there was one.
    isn: Option<u32>,
    /// Its SYN: when, and whether it was sent once.
    syn: Option<(u64, bool)>,
    /// One past the highest byte, counted from the first.
    pub high: u64,
    /// Acknowledged by the other end.
    pub acked: u64,
    /// The other end was captured.
    pub heard: bool,
    pub sizes: Sizes,
    pub fin: bool,
    pub flight: Flight,
    pub stamps: Stamps,
    /// The least time until this end echoed a timestamp that the capture shows, ns.
    pub near_ns: Option<u64>,
    pub rtts: Rtts,
    /// The window that its last packet announced.
    window: Option<u16>,
    /// Probes: of a closed window, or whether the other end is there.
    pub probes: u64,
    /// Bytes that were acknowledged without having been captured.
    pub unseen: u64,
    epoch: u32,
    /// A packet of it has a time.
    pub timed: bool,
}

impl Direction {
    /// How far a sequence number is ahead of the highest byte so far, the shorter way round.
    const fn ahead(&self, isn: u32, seq: u32) -> i64 {
        seq.wrapping_sub(isn).wrapping_sub(self.high as u32).cast_signed() as i64
    }

    /// Where a sequence number is, counted from the first byte.
    const fn position(&self, isn: u32, seq: u32) -> u64 {
        self.high.saturating_add_signed(self.ahead(isn, seq))
    }

    /// Whether the segment is of another stream: it begins one, or has numbers that no window reaches.
    pub fn is_foreign(&self, segment: &Segment) -> bool {
        let Some(isn) = self.isn else { return false };
        if segment.opens {
            segment.seq.wrapping_add(1) != isn
        } else {
            segment.payload > 0 && self.ahead(isn, segment.seq).unsigned_abs() > GREATEST_WINDOW
        }
    }

    /// The clock has stepped: nothing is measured across it.
    pub fn enter(&mut self, epoch: u32) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.flight.forget_times();
            self.stamps.clear();
            self.syn = None;
        }
    }

    /// This end sends a segment. `closed` is whether the other end's window is.
    pub fn send(&mut self, segment: &Segment, closed: bool) {
        let payload = segment.payload;
        if segment.opens {
            self.open(segment);
        }
        self.timed |= !segment.untimed;
        if !segment.untimed
            && let Some((value, _)) = segment.stamps
        {
            self.stamps.send(value, segment.at_ns);
        }
        self.fin |= segment.closes;
        if payload == 0 {
            return;
        }
        let seq = segment.seq.wrapping_add(u32::from(segment.opens));
        let isn = *self.isn.get_or_insert(seq);
        let start = self.position(isn, seq);
        let end = start + u64::from(payload);
        let alive = end == self.high && self.acked == self.high && self.high > 0;
        if payload == 1 && (alive || closed && start == self.acked) {
            self.probes += 1;
            return;
        }
        let again = end.min(self.high).saturating_sub(start) as u32;
        let unlike = u32::from(matches!(segment.ends[0].0, IpAddr::V6(_))) * 20;
        self.sizes.add(payload, again, segment.header, unlike);
        if again > 0 {
            self.flight.send_again(start, end.min(self.high));
        } else if start > self.high {
            self.flight.send(self.high, start, None);
        }
        if end > self.high {
            let at_ns = (!segment.untimed).then_some(segment.at_ns);
            self.flight.send(start.max(self.high), end, at_ns);
            self.high = end;
        }
    }

    fn open(&mut self, segment: &Segment) {
        let isn = segment.seq.wrapping_add(1);
        let again = self.isn == Some(isn) && self.syn.is_some();
        self.isn = Some(isn);
        self.syn = (!segment.untimed).then_some((segment.at_ns, !again));
    }

    /// Payload that has arrived, as far as the capture shows it: acknowledged, also selectively, or all that
    /// was sent.
    pub const fn arrived(&self) -> u64 {
        if self.heard { self.high.saturating_sub(self.flight.waiting()) } else { self.high }
    }

    /// The same without what was only selectively acknowledged.
    pub const fn delivered(&self) -> u64 {
        if self.heard { self.acked } else { self.high }
    }

    /// Whether the other end was captured and has not acknowledged everything.
    pub const fn is_waiting(&self) -> bool {
        self.heard && self.acked < self.high
    }

    /// Whether the segment has new bytes of this direction.
    pub fn is_new(&self, segment: &Segment) -> bool {
        segment.payload > 0 && self.isn.is_some_and(|isn| self.position(isn, segment.seq) >= self.high)
    }

    /// Whether this number acknowledges new bytes.
    pub fn is_progress(&self, ack: u32) -> bool {
        self.isn.is_some_and(|isn| (self.acked + 1..=self.high).contains(&self.position(isn, ack)))
    }

    /// Whether this end's window is closed.
    pub fn is_closed(&self) -> bool {
        self.window == Some(0)
    }

    /// What this end announces.
    pub fn announce(&mut self, segment: &Segment) {
        if !segment.opens && !segment.resets {
            self.window = Some(segment.window);
        }
    }

    /// The other end acknowledges. Returns when those segments were sent whose round trips end with
    /// this.
    pub fn hear(&mut self, segment: &Segment, ack: u32) -> Option<Sent> {
        self.heard = true;
        let isn = self.isn?;
        let mut ack = self.position(isn, ack);
        let before = self.acked;
        let beyond = ack.saturating_sub(self.high);
        // one beyond is the number of the FIN, or of a probe; much beyond, of another connection
        if beyond > 1 && beyond < GREATEST_WINDOW {
            self.unseen += beyond;
            self.high = ack;
        }
        ack = ack.min(self.high);
        let mut sent: Option<Sent> = None;
        if let Some((at_ns, true)) = self.syn.take() {
            sent = Some(Sent::at(at_ns));
        }
        if ack > self.acked {
            self.acked = ack;
            sent = self.flight.acknowledge(ack);
        }
        let full = self.sizes.full();
        for &(start, end) in segment.sack.iter().take_while(|(start, end)| start != end) {
            let (start, end) = (self.position(isn, start), self.position(isn, end));
            // a duplicate is reported below what is acknowledged (RFC 2883)
            if start >= self.acked && end <= self.high {
                sent = self.flight.sack(start, end, full).map(|new| new.with(sent)).or(sent);
            }
        }
        if segment.untimed || segment.dropped {
            return None;
        }
        let echo = segment.stamps.map(|(_, echo)| self.stamps.echo(echo));
        let late = || echo.as_ref()?.sent_ns(segment.at_ns).map(Sent::at).filter(|_| self.acked > before);
        sent.or_else(late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_the_highest_byte_across_the_end_of_the_numbers() {
        let isn = u32::MAX - 99;
        let at = |high: u64, seq: u32| Direction { high, ..Direction::default() }.position(isn, seq);
        assert_eq!(at(0, isn), 0);
        assert_eq!(at(1000, 900), 1000, "the next one, behind the wrap");
        assert_eq!(at(1000, u32::MAX - 49), 50, "sent again");
        assert_eq!(at((1 << 32) + 1000, 900), (1 << 32) + 1000, "a second time round");
    }
}
