//! RACK-TLP (RFC 8985) at the sender: when it looks for losses, its timers, and the probes of a tail.
//!
//! | constant | value | source |
//! |---|---|---|
//! | probe timeout | 2 SRTT, at most until the retransmission timeout; 1 s without SRTT | RFC 8985, section 7.2 |
//! | budget for a delayed acknowledgement of a single segment | `rto_min` | RFC 8985 leaves it to the implementation; Linux has TCP_RTO_MIN (tcp_schedule_loss_probe, 5.15) |

use super::timing::Reported;
use super::{Happened, Outbox, Phase, Sender};
use crate::cc::{Cause, CongestionControl};
use crate::rack::{Probe, Rack, Timer};
use crate::{DUP_THRESH, RttSamples};
use longfat_units::{Interval, Time};
use longfat_wire::SimPacket;

const PROBE_TIMEOUT_WITHOUT_SRTT: Interval = Interval::from_millis(1000);

impl Sender {
    /// A segment leaves: keeps its time, and restarts the probe timeout after new data.
    pub(super) fn record(&mut self, now: Time, seq: u64, again: bool) {
        if let Some(ages) = &mut self.ages {
            ages.sent(seq, now);
        }
        if self.is_model_based() {
            self.record_delivery(now, seq);
        }
        if let Some(rack) = &mut self.rack {
            rack.order.sent(seq, now);
            if !again && self.may_probe() {
                self.schedule_probe(now);
            }
        }
    }

    /// A block of an acknowledgement, before the scoreboard knows it.
    pub(super) fn hear_of(
        &mut self,
        now: Time,
        packet: &SimPacket,
        (start, end): (u64, u64),
        mut reported: Option<&mut Reported>,
    ) {
        if self.board.has_heard(start, end) {
            return;
        }
        let (min_rtt, stamp) = (self.min_rtt(), self.echo(now, packet));
        let least = (self.config.rtt_samples == RttSamples::Numbered).then_some(self.rtt.known_base());
        for (from, to) in self.board.unknown(start, end) {
            if let Some(deliveries) = &mut self.deliveries {
                deliveries.arrived(from, to);
            }
            if let Some(rack) = &mut self.rack {
                rack.order.delivered(from, to, now, stamp, min_rtt);
            }
            if let (Some(reported), Some(ages)) = (&mut reported, &self.ages) {
                reported.include(ages, now, (from, to), least);
            }
        }
    }

    /// What an acknowledgement echoes. Without timestamps nothing says that it answers an earlier
    /// transmission.
    fn echo(&self, now: Time, packet: &SimPacket) -> Time {
        if self.config.timestamps { packet.stamp } else { now }
    }

    /// The least round-trip time. Before the first sample an arrival says nothing of the last transmission:
    /// it may always be that of an earlier one.
    fn min_rtt(&self) -> Interval {
        self.rtt.base().unwrap_or(Interval::MAX)
    }

    /// The answer to the request has given a round-trip time sample, so a probe may follow (section 7.3).
    pub(super) fn allow_probe(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.probe.sampled = true;
        }
    }

    /// Looks for losses on an acknowledgement (section 6.2). Returns whether it found some.
    pub(super) fn look_back(&mut self, now: Time, packet: &SimPacket, cumulative: u64) -> bool {
        self.take_probe_ack(now, packet, cumulative);
        let (base, min_rtt, stamp) = (self.board.base(), self.min_rtt(), self.echo(now, packet));
        if let Some(rack) = &mut self.rack {
            rack.order.acknowledged(base, now, stamp, min_rtt);
            rack.probe.sampled |= cumulative > 0;
        }
        !self.repairs_wait && self.find_late(now)
    }

    pub(super) fn find_late(&mut self, now: Time) -> bool {
        let (window, before) = (self.reordering_window(), self.board.lost());
        if let Some(rack) = &mut self.rack {
            for &(start, end) in rack.order.find_lost(now, window) {
                self.board.lose_range(start, end);
            }
        }
        self.board.lost() > before
    }

    /// The time that segments get to arrive out of order (section 6.2, step 4).
    fn reordering_window(&self) -> Interval {
        let order = self.rack.as_ref().map(|rack| &rack.order);
        let seen = order.is_some_and(Rack::has_seen_reordering);
        let repairing = matches!(self.phase, Phase::Recovery | Phase::Loss);
        if !seen && (repairing || self.board.sacked() >= DUP_THRESH) {
            return Interval::ZERO;
        }
        // the window is at most the smoothed round-trip time, which is zero before the first sample
        let Some(base) = self.rtt.base() else { return Interval::ZERO };
        let steps = order.map_or(1, Rack::steps);
        Interval::from_ns(base.as_ns() / 4 * u64::from(steps)).min(self.rtt.srtt())
    }

    /// Goes back after a timeout: only segments that have been under way for long count as lost (section
    /// 6.3). The window is one more than is in flight (Linux, tcp_enter_loss); usually that is one.
    pub(super) fn restart_by_time(&mut self, now: Time) {
        self.phase = Phase::Loss;
        let window = self.reordering_window();
        if let Some(rack) = &mut self.rack {
            for &(start, end) in rack.order.find_lost_on_timeout(now, window) {
                self.board.lose_range(start, end);
            }
        }
        self.window.cwnd = self.in_flight() as f64 + 1.0;
        self.after_timeout = true;
        self.begin_repairs();
        self.must_send = true;
        self.forget_probe();
        self.set_timer(Timer::None, Time::NEVER);
    }

    /// Recovery begins, which needs no probe (section 7.1).
    pub(super) fn forget_probe(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.probe.end = None;
        }
    }

    fn set_timer(&mut self, timer: Timer, at: Time) {
        if let Some(rack) = &mut self.rack {
            rack.timer = timer;
            self.early_at = at;
        }
    }

    /// Starts the timer that an acknowledgement calls for. It precedes the retransmission timer.
    pub(super) fn arm(&mut self, now: Time, cumulative: u64) {
        self.find_late(now); // the window is shorter than it was if a recovery has begun
        let window = self.reordering_window();
        let Some(rack) = &self.rack else { return };
        let due = rack.order.deadline(window);
        if due < self.rto_at {
            self.set_timer(Timer::Reordering, due);
        } else if cumulative > 0 && self.may_probe() {
            self.schedule_probe(now);
        } else if rack.timer != Timer::Probe || !self.may_probe() {
            self.set_timer(Timer::None, Time::NEVER);
        }
    }

    /// Whether silence calls for a probe: other means find losses once segments were selectively
    /// acknowledged.
    fn may_probe(&self) -> bool {
        let waits = self.board.base() < self.next && self.board.sacked() == 0;
        waits && matches!(self.phase, Phase::Open | Phase::Reducing)
    }

    /// Restarts the probe timeout (section 7.2).
    fn schedule_probe(&mut self, now: Time) {
        let srtt = self.rtt.srtt();
        let wait = if srtt == Interval::ZERO {
            PROBE_TIMEOUT_WITHOUT_SRTT
        } else if self.next - self.board.base() == 1 {
            srtt + srtt + self.config.rto.min
        } else {
            srtt + srtt
        };
        self.set_timer(Timer::Probe, (now + wait).min(self.rto_at));
    }

    /// The timer that precedes the retransmission timer has expired.
    #[cold]
    pub(super) fn on_early_timer(&mut self, now: Time, out: &mut impl Outbox) {
        let timer = self.rack.as_ref().map_or(Timer::None, |rack| rack.timer);
        self.set_timer(Timer::None, Time::NEVER);
        match timer {
            Timer::None => {}
            Timer::Reordering => {
                if self.find_late(now) && self.phase != Phase::Recovery {
                    // as Linux does (tcp_rack_reo_timeout): after a timeout too, and this counts as one
                    // delivery, so that one segment leaves
                    self.begin_recovery(now, 1);
                    if self.phase == Phase::Recovery {
                        self.shrink(1, false);
                    }
                }
                self.arm(now, 0);
            }
            Timer::Probe => self.send_probe(now, out),
        }
    }

    /// Sends a new segment, or the last one again, whatever the window (section 7.3). One probe may be under
    /// way.
    fn send_probe(&mut self, now: Time, out: &mut impl Outbox) {
        if self.rack.as_ref().is_some_and(|rack| rack.probe.end.is_none() && rack.probe.sampled) {
            let edge = self.end.min(self.board.base().saturating_add(self.receiver_window));
            let again = self.next >= edge;
            self.send::<true>(now, again.then(|| self.next - 1), out);
            if let Some(rack) = &mut self.rack {
                rack.probe = Probe { end: Some(self.next), again, sampled: false };
            }
            self.set_timer(Timer::None, Time::NEVER);
        }
        self.rto_at = self.rtt.deadline(now);
    }

    /// What an acknowledgement says of the probe (section 7.4.2): a DSACK, or a duplicate without a block,
    /// says that a repeated segment had arrived before.
    fn take_probe_ack(&mut self, now: Time, packet: &SimPacket, cumulative: u64) {
        let Some(rack) = &mut self.rack else { return };
        let Some(end) = rack.probe.end.filter(|&end| packet.seq >= end) else { return };
        let repaired = rack.probe.again && packet.seq > end;
        let needless = packet.duplicate() == Some((end - 1, end));
        let pure = cumulative == 0 && packet.sack().is_empty();
        if !rack.probe.again || repaired || needless || pure {
            rack.probe.end = None;
        }
        if repaired && !needless && self.phase == Phase::Open {
            // the probe has repaired the loss of the last segment
            self.note(now, Happened::Loss);
            self.congestion(now, Cause::Loss);
            self.undo = None;
            if !self.is_model_based() {
                self.window.cwnd = self.window.ssthresh;
            }
            self.recovery_point = self.next;
            self.note(now, Happened::Recovered);
            self.controller.on_recovered(now, &mut self.window);
            self.check("on_recovered", now);
        }
    }
}
