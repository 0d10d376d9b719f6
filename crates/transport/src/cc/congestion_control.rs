//! What a congestion control is told, and what it may do.

use crate::echoing::Mirror;
use longfat_units::{Interval, Time};
use longfat_wire::Explicit;

/// The least window a loss leaves (RFC 5681, equation 4): two segments.
pub const LEAST_SSTHRESH: f64 = 2.0;

/// What one acknowledgement told the sender.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Segments by which the window may count it: those newly acknowledged under byte counting (RFC 3465, in
    /// slow-start at most 2), else 1.
    pub acked: f64,
    /// Segments that reached the receiver according to this acknowledgement and not to any before (cumulative and SACK).
    pub newly_delivered: u32,
    /// Round-trip time measured by this acknowledgement (timestamps, or see [`SendingTimes`]), if it gave one.
    pub rtt: Option<Interval>,
    /// The smoothed round-trip time (RFC 6298) including this sample.
    pub srtt: Interval,
    /// The least round-trip time seen on this connection, including this sample.
    pub base_rtt: Interval,
    /// The one-way delay of the segment that triggered it, where the receiver reports it.
    pub one_way_delay: Option<Interval>,
    /// Segments in flight after this acknowledgement (RFC 6675 "pipe").
    pub in_flight: f64,
    /// All segments known to have reached the receiver so far (cumulative and SACK).
    pub delivered: u64,
    /// The next new segment to be sent (segments since the connection began).
    pub next_segment: u64,
    /// The first segment not yet acknowledged.
    pub unacknowledged: u64,
}

/// Why a window has to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Segments were found lost; fast recovery begins.
    Loss,
    /// A router marked a packet (RFC 3168); no segment was lost.
    Mark,
    /// The retransmission timer expired; the sender goes back to one segment.
    Timeout,
}

/// One congestion event: reported once per recovery episode.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Why.
    pub cause: Cause,
    /// When it was noticed.
    pub now: Time,
    /// Segments in flight (RFC 6675 "pipe") when it was noticed.
    pub in_flight: f64,
    /// The smoothed round-trip time.
    pub srtt: Interval,
    /// The least round-trip time seen on this connection.
    pub base_rtt: Interval,
}

/// The congestion window and slow-start threshold, both in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in segments; finite and at least 1.
    pub cwnd: f64,
    /// Slow-start threshold in segments; may be infinite.
    pub ssthresh: f64,
    /// `max_ssthresh` of limited slow-start (RFC 3742) in segments; infinite for the standard one.
    pub max_ssthresh: f64,
}

impl Window {
    /// Whether the connection is in slow-start.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow-start for one acknowledgement that counts `acked` segments: cwnd += acked (RFC 5681), or
    /// cwnd += acked / int(cwnd / (max_ssthresh / 2)) beyond max_ssthresh (RFC 3742). Never beyond ssthresh.
    #[inline]
    pub fn slow_start(&mut self, acked: f64) {
        let step = if self.cwnd <= self.max_ssthresh {
            acked
        } else {
            acked / (self.cwnd / (0.5 * self.max_ssthresh)).floor()
        };
        self.cwnd = (self.cwnd + step).min(self.ssthresh);
    }
}

/// What a record of when each segment left is kept for (Brakmo, Peterson 1995).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendingTimes {
    /// No record: round-trip times come from the timestamp that is echoed.
    Unused,
    /// [`Ack::rtt`] is that of the last segment acknowledged, without the wait of delayed acknowledgements; none if
    /// that segment was sent twice.
    RoundTrips,
    /// The same; and the first unacknowledged segment is sent again once it is older than the timeout without its
    /// floor, at the first duplicate or soon after a retransmission.
    RoundTripsAndLosses,
}

/// A congestion control algorithm.
///
/// The sender calls it; it never sees packets. `on_congestion` sets `w.ssthresh` to the window it wants after the
/// event; the sender's recovery (rate halving, PRR, NewReno...) leads `cwnd` there, or to one segment on a timeout,
/// and keeps both above their least values. `w.cwnd` still holds the window from before the event.
pub trait CongestionControl {
    /// The connection begins; a full segment carries `mss_bytes` of payload. Called once, before anything else.
    fn on_start(&mut self, _mss_bytes: u32) {}

    /// An acknowledgement of new data arrived outside of fast recovery while the window was limiting:
    /// grow (or shrink, for delay-based ones) `w.cwnd`. Starts with slow-start where the algorithm has the standard one:
    /// `if w.in_slow_start() { return w.slow_start(ack.acked); }`
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);

    /// A congestion event: set `w.ssthresh`.
    fn on_congestion(&mut self, event: &Congestion, w: &mut Window);

    /// Any acknowledgement, in recovery too, and before `on_ack`: for measurements. Does not move the window.
    #[inline]
    fn on_sample(&mut self, _ack: &Ack) {}

    /// Whether `on_sample` wants to be called at all.
    #[inline]
    fn wants_samples(&self) -> bool {
        false
    }

    /// What the sender's record of sending times is wanted for. Asked once.
    fn sending_times(&self) -> SendingTimes {
        SendingTimes::Unused
    }

    /// Fast recovery ended; `w.cwnd` is the window to go on with.
    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {}

    /// The last congestion event turned out spurious; the sender has restored `w` to what it was before.
    fn on_undo(&mut self, _w: &mut Window) {}

    /// How often `on_timer` is wanted, if at all. Asked once.
    fn timer_period(&self) -> Option<Interval> {
        None
    }

    /// The periodic timer; not called in recovery.
    fn on_timer(&mut self, _now: Time, _w: &mut Window) {}

    /// The rate at which segments may leave, in segments per second; `None` sends as acknowledgements come in.
    #[inline]
    fn pacing_rate(&self, _w: &Window, _srtt: Interval) -> Option<f64> {
        None
    }

    /// How many bytes of every data packet its explicit congestion header takes; 0 for algorithms without one. Asked
    /// once.
    fn explicit_bytes(&self) -> u32 {
        0
    }

    /// Whether data packets carry an explicit congestion header at all; one in spare bits of others takes no bytes. Asked
    /// once.
    fn has_explicit(&self) -> bool {
        self.explicit_bytes() > 0
    }

    /// The explicit header of a data packet that leaves now, with a window of so many bytes of IP.
    fn explicit(&self, _cwnd_bytes: f64, _srtt: Interval) -> Option<Explicit> {
        None
    }

    /// What the routers made of such headers, echoed by an acknowledgement of new data outside of fast recovery; comes
    /// before `on_ack`. `packet_bytes` is a full packet of IP; `limited` says whether the window, and not the
    /// application or the receiver, is what holds the sender.
    fn on_explicit(&mut self, _echo: &Explicit, _packet_bytes: f64, _limited: bool, _w: &mut Window) {}

    /// What the receiver keeps for it, where that does more than to echo headers; `packet_bytes` is a full packet of IP.
    /// Asked once.
    fn mirror(&self, _packet_bytes: f64) -> Option<Box<dyn Mirror>> {
        None
    }

    /// Named internals for the event log and teaching plots, e.g. `("alpha", 0.3)`.
    fn internals(&self, _out: &mut Vec<(&'static str, f64)>) {}

    /// A failure of a user's own algorithm, taken once; native algorithms cannot fail.
    fn take_failure(&mut self) -> Option<String> {
        None
    }
}
