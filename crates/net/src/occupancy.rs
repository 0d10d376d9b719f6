//! How full a queue is, integrated exactly over time.

use longfat_units::Time;

/// A queue's length and its time integrals, in packets.
///
/// The integral of a length that changes at times t_i is its present value times now, less the sum of each
/// change times t_i. So a change costs one product and does not depend on the change before it. Everything is
/// in whole numbers, so the order of summation does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    packets: u64,
    bytes: u64,
    max_packets: u64,
    /// Sum of (length before - length after) t, packet ns.
    changes: i128,
    /// The same sum for the squares of the length, packet^2 ns.
    square_changes: i128,
}

impl Occupancy {
    /// A packet joined at `now`.
    #[inline]
    pub fn join(&mut self, now: Time, bytes: u32) {
        let t = now.as_ns();
        self.changes -= i128::from(t);
        self.square_changes -= product(2 * self.packets + 1, t);
        self.packets += 1;
        self.bytes += u64::from(bytes);
        if self.packets > self.max_packets {
            self.max_packets = self.packets; // seldom
        }
    }

    /// A packet left at `now`.
    #[inline]
    pub fn leave(&mut self, now: Time, bytes: u32) {
        let t = now.as_ns();
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
        self.changes += i128::from(t);
        self.square_changes += product(2 * self.packets + 1, t);
    }

    /// The length is this from `now` on.
    #[inline]
    pub fn set(&mut self, now: Time, packets: u64, bytes: u64) {
        if packets == self.packets + 1 {
            self.join(now, 0);
        } else if packets + 1 == self.packets {
            self.leave(now, 0);
        } else if packets != self.packets {
            self.jump(now, packets);
        }
        self.bytes = bytes;
    }

    /// The length becomes this, which is more than one packet away.
    #[inline(never)]
    fn jump(&mut self, now: Time, packets: u64) {
        let t = now.as_ns();
        // a^2 - b^2 = (a - b) (a + b)
        if packets > self.packets {
            let more = packets - self.packets;
            self.changes -= product(more, t);
            self.square_changes -= product(more * (self.packets + packets), t);
        } else {
            let fewer = self.packets - packets;
            self.changes += product(fewer, t);
            self.square_changes += product(fewer * (self.packets + packets), t);
        }
        self.packets = packets;
        self.max_packets = self.max_packets.max(packets);
    }

    /// Packets waiting.
    #[inline]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes waiting.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Starts the statistics of a measurement interval at `now`; the length stays.
    pub fn restart(&mut self, now: Time) {
        self.changes = -product(self.packets, now.as_ns());
        self.square_changes = -product(self.packets.pow(2), now.as_ns());
        self.max_packets = self.packets;
    }

    /// Returns mean, standard deviation and maximum of the length in packets from `since` to `now`.
    pub fn statistics(self, since: Time, now: Time) -> (f64, f64, u64) {
        let span = now.since(since).as_ns() as f64;
        if span <= 0.0 {
            return (self.packets as f64, 0.0, self.max_packets);
        }
        let area = self.changes + product(self.packets, now.as_ns());
        let square_area = self.square_changes + product(self.packets.pow(2), now.as_ns());
        let mean = area as f64 / span;
        let variance = (square_area as f64 / span - mean * mean).max(0.0);
        (mean, variance.sqrt(), self.max_packets)
    }
}

/// `a b` in full: 64 bits hold the square of any queue's length, and no run lasts 2^63 ns.
#[inline]
fn product(a: u64, b: u64) -> i128 {
    (u128::from(a) * u128::from(b)) as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_is_set_counts_as_the_packets_that_join_or_leave_then() {
        let (mut set, mut each, mut at) = (Occupancy::default(), Occupancy::default(), 0);
        for length in [3u64, 4, 4, 1, 0, 1, 0, 7, 2, 9] {
            at += 10 + length;
            let now = Time::from_ns(at);
            set.set(now, length, 100 * length);
            while each.packets() < length {
                each.join(now, 100);
            }
            while each.packets() > length {
                each.leave(now, 100);
            }
            let later = Time::from_ns(at + 5);
            assert_eq!(set.statistics(Time::ZERO, later), each.statistics(Time::ZERO, later));
            assert_eq!((set.packets(), set.bytes()), (each.packets(), each.bytes()));
        }
    }

    #[test]
    fn two_packets_for_half_the_time_are_one_on_average() {
        let mut o = Occupancy::default();
        o.join(Time::from_ns(0), 1500);
        o.join(Time::from_ns(0), 1500);
        o.leave(Time::from_ns(50), 1500);
        o.leave(Time::from_ns(50), 1500);
        assert_eq!(o.statistics(Time::ZERO, Time::from_ns(100)), (1.0, 1.0, 2));
        o.restart(Time::from_ns(100));
        assert_eq!(o.statistics(Time::from_ns(100), Time::from_ns(200)), (0.0, 0.0, 0));
    }
}
