//! CUBIC as Linux 5 and 6 compute it (net/ipv4/tcp_cubic.c): whole segments, milliseconds, 1024ths of a
//! second.
//!
//! The kernel computes how many segments have to be acknowledged to add one to the window (`count`). It does
//! so again when the window has changed, or after 1/32 s, but at most once per tick.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | tick | 1 | ms | HZ = 1000 | chosen here; distributions have 250 or 1000 |
//! | beta | 717/1024 | of cwnd | Linux, beta | none |
//! | C | 410/1024 | segments/s^3 | Linux, bic_scale 41, times 10 for its 100 ms | none |
//! | greatest age of the count | 1/32 | s | Linux, HZ / 32 | none |
//! | count beyond the target | 100 cwnd | segments | Linux | none |
//! | greatest count before a loss | 20 | segments | Linux: 5 % per RTT | none |
//! | least count | 2 | segments | Linux: 1.5-fold per RTT | none |
//! | delays not used after an epoch's begin | 1 | s | Linux, HZ | none |

use super::super::congestion_control::{Ack, Cause, Congestion, Window};
use longfat_units::math::cbrt;
use longfat_units::{Interval, Time};

const MS_NS: u64 = 1_000_000;
const TICKS_PER_S: u64 = 1000;
const COUNT_AGE: u64 = TICKS_PER_S / 32;
const BETA_SCALE: u64 = 1024;
/// The curve's unit of time: 1/1024 s.
const CURVE_HZ: u64 = 1024;
const SLOWEST: u64 = 100;
const COUNT_BEFORE_LOSS: u64 = 20;
const LEAST_COUNT: u64 = 2;
const SETTLING: Interval = Interval::from_millis(1000);

/// `struct bictcp` without HyStart.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    /// C in 1024ths.
    c: u64,
    /// beta in 1024ths.
    beta: u64,
    /// Segments acknowledged per segment of the standard TCP window, in eighths of the window.
    standard_count: u64,
    fast_convergence: bool,
    count: u64,
    last_max: u64,
    last_cwnd: u64,
    last_tick: u64,
    origin: u64,
    /// In 1024ths of a second.
    k: u64,
    /// Zero while there is none.
    least_delay: Interval,
    epoch: Option<Time>,
    acked: u64,
    standard_cwnd: u64,
    /// Segments acknowledged towards the next one of the window (snd_cwnd_cnt).
    credit: u64,
}

fn tick(now: Time) -> u64 {
    now.as_ns() / MS_NS
}

impl Linux {
    /// `c` in segments/s^3; `beta` is what a loss leaves.
    pub fn new(c: f64, beta: f64, fast_convergence: bool) -> Self {
        let beta = (beta * BETA_SCALE as f64).round() as u64;
        Linux {
            c: 10 * ((c * 1024.0 / 10.0).round() as u64).max(1),
            beta,
            standard_count: 8 * (BETA_SCALE + beta) / 3 / (BETA_SCALE - beta).max(1),
            fast_convergence,
            count: 0,
            last_max: 0,
            last_cwnd: 0,
            last_tick: 0,
            origin: 0,
            k: 0,
            least_delay: Interval::ZERO,
            epoch: None,
            acked: 0,
            standard_cwnd: 0,
            credit: 0,
        }
    }

    pub fn last_max(&self) -> f64 {
        self.last_max as f64
    }

    pub fn k_s(&self) -> f64 {
        self.k as f64 / CURVE_HZ as f64
    }

    /// The least delay known.
    pub fn least_delay(&self) -> Interval {
        self.least_delay
    }

    /// Delays count in recovery and slow-start, but not in the first second of an epoch. Returns whether this
    /// one did.
    #[inline]
    pub fn on_sample(&mut self, ack: &Ack) -> bool {
        let settled = self.epoch.is_none_or(|epoch| ack.now.since(epoch) >= SETTLING);
        let Some(delay) = ack.rtt.filter(|_| settled) else { return false };
        if self.least_delay == Interval::ZERO || delay < self.least_delay {
            self.least_delay = delay;
        }
        true
    }

    /// Forgets everything but its constants (bictcp_reset).
    pub fn reset(&mut self) {
        *self = Linux {
            c: self.c,
            beta: self.beta,
            standard_count: self.standard_count,
            fast_convergence: self.fast_convergence,
            ..Linux::new(1.0, 0.5, true)
        };
    }

    /// Nothing was sent for so long: that time does not count on the curve.
    pub fn restart(&mut self, now: Time, idle: Interval) {
        self.epoch = self.epoch.map(|epoch| (epoch + idle).min(now));
    }

    fn begin(&mut self, now: Time, cwnd: u64, acked: u64) -> Time {
        self.epoch = Some(now);
        self.acked = acked;
        self.standard_cwnd = cwnd;
        let missing = self.last_max.saturating_sub(cwnd);
        self.origin = self.last_max.max(cwnd);
        self.k = (CURVE_HZ as f64 * cbrt(missing as f64 * 1024.0 / self.c as f64)) as u64;
        now
    }

    /// The window on the curve one least delay from now.
    fn target(&self, now: Time, epoch: Time) -> u64 {
        let ticks = tick(now) - tick(epoch) + self.least_delay.as_ns().div_ceil(MS_NS);
        let t = ticks * CURVE_HZ / TICKS_PER_S;
        let x = t.abs_diff(self.k) as f64 / CURVE_HZ as f64;
        let delta = (self.c as f64 / 1024.0 * x * x * x) as u64;
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) }
    }

    /// Segments to be acknowledged for one more in a window of `cwnd`.
    fn update(&mut self, now: Time, cwnd: u64, acked: u64) {
        self.acked += acked;
        let age = tick(now) - self.last_tick;
        if self.last_cwnd == cwnd && age <= COUNT_AGE && self.epoch.is_some() {
            return;
        }
        if self.epoch.is_none() || age > 0 {
            self.last_cwnd = cwnd;
            self.last_tick = tick(now);
            let epoch = match self.epoch {
                Some(epoch) => epoch,
                None => self.begin(now, cwnd, acked),
            };
            let target = self.target(now, epoch);
            self.count = if target > cwnd { cwnd / (target - cwnd) } else { SLOWEST * cwnd };
            if self.last_max == 0 {
                self.count = self.count.min(COUNT_BEFORE_LOSS);
            }
        }
        let per_segment = (cwnd * self.standard_count / 8).max(1);
        // as many as leave something of what was acknowledged
        let more = self.acked.saturating_sub(1) / per_segment;
        self.acked -= more * per_segment;
        self.standard_cwnd += more;
        if self.standard_cwnd > cwnd {
            self.count = self.count.min(cwnd / (self.standard_cwnd - cwnd));
        }
        self.count = self.count.max(LEAST_COUNT);
    }

    /// tcp_cong_avoid_ai: what a credit of `acked` more segments adds to the window.
    fn spend(&mut self, acked: u64) -> u64 {
        let early = u64::from(self.credit >= self.count);
        self.credit = if early == 1 { acked } else { self.credit + acked };
        let more = self.credit / self.count;
        self.credit -= more * self.count;
        early + more
    }

    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let acked = ack.acked as u64;
        self.update(ack.now, w.cwnd as u64, acked);
        w.cwnd += self.spend(acked) as f64;
    }

    pub fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        let cwnd = w.cwnd as u64;
        self.epoch = None;
        self.credit = 0;
        let lowered = self.fast_convergence && cwnd < self.last_max;
        self.last_max = if lowered { cwnd * (BETA_SCALE + self.beta) / (2 * BETA_SCALE) } else { cwnd };
        w.ssthresh = (cwnd * self.beta / BETA_SCALE).max(1) as f64;
        if event.cause == Cause::Timeout {
            self.last_max = 0;
            self.least_delay = Interval::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{ack_at, congestion, loss, window};
    use super::*;

    fn linux() -> Linux {
        Linux::new(0.4, 717.0 / 1024.0, true)
    }

    /// The module and its window after a loss at `cwnd` segments on a path of 100 ms.
    fn after_a_loss(cwnd: f64) -> (Linux, Window) {
        let mut l = linux();
        let mut w = window(cwnd, 2.0);
        l.on_sample(&ack_at(Time::ZERO, 1.0, Interval::from_millis(100)));
        l.on_congestion(&loss(), &mut w);
        w.cwnd = w.ssthresh;
        (l, w)
    }

    fn run(l: &mut Linux, w: &mut Window, rtt_s: f64, from_s: f64, seconds: f64) {
        let mut now_s = from_s;
        while now_s < from_s + seconds {
            l.on_ack(&ack_at(Time::from_secs_f64(now_s), 1.0, Interval::from_secs_f64(rtt_s)), w);
            now_s += rtt_s / w.cwnd;
        }
    }

    #[test]
    fn the_scales_are_those_of_the_kernel() {
        // beta_scale = 8 * (1024 + 717) / 3 / (1024 - 717) in whole numbers, cube_rtt_scale = 41 * 10
        let l = linux();
        assert_eq!((l.beta, l.standard_count, l.c), (717, 15, 410));
        let l = Linux::new(0.4, 819.0 / 1024.0, true);
        assert_eq!((l.beta, l.standard_count), (819, 23));
    }

    #[test]
    fn as_many_segments_as_a_program_may_name_are_counted_without_a_loop() {
        let mut l = linux();
        let mut w = window(1.0, 1.0);
        l.on_ack(&ack_at(Time::ZERO, 1e18, Interval::from_millis(100)), &mut w);
        // 15 / 8 of the window in whole segments add one to the standard window, as long as something is left
        assert_eq!((l.acked, l.standard_cwnd), (1, 1_000_000_000_000_000_000));
        let mut l = linux();
        let mut w = window(8.0, 1.0);
        l.on_ack(&ack_at(Time::ZERO, 45.0, Interval::from_millis(100)), &mut w);
        assert_eq!((l.acked, l.standard_cwnd), (15, 8 + 2), "15 each, of 45");
    }

    #[test]
    fn a_loss_leaves_717_of_1024_parts_in_whole_segments() {
        for (cwnd, left) in [(1000.0, 700.0), (1024.0, 717.0), (10.0, 7.0), (3.9, 2.0), (1.0, 1.0)] {
            let mut w = window(cwnd, 2.0);
            linux().on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, left);
        }
    }

    #[test]
    fn after_a_loss_the_count_aims_at_the_curve_one_least_delay_ahead() {
        // K = cbrt(300 * 1024 / 410) = 9.083 s = 9300 / 1024 s; 0.1 s on, 0.4004 * 8.983^3 = 290 segments
        // are missing
        let (mut l, mut w) = after_a_loss(1000.0);
        l.on_ack(&ack_at(Time::from_secs_f64(2.0), 1.0, Interval::from_millis(100)), &mut w);
        assert_eq!((l.k, l.origin, l.count), (9300, 1000, 700 / 10));
    }

    #[test]
    fn an_idle_time_does_not_count_on_the_curve() {
        let growth = |idle_s: f64| {
            let (mut l, mut w) = after_a_loss(1000.0);
            run(&mut l, &mut w, 0.1, 0.0, 2.0);
            let again = Time::from_secs_f64(2.0 + idle_s);
            l.restart(again, Interval::from_secs_f64(idle_s));
            run(&mut l, &mut w, 0.1, 2.0 + idle_s, 2.0);
            w.cwnd
        };
        assert!((growth(5.0) - growth(0.0)).abs() <= 1.0, "{} {}", growth(5.0), growth(0.0));
        let (mut l, mut w) = after_a_loss(1000.0);
        l.on_ack(&ack_at(Time::from_secs_f64(2.0), 1.0, Interval::from_millis(100)), &mut w);
        l.restart(Time::from_secs_f64(3.0), Interval::from_secs_f64(9.0));
        assert_eq!(l.epoch, Some(Time::from_secs_f64(3.0)), "and an epoch never begins later than now");
    }

    #[test]
    fn the_window_is_back_after_k_less_one_round_trip_and_waits_there() {
        let (mut l, mut w) = after_a_loss(1000.0);
        run(&mut l, &mut w, 0.1, 0.0, 9.083);
        assert!((w.cwnd - 1000.0).abs() <= 1.0, "{}", w.cwnd);
        // 0.4004 * 3^3 = 10.8
        run(&mut l, &mut w, 0.1, 9.083, 2.9);
        assert!((w.cwnd - 1010.0).abs() <= 1.0, "{}", w.cwnd);
    }

    #[test]
    fn before_the_first_loss_the_window_grows_five_percent_a_round_trip() {
        let mut l = linux();
        let mut w = window(2000.0, 2.0);
        run(&mut l, &mut w, 0.1, 0.0, 0.1);
        assert!((w.cwnd - 2100.0).abs() < 4.0, "{}", w.cwnd);
    }

    #[test]
    fn it_grows_by_half_a_window_a_round_trip_at_most() {
        let (mut l, mut w) = after_a_loss(1e6);
        w.cwnd = 100.0;
        l.last_max = 900_000;
        run(&mut l, &mut w, 0.1, 0.0, 0.05);
        assert!((w.cwnd - 128.0).abs() < 3.0, "{}", w.cwnd); // 100 e^(1/4)
    }

    #[test]
    fn the_count_stays_for_a_thirty_second_of_a_second_and_changes_once_a_tick() {
        let (mut l, _) = after_a_loss(1000.0);
        let at = |us: u64| Time::ZERO + Interval::from_ns(1000 * us);
        l.update(at(2_000_000), 700, 1);
        l.count = 12_345;
        l.update(at(2_031_900), 700, 1);
        assert_eq!(l.count, 12_345);
        l.update(at(2_032_000), 700, 1);
        assert_ne!(l.count, 12_345);
        l.count = 12_345;
        l.update(at(2_032_900), 701, 1);
        assert_eq!(l.count, 12_345);
        l.update(at(2_033_000), 701, 1);
        assert_ne!(l.count, 12_345);
    }

    #[test]
    fn a_credit_is_kept_until_the_count_allows_it() {
        let mut l = linux();
        l.count = 100;
        assert_eq!((0..99).map(|_| l.spend(1)).sum::<u64>(), 0);
        assert_eq!(l.spend(1), 1);
        assert_eq!(l.spend(30), 0);
        l.count = 20;
        assert_eq!((l.spend(3), l.credit), (1, 3));
        assert_eq!((l.spend(60), l.credit), (3, 3));
    }

    #[test]
    fn a_timeout_forgets_maximum_and_least_delay_and_a_loss_does_not() {
        let (mut l, mut w) = after_a_loss(1000.0);
        assert_eq!((l.last_max, l.least_delay), (1000, Interval::from_millis(100)));
        w.cwnd = 800.0;
        l.on_congestion(&loss(), &mut w);
        assert_eq!(l.last_max, 800 * 1741 / 2048);
        l.on_congestion(&congestion(Cause::Timeout), &mut w);
        assert_eq!((l.last_max, l.least_delay), (0, Interval::ZERO));
    }

    #[test]
    fn delays_of_an_epochs_first_second_do_not_count() {
        let (mut l, mut w) = after_a_loss(1000.0);
        let at = |s, ms| ack_at(Time::from_secs_f64(s), 1.0, Interval::from_millis(ms));
        l.on_sample(&at(1.0, 95)); // in recovery
        l.on_ack(&at(2.0, 95), &mut w);
        l.on_sample(&at(2.9, 80));
        assert_eq!(l.least_delay, Interval::from_millis(95));
        l.on_sample(&at(3.0, 80));
        assert_eq!(l.least_delay, Interval::from_millis(80));
    }
}
