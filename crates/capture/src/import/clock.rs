//! The clock of a capture: where it steps, time goes on as if it had not, and nothing is measured across the
//! step.
//!
//! A step back is sure: no packet comes before an earlier one. A step forward looks like silence, unless the
//! connection contradicts it: the timestamps of its own packets have hardly moved, or data in flight are
//! acknowledged, or new ones follow, although its sender would long have sent again.

use super::segment::Segment;
use std::collections::BTreeMap;

/// Packets of one interface may be out of order by this much, ns (chosen here: programs write them from
/// several queues).
const DISORDER_NS: u64 = 100_000_000;
/// A silence that is worth a doubt, ns (chosen here: three times the first timeout of RFC 6298, and its
/// backoff).
const SILENCE_NS: u64 = 10_000_000_000;

/// What the clocks of a capture did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Steps {
    /// Steps back, and the greatest of them, ns.
    pub back: (u64, u64),
    /// Steps forward, and the greatest of them, ns.
    pub forward: (u64, u64),
    /// Single packets whose time is far from that of the packets before and after.
    pub strays: u64,
}

/// The clock of one interface.
#[derive(Default)]
struct Clock {
    /// The latest time in the file, ns.
    last_ns: Option<u64>,
    /// Added to the file's times, ns.
    shift_ns: i64,
    epoch: u32,
    /// A packet after a jump: the next one shows whether the clock or only this time is off.
    held: Option<Segment>,
}

/// The clocks of all interfaces.
#[derive(Default)]
pub struct Clocks {
    interfaces: BTreeMap<u32, Clock>,
    /// What they did so far.
    pub steps: Steps,
    latest_ns: u64,
}

/// A segment at the time that counts, and the number of steps before it: two segments with different numbers
/// have no time between them.
pub type Timed = (Segment, u32);

impl Clocks {
    /// Adds the segments to `out` whose times are clear by now. `contradicts` returns whether the segment's
    /// connection contradicts a silence of this many ns before it.
    pub fn pass(
        &mut self,
        segment: &Segment,
        contradicts: &dyn Fn(&Segment, u64) -> bool,
        out: &mut Vec<Timed>,
    ) {
        if segment.untimed {
            out.push((Segment { at_ns: self.latest_ns, ..*segment }, 0));
            return;
        }
        let Clocks { interfaces, steps, latest_ns } = self;
        let clock = interfaces.entry(segment.interface).or_default();
        if let Some(held) = clock.held.take() {
            let last_ns = clock.last_ns.unwrap_or(0);
            if is_near(last_ns, segment.at_ns) {
                steps.strays += 1;
                let stray = Segment { at_ns: clock.shifted(last_ns), untimed: true, ..held };
                out.push((stray, clock.epoch));
            } else {
                clock.settle(&held, contradicts, steps, out);
            }
        }
        let last_ns = clock.last_ns.unwrap_or(segment.at_ns);
        if is_near(last_ns, segment.at_ns) {
            clock.last_ns = Some(last_ns.max(segment.at_ns));
            out.push((Segment { at_ns: clock.shifted(segment.at_ns), ..*segment }, clock.epoch));
        } else {
            clock.held = Some(*segment);
        }
        *latest_ns = out.last().map_or(*latest_ns, |(segment, _)| segment.at_ns);
    }

    /// The segments that are still held, at the end of the file.
    pub fn finish(&mut self, contradicts: &dyn Fn(&Segment, u64) -> bool, out: &mut Vec<Timed>) {
        for clock in self.interfaces.values_mut() {
            if let Some(held) = clock.held.take() {
                clock.settle(&held, contradicts, &mut self.steps, out);
            }
        }
    }
}

impl Clock {
    /// No later than the latest time that a file can have.
    fn shifted(&self, at_ns: u64) -> u64 {
        at_ns.saturating_add_signed(self.shift_ns).min(i64::MAX.cast_unsigned())
    }

    /// The clock has jumped with the packet that was held.
    fn settle(
        &mut self,
        held: &Segment,
        contradicts: &dyn Fn(&Segment, u64) -> bool,
        steps: &mut Steps,
        out: &mut Vec<Timed>,
    ) {
        let last_ns = self.last_ns.unwrap_or(held.at_ns);
        let gap_ns = held.at_ns.abs_diff(last_ns);
        let back = held.at_ns < last_ns;
        if back || contradicts(held, gap_ns) {
            let (count, most_ns) = if back { &mut steps.back } else { &mut steps.forward };
            (*count, *most_ns) = (*count + 1, gap_ns.max(*most_ns));
            let gap = i64::try_from(gap_ns).unwrap_or(i64::MAX);
            self.shift_ns = self.shift_ns.saturating_add(if back { gap } else { -gap });
            self.epoch += 1;
        }
        self.last_ns = Some(held.at_ns);
        out.push((Segment { at_ns: self.shifted(held.at_ns), ..*held }, self.epoch));
    }
}

const fn is_near(last_ns: u64, at_ns: u64) -> bool {
    at_ns <= last_ns.saturating_add(SILENCE_NS) && at_ns.saturating_add(DISORDER_NS) >= last_ns
}
