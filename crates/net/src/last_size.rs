//! The size of the last packet and its transmission time: sizes rarely change, and a division is slow.

use longfat_units::{Interval, Rate};

/// A packet's size and transmission time, at first none.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastSize {
    pub bytes: u32,
    pub transmission: Interval,
}

impl LastSize {
    /// How long `bytes` take at this rate, which is always the same.
    #[inline(always)]
    pub fn transmission(&mut self, rate: Rate, bytes: u32) -> Interval {
        if self.bytes != bytes {
            *self = LastSize { bytes, transmission: rate.transmission(bytes) };
        }
        self.transmission
    }
}
