//! Where packets for links come from, and the order in which those of several sources come to one link.

use longfat_units::{Interval, Time};

/// Up to this many sources are compared with each other for every packet; arrivals from more sources are
/// sorted.
pub const FEW_SOURCES: usize = 4;
/// Bits of an arrival's sort key that hold its source; the others hold the time since the batch began.
pub const SOURCE_BITS: u32 = 24;

/// Where packets for links come from. The order of the variants is the canonical one.
#[derive(Clone, Copy)]
pub enum Source {
    /// Pipe number `.1` that leads from link `.0` to another link.
    Onward(usize, usize),
    /// Messages of the elements of link `.0`, in its pipe number `.1`.
    Control(usize, usize),
    /// The own link of this flow's sender.
    Data(usize),
    /// The own link of this flow's receiver.
    Acks(usize),
}

impl Source {
    /// The flow, and whether this is its sender. Only for hosts.
    #[inline(always)]
    pub const fn host(self) -> (usize, bool) {
        match self {
            Source::Data(flow) => (flow, true),
            Source::Acks(flow) | Source::Onward(flow, _) | Source::Control(flow, _) => (flow, false),
        }
    }
}

/// The source of an arrival with this sort key.
#[inline(always)]
pub const fn source(key: u64, sources: &[Source]) -> Source {
    sources[(key & ((1 << SOURCE_BITS) - 1)) as usize]
}

/// The time and the source of an arrival in a batch that begins at `from`.
#[inline(always)]
pub fn arrival(key: u64, sources: &[Source], from: Time) -> (Time, Source) {
    (from + Interval::from_ns(key >> SOURCE_BITS), source(key, sources))
}

/// The earliest time before `until`, with its index; the lowest index among equals.
#[inline(always)]
pub fn earliest(heads: &[Time; FEW_SOURCES], until: Time) -> Option<(usize, Time)> {
    let mut first = 0;
    for i in 1..FEW_SOURCES {
        if heads[i] < heads[first] {
            first = i;
        }
    }
    (heads[first] < until).then(|| (first, heads[first]))
}

/// Until when only source `first` has arrivals: up to `until` and to the first arrival of any other source.
/// Among equal times the source with the lower index comes first.
#[inline(always)]
pub fn turn(heads: &[Time; FEW_SOURCES], first: usize, until: Time) -> Time {
    let mut turn = until;
    for (i, &head) in heads.iter().enumerate() {
        if i != first {
            turn = turn.min(if i < first { head } else { head + Interval::from_ns(1) });
        }
    }
    turn
}
