//! The trait of congestion controls: what they learn, and what they may change.

use longfat_units::{Interval, Time};
use longfat_wire::Explicit;
use std::borrow::Cow;

/// The least window a loss leaves (RFC 5681, equation 4): two segments.
pub const LEAST_SSTHRESH: f64 = 2.0;
/// The greatest congestion window and receiver window, segments: more than any path holds.
pub const MOST_CWND: f64 = 1e9;

/// What one acknowledgement tells the algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// The number of segments that it counts for: with byte counting (RFC 3465) those newly acknowledged, in
    /// slow-start at most the flow's `slow_start_limit`, by default 2; otherwise 1.
    pub acked: f64,
    /// Segments that this acknowledgement is the first to report as received (cumulative and SACK).
    pub newly_delivered: u32,
    /// The round-trip time that this acknowledgement measured, if it did. It comes from the echoed timestamp
    /// (RFC 7323) and includes the receiver's wait before a delayed acknowledgement; the algorithm's
    /// [`SendingTimes`](super::SendingTimes) and the flow's `rtt_samples` choose another measurement.
    pub rtt: Option<Interval>,
    /// The smoothed round-trip time (RFC 6298) including this sample; zero before the first.
    pub srtt: Interval,
    /// The least round-trip time seen on this connection, including this sample; `None` before the first.
    pub base_rtt: Option<Interval>,
    /// The one-way delay of the segment that triggered it, if the receiver reports it.
    pub one_way_delay: Option<Interval>,
    /// Segments in flight after this acknowledgement (RFC 6675 "pipe").
    pub in_flight: f64,
    /// All segments known to have reached the receiver so far (cumulative and SACK).
    pub delivered: u64,
    /// The next new segment to be sent (segments since the connection began).
    pub next_segment: u64,
    /// The first segment not yet acknowledged.
    pub unacknowledged: u64,
    /// For `on_ack`: the window is in use, so it may grow (`sender/usage.rs`). Where it is not, the sender
    /// takes back what `on_ack` grows.
    pub may_grow: bool,
}

/// What one acknowledgement tells of marks, of a flow with more [`Feedback`] than the classic one.
#[derive(Clone, Copy, Debug)]
pub struct MarkSample {
    /// When it arrived.
    pub now: Time,
    /// Segments that it is the first to report as received (cumulative and SACK).
    pub delivered: u64,
    /// Segments that it is the first to report as marked. With counters this may be more than it delivers.
    pub marked: u64,
    /// The next new segment to be sent (segments since the connection began).
    pub next_segment: u64,
    /// The first segment not yet acknowledged.
    pub unacknowledged: u64,
    /// The smoothed round-trip time (RFC 6298); it includes the sample of this acknowledgement.
    pub srtt: Interval,
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

/// One congestion event: reported once per recovery episode, and where the scenario says so for each timeout
/// in it.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Why.
    pub cause: Cause,
    /// When the sender noticed it.
    pub now: Time,
    /// Segments in flight (RFC 6675 "pipe") at that time.
    pub in_flight: f64,
    /// The smoothed round-trip time; zero before the first sample.
    pub srtt: Interval,
    /// The least round-trip time seen on this connection; `None` before the first sample.
    pub base_rtt: Option<Interval>,
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

/// Quantities of an algorithm with their names, e.g. FAST's `alpha`. Names end in their unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Internals(Vec<(Cow<'static, str>, f64)>);

impl Internals {
    /// Adds a quantity.
    pub fn push(&mut self, (name, value): (&'static str, f64)) {
        self.0.push((Cow::Borrowed(name), value));
    }

    /// Sets a quantity, which is added if there is none of this name.
    pub fn record(&mut self, name: &str, value: f64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((Cow::Owned(name.to_owned()), value)),
        }
    }

    /// The quantities, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<(&'static str, f64)> for Internals {
    fn extend<T: IntoIterator<Item = (&'static str, f64)>>(&mut self, more: T) {
        more.into_iter().for_each(|quantity| self.push(quantity));
    }
}

/// How far the repair of losses has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing is being repaired.
    None,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was outstanding then is acknowledged.
    Timeout,
}

/// What a model-based algorithm learns when the connection opens.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// When the answer to the request arrived.
    pub now: Time,
    /// The round-trip time of the request, unless it is unknown.
    pub rtt: Option<Interval>,
    /// The receiver acknowledges selectively (C.has_selective_acks), so several losses in a round trip can be
    /// found.
    pub selective: bool,
}

/// What one acknowledgement tells a model-based algorithm (draft-ietf-ccwg-bbr, sections "Per-ACK Rate Sample
/// State" and "Transport Connection State"); data count in segments.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// When it arrived.
    pub now: Time,
    /// The delivery rate, segments per second (RS.delivery_rate). `None` if the acknowledgement delivered
    /// nothing, or in less time than the least round-trip time.
    pub rate: Option<f64>,
    /// Segments delivered since the newest segment that it delivered had left (RS.delivered); 0 if there is
    /// none.
    pub delivered: u64,
    /// What had been delivered when that segment left (RS.prior_delivered), if there is one.
    pub prior_delivered: Option<u64>,
    /// The application did not fill the window when that segment left (RS.is_app_limited).
    pub app_limited: bool,
    /// Segments in flight when that segment had left (RS.tx_in_flight).
    pub tx_in_flight: u64,
    /// Segments found lost since that segment left (RS.lost).
    pub lost: u64,
    /// The round-trip time of that segment, if it was sent once (RS.rtt).
    pub rtt: Option<Interval>,
    /// When that segment left, the last time if it was sent again (P.send_time).
    pub left: Option<Time>,
    /// Segments that this acknowledgement is the first to report as received (RS.newly_acked).
    pub newly_delivered: u64,
    /// Segments that it showed to be lost (RS.newly_lost).
    pub newly_lost: u64,
    /// All segments delivered so far (C.delivered).
    pub total_delivered: u64,
    /// All segments found lost so far, each time that they were (C.lost).
    pub total_lost: u64,
    /// Segments in flight before it arrived.
    pub prior_in_flight: u64,
    /// Segments in flight now (C.inflight; RFC 6675 "pipe").
    pub in_flight: u64,
    /// The smoothed round-trip time (C.srtt).
    pub srtt: Interval,
    /// When pacing lets the next segment leave (C.next_send_time); it may have passed.
    pub next_departure: Time,
    /// The window, and not pacing, the application or the receiver, stopped the last transmission.
    pub window_limited: bool,
    /// The window is in use, so it may grow (`sender/usage.rs`; RFC 9002, section 7.8; RFC 7661, section
    /// 4.3).
    pub may_grow: bool,
    /// The application or the receiver stopped the last transmission.
    pub source_limited: bool,
    /// How far the repair of losses has come, after this acknowledgement.
    pub repair: Repair,
}

/// A segment that was found lost (draft-ietf-ccwg-bbr, HandleLostPacket); data count in segments.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// When it was found.
    pub now: Time,
    /// Its number (segments since the connection began).
    pub segment: u64,
    /// When it left, the last time if it was sent again (P.send_time).
    pub left: Time,
    /// Segments in flight when it had left (P.tx_in_flight).
    pub tx_in_flight: u64,
    /// Segments found lost since it left, itself included (C.lost - P.lost).
    pub lost: u64,
    /// The application did not fill the window when it left (P.is_app_limited).
    pub app_limited: bool,
    /// All segments delivered so far (C.delivered).
    pub total_delivered: u64,
}

/// What echoed an explicit header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Echo {
    /// The answer to the connection request ([`Explicit::is_answered`]). The time of the exchange, or zero if
    /// the request was sent twice and nobody knows which one was answered.
    Connection(Interval),
    /// An acknowledgement of new data outside of fast recovery, before `on_ack`.
    Data {
        /// The window, and not the application or the receiver, limits the sender.
        limited: bool,
    },
    /// An acknowledgement in fast recovery, of new data or not. The window belongs to the recovery.
    Recovery,
}

/// A congestion control algorithm: what it does over time. What it is stands in its row
/// ([`Properties`](super::Properties)).
///
/// A model-based algorithm moves the window itself in every phase; the next paragraph holds for all others.
///
/// The sender calls it; it never sees packets. `on_congestion` sets `w.ssthresh` to the window that the
/// algorithm wants after the event. The sender's recovery (rate halving, PRR, NewReno...) then moves `cwnd`
/// there, or to one segment on a timeout, and applies the floors: two segments for ssthresh, one for cwnd.
/// During `on_congestion`, `w.cwnd` still holds the window from before the event.
pub trait CongestionControl {
    /// The connection begins; a full segment carries `mss_bytes` of payload, and `seed` is that of the
    /// algorithm's own random draws, which no other component shares. Called once, before anything else.
    fn on_start(&mut self, _mss_bytes: u32, _seed: u64) {}

    /// An acknowledgement of new data arrived outside of fast recovery while the window was in use, or, for
    /// an algorithm that shrinks, while something else was limiting: grow `w.cwnd` (delay-based algorithms
    /// may also shrink it). An algorithm with standard slow-start begins with:
    /// `if w.in_slow_start() { return w.slow_start(ack.acked); }`
    fn on_ack(&mut self, ack: &Ack, w: &mut Window);

    /// A congestion event: set `w.ssthresh`.
    fn on_congestion(&mut self, event: &Congestion, w: &mut Window);

    /// Called for every acknowledgement, also in recovery, before `on_ack`, if the algorithm wants samples:
    /// for measurements. It does not move the window.
    #[inline]
    fn on_sample(&mut self, _ack: &Ack) {}

    /// Called for every acknowledgement if the feedback is not the classic one, also in recovery, before
    /// losses are looked for and before `on_congestion` and `on_ack`. Algorithms without a response of their
    /// own leave `w` alone.
    fn on_marks(&mut self, _sample: &MarkSample, _w: &mut Window) {}

    /// Fast recovery has ended; `w.cwnd` is the window to continue with.
    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {}

    /// The last congestion event turned out spurious; the sender has restored `w` to what it was before.
    fn on_undo(&mut self, _w: &mut Window) {}

    /// The periodic timer has fired; not called in recovery. The sender takes back growth while something
    /// else was limiting.
    fn on_timer(&mut self, _now: Time, _w: &mut Window) {}

    /// The rate at which segments may leave, in segments per second; `None` sends as acknowledgements arrive.
    /// Only an algorithm that paces returns one.
    #[inline]
    fn pacing_rate(&self, _w: &Window, _srtt: Interval) -> Option<f64> {
        None
    }

    /// Model-based: the connection is open.
    fn on_open(&mut self, _opening: &Opening, _w: &mut Window) {}

    /// Model-based: an acknowledgement arrived, in any phase; losses that it shows have been found.
    fn on_delivery(&mut self, _delivery: &Delivery, _w: &mut Window) {}

    /// Model-based: a segment was found lost. On an acknowledgement this comes before `on_delivery`.
    fn on_lost(&mut self, _lost: &LostSegment, _w: &mut Window) {}

    /// Model-based: the retransmission timer has expired, perhaps within an episode; `on_congestion` has been
    /// called if that began one, and `on_lost` for what counts as lost now. The sender has set `w.cwnd` to
    /// what is in flight and one segment more.
    fn on_timeout(&mut self, _now: Time, _w: &mut Window) {}

    /// Model-based: a segment is about to leave, nothing is in flight, and the application has been limiting.
    /// `last_sent` is when the segment before it left, `None` for the first one.
    fn on_restart(&mut self, _now: Time, _last_sent: Option<Time>, _w: &mut Window) {}

    /// Model-based: whether the algorithm itself keeps the path from being filled, so that samples count as
    /// limited by the application. Called after `on_delivery`.
    fn holds_back(&self) -> bool {
        false
    }

    /// The most segments that leave together when pacing lets one leave, at least 1.
    #[inline]
    fn send_quantum(&self) -> f64 {
        1.0
    }

    /// The explicit header of a data packet that leaves now, with a window of `cwnd_bytes` bytes of IP.
    fn explicit(&self, _cwnd_bytes: f64, _srtt: Interval) -> Option<Explicit> {
        None
    }

    /// A header has come back that routers have filled in. `packet_bytes` is a full packet of IP.
    fn on_explicit(&mut self, _header: &Explicit, _packet_bytes: f64, _echo: Echo, _w: &mut Window) {}

    /// What it knows of itself, with names, e.g. `("alpha", 0.3)`: for series and plots. A quantity is absent
    /// as long as it is unknown, such as a least round-trip time before the first one.
    fn internals(&self, _out: &mut Internals) {}

    /// Returns once why a user's own algorithm failed; native algorithms cannot fail.
    fn take_failure(&mut self) -> Option<String> {
        None
    }
}
