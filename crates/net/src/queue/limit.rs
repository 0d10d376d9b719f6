//! How much a queue holds.

/// How much a queue holds; the packet in transmission does not count (as in ns-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This many packets.
    Packets(u64),
    /// This many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether a packet of `bytes` may join a queue of this length.
    #[inline]
    pub const fn admits(self, queued_packets: u64, queued_bytes: u64, bytes: u32) -> bool {
        match self {
            Limit::Packets(most) => queued_packets < most,
            Limit::Bytes(most) => queued_bytes + bytes as u64 <= most,
        }
    }

    /// The limit in packets of `packet_bytes`.
    pub const fn in_packets(self, packet_bytes: u64) -> u64 {
        match self {
            Limit::Packets(most) => most,
            Limit::Bytes(most) => most / packet_bytes,
        }
    }

    /// How full a queue of this length is: 0 empty, 1 full.
    pub fn share(self, queued_packets: u64, queued_bytes: u64) -> f64 {
        match self {
            Limit::Packets(most) => queued_packets as f64 / most as f64,
            Limit::Bytes(most) => queued_bytes as f64 / most as f64,
        }
    }
}
