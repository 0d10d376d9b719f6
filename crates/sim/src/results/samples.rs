//! The samples of a run. A simulation and a live run fill the same structs.

use super::series::{Series, sample};
use crate::model::flow::{Flow, ReceiverSnapshot, SenderSnapshot};
use crate::model::link::Link;
use longfat_units::{Interval, Time};
use longfat_wire::Packet;
use std::sync::Arc;

sample! {
    /// A sample of a flow; counters are since the flow's start.
    FlowSample {
        /// When, seconds.
        time_s,
        /// Congestion window, segments; NaN without one.
        cwnd,
        /// Slow-start threshold, segments; NaN without one.
        ssthresh,
        /// Smoothed round-trip time, seconds; NaN before the first measurement, and where there is none.
        srtt_s,
        /// Payload acknowledged in order, bytes.
        acked_bytes,
        /// Payload handed to the receiving application, bytes.
        delivered_bytes,
        /// IP bytes of data that reached the receiver, duplicates included.
        received_bytes,
        /// Data packets sent, retransmissions included.
        packets_sent,
        /// Data packets that the network dropped.
        packets_lost,
        /// Data packets sent again.
        retransmits,
    }
}

sample! {
    /// A sample of a link; counters are since the run's start.
    LinkSample {
        /// When, seconds.
        time_s,
        /// Packets waiting.
        queue_packets,
        /// Bytes waiting.
        queue_bytes,
        /// Packets that came to the link.
        packets_in,
        /// Packets whose transmission has begun.
        packets_out,
        /// Packets that the queue dropped.
        packets_dropped,
        /// Packets that the queue marked.
        packets_marked,
        /// Packets that the loss process took.
        packets_lost,
        /// IP bytes whose transmission has begun.
        bytes_out,
        /// Active flows as the queue estimates them; NaN if it does not.
        flows_estimated,
        /// The link's capacity at this moment, bit/s.
        capacity_bps,
    }
}

sample! {
    /// A background connection that is complete.
    TransferSample {
        /// Index of its background.
        group,
        /// When it started, seconds.
        start_s,
        /// How long it took, seconds.
        duration_s,
        /// Payload, bytes.
        bytes,
        /// How long it took until its last byte was with the receiving application, seconds; NaN if that is
        /// unknown.
        delivery_s,
    }
}

sample! {
    /// A sample of a quantity that a flow's algorithm knows of itself.
    InternalSample {
        /// When, seconds.
        time_s,
        /// The quantity, in the unit of its name.
        value,
    }
}

/// What algorithms know of themselves: the quantities of each flow, by name.
pub type Internals = Vec<(String, Series<InternalSample>)>;

impl FlowSample {
    /// Samples a flow just before anything happens at `now`, a sample time.
    pub fn of(flow: &mut Flow, now: Time) -> Self {
        let (sender, receiver) = (flow.sending.at(now), flow.receiving.at(now));
        Self::with(flow, &sender, receiver, now)
    }

    /// The state of a flow whose ends have not run ahead of `now`, what was set at this time included.
    pub fn present(flow: &Flow, now: Time) -> Self {
        Self::with(flow, &flow.sending.present(now), flow.receiving.present(), now)
    }

    fn with(flow: &Flow, sender: &SenderSnapshot, receiver: ReceiverSnapshot, now: Time) -> Self {
        FlowSample {
            time_s: now.as_secs_f64(),
            cwnd: sender.window.cwnd,
            ssthresh: sender.window.ssthresh,
            srtt_s: sender.srtt.map_or(f64::NAN, Interval::as_secs_f64),
            acked_bytes: sender.acked_bytes as f64,
            delivered_bytes: flow.sending.sender.payload_delivered(receiver.delivered, receiver.concealed)
                as f64,
            received_bytes: receiver.received_bytes as f64,
            packets_sent: sender.counters.packets_sent as f64,
            packets_lost: flow.packets_lost as f64,
            retransmits: sender.counters.retransmits as f64,
        }
    }
}

impl LinkSample {
    /// Samples a link just before anything happens at `now`.
    pub fn of<P: Packet + Clone + Default + Send + 'static>(link: &mut Link<P>, now: Time) -> Self {
        let (occupancy, counters) = link.settle(now);
        LinkSample {
            time_s: now.as_secs_f64(),
            queue_packets: occupancy.packets() as f64,
            queue_bytes: occupancy.bytes() as f64,
            packets_in: counters.packets_in as f64,
            packets_out: counters.packets_out as f64,
            packets_dropped: counters.packets_dropped as f64,
            packets_marked: counters.marks.iter().sum::<u64>() as f64,
            packets_lost: counters.packets_lost as f64,
            bytes_out: counters.bytes_out as f64,
            flows_estimated: link.flows_estimated().unwrap_or(f64::NAN),
            capacity_bps: link.capacity.bps(now),
        }
    }
}

/// One line of the event log.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// When, seconds.
    pub time_s: f64,
    /// The flow's name; its rows share the text.
    pub flow: Arc<str>,
    /// What happened, in one word.
    pub what: &'static str,
    /// Congestion window then, segments.
    pub cwnd: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::series::{Sample, Series};

    #[test]
    fn each_value_stands_in_the_column_of_its_name() {
        let sample =
            TransferSample { bytes: 4.0, duration_s: 3.0, group: 1.0, start_s: 2.0, delivery_s: 2.5 };
        let mut series = Series::default();
        series.push(&sample);
        assert_eq!(TransferSample::COLUMNS, ["group", "start_s", "duration_s", "bytes", "delivery_s"]);
        let columns = ["group", "start_s", "duration_s", "bytes"].map(|name| series.column(name));
        assert_eq!(columns, [Some(&[1.0][..]), Some(&[2.0]), Some(&[3.0]), Some(&[4.0])]);
        assert_eq!(series.column("time_s"), None);
    }
}
