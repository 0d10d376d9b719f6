//! Asks the processor to bring memory into its cache before it is needed. That changes when results come,
//! never which.
//!
//! Stable Rust counts the instruction as unsafe. `core::hint::prefetch_read` will replace it when that is
//! stable.

/// Bytes that come into the cache together.
const LINE: usize = 64;

/// Asks for the memory of this value, and mostly goes on at once. Does nothing on processors other than
/// x86-64 and AArch64.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    each_line((&raw const *value).cast(), size_of_val(value), prefetch_line);
}

/// Calls `ask` with an address in each line of so many bytes from `first` on.
#[inline(always)]
fn each_line(first: *const u8, bytes: usize, mut ask: impl FnMut(*const u8)) {
    let mut offset = 0;
    while offset < bytes {
        ask(first.wrapping_add(offset));
        offset += LINE;
    }
    if bytes > 1 {
        ask(first.wrapping_add(bytes - 1)); // they may begin within a line, and end in one more
    }
}

#[inline(always)]
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[expect(unsafe_code, reason = "the intrinsic is unsafe for the sake of processors without SSE")]
fn prefetch_line(at: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has SSE. The instruction changes no memory, and ignores what cannot be
    // read.
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
    fn each_line_of_a_value_is_asked_for_wherever_it_begins_and_no_other_is() {
        for first in 4096..4096 + LINE {
            for bytes in (0..3 * LINE).chain([496, 1376]) {
                let mut asked = Vec::new();
                each_line(core::ptr::without_provenance(first), bytes, |at| asked.push(at.addr() / LINE));
                asked.dedup();
                let mut lines: Vec<_> = (first..first + bytes).map(|at| at / LINE).collect();
                lines.dedup();
                assert_eq!(asked, lines, "{bytes} bytes at {first}");
            }
        }
    }

    #[test]
    fn values_are_as_they_were_once_asked_for() {
        let bytes: Vec<u8> = (0..=255).collect();
        prefetch(&bytes[3..200]);
        prefetch(&());
        assert!(bytes.iter().copied().eq(0..=255));
    }
}
