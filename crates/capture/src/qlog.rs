//! A tap that logs what each TCP sender does in qlog, a file a flow.
//!
//! | part | source |
//! |---|---|
//! | file | draft-ietf-quic-qlog-main-schema-14: QlogFileSeq in JSON text sequences (RFC 7464), one trace a file |
//! | events | draft-ietf-quic-qlog-quic-events-13: packets, and the events of recovery |
//! | version 0.3 | draft-ietf-quic-qlog-main-schema-02 and -quic-events-02, which tools such as qvis read; other names of the same events |
//!
//! What TCP does in QUIC's words (chosen here):
//!
//! | qlog | of the sender |
//! |---|---|
//! | packet number | data packets are numbered as they are sent, retransmissions too: a segment that is sent again has a new number, as in QUIC |
//! | packet type | `1RTT` |
//! | packets acked, ranges of an ACK frame | the numbers under which the segments were last sent that this acknowledgement reports first |
//! | packet lost | the number under which a segment was sent before, when it is sent again |
//! | congestion window, ssthresh | segments times the payload of a full one; ssthresh only once it is set |
//! | rtt_variance | RTTVAR of RFC 6298 |
//! | latest_rtt | since the time that the acknowledgement echoes (RFC 7323); none without timestamps |
//! | pto_count | timeouts in a row |

use crate::stream::{Stream, said};
use longfat_net::DropReason;
use longfat_sim::{CheckedConnection, Tap};
use longfat_transport::{SenderView, Stage};
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, SimPacket};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

const RECORD_SEPARATOR: u8 = 0x1e;
/// The greatest ssthresh that means anything, bytes: above it, it is not set.
const MOST_SSTHRESH: f64 = 1e15;

/// Which qlog is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Version {
    /// The current drafts.
    #[default]
    Current,
    /// Version 0.3 of 2022.
    V0_3,
}

/// Names of events.
#[derive(Clone, Copy)]
enum Event {
    Sent,
    Received,
    Acked,
    Lost,
    Metrics,
    State,
}

impl Version {
    const fn name(self, event: Event) -> &'static str {
        match (self, event) {
            (Version::Current, Event::Sent) => "quic:packet_sent",
            (Version::Current, Event::Received) => "quic:packet_received",
            (Version::Current, Event::Acked) => "quic:packets_acked",
            (Version::Current, Event::Lost) => "quic:packet_lost",
            (Version::Current, Event::Metrics) => "quic:recovery_metrics_updated",
            (Version::Current, Event::State) => "quic:congestion_state_updated",
            (Version::V0_3, Event::Sent) => "transport:packet_sent",
            (Version::V0_3, Event::Received) => "transport:packet_received",
            (Version::V0_3, Event::Acked) => "transport:packets_acked",
            (Version::V0_3, Event::Lost) => "recovery:packet_lost",
            (Version::V0_3, Event::Metrics) => "recovery:metrics_updated",
            (Version::V0_3, Event::State) => "recovery:congestion_state_updated",
        }
    }

    /// Why congestion control comes to a state: in any words today, while version 0.3 had two of its own.
    const fn cause(self, stage: Stage) -> Option<&'static str> {
        match (self, stage) {
            (Version::Current, Stage::Recovery) => Some("loss"),
            (Version::Current, Stage::Reducing) => Some("ecn"),
            (Version::Current, Stage::Loss) => Some("timeout"),
            (Version::V0_3, Stage::Reducing) => Some("ECN"),
            _ => None,
        }
    }

    /// The first record of a file.
    fn header(self, program: &str, name: &str, algorithm: &str) -> Value {
        let title = format!("flow {name} ({algorithm})");
        let from = json!({"name": "sender", "type": "client"});
        match self {
            Version::Current => json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": title,
                "description": format!("a TCP sender simulated by {program}, in QUIC's words"),
                "trace": {
                    "common_fields": {
                        "group_id": name,
                        "time_format": "relative_to_epoch",
                        "reference_time": {"clock_type": "system", "epoch": "1970-01-01T00:00:00.000Z"},
                    },
                    "vantage_point": from,
                    "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
                },
            }),
            Version::V0_3 => json!({
                "qlog_version": "0.3",
                "qlog_format": "JSON-SEQ",
                "title": title,
                "description": format!("a TCP sender simulated by {program}, in QUIC's words"),
                "trace": {
                    "common_fields": {"group_id": name, "time_format": "absolute"},
                    "vantage_point": from,
                },
            }),
        }
    }
}

/// The log of one sender.
struct Log {
    stream: Stream,
    version: Version,
    /// Whole records that are not in the file yet.
    records: Vec<u8>,
    timestamps: bool,
    header_bytes: u32,
    /// Data packets so far, and packets of the receiver.
    sent: u64,
    received: u64,
    /// The first segment that is not acknowledged, and the numbers under which it and those above it were
    /// last sent; `None` once it is reported.
    base: u64,
    numbers: VecDeque<Option<u64>>,
    /// The metrics as last written.
    metrics: Map<String, Value>,
    stage: Option<Stage>,
}

/// Logs the TCP senders of a simulated run.
pub struct Qlog {
    /// By the index of the flow; none of flows over UDP.
    logs: Vec<Option<Log>>,
}

impl Qlog {
    /// Begins the logs of these flows: the file of each, its name and its connection. Flows over UDP have
    /// none.
    pub fn create<'a>(
        version: Version,
        program: &str,
        flows: impl Iterator<Item = (PathBuf, &'a str, &'a CheckedConnection)>,
    ) -> io::Result<Self> {
        let logs = flows
            .map(|(path, name, connection)| {
                if matches!(connection.control(), longfat_sim::Control::Udp(..)) {
                    return Ok(None);
                }
                let mut log = Log {
                    stream: Stream::create(&path)?,
                    version,
                    records: Vec::new(),
                    timestamps: connection.timestamps,
                    header_bytes: connection.header_bytes,
                    sent: 0,
                    received: 0,
                    base: 0,
                    numbers: VecDeque::new(),
                    metrics: Map::new(),
                    stage: None,
                };
                log.record(&version.header(program, name, connection.algorithm.listed_name()));
                log.flush();
                match log.stream.take_failure() {
                    Some(error) => Err(error),
                    None => Ok(Some(log)),
                }
            })
            .collect::<io::Result<_>>()?;
        Ok(Qlog { logs })
    }

    /// Writes what is left. Returns the first reason why something is missing, if anything is.
    pub fn finish(self) -> Option<String> {
        self.logs
            .into_iter()
            .flatten()
            .filter_map(|mut log| {
                log.flush();
                log.stream.take_failure().map(|error| said(&error))
            })
            .reduce(|first, _| first)
    }
}

impl Log {
    fn record(&mut self, record: &Value) {
        self.records.push(RECORD_SEPARATOR);
        self.records.extend_from_slice(record.to_string().as_bytes());
        self.records.push(b'\n');
        if Stream::is_much(self.records.len()) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.stream.write(&self.records);
        self.records.clear();
    }

    fn event(&mut self, now: Time, event: Event, data: Value) {
        self.record(&json!({"time": ms(now.as_ns()), "name": self.version.name(event), "data": data}));
    }

    /// A packet of the receiver.
    fn take(&mut self, now: Time, packet: &SimPacket) {
        let number = self.received;
        self.received += 1;
        let acked = if packet.kind == Kind::Ack { self.acknowledge(packet) } else { Vec::new() };
        let mut data = json!({
            "header": {"packet_type": "1RTT", "packet_number": number},
            "raw": {"length": packet.bytes},
        });
        if !acked.is_empty() {
            data["frames"] = json!([{"frame_type": "ack", "acked_ranges": ranges(&acked)}]);
        }
        self.event(now, Event::Received, data);
        if !acked.is_empty() {
            let data = json!({"packet_number_space": "application_data", "packet_numbers": acked});
            self.event(now, Event::Acked, data);
        }
    }

    /// The numbers of the packets that an acknowledgement reports first, ascending.
    fn acknowledge(&mut self, packet: &SimPacket) -> Vec<u64> {
        let mut acked = Vec::new();
        while self.base < packet.seq {
            let Some(number) = self.numbers.pop_front() else { break };
            acked.extend(number);
            self.base += 1;
        }
        for (start, end) in packet.sack().iter() {
            let place = |segment: u64| segment.saturating_sub(self.base) as usize;
            let (from, to) = (place(start), place(end).min(self.numbers.len()));
            if from < to {
                acked.extend(self.numbers.range_mut(from..to).filter_map(Option::take));
            }
        }
        acked.sort_unstable();
        acked
    }

    /// A data packet of the sender.
    fn send(&mut self, now: Time, packet: &SimPacket, stage: Stage) {
        let number = self.sent;
        self.sent += 1;
        let place = packet.seq.saturating_sub(self.base) as usize;
        let again = packet.seq < self.base + self.numbers.len() as u64;
        if again && let Some(lost) = self.numbers.get_mut(place).and_then(Option::take) {
            let trigger = if stage == Stage::Loss { "pto_expired" } else { "reordering_threshold" };
            let data = json!({"header": {"packet_type": "1RTT", "packet_number": lost}, "trigger": trigger});
            self.event(now, Event::Lost, data);
        }
        if self.numbers.len() <= place {
            self.numbers.resize(place + 1, None);
        }
        if let Some(slot) = self.numbers.get_mut(place) {
            *slot = Some(number);
        }
        let bytes = u32::from(packet.bytes);
        let mut data = json!({
            "header": {"packet_type": "1RTT", "packet_number": number},
            "raw": {"length": bytes, "payload_length": bytes.saturating_sub(self.header_bytes)},
        });
        if again {
            let cause = if stage == Stage::Loss { "retransmit_timeout" } else { "retransmit_reordered" };
            data["trigger"] = json!(cause);
        }
        self.event(now, Event::Sent, data);
    }

    /// Writes the metrics that have changed.
    fn measure(&mut self, now: Time, latest: Option<Interval>, sender: &SenderView) {
        let mss = f64::from(sender.mss_bytes);
        let bytes = |segments: f64| (segments * mss) as u64;
        let mut found = Map::new();
        if let Some(srtt) = sender.srtt {
            let base = sender.base_rtt.map(|rtt| ("min_rtt", json!(ms(rtt.as_ns()))));
            let latest = latest.map(|rtt| ("latest_rtt", json!(ms(rtt.as_ns()))));
            let smoothed = [
                ("smoothed_rtt", json!(ms(srtt.as_ns()))),
                ("rtt_variance", json!(ms(sender.rtt_variation.as_ns()))),
            ];
            found.extend(base.into_iter().chain(smoothed).chain(latest).map(|(k, v)| (k.to_owned(), v)));
        }
        found.insert("pto_count".to_owned(), json!(sender.backoffs.min(u32::from(u16::MAX))));
        found.insert("congestion_window".to_owned(), json!(bytes(sender.window.cwnd)));
        found.insert("bytes_in_flight".to_owned(), json!(bytes(sender.in_flight as f64)));
        if sender.window.ssthresh * mss < MOST_SSTHRESH {
            found.insert("ssthresh".to_owned(), json!(bytes(sender.window.ssthresh)));
        }
        found.insert("packets_in_flight".to_owned(), json!(sender.in_flight));
        if let Some(pace) = sender.pace.filter(|pace| pace.is_finite()) {
            let packet = 8.0 * (mss + f64::from(self.header_bytes));
            found.insert("pacing_rate".to_owned(), json!((pace * packet) as u64));
        }
        found.retain(|name, value| self.metrics.get(name) != Some(value));
        if !found.is_empty() {
            self.metrics.extend(found.clone());
            self.event(now, Event::Metrics, Value::Object(found));
        }
    }

    /// Writes the state of congestion control if it is another one.
    fn state(&mut self, now: Time, sender: &SenderView) {
        let before = self.stage.replace(sender.stage);
        if before == Some(sender.stage) {
            return;
        }
        let mut data = Map::new();
        if let Some(before) = before {
            data.insert("old".to_owned(), json!(word(before)));
        }
        data.insert("new".to_owned(), json!(word(sender.stage)));
        let trigger = self.version.cause(sender.stage);
        data.extend(trigger.map(|cause| ("trigger".to_owned(), json!(cause))));
        self.event(now, Event::State, Value::Object(data));
    }
}

impl Tap for Qlog {
    fn opens(&mut self, _now: Time, _flow: usize, _name: &str, _connection: &CheckedConnection) {}

    fn enters(&mut self, _now: Time, _link: usize, _packet: &SimPacket) {}

    fn leaves(&mut self, _now: Time, _link: usize, _packet: &SimPacket, _arrival: Time, _last: bool) {}

    fn drops(&mut self, _now: Time, _link: usize, _packet: &SimPacket, _reason: DropReason) {}

    fn acts(
        &mut self,
        now: Time,
        flow: usize,
        taken: Option<&SimPacket>,
        sent: &mut dyn Iterator<Item = &SimPacket>,
        sender: &SenderView,
    ) {
        let Some(Some(log)) = self.logs.get_mut(flow) else { return };
        let mut latest = None;
        if let Some(packet) = taken {
            let before = log.base;
            log.take(now, packet);
            let told = log.timestamps && (packet.kind == Kind::SynAck || log.base > before);
            latest = told.then(|| now.since(packet.stamp));
        }
        log.state(now, sender);
        log.measure(now, latest, sender);
        for packet in sent.filter(|packet| packet.kind == Kind::Data) {
            log.send(now, packet, sender.stage);
        }
    }
}

/// Nanoseconds as qlog has times.
fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

const fn word(stage: Stage) -> &'static str {
    match stage {
        Stage::Opening => "opening",
        Stage::SlowStart => "slow_start",
        Stage::Avoidance => "congestion_avoidance",
        Stage::Reducing => "reducing",
        Stage::Recovery => "recovery",
        Stage::Loss => "loss",
        Stage::Done => "done",
    }
}

/// Ascending numbers as ranges, first and last included.
fn ranges(numbers: &[u64]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some(range) if range[1] + 1 == number => range[1] = number,
            _ => ranges.push([number, number]),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_one_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), [[1, 3], [7, 7], [9, 10]]);
        assert!(ranges(&[]).is_empty());
    }
}
