//! See `longfat_fuzz::plan`. Most inputs change a document's values; some change its bytes.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| longfat_fuzz::plan::check(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 16 > 0
        && let Some(text) = longfat_fuzz::json::changed(&data[..size], seed)
        && text.len() <= max_size
    {
        data[..text.len()].copy_from_slice(text.as_bytes());
        return text.len();
    }
    fuzzer_mutate(data, size, max_size)
});
