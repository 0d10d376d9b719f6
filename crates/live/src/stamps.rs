//! How long packets lay unread, from the timestamps that the kernel's TCP puts into them.

use longfat_units::{Interval, Time};

/// Measures how long packets from one end of a connection have been on their way from the kernel's stamp
/// (TSval) to whoever reads them off the device. The stamps' clock runs like the reader's but has any origin,
/// so the shortest way found counts as no time at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    first: Option<(Time, u32)>,
    least_ns: i64,
}

impl Stamps {
    /// The tick of Linux, unless a route asks for microseconds.
    const TICK_NS: i64 = 1_000_000;

    /// Returns how long a packet with this stamp, read now, took at least: a stamp may be up to a tick older
    /// than it says.
    pub fn waited(&mut self, now: Time, stamp: u32) -> Interval {
        let (begin, origin) = *self.first.get_or_insert((now, stamp));
        let ticks = i64::from(stamp.wrapping_sub(origin).cast_signed());
        let way_ns = now.since(begin).as_ns().cast_signed() - ticks * Self::TICK_NS;
        self.least_ns = self.least_ns.min(way_ns);
        Interval::from_ns((way_ns - self.least_ns - Self::TICK_NS).max(0).cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_lay_unread_shows_in_its_stamp_whatever_the_origin() {
        let mut stamps = Stamps::default();
        let origin = u32::MAX - 3;
        let ways_us: Vec<u64> = (0..100u64)
            .map(|n| {
                let sent_us = 370 * n;
                let lay_us = if n == 60 { 7_000 } else { 30 };
                let stamp = origin.wrapping_add((sent_us / 1000) as u32);
                stamps.waited(Time::from_ns(1000 * (50_000 + sent_us + lay_us)), stamp).as_ns() / 1000
            })
            .collect();
        let (late, others): (Vec<_>, Vec<_>) = ways_us.into_iter().enumerate().partition(|(n, _)| *n == 60);
        assert!((6_000..=7_000).contains(&late[0].1), "{late:?}");
        assert!(others.iter().all(|(_, way)| *way == 0), "{others:?}");
    }
}
