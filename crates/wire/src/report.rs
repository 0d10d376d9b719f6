//! What the ends of rate-based transports over UDP tell each other beside data.

use longfat_units::{Interval, Time};

/// One message. Those from the receiver travel in packets of kind `Ack`.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// What an acknowledgement of UDT carries besides its cumulative number.
    Udt(UdtReport),
    /// Ranges [start, end) of data packets that have not arrived (a negative acknowledgement, NAK).
    Missing(Vec<(u64, u64)>),
    /// What the receiver of PTP queries has found out about the path.
    Ptp(PtpReport),
    /// All packets before this one have arrived: SABUL's ACK, and Tsunami's request to stop.
    Arrived(u64),
    /// The receiver's clock has ticked (SABUL's SYN).
    Tick,
    /// The error rate that Tsunami's client sees, in thousandths of a per cent.
    ErrorRate(f64),
    /// Tsunami's client wants everything from this block on again.
    Restart(u64),
    /// One segment of RBUDP's bitmap of a payload.
    Bitmap {
        /// Ranges [start, end) of packets that have not arrived, among those that this segment covers.
        missing: Vec<(u64, u64)>,
        /// Whether it is the last segment of the bitmap.
        last: bool,
        /// When the DONE left that it answers (the timestamp that TCP echoes, RFC 7323).
        asked_at: Time,
    },
    /// RBUDP's DONE, from the sender in a packet of kind `AckAck`: this blast of the payload is over.
    Done {
        /// The number of the blast since the connection opened.
        blast: u64,
        /// The payload's packets, [start, end).
        payload: (u64, u64),
    },
    /// The type of a block of Tsunami that is not an original, in the packet of the block itself.
    Block {
        /// The file's last block (TERMINATE); otherwise a retransmission that was asked for.
        last: bool,
    },
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
