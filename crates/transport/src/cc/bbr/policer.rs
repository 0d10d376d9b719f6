//! Long-term bandwidth: how BBR v1 finds that a token-bucket policer limits it (Linux tcp_bbr.c,
//! bbr_lt_bw_*).
//!
//! An interval begins and ends with a loss and lasts 4 to 16 round trips. If two intervals in a row lose at
//! least a fifth of what they deliver, at rates that differ by at most an eighth, their mean is the policed
//! rate. BBR sends at that rate for 48 round trips.

use longfat_units::{Interval, Time};

/// The least and the greatest length of an interval, round trips (bbr_lt_intvl_min_rtts; four times that).
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Segments lost for each delivered that make an interval lossy (bbr_lt_loss_thresh).
const LOSSY: f64 = 50.0 / 256.0;
/// The greatest difference of two consistent rates, of the first one (bbr_lt_bw_ratio), and in bytes per
/// second after the pacing margin (bbr_lt_bw_diff).
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_BYTES_PER_S: f64 = 4000.0 / 8.0;
/// How long the rate is used, round trips (bbr_lt_bw_max_rtts).
const USED_ROUNDS: u32 = 48;
const LEAST_TIME: Interval = Interval::from_millis(1);

/// What one acknowledgement, or a timeout, tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    /// When data were last delivered.
    pub delivered_at: Time,
    /// All segments delivered and lost so far.
    pub delivered: u64,
    pub lost: u64,
    /// It found losses.
    pub lossy: bool,
    /// Its sample is limited by the application.
    pub app_limited: bool,
    /// It ends a round trip.
    pub round_start: bool,
    /// The algorithm cycles its gains.
    pub probing: bool,
    /// Bytes per second of payload for each segment per second, after the pacing margin.
    pub bytes_per_segment: f64,
}

/// What follows for the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Nothing,
    /// A policer was found: pace at its rate.
    Policed,
    /// The rate was used for long enough: cycle the gains again.
    Released,
}

/// The detector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    used: bool,
    rounds: u32,
    /// The rate of the interval before, or the policed rate, segments per second; 0 if there is none.
    rate: f64,
    since: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The policed rate, segments per second, while it is used.
    pub fn rate(&self) -> Option<f64> {
        self.used.then_some(self.rate)
    }

    /// Forgets everything; the next loss begins an interval.
    pub fn reset(&mut self) {
        *self = Policer::default();
    }

    fn begin(&mut self, news: &News) {
        (self.since, self.delivered, self.lost) = (news.delivered_at, news.delivered, news.lost);
        self.rounds = 0;
    }

    /// Takes an acknowledgement or a timeout (bbr_lt_bw_sampling).
    pub fn sample(&mut self, news: &News) -> Verdict {
        if self.used {
            if news.probing && news.round_start {
                self.rounds += 1;
                if self.rounds >= USED_ROUNDS {
                    self.reset();
                    return Verdict::Released;
                }
            }
            return Verdict::Nothing;
        }
        if !self.sampling {
            if !news.lossy {
                return Verdict::Nothing;
            }
            self.begin(news);
            self.sampling = true;
        }
        if news.app_limited {
            self.reset();
            return Verdict::Nothing;
        }
        self.rounds += u32::from(news.round_start);
        if self.rounds > MOST_ROUNDS {
            self.reset();
            return Verdict::Nothing;
        }
        let (lost, delivered) = (news.lost - self.lost, news.delivered - self.delivered);
        let took = news.delivered_at.since(self.since);
        let lossy = delivered > 0 && lost as f64 >= LOSSY * delivered as f64;
        if self.rounds < LEAST_ROUNDS || !news.lossy || !lossy || took < LEAST_TIME {
            return Verdict::Nothing;
        }
        self.end(news, delivered as f64 / took.as_secs_f64())
    }

    /// An interval is over (bbr_lt_bw_interval_done).
    fn end(&mut self, news: &News, rate: f64) -> Verdict {
        let difference = (rate - self.rate).abs();
        let same =
            difference <= SAME_RATIO * self.rate || difference * news.bytes_per_segment <= SAME_BYTES_PER_S;
        if self.rate > 0.0 && same {
            self.rate = 0.5 * (rate + self.rate);
            self.used = true;
            self.rounds = 0;
            return Verdict::Policed;
        }
        self.rate = rate;
        self.begin(news);
        Verdict::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of 100 ms that delivers `rate` segments a second and loses `lost` for each: one acknowledgement
    /// a round trip. Returns the verdicts of `rounds` round trips from `policer`'s `at`th on.
    fn rounds(policer: &mut Policer, at: u64, rounds: u64, rate: u64, lost: f64) -> Vec<Verdict> {
        let each = rate / 10;
        (at..at + rounds)
            .map(|i| {
                policer.sample(&News {
                    delivered_at: Time::ZERO + Interval::from_millis(100 * i),
                    delivered: each * i,
                    lost: (lost * (each * i) as f64) as u64,
                    lossy: lost > 0.0,
                    app_limited: false,
                    round_start: true,
                    probing: true,
                    bytes_per_segment: 1448.0 * 0.99,
                })
            })
            .collect()
    }

    #[test]
    fn two_lossy_intervals_at_the_same_rate_reveal_a_policer_whose_rate_is_used_for_48_round_trips() {
        let mut policer = Policer::default();
        // an interval ends in the fourth round trip after it began; the one that begins it is the first of
        // four
        let verdicts = rounds(&mut policer, 1, 8, 1000, 0.25);
        assert_eq!(verdicts[7], Verdict::Policed, "{verdicts:?}");
        assert!(verdicts[..7].iter().all(|&v| v == Verdict::Nothing));
        assert_eq!(policer.rate(), Some(1000.0));
        let verdicts = rounds(&mut policer, 9, 48, 1000, 0.25);
        assert_eq!(verdicts[47], Verdict::Released);
        assert!(verdicts[..47].iter().all(|&v| v == Verdict::Nothing));
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn fewer_losses_than_a_fifth_reveal_nothing() {
        let mut policer = Policer::default();
        assert!(rounds(&mut policer, 1, 60, 1000, 0.19).iter().all(|&v| v == Verdict::Nothing));
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn rates_that_differ_by_more_than_an_eighth_are_no_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 4, 1000, 0.25);
        assert_eq!(policer.rate, 1000.0);
        policer.begin(&News { delivered_at: Time::ZERO, delivered: 0, lost: 0, ..quiet() });
        policer.sampling = true;
        let verdicts = rounds(&mut policer, 1, 4, 1200, 0.25);
        assert_eq!((verdicts[3], policer.rate(), policer.rate), (Verdict::Nothing, None, 1200.0));
    }

    fn quiet() -> News {
        News {
            delivered_at: Time::ZERO,
            delivered: 0,
            lost: 0,
            lossy: true,
            app_limited: false,
            round_start: false,
            probing: true,
            bytes_per_segment: 1433.52,
        }
    }
}
