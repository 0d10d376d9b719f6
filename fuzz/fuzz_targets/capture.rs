//! See `longfat_fuzz::capture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| longfat_fuzz::capture::check(data));
