//! What a user's algorithm is told, and the window that it moves, as Python objects: times in seconds, data
//! in segments.

use super::Reads;
use longfat_transport::cc::{Ack, Cause, Congestion, Delivery, LostSegment, Opening, Repair, Window};
use longfat_units::Interval;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The longest name of a quantity, bytes.
const LONGEST_NAME: usize = 64;

/// A smoothed round-trip time; `None` before the first sample.
fn smoothed_s(srtt: Interval) -> Option<f64> {
    (srtt != Interval::ZERO).then(|| srtt.as_secs_f64())
}

/// What one acknowledgement told the sender; times in seconds, the rest in segments.
#[pyclass(name = "Ack", frozen, module = "longfat._core")]
pub struct PyAck {
    #[pyo3(get)]
    now_s: f64,
    #[pyo3(get)]
    acked: f64,
    #[pyo3(get)]
    newly_delivered: u32,
    rtt_s: Option<f64>,
    #[pyo3(get)]
    srtt_s: Option<f64>,
    #[pyo3(get)]
    base_rtt_s: Option<f64>,
    #[pyo3(get)]
    one_way_delay_s: Option<f64>,
    #[pyo3(get)]
    in_flight: f64,
    #[pyo3(get)]
    delivered: u64,
    /// Set when the round-trip time is read.
    reads_rtt: Reads,
}

impl PyAck {
    /// The acknowledgement, of which `reads_rtt` learns whether its round-trip time is read.
    pub fn new(ack: &Ack, reads_rtt: Reads) -> Self {
        PyAck {
            now_s: ack.now.as_secs_f64(),
            acked: ack.acked,
            newly_delivered: ack.newly_delivered,
            rtt_s: ack.rtt.map(|t| t.as_secs_f64()),
            srtt_s: smoothed_s(ack.srtt),
            base_rtt_s: ack.base_rtt.map(Interval::as_secs_f64),
            one_way_delay_s: ack.one_way_delay.map(|t| t.as_secs_f64()),
            in_flight: ack.in_flight,
            delivered: ack.delivered,
            reads_rtt,
        }
    }
}

#[pymethods]
impl PyAck {
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.reads_rtt.set();
        self.rtt_s
    }
}

/// A congestion event: cause "loss", "mark" or "timeout".
#[pyclass(name = "Congestion", frozen, get_all, module = "longfat._core")]
pub struct PyCongestion {
    cause: &'static str,
    now_s: f64,
    in_flight: f64,
    srtt_s: Option<f64>,
    base_rtt_s: Option<f64>,
}

impl From<&Congestion> for PyCongestion {
    fn from(event: &Congestion) -> Self {
        PyCongestion {
            cause: match event.cause {
                Cause::Loss => "loss",
                Cause::Mark => "mark",
                Cause::Timeout => "timeout",
            },
            now_s: event.now.as_secs_f64(),
            in_flight: event.in_flight,
            srtt_s: smoothed_s(event.srtt),
            base_rtt_s: event.base_rtt.map(Interval::as_secs_f64),
        }
    }
}

/// The opening of a connection.
#[pyclass(name = "Opening", frozen, get_all, module = "longfat._core")]
pub struct PyOpening {
    now_s: f64,
    rtt_s: Option<f64>,
    selective: bool,
}

impl From<&Opening> for PyOpening {
    fn from(opening: &Opening) -> Self {
        PyOpening {
            now_s: opening.now.as_secs_f64(),
            rtt_s: opening.rtt.map(|t| t.as_secs_f64()),
            selective: opening.selective,
        }
    }
}

/// What one acknowledgement says of deliveries: see [`Delivery`].
#[pyclass(name = "Delivery", frozen, get_all, module = "longfat._core")]
pub struct PyDelivery {
    now_s: f64,
    rate: Option<f64>,
    delivered: u64,
    prior_delivered: Option<u64>,
    app_limited: bool,
    tx_in_flight: u64,
    lost: u64,
    rtt_s: Option<f64>,
    newly_delivered: u64,
    newly_lost: u64,
    total_delivered: u64,
    total_lost: u64,
    prior_in_flight: u64,
    in_flight: u64,
    srtt_s: Option<f64>,
    next_departure_s: f64,
    window_limited: bool,
    may_grow: bool,
    repair: Option<&'static str>,
}

impl From<&Delivery> for PyDelivery {
    fn from(d: &Delivery) -> Self {
        PyDelivery {
            now_s: d.now.as_secs_f64(),
            rate: d.rate,
            delivered: d.delivered,
            prior_delivered: d.prior_delivered,
            app_limited: d.app_limited,
            tx_in_flight: d.tx_in_flight,
            lost: d.lost,
            rtt_s: d.rtt.map(|t| t.as_secs_f64()),
            newly_delivered: d.newly_delivered,
            newly_lost: d.newly_lost,
            total_delivered: d.total_delivered,
            total_lost: d.total_lost,
            prior_in_flight: d.prior_in_flight,
            in_flight: d.in_flight,
            srtt_s: smoothed_s(d.srtt),
            next_departure_s: d.next_departure.as_secs_f64(),
            window_limited: d.window_limited,
            may_grow: d.may_grow,
            repair: match d.repair {
                Repair::None => None,
                Repair::Recovery => Some("recovery"),
                Repair::Timeout => Some("timeout"),
            },
        }
    }
}

/// A segment that was found lost: see [`LostSegment`].
#[pyclass(name = "LostSegment", frozen, get_all, module = "longfat._core")]
pub struct PyLostSegment {
    now_s: f64,
    segment: u64,
    tx_in_flight: u64,
    lost: u64,
    app_limited: bool,
    total_delivered: u64,
}

impl From<&LostSegment> for PyLostSegment {
    fn from(lost: &LostSegment) -> Self {
        PyLostSegment {
            now_s: lost.now.as_secs_f64(),
            segment: lost.segment,
            tx_in_flight: lost.tx_in_flight,
            lost: lost.lost,
            app_limited: lost.app_limited,
            total_delivered: lost.total_delivered,
        }
    }
}

/// The congestion window and slow-start threshold, segments.
#[pyclass(name = "Window", module = "longfat._core")]
pub struct PyWindow {
    window: Window,
    recorded: Vec<(String, f64)>,
}

impl PyWindow {
    /// The window as the sender has it.
    pub const fn new(window: Window) -> Self {
        PyWindow { window, recorded: Vec::new() }
    }

    /// The window as it is now, and what has been recorded since the last call of this.
    pub fn take(&mut self) -> (Window, Vec<(String, f64)>) {
        (self.window, std::mem::take(&mut self.recorded))
    }
}

#[pymethods]
impl PyWindow {
    #[getter]
    fn cwnd(&self) -> f64 {
        self.window.cwnd
    }
    #[setter]
    fn set_cwnd(&mut self, segments: f64) {
        self.window.cwnd = segments;
    }
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }
    #[setter]
    fn set_ssthresh(&mut self, segments: f64) {
        self.window.ssthresh = segments;
    }
    /// Whether cwnd is below ssthresh.
    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
    /// The standard (or limited) slow-start step for an acknowledgement that counts `acked` segments.
    fn slow_start(&mut self, acked: f64) {
        self.window.slow_start(acked);
    }
    /// Sets a quantity of the algorithm, which the result has a series of. Its name ends in its unit.
    fn record(&mut self, name: String, value: f64) -> PyResult<()> {
        if name.is_empty() || name.len() > LONGEST_NAME {
            let text = format!("record: a name of {} bytes; accepted: 1 to {LONGEST_NAME}", name.len());
            return Err(PyValueError::new_err(text));
        }
        self.recorded.push((name, value));
        Ok(())
    }
}
