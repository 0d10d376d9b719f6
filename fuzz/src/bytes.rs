//! Values from a target's bytes, in order; zeros when they have run out.

/// The bytes that are left.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// Whether all have been used.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns up to this many bytes.
    pub fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Returns a number of up to eight bytes.
    pub fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }

    /// Returns a number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.number(2) as usize % n
    }

    /// Returns a number in [least, greatest]; both ends come up, and orders of magnitude where the range has
    /// several.
    pub fn within(&mut self, least: f64, greatest: f64) -> f64 {
        let share = self.number(2) as f64 / f64::from(u16::MAX);
        if least > 0.0 && greatest > 100.0 * least && share > 0.0 && share < 1.0 {
            return (least * (greatest / least).powf(share)).clamp(least, greatest);
        }
        (least + share * (greatest - least)).clamp(least, greatest)
    }
}
