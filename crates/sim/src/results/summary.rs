//! The summary of a run: what the counters say about the measured span.
//!
//! A summary is the difference between the counters at the two ends of the span.

use crate::model::flow::Flow;
use crate::model::link::{Link, LinkCounters};
use crate::model::workload::offered_bytes;
use longfat_net::{DropReason, Occupancy, Sojourn};
use longfat_scenario::plan::CheckedBackground;
use longfat_transport::SenderCounters;
use longfat_units::{Interval, Time};
use longfat_wire::Packet;
use serde::Serialize;

/// Summary of one flow. Rates are over the part of the flow's own lifetime that lies in the measured span.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// Name.
    pub name: String,
    /// Algorithm as planned.
    pub algorithm: String,
    /// Two-way propagation delay, s.
    pub rtt_s: f64,
    /// When it started, s.
    pub start_s: f64,
    /// IP bytes that reached the receiver, duplicates included, bit/s; NaN if no part of its lifetime is
    /// measured.
    pub throughput_bps: f64,
    /// Payload handed to the application, bit/s; NaN likewise.
    pub goodput_bps: f64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that the network dropped.
    pub packets_lost: u64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Retransmissions of packets that had not been lost.
    pub spurious_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The number of congestion events that the algorithm received.
    pub congestion_events: u64,
    /// packets_lost / packets_sent; NaN if none was sent.
    pub loss_ratio: f64,
    /// Time average of cwnd, segments; NaN without one, and if no part of its lifetime is measured.
    pub cwnd_mean: f64,
    /// Mean of the smoothed round-trip time over the samples, s; NaN if no sample has one.
    pub srtt_mean_s: f64,
    /// Whether its connection was open before the span's end; `None` where there is none to open.
    pub connected: Option<bool>,
    /// When its last byte was with the receiving application, s.
    pub delivered_s: Option<f64>,
    /// When the last byte was acknowledged, s.
    pub completed_s: Option<f64>,
    /// From its start until its last byte was with the receiving application, s.
    pub delivery_time_s: Option<f64>,
    /// From its start until the last byte was acknowledged, s.
    pub completion_time_s: Option<f64>,
}

/// Summary of one link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    /// Name.
    pub name: String,
    /// Rate, bit/s; the mean over the span where it varies.
    pub rate_bps: f64,
    /// Share of the span in which it transmitted; where the rate varies, share of the bits that it could
    /// carry, NaN if that is none.
    pub utilization: f64,
    /// Packets that came to it.
    pub packets_in: u64,
    /// Packets dropped by the queue: the sum of the next five.
    pub packets_dropped: u64,
    /// Dropped because the queue was full.
    pub dropped_full: u64,
    /// Dropped with a probability.
    pub dropped_early: u64,
    /// Dropped because the average queue was too long (RED, CHOKe).
    pub dropped_forced: u64,
    /// Dropped because of a queued packet of the same flow, and that packet itself (CHOKe).
    pub dropped_match: u64,
    /// Dropped because packets had waited too long for too long (CoDel).
    pub dropped_delay: u64,
    /// Packets marked by the queue: the sum of the next two.
    pub packets_marked: u64,
    /// Marked with a probability.
    pub marked_early: u64,
    /// Marked because packets had waited too long for too long (CoDel).
    pub marked_delay: u64,
    /// Packets that the loss process took.
    pub packets_lost: u64,
    /// (dropped + lost) / (in + lost); NaN if nothing came.
    pub loss_ratio: f64,
    /// Time average of the packets waiting.
    pub queue_mean_packets: f64,
    /// Standard deviation over time of the packets waiting.
    pub queue_std_packets: f64,
    /// Most packets waiting.
    pub queue_max_packets: u64,
    /// Most packets that it can hold; packets of 1500 bytes where its limit is in bytes.
    pub queue_limit_packets: u64,
    /// Median waiting time of the packets that it sent, s; absent if it sent none.
    pub sojourn_p50_s: Option<f64>,
    /// 95th percentile of the waiting time, s.
    pub sojourn_p95_s: Option<f64>,
    /// 99th percentile of the waiting time, s.
    pub sojourn_p99_s: Option<f64>,
    /// Mean waiting time in its low-latency queue, s; absent if no packet was ever in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_latency_mean_s: Option<f64>,
    /// 99th percentile of that time, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_latency_p99_s: Option<f64>,
}

/// Summary of one background.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BackgroundSummary {
    /// Name.
    pub name: String,
    /// Connections opened.
    pub transfers_started: u64,
    /// Connections whose data were all acknowledged.
    pub transfers_completed: u64,
    /// Payload handed to applications.
    pub bytes_delivered: u64,
    /// IP bytes that it would send without losses and waiting, bit/s; `None` if it sends as much as it can.
    pub offered_bps: Option<f64>,
    /// IP bytes that reached receivers, bit/s.
    pub throughput_bps: f64,
    /// Data packets sent.
    pub packets_sent: u64,
    /// Data packets that the network dropped.
    pub packets_lost: u64,
}

/// The whole summary.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Flows, in the order of the plan.
    pub flows: Vec<FlowSummary>,
    /// Links, in the order of the plan.
    pub links: Vec<LinkSummary>,
    /// Background traffic, in the order of the plan.
    pub background: Vec<BackgroundSummary>,
    /// Packets that left the first link in the whole run.
    pub packets: u64,
    /// Messages between elements in the whole run; `None` where no element can send any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageCounters>,
}

/// How many messages there were since the start of the run. Messages that were sent and are in none of the
/// other counters are on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageCounters {
    /// Sent by elements.
    pub sent: u64,
    /// Arrived at the element they were addressed to.
    pub delivered: u64,
    /// Dropped by a queue or an element on the way.
    pub dropped: u64,
    /// Lost because no path leads to the element, or because there is no router at the address.
    pub undeliverable: u64,
}

/// Counters of one background at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackgroundCounters {
    /// Connections opened.
    pub started: u64,
    /// Connections whose data were all acknowledged.
    pub completed: u64,
    /// IP bytes of the opened connections that have an end.
    pub offered_bytes: u64,
    /// Payload handed to applications.
    pub bytes_delivered: u64,
    /// IP bytes that reached receivers.
    pub received_bytes: u64,
    /// Data packets sent.
    pub packets_sent: u64,
    /// Data packets that the network dropped.
    pub packets_lost: u64,
}

impl BackgroundCounters {
    /// Counts a new connection with this many IP bytes; `None` for an endless one.
    pub fn open(&mut self, offered_bytes: Option<u64>) {
        self.started += 1;
        self.offered_bytes += offered_bytes.unwrap_or_default();
    }

    /// Adds what one connection has done before `now`.
    pub fn add(&mut self, flow: &mut Flow, now: Time) {
        let (sent, received) = (flow.sending.at(now), flow.receiving.at(now));
        let sender = &flow.sending.sender;
        self.bytes_delivered += sender.payload_delivered(received.delivered, received.concealed);
        self.received_bytes += received.received_bytes;
        self.packets_sent += sent.counters.packets_sent;
        self.packets_lost += flow.packets_lost;
    }
}

/// Summary of a background between two moments with these counters.
pub fn background_summary(
    background: &CheckedBackground,
    (from, before): (Time, BackgroundCounters),
    (to, after): (Time, BackgroundCounters),
) -> BackgroundSummary {
    let seconds = to.since(from).as_secs_f64();
    let of_transfers = after.offered_bytes - before.offered_bytes;
    let packets_sent = after.packets_sent - before.packets_sent;
    let offered = offered_bytes(&background.traffic, of_transfers, packets_sent, &background.connection);
    BackgroundSummary {
        name: background.name.clone(),
        transfers_started: after.started - before.started,
        transfers_completed: after.completed - before.completed,
        bytes_delivered: after.bytes_delivered - before.bytes_delivered,
        offered_bps: offered.map(|bytes| per_second(8.0 * bytes as f64, seconds)),
        throughput_bps: per_second(8.0 * (after.received_bytes - before.received_bytes) as f64, seconds),
        packets_sent,
        packets_lost: after.packets_lost - before.packets_lost,
    }
}

/// Counters of one flow at one moment. A simulation and a live run fill the same struct.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowCounters {
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that the network dropped.
    pub packets_lost: u64,
    /// IP bytes that reached the receiver, duplicates included.
    pub received_bytes: u64,
    /// Payload handed to the application.
    pub delivered_bytes: u64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Data packets that arrived a second time.
    pub duplicates: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The number of congestion events that the algorithm received.
    pub congestion_events: u64,
    /// Integral of cwnd since the start, segment seconds.
    pub cwnd_integral: f64,
}

impl FlowCounters {
    /// The counters just before `now`, a sample time.
    pub fn of(flow: &mut Flow, now: Time) -> Self {
        let (sender, receiver) = (flow.sending.at(now), flow.receiving.at(now));
        let SenderCounters { packets_sent, retransmits, timeouts, congestion_events, .. } = sender.counters;
        FlowCounters {
            packets_sent,
            packets_lost: flow.packets_lost,
            received_bytes: receiver.received_bytes,
            delivered_bytes: flow.sending.sender.payload_delivered(receiver.delivered, receiver.concealed),
            retransmits,
            duplicates: receiver.duplicates,
            timeouts,
            congestion_events,
            cwnd_integral: sender.cwnd_integral,
        }
    }
}

/// Mean of samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleMean {
    sum: f64,
    count: u64,
}

impl SampleMean {
    /// Adds a sample.
    pub fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1;
    }

    /// The mean; NaN without samples.
    pub fn mean(self) -> f64 {
        self.sum / self.count as f64
    }
}

/// The share of `part` in `whole`; NaN if `whole` is 0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}

/// A rate; NaN if `seconds` is 0.
fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { f64::NAN }
}

/// The values of a flow's summary besides its counters.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts<'a> {
    /// Name.
    pub name: &'a str,
    /// Algorithm as planned.
    pub algorithm: &'a str,
    /// Two-way propagation delay.
    pub rtt: Interval,
    /// When it started.
    pub began: Time,
    /// Whether its connection is open, or was; `None` where there is none to open.
    pub connected: Option<bool>,
    /// When the last byte was with the receiving application.
    pub delivered: Option<Time>,
    /// When the last byte was acknowledged.
    pub completed: Option<Time>,
    /// Samples of the smoothed round-trip time.
    pub srtt: SampleMean,
}

/// Summary of a flow between two moments with these counters.
pub fn flow_summary(
    flow: FlowFacts<'_>,
    (from, before): (Time, FlowCounters),
    (to, after): (Time, FlowCounters),
) -> FlowSummary {
    let from = from.max(flow.began).min(to);
    let end = flow.completed.unwrap_or(to).min(to).max(from);
    let seconds = end.since(from).as_secs_f64();
    let packets_sent = after.packets_sent - before.packets_sent;
    let packets_lost = after.packets_lost - before.packets_lost;
    let after_start_s = |at: Time| (at >= flow.began).then(|| at.since(flow.began).as_secs_f64());
    FlowSummary {
        name: flow.name.to_owned(),
        algorithm: flow.algorithm.to_owned(),
        rtt_s: flow.rtt.as_secs_f64(),
        start_s: flow.began.as_secs_f64(),
        throughput_bps: per_second(8.0 * (after.received_bytes - before.received_bytes) as f64, seconds),
        goodput_bps: per_second(8.0 * (after.delivered_bytes - before.delivered_bytes) as f64, seconds),
        packets_sent,
        packets_lost,
        retransmits: after.retransmits - before.retransmits,
        spurious_retransmits: after.duplicates - before.duplicates,
        timeouts: after.timeouts - before.timeouts,
        congestion_events: after.congestion_events - before.congestion_events,
        loss_ratio: ratio(packets_lost, packets_sent),
        cwnd_mean: per_second(after.cwnd_integral - before.cwnd_integral, seconds),
        srtt_mean_s: flow.srtt.mean(),
        connected: flow.connected,
        delivered_s: flow.delivered.map(Time::as_secs_f64),
        completed_s: flow.completed.map(Time::as_secs_f64),
        delivery_time_s: flow.delivered.and_then(after_start_s),
        completion_time_s: flow.completed.and_then(after_start_s),
    }
}

/// Summary of a link between two moments with these counters. Its statistics were restarted at the first.
pub fn link_summary<P: Packet + Clone + Default + Send + 'static>(
    link: &mut Link<P>,
    (from, before): (Time, LinkCounters),
    (to, after, occupancy): (Time, LinkCounters, Occupancy),
) -> LinkSummary {
    let (mean, deviation, most) = occupancy.statistics(from, to);
    let seconds = to.since(from).as_secs_f64();
    let arrived = after.packets_in - before.packets_in;
    let dropped = after.packets_dropped - before.packets_dropped;
    let lost = after.packets_lost - before.packets_lost;
    let busy = after.busy.saturating_sub(before.busy);
    let (rate_bps, utilization) = if link.capacity.is_constant() {
        (link.rate.as_bps() as f64, per_second(busy.as_secs_f64(), seconds))
    } else {
        let carried = link.capacity.bits(from, to);
        // the last bit of a packet leaves at a whole nanosecond, which may be half a nanosecond early
        (per_second(carried, seconds), per_second(after.bits_out - before.bits_out, carried).min(1.0))
    };
    let drops = |reason: DropReason| after.drops[reason as usize] - before.drops[reason as usize];
    let marks = |reason: DropReason| after.marks[reason as usize] - before.marks[reason as usize];
    let with_reason = after.drops.iter().sum::<u64>() - before.drops.iter().sum::<u64>();
    let (name, queue_limit_packets) = (link.name.clone(), link.limit.in_packets(1500));
    let (waits, low_latency) = link.waits();
    LinkSummary {
        name,
        rate_bps,
        utilization,
        packets_in: arrived,
        packets_dropped: dropped,
        dropped_full: dropped - with_reason,
        dropped_early: drops(DropReason::Early),
        dropped_forced: drops(DropReason::Forced),
        dropped_match: drops(DropReason::Match),
        dropped_delay: drops(DropReason::Delay),
        packets_marked: after.marks.iter().sum::<u64>() - before.marks.iter().sum::<u64>(),
        marked_early: marks(DropReason::Early),
        marked_delay: marks(DropReason::Delay),
        packets_lost: lost,
        loss_ratio: ratio(dropped + lost, arrived + lost),
        queue_mean_packets: mean,
        queue_std_packets: deviation,
        queue_max_packets: most,
        queue_limit_packets,
        sojourn_p50_s: waits.percentile_s(0.50),
        sojourn_p95_s: waits.percentile_s(0.95),
        sojourn_p99_s: waits.percentile_s(0.99),
        low_latency_mean_s: low_latency.and_then(Sojourn::mean_s),
        low_latency_p99_s: low_latency.and_then(|waits| waits.percentile_s(0.99)),
    }
}
