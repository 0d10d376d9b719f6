//! What the kernel tells of a TCP connection: struct tcp_info of include/uapi/linux/tcp.h, whose fields keep their places
//! for ever; what an older kernel does not have is 0.

use crate::sys;
use longfat_units::Interval;
use std::io::Result;
use std::os::fd::BorrowedFd;

/// As many bytes as any kernel answers.
const MOST_BYTES: usize = 512;
/// The first byte: of a connection that is no more.
const TCP_CLOSE: u8 = 7;
/// No slow-start threshold yet (TCP_INFINITE_SSTHRESH).
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// What loss recovery is at (TCP_CA_*).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Nothing to repair, or nothing that is sure to be lost.
    #[default]
    Open,
    /// The window is being reduced after a mark, or a drop in the host's own queue.
    Reducing,
    /// Repairing what was found lost.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// A connection's state at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpInfo {
    /// Loss recovery.
    pub state: State,
    /// Segments.
    pub cwnd: f64,
    /// Segments; infinite at first.
    pub ssthresh: f64,
    /// Smoothed round-trip time.
    pub srtt: Interval,
    /// Payload bytes acknowledged.
    pub acked_bytes: u64,
    /// Segments with payload that were sent.
    pub data_segments_sent: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Of those, that had not been lost: the receiver had them twice (RFC 2883).
    pub duplicates: u64,
    /// Retransmission timeouts (Linux 6.7; 0 before).
    pub timeouts: u64,
    /// How long something was to be sent or outstanding.
    pub busy: Interval,
    /// Of that, how long the receiver's window held it back.
    pub receiver_limited: Interval,
    /// Of that, how long the send buffer did.
    pub buffer_limited: Interval,
}

impl TcpInfo {
    /// The state of this socket now.
    pub fn of(socket: BorrowedFd<'_>) -> Result<Self> {
        let mut bytes = [0u8; MOST_BYTES];
        sys::tcp_info(socket, &mut bytes)?;
        Ok(Self::parse(&bytes))
    }

    /// Whether the kernel is done with this connection: everything, its end too, was acknowledged, or it was given up.
    pub fn is_over(socket: BorrowedFd<'_>) -> Result<bool> {
        let mut bytes = [0u8; 1];
        sys::tcp_info(socket, &mut bytes)?;
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
            srtt: microseconds(u64::from(u32_at(68))),
            ssthresh: if ssthresh == NO_SSTHRESH { f64::INFINITY } else { f64::from(ssthresh) },
            cwnd: f64::from(u32_at(80)),
            retransmits: u64::from(u32_at(100)),
            acked_bytes: u64_at(120).saturating_sub(1), // the SYN counts as one
            data_segments_sent: u64::from(u32_at(156)),
            busy: microseconds(u64_at(168)),
            receiver_limited: microseconds(u64_at(176)),
            buffer_limited: microseconds(u64_at(184)),
            duplicates: u64::from(u32_at(216)),
            timeouts: u16_at(240),
        }
    }
}
