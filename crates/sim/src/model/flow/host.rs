//! A host's own clock and link.

use longfat_units::{Interval, Rate, Stream, Time};
use std::cell::Cell;

/// How far a host's clock may be off, either way: 50 ppm, the usual tolerance of the quartz in a PC (chosen
/// here). If two hosts' ticks kept the same distance forever, the hosts would reach the queue in the same
/// order at every overflow, and one of them would take all the losses; no two real clocks do that.
const CLOCK_TOLERANCE: f64 = 50e-6;

/// When a host looks at what has arrived: at once, or only at the ticks of its clock (Li, Leith, Shorten
/// 2007, section V-D), so that it responds to all acknowledgements of a tick in one burst.
#[derive(Clone, Debug)]
pub struct HostClock {
    /// Time between two ticks; zero for no ticks.
    pub tick: Interval,
    /// Time of the first tick.
    pub phase: Interval,
    /// The last tick that was computed: most calls need the same one again.
    last: Cell<Time>,
}

impl HostClock {
    /// A clock that is off by a random part of [`CLOCK_TOLERANCE`], with its first tick anywhere within one
    /// period.
    pub fn new(tick: Interval, mut stream: Stream) -> Self {
        let phase = Interval::from_ns(stream.below(tick.as_ns()));
        let tick = tick.scale(1.0 + stream.uniform(-CLOCK_TOLERANCE, CLOCK_TOLERANCE));
        HostClock { tick, phase, last: Cell::new(Time::ZERO) }
    }

    /// When the host looks at a packet that arrives at `at`.
    #[inline]
    pub fn looks(&self, at: Time) -> Time {
        if self.tick == Interval::ZERO || at == Time::NEVER {
            return at;
        }
        let last = self.last.get();
        if at > last || last.since(at) >= self.tick {
            self.last.set(at.round_up(self.tick, self.phase));
        }
        self.last.get()
    }
}

/// A host's own link: it has a finite rate and drops nothing. Data wait here when the host sends faster than
/// its interface.
#[derive(Clone, Debug)]
pub struct Access {
    rate: Rate,
    free_at: Time,
    last_size: (u32, Interval),
}

impl Access {
    /// An idle link.
    pub const fn new(rate: Rate) -> Self {
        Access { rate, free_at: Time::ZERO, last_size: (0, Interval::ZERO) }
    }

    /// When the last bit of a packet handed over now is on the wire.
    #[inline]
    pub fn depart(&mut self, now: Time, bytes: u32) -> Time {
        if self.last_size.0 != bytes {
            self.last_size = (bytes, self.rate.transmission(bytes));
        }
        self.free_at = self.free_at.max(now).later_by(self.last_size.1);
        self.free_at
    }
}
