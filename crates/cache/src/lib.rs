//! Asks the processor to bring memory into its cache before it is needed. That changes when results come, never which.
//!
//! A crate of its own since the hint is unsafe to give in stable Rust. `core::hint::prefetch_read` will replace it.

/// Bytes that come into the cache together.
const LINE: usize = 64;

/// Asks for the memory of this value, and goes on at once. Does nothing on processors other than x86-64.
#[inline(always)]
pub fn fetch<T: ?Sized>(value: &T) {
    let (first, bytes) = ((&raw const *value).cast::<u8>(), size_of_val(value));
    let mut offset = 0;
    while offset < bytes {
        fetch_line(first.wrapping_add(offset));
        offset += LINE;
    }
    // a value that begins within a line may end in one more
    fetch_line(first.wrapping_add(bytes.saturating_sub(1)));
}

#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the intrinsic asks for SSE, which every x86-64 processor has")]
fn fetch_line(at: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint; the processor ignores addresses that it cannot read.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
const fn fetch_line(_at: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_size_are_as_they_were() {
        let bytes: Vec<u8> = (0..=255).collect();
        for first in 0..70 {
            for last in [first, first + 1, first + 63, first + 64, first + 65, 255] {
                fetch(&bytes[first..last]);
            }
        }
        fetch(&());
        fetch(&[0u64; 0]);
        assert!(bytes.iter().copied().eq(0..=255));
    }
}
