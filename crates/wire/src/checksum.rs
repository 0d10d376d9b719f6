//! The Internet checksum: of bytes (RFC 1071), of TCP's and UDP's pseudo-header, and after a change (RFC
//! 1624).

/// Where the addresses are in an IP header, by version.
const ADDRESSES_4: std::ops::Range<usize> = 12..20;
const ADDRESSES_6: std::ops::Range<usize> = 8..40;

/// The word of 16 bits at a place.
pub fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Replaces the word at an even place and updates the checksum over it.
pub fn replace(bytes: &mut [u8], at: usize, value: u16, checksum: usize) {
    let after = updated(word(bytes, checksum), word(bytes, at), value);
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    bytes[checksum..checksum + 2].copy_from_slice(&after.to_be_bytes());
}

/// Updates a checksum after one of its words has changed: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3).
fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!before) + u64::from(after))
}

/// Returns the ones' complement sum over bytes, not folded.
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let last = rest.first().map_or(0, |&high| u64::from(high) << 8);
    words.iter().map(|&word| u64::from(u16::from_be_bytes(word))).sum::<u64>() + last
}

/// Folds a sum to 16 bits.
pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Returns the sum over the pseudo-header of a packet whose IP header is this, with `bytes` of the
/// transport's header and payload.
pub fn pseudo_header(ip: &[u8], six: bool, protocol: u8, bytes: usize) -> u64 {
    let addresses = if six { &ip[ADDRESSES_6] } else { &ip[ADDRESSES_4] };
    sum(addresses) + u64::from(protocol) + bytes as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_after_a_change_is_that_of_rfc_1624s_example() {
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000); // section 4
    }

    #[test]
    fn the_sum_is_that_of_rfc_1071s_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]; // section 3
        assert_eq!((sum(&bytes), fold(sum(&bytes))), (0x2_ddf0, 0xddf2));
    }
}
