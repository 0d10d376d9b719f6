//! The sender's knowledge of each segment from the cumulative acknowledgement up to the highest one
//! acknowledged (RFC 6675).
//!
//! The board keeps runs of segments in the same state, so the work grows with the number of losses, never
//! with the window. Without SACK the same board serves; then only duplicate acknowledgements and timeouts
//! mark losses.

use crate::chunks::{Chunks, Place};
use std::collections::VecDeque;

/// A segment is lost once this many above it have been selectively acknowledged (RFC 6675, DupThresh).
pub const DUP_THRESH: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Sent, no news yet.
    Outstanding,
    /// Selectively acknowledged.
    Sacked,
    /// Considered lost, waits to be sent again.
    Lost,
    /// Sent again, no news since.
    Retransmitted,
}

/// Consecutive segments in the same state, up to `end`; they begin where the run before them ends.
#[derive(Clone, Copy, Debug)]
struct Run {
    end: u64,
    state: State,
}

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
struct Again {
    seq: u64,
    /// The first new segment not sent at that time.
    mark: u64,
    /// Its number among all retransmissions, from 1.
    number: u64,
}

/// The scoreboard of one connection.
#[derive(Clone, Debug, Default)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Scoreboard {
    /// First segment not cumulatively acknowledged.
    base: u64,
    high: u64,
    sacked: u64,
    lost: u64,
    sent_again: u64,
    /// Runs that cover [base, high); everything from `high` on is outstanding.
    runs: Chunks<Run>,
    /// Every outstanding segment below this has been judged.
    judged: u64,
    /// No segment below this is lost.
    first_lost: u64,
    /// Segments sent again, in that order.
    again: VecDeque<Again>,
    /// How many were.
    resent: u64,
    /// The number of the latest retransmission that was found lost; 0 for none.
    lost_again: u64,
    /// Segments found lost so far, each time that they were.
    found_lost: u64,
    /// Ranges found lost since [`Scoreboard::take_losses`], for senders that ask for them.
    losses: Option<Vec<(u64, u64)>>,
    /// The last blocks that brought news, latest first: most blocks repeat one of them.
    heard: [(u64, u64); 3],
}

impl Scoreboard {
    /// First segment not cumulatively acknowledged.
    #[inline]
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// Segments selectively acknowledged.
    #[inline]
    pub const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Segments considered lost and not yet sent again.
    #[inline]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of retransmissions that [`Scoreboard::judge`] judges, so far.
    pub const fn retransmissions(&self) -> u64 {
        self.resent
    }

    /// The number of the latest of them that was found lost, the first one being 1; 0 for none.
    pub const fn lost_again(&self) -> u64 {
        self.lost_again
    }

    /// Segments found lost so far, each time that they were.
    pub const fn found_lost(&self) -> u64 {
        self.found_lost
    }

    /// Segments sent again that no acknowledgement has reported since.
    pub const fn sent_again(&self) -> u64 {
        self.sent_again
    }

    /// Whether some segment is considered lost without any news of it since.
    pub fn has_holes(&self) -> bool {
        self.runs.iter().any(|r| matches!(r.state, State::Lost | State::Retransmitted))
    }

    /// Keeps the ranges that are found lost. [`Scoreboard::take_losses`] returns them.
    pub fn keep_losses(&mut self) {
        self.losses = Some(Vec::new());
    }

    /// The ranges found lost since the last call, in the order in which they were; a segment that is lost
    /// again comes again.
    pub fn take_losses(&mut self) -> Vec<(u64, u64)> {
        self.losses.as_mut().map_or_else(Vec::new, core::mem::take)
    }

    /// Whether nothing is known beyond what is outstanding.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.runs.is_empty()
    }

    /// Everything below `to` is acknowledged. Returns how many of those were not known to have arrived.
    #[inline]
    pub fn advance(&mut self, to: u64) -> u64 {
        if self.runs.is_empty() {
            let newly = to - self.base;
            self.base = to;
            self.high = to;
            return newly;
        }
        self.advance_runs(to)
    }

    fn advance_runs(&mut self, to: u64) -> u64 {
        let mut newly = to - self.base;
        while let Some(run) = self.runs.front() {
            let covered = run.end.min(to) - self.base;
            match run.state {
                State::Sacked => {
                    self.sacked -= covered;
                    newly -= covered;
                }
                State::Lost => self.lost -= covered,
                State::Retransmitted => self.sent_again -= covered,
                State::Outstanding => {}
            }
            self.base += covered;
            if self.base < run.end {
                break;
            }
            self.runs.pop_front();
        }
        self.base = to;
        self.high = self.high.max(to);
        while self.again.front().is_some_and(|again| again.seq < to) {
            self.again.pop_front();
        }
        newly
    }

    /// Whether this block was one of the last that brought news.
    #[inline]
    pub fn has_heard(&self, start: u64, end: u64) -> bool {
        self.heard.contains(&(start, end))
    }

    /// The receiver holds [start, end). Returns how many of those were not known to have arrived.
    pub fn sack(&mut self, start: u64, end: u64) -> u64 {
        if self.has_heard(start, end) {
            return 0;
        }
        self.heard = [(start, end), self.heard[0], self.heard[1]];
        let start = start.max(self.base);
        if start >= end {
            return 0;
        }
        if let Some(newly) = self.sack_last(start, end) {
            return newly;
        }
        if let Some(run) = self.runs.get(self.find(start))
            && run.state == State::Sacked
            && end <= run.end
        {
            return 0; // an old block again: most are
        }
        self.cover(end);
        self.change(start, end, |_| State::Sacked)
    }

    /// [`Scoreboard::sack`] for the usual news: a block that extends the last run, or lies above all runs.
    /// `None` if it does neither.
    fn sack_last(&mut self, start: u64, end: u64) -> Option<u64> {
        let high = if self.runs.is_empty() { self.base } else { self.high };
        let last_start = self.runs.last().map_or(self.base, |last| self.start(last));
        match self.runs.back_mut() {
            Some(run) if run.state == State::Sacked && (last_start..=high).contains(&start) => {
                run.end = high.max(end);
            }
            _ if start < high => return None,
            back => {
                match back {
                    Some(run) if run.state == State::Outstanding => run.end = start,
                    _ if start > high => self.runs.push_back(Run { end: start, state: State::Outstanding }),
                    _ => {}
                }
                self.runs.push_back(Run { end, state: State::Sacked });
            }
        }
        self.high = high.max(end);
        let newly = end.saturating_sub(start.max(high));
        self.sacked += newly;
        Some(newly)
    }

    /// Segments with [`DUP_THRESH`] selectively acknowledged above them are lost, and so are retransmissions
    /// that later segments have overtaken by as much. Returns how many were found.
    pub fn judge(&mut self) -> u64 {
        let before = self.lost;
        let boundary = self.nth_highest_sacked(DUP_THRESH);
        let from = self.judged.max(self.base);
        if boundary > from {
            if !self.lose_whole_runs(from, boundary) {
                self.change(from, boundary, |s| if s == State::Outstanding { State::Lost } else { s });
            }
            self.first_lost = self.first_lost.min(from);
            self.judged = boundary;
        }
        while let Some(&Again { seq, mark, number }) = self.again.front() {
            // `boundary` is the third highest: three at or above `mark` have arrived when it is not below it
            if boundary < mark {
                break;
            }
            self.again.pop_front();
            if seq >= self.base {
                let before = self.lost;
                self.change(seq, seq + 1, |s| if s == State::Retransmitted { State::Lost } else { s });
                if self.lost > before {
                    self.lost_again = number;
                }
                self.first_lost = self.first_lost.min(seq);
            }
        }
        self.lost - before
    }

    /// The outstanding segments of [from, boundary) are lost, where `boundary` is selectively acknowledged
    /// and few runs are above `from`. Returns false, without any effect, if a run begins below `from` and is
    /// not whole.
    fn lose_whole_runs(&mut self, from: u64, boundary: u64) -> bool {
        let first = self.find(from);
        let cut = self.runs.get(first).is_some_and(|run| run.state == State::Outstanding)
            && self.start(first) < from;
        if cut || self.losses.is_some() {
            return false;
        }
        let (mut at, mut begin) = (first, self.start(first));
        let start = begin;
        while let Some(run) = self.runs.get_mut(at)
            && run.end <= boundary
        {
            if run.state == State::Outstanding {
                run.state = State::Lost;
                self.lost += run.end - begin;
                self.found_lost += run.end - begin;
            }
            begin = run.end;
            at = self.runs.next(at);
        }
        self.join(first, start, begin);
        true
    }

    /// This one segment is lost, regardless of selective acknowledgements.
    pub fn lose(&mut self, seq: u64) {
        self.cover(seq + 1);
        // an earlier retransmission is not judged any more
        self.again.retain(|again| again.seq != seq);
        self.change(seq, seq + 1, |s| if s == State::Sacked { s } else { State::Lost });
        self.first_lost = self.first_lost.min(seq);
    }

    /// The segments of [start, end) are lost, except those selectively acknowledged. For senders that find
    /// lost retransmissions themselves.
    pub fn lose_range(&mut self, start: u64, end: u64) {
        self.cover(end);
        self.change(start, end, |s| if s == State::Sacked { s } else { State::Lost });
        self.first_lost = self.first_lost.min(start);
    }

    /// The parts of [start, end) that are not known to have arrived.
    pub fn unknown(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut from = start.max(self.base);
        let mut at = self.find(from);
        core::iter::from_fn(move || {
            while from < end {
                // everything from `high` on is outstanding
                let run = self.runs.get(at).copied();
                let to = run.map_or(end, |run| run.end.min(end));
                let part = (core::mem::replace(&mut from, to), to);
                at = self.runs.next(at);
                if run.is_none_or(|run| run.state != State::Sacked) {
                    return Some(part);
                }
            }
            None
        })
    }

    /// After a timeout: every segment below `next` that is not known to have arrived is lost.
    pub fn lose_all(&mut self, next: u64) {
        if next > self.base {
            self.cover(next);
            self.change(self.base, next, |s| if s == State::Sacked { s } else { State::Lost });
            self.first_lost = self.base;
            self.judged = next;
        }
        self.again.clear();
    }

    /// The timeout was spurious: the segments considered lost are outstanding after all.
    pub fn forget_losses(&mut self) {
        self.change(self.base, self.high, |s| if s == State::Sacked { s } else { State::Outstanding });
        self.again.clear();
        self.judged = self.base;
    }

    /// The first segment to be sent again, if any is.
    #[inline]
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 { None } else { self.find_lost() }
    }

    fn find_lost(&mut self) -> Option<u64> {
        let from = self.first_lost.max(self.base);
        let mut at = self.find(from);
        while self.runs.get(at)?.state != State::Lost {
            at = self.runs.next(at);
        }
        self.first_lost = from.max(self.start(at));
        Some(self.first_lost)
    }

    /// The lost segment `seq` has been sent again; `next` was then the first new segment not sent.
    pub fn retransmitted(&mut self, seq: u64, next: u64) {
        let at = self.find(seq);
        let alone = self.start(at) == seq;
        match self.runs.get_mut(at) {
            // the usual one: a run of its own
            Some(run) if run.state == State::Lost && run.end == seq + 1 && alone => {
                run.state = State::Retransmitted;
                self.lost -= 1;
                self.sent_again += 1;
                self.join(at, seq, seq + 1);
            }
            _ => {
                self.change(seq, seq + 1, |_| State::Retransmitted);
            }
        }
        self.resent += 1;
        self.again.push_back(Again { seq, mark: next, number: self.resent });
        self.first_lost = seq + 1;
    }

    /// A segment has been sent again by a sender that finds lost retransmissions itself. If it was lost, it
    /// is not any more.
    pub fn resent(&mut self, seq: u64) {
        let before = self.lost;
        self.change(seq, seq + 1, |s| if s == State::Lost { State::Retransmitted } else { s });
        if self.lost < before {
            self.first_lost = seq + 1;
        }
    }

    /// The place of the run that holds `seq`; past the last one if none does.
    fn find(&self, seq: u64) -> Place {
        self.runs.find(|run| run.end <= seq)
    }

    fn start(&self, at: Place) -> u64 {
        self.runs.before(at).and_then(|before| self.runs.get(before)).map_or(self.base, |before| before.end)
    }

    /// Extends the runs up to `end`.
    fn cover(&mut self, end: u64) {
        if self.runs.is_empty() {
            self.high = self.base;
        }
        if end > self.high {
            match self.runs.back_mut() {
                Some(run) if run.state == State::Outstanding => run.end = end,
                _ => self.runs.push_back(Run { end, state: State::Outstanding }),
            }
            self.high = end;
        }
    }

    /// The n-th highest selectively acknowledged segment; any segment below it has at least `n` of them
    /// above.
    fn nth_highest_sacked(&self, n: u64) -> u64 {
        let mut missing = n;
        let mut place = self.runs.last();
        while let Some(at) = place
            && let Some(run) = self.runs.get(at)
        {
            if run.state == State::Sacked {
                let length = run.end - self.start(at);
                if length >= missing {
                    return run.end - missing;
                }
                missing -= length;
            }
            place = self.runs.before(at);
        }
        self.base
    }

    /// Splits the run around `seq`, so that one starts there. Returns its place.
    fn split(&mut self, seq: u64) -> Place {
        let at = self.find(seq);
        match self.runs.get(at) {
            Some(&Run { state, .. }) if self.start(at) < seq => {
                self.runs.insert(at, Run { end: seq, state });
                self.runs.next(at)
            }
            _ => at,
        }
    }

    /// Gives the segments of [start, end), all below `high`, new states; keeps the counts and joins runs that
    /// became alike. Returns how many segments became selectively acknowledged.
    fn change(&mut self, start: u64, end: u64, new: impl Fn(State) -> State) -> u64 {
        let (start, end) = (start.max(self.base), end.min(self.high));
        if start >= end {
            return 0;
        }
        self.runs.cut(|run| run.end <= start);
        self.runs.cut(|run| run.end <= end);
        let first = self.split(start);
        self.split(end);
        let mut newly = 0;
        let mut from = start;
        let mut at = first;
        while from < end
            && let Some(&run) = self.runs.get(at)
        {
            let (state, length) = (new(run.state), run.end - from);
            let begin = from;
            from = run.end;
            let changed = at;
            at = self.runs.next(at);
            if state == run.state {
                continue;
            }
            match run.state {
                State::Sacked => self.sacked -= length,
                State::Lost => self.lost -= length,
                State::Retransmitted => self.sent_again -= length,
                State::Outstanding => {}
            }
            match state {
                State::Sacked => {
                    self.sacked += length;
                    newly += length;
                }
                State::Lost => {
                    self.lost += length;
                    self.found_lost += length;
                    if let Some(losses) = &mut self.losses {
                        losses.push((begin, run.end));
                    }
                }
                State::Retransmitted => self.sent_again += length,
                State::Outstanding => {}
            }
            if let Some(run) = self.runs.get_mut(changed) {
                run.state = state;
            }
        }
        self.join(first, start, end);
        newly
    }

    /// Joins the runs that start in [start, end], the first of them at `at`, with the run before if they are
    /// alike.
    fn join(&mut self, mut at: Place, start: u64, end: u64) {
        let mut from = start;
        let mut before = self.runs.before(at).and_then(|before| self.runs.get(before)).map(|run| run.state);
        while from <= end
            && let Some(&run) = self.runs.get(at)
        {
            if before == Some(run.state) {
                at = self.runs.remove_before(at);
            }
            before = Some(run.state);
            from = run.end;
            at = self.runs.next(at);
        }
    }
}

#[cfg(test)]
mod tests;
