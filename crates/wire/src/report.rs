//! What receivers of rate-based transports over UDP report to their senders.

use longfat_units::Interval;

/// A receiver's report; it hangs from a packet of kind [`crate::Kind::Ack`].
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// What an acknowledgement of UDT carries beside its cumulative number.
    Udt(UdtReport),
    /// Ranges [start, end) of data packets that have not arrived (a negative acknowledgement, NAK).
    Missing(Vec<(u64, u64)>),
}

/// What an acknowledgement of UDT carries beside its cumulative number (draft-gg-udt-03, section 2, type 0x2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UdtReport {
    /// The acknowledgement's own number, which its acknowledgement (ACK2) returns.
    pub number: u64,
    /// The round-trip time that the receiver has measured by them; none yet at the beginning.
    pub rtt: Option<Interval>,
    /// Packets a second that arrive; 0 if the last ones give no estimate.
    pub arrival_pps: f64,
    /// Packets a second that the path would carry, by packet pairs; 0 while there was none.
    pub capacity_pps: f64,
}
