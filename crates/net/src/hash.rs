//! A salted hash of flows, so that which flows collide cannot be predicted.

use longfat_units::Stream;
use longfat_wire::Packet;

/// One hash function of a family.
#[derive(Clone, Copy, Debug)]
pub struct Hash {
    salt: u64,
}

impl Hash {
    /// Drawn from this stream.
    pub fn new(draws: &mut Stream) -> Self {
        Hash { salt: draws.below(u64::MAX) }
    }

    /// The flow's bin, below `bins`.
    #[inline]
    pub fn bin(self, flow: u64, bins: usize) -> usize {
        // SplitMix64's finalizer: every bit of flow and salt reaches the high ones, which choose the bin
        let mut h = self.salt ^ flow.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^= h >> 31;
        ((u128::from(h) * bins as u128) >> 64) as usize
    }
}

/// Remembers no bins of flows beyond this (chosen here: a flow's takes four bytes).
const MOST_KNOWN: u64 = 1 << 20;
const UNKNOWN: u32 = u32::MAX;

/// The bins of packets' flows, each of which is computed once: the next step of a queue waits for it.
#[derive(Clone, Debug)]
pub struct Bins {
    hash: Hash,
    bins: usize,
    known: Vec<u32>,
}

impl Bins {
    /// So many bins, of a hash that is drawn from this stream.
    pub fn new(draws: &mut Stream, bins: usize) -> Self {
        Bins { hash: Hash::new(draws), bins, known: Vec::new() }
    }

    /// The bin of a packet's flow. The two directions of a connection are separate flows, as they have different
    /// addresses.
    #[inline(always)]
    pub fn of<P: Packet>(&mut self, packet: &P) -> usize {
        let flow = u64::from(packet.flow().0) << 1 | u64::from(packet.kind().is_forward());
        match self.known.get(flow as usize) {
            Some(&bin) if bin != UNKNOWN => bin as usize,
            _ => self.learn(flow),
        }
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, flow: u64) -> usize {
        let bin = self.hash.bin(flow, self.bins);
        if flow < MOST_KNOWN {
            let place = flow as usize;
            if self.known.len() <= place {
                self.known.resize(place + 1, UNKNOWN);
            }
            self.known[place] = bin as u32;
        }
        bin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_wire::{FlowId, Kind, SimPacket};

    #[test]
    fn a_flow_s_bin_is_that_of_the_hash_each_time_whether_it_is_remembered_or_not() {
        let mut bins = Bins::new(&mut Stream::new(1, "bins"), 1024);
        let hash = bins.hash;
        for _ in 0..3 {
            for flow in [7, 0, (MOST_KNOWN / 2) as u32 - 1, (MOST_KNOWN / 2) as u32, u32::MAX] {
                for (kind, forward) in [(Kind::Data, 1), (Kind::Ack, 0)] {
                    let packet = SimPacket::new(kind, FlowId(flow), 0, 1500, longfat_units::Time::ZERO);
                    assert_eq!(bins.of(&packet), hash.bin(u64::from(flow) << 1 | forward, 1024));
                }
            }
        }
        assert_eq!(bins.known.len() as u64, MOST_KNOWN);
    }
}
