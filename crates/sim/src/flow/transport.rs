//! What a flow speaks: the machines of its ends, as planned.

use super::NewFlow;
use super::host::HostClock;
use super::machines::{AnyReceiver, AnySender, OtherReceiver, OtherSender};
use crate::plan::{ConnectionPlan, PlanError, ReductionPlan, RttSamplesPlan, SlowStart, rate};
use longfat_transport::cc::Recovery;
use longfat_transport::cc::{self, CongestionControl, Controller};
use longfat_transport::{
    Echoing, QuickStartRequest, Receiver, ReceiverConfig, Reduction, RttSamples, Sender, SenderConfig, udp,
};
use longfat_units::{Interval, Stream};
use longfat_wire::{QuickStart, RateCode};

/// What a connection speaks.
pub enum Transport {
    /// TCP, with this instance of an algorithm and this way to find and repair losses.
    Tcp(Box<Controller>, Recovery),
    /// A protocol over UDP.
    Udp(&'static udp::Protocol),
}

impl Transport {
    /// What this plan asks for; `custom` makes a user's own algorithm.
    pub fn new(
        plan: &ConnectionPlan,
        custom: &mut dyn FnMut() -> Option<Controller>,
    ) -> Result<Self, PlanError> {
        let missing = |what: String| PlanError { at: "algorithm".to_owned(), what };
        if let Some(protocol) = udp::find(&plan.algorithm) {
            return Ok(Transport::Udp(protocol));
        }
        let (controller, own) = if plan.algorithm == "custom" {
            let made =
                custom().ok_or_else(|| missing("no algorithm was handed over for this flow".to_owned()))?;
            (made, Recovery::Sack)
        } else {
            let row = cc::find(&plan.algorithm)
                .ok_or_else(|| missing(format!("there is no algorithm {:?}", plan.algorithm)))?;
            (row.instance(&plan.values()).map_err(|e| missing(e.to_string()))?, row.recovery)
        };
        let recovery = match (plan.sack, own) {
            (Some(true), _) => Recovery::Sack,
            (Some(false), Recovery::Sack) => Recovery::NewReno,
            _ => own,
        };
        Ok(Transport::Tcp(Box::new(controller), recovery))
    }

    /// The machines of both ends.
    pub(super) fn ends(
        self,
        plan: &ConnectionPlan,
        clock: &HostClock,
        new: &NewFlow<'_>,
    ) -> Result<(AnySender, AnyReceiver), PlanError> {
        match self {
            Transport::Tcp(controller, recovery) => Ok(tcp(plan, *controller, recovery, clock, new)),
            Transport::Udp(protocol) => {
                let config = udp::Config {
                    flow: new.id,
                    mss_bytes: plan.mss_bytes,
                    header_bytes: plan.header_bytes,
                    bytes: new.bytes,
                    line: rate("access_rate_bps", plan.access_rate_bps)?,
                    host_tick: clock.tick,
                    tick_phase: clock.phase,
                    rto_min: Interval::from_secs_f64(plan.rto_min_s),
                };
                let stream = Stream::new(new.seed, &format!("{}/udp", new.stream_name));
                let (sender, receiver) = protocol
                    .ends(&plan.values(), &config, stream)
                    .map_err(|e| PlanError { at: "parameters".to_owned(), what: e.to_string() })?;
                let (sender, receiver) = (OtherSender::Udp(sender), OtherReceiver::Udp(receiver));
                Ok((AnySender::Other(Box::new(sender)), AnyReceiver::Other(Box::new(receiver))))
            }
        }
    }
}

/// A request for this rate, with a QS TTL and a nonce of its own.
fn request(bps: f64, new: &NewFlow<'_>) -> QuickStartRequest {
    let mut stream = Stream::new(new.seed, &format!("{}/quick-start", new.stream_name));
    QuickStartRequest {
        rate: RateCode::at_most(bps),
        ttl: stream.below(1 << u8::BITS) as u8,
        nonce: stream.below(1 << QuickStart::NONCE_BITS) as u32,
    }
}

fn tcp(
    plan: &ConnectionPlan,
    controller: Controller,
    recovery: Recovery,
    clock: &HostClock,
    new: &NewFlow<'_>,
) -> (AnySender, AnyReceiver) {
    let sender = SenderConfig {
        flow: new.id,
        mss_bytes: plan.mss_bytes,
        header_bytes: plan.header_bytes,
        bytes: new.bytes,
        initial_window: plan.initial_window,
        initial_ssthresh: plan.initial_ssthresh.unwrap_or(f64::INFINITY),
        max_window: plan.max_window.unwrap_or(f64::INFINITY),
        max_ssthresh: if plan.slow_start == SlowStart::Limited { plan.max_ssthresh } else { f64::INFINITY },
        byte_counting: plan.byte_counting,
        recovery,
        reduction: match plan.recovery {
            ReductionPlan::RateHalving => Reduction::RateHalving,
            ReductionPlan::Prr => Reduction::Prr,
        },
        host_tick: clock.tick,
        tick_phase: clock.phase,
        rtt_samples: match plan.rtt_samples {
            RttSamplesPlan::Echoed => RttSamples::Echoed,
            RttSamplesPlan::Last => RttSamples::Last,
        },
        rto_min: Interval::from_secs_f64(plan.rto_min_s),
        ecn: plan.ecn,
        quick_start: plan.quick_start_bps.map(|bps| request(bps, new)),
    };
    let receiver = ReceiverConfig {
        flow: new.id,
        delayed_ack: plan.delayed_ack.then(|| Interval::from_secs_f64(plan.delayed_ack_timeout_s)),
        sack: recovery == Recovery::Sack,
        uncounted_hops: 1, // the router before the first link
    };
    let receiver = Receiver::new(receiver);
    if !controller.has_explicit() && sender.quick_start.is_none() {
        return (AnySender::Tcp(Sender::new(sender, controller)), AnyReceiver::Tcp(receiver));
    }
    let mirror = controller.mirror(f64::from(plan.mss_bytes + plan.header_bytes));
    (
        AnySender::Other(Box::new(OtherSender::Explicit(Sender::new(sender, controller)))),
        AnyReceiver::Other(Box::new(OtherReceiver::Explicit(Echoing::new(receiver, mirror)))),
    )
}
