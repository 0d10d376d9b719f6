//! Explicit congestion headers: what a sender writes into its data packets, and what routers return.

use super::usage::Limit;
use super::{Phase, Sender};
use crate::cc::{CongestionControl, Echo};
use longfat_units::Time;
use longfat_wire::{Extra, SimPacket, Trail};

impl Sender {
    /// What routers wrote, echoed by an acknowledgement; `advances` says whether of new data.
    pub(super) fn take_explicit(&mut self, now: Time, packet: &SimPacket, advances: bool) {
        let Some(header) = packet.extra.as_ref().and_then(|e| e.explicit.as_ref()) else { return };
        let bytes = self.packet_bytes();
        match self.phase {
            Phase::Open | Phase::Loss if advances => {
                let limited = matches!(self.limit, Limit::Window | Limit::Spacing);
                self.controller.on_explicit(header, bytes, Echo::Data { limited }, &mut self.window);
                self.check("on_explicit", now);
            }
            Phase::Reducing | Phase::Recovery => {
                self.controller.on_explicit(header, bytes, Echo::Recovery, &mut self.window);
            }
            _ => {}
        }
    }

    /// What routers wrote into the connection request, echoed by its answer.
    pub(super) fn take_answer(&mut self, now: Time, answer: &SimPacket) {
        let header = answer.extra.as_ref().and_then(|e| e.explicit.as_ref());
        if let Some(header) = header.filter(|h| h.is_answered()) {
            let (bytes, srtt) = (self.packet_bytes(), self.rtt.srtt());
            self.controller.on_explicit(header, bytes, Echo::Connection(srtt), &mut self.window);
            self.check("on_explicit", now);
        }
    }

    pub(super) fn write_explicit(&mut self, packet: &mut SimPacket) {
        if self.quick_start.is_some() && self.report_quick_start(packet) {
            return;
        }
        let window = self.window.cwnd.min(self.receiver_window as f64);
        let mut extra = self.spare.pop().unwrap_or_default();
        // data carry a header and its trail only; to write everything anew costs twice as much
        extra.trail = Trail::default();
        debug_assert_eq!(
            Extra { explicit: None, ..(*extra).clone() },
            Extra::default(),
            "only data carried it"
        );
        self.controller.write_explicit(&mut extra.explicit, window * self.packet_bytes(), self.rtt.srtt());
        packet.extra = Some(extra);
    }

    /// Takes back what a data packet of this sender carried, so that a later one need not allocate it.
    /// Routers may have changed its header and its trail, and nothing else.
    #[inline]
    pub fn recycle(&mut self, extra: Box<Extra>) {
        if self.explicit {
            self.spare.push(extra); // never more than were under way at one time
        }
    }
}
