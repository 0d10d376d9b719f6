//! See `longfat_fuzz::queue`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| longfat_fuzz::queue::check(data));
