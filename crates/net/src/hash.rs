//! A salted hash of flows, so that which flows collide cannot be predicted.

use crate::identity::Identities;
use longfat_units::Stream;
use longfat_wire::{FlowId, Packet};

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

/// The bins of this many flows, by index and in one direction or the other, are remembered (chosen here: 64
/// KiB).
const REMEMBERED: usize = 1 << 14;
const UNKNOWN: u32 = u32::MAX;

/// The bins of packets' flows. Those of the flows with the first indices are computed once, since all that a
/// queue does next waits for the bin.
#[derive(Clone, Debug)]
pub struct Bins {
    hash: Hash,
    bins: usize,
    remembered: Vec<u32>,
    identities: Identities,
}

impl Bins {
    /// So many bins, of a hash that is drawn from this stream.
    pub fn new(draws: &mut Stream, bins: usize) -> Self {
        Bins {
            hash: Hash::new(draws),
            bins,
            remembered: vec![UNKNOWN; REMEMBERED],
            identities: Identities::default(),
        }
    }

    /// A flow begins, with this identity.
    pub fn begins(&mut self, flow: FlowId, identity: u64) {
        self.identities.begins(flow, identity);
        let index = 2 * flow.0 as usize;
        self.remembered.iter_mut().skip(index).take(2).for_each(|bin| *bin = UNKNOWN);
    }

    /// The bin of a packet's flow. The two directions of a connection are separate flows, as they have
    /// different addresses.
    #[inline(always)]
    pub fn of<P: Packet>(&mut self, packet: &P) -> usize {
        let index = u64::from(packet.flow().0) << 1 | u64::from(packet.kind().is_forward());
        match self.remembered.get(usize::try_from(index).unwrap_or(usize::MAX)) {
            Some(&bin) if bin != UNKNOWN => bin as usize,
            _ => self.compute(packet.flow(), packet.kind().is_forward()),
        }
    }

    #[inline(never)]
    fn compute(&mut self, flow: FlowId, is_forward: bool) -> usize {
        // indices, and all other small identities, leave the lowest bit to the direction
        let directed = self.identities.of(flow).rotate_left(1) ^ u64::from(is_forward);
        let bin = self.hash.bin(directed, self.bins);
        let index = u64::from(flow.0) << 1 | u64::from(is_forward);
        if let Ok(index) = usize::try_from(index)
            && let Some(remembered) = self.remembered.get_mut(index)
        {
            *remembered = bin as u32;
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
            for flow in [7, 0, REMEMBERED as u32 / 2 - 1, REMEMBERED as u32 / 2, u32::MAX] {
                for (kind, forward) in [(Kind::Data, 1), (Kind::Ack, 0)] {
                    let packet = SimPacket::new(kind, FlowId(flow), 0, 1500, longfat_units::Time::ZERO);
                    assert_eq!(bins.of(&packet), hash.bin(u64::from(flow) << 1 | forward, 1024));
                }
            }
        }
        assert_eq!(bins.remembered.iter().filter(|&&bin| bin != UNKNOWN).count(), 6);
    }
}
