//! How the window shrinks during fast recovery, from the old window to the target that the algorithm has set.

use crate::cc::Window;
use serde::{Deserialize, Serialize};

/// How the window shrinks during SACK recovery. In JSON: the variant in kebab-case, such as `rate-halving`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Rate halving, as in Linux before 3.2 and the kernel of Li, Leith and Shorten: one segment less for
    /// every two that the receiver got, down to ssthresh, and never more than one above the segments in
    /// flight. A window pushed below ssthresh by heavy loss climbs back by slow-start afterwards.
    RateHalving,
    /// Rate halving as in Linux 2.6 for algorithms that set no floor of their own (`tcp_cwnd_down`): the
    /// shrinking goes on to half of ssthresh if recovery lasts that long. The window then climbs back to
    /// ssthresh by slow-start.
    RateHalvingToHalf,
    /// Proportional rate reduction with its slow-start reduction bound (RFC 6937).
    Prr,
    /// Proportional rate reduction as of RFC 9937, which obsoletes RFC 6937: its bound is the conservative
    /// one, plus a segment for an acknowledgement that shows good progress (SafeACK).
    #[serde(rename = "prr-9937")]
    Prr9937,
    /// At once (RFC 6675; ns-2's Sack1 agent).
    Immediate,
}

impl Recovery {
    /// Whether it is one of the two kinds of rate halving.
    pub const fn halves_the_rate(self) -> bool {
        matches!(self, Recovery::RateHalving | Recovery::RateHalvingToHalf)
    }
}

/// The running reduction of one recovery episode.
#[derive(Clone, Copy, Debug, Default)]
pub struct Episode {
    /// Segments delivered since the episode began (prr_delivered).
    delivered: u64,
    /// Segments sent since the episode began (prr_out).
    sent: u64,
    /// Segments that may be delivered while it lasts (RecoverFS).
    flight: u64,
    /// The least window that it leaves, segments.
    least: f64,
}

impl Episode {
    /// An episode begins on an acknowledgement that left `outstanding` segments (snd.nxt - snd.una), `sacked`
    /// of them selectively acknowledged, and delivered `newly`.
    pub const fn new(how: Recovery, outstanding: u64, sacked: u64, newly: u64) -> Self {
        let flight = match how {
            // RFC 9937, section 6.1: what was selectively acknowledged before is not delivered again
            Recovery::Prr9937 => outstanding - sacked + newly,
            _ => outstanding,
        };
        Episode { delivered: 0, sent: 0, flight, least: 1.0 }
    }

    /// The same, which leaves at least this window.
    pub const fn at_least(self, least: f64) -> Self {
        Episode { least, ..self }
    }

    /// This many segments were sent.
    #[inline]
    pub const fn sent(&mut self, segments: u64) {
        self.sent += segments;
    }

    /// Moves `w.cwnd` after an acknowledgement that delivered `newly` segments and left `in_flight`. It is
    /// `safe` if it acknowledges new data cumulatively and indicates no further loss.
    pub fn step(&mut self, how: Recovery, newly: u64, in_flight: u64, safe: bool, w: &mut Window) {
        match how {
            Recovery::RateHalving | Recovery::RateHalvingToHalf => {
                let steps = (self.delivered + newly) / 2 - self.delivered / 2;
                self.delivered += newly;
                let floor = if how == Recovery::RateHalving { w.ssthresh } else { 0.5 * w.ssthresh };
                w.cwnd = halved(w.cwnd, floor, steps).min(in_flight as f64 + 1.0);
            }
            Recovery::Prr => {
                self.delivered += newly;
                let quota =
                    proportional(self.delivered, self.sent, newly, self.flight, in_flight, w.ssthresh);
                w.cwnd = (in_flight + quota) as f64;
            }
            Recovery::Prr9937 if newly == 0 => {}
            Recovery::Prr9937 => {
                self.delivered += newly;
                let quota = self.quota(newly, in_flight, safe, w.ssthresh);
                let forced = u64::from(self.sent == 0); // the first retransmission
                w.cwnd = (in_flight + quota.max(forced)) as f64;
            }
            Recovery::Immediate => {}
        }
        w.cwnd = w.cwnd.max(self.least).max(1.0);
    }

    /// RFC 9937, section 6.2, SndCnt: how many segments may be sent in response to this acknowledgement.
    fn quota(&self, newly: u64, in_flight: u64, safe: bool, ssthresh: f64) -> u64 {
        if in_flight as f64 > ssthresh {
            let target = (self.delivered as f64 * ssthresh / self.flight.max(1) as f64).ceil() as u64;
            target.saturating_sub(self.sent)
        } else {
            let conservative = self.delivered.saturating_sub(self.sent).max(newly);
            (ssthresh as u64 - in_flight).min(conservative + u64::from(safe))
        }
    }

    /// The window with which the sender continues.
    pub fn end(how: Recovery, w: &mut Window) {
        w.cwnd = match how {
            Recovery::RateHalving | Recovery::RateHalvingToHalf | Recovery::Immediate => {
                w.cwnd.min(w.ssthresh)
            }
            Recovery::Prr | Recovery::Prr9937 => w.ssthresh,
        };
    }
}

/// One segment less a step, but not below the floor.
fn halved(cwnd: f64, floor: f64, steps: u64) -> f64 {
    if cwnd > floor { (cwnd - steps as f64).max(floor) } else { cwnd }
}

/// RFC 6937, section 3: how many segments may be sent in response to this acknowledgement.
fn proportional(delivered: u64, sent: u64, newly: u64, outstanding: u64, pipe: u64, ssthresh: f64) -> u64 {
    if pipe as f64 > ssthresh {
        let quota = (delivered as f64 * ssthresh / outstanding.max(1) as f64).ceil() as u64;
        quota.saturating_sub(sent)
    } else {
        let limit = delivered.saturating_sub(sent).max(newly) + 1;
        (ssthresh as u64).saturating_sub(pipe).min(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64, ssthresh: f64) -> Window {
        Window { cwnd, ssthresh, max_ssthresh: f64::INFINITY }
    }

    #[test]
    fn rate_halving_takes_one_segment_for_two_delivered_and_stops_at_the_target() {
        let mut w = window(100.0, 50.0);
        let mut episode = Episode::new(Recovery::RateHalving, 100, 0, 0);
        (0..60).for_each(|_| episode.step(Recovery::RateHalving, 1, 99, false, &mut w));
        assert_eq!(w.cwnd, 70.0);
        (0..60).for_each(|_| episode.step(Recovery::RateHalving, 1, 99, false, &mut w));
        assert_eq!(w.cwnd, 50.0);
    }

    #[test]
    fn rate_halving_to_half_passes_the_target_and_comes_back_by_slow_start() {
        // Scalable TCP's target: one round trip of 100 deliveries halves the window all the same
        let mut w = window(100.0, 87.5);
        let mut episode = Episode::new(Recovery::RateHalvingToHalf, 100, 0, 0);
        (0..100).for_each(|_| episode.step(Recovery::RateHalvingToHalf, 1, 99, true, &mut w));
        assert_eq!(w.cwnd, 50.0);
        (0..100).for_each(|_| episode.step(Recovery::RateHalvingToHalf, 1, 99, true, &mut w));
        assert_eq!(w.cwnd, 43.75);
        Episode::end(Recovery::RateHalvingToHalf, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (43.75, 87.5));
    }

    #[test]
    fn rate_halving_holds_the_window_to_what_is_in_flight() {
        let mut w = window(100.0, 50.0);
        Episode::new(Recovery::RateHalving, 100, 0, 0).step(Recovery::RateHalving, 1, 20, false, &mut w);
        assert_eq!(w.cwnd, 21.0);
    }

    #[test]
    fn prr_follows_the_example_of_rfc_6937() {
        // RFC 6937, section 4, first example: 20 segments in flight, the first is lost, CUBIC's 0.7 target
        // 14. Pipe falls from 19; over the 19 acknowledgements PRR sends 14 segments in all, the
        // retransmission included.
        let (mut episode, mut w) = (Episode::new(Recovery::Prr, 20, 0, 0), window(20.0, 14.0));
        let mut pipe = 19 - 3; // three duplicates have arrived
        let mut sent = 0;
        episode.delivered = 2;
        for _ in 0..17 {
            episode.step(Recovery::Prr, 1, pipe, false, &mut w);
            while (pipe as f64) < w.cwnd {
                pipe += 1;
                sent += 1;
                episode.sent(1);
            }
            pipe -= 1;
        }
        assert!((13..=14).contains(&sent), "{sent}");
    }

    /// The windows of an episode of PRR as of RFC 9937 after each of these acknowledgements, each with the
    /// segments that it delivers and whether it is safe. The sender sends what the window allows.
    fn windows(mut episode: Episode, mut in_flight: u64, acks: &[(u64, bool)]) -> Vec<u64> {
        let mut w = window(20.0, 10.0);
        let step = |&(newly, safe): &(u64, bool)| {
            in_flight -= newly;
            episode.step(Recovery::Prr9937, newly, in_flight, safe, &mut w);
            while (in_flight as f64) < w.cwnd {
                in_flight += 1;
                episode.sent(1);
            }
            w.cwnd as u64
        };
        acks.iter().map(step).collect()
    }

    #[test]
    fn a_single_loss_gives_the_windows_of_figure_1_of_rfc_9937() {
        // the third of 22 outstanding is selectively acknowledged, and the first found lost: 19 in flight
        // before it
        let episode = Episode::new(Recovery::Prr9937, 22, 3, 1);
        let found = windows(episode, 19, &[(1, false); 19]);
        let figure = [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10];
        assert_eq!((&found[..16], &found[17..]), (&figure[..16], &figure[17..]));
        // At ACK#19 there are 10 in flight. The figure still reduces in proportion and has 11, the steps of
        // section 6.2 do so only above ssthresh, and catch up on the next ACK.
        assert_eq!((found[16], figure[16]), (10, 11));
    }

    #[test]
    fn a_burst_of_losses_gives_the_windows_of_figure_2_of_rfc_9937_and_then_one_more_for_each_safe_ack() {
        // 15 of 22 are lost: 4 in flight after the third. Then the retransmissions are acknowledged in order:
        // one more segment each (section 8: "increases the window by exactly 1 segment per ACK"), up to
        // ssthresh
        let episode = Episode::new(Recovery::Prr9937, 22, 3, 1);
        let acks: Vec<_> = [(1, false); 3].into_iter().chain([(1, true); 7]).collect();
        assert_eq!(windows(episode, 5, &acks), [5, 5, 5, 6, 7, 8, 9, 10, 10, 10]);
    }

    #[test]
    fn an_episode_of_rfc_9937_sends_at_least_one_segment_and_waits_for_a_delivery() {
        let mut w = window(100.0, 10.0);
        let mut episode = Episode::new(Recovery::Prr9937, 100, 3, 0);
        episode.step(Recovery::Prr9937, 0, 90, false, &mut w);
        assert_eq!(w.cwnd, 100.0);
        // 1 x 10 / 98 is rounded up; once that is sent, ten deliveries earn no second segment
        episode.step(Recovery::Prr9937, 1, 90, false, &mut w);
        assert_eq!(w.cwnd, 91.0);
        episode.sent(1);
        episode.step(Recovery::Prr9937, 8, 83, false, &mut w);
        assert_eq!(w.cwnd, 83.0);
        let mut unsent = Episode::new(Recovery::Prr9937, 13, 3, 1);
        let mut at_target = window(20.0, 10.0);
        unsent.step(Recovery::Prr9937, 1, 10, false, &mut at_target);
        assert_eq!(
            at_target.cwnd, 11.0,
            "ssthresh - in flight leaves nothing, the first retransmission leaves"
        );
    }
}
