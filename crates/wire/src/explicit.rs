//! Explicit congestion headers, by which senders and routers speak to each other.

use crate::Address;

/// An explicit congestion header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Explicit {
    /// XCP (Katabi, Handley, Rohrs: SIGCOMM 2002).
    Xcp(Xcp),
}

impl Explicit {
    /// What it takes of a packet.
    pub const fn header_bytes(&self) -> u32 {
        match self {
            Explicit::Xcp(_) => Xcp::HEADER_BYTES,
        }
    }

    /// A receiver that answers for several packets at once echoes what they say together.
    pub fn join(self, later: Explicit) -> Explicit {
        match (self, later) {
            (Explicit::Xcp(a), Explicit::Xcp(b)) => {
                Explicit::Xcp(Xcp { feedback_bytes: a.feedback_bytes + b.feedback_bytes, ..b })
            }
        }
    }
}

/// The XCP congestion header.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Xcp {
    /// The sender's current window in bytes.
    pub cwnd_bytes: f64,
    /// The sender's current round-trip time estimate in seconds; 0 while it has none.
    pub rtt_s: f64,
    /// Window change in bytes: what the sender wishes, then what the routers on the path leave of it.
    pub feedback_bytes: f64,
}

impl Xcp {
    /// Its length, on data and on acknowledgements (draft-falk-xcp-spec-03, congestion header).
    pub const HEADER_BYTES: u32 = 20;

    /// Whether the sender knows its round-trip time and window, without which a router cannot tell it anything.
    pub fn is_measured(&self) -> bool {
        self.rtt_s > 0.0 && self.cwnd_bytes > 0.0
    }
}

/// What routers that count their own kind write beside an explicit header (XCP-i: Lopez Pacheco 2008, section 4.4):
/// a second time-to-live, and which of them a packet has passed last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trail {
    /// Like the IP header's, but only these routers count it down.
    pub ttl: u8,
    /// The last of them; none yet on leaving the sender.
    pub last_router: Option<Address>,
}

impl Trail {
    /// The time-to-live that a sender gives a packet, in both headers (Linux: net.ipv4.ip_default_ttl).
    pub const TTL: u8 = 64;
}

impl Default for Trail {
    fn default() -> Self {
        Trail { ttl: Trail::TTL, last_router: None }
    }
}
