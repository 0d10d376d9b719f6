//! NRED's Bloom filter (Li, Su: Random early detection with flow number estimation and queue length feedback
//! control, Journal of Systems Architecture 52(6), 2006; as Lopez Pacheco 2008 describes it in section
//! 6.3.2).
//!
//! ```text
//! interval:  L levels of P bins begin empty, N_act = 0
//! packet:    L hashes of its flow, one a level; if any of their bins was empty, N_act grows by one; all are filled
//! ```

use super::Counter;
use crate::hash::Hash;
use longfat_units::Stream;

/// L and P; chosen here: 500 flows are counted less than 1 % low.
const LEVELS: usize = 4;
const BINS: usize = 1024;

/// The filter, and N_act of this interval and of the last.
#[derive(Clone, Debug)]
pub struct Bloom {
    hashes: [Hash; LEVELS],
    filled: Vec<bool>,
    active: u64,
    last: u64,
}

impl Bloom {
    /// An empty filter with hashes drawn at random.
    pub fn new(draws: &mut Stream) -> Self {
        let hashes = core::array::from_fn(|_| Hash::new(draws));
        Bloom { hashes, filled: vec![false; LEVELS * BINS], active: 0, last: 0 }
    }
}

impl Counter for Bloom {
    fn see(&mut self, flow: u64, _draws: &mut Stream) {
        let mut new = false;
        for (level, hash) in self.hashes.iter().enumerate() {
            let bin = &mut self.filled[level * BINS + hash.bin(flow, BINS)];
            new |= !core::mem::replace(bin, true);
        }
        self.active += u64::from(new);
    }

    fn end_interval(&mut self) {
        self.filled.fill(false);
        self.last = core::mem::take(&mut self.active);
    }

    fn flows(&self) -> Option<f64> {
        (self.last > 0).then_some(self.last as f64)
    }
}
