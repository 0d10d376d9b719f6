//! The sizes of packets without payload.
//!
//! | packet | IP bytes | source |
//! |---|---|---|
//! | acknowledgement | 52, and the SACK option | IP 20, TCP 20, timestamps 10 (RFC 7323, section 3.2) padded to 12 |
//! | connection request and its answer | 60 | IP 20, TCP 20; options: segment size 4 (RFC 9293), SACK permitted 2 (RFC 2018), timestamps 10, window scale 3 (RFC 7323), padded to 20 |
//! | without timestamps | 40, and 52 | the same options without them; those of a request are padded to 12 |

/// Headers of a data packet that carries timestamps, bytes: those of an acknowledgement.
pub const HEADER_BYTES: f64 = ack_bytes(true) as f64;
/// Payload of a full segment in a 1500-byte packet with these headers, bytes.
pub const USUAL_MSS_BYTES: f64 = 1500.0 - HEADER_BYTES;

/// An acknowledgement without SACK blocks, bytes.
pub const fn ack_bytes(timestamps: bool) -> u16 {
    if timestamps { 52 } else { 40 }
}

/// A connection request, or its answer, bytes.
pub const fn syn_bytes(timestamps: bool) -> u32 {
    if timestamps { 60 } else { 52 }
}
