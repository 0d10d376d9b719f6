//! Capacities that vary, of which traces come from files: transmissions end in order, and as the capacity
//! allows.

use crate::bytes::Bytes;
use longfat_net::{Capacity, OPPORTUNITY_BYTES, Sine, Trace, Transmitter};
use longfat_units::{Interval, Rate, Time};

/// How far from its last bit a packet ends: half a nanosecond of rounding, a tenth of a sine's series, and
/// its floats.
const OFF_S: f64 = (0.5 + 0.1 + 0.05) * 1e-9;

/// Puts packets on a wire, both as the bytes say.
pub fn check(data: &[u8]) {
    let mut bytes = Bytes(data);
    let Some(capacity) = capacity(&mut bytes) else { return };
    let mut wire = Transmitter::new(capacity.clone());
    let (mut now, mut sent, mut packets) = (Time::ZERO, 0.0, 0.0);
    while !bytes.is_empty() {
        let shift = bytes.number(1) % 24;
        now = now + Interval::from_ns(bytes.number(2) << shift);
        let size = 1 + (bytes.number(2) as u32) % 9000;
        let end = wire.send(now, size);
        assert!(end >= now, "{capacity:?}: {size} bytes at {now:?} end at {end:?}");
        assert!(end < Time::NEVER, "{capacity:?}: {size} bytes at {now:?} never end");
        (sent, packets) = (sent + 8.0 * f64::from(size), packets + 1.0);
        let carried = capacity.bits(Time::ZERO, end);
        // an opportunity at the very end counts, each packet ends at a whole nanosecond, and bits are floats
        let rounding = packets * OFF_S * greatest_bps(&capacity);
        let slack = 16.0 * f64::from(OPPORTUNITY_BYTES) + rounding + 1e-12 * carried;
        if !matches!(capacity, Capacity::Trace(_)) {
            assert!(sent <= carried + slack, "{capacity:?}: {sent} bits of {carried} at {end:?}");
        }
        assert!(capacity.bps(end) >= 0.0 && capacity.bps(end).is_finite());
        let parts = capacity.bits(Time::ZERO, now) + capacity.bits(now, end);
        assert!((parts - carried).abs() <= slack, "{capacity:?}: {parts} and {carried} at {end:?}");
        now = end;
    }
}

fn greatest_bps(capacity: &Capacity) -> f64 {
    match capacity {
        Capacity::Constant(rate) => rate.as_bps() as f64,
        Capacity::Sine(sine) => sine.range_bps.1,
        Capacity::Steps(steps) => steps.iter().map(|(_, rate)| rate.as_bps() as f64).fold(0.0, f64::max),
        Capacity::Trace(_) => 0.0,
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
