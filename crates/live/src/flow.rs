//! A flow with series of its own: what is seen of it, and its figures for the measurement.

use crate::path::Counts;
use crate::tcp_info::{State, TcpInfo};
use longfat_sim::{EventRow, FLOW_COLUMNS, FlowFigures, FlowPlan, SampleMean, Series, per_second, ratio};
use longfat_units::{Interval, Time};
use std::sync::Arc;

/// A flow's counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    packets_sent: u64,
    packets_lost: u64,
    received_bytes: u64,
    delivered_bytes: u64,
    retransmits: u64,
    duplicates: u64,
    timeouts: u64,
    congestion_events: u64,
    cwnd_area: f64,
}

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
    pub series: Series,
    /// Whether it has a congestion window: TCP.
    has_cwnd: bool,
    srtt: SampleMean,
    seen: Time,
    cwnd_area: f64,
    congestion_events: u64,
    before: Mark,
    figures: Option<FlowFigures>,
}

impl Flow {
    /// A flow that has not started.
    pub fn new(plan: &FlowPlan, start: Time, rtt: Interval, has_cwnd: bool) -> Self {
        let (cwnd, ssthresh) =
            if has_cwnd { (plan.connection.initial_window, f64::INFINITY) } else { (f64::NAN, f64::NAN) };
        Flow {
            name: plan.name.clone(),
            start,
            rtt,
            counts: Arc::default(),
            info: TcpInfo { cwnd, ssthresh, ..TcpInfo::default() },
            completed: None,
            series: Series::new(FLOW_COLUMNS),
            has_cwnd,
            srtt: SampleMean::default(),
            seen: start,
            cwnd_area: 0.0,
            congestion_events: 0,
            before: Mark::default(),
            figures: None,
        }
    }

    /// Records what the kernel says about the flow now. Returns a row of the log if loss recovery has changed
    /// its state since the last look.
    pub fn see(&mut self, now: Time, info: TcpInfo) -> Option<EventRow> {
        self.cwnd_area += self.info.cwnd * now.since(self.seen).as_secs_f64();
        self.seen = self.seen.max(now);
        let (was, is) = (self.info.state, info.state);
        self.info = info;
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
        Some(EventRow { time_s: now.as_secs_f64(), flow: self.name.clone(), what, cwnd: info.cwnd })
    }

    /// Adds a row to the series. The mean of the smoothed round-trip time takes in samples of the `measured`
    /// span only.
    pub fn sample(&mut self, now: Time, measured: (Time, Time)) {
        let rtt_s = self.info.srtt.as_secs_f64();
        if (measured.0..=measured.1).contains(&now) && rtt_s > 0.0 && self.completed.is_none() {
            self.srtt.add(rtt_s);
        }
        let mark = self.mark();
        self.series.push(&[
            now.as_secs_f64(),
            self.info.cwnd,
            self.info.ssthresh,
            rtt_s,
            self.info.acked_bytes as f64,
            mark.delivered_bytes as f64,
            mark.received_bytes as f64,
            mark.packets_sent as f64,
            mark.packets_lost as f64,
            mark.retransmits as f64,
        ]);
    }

    fn mark(&self) -> Mark {
        Mark {
            packets_sent: self.counts.packets_sent.get(),
            packets_lost: self.counts.packets_lost.get(),
            received_bytes: self.counts.received_bytes.get(),
            delivered_bytes: self.counts.delivered_bytes.get(),
            retransmits: self.info.retransmits,
            duplicates: self.info.duplicates,
            timeouts: self.info.timeouts,
            congestion_events: self.congestion_events,
            cwnd_area: self.cwnd_area,
        }
    }

    /// The measurement begins.
    pub fn begin_measurement(&mut self) {
        self.before = self.mark();
    }

    /// The measurement, which covered the `measured` span, ends.
    pub fn end_measurement(&mut self, algorithm: &str, measured: (Time, Time)) {
        let (before, after) = (self.before, self.mark());
        let from = measured.0.max(self.start).min(measured.1);
        let end = self.completed.unwrap_or(measured.1).min(measured.1).max(from);
        let seconds = end.since(from).as_secs_f64();
        let sent = after.packets_sent - before.packets_sent;
        let lost = after.packets_lost - before.packets_lost;
        let bits = |after: u64, before: u64| 8.0 * (after - before) as f64;
        let cwnd_mean = per_second(after.cwnd_area - before.cwnd_area, seconds);
        self.figures = Some(FlowFigures {
            name: self.name.clone(),
            algorithm: algorithm.to_owned(),
            rtt_s: self.rtt.as_secs_f64(),
            start_s: self.start.as_secs_f64(),
            throughput_bps: per_second(bits(after.received_bytes, before.received_bytes), seconds),
            goodput_bps: per_second(bits(after.delivered_bytes, before.delivered_bytes), seconds),
            packets_sent: sent,
            packets_lost: lost,
            retransmits: after.retransmits - before.retransmits,
            spurious_retransmits: after.duplicates - before.duplicates,
            timeouts: after.timeouts - before.timeouts,
            congestion_events: after.congestion_events - before.congestion_events,
            loss_ratio: ratio(lost, sent),
            cwnd_mean: if self.has_cwnd { cwnd_mean } else { f64::NAN },
            srtt_mean_s: self.srtt.mean(),
            completed_s: self.completed.map(Time::as_secs_f64),
        });
    }

    /// Takes the flow's figures, once the measurement has ended.
    pub fn take_figures(&mut self) -> Option<FlowFigures> {
        self.figures.take()
    }
}
