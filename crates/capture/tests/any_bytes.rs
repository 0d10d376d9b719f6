//! No bytes make the reader panic.
#![allow(clippy::expect_used, reason = "a test may panic")]

use longfat_capture::flows;
use proptest::prelude::*;

const PCAP: [u8; 24] =
    [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0];
const PCAPNG: [u8; 16] = [0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        form in 0usize..5,
    ) {
        let begin: [&[u8]; 5] = [&[], &PCAP, &PCAPNG, &[0x1f, 0x8b, 8], &ZSTD];
        if let Ok(captured) = flows(&[begin[form], &bytes[..]].concat()[..]) {
            prop_assert!(captured.contents.others() <= captured.contents.packets);
        }
    }
}
