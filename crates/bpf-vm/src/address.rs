//! Addresses of the model: the upper half names a region, the lower half a byte of it.

/// The regions, as the upper halves of addresses. They lie apart, so that a pointer before or beyond one
/// names none.
pub(crate) mod region {
    pub const ARGUMENTS: u32 = 0xffff_c010;
    pub const STACK: u32 = 0xffff_c020;
    pub const SOCK: u32 = 0xffff_c030;
    pub const SAMPLE: u32 = 0xffff_c040;
    /// A map itself, of which only helpers know the inside.
    pub const MAP: u32 = 0xffff_c050;
    /// A function, for helpers that call it.
    pub const FUNCTION: u32 = 0xffff_c060;
    /// The values of map 0; those of each further one are 4 apart.
    pub const VALUES: u32 = 0xffff_d000;
}

/// The most maps of an object.
pub(crate) const MOST_MAPS: usize = 256;

/// The address of a byte of a region.
pub(crate) const fn address(region: u32, offset: u32) -> u64 {
    (region as u64) << 32 | offset as u64
}

/// The address of a byte of a map's values.
pub(crate) const fn value_address(map: usize, offset: u32) -> u64 {
    address(region::VALUES + 4 * map as u32, offset)
}

/// The region of an address, and the byte in it.
pub(crate) const fn split(address: u64) -> (u32, usize) {
    ((address >> 32) as u32, (address & 0xffff_ffff) as usize)
}

/// The map whose values an address names.
pub(crate) const fn map_of(region: u32) -> Option<usize> {
    match region.checked_sub(region::VALUES) {
        Some(distance) if distance % 4 == 0 => Some(distance as usize / 4),
        _ => None,
    }
}
