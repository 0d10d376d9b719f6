//! CUBIC by its equations: RFC 9438, and the workshop paper of 2005. It uses real numbers and acts on every
//! acknowledgement.

use super::super::congestion_control::{Ack, Cause, Congestion, Window};
use longfat_units::Time;
use longfat_units::math::cbrt;

/// The growth per round trip with which a flow that keeps `beta` of its window after a loss has the mean
/// window of standard TCP (RFC 9438, section 4.3).
fn friendly_increase(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// The differences between the two texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Text {
    /// RFC 9438: growth within a round trip is at most half the window; W_est is counted per acknowledgement.
    Rfc9438,
    /// Rhee, Xu 2005: growth is at most `s_max` segments per second; W_tcp is a function of time.
    Paper2005 { s_max: f64 },
}

/// RFC 9438, section 4.2: the target is at most this many windows.
const GREATEST_TARGET: f64 = 1.5;
/// After this many round-trip times without growth the window is assumed not to have been the limit, and the
/// time does not count (RFC 9438, section 4.2, which sets no bound).
const PAUSE_RTTS: f64 = 2.0;

/// The state that a congestion event changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct State {
    /// W_max in segments; zero while nothing is known.
    w_max: f64,
    /// The window when ssthresh was last set; zero before.
    cwnd_prior: f64,
    /// t_epoch: beginning of this stage of congestion avoidance.
    epoch: Option<Time>,
    k_s: f64,
    /// W_est of the RFC; the paper's W_tcp at the beginning of the stage.
    w_est: f64,
    /// The last acknowledgement that let the window grow.
    grew: Time,
}

/// The cubic curve and its state.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub text: Text,
    pub c: f64,
    pub beta: f64,
    pub fast_convergence: bool,
    state: State,
    before: State,
}

impl Curve {
    pub fn new(text: Text, c: f64, beta: f64, fast_convergence: bool) -> Self {
        let state =
            State { w_max: 0.0, cwnd_prior: 0.0, epoch: None, k_s: 0.0, w_est: 0.0, grew: Time::ZERO };
        Curve { text, c, beta, fast_convergence, state, before: state }
    }

    /// W_cubic(t) in segments, `t_s` seconds into the stage (RFC 9438, figure 1).
    #[inline]
    pub fn window(&self, t_s: f64) -> f64 {
        let x = t_s - self.state.k_s;
        self.c * x * x * x + self.state.w_max
    }

    /// K in seconds (RFC 9438, figure 2).
    pub fn k_s(&self) -> f64 {
        self.state.k_s
    }

    pub fn w_max(&self) -> f64 {
        self.state.w_max
    }

    fn begin(&mut self, now: Time, cwnd: f64) -> Time {
        let s = &mut self.state;
        if s.w_max == 0.0 && s.cwnd_prior == 0.0 {
            s.cwnd_prior = cwnd; // slow-start ended without a loss: RFC 9438, section 4.10
        }
        s.w_max = s.w_max.max(cwnd);
        s.k_s = cbrt((s.w_max - cwnd) / self.c);
        s.w_est = cwnd;
        s.epoch = Some(now);
        s.grew = now;
        now
    }

    /// Time since the stage began, without pauses.
    #[inline]
    fn elapsed_s(&mut self, ack: &Ack, cwnd: f64) -> f64 {
        let mut epoch = match self.state.epoch {
            Some(epoch) => epoch,
            None => self.begin(ack.now, cwnd),
        };
        let gap = ack.now.since(self.state.grew);
        if gap > ack.srtt.scale(PAUSE_RTTS) {
            epoch += gap;
            self.state.epoch = Some(epoch);
        }
        self.state.grew = ack.now;
        ack.now.since(epoch).as_secs_f64()
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let t_s = self.elapsed_s(ack, w.cwnd);
        let rtt_s = ack.srtt.as_secs_f64();
        let (standard, greatest) = match self.text {
            Text::Rfc9438 => {
                let s = &mut self.state;
                let increase = if s.w_est >= s.cwnd_prior { 1.0 } else { friendly_increase(self.beta) };
                s.w_est += increase * ack.acked / w.cwnd;
                (s.w_est, GREATEST_TARGET * w.cwnd)
            }
            Text::Paper2005 { s_max } => {
                let round_trips = if rtt_s > 0.0 { t_s / rtt_s } else { 0.0 };
                (self.state.w_est + friendly_increase(self.beta) * round_trips, w.cwnd + s_max * rtt_s)
            }
        };
        if self.window(t_s) < standard {
            w.cwnd = w.cwnd.max(standard);
        } else {
            let target = self.window(t_s + rtt_s).max(w.cwnd).min(greatest);
            w.cwnd += ack.acked * (target - w.cwnd) / w.cwnd;
        }
    }

    pub fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.before = self.state;
        let lowered = self.fast_convergence && w.cwnd < self.state.w_max;
        self.state.w_max = match event.cause {
            Cause::Timeout => 0.0, // section 4.8: the next stage begins at its own W_max
            _ if lowered => 0.5 * (1.0 + self.beta) * w.cwnd,
            _ => w.cwnd,
        };
        self.state.cwnd_prior = w.cwnd;
        self.state.epoch = None;
        w.ssthresh = self.beta * w.cwnd;
    }

    pub fn on_undo(&mut self) {
        self.state = self.before;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{ack_at, congestion, loss, window};
    use super::*;
    use longfat_units::Interval;

    const RFC: (Text, f64) = (Text::Rfc9438, 0.7);
    const PAPER: (Text, f64) = (Text::Paper2005 { s_max: 160.0 }, 0.8);

    fn curve((text, beta): (Text, f64)) -> Curve {
        Curve::new(text, 0.4, beta, true)
    }

    /// A curve and its window after a loss at `cwnd` segments.
    fn after_a_loss(which: (Text, f64), cwnd: f64) -> (Curve, Window) {
        let mut c = curve(which);
        let mut w = window(cwnd, 2.0);
        c.on_congestion(&loss(), &mut w);
        w.cwnd = w.ssthresh;
        (c, w)
    }

    /// Acknowledges every segment of windows that take `rtt_s`, from `from_s` for `seconds`.
    fn run(c: &mut Curve, w: &mut Window, rtt_s: f64, from_s: f64, seconds: f64) {
        let mut now_s = from_s;
        while now_s < from_s + seconds {
            c.on_ack(&ack_at(Time::from_secs_f64(now_s), 1.0, Interval::from_secs_f64(rtt_s)), w);
            now_s += rtt_s / w.cwnd;
        }
    }

    #[test]
    fn the_window_is_back_where_it_was_after_the_cube_root_of_its_missing_part_over_c() {
        // 300 segments below 1000: cbrt(300 / 0.4) = 9.086 s; 2005: cbrt(200 / 0.4) = 7.937 s
        for (which, seconds) in [(RFC, 9.086), (PAPER, 7.937)] {
            let (mut c, mut w) = after_a_loss(which, 1000.0);
            run(&mut c, &mut w, 0.1, 5.0, seconds);
            assert!((c.k_s() - seconds).abs() < 0.001 && (w.cwnd - 1000.0).abs() < 0.1, "{}", w.cwnd);
        }
    }

    #[test]
    fn windows_on_both_sides_of_the_last_maximum_mirror_each_other() {
        let (mut c, mut w) = after_a_loss(RFC, 1000.0);
        run(&mut c, &mut w, 0.05, 0.0, 4.086);
        let below = 1000.0 - w.cwnd;
        run(&mut c, &mut w, 0.05, 4.086, 10.0);
        let above = w.cwnd - 1000.0;
        // 0.4 * 5^3
        assert!((below - 50.0).abs() < 1.0 && (above - 50.0).abs() < 1.0, "{below} {above}");
    }

    #[test]
    fn growth_in_a_round_trip_is_at_most_half_the_window() {
        let (mut c, mut w) = after_a_loss(RFC, 1000.0);
        run(&mut c, &mut w, 0.1, 0.0, 0.05);
        w.cwnd = 100.0;
        c.on_ack(&ack_at(Time::from_secs_f64(0.06), 1.0, Interval::from_millis(100)), &mut w);
        assert_eq!(w.cwnd, 100.5);
    }

    #[test]
    fn the_paper_of_2005_grows_by_at_most_160_segments_a_second() {
        // 2000 segments below the last maximum the curve alone would rise by 320 in the first second
        let (mut c, mut w) = after_a_loss(PAPER, 10_000.0);
        run(&mut c, &mut w, 0.1, 0.0, 1.0);
        assert!((w.cwnd - 8160.0).abs() < 2.0, "{}", w.cwnd);
        let (mut c, mut w) = after_a_loss((Text::Paper2005 { s_max: 1e6 }, 0.8), 10_000.0);
        run(&mut c, &mut w, 0.1, 0.0, 1.0);
        assert!(w.cwnd > 8310.0, "{}", w.cwnd);
    }

    #[test]
    fn standard_tcps_estimate_grows_by_9_17ths_and_beyond_the_last_window_by_1_a_round_trip() {
        // 20 ms: the curve would need cbrt(30 / 0.4) = 4.2 s to 100, the estimate is there after 30 * 17
        // / 9 round trips = 1.13 s
        let (mut c, mut w) = after_a_loss(RFC, 100.0);
        run(&mut c, &mut w, 0.02, 0.0, 0.4);
        assert!((w.cwnd - 70.0 - 20.0 * 9.0 / 17.0).abs() < 0.6, "{}", w.cwnd);
        run(&mut c, &mut w, 0.02, 0.4, 0.8);
        let before = w.cwnd;
        assert!(before > 100.0);
        run(&mut c, &mut w, 0.02, 1.2, 0.2);
        assert!((w.cwnd - before - 10.0).abs() < 0.2, "{}", w.cwnd - before);
    }

    #[test]
    fn the_estimate_of_2005_grows_by_a_third_a_round_trip() {
        let (mut c, mut w) = after_a_loss(PAPER, 100.0);
        run(&mut c, &mut w, 0.01, 0.0, 0.3);
        assert!((w.cwnd - 90.0).abs() < 0.5, "{}", w.cwnd);
    }

    #[test]
    fn a_loss_below_the_last_maximum_lowers_the_next_one_by_15_percent() {
        let (mut c, mut w) = after_a_loss(RFC, 1000.0);
        w.cwnd = 800.0;
        c.on_congestion(&loss(), &mut w);
        assert!((c.w_max() - 680.0).abs() < 1e-9);
        c.fast_convergence = false;
        c.on_congestion(&loss(), &mut w);
        assert_eq!(c.w_max(), 800.0);
    }

    #[test]
    fn after_a_timeout_and_without_a_loss_the_curve_begins_flat() {
        let (mut lost, mut w) = after_a_loss(RFC, 1000.0);
        lost.on_congestion(&congestion(Cause::Timeout), &mut w);
        for mut c in [lost, curve(RFC)] {
            let mut w = window(490.0, 2.0);
            run(&mut c, &mut w, 0.01, 3.0, 0.01);
            assert_eq!((c.k_s(), c.w_max()), (0.0, 490.0));
        }
    }

    #[test]
    fn an_undo_goes_on_as_if_nothing_had_been() {
        let (mut c, mut w) = after_a_loss(RFC, 1000.0);
        run(&mut c, &mut w, 0.1, 0.0, 3.0);
        let (mut undone, before) = (c.clone(), w);
        undone.on_congestion(&loss(), &mut window(before.cwnd, 2.0));
        assert_ne!(undone.w_max(), 1000.0);
        undone.on_undo();
        let mut again = before;
        run(&mut c, &mut w, 0.1, 3.0, 2.0);
        run(&mut undone, &mut again, 0.1, 3.0, 2.0);
        assert_eq!(w, again);
    }

    #[test]
    fn time_in_which_the_window_was_not_the_limit_does_not_count() {
        let windows = [0.0, 60.0].map(|pause_s| {
            let (mut c, mut w) = after_a_loss(RFC, 1000.0);
            run(&mut c, &mut w, 0.1, 0.0, 3.0);
            run(&mut c, &mut w, 0.1, 3.0 + pause_s, 3.0);
            w.cwnd
        });
        assert!((windows[0] - windows[1]).abs() < 0.1, "{windows:?}");
    }
}
