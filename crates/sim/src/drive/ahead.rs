//! In batches of flows that are so numerous that their memory is seldom in the cache, asks for it ahead of
//! its use.
//!
//! A flow's index leads to its state, that to its packets, and those to what they carry besides the usual. So
//! a loop asks for the first many flows ahead, and for what it leads to when it has come, some flows later.

use crate::model::flow::Flow;
use crate::model::link::End;

/// From this many flows and packets on (measured, docs/performance.md). Where tests and fuzzers look for
/// differences, plans with few flows take the same way.
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

/// Whether a batch of up to this many packets asks ahead, in a run with this many flows.
pub const fn pays(flows: usize, packets: usize) -> bool {
    flows >= MANY && packets >= MANY
}

/// Does this with the flow of this end, if there is one, and whether the end is the sender.
#[inline(always)]
pub fn ask(flows: &[Flow], end: Option<End>, what: impl Fn(&Flow, bool)) {
    if let Some((id, data)) = end.map(End::host) {
        what(&flows[id], data);
    }
}
