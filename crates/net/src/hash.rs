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

    /// The bin of a packet's flow, below `bins`. The two directions of a connection are separate flows, as they have
    /// different addresses.
    pub fn bin_of<P: Packet>(self, packet: &P, bins: usize) -> usize {
        let flow = u64::from(packet.flow().0) << 1 | u64::from(packet.kind().is_forward());
        self.bin(flow, bins)
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
