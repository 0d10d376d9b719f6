//! Marks of which the receiver tells more than RFC 3168's echo does.

use super::Sender;
use crate::cc::{CongestionControl, MarkSample};
use longfat_units::Time;
use longfat_wire::SimPacket;

impl Sender {
    /// An acknowledgement arrived that is the first to report `newly` segments: counts its marks, and tells
    /// the algorithm of them before anything is made of them.
    #[cold]
    pub(super) fn hear_marks(&mut self, now: Time, packet: &SimPacket, newly: u64) {
        let unacknowledged = self.board.base();
        let Some(marks) = &mut self.marks else { return };
        if packet.seq < unacknowledged {
            (marks.newly, marks.congested) = (0, false); // a later one came before
            return;
        }
        marks.hear(packet, newly, self.config.mss_bytes);
        let sample = MarkSample {
            now,
            delivered: newly,
            marked: marks.newly,
            next_segment: self.next,
            unacknowledged,
            srtt: self.rtt.srtt(),
        };
        self.controller.on_marks(&sample, &mut self.window);
        self.check("on_marks", now);
    }

    /// Whether an acknowledgement tells of congestion by a mark.
    pub(super) fn is_congested(&self, packet: &SimPacket) -> bool {
        self.config.ecn && self.marks.as_ref().map_or(packet.ecn_flag, |marks| marks.congested)
    }
}
