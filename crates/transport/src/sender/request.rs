//! A Quick-Start request (RFC 4782) and its progress.

use longfat_units::{Interval, Time};
use longfat_wire::RateCode;

/// The request that a sender makes with its connection request.
#[derive(Clone, Copy, Debug)]
pub struct QuickStartRequest {
    /// The rate.
    pub rate: RateCode,
    /// QS TTL, at random.
    pub ttl: u8,
    /// QS nonce, at random.
    pub nonce: u32,
}

/// The progress of the request.
#[derive(Clone, Copy, Debug)]
pub(super) enum QuickStart {
    /// The request is under way. `ttl_difference` is the IP header's TTL less the option's, modulo 256.
    Asked { request: QuickStartRequest, ttl_difference: u8 },
    /// The first data packet still has to report that nothing was approved.
    Refused,
    /// The window is being sent: when its next segment is due.
    Sending { rate: RateCode, due: Time, gap: Interval },
    /// The whole window, the segments below `end`, has been sent.
    Sent { end: u64 },
}
