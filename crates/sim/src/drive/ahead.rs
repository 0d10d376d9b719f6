//! In loops over flows that are so numerous that their memory is seldom in the cache, asks for it ahead of
//! its use.
//!
//! A flow's index leads to its state, that to its packets, and those to what they carry besides the usual. So
//! a loop asks for the first many flows ahead, and for what it leads to when it has come, some flows later.

use crate::model::flow::Flow;
use crate::model::link::Origin;

/// From this many ends on (measured, docs/performance.md). Plans with few flows take the same way where tests
/// and fuzzers look for differences.
const MANY: usize = if cfg!(any(fuzzing, debug_assertions)) { 8 } else { 512 };

// How many ends (or packets) ahead. All are chosen here: a flow takes some 100 ns, about as long as memory,
// and a cache of the first level holds the state of some twenty.

/// Where a flow's packets are on the way to their first link.
pub const PIPE: usize = 24;
/// The packets that this leads to.
pub const FIRST_PACKETS: usize = 12;
/// The state that a flow's end needs for its packets.
pub const STATE: usize = 12;
/// Those packets, and the places of their answers.
pub const PACKETS: usize = 6;
/// What they carry besides the usual.
pub const EXTRAS: usize = 2;

/// Whether loops over these ends ask ahead.
#[inline(always)]
pub const fn pays(origins: &[Origin]) -> bool {
    origins.len() >= MANY
}

/// Does this with the flow of the origin at this place, if there is one, and whether it is the sender.
#[inline(always)]
pub fn at(flows: &[Flow], origins: &[Origin], place: usize, what: impl Fn(&Flow, bool)) {
    if let Some(origin) = origins.get(place) {
        let (id, data) = origin.end.host();
        what(&flows[id], data);
    }
}
