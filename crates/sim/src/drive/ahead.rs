//! In loops over so many flows that their memory is seldom in the cache, asks for it ahead of its use.
//!
//! A flow's index leads to its state, that to its packets, and those to what they carry besides the usual. So a loop
//! asks for the first many flows ahead, and for what it leads to when it has come, some flows later.

use super::sources::Source;
use crate::model::flow::Flow;

/// From so many sources on (measured, docs/performance.md). Plans with few flows take the same way where tests and
/// fuzzers look for differences.
const MANY: usize = if cfg!(any(fuzzing, debug_assertions)) { 8 } else { 512 };

// How many sources (in a lane: packets) ahead. All are chosen here: a flow takes some 100 ns, about as long as memory,
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

/// Whether loops over these sources ask ahead.
#[inline(always)]
pub const fn pays(sources: &[Source]) -> bool {
    sources.len() >= MANY
}

/// Does this with the flow of the source at this place, if a host is there, and whether it is the sender.
#[inline(always)]
pub fn at(flows: &[Flow], sources: &[Source], place: usize, what: impl Fn(&Flow, bool)) {
    if let Some(source @ (Source::Data(_) | Source::Acks(_))) = sources.get(place) {
        let (id, data) = source.host();
        what(&flows[id], data);
    }
}

/// Asks for what a loop that collects the packets of sources needs after the source at this place.
#[inline(always)]
pub fn to_collect(flows: &[Flow], sources: &[Source], place: usize) {
    at(flows, sources, place + PIPE, Flow::prefetch_pipe);
    at(flows, sources, place + FIRST_PACKETS, Flow::prefetch_first);
}
