//! Compound TCP (Tan, Song, Zhang, Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp): standard TCP's window
//! `cwnd`, and a second one, `dwnd`, that grows fast while there is no queue and shrinks when there is one.
//!
//! ```text
//! win = cwnd + dwnd                                      (is `w.cwnd` here)
//! Ack     :  cwnd <- cwnd + 1 / win                      (per segment that counts)
//! Each RTT:  dwnd <- dwnd + (alpha win^k - 1)+           diff < gamma
//!            dwnd <- (dwnd - zeta diff)+                 diff >= gamma
//!            diff  = win (1 - baseRTT / RTT): segments of its own that the flow has queued
//! Loss    :  cwnd <- cwnd / 2,  dwnd <- ((1 - beta) win - cwnd / 2)+
//! ```
//!
//! In slow-start and below low_window it is standard TCP. `draft` fits gamma to the buffer: with each loss
//! gamma <- gamma + lambda (3/4 diff_reno - gamma), 5 to 30, where diff_reno is what cwnd alone had queued.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `alpha`, `k`, `beta`, `zeta` | 1/8, 0.75, 1/2, 1 | | Lopez Pacheco 2008, 2.4.4.2; Linux tcp_compound, 2006 | none |
//! | `gamma` | 30 | segments | the same two | `draft`: tuned from there |
//! | range, sample of gamma | 5 .. 30, 3/4 | | ctcp 1.3 for Linux (Andrew 2008) | none |
//! | `lambda` | 1/4 | | ctcp 1.3 for Linux | the draft gives none |
//! | `low_window` | 41; `draft` 38 | segments | 38: ctcp 1.3 for Linux; 41: 1.3 / sqrt(10^-3) | see docs/models/ctcp.md |
//! | RTT | least of the round trip | | both modules | the papers do not say |
//! | spreading of dwnd's growth | 1 | RTT | ctcp 1.3 for Linux, PACE_DWND | the papers: once per RTT |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::round::Round;
use super::row::{Properties, Row};
use longfat_units::math::pow;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

const PAPER_LOW_WINDOW: f64 = 41.0;
const DRAFT_LOW_WINDOW: f64 = 38.0;
const GAMMA_RANGE: (f64, f64) = (5.0, 30.0);
const GAMMA_SAMPLE: f64 = 0.75;
/// Acknowledgements that a round trip must have measured, lest all were delayed ones (both modules).
const LEAST_SAMPLES: u32 = 3;

/// The registry row.
pub const ROW: Row<Ctcp> = Row {
    entry: Entry {
        name: "ctcp",
        title: "Compound TCP",
        aliases: &["compound", "compound-tcp"],
        citation: "Tan, Song, Zhang, Sridharan: A Compound TCP Approach for High-speed and Long Distance Networks, \
                   IEEE INFOCOM 2006",
        page: "ctcp",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "draft"],
                "paper: fixed gamma; draft: gamma tuned with each loss, and baseRTT forgotten on a timeout",
            ),
            Parameter::choice(
                "base",
                &["window", "dwnd"],
                "whose power dwnd grows by: the whole window's, or its own as in the first drafts",
            ),
            Parameter::number("alpha", 0.125, (0.001, 10.0), "", "scale of dwnd's growth per round trip"),
            Parameter::number("k", 0.75, (0.0, 0.99), "", "power of the window in dwnd's growth"),
            Parameter::number("beta", 0.5, (0.01, 0.99), "of the window", "what a loss takes away"),
            Parameter::number("zeta", 1.0, (0.01, 10.0), "", "part of its own queue by which dwnd shrinks"),
            Parameter::number(
                "gamma",
                30.0,
                (1.0, 1e6),
                "segments",
                "own queue at which dwnd begins to shrink",
            ),
            Parameter::number("lambda", 0.25, (0.0, 1.0), "", "weight of a new sample of gamma (draft only)"),
            Parameter::number("low_window", 0.0, (0.0, 1e6), "segments", "standard TCP below this window")
                .or_auto("the variant's own: 41, draft 38"),
        ],
        style: Some(Style::new("#0f766e", "X")),
    },
    linux_module: None,
    properties: Properties { shrinks: true, ..Properties::DEFAULT },
    build: Ctcp::build,
};

/// The window at the beginning of a round trip, and what the round trip measured.
#[derive(Clone, Copy, Debug)]
struct Trip {
    win: f64,
    dwnd: f64,
    least_rtt: Interval,
    samples: u32,
}

/// The state that a congestion event changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct State {
    dwnd: f64,
    gamma: f64,
    base_rtt: Interval,
}

/// Compound TCP.
#[derive(Clone, Debug)]
pub struct Ctcp {
    draft: bool,
    own_power: bool,
    alpha: f64,
    k: f64,
    beta: f64,
    zeta: f64,
    lambda: f64,
    low_window: f64,
    gamma_start: f64,
    state: State,
    before: State,
    /// dwnd's growth during this round trip, in segments.
    growth: f64,
    /// Segments that cwnd alone had queued in the last round trip.
    reno_queue: Option<f64>,
    round: Round,
    /// Unset until a round trip has begun.
    trip: Option<Trip>,
}

/// Segments that a window of `win` keeps queued when round-trip times of `rtt` are measured.
#[inline]
fn queued(win: f64, base_rtt: Interval, rtt: Interval) -> f64 {
    win * (1.0 - base_rtt.as_secs_f64() / rtt.as_secs_f64())
}

impl Ctcp {
    fn build(p: &Parameters) -> Self {
        let draft = p.word("variant") == "draft";
        let low_window = match p.number("low_window") {
            0.0 if draft => DRAFT_LOW_WINDOW,
            0.0 => PAPER_LOW_WINDOW,
            given => given,
        };
        let gamma = p.number("gamma");
        let state = State { dwnd: 0.0, gamma, base_rtt: Interval::MAX };
        Ctcp {
            draft,
            own_power: p.word("base") == "dwnd",
            alpha: p.number("alpha"),
            k: p.number("k"),
            beta: p.number("beta"),
            zeta: p.number("zeta"),
            lambda: p.number("lambda"),
            low_window,
            gamma_start: gamma,
            state,
            before: state,
            growth: 0.0,
            reno_queue: None,
            round: Round::default(),
            trip: None,
        }
    }

    /// dwnd's growth in a round trip without a queue.
    fn increase(&self, win: f64) -> f64 {
        if self.own_power {
            // from a dwnd of 0 the printed rule would never start
            self.alpha * pow(self.state.dwnd.max(1.0), self.k)
        } else {
            (self.alpha * pow(win, self.k) - 1.0).max(0.0)
        }
    }

    /// A round trip has passed.
    fn adjust(&mut self, trip: Trip, w: &mut Window) {
        self.growth = 0.0;
        if w.cwnd < self.low_window {
            self.state.dwnd = 0.0;
        } else if trip.samples >= LEAST_SAMPLES {
            let diff = queued(trip.win, self.state.base_rtt, trip.least_rtt);
            self.reno_queue = Some(queued(trip.win - trip.dwnd, self.state.base_rtt, trip.least_rtt));
            if diff < self.state.gamma {
                self.growth = self.increase(trip.win);
            } else {
                let less = (self.zeta * diff).min(self.state.dwnd);
                self.state.dwnd -= less;
                w.cwnd = (w.cwnd - less).max(1.0);
                // a window below ssthresh would be slow-start again
                w.ssthresh = w.ssthresh.min(w.cwnd);
            }
        }
    }

    fn tune_gamma(&mut self) {
        if let Some(queue) = self.reno_queue.take().filter(|_| self.draft) {
            let tuned = self.state.gamma + self.lambda * (GAMMA_SAMPLE * queue - self.state.gamma);
            self.state.gamma = tuned.clamp(GAMMA_RANGE.0, GAMMA_RANGE.1);
        }
    }

    /// The measurements of the current round trip do not apply to the next.
    fn restart(&mut self) {
        self.round.restart();
        self.trip = None;
        self.growth = 0.0;
        self.reno_queue = None;
    }
}

impl CongestionControl for Ctcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let before = self.state.dwnd;
        if let Some(rtt) = ack.rtt {
            self.state.base_rtt = self.state.base_rtt.min(rtt);
            if let Some(trip) = &mut self.trip {
                trip.least_rtt = trip.least_rtt.min(rtt);
                trip.samples += 1;
            }
        }
        let ended = if self.round.passed(ack).is_some() { self.trip.take() } else { None };
        if w.in_slow_start() {
            self.state.dwnd = 0.0;
            self.growth = 0.0;
            w.slow_start(ack.acked);
        } else {
            let more = self.growth * ack.acked / w.cwnd;
            self.state.dwnd += more;
            w.cwnd += standard_increase(w.cwnd, ack.acked) + more;
            if let Some(trip) = ended {
                self.adjust(trip, w);
            }
        }
        let dwnd = self.state.dwnd;
        self.trip.get_or_insert(Trip { win: w.cwnd, dwnd, least_rtt: Interval::MAX, samples: 0 });
        if !ack.may_grow {
            self.state.dwnd = dwnd.min(before); // its part of the growth is not kept either
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.before = self.state;
        self.tune_gamma();
        let cwnd = standard_decrease(w.cwnd - self.state.dwnd);
        w.ssthresh = if w.cwnd < self.low_window {
            standard_decrease(w.cwnd)
        } else {
            cwnd.max((1.0 - self.beta) * w.cwnd)
        };
        self.state.dwnd = w.ssthresh - cwnd;
        if event.cause == Cause::Timeout {
            self.state.dwnd = 0.0;
            if self.draft {
                self.state.base_rtt = Interval::MAX;
                self.state.gamma = self.gamma_start;
            }
        }
        self.restart();
    }

    fn on_recovered(&mut self, _now: Time, w: &mut Window) {
        // recovery may end below ssthresh
        self.state.dwnd *= (w.cwnd / w.ssthresh).min(1.0);
        self.restart();
    }

    fn on_undo(&mut self, _w: &mut Window) {
        self.state = self.before;
        self.restart();
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("dwnd", self.state.dwnd));
        out.push(("gamma", self.state.gamma));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::super::round::path::{Path, window};
    use super::super::testing::{congestion, loss, periodic, with_numbers};
    use super::*;

    fn ctcp(words: &[(&str, &str)]) -> Ctcp {
        let given: Vec<_> =
            words.iter().map(|(k, v)| ((*k).to_owned(), Value::Word((*v).to_owned()))).collect();
        ROW.instance(&given).unwrap()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    /// The size that a window of `cwnd` with this dwnd reaches within the round trip after the one in which
    /// it was measured.
    fn after_two_round_trips(c: &mut Ctcp, cwnd: f64, path: &mut Path) -> f64 {
        let mut w = window(cwnd, 2.0);
        path.run(1.999 * path.rtt_s(cwnd), c, &mut w);
        w.cwnd
    }

    #[test]
    fn without_a_queue_the_window_grows_by_an_eighth_of_its_three_quarter_power() {
        // 10000^0.75 = 1000: 125 segments a round trip, 1 of them cwnd's; the first round trip only measures
        let mut c = ctcp(&[]);
        let w = after_two_round_trips(&mut c, 1e4, &mut Path::new(0.1, 1e9));
        assert!((w - 10_126.0).abs() < 1.0, "{w}");
        assert!((c.state.dwnd - 124.0).abs() < 1.0, "{}", c.state.dwnd);
    }

    #[test]
    fn in_slow_start_and_below_its_low_window_it_is_standard_tcp() {
        for (variant, low_window) in [("paper", 41.0), ("draft", 38.0)] {
            for (cwnd, high_speed) in [(low_window - 3.0, false), (low_window, true)] {
                let mut c = ctcp(&[("variant", variant)]);
                let w = after_two_round_trips(&mut c, cwnd, &mut Path::new(0.1, 1e9));
                // 38^0.75 / 8 = 1.91
                let grown = if high_speed { 2.5..4.0 } else { 1.9..2.1 };
                assert!(grown.contains(&(w - cwnd)), "{variant} {cwnd}: {w}");
            }
        }
        let mut c = ctcp(&[]);
        let mut w = window(1000.0, 1e6);
        Path::new(0.1, 1e9).run(0.25, &mut c, &mut w);
        near(c.state.dwnd, 0.0);
        assert!(w.cwnd > 3000.0);
    }

    #[test]
    fn a_loss_halves_both_parts() {
        let mut c = ctcp(&[]);
        c.state.dwnd = 400.0;
        let mut w = window(1000.0, 2.0);
        c.on_congestion(&loss(), &mut w);
        near(w.ssthresh, 500.0);
        near(c.state.dwnd, 200.0); // 1000 / 2 - 600 / 2
    }

    #[test]
    fn a_loss_never_leaves_less_than_half_of_cwnd() {
        let mut c = with_numbers(&ROW, &[("beta", 0.8)]);
        c.state.dwnd = 100.0;
        let mut w = window(1000.0, 2.0);
        c.on_congestion(&loss(), &mut w);
        near(w.ssthresh, 450.0);
        near(c.state.dwnd, 0.0);
    }

    #[test]
    fn a_timeout_leaves_no_dwnd_and_an_undo_brings_it_back() {
        let mut c = ctcp(&[]);
        c.state.dwnd = 400.0;
        let mut w = window(1000.0, 2.0);
        c.on_congestion(&congestion(Cause::Timeout), &mut w);
        near(c.state.dwnd, 0.0);
        c.on_undo(&mut w);
        near(c.state.dwnd, 400.0);
    }

    #[test]
    fn the_window_stays_at_the_pipe_and_some_thirty_segments_until_dwnd_is_used_up() {
        // a pipe of 1000 segments; from 600 the window is there within some 20 round trips, and dwnd then
        // shrinks by what cwnd grows
        let mut c = ctcp(&[]);
        let mut path = Path::new(0.1, 1e4);
        let mut w = window(600.0, 2.0);
        path.run(4.0, &mut c, &mut w);
        let mut queues = Vec::new();
        while c.state.dwnd > 80.0 {
            path.run(0.1, &mut c, &mut w);
            queues.push(path.queue_packets(w.cwnd));
        }
        let mean = queues.iter().sum::<f64>() / queues.len() as f64;
        assert!(queues.len() > 200, "{} round trips", queues.len());
        assert!((5.0..45.0).contains(&mean), "{mean}");
        assert!(queues.iter().all(|q| *q < 90.0), "{queues:?}");
        // from there on it is standard TCP: a segment a round trip
        path.run(20.0, &mut c, &mut w);
        let (before, dwnd) = (w.cwnd, c.state.dwnd);
        path.run(10.0 * path.rtt_s(w.cwnd), &mut c, &mut w);
        near(dwnd, 0.0);
        assert!((w.cwnd - before - 10.0).abs() < 0.5, "{}", w.cwnd - before);
    }

    #[test]
    fn the_response_function_falls_with_the_four_fifths_power_of_the_loss_ratio() {
        // Tan and others 2006: win ~ 1 / p^(1 / (2 - k)), k = 0.75
        let [many, few] = [(20_000, 2000.0, 20), (2_000_000, 80_000.0, 6)]
            .map(|(period, peak, cycles)| periodic(&mut ctcp(&[]), 0.1, period, peak, cycles).mean);
        let power = longfat_units::math::log10(few / many) / 2.0;
        assert!((power - 0.8).abs() < 0.02, "{power}: {many}, {few}");
    }

    #[test]
    fn the_draft_tunes_gamma_by_a_quarter_of_the_way_and_within_5_and_30() {
        // 3/4 of a queue of 8 segments is 6: 30 + (6 - 30) / 4
        for (queue, gamma) in [(8.0, 24.0), (0.0, 22.5), (400.0, 30.0)] {
            let mut c = ctcp(&[("variant", "draft")]);
            c.reno_queue = Some(queue);
            c.tune_gamma();
            near(c.state.gamma, gamma);
        }
        let mut c = ctcp(&[("variant", "draft")]);
        for _ in 0..20 {
            c.reno_queue = Some(0.0);
            c.tune_gamma();
        }
        near(c.state.gamma, 5.0);
        c.tune_gamma();
        near(c.state.gamma, 5.0);
        let mut fixed = ctcp(&[]);
        fixed.reno_queue = Some(8.0);
        fixed.tune_gamma();
        near(fixed.state.gamma, 30.0);
    }

    #[test]
    fn behind_a_short_buffer_the_draft_keeps_less_queued_than_the_paper() {
        let settled = |variant| {
            let mut c = ctcp(&[("variant", variant)]);
            let mut path = Path::new(0.1, 1e4);
            let mut w = window(600.0, 2.0);
            for _ in 0..40 {
                while path.queue_packets(w.cwnd) < 20.0 {
                    path.run(0.05, &mut c, &mut w);
                }
                path.lose(Cause::Loss, &mut c, &mut w);
            }
            c.state.gamma
        };
        near(settled("paper"), 30.0);
        assert!(settled("draft") < 15.0, "{}", settled("draft"));
    }

    #[test]
    fn growing_by_its_own_power_dwnd_starts_slowly() {
        let mut c = ctcp(&[("base", "dwnd")]);
        let w = after_two_round_trips(&mut c, 1e4, &mut Path::new(0.1, 1e9));
        assert!((c.state.dwnd - 0.125).abs() < 0.001 && (w - 10_002.1).abs() < 0.1, "{w}");
        c.state.dwnd = 10_000.0;
        near(c.increase(20_000.0), 125.0);
    }
}
