//! Capacities that vary, of which traces come from files: transmissions end in order, and as the capacity allows.

use crate::bytes::Bytes;
use longfat_net::{Capacity, OPPORTUNITY_BYTES, Sine, Trace, Transmitter};
use longfat_units::{Interval, Rate, Time};

/// Puts packets on a wire, both as the bytes say.
pub fn check(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(capacity) = capacity(&mut bytes) else { return };
    let mut wire = Transmitter::new(capacity.clone());
    let (mut now, mut sent) = (Time::ZERO, 0.0);
    while !bytes.is_empty() {
        let shift = bytes.number(1) % 24;
        now = now + Interval::from_ns(bytes.number(2) << shift);
        let size = 1 + (bytes.number(2) as u32) % 9000;
        let end = wire.send(now, size);
        assert!(end >= now, "{capacity:?}: {size} bytes at {now:?} end at {end:?}");
        assert!(end < Time::NEVER, "{capacity:?}: {size} bytes at {now:?} never end");
        sent += 8.0 * f64::from(size);
        // an opportunity at the very end counts, and each packet ends at a whole nanosecond
        let carried = capacity.bits(Time::ZERO, end);
        let slack = 16.0 * f64::from(OPPORTUNITY_BYTES) + 1e-3 * sent;
        if !matches!(capacity, Capacity::Trace(_)) {
            assert!(sent <= carried + slack, "{capacity:?}: {sent} bits of {carried} at {end:?}");
        }
        assert!(capacity.bps(end) >= 0.0 && capacity.bps(end).is_finite());
        let parts = capacity.bits(Time::ZERO, now) + capacity.bits(now, end);
        assert!((parts - carried).abs() <= slack, "{capacity:?}: {parts} and {carried} at {end:?}");
        now = end;
    }
}

fn capacity(bytes: &mut Bytes) -> Option<Capacity> {
    Some(match bytes.number(1) % 4 {
        0 => {
            let (least, greatest) = (bytes.within(1.0, 1e15), bytes.within(1.0, 1e15));
            let range_bps = (least.min(greatest), least.max(greatest));
            Capacity::Sine(Sine { range_bps, period_s: bytes.within(1e-6, 1e6) })
        }
        1 => {
            let mut at = Time::ZERO;
            let mut steps = Vec::new();
            for _ in 0..=bytes.below(8) {
                steps.push((at, Rate::from_bps(bytes.within(1.0, 1e12))?));
                at = at + Interval::from_ns(1 + (bytes.number(2) << 20));
            }
            Capacity::Steps(steps.into())
        }
        _ => {
            let mut at = 0;
            let mut times = Vec::new();
            for _ in 0..=bytes.below(64) {
                let width = 1 + usize::from(bytes.number(1) > 250);
                at += bytes.number(width);
                times.push(Time::ZERO + Interval::from_millis(at));
            }
            Capacity::Trace(Trace::new(times)?)
        }
    })
}
