//! Quick-Start (RFC 4782) at the sender: requests a rate with the connection request, and sends the first
//! window at the rate that every router on the path has approved.
//!
//! ```text
//! request : rate, QS TTL and nonce at random, on the first connection request only (section 4.7.2)
//! response: approved if the TTLs differ as they did and the nonce is right (section 4.4)
//! window  : cwnd <- rate x RTT / packet, if that is more than the initial window; its segments leave at the rate, until
//!           the first acknowledgement (section 4.4)
//! lost    : cwnd <- initial window, ssthresh <- at most half of what has arrived; slow-start (section 4.6)
//! ```
//!
//! The first data packet reports the rate in use, 0 for none (section 3.1). Everything else is as without
//! Quick-Start.

use super::request::{QuickStart, QuickStartRequest};
use super::usage::Limit;
use super::{Happened, Outbox, Phase, Sender};
use crate::cc::{Cause, LEAST_SSTHRESH};
use longfat_units::{Interval, Time};
use longfat_wire::{Explicit, Extra, Function, Packet, QuickStart as Header, RateCode, SimPacket};

impl Sender {
    /// Puts the request on the connection request.
    #[cold]
    pub(super) fn ask(&mut self, syn: &mut SimPacket, request: QuickStartRequest) {
        let QuickStartRequest { rate, ttl, nonce } = request;
        attach(syn, Header { function: Function::Request, rate, ttl, nonce });
        let ttl_difference = syn.ttl().wrapping_sub(ttl);
        self.quick_start = Some(QuickStart::Asked { request, ttl_difference });
    }

    /// The connection is open: evaluates the response.
    #[cold]
    pub(super) fn take_quick_start(&mut self, now: Time, answer: &SimPacket, out: &mut impl Outbox) {
        let Some(QuickStart::Asked { request, ttl_difference }) = self.quick_start.take() else { return };
        self.explicit = true; // the report
        let rate = match answer.explicit() {
            Some(Explicit::QuickStart(option)) if option.function == Function::Response => {
                let valid = option.ttl == ttl_difference
                    && option.rate <= request.rate
                    && option.is_honest(request.nonce);
                if valid { option.rate } else { RateCode::NONE }
            }
            _ => RateCode::NONE,
        };
        let packets_per_s = rate.bps() / (8.0 * self.packet_bytes());
        let window = (packets_per_s * self.rtt.srtt().as_secs_f64()).floor();
        if window <= self.config.initial_window {
            self.quick_start = Some(QuickStart::Refused);
            return self.note(now, Happened::QuickStartRefused);
        }
        self.window.cwnd = window;
        self.limit = Limit::Window;
        let gap = Interval::from_secs_f64(1.0 / packets_per_s);
        self.quick_start = Some(QuickStart::Sending { rate, due: now, gap });
        self.note(now, Happened::QuickStart);
        self.pace_quick_start(now, out);
    }

    /// Sends the segments of the window that are due. The first acknowledgement ends this.
    #[cold]
    pub(super) fn pace_quick_start(&mut self, now: Time, out: &mut impl Outbox) {
        while let Some(QuickStart::Sending { due, gap, .. }) = &mut self.quick_start {
            let edge = self.end.min(self.receiver_window);
            let sent = self.next >= edge.min(self.window.cwnd as u64);
            if sent || self.board.base() > 0 || self.phase != Phase::Open {
                // an unused part of the window is not kept (section 4.4)
                let used = (self.next as f64).max(self.config.initial_window);
                self.window.cwnd = self.window.cwnd.min(used);
                self.quick_start = Some(QuickStart::Sent { end: self.next });
                self.send_at = Time::NEVER;
                self.limit = if self.next < edge {
                    Limit::Window
                } else {
                    self.limit_of_source(self.in_flight(), self.next)
                };
                return;
            }
            if *due > now {
                self.send_at = due.round_up(self.config.host_tick, self.config.tick_phase);
                return;
            }
            *due += *gap;
            self.send::<true>(now, None, out);
        }
    }

    /// The report for the first data packet, if one is due.
    pub(super) fn report_quick_start(&mut self, packet: &mut SimPacket) -> bool {
        let rate = match self.quick_start {
            Some(QuickStart::Sending { rate, .. }) => rate,
            Some(QuickStart::Refused) => {
                self.quick_start = None;
                RateCode::NONE
            }
            _ => return false,
        };
        self.explicit = false;
        attach(packet, Header { function: Function::Report, rate, ..Header::default() });
        true
    }

    /// Whether part of the window is still under way. Called once, when a segment is lost or marked; later
    /// events do not concern Quick-Start.
    pub(super) fn risks_quick_start(&mut self) -> bool {
        match self.quick_start.take() {
            Some(QuickStart::Sending { .. }) => true,
            Some(QuickStart::Sent { end }) => self.board.base() < end,
            _ => false,
        }
    }

    /// The window was too large: ssthresh is at most half of what has arrived (section 4.6).
    pub(super) fn limit_after_quick_start(&mut self) {
        let arrived = (self.board.base() + self.board.sacked()) as f64;
        self.window.ssthresh = self.window.ssthresh.min(0.5 * arrived).max(LEAST_SSTHRESH);
    }

    /// Continues as if Quick-Start had never been used: slow-start from the initial window, which repairs the
    /// losses.
    pub(super) fn revert_quick_start(&mut self, now: Time, cause: Cause) {
        self.congestion(now, cause);
        self.limit_after_quick_start();
        self.undo = None;
        if cause == Cause::Loss && !self.config.loss_detection.has_sack() {
            self.restart();
        } else {
            self.phase = Phase::Loss;
            self.after_timeout = true;
            self.begin_repairs();
            self.must_send = cause == Cause::Loss;
        }
        self.window.cwnd = self.config.initial_window.max(1.0);
    }
}

/// Puts the option on a packet.
fn attach(packet: &mut SimPacket, option: Header) {
    packet.bytes = packet.bytes.saturating_add(Header::OPTION_BYTES as u16);
    packet.extra = Some(Box::new(Extra { explicit: Some(Explicit::QuickStart(option)), ..Extra::default() }));
}
