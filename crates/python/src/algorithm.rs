//! A user's own algorithm, written as a Python class, behind the interface of the native ones.

use longfat_transport::cc::{Ack, Cause, Congestion, CongestionControl, Window};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::{PyClass, PyClassInitializer};
use std::sync::{Arc, Mutex, PoisonError};

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
#[pyclass(name = "Ack", frozen, get_all, module = "longfat._core")]
pub struct PyAck {
    now_s: f64,
    acked: f64,
    newly_delivered: u32,
    rtt_s: Option<f64>,
    srtt_s: f64,
    base_rtt_s: f64,
    one_way_delay_s: Option<f64>,
    in_flight: f64,
    delivered: u64,
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
pub struct PyWindow(Window);

#[pymethods]
impl PyWindow {
    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }
    #[setter]
    fn set_cwnd(&mut self, segments: f64) {
        self.0.cwnd = segments;
    }
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }
    #[setter]
    fn set_ssthresh(&mut self, segments: f64) {
        self.0.ssthresh = segments;
    }
    /// Whether cwnd is below ssthresh.
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start()
    }
    /// The standard (or limited) slow-start step for an acknowledgement that counts `acked` segments.
    fn slow_start(&mut self, acked: f64) {
        self.0.slow_start(acked);
    }
}

/// Calls the user's object; what it raises is kept until the sender asks.
pub struct UserAlgorithm {
    object: Py<PyAny>,
    failure: Option<String>,
    interrupt: Interrupt,
}

impl UserAlgorithm {
    /// The algorithm behind this object, which has `on_ack(ack, window)` and `on_congestion(event, window)`.
    pub const fn new(object: Py<PyAny>, interrupt: Interrupt) -> Self {
        UserAlgorithm { object, failure: None, interrupt }
    }

    fn call<T: Into<PyClassInitializer<A>>, A: PyClass>(&mut self, method: &str, what: T, w: &mut Window) {
        if self.failure.is_some() {
            return;
        }
        Python::attach(|py| {
            let called = Py::new(py, PyWindow(*w)).and_then(|window| {
                self.object.call_method1(py, method, (Py::new(py, what)?, window.clone_ref(py)))?;
                Ok(window.borrow(py).0)
            });
            match called {
                Ok(window) => *w = window,
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

    fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}
