//! A flow with series of its own: its samples and its summary.

use crate::path::Counts;
use crate::tcp_info::{State, TcpInfo};
use longfat_sim::{
    CheckedFlow, EventRow, FlowCounters, FlowFacts, FlowSample, FlowSummary, SampleMean, Series, flow_summary,
};
use longfat_units::{Interval, Time};
use std::sync::Arc;

/// A flow in a run.
pub struct Flow {
    /// Its name in results.
    pub name: String,
    /// When it starts.
    pub start: Time,
    /// Two-way propagation delay.
    pub rtt: Interval,
    /// What is counted of it outside its ends.
    pub counts: Arc<Counts>,
    /// What its kernel last said about it.
    pub info: TcpInfo,
    /// When everything was acknowledged.
    pub completed: Option<Time>,
    /// Samples.
    pub series: Series<FlowSample>,
    /// Whether it has a congestion window: TCP.
    has_cwnd: bool,
    /// Whether its connection is open, or was; `None` for datagrams.
    connected: Option<bool>,
    srtt: SampleMean,
    seen: Time,
    cwnd_integral: f64,
    congestion_events: u64,
    before: FlowCounters,
    summary: Option<FlowSummary>,
}

impl Flow {
    /// A flow that has not started.
    pub fn new(plan: &CheckedFlow, start: Time, rtt: Interval, has_cwnd: bool) -> Self {
        let (cwnd, ssthresh) =
            if has_cwnd { (plan.connection.initial_window, f64::INFINITY) } else { (f64::NAN, f64::NAN) };
        Flow {
            name: plan.name.clone(),
            start,
            rtt,
            counts: Arc::default(),
            info: TcpInfo { cwnd, ssthresh, ..TcpInfo::default() },
            completed: None,
            series: Series::default(),
            has_cwnd,
            connected: has_cwnd.then_some(false),
            srtt: SampleMean::default(),
            seen: start,
            cwnd_integral: 0.0,
            congestion_events: 0,
            before: FlowCounters::default(),
            summary: None,
        }
    }

    /// Records what the kernel says about the flow now. Returns a row of the log if loss recovery has changed
    /// its state since the last look.
    pub fn see(&mut self, now: Time, info: TcpInfo) -> Option<EventRow> {
        self.cwnd_integral += self.info.cwnd * now.since(self.seen).as_secs_f64();
        self.seen = self.seen.max(now);
        let (was, is) = (self.info.state, info.state);
        self.info = info;
        self.connected = self.connected.map(|connected| connected || info.connected);
        if was == is {
            return None;
        }
        self.congestion_events += u64::from(is != State::Open && was == State::Open);
        let what = match is {
            State::Open => "recovered",
            State::Reducing => "mark",
            State::Recovery => "loss",
            State::Loss => "timeout",
        };
        Some(EventRow { time_s: now.as_secs_f64(), flow: self.name.as_str().into(), what, cwnd: info.cwnd })
    }

    /// Adds a row to the series. The mean of the smoothed round-trip time takes in samples of the `measured`
    /// span only.
    pub fn sample(&mut self, now: Time, measured: (Time, Time)) {
        let srtt_s = self.info.srtt.map_or(f64::NAN, Interval::as_secs_f64);
        if (measured.0..=measured.1).contains(&now) && !srtt_s.is_nan() && self.completed.is_none() {
            self.srtt.add(srtt_s);
        }
        let counters = self.counters();
        self.series.push(&FlowSample {
            time_s: now.as_secs_f64(),
            cwnd: self.info.cwnd,
            ssthresh: self.info.ssthresh,
            srtt_s,
            acked_bytes: self.info.acked_bytes as f64,
            delivered_bytes: counters.delivered_bytes as f64,
            received_bytes: counters.received_bytes as f64,
            packets_sent: counters.packets_sent as f64,
            packets_lost: counters.packets_lost as f64,
            retransmits: counters.retransmits as f64,
        });
    }

    fn counters(&self) -> FlowCounters {
        FlowCounters {
            packets_sent: self.counts.packets_sent.get(),
            packets_lost: self.counts.packets_lost.get(),
            received_bytes: self.counts.received_bytes.get(),
            delivered_bytes: self.counts.delivered_bytes.get(),
            retransmits: self.info.retransmits,
            duplicates: self.info.duplicates,
            timeouts: self.info.timeouts,
            congestion_events: self.congestion_events,
            cwnd_integral: self.cwnd_integral,
        }
    }

    /// The measured span begins.
    pub fn begin_measured(&mut self) {
        self.before = self.counters();
    }

    /// The `measured` span ends.
    pub fn end_measured(&mut self, algorithm: &str, measured: (Time, Time)) {
        let facts = FlowFacts {
            name: &self.name,
            algorithm,
            rtt: self.rtt,
            began: self.start,
            connected: self.connected.map(|connected| connected || self.completed.is_some()),
            delivered: Some(self.counts.all_delivered_ns.get()).filter(|&ns| ns > 0).map(Time::from_ns),
            completed: self.completed,
            srtt: self.srtt,
        };
        let before = (measured.0, self.before);
        let summary = flow_summary(facts, before, (measured.1, self.counters()));
        let cwnd_mean = if self.has_cwnd { summary.cwnd_mean } else { f64::NAN };
        self.summary = Some(FlowSummary { cwnd_mean, ..summary });
    }

    /// Takes the flow's summary, once the measured span has ended.
    pub fn take_summary(&mut self) -> Option<FlowSummary> {
        self.summary.take()
    }
}
