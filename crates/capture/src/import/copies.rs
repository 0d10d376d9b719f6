//! Packets that a capture shows twice: on several interfaces, or on one that is a mirror of several.
//!
//! A copy has the same IP identification, numbers, payload, window, flags and options. On another interface
//! it comes within the time that a packet may be on its way; on the same one at once. Where nothing can come
//! from another interface, only the packets of the last millisecond are held in memory.

use super::rtt::Sent;
use super::segment::Segment;
use core::hash::{Hash, Hasher};
use std::collections::{BTreeMap, VecDeque};
use std::hash::DefaultHasher;

/// The longest time between two sights of a packet, ns (chosen here: more than a path and its queues take).
const PATH_NS: u64 = 10_000_000_000;
/// The longest time between two copies on one interface, ns (chosen here: a mirror has no queue of this
/// length).
const MIRROR_NS: u64 = 1_000_000;
/// The same of packets that have no identification: repeated acknowledgements may look the same (chosen here:
/// less than the shortest round trip).
const MIRROR_UNNAMED_NS: u64 = 50_000;

/// A packet that was seen.
#[derive(Clone, Copy)]
struct Seen {
    at_ns: u64,
    interface: u32,
    /// When that was sent which it acknowledged, if round trips ended there.
    acked: Option<Sent>,
}

/// What a packet is that was seen before.
pub enum Copy {
    /// Another interface has shown it; and when that was sent which it acknowledged.
    Elsewhere(Option<Sent>),
    /// The same interface has shown it.
    Mirrored,
}

/// The packets of the last seconds.
#[derive(Default)]
pub struct Copies {
    seen: BTreeMap<u64, Seen>,
    order: VecDeque<(u64, u64)>,
}

impl Copies {
    /// Whether this packet is a copy, and of what.
    pub fn find(&self, segment: &Segment) -> Option<Copy> {
        let seen = self.seen.get(&key(segment))?;
        let apart_ns = segment.at_ns.abs_diff(seen.at_ns);
        let mirror_ns = if segment.ip_id == 0 { MIRROR_UNNAMED_NS } else { MIRROR_NS };
        if seen.interface != segment.interface {
            (apart_ns <= PATH_NS).then_some(Copy::Elsewhere(seen.acked))
        } else {
            (apart_ns <= mirror_ns).then_some(Copy::Mirrored)
        }
    }

    /// This packet is no copy; it acknowledged what was sent then.
    pub fn add(&mut self, segment: &Segment, acked: Option<Sent>) {
        if segment.untimed {
            return;
        }
        let (key, at_ns) = (key(segment), segment.at_ns);
        self.seen.insert(key, Seen { at_ns, interface: segment.interface, acked });
        self.order.push_back((at_ns, key));
        let reach_ns = if segment.several { PATH_NS } else { MIRROR_NS };
        while let Some(&(old_ns, old)) = self.order.front()
            && old_ns.abs_diff(at_ns) > reach_ns
        {
            self.order.pop_front();
            if self.seen.get(&old).is_some_and(|seen| seen.at_ns == old_ns) {
                self.seen.remove(&old);
            }
        }
    }
}

/// What two sights of a packet have in common, in 64 bits.
fn key(segment: &Segment) -> u64 {
    let Segment { ends, ip_id, seq, ack, payload, window, stamps, sack, opens, closes, .. } = *segment;
    let mut hasher = DefaultHasher::new();
    (ends, ip_id, seq, ack, payload, window, stamps, sack, opens, closes).hash(&mut hasher);
    hasher.finish()
}
