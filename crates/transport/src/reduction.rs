//! How the window shrinks during fast recovery, from the old window to the target that the algorithm has set.

use crate::cc::Window;
use serde::Deserialize;

/// How the window shrinks during SACK recovery. In JSON: the variant in kebab-case, such as `rate-halving`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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
    /// Segments outstanding when it began (RecoverFS).
    outstanding: u64,
}

impl Episode {
    /// An episode begins with this many segments outstanding (snd.nxt - snd.una).
    pub const fn new(outstanding: u64) -> Self {
        Episode { delivered: 0, sent: 0, outstanding }
    }

    /// A segment was sent.
    #[inline]
    pub fn sent(&mut self) {
        self.sent += 1;
    }

    /// Moves `w.cwnd` after an acknowledgement that delivered `newly` segments and left `in_flight`.
    pub fn step(&mut self, how: Recovery, newly: u64, in_flight: u64, w: &mut Window) {
        match how {
            Recovery::RateHalving | Recovery::RateHalvingToHalf => {
                let steps = (self.delivered + newly) / 2 - self.delivered / 2;
                self.delivered += newly;
                let floor = if how == Recovery::RateHalving { w.ssthresh } else { 0.5 * w.ssthresh };
                w.cwnd = halved(w.cwnd, floor, steps).min(in_flight as f64 + 1.0).max(1.0);
            }
            Recovery::Prr => {
                self.delivered += newly;
                let quota =
                    proportional(self.delivered, self.sent, newly, self.outstanding, in_flight, w.ssthresh);
                w.cwnd = (in_flight + quota).max(1) as f64;
            }
        }
    }

    /// The window with which the sender continues.
    pub fn end(how: Recovery, w: &mut Window) {
        w.cwnd = match how {
            Recovery::RateHalving | Recovery::RateHalvingToHalf => w.cwnd.min(w.ssthresh),
            Recovery::Prr => w.ssthresh,
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
        let mut episode = Episode::new(100);
        (0..60).for_each(|_| episode.step(Recovery::RateHalving, 1, 99, &mut w));
        assert_eq!(w.cwnd, 70.0);
        (0..60).for_each(|_| episode.step(Recovery::RateHalving, 1, 99, &mut w));
        assert_eq!(w.cwnd, 50.0);
    }

    #[test]
    fn rate_halving_to_half_passes_the_target_and_comes_back_by_slow_start() {
        // Scalable TCP's target: one round trip of 100 deliveries halves the window all the same
        let mut w = window(100.0, 87.5);
        let mut episode = Episode::new(100);
        (0..100).for_each(|_| episode.step(Recovery::RateHalvingToHalf, 1, 99, &mut w));
        assert_eq!(w.cwnd, 50.0);
        (0..100).for_each(|_| episode.step(Recovery::RateHalvingToHalf, 1, 99, &mut w));
        assert_eq!(w.cwnd, 43.75);
        Episode::end(Recovery::RateHalvingToHalf, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (43.75, 87.5));
    }

    #[test]
    fn rate_halving_holds_the_window_to_what_is_in_flight() {
        let mut w = window(100.0, 50.0);
        Episode::new(100).step(Recovery::RateHalving, 1, 20, &mut w);
        assert_eq!(w.cwnd, 21.0);
    }

    #[test]
    fn prr_follows_the_example_of_rfc_6937() {
        // RFC 6937, section 4, first example: 20 segments in flight, the first is lost, CUBIC's 0.7 target 14.
        // Pipe falls from 19; over the 19 acknowledgements PRR sends 14 segments in all, the retransmission included.
        let (mut episode, mut w) = (Episode::new(20), window(20.0, 14.0));
        let mut pipe = 19 - 3; // three duplicates have arrived
        let mut sent = 0;
        episode.delivered = 2;
        for _ in 0..17 {
            episode.step(Recovery::Prr, 1, pipe, &mut w);
            while (pipe as f64) < w.cwnd {
                pipe += 1;
                sent += 1;
                episode.sent();
            }
            pipe -= 1;
        }
        assert!((13..=14).contains(&sent), "{sent}");
    }
}
