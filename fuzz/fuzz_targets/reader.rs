//! See `longfat_fuzz::reader`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| longfat_fuzz::reader::check(data));
