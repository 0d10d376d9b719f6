//! In loops over so many flows that their memory is seldom in the cache, asks for it ahead of its use.
//!
//! A flow's index leads to its state, that to its packets, and those to what they carry besides the usual. So a loop asks
//! for the first many flows ahead, and for what it leads to when it has come, some flows later.

use super::sources::Source;
use crate::model::flow::Flow;

/// From so many sources on (chosen here).
pub const MANY: usize = 512;

/// How many flows ahead. Chosen here: one flow takes some 100 ns, about as long as memory, and a cache of the first level
/// holds the state of some twenty.
pub const PIPE: usize = 24;
pub const FIRST_PACKETS: usize = 12;
pub const STATE: usize = 12;
pub const PACKETS: usize = 6;
pub const EXTRAS: usize = 2;

/// Does this with the flow whose end is the source at this place, and whether that is its sender, if a host is there.
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
    at(flows, sources, place + PIPE, Flow::fetch_pipe);
    at(flows, sources, place + FIRST_PACKETS, Flow::fetch_first);
}
