//! What a connection's host keeps for its programs beside their memory: the time, random numbers, what they
//! print, and the state of the kernel's own algorithms that they call.

use crate::native::Native;
use longfat_units::Stream;
use std::collections::VecDeque;

/// How long the host had been up when the simulation began, ns: clocks of a kernel never read zero, and
/// programs take zero for "never" (chosen here).
pub(crate) const UPTIME_NS: u64 = 1_000_000_000_000;
/// The kernel's ticks a second (CONFIG_HZ of Debian's kernels).
pub(crate) const HZ: u64 = 250;
/// Nanoseconds a tick.
pub(crate) const TICK_NS: u64 = 1_000_000_000 / HZ;
/// The most lines that are kept of what programs print.
const MOST_LINES: usize = 64;

/// A connection's host.
pub(crate) struct Host {
    /// The clock, ns since the host came up.
    pub now_ns: u64,
    /// The number of the connection, the key of its storage.
    pub connection: u64,
    pub random: Stream,
    pub printed: VecDeque<String>,
    pub native: Native,
}

impl Host {
    pub fn new(connection: u64) -> Self {
        let (random, native) = (seeded(0), Native::default());
        Host { now_ns: UPTIME_NS, connection, random, printed: VecDeque::new(), native }
    }

    /// Begins the random numbers anew.
    pub fn seed(&mut self, seed: u64) {
        self.random = seeded(seed);
    }

    /// The kernel's ticks since it came up.
    pub const fn jiffies(&self) -> u64 {
        self.now_ns / TICK_NS
    }

    /// Keeps a line that a program printed.
    pub fn print(&mut self, line: String) {
        if self.printed.len() == MOST_LINES {
            self.printed.pop_front();
        }
        self.printed.push_back(line);
    }
}

fn seeded(seed: u64) -> Stream {
    Stream::new(seed, "ebpf")
}
