//! What receivers of rate-based transports over UDP report to their senders.

use longfat_units::Interval;

/// A receiver's report, carried by a packet of kind `Ack`.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// What an acknowledgement of UDT carries besides its cumulative number.
    Udt(UdtReport),
    /// Ranges [start, end) of data packets that have not arrived (a negative acknowledgement, NAK).
    Missing(Vec<(u64, u64)>),
}

/// What an acknowledgement of UDT carries besides its cumulative number (draft-gg-udt-03, section 2, type
/// 0x2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UdtReport {
    /// The acknowledgement's own number, which the sender's ACK2 returns.
    pub number: u64,
    /// The round-trip time that the receiver has measured with ACK2; `None` at first.
    pub rtt: Option<Interval>,
    /// Packets per second that arrive; 0 if the last ones do not tell.
    pub arrival_pps: f64,
    /// Packets per second that the path would carry, from packet pairs; 0 before the first pair.
    pub capacity_pps: f64,
}
