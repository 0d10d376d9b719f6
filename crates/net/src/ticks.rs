//! Service at the ticks of a clock: at each tick a link hands out the packets that its rate has earned since
//! the last one, as dummynet does (FreeBSD's `ip_dummynet.c` 1.83.2.2 of January 2005: `dummynet_io`,
//! `ready_event`, `ready_event_wfq`).

use crate::Capacity;
use longfat_units::{Interval, Stream, Time};

/// Credit is counted in bits times nanoseconds per second: whole numbers, so that no tick is rounded.
const PER_BIT: i128 = 1_000_000_000;

/// The ticks of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// Time between two ticks.
    period: Interval,
    /// Time of the first tick.
    phase: Interval,
}

impl Ticks {
    /// Ticks with the first one anywhere within one period; the period is at least 1 ns.
    pub fn new(period: Interval, mut stream: Stream) -> Self {
        let period = period.max(Interval::from_ns(1));
        Ticks { period, phase: Interval::from_ns(stream.below(period.as_ns())) }
    }

    /// Time between two ticks.
    pub const fn period(&self) -> Interval {
        self.period
    }

    /// The first tick that is not before `now`.
    pub fn at_or_after(&self, now: Time) -> Time {
        now.round_up(self.period, self.phase)
    }

    /// The first tick after `now`.
    pub fn after(&self, now: Time) -> Time {
        self.at_or_after(now + Interval::from_ns(1))
    }

    /// The last tick that is not after `now`; the beginning of the run before the first tick.
    pub fn at_or_before(&self, now: Time) -> Time {
        self.after(now) - self.period
    }
}

/// What a link's rate has earned and not yet spent.
///
/// A link with something to do earns the bits of each tick's whole period; an idle one earns nothing, and
/// keeps what it has left. A packet may leave the queue while there is credit for a part of it. It is on the
/// wire once there is credit for all of it.
#[derive(Clone, Debug)]
pub struct Credit {
    capacity: Capacity,
    credit: i128,
    /// Up to when it has earned.
    earned_until: Time,
}

impl Credit {
    /// No credit before a link of this capacity.
    pub const fn new(capacity: Capacity) -> Self {
        Credit { capacity, credit: 0, earned_until: Time::ZERO }
    }

    /// From now on this is the capacity, which was the same until now.
    pub fn change(&mut self, capacity: Capacity) {
        self.capacity = capacity;
    }

    /// The link has something to do again: it earns from `since` on.
    pub const fn resume(&mut self, since: Time) {
        self.earned_until = since;
    }

    /// Earns what the link can carry from the last time to `now`.
    #[inline]
    pub fn earn(&mut self, now: Time) {
        self.credit += self.earned(now);
        self.earned_until = now;
    }

    /// The first tick after `now` at which it will have earned what is missing: all that was paid, and with
    /// `is_left` also the next packet's first bit. Nothing can leave at the ticks before it.
    pub fn earned_at(&self, is_left: bool, ticks: &Ticks, now: Time) -> Time {
        let first = ticks.after(now);
        let missing = i128::from(is_left) - self.credit;
        if missing <= self.earned(first) {
            return first; // as at most ticks
        }
        if let Capacity::Constant(rate) = &self.capacity {
            let bps = u128::from(rate.as_bps().max(1));
            let span_ns = missing.unsigned_abs().div_ceil(bps).min(u128::from(u64::MAX)) as u64;
            return ticks.at_or_after(self.earned_until + Interval::from_ns(span_ns)).max(first);
        }
        // twice as many ticks each time, then half of those between
        let tick = |number: u64| first + Interval::from_ns(ticks.period.as_ns().saturating_mul(number));
        let (mut before, mut after) = (0, 1);
        while self.earned(tick(after)) < missing {
            if tick(after) == Time::NEVER {
                return Time::NEVER;
            }
            (before, after) = (after, 2 * after);
        }
        while before + 1 < after {
            let middle = before.midpoint(after);
            if self.earned(tick(middle)) < missing { before = middle } else { after = middle }
        }
        tick(after)
    }

    /// What the link can carry from the last time to `now`.
    #[inline]
    fn earned(&self, now: Time) -> i128 {
        match &self.capacity {
            Capacity::Constant(rate) => {
                i128::from(rate.as_bps()) * i128::from(now.since(self.earned_until).as_ns())
            }
            varying => (varying.bits(self.earned_until, now) * PER_BIT as f64 + 0.5) as i128,
        }
    }

    /// Pays for a packet.
    #[inline]
    pub const fn pay(&mut self, bytes: u32) {
        self.credit -= 8 * bytes as i128 * PER_BIT;
    }

    /// Whether there is credit for the next packet's first bit.
    #[inline]
    pub const fn is_left(&self) -> bool {
        self.credit > 0
    }

    /// Whether there was credit for all that was paid.
    #[inline]
    pub const fn is_settled(&self) -> bool {
        self.credit >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::Rate;
    use proptest::prelude::*;

    const MS: Interval = Interval::from_millis(1);

    fn ms(n: u64) -> Time {
        Time::ZERO + Interval::from_millis(n)
    }

    #[test]
    fn the_first_tick_lies_within_one_period_and_differs_from_seed_to_seed() {
        let firsts: Vec<_> =
            (0..20).map(|seed| Ticks::new(MS, Stream::new(seed, "clock")).at_or_after(Time::ZERO)).collect();
        assert!(firsts.iter().all(|&at| at < ms(1)));
        assert!(firsts.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn ticks_before_at_and_after_a_moment() {
        let ticks = Ticks { period: MS, phase: Interval::from_ns(250_000) };
        let at = |ns| Time::from_ns(ns);
        assert_eq!(
            (ticks.at_or_after(at(1_250_000)), ticks.after(at(1_250_000))),
            (at(1_250_000), at(2_250_000))
        );
        assert_eq!(
            (ticks.at_or_before(at(1_250_000)), ticks.at_or_before(at(1_249_999))),
            (at(1_250_000), at(250_000))
        );
        assert_eq!(ticks.at_or_before(at(100_000)), Time::ZERO);
    }

    #[test]
    fn a_millisecond_at_250_megabit_pays_for_20_packets_and_five_sixths_of_the_next() {
        let mut credit = Credit::new(Capacity::Constant(Rate::from_bps(250e6).unwrap()));
        let mut burst = |tick| {
            credit.earn(ms(tick));
            let mut packets = 0;
            while credit.is_left() {
                credit.pay(1500);
                packets += 1;
            }
            (packets, credit.is_settled())
        };
        // 250 kbit and 12 kbit a packet: 20.83, 41.67, 62.5, 83.33, 104.17, 125
        let bursts: Vec<_> = (1..=6).map(&mut burst).collect();
        let unpaid = |packets| (packets, false);
        assert_eq!(bursts, [unpaid(21), unpaid(21), unpaid(21), unpaid(21), unpaid(21), (20, true)]);
    }

    #[test]
    fn an_idle_link_keeps_its_credit_and_earns_none() {
        let mut credit = Credit::new(Capacity::Constant(Rate::from_bps(12e6).unwrap()));
        credit.earn(ms(2)); // two packets
        credit.pay(1500);
        credit.resume(ms(100));
        credit.pay(1500);
        assert!(credit.is_settled() && !credit.is_left());
    }

    proptest! {
        #[test]
        fn the_tick_that_pays_is_the_one_that_trying_all_finds(
            paid in 1u32..3000, is_left: bool, phase_ns in 0u64..1000, now_ns in 0u64..100_000, kind in 0..4,
            bps in 100_000u64..1_000_000_000,
        ) {
            let rate = Rate::from_bps(bps as f64).unwrap();
            let slow = Rate::from_bps(bps as f64 / 50.0).unwrap();
            let at = Time::from_ns;
            let capacity = match kind {
                0 => Capacity::Constant(rate),
                1 => Capacity::Steps(vec![(at(0), rate), (at(70_000), slow), (at(500_000), rate)].into()),
                2 => {
                    let range_bps = (slow.as_bps() as f64, bps as f64);
                    Capacity::Sine(crate::Sine { range_bps, period_s: 1e-4 })
                }
                _ => Capacity::Trace(crate::Trace::new(vec![at(30_000), at(90_000), at(90_000)]).unwrap()),
            };
            let ticks = Ticks { period: Interval::from_ns(1000), phase: Interval::from_ns(phase_ns) };
            let mut credit = Credit::new(capacity);
            credit.resume(ticks.at_or_before(at(now_ns)));
            credit.pay(paid);
            let found = credit.earned_at(is_left, &ticks, at(now_ns));
            let mut tick = ticks.after(at(now_ns));
            loop {
                let mut then = credit.clone();
                then.earn(tick);
                if if is_left { then.is_left() } else { then.is_settled() } {
                    break;
                }
                tick = ticks.after(tick);
            }
            prop_assert_eq!(found, tick);
        }

        #[test]
        fn ticks_earn_exactly_what_the_rate_carries(
            bps in 1u64..10_000_000_000, period_ns in 1u64..1_000_000_000, ticks in 1u64..2000,
        ) {
            let mut credit = Credit::new(Capacity::Constant(Rate::from_bps(bps as f64).unwrap()));
            (1..=ticks).for_each(|n| credit.earn(Time::from_ns(n * period_ns)));
            prop_assert_eq!(credit.credit, i128::from(bps) * i128::from(ticks * period_ns));
        }
    }
}
