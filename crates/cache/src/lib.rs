//! Asks the processor to bring memory into its cache before it is needed. That changes when results come, never which.
//!
//! A crate of its own since the instruction is unsafe to give in stable Rust. `core::hint::prefetch_read` will replace it.

/// Bytes that come into the cache together.
const LINE: usize = 64;

/// Asks for the memory of this value, and mostly goes on at once. Does nothing on processors other than x86-64 and
/// AArch64.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    let (first, bytes) = ((&raw const *value).cast::<u8>(), size_of_val(value));
    let mut offset = 0;
    while offset < bytes {
        prefetch_line(first.wrapping_add(offset));
        offset += LINE;
    }
    if bytes > 1 {
        prefetch_line(first.wrapping_add(bytes - 1)); // it may begin within a line, and end in one more
    }
}

#[inline(always)]
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[expect(unsafe_code, reason = "the intrinsic is unsafe for the sake of processors without SSE")]
fn prefetch_line(at: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has SSE. The instruction changes no memory, and ignores what cannot be read.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[inline(always)]
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[expect(unsafe_code, reason = "stable Rust has no intrinsic for it")]
fn prefetch_line(at: *const u8) {
    // SAFETY: the instruction changes neither memory, registers nor flags, and ignores what cannot be read.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly));
    }
}

#[inline(always)]
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
const fn prefetch_line(_at: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_size_and_place_may_be_asked_for() {
        let bytes: Vec<u8> = (0..=255).collect();
        for first in 0..70 {
            for last in [first, first + 1, first + 63, first + 64, first + 65, 255] {
                prefetch(&bytes[first..last]);
            }
        }
        prefetch(&());
        assert!(bytes.iter().copied().eq(0..=255));
    }
}
