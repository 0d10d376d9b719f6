//! Explicit congestion headers, by which senders and routers speak to each other.

use crate::QuickStart;

/// An explicit congestion header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Explicit {
    /// XCP (Katabi, Handley, Rohrs: SIGCOMM 2002).
    Xcp(Xcp),
    /// VCP (Xia, Subramanian, Stoica, Kalyanaraman: SIGCOMM 2005).
    Vcp(Load),
    /// Quick-Start (RFC 4782).
    QuickStart(QuickStart),
}

impl Explicit {
    /// What it takes of a packet.
    pub const fn header_bytes(&self) -> u32 {
        match self {
            Explicit::Xcp(_) => Xcp::HEADER_BYTES,
            Explicit::Vcp(_) => 0, // the two ECN bits of the IP header
            Explicit::QuickStart(_) => QuickStart::OPTION_BYTES,
        }
    }

    /// A receiver that answers for several packets at once echoes what they say together.
    pub fn join(self, later: Explicit) -> Explicit {
        match (self, later) {
            (Explicit::Xcp(a), Explicit::Xcp(b)) => {
                Explicit::Xcp(Xcp { feedback_bytes: a.feedback_bytes + b.feedback_bytes, ..b })
            }
            (Explicit::Vcp(a), Explicit::Vcp(b)) => Explicit::Vcp(a.max(b)),
            (_, later) => later,
        }
    }

    /// Whether receivers echo it on the acknowledgements of data that carry it.
    pub const fn is_echoed(&self) -> bool {
        !matches!(self, Explicit::QuickStart(_))
    }
}

/// What VCP's routers say of their load, in two bits; senders write the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Load {
    /// Multiplicative increase.
    #[default]
    Low,
    /// Additive increase.
    High,
    /// Multiplicative decrease.
    Over,
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
