//! Explicit congestion headers: what a sender writes into its data packets, and what routers return.

use super::{Phase, Sender};
use crate::cc::CongestionControl;
use longfat_units::Time;
use longfat_wire::{Extra, SimPacket};

impl Sender {
    /// What routers wrote, echoed by an acknowledgement of new data.
    pub(super) fn take_explicit(&mut self, now: Time, packet: &SimPacket) {
        let echo = packet.extra.as_ref().and_then(|e| e.explicit.as_ref());
        if let Some(echo) = echo.filter(|_| matches!(self.phase, Phase::Open | Phase::Loss)) {
            let bytes = self.packet_bytes();
            self.controller.on_explicit(echo, bytes, self.limited, &mut self.window);
            self.check("on_explicit", now);
        }
    }

    pub(super) fn write_explicit(&mut self, packet: &mut SimPacket) {
        if self.quick_start.is_some() && self.report_quick_start(packet) {
            return;
        }
        let window = self.window.cwnd.min(self.receiver_window as f64);
        let explicit = self.controller.explicit(window * self.packet_bytes(), self.rtt.srtt());
        packet.extra = Some(Box::new(Extra { explicit, ..Extra::default() }));
    }
}
