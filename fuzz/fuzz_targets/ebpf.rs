//! See `longfat_fuzz::ebpf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| longfat_fuzz::ebpf::check(data));
