//! What the kernel tells about a TCP connection: struct tcp_info of include/uapi/linux/tcp.h. Its fields
//! never move; a field that an older kernel lacks reads as 0.

use crate::sys::socket;
use longfat_units::Interval;
use socket2::Socket;
use std::io::Result;

/// At least as many bytes as any kernel returns.
const MOST_BYTES: usize = 512;
/// The first byte, for a connection that is over.
const TCP_CLOSE: u8 = 7;
/// The first byte, for one that waits for the answer to its request.
const TCP_SYN_SENT: u8 = 2;
/// No slow-start threshold yet (TCP_INFINITE_SSTHRESH).
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// The state of loss recovery (TCP_CA_*).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Nothing to repair, or nothing that is certainly lost.
    #[default]
    Open,
    /// The congestion window is being reduced after a mark, or after a drop in the host's own queue.
    Reducing,
    /// Segments found lost are being repaired.
    Recovery,
    /// A retransmission timeout has expired.
    Loss,
}

/// A connection's state at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpInfo {
    /// The state of loss recovery.
    pub state: State,
    /// Segments.
    pub cwnd: f64,
    /// Segments; infinite at first.
    pub ssthresh: f64,
    /// Whether the connection is open.
    pub connected: bool,
    /// Smoothed round-trip time, once one is measured.
    pub srtt: Option<Interval>,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Payload bytes sent, without retransmissions (Linux 4.19; 0 before).
    pub sent_bytes: u64,
    /// Segments with payload that were sent.
    pub data_segments_sent: u64,
    /// Segments that were retransmitted.
    pub retransmits: u64,
    /// Retransmitted segments that had not been lost: the receiver had them twice (RFC 2883).
    pub duplicates: u64,
    /// Retransmission timeouts (Linux 6.7; 0 before).
    pub timeouts: u64,
    /// How long the connection had something to send or outstanding.
    pub busy: Interval,
    /// The part of that in which the receiver's window held the sender back.
    pub receiver_limited: Interval,
    /// The part of that in which the send buffer did.
    pub buffer_limited: Interval,
}

impl TcpInfo {
    /// Returns the state of this socket now.
    pub fn of(socket: &Socket) -> Result<Self> {
        let mut bytes = [0u8; MOST_BYTES];
        socket::tcp_info(socket, &mut bytes)?;
        Ok(Self::parse(&bytes))
    }

    /// Whether the kernel has finished with this connection: everything including its end was acknowledged,
    /// or the kernel has given up.
    pub fn is_over(socket: &Socket) -> Result<bool> {
        let mut bytes = [0u8; 1];
        socket::tcp_info(socket, &mut bytes)?;
        Ok(bytes[0] == TCP_CLOSE)
    }

    fn parse(bytes: &[u8; MOST_BYTES]) -> Self {
        let u16_at = |at: usize| u64::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]));
        let u32_at = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        let u64_at = |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[at + i]));
        let microseconds = |n: u64| Interval::from_ns(1000 * n);
        let ssthresh = u32_at(76);
        TcpInfo {
            state: match bytes[1] {
                2 => State::Reducing,
                3 => State::Recovery,
                4 => State::Loss,
                _ => State::Open, // 1 is "disorder"
            },
            connected: !matches!(bytes[0], TCP_SYN_SENT | TCP_CLOSE),
            srtt: Some(microseconds(u64::from(u32_at(68)))).filter(|&srtt| srtt > Interval::ZERO),
            ssthresh: if ssthresh == NO_SSTHRESH { f64::INFINITY } else { f64::from(ssthresh) },
            cwnd: f64::from(u32_at(80)),
            retransmits: u64::from(u32_at(100)),
            acked_bytes: u64_at(120).saturating_sub(1), // the SYN counts as one
            sent_bytes: u64_at(200).saturating_sub(u64_at(208)),
            data_segments_sent: u64::from(u32_at(156)),
            busy: microseconds(u64_at(168)),
            receiver_limited: microseconds(u64_at(176)),
            buffer_limited: microseconds(u64_at(184)),
            duplicates: u64::from(u32_at(216)),
            timeouts: u16_at(240),
        }
    }
}
