//! Reductions that turn out to be spurious are undone: what was sent again had not been lost.
//!
//! ```text
//! delayed : an acknowledgement of new data echoes a stamp from before the first retransmission, or nothing
//!           was sent again. So an original has arrived, late (RFC 3522).
//! needless: every retransmission of the episode was reported to have arrived twice (RFC 2883, RFC 3708).
//! ```
//!
//! An episode may begin with segments that an earlier one has sent again, and what these cause says nothing
//! of this episode. So the first retransmission is the first one since an episode that began with none under
//! way.
//!
//! Which events undo a reduction (RFC 3522 and RFC 4015; for fast recovery Linux 6.12, net/ipv4/tcp_input.c,
//! tcp_try_undo_partial, tcp_try_undo_recovery, tcp_try_undo_loss and tcp_try_undo_dsack):
//!
//! | phase | delayed | needless |
//! |---|---|---|
//! | after a timeout, with new data acknowledged | undone | undone, with RACK |
//! | fast recovery with RACK, partly acknowledged | undone once no retransmission is out; waits till then | undone |
//! | fast recovery with RACK, all of it acknowledged | undone | undone |
//! | afterwards, with RACK, until the next reduction | - | undone |
//! | any, once a mark was echoed since | stays | stays |
//!
//! While it waits, nothing more counts as lost, and nothing is sent again (Linux, tcp_try_undo_partial).

use super::undo::{Evidence, Resent, Undo};
use super::{Happened, Phase, Sender};
use crate::cc::{CongestionControl, Window};
use longfat_units::Time;
use longfat_wire::SimPacket;

impl Sender {
    /// A reduction by a loss or timeout has left this window behind, and what is lost is known. `probes`
    /// repeated segments have left as probes of the tail.
    pub(super) fn allow_undo(&mut self, window: Window, probes: u64) {
        let under_way = self.board.sent_again() + probes;
        let open = (under_way > 0).then_some(under_way);
        self.undo = Some(Undo { window, from: self.board.base(), open });
    }

    /// How many segments that a probe of the tail has sent again are under way: one at most.
    pub(super) fn probes_under_way(&self) -> u64 {
        u64::from(self.rack.as_ref().is_some_and(|rack| rack.probe.end.is_some() && rack.probe.again))
    }

    /// A phase of repairs begins: what earlier ones have sent again counts as long as some of it is
    /// outstanding.
    pub(super) fn forget_resent(&mut self) {
        let base = self.board.base();
        self.resent = self.resent.filter(|resent| base < resent.end);
    }

    /// A segment leaves again.
    #[cold]
    pub(super) fn note_resent(&mut self, now: Time, seq: u64) {
        let resent = self.resent.get_or_insert(Resent { first: now, end: seq + 1 });
        resent.end = resent.end.max(seq + 1);
        if let Some(undo) = &mut self.undo {
            undo.open = Some(undo.open.unwrap_or(0) + 1);
        }
    }

    /// Takes what an acknowledgement reports of segments that have arrived twice.
    pub(super) fn note_duplicates(&mut self, packet: &SimPacket) {
        let (Some((start, end)), Some(rack)) = (packet.duplicate(), &mut self.rack) else { return };
        self.reported_twice += end - start;
        if self.reported_twice > self.counters.retransmits {
            return; // the network has copied something (Linux, tcp_dsack_seen)
        }
        if rack.probe.end != Some(end) {
            rack.order.note_needless(self.board.base(), self.next);
        }
        if let Some(Undo { from, open: Some(open), .. }) = &mut self.undo
            && end > *from
        {
            *open = open.saturating_sub(end - start);
        }
    }

    /// Undoes the last reduction if this acknowledgement shows that it was spurious. `before` is the first
    /// segment that was not acknowledged before it, and `whole` whether it ends the episode.
    pub(super) fn check_spurious(
        &mut self,
        now: Time,
        packet: &SimPacket,
        before: u64,
        whole: bool,
    ) -> Evidence {
        let by_time = self.rack.is_some();
        if by_time {
            self.note_duplicates(packet);
        }
        let Some(undo) = self.undo else { return Evidence::None };
        if self.is_congested(packet) {
            self.undo = None; // the reduction is due in any case (Linux, tcp_fastretrans_alert)
            return Evidence::None;
        }
        let advanced = self.board.base() > before;
        let delayed = advanced && self.is_delayed(packet);
        let needless = by_time && undo.open == Some(0);
        let spurious = match self.phase {
            Phase::Loss => advanced && (delayed || needless),
            Phase::Recovery if by_time && delayed && !whole => {
                self.note_reordering();
                self.board.sent_again() == 0 || needless
            }
            Phase::Recovery if by_time => delayed || needless,
            Phase::Open => needless,
            _ => false,
        };
        if spurious {
            self.take_back(now, &undo, delayed && !whole);
            return Evidence::Spurious;
        }
        let waits = self.phase == Phase::Recovery && by_time && delayed;
        if waits { Evidence::Reordering } else { Evidence::None }
    }

    /// Whether an acknowledgement of new data was caused by an original that arrived late.
    fn is_delayed(&self, packet: &SimPacket) -> bool {
        self.resent.is_none_or(|resent| self.config.timestamps && packet.stamp < resent.first)
    }

    fn note_reordering(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.order.note_reordering();
        }
    }

    /// The window is what it was before the reduction, and, if `none_lost`, no segment counts as lost.
    fn take_back(&mut self, now: Time, undo: &Undo, none_lost: bool) {
        self.undo = None;
        if none_lost || self.phase == Phase::Loss {
            self.board.forget_losses();
            if let Some(rack) = &mut self.rack {
                rack.order.forget_losses();
            }
        }
        self.phase = Phase::Open;
        self.must_send = false;
        if !self.is_model_based() {
            self.window.cwnd = self.window.cwnd.max(undo.window.cwnd);
            self.window.ssthresh = self.window.ssthresh.max(undo.window.ssthresh);
        }
        self.counters.undone += 1;
        self.note(now, Happened::Undone);
        self.controller.on_undo(&mut self.window);
        self.check("on_undo", now);
    }
}
