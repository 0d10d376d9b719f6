//! A host's own clock, interrupts and link.

use longfat_units::{Interval, Rate, Stream, Time};
use std::cell::Cell;

/// How far a host's clock may be off, either way: 50 ppm, the usual tolerance of the quartz in a PC (chosen
/// here). If two hosts' ticks kept the same distance forever, the hosts would reach the queue in the same
/// order at every overflow, and one of them would take all the losses; no two real clocks do that.
const CLOCK_TOLERANCE: f64 = 50e-6;

/// When a host looks at what has arrived: at once, or only at the ticks of its clock (Li, Leith, Shorten
/// 2007, section V-D), so that it responds to all acknowledgements of a tick in one burst. What arrives comes
/// to the host at interrupts of its network card, which may be at least some time apart.
#[derive(Clone, Debug)]
pub struct HostClock {
    /// What packets wait for; none if it looks at each when that arrives.
    waits: Option<Box<Waits>>,
}

#[derive(Clone, Debug)]
struct Waits {
    interrupts: Interrupts,
    /// Time between two ticks; zero for no ticks.
    tick: Interval,
    /// Time of the first tick.
    phase: Interval,
    /// The last tick that was computed: most calls need the same one again.
    last: Cell<Time>,
}

impl HostClock {
    /// A clock that is off by a random part of [`CLOCK_TOLERANCE`], with its first tick anywhere within one
    /// period, behind a card whose interrupts are at least `moderation` apart.
    pub fn new(tick: Interval, moderation: Interval, mut stream: Stream) -> Self {
        let phase = Interval::from_ns(stream.below(tick.as_ns()));
        let tick = tick.scale(1.0 + stream.uniform(-CLOCK_TOLERANCE, CLOCK_TOLERANCE));
        HostClock::of(tick, phase, moderation)
    }

    /// A host without ticks behind a card whose interrupts are at least `moderation` apart.
    pub fn without_ticks(moderation: Interval) -> Self {
        HostClock::of(Interval::ZERO, Interval::ZERO, moderation)
    }

    fn of(tick: Interval, phase: Interval, moderation: Interval) -> Self {
        let waits = (tick != Interval::ZERO || moderation != Interval::ZERO).then(|| {
            Box::new(Waits {
                interrupts: Interrupts::new(moderation),
                tick,
                phase,
                last: Cell::new(Time::ZERO),
            })
        });
        HostClock { waits }
    }

    /// Whether it looks at each packet when that arrives: no tick, no moderation of interrupts.
    #[inline]
    pub const fn is_at_once(&self) -> bool {
        self.waits.is_none()
    }

    /// Time between two ticks; zero for no ticks.
    pub fn tick(&self) -> Interval {
        self.waits.as_ref().map_or(Interval::ZERO, |waits| waits.tick)
    }

    /// Time of the first tick.
    pub fn phase(&self) -> Interval {
        self.waits.as_ref().map_or(Interval::ZERO, |waits| waits.phase)
    }

    /// When the host looks at a packet that arrives at `at`. Packets have to be asked for in their order.
    #[inline]
    pub fn looks(&self, at: Time) -> Time {
        match &self.waits {
            Some(waits) if at != Time::NEVER => waits.until(at),
            _ => at,
        }
    }
}

impl Waits {
    /// When the host looks at what arrives at `at`.
    #[inline(never)]
    fn until(&self, at: Time) -> Time {
        let at = self.interrupts.takes(at);
        if self.tick == Interval::ZERO {
            return at;
        }
        let last = self.last.get();
        if at > last || last.since(at) >= self.tick {
            self.last.set(at.round_up(self.tick, self.phase));
        }
        self.last.get()
    }
}

/// The interrupts of a network card that are at least some time apart, as those of Intel's e1000 with
/// `InterruptThrottleRate`: a packet that arrives that long after the last interrupt or later causes one at
/// once; any other waits for the next one, which takes all packets that have arrived by then.
#[derive(Clone, Debug)]
struct Interrupts {
    apart: Interval,
    /// The interrupt that takes the packet that was asked for last.
    latest: Cell<Option<Time>>,
}

impl Interrupts {
    const fn new(apart: Interval) -> Self {
        Interrupts { apart, latest: Cell::new(None) }
    }

    /// The interrupt that takes a packet that arrives at `at`.
    fn takes(&self, at: Time) -> Time {
        let interrupt = match self.latest.get() {
            Some(latest) if at <= latest => latest,
            Some(latest) => at.max(latest + self.apart),
            None => at,
        };
        self.latest.set(Some(interrupt));
        interrupt
    }
}

/// Delays of what a host sends, as ns-2's `overhead_` has them (`tcp.cc`, `TcpAgent::send_much`): packets
/// that may leave wait for a random time; whatever else may leave until then goes with them.
#[derive(Clone, Debug)]
pub struct Jitter {
    longest: Interval,
    stream: Stream,
    /// When the packets that were handed over last leave.
    leaves: Option<Time>,
}

impl Jitter {
    /// Delays up to `longest`.
    pub const fn new(longest: Interval, stream: Stream) -> Self {
        Jitter { longest, stream, leaves: None }
    }

    /// When a packet that is handed over now leaves.
    fn delay(&mut self, now: Time) -> Time {
        let leaves = match self.leaves {
            Some(leaves) if now <= leaves => leaves,
            _ => now + self.longest.scale(self.stream.unit()),
        };
        self.leaves = Some(leaves);
        leaves
    }
}

/// A host's own link: it has a finite rate and drops nothing. Data wait here when the host sends faster than
/// its interface.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct Access {
    rate: Rate,
    jitter: Option<Box<Jitter>>,
    free_at: Time,
    /// The size of the last packet and its transmission time; no size that a packet has with jitter.
    last_size: (u32, Interval),
}

impl Access {
    /// An idle link.
    pub const fn new(rate: Rate, jitter: Option<Box<Jitter>>) -> Self {
        Access { rate, free_at: Time::ZERO, last_size: (0, Interval::ZERO), jitter }
    }

    /// When the last bit of a packet handed over now is on the wire.
    #[inline]
    pub fn depart(&mut self, mut now: Time, bytes: u32) -> Time {
        if self.last_size.0 != bytes {
            now = self.other_size(now, bytes);
        }
        self.free_at = self.free_at.max(now).later_by(self.last_size.1);
        self.free_at
    }

    /// A packet of another size than the last one, or any packet with jitter. Returns when it may leave.
    #[inline(never)]
    fn other_size(&mut self, now: Time, bytes: u32) -> Time {
        self.last_size = (bytes, self.rate.transmission(bytes));
        let Some(jitter) = &mut self.jitter else { return now };
        self.last_size.0 = 0; // so that the next packet comes here as well
        jitter.delay(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(n: u64) -> Time {
        Time::from_ns(1000 * n)
    }

    fn card(apart_us: u64) -> HostClock {
        HostClock::without_ticks(Interval::from_ns(1000 * apart_us))
    }

    #[test]
    fn a_packet_soon_after_an_interrupt_waits_for_the_next_and_one_long_after_it_does_not() {
        let host = card(125);
        let looks = [0, 10, 124, 125, 126, 250, 600, 601].map(|at| host.looks(us(at)));
        assert_eq!(looks, [0, 125, 125, 125, 250, 250, 600, 725].map(us));
    }

    #[test]
    fn what_an_interrupt_brings_waits_for_the_tick() {
        let tick = Interval::from_millis(1);
        let ticks = HostClock::new(tick, Interval::ZERO, Stream::new(1, "tick"));
        let both = HostClock::new(tick, Interval::from_ns(125_000), Stream::new(1, "tick"));
        let card = card(125);
        for at in (0..400).map(|n| us(37 * n)) {
            assert_eq!(both.looks(at), ticks.looks(card.looks(at)));
        }
    }

    proptest! {
        #[test]
        fn interrupts_are_never_closer_than_that_nor_later_than_needed(
            gaps in proptest::collection::vec(0u64..300, 1..200),
        ) {
            let host = card(125);
            let (mut at, mut last) = (Time::ZERO, None::<Time>);
            for gap in gaps {
                at += Interval::from_ns(1000 * gap);
                let looks = host.looks(at);
                prop_assert_eq!(host.looks(at), looks);
                prop_assert!(looks >= at && looks.since(at) <= Interval::from_ns(125_000));
                if let Some(last) = last.filter(|&last| last != looks) {
                    prop_assert!(looks.since(last) >= Interval::from_ns(125_000));
                    prop_assert!(looks == at || looks.since(last) == Interval::from_ns(125_000));
                }
                last = Some(looks);
            }
        }
    }

    #[test]
    fn jitter_delays_uniformly_keeps_order_and_lets_what_comes_meanwhile_go_along() {
        // 1 Tbit/s: a packet takes 12 ns
        let access = |longest_us: u64| {
            let jitter = Jitter::new(Interval::from_ns(1000 * longest_us), Stream::new(1, "jitter"));
            Access::new(Rate::from_bps(1e12).unwrap(), Some(Box::new(jitter)))
        };
        let mut host = access(100);
        let delays: Vec<f64> = (1..=20_000)
            .map(|n| host.depart(us(1000 * n), 1500).since(us(1000 * n)).as_secs_f64() * 1e6)
            .collect();
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        assert!((mean - 50.0).abs() < 1.0 && delays.iter().all(|&us| (0.0..100.1).contains(&us)), "{mean}");
        let quarter = delays.iter().filter(|&&us| us < 25.0).count();
        assert!((4700..5300).contains(&quarter), "{quarter}");
        let mut host = access(1_000_000);
        let first = host.depart(us(0), 1500);
        assert!(first > us(10));
        let with_it = [us(1), us(2), us(2)].map(|at| host.depart(at, 1500).since(first).as_ns());
        assert_eq!(with_it, [12, 24, 36]);
    }
}
