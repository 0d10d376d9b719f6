//! The first slow-start, if something else than a loss, a mark or the threshold may end it.

use super::{Phase, Sender};
use crate::slow_start::Progress;
use longfat_units::{Interval, Time};

impl Sender {
    /// An acknowledgement arrived: ends slow-start if it is time. Once slow-start has ended, nothing is
    /// watched any more (RFC 9406, section 4.3: only the first slow-start).
    #[cold]
    pub(super) fn watch_slow_start(&mut self, now: Time, rtt: Option<Interval>) {
        if self.phase != Phase::Open || !self.window.in_slow_start() {
            self.watch = None;
            return;
        }
        let progress = Progress {
            now,
            rtt,
            delivered: self.board.base() + self.board.sacked(),
            unacknowledged: self.board.base(),
            next_segment: self.next,
        };
        let Some(exit) = self.watch.as_mut().and_then(|watch| watch.look(&progress)) else { return };
        let least = self.config.initial_window.min(self.window.cwnd);
        self.window.cwnd = (self.window.cwnd - exit.overshoot).max(least).max(1.0);
        self.window.ssthresh = self.window.cwnd;
        self.watch = None;
    }
}
