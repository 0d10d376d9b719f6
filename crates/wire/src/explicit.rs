//! Explicit congestion headers, by which senders and routers speak to each other.

/// An explicit congestion header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Explicit {
    /// XCP (Katabi, Handley, Rohrs: SIGCOMM 2002).
    Xcp(Xcp),
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
