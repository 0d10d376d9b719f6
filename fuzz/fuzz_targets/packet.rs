//! See `longfat_fuzz::packet`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| longfat_fuzz::packet::check(data));
