//! See `longfat_fuzz::capacity`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| longfat_fuzz::capacity::check(data));
