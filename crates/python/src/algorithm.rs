//! A user's own algorithm, written as a Python class, behind the interface of the native ones.

use longfat_transport::cc::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyClass, PyClassInitializer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most quantities that an algorithm records.
const MOST_RECORDED: usize = 64;
/// The longest name of a quantity, bytes.
const LONGEST_NAME: usize = 64;

/// Ctrl-C that Python raised in the midst of a user's code: it ends the run and is nobody's failure. Shared
/// by the algorithms of a run.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<Option<PyErr>>>);

impl Interrupt {
    /// Keeps the exception if Ctrl-C raised it, and returns whether it did.
    pub fn keep(&self, py: Python<'_>, error: &PyErr) -> bool {
        let is_interrupt = error.is_instance_of::<PyKeyboardInterrupt>(py);
        if is_interrupt {
            self.slot().get_or_insert_with(|| error.clone_ref(py));
        }
        is_interrupt
    }

    /// What was kept.
    pub fn take(&self) -> Option<PyErr> {
        self.slot().take()
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    srtt_s: f64,
    #[pyo3(get)]
    base_rtt_s: f64,
    #[pyo3(get)]
    one_way_delay_s: Option<f64>,
    #[pyo3(get)]
    in_flight: f64,
    #[pyo3(get)]
    delivered: u64,
    /// Set when the round-trip time is read.
    reads_rtt: Reads,
}

#[pymethods]
impl PyAck {
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.reads_rtt.0.store(true, Ordering::Relaxed);
        self.rtt_s
    }
}

/// Whether an algorithm has read the round-trip times of acknowledgements.
#[derive(Clone, Default)]
pub struct Reads(Arc<AtomicBool>);

impl Reads {
    /// Whether it has.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A congestion event: cause "loss", "mark" or "timeout".
#[pyclass(name = "Congestion", frozen, get_all, module = "longfat._core")]
pub struct PyCongestion {
    cause: &'static str,
    now_s: f64,
    in_flight: f64,
    srtt_s: f64,
    base_rtt_s: f64,
}

/// The congestion window and slow-start threshold, segments.
#[pyclass(name = "Window", module = "longfat._core")]
pub struct PyWindow {
    window: Window,
    recorded: Vec<(String, f64)>,
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

/// Calls the user's object; what it raises is kept until the sender asks.
pub struct UserAlgorithm {
    object: Py<PyAny>,
    failure: Option<String>,
    interrupt: Interrupt,
    /// What it has recorded.
    recorded: Internals,
    reads_rtt: Reads,
}

impl UserAlgorithm {
    /// The algorithm behind this object, which has `on_ack(ack, window)` and `on_congestion(event, window)`.
    pub fn new(object: Py<PyAny>, interrupt: Interrupt, reads_rtt: Reads) -> Self {
        UserAlgorithm { object, failure: None, interrupt, recorded: Internals::default(), reads_rtt }
    }

    fn call<T: Into<PyClassInitializer<A>>, A: PyClass>(&mut self, method: &str, what: T, w: &mut Window) {
        if self.failure.is_some() {
            return;
        }
        Python::attach(|py| {
            let called = Py::new(py, PyWindow { window: *w, recorded: Vec::new() }).and_then(|window| {
                self.object.call_method1(py, method, (Py::new(py, what)?, window.clone_ref(py)))?;
                let mut window = window.borrow_mut(py);
                Ok((window.window, std::mem::take(&mut window.recorded)))
            });
            match called {
                Ok((window, recorded)) => {
                    *w = window;
                    recorded.iter().for_each(|(name, value)| self.recorded.record(name, *value));
                    if self.recorded.len() > MOST_RECORDED {
                        self.failure = Some(format!(
                            "it records more than {MOST_RECORDED} quantities; accepted: up to {MOST_RECORDED} names"
                        ));
                    }
                }
                // a failure ends the run at once; the caller asks for the interrupt first
                Err(error) if self.interrupt.keep(py, &error) => {
                    self.failure = Some("interrupted".to_owned())
                }
                Err(error) => self.failure = Some(describe(py, &error)),
            }
        });
    }
}

/// An exception with its traceback, as Python prints it.
pub fn describe(py: Python<'_>, error: &PyErr) -> String {
    let lines = py
        .import("traceback")
        .and_then(|m| {
            m.call_method1("format_exception", (error.get_type(py), error.value(py), error.traceback(py)))
        })
        .and_then(|lines| lines.extract::<Vec<String>>());
    lines.map_or_else(|_| error.to_string(), |l| l.concat().trim_end().to_owned())
}

impl CongestionControl for UserAlgorithm {
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let seen = PyAck {
            now_s: ack.now.as_secs_f64(),
            acked: ack.acked,
            newly_delivered: ack.newly_delivered,
            rtt_s: ack.rtt.map(|t| t.as_secs_f64()),
            srtt_s: ack.srtt.as_secs_f64(),
            base_rtt_s: ack.base_rtt.as_secs_f64(),
            one_way_delay_s: ack.one_way_delay.map(|t| t.as_secs_f64()),
            in_flight: ack.in_flight,
            delivered: ack.delivered,
            reads_rtt: self.reads_rtt.clone(),
        };
        self.call("on_ack", seen, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        let seen = PyCongestion {
            cause: match event.cause {
                Cause::Loss => "loss",
                Cause::Mark => "mark",
                Cause::Timeout => "timeout",
            },
            now_s: event.now.as_secs_f64(),
            in_flight: event.in_flight,
            srtt_s: event.srtt.as_secs_f64(),
            base_rtt_s: event.base_rtt.as_secs_f64(),
        };
        self.call("on_congestion", seen, w);
    }

    fn internals(&self, out: &mut Internals) {
        self.recorded.iter().for_each(|(name, value)| out.record(name, value));
    }

    fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}
