//! What receivers of rate-based transports over UDP report to their senders.

use longfat_units::Interval;

/// A receiver's report, carried by a packet of kind `Ack`.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// What an acknowledgement of UDT carries besides its cumulative number.
    Udt(UdtReport),
    /// Ranges [start, end) of data packets that have not arrived (a negative acknowledgement, NAK).
    Missing(Vec<(u64, u64)>),
    /// What the receiver of PTP queries has found out about the path.
    Ptp(PtpReport),
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

/// What PTP queries have shown of the path (Welzl: draft-welzl-ptp-03, 2000).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PtpReport {
    /// How many PTP routers there are on the path.
    pub routers: u8,
    /// The capacity of the link with the least unused capacity, bit/s; 0 before two queries of each router
    /// have arrived.
    pub capacity_bps: f64,
    /// What left over that link between the last two queries, bit/s of IP.
    pub traffic_bps: f64,
}
