//! Loss detection and recovery: when segments count as lost, how the window moves meanwhile, and when
//! recovery ends.

use super::config::{FirstReduction, TimeoutReductions};
use super::undo::Evidence;
use super::{Happened, Phase, Sender};
use crate::DUP_THRESH;
use crate::cc::LossDetection;
use crate::cc::{Cause, Congestion, CongestionControl, LEAST_SSTHRESH, SendingTimes, Window};
use crate::reduction::{Episode, Recovery};
use longfat_units::Time;
use longfat_wire::SimPacket;

/// The burst, in segments, that moderation of the window allows (Linux 2.6, tcp_max_burst).
const SHORT_BURST: f64 = 3.0;

impl Sender {
    /// The slow-start threshold at the beginning, segments, if earlier connections have left one. Call it
    /// before [`Sender::start`].
    pub fn inherit_ssthresh(&mut self, ssthresh: f64) {
        self.window.ssthresh = ssthresh.max(LEAST_SSTHRESH);
    }

    /// Without SACK: duplicates stand for segments that have left the path. Returns how many have left now.
    pub(super) fn count_duplicates(&mut self, same: bool, cumulative: u64) -> u64 {
        if cumulative > 0 {
            // the first of them was the hole, all others had been counted when their duplicates came
            let counted = self.duplicates.min(cumulative - 1);
            self.duplicates = if self.phase == Phase::Recovery { self.duplicates - counted } else { 0 };
            cumulative - counted
        } else if same && self.next > self.board.base() && self.phase != Phase::Loss {
            // outside of recovery each allows one segment to leave (RFC 3042), until there are enough for a
            // loss
            if self.phase != Phase::Recovery && self.duplicates == DUP_THRESH {
                return 0;
            }
            self.duplicates += 1;
            1
        } else {
            0
        }
    }

    /// Handles everything but an acknowledgement in steady flow. Before it, `before` was the first segment
    /// that was not acknowledged. Returns whether a reduction was undone.
    pub(super) fn recover(&mut self, now: Time, packet: &SimPacket, before: u64, newly: u64) -> bool {
        let base = self.board.base();
        let cumulative = base - before;
        let ended = base >= self.recovery_point && !matches!(self.phase, Phase::Open);
        let found_lost = self.board.found_lost();
        let evidence = self.check_spurious(now, packet, before, ended);
        let undone = evidence == Evidence::Spurious;
        self.repairs_wait = evidence == Evidence::Reordering;
        if ended && self.phase != Phase::Open {
            self.finish_recovery(now);
        }
        let overdue = self.find_overdue(now, cumulative == 0);
        // a hole above the recovery point is a new event, even if it was found and repaired before
        let left = (ended || undone) && self.board.has_holes();
        let found = match self.config.loss_detection {
            LossDetection::Sack => self.board.judge() > 0 || left || overdue,
            LossDetection::Rack => self.look_back(now, packet, cumulative) || left || overdue,
            // RFC 6582, section 4: duplicates of segments that a timeout sent again do not indicate loss
            _ => {
                let suspect = (self.after_timeout && base <= self.recovery_point)
                    || (self.finds_overdue() && base < self.recovery_point);
                (self.duplicates == DUP_THRESH && cumulative == 0 && !suspect) || overdue
            }
        };
        match self.phase {
            Phase::Open | Phase::Reducing if found => self.begin_recovery(now, newly),
            // what this phase sent again is lost once more: a second indication of congestion
            Phase::Loss | Phase::Recovery if self.has_lost_repair() => self.begin_recovery(now, newly),
            // the echo continues until the announcement of the last reduction, above the recovery point, has
            // arrived
            Phase::Open if self.is_congested(packet) && base > self.recovery_point => {
                self.begin_reduction(now, newly);
            }
            Phase::Recovery if cumulative > 0 => self.partial_ack(now),
            _ => {}
        }
        if matches!(self.phase, Phase::Recovery | Phase::Reducing) && self.config.loss_detection.has_sack() {
            self.shrink(newly, cumulative > 0 && self.board.found_lost() == found_lost);
        }
        if self.rack.is_some() && !self.repairs_wait {
            self.arm(now, cumulative);
        }
        undone
    }

    /// Whether a segment that this phase has sent again is lost once more, and that is a congestion event
    /// (RFC 5681, section 4.3): after a timeout always (Linux, tcp_fastretrans_alert); in fast recovery where
    /// nothing else makes the window follow the deliveries (RFC 9002, section B.6, where all that is sent
    /// counts as new).
    fn has_lost_repair(&self) -> bool {
        let counts = self.phase == Phase::Loss || self.config.recovery == Recovery::Immediate;
        let lost = self.rack.as_ref().map_or(self.board.lost_again(), |rack| rack.order.lost_again());
        counts && lost > self.repairs_from
    }

    /// A phase of repairs begins.
    pub(super) fn begin_repairs(&mut self) {
        self.repairs_from =
            self.rack.as_ref().map_or(self.board.retransmissions(), |rack| rack.order.transmissions());
        self.recovery_point = self.next;
        self.forget_resent();
    }

    /// Moves the window after an acknowledgement in SACK recovery that delivered `newly` segments.
    pub(super) fn shrink(&mut self, newly: u64, safe: bool) {
        if self.is_model_based() {
            return;
        }
        // segments that pacing holds back count as sent: a queue below TCP would hold them
        let held = self.send_at != Time::NEVER && self.config.recovery.halves_the_rate();
        let in_flight = if held { self.in_flight().max(self.window.cwnd as u64) } else { self.in_flight() };
        self.episode.step(self.config.recovery, newly, in_flight, safe, &mut self.window);
    }

    /// If the algorithm asks for it, the first unacknowledged segment is lost once it is older than the
    /// fine-grained timeout, and is sent again regardless of the window. Returns whether that is a new
    /// congestion event.
    fn find_overdue(&mut self, now: Time, duplicate: bool) -> bool {
        let base = self.board.base();
        if !self.finds_overdue() {
            return false;
        }
        let Some(ages) = self.ages.as_mut() else { return false };
        let overdue = ages.overdue(now, duplicate, self.rtt.fine_timeout());
        // a timeout has already sent everything again
        if !overdue || self.phase == Phase::Loss {
            return false;
        }
        self.board.lose(base);
        self.must_send = true;
        // Brakmo and Peterson 1995: no second reduction for what was sent before the last one
        self.phase == Phase::Reducing || base >= self.recovery_point
    }

    fn finds_overdue(&self) -> bool {
        self.times == SendingTimes::RoundTripsAndLosses
    }

    pub(super) fn congestion(&mut self, now: Time, cause: Cause) {
        let event = Congestion {
            cause,
            now,
            in_flight: self.in_flight() as f64,
            srtt: self.rtt.srtt(),
            base_rtt: self.rtt.base(),
        };
        let before = self.window;
        self.controller.on_congestion(&event, &mut self.window);
        self.check("on_congestion", now);
        if self.config.abe
            && cause == Cause::Mark
            && let Some(left) = self.controller.properties.beta_ecn
        {
            self.window.ssthresh = left * before.cwnd;
        }
        if self.config.first_reduction == FirstReduction::Half && self.halves(cause, &before) {
            self.window.ssthresh = 0.5 * before.cwnd;
        }
        self.window.ssthresh = self.window.ssthresh.max(LEAST_SSTHRESH);
        self.counters.congestion_events += 1;
        self.announce_reduction = true;
    }

    /// Whether a reduction is the connection's first, in slow-start, or by a timeout.
    fn halves(&self, cause: Cause, before: &Window) -> bool {
        self.counters.congestion_events == 0 || cause == Cause::Timeout || before.in_slow_start()
    }

    pub(super) fn begin_recovery(&mut self, now: Time, newly: u64) {
        self.note(now, Happened::Loss);
        self.timed = self.next;
        self.rto_at = self.rtt.deadline(now);
        if self.risks_quick_start() {
            return self.revert_quick_start(now, Cause::Loss);
        }
        self.undo = None;
        if self.config.loss_detection == LossDetection::Tahoe {
            self.congestion(now, Cause::Loss);
            return self.restart();
        }
        // a response to the extent of marking does not stand for the response to a loss (RFC 8257, section
        // 3.5)
        if self.phase != Phase::Reducing || self.marks.is_some() {
            let before = self.window;
            self.congestion(now, Cause::Loss);
            self.begin_episode(Cause::Loss, newly);
            if self.rack.is_some() {
                self.allow_undo(before, self.probes_under_way());
            }
        }
        self.phase = Phase::Recovery;
        self.patience = Time::NEVER;
        self.after_timeout = false;
        self.begin_repairs();
        self.must_send = !self.is_model_based(); // its window decides
        self.forget_probe();
        self.find_late(now); // recovery needs no reordering window
        if !self.config.loss_detection.has_sack() {
            self.board.lose(self.board.base());
        }
        self.reduce_at_once();
    }

    fn begin_episode(&mut self, cause: Cause, newly: u64) {
        let outstanding = self.next - self.board.base();
        self.episode = Episode::new(self.config.recovery, outstanding, self.board.sacked(), newly);
        // a segment alone would wait for a delayed acknowledgement
        if cause == Cause::Mark || self.marks.is_some() {
            self.episode = self.episode.at_least(LEAST_SSTHRESH);
        }
    }

    fn begin_reduction(&mut self, now: Time, newly: u64) {
        self.note(now, Happened::Mark);
        if self.risks_quick_start() {
            return self.revert_quick_start(now, Cause::Mark);
        }
        self.congestion(now, Cause::Mark);
        self.begin_episode(Cause::Mark, newly);
        self.undo = None;
        self.phase = Phase::Reducing;
        self.recovery_point = self.next;
        self.reduce_at_once();
    }

    /// Without SACK the window is reduced at once, with SACK if `recovery` says so.
    fn reduce_at_once(&mut self) {
        if self.is_model_based() {
            return;
        }
        if !self.config.loss_detection.has_sack() || self.config.recovery == Recovery::Immediate {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// A partial acknowledgement: new data, but not everything that was outstanding when recovery began.
    fn partial_ack(&mut self, now: Time) {
        match self.config.loss_detection {
            LossDetection::Sack | LossDetection::Rack => {}
            LossDetection::RenoClassic => {
                self.finish_recovery(now);
                self.must_send = self.board.lost() > 0; // found overdue
            }
            LossDetection::NewReno | LossDetection::Tahoe => {
                // RFC 6582, section 3.2, step 3: only the first partial acknowledgement restarts the timer
                if self.patience == Time::NEVER {
                    self.patience = self.rto_at;
                } else {
                    self.rto_at = self.patience;
                }
                self.board.lose(self.board.base());
                self.must_send = true;
            }
        }
    }

    fn finish_recovery(&mut self, now: Time) {
        match (self.phase, self.config.loss_detection) {
            _ if self.is_model_based() => {}
            (Phase::Recovery | Phase::Reducing, how) if how.has_sack() => {
                Episode::end(self.config.recovery, &mut self.window);
            }
            // RFC 6582, step 3, full acknowledgements, option 1
            (Phase::Recovery, LossDetection::NewReno) => {
                self.window.cwnd = self.window.ssthresh.min(self.in_flight().max(1) as f64 + 1.0);
            }
            // RFC 5681, section 3.2, step 6: the window is at ssthresh since recovery began
            _ => {}
        }
        if let (Some(rack), Phase::Recovery | Phase::Loss) = (&mut self.rack, self.phase) {
            rack.order.note_recovery();
        }
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.must_send = false;
        self.note(now, Happened::Recovered);
        self.controller.on_recovered(now, &mut self.window);
        self.check("on_recovered", now);
    }

    pub(super) fn on_timeout(&mut self, now: Time) {
        self.rto_at = Time::NEVER;
        if self.next == self.board.base() {
            return;
        }
        self.counters.timeouts += 1;
        self.note(now, Happened::Timeout);
        let reduces = self.is_first_timeout() || self.config.timeout_reductions == TimeoutReductions::Each;
        let (before, probes) = (self.window, self.probes_under_way());
        if reduces {
            self.congestion(now, Cause::Timeout);
            if self.risks_quick_start() {
                self.limit_after_quick_start();
            }
        }
        self.timed_out = Some(self.board.base());
        self.rtt.back_off();
        self.hold_backoff();
        match self.rack {
            Some(_) => self.restart_by_time(now),
            None => self.restart(),
        }
        if reduces {
            self.allow_undo(before, probes);
        }
        if self.is_model_based() {
            self.tell_timeout(now);
        }
        self.rto_at = self.rtt.deadline(now);
    }

    /// Whether nothing has reduced the window for the congestion that this timeout indicates: no recovery is
    /// under way, and the timer has not sent the same segment again before (RFC 5681, section 3.1; Linux,
    /// tcp_enter_loss).
    fn is_first_timeout(&self) -> bool {
        let base = self.board.base();
        match self.phase {
            Phase::Recovery => false,
            // a response to the extent of marking does not stand for the response to a loss
            Phase::Reducing => base >= self.recovery_point || self.marks.is_some(),
            Phase::Loss => self.timed_out.is_none_or(|earlier| base > earlier),
            _ => true,
        }
    }

    /// After a dubious acknowledgement outside of recovery the next ones may release only short bursts (Linux
    /// 2.6, tcp_moderate_cwnd): the window is at most three segments above those in flight.
    #[cold]
    pub(super) fn moderate(&mut self) {
        if matches!(self.phase, Phase::Open | Phase::Loss) {
            let most = self.in_flight() as f64 + SHORT_BURST;
            self.window.cwnd = self.window.cwnd.min(most);
        }
    }

    /// Goes back to one segment. Every segment that is not known to have arrived counts as lost.
    pub(super) fn restart(&mut self) {
        self.phase = Phase::Loss;
        self.timed = self.next;
        self.window.cwnd = 1.0;
        self.after_timeout = true;
        self.duplicates = 0;
        self.begin_repairs();
        self.board.lose_all(self.next);
        self.must_send = true;
    }
}
