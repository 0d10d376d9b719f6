//! SEARCH, Slow start Exit At Right CHokepoint (Chung, Kachooei, Li, Claypool: draft-chung-ccwg-search,
//! version 3 of the algorithm; Kachooei, Chung, Li, Peters, Chung, Claypool: WoWMoM 2024): in slow-start a
//! sender's deliveries double each round trip; once they clearly do not, the path is full.
//!
//! ```text
//! bins of BIN_DURATION hold what was delivered in them; at the end of a bin:
//!   prev_idx  <- curr_idx - rtt / BIN_DURATION             (one round trip ago, between two bins)
//!   if prev_idx >= W and curr_idx - prev_idx <= EXTRA_BINS:
//!     curr_delv <- the last W bins;  prev_delv <- the W bins before prev_idx, interpolated
//!     norm_diff <- (2 prev_delv - curr_delv) / (2 prev_delv)
//!     if norm_diff >= THRESH: cwnd <- cwnd - what was delivered in the last 2 INITIAL_RTT; ssthresh <- cwnd
//! ```
//!
//! | constant | value | source | deviation |
//! |---|---|---|---|
//! | WINDOW_SIZE | 3.5 INITIAL_RTT | draft, line 1 | none |
//! | W | 10 bins | draft, line 2 | none |
//! | EXTRA_BINS | 15 | draft, line 3 | none |
//! | THRESH | 0.35 | draft, line 6 | none |
//! | bins that may be missed | 2 of INITIAL_RTT | the authors' Linux module, search_missed_bins_threshold | then it begins again |
//! | least window after the exit | the initial window | the authors' Linux module | the draft sets none |
//!
//! Bins hold segments, not bytes. Their sums are differences of running totals, as in the authors'
//! implementations.

use super::progress::{Exit, Progress};
use longfat_units::{Interval, Time};

const WINDOW_PER_RTT: f64 = 3.5;
const W: usize = 10;
const EXTRA_BINS: usize = 15;
const THRESH: f64 = 0.35;
const MISSED_RTTS: f64 = 2.0;

/// The state of the first slow-start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// BIN_DURATION and INITIAL_RTT; `None` before the first measurement.
    scale: Option<(Interval, Interval)>,
    bin_end: Time,
    /// All that was delivered by the end of each bin; the first is the state at the beginning.
    totals: Vec<u64>,
}

impl Search {
    /// Looks at an acknowledgement in slow-start. Returns whether slow-start has to end.
    pub fn look(&mut self, progress: &Progress) -> Option<Exit> {
        let rtt = progress.rtt?;
        let Some((bin, initial)) = self.scale else {
            let bin = Interval::from_secs_f64(WINDOW_PER_RTT * rtt.as_secs_f64() / W as f64);
            self.scale = Some((bin.max(Interval::from_ns(1)), rtt));
            self.begin(progress);
            return None;
        };
        if progress.now <= self.bin_end {
            return None;
        }
        let passed = progress.now.since(self.bin_end).as_ns() / bin.as_ns() + 1;
        if passed as f64 > MISSED_RTTS * initial.as_secs_f64() / bin.as_secs_f64() {
            self.begin(progress);
            return None;
        }
        let last = self.totals.last().copied().unwrap_or(0);
        self.totals.extend((1..passed).map(|_| last));
        self.totals.push(progress.delivered);
        self.bin_end += Interval::from_ns(passed * bin.as_ns());
        self.judge(rtt.as_secs_f64() / bin.as_secs_f64(), initial.as_secs_f64() / bin.as_secs_f64())
    }

    fn begin(&mut self, progress: &Progress) {
        let bin = self.scale.map_or(Interval::ZERO, |(bin, _)| bin);
        self.bin_end = progress.now + bin;
        self.totals = vec![progress.delivered];
    }

    /// What was delivered by `back` bins ago; between two bins the line between them.
    fn total(&self, back: f64) -> Option<f64> {
        let whole = back as usize;
        let later = *self.totals.get(self.totals.len().checked_sub(whole + 1)?)? as f64;
        let part = back - whole as f64;
        if part == 0.0 {
            return Some(later);
        }
        let earlier = *self.totals.get(self.totals.len().checked_sub(whole + 2)?)? as f64;
        Some(later + part * (earlier - later))
    }

    /// At the end of a bin; the round-trip times now and at the beginning in bins.
    fn judge(&self, rtt_bins: f64, initial_bins: f64) -> Option<Exit> {
        if rtt_bins > EXTRA_BINS as f64 {
            return None;
        }
        let window = W as f64;
        let now = self.total(0.0)?;
        let current = now - self.total(window)?;
        let previous = self.total(rtt_bins)? - self.total(rtt_bins + window)?;
        let expected = 2.0 * previous;
        let falls_short = expected > 0.0 && (expected - current) / expected >= THRESH;
        let before = falls_short.then(|| self.total(2.0 * initial_bins)).flatten()?;
        Some(Exit { overshoot: now - before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT_MS: u64 = 100;

    /// Deliveries of so many segments a millisecond in each round trip of 100 ms. Returns when slow-start
    /// ends, in round trips, and with which overshoot.
    fn run(rates: &[u64], rtt_ms: impl Fn(usize) -> u64) -> Option<(f64, f64)> {
        let mut search = Search::default();
        let mut delivered = 0;
        for (round, rate) in rates.iter().enumerate() {
            for ms in 0..RTT_MS {
                delivered += rate;
                let at_ms = round as u64 * RTT_MS + ms;
                let exit = search.look(&Progress {
                    now: Time::ZERO + Interval::from_millis(at_ms),
                    rtt: Some(Interval::from_millis(rtt_ms(round))),
                    delivered,
                    unacknowledged: delivered,
                    next_segment: delivered,
                });
                if let Some(exit) = exit {
                    return Some((at_ms as f64 / RTT_MS as f64, exit.overshoot));
                }
            }
        }
        None
    }

    #[test]
    fn slow_start_goes_on_while_deliveries_double() {
        let doubling: Vec<u64> = (0..14).map(|n| 1 << n).collect();
        assert_eq!(run(&doubling, |_| RTT_MS), None);
    }

    #[test]
    fn it_ends_about_two_round_trips_after_deliveries_have_stopped_doubling() {
        // the draft, section 4: 0.27 one round trip after capacity is reached with a window of four round
        // trips, 0.5 in the end; the threshold of 0.35 is reached after about two
        let mut rates: Vec<u64> = (0..8).map(|n| 1 << n).collect();
        rates.extend([128; 8]);
        let (round_trips, overshoot) = run(&rates, |_| RTT_MS).expect("an end");
        assert!((9.2..10.6).contains(&round_trips), "{round_trips}: rates are equal from 7 on");
        // two round trips at 128 segments a millisecond
        assert!((overshoot / 25_600.0 - 1.0).abs() < 0.01, "{overshoot}");
    }

    #[test]
    fn steady_deliveries_are_half_of_what_is_expected_and_end_it_as_soon_as_two_windows_are_known() {
        // 10 bins and a round trip of 1 / 0.35 bins more: 4.5 round trips
        let (round_trips, _) = run(&[5; 12], |_| RTT_MS).expect("an end");
        assert!((4.5..5.3).contains(&round_trips), "{round_trips}");
    }

    #[test]
    fn a_round_trip_time_beyond_the_bins_kept_and_a_long_silence_decide_nothing() {
        // 15 bins are 525 ms
        assert_eq!(run(&[5; 12], |round| if round == 0 { RTT_MS } else { 530 }), None);
        assert_eq!(run(&[5, 5, 5, 5, 5, 5], |round| if round < 5 { 540 } else { RTT_MS }).map(|e| e.0), None);
    }

    #[test]
    fn totals_between_two_bins_are_interpolated() {
        let search = Search { totals: vec![0, 10, 30, 70], ..Search::default() };
        assert_eq!([0.0, 1.0, 0.25, 2.5].map(|back| search.total(back)), [70.0, 30.0, 60.0, 5.0].map(Some));
        assert_eq!(search.total(3.5), None);
    }
}
