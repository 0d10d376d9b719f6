//! What leaves: the segments that the window and the pacing rate allow.

use super::usage::Limit;
use super::{MOST_AT_ONCE, Phase, Sender, lesser};
use crate::Carrier;
use crate::cc::{CongestionControl, MOST_CWND};
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, SimPacket};

/// Where a sender puts its packets; any closure that takes one is an outbox.
pub trait Outbox {
    /// A packet leaves.
    fn send(&mut self, packet: SimPacket);
}

impl<F: FnMut(SimPacket)> Outbox for F {
    #[inline]
    fn send(&mut self, packet: SimPacket) {
        self(packet);
    }
}

impl Sender {
    /// Sends what the window and the pacing rate allow now.
    #[inline(always)]
    pub(super) fn transmit<const EXPLICIT: bool>(&mut self, now: Time, out: &mut impl Outbox) {
        if let Some(cwnd) = self.steering.as_ref().and_then(|steering| steering.cwnd) {
            self.window.cwnd = cwnd;
        }
        if self.send_at != Time::NEVER && now < self.send_at && !self.must_send {
            return; // the next segment is not due yet
        }
        self.send_at = Time::NEVER;
        if matches!(self.phase, Phase::Idle | Phase::SynSent | Phase::Done) {
            return;
        }
        let pace = self.pace();
        if pace.is_none() && (self.board.lost() == 0 || self.repairs_wait) {
            return self.transmit_new::<EXPLICIT>(now, self.in_flight(), out);
        }
        self.transmit_apart::<EXPLICIT>(now, pace, out);
    }

    /// The rate at which segments may leave, segments per second; `None` as acknowledgements arrive.
    #[inline(always)]
    pub(super) fn pace(&self) -> Option<f64> {
        let set = self.steering.as_ref().and_then(|steering| steering.rate);
        set.or_else(|| self.controller.pacing_rate(&self.window, self.rtt.srtt()))
    }

    /// The segments that may be in flight now, and the first one that may not yet be sent.
    #[inline(always)]
    pub(super) fn limits(&self) -> (u64, u64) {
        let allowed = lesser(MOST_CWND, self.window.cwnd) as i64 as u64; // signed: one instruction on most machines
        (allowed, self.end.min(self.board.base().saturating_add(self.receiver_window)))
    }

    /// The common case: no retransmission, no pacing. `in_flight` segments are under way.
    #[inline(always)]
    pub(super) fn transmit_new<const EXPLICIT: bool>(
        &mut self,
        now: Time,
        in_flight: u64,
        out: &mut impl Outbox,
    ) {
        let (allowed, edge) = self.limits();
        let room = allowed.saturating_sub(in_flight).min(edge.saturating_sub(self.next));
        let room = room.min(self.max_burst);
        if room > 0 {
            self.must_send = false;
            let full = !self.keeps_times && !self.config.ecn && self.next + room < self.end;
            if full && !(EXPLICIT && self.explicit) {
                self.send_full(now, room, out);
            } else {
                for _ in 0..room {
                    self.send::<EXPLICIT>(now, None, out);
                }
            }
        }
        if self.next >= edge {
            self.limit = self.limit_of_source(self.in_flight(), self.next - room);
            return;
        }
        self.limit = Limit::Window;
        if room == self.max_burst {
            self.end_burst(now);
        }
    }

    /// Sends this many new segments of full size, of which nobody keeps records.
    #[inline(always)]
    fn send_full(&mut self, now: Time, segments: u64, out: &mut impl Outbox) {
        let bytes = self.config.mss_bytes + self.config.header_bytes;
        let end = self.next + segments;
        while self.next < end {
            out.send(SimPacket::new(Kind::Data, self.config.flow, self.next, bytes, now));
            self.next += 1;
        }
        self.counters.packets_sent += segments;
        self.episode.sent(segments);
        if self.rto_at == Time::NEVER {
            self.rto_at = self.rtt.deadline(now);
        }
    }

    /// Sends what is lost before what is new, and as far apart as the pacing rate wants it.
    #[inline(never)]
    fn transmit_apart<const EXPLICIT: bool>(&mut self, now: Time, pace: Option<f64>, out: &mut impl Outbox) {
        let gap = pace.map_or(Interval::ZERO, |rate| Interval::from_secs_f64(1.0 / rate));
        let (allowed, edge) = self.limits();
        let mut in_flight = self.in_flight();
        let mut burst = 0;
        let mut quantum = 0; // what may still leave together
        let before = self.next;
        loop {
            let lost = if self.repairs_wait { None } else { self.board.next_lost() };
            if lost.is_none() && self.next >= edge {
                self.limit = self.limit_of_source(in_flight, before);
                if self.next >= self.end && in_flight < allowed {
                    self.note_application_limit();
                }
                return;
            }
            let forced = self.must_send && lost.is_some();
            // pacing keeps its segments apart by itself
            let full = burst == if pace.is_none() { self.max_burst } else { MOST_AT_ONCE };
            if !forced && in_flight >= allowed {
                self.limit = Limit::Window;
                self.usage.note(in_flight, self.board.base(), self.next);
                return;
            }
            if full {
                return self.end_burst(now);
            }
            if pace.is_some() && !forced {
                if quantum == 0 {
                    if self.pace_at > now {
                        self.limit = self.spacing(in_flight, allowed, edge);
                        self.send_at = self.pace_at.round_up(self.config.host_tick, self.config.tick_phase);
                        return;
                    }
                    quantum = (self.controller.send_quantum() as u64).max(1);
                }
                quantum -= 1;
                // a host that wakes once per tick may make up for what the tick kept it from sending
                self.pace_at = self.pace_at.max(now - self.config.host_tick) + gap;
            }
            self.must_send = false;
            in_flight += 1;
            burst += 1;
            self.send::<EXPLICIT>(now, lost, out);
        }
    }

    /// The longest burst has left. If it is [`MOST_AT_ONCE`], those that may follow leave in another event
    /// now.
    #[cold]
    fn end_burst(&mut self, now: Time) {
        let (in_flight, (allowed, edge)) = (self.in_flight(), self.limits());
        self.limit =
            if in_flight >= allowed { Limit::Window } else { self.spacing(in_flight, allowed, edge) };
        if self.config.max_burst > MOST_AT_ONCE as f64 {
            self.send_at = now;
        }
    }

    /// What limits where the sender's own spacing of segments, by pacing or in bursts, has stopped it: the
    /// window if without that it would have, and at least half of it is in use. `sender/usage.rs` has the
    /// rule.
    fn spacing(&mut self, in_flight: u64, allowed: u64, edge: u64) -> Limit {
        self.usage.note(in_flight, self.board.base(), self.next);
        let room = allowed.saturating_sub(in_flight);
        let fills = self.next.saturating_add(room) < edge && self.window.cwnd <= 2.0 * self.usage.most();
        if fills { Limit::Window } else { Limit::Spacing }
    }

    #[inline(always)]
    pub(super) fn send<const EXPLICIT: bool>(&mut self, now: Time, lost: Option<u64>, out: &mut impl Outbox) {
        let seq = lost.unwrap_or(self.next);
        let payload = if seq + 1 == self.end {
            self.payload(self.end) - self.payload(seq)
        } else {
            u64::from(self.config.mss_bytes)
        };
        let mut packet =
            SimPacket::new(Kind::Data, self.config.flow, seq, payload as u32 + self.config.header_bytes, now);
        if self.config.ecn {
            let carrier = if lost.is_none() { Carrier::NewData } else { Carrier::Retransmission };
            packet.ecn = self.config.codepoints.of(carrier);
            if lost.is_none() {
                // RFC 3168, 6.1.2: only new data may announce reductions
                packet.ecn_flag = core::mem::take(&mut self.announce_reduction);
            }
        }
        if EXPLICIT && self.explicit {
            self.write_explicit(&mut packet);
        }
        if lost.is_some() {
            match self.rack {
                Some(_) => self.board.resent(seq),
                None => self.board.retransmitted(seq, self.next),
            }
            self.counters.retransmits += 1;
            self.note_resent(now, seq);
        } else {
            self.next += 1;
        }
        self.counters.packets_sent += 1;
        self.episode.sent(1);
        // the first outstanding segment gets a whole timeout each time (Linux, tcp_xmit_retransmit_queue)
        let restarts = self.rack.is_some() && seq == self.board.base();
        if self.rto_at == Time::NEVER || restarts {
            self.rto_at = self.rtt.deadline(now);
        }
        if self.keeps_times {
            self.record(now, seq, lost.is_some());
        }
        out.send(packet);
    }
}
