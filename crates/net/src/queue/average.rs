//! RED's average queue, its drop probability, and the spacing of its drops: what RED and CHOKe share.

use crate::last_size::LastSize;
use longfat_units::math::{exp, pow};
use longfat_units::{Rate, Stream, Time};

/// The moving average of the queue, in the unit of the lengths that callers pass.
///
/// ```text
/// arrival:              avg <- (1 - w) avg + w q
/// after an idle time:   avg <- (1 - w)^m avg first, m packets could have been sent meanwhile
/// ```
#[derive(Clone, Debug)]
pub struct Average {
    weight: f64,
    rate: Rate,
    mean_packet_bytes: f64,
    value: f64,
    /// When the last packet sent has left.
    free_at: Time,
    last_size: LastSize,
}

impl Average {
    /// An average of 0; a `weight` of 0 stands for 1 - exp(-1 / C), C packets a second being the link's rate
    /// (Floyd, Gummadi, Shenker 2001, section 4.2; ns-2 has the same).
    pub fn new(weight: f64, rate: Rate, mean_packet_bytes: f64) -> Self {
        let weight =
            if weight > 0.0 { weight } else { 1.0 - exp(-1.0 / packets_per_s(rate, mean_packet_bytes)) };
        Average {
            weight,
            rate,
            mean_packet_bytes,
            value: 0.0,
            free_at: Time::ZERO,
            last_size: LastSize::default(),
        }
    }

    /// A packet arrives to a queue of this length.
    #[inline]
    pub fn arrive(&mut self, now: Time, queue: f64, is_empty: bool) {
        if is_empty && now > self.free_at {
            let sendable =
                now.since(self.free_at).as_secs_f64() * packets_per_s(self.rate, self.mean_packet_bytes);
            self.value *= pow(1.0 - self.weight, sendable);
        }
        self.value += self.weight * (queue - self.value);
    }

    /// A packet of `bytes` is sent.
    #[inline]
    pub fn depart(&mut self, now: Time, bytes: u32) {
        self.free_at = now + self.last_size.transmission(self.rate, bytes);
    }

    /// The average.
    #[inline]
    pub const fn value(&self) -> f64 {
        self.value
    }
}

/// How many packets of this size a link of this rate sends per second.
pub fn packets_per_s(rate: Rate, packet_bytes: f64) -> f64 {
    rate.as_bps() as f64 / (8.0 * packet_bytes)
}

/// The decision that follows from the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Below the lower threshold: nothing.
    Pass,
    /// Drop or mark with this probability, before spacing.
    Chance(f64),
    /// A drop.
    Force,
}

/// Drop probability over the average queue.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// Lower threshold.
    pub min: f64,
    /// Upper threshold.
    pub max: f64,
    /// Probability at the upper threshold.
    pub max_p: f64,
    /// Whether the probability rises to 1 at twice the upper threshold (Floyd 2000), or jumps to 1.
    pub gentle: bool,
}

impl Curve {
    /// The decision for an average of this size.
    pub fn verdict(&self, average: f64) -> Verdict {
        let Curve { min, max, max_p, gentle } = *self;
        if average < min {
            Verdict::Pass
        } else if average < max {
            Verdict::Chance(max_p * (average - min) / (max - min))
        } else if gentle && average < 2.0 * max {
            Verdict::Chance(max_p + (1.0 - max_p) * (average - max) / max)
        } else {
            Verdict::Force
        }
    }
}

/// Spaces drops evenly: with probability p for each, the number of packets up to the next one is uniform in 1
/// ... 1/p (Floyd, Jacobson 1993, section 8), or with `wait` in 1/p ... 2/p - 1 (ns-2's `wait_`).
#[derive(Clone, Debug)]
pub struct Spacing {
    wait: bool,
    /// Packets (in byte mode, bytes over those of a mean packet) since the last drop.
    spared: f64,
}

impl Spacing {
    /// After a drop.
    pub const fn new(wait: bool) -> Self {
        Spacing { wait, spared: 0.0 }
    }

    /// Whether the arriving packet, `size` mean packets large (1 in packet mode), is the one to drop.
    pub fn strikes(&mut self, p: f64, size: f64, draws: &mut Stream) -> bool {
        let p_now = if self.wait {
            let reached = (self.spared + size) * p;
            if reached < 1.0 { 0.0 } else { over(p, 2.0 - reached) }
        } else {
            over(p, 1.0 - self.spared * p)
        };
        let strikes = p_now > 0.0 && draws.unit() < p_now * size;
        self.spared = if strikes { 0.0 } else { self.spared + size };
        strikes
    }

    /// Starts again: the average was below the lower threshold, or a packet was dropped without a draw.
    pub const fn restart(&mut self) {
        self.spared = 0.0;
    }
}

fn over(p: f64, left: f64) -> f64 {
    if left > p { p / left } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(p: f64, wait: bool) -> Vec<u32> {
        let mut spacing = Spacing::new(wait);
        let mut draws = Stream::new(1, "gaps");
        let mut gap = 0;
        let mut all = Vec::new();
        while all.len() < 20_000 {
            gap += 1;
            if spacing.strikes(p, 1.0, &mut draws) {
                all.push(core::mem::take(&mut gap));
            }
        }
        all
    }

    #[test]
    fn gaps_between_drops_are_uniform() {
        // section 8 of the paper: uniform in 1 ... 1/p; every gap as often as any other
        for (p, wait, range) in [(0.05, false, 1..=20), (0.05, true, 20..=39)] {
            let all = gaps(p, wait);
            for gap in range {
                let share = all.iter().filter(|&&g| g == gap).count() as f64 / all.len() as f64;
                assert!((share - p).abs() < 0.008, "wait {wait}: gap {gap} has a share of {share}");
            }
        }
    }

    #[test]
    fn the_curve_of_the_paper_s_example_rises_to_max_p_and_then_gently_to_one() {
        let mut curve = Curve { min: 5.0, max: 15.0, max_p: 0.02, gentle: true };
        let at = |curve: Curve, average: f64| match curve.verdict(average) {
            Verdict::Chance(p) => p,
            Verdict::Pass => 0.0,
            Verdict::Force => 1.0,
        };
        assert_eq!(curve.verdict(4.9), Verdict::Pass);
        for (average, p) in [(5.0, 0.0), (10.0, 0.01), (15.0, 0.02), (22.5, 0.51), (30.0, 1.0)] {
            assert!((at(curve, average) - p).abs() < 1e-12, "{average}: {}", at(curve, average));
        }
        curve.gentle = false;
        assert_eq!(curve.verdict(15.0), Verdict::Force);
    }

    #[test]
    fn the_average_forgets_over_an_idle_time_as_over_packets() {
        // 1 Mbit/s sends 100 packets of 1250 bytes a second
        let rate = Rate::from_bps(1e6).unwrap_or_else(|| panic!("a rate"));
        let settled = || {
            let mut average = Average::new(0.1, rate, 1250.0);
            (0..1000).for_each(|_| average.arrive(Time::ZERO, 20.0, false));
            average.depart(Time::ZERO, 1250);
            average
        };
        let (mut idle, mut busy) = (settled(), settled());
        idle.arrive(Time::from_secs_f64(0.01 + 0.09), 0.0, true);
        (0..10).for_each(|_| busy.arrive(Time::from_secs_f64(0.005), 0.0, true));
        assert!((idle.value() - busy.value()).abs() < 1e-9, "{} {}", idle.value(), busy.value());
    }
}
