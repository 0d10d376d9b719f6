//! Builds the two ends of a connection from its options.

use super::host::HostClock;
use super::machines::{AnyReceiver, AnySender, OtherReceiver, OtherSender};
use longfat_scenario::plan::{CheckedConnection, Control, PlanError, Streams};
use longfat_scenario::tables::SlowStart;
use longfat_transport::cc::{Controller, Parameters, Properties};
use longfat_transport::{
    Codepoints, Echoing, Feedback, QuickStartRequest, Receiver, ReceiverConfig, Sender, SenderConfig,
    WIDEST_WINDOW, udp,
};
use longfat_units::{Interval, Stream};
use longfat_wire::{Ecn, FlowId, QuickStart, RateCode};

/// What carries one connection: an instance of its algorithm, or a protocol over UDP with its parameters.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
pub enum Carrier<'a> {
    /// TCP.
    Tcp(Controller),
    /// A protocol over UDP.
    Udp(&'static udp::Protocol, &'a Parameters),
}

impl<'a> Carrier<'a> {
    /// The carrier of a connection; `custom` makes a user's own algorithm. The error is that it makes none.
    pub fn new(
        plan: &'a CheckedConnection,
        custom: &mut dyn FnMut() -> Option<Controller>,
    ) -> Result<Self, PlanError> {
        Ok(match plan.control() {
            Control::Udp(protocol, parameters) => Carrier::Udp(protocol, parameters),
            Control::Tcp(row, parameters) => Carrier::Tcp((row.build)(parameters)),
            Control::Custom => {
                let what = "no algorithm was handed over for this flow".to_owned();
                Carrier::Tcp(custom().ok_or_else(|| PlanError { at: "algorithm".to_owned(), what })?)
            }
        })
    }

    /// Builds both ends. `streams` are the connection's; `bytes` is its payload, endless if `None`.
    #[inline(always)]
    pub fn ends(
        self,
        plan: &CheckedConnection,
        id: FlowId,
        bytes: Option<u64>,
        streams: &Streams,
        clock: &HostClock,
    ) -> (AnySender, AnyReceiver) {
        match self {
            Carrier::Tcp(controller) => {
                let Properties { draws, sends_ect1, feedback: needs, loss_detection, .. } =
                    controller.properties;
                let quick_start = plan.quick_start.map(|bps| request(bps, streams.stream("quick-start")));
                let ect1 = plan.ecn.is_l4s() || sends_ect1;
                let feedback = plan.ecn.feedback().max(needs);
                let ect = if ect1 { Ecn::Ect1 } else { Ecn::Capable };
                let ecn = plan.ecn.is_on() || needs != Feedback::Classic;
                let sender = SenderConfig {
                    flow: id,
                    mss_bytes: plan.mss_bytes(),
                    header_bytes: plan.header_bytes,
                    bytes,
                    initial_window: plan.initial_window,
                    initial_ssthresh: plan.initial_ssthresh.unwrap_or(f64::INFINITY),
                    max_window: plan.max_window.unwrap_or(WIDEST_WINDOW),
                    max_burst: plan.max_burst.unwrap_or(f64::INFINITY),
                    max_ssthresh: match plan.slow_start {
                        SlowStart::Limited => plan.max_ssthresh,
                        SlowStart::Standard | SlowStart::HystartPlus | SlowStart::Search => f64::INFINITY,
                    },
                    slow_start_exit: plan.slow_start.exit(),
                    byte_counting: plan.byte_counting,
                    slow_start_limit: plan.slow_start_limit.unwrap_or(f64::INFINITY),
                    loss_detection: plan.loss_detection_used(loss_detection),
                    recovery: plan.recovery_used(),
                    timeout_reductions: plan.timeout_reductions,
                    first_reduction: plan.first_reduction,
                    cwnd_moderation: plan.cwnd_moderation,
                    host_tick: clock.tick(),
                    tick_phase: clock.phase(),
                    rtt_samples: plan.rtt_samples,
                    rto: plan.rto(),
                    timestamps: plan.timestamps,
                    ecn,
                    codepoints: if ecn { Codepoints::new(ect, needs, feedback) } else { Codepoints::NONE },
                    abe: plan.abe,
                    feedback,
                    quick_start,
                    seed: if draws { streams.stream("algorithm").below(u64::MAX) } else { 0 },
                };
                tcp(plan, sender, controller)
            }
            Carrier::Udp(protocol, parameters) => {
                let config = udp::Config {
                    flow: id,
                    mss_bytes: plan.mss_bytes(),
                    header_bytes: plan.header_bytes,
                    bytes,
                    line: plan.access_rate(),
                    host_tick: clock.tick(),
                    tick_phase: clock.phase(),
                    rto_min: Interval::from_secs_f64(plan.rto_min),
                };
                let (sender, receiver) = (protocol.build)(parameters, &config, streams.stream("udp"));
                let (sender, receiver) = (OtherSender::Udp(sender), OtherReceiver::Udp(receiver));
                (AnySender::Other(Box::new(sender)), AnyReceiver::Other(Box::new(receiver)))
            }
        }
    }
}

/// The sender of a connection, without its host and its path, for a caller that drives it by itself. The
/// error is that its algorithm is a user's own or no TCP.
pub fn sender(plan: &CheckedConnection, streams: &Streams) -> Result<Sender, PlanError> {
    let carrier = Carrier::new(plan, &mut || None)?;
    let clock = HostClock::without_ticks(Interval::ZERO);
    match carrier.ends(plan, FlowId(0), None, streams, &clock) {
        (AnySender::Tcp(sender), _) => Ok(sender),
        _ => Err(PlanError { at: "algorithm".to_owned(), what: "this is no plain TCP".to_owned() }),
    }
}

/// A request for this rate, with a QS TTL and a nonce of its own.
fn request(bps: f64, mut stream: Stream) -> QuickStartRequest {
    QuickStartRequest {
        rate: RateCode::at_most(bps),
        ttl: stream.below(1 << u8::BITS) as u8,
        nonce: stream.below(1 << QuickStart::NONCE_BITS) as u32,
    }
}

#[inline(always)]
fn tcp(plan: &CheckedConnection, sender: SenderConfig, controller: Controller) -> (AnySender, AnyReceiver) {
    let receiver = Receiver::new(ReceiverConfig {
        flow: sender.flow,
        delayed_ack: plan.delayed_ack.then(|| Interval::from_secs_f64(plan.delayed_ack_timeout)),
        quick_acks: plan.quick_acks as u32,
        sack: sender.loss_detection.has_sack(),
        sack_compression: Interval::from_secs_f64(plan.sack_compression),
        timestamps: sender.timestamps,
        uncounted_hops: 1, // the router before the first link
    });
    let (feedback, codepoints) = (sender.feedback, sender.codepoints);
    let habits = plan.receiver.habits(codepoints.ect);
    let telling = |receiver, mirror| {
        let echoing = Echoing::new(receiver, mirror)
            .telling(feedback, plan.header_bytes)
            .carrying(codepoints)
            .misbehaving(habits);
        AnyReceiver::Other(Box::new(OtherReceiver::Explicit(echoing)))
    };
    if controller.properties.protocol.is_none() && sender.quick_start.is_none() {
        let receiver = if feedback == Feedback::Classic && habits.is_none() {
            AnyReceiver::Tcp(receiver)
        } else {
            telling(receiver, None)
        };
        return (AnySender::Tcp(Sender::new(sender, controller)), receiver);
    }
    let mirror = match plan.control() {
        Control::Tcp(row, parameters) => {
            row.mirror(parameters, f64::from(plan.mss_bytes() + plan.header_bytes))
        }
        _ => None,
    };
    (
        AnySender::Other(Box::new(OtherSender::Explicit(Sender::new(sender, controller)))),
        telling(receiver, mirror),
    )
}
