//! How full a queue is, integrated exactly over time.

use longfat_units::Time;

/// Time integrals of a queue's length, in packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    packets: u64,
    bytes: u64,
    max_packets: u64,
    last: Time,
    // in packet ns and packet^2 ns: whole numbers, so that the order of summation cannot matter
    area: u128,
    square_area: u128,
}

impl Occupancy {
    /// Accounts for the time until `now` at the present length.
    #[inline]
    fn integrate(&mut self, now: Time) {
        let span = u128::from(now.since(self.last).as_ns());
        self.area += u128::from(self.packets) * span;
        self.square_area += u128::from(self.packets * self.packets) * span; // 64 bits hold the square of any queue
        self.last = now;
    }

    /// A packet joined at `now`.
    #[inline]
    pub fn join(&mut self, now: Time, bytes: u32) {
        self.integrate(now);
        self.packets += 1;
        self.bytes += u64::from(bytes);
        self.max_packets = self.max_packets.max(self.packets);
    }

    /// A packet left at `now`.
    #[inline]
    pub fn leave(&mut self, now: Time, bytes: u32) {
        self.integrate(now);
        self.packets -= 1;
        self.bytes -= u64::from(bytes);
    }

    /// The length is this from `now` on.
    pub fn set(&mut self, now: Time, packets: u64, bytes: u64) {
        self.integrate(now);
        self.packets = packets;
        self.bytes = bytes;
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

    /// Starts the figures of a window at `now`; the length goes on.
    pub fn restart(&mut self, now: Time) {
        self.integrate(now);
        self.area = 0;
        self.square_area = 0;
        self.max_packets = self.packets;
    }

    /// Mean, standard deviation and maximum of the length in packets from `since` to `now`.
    pub fn figures(mut self, since: Time, now: Time) -> (f64, f64, u64) {
        self.integrate(now);
        let span = now.since(since).as_ns() as f64;
        if span <= 0.0 {
            return (self.packets as f64, 0.0, self.max_packets);
        }
        let mean = self.area as f64 / span;
        let variance = (self.square_area as f64 / span - mean * mean).max(0.0);
        (mean, variance.sqrt(), self.max_packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_packets_for_half_the_time_are_one_on_average() {
        let mut o = Occupancy::default();
        o.join(Time::from_ns(0), 1500);
        o.join(Time::from_ns(0), 1500);
        o.leave(Time::from_ns(50), 1500);
        o.leave(Time::from_ns(50), 1500);
        assert_eq!(o.figures(Time::ZERO, Time::from_ns(100)), (1.0, 1.0, 2));
        o.restart(Time::from_ns(100));
        assert_eq!(o.figures(Time::from_ns(100), Time::from_ns(200)), (0.0, 0.0, 0));
    }
}
