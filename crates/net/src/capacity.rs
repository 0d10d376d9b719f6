//! The capacity of a link, which may change with time, and when the last bit of a packet is on the wire.
//!
//! ```text
//! sine :  from its greatest to its least and back, over and over                (sine.rs)
//! steps:  each rate from its time until the next one's
//! trace:  up to 1500 bytes at each of these times, over and over (Mahimahi: Netravali et al., USENIX ATC 2015)
//! ```

use crate::last_size::LastSize;
use crate::sine::{Series, Sine};
use longfat_units::{Interval, Rate, Time};
use std::sync::Arc;

/// Bytes that one delivery opportunity of a trace carries (Mahimahi's PACKET_SIZE).
pub const OPPORTUNITY_BYTES: u32 = 1500;
/// A trace's rate at a moment is its mean over this span before it (chosen here: a common control interval).
const TRACE_WINDOW: Interval = Interval::from_millis(100);

/// The capacity of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Always the same.
    Constant(Rate),
    /// A sine, at its maximum when time begins.
    Sine(Sine),
    /// Each rate from its time on; the first from the beginning, regardless of its time.
    Steps(Arc<[(Time, Rate)]>),
    /// Opportunities to deliver.
    Trace(Trace),
}

/// Times at which up to [`OPPORTUNITY_BYTES`] can be delivered, repeated forever; the last one is the period.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    times: Arc<[Time]>,
    period_ns: u64,
    /// How many of them equal the period.
    at_end: u64,
}

impl Trace {
    /// From times in ascending order; `None` if they are not, or if the last is not after zero.
    pub fn new(times: Vec<Time>) -> Option<Trace> {
        let last = *times.last().filter(|&&last| last > Time::ZERO && times.is_sorted())?;
        let at_end = times.iter().filter(|&&at| at == last).count() as u64;
        Some(Trace { times: times.into(), period_ns: last.as_ns(), at_end })
    }

    /// How many opportunities come before `now`.
    fn before(&self, now: Time) -> u64 {
        let (rounds, within) = (now.as_ns() / self.period_ns, now.as_ns() % self.period_ns);
        let passed = self.times.partition_point(|at| at.as_ns() < within) as u64;
        // the last ones of a round come when the next round begins
        let due = if within == 0 && rounds > 0 { self.at_end } else { 0 };
        rounds * self.times.len() as u64 + passed - due
    }

    /// When opportunity number `index`, counted from 0, comes.
    fn time(&self, index: u64) -> Time {
        let (round, place) = (index / self.times.len() as u64, index % self.times.len() as u64);
        self.times[place as usize] + Interval::from_ns(round.saturating_mul(self.period_ns))
    }
}

impl Capacity {
    /// The rate at this moment, bit/s.
    pub fn bps(&self, now: Time) -> f64 {
        match self {
            Capacity::Constant(rate) => rate.as_bps() as f64,
            Capacity::Sine(sine) => sine.bps(now),
            Capacity::Steps(steps) => steps[at_step(steps, now)].1.as_bps() as f64,
            Capacity::Trace(_) => {
                let from = if now.since(Time::ZERO) < TRACE_WINDOW { Time::ZERO } else { now - TRACE_WINDOW };
                self.bits(from, from + TRACE_WINDOW) / TRACE_WINDOW.as_secs_f64()
            }
        }
    }

    /// Bits that it can carry in [from, to).
    pub fn bits(&self, from: Time, to: Time) -> f64 {
        let span_s = to.since(from).as_secs_f64();
        match self {
            Capacity::Constant(rate) => rate.as_bps() as f64 * span_s,
            Capacity::Sine(sine) => sine.bits(from, to),
            Capacity::Steps(steps) => {
                let (mut bits, mut at, mut step) = (0.0, from, at_step(steps, from));
                while at < to {
                    let until = steps.get(step + 1).map_or(Time::NEVER, |&(next, _)| next).min(to);
                    bits += steps[step].1.as_bps() as f64 * until.since(at).as_secs_f64();
                    (at, step) = (until, step + 1);
                }
                bits
            }
            Capacity::Trace(trace) => {
                let opportunities = trace.before(to) - trace.before(from).min(trace.before(to));
                opportunities as f64 * 8.0 * f64::from(OPPORTUNITY_BYTES)
            }
        }
    }

    /// The same until `now`, and this rate from then on. `None` if it varies by itself.
    pub fn changed(&self, now: Time, rate: Rate) -> Option<Capacity> {
        let mut steps = match self {
            Capacity::Constant(before) => vec![(Time::ZERO, *before)],
            Capacity::Steps(steps) => steps.iter().copied().filter(|&(from, _)| from < now).collect(),
            Capacity::Sine(_) | Capacity::Trace(_) => return None,
        };
        steps.push((now, rate));
        Some(Capacity::Steps(steps.into()))
    }

    /// Whether it is always the same.
    pub const fn is_constant(&self) -> bool {
        matches!(self, Capacity::Constant(_))
    }
}

/// The step that holds at `now`.
fn at_step(steps: &[(Time, Rate)], now: Time) -> usize {
    steps.partition_point(|&(from, _)| from <= now).saturating_sub(1)
}

/// Puts packets on a wire of some capacity, one after the other.
#[derive(Clone, Debug)]
pub struct Transmitter {
    capacity: Capacity,
    /// Traces: the opportunity in use, and the rest of it.
    opportunity: u64,
    left_bytes: u32,
    /// The last packet at a constant rate, or within one step.
    last_size: LastSize,
    /// Steps: between these times the last transmission time holds for whatever begins and ends there.
    last_step: (Time, Time),
    /// Sines: the last series, and the one before, as data and acknowledgements may take turns.
    series: [Series; 2],
}

impl Transmitter {
    /// An idle one.
    pub const fn new(capacity: Capacity) -> Self {
        Transmitter {
            capacity,
            opportunity: 0,
            left_bytes: OPPORTUNITY_BYTES,
            last_size: LastSize { bytes: 0, transmission: Interval::ZERO },
            last_step: (Time::NEVER, Time::ZERO),
            series: [Series::NONE; 2],
        }
    }

    /// The capacity of the wire.
    pub const fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// From now on this is the capacity, which was the same until now.
    pub fn change(&mut self, capacity: Capacity) {
        self.capacity = capacity;
        (self.last_size, self.last_step) = (LastSize::default(), (Time::NEVER, Time::ZERO));
        self.series = [Series::NONE; 2];
    }

    /// A packet's first bit is due now, after the packet before it. Returns when its last bit is on the wire.
    #[inline(always)]
    pub fn send(&mut self, now: Time, bytes: u32) -> Time {
        match &self.capacity {
            Capacity::Constant(rate) => now + self.last_size.transmission(*rate, bytes),
            _ => self.send_at_varying_rate(now, bytes),
        }
    }

    /// The same at a rate that varies, where most packets take as long as the last one, or as a series says.
    #[inline(never)]
    fn send_at_varying_rate(&mut self, now: Time, bytes: u32) -> Time {
        let (from, until) = self.last_step;
        let end = now + self.last_size.transmission;
        // at `until` itself the next step holds, even for what takes no time
        if self.last_size.bytes == bytes && from <= now && now < until && end <= until {
            return end;
        }
        for series in &self.series {
            if let Some(transmission) = series.transmission(now, bytes) {
                return now.later_by(transmission);
            }
        }
        self.find_end(now, bytes)
    }

    /// When its last bit is on the wire. Remembers what the next packet may use.
    fn find_end(&mut self, now: Time, bytes: u32) -> Time {
        match &self.capacity {
            Capacity::Constant(rate) => now + rate.transmission(bytes),
            Capacity::Sine(sine) => match sine.series(now, bytes) {
                Ok(series) => {
                    self.series = [series, self.series[0]];
                    now + series.at(now)
                }
                Err(transmission) => now + transmission,
            },
            Capacity::Steps(steps) => {
                let (mut bits, mut at, mut step) = (8.0 * f64::from(bytes), now, at_step(steps, now));
                loop {
                    let bps = steps[step].1.as_bps() as f64;
                    let span = Interval::from_secs_f64(bits / bps);
                    let next = steps.get(step + 1).map_or(Time::NEVER, |&(next, _)| next);
                    if next >= at + span {
                        if at == now {
                            self.last_size = LastSize { bytes, transmission: span };
                            self.last_step = (now, next);
                        }
                        return at + span;
                    }
                    bits -= bps * next.since(at).as_secs_f64();
                    (at, step) = (next, step + 1);
                }
            }
            Capacity::Trace(trace) => {
                let due = trace.before(now);
                if self.opportunity < due {
                    // unused opportunities are lost
                    (self.opportunity, self.left_bytes) = (due, OPPORTUNITY_BYTES);
                }
                let mut bytes = bytes;
                loop {
                    let taken = bytes.min(self.left_bytes);
                    bytes -= taken;
                    self.left_bytes -= taken;
                    if bytes == 0 {
                        return trace.time(self.opportunity).max(now);
                    }
                    (self.opportunity, self.left_bytes) = (self.opportunity + 1, OPPORTUNITY_BYTES);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: f64) -> Time {
        Time::from_secs_f64(seconds)
    }

    fn mbps(rate: f64) -> Rate {
        Rate::from_bps(rate * 1e6).unwrap()
    }

    fn thesis_sine() -> Capacity {
        Capacity::Sine(Sine { range_bps: (3e8, 1e9), period_s: 32.0 })
    }

    #[test]
    fn the_thesis_sine_is_1_gigabit_at_0_s_and_300_megabit_at_16_s() {
        for (at_s, gbps) in [(0.0, 1.0), (8.0, 0.65), (16.0, 0.3), (24.0, 0.65), (32.0, 1.0)] {
            assert!((thesis_sine().bps(s(at_s)) / 1e9 - gbps).abs() < 1e-9, "{at_s}");
        }
        // a whole period carries its mean
        assert!((thesis_sine().bits(s(5.0), s(37.0)) / (0.65e9 * 32.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn back_to_back_packets_take_what_the_capacity_carries() {
        let steps = Capacity::Steps([(s(0.0), mbps(10.0)), (s(1.0), mbps(1.0)), (s(2.0), mbps(5.0))].into());
        let slow = Capacity::Sine(Sine { range_bps: (1e4, 1e5), period_s: 0.3 }); // packets longer than the period
        let trace =
            Capacity::Trace(Trace::new([3, 4, 4, 20].map(|ms| s(ms as f64 * 1e-3)).to_vec()).unwrap());
        for capacity in [steps, slow, trace, thesis_sine()] {
            let mut wire = Transmitter::new(capacity.clone());
            let (mut at, mut bits) = (s(0.0), 0.0);
            while at < s(2.5) && bits < 1e7 {
                let end = wire.send(at, 1000);
                assert!(end >= at, "{capacity:?}");
                (at, bits) = (end, bits + 8000.0);
            }
            let carried = capacity.bits(Time::ZERO, at);
            // a trace's last opportunity is at `at` itself; the others round each packet to a nanosecond
            assert!((carried - bits).abs() <= 12_000.0 + 1e-3 * bits, "{capacity:?}: {carried} {bits}");
        }
    }

    #[test]
    fn a_packet_that_meets_a_step_goes_on_at_the_new_rate() {
        // 1500 bytes: 6 ms at 1 Mbit/s are 6000 bits, the other 6000 take 3 ms at 2 Mbit/s
        let steps = Capacity::Steps([(s(0.0), mbps(1.0)), (s(1.0), mbps(2.0))].into());
        assert_eq!(Transmitter::new(steps).send(s(0.994), 1500), s(1.003));
    }

    #[test]
    fn packets_of_any_size_take_as_long_as_if_nothing_was_remembered() {
        let steps = [(s(0.0), mbps(10.0)), (s(0.1), mbps(1.0)), (s(0.2), mbps(5.0)), (s(0.2), mbps(50.0))];
        let mut wire = Transmitter::new(Capacity::Steps(steps.into()));
        let mut at = s(0.0);
        for i in 0..300 {
            let bytes = if i % 7 < 5 { 1500 } else { 40 };
            let end = wire.send(at, bytes);
            assert_eq!(end, Transmitter::new(wire.capacity().clone()).send(at, bytes), "{i}");
            at = if i % 11 == 0 { end + Interval::from_millis(1) } else { end };
            if i == 200 {
                wire.change(wire.capacity().changed(at, mbps(3.0)).unwrap());
            }
        }
        assert!(at > s(0.2));
    }

    #[test]
    fn what_takes_no_time_at_the_old_rate_takes_the_new_rate_s_time_when_that_begins() {
        let mut wire = Transmitter::new(Capacity::Steps([(s(0.0), mbps(1e7)), (s(1.0), mbps(1.0))].into()));
        assert_eq!(wire.send(s(0.5), 40), s(0.5));
        assert_eq!(wire.send(s(1.0), 40), s(1.00032));
    }

    #[test]
    fn a_trace_delivers_1500_bytes_a_line_and_begins_again_after_its_last() {
        let trace = Trace::new([2, 5, 5, 10].map(|ms| s(ms as f64 * 1e-3)).to_vec()).unwrap();
        let mut wire = Transmitter::new(Capacity::Trace(trace));
        let mut at = Time::ZERO;
        let mut times = Vec::new();
        for _ in 0..9 {
            at = wire.send(at, 1500);
            times.push((at.as_secs_f64() * 1e3).round() as u64);
        }
        assert_eq!(times, [2, 5, 5, 10, 12, 15, 15, 20, 22]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        let every_ms = (1..=10).map(|ms| s(f64::from(ms) * 1e-3)).collect();
        let mut wire = Transmitter::new(Capacity::Trace(Trace::new(every_ms).unwrap()));
        let mut at = s(0.0005);
        let ends: Vec<_> = [500, 1000, 500, 2000, 3000]
            .map(|bytes| {
                at = wire.send(at, bytes);
                (at.as_secs_f64() * 1e3).round()
            })
            .to_vec();
        assert_eq!(ends, [1.0, 1.0, 2.0, 3.0, 5.0]);
        // unused opportunities are lost
        assert_eq!(wire.send(s(0.0092), 1500), s(0.010));
    }

    #[test]
    fn a_trace_s_rate_is_that_of_the_last_tenth_of_a_second() {
        // 10 opportunities in each of 100 ms, then none in the next
        let times = (0..10).map(|i| s(0.01 * f64::from(i))).chain([s(0.2)]).collect();
        let capacity = Capacity::Trace(Trace::new(times).unwrap());
        assert_eq!(capacity.bps(s(0.1)), 1.2e6);
        assert_eq!(capacity.bps(s(0.2)), 0.0);
        assert_eq!(capacity.bits(Time::ZERO, s(0.2)), 120_000.0);
        // in the second round the last one of the first comes at its beginning
        assert_eq!(capacity.bits(s(0.2), s(0.4)), 132_000.0);
    }

    #[test]
    fn traces_out_of_order_or_without_length_are_none() {
        assert_eq!(Trace::new(vec![]), None);
        assert_eq!(Trace::new(vec![Time::ZERO]), None);
        assert_eq!(Trace::new(vec![s(2.0), s(1.0)]), None);
    }
}
