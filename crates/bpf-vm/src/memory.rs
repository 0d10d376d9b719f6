//! The memory that a program sees. An address names a region in its upper half and a byte of it in its lower
//! half, so each access is looked up and checked; arithmetic on a pointer cannot leave its region unnoticed,
//! and a number that is no pointer names none. Nothing outside of the model can be named.

use crate::address::{self, map_of, region, split};
use crate::kernel_model::{self, Model};
use crate::maps::Maps;

/// The bytes of one function's frame.
pub(crate) const FRAME_BYTES: usize = 512;
/// The most frames at a time.
pub(crate) const MOST_FRAMES: usize = 8;
/// The most arguments of a callback.
pub(crate) const MOST_ARGUMENTS: usize = 5;

/// All regions during one callback.
pub(crate) struct Memory<'a> {
    pub model: &'static Model,
    pub arguments: [u64; MOST_ARGUMENTS],
    /// How many of them this callback has.
    pub argument_count: usize,
    pub stack: &'a mut [u8],
    pub sock: &'a mut [u8],
    /// The sample that the callback is told, if any.
    pub sample: &'a [u8],
    pub maps: &'a mut Maps,
    /// The values of maps that never change, by the number of the map.
    pub constants: &'a [Vec<u8>],
}

impl Memory<'_> {
    /// Reads `N` bytes; `None` if the program may not.
    #[inline(always)]
    pub fn load<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let (region, at) = split(address);
        let bytes: &[u8] = match region {
            region::SOCK => self.sock,
            region::STACK => self.stack,
            region::ARGUMENTS => return self.argument(at),
            region::SAMPLE => self.sample,
            _ => return self.slice(address, N)?.try_into().ok(),
        };
        bytes.get(at..at + N)?.try_into().ok()
    }

    /// An argument; one is read whole, or its lower bytes are.
    #[inline(always)]
    fn argument<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let index = at / 8;
        if !at.is_multiple_of(8) || index >= self.argument_count {
            return None;
        }
        self.arguments.get(index)?.to_le_bytes().get(..N)?.try_into().ok()
    }

    /// Writes `N` bytes; `None` if the program may not.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) -> Option<()> {
        let (region, at) = split(address);
        let bytes: &mut [u8] = match region {
            region::STACK => self.stack,
            region::SOCK => {
                let end = usize::from(*self.model.write_ends.get(at)?);
                if at + N > end {
                    return None;
                }
                self.sock
            }
            _ => self.slice_mut(address, N)?.first_chunk_mut::<N>()?,
        };
        let at = if matches!(region, region::STACK | region::SOCK) { at } else { 0 };
        *bytes.get_mut(at..at + N)?.first_chunk_mut()? = value;
        Some(())
    }

    /// The bytes that a helper reads.
    pub fn slice(&self, address: u64, count: usize) -> Option<&[u8]> {
        let (region, at) = split(address);
        match region {
            region::SOCK => self.sock.get(at..at.checked_add(count)?),
            region::STACK => self.stack.get(at..at.checked_add(count)?),
            region::SAMPLE => self.sample.get(at..at.checked_add(count)?),
            _ => {
                let map = map_of(region)?;
                match self.constants.get(map) {
                    Some(values) if !values.is_empty() => values.get(at..at.checked_add(count)?),
                    _ => self.maps.get(map)?.values(at, count),
                }
            }
        }
    }

    /// The bytes that a helper writes: of the stack, or of a map.
    pub fn slice_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        let (region, at) = split(address);
        match region {
            region::STACK => self.stack.get_mut(at..at.checked_add(count)?),
            _ => self.maps.get_mut(map_of(region)?)?.values_mut(at, count),
        }
    }

    /// Reads a text that ends with a zero, `most` bytes at most.
    pub fn text(&self, address: u64, most: usize) -> Option<String> {
        let mut bytes = Vec::new();
        for i in 0..most as u64 {
            match self.load::<1>(address.wrapping_add(i))? {
                [0] => break,
                [byte] => bytes.push(byte),
            }
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Why an access was refused.
    #[cold]
    pub fn denial(&self, address: u64, size: usize, writes: bool) -> String {
        let (at, verb) = (address & 0xffff_ffff, if writes { "writes" } else { "reads" });
        let (region, distance) = self.nearest(address);
        let access = |what: &str, length: usize| {
            let offset = distance;
            if offset >= 0 && offset as usize + size <= length {
                format!("{verb} to {what}, which is read-only").replace("reads to", "reads")
            } else {
                format!("{verb} {size} bytes at offset {offset} of {what}, which has {length}")
            }
        };
        match region {
            Some(region::SOCK) if writes && (0..self.sock.len() as i64).contains(&distance) => {
                let field = kernel_model::field_at(at as usize);
                let end = usize::from(self.model.write_ends[at as usize]);
                if end == 0 {
                    format!("writes {size} bytes to {field}, which the kernel does not permit")
                } else {
                    format!("writes {size} bytes to {field}, beyond its end")
                }
            }
            Some(region::SOCK) => access("the connection", self.sock.len()),
            Some(region::STACK) => access("the stack", self.stack.len()),
            Some(region::ARGUMENTS) => access("its arguments", 8 * self.argument_count),
            Some(region::SAMPLE) => access("the sample", self.sample.len()),
            Some(region::MAP) => format!("{verb} a map itself; only helpers do"),
            Some(region::FUNCTION) => format!("{verb} a function"),
            Some(region) => match map_of(region).and_then(|map| self.maps.get(map)) {
                Some(map) => access(&format!("a value of map {}", map.name()), map.value_bytes()),
                None => format!("{verb} through {address:#x}, which is no pointer"),
            },
            None if address < 4096 => format!("{verb} through a null pointer ({address:#x})"),
            None => format!("{verb} through {address:#x}, which is no pointer"),
        }
    }

    /// The region that an address is in, just before or just beyond, and the distance from its beginning.
    fn nearest(&self, address: u64) -> (Option<u32>, i64) {
        let (region, _) = split(address);
        let is_known = |&r: &u32| {
            use region::{ARGUMENTS, FUNCTION, MAP, SAMPLE, SOCK, STACK};
            let is_map = |r| map_of(r).is_some_and(|map| self.maps.get(map).is_some());
            [ARGUMENTS, STACK, SOCK, SAMPLE, MAP, FUNCTION].contains(&r) || is_map(r)
        };
        let found = [region, region.wrapping_add(1), region.wrapping_sub(1)].into_iter().find(is_known);
        let distance = found.map_or(0, |r| address.wrapping_sub(address::address(r, 0)) as i64);
        (found, distance)
    }
}
