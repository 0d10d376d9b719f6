//! The figures of a run: what counters say about a window of time.

use crate::flow::Flow;
use crate::link::{Link, LinkCounters};
use crate::messages::MessageCounters;
use crate::workload::Workload;
use longfat_net::{DropReason, Occupancy};
use longfat_transport::SenderCounters;
use longfat_units::Time;
use serde::Serialize;

/// Figures of one flow. Rates are over the part of the flow's own lifetime that lies in the window.
#[derive(Clone, Debug, Serialize)]
pub struct FlowFigures {
    /// Name.
    pub name: String,
    /// Algorithm as planned.
    pub algorithm: String,
    /// Two-way propagation delay, s.
    pub rtt_s: f64,
    /// When it started, s.
    pub start_s: f64,
    /// IP bytes that reached the receiver, duplicates included, bit/s.
    pub throughput_bps: f64,
    /// Payload handed to the application, bit/s.
    pub goodput_bps: f64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that the network dropped.
    pub packets_lost: u64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Those of them that had not been lost.
    pub spurious_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times the algorithm was told of congestion.
    pub congestion_events: u64,
    /// packets_lost / packets_sent.
    pub loss_ratio: f64,
    /// Time average of cwnd, segments.
    pub cwnd_mean: f64,
    /// Mean of the smoothed round-trip time over the samples, s.
    pub srtt_mean_s: f64,
    /// When everything was acknowledged, s.
    pub completed_s: Option<f64>,
}

/// Figures of one link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkFigures {
    /// Name.
    pub name: String,
    /// Rate, bit/s; the mean over the window where it varies.
    pub rate_bps: f64,
    /// Share of the window in which it transmitted; where the rate varies, share of what it could carry.
    pub utilization: f64,
    /// Packets that came to it.
    pub packets_in: u64,
    /// Dropped by the queue: the sum of the next five.
    pub packets_dropped: u64,
    /// Because it was full.
    pub dropped_full: u64,
    /// By a probability.
    pub dropped_early: u64,
    /// Because the average queue was too long (RED, CHOKe).
    pub dropped_forced: u64,
    /// Because of a packet of the same flow (CHOKe), that packet included.
    pub dropped_match: u64,
    /// Because packets had waited too long for too long (CoDel).
    pub dropped_delay: u64,
    /// Marked by the queue: the sum of the next two.
    pub packets_marked: u64,
    /// By a probability.
    pub marked_early: u64,
    /// Because packets had waited too long for too long (CoDel).
    pub marked_delay: u64,
    /// Lost by the loss process.
    pub packets_lost: u64,
    /// (dropped + lost) / (in + lost).
    pub loss_ratio: f64,
    /// Time average of the packets waiting.
    pub queue_mean_packets: f64,
    /// Standard deviation over time.
    pub queue_std_packets: f64,
    /// Most packets waiting.
    pub queue_max_packets: u64,
    /// What it holds, in packets of 1500 bytes where it counts bytes.
    pub queue_limit_packets: u64,
    /// Median of how long the packets that it sent had waited, s; if measured.
    pub sojourn_p50_s: Option<f64>,
    /// Their 95th percentile, s.
    pub sojourn_p95_s: Option<f64>,
    /// Their 99th percentile, s.
    pub sojourn_p99_s: Option<f64>,
}

/// Figures of one background source.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BackgroundFigures {
    /// Name.
    pub name: String,
    /// Connections opened.
    pub transfers_started: u64,
    /// Connections whose data were all acknowledged.
    pub transfers_completed: u64,
    /// Payload handed to applications.
    pub bytes_delivered: u64,
    /// IP bytes that it would send if nothing were lost or waited for, bit/s; `None` if it sends as much as it can.
    pub offered_bps: Option<f64>,
    /// IP bytes that reached receivers, bit/s.
    pub throughput_bps: f64,
    /// Data packets sent.
    pub packets_sent: u64,
    /// Data packets that the network dropped.
    pub packets_lost: u64,
}

/// All figures of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Flows, in the order of the plan.
    pub flows: Vec<FlowFigures>,
    /// Links, in the order of the plan.
    pub links: Vec<LinkFigures>,
    /// Background sources, in the order of the plan.
    pub background: Vec<BackgroundFigures>,
    /// Packets that left the first link in the whole run.
    pub packets: u64,
    /// Messages between elements in the whole run, where there can be any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageCounters>,
}

/// A background source's counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackgroundMark {
    /// Connections opened.
    pub started: u64,
    /// Connections whose data were all acknowledged.
    pub completed: u64,
    /// IP bytes that the connections opened are to carry, where they have an end.
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

impl BackgroundMark {
    /// A connection is opened that is to carry so many IP bytes.
    pub fn open(&mut self, offered_bytes: Option<u64>) {
        self.started += 1;
        self.offered_bytes += offered_bytes.unwrap_or_default();
    }

    /// Adds what one connection has done so far.
    pub fn add(&mut self, flow: &Flow) {
        let (sender, receiver) = (&flow.sending.sender, &flow.receiving.receiver);
        self.bytes_delivered += sender.payload(receiver.delivered());
        self.received_bytes += receiver.received_bytes();
        self.packets_sent += sender.counters().packets_sent;
        self.packets_lost += flow.packets_lost;
    }
}

/// A background source's figures between two moments with these marks.
pub fn background_figures(
    source: &dyn Workload,
    (from, before): (Time, BackgroundMark),
    (to, after): (Time, BackgroundMark),
) -> BackgroundFigures {
    let seconds = to.since(from).as_secs_f64();
    BackgroundFigures {
        name: source.name().to_owned(),
        transfers_started: after.started - before.started,
        transfers_completed: after.completed - before.completed,
        bytes_delivered: after.bytes_delivered - before.bytes_delivered,
        offered_bps: source
            .offered_bytes(
                after.offered_bytes - before.offered_bytes,
                after.packets_sent - before.packets_sent,
            )
            .map(|bytes| per_second(8.0 * bytes as f64, seconds)),
        throughput_bps: per_second(8.0 * (after.received_bytes - before.received_bytes) as f64, seconds),
        packets_sent: after.packets_sent - before.packets_sent,
        packets_lost: after.packets_lost - before.packets_lost,
    }
}

/// A flow's counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowMark {
    sender: SenderCounters,
    received_bytes: u64,
    delivered_bytes: u64,
    duplicates: u64,
    packets_lost: u64,
    cwnd_area: f64,
}

impl FlowMark {
    /// The counters now.
    pub fn of(flow: &mut Flow, now: Time) -> Self {
        let (sender, receiver) = (flow.sending.at(now), flow.receiving.at(now));
        FlowMark {
            sender: sender.counters,
            received_bytes: receiver.received_bytes,
            delivered_bytes: flow.sending.sender.payload(receiver.delivered),
            duplicates: receiver.duplicates,
            packets_lost: flow.packets_lost,
            cwnd_area: sender.cwnd_integral,
        }
    }
}

/// Mean of what is sampled on the grid.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleMean {
    sum: f64,
    count: u64,
}

impl SampleMean {
    /// One more sample.
    pub fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1;
    }

    fn mean(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

/// A flow's figures between two moments with these marks.
pub fn flow_figures(
    flow: &Flow,
    name: &str,
    algorithm: &str,
    (from, before): (Time, FlowMark),
    (to, after): (Time, FlowMark),
    srtt: SampleMean,
) -> FlowFigures {
    let from = from.max(flow.began).min(to);
    let completed = flow.sending.completed(to);
    let end = completed.unwrap_or(to).min(to).max(from);
    let seconds = end.since(from).as_secs_f64();
    let sent = after.sender.packets_sent - before.sender.packets_sent;
    let lost = after.packets_lost - before.packets_lost;
    FlowFigures {
        name: name.to_owned(),
        algorithm: algorithm.to_owned(),
        rtt_s: flow.rtt.as_secs_f64(),
        start_s: flow.began.as_secs_f64(),
        throughput_bps: per_second(8.0 * (after.received_bytes - before.received_bytes) as f64, seconds),
        goodput_bps: per_second(8.0 * (after.delivered_bytes - before.delivered_bytes) as f64, seconds),
        packets_sent: sent,
        packets_lost: lost,
        retransmits: after.sender.retransmits - before.sender.retransmits,
        spurious_retransmits: after.duplicates - before.duplicates,
        timeouts: after.sender.timeouts - before.sender.timeouts,
        congestion_events: after.sender.congestion_events - before.sender.congestion_events,
        loss_ratio: ratio(lost, sent),
        cwnd_mean: per_second(after.cwnd_area - before.cwnd_area, seconds),
        srtt_mean_s: srtt.mean(),
        completed_s: completed.map(Time::as_secs_f64),
    }
}

/// A link's figures between two moments with these counters; its occupancy was restarted at the first.
pub fn link_figures(
    link: &Link,
    (from, before): (Time, LinkCounters),
    (to, after, occupancy): (Time, LinkCounters, Occupancy),
) -> LinkFigures {
    let (mean, deviation, most) = occupancy.figures(from, to);
    let seconds = to.since(from).as_secs_f64();
    let arrived = after.packets_in - before.packets_in;
    let dropped = after.packets_dropped - before.packets_dropped;
    let lost = after.packets_lost - before.packets_lost;
    let busy = after.busy.saturating_sub(before.busy);
    let (rate_bps, utilization) = if link.capacity.is_constant() {
        (link.rate.as_bps() as f64, per_second(busy.as_secs_f64(), seconds))
    } else {
        let carried = link.capacity.bits(from, to);
        // packets end at whole nanoseconds, up to half a one too early
        (per_second(carried, seconds), per_second(after.bits_out - before.bits_out, carried).min(1.0))
    };
    let drops = |reason: DropReason| after.drops[reason as usize] - before.drops[reason as usize];
    let marks = |reason: DropReason| after.marks[reason as usize] - before.marks[reason as usize];
    let with_reason = after.drops.iter().sum::<u64>() - before.drops.iter().sum::<u64>();
    let sojourn = |share| link.sojourn().and_then(|s| s.percentile_s(share));
    LinkFigures {
        name: link.name.clone(),
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
        queue_limit_packets: link.limit.in_packets(1500),
        sojourn_p50_s: sojourn(0.50),
        sojourn_p95_s: sojourn(0.95),
        sojourn_p99_s: sojourn(0.99),
    }
}
